import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope } from "effect"
import * as fc from "fast-check"
import * as Shared from "../../src/line/Shared.ts"
import { meta } from "../../src/protocol/Revision.ts"
import type { Call, Ending, Leg, Port } from "../../src/stage/Port.ts"
import { type Reply, Text } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as H from "./harness.ts"

const text = (value: unknown): Text => Text.make(JSON.stringify(value))
const read = (value: Text | undefined): unknown => value === undefined ? undefined : JSON.parse(value)

/** A line to a server that the test plays: what it was asked, and the way back. */
interface Line {
  readonly back: Port
  readonly asked: Array<Call>
  readonly cancelled: Array<Call>
  readonly end: Effect.Effect<void>
  open: boolean
}

const make = Effect.fnUntraced(function*(options: { readonly opens?: Effect.Effect<void> } = {}) {
  const lines: Array<Line> = []
  const leg: Leg = (back) =>
    Effect.gen(function*() {
      yield* options.opens ?? Effect.void
      const over = yield* Deferred.make<Ending>()
      const line: Line = {
        back,
        asked: [],
        cancelled: [],
        end: Effect.andThen(Deferred.succeed(over, { _tag: "closed" }), H.settle),
        open: true
      }
      lines.push(line)
      yield* Effect.addFinalizer(() => Effect.sync(() => (line.open = false)))
      const port: Port = {
        request: (call) => void line.asked.push(call),
        cancel: (call) => void line.cancelled.push(call),
        notify: () => {},
        flush: Effect.void,
        end: Effect.void,
        ended: Deferred.await(over)
      }
      return port
    })
  const shared = yield* Shared.make(leg)
  /** A peer: what it was told, and what it was answered. */
  const attach = Effect.fnUntraced(function*(room: Effect.Effect<void> = Effect.void) {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const told: Array<{ readonly method: string; readonly params: unknown }> = []
    const cancelled: Array<Call> = []
    const port = yield* Effect.provideService(
      shared({
        request: () => {},
        cancel: (call) => void cancelled.push(call),
        notify: (method, params) => void told.push({ method, params: read(params) }),
        flush: room,
        end: Effect.void,
        ended: Effect.never
      }),
      Scope.Scope,
      scope
    )
    const ask = (method: string, params: unknown = {}, wish: unknown = 1) => {
      const replies: Array<Reply> = []
      const call: Call = {
        wish: wish === null ? undefined : text(wish),
        method,
        params: text(params),
        reply: (reply) => void replies.push(reply)
      }
      port.request(call)
      return { call, replies }
    }
    return { port, told, cancelled, ask, leave: Effect.andThen(Scope.close(scope, Exit.void), H.settle) }
  })
  return { lines, attach }
})

const declaring = (capabilities: unknown, more: Record<string, unknown> = {}) => ({
  _meta: { [meta.clientCapabilities]: capabilities, ...more }
})
const ok = (value: unknown): Reply => ({ _tag: "Result", result: text(value) })
const metaOf = (call: Call | undefined): Record<string, unknown> => {
  const value = call?.params === undefined ? undefined : T.member(call.params, "_meta")
  const found: unknown = read(value)
  return typeof found === "object" && found !== null ? { ...found } : {}
}
const at = <A>(list: ReadonlyArray<A>, index: number): A => {
  const found = list.at(index)
  if (found === undefined) throw new Error(`there is no ${index}`)
  return found
}

