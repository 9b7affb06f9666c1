/** The verifier of docs/, written from docs/ledger.md in Python, says of every ledger what ours says. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event } from "../../src/ledger/Entry.ts"
import * as Keys from "../../src/ledger/Keys.ts"
import * as Line from "../../src/ledger/Line.ts"
import * as Pending from "../../src/ledger/Pending.ts"
import * as Verify from "../../src/ledger/Verify.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"
import { layerMemory as layerFiles, MemoryFiles } from "../../src/store/Files.ts"
import { call, directory, open, outcome } from "./support.ts"

const docs = join(import.meta.dirname, "../../../../docs")

/** Files of a ledger's folder, by name. */
type Files = ReadonlyMap<string, string>

const item = { kind: "tool", name: "r\u00e9ad \ud83d\ude00\u007f\u2028", digest: "d" }
const who = { client: "host", server: "notes" } as const
const approval = { id: "a", ...who, method: "tools/call", name: "read", digest: "d", rule: "r" } as const

/** Every type, with and without what may be missing. */
const every: ReadonlyArray<Event> = [
  { type: "session", ...who, command: ["node", "a\"b\\"], loosened: [] },
  call("a", "{\"a\":\"\\u0000\"}"),
  {
    ...approval,
    type: "call",
    from: "server",
    name: undefined,
    digest: undefined,
    rule: undefined,
    pin: "p",
    epoch: 2
  },
  { ...approval, type: "refuse", from: "host", text: "{}", reason: "denied" },
  { type: "refuse", from: "host", ...who, method: "\u0001\b\f\n\r\t", reason: "bad-params" },
  { type: "repeated", from: "host", ...who, reason: "held-new", count: 3 },
  outcome(2),
  { type: "outcome", of: 3, was: "error", code: -32603, digest: "d", text: "{}" },
  { type: "checked", of: 2, server: "notes", did: "marked", found: ["role-marker"] },
  { type: "checked", of: 2, server: "notes", did: "quarantined", id: "q", found: [] },
  { type: "released", server: "notes", id: "q", parents: ["sh"] },
  { type: "held", server: "notes", items: [item, { ...item, why: "held-new" }] },
  { type: "withheld", server: "notes", items: [] },
  { type: "trusted", server: "notes", items: [item] },
  { type: "observed", server: "notes", items: [item] },
  { type: "accepted", server: "notes", how: "unseen", items: [item], parents: [] },
  { type: "rejected", server: "notes", items: [item], parents: ["bash"] },
  { type: "forgotten", server: "notes", items: [item], parents: [] },
  { ...approval, type: "approval-asked" },
  { ...approval, type: "approval-given", channel: "terminal", parents: ["sh"] },
  { ...approval, type: "approval-denied", channel: "host" },
  { ...approval, type: "approval-expired" },
  { ...approval, type: "approval-withdrawn" },
  { type: "policy", server: "notes", file: "/p", digest: "d", was: "e" },
  { type: "policy", server: "notes", file: "/p", why: "gone" },
  { type: "judged", ...who, method: "m", observed: [{ rule: "r", action: "deny" }], fault: "f" },
  { type: "judged", ...who, method: "m", name: "n", observed: [] },
  { type: "dropped", server: "notes", reason: "not-json", count: 1 },
  { type: "repaired", server: "notes", repair: "surrogates", count: 2 },
  { type: "bridged", server: "notes", host: "legacy", strict: true },
  { type: "lowered", server: "notes", what: "audio", count: 3 },
  { type: "ended", server: "notes", how: "exit 0" },
  { type: "clock", back: 60_001 },
  { type: "fault", why: "the disk is full" },
  { type: "mended", segments: ["x"] }
]

const filesOf = Effect.map(MemoryFiles, ({ contents }): Files => {
  const found = new Map<string, string>()
  for (const [path, text] of contents) {
    if (path.startsWith(`${directory}/`)) found.set(path.slice(directory.length + 1), text)
  }
  return found
})

const segmentsOf = (files: Files): ReadonlyArray<string> =>
  [...files.keys()].filter((name) => name.endsWith(".jsonl")).sort()

