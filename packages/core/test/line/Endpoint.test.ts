import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Endpoint from "../../src/line/Endpoint.ts"
import type { Fault } from "../../src/line/Faults.ts"
import * as MemoryPeer from "../../src/stage/MemoryPeer.ts"
import type { Call, Port } from "../../src/stage/Port.ts"
import * as Feed from "../../src/wire/Feed.ts"
import type { Text } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as H from "./harness.ts"

const echo = (text: string): string => `"result":${H.json({ content: [{ type: "text", text }] })}`

/** A relay whose server answers each call with the id that it saw. */
const echoing = (revision?: string) =>
  H.opened({
    ...(revision === undefined ? {} : { revision }),
    answers: { "tools/call": ({ id }) => echo(`answer to ${id}`) }
  })

/** An endpoint by itself: what it hands on is kept, and answered by the test. */
const alone = Effect.fnUntraced(function*(
  side: "host" | "server",
  options: Partial<Pick<Endpoint.Options, "batches" | "idless" | "bytes">> = {}
) {
  const { far, peer } = yield* MemoryPeer.make({ client: "peer" })
  const faults: Array<Fault> = []
  const calls: Array<Call> = []
  const cancelled: Array<Call> = []
  const notes: Array<readonly [string, Text | undefined]> = []
  const endpoint = yield* Endpoint.make(peer, Feed.make({ ...Feed.defaultLimits, members: [] }), {
    side,
    batches: () => false,
    idless: () => true,
    ...options,
    faults: (fault) => void faults.push(fault)
  })
  const port: Port = {
    request: (call) => void calls.push(call),
    cancel: (call) => void cancelled.push(call),
    notify: (method, params) => void notes.push([method, params]),
    flush: Effect.void,
    end: Effect.void,
    ended: Effect.never
  }
  yield* Effect.forkScoped(endpoint.run(port))
  return {
    ...endpoint,
    far,
    faults,
    calls,
    cancelled,
    notes,
    says: (...lines: ReadonlyArray<string>) =>
      Effect.andThen(far.push(lines.map((line) => `${line}\n`).join("")), H.settle),
    lines: () => far.written().split("\n").filter((line) => line !== "").map(H.said),
    ask: (method: string, options: { readonly wish?: string; readonly params?: unknown } = {}) => {
      const answers: Array<string> = []
      const call: Call = {
        wish: options.wish === undefined ? undefined : T.fromValue(JSON.parse(options.wish)),
        method,
        params: options.params === undefined ? undefined : T.fromValue(options.params),
        reply: (reply) => void answers.push(reply._tag === "Result" ? reply.result : reply.error)
      }
      endpoint.near.request(call)
      return { call, answers }
    }
  }
})

describe("ids", () => {
  it.effect.each([
    "2",
    `"2"`,
    "0",
    `""`,
    "-7",
    "9007199254740993",
    "123456789012345678901234567890",
    `"\\"\\\\"`,
    `"é"`
  ])(
    "%s is kept to the server and back, to the character",
    (id) =>
      Effect.gen(function*() {
        const relay = yield* echoing()
        yield* relay.says(H.call(id, "read"))
        assert.deepStrictEqual(relay.calls().map((call) => call.id), [id])
        assert.deepStrictEqual(H.answerOf(relay.answers(id)[0]).content, [{ text: `answer to ${id}` }])
      })
  )

  it.effect("2 and \"2\" are two requests, and each gets its own answer", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(2, "read"), H.call(`"2"`, "read"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2", `"2"`])
      yield* relay.server().says(H.result(`"2"`, { text: true }), H.result("2", { number: true }))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","id":"2","result":{"text":true}}`,
        `{"jsonrpc":"2.0","id":2,"result":{"number":true}}`
      ])
    }))

  it.effect("different spellings of one string are one id, answered in the plain spelling", () =>
    Effect.gen(function*() {
      const relay = yield* echoing()
      yield* relay.says(`{"jsonrpc":"2.0","id":"\\u0061","method":"tools/call","params":{"name":"read"}}`)
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), [`"a"`])
      assert.lengthOf(relay.answers(`"a"`), 1)
    }))

  it.effect.each(["1.0", "1e2", "-0", "true", "{}", "[1]", "null"])("%s is no id", (id) =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(id, "read"))
      assert.deepStrictEqual(relay.take().map(({ error }) => [error?.code, error?.data?.reason]), [[-32600, "bad-id"]])
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("a duplicate in flight is refused, and the first one still gets its answer", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(7, "read"), H.call(7, "write"))
      assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.reason), ["duplicate-id"])
      assert.lengthOf(relay.calls(), 1)
      yield* relay.server().says(H.result("7", { first: true }))
      assert.deepStrictEqual(relay.take().map(({ result }) => result), [{ first: true }])
    }))

  it.effect("an id is free again once it was answered", () =>
    Effect.gen(function*() {
      const relay = yield* echoing()
      yield* relay.says(H.call(7, "read"))
      yield* relay.says(H.call(7, "read"))
      assert.lengthOf(relay.answers(7), 2)
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["7", "7"])
    }))

  it.effect("requests of Sallyport's own have ids that no host's id equals", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      const other = yield* H.opened()
      const own = [relay, other].map((one) =>
        one.server().saw().find(({ method }) => method === "tools/list")?.id ?? ""
      )
      for (const id of own) assert.match(id, /^"sallyport-[0-9a-z]+-0"$/)
      assert.notStrictEqual(own[0], own[1])
    }))
})

