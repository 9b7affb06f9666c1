import { assert, describe, it } from "@effect/vitest"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Hook from "@sallyport/core/stage/Hook"
import { Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Text } from "../../src/wire/Message.ts"

const subject: Gate.Subject = {
  client: "desk",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "delete",
  params: Text.make(`{"name":"delete","arguments":{"count":12345678901234567890,"f":1.0}}`),
  pin: "aa",
  definition: undefined,
  revision: "2025-11-25"
}

/** A hook that prints this; `told` is what the operator was told. */
const hook = (
  run: string | ((line: string) => Effect.Effect<string, Hook.HookError>),
  options: Partial<Hook.Options> = {}
) => {
  const told: Array<string> = []
  const gate = Hook.make({
    run: typeof run === "string" ? () => Effect.succeed(run) : run,
    tell: (sentence) => void told.push(sentence),
    ...options
  })
  return { told, call: (about: Partial<Gate.Subject> = {}) => gate.call({ ...subject, ...about }) }
}

const settle = Effect.gen(function*() {
  for (let i = 0; i < 20; i++) yield* Effect.yieldNow
})

describe("Hook", () => {
  it.effect("gives the call as one line, numbers with all their digits", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const { call } = hook((line) => Effect.sync(() => (lines.push(line), `{"verdict":"allow"}`)))
      assert.deepStrictEqual(yield* call(), { _tag: "Allow", rule: "hook" })
      yield* call({ name: undefined, pin: undefined, params: undefined, revision: undefined })
      assert.deepStrictEqual(lines, [
        `{"client":"desk","server":"files","from":"host","method":"tools/call","name":"delete","pin":"aa",` +
        `"revision":"2025-11-25","params":{"name":"delete","arguments":{"count":12345678901234567890,"f":1.0}}}\n`,
        `{"client":"desk","server":"files","from":"host","method":"tools/call"}\n`
      ])
    }))

  it.effect("takes its verdicts", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* hook(`{"verdict":"deny","why":"no","rule":"r"}\n`).call(), {
        _tag: "Refuse",
        rule: "r",
        why: "no",
        remedy: "ask the operator"
      })
      assert.deepStrictEqual(yield* hook(`{"verdict":"ask","why":"hm"}`, { via: "terminal" }).call(), {
        _tag: "Ask",
        rule: "hook",
        why: "hm",
        via: "terminal"
      })
    }))

  const bad: ReadonlyArray<readonly [string, string]> = [
    ["nothing", ""],
    ["no JSON", "yes"],
    ["no object", `"allow"`],
    ["no verdict", `{}`],
    ["another verdict", `{"verdict":"maybe"}`],
    ["a verdict in another case", `{"verdict":"Allow"}`],
    ["a member too many", `{"verdict":"allow","until":1}`],
    ["two objects", `{"verdict":"allow"}\n{"verdict":"deny"}`],
    ["text behind it", `{"verdict":"allow"} ok`],
    ["a why that is no string", `{"verdict":"allow","why":1}`],
    ["a why without end", `{"verdict":"deny","why":"${"a".repeat(1001)}"}`],
    ["an empty rule", `{"verdict":"allow","rule":""}`]
  ]
  for (const [what, printed] of bad) {
    it.effect(`refuses after ${what}`, () =>
      Effect.gen(function*() {
        const { call, told } = hook(printed)
        const verdict = yield* call()
        assert.deepInclude(verdict, { _tag: "Refuse", reason: "hook-failed" })
        assert.strictEqual(told.length, 1)
      }))
  }

  it.effect("refuses when the program fails, and tells the operator why, not who asked", () =>
    Effect.gen(function*() {
      const { call, told } = hook(() => Effect.fail(new Hook.HookError({ message: "it ended with code 3" })))
      assert.deepStrictEqual(yield* call(), {
        _tag: "Refuse",
        reason: "hook-failed",
        rule: "hook",
        why: "the operator's hook gave no verdict",
        remedy: "ask the operator"
      })
      assert.deepStrictEqual(told, ["the hook refused a call by failing: it ended with code 3"])
    }))

  it.effect("refuses after five seconds without a verdict, and ends the program", () =>
    Effect.gen(function*() {
      let ended = 0
      const { call, told } = hook(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended++)))
      const fiber = yield* Effect.forkChild(call())
      yield* TestClock.adjust("4900 millis")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Refuse", reason: "hook-failed" })
      assert.strictEqual(ended, 1)
      assert.match(told[0] ?? "", /no verdict in 5s/)
    }))

  it.effect("a call that is given up ends the program", () =>
    Effect.gen(function*() {
      let ended = 0
      const { call } = hook(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => ended++)))
      const fiber = yield* Effect.forkChild(call())
      yield* settle
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(ended, 1)
    }))

  it.effect("runs four at a time; the time of one does not begin before it runs; of too many the rest is refused", () =>
    Effect.gen(function*() {
      let now = 0
      let most = 0
      const { call } = hook(() =>
        Effect.gen(function*() {
          most = Math.max(most, ++now)
          yield* Effect.sleep("3 seconds")
          now--
          return `{"verdict":"allow"}`
        })
      )
      const fibers = yield* Effect.forEach(Array.from({ length: 64 }), () => Effect.forkChild(call()))
      yield* settle
      assert.deepInclude(yield* call(), { _tag: "Refuse", reason: "hook-failed" })
      yield* TestClock.adjust("2 minutes")
      for (const fiber of fibers) assert.deepInclude(yield* Fiber.join(fiber), { _tag: "Allow" })
      assert.strictEqual(most, 4)
    }))

  it.effect("is asked only about its methods", () =>
    Effect.gen(function*() {
      const { call } = hook(`{"verdict":"deny"}`, { methods: ["tools/*"] })
      assert.strictEqual((yield* call())._tag, "Refuse")
      assert.strictEqual((yield* call({ method: "prompts/get" }))._tag, "Allow")
    }))

  it.effect("cannot widen what another gate refuses, and is not run for it", () =>
    Effect.gen(function*() {
      let runs = 0
      const open = Hook.make({ run: () => Effect.sync(() => (runs++, `{"verdict":"allow"}`)), tell: () => {} })
      const shut = Gate.makeTable(new Map())
      assert.strictEqual((yield* Gate.all([shut, open]).call(subject))._tag, "Refuse")
      assert.strictEqual(runs, 0)
      assert.strictEqual((yield* Gate.all([open, shut]).call(subject))._tag, "Refuse")
    }))
})

describe("layerEffect", () => {
  /** What an application keeps of its users, say. */
  class Quota extends Context.Service<Quota, { readonly take: (client: string) => Effect.Effect<boolean> }>()(
    "test/Quota"
  ) {}

  it.effect("decides by an effect with services of its own, and fails closed", () =>
    Effect.gen(function*() {
      const gate = yield* Gate.Gate
      assert.deepInclude(yield* gate.call(subject), { _tag: "Allow" })
      assert.deepInclude(yield* gate.call({ ...subject, client: "other" }), { _tag: "Refuse", rule: "quota" })
      assert.strictEqual((yield* Effect.flip(gate.call({ ...subject, client: "broken" }))).message, "no quota")
    }).pipe(Effect.provide(
      Gate.layerEffect((about) =>
        Effect.gen(function*() {
          const quota = yield* Quota
          if (about.client === "broken") return yield* new Gate.GateError({ message: "no quota" })
          return (yield* quota.take(about.client))
            ? Gate.allow
            : { _tag: "Refuse", rule: "quota", why: "the quota is used up", remedy: "wait a day" } as const
        })
      ).pipe(Layer.provide(Layer.succeed(Quota, { take: (client) => Effect.succeed(client === "desk") })))
    )))
})
