import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import type { LookupAddress } from "node:dns"
import * as http from "node:http"
import { Environment } from "../../src/node/Environment.ts"
import * as NodeConnect from "../../src/node/NodeConnect.ts"
import * as Spawn from "../../src/stage/Spawn.ts"

const address = (url: string, more: Partial<Spawn.Address> = {}): Spawn.Address => ({
  name: "far",
  url,
  headers: [],
  privately: false,
  ...more
})

const connect = (launch: Spawn.Launch, environment: Record<string, string> = {}) =>
  Effect.flatMap(Spawn.Spawn, (spawn) => spawn.connect(launch)).pipe(
    Effect.provide(NodeConnect.layer.pipe(Layer.provide(Spawn.layerMemory()))),
    Effect.provideService(Environment, environment)
  )

const whyOf = (launch: Spawn.Launch, environment: Record<string, string> = {}) =>
  Effect.map(Effect.exit(connect(launch, environment)), (exit) => {
    const failure = Exit.findErrorOption(exit)
    return failure._tag === "Some" ? failure.value.message : ""
  })

describe("F28: which addresses", () => {
  it("https, or http on this machine", () => {
    for (
      const url of [
        "https://example.com/mcp",
        "http://localhost:1/mcp",
        "http://127.0.0.1/",
        "http://127.9.9.9/",
        "http://[::1]:8/"
      ]
    ) assert.isUndefined(NodeConnect.whyNot(url), url)
    for (
      const url of [
        "http://example.com/mcp",
        "http://10.0.0.1/",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "ws://localhost/",
        "file:///etc/passwd",
        "https://user:word@example.com/",
        "https://user@example.com/",
        "https://example.com/#here",
        "example.com"
      ]
    ) assert.isDefined(NodeConnect.whyNot(url), url)
  })

  it("an address of a private network, however it is written", () => {
    for (
      const one of [
        "127.0.0.1",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "::ffff:a9fe:a9fe",
        "64:ff9b::a9fe:a9fe",
        "2002:7f00:1::",
        "no address"
      ]
    ) assert.isTrue(NodeConnect.isPrivate(one), one)
    for (const one of ["1.1.1.1", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"]) {
      assert.isFalse(NodeConnect.isPrivate(one), one)
    }
  })

  it.effect("an address that is no name is checked too, as it is never looked up", () =>
    Effect.gen(function*() {
      for (
        const host of ["10.0.0.1", "169.254.169.254", "[fd00::1]", "[::ffff:a9fe:a9fe]", "0x7f.1.1.1:8", "2130706434"]
      ) {
        const why = yield* whyOf(address(`https://${host}/`))
        if (!host.startsWith("0x") && host !== "2130706434") assert.include(why, "private network", host)
      }
      yield* Effect.scoped(connect(address("https://10.0.0.1/", { privately: true })))
    }))
})

describe("F28: a name is looked up once, and the connection goes where the check was", () => {
  const looked = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
    let asked = 0
    const resolve = (
      _: string,
      __: unknown,
      callback: (error: null, addresses: Array<LookupAddress>) => void
    ) =>
      callback(
        null,
        (answers[Math.min(asked++, answers.length - 1)] ?? []).map((at) => ({
          address: at,
          family: at.includes(":") ? 6 : 4
        }))
      )
    const lookup = NodeConnect.publicOnly(resolve)
    const one = (all: boolean) => {
      let said: unknown
      lookup("name.example", { all }, (error, found) => (said = error === null ? found : error.code))
      return said
    }
    return { one, asked: () => asked }
  }

  it("the public address that was checked is the one that is connected to", () => {
    const { asked, one } = looked(["93.184.216.34"], ["127.0.0.1"])
    assert.deepStrictEqual(one(true), [{ address: "93.184.216.34", family: 4 }])
    assert.strictEqual(asked(), 1)
    // The answer has changed: the next connection is checked by it.
    assert.strictEqual(one(true), "EPRIVATE")
    assert.strictEqual(asked(), 2)
    assert.strictEqual(looked(["93.184.216.34"]).one(false), "93.184.216.34")
  })

  it("one private address among public ones is enough to refuse", () => {
    for (const at of ["127.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "::1", "fd00::1"]) {
      assert.strictEqual(looked(["93.184.216.34", at]).one(true), "EPRIVATE", at)
      assert.strictEqual(looked([at]).one(false), "EPRIVATE", at)
    }
    assert.strictEqual(looked([]).one(true), "EPRIVATE")
  })
})

describe("F28: headers", () => {
  it.effect("come from variables, which must be set and fit in a header", () =>
    Effect.gen(function*() {
      const launch = address("https://example.com/", { headers: [{ name: "Authorization", variable: "TOKEN" }] })
      assert.match(yield* whyOf(launch), /TOKEN.*is not set/)
      for (const value of ["", "a\nb", "a\r\nx: y", "ü", "a\u0000"]) {
        const why = yield* whyOf(launch, { TOKEN: value })
        assert.match(why, /TOKEN holds no value for a header/)
        if (value !== "") assert.notInclude(why, value)
      }
      yield* Effect.scoped(connect(launch, { TOKEN: "Bearer x" }))
    }))

  it.effect("that say how a message is sent are Sallyport's", () =>
    Effect.gen(function*() {
      for (
        const name of ["Host", "Content-Length", "Transfer-Encoding", "Accept-Encoding", "MCP-Session-Id", "Mcp-Name"]
      ) {
        const launch = address("https://example.com/", { headers: [{ name, variable: "X" }] })
        assert.match(yield* whyOf(launch, { X: "1" }), /Sallyport's to set/, name)
      }
    }))
})

it.live("a server on this machine is spoken to, with the header that was named", () =>
  Effect.gen(function*() {
    const seen: Array<string | undefined> = []
    const server = http.createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.writeHead(200, { "content-type": "application/json" })
      response.end("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}")
    })
    yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
    const at = server.address()
    const port = typeof at === "object" && at !== null ? at.port : 0
    const launch = address(`http://localhost:${port}/mcp`, { headers: [{ name: "Authorization", variable: "TOKEN" }] })
    const peer = yield* connect(launch, { TOKEN: "Bearer x" })
    yield* peer.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
    let line = ""
    const first = peer.receive((chunk) => {
      line += new TextDecoder().decode(chunk)
      return Effect.fail("read")
    })
    yield* Effect.ignore(first)
    assert.strictEqual(line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n")
    assert.deepStrictEqual(seen, ["Bearer x"])
  }))