describe("a late answer to a cancelled request (F20)", () => {
  it.effect("is never taken for the answer of another that reuses the id", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(7, "read"))
      yield* relay.says(H.cancel(7))
      yield* relay.says(H.call(7, "write"))
      const [first, cancel, second] = relay.server().take()
      assert.strictEqual(first?.id, "7")
      assert.deepStrictEqual(cancel?.params, { requestId: 7, reason: "no" })
      assert.match(second?.id ?? "", /^"sallyport-/)
      yield* relay.server().says(H.result("7", { of: "the first" }))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.server().says(H.result(second?.id, { of: "the second" }))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","id":7,"result":{"of":"the second"}}`
      ])
    }))

  it.effect("frees the id for the server's side", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(7, "read"))
      yield* relay.says(H.cancel(7))
      yield* relay.server().says(H.result("7"))
      yield* relay.says(H.call(7, "write"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id).at(-1), "7")
      assert.deepStrictEqual(relay.told, [])
    }))

  it.effect("is counted when it comes twice", () =>
    Effect.gen(function*() {
      const server = yield* alone("server")
      const { answers, call } = server.ask("tools/call", { wish: "1" })
      server.near.cancel(call, undefined)
      yield* server.says(H.result("1"), H.result("1"))
      assert.deepStrictEqual(answers, [])
      assert.deepStrictEqual(server.faults, [{ from: "server", reason: "unsolicited" }])
    }))

  it.effect("4,096 ids are kept back; further requests travel under ids of our own", () =>
    Effect.gen(function*() {
      const server = yield* alone("server")
      for (let i = 0; i < Endpoint.maxPending; i++) {
        server.near.cancel(server.ask("tools/call", { wish: String(i) }).call, undefined)
      }
      server.ask("tools/call", { wish: "5000" })
      yield* server.near.flush
      assert.match(server.lines().at(-1)?.id ?? "", /^"sallyport-/)
    }))
})

