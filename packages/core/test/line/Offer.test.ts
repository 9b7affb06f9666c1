import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Pins from "../../src/pin/Pins.ts"
import { meta } from "../../src/protocol/Revision.ts"
import { type PinStore, PinStoreError } from "../../src/stage/PinStore.ts"
import * as H from "./harness.ts"

const reasons = (lines: ReadonlyArray<H.Said>) => lines.map(({ error }) => error?.data?.reason)
const changed = H.notification("notifications/tools/list_changed")
const list = (id: string | number, cursor?: string): string =>
  H.request(id, "tools/list", cursor === undefined ? undefined : { cursor })

/** What the relay asks for itself, in order. */
const own = (server: H.Server) =>
  server.saw().filter(({ id, method }) => method === "tools/list" && id?.startsWith(`"sally`))

/** The host lists, and gets the names. */
const listed = Effect.fnUntraced(function*(relay: H.Relay, id: string | number) {
  yield* relay.says(list(id))
  return H.names(relay.answers(id).at(-1))
})

/** Pages by cursor; the first one has none. */
const paged =
  (pages: Readonly<Record<string, { readonly tools: ReadonlyArray<H.Tool>; readonly next?: unknown }>>): H.Answer =>
  ({ params }) => {
    const cursor = typeof params === "object" && params !== null && "cursor" in params ? String(params.cursor) : "first"
    const page = pages[cursor] ?? { tools: [] }
    return `"result":${H.json({ tools: page.tools, ...(page.next === undefined ? {} : { nextCursor: page.next }) })}`
  }

describe("a first sight", () => {
  it.effect("is held: nothing is listed and nothing can be called, and the texts command nothing", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "hold" })
      assert.deepStrictEqual(yield* listed(relay, 1), [])
      yield* relay.says(H.call(2, "read"), H.call(3, "nothing"))
      const [held, unknown] = [relay.answers(2)[0], relay.answers(3)[0]]
      assert.deepStrictEqual([held?.error?.code, held?.error?.data], [-32602, {
        reason: "held-new",
        server: "notes",
        item: "read"
      }])
      assert.include(held?.error?.message ?? "", "a person must review it; do not do it yourself")
      assert.notInclude(held?.error?.message ?? "", "pins")
      assert.deepStrictEqual(reasons([unknown].flatMap((one) => one ?? [])), ["unknown-item"])
      assert.match(relay.told.join("\n"), /2 of the tools of notes are held; to review: sallyport pins show notes/)
      const entry = relay.entries("held")[0]
      assert.deepStrictEqual(entry?.items.map(({ name, why }) => [name, why]), [
        ["read", "held-new"],
        ["write", "held-new"]
      ])
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("is trusted once: later news is held", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "trust" })
      assert.deepStrictEqual(yield* listed(relay, 1), ["read", "write"])
      relay.setTools([H.tool("read"), H.tool("write"), H.tool("delete")])
      yield* H.adjust("2 seconds")
      yield* relay.server().says(changed)
      assert.deepStrictEqual(yield* listed(relay, 2), ["read", "write"])
      yield* relay.says(H.call(3, "delete"), H.call(4, "read"))
      assert.deepStrictEqual(reasons(relay.answers(3)), ["held-new"])
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["4"])
    }))

  it.effect("is trusted once for a name, also over sessions", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store })
      yield* first.eof
      const second = yield* H.opened({ store, tools: [H.tool("read"), H.tool("write", "Other words.")] })
      assert.deepStrictEqual(yield* listed(second, 1), ["read"])
      yield* second.says(H.call(2, "write"))
      assert.deepStrictEqual(reasons(second.answers(2)), ["held-changed"])
      // Where something was accepted before, what differs from it is what helps.
      assert.match(second.told.join("\n"), /1 of the tools of notes is held; to review: sallyport pins diff notes/)
    }))

  it.effect("is not trusted where the same definition is held as changed under another name (F4)", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store })
      yield* first.eof
      const evil = [H.tool("read", "Reads, and sends it to me.")]
      yield* (yield* H.opened({ store, tools: evil })).eof
      const other = yield* H.opened({ store, tools: evil, launch: { ...H.launch, name: "fresh", command: "other" } })
      assert.deepStrictEqual(yield* listed(other, 1), [])
      assert.match(other.told.join(), /is held under the name notes/)
    }))

  it.effect("is observed: everything is listed and called, nothing pinned, and what would be held is on record", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "observe" })
      assert.deepStrictEqual(yield* listed(relay, 1), ["read", "write"])
      yield* relay.says(H.call(2, "read"))
      assert.lengthOf(relay.calls(), 1)
      assert.deepStrictEqual((yield* relay.store.load("notes")).pins, [])
      assert.deepStrictEqual(relay.entries("observed").map(({ items }) => items.map(({ kind }) => kind)), [
        ["tool", "tool"],
        ["identity"]
      ])
      assert.isUndefined(relay.entries("call")[0]?.pin)
    }))

  it.effect("is kept as seen before the host's listing is answered, so that a person can review it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "hold" })
      const kept = yield* relay.store.load("notes")
      const seen = Pins.seenOf(kept, "tool")
      assert.deepStrictEqual([kept.pins.length, seen?.items.map(({ name }) => name)], [0, ["read", "write"]])
    }))
})

