/** examples/guarded, run as the documentation says: what it keeps is what the commands check. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Gate } from "@sallyport/core/stage/Gate"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Decisions from "../../examples/guarded/decisions.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const sallyport = join(dirname(createRequire(import.meta.url).resolve("sallyport/package.json")), "bin/sallyport.mjs")

describe("examples/guarded", () => {
  let state = ""
  beforeAll(() => {
    state = mkdtempSync(join(tmpdir(), "sallyport-guarded-"))
  })
  afterAll(() => {
    rmSync(state, { recursive: true, force: true })
  })

  it("shows and runs what its gate allows, and records every call", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [sallyport, "serve", join(root, "examples/guarded")],
        env: { NOTES_STATE: state },
        stderr: "pipe"
      })
    )
    const { tools } = await client.listTools()
    assert.deepStrictEqual(tools.map(({ name }) => name), ["list_notes", "add_note"])
    await client.callTool({ name: "add_note", arguments: { text: "remember the milk" } })
    const cleared = await client.callTool({ name: "clear_notes" })
    assert.isTrue(cleared.isError)
    assert.match(JSON.stringify(cleared.content), /no-clearing.*it cannot be undone/)
    const listed = await client.callTool({ name: "list_notes" })
    assert.deepStrictEqual(listed.content, [{ type: "text", text: "remember the milk" }])
    await client.close()

    const ran = spawnSync(process.execPath, [sallyport, "ledger", "verify", "--state", state], { encoding: "utf8" })
    assert.strictEqual(ran.status, 0, ran.stdout + ran.stderr)
    const shown = spawnSync(process.execPath, [sallyport, "ledger", "list", "--state", state], { encoding: "utf8" })
    assert.match(shown.stdout, /add_note/)
    assert.match(shown.stdout, /clear_notes/)
  })
})

describe("examples/guarded/decisions", () => {
  const decide = (client: string, name: string) =>
    Effect.gen(function*() {
      const gate = yield* Gate
      return yield* gate.call({
        client,
        server: "notes",
        from: "host",
        method: "tools/call",
        name,
        params: undefined,
        pin: undefined,
        definition: undefined
      })
    }).pipe(
      Effect.provide(Decisions.gate),
      Effect.provideService(Decisions.Directory, {
        roleOf: (who) =>
          who === "broken"
            ? Effect.fail(new Decisions.DirectoryError({ message: "the directory is away" }))
            : Effect.succeed(who === "ann" ? "writer" : who === "bob" ? "reader" : "nobody")
      })
    )

  it.effect("allows, asks and refuses by what its service says, and refuses where that fails", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* decide("ann", "clear_notes"))._tag, "Allow")
      assert.strictEqual((yield* decide("bob", "list_notes"))._tag, "Allow")
      assert.deepInclude(yield* decide("bob", "clear_notes"), { _tag: "Ask", via: "terminal" })
      assert.deepInclude(yield* decide("eve", "clear_notes"), { _tag: "Refuse", rule: "nobody" })
      assert.strictEqual((yield* Effect.flip(decide("broken", "clear_notes"))).message, "the directory is away")
    }))
})
