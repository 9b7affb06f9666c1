import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Heads from "../../src/ledger/Heads.ts"
import * as Read from "../../src/ledger/Read.ts"
import * as NodeFiles from "../../src/node/NodeFiles.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"

const writer = join(import.meta.dirname, "fixtures/writer.ts")

const start = (directory: string, groups: string, ...more: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [writer, directory, groups, ...more], { stdio: ["ignore", "pipe", "inherit"] })
  const lines: Array<number> = []
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n")
    rest = parts.pop() ?? ""
    lines.push(...parts.map(Number))
  })
  return { child, lines, ended: once(child, "close") }
}

const verify = (directory: string) => Effect.runPromise(Effect.provide(Folder.verify(directory), NodeFiles.layer))
const read = (directory: string) => Effect.runPromise(Effect.provide(Folder.read(directory), NodeFiles.layer))

describe("processes", () => {
  let root = ""
  let directory = ""
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "sallyport-ledger-"))
    directory = join(root, "state/ledger")
  })
  afterEach(() => {
    rmSync(root, { recursive: true })
  })

  for (const sync of ["", "sync"]) {
    it(`eight writers start at once on one new folder and lose nothing ${sync}`, async () => {
      const writers = Array.from({ length: 8 }, () => start(directory, "60", sync))
      await Promise.all(writers.map(({ ended }) => ended))
      const report = await verify(directory)
      assert.deepStrictEqual([report.status, report.problems], ["ok", []])
      const contents = await read(directory)
      assert.strictEqual(contents.runs.length, 8)
      assert.isTrue(contents.runs.every(({ closed }) => closed))
      const each = writers[0]?.lines.at(-1) ?? 0
      assert.isAbove(each, 1000)
      assert.strictEqual(contents.entries.length, 8 * each)
      // One key, made by whoever was first; nobody but the owner can read any of it.
      const names = readdirSync(directory)
      assert.strictEqual(names.filter((name) => name === "key").length, 1)
      for (const name of names) assert.strictEqual(statSync(join(directory, name)).mode & 0o777, 0o600, name)
      assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
      assert.isAbove(names.filter((name) => Heads.pattern.test(name)).length, 8)
    }, 60_000)

    it(`what was committed survives kill -9 ${sync}`, async () => {
      const committed = new Map<number, number>()
      for (let round = 0; round < 6; round++) {
        const { child, ended, lines } = start(directory, "1000000", sync)
        while (lines.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
        await new Promise((resolve) => setTimeout(resolve, 20 + round * 30))
        child.kill("SIGKILL")
        await ended
        committed.set(child.pid ?? 0, lines.at(-1) ?? 0)
        const report = await verify(directory)
        // A kill may hit a write in the middle: that is a torn end, and the next process records it.
        assert.deepStrictEqual(report.problems, [])
      }
      const last = start(directory, "1", sync)
      await last.ended
      const report = await verify(directory)
      assert.include(["ok", "mended"], report.status)
      assert.deepStrictEqual(report.problems, [])
      const contents = await read(directory)
      for (const [pid, seq] of committed) {
        const run = contents.runs.find((run) => run.pid === pid)
        assert.isFalse(run?.closed)
        const found = contents.entries.filter((entry) => entry.run === run?.run)
        assert.isAtLeast(found.length, seq)
        found.forEach((entry, index) => assert.strictEqual(entry.seq, index + 1))
      }
      assert.isAbove(Read.unknownFates(contents).length, 0)
    }, 60_000)
  }

  it("is read by a shell: every line is JSON in ASCII, and its seal can be computed with sha256sum", async () => {
    await start(directory, "3").ended
    const name = readdirSync(directory).find((name) => Heads.pattern.test(name)) ?? ""
    const text = readFileSync(join(directory, name), "utf8")
    assert.match(text, /^[\n -~]*$/)
    const group = /^(?:.*\n)*?.*"seal":"[0-9a-f]{64}"\}\n/.exec(text)?.[0] ?? ""
    const script = [
      "key=$(printf 'sallyport/ledger/chain\\n%s' \"$(cat \"$1\")\" | sha256sum | cut -c1-64)",
      "{ printf %s \"$key\"; head -c \"$3\" \"$2\"; printf %s \"$key\"; } | sha256sum | cut -c1-64"
    ].join("\n")
    const length = String(group.length - ",\"seal\":\"\"}\n".length - 64)
    const shell = spawn("sh", ["-c", script, "sh", join(directory, "key"), join(directory, name), length])
    let printed = ""
    shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk
    })
    await once(shell, "close")
    assert.strictEqual(printed.trim(), group.slice(-67, -3))
  })
})
