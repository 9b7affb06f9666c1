import { assert, describe, it } from "@effect/vitest"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as Pins from "@sallyport/core/pin/Pins"
import * as PinStore from "@sallyport/core/stage/PinStore"
import { layerMemory, MemoryFiles } from "@sallyport/core/store/Files"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { accepted, add, listing, readNote, seen } from "../pin/support.ts"

const directory = "/state/pins"

const onFiles = PinStore.layerFile({ directory }).pipe(Layer.provideMerge(layerMemory))

const some = Pins.see(
  accepted(listing(readNote, add)),
  seen(listing(readNote, { ...add, title: "t" }, { name: "bad" }))
)

/** One acceptance more, as a command or a relay makes it: load, decide, save, again where another was faster. */
const more = (server: string, name: string) =>
  Effect.gen(function*() {
    const store = yield* PinStore.PinStore
    for (let attempts = 1;; attempts++) {
      const pins = yield* store.load(server)
      const pin = accepted(listing({ ...add, name })).pins
      if (pins.pins.some((known) => known.name === name)) return attempts
      if (yield* store.save(server, pins.version, { ...pins, pins: [...pins.pins, ...pin] })) return attempts
      yield* Effect.yieldNow
    }
  })

const cases: ReadonlyArray<readonly [string, Layer.Layer<PinStore.PinStore>]> = [
  ["layerMemory", PinStore.layerMemory],
  ["layerFile", onFiles]
]

for (const [name, store] of cases) {
  describe(name, () => {
    it.effect("has nothing of a server that was never saved", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        assert.deepStrictEqual(yield* pins.load("files"), Pins.empty("files"))
        assert.deepStrictEqual(yield* pins.servers, [])
      }).pipe(Effect.provide(store)))

    it.effect("gives back what was saved, under its new version", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        assert.isTrue(yield* pins.save("files", 0, some))
        assert.deepStrictEqual(yield* pins.load("files"), { ...some, version: 1 })
        assert.isTrue(yield* pins.save("b", 0, { ...some, server: "other", version: 77 }))
        assert.deepStrictEqual(yield* pins.load("b"), { ...some, server: "b", version: 1 })
        assert.deepStrictEqual(yield* pins.servers, ["b", "files"])
      }).pipe(Effect.provide(store)))

    it.effect("takes each version once", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        assert.isTrue(yield* pins.save("files", 0, some))
        assert.isFalse(yield* pins.save("files", 0, Pins.empty("files")))
        assert.isFalse(yield* pins.save("files", 7, Pins.empty("files")))
        for (let version = 1; version < 9; version++) assert.isTrue(yield* pins.save("files", version, some))
        assert.isFalse(yield* pins.save("files", 2, Pins.empty("files")))
        assert.strictEqual((yield* pins.load("files")).version, 9)
      }).pipe(Effect.provide(store)))

    it.effect("loses no change of many savers", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        const names = Array.from({ length: 40 }, (_, index) => `tool_${index}`)
        yield* Effect.forEach(names, (name) => more("files", name), { concurrency: "unbounded" })
        const found = yield* pins.load("files")
        assert.deepStrictEqual(found.pins.map(({ name }) => name).sort(), [...names].sort())
        assert.strictEqual(found.version, names.length)
      }).pipe(Effect.provide(store)))

    it.effect("refuses names that are not a server's", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        const names = ["", "../x", "a/b", "A", "a_b", "a.b", "1a", "-a", "a\nb", "a".repeat(33), "__proto__", "\u0430"]
        for (const name of names) {
          const error = yield* Effect.flip(pins.load(name))
          assert.include(error.message, "cannot be the name of a server")
          assert.include((yield* Effect.flip(pins.save(name, 0, some))).message, "cannot be the name of a server")
        }
        for (const name of ["a", "a-b", "a1", "constructor", "a".repeat(32)]) {
          assert.strictEqual((yield* pins.load(name)).server, name)
        }
      }).pipe(Effect.provide(store)))

    it.effect("waits for a newer version", () =>
      Effect.gen(function*() {
        const pins = yield* PinStore.PinStore
        yield* pins.save("files", 0, some)
        yield* pins.newer("files", 0)
        const waiting = yield* Effect.forkChild(pins.newer("files", 1))
        const other = yield* Effect.forkChild(pins.newer("other", 0))
        yield* TestClock.adjust("5 seconds")
        assert.isUndefined(waiting.pollUnsafe())
        yield* pins.save("files", 1, some)
        yield* TestClock.adjust("500 millis")
        yield* Fiber.join(waiting)
        assert.isUndefined(other.pollUnsafe())
        yield* Fiber.interrupt(other)
      }).pipe(Effect.provide(store)))
  })
}

