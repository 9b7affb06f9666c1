// Shows the relay at work between an official client and an official server: held at first sight, reviewed, accepted, used,
// and held again when the server changes. Every step is checked: if one does not do what it says, the demo fails.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const sallyport = join(import.meta.dirname, "../packages/cli/bin/sallyport.mjs")
const folder = mkdtempSync(join(tmpdir(), "sallyport-demo-"))
const changed = join(folder, "changed")
// The state and configuration folders of this demo, and not those of the person who runs it.
const env = {
  ...getDefaultEnvironment(),
  XDG_STATE_HOME: join(folder, "state"),
  XDG_CONFIG_HOME: join(folder, "config")
}

// ---- telling

const columns = 80
const style = (code, text) => process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text

const wrap = (text, indent = "") => {
  const lines = [""]
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1)
    if (line === "") lines[lines.length - 1] = indent + word
    else if (line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(indent + word)
  }
  return lines.join("\n")
}
const title = (text) => console.log(`${style(1, text)}\n`)
const say = (text) => console.log(wrap(text))
const tell = (who, text) => console.log(wrap(`${who}: ${text}`, "  "))

class Unexpected extends Error {}
const check = (holds, what) => {
  if (!holds) throw new Unexpected(what)
}

// ---- the command, as a person would type it

const command = (args, { code = 0, lines = Number.POSITIVE_INFINITY, from = () => true } = {}) => {
  const line = `$ sallyport ${args.join(" ")}`
  console.log(style(36, line.length <= columns ? line : line.replace(/ (?=[0-9a-f]{64})/, " \\\n    ")))
  const { status, stderr, stdout } = spawnSync(process.execPath, [sallyport, ...args], { encoding: "utf8", env })
  const all = stdout.trimEnd().split("\n")
  const start = Math.max(0, all.findIndex(from))
  const shown = all.slice(start, start + lines)
  if (start > 0) console.log(`[${start} lines more]`)
  console.log(shown.join("\n"))
  const rest = all.length - start - shown.length
  if (rest > 0) console.log(`[${rest} lines more]`)
  console.log()
  check(status === code, `sallyport ${args.join(" ")} ended with ${status}, not with ${code}\n${stderr}`)
  return stdout
}

// ---- the host: an official client that starts the relay as if it were the server

const open = async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      sallyport,
      "relay",
      "--name",
      "everything",
      "--",
      process.execPath,
      join(import.meta.dirname, "server.mjs"),
      changed
    ],
    env,
    stderr: "pipe"
  })
  let stderr = ""
  let arrived = Promise.withResolvers()
  transport.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk
    arrived.resolve()
  })
  const client = new Client({ name: "demo", version: "1.0.0" })
  await client.connect(transport)
  /** What the relay said to the operator. */
  const said = async (pattern) => {
    for (;;) {
      const line = stderr.split("\n").slice(0, -1).find((each) => pattern.test(each))
      if (line !== undefined) return line
      arrived = Promise.withResolvers()
      await Promise.race([
        arrived.promise,
        new Promise((_, reject) =>
          setTimeout(() => reject(new Unexpected(`the relay did not say ${pattern}`)), 20_000).unref()
        )
      ])
    }
  }
  return { client, said }
}

const list = async (client) => {
  const { tools } = await client.listTools()
  tell("host", `lists the tools, and sees ${tools.length === 0 ? "none" : tools.length}`)
  return tools.map(({ name }) => name)
}

const call = async (client, args) => {
  tell("host", `calls echo with ${JSON.stringify(args)}`)
  try {
    const { content } = await client.callTool({ name: "echo", arguments: args })
    tell("answer", content[0].text)
    return content[0].text
  } catch (error) {
    tell("answer", error.message)
    return error.data?.reason
  }
}

// ---- the demo

const demo = async () => {
  say(
    "This demo starts an official MCP client. It starts `sallyport relay`, which starts the official server-everything. " +
      "State goes to a folder of the demo's own, which is deleted at the end."
  )
  console.log()

  title("1. A server that was never seen: everything is held")
  let { client, said } = await open()
  check((await list(client)).length === 0, "a tool was shown that nobody had accepted")
  check(await call(client, { message: "hello" }) === "held-new", "the call was not refused because echo is new")
  console.log()
  say("That is what the model reads. The operator reads on the relay's stderr:")
  tell("stderr", await said(/held/))
  await client.close()
  console.log()

  title("2. A person looks at what the server offers, and accepts it")
  command(["pins", "list"])
  command(["pins", "show", "everything"], { from: (line) => line === "tool echo", lines: 14 })
  const { digest } = JSON.parse(
    spawnSync(process.execPath, [sallyport, "pins", "show", "--json", "everything"], { encoding: "utf8", env }).stdout
  )
  say(
    "`sallyport pins accept everything` would now ask for a typed word on the terminal. A script names the digest of " +
      "exactly what was shown instead; the last lines of `pins diff` have it."
  )
  console.log()
  command(["pins", "accept", "--digest", digest, "everything"])

  title("3. The call goes through")
  ;({ client, said } = await open())
  check((await list(client)).includes("echo"), "echo is not listed though it was accepted")
  check(await call(client, { message: "hello" }) === "Echo: hello", "the accepted tool did not answer")
  await client.close()
  console.log()

  title("4. The server comes back, and describes one tool otherwise")
  writeFileSync(changed, "")
  ;({ client, said } = await open())
  const names = await list(client)
  check(names.length > 0 && !names.includes("echo"), "the changed tool was not withheld, or others were")
  check(await call(client, { message: "hello" }) === "held-changed", "the call was not refused because echo changed")
  await client.close()
  console.log()
  say("A person can see what has changed. The exit code is 11: something is held, and it is more than cosmetic.")
  console.log()
  const diff = command(["pins", "diff", "everything"], { code: 11 })
  check(diff.includes("id_ed25519"), "the difference does not show what is new")

  title("5. Every decision is on record, and the record can be verified")
  command(["ledger", "list"])
  check(command(["ledger", "verify"]).includes("verifies"), "the ledger does not verify")
  say("Nothing of the change was accepted: echo stays held until a person decides.")
}

let status = 0
try {
  await demo()
} catch (error) {
  console.error(`\ndemo: failed: ${error instanceof Unexpected ? error.message : error.stack}`)
  status = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(status)
