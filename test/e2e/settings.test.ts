/** What an operator has fixed, and what a project must not bring along. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as servers from "./support/servers.ts"
import { Wire } from "./support/Wire.ts"

const fresh = folders()

/** A home with these settings. */
const home = (settings: string) => {
  const config = join(fresh(), "config")
  mkdirSync(join(config, "sallyport"), { recursive: true, mode: 0o700 })
  writeFileSync(join(config, "sallyport/settings.toml"), settings, { mode: 0o600 })
  return { XDG_CONFIG_HOME: config, XDG_STATE_HOME: join(config, "../state") }
}

const log = () => join(fresh(), "starts")

describe("settings", () => {
  it("where they are locked, a command line that loosens the guard starts nothing (F5)", async () => {
    const starts = log()
    const relay = servers.relayed(servers.sdk2("dual", starts), join(fresh(), "state"), "--first-sight", "trust")
    const wire = new Wire({ ...relay, env: home("locked = true\n") })
    const { error } = await wire.open()
    assert.deepInclude(error?.data, { reason: "locked", server: "sdk2" })
    assert.match(error?.message ?? "", /--first-sight trust/)
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [1, null])
    assert.isFalse(existsSync(starts))
  })

  it("where they are locked, a command line that loosens nothing works", async () => {
    const { args, ...launch } = servers.sdk2("dual")
    const wire = new Wire({
      ...launch,
      args: [servers.sallyport, "relay", "--", launch.command, ...args],
      env: home("locked = true\n")
    })
    assert.isDefined((await wire.open()).result)
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [0, null])
  })

  it("a folder that no longer exists is no place to start in, and that is said in a sentence", () => {
    const gone = fresh()
    const { args, command } = servers.relayed(servers.sdk2("dual"), join(fresh(), "state"))
    const ended = spawnSync("sh", ["-c", "cd \"$0\"; rmdir \"$0\"; exec \"$@\"", gone, command, ...args], {
      encoding: "utf8",
      input: ""
    })
    assert.strictEqual(ended.status, 1)
    assert.match(ended.stderr, /^sallyport relay: the folder .* does not exist any more; start it in another one\n$/)
  })

  it("state and configuration that variables put there are refused as well", () => {
    const project = fresh()
    const { args, ...launch } = servers.sdk2("dual")
    const ended = spawnSync(launch.command, [servers.sallyport, "relay", "--", launch.command, ...args], {
      cwd: project,
      encoding: "utf8",
      input: "",
      env: { ...process.env, XDG_STATE_HOME: join(project, "s"), XDG_CONFIG_HOME: join(project, "c") }
    })
    assert.strictEqual(ended.status, 1)
    assert.match(ended.stderr, /XDG_STATE_HOME and XDG_CONFIG_HOME must not lie in the folder that the server runs in/)
  })

  it("a state folder inside the folder that the server runs in is refused (F5)", () => {
    const project = fresh()
    const starts = log()
    const { args, command } = servers.relayed(servers.sdk2("dual", starts), join(project, "state"))
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`
    const ended = spawnSync(command, args, { cwd: project, encoding: "utf8", input })
    assert.strictEqual(ended.status, 1)
    const [answer = ""] = ended.stdout.split("\n")
    assert.deepInclude((JSON.parse(answer) as { error: { data: object } }).error.data, { reason: "locked" })
    assert.isFalse(existsSync(starts))
    assert.isFalse(existsSync(join(project, "state")))
  })

  it("F32: what npx and its relatives run does not come from the folder that the host runs in, unless --cwd says so", async () => {
    const project = fresh()
    const state = join(fresh(), "state")
    const folder = fresh()
    const npx = join(folder, "npx")
    writeFileSync(npx, `#!/bin/sh\npwd > ${folder}/cwd\n`, { mode: 0o700 })
    const started = (...options: ReadonlyArray<string>) => {
      spawnSync(
        process.execPath,
        [servers.sallyport, "relay", "--state", state, ...options, "--", npx, "-y", "notes"],
        {
          cwd: project,
          input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`
        }
      )
      return readFileSync(join(folder, "cwd"), "utf8").trim()
    }
    assert.strictEqual(started(), join(state, "empty"))
    assert.strictEqual(started("--cwd", project), project)
    assert.strictEqual(started("--cwd", "."), project)
  })

  for (
    const [what, text, says] of [
      ["a key that does not exist", "looked = true\n", /settings\.toml.*looked/s],
      ["something that is no TOML", "locked = \n", /settings\.toml/]
    ] as const
  ) {
    it(`${what} ends the relay with 1 and the name of the file`, async () => {
      const { args, command } = servers.relayed(servers.sdk2("dual"), join(fresh(), "state"))
      const wire = new Wire({ name: "sdk2", command, args, env: home(text) })
      assert.deepStrictEqual(await wire.ended, [1, null])
      assert.match(wire.stderr, says)
      assert.deepStrictEqual(wire.received, [])
    })
  }

  it("a command line that is wrong ends the relay with 2 and its usage", async () => {
    const wire = new Wire({
      name: "",
      command: process.execPath,
      args: [servers.sallyport, "relay", "--nmae", "x"],
      env: {}
    })
    assert.deepStrictEqual(await wire.ended, [2, null])
    assert.match(wire.stderr, /--nmae/)
    assert.match(wire.stderr, /Usage: sallyport relay/)
  })
})