const session = Effect.fnUntraced(function*(groups: ReadonlyArray<ReadonlyArray<Event>>, segmentBytes?: number) {
  yield* TestClock.adjust("1 second")
  const ledger = yield* open({ segmentBytes })
  for (const events of groups) {
    for (const event of events) ledger.append(event)
    yield* ledger.commit
    yield* TestClock.adjust("1 millis")
  }
}, Effect.scoped)

/** Good ledgers: all types; several parts; killed and torn; torn and mended; archived; under a new key. */
const goods: Effect.Effect<ReadonlyArray<Files>> = Effect.gen(function*() {
  const { contents } = yield* MemoryFiles
  const found: Array<Files> = []
  const keep = Effect.map(filesOf, (files) => void found.push(files))
  yield* session([every.slice(0, 5), every.slice(5, 12), every.slice(12)])
  yield* keep
  yield* session([[call("a")], [call("b"), outcome(1)], [call("c")], [outcome(2)]], 700)
  yield* keep
  const newest = segmentsOf(yield* filesOf).at(-1) ?? ""
  const whole = contents.get(`${directory}/${newest}`) ?? ""
  contents.set(`${directory}/${newest}`, `${whole.replace(/\{"type":"closed".*\n$/, "")}{"seq":`)
  yield* keep
  yield* Folder.mend(directory)
  yield* keep
  yield* Folder.archive(directory, "1970-01-01T00:00:02", () => false)
  yield* keep
  contents.delete(`${directory}/${segmentsOf(yield* filesOf)[0]}`)
  yield* keep
  contents.delete(`${directory}/key`)
  yield* TestClock.adjust("1 second")
  yield* Folder.newKey(directory)
  yield* session([[call("d")]])
  yield* keep
  return found
}).pipe(Effect.provide(layerFiles), Effect.orDie)

const ours = (files: Files): string => {
  const keys = Keys.derive(files.get("key") ?? "")
  const names = segmentsOf(files).filter((name) => /^\d{8}T\d{9}Z-[0-9a-f]{16}\.jsonl$/.test(name))
  return Verify.join(names.map((name) => Verify.segment(name, files.get(name) ?? "", keys))).status
}

const driver = `
import io, contextlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import verify_ledger
for folder in sys.stdin.read().split("\\n")[:-1]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = verify_ledger.main(folder)
    print(said.getvalue().strip().split("\\n")[-1], code)
`

const codes: Readonly<Record<string, number>> = { ok: 0, mended: 21, torn: 20, broken: 20 }

/** What Python says of each. */
const theirs = (ledgers: ReadonlyArray<Files>): ReadonlyArray<string> => {
  const root = mkdtempSync(join(tmpdir(), "sallyport-python-"))
  try {
    const folders = ledgers.map((files, index) => {
      const folder = join(root, String(index))
      mkdirSync(folder)
      for (const [name, text] of files) writeFileSync(join(folder, name), text)
      return folder
    })
    const { status, stderr, stdout } = spawnSync("python3", ["-c", driver, docs], {
      input: folders.map((folder) => `${folder}\n`).join(""),
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    return stdout.split("\n").slice(0, -1)
  } finally {
    rmSync(root, { recursive: true })
  }
}

const agree = (ledgers: ReadonlyArray<Files>): ReadonlyArray<string> => {
  const statuses = ledgers.map(ours)
  const said = theirs(ledgers)
  assert.strictEqual(said.length, ledgers.length)
  statuses.forEach((status, index) => {
    if (said[index] === `${status} ${codes[status]}`) return
    assert.fail(
      `${status}, but Python says ${said[index]}, of\n${
        [...ledgers[index] ?? []].map((file) => file.join("\n")).join("\n")
      }`
    )
  })
  return statuses
}

// ---- broken ones

const sealed = /,"prev":"[0-9a-f]{0,64}","seal":"[0-9a-f]{64}"\}$/

/** Seals the groups of a segment again, as somebody with the key could. */
const reseal = (text: string, { chain }: Keys.Keys): string => {
  let out = ""
  let prev = ""
  let group: Array<string> = []
  for (const line of text.split("\n").slice(0, -1)) {
    const end = sealed.exec(line)
    group.push(end === null ? line.slice(0, -1) : line.slice(0, end.index))
    if (end === null) continue
    const made = Pending.seal(chain, prev, group.join(Line.end))
    out += made.text
    prev = made.seal
    group = []
  }
  return out + group.map((line) => line + Line.end).join("")
}

const values = [
  "\"\"",
  "\"a\"",
  "\"\u00e9\"",
  "\"\\u0061\"",
  "\"\\/\"",
  "\"\\u001F\"",
  "\"\\ud800\"",
  "0",
  "-0",
  "1",
  "-1",
  "1.0",
  "1e0",
  "01",
  "9007199254740991",
  "9007199254740993",
  "1e999",
  "NaN",
  "true",
  "null",
  "[]",
  "[\"a\"]",
  "[1]",
  "{}",
  "{\"kind\":\"a\"}",
  "[{\"kind\":\"a\",\"name\":\"b\",\"digest\":\"c\"}]",
  `"${"0".repeat(64)}"`,
  "\"host\"",
  "\"2026-01-01T00:00:00.000Z\"",
  "",
  "\"closed\"",
  "\"opened\"",
  "\"omitted\"",
  "\"call\"",
  "\"archived\"",
  "\"toString\"",
  "\"__proto__\""
]
const token = /"(?:[^"\\]|\\.)*"|-?\d+|\[[^[\]]*\]|true|false/g

