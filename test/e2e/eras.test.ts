/** How the clients of SDK 2 find out which era a server is of, with the relay in between. */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as Host from "./support/Host.ts"
import { gone } from "./support/processes.ts"
import * as servers from "./support/servers.ts"
import { events, segments, verify, versions } from "./support/state.ts"
import { Tap, within } from "./support/Tap.ts"
import { failure, refusal } from "./support/Transcript.ts"
import { Wire } from "./support/Wire.ts"

const folder = folders()
const fresh = () => join(folder(), "state")

describe("eras", () => {
  for (const [name, launch] of [["SDK 1", servers.sdk1()], ["SDK 2", servers.sdk2("legacy")]] as const) {
    it(`a pin to 2026-07-28 fails without a bridge at a legacy server of ${name} as it fails directly`, async () => {
      const connect = async (launch: servers.Launch) => {
        const host = Host.make("sdk2-pin", launch)
        const outcome = await host.connect().then(() => "connected", failure)
        await host.close()
        return outcome
      }
      const direct = await connect(launch)
      const behind = await connect(servers.mirrored(launch, fresh()))
      assert.notStrictEqual(direct, "connected")
      assert.deepStrictEqual(behind, direct)
    })
  }

  it("a legacy client fails without a bridge at a modern server as it fails directly", async () => {
    const connect = async (launch: servers.Launch) => {
      const host = Host.make("sdk2", launch)
      const outcome = await host.connect().then(() => "connected", failure)
      await host.close()
      return outcome
    }
    const direct = await connect(servers.sdk2("modern"))
    const behind = await connect(servers.mirrored(servers.sdk2("modern"), fresh()))
    assert.notStrictEqual(direct, "connected")
    assert.deepStrictEqual(behind, direct)
  })

  for (const era of ["dual", "legacy", "modern"] as const) {
    it(`the client that probes first starts a ${era} server twice, and only the second run leaves pins and entries`, async () => {
      const state = fresh()
      const log = join(state, "../starts")
      const host = Host.make("sdk2-auto", servers.trusted(servers.sdk2(era, log), state))
      await host.connect()
      assert.strictEqual(host.two?.getProtocolEra(), "modern")
      await host.listTools()
      await host.callTool("add", { a: 1, b: 2 })
      await host.close()
      await gone(host.pid())
      const started = readFileSync(log, "utf8").trim().split("\n")
      assert.strictEqual(started.length, 2)
      for (const pid of started) await gone(Number(pid))
      assert.strictEqual(segments(state).length, 1)
      const recorded = await events(state)
      // Each kind is pinned when it is listed, which a short session may not live to see.
      const types = recorded.map(({ type }) => type)
      assert.deepStrictEqual(types.slice(0, 2), ["session", "trusted"])
      assert.deepStrictEqual(types.filter((type) => type !== "trusted"), [
        "session",
        "call",
        "outcome",
        ...(era === "legacy" ? ["bridged"] : []),
        "ended"
      ])
      assert.isNotEmpty(versions(state, "sdk2"))
      assert.strictEqual((await verify(state)).status, "ok")
    })

    it(`a probe alone leaves no pins and no ledger, of a ${era} server`, async () => {
      const state = fresh()
      const wire = new Wire(servers.trusted(servers.sdk2(era), state))
      const { id, method, params } = { ...discover, id: "probe" }
      wire.send({ id, method, params })
      const answer = await wire.answer("probe")
      assert.isUndefined(answer.error)
      wire.process.kill("SIGTERM")
      await wire.ended
      assert.deepStrictEqual(segments(state), [])
      assert.deepStrictEqual(versions(state, "sdk2"), [])
    })
  }

  it("a modern subscription hears of a tool that was not there, and the relay holds the tool", async () => {
    const state = fresh()
    const host = Host.make("sdk2-pin", servers.trusted(servers.sdk2("dual"), state))
    await host.connect()
    const before = (await host.listTools()).tools.map(({ name }) => name)
    const subscription = await host.two?.listen({ toolsListChanged: true })
    assert.deepStrictEqual(subscription?.honoredFilter, { toolsListChanged: true })
    await host.callTool("grow", {})
    await host.tap.notice("notifications/tools/list_changed")
    assert.deepStrictEqual((await host.listTools()).tools.map(({ name }) => name), before)
    const failed = await refusal(host.callTool("grown", {}))
    assert.deepStrictEqual(failed["code"], -32602)
    assert.deepStrictEqual(failed["data"], { reason: "held-new", server: "sdk2", item: "grown" })
    // What was withheld from one host must not be kept for others.
    const listed = host.tap.received.findLast(({ result }) => Array.isArray(result?.["tools"]))
    assert.deepInclude(listed?.result, { cacheScope: "private", ttlMs: 0 })
    await host.close()
  })
})

