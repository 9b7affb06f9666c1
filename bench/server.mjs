// npm run bench:server: what a call costs at a server on Sallyport, against three others with the same tool. See
// docs/bench.md.
//
//   node bench/server.mjs [--rounds N] [--quick] [--json] [--only calls,cold,echo]
//
// Only ratios inside one run mean anything: each round measures every server once, in an order that turns from round to
// round; a ratio is taken inside a round, and the median over the rounds is shown.
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { cold } from "./lib/measures.mjs"
import { bundled, Direct, echo16, steady } from "./lib/servers.mjs"
import { median, table } from "./lib/table.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const { values: given } = parseArgs({
  options: {
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string", default: "calls,cold,echo" }
  }
})
const rounds = Number(given.rounds ?? (given.quick ? 2 : 5))
const size = { calls: given.quick ? 20_000 : 50_000, warm: 20_000, times: given.quick ? 1 : 3 }
/** The SDK and McpServer take many times as long, and are no quicker later on. */
const slow = { ...size, calls: 10_000 }
const say = (text) => process.stderr.write(text)

if (process.platform !== "linux") {
  say("bench: it reads /proc, which only Linux has\n")
  process.exit(1)
}

/** The Node that npm scripts run. */
const node = [join(root, "node_modules/.bin/node"), process.execPath].map((path) =>
  existsSync(path) ? realpathSync(path) : ""
).find((path) => path !== "")

const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))

say("bundling\r")
const servers = {
  sallyport: await bundled("sallyport", folder),
  "node-echo": await bundled("node-echo", folder),
  "SDK 2.4.0": await bundled("sdk2", folder),
  McpServer: await bundled("effect", folder)
}
const names = Object.keys(servers)

const opener = (name) => () => {
  const home = join(folder, name.replaceAll(/\W+/g, "-"))
  mkdirSync(home, { recursive: true })
  return new Direct([node, servers[name]], { HOME: home, PATH: process.env.PATH })
}

/** name -> measure -> one result a round. */
const results = Object.fromEntries(names.map((name) => [name, {}]))
const failures = []
const measures = { calls: steady, cold, echo: echo16 }

/** The SDK and McpServer refuse a line of 16 MiB. */
const isQuick = (name) => name === "sallyport" || name === "node-echo"

const measure = async (name, kind) => {
  if (kind === "echo" && !isQuick(name)) return
  try {
    ;(results[name][kind] ??= []).push(await measures[kind](opener(name), isQuick(name) ? size : slow))
  } catch (error) {
    ;(results[name][kind] ??= []).push({})
    failures.push(`${name}: ${kind}: ${error.message}`)
  }
}

// The first start of a server writes its bytecode.
for (const name of names) await cold(opener(name))

const only = given.only.split(",")
const load = loadavg()[0]
for (let round = 0; round < rounds; round++) {
  const turned = names.map((_, at) => names[(at + round) % names.length])
  for (const kind of only) {
    say(`round ${round + 1} of ${rounds}: ${kind}        \r`)
    // A start is short, and so is what may disturb it: it is taken often.
    for (let time = 0; time < (kind === "cold" ? 5 : 1); time++) {
      for (const name of turned) await measure(name, kind)
    }
  }
}
say(`${" ".repeat(60)}\r`)

/** The field of a measure, against which server, and what the ratio has to be; without that it is for comparison. */
const targets = [
  { what: "CPU per 1,000 calls", kind: "calls", field: "cpuPer1000", unit: "ms", to: "McpServer", most: 0.2 },
  { what: "CPU per 1,000 calls", kind: "calls", field: "cpuPer1000", unit: "ms", to: "SDK 2.4.0", most: 1 },
  { what: "CPU per 1,000 calls", kind: "calls", field: "cpuPer1000", unit: "ms", to: "node-echo", most: 1.5 },
  { what: "of the first 20,000", kind: "calls", field: "warmPer1000", unit: "ms", to: "node-echo" },
  { what: "of the first 20,000", kind: "calls", field: "warmPer1000", unit: "ms", to: "SDK 2.4.0" },
  { what: "calls a second", kind: "calls", field: "callsPerSecond", unit: "", to: "node-echo", least: 0.7 },
  { what: "memory after them", kind: "calls", field: "peakMiB", unit: "MiB", to: "node-echo" },
  { what: "first reply", kind: "cold", field: "ms", unit: "ms", to: "node-echo", most: 2 },
  { what: "first reply", kind: "cold", field: "ms", unit: "ms", to: "SDK 2.4.0" },
  { what: "first reply", kind: "cold", field: "ms", unit: "ms", to: "McpServer" },
  { what: "16 MiB echo", kind: "echo", field: "echoMBps", unit: "MB/s", to: "node-echo", least: 0.8 }
]
const known = (list) => list.filter((each) => each !== undefined)
const of = (name, kind, field) => (results[name][kind] ?? []).map((each) => each[field])

const rows = targets.filter(({ kind }) => only.includes(kind)).map(({ field, kind, least, most, to, unit, what }) => {
  const own = of("sallyport", kind, field)
  const other = of(to, kind, field)
  const ratios = known(own.map((value, at) => value === undefined || !other[at] ? undefined : value / other[at]))
  const ratio = median(ratios)
  const best = field === "callsPerSecond" || field === "echoMBps" ? Math.max : Math.min
  return {
    what,
    relay: "sallyport",
    unit,
    value: median(known(own)),
    best: best(...known(own)),
    against: to,
    reference: median(known(other)),
    ratio,
    range: [Math.min(...ratios), Math.max(...ratios)],
    target: most === undefined ? least === undefined ? undefined : { least } : { most },
    aim: undefined,
    met: most === undefined ? least === undefined ? undefined : ratio >= least : ratio <= most
  }
})

const about = {
  date: new Date().toISOString().slice(0, 10),
  node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
  machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), load ${load.toFixed(1)} at the start`,
  server: "over stdio, each bundled",
  who: "server",
  rounds,
  ...size
}
if (given.json) {
  process.stdout.write(`${JSON.stringify({ about, rows, failures, results }, undefined, 2)}\n`)
} else process.stdout.write(table(about, rows, [], [], failures))
process.exitCode = failures.length === 0 ? 0 : 1
