import { assert, describe, it } from "@effect/vitest"
import type { Event } from "@sallyport/core/ledger/Entry"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Ledger from "@sallyport/core/stage/Ledger"
import { Effect, Fiber } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { layerMemory, MemoryFiles, on, put, read, server, start, state, write } from "./support.ts"

const record = (events: ReadonlyArray<Event>) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    for (const event of events) ledger.append(event)
    yield* ledger.commit
  }).pipe(Effect.provide(Ledger.layerFile({ directory: `${state}/ledger`, sync: false })), Effect.orDie)

const call: Event = { type: "call", from: "host", client: "host", server: "files", method: "tools/call", name: "read" }
const refuse: Event = { ...call, type: "refuse", name: "wri\u001bte", reason: "held-new" }
const session: Event = {
  type: "session",
  client: "host",
  server: "other",
  command: ["node", "--token=hunter2"],
  loosened: ["--state"]
}

const events: ReadonlyArray<Event> = [
  session,
  call,
  { type: "outcome", of: 2, was: "error", code: -32000 },
  refuse,
  { type: "held", server: "files", items: [{ kind: "tool", name: "write", digest: "d" }] },
  { type: "trusted", server: "files", items: [] },
  { type: "observed", server: "files", items: [{ kind: "tool", name: "", digest: "d" }] },
  {
    type: "accepted",
    server: "files",
    how: "unseen",
    items: [{ kind: "launch", name: "files", digest: "d" }],
    parents: []
  },
  { type: "dropped", server: "files", reason: "not-json", count: 3 },
  { type: "ended", server: "files", how: "closed" },
  { type: "mended", segments: ["x"] },
  { type: "repeated", from: "host", client: "host", server: "files", reason: "held-new", count: 7 },
  { type: "checked", of: 2, server: "files", did: "quarantined", id: "q1", found: ["x"] },
  { type: "released", server: "files", id: "q1", parents: [] },
  { type: "withheld", server: "files", items: [{ kind: "tool", name: "write", digest: "d" }] },
  { type: "clock", back: 90_000 },
  { type: "fault", why: "the disk is full" },
  { type: "rekeyed", segments: [{ segment: "x", bytes: 1, digest: "0".repeat(64) }] },
  { type: "archived", segments: [{ segment: "y", bytes: 1, digest: "0".repeat(64), run: "r", last: 1 }] }
]

/** What verification takes at its word is left out. */
const plain = events.filter(({ type }) => type !== "rekeyed" && type !== "archived")

const segments = Effect.map(
  MemoryFiles,
  ({ contents }) => [...contents.keys()].filter((path) => path.endsWith(".jsonl"))
)

const edit = (change: (text: string) => string) =>
  Effect.gen(function*() {
    const files = yield* MemoryFiles
    const [path] = yield* segments
    files.contents.set(path ?? "", change(files.contents.get(path ?? "") ?? ""))
    return path ?? ""
  })

