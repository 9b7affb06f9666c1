import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Files, layerMemory, MemoryFiles } from "../../src/store/Files.ts"

const kindOf = <A>(effect: Effect.Effect<A, { readonly kind: string }>) =>
  Effect.map(Effect.flip(effect), (_) => _.kind)

const test = <E>(
  name: string,
  run: (files: Files["Service"], memory: MemoryFiles["Service"]) => Effect.Effect<void, E>
) =>
  it.effect(name, () =>
    Effect.gen(function*() {
      yield* run(yield* Files, yield* MemoryFiles)
    }).pipe(Effect.provide(layerMemory)))

describe("Files.layerMemory", () => {
  test("creates once, replaces, lists and removes", (files) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* kindOf(files.create("/s/pins/1.json", "one")), "missing")
      yield* files.folder("/s/pins")
      yield* files.create("/s/pins/1.json", "one")
      assert.strictEqual(yield* kindOf(files.create("/s/pins/1.json", "two")), "exists")
      assert.strictEqual(yield* files.read("/s/pins/1.json"), "one")
      yield* files.replace("/s/pins/1.json", "two")
      assert.strictEqual(yield* files.read("/s/pins/1.json"), "two")
      yield* files.create("/s/pins/0.json", "zero")
      assert.deepStrictEqual(yield* files.list("/s/pins"), ["0.json", "1.json"])
      assert.deepStrictEqual(yield* files.list("/s"), ["pins"])
      assert.deepStrictEqual(yield* files.list("/none"), [])
      yield* files.remove("/s/pins/0.json")
      yield* files.remove("/s/pins/0.json")
      assert.strictEqual(yield* kindOf(files.read("/s/pins/0.json")), "missing")
      assert.strictEqual(yield* kindOf(files.trusted("/s/pins/0.json")), "missing")
      yield* files.trusted("/s/pins")
    }))

  test("reads whole lines of a file from a place on", (files, memory) =>
    Effect.gen(function*() {
      memory.contents.set("/s/log", "one\ntwö\nthree\nfou")
      assert.deepStrictEqual(yield* files.lines("/s/log", 0, 1), { text: "one\n", next: 4 })
      assert.deepStrictEqual(yield* files.lines("/s/log", 0, 10), { text: "one\ntwö\n", next: 9 })
      assert.deepStrictEqual(yield* files.lines("/s/log", 9, 100), { text: "three\n", next: 15 })
      assert.deepStrictEqual(yield* files.lines("/s/log", 15, 100), { text: "", next: 15 })
      assert.deepStrictEqual(yield* files.lines("/s/log", 99, 100), { text: "", next: 99 })
    }))

  test("reads the end of a file from a whole line on", (files, memory) =>
    Effect.gen(function*() {
      memory.contents.set("/s/log", "one\ntwo\nthr")
      assert.deepStrictEqual(yield* files.tail("/s/log", 11), { text: "one\ntwo\nthr", whole: true })
      assert.deepStrictEqual(yield* files.tail("/s/log", 10), { text: "two\nthr", whole: false })
      assert.strictEqual(yield* kindOf(files.tail("/s/none", 10)), "missing")
    }))

  test("appends, and knows what a loss of power would leave", (files, memory) =>
    Effect.gen(function*() {
      yield* files.folder("/s")
      const log = yield* files.appender("/s/log", "create")
      assert.strictEqual(yield* kindOf(files.appender("/s/log", "create")), "exists")
      assert.strictEqual(yield* kindOf(files.appender("/s/other", "existing")), "missing")
      yield* log.append("a\n")
      yield* log.sync
      yield* log.append("b\n")
      assert.strictEqual(yield* files.read("/s/log"), "a\nb\n")
      assert.strictEqual(memory.durable().get("/s/log"), "a\n")
    }))

  test("fails the operation that the test names, once", (files, memory) =>
    Effect.gen(function*() {
      yield* files.folder("/s")
      const log = yield* files.appender("/s/log", "create")
      memory.fault("append", 2, "torn")
      memory.fault("create", 1, "fail")
      yield* log.append("1234\n")
      assert.strictEqual(yield* kindOf(log.append("abcdef")), "failed")
      assert.strictEqual(yield* files.read("/s/log"), "1234\nabc")
      yield* log.append("!")
      assert.strictEqual(yield* kindOf(files.create("/s/x", "x")), "failed")
      yield* files.create("/s/x", "x")
    }))

  test("holds an operation until the test lets it go", (files, memory) =>
    Effect.gen(function*() {
      yield* files.folder("/s")
      const log = yield* files.appender("/s/log", "create")
      const gate = yield* Deferred.make<void>()
      memory.fault("sync", 1, Deferred.await(gate))
      yield* log.append("a")
      const sync = yield* Effect.forkChild(log.sync, { startImmediately: true })
      yield* log.append("b")
      yield* Effect.yieldNow
      assert.isUndefined(sync.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(sync)
      assert.strictEqual(memory.durable().get("/s/log"), "a")
    }))

  test("refuses what the test calls untrusted, and what is below it", (files, memory) =>
    Effect.gen(function*() {
      yield* files.folder("/s")
      yield* files.create("/s/key", "k")
      memory.untrusted.set("/s", "is writable by everybody")
      const error = yield* Effect.flip(files.read("/s/key"))
      assert.deepInclude(error, { kind: "untrusted", message: "/s is writable by everybody" })
      assert.strictEqual(yield* kindOf(files.trusted("/s/key")), "untrusted")
      assert.strictEqual(yield* kindOf(files.create("/s/other", "")), "untrusted")
      assert.strictEqual(yield* kindOf(files.list("/s")), "untrusted")
    }))
})
