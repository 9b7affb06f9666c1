import { assert, describe, it } from "@effect/vitest"
import type { Event } from "@sallyport/core/ledger/Entry"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Ledger from "@sallyport/core/stage/Ledger"
import { Effect } from "effect"
import { layerMemory, MemoryFiles, on, state } from "./support.ts"

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
  { type: "mended", segments: ["x"] }
]

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
        "- 11 mended x"
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
      assert.deepStrictEqual(yield* only("--server files --last 2"), ["dropped", "ended"])
      assert.strictEqual((yield* on("ledger list --last 0")).code, 2)
      assert.strictEqual((yield* on("ledger list --type nonsense")).code, 2)
      assert.match((yield* on("ledger list --server nobody")).out, /no such entry/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("ledger verify", () => {
  it.effect("0: it holds, also where there is none yet", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      yield* record(events)
      const { code, out } = yield* on("ledger verify")
      assert.strictEqual(code, 0)
      assert.match(out, /^The ledger verifies: 11 entries in 1 segment\.$/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("20: an entry was edited; it names file, line and why", () =>
    Effect.gen(function*() {
      yield* record(events)
      const path = yield* edit((text) => text.replace("held-new", "held-old"))
      const { code, out } = yield* on("ledger verify")
      assert.strictEqual(code, 20)
      assert.match(out, /:1: one of the lines 1 to 12 is not as it was written: the seal does not fit/)
      assert.include(out, path)
      const json = yield* on("ledger verify --json")
      assert.strictEqual(json.code, 20)
      assert.strictEqual(JSON.parse(json.out).status, "broken")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("20 where a segment is torn, 21 once that is recorded", () =>
    Effect.gen(function*() {
      yield* record(events)
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