describe("tables", () => {
  it.effect("4,096 requests may be unanswered; the next one is refused and none is forgotten", () =>
    Effect.gen(function*() {
      const host = yield* alone("host")
      const lines = Array.from({ length: Endpoint.maxPending + 1 }, (_, i) => H.request(i, "ping"))
      yield* host.says(...lines)
      assert.lengthOf(host.calls, Endpoint.maxPending)
      assert.deepStrictEqual(host.lines().map(({ error, id }) => [id, error?.data?.reason]), [[
        "4096",
        "too-many-requests"
      ]])
      for (const call of host.calls) call.reply({ _tag: "Result", result: T.object([]) })
      yield* host.near.flush
      assert.deepStrictEqual(host.lines().slice(1).map(({ id }) => id), lines.slice(0, -1).map((_, i) => String(i)))
    }))

  it.effect("a server is asked at most 4,096 things at a time", () =>
    Effect.gen(function*() {
      const server = yield* alone("server")
      const asked = Array.from({ length: Endpoint.maxPending + 1 }, (_, i) => server.ask("ping", { wish: String(i) }))
      assert.match(asked.at(-1)?.answers[0] ?? "", /too-many-requests/)
      assert.deepStrictEqual(asked[0]?.answers, [])
    }))

  it.effect("10,000 answered calls leave nothing behind: 4,096 are allowed in flight after them", () =>
    Effect.gen(function*() {
      const relay = yield* echoing()
      const chunk = 500
      for (let i = 0; i < 10_000; i += chunk) {
        yield* relay.says(...Array.from({ length: chunk }, (_, k) => H.call(i + k, k % 2 === 0 ? "read" : "write")))
      }
      while (relay.saw().length < 10_000) yield* H.settle
      assert.lengthOf(relay.take(), 10_000)
      relay.answer("tools/call", "silent")
      yield* relay.says(...Array.from({ length: Endpoint.maxPending }, (_, i) => H.call(i, "read")))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.says(H.call(`"one more"`, "read"))
      assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.reason), ["too-many-requests"])
    }))

  it.effect("the bytes of unanswered requests are bounded (F34)", () =>
    Effect.gen(function*() {
      const host = yield* alone("host", { bytes: 1000 })
      const big = (id: number) => H.request(id, "tools/call", { name: "x".repeat(600) })
      yield* host.says(big(1), big(2))
      assert.deepStrictEqual(host.lines().map(({ error, id }) => [id, error?.data?.reason]), [[
        "2",
        "too-many-requests"
      ]])
      host.calls[0]?.reply({ _tag: "Result", result: T.object([]) })
      yield* host.says(big(3))
      assert.lengthOf(host.calls, 2)
      yield* host.says(H.cancel(3), big(4))
      assert.lengthOf(host.calls, 3)
    }))

  it.effect("one request of any allowed length passes, whatever the bound", () =>
    Effect.gen(function*() {
      const host = yield* alone("host", { bytes: 10 })
      yield* host.says(H.request(1, "tools/call", { name: "x".repeat(600) }))
      assert.lengthOf(host.calls, 1)
    }))
})

describe("answers that nobody waits for", () => {
  it.effect.each([`99`, `"7"`, `"sallyport-0-0"`])(
    "an answer to %s is dropped and told",
    (id) =>
      Effect.gen(function*() {
        const relay = yield* H.opened()
        yield* relay.says(H.call(7, "read"))
        yield* relay.server().says(H.result(id, { stray: true }))
        assert.deepStrictEqual(relay.take(), [])
        assert.match(relay.told.join("\n"), /unsolicited/)
        yield* relay.server().says(H.result("7"))
        assert.lengthOf(relay.answers(7), 1)
      })
  )

  it.effect("a second answer is dropped", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(7, "read"))
      yield* relay.server().says(H.result("7", { n: 1 }), H.result("7", { n: 2 }))
      assert.deepStrictEqual(relay.take().map(({ result }) => result), [{ n: 1 }])
    }))

  it.effect("an answer of the host's to nothing is dropped, and the server never sees it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.result("1"), H.request(2, "ping"))
      assert.deepStrictEqual(relay.server().take().map(({ method }) => method), ["ping"])
    }))

  it.effect("what was dropped is summed in the ledger once a minute", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.server().says(...Array.from({ length: 5 }, () => H.result("99")))
      yield* H.adjust("1 minute")
      assert.deepInclude(relay.entries("dropped")[0], { server: "notes", reason: "unsolicited", count: 5 })
      assert.lengthOf(relay.entries("dropped"), 1)
    }))
})

