// Writes the bytecode of the relay, and of what it loads where there is a policy, beside them, so that a start compiles
// nothing.
//
// A relay is started for every server of every session, and most of that time went into compiling functions that then
// run once. Node's own compile cache does not help: it keeps what is compiled at load, not what is compiled when it is
// first called. So the built relay is run once here, in a session as a host holds it, and what V8 has compiled by its end
// is kept. V8 itself refuses it in another version or under other flags; then the relay compiles as ever. It does not look
// for bytes that somebody changed: this file is to be trusted as the program is, and lies in the same folder.
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const recorder = fileURLToPath(new URL("lib/record-code.cjs", import.meta.url))
const command = fileURLToPath(new URL("../packages/cli/bin/sallyport.mjs", import.meta.url))

/** A policy that uses what most of them do. */
const policy = `
default = "allow"

[[rules]]
id = "build"
match = { method = "tools/call", name = "echo_*" }
when = 'args.message == "no"'
then = "ask"
`

/** The server of that session. */
const server = `
const tools = [{ name: "echo", description: "Echoes.", inputSchema: { type: "object" } }]
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } },
  "tools/list": { tools },
  "tools/call": { content: [{ type: "text", text: "hello" }] }
}
let rest = ""
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n")
  rest = lines.pop()
  for (const line of lines) {
    const { id, method } = JSON.parse(line)
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] }))
  }
})
`

const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "1" } }
}
const asks = [
  initialize,
  { method: "tools/list", params: {} },
  { method: "tools/call", params: { name: "echo", arguments: { message: "hello" } } }
]

/** Holds a session with what is started by these words; each request waits for the answer before it. */
const session = (words, options) =>
  new Promise((done, failed) => {
    const child = spawn(process.execPath, words, { ...options, stdio: ["pipe", "pipe", "pipe"] })
    const limit = setTimeout(() => child.kill("SIGKILL"), 20_000)
    const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    let answered = 0
    let said = ""
    child.stdin.on("error", () => {})
    child.stderr.setEncoding("utf8").on("data", (text) => said += text)
    child.stdout.setEncoding("utf8").on("data", (text) => {
      for (let count = text.split("\n").length - 1; count > 0; count--) {
        answered++
        if (answered === 1) send({ method: "notifications/initialized" })
        if (answered === asks.length) child.stdin.end()
        else send({ id: answered + 1, ...asks[answered] })
      }
    })
    child.on("error", failed)
    child.on("close", (code) => {
      clearTimeout(limit)
      if (code === 0 && answered === asks.length) done()
      else failed(new Error(`the relay ended with ${code} after ${answered} answers: ${said}`))
    })
    send({ id: 1, ...asks[0] })
  })

/** Runs the relay and writes what was compiled. A build goes on without it: it only makes starts faster. */
export const writeCodeCache = async (program) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-build-")))
  const [work, state, config] = ["work", "state", "config"].map((name) => join(folder, name))
  const words = ["relay", "--state", state, "--config", config, "--first-sight", "trust", "--name", "echo"]
  const run = () =>
    session(["-r", recorder, command, ...words, "--", process.execPath, "server.cjs"], {
      cwd: work,
      // Flags are part of what V8 compares, so those of whoever builds are left out.
      env: { ...process.env, NODE_OPTIONS: "", SALLYPORT_RECORD: resolve(dirname(program)) }
    })
  try {
    mkdirSync(work)
    mkdirSync(config, { mode: 0o700 })
    writeFileSync(join(work, "server.cjs"), server)
    // The first session makes pins and a ledger; the second finds them, as almost every start does, and has a policy.
    await run()
    writeFileSync(join(config, "settings.toml"), "depth = 100\n", { mode: 0o600 })
    writeFileSync(join(config, "policy.toml"), policy, { mode: 0o600 })
    await run()
  } catch (error) {
    rmSync(program.replace(/cjs$/, "code"), { force: true })
    console.warn(`build: no bytecode was written, so the relay starts slower: ${error.message}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
