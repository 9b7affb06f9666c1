import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Resolve from "../../src/node/Resolve.ts"
import type { Launch } from "../../src/stage/Spawn.ts"

const launch: Launch = { name: "notes", command: "notes", args: [], env: [], sandbox: "none" }

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "sallyport-resolve-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const put = (folder: string, name: string, text: string | Uint8Array, mode = 0o755) => {
  const file = path.join(folder, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text, { mode })
  return file
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

describe("Resolve.environment", () => {
  const own = {
    PATH: "/bin",
    HOME: "/home/me",
    TERM: "() { :; }",
    AWS_SECRET_ACCESS_KEY: "x",
    NODE_OPTIONS: "--require ./evil.js",
    TOKEN: "mine"
  }

  it("has the safe list and what the launch names, and nothing else", () => {
    const { env, unset } = Resolve.environment({
      ...launch,
      env: [{ name: "TOKEN" }, { name: "NONE" }, { name: "HOME", value: "/srv" }, { name: "MODE", value: "" }]
    }, own)
    assert.deepStrictEqual({ ...env }, { PATH: "/bin", HOME: "/srv", TOKEN: "mine", MODE: "" })
    assert.deepStrictEqual(unset, ["NONE"])
  })

  it("takes names from its own variables only, not from what objects inherit", () => {
    const { env, unset } = Resolve.environment({ ...launch, env: [{ name: "__proto__", value: "x" }] }, own)
    assert.deepStrictEqual(Object.keys(env).sort(), ["HOME", "PATH", "__proto__"])
    assert.deepStrictEqual(unset, [])
  })
})

describe("Resolve.plan", () => {
  const plan = (change: Partial<Launch>, PATH: string | undefined) => Resolve.plan({ ...launch, ...change }, { PATH })

  it.live("finds the command by the PATH that the child gets, and keeps its name", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const file = put(folder, "b/notes", "")
      put(folder, "a/notes", "", 0o644)
      const found = yield* plan({}, `${folder}/a:${folder}/b`)
      assert.deepInclude(found, { file, argv0: "notes" })
      const named = yield* plan({ env: [{ name: "PATH", value: `${folder}/b` }] }, "/nowhere")
      assert.strictEqual(named.file, file)
      const relative = yield* plan({ command: "./b/notes", cwd: folder }, "/nowhere")
      assert.deepInclude(relative, { file, cwd: folder })
    }))

  it.live("says what it searched, and what must change", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      put(folder, "a/notes", "", 0o644)
      const table: ReadonlyArray<readonly [Partial<Launch>, string, RegExp]> = [
        [{}, "/nowhere:/neither", /no notes in PATH, which is \/nowhere:\/neither/],
        [{}, `${folder}/a`, /may not be executed.*chmod \+x/],
        [{}, "a", /no notes in PATH/],
        [{}, `${folder}/a/notes:/nowhere`, /no notes in PATH/],
        [{ command: "/nowhere/notes" }, "", /\/nowhere\/notes does not exist/],
        [{ cwd: `${folder}/gone` }, "", /working folder .*gone does not exist/],
        [{ command: "/bin/sh", args: ["a\0b"] }, "", /NUL/],
        [{ command: "/bin/sh", env: [{ name: "A=B", value: "" }] }, "", /"A=B" cannot name a variable/],
        [{ command: "/bin/sh", env: [{ name: "A", value: "\0" }] }, "", /value of A holds a NUL/]
      ]
      for (const [change, search, message] of table) {
        const error = yield* Effect.flip(plan({ cwd: folder, ...change }, search))
        assert.match(error.message, message)
        assert.match(error.message, /^notes was not started: /)
      }
    }))
})

describe("Resolve.inspect", () => {
  it.live("gives the real paths and digests of executable and script", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const node = put(folder, "real/node22", "node")
      fs.symlinkSync(node, path.join(folder, "node"))
      const script = put(folder, "server.js", "code", 0o600)
      const data = put(folder, "notes.db", "data", 0o600)
      const inspect = (command: string, ...args: ReadonlyArray<string>) =>
        Resolve.inspect({ ...launch, command, args, cwd: folder }, { PATH: folder })
      const executable = { path: node, digest: sha256("node") }
      assert.deepStrictEqual(yield* inspect("node", "--db", "server.js", data), {
        executable,
        script: { path: script, digest: sha256("code") }
      })
      assert.deepStrictEqual(yield* inspect("node", "-e", "1", "notes.db"), { executable })
      assert.deepStrictEqual(yield* inspect("node"), { executable })
      put(folder, "notes", "program")
      assert.deepStrictEqual(yield* inspect("notes", "notes.db"), {
        executable: { path: path.join(folder, "notes"), digest: sha256("program") }
      })
      assert.deepStrictEqual(yield* inspect("gone"), {})
    }))

  it.live("samples large files: a change of size, head, tail or build shows", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const bytes = Buffer.alloc(10 * 1024 * 1024, 1)
      const file = put(folder, "big", bytes)
      const digest = Effect.sync(() => Resolve.digest(file))
      const first = yield* digest
      assert.match(first ?? "", /^sampled:[0-9a-f]{64}$/)
      fs.utimesSync(file, 1, 1)
      assert.strictEqual(yield* digest, first)
      const seen = new Set([first])
      for (const change of [0, bytes.length - 1, 256 * 1024]) {
        const changed = Buffer.from(bytes)
        changed[change] = 2
        fs.writeFileSync(file, changed)
        seen.add(yield* digest)
      }
      fs.writeFileSync(file, bytes.subarray(1))
      seen.add(yield* digest)
      assert.strictEqual(seen.size, 5)
    }))

  it.live("gives no digest of what is no file or is gone", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      assert.isUndefined(yield* Effect.sync(() => Resolve.digest(folder)))
    }))
})