const nth = <A>(all: ReadonlyArray<A>, where: number): A | undefined => all[Math.floor(where * all.length)]
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** One change of a text. */
const edit: fc.Arbitrary<(text: string) => string> = fc.oneof(
  // A byte, or some.
  fc.tuple(fraction, fraction, fc.constantFrom("", "\n", " ", "\u00e9", "0", "\"", "{}\n", "\r", "\ufeff")).map(
    ([from, length, more]) => (text: string) => {
      const at = Math.floor(from * text.length)
      return text.slice(0, at) + more + text.slice(at + Math.floor(length * length * length * 40))
    }
  ),
  // The end.
  fraction.map((where) => (text: string) => text.slice(0, Math.floor(where * (text.length + 1)))),
  // A line away, twice or elsewhere.
  fc.tuple(fraction, fraction, fc.constantFrom("away", "twice", "elsewhere")).map(
    ([from, to, how]) => (text: string) => {
      const lines = text.split("\n").slice(0, -1)
      const at = Math.floor(from * lines.length)
      const [line = ""] = lines.splice(at, how === "twice" ? 0 : 1)
      if (how === "twice") lines.splice(at, 0, lines[at] ?? "")
      if (how === "elsewhere") lines.splice(Math.floor(to * lines.length), 0, line)
      return lines.map((each) => `${each}\n`).join("")
    }
  ),
  // A value, a name, a member more or less.
  fc.tuple(fraction, fc.constantFrom(...values)).map(([where, value]) => (text: string) => {
    const found = nth([...text.matchAll(token)], where)
    return found === undefined ? text : text.slice(0, found.index) + value + text.slice(found.index + found[0].length)
  }),
  fc.tuple(fraction, fc.constantFrom(...values)).map(([where, value]) => (text: string) => {
    const found = nth([...text.matchAll(/,"[a-z]+":/g)], where)
    return found === undefined ? text : `${text.slice(0, found.index)},"name":${value}${text.slice(found.index)}`
  }),
  fraction.map((where) => (text: string) => {
    const found = nth([...text.matchAll(/,"[a-z]+":(?:"[^"]*"|\d+|\[\])/g)], where)
    return found === undefined ? text : text.slice(0, found.index) + text.slice(found.index + found[0].length)
  })
)

/** A ledger, changed. */
const changed = (good: ReadonlyArray<Files>): fc.Arbitrary<Files> =>
  fc.tuple(
    fc.nat(good.length - 1),
    fraction,
    fc.array(edit, { minLength: 1, maxLength: 2 }),
    fc.constantFrom("text", "sealed", "sealed", "gone", "empty", "renamed", "exchanged", "key")
  ).map(([index, where, edits, how]) => {
    const files = new Map(good[index])
    const names = segmentsOf(files)
    const name = nth(names, where) ?? ""
    const text = files.get(name) ?? ""
    const other = names.at(-1) ?? ""
    if (how === "gone") files.delete(name)
    else if (how === "empty") files.set(name, "")
    else if (how === "key") files.set("key", "ab".repeat(32) + "\n")
    else if (how === "renamed") {
      files.delete(name)
      files.set(name.replace(/-.{4}/, "-0000"), text)
    } else if (how === "exchanged") {
      files.set(name, files.get(other) ?? "")
      files.set(other, text)
    } else {
      const after = edits.reduce((all, one) => one(all), text)
      files.set(name, how === "sealed" ? reseal(after, Keys.derive(files.get("key") ?? "")) : after)
    }
    return files
  })

describe.skipIf(spawnSync("python3", ["--version"]).status !== 0)("docs/verify_ledger.py", () => {
  it.effect("agrees with ours on good ledgers", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(agree(yield* goods), ["ok", "ok", "torn", "mended", "mended", "mended", "mended"])
      assert.deepStrictEqual(agree([new Map()]), ["ok"])
    }), 60_000)

  it.effect("agrees with ours on broken ledgers", () =>
    Effect.gen(function*() {
      const good = yield* goods
      const statuses = agree(fc.sample(changed(good), 1000))
      // Changes that break nothing (a cut between groups, the same again) are among them, but few.
      assert.isAbove(statuses.filter((status) => status === "broken").length, 500)
      for (const status of ["ok", "mended", "torn"]) assert.include(statuses, status)
    }), 120_000)

  it.effect("F29: finds with an anchor what is gone, and an anchor that was changed", () =>
    Effect.gen(function*() {
      const root = mkdtempSync(join(tmpdir(), "sallyport-python-"))
      try {
        const [files = new Map<string, string>()] = yield* goods
        for (const [name, text] of files) writeFileSync(join(root, name), text)
        const keys = Keys.derive(files.get("key") ?? "")
        const [name = ""] = segmentsOf(files)
        const { head } = Verify.segment(name, files.get(name) ?? "", keys)
        const body = JSON.stringify({
          anchor: 1,
          time: "2026-01-01T00:00:00.000Z",
          key: keys.id,
          segments: [{ segment: name, head }],
          files: []
        })
        const check = (line: string) => {
          writeFileSync(join(root, "anchor"), line)
          return spawnSync("python3", [join(docs, "verify_ledger.py"), root, join(root, "anchor")], {
            encoding: "utf8"
          })
        }
        const line = `${body.slice(0, -1)},"mac":"${Keys.mac(keys.anchor, body)}"}\n`
        assert.strictEqual(check(line).stdout, "ok\n")
        assert.match(check(line.replace("2026-", "2027-")).stdout, /^anchor: its own seal does not fit\nbroken\n$/)
        const text = files.get(name) ?? ""
        writeFileSync(join(root, name), text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1))
        const cut = check(line)
        assert.strictEqual(cut.status, 20)
        assert.match(cut.stdout, /names a seal of .* that is not there\nbroken\n$/)
      } finally {
        rmSync(root, { recursive: true })
      }
    }))
})