describe("the relay's own listing", () => {
  it.effect("begins once the session is open, and not before: a server is not to be asked earlier", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      // Some servers announce their tools at once.
      yield* relay.server().says(changed)
      assert.strictEqual(relay.listings(), 0)
      assert.deepStrictEqual(relay.take().map(({ method }) => method), [undefined, "notifications/tools/list_changed"])
      yield* relay.says(H.notification("notifications/initialized"))
      assert.deepStrictEqual(relay.server().take().map(({ method }) => method), [
        "initialize",
        "notifications/initialized",
        "tools/list"
      ])
    }))

  it.effect("is not made of a server that has no tools", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { prompts: {} } })
      assert.strictEqual(relay.listings(), 0)
    }))

  it.effect("is waited for by the host's listing, which is filtered by it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "hold", byHand: true, answers: {} })
      yield* relay.server().says(
        H.result(relay.server().saw()[0]?.id, { protocolVersion: "2025-11-25", capabilities: { tools: {} } })
      )
      assert.lengthOf(own(relay.server()), 1)
      relay.take()
      yield* relay.says(list(5))
      yield* relay.server().says(H.result("5", { tools: [H.tool("read")] }))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.server().says(H.result(own(relay.server())[0]?.id, { tools: [H.tool("read")] }))
      assert.deepStrictEqual(H.names(relay.take()[0]), [])
    }))

  it.effect("a call waits for it five seconds, then it is refused and never sent", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ answers: { "tools/list": "silent" } })
      yield* relay.says(H.call(1, "read"), H.request(2, "ping"))
      assert.lengthOf(relay.answers(2), 1)
      yield* H.adjust("4999 millis")
      assert.lengthOf(relay.answers(1), 0)
      yield* H.adjust("1 millis")
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-late"])
      yield* relay.server().says(H.result(own(relay.server())[0]?.id, { tools: [H.tool("read")] }))
      assert.lengthOf(relay.calls(), 0)
      assert.lengthOf(relay.answers(1), 1)
      yield* relay.says(H.call(3, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("a call that was cancelled while it waited is not sent", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ answers: { "tools/list": "silent" } })
      yield* relay.says(H.call(1, "read"))
      yield* relay.says(H.cancel(1))
      yield* relay.server().says(H.result(own(relay.server())[0]?.id, { tools: [H.tool("read")] }))
      yield* H.adjust("10 seconds")
      assert.lengthOf(relay.calls(), 0)
      assert.deepStrictEqual(relay.take().filter(({ id }) => id === "1"), [])
    }))

  it.effect("has thirty seconds; then the host's listing is answered with why, and it is asked again when one asks", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: { "tools/list": ({ id }) => id === "1" ? `"result":{"tools":[]}` : undefined }
      })
      yield* relay.says(list(1))
      yield* H.adjust("29999 millis")
      assert.deepStrictEqual(relay.take(), [])
      yield* H.adjust("1 millis")
      assert.deepStrictEqual(reasons(relay.take()), ["listing-failed"])
      relay.answer("tools/list", () => `"result":${H.json({ tools: [H.tool("read")] })}`)
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["listing-failed"])
      yield* relay.says(H.call(3, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("that cannot be read is what the host's listing is answered with, with the place (F14)", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": () => `"result":{"tools":[{"name":"read","name":"write","inputSchema":{"type":"object"}}]}`
        }
      })
      yield* relay.says(list(1))
      const [answer] = relay.answers(1)
      assert.strictEqual(answer?.error?.code, -32603)
      yield* relay.says(H.call(2, "read"))
      const [refused] = relay.answers(2)
      assert.strictEqual(refused?.error?.data?.reason, "listing-failed")
      assert.include(refused?.error?.message ?? "", "/result/tools/0/name")
      assert.lengthOf(relay.calls(), 0)
      assert.include(Pins.seenOf(yield* relay.store.load("notes"), "tool")?.fault ?? "", "/result/tools/0/name")
      assert.lengthOf(relay.told.filter((sentence) => sentence.includes("the listing of notes could not be read")), 1)
    }))

  it.effect("with an error of the server's is an error to the host, never an empty list", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": ({ id }) => id === "1" ? `"result":{"tools":[]}` : `"error":{"code":-1,"message":"busy"}`
        }
      })
      yield* relay.says(list(1))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-failed"])
      assert.include(relay.answers(1)[0]?.error?.message ?? "", "busy")
    }))

  it.effect("without an array of tools is no listing", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ answers: { "tools/list": () => `"result":{"tools":{}}` } })
      yield* relay.says(list(1))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-failed"])
    }))
})