describe("the first message", () => {
  it("is answered without a bridge with both sides' revisions, if it is modern and the server is not", async () => {
    const state = fresh()
    const wire = new Wire(servers.mirrored(servers.sdk1(), state))
    wire.send({ id: "a", method: "tools/call", params: { ...discover.params, name: "fail", arguments: {} } })
    const { error } = await wire.answer("a")
    assert.deepInclude(error?.data, { reason: "no-common-revision" })
    assert.match(error?.message ?? "", /2026-07-28/)
    // The legacy era is still open to it.
    assert.isDefined((await wire.open()).result)
    assert.isTrue((await wire.call(1, "fail")).result?.["isError"])
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [0, null])
  })

  for (const era of ["dual", "modern"] as const) {
    it(`may be a subscription, to a ${era} server whose era another process found out`, async () => {
      const state = fresh()
      const { args, command } = servers.trusted(servers.sdk2(era), state)
      const changes: Array<ReadonlyArray<string> | null> = []
      const changed = Promise.withResolvers<void>()
      const client = new Client({ name: "end-to-end", version: "1" }, {
        versionNegotiation: { mode: "auto" },
        listChanged: {
          tools: {
            onChanged: (error, tools) => {
              if (error !== null) changed.reject(error)
              changes.push(tools?.map(({ name }) => name) ?? null)
              changed.resolve()
            }
          }
        }
      })
      const transport = new StdioClientTransport({ command, args, stderr: "ignore" })
      const tap = new Tap(transport)
      await within("connect", client.connect(transport))
      assert.strictEqual(tap.sent[0]?.method, "subscriptions/listen")
      const before = (await client.listTools()).tools.map(({ name }) => name)
      await client.callTool({ name: "touch", arguments: {} })
      await within("the change", changed.promise)
      assert.deepStrictEqual(changes, [before])
      await client.close()
      assert.strictEqual((await verify(state)).status, "ok")
    })

    it(`may be a call, to a ${era} server that was met before`, async () => {
      const launch = servers.trusted(servers.sdk2(era), fresh())
      const first = Host.make("sdk2-pin", launch)
      await first.connect()
      const found = first.two?.getDiscoverResult()
      await first.callTool("add", { a: 1, b: 2 })
      await first.close()
      assert.isDefined(found)
      if (found === undefined) return
      const client = new Client({ name: "end-to-end", version: "1" })
      const transport = new StdioClientTransport({ command: launch.command, args: launch.args, stderr: "ignore" })
      const tap = new Tap(transport)
      await within("connect", client.connect(transport, { prior: { kind: "modern", discover: found } }))
      const answer = await client.callTool({ name: "add", arguments: { a: 1, b: 2 } })
      assert.deepStrictEqual(answer.structuredContent, { sum: 3 })
      assert.deepStrictEqual(tap.sent.map(({ method }) => method), ["tools/call"])
      await client.close()
    })
  }
})

const discover = {
  method: "server/discover",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "by-hand", version: "1" }
    }
  }
}
