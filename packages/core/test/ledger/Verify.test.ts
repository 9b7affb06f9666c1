import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Keys from "../../src/ledger/Keys.ts"
import * as Pending from "../../src/ledger/Pending.ts"
import * as Read from "../../src/ledger/Read.ts"
import * as Verify from "../../src/ledger/Verify.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"
import { layerMemory as layerFiles, MemoryFiles } from "../../src/store/Files.ts"
import { call, directory, keys, open, outcome, segments } from "./support.ts"

interface Segment {
  readonly segment: string
  readonly text: string
}

interface Sample {
  readonly keys: Keys.Keys
  readonly segments: ReadonlyArray<Segment>
}

/** Three runs: one closed, one that grew after it was named and was never closed, and one with two segments. */
const sample: Effect.Effect<Sample> = Effect.gen(function*() {
  const { contents } = yield* MemoryFiles
  const session = Effect.fnUntraced(function*(groups: ReadonlyArray<number>, segmentBytes?: number) {
    yield* TestClock.adjust("1 second")
    const ledger = yield* open({ segmentBytes })
    for (const size of groups) {
      for (let i = 0; i < size; i += 2) ledger.append(outcome(ledger.append(call(`${i}`))))
      yield* ledger.commit
      yield* TestClock.adjust("1 millis")
    }
  })
  yield* Effect.scoped(session([2, 6, 2]))
  // The death of the process: what was written up to here is all there is.
  const before = yield* Effect.scoped(Effect.andThen(session([4, 2]), Effect.sync(() => new Map(contents))))
  for (const [path, text] of before) contents.set(path, text)
  yield* Effect.scoped(session([2, 2, 4, 2], 1200))
  yield* Effect.scoped(session([2]))
  return { keys: yield* keys, segments: yield* segments }
}).pipe(Effect.provide(layerFiles), Effect.orDie)

const verify = (sample: Sample, changed: ReadonlyArray<Segment> = sample.segments) =>
  Verify.join(changed.map(({ segment, text }) => Verify.segment(segment, text, sample.keys)))

/** The sample with one segment changed. */
const edit = (sample: Sample, index: number, change: (text: string) => string): ReadonlyArray<Segment> =>
  sample.segments.map((part, i) => i === index ? { ...part, text: change(part.text) } : part)

const lines = (text: string) => text.split("\n").slice(0, -1)
const unlines = (parts: ReadonlyArray<string>) => parts.map((part) => part + "\n").join("")

