/** Relays as processes: many at once, ended in every way. */
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as Host from "./support/Host.ts"
import { gone } from "./support/processes.ts"
import * as servers from "./support/servers.ts"
import { events, segments, verify } from "./support/state.ts"
import { Wire } from "./support/Wire.ts"

const folder = folders()
const fresh = () => join(folder(), "state")

/** The id of the server's process behind a relay. */
const serverOf = async (wire: Wire): Promise<number> => {
  const { result } = await wire.call(1, "pid")
  const { parent, pid } = (result ?? {})["structuredContent"] as { readonly pid: number; readonly parent: number }
  assert.strictEqual(parent, wire.process.pid)
  return pid
}

describe("processes", () => {
  it("eight relays at once share one state folder (F12)", async () => {
    const state = fresh()
    const named = (index: number): servers.Launch => // Two for each name: four servers, each started by two hosts.
    ({ ...(index % 2 === 0 ? servers.sdk2("dual") : servers.sdk1()), name: `server-${index % 4}` })
    const kinds: ReadonlyArray<Host.Kind> = ["sdk1", "sdk2", "sdk2-auto", "sdk2"]
    const hosts = Array.from(
      { length: 8 },
      (_, index) => Host.make(kinds[index % 4] ?? "sdk1", servers.trusted(named(index), state))
    )
    await Promise.all(hosts.map((host) => host.connect()))
    await Promise.all(hosts.map(async (host, index) => {
      for (let round = 0; round < 5; round++) {
        if (index % 2 === 0) {
          const answer = await host.callTool("add", { a: index, b: round })
          assert.deepInclude(answer, { structuredContent: { sum: index + round } })
        } else await host.callTool("fail", {})
      }
    }))
    await Promise.all(hosts.map((host) => host.close()))
    await Promise.all(hosts.map((host) => gone(host.pid())))
    const report = await verify(state)
    assert.deepStrictEqual([report.status, report.problems], ["ok", []])
    assert.strictEqual(segments(state).length, 8)
    const recorded = await events(state)
    assert.strictEqual(recorded.filter(({ type }) => type === "call").length, 40)
    assert.strictEqual(recorded.filter(({ type }) => type === "outcome").length, 40)
    // Whoever of two relays was first has trusted a kind; the other has found it accepted.
    const trusted = recorded.flatMap((event) =>
      event.type === "trusted" ? event.items.map(({ kind, name }) => `${event.server} ${kind} ${name}`) : []
    )
    assert.strictEqual(new Set(trusted).size, trusted.length)
    for (const index of [0, 1, 2, 3]) {
      assert.include(trusted, `server-${index} tool ${index % 2 === 0 ? "add" : "fail"}`)
    }
  })

  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`${signal} to the relay leaves no server behind, and the ledger holds`, async () => {
      const state = fresh()
      const wire = new Wire(servers.trusted(servers.sdk1(), state))
      await wire.open()
      const server = await serverOf(wire)
      wire.send({
        id: 2,
        method: "tools/call",
        params: { name: "hang", arguments: {}, _meta: { progressToken: "hangs" } }
      })
      await wire.until(
        "the progress of a call",
        () => wire.received.find(({ method }) => method === "notifications/progress")
      )
      wire.process.kill(signal)
      await wire.ended
      await gone(server)
      const report = await verify(state)
      assert.deepStrictEqual([report.status, report.problems], ["ok", []])
    })
  }

  it("a call that the relay's end cut short is on record, without an outcome, and the next relay works", async () => {
    const state = fresh()
    const launch = servers.trusted(servers.sdk1(), state)
    const killed = new Wire(launch)
    await killed.open()
    await serverOf(killed)
    killed.send({ id: 2, method: "tools/call", params: { name: "hang", arguments: {}, _meta: { progressToken: 1 } } })
    await killed.until("progress", () => killed.received.find(({ method }) => method === "notifications/progress"))
    killed.process.kill("SIGKILL")
    await killed.ended
    const next = new Wire(launch)
    await next.open()
    assert.isTrue((await next.call(1, "fail")).result?.["isError"])
    next.process.stdin.end()
    await next.ended
    const recorded = await events(state)
    assert.strictEqual(recorded.filter(({ type }) => type === "call").length, 3)
    assert.strictEqual((await verify(state)).status, "ok")
  })

  it("the end of the host's input ends the server and the relay, with code 0", async () => {
    const wire = new Wire(servers.trusted(servers.sdk1(), fresh()))
    await wire.open()
    const server = await serverOf(wire)
    // What was asked before the end is still answered.
    wire.send({ id: 2, method: "tools/call", params: { name: "fail", arguments: {} } })
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [0, null])
    assert.isDefined(wire.received.find(({ id }) => id === 2)?.result)
    await gone(server)
  })

  for (const code of [0, 7]) {
    it(`a server that ends with code ${code} ends the relay with it, and what waited is answered`, async () => {
      const wire = new Wire(servers.trusted(servers.sdk1(), fresh()))
      await wire.open()
      await serverOf(wire)
      wire.send(
        { id: 2, method: "tools/call", params: { name: "hang", arguments: {} } },
        { id: 3, method: "tools/call", params: { name: "exit", arguments: { code } } }
      )
      for (const id of [2, 3]) {
        const { error } = await wire.answer(id)
        assert.deepInclude(error?.data, { reason: "server-ended" })
        assert.strictEqual(error?.code, -32603)
      }
      assert.deepStrictEqual(await wire.ended, [code, null])
    })
  }

  for (
    const [what, script, code] of [
      ["that ends in order before it is opened", "process.exit(0)", 1],
      ["that ends with a code before it is opened", "process.exit(3)", 3],
      ["that a signal ends", "process.kill(process.pid, 'SIGKILL')", 128 + 9]
    ] as const
  ) {
    it(`a server ${what} ends the relay with ${code}`, async () => {
      const launch = { name: "short", command: process.execPath, args: ["-e", script], env: {} }
      const wire = new Wire(servers.trusted(launch, fresh()))
      const { error } = await wire.open()
      assert.deepInclude(error?.data, { reason: "server-ended", server: "short" })
      assert.deepStrictEqual(await wire.ended, [code, null])
    })
  }

  it("a server that cannot be started is named in the answer to initialize, and the relay exits with 1", async () => {
    const wire = new Wire(servers.trusted({ name: "nothing", command: "/no/such/program", args: [], env: {} }, fresh()))
    const { error } = await wire.open()
    assert.strictEqual(error?.code, -32603)
    assert.deepInclude(error?.data, { reason: "server-not-started" })
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [1, null])
  })
})
