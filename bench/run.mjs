// npm run bench: what Sallyport's relay costs, against plain relays on the same Node. See docs/bench.md.
//
//   node bench/run.mjs [--rounds N] [--quick] [--json] [--only calls,cold,flood,big,shutdown,policy]
//
// Only ratios inside one run mean anything: each round measures every relay once, in an order that turns from round to
// round; a ratio is taken inside a round, and the median over the rounds is shown.
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { cpus, loadavg, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { big, calls, cold, endings as orderly, flood, shutdown, stubborn } from "./lib/measures.mjs"
import { Session } from "./lib/session.mjs"
import { median, table } from "./lib/table.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const { values: given } = parseArgs({
  options: {
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string", default: "calls,cold,flood,big,shutdown" }
  }
})
const rounds = Number(given.rounds ?? (given.quick ? 2 : 7))
const size = { calls: 20_000, flood: 100_000, times: given.quick ? 1 : 3 }
const say = (text) => process.stderr.write(text)

if (process.platform !== "linux") {
  say("bench: it reads /proc, which only Linux has\n")
  process.exit(1)
}

// ---- who is measured

/** The Node that npm scripts run, so that every relay has the same one. */
const node = [join(root, "node_modules/.bin/node"), process.execPath].map((path) =>
  existsSync(path) ? realpathSync(path) : ""
)
  .find((path) => path !== "")

/** The server in C; where it cannot be built, the one on Node. */
const server = () => {
  const source = join(here, "servers/echo.c")
  const built = join(root, "build/bench-echo")
  mkdirSync(dirname(built), { recursive: true })
  if (existsSync(built) && statSync(built).mtimeMs > statSync(source).mtimeMs) return [built]
  const { status } = spawnSync(process.env.CC ?? "cc", ["-O2", "-o", built, source], { stdio: ["ignore", 2, 2] })
  if (status === 0) return [built]
  say("bench: there is no working C compiler (cc), so the server runs on Node: it takes part of what is measured\n")
  return [node, join(here, "servers/echo.mjs")]
}

const echo = server()
const sallyport = join(root, "node_modules/.bin/sallyport")
if (!existsSync(join(root, "packages/cli/dist/relay.cjs"))) {
  say("bench: the relay is not built; run npm run setup && npm run build\n")
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), "sallyport-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130))

const plain = (file) => (more) => [node, join(here, "relays", file), ...echo, ...more]
const guarded =
  (...options) => (more) => [sallyport, "relay", "--first-sight", "trust", ...options, "--", ...echo, ...more]
const relays = {
  "node-raw": plain("node-raw.mjs"),
  "node-parse": plain("node-parse.mjs"),
  "sallyport": guarded("--ledger", "none"),
  "sallyport, ledger": guarded()
}
const names = Object.keys(relays)

const opener = (name) => (more = []) => {
  const own = join(folder, `${name.replaceAll(/\W+/g, "-")}${more.join("")}`)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  const { HOME, PATH } = process.env
  const { rules, tools } = policies[name] ?? {}
  if (rules !== undefined) {
    mkdirSync(join(own, "sallyport"), { recursive: true, mode: 0o700 })
    writeFileSync(join(own, "sallyport/policy.toml"), policy(rules), { mode: 0o600 })
  }
  const words = rules === undefined ? relays[name](more) : guarded()(["--tools", String(tools)])
  return new Session(words, { HOME, PATH, XDG_CONFIG_HOME: own, XDG_STATE_HOME: own })
}

/** The relay with a ledger and a policy of so many rules, before a server of so many tools. */
const policies = {
  "10 rules": { rules: 10, tools: 10 },
  "100 rules": { rules: 100, tools: 10 },
  "1,000 rules": { rules: 1000, tools: 10 },
  "10,000 tools": { rules: 100, tools: 9999 }
}
/** Most rules name another tool, some a group of them; every policy has one that looks at the argument of each call. */
const policy = (rules) => {
  const rule = (at) =>
    at === 0
      ? `match = { name = "echo" }\nwhen = "size(args.message) > 100000"`
      : at % 10 === 9
      ? `match = { name = "group_${at}_*" }\nwhen = "args.message == 'no'"`
      : `match = { server = "echo-bench", name = "other_${at}" }`
  return `default = "allow"\n${
    Array.from({ length: rules }, (_, at) => `\n[[rules]]\nid = "rule-${at}"\n${rule(at)}\nthen = "deny"\n`).join("")
  }`
}

// ---- measuring

/** name -> measure -> one result a round. */
const results = Object.fromEntries([...names, ...Object.keys(policies)].map((name) => [name, {}]))
const failures = []
const measures = { big, calls, cold, flood, policy: calls, shutdown }

const measure = async (name, kind, label, options) => {
  try {
    const found = await measures[kind](opener(name), options)
    ;(results[name][label] ??= []).push(found)
  } catch (error) {
    ;(results[name][label] ??= []).push({})
    failures.push(`${name}: ${label}: ${error.message}`)
  }
}