describe("docs/ledger.md", () => {
  it("names every type with its members in the order in which they are written", () => {
    const rows = new Map<string, string>()
    const page = readFileSync(join(docs, "ledger.md"), "utf8").split("| type ")[1]?.split("\n\n")[0] ?? ""
    for (const [, types = "", members = ""] of page.matchAll(/^\| ((?:`[a-z-]+` ?)+) *\| ([^|]*?) *\|/gm)) {
      for (const [, type = ""] of types.matchAll(/`([a-z-]+)`/g)) rows.set(type, members)
    }
    const python = [...readFileSync(join(docs, "verify_ledger.py"), "utf8").matchAll(/^ {4}"([a-z-]+)": [W"A]/gm)]
    assert.sameMembers(python.map(([, type]) => type), [...rows.keys()])
    const unseen = [...rows.keys()].filter((type) => !every.some((event) => event.type === type))
    assert.deepStrictEqual(unseen, ["rekeyed", "archived", "omitted"])
    for (const event of every) {
      const written = Object.keys(JSON.parse(`${Line.entry(1, "", event)}}`)).slice(3)
      const named = [...(rows.get(event.type) ?? "").matchAll(/`([a-z]+)`(\??)/g)]
      assert.isAbove(named.length, 0, event.type)
      const due = named.filter(([, name = "", mark]) => mark === "" || written.includes(name)).map(([, name]) => name)
      assert.deepStrictEqual(written, due, event.type)
    }
  })
})
