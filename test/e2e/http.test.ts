/** The relay with HTTP on either side, as a program: what it prints, what it refuses, how it ends. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { dirname, join } from "node:path"
import { afterEach } from "vitest"
import { folders } from "./support/folders.ts"
import * as servers from "./support/servers.ts"
import { events, verify } from "./support/state.ts"
import { Wire } from "./support/Wire.ts"

const folder = folders()
const root = dirname(dirname(import.meta.dirname))
const everything = join(root, "examples/everything/server.ts")

const started: Array<Wire> = []
const closing: Array<() => void> = []
afterEach(async () => {
  for (const wire of started.splice(0)) {
    wire.process.kill("SIGKILL")
    await wire.ended
  }
  for (const close of closing.splice(0)) close()
})

const run = (args: ReadonlyArray<string>, env: Record<string, string> = {}): Wire => {
  const wire = new Wire({ name: "far", command: process.execPath, args: [servers.sallyport, ...args], env })
  started.push(wire)
  return wire
}

const urlOf = (wire: Wire): Promise<string> =>
  wire.until("the address", () => /http:\/\/127\.0\.0\.1:\d+\/\S*/.exec(wire.stderr)?.[0])

/** The server of all features, as a program of its own. */
const served = (...more: ReadonlyArray<string>): Promise<string> =>
  urlOf(run(["serve", everything, "--http", "127.0.0.1:0", ...more]))

const relay = (url: string, state: string, args: ReadonlyArray<string> = [], env: Record<string, string> = {}): Wire =>
  run(["relay", "--name", "far", "--state", state, "--first-sight", "trust", "--url", url, ...args], env)

const secret = "correct-horse-battery-staple-0123456789"
const tokenFile = (): string => {
  const file = join(folder(), "token")
  writeFileSync(file, `${secret}\n`)
  chmodSync(file, 0o600)
  return file
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify(body)
  })
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } }
}

describe("--url", () => {
  it("a host over stdio uses a server over HTTP, and the ledger holds the calls", async () => {
    const state = join(folder(), "state")
    const wire = relay(await served(), state)
    assert.isDefined((await wire.open()).result)
    wire.send({ id: 1, method: "tools/list" })
    assert.isDefined((await wire.answer(1)).result)
    wire.send({ id: 2, method: "tools/call", params: { name: "test_simple_text", arguments: {} } })
    assert.isDefined((await wire.answer(2)).result)
    wire.process.stdin.end()
    assert.deepStrictEqual(await wire.ended, [0, null])
    const types = (await events(state)).map(({ type }) => type)
    assert.includeMembers(types, ["session", "trusted", "call", "outcome", "ended"])
    assert.strictEqual((await verify(state)).status, "ok")
  })

  it("F28: a server that wants a token gets it from a variable, and nothing else: no proxy of the environment does", async () => {
    const proxied: Array<string> = []
    const proxy = http.createServer((request, response) => {
      proxied.push(request.url ?? "")
      response.end()
    })
    await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve))
    closing.push(() => void proxy.close())
    const at = proxy.address()
    const through = `http://127.0.0.1:${typeof at === "object" ? at?.port : ""}`
    const url = await served("--token-file", tokenFile())
    const without = relay(url, join(folder(), "state"))
    const { error } = await without.open()
    assert.match(error?.message ?? "", /bearer token is needed/)
    const wire = relay(url, join(folder(), "state"), ["--header", "Authorization=FAR_TOKEN"], {
      FAR_TOKEN: `Bearer ${secret}`,
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: through,
      http_proxy: through,
      HTTPS_PROXY: through
    })
    assert.isDefined((await wire.open()).result)
    assert.deepStrictEqual(proxied, [])
    assert.notInclude(wire.stderr, secret)
  })

  const refused: Record<string, readonly [url: string, args: ReadonlyArray<string>, says: RegExp]> = {
    "a variable that is not set": [
      "https://mcp.example/",
      ["--header", "X-Key=NOT_SET_ANYWHERE"],
      /NOT_SET_ANYWHERE.*is not set/
    ],
    "http to another machine": ["http://mcp.example/", [], /use https/],
    "a private address": ["https://10.0.0.1/mcp", [], /private network/],
    "no address at all": ["mcp.example", [], /it is no URL/]
  }
  for (const [what, [url, args, says]] of Object.entries(refused)) {
    it(`${what} is said to the host and on stderr, and nothing is connected to`, async () => {
      const wire = relay(url, join(folder(), "state"), args)
      const { error } = await wire.open()
      assert.deepInclude(error?.data, { reason: "server-not-started" })
      assert.match(wire.stderr, says)
    })
  }

  it("a server that is not there is said to be unreachable", async () => {
    const wire = relay("http://127.0.0.1:9/mcp", join(folder(), "state"))
    const { error } = await wire.open()
    assert.deepInclude(error?.data, { reason: "unreachable", server: "far" })
    assert.match(error?.message ?? "", /nothing listens at the address/)
  })

  it("another address under the same name is held, as another command is (F4)", async () => {
    const state = join(folder(), "state")
    const first = relay(await served(), state)
    await first.open()
    first.send({ id: 1, method: "tools/list" })
    await first.answer(1)
    first.process.stdin.end()
    await first.ended
    const second = relay(await served(), state)
    assert.deepInclude((await second.open()).error?.data, { reason: "launch-changed" })
  })
})