describe("Verify", () => {
  it.effect("accepts the sample, unclosed segments and all", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const report = verify(good)
      assert.deepStrictEqual([report.status, report.problems], ["ok", []])
      assert.strictEqual(report.segments, 5)
      assert.strictEqual(report.entries, 28)
      assert.strictEqual(report.heads.length, 5)
      assert.deepStrictEqual(
        good.segments.map(({ segment, text }) => Verify.segment(segment, text, good.keys).closed),
        [true, false, true, true, true]
      )
    }))

  it("accepts an empty folder", () => {
    assert.strictEqual(Verify.join([]).status, "ok")
  })

  it.effect("does not accept another byte anywhere", () =>
    Effect.gen(function*() {
      const good = yield* sample
      fc.assert(
        fc.property(
          fc.nat(good.segments.length - 1),
          fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
          fc.nat(255),
          (index, where, byte) => {
            const changed = edit(good, index, (text) => {
              const at = Math.floor(where * text.length)
              return text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1)
            })
            fc.pre(changed[index]?.text !== good.segments[index]?.text)
            const report = verify(good, changed)
            assert.notStrictEqual(report.status, "ok")
            assert.notStrictEqual(report.status, "mended")
          }
        ),
        { numRuns: 1500 }
      )
    }), 60_000)

  it.effect("does not accept a byte more or less anywhere", () =>
    Effect.gen(function*() {
      const good = yield* sample
      fc.assert(
        fc.property(
          fc.nat(good.segments.length - 1),
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.option(fc.constantFrom(" ", "\n", "\t", "0", "x", "{}", "é")),
          (index, where, more) => {
            const changed = edit(good, index, (text) => {
              const at = Math.floor(where * text.length)
              return more === null ? text.slice(0, at) + text.slice(at + 1) : text.slice(0, at) + more + text.slice(at)
            })
            fc.pre(changed[index]?.text !== good.segments[index]?.text)
            assert.include(["broken", "torn"], verify(good, changed).status)
          }
        ),
        { numRuns: 1000 }
      )
    }), 60_000)

  it.effect("finds every line that is gone, doubled or exchanged", () =>
    Effect.gen(function*() {
      const good = yield* sample
      good.segments.forEach((part, index) => {
        const all = lines(part.text)
        all.forEach((line, at) => {
          const label = `${index}:${at}`
          // The last line of the newest segment is a whole group that nothing names: only an anchor finds it gone.
          const last = index === good.segments.length - 1 && at === all.length - 1
          assert.strictEqual(
            verify(good, edit(good, index, () => unlines(all.toSpliced(at, 1)))).status,
            last ? "ok" : "broken",
            label
          )
          assert.strictEqual(
            verify(good, edit(good, index, () => unlines(all.toSpliced(at, 0, line)))).status,
            "broken",
            label
          )
          for (let other = at + 1; other < all.length; other++) {
            const swapped = all.with(at, all[other] ?? "").with(other, line)
            assert.strictEqual(verify(good, edit(good, index, () => unlines(swapped))).status, "broken", label)
          }
        })
      })
    }), 60_000)

  it.effect("finds a group that is gone, doubled or moved, also to another segment", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const groups = (text: string) => text.match(/(?:.*\n)*?.*"seal":".*\n/g) ?? []
      const first = groups(good.segments[0]?.text ?? "")
      assert.isAbove(first.length, 3)
      for (let at = 0; at < first.length - 1; at++) {
        const group = first[at] ?? ""
        assert.strictEqual(verify(good, edit(good, 0, () => first.toSpliced(at, 1).join(""))).status, "broken")
        assert.strictEqual(verify(good, edit(good, 0, () => first.toSpliced(at, 0, group).join(""))).status, "broken")
        assert.strictEqual(verify(good, edit(good, 1, (text) => text + group)).status, "broken")
      }
    }))

  it.effect("calls a cut torn where it leaves half a group, and finds it by the names otherwise", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const last = good.segments.length - 1
      const text = good.segments[last]?.text ?? ""
      const ends = new Set([0, ...[...text.matchAll(/"seal":".*\n/g)].map((match) => match.index + match[0].length)])
      for (let at = 0; at <= text.length; at++) {
        // Nothing names the newest segment: a cut between two groups is not found, only an anchor would.
        assert.strictEqual(
          verify(good, edit(good, last, (text) => text.slice(0, at))).status,
          ends.has(at) ? "ok" : "torn",
          `${at}`
        )
      }
      // The first one is named with its last head: no cut escapes.
      const named = good.segments[0]?.text ?? ""
      for (let at = 0; at < named.length; at += 7) {
        assert.strictEqual(verify(good, edit(good, 0, (text) => text.slice(0, at))).status, "broken", `${at}`)
      }
    }))

  it.effect("finds a segment that is gone, or has another's name or content", () =>
    Effect.gen(function*() {
      const good = yield* sample
      for (let index = 0; index < good.segments.length - 1; index++) {
        const report = verify(good, good.segments.toSpliced(index, 1))
        assert.strictEqual(report.status, "broken", `${index}`)
      }
      const gone = verify(good, good.segments.slice(1))
      assert.include(gone.problems[0]?.why, "which is gone")
      const [a, b] = good.segments
      if (a === undefined || b === undefined) return assert.fail()
      const exchanged = verify(good, [{ ...a, text: b.text }, { ...b, text: a.text }, ...good.segments.slice(2)])
      assert.include(exchanged.problems[0]?.why, "under another name")
      const doubled = verify(good, [...good.segments, { ...a, segment: "20300101T000000000Z-0123456789abcdef.jsonl" }])
      assert.include(doubled.problems[0]?.why, "under another name")
    }))

  it.effect("an anchor finds what the folder alone cannot", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const { heads } = verify(good)
      const check = (changed: ReadonlyArray<Segment>) =>
        Verify.join(changed.map(({ segment, text }) => Verify.segment(segment, text, good.keys)), heads)
      assert.strictEqual(check(good.segments).status, "ok")
      const last = good.segments.length - 1
      const cut = edit(good, last, (text) => text.slice(0, text.indexOf("\"seal\"")).replace(/[^\n]*$/, ""))
      assert.strictEqual(check(edit(good, last, () => "")).status, "broken")
      assert.strictEqual(check(cut).status, "broken")
      assert.strictEqual(check(good.segments.slice(0, -1)).status, "broken")
      assert.strictEqual(check([]).problems[0]?.segment, "anchor")
    }))

  it.effect("says which key is wrong", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const report = verify({ ...good, keys: Keys.derive("1".repeat(64)) })
      assert.include(report.problems[0]?.why, "another key")
    }))

  // What somebody with the key could write, and the writer never would.
  const forge = (sample: Sample, ...groups: ReadonlyArray<string>) => {
    let prev = ""
    let text = ""
    for (const group of groups) {
      const sealed = Pending.seal(sample.keys.chain, prev, group)
      prev = sealed.seal
      text += sealed.text
    }
    return text
  }
  const forged: ReadonlyArray<readonly [string, (opened: string) => ReadonlyArray<string>, string]> = [
    ["a gap", (opened) => [opened + "}\n" + entry(1), entry(3)], "something between them is missing"],
    ["a number twice", (opened) => [opened + "}\n" + entry(1), entry(1)], "it stands twice"],
    ["two ends", (opened) => [opened + "}\n" + entry(1), closing, closing], "was closed before"],
    ["two ends in one group", (opened) => [opened + "}\n" + entry(1), closing + "}\n" + closing], "was closed before"],
    ["entries after the end", (opened) => [opened + "}\n" + entry(1), closing, entry(2)], "was closed before"],
    ["two beginnings", (opened) => [opened + "}\n" + entry(1), opened], "opened a second time"],
    ["no beginning", () => [entry(1)], "does not begin with its opening line"],
    [
      "an unknown member",
      (opened) => [opened + "}\n" + entry(1) + ",\"extra\":1"],
      "not a line of the ledger"
    ],
    ["a member twice", (opened) => [opened + "}\n" + entry(1) + ",\"how\":\"x\""], "not a line of the ledger"],
    ["a member in another case", (opened) => [opened + "}\n" + entry(1) + ",\"HOW\":\"x\""], "not a line of the ledger"]
  ]
  const entry = (seq: number) =>
    `{"seq":${seq},"time":"2026-01-02T03:04:05.678Z","type":"ended","server":"notes","how":"exit 0"`
  const closing = "{\"type\":\"closed\",\"time\":\"2026-01-02T03:04:05.678Z\",\"more\":false"
  for (const [what, groups, why] of forged) {
    it.effect(`finds ${what} even under a good seal`, () =>
      Effect.gen(function*() {
        const good = yield* sample
        const opened = (good.segments[0]?.text.split("\n")[0] ?? "").slice(0, -1)
        const report = verify(good, edit(good, 0, () => forge(good, ...groups(opened))))
        assert.strictEqual(report.status, "broken")
        assert.include(report.problems[0]?.why, why)
      }))
  }

  it.effect("finds numbers that no segment of the run has", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const text = forge(
        good,
        (lines(good.segments[0]?.text ?? "")[0] ?? "").slice(0, -1).replace("\"first\":1", "\"first\":5") + "}\n" +
          entry(5)
      )
      const name = good.segments[0]?.segment ?? ""
      const report = verify({ ...good, segments: [{ segment: name, text }] })
      assert.include(report.problems[0]?.why, "entries 1 to 4 are nowhere")
    }))
})

