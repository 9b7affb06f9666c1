// The built command as a host runs it: real processes and pipes.
import { assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const bin = join(root, "packages/cli/bin/sallyport.mjs")
const node = process.execPath

// What starts the tests lets modules be found that a server's folder does not have.
const { NODE_PATH: _, ...env } = process.env

const run = (args: ReadonlyArray<string>, input: string) => {
  const { status, stderr, stdout } = spawnSync(node, [bin, "serve", ...args], {
    cwd: root,
    encoding: "utf8",
    env,
    input
  })
  return { code: status, out: stdout, err: stderr }
}

const request = (id: number, method: string, params: unknown = {}): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`

const opening = request(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" }
}) + `{"jsonrpc":"2.0","method":"notifications/initialized"}\n`

const call = (id: number, name: string, args: unknown): string => request(id, "tools/call", { name, arguments: args })

describe("sallyport serve", () => {
  it("serves a folder, a file and a package, and exits with 0 at the end of input", () => {
    for (const module of ["examples/quickstart", "examples/quickstart/server.ts", "./examples/quickstart/"]) {
      const { code, err, out } = run([module], opening + call(1, "add", { a: 1, b: 2 }))
      assert.strictEqual(code, 0, err)
      assert.include(out.split("\n")[1] ?? "", `"structuredContent":{"sum":3}`)
      assert.strictEqual(out.split("\n").length, 3)
    }
  })

  it("answers what is in flight at the end of input", () => {
    const calls = Array.from({ length: 10 }, (_, i) => call(i + 1, "slow", { ms: 300 })).join("")
    const { code, out } = run(["examples/cases"], opening + calls)
    assert.strictEqual(code, 0)
    assert.strictEqual(out.split("slow done").length - 1, 10)
  })

  it("prints nothing but messages on stdout, whatever a tool prints and however", () => {
    const { err, out } = run(["examples/cases"], opening + call(1, "noisy", {}))
    for (const line of out.split("\n").filter((line) => line !== "")) {
      assert.strictEqual(JSON.parse(line).jsonrpc, "2.0")
    }
    for (const said of ["this is not the protocol", "and neither is this", "nor this"]) {
      assert.include(err, said)
      assert.notInclude(out, said)
    }
  })

  it("says what is wrong with a module, on stderr, and exits with 1", () => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-serve-"))
    try {
      const at = (name: string, files: Readonly<Record<string, string>>) => {
        mkdirSync(join(folder, name))
        for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), text)
        return join(folder, name)
      }
      const inside = mkdtempSync(join(root, "packages/cli/test/serve-"))
      try {
        writeFileSync(join(inside, "prints.mjs"), `console.log("at load"); export default 7`)
        writeFileSync(join(inside, "throws.mjs"), `console.log("at load"); throw new Error("no such table")`)
        for (
          const [module, says] of [
            ["nothing-there", /no file, folder or package/],
            [at("empty", {}), /is no package/],
            [at("alone", { "index.js": "export default 1" }), /does not depend on @sallyport\/core/],
            [join(inside, "prints.mjs"), /default export is no server/],
            [join(inside, "throws.mjs"), /no such table/]
          ] as const
        ) {
          const { code, err, out } = run([module], opening)
          assert.strictEqual(code, 1, module)
          assert.strictEqual(out, "", module)
          assert.match(err, says)
        }
      } finally {
        rmSync(inside, { recursive: true })
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it("says how it is used, on stderr", () => {
    for (
      const [args, code] of [
        [["--help"], 0],
        [[], 2],
        [["a", "b"], 2],
        [["--nope", "a"], 2],
        [["a", "--http", "7"], 2],
        [["a", "--http", "h:99999"], 2],
        [["a", "--token-file", "t"], 2]
      ] as const
    ) {
      const given = run(args, "")
      assert.strictEqual(given.code, code, args.join(" "))
      assert.strictEqual(given.out, "")
      assert.include(given.err, "Usage: sallyport serve")
    }
  })

  it("listens over HTTP until it is told to end", async () => {
    const child = spawn(node, [bin, "serve", "examples/quickstart", "--http", "127.0.0.1:0"], { cwd: root })
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let said = ""
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          said += text
          const found = /listening on (\S+)/.exec(said)?.[1]
          if (found !== undefined) resolve(found)
        })
        child.on("exit", () => reject(new Error(said)))
      })
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: opening.split("\n")[0] ?? ""
      })
      assert.include(await answer.text(), `"serverInfo":{"name":"quickstart"`)
      child.removeAllListeners("exit")
      const ended = new Promise<number | null>((resolve) => child.on("exit", resolve))
      child.kill("SIGTERM")
      assert.strictEqual(await ended, 143)
    } finally {
      child.kill("SIGKILL")
    }
  })
})