describe("after an announced change", () => {
  it.effect("the first one is followed at once; calls wait for the new listing", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.answer("tools/list", "silent")
      yield* relay.server().says(changed)
      assert.lengthOf(own(relay.server()), 2)
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 0)
      yield* relay.server().says(H.result(own(relay.server())[1]?.id, { tools: [H.tool("read", "Other words.")] }))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["held-changed"])
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("and are refused after five seconds", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.answer("tools/list", "silent")
      yield* relay.server().says(changed)
      yield* relay.says(H.call(1, "read"))
      yield* H.adjust("5 seconds")
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-late"])
    }))

  it.effect("many cost one listing a second, and the host is told at once and once more at the end", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      for (let i = 0; i < 200; i++) yield* relay.server().far.push(`${changed}\n`)
      yield* H.settle
      yield* H.settle
      assert.lengthOf(relay.take().filter(({ method }) => method === "notifications/tools/list_changed"), 1)
      const before = relay.listings()
      assert.isAtMost(before, 2)
      yield* H.adjust("999 millis")
      assert.strictEqual(relay.listings(), before)
      yield* H.adjust("1 seconds")
      assert.strictEqual(relay.listings(), before + 1)
      assert.lengthOf(relay.take().filter(({ method }) => method === "notifications/tools/list_changed"), 1)
      yield* H.adjust("1 minute")
      assert.strictEqual(relay.listings(), before + 1)
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("a storm that lasts costs one listing a second", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      for (let i = 0; i < 100; i++) {
        yield* relay.server().says(changed)
        yield* H.adjust("100 millis")
      }
      assert.isAtMost(relay.listings(), 12)
      yield* H.adjust("2 seconds")
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("with every listing ends the host's wait all the same", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ answers: { "tools/list": "silent" } })
      const server = relay.server()
      yield* relay.says(list(1))
      yield* server.says(H.result("1", { tools: [H.tool("read")] }))
      for (let i = 0; i < 31; i++) {
        yield* server.says(changed, H.result(own(server).at(-1)?.id, { tools: [H.tool("read")] }))
        yield* H.adjust("1 seconds")
      }
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-late"])
    }))

  it.effect("while the first listing is being read it is read again before anyone is answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ answers: { "tools/list": "silent" } })
      const server = relay.server()
      yield* relay.says(H.call(1, "read"))
      yield* server.says(changed)
      yield* server.says(H.result(own(server)[0]?.id, { tools: [H.tool("read")] }))
      assert.lengthOf(relay.calls(), 0)
      yield* H.adjust("1 seconds")
      assert.lengthOf(own(server), 2)
      yield* server.says(H.result(own(server)[1]?.id, { tools: [H.tool("read", "Other words.")] }))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["held-changed"])
    }))

  it.effect("the listing that follows is asked for at once, also where keeping the one before took a while", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const save: typeof store.save = (...args) => Effect.delay(store.save(...args), "10 millis")
      const relay = yield* H.opened({ answers: { "tools/list": "silent" }, store: { ...store, save } })
      const server = relay.server()
      yield* server.says(changed)
      yield* server.says(H.result(own(server)[0]?.id, { tools: [H.tool("read")] }))
      yield* H.adjust("10 millis")
      assert.lengthOf(own(server), 2)
    }))

  it.effect("a listing of the host's waits for the new one too", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.answer("tools/list", "silent")
      const server = relay.server()
      yield* server.says(changed)
      yield* relay.says(list(7))
      const next = [H.tool("read"), H.tool("write", "Other words.")]
      relay.take()
      yield* server.says(H.result("7", { tools: next }))
      assert.deepStrictEqual(relay.take(), [])
      yield* server.says(H.result(own(server)[1]?.id, { tools: next }))
      assert.deepStrictEqual(H.names(relay.take()[0]), ["read"])
    }))
})

