// What the ledger costs: CPU microseconds of an entry in groups of 64 and of 2, and of the digest of a text. Writes to a
// folder under the system's temporary folder. usage: node bench/ledger.mjs [rounds]
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeFiles from "../packages/core/src/node/NodeFiles.ts"
import * as Ledger from "../packages/core/src/stage/Ledger.ts"
import * as Folder from "../packages/core/src/stage/LedgerFolder.ts"

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
const text = JSON.stringify({ name: "read_note", arguments: { text: "x".repeat(150) } })
const rounds = Number(process.argv[2] ?? 3)

/** CPU microseconds a unit, the least of some rounds. */
const cpu = Effect.fnUntraced(function*(units, work) {
  let best = Infinity
  for (let i = 0; i < rounds; i++) {
    const before = process.cpuUsage()
    yield* work
    const used = process.cpuUsage(before)
    best = Math.min(best, (used.user + used.system) / units)
  }
  return best.toFixed(2)
})

const measure = async (name, options, layer) => {
  const directory = mkdtempSync(join(tmpdir(), "ledger-bench-"))
  const program = Effect.gen(function*() {
    const ledger = yield* Ledger.Ledger
    const run = (entries, commits) =>
      cpu(
        entries * commits,
        Effect.gen(function*() {
          for (let i = 0; i < commits; i++) {
            for (let j = 0; j < entries; j += 2) ledger.append(outcome(ledger.append(call)))
            yield* ledger.commit
          }
        })
      )
    yield* run(64, 500)
    const groups = yield* run(64, options.sync ? 200 : 2000)
    const pairs = yield* run(2, options.sync ? 1000 : 20_000)
    const digests = yield* cpu(
      100_000,
      Effect.sync(() => {
        for (let i = 0; i < 100_000; i++) ledger.digest(text)
      })
    )
    console.log(
      `${name.padEnd(12)} entry in groups of 64 ${groups}, in groups of 2 ${pairs}; digest of 200 B ${digests}`
    )
  })
  await Effect.runPromise(
    Effect.scoped(Effect.provide(program, Layer.provide(layer({ directory, ...options }), NodeFiles.layer)))
  )
  const before = performance.now()
  const report = await Effect.runPromise(Effect.provide(Folder.verify(directory), NodeFiles.layer))
  if (report.entries > 0) {
    const each = (performance.now() - before) * 1000 / report.entries
    console.log(`${"".padEnd(12)} verify: ${report.status}, ${report.entries} entries, ${each.toFixed(1)} us each`)
  }
  rmSync(directory, { recursive: true })
}

console.log("CPU microseconds, best of " + rounds)
await measure("none", {}, () => Ledger.layerNone)
await measure("file", { sync: false }, Ledger.layerFile)
await measure("file, sync", { sync: true }, Ledger.layerFile)
