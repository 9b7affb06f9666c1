// The built command, as a user has it: on disk, with real processes and, where there is one, a real terminal.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Ancestry from "../src/Ancestry.ts"

const bin = fileURLToPath(new URL("../bin/sallyport.mjs", import.meta.url))
const fixture = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url))
const node = process.execPath

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-cli-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = { name: "read", description: "Reads.", inputSchema: { type: "object" } }
const write = { name: "write", description: "Wri\u202etes.", inputSchema: { type: "object" } }
const secret = "correct-horse-battery"

/** A state folder with a name of its own, and what is done to it. */
const make = (name: string) => {
  const state = join(folder, name)
  const tools = join(folder, `${name}.json`)
  const serve = (list: ReadonlyArray<unknown>) => writeFileSync(tools, JSON.stringify(list))
  const cli = (line: string) => {
    const args = [bin, ...line.split(" "), "--state", state]
    const { status, stderr, stdout } = spawnSync(node, args, { encoding: "utf8", input: "accept\n" })
    return { code: status, out: stdout, err: stderr }
  }
  /** A session of a host's: it lists, and calls `read`. Gives the names that are listed, and whether the call went through. */
  const session = (...options: ReadonlyArray<string>) =>
    new Promise<{ readonly listed: ReadonlyArray<string>; readonly called: boolean; readonly err: string }>(
      (resolve) => {
        const args = [bin, "relay", "--state", state, "--name", "files", ...options, "--", node, fixture, tools]
        const child = spawn(node, args, { cwd: "/", stdio: "pipe" })
        let out = ""
        let err = ""
        const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`)
        const request = (id: number, method: string, params: unknown) => send({ jsonrpc: "2.0", id, method, params })
        child.stderr.setEncoding("utf8").on("data", (text: string) => err += text)
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          const before = out
          out += text
          if (!before.includes("\"id\":1") && out.includes("\"id\":1")) {
            send({ jsonrpc: "2.0", method: "notifications/initialized" })
            request(2, "tools/list", {})
          }
          if (!before.includes("\"id\":2") && out.includes("\"id\":2")) {
            request(3, "tools/call", { name: "read", arguments: {} })
          }
          if (out.includes("\"id\":3")) child.stdin.end()
        })
        child.on("close", () => {
          const answers = out.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
          const answer = (id: number) => answers.find((each) => each.id === id)
          const tools: ReadonlyArray<{ readonly name: string }> = answer(2)?.result?.tools ?? []
          resolve({ listed: tools.map(({ name }) => name), called: answer(3)?.result !== undefined, err })
        })
        request(1, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "1" }
        })
      }
    )
  return { state, serve, cli, session }
}

describe("the built command", () => {
  it("holds, shows, accepts and records", async () => {
    const { cli, serve, session, state } = make("whole")
    serve([read])
    const first = await session("--env", `TOKEN=${secret}`)
    assert.deepStrictEqual(first.listed, [])
    assert.isFalse(first.called)
    assert.strictEqual(cli("pins list --check").code, 10)
    const shown = cli("pins show files")
    assert.strictEqual(shown.code, 0)
    assert.notInclude(shown.out, secret)
    const digest = /^[0-9a-f]{64}$/m.exec(shown.out)?.[0] ?? "?"

    // stdin says accept, but stdin is nobody.
    const piped = spawnSync("setsid", [node, bin, "pins", "accept", "--state", state, "files"], {
      encoding: "utf8",
      input: "accept\n"
    })
    assert.strictEqual(piped.status, 1)
    assert.match(piped.stderr, /nothing was accepted/)

    assert.strictEqual(cli(`pins accept --digest ${digest} files`).code, 0)
    const second = await session("--env", `TOKEN=${secret}`)
    assert.deepStrictEqual(second.listed, ["read"])
    assert.isTrue(second.called)
    assert.strictEqual(cli("pins list --check").code, 0)

    serve([read, write])
    await session("--env", `TOKEN=${secret}`)
    const diff = cli("pins diff files")
    assert.strictEqual(diff.code, 11)
    assert.include(diff.out, "Wri\\u{202e}tes.")
    assert.strictEqual(cli("pins accept --all --unseen files").code, 0)
    assert.deepStrictEqual((await session("--env", `TOKEN=${secret}`)).listed, ["read", "write"])

    const status = cli("status files")
    assert.match(status.out, /tools\/call read: held-new/)
    assert.include(status.out, "listening \\u{1b}[31mredly")
    const { entries } = JSON.parse(cli("ledger list --json --type accepted").out)
    assert.deepStrictEqual(entries.map(({ how }: { readonly how: string }) => how), ["digest", "unseen"])
    assert.isAbove(entries[0].parents.length, 0)
    assert.strictEqual(cli("ledger verify").code, 0)
    for (const line of ["status", "ledger list --json", "pins show --json files", "pins diff --json files"]) {
      const { err, out } = cli(line)
      assert.notInclude(out + err, secret)
    }
  })

  it("finds an edit of the ledger", async () => {
    const { cli, serve, session, state } = make("edited")
    serve([read])
    await session()
    const ledger = join(state, "ledger")
    const name = readdirSync(ledger).find((each) => each.endsWith(".jsonl")) ?? "?"
    const path = join(ledger, name)
    writeFileSync(path, readFileSync(path, "utf8").replace("held-new", "held-old"))
    const { code, out } = cli("ledger verify")
    assert.strictEqual(code, 20)
    assert.include(out, `${path}:`)
  })

  it("no server accepts itself, however it calls the command", async () => {
    const { cli, serve, session, state } = make("below")
    serve([read])
    const accept = `"${node}" "${bin}" pins accept --state "${state}" --all --unseen files`
    // It is seen once, so that there is something to accept.
    await session()
    const { err } = await session("--env", `RUN=${accept}; setsid ${accept}; (${accept}) </dev/null; ${accept}`)
    assert.match(err, /ran: 1 /)
    assert.strictEqual(err.split("below a relay of Sallyport's").length - 1, 4)
    assert.deepStrictEqual(JSON.parse(cli("pins list --json").out).servers[0].accepted, 0)
  })

  it("refuses a state folder that others can write to", async () => {
    const { cli, serve, session, state } = make("open")
    serve([read])
    await session()
    assert.strictEqual(statSync(state).mode & 0o777, 0o700)
    spawnSync("chmod", ["o+w", state])
    for (const line of ["pins list", "pins accept --all --unseen files", "ledger verify", "status"]) {
      const { code, err } = cli(line)
      assert.strictEqual(code, 1, line)
      assert.match(err, /^sallyport: .*writable/)
      assert.notMatch(err, /\n\s+at /)
    }
  })

  it("gives a slow reader all of it, and none to one that leaves", async () => {
    const { cli, serve, session, state } = make("slow")
    serve(Array.from({ length: 300 }, (_, n) => ({ ...read, name: `tool${n}`, description: "long ".repeat(200) })))
    await session()
    const whole = cli("pins show --json files").out.length
    assert.isAbove(whole, 300_000)
    const count = (tail: string) =>
      spawnSync("sh", ["-c", `"${node}" "${bin}" pins show --json --state "${state}" files | ${tail}`], {
        encoding: "utf8"
      })
    assert.strictEqual(Number(count("(sleep 1; wc -c)").stdout), whole)
    const left = count("head -c 10")
    assert.strictEqual(left.stderr, "")
  })
})

// ---- a terminal

/** Whoever runs these tests by an agent is not asked, as it should be. */
const asks = Effect.runSync(Effect.provide(
  Effect.flatMap(Ancestry.Ancestry, ({ parents }) => Effect.map(parents, (all) => Ancestry.refusal(all, true))),
  Ancestry.layerNode
)) === undefined
const hasTerminal = asks && process.platform === "linux" && spawnSync("script", ["--version"]).status === 0

/** Runs a command line on a terminal of its own, and types when it is asked. */
const typing = (line: string, answer: string, before = "") =>
  new Promise<{ readonly code: number | null; readonly out: string }>((resolve) => {
    const child: ChildProcessWithoutNullStreams = spawn("script", ["-qfec", line, "/dev/null"])
    let out = ""
    let typed = false
    if (before !== "") child.stdin.write(before)
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      if (!typed && out.includes("leave it held: ")) {
        typed = true
        child.stdin.write(answer)
      }
    })
    child.on("close", (code) => resolve({ code, out }))
  })

describe.skipIf(!hasTerminal)("on a terminal", () => {
  const setup = async (name: string) => {
    const made = make(name)
    made.serve([read, write])
    await made.session()
    return { ...made, line: `"${node}" "${bin}" pins accept --state "${made.state}" files` }
  }
  const acceptedOf = ({ cli }: ReturnType<typeof make>): number =>
    JSON.parse(cli("pins list --json").out).servers[0].accepted

  it("shows, asks and accepts", async () => {
    const made = await setup("tty-yes")
    const { code, out } = await typing(made.line, "accept\n")
    assert.strictEqual(code, 0)
    assert.include(out, "Wri\\u{202e}tes.")
    assert.include(out, "Accepted the identity, 2 tools and the launch of files.")
    assert.strictEqual(acceptedOf(made), 3)
  })

  it("asks on the terminal also where stdin and stdout are others", async () => {
    const made = await setup("tty-piped")
    const { code, out } = await typing(`echo no | ${made.line} > "${made.state}.out"`, "accept\n")
    assert.strictEqual(code, 0)
    assert.include(out, "Wri\\u{202e}tes.")
    assert.strictEqual(
      readFileSync(`${made.state}.out`, "utf8"),
      "Accepted the identity, 2 tools and the launch of files.\n"
    )
    assert.strictEqual(acceptedOf(made), 3)
  })

  const others: ReadonlyArray<readonly [what: string, answer: string, before: string, code: number]> = [
    ["another word", "yes\n", "", 1],
    ["an empty line", "\n", "", 1],
    ["the end of input", "\u0004", "", 1],
    ["an interrupt", "\u0003", "", 130],
    ["a word typed before the question", "\n", "accept\naccept\n", 1]
  ]
  for (const [what, answer, before, expected] of others) {
    it(`accepts nothing after ${what}`, async () => {
      const made = await setup(`tty-${what.replaceAll(" ", "-")}`)
      const { code, out } = await typing(made.line, answer, before)
      assert.strictEqual(code, expected, out)
      assert.strictEqual(acceptedOf(made), 0)
    })
  }
})
