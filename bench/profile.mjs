// Where the relay's time goes: runs an unminified build of it under --cpu-prof, with pipelined calls or up to the first
// answer, and prints the functions with the most time of their own.
//
//   node bench/profile.mjs [--calls 100000] [--top 30] [--ledger] [--start]
import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { rolldown } from "rolldown"
import config from "../rolldown.config.mjs"
import { calls } from "./lib/measures.mjs"
import { Session } from "./lib/session.mjs"

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(here)
const { values: given } = parseArgs({
  options: {
    calls: { type: "string", default: "100000" },
    top: { type: "string", default: "30" },
    ledger: { type: "boolean", default: false },
    start: { type: "boolean", default: false }
  }
})

const folder = mkdtempSync(join(tmpdir(), "sallyport-profile-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

process.chdir(root)
const relay = config.find(({ input }) => "relay" in input)
const bundle = await rolldown({ ...relay, logLevel: "warn" })
await bundle.write({ ...relay.output, dir: join(folder, "dist"), minify: false })
cpSync(join(root, "packages/cli/bin"), join(folder, "bin"), { recursive: true })

const echo = join(root, "build/bench-echo")
mkdirSync(dirname(echo), { recursive: true })
if (!existsSync(echo)) execFileSync("cc", ["-O2", "-o", echo, join(here, "servers/echo.c")])

const profiles = join(folder, "profiles")
const prof = ["--cpu-prof", "--cpu-prof-dir", profiles, "--cpu-prof-interval", given.start ? "50" : "200"]
const options = ["--first-sight", "trust", ...given.ledger ? [] : ["--ledger", "none"]]
const words = [process.execPath, ...prof, join(folder, "bin/sallyport.mjs"), "relay", ...options, "--", echo]
const { HOME, PATH } = process.env
const open = () => new Session(words, { HOME, PATH, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder })

if (given.start) {
  // The first start makes pins; those after it find them, as almost every start does.
  for (let time = 0; time < 11; time++) {
    const session = open()
    await session.open()
    await session.end()
    if (time === 0) rmSync(profiles, { recursive: true })
  }
} else {
  const { cpuPer1000 } = await calls(open, { calls: Number(given.calls) })
  console.log(`${cpuPer1000.toFixed(1)} ms of CPU per 1,000 calls, profiled\n`)
}

/** `function file:line` -> milliseconds of its own. */
const own = new Map()
let all = 0
for (const name of readdirSync(profiles)) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(profiles, name), "utf8"))
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, callFrame]))
  for (const [at, id] of samples.entries()) {
    const { functionName, lineNumber, url } = frames.get(id)
    if (functionName === "(idle)") continue
    const ms = timeDeltas[at] / 1000 / readdirSync(profiles).length
    const where = url === "" ? "" : ` ${url.startsWith("node:") ? url : url.split("/").at(-1)}:${lineNumber + 1}`
    const key = `${functionName === "" ? "(anonymous)" : functionName}${where}`
    own.set(key, (own.get(key) ?? 0) + ms)
    all += ms
  }
}
console.log(`${all.toFixed(0)} ms${given.start ? " a start" : ""}, of which each function itself:`)
for (const [key, ms] of [...own].sort((left, right) => right[1] - left[1]).slice(0, Number(given.top))) {
  console.log(`${ms.toFixed(1).padStart(9)} ${(ms / all * 100).toFixed(1).padStart(5)} %  ${key}`)
}
