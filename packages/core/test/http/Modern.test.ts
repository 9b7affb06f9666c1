import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Mirror from "../../src/http/Mirror.ts"
import * as T from "../../src/wire/Text.ts"
import * as H from "./harness.ts"

const ask = (
  http: H.Bench,
  method: string,
  params: object = {},
  headers: Record<string, string | undefined> = {},
  id: number | string = 1
) => {
  const name = "name" in params && typeof params.name === "string" ? params.name : undefined
  return http.post(H.request(id, method, { _meta: H.claim(), ...params }), {
    ...H.modernHeaders(method, name),
    ...headers
  })
}

/** Status and code of a refusal. */
const refusal = ({ now }: H.Sent) => [now.status, now.json().error?.code, now.json().id]

describe("HttpTransport, modern requests", () => {
  it.effect("serves each request by a peer of its own, by one JSON object and without a session", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const discovered = yield* ask(http, "server/discover")
      assert.strictEqual(discovered.now.status, 200)
      assert.deepStrictEqual(discovered.now.json().result?.supportedVersions, ["2026-07-28"])
      assert.strictEqual(discovered.now.headers.get("mcp-session-id"), null)
      const called = yield* ask(http, "tools/call", { name: "echo", arguments: { said: "x" } }, {
        "mcp-session-id": "whatever"
      })
      assert.strictEqual(H.said(called.now.json()), "x")
      assert.strictEqual(http.seen.opened.length, 2)
      assert.deepStrictEqual(http.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
    }))

  it.effect("streams what comes before the answer, without ids of events", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const { now } = yield* ask(http, "tools/call", {
        name: "progress",
        _meta: { ...H.claim(), progressToken: 5 }
      })
      assert.strictEqual(now.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(now.headers.get("x-accel-buffering"), "no")
      assert.strictEqual(now.messages().length, 4)
      assert.isTrue(now.events().every(({ id, retry }) => id === undefined && retry === undefined))
      assert.isTrue(now.done())
    }))

  it.effect("cancels a call when its connection closes, before and behind its first word", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const early = yield* ask(http, "tools/call", { name: "held" })
      assert.isUndefined(early.response())
      yield* early.leave
      assert.deepStrictEqual(http.seen.cancelled, ["held"])
      const late = yield* ask(http, "tools/call", { name: "held" })
      yield* TestClock.adjust("500 millis")
      yield* H.settle
      assert.strictEqual(late.now.status, 200)
      yield* late.leave
      assert.deepStrictEqual(http.seen.cancelled, ["held", "held"])
      assert.deepStrictEqual(http.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
    }))

  it.effect("keeps a subscription open, and cancels it when the client goes", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const listen = yield* ask(http, "subscriptions/listen", { notifications: {} }, {}, "listen:0")
      assert.deepStrictEqual(listen.now.messages().map(({ method }) => method), [
        "notifications/subscriptions/acknowledged"
      ])
      yield* TestClock.adjust("1 hour")
      yield* H.settle
      assert.isFalse(listen.now.done())
      assert.strictEqual(listen.now.body().split("\n:\n").length - 1, 240)
      yield* listen.leave
      assert.deepStrictEqual(http.seen.cancelled, ["subscriptions/listen"])
    }))

  it.effect("gives a subscription its last result when the server closes", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const listen = yield* ask(http, "subscriptions/listen", { notifications: {} })
      yield* http.stop
      assert.strictEqual(listen.now.messages().at(-1)?.id, 1)
      assert.isTrue(listen.now.done())
      assert.strictEqual((yield* ask(http, "tools/list")).now.status, 503)
    }))

  it.effect("refuses headers that are missing or that the body does not agree with", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const call = { name: "echo", arguments: {} }
      const wrong: ReadonlyArray<readonly [string, object, Record<string, string | undefined>]> = [
        ["tools/list", {}, { "mcp-protocol-version": undefined }],
        ["tools/list", {}, { "mcp-protocol-version": "2025-11-25" }],
        ["tools/list", {}, { "mcp-method": undefined }],
        ["tools/list", {}, { "mcp-method": "TOOLS/LIST" }],
        ["tools/list", {}, { "mcp-method": "prompts/list" }],
        ["tools/call", call, { "mcp-name": undefined }],
        ["tools/call", call, { "mcp-name": "other" }],
        ["tools/call", call, { "mcp-name": "Echo" }],
        ["tools/call", call, { "mcp-name": "=?base64?!!?=" }],
        ["tools/call", call, { "mcp-name": "=?base64?/w==?=" }],
        ["tools/call", {}, { "mcp-name": "echo" }],
        ["tools/call", call, { "mcp-name": "echo, other" }]
      ]
      for (const [method, params, headers] of wrong) {
        const refused = yield* ask(http, method, params, headers)
        assert.deepStrictEqual(refusal(refused), [400, -32020, 1], JSON.stringify(headers))
      }
      assert.deepStrictEqual(http.seen.calls, [])
      assert.strictEqual((yield* ask(http, "tools/call", call, { "mcp-name": "=?base64?ZWNobw==?=" })).now.status, 200)
      assert.strictEqual((yield* ask(http, "tools/call", call, { "mcp-name": "  echo " })).now.status, 200)
    }))

  it.effect("refuses missing metadata and unknown versions, and names the versions that there are", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const missing = [
        {},
        { _meta: {} },
        { _meta: { ...H.claim(), "io.modelcontextprotocol/clientCapabilities": undefined } },
        { _meta: { ...H.claim(), "io.modelcontextprotocol/protocolVersion": undefined } },
        { _meta: { ...H.claim(), "io.modelcontextprotocol/clientCapabilities": true } }
      ]
      for (const params of missing) {
        const refused = yield* http.post(H.request(7, "server/discover", params), H.modernHeaders("server/discover"))
        assert.deepStrictEqual(refusal(refused), [400, -32602, 7], JSON.stringify(params))
      }
      for (const version of ["v999.0.0", "2099-01-01", "1999-01-01"]) {
        const params = { _meta: { ...H.claim(), "io.modelcontextprotocol/protocolVersion": version } }
        const refused = yield* ask(http, "server/discover", params, { "mcp-protocol-version": version })
        assert.deepStrictEqual(refusal(refused), [400, -32022, 1])
        assert.deepStrictEqual(refused.now.json().error?.data, { supported: ["2026-07-28"], requested: version })
        const bare = yield* http.post(H.request(1, "tools/list"), { "mcp-protocol-version": version })
        assert.deepStrictEqual(refusal(bare), [400, -32022, 1])
      }
    }))

  it.effect("answers 404 to methods that 2026-07-28 does not have, or the server", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      for (
        const method of [
          "initialize",
          "ping",
          "logging/setLevel",
          "resources/subscribe",
          "tasks/result",
          "unknown/method"
        ]
      ) {
        assert.deepStrictEqual(refusal(yield* ask(http, method)), [404, -32601, 1], method)
      }
    }))

  it.effect("has POST alone", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      for (const method of ["GET", "DELETE"]) {
        const { now } = yield* http.send(method, {
          ...H.postHeaders,
          accept: "text/event-stream",
          "mcp-protocol-version": "2026-07-28"
        })
        assert.strictEqual(now.status, 405)
        assert.strictEqual(now.headers.get("allow"), "POST")
      }
      const batch = yield* http.post([H.request(1, "tools/list")], { "mcp-protocol-version": "2026-07-28" })
      assert.strictEqual(batch.now.status, 400)
      const response = { jsonrpc: "2.0", id: 1, result: {} }
      assert.strictEqual((yield* http.post(response, { "mcp-protocol-version": "2026-07-28" })).now.status, 400)
      const notified = yield* http.post(H.notification("notifications/cancelled", { requestId: 1 }), {
        "mcp-protocol-version": "2026-07-28"
      })
      assert.strictEqual(notified.now.status, 202)
    }))

  it.effect("compares the arguments that headers repeat", () =>
    Effect.gen(function*() {
      const mirrored: ReadonlyArray<Mirror.ParamHeader> = [
        { header: "Region", path: ["region"], type: "string" },
        { header: "Level", path: ["deep", "level"], type: "integer" },
        { header: "Dry", path: ["dry"], type: "boolean" }
      ]
      const http = yield* H.make({ paramHeaders: () => Effect.succeed(mirrored) })
      const cases: ReadonlyArray<readonly [object, Record<string, string>, number]> = [
        [{}, {}, 200],
        [{ region: null }, {}, 200],
        [{ region: "eu" }, { "mcp-param-region": "eu" }, 200],
        [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8=?=" }, 200],
        [{ region: "SGVsbG8=" }, { "mcp-param-region": "SGVsbG8=" }, 200],
        [{ region: "=?base64?SGVsbG8=" }, { "mcp-param-region": "=?base64?SGVsbG8=" }, 200],
        [{ deep: { level: 42 } }, { "mcp-param-level": "42" }, 200],
        [{ deep: { level: 42 } }, { "mcp-param-level": "42.0" }, 200],
        [{ dry: true }, { "mcp-param-dry": "true" }, 200],
        [{ region: "eu" }, { "mcp-param-region": "eu", "mcp-param-other": "x" }, 200],
        [{ region: "eu" }, {}, 400],
        [{}, { "mcp-param-region": "eu" }, 400],
        [{ region: "eu" }, { "mcp-param-region": "us" }, 400],
        [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }, 400],
        [{ region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }, 400],
        [{ deep: { level: 42 } }, { "mcp-param-level": "43" }, 400],
        [{ deep: { level: 42 } }, { "mcp-param-level": "0x2a" }, 400],
        [{ dry: true }, { "mcp-param-dry": "True" }, 400]
      ]
      for (const [args, headers, status] of cases) {
        const { now } = yield* ask(http, "tools/call", { name: "echo", arguments: args }, headers)
        assert.strictEqual(now.status, status, JSON.stringify([args, headers]))
      }
    }))

  it("reads x-mcp-header annotations that are valid, through properties alone", () => {
    const schema = T.fromValue({
      type: "object",
      properties: {
        a: { type: "string", "x-mcp-header": "A" },
        again: { type: "string", "x-mcp-header": "a" },
        bad: { type: "string", "x-mcp-header": "no blanks" },
        list: { type: "array", items: { type: "string", "x-mcp-header": "Items" } },
        number: { type: "number", "x-mcp-header": "N" },
        deep: { type: "object", properties: { b: { type: "boolean", "x-mcp-header": "B" } } }
      },
      anyOf: [{ properties: { c: { type: "string", "x-mcp-header": "C" } } }]
    })
    assert.deepStrictEqual(Mirror.paramHeadersOf(schema), [
      { header: "A", path: ["a"], type: "string" },
      { header: "B", path: ["deep", "b"], type: "boolean" }
    ])
  })
})
