// What the ledger costs: microseconds of an append, of a commit, and of the digest of a text. Writes to a folder under
// the system's temporary folder. usage: node bench/ledger.mjs [rounds]
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Ledger from "../packages/core/src/stage/Ledger.ts"
import { Files, FilesError } from "../packages/core/src/store/Files.ts"

// The file service without its checks: this measures the ledger, and its writes.
const attempt = (path, f) =>
  Effect.try({
    try: f,
    catch: (error) =>
      new FilesError({
        kind: error.code === "ENOENT" ? "missing" : error.code === "EEXIST" ? "exists" : "failed",
        path,
        message: String(error)
      })
  })
const files = Layer.succeed(Files, {
  folder: () => Effect.void,
  trusted: () => Effect.void,
  read: (path) => attempt(path, () => readFileSync(path, "utf8")),
  list: (path) => attempt(path, () => readdirSync(path).sort()),
  create: (path, text) => attempt(path, () => writeFileSync(path, text, { flag: "wx", mode: 0o600 })),
  replace: (path, text) => attempt(path, () => writeFileSync(path, text)),
  remove: (path) => attempt(path, () => rmSync(path, { force: true })),
  appender: (path) =>
    Effect.map(attempt(path, () => openSync(path, "ax", 0o600)), (fd) => ({
      path,
      append: (text) => attempt(path, () => void writeSync(fd, text)),
      sync: attempt(path, () => fdatasyncSync(fd))
    }))
})

const digest = "5f".repeat(32)
const call = {
  type: "call",
  from: "host",
  client: "host",
  server: "notes",
  method: "tools/call",
  name: "read_note",
  digest,
  pin: digest,
  rule: "allow-read"
}
const outcome = (of) => ({ type: "outcome", of, was: "result", digest })

const rounds = Number(process.argv[2] ?? 3)
const cpu = (f) => {
  let best = Infinity
  for (let i = 0; i < rounds; i++) {
    const before = process.cpuUsage()
    const count = f()
    const used = process.cpuUsage(before)
    best = Math.min(best, (used.user + used.system) / count)
  }
  return best.toFixed(2)
}

const measure = (name, options, layer) => {
  const directory = mkdtempSync(join(tmpdir(), "ledger-bench-"))
  const program = Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = (entries, commits) => () => {
      for (let i = 0; i < commits; i++) {
        for (let j = 0; j < entries; j += 2) ledger.append(outcome(ledger.append(call)))
        Effect.runSync(ledger.commit)
      }
      return entries * commits
    }
    run(64, 500)()
    const groups = cpu(run(64, options.sync ? 100 : 2000))
    const pairs = cpu(run(2, options.sync ? 500 : 10_000))
    const text = JSON.stringify({ name: "read_note", arguments: { text: "x".repeat(150) } })
    const digests = cpu(() => {
      for (let i = 0; i < 100_000; i++) ledger.digest(text)
      return 100_000
    })
    console.log(
      `${name.padEnd(12)} entry in groups of 64 ${groups}   in groups of 2 ${pairs}   digest of 200 B ${digests}`
    )
  })
  Effect.runSync(
    Effect.scoped(Effect.provide(program, Layer.provide(layer({ directory, ...options }), files), { local: true }))
  )
  rmSync(directory, { recursive: true })
}

console.log("CPU microseconds, best of " + rounds)
measure("none", {}, () => Ledger.layerNone)
measure("file", { sync: false }, Ledger.layerFile)
measure("file, sync", { sync: true }, Ledger.layerFile)
