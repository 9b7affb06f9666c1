import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { meta } from "../../src/protocol/Revision.ts"
import * as H from "./harness.ts"

const methods = (lines: ReadonlyArray<H.Said>): ReadonlyArray<string> => lines.flatMap(({ method }) => method ?? [])

const modernOnly = (more: Readonly<Record<string, H.Answer | "silent">> = {}): H.Options => ({
  answers: {
    ...H.modernAnswers(),
    initialize: () => `"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`,
    ...more
  }
})

describe("a host and a server of two eras", () => {
  it.effect("a legacy host is served by a modern server, and pins and gate judge the server's own form", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({
        ...modernOnly({
          "tools/call": () => `"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
        })
      })
      yield* relay.says(H.initializeOf(1), H.notification("notifications/initialized"))
      assert.deepInclude(relay.answers(1)[0]?.result, { protocolVersion: "2025-11-25" })
      yield* relay.says(H.request(2, "tools/list"), H.call(3, "read"), H.call(4, "other"))
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read", "write"])
      assert.deepStrictEqual(relay.answers(3)[0]?.result, { content: [{ type: "text", text: "done" }] })
      assert.strictEqual(relay.answers(4)[0]?.error?.data?.reason, "unknown-item")
      const [called] = relay.calls()
      assert.deepNestedInclude(called?.params, { name: "read" })
      assert.include(called?.text ?? "", meta.protocolVersion)
      assert.deepStrictEqual(relay.entries("call").map(({ method, name }) => [method, name]), [
        ["subscriptions/listen", undefined],
        ["tools/call", "read"]
      ])
    }))

  it.effect("a modern host is served by a legacy server; a probe alone opens no session there", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({
        answers: { "tools/call": () => `"result":{"content":[{"type":"text","text":"done"}]}` }
      })
      yield* relay.says(H.modern(1, "server/discover"))
      assert.deepInclude(relay.answers(1)[0]?.result, { supportedVersions: ["2026-07-28"] })
      assert.deepStrictEqual(methods(relay.server().saw()), ["server/discover", "initialize"])
      assert.deepStrictEqual(relay.memory.written(), [])
      yield* relay.says(H.modern(2, "tools/list"), H.modern(3, "tools/call", { name: "read" }))
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read", "write"])
      assert.deepInclude(relay.answers(3)[0]?.result, { resultType: "complete" })
      assert.notInclude(relay.calls()[0]?.text ?? "", meta.protocolVersion)
    }))

  for (const strict of [false, true]) {
    it.effect(`the ledger says that two eras met${strict ? " strictly" : ""}, and what was lowered or withheld, once`, () =>
      Effect.gen(function*() {
        const relay = yield* H.open({
          ...modernOnly({
            "tools/call": () => `"result":{"resultType":"complete","content":[],"structuredContent":[1]}`
          }),
          bridge: strict ? "strict" : "auto"
        })
        yield* relay.says(H.initializeOf(1), H.notification("notifications/initialized"))
        yield* relay.says(H.request(2, "tools/list"), H.call(3, "read"), H.call(4, "read"))
        const [answer] = relay.answers(3)
        if (strict) assert.strictEqual(answer?.error?.data?.reason, "not-translatable")
        else assert.deepStrictEqual(answer?.result, { content: [], structuredContent: { result: [1] } })
        yield* H.adjust("1 minute")
        yield* relay.says(H.call(5, "read"))
        yield* relay.eof
        yield* H.adjust("2 seconds")
        const { length } = relay.entries("bridged")
        assert.strictEqual(length, 1)
        assert.deepInclude(relay.entries("bridged")[0], { server: "notes", host: "legacy", strict })
        assert.deepStrictEqual(relay.entries("lowered").map(({ count, what }) => [what, count]), [
          ["structured-value", 2],
          ["structured-value", 1]
        ])
        const said = relay.told.filter((sentence) => sentence.includes("of another era"))
        assert.strictEqual(said.length, 1)
        assert.match(said[0] ?? "", /structured-value \(3\)/)
        assert.match(said[0] ?? "", strict ? /withheld/ : /another form/)
      }))
  }

  it.effect("a modern host that opens with another request is served too", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(H.modern(1, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(1)[0]), ["read", "write"])
    }))

  it.effect("what is asked in one era is gated and recorded, and asked in the other", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { "tools/call": "silent" } })
      const meta = H.modernMeta({ roots: {} })
      yield* relay.says(H.request(1, "tools/call", { name: "read", arguments: {}, _meta: meta }))
      yield* relay.server().says(H.request(7, "roots/list"))
      yield* H.adjust("1 millis")
      const [round] = relay.answers(1)
      assert.deepNestedInclude(round?.result, { resultType: "input_required" })
      const state = JSON.parse(round?.text ?? "{}")?.result?.requestState
      yield* relay.says(H.request(2, "tools/call", {
        name: "read",
        arguments: {},
        inputResponses: { "roots-1": { roots: [] } },
        requestState: state,
        _meta: meta
      }))
      assert.deepStrictEqual(
        relay.server().saw().filter(({ id, method }) => id === "7" && method === undefined).map(({ result }) => result),
        [{ roots: [] }]
      )
      yield* relay.server().says(H.result(relay.calls()[0]?.id, { content: [] }))
      assert.deepInclude(relay.answers(2)[0]?.result, { resultType: "complete" })
      assert.deepStrictEqual(
        relay.entries("call").map(({ from, method }) => [from, method]),
        [["host", "tools/call"], ["server", "roots/list"]]
      )
    }))

  it.effect("where neither opening succeeds, the host is told of its own", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: () => `"error":{"code":-32600,"message":"mine"}` } })
      yield* relay.says(H.initializeOf(1))
      assert.strictEqual(relay.answers(1)[0]?.error?.message, "mine")
      yield* relay.says(H.modern(2, "server/discover"))
      assert.strictEqual(relay.answers(2)[0]?.error?.message, "Method not found")
    }))

  it.effect("a host and a server of one era pass untouched", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(H.modern(1, "server/discover"), H.modern(2, "tools/list"))
      assert.notInclude(relay.answers(2)[0]?.text ?? "", "resultType")
    }))
})