describe("the memory layer", () => {
  it.effect("wakes those who wait at once", () =>
    Effect.gen(function*() {
      const pins = yield* PinStore.PinStore
      const waiting = yield* Effect.forkChild(pins.newer("files", 0), { startImmediately: true })
      yield* pins.save("files", 0, some)
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(PinStore.layerMemory)))
})

describe("the files", () => {
  const kept = Effect.map(MemoryFiles, ({ contents }) => [...contents.keys()].sort())

  it.effect("are one a version, the last three", () =>
    Effect.gen(function*() {
      const pins = yield* PinStore.PinStore
      for (let version = 0; version < 11; version++) yield* pins.save("files", version, some)
      assert.deepStrictEqual(yield* kept, [
        "/state/pins/files/10.json",
        "/state/pins/files/11.json",
        "/state/pins/files/9.json"
      ])
    }).pipe(Effect.provide(onFiles)))

  it.effect("of others are left alone", () =>
    Effect.gen(function*() {
      const { contents } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      const foreign = [
        "files/notes.txt",
        "files/01.json",
        "files/1.json.bak",
        "files/-1.json",
        "files/9.JSON",
        "README.md",
        "Odd Name/1.json",
        "empty/x"
      ]
      for (const path of foreign) contents.set(`${directory}/${path}`, "mine")
      for (let version = 0; version < 6; version++) assert.isTrue(yield* pins.save("files", version, some))
      assert.strictEqual((yield* pins.load("files")).version, 6)
      assert.deepStrictEqual(yield* pins.servers, ["files"])
      for (const path of foreign) assert.strictEqual(contents.get(`${directory}/${path}`), "mine")
    }).pipe(Effect.provide(onFiles)))

  it.effect("that do not decode are an error that names them", () =>
    Effect.gen(function*() {
      const { contents } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      yield* pins.save("files", 0, some)
      const path = `${directory}/files/1.json`
      const good = contents.get(path) ?? ""
      const bad: ReadonlyArray<readonly [string, string]> = [
        ["", "does not hold pins"],
        [good.slice(0, 100), "does not hold pins"],
        ["{}", "does not hold pins"],
        [good.replace("{", "{\"extra\":1,"), "does not hold pins"],
        [good.replace("\"how\":\"first-sight\"", "\"how\":\"somehow\""), "does not hold pins"],
        [good.replace("\"version\":1", "\"version\":2"), "holds version 2"],
        [good.replace("\"server\":\"files\"", "\"server\":\"other\""), "of the pins of \"other\""]
      ]
      for (const [text, expected] of bad) {
        assert.notStrictEqual(text, good)
        contents.set(path, text)
        const error = yield* Effect.flip(pins.load("files"))
        assert.include(error.message, path)
        assert.include(error.message, expected)
        assert.strictEqual(error.server, "files")
      }
    }).pipe(Effect.provide(onFiles)))

  it.effect("that are not to be trusted are an error, never a first sight", () =>
    Effect.gen(function*() {
      const { untrusted } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      for (const path of [`${directory}/files`, "/state"]) {
        untrusted.set(path, "is writable by everybody")
        assert.include((yield* Effect.flip(pins.load("files"))).message, "is writable by everybody")
        assert.include((yield* Effect.flip(pins.save("files", 0, some))).message, "is writable by everybody")
        untrusted.delete(path)
      }
      assert.strictEqual((yield* pins.load("files")).version, 0)
    }).pipe(Effect.provide(onFiles)))

  it.effect("that cannot be written are an error", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      fault("create", 1, "fail")
      assert.include((yield* Effect.flip(pins.save("files", 0, some))).message, `create of ${directory}/files/1.json`)
      assert.isTrue(yield* pins.save("files", 0, some))
      fault("read", 1, "fail")
      assert.include((yield* Effect.flip(pins.load("files"))).message, `read of ${directory}/files/1.json`)
    }).pipe(Effect.provide(onFiles)))

  for (const others of [1, 2, 3, 4, 5]) {
    it.effect(`a saver that sleeps while ${others} others save has lost`, () =>
      Effect.gen(function*() {
        const { fault } = yield* MemoryFiles
        const pins = yield* PinStore.PinStore
        assert.isTrue(yield* pins.save("files", 0, some))
        const meanwhile = Effect.gen(function*() {
          for (let version = 1; version <= others; version++) assert.isTrue(yield* pins.save("files", version, some))
        })
        fault("create", 1, Effect.orDie(meanwhile))
        assert.isFalse(yield* pins.save("files", 1, Pins.empty("files")))
        assert.deepStrictEqual(yield* pins.load("files"), { ...some, version: 1 + others })
        assert.isTrue(yield* pins.save("files", 1 + others, some))
        assert.isAtMost((yield* kept).length, 3)
      }).pipe(Effect.provide(onFiles)))
  }

  it.effect("that are pruned while they are read are looked for again", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      assert.isTrue(yield* pins.save("files", 0, Pins.empty("files")))
      const meanwhile = Effect.gen(function*() {
        for (let version = 1; version <= 4; version++) yield* pins.save("files", version, some)
      })
      fault("read", 1, Effect.orDie(meanwhile))
      assert.strictEqual((yield* pins.load("files")).version, 5)
    }).pipe(Effect.provide(onFiles)))

  it.effect("that cannot be listed now do not end the waiting", () =>
    Effect.gen(function*() {
      const { untrusted } = yield* MemoryFiles
      const pins = yield* PinStore.PinStore
      untrusted.set("/state", "is gone")
      const waiting = yield* Effect.forkChild(pins.newer("files", 0))
      yield* TestClock.adjust("5 seconds")
      untrusted.delete("/state")
      yield* pins.save("files", 0, some)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiting)
    }).pipe(Effect.provide(onFiles)))

  it.live("on a disk serve many savers at once, and hold names of any kind", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "pins-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      // Each layer of its own, as in processes of their own.
      const disk = () => PinStore.layerFile({ directory: join(folder, "pins") }).pipe(Layer.provide(NodeFiles.layer))
      const names = ["__proto__", "toString", ...Array.from({ length: 12 }, (_, index) => `tool_${index}`)]
      yield* Effect.forEach(names, (name) => Effect.provide(more("files", name), disk()), { concurrency: 8 })
      const found = yield* Effect.provide(Effect.flatMap(PinStore.PinStore, (pins) => pins.load("files")), disk())
      assert.deepStrictEqual(found.pins.map(({ name }) => name).sort(), [...names].sort())
      assert.strictEqual(found.version, names.length)
    }))
})