describe("an answer that cannot be accepted ends the wait in the same turn (F14)", () => {
  const bad: ReadonlyArray<readonly [what: string, line: string, rule: string, pointer: string, offset: number]> = [
    [
      "both result and error",
      `{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":""}}`,
      "not-a-message",
      "",
      0
    ],
    ["neither", `{"jsonrpc":"2.0","id":5}`, "not-a-message", "", 0],
    ["a null result", `{"jsonrpc":"2.0","id":5,"result":null}`, "not-a-message", "/result", 33],
    ["a list as result", `{"jsonrpc":"2.0","id":5,"result":[]}`, "not-a-message", "/result", 33],
    ["an error without message", `{"jsonrpc":"2.0","id":5,"error":{"code":1}}`, "not-a-message", "/error", 32],
    [
      "a fraction as code",
      `{"jsonrpc":"2.0","id":5,"error":{"code":1.5,"message":""}}`,
      "not-a-message",
      "/error",
      32
    ],
    ["no jsonrpc", `{"id":5,"result":{}}`, "not-a-message", "", 0],
    ["another jsonrpc", `{"jsonrpc":"1.0","id":5,"result":{}}`, "not-a-message", "/jsonrpc", 11],
    ["an unknown member", `{"jsonrpc":"2.0","id":5,"result":{},"extra":1}`, "unknown-member", "/extra", 36],
    [
      "a duplicate member deep inside",
      `{"jsonrpc":"2.0","id":5,"result":{"a":[{"b":1,"b":2}]}}`,
      "duplicate-member",
      "/result/a/0/b",
      46
    ],
    [
      "half of a surrogate pair",
      `{"jsonrpc":"2.0","id":5,"result":{"a":"\\ud800"}}`,
      "lone-surrogate",
      "/result/a",
      39
    ],
    [
      "a case variant",
      `{"jsonrpc":"2.0","id":5,"result":{"tools":[],"Tools":[]}}`,
      "case-variant",
      "/result/Tools",
      45
    ],
    [
      "too much nesting",
      `{"jsonrpc":"2.0","id":5,"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
      "too-deep",
      "",
      -1
    ],
    ["something behind it", `{"jsonrpc":"2.0","id":5,"result":{}} x`, "not-json", "", 37],
    ["the end missing", `{"jsonrpc":"2.0","id":5,"result":{"a":`, "not-json", "", -1]
  ]
  for (const [what, line, rule, pointer, offset] of bad) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened()
        yield* relay.says(H.call(5, "read"))
        yield* relay.server().says(line)
        const [answer, ...more] = relay.take()
        assert.deepStrictEqual(more, [])
        assert.strictEqual(answer?.id, "5")
        assert.strictEqual(answer?.error?.code, -32603)
        const data = answer?.error?.data
        assert.deepStrictEqual([data?.reason, data?.rule], ["bad-answer", rule])
        if (offset >= 0) {
          assert.deepStrictEqual([data?.pointer, data?.offset], [pointer, offset])
          assert.include(answer?.error?.message ?? "", `byte ${offset}`)
        }
        // The session lives, and a proper answer to the same id is one too many.
        yield* relay.server().says(H.result("5"))
        assert.deepStrictEqual(relay.take(), [])
        yield* relay.says(H.request(6, "ping"))
        assert.deepStrictEqual(relay.take().map(({ text }) => text), [`{"jsonrpc":"2.0","id":6,"result":{}}`])
      }))
  }

  it.effect("not UTF-8", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(5, "read"))
      yield* relay.server().far.push(
        Buffer.concat([
          Buffer.from(`{"jsonrpc":"2.0","id":5,"result":{"a":"`),
          Buffer.from([0xc3, 0x28]),
          Buffer.from(`"}}\n`)
        ])
      )
      yield* H.settle
      assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.rule), ["not-utf8"])
    }))

  it.effect("longer than the limit", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ limits: { messageBytes: 2048, depth: 64 } })
      yield* relay.says(H.call(5, "read"))
      yield* relay.server().says(H.result("5", { text: "x".repeat(4000) }))
      assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.rule), ["too-long"])
    }))

  it.effect("but no other line is ever attributed to a request", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(5, "read"))
      yield* relay.server().says(
        `{"jsonrpc":"2.0","id":5,"id":5,"result":{}}`,
        `{"jsonrpc":"2.0","params":{"id":5},"result":{},"result":{}}`,
        `id 5 failed`,
        `{"jsonrpc":"2.0","id":"5","result":[]}`
      )
      assert.deepStrictEqual(relay.take(), [])
      assert.isFalse(relay.done())
    }))

  it.effect("a host's answer to the server that cannot be accepted ends the server's wait", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { roots: {} } })
      yield* relay.server().says(H.request(9, "roots/list"))
      const asked = relay.take()[0]
      assert.strictEqual(asked?.method, "roots/list")
      yield* relay.says(`{"jsonrpc":"2.0","id":${asked?.id},"result":{"roots":[],"Roots":[]}}`)
      assert.deepStrictEqual(relay.server().take().map(({ error, id }) => [id, error?.code, error?.data?.rule]), [
        ["9", -32603, "case-variant"]
      ])
      assert.deepStrictEqual(relay.take(), [])
    }))
})

