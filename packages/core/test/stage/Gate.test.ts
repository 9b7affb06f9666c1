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
  pin: undefined
})

const refuse = (rule: string): Gate.Verdict => ({ _tag: "Refuse", rule, why: "because", remedy: "ask" })

/** What a gate of a composition does. */
type Kind = "allow" | "refuse" | "error" | "defect" | "slow allow" | "slow refuse" | "slow error"
const kinds: ReadonlyArray<Kind> = ["allow", "refuse", "error", "defect", "slow allow", "slow refuse", "slow error"]

const gateOf = (kind: Kind, index: number, asked: Array<number>): Gate.Gate["Service"] => {
  const error = new Gate.GateError({ message: `gate ${index}` })
  const answers: Record<Kind, Effect.Effect<Gate.Verdict, Gate.GateError>> = {
    allow: Exit.succeed(Gate.allow),
    refuse: Exit.succeed(refuse(`gate ${index}`)),
    error: Exit.fail(error),
    defect: Exit.die("bug"),
    "slow allow": Effect.andThen(Effect.yieldNow, Effect.succeed(Gate.allow)),
    "slow refuse": Effect.andThen(Effect.yieldNow, Effect.succeed(refuse(`gate ${index}`))),
    "slow error": Effect.andThen(Effect.yieldNow, Effect.fail(error))
  }
  return {
    call: () => {
      asked.push(index)
      return answers[kind]
    },
    shows: () => kind.endsWith("allow")
  }
}

describe("Gate.all", () => {
  it.effect("allows only what every gate allows; the first that does not decides, and no later one is asked", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...kinds), { maxLength: 6 }), async (sample) => {
          const asked: Array<number> = []
          const all = Gate.all(sample.map((kind, index) => gateOf(kind, index, asked)))
          const exit = await Effect.runPromiseExit(all.call(subject()))
          const first = sample.findIndex((kind) => !kind.endsWith("allow"))
          const kind = sample[first]
          if (kind === undefined) assert.deepStrictEqual(exit, Exit.succeed(Gate.allow))
          else if (kind.endsWith("refuse")) assert.deepStrictEqual(exit, Exit.succeed(refuse(`gate ${first}`)))
          else assert.isTrue(Exit.isFailure(exit))
          assert.deepStrictEqual(asked, sample.slice(0, first < 0 ? sample.length : first + 1).map((_, index) => index))
          assert.strictEqual(all.shows(subject()), kind === undefined)
        }),
        { numRuns: 200 }
      )
    ))

  it("is a constant where all of its gates are, so that it costs no fiber", () => {
    const all = Gate.all([gateOf("allow", 0, []), gateOf("allow", 1, [])])
    assert.isTrue(Exit.isExit(all.call(subject())))
    assert.isTrue(Exit.isExit(Gate.all([gateOf("allow", 0, []), gateOf("refuse", 1, [])]).call(subject())))
  })

  it("of no gates allows", () => {
    assert.deepStrictEqual(Gate.all([]).call(subject()), Exit.succeed(Gate.allow))
    assert.isTrue(Gate.all([]).shows(subject()))
  })

  it("of itself is the same gate", () => {
    const nested = Gate.all([Gate.all([gateOf("allow", 0, [])]), Gate.all([gateOf("refuse", 1, [])])])
    assert.deepStrictEqual(nested.call(subject()), Exit.succeed(refuse("gate 1")))
  })

  it.effect("is interrupted where it waits, and asks no further gate", () =>
    Effect.gen(function*() {
      const asked: Array<number> = []
      const never = yield* Deferred.make<Gate.Verdict>()
      const waiting: Gate.Gate["Service"] = { call: () => Deferred.await(never), shows: () => true }
      const fiber = yield* Effect.forkChild(Gate.all([waiting, gateOf("allow", 1, asked)]).call(subject()))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(asked, [])
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