describe("many peers, one line", () => {
  it("F20: every answer, progress and notice reaches the peer that asked, under its own names, and no other", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            peer: fc.nat(3),
            held: fc.boolean(),
            wish: fc.constantFrom(1, "1", 2),
            token: fc.constantFrom(undefined, 1, "1", "x")
          }),
          { minLength: 1, maxLength: 20 }
        ),
        fc.array(fc.tuple(fc.nat(19), fc.constantFrom("progress", "told", "answer")), { maxLength: 60 }),
        (requests, events) =>
          Effect.runPromise(Effect.scoped(Effect.gen(function*() {
            const { attach, lines } = yield* make()
            const peers = yield* Effect.all([attach(), attach(), attach(), attach()])
            const expected = peers.map((): Array<unknown> => [])
            const asked = requests.map(({ held, peer, token, wish }, n) => {
              const params = {
                ...declaring({}, token === undefined ? {} : { progressToken: token }),
                ...(held ? { notifications: {} } : { name: "same", arguments: {} })
              }
              return { n, ...at(peers, peer).ask(held ? "subscriptions/listen" : "tools/call", params, wish) }
            })
            yield* H.settle
            assert.strictEqual(lines.length, 1)
            const line = at(lines, 0)
            assert.strictEqual(line.asked.length, requests.length)
            const own = line.asked.map((call) => metaOf(call)["progressToken"]).filter((token) => token !== undefined)
            assert.strictEqual(new Set(own.map((token) => JSON.stringify(token))).size, own.length)
            const open = new Set(asked.map(({ n }) => n))
            for (const [index, what] of events) {
              const n = index % requests.length
              const { held, peer, token, wish } = at(requests, n)
              const inner = at(line.asked, n)
              if (what === "progress") {
                const progressToken = metaOf(inner)["progressToken"]
                line.back.notify("notifications/progress", text({ progressToken: progressToken ?? "x", progress: n }))
                if (token !== undefined && open.has(n)) expected[peer]?.push({ progressToken: token, progress: n })
              } else if (what === "told" && held) {
                const id: unknown = read(inner.wish)
                line.back.notify("notifications/tools/list_changed", text({ n, _meta: { [meta.subscriptionId]: id } }))
                if (open.has(n)) expected[peer]?.push({ n, _meta: { [meta.subscriptionId]: wish } })
              } else if (what === "answer" && open.delete(n)) {
                inner.reply(ok(held ? { n, _meta: { [meta.subscriptionId]: read(inner.wish) } } : { n }))
              }
            }
            yield* line.back.flush
            yield* H.settle
            peers.forEach(({ told }, peer) => assert.deepStrictEqual(told.map(({ params }) => params), expected[peer]))
            for (const { n, replies } of asked) {
              const { held, wish } = at(requests, n)
              assert.deepStrictEqual(
                replies,
                open.has(n) ? [] : [ok(held ? { n, _meta: { [meta.subscriptionId]: wish } } : { n })]
              )
            }
          })))
      ),
      { numRuns: 100 }
    ))

  it.effect("a peer that leaves cancels its calls, and only those", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const [one, two] = yield* Effect.all([attach(), attach()])
      one.ask("tools/call", declaring({}))
      const kept = two.ask("tools/call", declaring({}))
      one.ask("subscriptions/listen", declaring({}))
      yield* H.settle
      const line = at(lines, 0)
      yield* one.leave
      assert.deepStrictEqual(line.cancelled, [line.asked[0], line.asked[2]])
      assert.isTrue(line.open)
      line.asked[0]?.reply(ok({ late: true }))
      line.asked[1]?.reply(ok({}))
      assert.deepStrictEqual(kept.replies, [ok({})])
    }))

  it.effect("what a peer asked that left, or gave up, before the line was open is never sent", () =>
    Effect.gen(function*() {
      const opening = yield* Deferred.make<void>()
      const { attach, lines } = yield* make({ opens: Deferred.await(opening) })
      const [one, two] = yield* Effect.all([attach(), attach()])
      one.ask("tools/call", { ...declaring({}), name: "left" })
      const gone = two.ask("tools/call", { ...declaring({}), name: "gone" })
      two.ask("tools/call", { ...declaring({}), name: "kept" })
      two.port.cancel(gone.call, undefined)
      yield* one.leave
      yield* Deferred.succeed(opening, undefined)
      yield* H.settle
      assert.deepStrictEqual(
        lines.flatMap(({ asked }) => asked.map(({ params }) => read(T.member(params ?? text({}), "name")))),
        [
          "kept"
        ]
      )
    }))

  it.effect("a peer cancels its own call, though another's looks the same", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const [one, two] = yield* Effect.all([attach(), attach()])
      one.ask("tools/call", declaring({}))
      const { call } = two.ask("tools/call", declaring({}))
      yield* H.settle
      two.port.cancel(call, undefined)
      assert.deepStrictEqual(lines[0]?.cancelled, [lines[0]?.asked[1]])
    }))

  it.effect("a peer that does not read holds up no other, and what is told to it is bounded", () =>
    Effect.gen(function*() {
      const room = yield* Deferred.make<void>()
      const { attach, lines } = yield* make()
      const [deaf, other] = [yield* attach(Deferred.await(room)), yield* attach()]
      deaf.ask("subscriptions/listen", declaring({}))
      other.ask("subscriptions/listen", declaring({}))
      const call = deaf.ask("tools/call", declaring({}))
      yield* H.settle
      const line = at(lines, 0)
      const pad = "x".repeat(10_000)
      for (let n = 0; n < 1000; n++) {
        for (const { wish } of line.asked.slice(0, 2)) {
          line.back.notify(
            "notifications/resources/updated",
            text({ pad, _meta: { [meta.subscriptionId]: read(wish) } })
          )
        }
        yield* line.back.flush
      }
      yield* H.settle
      assert.strictEqual(other.told.length, 1000)
      assert.isBelow(deaf.told.length, 110)
      // What it asked is answered all the same.
      line.asked[2]?.reply(ok({ n: 1 }))
      assert.deepStrictEqual(call.replies, [ok({ n: 1 })])
      yield* Deferred.succeed(room, undefined)
      yield* H.settle
      const before = deaf.told.length
      line.back.notify(
        "notifications/resources/updated",
        text({ _meta: { [meta.subscriptionId]: read(line.asked[0]?.wish) } })
      )
      assert.strictEqual(deaf.told.length, before + 1)
    }))

  it.effect("a log goes to those that asked for logs of its level", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const [none, info, error] = yield* Effect.all([attach(), attach(), attach()])
      none.ask("tools/call", declaring({}))
      info.ask("tools/call", declaring({}, { [meta.logLevel]: "info" }))
      error.ask("tools/call", declaring({}, { [meta.logLevel]: "error" }))
      yield* H.settle
      lines[0]?.back.notify("notifications/message", text({ level: "warning", data: "x" }))
      assert.deepStrictEqual([none, info, error].map(({ told }) => told.length), [0, 1, 0])
    }))
})