describe("lines of the host that cannot be read", () => {
  const rows: ReadonlyArray<
    readonly [what: string, line: string, code: number, reason: string, id: string | undefined]
  > = [
    ["not JSON", `{"jsonrpc":"2.0","id":4,`, -32700, "not-json", undefined],
    ["text behind the message", `${H.request(4, "ping")} x`, -32700, "not-json", undefined],
    [
      "a duplicate member",
      `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":1,"a":2}}`,
      -32600,
      "duplicate-member",
      "4"
    ],
    ["a duplicate id", `{"jsonrpc":"2.0","id":4,"id":5,"method":"ping"}`, -32600, "duplicate-member", undefined],
    ["a case variant of the envelope", `{"jsonrpc":"2.0","id":4,"Method":"ping"}`, -32600, "case-variant", "4"],
    [
      "a case variant in params",
      `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read","Name":"write"}}`,
      -32600,
      "case-variant",
      "4"
    ],
    [
      "a case variant by folding",
      `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read","argument\u017f":{}}}`,
      -32600,
      "case-variant",
      "4"
    ],
    [
      "half of a surrogate pair",
      `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":"\\udc00"}}`,
      -32600,
      "lone-surrogate",
      "4"
    ],
    [
      "too deep",
      `{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":${"[".repeat(130)}${"]".repeat(130)}}}`,
      -32600,
      "too-deep",
      "4"
    ],
    ["no message", `{"jsonrpc":"2.0","id":4}`, -32600, "not-a-message", "4"],
    ["a number", `4`, -32600, "not-a-message", undefined],
    ["params that are a list", `{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}`, -32600, "not-a-message", "4"],
    ["method and result", `{"jsonrpc":"2.0","id":4,"method":"ping","result":{}}`, -32600, "not-a-message", "4"],
    ["an unknown member", `{"jsonrpc":"2.0","id":4,"method":"ping","x":1}`, -32600, "unknown-member", "4"],
    ["an empty batch", `[]`, -32600, "empty-batch", undefined],
    ["a batch", `[${H.request(4, "ping")}]`, -32600, "no-batch", undefined]
  ]
  for (const [what, line, code, reason, id] of rows) {
    it.effect(`${what}: ${code} ${reason}`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened()
        yield* relay.says(line)
        assert.deepStrictEqual(
          relay.take().map(({ error, id }) => [error?.code, error?.data?.reason, id]),
          [[code, reason, id]]
        )
        assert.deepStrictEqual(relay.server().take(), [])
        yield* relay.says(H.request(6, "ping"))
        assert.lengthOf(relay.answers(6), 1)
      }))
  }

  it.effect("too long: refused alone, and the session lives", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ limits: { messageBytes: 1000, depth: 64 } })
      yield* relay.says(H.call(4, "x".repeat(1000)), H.request(6, "ping"))
      assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.reason), ["too-long", undefined])
    }))

  it.effect("a notification that cannot be accepted is not answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"a":1,"a":2}}`)
      assert.deepStrictEqual(relay.take(), [])
    }))

  for (
    const [revision, id] of [["2024-11-05", "null"], ["2025-03-26", "null"], ["2025-06-18", "null"], [
      "2025-11-25",
      undefined
    ]] as const
  ) {
    it.effect(`an error without a readable id has ${id === undefined ? "none" : "null"} in ${revision}`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ revision })
        yield* relay.says(`not JSON`)
        assert.deepStrictEqual(relay.take().map((line) => line.id), [id])
      }))
  }

  it.effect("before a revision is known it has null", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(`not JSON`)
      assert.deepStrictEqual(relay.take().map((line) => line.id), ["null"])
    }))

  it.effect("a server whose request has an unreadable id is answered by its revision too", () =>
    Effect.gen(function*() {
      for (const [revision, id] of [["2025-06-18", "null"], ["2025-11-25", undefined]] as const) {
        const relay = yield* H.opened({ revision })
        yield* relay.server().says(`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`)
        assert.deepStrictEqual(relay.server().take().map(({ error, id }) => [error?.data?.reason, id]), [[
          "bad-id",
          id
        ]])
      }
    }))

  it.effect("chunks may cut anywhere, CRLF and blank lines are no matter, and an unterminated last line counts", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      const bytes = new TextEncoder().encode(`\r\n  \n${H.request(`"é"`, "ping")}\r\n\n${H.request(2, "ping")}`)
      for (const byte of bytes) yield* relay.far.send(new Uint8Array([byte]))
      yield* H.settle
      yield* relay.eof
      assert.deepStrictEqual(relay.take().map(({ id }) => id), [`"é"`, "2"])
    }))

  it.effect("U+2028, U+2029 and U+0085 leave escaped", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read", { text: "\u2028\u2029\u0085" }))
      assert.include(relay.calls()[0]?.text ?? "", "\\u2028\\u2029\\u0085")
    }))
})