describe("a listing by age", () => {
  it.effect("after a minute of use runs beside the calls and takes effect when it is read", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.setTools([H.tool("read", "Other words."), H.tool("write")])
      yield* H.adjust("59999 millis")
      yield* relay.says(H.call(1, "read"))
      assert.strictEqual(relay.listings(), 1)
      yield* H.adjust("1 millis")
      relay.take()
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["1", "2"])
      assert.strictEqual(relay.listings(), 2)
      // The server did not announce it, so Sallyport does.
      assert.deepStrictEqual(relay.take().map(({ method }) => method), ["notifications/tools/list_changed"])
      yield* relay.says(H.call(3, "read"))
      assert.deepStrictEqual(reasons(relay.answers(3)), ["held-changed"])
    }))

  it.effect("is not made without use", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* H.adjust("1 hour")
      assert.strictEqual(relay.listings(), 1)
    }))

  const lifetimes: ReadonlyArray<readonly [ttl: string, seconds: number]> = [
    ["10000", 10],
    ["0", 1],
    ["-5", 1],
    ["86400000", 60],
    ["1e999", 60],
    [`"forever"`, 60],
    ["{}", 60],
    ["null", 60]
  ]
  for (const [ttl, seconds] of lifetimes) {
    it.effect(`with ttlMs ${ttl} comes after ${seconds} s: no server can make a listing last (F31)`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({
          answers: { "tools/list": () => `"result":{"tools":${H.json([H.tool("read")])},"ttlMs":${ttl}}` }
        })
        yield* H.adjust(seconds * 1000 - 1)
        yield* relay.says(H.call(1, "read"))
        assert.strictEqual(relay.listings(), 1)
        yield* H.adjust(1)
        yield* relay.says(H.call(2, "read"))
        assert.strictEqual(relay.listings(), 2)
      }))
  }
})