describe("lines", () => {
  it.effect("one for all that declare the same; a line that has ended is opened anew", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const [one, two] = yield* Effect.all([attach(), attach()])
      one.ask("tools/call", declaring({ roots: {} }))
      two.ask("tools/call", declaring({ roots: {} }))
      two.ask("tools/call", declaring({}))
      yield* H.settle
      assert.deepStrictEqual(lines.map(({ asked }) => asked.length), [2, 1])
      yield* at(lines, 0).end
      assert.isFalse(lines[0]?.open)
      assert.isTrue(lines[1]?.open)
      one.ask("tools/call", declaring({ roots: {} }))
      yield* H.settle
      assert.deepStrictEqual(lines.map(({ asked }) => asked.length), [2, 1, 1])
    }))

  it.effect("at most sixteen: the one that was used longest ago ends, and none that is in use", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const one = yield* attach()
      for (let n = 0; n < 16; n++) one.ask("tools/call", declaring({ experimental: { n } }))
      yield* H.settle
      assert.strictEqual(lines.length, 16)
      const refused = one.ask("tools/call", declaring({ experimental: { n: 16 } }))
      assert.match(JSON.stringify(refused.replies), /too-many-requests/)
      for (const n of [3, 5]) at(lines, n).asked[0]?.reply(ok({}))
      one.ask("tools/call", declaring({ experimental: { n: 16 } }))
      yield* H.settle
      assert.deepStrictEqual(lines.flatMap(({ open }, n) => open ? [] : [n]), [3])
      assert.strictEqual(lines.length, 17)
    }))

  it.effect("a session has one of its own, with all that its peer says", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const [legacy, other, modern] = yield* Effect.all([attach(), attach(), attach()])
      legacy.ask("initialize")
      other.ask("initialize")
      modern.ask("tools/call", declaring({}))
      yield* H.settle
      legacy.ask("tools/call", {}, 2)
      assert.deepStrictEqual(
        lines.map(({ asked }) => asked.map(({ method }) => method)),
        [["initialize", "tools/call"], ["initialize"], ["tools/call"]]
      )
      lines[0]?.back.notify("notifications/message", text({ level: "error" }))
      assert.deepStrictEqual([legacy, other, modern].map(({ told }) => told.length), [1, 0, 0])
      yield* legacy.leave
      assert.deepStrictEqual(lines.map(({ open }) => open), [false, true, true])
    }))

  it.effect("a probe of ours is answered from memory while the line is there, and asked anew when it has ended", () =>
    Effect.gen(function*() {
      const { attach, lines } = yield* make()
      const one = yield* attach()
      one.ask("server/discover", declaring({}))
      yield* H.settle
      lines[0]?.asked[0]?.reply(ok({ supportedVersions: ["2026-07-28"] }))
      const again = (yield* attach()).ask("server/discover", declaring({}), null)
      yield* H.settle
      assert.deepStrictEqual(again.replies, [ok({ supportedVersions: ["2026-07-28"] })])
      assert.strictEqual(lines[0]?.asked.length, 1)
      yield* at(lines, 0).end
      const anew = one.ask("server/discover", declaring({}), null)
      yield* H.settle
      assert.deepStrictEqual(anew.replies, [])
      assert.strictEqual(lines[1]?.asked.length, 1)
    }))
})