describe("--http", () => {
  it("a host connects over HTTP, with the token and not without", async () => {
    const file = tokenFile()
    const wire = relay(await served(), join(folder(), "state"), ["--http", "127.0.0.1:0", "--token-file", file])
    const url = await urlOf(wire)
    assert.strictEqual((await post(url, initialize)).status, 401)
    assert.strictEqual((await post(url, initialize, { authorization: "Bearer wrong" })).status, 401)
    const answer = await post(url, initialize, { authorization: `Bearer ${secret}` })
    assert.strictEqual(answer.status, 200)
    assert.include(await answer.text(), "protocolVersion")
    const away = await post(url, initialize, { authorization: `Bearer ${secret}`, origin: "https://evil.example" })
    assert.strictEqual(away.status, 403)
  })

  it("SIGTERM with a request in flight ends it, and the server's process with it", async () => {
    const launch = servers.sdk2("dual")
    const wire = run([
      "relay",
      "--name",
      "far",
      "--state",
      join(folder(), "state"),
      "--first-sight",
      "trust",
      "--http",
      "127.0.0.1:0",
      "--",
      launch.command,
      ...launch.args
    ])
    const url = await urlOf(wire)
    const response = await post(url, initialize)
    const session = response.headers.get("mcp-session-id") ?? ""
    await response.text()
    const stream = await fetch(url, {
      headers: { accept: "text/event-stream", "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
    })
    assert.strictEqual(stream.status, 200)
    wire.process.kill("SIGTERM")
    const [code, signal] = await wire.ended
    assert.isTrue(code === 143 || code === 0 || signal === "SIGTERM", `${code} ${signal}`)
    await stream.text().catch(() => "broken off")
  })

  it("a port that is taken is told of, with its number", async () => {
    const url = await served()
    const port = new URL(url).port
    const wire = relay(url, join(folder(), "state"), ["--http", `127.0.0.1:${port}`])
    assert.deepStrictEqual(await wire.ended, [1, null])
    assert.match(wire.stderr, new RegExp(`sallyport relay: .*${port}`))
  })
})

it("what does not go together is refused before anything starts", () => {
  const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
    [["--url", "https://a.example/", "--", "x"], /--url is instead of a command/],
    [["--header", "A=B", "--", "x"], /--header and --private are for --url/],
    [["--url", "https://a.example/", "--header", "Authorization: Bearer x"], /--header is NAME=VARIABLE/],
    [["--url", "https://a.example/", "--env", "A"], /for a command/],
    [["--token-file", "t", "--", "x"], /--token-file is for --http/],
    [["--http", "everywhere", "--", "x"], /--http is HOST:PORT/]
  ]
  for (const [args, says] of wrong) {
    const ended = spawnSync(process.execPath, [servers.sallyport, "relay", ...args], { encoding: "utf8" })
    assert.strictEqual(ended.status, 2)
    assert.match(ended.stderr, says)
    assert.notInclude(ended.stderr.split("\n")[0], "Bearer")
  }
})
