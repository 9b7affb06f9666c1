import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import type { Event } from "../../src/ledger/Entry.ts"
import type * as Read from "../../src/ledger/Read.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"
import { type Files, layerMemory as layerFiles, MemoryFiles } from "../../src/store/Files.ts"
import * as Text from "../../src/wire/Text.ts"
import { call, directory, open, outcome, segments, withoutReserve } from "./support.ts"

const numbers = (contents: Read.Contents) => contents.entries.map(({ seq }) => seq)

const verified = Effect.map(Folder.verify(directory), ({ problems, status }) => ({ status, problems }))
const fine = { status: "ok" as const, problems: [] }

describe("Ledger.layerNone", () => {
  it.effect("counts, and its commit is a constant", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger.Ledger
      assert.strictEqual(ledger.append(call("a")), 1)
      assert.strictEqual(ledger.append(call("b")), 2)
      assert.isTrue(Exit.isExit(ledger.commit) && Exit.isSuccess(ledger.commit))
      assert.isUndefined(ledger.digest(undefined))
    }).pipe(Effect.provide(Ledger.layerNone)))
})

describe("Ledger.layerFailed", () => {
  it.effect("refuses every commit", () =>
    Effect.gen(function*() {
      const ledger = yield* Ledger.Ledger
      ledger.append(call("a"))
      assert.strictEqual((yield* Effect.flip(ledger.commit)).message, "no")
    }).pipe(Effect.provide(Ledger.layerFailed(new Ledger.LedgerError({ message: "no" })))))
})

describe("Ledger.layerMemory", () => {
  it.effect("keeps what was not written, in its order", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      const { ledger } = memory
      ledger.append(call("a"))
      memory.failNext()
      assert.strictEqual((yield* Effect.flip(ledger.commit))._tag, "LedgerError")
      assert.deepStrictEqual(memory.written(), [])
      ledger.append(call("b"))
      yield* ledger.commit
      assert.deepStrictEqual(memory.written(), [{ seq: 1, ...call("a") }, { seq: 2, ...call("b") }])
      assert.strictEqual(memory.writes(), 1)
      yield* ledger.commit
      assert.strictEqual(memory.writes(), 1)
    }))

  it.effect("waits until told, and those who wait share one write", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      const { ledger } = memory
      memory.hold()
      const fibers: Array<Fiber.Fiber<void, Ledger.LedgerError>> = []
      for (let i = 0; i < 5; i++) {
        ledger.append(call(`${i}`))
        fibers.push(yield* Effect.forkChild(ledger.commit, { startImmediately: true }))
      }
      assert.strictEqual(memory.writes(), 0)
      memory.release()
      for (const fiber of fibers) yield* Fiber.join(fiber)
      assert.strictEqual(memory.written().length, 5)
      assert.isAtMost(memory.writes(), 2)
    }))

  it.effect("fails until mended", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      memory.failAll()
      memory.ledger.append(call("a"))
      yield* Effect.flip(memory.ledger.commit)
      yield* Effect.flip(memory.ledger.commit)
      memory.mend()
      yield* memory.ledger.commit
      assert.strictEqual(memory.written().length, 1)
    }))
})