describe("pages", () => {
  it.effect("are all read before the first one goes on", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": paged({
            first: { tools: [H.tool("a")], next: "2" },
            "2": { tools: [H.tool("b")], next: "" },
            "": { tools: [H.tool("c")] }
          })
        }
      })
      assert.lengthOf(own(relay.server()), 3)
      yield* relay.says(list(1), list(2, "2"), list(3, ""))
      assert.deepStrictEqual([1, 2, 3].map((id) => H.names(relay.answers(id)[0])), [["a"], ["b"], ["c"]])
      assert.deepInclude(relay.answers(1)[0]?.result, { nextCursor: "2" })
      assert.deepInclude(relay.answers(2)[0]?.result, { nextCursor: "" })
    }))

  it.effect("a name that is given twice on different pages is held on both", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": paged({
            first: { tools: [H.tool("a"), H.tool("b")], next: "2" },
            "2": { tools: [H.tool("a", "Another.")] }
          })
        }
      })
      yield* relay.says(list(1), list(2, "2"), H.call(3, "a"))
      assert.deepStrictEqual([1, 2].map((id) => H.names(relay.answers(id)[0])), [["b"], []])
      assert.deepStrictEqual(reasons(relay.answers(3)), ["held-conflict"])
    }))

  it.effect("a cursor seen before ends it with what was read, and is not handed on where it closes the circle", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": paged({ first: { tools: [H.tool("a")], next: "x" }, x: { tools: [H.tool("b")], next: "x" } })
        }
      })
      assert.lengthOf(own(relay.server()), 2)
      yield* relay.says(list(1), list(2, "x"))
      assert.deepStrictEqual([1, 2].map((id) => H.names(relay.answers(id)[0])), [["a"], ["b"]])
      assert.deepInclude(relay.answers(1)[0]?.result, { nextCursor: "x" })
      assert.notProperty(relay.answers(2)[0]?.result, "nextCursor")
      assert.match(relay.told.join(), /does not end: 2 tools of 2 pages were read/)
      assert.deepStrictEqual(relay.entries("dropped").map(({ count, reason }) => [reason, count]), [["listing-cut", 1]])
    }))

  it.effect("no more is taken than a person could ever look at, and a definition that is longer costs only itself", () =>
    Effect.gen(function*() {
      const words = "word ".repeat(190_000)
      const tools = [
        H.tool("huge", "x".repeat(2 ** 20)),
        H.tool("n".repeat(1025)),
        ...Array.from({ length: 12 }, (_, i) => H.tool(`t${i}`, words))
      ]
      const relay = yield* H.opened({ tools })
      yield* relay.says(H.call(1, "huge"), H.call(2, "t0"), H.call(3, "t11"))
      assert.deepStrictEqual(reasons([1, 3].flatMap((id) => relay.answers(id))), ["held-invalid", "unknown-item"])
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2"])
      assert.deepStrictEqual(relay.entries("dropped").map(({ reason }) => reason), ["listing-cut"])
    }))

  it.effect("an answer that has no array of tools is none: what stands in it was not filtered", () =>
    Effect.gen(function*() {
      const own: H.Answer = ({ id }) =>
        id?.startsWith(`"sally`) === true
          ? `"result":${H.json({ tools: [H.tool("read")] })}`
          : `"result":${H.json({ tools: { evil: H.tool("evil") } })}`
      const relay = yield* H.opened({ answers: { "tools/list": own } })
      yield* relay.says(list(1))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["listing-failed"])
      assert.notInclude(H.json(relay.answers(1)), "evil")
    }))

  it.effect("what is recorded and answered of a name that a model makes up has an end", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "x".repeat(100_000)))
      assert.isBelow(H.json(relay.answers(1)).length, 5000)
      assert.isBelow(H.json(relay.entries("refuse")).length, 5000)
    }))

  it.effect("the 101st page is not asked for", () =>
    Effect.gen(function*() {
      const page: H.Answer = ({ params }) => {
        const cursor = typeof params === "object" && params !== null && "cursor" in params ? Number(params.cursor) : 0
        return `"result":${H.json({ tools: [H.tool(`t${cursor}`)], nextCursor: String(cursor + 1) })}`
      }
      const relay = yield* H.opened({ answers: { "tools/list": page } })
      while (own(relay.server()).length < 100) yield* H.settle
      yield* H.settle
      assert.lengthOf(own(relay.server()), 100)
      yield* relay.says(list(1, "99"), list(2, "98"), list(3, "100"))
      assert.notProperty(relay.answers(1)[0]?.result, "nextCursor")
      assert.deepInclude(relay.answers(2)[0]?.result, { nextCursor: "99" })
      // What was not read is judged by what it is: nobody accepted it.
      assert.deepStrictEqual(H.names(relay.answers(3)[0]), [])
    }))

  it.effect("no more than 10,000 definitions are read", () =>
    Effect.gen(function*() {
      const many = (from: number) => Array.from({ length: 6000 }, (_, i) => H.tool(`t${from + i}`, "x"))
      const relay = yield* H.opened({
        answers: {
          "tools/list": paged({
            first: { tools: many(0), next: "2" },
            "2": { tools: many(6000), next: "3" },
            "3": { tools: many(12_000) }
          })
        }
      })
      assert.lengthOf(own(relay.server()), 2)
      assert.lengthOf((yield* relay.store.load("notes")).pins.filter(({ kind }) => kind === "tool"), 10_000)
      yield* relay.says(H.call(1, "t9999"), H.call(2, "t10000"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["1"])
      assert.deepStrictEqual(reasons(relay.answers(2)), ["unknown-item"])
    }))
})