describe("LedgerFolder", () => {
  const torn = Effect.gen(function*() {
    const { contents } = yield* MemoryFiles
    yield* Effect.scoped(Effect.gen(function*() {
      const ledger = yield* open()
      ledger.append(call("a"))
      yield* ledger.commit
    }))
    const [only] = yield* segments
    const text = (only?.text ?? "").replace(/\{"type":"closed.*\n/, "") + "{\"seq\":2,\"ti"
    contents.set(only?.path ?? "", text)
    return { path: only?.path ?? "", text, segment: only?.segment ?? "" }
  })

  it.effect("reports a torn end and writes nothing", () =>
    Effect.gen(function*() {
      const { path, segment, text } = yield* torn
      const { contents } = yield* MemoryFiles
      const before = new Map(contents)
      const report = yield* Folder.verify(directory)
      assert.strictEqual(report.status, "torn")
      assert.deepStrictEqual(report.torn.map((part) => [part.segment, part.line, part.bytes]), [[segment, 3, 12]])
      assert.deepStrictEqual(new Map(contents), before)
      assert.strictEqual(contents.get(path), text)
    }).pipe(Effect.provide(layerFiles)))

  it.effect("mends by recording the torn end; it can be neither longer nor other nor gone afterwards", () =>
    Effect.gen(function*() {
      const { path, text } = yield* torn
      const { contents } = yield* MemoryFiles
      assert.strictEqual((yield* Folder.mend(directory)).status, "mended")
      assert.strictEqual((yield* Folder.mend(directory)).status, "mended")
      assert.strictEqual((yield* segments).length, 2)
      assert.strictEqual(contents.get(path), text)
      for (const other of [text + "x", text.slice(0, -1), text.slice(0, -12), text.slice(0, -1) + "z"]) {
        contents.set(path, other)
        assert.strictEqual((yield* Folder.verify(directory)).status, "broken")
      }
    }).pipe(Effect.provide(layerFiles)))

  it.effect("the next process records a torn end as well", () =>
    Effect.gen(function*() {
      yield* torn
      yield* TestClock.adjust("1 second")
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("b"))
        yield* ledger.commit
      }))
      assert.strictEqual((yield* Folder.verify(directory)).status, "mended")
    }).pipe(Effect.provide(layerFiles)))

  it.effect("does not call torn what a living writer went on to finish", () =>
    Effect.gen(function*() {
      const { contents } = yield* MemoryFiles
      const { path, text } = yield* torn
      // Somebody looked in the middle of the write; afterwards it is whole.
      yield* Folder.mend(directory)
      const head = /"seal":"([0-9a-f]{64})"/.exec(text)?.[1] ?? ""
      const { chain } = yield* keys
      const line =
        "{\"seq\":2,\"time\":\"2026-01-02T03:04:05.678Z\",\"type\":\"ended\",\"server\":\"notes\",\"how\":\"exit\""
      contents.set(path, text.slice(0, -12) + Pending.seal(chain, head, line).text)
      assert.strictEqual((yield* Folder.verify(directory)).status, "ok")
    }).pipe(Effect.provide(layerFiles)))

  it.effect("does not make a key for segments that have lost theirs", () =>
    Effect.gen(function*() {
      yield* torn
      const { contents } = yield* MemoryFiles
      contents.delete(`${directory}/key`)
      assert.include((yield* Effect.flip(Folder.verify(directory))).message, "does not exist")
      assert.isFalse(contents.has(`${directory}/key`))
    }).pipe(Effect.provide(layerFiles)))

  it.effect("a segment that cannot be read is a problem, not the end", () =>
    Effect.gen(function*() {
      const { path, segment } = yield* torn
      const { untrusted } = yield* MemoryFiles
      untrusted.set(path, "is a link")
      const report = yield* Folder.verify(directory)
      assert.deepStrictEqual(report.problems.map((problem) => problem.segment), [segment])
      // Nor does it stop the next writer.
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(call("b"))
        yield* ledger.commit
      }))
    }).pipe(Effect.provide(layerFiles)))

  it.effect("an empty folder holds", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Folder.verify(directory)).status, "ok")
      assert.deepStrictEqual(yield* Folder.read(directory), { entries: [], runs: [], unreadable: 0 })
    }).pipe(Effect.provide(layerFiles)))
})

