import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as fc from "fast-check"
import * as Gate from "../../src/stage/Gate.ts"

const subject = (name?: string, method = "tools/call"): Gate.Subject => ({
  client: "host",
  server: "notes",
  from: "host",
  method,
  name,
  params: undefined,
  pin: undefined,
  definition: undefined
})

const refuse = (rule: string): Gate.Verdict => ({ _tag: "Refuse", rule, why: "because", remedy: "ask" })

/** What a gate of a composition does. */
const quick = ["allow", "ask", "ask at terminal", "refuse", "error", "defect", "throw"] as const
const kinds = [...quick, "slow allow", "slow ask", "slow refuse", "slow error"] as const
type Kind = (typeof kinds)[number]

const isPassing = (kind: Kind): boolean => kind.endsWith("allow") || kind.includes("ask")

/** What happened to the gates of a composition: which were asked, and what of theirs has ended. */
const log = () => ({ asked: new Array<number>(), ended: new Array<number>() })

const gateOf = (kind: Kind, index: number, { asked, ended }: ReturnType<typeof log> = log()): Gate.Gate["Service"] => {
  const ends = { ended: () => void ended.push(index) }
  const verdicts = {
    allow: { _tag: "Allow", rule: `gate ${index}`, ...ends },
    ask: { _tag: "Ask", rule: `gate ${index}`, why: "because", via: "any", ...ends },
    refuse: refuse(`gate ${index}`)
  } as const
  const later = (verdict: Gate.Verdict) => Effect.andThen(Effect.yieldNow, Effect.succeed(verdict))
  const error = new Gate.GateError({ message: `gate ${index}` })
  const answers: Record<Kind, () => Effect.Effect<Gate.Verdict, Gate.GateError>> = {
    allow: () => Exit.succeed(verdicts.allow),
    ask: () => Exit.succeed(verdicts.ask),
    "ask at terminal": () => Exit.succeed({ ...verdicts.ask, via: "terminal" }),
    refuse: () => Exit.succeed(verdicts.refuse),
    error: () => Exit.fail(error),
    defect: () => Exit.die("bug"),
    throw: () => {
      throw new Error("bug")
    },
    "slow allow": () => later(verdicts.allow),
    "slow ask": () => later(verdicts.ask),
    "slow refuse": () => later(verdicts.refuse),
    "slow error": () => Effect.andThen(Effect.yieldNow, Effect.fail(error))
  }
  return {
    call: () => {
      asked.push(index)
      return answers[kind]()
    },
    shows: () => isPassing(kind),
    epoch: () => index
  }
}

describe("Gate.all", () => {
  it.effect("a refusal wins over an ask, an ask over an allowance, and who is behind a refusal is not asked", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { maxLength: 6 }), async (sample) => {
          const seen = log()
          const all = Gate.all(sample.map((kind, index) => gateOf(kind, index, seen)))
          const exit = await Effect.runPromiseExit(all.call(subject()))
          const first = sample.findIndex((kind) => !isPassing(kind))
          const begun = sample.slice(0, first < 0 ? sample.length : first).map((_, index) => index)
          const kind = sample[first]
          assert.deepStrictEqual(seen.asked, first < 0 ? begun : [...begun, first])
          assert.strictEqual(all.shows(subject()), kind === undefined)
          assert.strictEqual(all.epoch(), sample.reduce((sum, _, index) => sum + index, 0))
          if (kind !== undefined) {
            // What was counted for a call that does not happen has ended.
            assert.deepStrictEqual(seen.ended, begun)
            if (kind.endsWith("refuse")) assert.deepStrictEqual(exit, Exit.succeed(refuse(`gate ${first}`)))
            else assert.isTrue(Exit.isFailure(exit))
            return
          }
          assert.deepStrictEqual(seen.ended, [])
          const verdict = Exit.isSuccess(exit) ? exit.value : undefined
          if (verdict === undefined || verdict._tag === "Refuse") return assert.fail("not allowed")
          const asks = sample.findIndex((kind) => kind.includes("ask"))
          const rule = sample.length === 0 ? undefined : `gate ${Math.max(asks, 0)}`
          assert.deepStrictEqual([verdict._tag, verdict.rule], [asks < 0 ? "Allow" : "Ask", rule])
          if (verdict._tag === "Ask") {
            assert.strictEqual(verdict.via, sample.includes("ask at terminal") ? "terminal" : "any")
          }
          verdict.ended?.()
          assert.deepStrictEqual(seen.ended, begun)
        }),
        { numRuns: 300 }
      )
    ))

  it("is a constant where all of its gates are, so that it costs no fiber", () => {
    const all = Gate.all([gateOf("allow", 0), gateOf("allow", 1)])
    assert.isTrue(Exit.isExit(all.call(subject())))
    assert.isTrue(Exit.isExit(Gate.all([gateOf("allow", 0), gateOf("refuse", 1)]).call(subject())))
  })

  it("of no gates allows", () => {
    assert.deepStrictEqual(Gate.all([]).call(subject()), Exit.succeed(Gate.allow))
    assert.isTrue(Gate.all([]).shows(subject()))
  })

  it("of itself is the same gate", () => {
    const nested = Gate.all([Gate.all([gateOf("allow", 0)]), Gate.all([gateOf("refuse", 1)])])
    assert.deepStrictEqual(nested.call(subject()), Exit.succeed(refuse("gate 1")))
  })

  it.effect("is interrupted where it waits, asks no further gate, and what was counted before has ended", () =>
    Effect.gen(function*() {
      const seen = log()
      const never = yield* Deferred.make<Gate.Verdict>()
      const waiting = Gate.make({ call: () => Deferred.await(never) })
      const all = Gate.all([gateOf("slow allow", 0, seen), waiting, gateOf("allow", 2, seen)])
      const fiber = yield* Effect.forkChild(all.call(subject()))
      for (let i = 0; i < 5; i++) yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(seen, { asked: [0], ended: [0] })
    }))
})

describe("Gate.layerTable", () => {
  const table = new Map<string, Gate.Verdict>([["read", Gate.allow], ["write", refuse("no-writing")], [
    "roots/list",
    Gate.allow
  ]])

  it.effect("decides by name, or by the method where there is none, and refuses what it does not know", () =>
    Effect.gen(function*() {
      const gate = yield* Gate.Gate
      assert.deepStrictEqual(yield* gate.call(subject("read")), Gate.allow)
      assert.deepStrictEqual(yield* gate.call(subject("write")), refuse("no-writing"))
      assert.deepStrictEqual(yield* gate.call(subject(undefined, "roots/list")), Gate.allow)
      assert.strictEqual((yield* gate.call(subject("Read")))._tag, "Refuse")
      assert.strictEqual((yield* gate.call(subject(undefined, "sampling/createMessage")))._tag, "Refuse")
    }).pipe(Effect.provide(Gate.layerTable(table))))

  it.effect("shows exactly what it allows", () =>
    Effect.gen(function*() {
      const gate = yield* Gate.Gate
      assert.deepStrictEqual(["read", "write", "other"].map((name) => gate.shows(subject(name))), [true, false, false])
    }).pipe(Effect.provide(Gate.layerTable(table))))
})

describe("Gate.layerOpen", () => {
  it.effect("allows and shows everything", () =>
    Effect.gen(function*() {
      const gate = yield* Gate.Gate
      assert.deepStrictEqual(yield* gate.call(subject()), Gate.allow)
      assert.isTrue(gate.shows(subject()))
    }).pipe(Effect.provide(Gate.layerOpen)))
})