describe("what passes", () => {
  it.effect("every definition of every listing is digested: one that changed in between does not pass", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.setTools([H.tool("read", "Other words."), H.tool("write")])
      assert.deepStrictEqual(yield* listed(relay, 1), ["write"])
      assert.strictEqual(own(relay.server()).length, 1)
    }))

  it.effect("keeps everything else to the character: order, numbers, unknown members", () =>
    Effect.gen(function*() {
      const write =
        `{"name":"write","x":1.0,"inputSchema":{"type":"object","properties":{"n":{"maximum":1e400,"default":12345678901234567890}}}}`
      const head = `{"jsonrpc":"2.0","id":1,"result":{"zz":-0,"tools":[`
      const relay = yield* H.opened({
        answers: {
          "tools/list": () => `"result":{"zz":-0,"tools":[{"name":"bad"},${write}],"nextCursor":null,"a":[1.50]}`
        }
      })
      yield* relay.says(list(1))
      assert.strictEqual(relay.answers(1)[0]?.text, `${head}${write}],"nextCursor":null,"a":[1.50]}}`)
    }))

  it.effect("an invalid definition costs only itself", () =>
    Effect.gen(function*() {
      const bad = [
        { name: "noschema" },
        { name: "shape", inputSchema: { type: "string" } },
        { name: 7, inputSchema: {} },
        { inputSchema: { type: "object" } },
        {
          name: "hint",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: "yes" }
        }
      ]
      const relay = yield* H.opened({
        answers: { "tools/list": () => `"result":${H.json({ tools: [H.tool("read"), ...bad] })}` }
      })
      assert.deepStrictEqual(yield* listed(relay, 1), ["read"])
      yield* relay.says(H.call(2, "noschema"), H.call(3, "read"))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["held-invalid"])
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["3"])
    }))

  it.effect("a definition with a case variant of a protocol name is held", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        answers: {
          "tools/list": () =>
            `"result":${
              H.json({ tools: [H.tool("read"), { ...H.tool("write"), Annotations: { readOnlyHint: true } }] })
            }`
        }
      })
      assert.deepStrictEqual(yield* listed(relay, 1), ["read"])
    }))

  it.effect("tools in the answer of another method is data, and neither filtered nor believed (F35)", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { tools: {}, prompts: {} }, firstSight: "hold" })
      const evil = { tools: [H.tool("evil")], nextCursor: "x" }
      relay.answer("prompts/list", () => `"result":${H.json({ ...evil, prompts: [] })}`)
      yield* relay.says(H.request(1, "prompts/list"))
      assert.deepStrictEqual(relay.answers(1)[0]?.result, { ...evil, prompts: [] })
      yield* relay.says(H.call(2, "evil"))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["unknown-item"])
    }))

  it.effect("listChanged is advertised where there is something to list, and all else as the server gave it", () =>
    Effect.gen(function*() {
      const capabilities = { tools: { x: 1 }, experimental: { y: {} }, unknown: [1] }
      const relay = yield* H.open({ capabilities })
      yield* relay.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.deepInclude(relay.answers(1)[0]?.result, {
        capabilities: { ...capabilities, tools: { x: 1, listChanged: true } }
      })
      const plain = yield* H.open({ capabilities: { logging: {} } })
      yield* plain.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.deepInclude(plain.answers(1)[0]?.result, { capabilities: { logging: {} } })
    }))
})

