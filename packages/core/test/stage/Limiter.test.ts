import { assert, describe, it } from "@effect/vitest"
import * as Limits from "@sallyport/core/policy/Limits"
import type { Limit } from "@sallyport/core/policy/Policy"
import * as Budgets from "@sallyport/core/stage/Budgets"
import * as Limiter from "@sallyport/core/stage/Limiter"
import { layerMemory, MemoryFiles } from "@sallyport/core/store/Files"
import { Deferred, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"

const directory = "/state/budgets"
const budgets = Budgets.layerFile({ directory })

const limit = (given: Partial<Limit> & { readonly id: string }): Limit => ({
  match: { name: ["*"] },
  calls: undefined,
  per: undefined,
  concurrent: undefined,
  budget: undefined,
  at: { line: 1, column: 1 },
  ...given
})
const rate = Limits.compile([limit({ id: "rate", calls: 3, per: Duration.minutes(1) })])
const sum = Limits.compile([limit({ id: "sum", budget: 3 })])
const both = Limits.compile([limit({ id: "sum", budget: 3, concurrent: 1 })])
const subject: Limits.Subject = { client: "editor", server: "files", method: "tools/call", name: "read" }

const settle = Effect.gen(function*() {
  for (let i = 0; i < 60; i++) yield* Effect.yieldNow
})

/** A process: its limiter, what it told, and how it ends; `kill` ends it as kill -9 does. */
const started = Effect.gen(function*() {
  const scope = yield* Scope.make()
  const told: Array<string> = []
  const limiter = yield* Limiter.make((sentence) => void told.push(sentence)).pipe(
    Effect.provide(budgets),
    Scope.provide(scope)
  )
  return {
    told,
    limiter,
    take: (table: Limits.Table, about: Partial<Limits.Subject> = {}) =>
      Effect.map(limiter.take(table({ ...subject, ...about })), (over) => over?.what),
    end: Scope.close(scope, Exit.void)
  }
})

const contents = Effect.map(MemoryFiles, ({ contents }) => contents)

describe("Limiter", () => {
  it.effect("counts without a fiber once it knows what others used", () =>
    Effect.gen(function*() {
      const { limiter, take } = yield* started
      assert.isUndefined(yield* take(rate))
      assert.isTrue(Exit.isExit(limiter.take(rate(subject))))
      assert.isTrue(Exit.isExit(limiter.take([])))
    }).pipe(Effect.provide(layerMemory)))

  it.effect("writes a rate within a second, and no more often", () =>
    Effect.gen(function*() {
      const files = yield* contents
      const { take } = yield* started
      yield* take(rate)
      yield* take(rate)
      yield* settle
      assert.strictEqual(files.size, 0)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual([...files.keys()], [`${directory}/files/1.json`])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(files.size, 1)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("writes what is not written yet at the end", () =>
    Effect.gen(function*() {
      const first = yield* started
      for (let i = 0; i < 3; i++) assert.isUndefined(yield* first.take(rate))
      yield* first.end
      const second = yield* started
      assert.strictEqual(yield* second.take(rate), "calls")
      yield* TestClock.adjust("20 seconds")
      assert.isUndefined(yield* second.take(rate))
      assert.strictEqual(yield* second.take(rate), "calls")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("F30: a clock that is set back between two processes fills nothing", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(100_000_000)
      const first = yield* started
      for (let i = 0; i < 3; i++) yield* first.take(rate)
      yield* first.end
      yield* TestClock.setTime(1_000)
      const second = yield* started
      assert.strictEqual(yield* second.take(rate), "calls")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("shares rates between processes, within a second", () =>
    Effect.gen(function*() {
      const one = yield* started
      const other = yield* started
      for (let i = 0; i < 3; i++) yield* one.take(rate)
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual(yield* other.take(rate), "calls")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("a budget is written before the call: a process that is killed forgets none of it", () =>
    Effect.gen(function*() {
      const killed = yield* started
      assert.isUndefined(yield* killed.take(sum))
      assert.isUndefined(yield* killed.take(sum))
      // Never ended.
      const next = yield* started
      assert.isUndefined(yield* next.take(sum))
      assert.strictEqual(yield* next.take(sum), "budget")
      yield* TestClock.adjust("400 days")
      assert.strictEqual(yield* next.take(sum), "budget")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("processes together never spend more than the budget, whoever is faster", () =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(Array.from({ length: 4 }), () => started)
      const verdicts = yield* Effect.forEach(
        all.flatMap((process) => [process, process, process]),
        (process) => process.take(sum),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(verdicts.filter((verdict) => verdict === undefined).length, 3)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("refuses where a budget cannot be written, and gives it back", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      const { take, told } = yield* started
      yield* take(sum)
      fault("create", 1, "fail")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(take(sum))))
      assert.strictEqual(told.length, 1)
      assert.isUndefined(yield* take(sum))
      assert.isUndefined(yield* take(sum))
      assert.strictEqual(yield* take(sum), "budget")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("refuses where what was used cannot be read: nobody gets a budget back by breaking the file", () =>
    Effect.gen(function*() {
      const files = yield* contents
      const first = yield* started
      yield* first.take(sum)
      files.set(`${directory}/files/1.json`, `{"at":0,"buckets":[],"more":1}`)
      const second = yield* started
      for (const table of [sum, rate]) {
        const exit = yield* Effect.exit(second.take(table))
        assert.isTrue(Exit.isFailure(exit))
        assert.include(String(exit), `${directory}/files/1.json`)
      }
    }).pipe(Effect.provide(layerMemory)))

  it.effect("tells once that a rate cannot be written, and goes on counting", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      const { take, told } = yield* started
      yield* take(rate)
      fault("create", 1, "fail")
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.strictEqual(told.length, 1)
      assert.isUndefined(yield* take(rate))
      assert.isUndefined(yield* take(rate))
      assert.strictEqual(yield* take(rate), "calls")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("counts what is under way in each process, and frees the place of a call that was given up", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      const { limiter, take } = yield* started
      const written = yield* Deferred.make<void>()
      fault("create", 1, Deferred.await(written))
      const waiting = yield* Effect.forkChild(take(both))
      yield* settle
      yield* Effect.forkChild(Fiber.interrupt(waiting))
      yield* settle
      yield* Deferred.succeed(written, undefined)
      yield* settle
      assert.isUndefined(yield* take(both))
      assert.strictEqual(yield* take(both), "concurrent")
      limiter.end(both(subject))
      // The one that was given up has used its part of the budget all the same: it was written.
      assert.isUndefined(yield* take(both))
      limiter.end(both(subject))
      assert.strictEqual(yield* take(both), "budget")
    }).pipe(Effect.provide(layerMemory)))
})