const only = new Set(given.only.split(","))
const load = loadavg()[0]
for (let round = 0; round < rounds; round++) {
  const turned = names.map((_, at) => names[(at + round) % names.length])
  for (const kind of ["cold", "calls", "flood", "big"].filter((each) => only.has(each))) {
    say(`round ${round + 1} of ${rounds}: ${kind}        \r`)
    // A start is short, and so is what may disturb it: it is taken often.
    for (let time = 0; time < (kind === "cold" ? 5 : 1); time++) {
      for (const name of turned) await measure(name, kind, kind, size)
    }
  }
  if (only.has("policy")) {
    const compared = ["sallyport, ledger", ...Object.keys(policies)]
    for (const [at] of compared.entries()) {
      say(`round ${round + 1} of ${rounds}: policy        \r`)
      await measure(compared[(at + round) % compared.length], "policy", "policy", size)
    }
  }
  // Every way to end takes its time and none has a ratio: twice is enough.
  if (!only.has("shutdown") || round > 1) continue
  for (const how of [...orderly, ...stubborn]) {
    say(`round ${round + 1} of ${rounds}: ${how}        \r`)
    for (const name of turned) {
      if (orderly.includes(how) || name.startsWith("sallyport")) await measure(name, "shutdown", how, { how })
    }
  }
}
say(`${" ".repeat(60)}\r`)

// ---- showing

/** What is asked for: the field of a measure, against which relay, and the limit and the aim of the ratio. */
const targets = [
  {
    what: "CPU per 1,000 calls",
    kind: "calls",
    field: "cpuPer1000",
    unit: "ms",
    to: "node-parse",
    most: [1.4, 2],
    aim: [1.1, 1.5]
  },
  {
    what: "calls a second",
    kind: "calls",
    field: "callsPerSecond",
    unit: "",
    to: "node-parse",
    least: [0.8],
    aim: [1]
  },
  { what: "memory", kind: "calls", field: "peakMiB", unit: "MiB", to: "node-parse", most: [1.3, 1.3] },
  { what: "cold start", kind: "cold", field: "ms", unit: "ms", to: "node-raw", most: [2, 2], aim: [1.6, 1.6] },
  { what: "flood, a second", kind: "flood", field: "perSecond", unit: "", to: "node-parse", least: [1, 1] },
  { what: "16 MiB result", kind: "big", field: "resultMBps", unit: "MB/s", to: "node-parse", least: [1, 1] },
  { what: "16 MiB argument", kind: "big", field: "argumentMBps", unit: "MB/s", to: "node-parse", least: [1, 1] }
]
/** What a policy may cost: against no policy, a smaller one, and a server with fewer tools. */
const compared = !only.has("policy") ? [] : [
  ["100 rules", "sallyport, ledger", 1.5],
  ["1,000 rules", "10 rules", 1.3],
  ["10,000 tools", "100 rules", 1.3]
]
const of = (name, kind, field) => (results[name][kind] ?? []).map((each) => each[field])
const known = (list) => list.filter((each) => each !== undefined)

const policyRows = () =>
  compared.map(([name, to, most]) => {
    const own = of(name, "policy", "cpuPer1000")
    const other = of(to, "policy", "cpuPer1000")
    const ratios = known(
      own.map((value, round) => value === undefined || !other[round] ? undefined : value / other[round])
    )
    const ratio = median(ratios)
    return {
      what: "CPU per 1,000 calls",
      relay: name,
      unit: "ms",
      value: median(known(own)),
      best: Math.min(...known(own)),
      against: to,
      reference: median(known(other)),
      ratio,
      range: [Math.min(...ratios), Math.max(...ratios)],
      target: { most },
      met: ratio <= most
    }
  })

const rows = [
  ...targets.filter(({ kind }) => only.has(kind)).flatMap(({ aim, field, kind, least, most, to, unit, what }) =>
    ["sallyport", "sallyport, ledger"].map((name, which) => {
      const own = of(name, kind, field)
      const other = of(to, kind, field)
      const ratios = known(
        own.map((value, round) => value === undefined || !other[round] ? undefined : value / other[round])
      )
      const ratio = median(ratios)
      const limit = (most ?? least)[which]
      const best = most === undefined ? Math.max : Math.min
      return {
        what,
        relay: name,
        unit,
        value: median(known(own)),
        best: best(...known(own)),
        against: to,
        reference: median(known(other)),
        ratio,
        range: [Math.min(...ratios), Math.max(...ratios)],
        target: limit === undefined ? undefined : most === undefined ? { least: limit } : { most: limit },
        aim: aim?.[which],
        met: limit === undefined ? undefined : most === undefined ? ratio >= limit : ratio <= limit
      }
    })
  ),
  ...policyRows()
]

for (const name of names) {
  for (const each of results[name].flood ?? []) {
    if (each.lost > 0 || each.disordered > 0) {
      failures.push(`${name}: flood: ${each.lost} lost, ${each.disordered} out of order`)
    }
  }
}
/** How the sessions of a relay ended that ended in one way. */
const ended = (name, how) => {
  const all = results[name][how] ?? []
  const orphans = known(all.map((each) => each.orphans)).reduce((sum, each) => sum + each, 0)
  if (orphans > 0 && name.startsWith("sallyport")) failures.push(`${name}: ${how}: ${orphans} orphans`)
  const middle = (field) => median(known(all.map((each) => each[field])))
  return { orphans, relayMs: middle("relayMs"), allMs: middle("allMs") }
}
const endings = !only.has("shutdown") ? [] : [...orderly, ...stubborn].map((how) => ({
  how,
  relays: Object.fromEntries(names.map((name) => [name, ended(name, how)]))
}))

const about = {
  date: new Date().toISOString().slice(0, 10),
  node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
  machine: `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), load ${load.toFixed(1)} at the start`,
  server: echo.length === 1 ? "echo.c" : "echo.mjs",
  rounds,
  ...size
}
if (given.json) {
  process.stdout.write(`${JSON.stringify({ about, rows, endings, failures, results }, undefined, 2)}\n`)
} else process.stdout.write(table(about, rows, endings, names, failures))
process.exitCode = failures.length === 0 ? 0 : 1