describe("an acceptance in another process", () => {
  it.effect("is noticed and announced; the host lists and calls what was accepted", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ firstSight: "hold" })
      assert.deepStrictEqual(yield* listed(relay, 1), [])
      yield* H.adjust("1 seconds")
      relay.take()
      yield* H.acceptAll(relay.store)
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [changed])
      assert.deepStrictEqual(yield* listed(relay, 2), ["read", "write"])
      yield* relay.says(H.call(3, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("of a change, after which what was accepted before is the one that is held", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      const next = [H.tool("read", "Other words."), H.tool("write")]
      relay.setTools(next)
      yield* H.adjust("2 seconds")
      yield* relay.server().says(changed)
      yield* H.adjust("2 seconds")
      relay.take()
      yield* H.acceptAll(relay.store)
      yield* H.adjust("1 seconds")
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [changed])
      assert.deepStrictEqual(yield* listed(relay, 1), ["read", "write"])
      relay.setTools([H.tool("read"), H.tool("write")])
      assert.deepStrictEqual(yield* listed(relay, 2), ["write"])
    }))

  it.effect("a change of the pins that shows nothing new is not announced", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* H.adjust("1 seconds")
      relay.take()
      const pins = yield* relay.store.load("notes")
      yield* relay.store.save("notes", pins.version, { ...pins, sighted: [] })
      yield* H.adjust("2 seconds")
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("pins that can no longer be read are told once, and do not keep the machine busy", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      let loads = 0
      let broken = false
      const breaking: PinStore["Service"] = {
        ...store,
        newer: (server, than) => broken ? Effect.void : store.newer(server, than),
        load: (server) =>
          Effect.suspend(() => {
            loads++
            return broken ? Effect.fail(new PinStoreError({ server, message: "torn" })) : store.load(server)
          })
      }
      const relay = yield* H.opened({ store: breaking })
      yield* H.adjust("1 seconds")
      const pins = yield* store.load("notes")
      broken = true
      loads = 0
      yield* store.save("notes", pins.version, pins)
      yield* H.adjust("10 seconds")
      assert.isAtMost(loads, 12)
      assert.lengthOf(relay.told.filter((sentence) => sentence.includes("torn")), 1)
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("a store that dies refuses the calls, and the session lives", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const relay = yield* H.opened({ store: { ...store, save: () => Effect.die("bug") } })
      yield* relay.says(list(1), H.call(2, "read"), H.request(3, "ping"))
      assert.include(relay.told, "what was accepted of notes cannot be kept: bug")
      assert.deepStrictEqual(reasons(relay.answers(1)), ["pins-failed"])
      assert.deepStrictEqual(reasons(relay.answers(3)), [undefined])
      assert.lengthOf(relay.answers(2), 1)
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("pins that cannot be kept refuse the calls", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const save = () => Effect.fail(new PinStoreError({ server: "notes", message: "disk full" }))
      const relay = yield* H.opened({ store: { ...store, save } })
      yield* relay.says(list(1), H.call(2, "read"))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["pins-failed"])
      assert.notInclude(relay.answers(1)[0]?.error?.message ?? "", "disk full")
      assert.include(relay.told.join(), "disk full")
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("two relays of one name share the pins: who is slower decides again", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store })
      const second = yield* H.opened({ store, tools: [H.tool("read"), H.tool("other")] })
      assert.deepStrictEqual(yield* listed(first, 1), ["read", "write"])
      assert.deepStrictEqual(yield* listed(second, 1), ["read"])
      assert.deepStrictEqual((yield* store.load("notes")).pins.map(({ name }) => name), ["identity", "read", "write"])
    }))

  it.effect("definitions of another revision are variants of their own", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      yield* (yield* H.opened({ store, revision: "2025-11-25" })).eof
      const other = yield* H.opened({
        store,
        revision: "2024-11-05",
        tools: [H.tool("read"), H.tool("write", "Old words.")]
      })
      assert.deepStrictEqual(yield* listed(other, 1), ["read"])
      yield* H.acceptAll(store)
      assert.deepStrictEqual(Pins.heldOf(yield* store.load("notes")).verdicts, [])
      yield* H.adjust("1 seconds")
      assert.deepStrictEqual(yield* listed(other, 2), ["read", "write"])
      const back = yield* H.opened({ store, revision: "2025-11-25" })
      assert.deepStrictEqual(yield* listed(back, 1), ["read", "write"])
    }))
})

