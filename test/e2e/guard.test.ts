/** What the guard decides, as the official clients see it. */
import { assert, describe, it } from "@effect/vitest"
import { execFile, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as Host from "./support/Host.ts"
import * as servers from "./support/servers.ts"
import { events, verify } from "./support/state.ts"
import { refusal } from "./support/Transcript.ts"

const folder = folders()
const fresh = () => join(folder(), "state")

const sallyport = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, [servers.sallyport, ...args], { encoding: "utf8" })

describe("the guard", () => {
  for (const kind of ["sdk1", "sdk2"] as const) {
    it(`holds a server that was never seen until a person accepted it, while ${kind} is connected`, async () => {
      const state = fresh()
      const host = Host.make(kind, servers.relayed(servers.everything(), state))
      await host.connect()
      assert.deepStrictEqual((await host.listTools()).tools, [])
      const failed = await refusal(host.callTool("echo", { message: "hi" }))
      assert.strictEqual(failed["code"], -32602)
      assert.deepStrictEqual(failed["data"], { reason: "held-new", server: "everything", item: "echo" })
      // The model is told that a person must act, and never how; the operator is told how.
      assert.match(String(failed["message"]), /a person must review it; do not do it yourself/)
      assert.notMatch(String(failed["message"]), /sallyport (?:pins|status)|accept\b|--/)
      assert.include(host.stderr(), `sallyport pins show --state ${state} everything`)

      // The server announces changes of its own when it opens.
      await host.ping()
      const announced = host.tap.received.filter(({ method }) => method === "notifications/tools/list_changed").length
      const accepted = sallyport("pins", "accept", "--state", state, "--all", "--unseen", "everything")
      assert.strictEqual(accepted.status, 0, accepted.stderr)
      await host.tap.notice("notifications/tools/list_changed", announced)
      assert.isAbove((await host.listTools()).tools.length, 10)
      assert.deepInclude(await host.callTool("echo", { message: "hi" }), {
        content: [{ type: "text", text: "Echo: hi" }]
      })
      await host.close()

      const recorded = await events(state)
      const decided = recorded.flatMap((event) =>
        event.type === "accepted" ? ["accepted"] : "from" in event && event.from === "host" ? [event.type] : []
      )
      assert.deepStrictEqual(decided, ["refuse", "accepted", "call"])
      assert.strictEqual((await verify(state)).status, "ok")
    })
  }

  it("refuses a tool that no listing had, and records it", async () => {
    const state = fresh()
    const host = Host.make("sdk1", servers.trusted(servers.everything(), state))
    await host.connect()
    const failed = await refusal(host.callTool("no-such-tool", {}))
    assert.deepStrictEqual(failed["data"], { reason: "unknown-item", server: "everything", item: "no-such-tool" })
    await host.close()
    const refused = (await events(state)).filter(({ type }) => type === "refuse")
    assert.strictEqual(refused.length, 1)
    assert.deepInclude(refused[0], { name: "no-such-tool", reason: "unknown-item" })
  })

  it("does not start another command under a name that is taken, and says so in the answer to initialize", async () => {
    const state = fresh()
    const first = Host.make("sdk1", servers.trusted(servers.sdk1(), state))
    await first.connect()
    await first.listTools()
    await first.close()
    const log = join(state, "../starts")
    const other = { ...servers.sdk2("legacy", log), name: "sdk1" }
    const second = Host.make("sdk1", servers.trusted(other, state))
    const failed = await refusal(second.connect())
    assert.deepStrictEqual(failed["data"], { reason: "launch-changed", server: "sdk1" })
    await second.close()
    assert.throws(() => readFileSync(log))
    // The same command again is not held up by that.
    const third = Host.make("sdk1", servers.trusted(servers.sdk1(), state))
    await third.connect()
    assert.isAbove((await third.listTools()).tools.length, 2)
    await third.close()
  })

  it("lets no server accept itself, from however many processes below", async () => {
    const state = fresh()
    const nest = join(state, "../nest.sh")
    writeFileSync(nest, "n=$1; shift; if [ $n -gt 0 ]; then sh \"$0\" $((n - 1)) \"$@\"; exit $?; fi; \"$@\"\n")
    const accept = [process.execPath, servers.sallyport, "pins", "accept", "--state", state, "x", "--all", "--unseen"]
    // Its stdin stays open: the relay ends when its server does.
    const relay = ["relay", "--name", "x", "--state", state, "--", "sh", nest, "100", ...accept]
    const stderr = await new Promise<string>((resolve) => {
      execFile(process.execPath, [servers.sallyport, ...relay], { cwd: "/", timeout: 20_000 }, (_, __, text) => {
        resolve(text)
      })
    })
    assert.match(stderr, /this runs below a relay of Sallyport's/)
  })

  it("F14: reads what is almost JSON-RPC where that is wanted, and has that accepted, counted and shown", async () => {
    const state = fresh()
    const script = join(state, "../sloppy.mjs")
    writeFileSync(script, sloppy)
    const server: servers.Launch = { name: "sloppy", command: process.execPath, args: [script], env: {} }
    const strict = Host.make("sdk1", servers.trusted(server, state))
    const failed = await refusal(strict.connect())
    assert.deepStrictEqual(failed["data"], {
      reason: "bad-answer",
      rule: "not-a-message",
      pointer: "/error",
      offset: 142
    })
    await strict.close()

    const repairs = ["--first-sight", "trust", "--repair", "null-error", "--repair", "surrogates"]
    const host = Host.make("sdk1", servers.relayed(server, state, ...repairs))
    await host.connect()
    await host.listTools()
    assert.deepInclude(await host.callTool("half", {}), { content: [{ type: "text", text: "a\ufffdb" }] })
    await host.close()
    assert.match(host.stderr(), /a line from sloppy was repaired: .* \(null-error; /)
    // The opening, the listing of the host, the call, and as often as the relay lists for itself.
    const counts = new Map(
      (await events(state)).flatMap((event) => event.type === "repaired" ? [[event.repair, event.count] as const] : [])
    )
    const errors = counts.get("null-error") ?? 0
    assert.isAtLeast(errors, 3)
    assert.strictEqual(counts.get("surrogates"), 1)
    const status = sallyport("status", "--state", state)
    assert.include(status.stdout, `sloppy  ${errors} lines by null-error\n  sloppy  1 line by surrogates`)
    const json = sallyport("status", "--state", state, "--json")
    assert.deepStrictEqual(JSON.parse(json.stdout).repaired, [
      { server: "sloppy", repair: "null-error", count: errors },
      { server: "sloppy", repair: "surrogates", count: 1 }
    ])
    assert.match(sallyport("pins", "show", "--state", state, "sloppy").stdout, /repair +null-error surrogates/)
    assert.strictEqual((await verify(state)).status, "ok")

    // What was accepted was the launch with its repairs: without them it is another one.
    const other = Host.make("sdk1", servers.trusted(server, state))
    assert.deepStrictEqual((await refusal(other.connect()))["data"], { reason: "launch-changed", server: "sloppy" })
    await other.close()
    const wrong = sallyport("relay", "--repair", "duplicates", "--", "true")
    assert.strictEqual(wrong.status, 2)
    assert.include(wrong.stderr, "--repair is null-error, surrogates; not \"duplicates\"")
  })
})

/** A server whose library writes JSON-RPC 1.0's null errors, and whose tool gives half of a surrogate pair. */
const sloppy = `
import { createInterface } from "node:readline"
const results = {
  initialize: () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "half", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "a\\ud800b" }] })
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const result = results[method]?.()
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: result ?? {}, error: null }))
}
`