describe("ledger list", () => {
  it.effect("has one row an entry, of every type, and no argument of a command", () =>
    Effect.gen(function*() {
      yield* record(events)
      const { code, out } = yield* on("ledger list")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(out.split("\n").slice(1).map((line) => line.split(/ {2,}/).slice(1).join(" ")), [
        "other 1 session host began; loosened: --state",
        "files 2 call tools/call read",
        "files 3 outcome of 2: error -32000",
        "files 4 refuse tools/call \"wri\\u{1b}te\": held-new",
        "files 5 held write",
        "files 6 trusted",
        "files 7 observed a tool without a name",
        "files 8 accepted unseen: the launch",
        "files 9 dropped 3 by not-json",
        "files 10 ended closed",
        "- 11 mended x",
        "files 12 repeated 7 times more: held-new",
        "files 13 checked of 2: quarantined q1: x",
        "files 14 released q1",
        "files 15 withheld write",
        "- 16 clock set back by 90 seconds",
        "- 17 fault the disk is full",
        "- 18 rekeyed x",
        "- 19 archived y"
      ])
      assert.notInclude(out, "hunter2")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("filters by type, server and number", () =>
    Effect.gen(function*() {
      yield* record(events)
      const only = (line: string) =>
        Effect.map(on(`ledger list --json ${line}`), ({ out }) => {
          const { entries }: { readonly entries: ReadonlyArray<{ readonly type: string }> } = JSON.parse(out)
          return entries.map(({ type }) => type)
        })
      assert.deepStrictEqual(yield* only("--type refuse"), ["refuse"])
      assert.deepStrictEqual(yield* only("--server other"), ["session"])
      assert.deepStrictEqual(yield* only("--server files --last 2"), ["released", "withheld"])
      assert.strictEqual((yield* on("ledger list --last 0")).code, 2)
      assert.strictEqual((yield* on("ledger list --type nonsense")).code, 2)
      assert.match((yield* on("ledger list --server nobody")).out, /no such entry/)
      // An outcome is its caller's.
      assert.deepStrictEqual(yield* only("--client host --last 3"), ["outcome", "refuse", "repeated"])
      assert.deepStrictEqual(yield* only("--refused"), ["refuse", "repeated"])
      assert.deepStrictEqual(yield* only("--refused --type repeated"), ["repeated"])
      assert.lengthOf(yield* only("--since 1970-01-01"), events.length)
      assert.lengthOf(yield* only("--until 1970"), events.length)
      assert.lengthOf(yield* only("--since 2h"), events.length)
      assert.lengthOf(yield* only("--since 1970-01-02"), 0)
      assert.lengthOf(yield* only("--until 1969-12-31T23:59"), 0)
      assert.strictEqual((yield* on("ledger list --since yesterday")).code, 2)
    }).pipe(Effect.provide(layerMemory)))
})

const full: Event = {
  ...call,
  name: "read",
  text: "{\"path\":\"\u202e/a\"}"
}

describe("ledger show", () => {
  it.effect("shows one entry whole, and what came of it", () =>
    Effect.gen(function*() {
      yield* record([session, full, { type: "outcome", of: 2, was: "result", text: "{}" }, call])
      const { code, out } = yield* on("ledger show 2")
      assert.strictEqual(code, 0)
      assert.match(out, /^\d{8}T\d{9}Z-[0-9a-f]{16}\.jsonl:2\n/)
      assert.match(out, /\n {2}name {4}read\n/)
      assert.include(out, "| {\"path\":\"\\u{202e}/a\"}")
      assert.match(out, /:3\n[^]*\n {2}was +result\n/)
      assert.include((yield* on("ledger show 4")).out, "Nothing is recorded of what came of it.")
      const json = JSON.parse((yield* on("ledger show --json 3")).out)
      assert.deepStrictEqual([json.entry.type, json.entry.server, json.linked[0].type], ["outcome", "files", "call"])
      for (const line of out.split("\n")) assert.isAtMost(line.length, 80, line)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("asks which one where several processes have the number", () =>
    Effect.gen(function*() {
      yield* record([call])
      yield* TestClock.adjust("1 hour")
      yield* record([refuse])
      const both = yield* on("ledger show 1")
      assert.strictEqual(both.code, 1)
      const [first, second] = both.err.split("\n").slice(1).map((line) => line.trim().split("  ")[0] ?? "")
      assert.match((yield* on(`ledger show ${first}`)).out, /type {4}call/)
      assert.match((yield* on(`ledger show ${second}`)).out, /type {4}refuse/)
      assert.strictEqual((yield* on("ledger show 7")).code, 1)
      assert.strictEqual((yield* on("ledger show seven")).code, 2)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger tail", () => {
  it.effect("shows the newest, then with --follow what is recorded from then on", () =>
    Effect.gen(function*() {
      yield* record([call, { ...call, name: "second" }])
      const once = yield* on("ledger tail --last 1")
      assert.match(once.out, /^1970-01-01 00:00:00 {2}files {2}2 {2}call {2}tools\/call second$/)
      const names = Effect.map(
        TestConsole.logLines,
        (lines) => lines.join("\n").split("\n").map((line) => String(JSON.parse(line).name))
      )
      const settle = Effect.gen(function*() {
        for (let i = 0; i < 100; i++) yield* Effect.yieldNow
      })
      const line = "ledger tail --follow --json --last 1 --type call --state".split(" ")
      const following = yield* Effect.forkChild(start([...line, state]))
      yield* settle
      assert.deepStrictEqual(yield* names, ["second"])
      yield* record([{ ...call, name: "third" }, refuse])
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* names, ["second", "third"])
      yield* record([{ ...call, name: "fourth" }])
      yield* TestClock.adjust("1 second")
      yield* settle
      assert.deepStrictEqual(yield* names, ["second", "third", "fourth"])
      yield* Fiber.interrupt(following)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger export", () => {
  it.effect("writes a line of JSON an entry", () =>
    Effect.gen(function*() {
      yield* record([...events, full])
      const { code, out } = yield* on("ledger export")
      assert.strictEqual(code, 0)
      const lines = out.split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(lines.map(({ type }) => type), [...events, full].map(({ type }) => type))
      assert.match(out, /^[\n -~]*$/)
      assert.strictEqual(lines.at(-1).text, full.type === "call" ? full.text : "")
      assert.lengthOf((yield* on("ledger export --refused")).out.split("\n"), 2)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("writes CSV of which no cell is a formula, into a new file", () =>
    Effect.gen(function*() {
      const files = yield* MemoryFiles
      yield* record([{ ...call, name: "=cmd|' /C calc'!A0" }, { ...call, name: "a,\"b\"\n\u001b[2J" }, session])
      files.contents.set("/out/there.csv", "")
      assert.strictEqual((yield* on("ledger export --format csv --output /out/there.csv")).code, 1)
      const { code, out } = yield* on("ledger export --format csv --output /out/new.csv")
      assert.strictEqual(code, 0)
      assert.match(out, /^3 entries in \/out\/new\.csv\.$/)
      const [head, ...rows] = (files.contents.get("/out/new.csv") ?? "").trimEnd().split("\n")
      assert.match(head ?? "", /^time,segment,run,seq,type,.*,more$/)
      assert.include(rows[0], ",'=cmd|' /C calc'!A0,")
      assert.include(rows[1], ",\"a,\"\"b\"\"\\n\\u{1b}[2J\",")
      assert.include(rows[2], "\"\"loosened\"\":[\"\"--state\"\"]")
      assert.lengthOf(rows, 3)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger anchor", () => {
  const anchored = Effect.gen(function*() {
    const files = yield* MemoryFiles
    yield* put(server("notes", [read]))
    yield* record([call])
    files.contents.set(`${state}/budgets/notes/9.json`, "9")
    files.contents.set(`${state}/policies/notes.json`, "{}")
    files.contents.set("/home/ada/config/policy.toml", "default = \"allow\"\n")
    const { out } = yield* on("ledger anchor --config /home/ada/config")
    files.contents.set("/elsewhere/anchor", `${out}\n`)
    return files
  })
  const compare = on("ledger verify --anchor /elsewhere/anchor --config /home/ada/config")

  it.effect("F29: is one line, with which an untouched state agrees, and one that only grew", () =>
    Effect.gen(function*() {
      const files = yield* anchored
      assert.match(files.contents.get("/elsewhere/anchor") ?? "", /^\{"anchor":1,[^\n]*"mac":"[0-9a-f]{64}"\}\n$/)
      assert.strictEqual((yield* compare).code, 0)
      yield* record([refuse])
      yield* put(server("notes", [read, write]))
      files.contents.delete(`${state}/budgets/notes/9.json`)
      files.contents.set(`${state}/budgets/notes/12.json`, "12")
      files.contents.set("/home/ada/config/policy.toml", "default = \"deny\"\n")
      const { code, out } = yield* compare
      assert.strictEqual(code, 0)
      assert.include(out, "Since the anchor: policy.toml is another one.")
    }).pipe(Effect.provide(layerMemory)))

  const attacks: ReadonlyArray<
    readonly [what: string, says: RegExp, attack: (files: MemoryFiles["Service"], segment: string) => void]
  > = [
    ["a cut tail", /its end was cut off or replaced/, (files, segment) => {
      const text = files.contents.get(segment) ?? ""
      files.contents.set(segment, text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1))
    }],
    ["an emptied segment", /its end was cut off or replaced/, (files, segment) => {
      files.contents.set(segment, "")
    }],
    ["a removed segment", /which is gone/, (files, segment) => {
      files.contents.delete(segment)
    }],
    ["an emptied folder", /which is gone/, (files) => {
      for (const path of files.contents.keys()) if (path.startsWith(`${state}/ledger`)) files.contents.delete(path)
    }],
    ["pins of an older version", /pins\/notes\/1\.json is gone, and there is no newer version/, (files) => {
      files.contents.delete(`${state}/pins/notes/1.json`)
    }],
    ["pins of the same version, but others", /pins\/notes\/1\.json is another one/, (files) => {
      files.contents.set(`${state}/pins/notes/1.json`, "{}")
    }],
    ["budgets of an older version", /budgets\/notes\/9\.json is gone, and there is no newer version/, (files) => {
      files.contents.delete(`${state}/budgets/notes/9.json`)
      files.contents.set(`${state}/budgets/notes/8.json`, "8")
    }],
    ["a policy that is said never to have been used", /policies\/notes\.json is gone/, (files) => {
      files.contents.delete(`${state}/policies/notes.json`)
    }],
    ["another anchor", /its own seal does not fit/, (files) => {
      files.contents.set(
        "/elsewhere/anchor",
        (files.contents.get("/elsewhere/anchor") ?? "").replace(/"files":\[.*\]/, "\"files\":[]")
      )
    }]
  ]
  for (const [what, says, attack] of attacks) {
    it.effect(`F29: finds ${what}`, () =>
      Effect.gen(function*() {
        const files = yield* anchored
        const [segment] = yield* segments
        attack(files, segment ?? "")
        const { code, out } = yield* compare
        assert.strictEqual(code, 20)
        assert.match(out, says)
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("refuses what is no anchor, and makes none of a ledger that does not hold", () =>
    Effect.gen(function*() {
      const files = yield* anchored
      yield* edit((text) => text.replace("read", "reed"))
      const broken = yield* on("ledger anchor --config /home/ada/config")
      assert.strictEqual(broken.code, 1)
      assert.match(broken.err, /does not verify/)
      files.contents.set("/elsewhere/anchor", "{}\n")
      assert.match((yield* compare).err, /is not the line that/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger archive", () => {
  it.effect("lets old segments go without verify missing them, and them only", () =>
    Effect.gen(function*() {
      const files = yield* MemoryFiles
      yield* record([call])
      yield* TestClock.adjust("2 days")
      yield* record([refuse])
      const [old, young] = yield* segments
      const below = yield* on("ledger archive --before 1d", {
        parents: [{ name: "sallyport", args: ["sallyport", "relay"] }]
      })
      assert.strictEqual(below.code, 1)
      const { code, out } = yield* on("ledger archive --before 1d")
      assert.deepStrictEqual([code, out], [0, old])
      // Both where it stays and where it goes.
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      const text = files.contents.get(old ?? "") ?? ""
      files.contents.delete(old ?? "")
      const gone = yield* on("ledger verify")
      assert.strictEqual(gone.code, 0)
      assert.include(gone.out, "1 segment archived, and gone.")
      // What went before may go again with what has recorded it.
      yield* TestClock.adjust("2 days")
      assert.strictEqual((yield* on("ledger archive --before 1d")).code, 0)
      const [, archiving] = yield* segments
      files.contents.delete(young ?? "")
      files.contents.delete(archiving ?? "")
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      // What comes back must be what went.
      files.contents.set(old ?? "", text)
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      files.contents.set(old ?? "", text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1))
      const cut = yield* on("ledger verify")
      assert.strictEqual(cut.code, 20)
      assert.include(cut.out, "no longer as it was when it was archived")
      files.contents.delete(old ?? "")
      // Without what has recorded it, it is missed.
      yield* record([call])
      const [recorded] = (yield* segments).slice(-2)
      files.contents.delete(recorded ?? "")
      assert.strictEqual((yield* on("ledger verify")).code, 20)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("keeps what a process may still write to, and does nothing where the ledger does not hold", () =>
    Effect.gen(function*() {
      yield* record([call])
      // The process 0 of these tests cannot be told from a living one.
      yield* edit((text) => text.replace(/\{"type":"closed".*\n$/, ""))
      yield* TestClock.adjust("2 days")
      const { err, out } = yield* on("ledger archive --before 1d")
      assert.strictEqual(out, "")
      assert.match(err, /1 segment of that time may still be written to/)
      yield* edit((text) => text.replace("read", "reed"))
      assert.strictEqual((yield* on("ledger archive --before 1d")).code, 1)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger verify", () => {
  it.effect("0: it holds, also where there is none yet", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      yield* record(plain)
      const { code, out } = yield* on("ledger verify")
      assert.strictEqual(code, 0)
      assert.match(out, /^The ledger verifies: 17 entries in 1 segment\.$/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("20: an entry was edited; it names file, line and why", () =>
    Effect.gen(function*() {
      yield* record(events)
      const path = yield* edit((text) => text.replace("held-new", "held-old"))
      const { code, out } = yield* on("ledger verify")
      assert.strictEqual(code, 20)
      assert.match(out, /:1: one of the lines 1 to 20 is not as it was written: the seal does not fit/)
      assert.include(out, path)
      const json = yield* on("ledger verify --json")
      assert.strictEqual(json.code, 20)
      assert.strictEqual(JSON.parse(json.out).status, "broken")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("20 where a segment is torn, 21 once that is recorded", () =>
    Effect.gen(function*() {
      yield* record(plain)
      // The process was ended while it wrote, before it could close the segment.
      yield* edit((text) => text.replace(/\{"type":"closed".*\n$/, "{\"seq\":"))
      const torn = yield* on("ledger verify")
      assert.strictEqual(torn.code, 20)
      assert.match(torn.out, /it ends in 7 bytes that were never finished/)
      assert.match(torn.out, /sallyport ledger verify --mend --state/)
      const below = yield* on("ledger verify --mend", {
        parents: [{ name: "sallyport", args: ["sallyport", "relay"] }]
      })
      assert.strictEqual(below.code, 1)
      const mended = yield* on("ledger verify --mend")
      assert.strictEqual(mended.code, 21)
      assert.match(mended.out, /verifies after a mending/)
      assert.strictEqual((yield* on("ledger verify")).code, 21)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("a lost key is only replaced by a person at a terminal, and 21 from then on", () =>
    Effect.gen(function*() {
      yield* record(events)
      const files = yield* MemoryFiles
      files.contents.delete(`${state}/ledger/key`)
      yield* TestClock.adjust("1 second")
      for (
        const around of [
          {},
          { person: { answer: "yes" } },
          { person: { answer: "new key" }, parents: [{ name: "claude", args: ["claude"] }] },
          { person: { answer: "new key" }, parents: [{ name: "sallyport", args: ["sallyport", "relay"] }] }
        ]
      ) {
        assert.strictEqual((yield* on("ledger verify --new-key", around)).code, 1)
        assert.isFalse(files.contents.has(`${state}/ledger/key`))
      }
      const done = yield* on("ledger verify --new-key", { person: { answer: "new key" } })
      assert.strictEqual(done.code, 21)
      assert.include(done.out, "1 segment of a lost key")
      assert.strictEqual((yield* on("ledger verify")).code, 21)
      assert.strictEqual((yield* on("ledger verify --new-key", { person: { answer: "new key" } })).code, 1)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("1 where the key is gone", () =>
    Effect.gen(function*() {
      yield* record(events)
      const files = yield* MemoryFiles
      files.contents.delete(`${state}/ledger/key`)
      const { code, err } = yield* on("ledger verify")
      assert.strictEqual(code, 1)
      assert.match(err, /^sallyport: the ledger in .* cannot be read: .*key/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("status", () => {
  it.effect("tells the last ten refusals, what was loosened, and the stderr, made visible", () =>
    Effect.gen(function*() {
      yield* record([...events, ...Array.from({ length: 12 }, (_, n): Event => ({ ...refuse, name: `tool${n}` }))])
      const files = yield* MemoryFiles
      files.contents.set(
        `${state}/tails/files`,
        [
          ...Array.from({ length: 50 }, (_, n) => `line ${n}\u001b[2J\n`),
          `${Visible.line("at C:\\tmp\u0007")}\n`
        ].join("")
      )
      const all = yield* on("status")
      assert.strictEqual(all.code, 0)
      assert.notInclude(all.out, "tool1:")
      assert.include(all.out, "tool2:")
      assert.include(all.out, "tool11:")
      assert.match(all.out, /Loosened on the command line:\n.*other {2}--state/)
      assert.include(all.out, "line 49\\u{1b}[2J")
      assert.notInclude(all.out, "line 45")
      // As the relay keeps it, and not escaped a second time.
      assert.include(all.out, "at C:\\\\tmp\\u{7}")
      const one = yield* on("status files")
      assert.include(one.out, "line 11")
      assert.notInclude(one.out, "Loosened")
      const json = JSON.parse((yield* on("status files --json")).out)
      assert.strictEqual(json.refusals.length, 10)
      assert.strictEqual(json.tails[0].lines.length, 40)
      const none = yield* on("status nobody")
      assert.strictEqual(none.code, 1)
      assert.match(none.err, /nothing is known of nobody/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("tells of calls that were cut short, and of none that may still be answered", () =>
    Effect.gen(function*() {
      yield* record([call, { ...call, name: "answered" }, { type: "outcome", of: 2, was: "result" }])
      const cut = yield* on("status")
      assert.match(cut.out, /whether they ran is not known:\n.*\n.*tools\/call read/)
      assert.notInclude(cut.out, "answered")
      const json = JSON.parse((yield* on("status --json")).out)
      assert.deepStrictEqual(json.unknown.map(({ name }: { readonly name: string }) => name), ["read"])
    }).pipe(Effect.provide(layerMemory)))
})