describe("the modern era", () => {
  const capabilities = { tools: { listChanged: true } }
  const modern = (options: H.Options = {}) =>
    H.open({ answers: { ...H.modernAnswers(capabilities), ...options.answers }, ...options })
  const ownListen = (relay: H.Relay) =>
    relay.server().saw().filter(({ id, method }) => method === "subscriptions/listen" && id?.startsWith(`"sally`))
  const changedOn = (id: string | undefined): string =>
    `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"${meta.subscriptionId}":${id}}}}`

  it.effect("the first request opens: the relay lists with the host's metadata, and subscribes once", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.modern(1, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(1)[0]), ["read", "write"])
      assert.deepStrictEqual(own(relay.server()).map(({ params }) => params), [{ _meta: H.modernMeta() }])
      yield* relay.says(H.modern(2, "tools/call", { name: "read" }))
      assert.lengthOf(ownListen(relay), 1)
      assert.deepInclude(ownListen(relay)[0]?.params, { notifications: { toolsListChanged: true } })
    }))

  it.effect("a token for progress is not taken over into requests of the relay's own", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.request(1, "tools/list", { _meta: { ...H.modernMeta(), progressToken: 1 } }))
      for (const { text } of [...own(relay.server()), ...ownListen(relay)]) assert.notInclude(text, "progressToken")
    }))

  it.effect("what comes on the relay's own subscription is followed, and does not reach the host", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.modern(1, "tools/list"))
      yield* H.adjust("2 seconds")
      relay.setTools([H.tool("read", "Other words."), H.tool("write")])
      relay.take()
      const [listen] = ownListen(relay)
      yield* relay.server().says(
        `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"${meta.subscriptionId}":${listen?.id}}}}`,
        changedOn(listen?.id)
      )
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.says(H.modern(2, "tools/call", { name: "read" }))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["held-changed"])
    }))

  it.effect("a filtered listing is private and to be asked again; one that is whole is left as it is", () =>
    Effect.gen(function*() {
      const hints = { resultType: "complete", ttlMs: 300000, cacheScope: "public" }
      const tools = (list: ReadonlyArray<H.Tool>): H.Answer => () => `"result":${H.json({ tools: list, ...hints })}`
      const relay = yield* modern({
        answers: { ...H.modernAnswers(capabilities), "tools/list": tools([H.tool("read")]) }
      })
      yield* relay.says(H.modern(1, "tools/list"))
      assert.deepInclude(relay.answers(1)[0]?.result, hints)
      relay.answer("tools/list", tools([H.tool("read"), H.tool("write")]))
      yield* relay.says(H.modern(2, "tools/list"))
      assert.deepInclude(relay.answers(2)[0]?.result, { ...hints, ttlMs: 0, cacheScope: "private" })
    }))

  it.effect("an acceptance is announced on the host's own subscriptions, with their ids", () =>
    Effect.gen(function*() {
      const relay = yield* modern({ firstSight: "hold" })
      yield* relay.says(
        H.modern(`"s1"`, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
        H.modern(2, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
        H.modern(3, "subscriptions/listen", { notifications: { promptsListChanged: true } }),
        H.modern(4, "subscriptions/listen", { notifications: { toolsListChanged: true } })
      )
      yield* relay.says(H.cancel(4))
      yield* H.adjust("1 seconds")
      relay.take()
      yield* H.acceptAll(relay.store)
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [changedOn(`"s1"`), changedOn("2")])
    }))

  it.effect("listChanged is advertised in discover too", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(H.modern(1, "server/discover"))
      assert.deepInclude(relay.answers(1)[0]?.result, { capabilities })
    }))

  it.effect("a server that ends the relay's subscription is asked for another with the next request", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.modern(1, "tools/list"))
      yield* relay.server().says(H.cancel(ownListen(relay)[0]?.id ?? ""))
      yield* relay.says(H.modern(2, "tools/list"))
      assert.lengthOf(ownListen(relay), 2)
      yield* relay.server().says(H.result(ownListen(relay)[1]?.id))
      yield* relay.says(H.modern(3, "tools/list"))
      assert.lengthOf(ownListen(relay), 3)
      assert.deepStrictEqual(relay.saw().filter(({ method }) => method !== undefined), [])
    }))

  it.effect("a server that refuses it is not asked with every request", () =>
    Effect.gen(function*() {
      const relay = yield* modern({
        answers: {
          ...H.modernAnswers(capabilities),
          "subscriptions/listen": () => `"error":{"code":-1,"message":"no"}`
        }
      })
      for (let id = 1; id < 5; id++) yield* relay.says(H.modern(id, "tools/list"))
      assert.lengthOf(ownListen(relay), 1)
    }))

  it.effect("a server that ends a subscription of the host's by a cancel: the host is told, and the outcome kept", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.modern(`"s"`, "subscriptions/listen", { notifications: { toolsListChanged: true } }))
      relay.take()
      yield* relay.server().says(H.cancel(`"s"`))
      assert.deepStrictEqual(relay.take().map(({ method, params }) => [method, params]), [
        ["notifications/cancelled", { requestId: "s", reason: "no" }]
      ])
      assert.deepInclude(relay.entries("outcome")[0], { was: "cancelled" })
    }))

  it.effect("a subscription whose id was not free upstream is known to the host by the host's id", () =>
    Effect.gen(function*() {
      const relay = yield* modern()
      yield* relay.says(H.modern(5, "tools/call", { name: "read" }))
      yield* relay.says(H.cancel(5))
      yield* relay.says(H.modern(5, "subscriptions/listen", { notifications: { toolsListChanged: true } }))
      const upstream = relay.server().saw().findLast(({ method }) => method === "subscriptions/listen")?.id
      assert.match(upstream ?? "", /^"sallyport-/)
      relay.take()
      yield* relay.server().says(changedOn(upstream), H.result(upstream, { _meta: { [meta.subscriptionId]: "x" } }))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        changedOn("5"),
        `{"jsonrpc":"2.0","id":5,"result":{"_meta":{"${meta.subscriptionId}":5}}}`
      ])
    }))
})
