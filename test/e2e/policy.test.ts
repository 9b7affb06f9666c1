/** A policy in front of a server, as an operator uses it. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as servers from "./support/servers.ts"
import { Wire } from "./support/Wire.ts"

const fresh = folders()

const allows = `default = "allow"\n`
const rule = (id: string, name: string, then: string, more = "") =>
  `[[rules]]\nid = "${id}"\nmatch = { name = "${name}" }\nthen = "${then}"\n${more}`

/** A place with a policy, or none, and the relay started there. */
const place = (policy?: string) => {
  const root = fresh()
  const config = join(root, "config")
  const state = join(root, "state")
  mkdirSync(config, { mode: 0o700 })
  const file = join(config, "policy.toml")
  const write = (text: string) => writeFileSync(file, text, { mode: 0o600 })
  if (policy !== undefined) write(policy)
  const start = (...options: ReadonlyArray<string>) =>
    new Wire(servers.relayed(servers.sdk1(), state, "--config", config, "--first-sight", "trust", ...options))
  const cli = (...args: ReadonlyArray<string>) =>
    spawnSync(process.execPath, [servers.sallyport, ...args, "--state", state], { encoding: "utf8" })
  return { cli, config, file, start, state, write }
}

const end = async (wire: Wire) => {
  wire.process.stdin.end()
  return wire.ended
}
const text = ({ result }: Awaited<ReturnType<Wire["call"]>>): string => JSON.stringify(result)

describe("a relay with a policy", () => {
  it("refuses what it denies, does not list it, and records by which rule", async () => {
    const { cli, start } = place(`${allows}${rule("no-pid", "pid", "deny", "why = \"it is nobody's business\"\n")}`)
    const wire = start()
    await wire.open()
    wire.send({ id: 1, method: "tools/list" })
    assert.notInclude(JSON.stringify((await wire.answer(1)).result), "\"pid\"")
    assert.include(text(await wire.call(2, "pid")), "Rule: no-pid. Why: it is nobody's business.")
    await end(wire)
    const list = cli("ledger", "list").stdout
    assert.match(list, /refuse +tools\/call pid: denied by no-pid/)
    assert.match(list, / policy +\S/)
    assert.strictEqual(cli("ledger", "verify").status, 0)
  })

  it("says at the start that there is no policy, where there is none", async () => {
    const wire = place().start()
    await wire.open()
    await end(wire)
    assert.match(wire.stderr, /sdk1 is under no policy: what was accepted of it may be called freely/)
  })

  it("F26: refuses everything where the policy that was used is gone", async () => {
    const { file, start } = place(allows)
    const first = start()
    await first.open()
    await end(first)
    rmSync(file)
    const second = start()
    await second.open()
    assert.include(text(await second.call(1, "pid")), "Sallyport refused this call")
    await end(second)
    assert.match(second.stderr, /sallyport policy forget --state \S+ sdk1/)
  })

  it("takes up a change while it runs", async () => {
    const { start, write } = place(allows)
    const wire = start()
    await wire.open()
    assert.notInclude(text(await wire.call(1, "pid")), "refused")
    write(`${allows}${rule("no-pid", "pid", "deny")}`)
    await wire.until("the new policy", () => wire.stderr.includes("the policy was loaded anew") ? true : undefined)
    assert.include(text(await wire.call(2, "pid")), "Rule: no-pid")
    await end(wire)
  })

  it("keeps what was used of a budget, also where it is killed", async () => {
    const { start } = place(`${allows}[[limits]]\nid = "two"\nmatch = { name = "pid" }\nbudget = 2\n`)
    const first = start()
    await first.open()
    await first.call(1, "pid")
    await first.call(2, "pid")
    first.process.kill("SIGKILL")
    await first.ended
    const second = start()
    await second.open()
    assert.include(text(await second.call(1, "pid")), "at most 2 calls are let through in all")
    await end(second)
  })

  it("calls the host as it was told", async () => {
    const { cli, start } = place(
      `${allows}[[rules]]\nid = "guest"\nmatch = { client = "guest", name = "pid" }\nthen = "deny"\n`
    )
    const guest = start("--client", "guest")
    await guest.open()
    assert.include(text(await guest.call(1, "pid")), "Rule: guest")
    await end(guest)
    const other = start()
    await other.open()
    assert.notInclude(text(await other.call(1, "pid")), "refused")
    await end(other)
    assert.include(cli("ledger", "list", "--json", "--type", "refuse").stdout, "\"client\": \"guest\"")
  })

  it("F5: a file that others can write is no policy, and everything is refused", async () => {
    const { file, start } = place(allows)
    chmodSync(file, 0o666)
    const wire = start()
    await wire.open()
    assert.include(text(await wire.call(1, "pid")), "Sallyport refused this call")
    await end(wire)
    assert.match(wire.stderr, /writable by others/)
  })

  it("F5: --policy is told, and refused where the settings are locked or a project brought it along", async () => {
    const { config, file, start, state } = place(allows)
    const named = start("--policy", file)
    await named.open()
    await end(named)
    assert.match(named.stderr, /--policy loosens the guard of sdk1/)
    writeFileSync(join(config, "settings.toml"), "locked = true\n", { mode: 0o600 })
    const { args, command } = servers.relayed(servers.sdk1(), state, "--policy", file)
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`
    const env = { ...process.env, XDG_CONFIG_HOME: fresh() }
    const project = spawnSync(command, args, { cwd: config, encoding: "utf8", input, env })
    assert.include(project.stdout, "--policy must not lie in the folder that the server runs in")
    const locked = place(allows)
    mkdirSync(join(env.XDG_CONFIG_HOME, "sallyport"), { mode: 0o700 })
    writeFileSync(join(env.XDG_CONFIG_HOME, "sallyport/settings.toml"), "locked = true\n", { mode: 0o600 })
    const launch = servers.sdk1()
    const refused = spawnSync(
      command,
      [servers.sallyport, "relay", "--policy", locked.file, "--", launch.command, ...launch.args],
      { encoding: "utf8", input, env: { ...env, XDG_STATE_HOME: fresh() } }
    )
    assert.match(refused.stdout, /--policy: settings.toml is locked/)
    assert.strictEqual(readFileSync(file, "utf8"), allows)
  })
})
