/**
 * The command of the MCP Inspector at examples/everything: each run connects, does one thing and prints it.
 * It has no completions and tells of no progress, and does not stay for what a server says later.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import everything from "../../examples/everything/server.ts"
import { listen } from "./listen.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const resolve = createRequire(import.meta.url).resolve
const sallyport = join(dirname(resolve("sallyport/package.json")), "bin/sallyport.mjs")
const inspector = join(
  dirname(resolve("@modelcontextprotocol/inspector/package.json")),
  "clients/launcher/build/index.js"
)

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command with a home of its own, since it keeps files there. */
const run = (...args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((done) => {
    const home = mkdtempSync(join(tmpdir(), "sallyport-inspector-"))
    const env = { PATH: process.env["PATH"], HOME: home }
    execFile(process.execPath, [inspector, "--cli", ...args], { env, timeout: 25_000 }, (error, stdout, stderr) => {
      rmSync(home, { recursive: true, force: true })
      done({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr })
    })
  })

const revisions = { legacy: "2025-11-25", modern: "2026-07-28" } as const

/** What is asked, and what must be in the answer. */
const cases: ReadonlyArray<
  readonly [what: string, args: ReadonlyArray<string>, found: RegExp, eras?: ReadonlyArray<keyof typeof revisions>]
> = [
  ["lists tools", ["tools/list", "--strict"], /"test_x_mcp_header"/],
  [
    "calls with structured output",
    ["tools/call", "--tool-name", "test_structured_content", "--tool-arg", "a=1", "b=2.5"],
    /"structuredContent": \{\s*"sum": 3.5\s*\}/
  ],
  ["reads a resource", ["resources/read", "--uri", "test://static-text"], /static text resource/],
  ["lists templates", ["resources/templates/list"], /test:\/\/template\/\{id\}\/data/],
  [
    "gets a prompt",
    ["prompts/get", "--prompt-name", "test_prompt_with_arguments", "--prompt-args", "arg1=one", "arg2=two"],
    /arg1='one', arg2='two'/
  ],
  ["sets a level", ["logging/setLevel", "--log-level", "debug"], /\{\}/, ["legacy"]]
]

for (const [era, transport] of [["legacy", "stdio"], ["modern", "HTTP"]] as const) {
  describe(`the Inspector, ${era}, over ${transport}`, () => {
    const at = (url: string): ReadonlyArray<string> =>
      transport === "HTTP" ? [url] : [process.execPath, sallyport, "serve", join(root, "examples/everything")]
    const running = (...args: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const url = transport === "HTTP" ? yield* listen(everything) : ""
        return yield* Effect.promise(() => run(...at(url), "--protocol-era", era, "--method", ...args))
      })

    it.live("agrees on a revision", () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* running("initialize")
        assert.strictEqual(code, 0, stderr)
        assert.include(stdout, `"${revisions[era]}"`)
      }))
    for (const [what, args, found, eras = ["legacy", "modern"]] of cases) {
      if (!eras.includes(era)) continue
      it.live(what, () =>
        Effect.gen(function*() {
          const { code, stderr, stdout } = yield* running(...args)
          assert.strictEqual(code, 0, stderr)
          assert.match(stdout, found)
        }))
    }
    it.live("is told a failure", () =>
      Effect.gen(function*() {
        const { code, stdout } = yield* running("tools/call", "--tool-name", "test_error_handling")
        assert.strictEqual(code, 5)
        assert.match(stdout, /intentionally/)
      }))
  })
}