describe("Ledger.layerFile", () => {
  const it_ = <E>(name: string, test: () => Effect.Effect<void, E, Files | MemoryFiles>) =>
    it.effect(name, () => Effect.provide(test(), layerFiles))

  it_("makes a segment at the first commit that has something to write, and not before", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        yield* ledger.commit
        assert.strictEqual(ledger.append(call("a")), 1)
        assert.deepStrictEqual(yield* segments, [])
        yield* ledger.commit
        assert.strictEqual((yield* segments).length, 1)
      }))
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("leaves nothing where nothing was recorded", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(open())
      assert.deepStrictEqual(yield* segments, [])
    }))

  it_("closes with the scope, and writes what was appended last", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        const seq = ledger.append(call("a"))
        yield* ledger.commit
        ledger.append(outcome(seq))
      }))
      const [only] = yield* segments
      assert.match(only?.text ?? "", /"type":"outcome".*\n\{"type":"closed".*\n$/)
      assert.deepStrictEqual(yield* verified, fine)
      const contents = yield* Folder.read(directory)
      assert.isTrue(contents.runs[0]?.closed)
      assert.deepStrictEqual(numbers(contents), [1, 2])
    }))

  it_("takes its time from the clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_767_323_045_678)
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("a"))
        yield* TestClock.adjust("1 minute")
        ledger.append(call("b"))
        yield* ledger.commit
      }))
      const { entries } = yield* Folder.read(directory)
      assert.deepStrictEqual(entries.map(({ time }) => time), ["2026-01-02T03:04:05.678Z", "2026-01-02T03:05:05.678Z"])
      assert.match((yield* segments)[0]?.segment ?? "", /^20260102T030505678Z-/)
    }))

  it_("seals a group once", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        for (let i = 0; i < 10; i++) ledger.append(call(`${i}`))
        yield* ledger.commit
        const [only] = yield* segments
        assert.strictEqual(only?.text.split("\"seal\":").length, 2)
        assert.strictEqual(only?.text.split("\n").length, 12)
      }))
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("names the heads that no segment has named", () =>
    Effect.gen(function*() {
      const session = Effect.scoped(Effect.gen(function*() {
        yield* TestClock.adjust("1 second")
        const ledger = yield* open()
        ledger.append(call("a"))
        yield* ledger.commit
      }))
      for (let i = 0; i < 4; i++) yield* session
      const found = yield* segments
      const names = found.map(({ text }) => [...text.matchAll(/"segment":"([^"]+)","head"/g)].map((match) => match[1]))
      assert.deepStrictEqual(names, [[], ...found.slice(0, 3).map(({ segment }) => [segment])])
      assert.deepStrictEqual(yield* verified, fine)
      // The index only saves time.
      const { contents } = yield* MemoryFiles
      contents.set(`${directory}/index`, "nonsense\n")
      yield* session
      const last = (yield* segments).at(-1)?.text ?? ""
      assert.strictEqual(last.split("\"head\":").length, 5)
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("names a segment again after it has grown", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const first = yield* open()
        first.append(call("a"))
        yield* first.commit
        for (const name of ["b", "c"]) {
          yield* TestClock.adjust("1 second")
          const other = yield* open()
          other.append(call(name))
          yield* other.commit
          first.append(call(name))
          yield* first.commit
        }
      }))
      const texts = (yield* segments).map(({ text }) => text)
      assert.include(texts[1], `"names":[{"segment":"${(yield* segments)[0]?.segment}"`)
      assert.include(texts[2], `"names":[{"segment":"${(yield* segments)[0]?.segment}"`)
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("leaves foreign files alone", () =>
    Effect.gen(function*() {
      const { contents } = yield* MemoryFiles
      contents.set(`${directory}/notes.txt`, "mine")
      contents.set(`${directory}/old.jsonl`, "{}")
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("a"))
        yield* ledger.commit
      }))
      assert.strictEqual(contents.get(`${directory}/notes.txt`), "mine")
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("begins another segment where one has grown long", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open({ segmentBytes: 2000 })
        for (let i = 0; i < 40; i++) {
          yield* TestClock.adjust("1 millis")
          ledger.append(call(`${i}`))
          yield* ledger.commit
        }
      }))
      assert.isAbove((yield* segments).length, 3)
      assert.deepStrictEqual(yield* verified, fine)
      const contents = yield* Folder.read(directory)
      assert.deepStrictEqual(numbers(contents), Array.from({ length: 40 }, (_, i) => i + 1))
      assert.strictEqual(contents.runs.length, 1)
    }))

  it_("keeps what could not be written, in its order, and goes on in a new segment", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("a"))
        yield* ledger.commit
        for (const how of ["fail", "torn"] as const) {
          yield* TestClock.adjust("1 second")
          ledger.append(call("b"))
          yield* withoutReserve
          fault("append", 1, how)
          assert.include((yield* Effect.flip(ledger.commit)).message, "cannot be written")
          ledger.append(call("c"))
          yield* TestClock.adjust("1 second")
          yield* ledger.commit
        }
      }))
      const contents = yield* Folder.read(directory)
      assert.deepStrictEqual(numbers(contents), [1, 2, 3, 4, 5])
      const names = contents.entries.map(({ event }) => event.type === "call" ? event.name : "")
      assert.deepStrictEqual(names, ["a", "b", "c", "b", "c"])
      assert.strictEqual((yield* segments).length, 3)
      const report = yield* Folder.verify(directory)
      assert.deepStrictEqual([report.status, report.problems, report.mended.length], ["mended", [], 1])
    }))

  it_("does not try again at once after a failure", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("a"))
        fault("append", 1, "fail")
        yield* Effect.flip(ledger.commit)
        // The fault is over, but nobody has waited.
        yield* Effect.flip(ledger.commit)
        assert.deepStrictEqual(yield* segments, [])
        yield* TestClock.adjust("100 millis")
        yield* ledger.commit
        assert.strictEqual((yield* segments).length, 1)
      }))
    }))

  it_("leaves no file behind in which nothing was committed", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("a"))
        fault("append", 1, "torn")
        yield* Effect.flip(ledger.commit)
        assert.deepStrictEqual(yield* segments, [])
      }))
      // The end of the scope tried once more.
      assert.deepStrictEqual(numbers(yield* Folder.read(directory)), [1])
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_("states again what may not have reached the disk", () =>
    Effect.gen(function*() {
      const { durable, fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open({ sync: true })
        ledger.append(call("a"))
        yield* ledger.commit
        yield* withoutReserve
        ledger.append(call("b"))
        fault("sync", 1, "fail")
        yield* Effect.flip(ledger.commit)
        yield* TestClock.adjust("1 second")
        ledger.append(call("c"))
        yield* ledger.commit
        for (const { path, text } of (yield* segments).slice(1)) assert.strictEqual(durable().get(path), text)
      }))
      assert.deepStrictEqual(numbers(yield* Folder.read(directory)), [1, 2, 3])
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_(
    "waits for the disk where it is told to, and one wait serves all who came meanwhile",
    () =>
      Effect.gen(function*() {
        const { durable, fault } = yield* MemoryFiles
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* open({ sync: true })
          ledger.append(call("first"))
          yield* ledger.commit
          const told = yield* Deferred.make<void>()
          fault("sync", 1, Deferred.await(told))
          const done: Array<number> = []
          const fibers: Array<Fiber.Fiber<void, Ledger.LedgerError>> = []
          for (let i = 0; i < 8; i++) {
            ledger.append(call(`${i}`))
            fibers.push(
              yield* Effect.forkChild(Effect.tap(ledger.commit, () => Effect.sync(() => done.push(i))), {
                startImmediately: true
              })
            )
          }
          yield* TestClock.adjust("1 hour")
          assert.deepStrictEqual(done, [])
          yield* Deferred.succeed(told, undefined)
          for (const fiber of fibers) yield* Fiber.join(fiber)
          assert.deepStrictEqual(done, [0, 1, 2, 3, 4, 5, 6, 7])
          const [only] = yield* segments
          // The first, the one that had to wait, and one for all seven who came meanwhile.
          assert.strictEqual(only?.text.split("\"seal\":").length, 4)
          assert.strictEqual(durable().get(only?.path ?? ""), only?.text)
        }))
        assert.deepStrictEqual(yield* verified, fine)
      })
  )

  it_("lets those who came during one attempt share the failure of the next", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open({ sync: true })
        ledger.append(call("first"))
        yield* ledger.commit
        yield* withoutReserve
        const told = yield* Deferred.make<void>()
        fault("sync", 1, Deferred.await(told))
        fault("append", 2, "fail")
        const fibers: Array<Fiber.Fiber<Exit.Exit<void, Ledger.LedgerError>>> = []
        for (let i = 0; i < 4; i++) {
          ledger.append(call(`${i}`))
          fibers.push(yield* Effect.forkChild(Effect.exit(ledger.commit), { startImmediately: true }))
        }
        yield* Deferred.succeed(told, undefined)
        const exits: Array<boolean> = []
        for (const fiber of fibers) exits.push(Exit.isSuccess(yield* Fiber.join(fiber)))
        assert.deepStrictEqual(exits, [true, false, false, false])
        yield* TestClock.adjust("1 second")
        yield* ledger.commit
      }))
      assert.deepStrictEqual(numbers(yield* Folder.read(directory)), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_(
    "names a segment by its last seal, however long an end it has that was never finished",
    () =>
      Effect.gen(function*() {
        const { contents } = yield* MemoryFiles
        const use = (name: string) =>
          Effect.scoped(Effect.gen(function*() {
            const ledger = yield* open()
            ledger.append(call(name))
            yield* ledger.commit
          }))
        yield* use("a")
        const file = [...contents.keys()].find((path) => path.endsWith(".jsonl")) ?? ""
        const lines = (contents.get(file) ?? "").split("\n")
        contents.set(file, `${lines.slice(0, -2).join("\n")}\n${"x".repeat(100_000)}`)
        contents.delete(`${directory}/index`)
        yield* use("b")
        const report = yield* Folder.verify(directory)
        assert.deepStrictEqual([report.status, report.problems, report.mended.length], ["mended", [], 1])
      })
  )

  it_("is not torn by an interrupted caller", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("first"))
        yield* ledger.commit
        const told = yield* Deferred.make<void>()
        fault("append", 1, Deferred.await(told))
        ledger.append(call("a"))
        const first = yield* Effect.forkChild(ledger.commit, { startImmediately: true })
        ledger.append(call("b"))
        const second = yield* Effect.forkChild(ledger.commit, { startImmediately: true })
        const stopping = yield* Effect.forkChild(Fiber.interrupt(first), { startImmediately: true })
        yield* Fiber.interrupt(second)
        yield* Deferred.succeed(told, undefined)
        yield* Fiber.join(stopping)
        yield* ledger.commit
      }))
      assert.deepStrictEqual(numbers(yield* Folder.read(directory)), [1, 2, 3])
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_(
    "F13: gives up its reserve on a full disk to write, and lets nothing pass until it has one again",
    () =>
      Effect.gen(function*() {
        const files = yield* MemoryFiles
        const reserve = `${directory}/reserve`
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* open()
          ledger.append(call("a"))
          yield* ledger.commit
          yield* Effect.yieldNow
          assert.strictEqual(files.contents.get(reserve)?.length, 1024 * 1024)

          ledger.append(call("b"))
          files.fault("append", 1, "torn")
          files.fault("create", 1, "fail")
          yield* Effect.flip(ledger.commit)
          assert.isFalse(files.contents.has(reserve))
          assert.deepStrictEqual(numbers(yield* Folder.read(directory)), [1, 2])

          // What went wrong, and what the guard says of it, is written too, but nothing passes.
          ledger.append({ type: "outcome", of: 2, was: "unsent" })
          yield* TestClock.adjust("1 second")
          files.fault("create", 1, "fail")
          yield* Effect.flip(ledger.commit)
          const { entries } = yield* Folder.read(directory)
          assert.deepStrictEqual(entries.map(({ event }) => event.type), ["call", "call", "fault", "outcome"])

          yield* TestClock.adjust("1 second")
          yield* ledger.commit
          assert.isTrue(files.contents.has(reserve))
        }))
        assert.strictEqual((yield* Folder.verify(directory)).status, "mended")
      })
  )

  it_("keeps a bounded memory while it cannot write, and says what it gave up", () =>
    Effect.gen(function*() {
      const { fault } = yield* MemoryFiles
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        const sent = ledger.append(call("sent"))
        yield* ledger.commit
        yield* withoutReserve
        ledger.append(call("lost"))
        fault("append", 1, "fail")
        yield* Effect.flip(ledger.commit)
        for (let i = 0; i < 10_000; i++) ledger.append(call("again"))
        const late = ledger.append(outcome(sent))
        assert.strictEqual(late, 10_003)
        ledger.append(call("again"))
        yield* TestClock.adjust("1 second")
        yield* ledger.commit
        assert.strictEqual(ledger.append(call("on")), 10_005)
        yield* ledger.commit
      }))
      assert.deepStrictEqual(yield* verified, fine)
      const { entries } = yield* Folder.read(directory)
      assert.isBelow(entries.length, 6000)
      assert.deepStrictEqual(entries.slice(-5).map(({ event, seq }) => [event.type, seq > 5000]), [
        ["call", false],
        ["omitted", false],
        ["outcome", true],
        ["omitted", true],
        ["call", true]
      ])
    }))

  it_("gives keyed digests that differ between ledgers and last across processes", () =>
    Effect.gen(function*() {
      const text = Text.fromValue({ pin: "4711" })
      const digest = (options: Partial<Ledger.FileOptions>) =>
        Effect.scoped(Effect.map(open(options), (ledger) => ledger.digest(text)))
      const one = yield* digest({})
      assert.match(one ?? "", /^[0-9a-f]{64}$/)
      assert.strictEqual(yield* digest({}), one)
      assert.notStrictEqual(yield* digest({ directory: "/elsewhere" }), one)
      assert.strictEqual(
        yield* digest({ digest: "plain" }),
        createHash("sha256").update("{\"pin\":\"4711\"}").digest("hex")
      )
      assert.isUndefined(yield* Effect.scoped(Effect.map(open(), (ledger) => ledger.digest(undefined))))
    }))

  it_("fails as a layer where its key is not to be trusted or is none", () =>
    Effect.gen(function*() {
      const { contents, untrusted } = yield* MemoryFiles
      const build = Effect.flip(Effect.scoped(Layer.build(Ledger.layerFile({ directory, sync: false }))))
      contents.set(`${directory}/key`, "short\n")
      assert.include((yield* build).message, "does not hold a ledger key")
      untrusted.set(`${directory}/key`, "is writable by others")
      assert.include((yield* build).message, "is writable by others")
    }))

  it_(
    "records texts in full where that is asked for, without the secrets that were handed out, and bounded",
    () =>
      Effect.gen(function*() {
        const value = "hunter2/hunter2"
        const text = Text.fromValue({
          token: `Bearer ${value}`,
          b: btoa(`user:${value}`),
          url: encodeURIComponent(value)
        })
        const full = { secrets: [{ name: "TOKEN", value }] }
        yield* Effect.scoped(Effect.gen(function*() {
          assert.isUndefined((yield* open()).text(text))
          const ledger = yield* open({ full })
          assert.isUndefined(ledger.text(undefined))
          const clear = ledger.text(text) ?? ""
          assert.notMatch(clear, /hunter2/)
          assert.match(clear, /"token":"Bearer \[TOKEN\]"/)
          assert.match(clear, /"url":"\[TOKEN\]"/)
          assert.include(ledger.text(Text.quote("x".repeat(70_000))) ?? "", " (4466 characters more)")
          ledger.append(call("a", clear))
          yield* ledger.commit
        }))
        assert.deepStrictEqual(yield* verified, fine)
        for (const { text } of yield* segments) assert.notInclude(text, "hunter2")
      })
  )

  it_(
    "F13: over its budget a client with a server has no room, and others have; it comes back with time",
    () =>
      Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* open({ budgetBytes: 1000 })
          assert.isTrue(ledger.room("host", "notes"))
          const seq = ledger.append(call("a", "x".repeat(800)))
          assert.isFalse(ledger.room("host", "notes"))
          assert.isTrue(ledger.room("other", "notes"))
          assert.isTrue(ledger.room("host", "other"))
          yield* TestClock.adjust("1 hour")
          assert.isTrue(ledger.room("host", "notes"))
          // What comes back counts for who asked for it.
          ledger.append({ type: "outcome", of: seq, was: "result", text: "x".repeat(2000) })
          assert.isFalse(ledger.room("host", "notes"))
          yield* ledger.commit
        }))
        assert.deepStrictEqual(yield* verified, fine)
      })
  )

  it_("F30: a clock that goes back more than a minute is an entry, and is told", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      yield* TestClock.setTime(1_767_323_045_678)
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open({ tell: (sentence) => told.push(sentence) })
        ledger.append(call("a"))
        yield* ledger.commit
        yield* TestClock.setTime(1_767_323_045_678 - 60_000)
        ledger.append(call("b"))
        assert.deepStrictEqual(told, [])
        yield* TestClock.setTime(1_767_323_045_678 - 7_200_000)
        assert.strictEqual(ledger.append(call("c")), 4)
        ledger.append(call("d"))
        yield* ledger.commit
      }))
      assert.match(told.join("\n"), /^the clock of this machine was set back by 7200 seconds/)
      // The next process sees by the names of the segments that time stands before them.
      yield* TestClock.setTime(1_767_323_045_678 - 3_600_000)
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open({ tell: (sentence) => told.push(sentence) })
        ledger.append(call("e"))
        yield* ledger.commit
      }))
      assert.strictEqual(told.length, 2)
      const { entries } = yield* Folder.read(directory)
      assert.deepStrictEqual(
        entries.flatMap(({ event }) => event.type === "clock" ? [event.back] : []).sort(),
        [3_600_000, 7_200_000]
      )
      assert.deepStrictEqual(yield* verified, fine)
    }))

  it_(
    "makes no second key where segments are and the key is gone: a person must have one made, and that is recorded",
    () =>
      Effect.gen(function*() {
        const { contents } = yield* MemoryFiles
        const write = (name: string) =>
          Effect.scoped(Effect.gen(function*() {
            const ledger = yield* open()
            ledger.append(call(name))
            yield* ledger.commit
          }))
        yield* write("before")
        contents.delete(`${directory}/key`)
        const gone = yield* Effect.flip(write("meanwhile"))
        assert.match(gone.message, /the key of the ledger in .* is gone, and no other one is made by itself/)
        assert.isFalse(contents.has(`${directory}/key`))

        yield* TestClock.adjust("1 second")
        const report = yield* Folder.newKey(directory)
        assert.deepStrictEqual([report.status, report.problems, report.rekeyed], ["mended", [], 1])
        yield* write("after")
        assert.strictEqual((yield* Folder.verify(directory)).status, "mended")
        assert.strictEqual((yield* Folder.read(directory)).entries.length, 3)
        // There is nothing more to do, so it is refused.
        assert.match((yield* Effect.flip(Folder.newKey(directory))).message, /fits all segments/)

        // What was sealed with the lost key can no longer be changed unseen, longer or shorter.
        const [old] = yield* segments
        for (const changed of [old?.text.replace("before", "behind"), `${old?.text}{}`, old?.text.slice(0, -10), ""]) {
          contents.set(old?.path ?? "", changed ?? "")
          assert.strictEqual((yield* Folder.verify(directory)).status, "broken", changed)
        }
        contents.set(old?.path ?? "", old?.text ?? "")
        assert.strictEqual((yield* Folder.verify(directory)).status, "mended")
      })
  )

  it_("uses the key of whoever was faster", () =>
    Effect.gen(function*() {
      const { contents, fault } = yield* MemoryFiles
      fault(
        "create",
        1,
        Effect.sync(() => {
          contents.set(`${directory}/key`, "ab".repeat(32) + "\n")
        })
      )
      yield* Effect.scoped(open())
      assert.strictEqual(contents.get(`${directory}/key`), "ab".repeat(32) + "\n")
    }))

  it_("lets eight writers share one folder", () =>
    Effect.gen(function*() {
      const one = (writer: number) =>
        Effect.scoped(Effect.gen(function*() {
          const ledger = yield* open({ segmentBytes: 3000 })
          for (let i = 0; i < 20; i++) {
            const event: Event = call(`${writer}.${i}`)
            ledger.append(event)
            yield* ledger.commit
            yield* Effect.yieldNow
          }
        }))
      yield* Effect.all(Array.from({ length: 8 }, (_, writer) => one(writer)), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* verified, fine)
      const { entries } = yield* Folder.read(directory)
      assert.strictEqual(entries.length, 160)
    }))
})
