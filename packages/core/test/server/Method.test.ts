import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Method from "../../src/server/Method.ts"
import * as Server from "../../src/server/Server.ts"
import { opened, serve } from "./harness.ts"

const server = Server.layerDispatch(
  { name: "ext", version: "1", extensions: { "com.example/stats": { depth: 1 } } },
  Method.make("com.example/stats", {
    params: Schema.Struct({ since: Schema.optionalKey(Schema.DateFromString) }),
    result: Schema.Struct({ calls: Schema.Finite })
  }, ({ since }) => since === undefined ? Effect.fail("no date") : Effect.succeed({ calls: since.getUTCFullYear() })),
  Method.make("tools/call", { params: Schema.Struct({}), result: Schema.Struct({}) }, () => Effect.succeed({}))
)

describe("Method", () => {
  it.effect("an extension has methods of its own", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2026-07-28")
      assert.include((yield* client.asks("server/discover")).text, `"extensions":{"com.example/stats":{"depth":1}}`)
      const answer = yield* client.asks("com.example/stats", { since: "2020-01-01" })
      assert.include(answer.text, `"result":{"resultType":"complete","calls":2020,"_meta"`)
      assert.strictEqual((yield* client.asks("com.example/stats", { since: 7 })).error?.code, -32602)
      assert.strictEqual((yield* client.asks("com.example/stats", { other: 7 })).error?.code, -32602)
      assert.strictEqual((yield* client.asks("com.example/stats")).error?.code, -32603)
      assert.strictEqual((yield* client.asks("com.example/other")).error?.code, -32601)
      assert.strictEqual((yield* client.asks("tools/call", { name: "x" })).error?.code, -32601)
    }))

  it.effect("older revisions have no extensions", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      assert.notInclude(client.opening?.text ?? "", "extensions")
      assert.strictEqual((yield* client.asks("com.example/stats")).error?.code, -32601)
    }))
})
