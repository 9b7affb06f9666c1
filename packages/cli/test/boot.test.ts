// The relay's bytecode only makes a start faster: where it is not of this very program, the program is compiled as ever.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const own = fileURLToPath(new URL("..", import.meta.url))

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-boot-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A copy of the built command, with what is done to its bytecode; gives the exit code and the id that is answered. */
const start = (name: string, change: (code: string, program: string) => void) => {
  const copy = join(folder, name)
  for (const part of ["bin", "dist"]) {
    cpSync(join(own, part), join(copy, part), { recursive: true, preserveTimestamps: true })
  }
  change(join(copy, "dist/relay.code"), join(copy, "dist/relay.cjs"))
  const words = [join(copy, "bin/sallyport.mjs"), "relay", "--state", join(copy, "state"), "--", "/bin/false"]
  const { status, stdout } = spawnSync(process.execPath, words, {
    cwd: "/",
    encoding: "utf8",
    input: `${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "initialize", params: {} })}\n`
  })
  return { status, id: stdout === "" ? undefined : JSON.parse(stdout.split("\n")[0] ?? "").id }
}

/** How often one request is answered when this file is read, which loads a part of the program's. */
const answers = (name: string, file: string, text: string) => {
  const config = join(folder, name)
  mkdirSync(config)
  writeFileSync(join(config, file), text, { mode: 0o600 })
  const words = [join(own, "bin/sallyport.mjs"), "relay", "--state", join(config, "state"), "--config", config]
  const { stdout } = spawnSync(process.execPath, [...words, "--", "/bin/false"], {
    cwd: "/",
    encoding: "utf8",
    input: `${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "initialize", params: {} })}\n`
  })
  return stdout.split("\n").length - 1
}

const lineOf = (bytes: Buffer) => bytes.subarray(0, bytes.indexOf(10) + 1).toString("latin1")

describe("the bytecode of the relay", () => {
  const cases: ReadonlyArray<readonly [what: string, change: (code: string, program: string) => void]> = [
    ["as built", () => {}],
    ["missing", (code) => rmSync(code)],
    ["empty", (code) => truncateSync(code)],
    ["cut off", (code) => truncateSync(code, Math.floor(statSync(code).size / 2))],
    ["of another program", (code) => {
      const bytes = readFileSync(code)
      const line = lineOf(bytes)
      // Behind a line that does not fit, nothing is looked at: these bytes would end the process.
      writeFileSync(code, Buffer.concat([Buffer.from(`//${"0".repeat(64)}\n`), bytes.subarray(line.length).fill(0x5a)]))
    }],
    ["older than the program", (code, program) => {
      const bytes = readFileSync(code)
      writeFileSync(code, bytes.fill(0x5a, lineOf(bytes).length))
      utimesSync(code, 1, 1)
      utimesSync(program, 2, 2)
    }]
  ]
  for (const [what, change] of cases) {
    it(`${what}: the relay starts`, () => {
      const { id, status } = start(what.replaceAll(" ", "-"), change)
      assert.strictEqual(id, 7)
      assert.strictEqual(status, 1)
    })
  }

  for (const part of ["relay", "chunks/RelayPolicy", "chunks/Toml"]) {
    it(`was written for ${part} of this program`, () => {
      const [code = "", text = ""] = ["code", "cjs"].map((kind) =>
        lineOf(readFileSync(join(own, `dist/${part}.${kind}`)))
      )
      assert.match(text, /^\/\/[0-9a-f]{64}\n$/)
      assert.strictEqual(code, text)
    })
  }
})

describe("the relay's program", () => {
  it("runs once, also where a settings file or a policy loads a part of it later", () => {
    assert.strictEqual(answers("some", "settings.toml", "depth = 100\n"), 1)
    assert.strictEqual(answers("refused", "settings.toml", "locked = true\n"), 1)
    assert.strictEqual(answers("policy", "policy.toml", "default = \"deny\"\n"), 1)
  })
})