describe("cancelling", () => {
  it.effect("a cancel of the host's reaches the server under the id that the server knows, and ends the wait", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(`"a"`, "read"))
      yield* relay.says(H.cancel(`"a"`))
      assert.deepStrictEqual(relay.server().take().at(-1)?.params, { requestId: "a", reason: "no" })
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("of an id that is not in flight, or of none, nothing happens", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(
        H.cancel(99),
        H.notification("notifications/cancelled"),
        H.notification("notifications/cancelled", { requestId: {} })
      )
      assert.deepStrictEqual([relay.take(), relay.server().take()], [[], []])
    }))

  it.effect("initialize is never cancelled", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      yield* relay.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual(relay.server().take().map(({ method }) => method), ["initialize"])
      yield* relay.server().says(H.result("1", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.lengthOf(relay.answers(1), 1)
    }))

  it.effect("server/discover can be", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { "server/discover": "silent" } })
      yield* relay.says(H.modern(1, "server/discover"))
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual(relay.server().take().map(({ id, method, params }) => [id, method, params]), [
        ["1", "server/discover", { _meta: H.modernMeta() }],
        [undefined, "notifications/cancelled", { requestId: 1, reason: "no" }]
      ])
    }))

  it.effect("a cancel of the server's reaches the host under the id that the host knows", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { sampling: {} } })
      yield* relay.server().says(H.request(71, "sampling/createMessage", { messages: [], maxTokens: 1 }))
      const asked = relay.take()[0]
      yield* relay.server().says(H.cancel(71))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${asked?.id},"reason":"no"}}`
      ])
      yield* relay.says(H.result(asked?.id))
      assert.deepStrictEqual(relay.server().take(), [])
    }))

  it.effect("one side cannot cancel what the other side asked", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(7, "read"))
      yield* relay.server().says(H.cancel(7), H.result("7", { ok: true }))
      assert.deepStrictEqual(relay.take().map(({ result }) => result), [{ ok: true }])
    }))
})

describe("both directions", () => {
  it.effect("the same id may be in flight in both directions", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { roots: {} } })
      yield* relay.says(H.call(1, "read"))
      yield* relay.server().says(H.request(1, "roots/list"))
      const asked = relay.take()[0]
      assert.strictEqual(asked?.id, "1")
      yield* relay.says(H.result("1", { roots: [] }))
      yield* relay.server().says(H.result("1", { done: true }))
      assert.deepStrictEqual(relay.server().take().at(-1)?.result, { roots: [] })
      assert.deepStrictEqual(relay.take().map(({ result }) => result), [{ done: true }])
    }))

  it.effect("a server's answers may come in any order and in one chunk: one write to the host", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(...[1, 2, 3].map((id) => H.call(id, "read")))
      const before = relay.far.writes().length
      yield* relay.server().says(H.result("3"), H.result("1"), H.result("2"))
      assert.deepStrictEqual(relay.take().map(({ id }) => id), ["3", "1", "2"])
      assert.strictEqual(relay.far.writes().length - before, 1)
    }))

  it.effect("a host that does not read stops the server from being read, and nothing is lost", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { tools: {}, logging: {} } })
      yield* relay.far.stall
      const log = (n: number) => H.notification("notifications/message", { level: "info", data: n })
      yield* relay.server().says(log(1))
      const waits = yield* Effect.forkChild(relay.server().far.send(`${log(2)}\n`))
      yield* H.settle
      assert.isUndefined(waits.pollUnsafe())
      yield* relay.far.resume
      yield* H.settle
      assert.isDefined(waits.pollUnsafe())
      assert.lengthOf(relay.take(), 2)
    }))
})

describe("progress", () => {
  const withToken = (id: number, token: unknown): string =>
    H.request(id, "tools/call", { name: "read", _meta: { progressToken: token } })
  const progress = (token: unknown): string =>
    H.notification("notifications/progress", { progressToken: token, progress: 1 })

  it.effect.each([0, 5, "5", ""])("for the token of a request in flight passes: %j", (token) =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(withToken(1, token))
      yield* relay.server().says(progress(token), progress(token === 5 ? "5" : 5.5))
      assert.deepStrictEqual(relay.take().map(({ params }) => params), [{ progressToken: token, progress: 1 }])
      assert.match(relay.told.join(), /unknown-progress/)
    }))

  it.effect("for a token of nothing, of what was answered, or of what was cancelled, is dropped", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(withToken(1, "a"), withToken(2, "b"))
      yield* relay.server().says(H.result("1"))
      yield* relay.says(H.cancel(2))
      relay.take()
      yield* relay.server().says(progress("a"), progress("b"), progress("c"))
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("of the host for a request of the server's passes", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { sampling: {} } })
      yield* relay.server().says(
        H.request(1, "sampling/createMessage", { messages: [], _meta: { progressToken: "s" } })
      )
      relay.server().take()
      yield* relay.says(progress("s"), progress("t"))
      assert.deepStrictEqual(relay.server().take().map(({ params }) => params), [{ progressToken: "s", progress: 1 }])
    }))

  it.effect("for the token of a task goes on after the answer that created it, and tokens of tasks are bounded", () =>
    Effect.gen(function*() {
      const server = yield* alone("server")
      const ask = (token: string) => {
        server.ask("tools/call", { wish: H.json(token), params: { task: {}, _meta: { progressToken: token } } })
      }
      ask("first")
      yield* server.says(H.result(`"first"`), progress("first"))
      assert.lengthOf(server.notes, 1)
      for (let i = 0; i < 2 * Endpoint.maxPending; i++) {
        ask(`t${i}`)
        if (i % 1024 === 1023) {
          yield* server.says(...Array.from({ length: 1024 }, (_, k) => H.result(`"t${i - k}"`)))
        }
      }
      yield* server.says(progress("first"), progress(`t${2 * Endpoint.maxPending - 1}`))
      assert.lengthOf(server.notes, 2)
    }))
})

describe("text that looks like metadata", () => {
  it.effect("a log line that only mentions a subscription passes", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { tools: {}, logging: {} } })
      const line = H.notification("notifications/message", {
        level: "info",
        data: "io.modelcontextprotocol/subscriptionId"
      })
      yield* relay.server().says(line)
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [line])
    }))

  it.effect("a notification for a subscription that is not open is dropped", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.server().says(
        H.notification("notifications/tools/list_changed", { _meta: { "io.modelcontextprotocol/subscriptionId": 9 } })
      )
      assert.deepStrictEqual(relay.take(), [])
      assert.match(relay.told.join(), /unknown-subscription/)
    }))
})

describe("batches", () => {
  const batch = (...lines: ReadonlyArray<string>): string => `[${lines.join(",")}]`
  const array = (line: H.Said | undefined): ReadonlyArray<H.Said> => {
    const text = line?.text ?? "[]"
    assert.isTrue(text.startsWith("["), text)
    return T.elements(T.fromValue(JSON.parse(text))).map(H.said)
  }

  it.effect.each(["2024-11-05", "2025-06-18", "2025-11-25"])(
    "are refused whole in %s, and nothing of them is done",
    (revision) =>
      Effect.gen(function*() {
        const relay = yield* echoing(revision)
        yield* relay.says(batch(H.call(1, "read")))
        assert.deepStrictEqual(relay.take().map(({ error }) => error?.data?.reason), ["no-batch"])
        assert.lengthOf(relay.calls(), 0)
      })
  )

  it.effect("in 2025-03-26 each member is judged as if it came alone, and one array answers", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26" })
      yield* relay.says(batch(
        H.call(1, "read"),
        H.notification("notifications/roots/list_changed"),
        H.call(2, "unknown"),
        `{"jsonrpc":"2.0","id":3}`,
        H.request(4, "ping"),
        H.request(1, "ping"),
        `17`
      ))
      // To the server they go one by one.
      assert.deepStrictEqual(relay.server().take().map(({ id, method }) => [id, method]), [["1", "tools/call"], [
        "4",
        "ping"
      ]])
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.server().says(H.result("1", { done: true }))
      const [answer, ...more] = relay.take()
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(
        array(answer).map(({ error, id }) => [id, error?.data?.reason]).sort(),
        [["1", undefined], ["1", "duplicate-id"], ["2", "unknown-item"], ["3", "not-a-message"], ["4", undefined], [
          "null",
          "not-a-message"
        ]]
          .sort()
      )
    }))

  it.effect("a batch of notifications is not answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26", client: { roots: {} } })
      yield* relay.says(batch(H.notification("notifications/roots/list_changed")))
      assert.deepStrictEqual(relay.take(), [])
      assert.lengthOf(relay.server().take(), 1)
    }))

  it.effect("initialize has no place in one", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26" })
      yield* relay.says(batch(H.request(1, "initialize", { protocolVersion: "2025-03-26" }), H.request(2, "ping")))
      assert.deepStrictEqual(array(relay.take()[0]).map(({ error, id }) => [id, error?.data?.reason]), [
        ["1", "not-a-message"],
        ["2", undefined]
      ])
    }))

  it.effect("a cancelled member is not waited for, whether the cancel came alone", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26" })
      yield* relay.says(batch(H.call(1, "read"), H.call(2, "read")))
      yield* relay.server().says(H.result("2"))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual(array(relay.take()[0]).map(({ id }) => id), ["2"])
    }))

  it.effect("or in a batch, its own one too", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26" })
      yield* relay.says(batch(H.call(1, "read"), H.call(2, "read"), H.cancel(1)))
      yield* relay.server().says(H.result("2"))
      assert.deepStrictEqual(array(relay.take()[0]).map(({ id }) => id), ["2"])
    }))

  it.effect("a server's batch is taken apart too", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26", client: { roots: {} } })
      yield* relay.says(H.call(1, "read"), H.call(2, "read"))
      relay.server().take()
      yield* relay.server().says(batch(H.result("2"), H.result("1"), H.request(5, "ping"), H.request(6, "roots/list")))
      const seen = relay.take()
      assert.deepStrictEqual(seen.map(({ id }) => id), ["2", "1", "5", "6"])
      yield* relay.says(H.result("6", { roots: [] }), H.result("5"))
      assert.deepStrictEqual(array(relay.server().take()[0]).map(({ id }) => id), ["6", "5"])
    }))

  it.effect("an answer in a batch that cannot be accepted ends the wait for it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ revision: "2025-03-26", client: { roots: {} } })
      yield* relay.says(H.call(1, "read"))
      yield* relay.server().says(batch(`{"jsonrpc":"2.0","id":1,"result":[]}`), H.request(9, "roots/list"))
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.data?.rule]), [["1", "not-a-message"], [
        "9",
        undefined
      ]])
      relay.server().take()
      yield* relay.says(batch(`{"jsonrpc":"2.0","id":9,"result":[]}`))
      assert.deepStrictEqual(relay.server().take().map(({ error, id }) => [id, error?.data?.rule]), [[
        "9",
        "not-a-message"
      ]])
    }))

  it.effect("the answers of a batch are bounded together (F34)", () =>
    Effect.gen(function*() {
      const host = yield* alone("host", { batches: () => true, bytes: 1000 })
      yield* host.says(batch(H.request(1, "ping"), H.request(2, "ping")))
      for (const call of host.calls) {
        call.reply({ _tag: "Result", result: T.object([["text", T.quote("x".repeat(700))]]) })
      }
      yield* host.near.flush
      assert.deepStrictEqual(array(host.lines()[0]).map(({ error, id }) => [id, error?.data?.reason]), [
        ["1", undefined],
        ["2", "bad-answer"]
      ])
    }))
})
