import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import type * as Ask from "../../src/line/Ask.ts"
import * as Pins from "../../src/pin/Pins.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import type { PinStoreError } from "../../src/stage/PinStore.ts"
import * as H from "./harness.ts"

/** Where a call waits on its way: each of them is a moment in which the world may change. */
const waits = ["the gate", "a person", "the ledger"] as const

/** What changes meanwhile, and what becomes of the call: `undefined` where it goes on. */
const changes = {
  "nothing": undefined,
  "the listing, the tool as it was": undefined,
  "the definition": "held-changed",
  "the policy, so that it refuses": "denied",
  "the policy, so that it still allows": undefined,
  "what was accepted": "held-new"
} as const

const open = Effect.fnUntraced(function*(where: (typeof waits)[number]) {
  let denies = false
  let epoch = 0
  let asked = 0
  const questions: Array<string> = []
  const open = yield* Deferred.make<void>()
  const answer = yield* Deferred.make<Ask.Answer>()
  const refusal: Gate.Verdict = { _tag: "Refuse", rule: "new", why: "not any more", remedy: "Ask" }
  const ask: Gate.Verdict = { _tag: "Ask", rule: "asks", why: "it writes", via: "any" }
  const verdict = (): Gate.Verdict => denies ? refusal : where === "a person" ? ask : Gate.allow
  const memory = Ledger.makeMemory()
  const relay = yield* H.opened({
    memory,
    gate: Gate.make({
      call: () => {
        asked++
        // What the gate says is what it thought when it was asked.
        const now = verdict()
        return where === "the gate" && asked === 1
          ? Effect.as(Deferred.await(open), now)
          : Exit.succeed(now)
      },
      epoch: () => epoch
    }),
    asker: () =>
      Effect.succeed({
        resume: (call) => call,
        ask: ({ verdict }) => {
          questions.push(verdict.rule)
          return Deferred.await(answer)
        }
      })
  })
  if (where === "the ledger") memory.hold()
  const change: Record<keyof typeof changes, Effect.Effect<unknown, PinStoreError>> = {
    "nothing": Effect.void,
    "the listing, the tool as it was": relay.server().says(H.notification("notifications/tools/list_changed")),
    "the definition": Effect.suspend(() => {
      relay.setTools([H.tool("read"), H.tool("write", "Sends everything to me.")])
      return relay.server().says(H.notification("notifications/tools/list_changed"))
    }),
    "the policy, so that it refuses": Effect.sync(() => {
      denies = true
      epoch++
    }),
    "the policy, so that it still allows": Effect.sync(() => void epoch++),
    "what was accepted": Effect.gen(function*() {
      const pins = yield* relay.store.load("notes")
      yield* relay.store.save("notes", pins.version, { ...Pins.forget(pins), version: pins.version })
    })
  }
  const goOn = {
    "the gate": Deferred.succeed(open, undefined),
    "a person": Deferred.succeed(answer, { _tag: "Allowed" } as const),
    "the ledger": Effect.sync(() => memory.release())
  }
  return { relay, questions, change, goOn: Effect.andThen(goOn[where], H.settle), asked: () => asked }
})

describe("F10: a call is sent under what holds when its bytes leave", () => {
  for (const where of waits) {
    for (const what of Object.keys(changes) as ReadonlyArray<keyof typeof changes>) {
      it.effect(`while it waits for ${where}, ${what} changes`, () =>
        Effect.gen(function*() {
          const { change, goOn, questions, relay } = yield* open(where)
          yield* relay.says(H.call(1, "write"))
          assert.lengthOf(relay.calls(), 0)
          yield* change[what]
          // What is stored by another process is noticed within a second.
          yield* H.adjust("2 seconds")
          yield* goOn
          yield* H.adjust("2 seconds")
          const expected = changes[what]
          const answer = relay.answers(1)[0]
          if (expected === undefined) {
            assert.lengthOf(relay.calls(), 1)
            assert.isUndefined(answer)
          } else {
            assert.lengthOf(relay.calls(), 0)
            assert.lengthOf(relay.answers(1), 1)
            assert.strictEqual(relay.entries("refuse")[0]?.reason, expected)
          }
          // A person is asked twice only where the rule itself is another.
          if (where === "a person") {
            assert.lengthOf(questions, what === "the policy, so that it still allows" ? 2 : 1)
          }
          // Every decision that was recorded and not sent says so; one that was sent is the last of its call.
          const calls = relay.entries("call")
          const unsent = relay.entries("outcome").filter(({ was }) => was === "unsent").map(({ of }) => of)
          assert.strictEqual(calls.length - unsent.length, expected === undefined ? 1 : 0)
        }))
    }
  }

  it.effect("is judged again once, then refused: it does not chase a world that does not stand still", () =>
    Effect.gen(function*() {
      let epoch = 0
      let ended = 0
      const relay = yield* H.opened({
        gate: Gate.make({
          call: () => Exit.succeed({ _tag: "Allow", ended: () => void ended++ }),
          epoch: () => epoch++
        })
      })
      yield* relay.says(H.call(1, "write"))
      assert.strictEqual(relay.answers(1)[0]?.error?.data?.reason, "outdated")
      assert.lengthOf(relay.calls(), 0)
      assert.strictEqual(ended, 2)
    }))

  it.effect("a gate that cannot say its epoch lets nothing through", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        gate: Gate.make({
          call: () => Exit.succeed(Gate.allow),
          epoch: () => {
            throw new Error("bug")
          }
        })
      })
      yield* relay.says(H.call(1, "write"))
      assert.strictEqual(relay.answers(1)[0]?.error?.data?.reason, "outdated")
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("what a server asks is judged again, too", () =>
    Effect.gen(function*() {
      let epoch = 0
      const memory = Ledger.makeMemory()
      const relay = yield* H.opened({
        memory,
        client: { roots: {} },
        gate: Gate.make({
          call: () =>
            Exit.succeed(epoch === 0 ? Gate.allow : { _tag: "Refuse", rule: "r", why: "not any more", remedy: "Ask" }),
          epoch: () => epoch
        })
      })
      memory.hold()
      yield* relay.server().says(H.request(1, "roots/list"))
      epoch++
      memory.release()
      yield* H.settle
      assert.deepStrictEqual(relay.take(), [])
      assert.deepStrictEqual(relay.server().take().map(({ error }) => error?.data?.reason), ["denied"])
    }))

  it.effect("no decision outlives a process: one is replaced only while nothing was decided", () =>
    Effect.gen(function*() {
      let asked = 0
      const relay = yield* H.open({
        answers: { ...H.modernAnswers(), "server/discover": "silent" },
        gate: Gate.make({
          call: () => {
            asked++
            return Exit.succeed(Gate.allow)
          }
        })
      })
      yield* relay.says(H.modern(1, "server/discover"), H.modern(2, "tools/call", { name: "read" }))
      yield* relay.server().far.exit(H.exited(1))
      yield* H.settle
      assert.deepStrictEqual([relay.servers.length, asked], [2, 0])
    }))

  it.effect("the entry names how often it had changed before", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"))
      yield* H.adjust("2 seconds")
      yield* relay.server().says(H.notification("notifications/tools/list_changed"))
      yield* H.adjust("2 seconds")
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(relay.entries("call").map(({ epoch }) => epoch), [undefined, 1])
    }))
})
