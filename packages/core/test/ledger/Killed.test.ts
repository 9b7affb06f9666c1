/** kill -9 at every step of a call leaves a ledger that verifies and tells the truth. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "rolldown"
import * as Read from "../../src/ledger/Read.ts"
import * as NodeFiles from "../../src/node/NodeFiles.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"

const source = join(import.meta.dirname, "fixtures/killed.ts")

interface Told {
  readonly saw: ReadonlyArray<string>
  readonly got: ReadonlyArray<string>
  readonly steps: number | undefined
}

describe("kill -9", () => {
  let root = ""
  let program = ""
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "sallyport-killed-"))
    program = join(root, "killed.mjs")
    // It is started some hundred times: in one piece it starts much faster.
    await build({ input: source, platform: "node", logLevel: "warn", output: { file: program, format: "esm" } })
  }, 60_000)
  afterAll(() => {
    rmSync(root, { recursive: true })
  })

  /** Runs the relay up to this step, and gives what server and host had seen by then. */
  const run = async (step: number, sync: string): Promise<Told> => {
    const journal = join(root, `${sync}${step}.journal`)
    const child = spawn(process.execPath, [program, join(root, `${sync}${step}`), journal, String(step), sync], {
      stdio: ["ignore", "ignore", "inherit"]
    })
    const [, signal] = await once(child, "close")
    const lines = existsSync(journal) ? readFileSync(journal, "utf8").split("\n") : []
    const of = (word: string) =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(" ")[1] ?? "")
    const steps = /^ended after (\d+) steps$/m.exec(lines.join("\n"))?.[1]
    assert.strictEqual(signal, steps === undefined ? "SIGKILL" : null)
    return { saw: of("saw"), got: of("got"), steps: steps === undefined ? undefined : Number(steps) }
  }

  const look = (folder: string) =>
    Effect.runPromise(
      Effect.gen(function*() {
        const before = yield* Folder.verify(folder)
        const after = yield* Folder.mend(folder)
        return { before, after, contents: yield* Folder.read(folder) }
      }).pipe(Effect.provide(NodeFiles.layer))
    )

  /** What the ledger says, against what happened; gives how far the calls had come. */
  const check = async (step: number, sync: string, { got, saw }: Told): Promise<ReadonlyArray<string>> => {
    const at = `step ${step}`
    const { after, before, contents } = await look(join(root, `${sync}${step}`))
    assert.deepStrictEqual(before.problems, [], at)
    assert.include(["ok", "mended"], after.status, at)
    const calls = contents.entries.flatMap((entry) =>
      entry.event.type === "call" ? [{ ...entry, name: entry.event.name }] : []
    )
    const outcomes = new Map(
      contents.entries.flatMap(({ event }) => event.type === "outcome" ? [[event.of, event.was]] : [])
    )
    // What the server was given stands there, and was allowed; and nothing twice.
    const names = calls.map(({ name }) => name ?? "")
    for (const name of saw) assert.include(names, name, at)
    assert.strictEqual(new Set(names).size, names.length, at)
    assert.notInclude(names, "never", at)
    assert.notInclude(saw, "never", at)
    // An outcome is never made up: the server had the call, and answered so.
    for (const { name = "", seq } of calls) {
      const was = outcomes.get(seq)
      if (was === undefined) continue
      assert.include(saw, name, at)
      assert.strictEqual(was, name === "two" ? "error" : "result", at)
    }
    // What has none is of unknown fate, and said to be.
    const unknown = Read.unknownFates(contents, () => false).map(({ seq }) => seq)
    assert.deepStrictEqual(unknown, calls.filter(({ seq }) => !outcomes.has(seq)).map(({ seq }) => seq), at)
    // What the host has its answer of was let through, or refused.
    for (const name of got.filter((name) => name !== "never")) assert.include(names, name, at)
    return ["one", "two", "three"].map((name) => {
      const call = calls.find((call) => call.name === name)
      return call === undefined ? "none" : [
        "call",
        ...(saw.includes(name) ? ["saw"] : []),
        ...(outcomes.has(call.seq) ? ["outcome"] : [])
      ].join("+")
    })
  }

  for (const sync of ["", "sync"]) {
    it(`at every step leaves a ledger that verifies and tells the truth ${sync}`, async () => {
      const { steps = 0 } = await run(0, sync)
      assert.isAbove(steps, 20)
      const found = new Set<string>()
      const all = Array.from({ length: steps }, (_, index) => index + 1)
      const next = async (): Promise<void> => {
        for (let step = all.shift(); step !== undefined; step = all.shift()) {
          for (const far of await check(step, sync, await run(step, sync))) found.add(far)
        }
      }
      await Promise.all([next(), next(), next()])
      // Every way in which a call can be cut short was among them.
      assert.sameMembers([...found], ["none", "call", "call+saw", "call+saw+outcome"])
    }, 240_000)
  }
})