describe("Read", () => {
  it.effect("lists in the order of time, with filters", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const { entries, runs, unreadable } = Read.contents(good.segments)
      assert.deepStrictEqual([entries.length, runs.length, unreadable], [28, 4, 0])
      assert.deepStrictEqual(entries.map(({ time }) => time), entries.map(({ time }) => time).toSorted())
      const found = (filter: Read.Filter) => entries.filter(Read.matches(filter)).length
      assert.strictEqual(found({ type: ["call"] }), 14)
      assert.strictEqual(found({ server: "notes" }), 28)
      assert.strictEqual(found({ server: "other" }), 0)
      // Outcomes belong to who made the call.
      assert.strictEqual(found({ client: "host" }), 28)
      assert.strictEqual(found({ client: "other" }), 0)
      const { time } = entries[10] ?? assert.fail()
      assert.strictEqual(found({ since: time }), entries.filter((entry) => entry.time >= time).length)
      assert.strictEqual(found({ until: time }), entries.filter((entry) => entry.time <= time).length)
      assert.strictEqual(found({ until: time.slice(0, 10) }), 28)
      assert.strictEqual(found({ since: "1971" }), 0)
    }))

  it.effect("says the same in pieces, and keeps the newest only", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const all = Read.contents(good.segments)
      yield* Effect.gen(function*() {
        const files = yield* MemoryFiles
        for (const { segment, text } of good.segments) files.contents.set(`${directory}/${segment}`, text)
        assert.deepStrictEqual(yield* Folder.read(directory), all)
        for (const last of [0, 1, 5, 100]) {
          const kept = Read.keeper(last)
          for (let i = 0; i < 200; i++) for (const entry of all.entries) kept.add({ ...entry, run: `${i}` })
          assert.strictEqual(kept.sorted().length, last)
          assert.isTrue(kept.sorted().every(({ time }) => time === all.entries.at(-1)?.time || last > 1))
        }
      }).pipe(Effect.provide(layerFiles))
    }))

  it.effect("tells the calls whose fate is unknown", () =>
    Effect.gen(function*() {
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* open()
        ledger.append(outcome(ledger.append(call("known"))))
        ledger.append(call("unknown"))
        yield* ledger.commit
        const open_ = yield* Folder.read(directory)
        assert.strictEqual(Read.unknownFates(open_, () => true).length, 0)
        assert.strictEqual(Read.unknownFates(open_).length, 1)
      }))
      const found = Read.unknownFates(yield* Folder.read(directory), () => true)
      assert.deepStrictEqual(found.map(({ event, seq }) => [seq, event.type]), [[3, "call"]])
    }).pipe(Effect.provide(layerFiles)))

  it.effect("leaves out what was never sealed, and says how much", () =>
    Effect.gen(function*() {
      const good = yield* sample
      const cut = edit(good, 0, (text) => text.slice(0, -100))
      const { entries, unreadable } = Read.contents(cut)
      assert.strictEqual(entries.length, 28)
      assert.strictEqual(unreadable, 1)
    }))
})
