import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Repair } from "../../src/wire/Repair.ts"
import * as H from "./harness.ts"

/** A server that answers `read` with a result and a null error, and `write` with half of a surrogate pair. */
const sloppy = {
  "tools/call": (line: H.Said) =>
    line.text.includes(`"read"`)
      ? `"result":{"content":[]},"error":null`
      : `"result":{"content":[{"type":"text","text":"a\\ud800b"}]}`
}

const opened = (repair?: ReadonlyArray<Repair>) =>
  H.opened({ answers: sloppy, launch: repair === undefined ? H.launch : { ...H.launch, repair } })

describe("F14: repairs of what a server sends", () => {
  it.effect("without them both answers are errors that say why", () =>
    Effect.gen(function*() {
      const relay = yield* opened()
      yield* relay.says(H.call(1, "read"), H.call(2, "write"))
      assert.deepStrictEqual(
        relay.take().map(({ text }) => /"reason":"([\w-]+)"/.exec(text)?.[1]),
        ["bad-answer", "bad-answer"]
      )
      assert.match(relay.told.join("\n"), /\(not-a-message; .*\n.*\(lone-surrogate; /)
    }))

  it.effect("with them the host gets the answers, each kind is told once, and all are counted in the ledger", () =>
    Effect.gen(function*() {
      const relay = yield* opened(["null-error", "surrogates"])
      yield* relay.says(H.call(1, "read"), H.call(2, "write"), H.call(3, "write"))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`,
        `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a\\ufffdb"}]}}`,
        `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"a\\ufffdb"}]}}`
      ])
      assert.deepStrictEqual(relay.told.filter((sentence) => sentence.includes("was repaired")), [
        `a line from notes was repaired: an answer with "error": null beside its result was taken as the result (null-error; others like it are only counted)`,
        "a line from notes was repaired: half of a surrogate pair in a string became U+FFFD (surrogates; others like it are only counted)"
      ])
      yield* relay.eof
      yield* relay.outcome
      assert.deepStrictEqual(
        relay.entries("repaired").map((entry) =>
          entry.type === "repaired" ? [entry.server, entry.repair, entry.count] : []
        ),
        [["notes", "null-error", 1], ["notes", "surrogates", 2]]
      )
    }))

  it.effect("only what the server sends is repaired, never what the host sends", () =>
    Effect.gen(function*() {
      const relay = yield* opened(["null-error", "surrogates"])
      yield* relay.says(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":"\\ud800"}}}`
      )
      assert.match(relay.take()[0]?.text ?? "", /"reason":"lone-surrogate"/)
      assert.deepStrictEqual(relay.told.filter((sentence) => sentence.includes("was repaired")), [])
    }))

  it.effect("F4: other repairs are another launch, which a person must accept", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store })
      yield* first.eof
      yield* first.outcome
      const launch = { ...H.launch, repair: ["surrogates" as const] }
      const relay = yield* H.open({ store, launch })
      assert.lengthOf(relay.servers, 0)
      yield* relay.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.match(relay.take()[0]?.text ?? "", /"reason":"launch-changed"/)
      assert.match(relay.told.join("\n"), /was not started: what is repaired in its lines differs/)
      yield* relay.eof
      yield* relay.outcome
      yield* H.acceptAll(store)
      assert.lengthOf((yield* H.opened({ store, launch })).servers, 1)
    }))
})
