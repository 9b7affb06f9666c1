import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Access from "../../src/http/Access.ts"
import * as Head from "../../src/http/Head.ts"
import * as H from "./harness.ts"

const clients = Access.tokens([
  { token: H.token("one"), who: { client: "one" } },
  { token: H.token("two"), who: { client: "two" } }
])
const bearer = (name: string) => ({ authorization: `Bearer ${name}-0123456789abcdef` })

describe("HttpTransport, who may speak", () => {
  it.effect("answers to its own name alone", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ hosts: ["mcp.example.com", "other.example.com:8443"] })
      const status = (host: string | undefined) =>
        Effect.map(http.post(H.initialize(), { host }), ({ now }) => now.status)
      for (const host of ["127.0.0.1:4321", "localhost:4321", "LOCALHOST:4321", "[::1]:4321", "127.9.9.9:4321"]) {
        assert.strictEqual(yield* status(host), 200, host)
      }
      for (const host of ["mcp.example.com", "mcp.example.com:99", "other.example.com:8443"]) {
        assert.strictEqual(yield* status(host), 200, host)
      }
      const wrong = [
        undefined,
        "evil.example.com",
        "evil.example.com:4321",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1.evil.example:4321",
        "localhost.evil.example:4321",
        "127.0.0.256:4321",
        "user@localhost:4321",
        "localhost:4321/",
        "other.example.com",
        "0.0.0.0:4321",
        "[::]:4321"
      ]
      for (const host of wrong) assert.strictEqual(yield* status(host), 403, host)
      assert.strictEqual(http.seen.opened.length, 8)
    }))

  it.effect("serves pages of loopback origins and of named ones, and lets only the named ones read", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ origins: ["https://inspector.example"] })
      const send = (origin: string) => http.post(H.initialize(), { origin })
      for (const origin of ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:1"]) {
        const { now } = yield* send(origin)
        assert.strictEqual(now.status, 200, origin)
        assert.isNull(now.headers.get("access-control-allow-origin"))
      }
      const named = yield* send("https://inspector.example")
      assert.strictEqual(named.now.status, 200)
      assert.strictEqual(named.now.headers.get("access-control-allow-origin"), "https://inspector.example")
      const wrong = [
        "null",
        "http://evil.example",
        "http://localhost.evil.example",
        "https://inspector.example.evil",
        "file://",
        "http://localhost:1, http://evil.example",
        "http://evil.example#localhost"
      ]
      for (const origin of wrong) assert.strictEqual((yield* send(origin)).now.status, 403, origin)
      const preflight = (origin: string) => http.send("OPTIONS", { host: H.postHeaders.host, origin })
      assert.strictEqual((yield* preflight("https://inspector.example")).now.status, 204)
      assert.strictEqual((yield* preflight("http://localhost:6274")).now.status, 405)
    }))

  it.effect("wants a token that it knows, and says no more than that", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ authenticate: clients })
      const wrong = [undefined, "Bearer", "Basic abc", "Bearer nobody-0123456789abcdef", "Bearer a b", "Bearer ü"]
      for (const authorization of wrong.slice(0, 5)) {
        const { now } = yield* http.post(H.initialize(), { authorization })
        assert.strictEqual(now.status, 401)
        assert.match(now.headers.get("www-authenticate") ?? "", /^Bearer/)
      }
      yield* http.open("2025-11-25", bearer("one"))
      assert.deepStrictEqual(http.seen.opened, ["one"])
    }))

  it.effect("keeps each client's sessions from the others, as if they never were", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ authenticate: clients })
      const id = yield* http.open("2025-11-25", bearer("one"))
      const get = { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id }
      const own = yield* http.send("GET", { ...get, ...bearer("one") })
      const last = own.now.events()[0]?.id
      const never = yield* http.post(H.request(1, "tools/list"), { ...bearer("two"), "mcp-session-id": "f".repeat(32) })
      const foreign = yield* http.post(H.request(1, "tools/list"), { ...bearer("two"), "mcp-session-id": id })
      assert.deepStrictEqual([foreign.now.status, foreign.now.body()], [404, never.now.body()])
      const replay = yield* http.send("GET", { ...get, ...bearer("two"), "last-event-id": last })
      assert.strictEqual(replay.now.status, 404)
      assert.strictEqual((yield* http.send("DELETE", { ...get, ...bearer("two") })).now.status, 404)
      assert.strictEqual(
        (yield* http.post(H.request(1, "ping"), { ...bearer("one"), "mcp-session-id": id })).now.status,
        200
      )
    }))

  it.effect("has a bound on the sessions and requests of each client", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ authenticate: clients, limits: { clientSessions: 1, clientRequests: 2 } })
      const id = yield* http.open("2025-11-25", bearer("one"))
      assert.strictEqual((yield* http.post(H.initialize(), bearer("one"))).now.status, 503)
      yield* http.open("2025-11-25", bearer("two"))
      const one = { ...bearer("one"), "mcp-session-id": id }
      yield* http.post(H.call(1, "held"), one)
      yield* http.post(H.call(2, "held"), one)
      const third = yield* http.post(H.call(3, "echo"), one)
      assert.strictEqual(third.now.status, 429)
      for (const call of http.seen.held) call.reply(H.text("done"))
    }))
})

describe("HttpTransport, the form of a request", () => {
  it.effect("takes JSON from clients that take both JSON and events", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const status = (headers: Record<string, string | undefined>) =>
        Effect.map(http.post(H.initialize(), headers), ({ now }) => now.status)
      const accepts: ReadonlyArray<readonly [string | undefined, number]> = [
        ["text/event-stream, application/json", 200],
        ["application/json;q=0.9,text/event-stream;charset=utf-8", 200],
        ["*/*", 200],
        ["application/*, text/*", 200],
        ["application/json", 406],
        ["text/event-stream", 406],
        ["application/json, text/event-stream;q=0", 406],
        ["application/jsonp, text/event-stream", 406],
        [undefined, 406]
      ]
      for (const [accept, expected] of accepts) assert.strictEqual(yield* status({ accept }), expected, accept)
      const types: ReadonlyArray<readonly [string | undefined, number]> = [
        ["application/json; charset=UTF-8", 200],
        ["application/json; charset=latin1", 415],
        ["text/plain", 415],
        ["application/json, text/plain", 415],
        ["application/jsonx", 415]
      ]
      for (const [type, expected] of types) assert.strictEqual(yield* status({ "content-type": type }), expected, type)
      assert.strictEqual(yield* status({ "content-encoding": "gzip" }), 415)
    }))

  it.effect("refuses bodies that are no message, too long or too slow", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ limits: { bodyBytes: 1000, bodiesBytes: 1500 } })
      const bad = ["", " \n", "{", "[]", "5", "null", "{\"a\":1,\"a\":2}", "\ufeff{}", "{\"x\":\"a\nb\"}", "{}{}"]
      for (const body of bad) {
        const { now } = yield* http.post(body)
        assert.strictEqual(now.status, 400, body)
        assert.isAtMost(now.json().error?.code ?? 0, -32600)
      }
      assert.strictEqual((yield* http.post(`{"x":"${"y".repeat(1000)}"}`)).now.status, 413)
      const pretty = JSON.stringify(H.initialize(), null, 2).replaceAll("\n", "\r\n")
      assert.strictEqual((yield* http.post(pretty)).now.status, 200)
    }))

  it.effect("knows one address and its verbs", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const status = (method: string, path: string) =>
        Effect.map(
          http.send(method, { ...H.postHeaders, accept: "application/json" }, undefined, {
            url: `http://127.0.0.1:${H.port}${path}`
          }),
          ({ now }) => now.status
        )
      assert.strictEqual(yield* status("GET", "/"), 404)
      assert.strictEqual(yield* status("GET", "/mcp/"), 404)
      assert.strictEqual(yield* status("GET", "/sse"), 404)
      assert.strictEqual(yield* status("GET", "/mcp"), 405)
      assert.strictEqual(yield* status("PUT", "/mcp"), 405)
      assert.strictEqual(yield* status("DELETE", "/mcp"), 400)
    }))

  it.effect("says no more than a sentence when its own parts fail", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ authenticate: () => Effect.die(new Error("/secret/path")) })
      const { now } = yield* http.post(H.initialize())
      assert.strictEqual(now.status, 500)
      assert.notInclude(now.body(), "secret")
      assert.strictEqual(now.json().error?.code, -32603)
    }))

  it("finds headers that come twice though one counts", () => {
    assert.strictEqual(Head.repeated(["Host", "a", "Accept", "x", "Accept", "y", "hOST", "b"]), "host")
    assert.strictEqual(Head.repeated(["Mcp-Name", "a", "mcp-name", "a"]), "mcp-name")
    assert.isUndefined(Head.repeated(["Host", "a", "Cookie", "x", "Cookie", "y"]))
  })
})

describe("HttpTransport, the two addresses of 2024-11-05", () => {
  const sse = { stream: "/sse", messages: "/messages" }
  const at = (path: string) => ({ url: `http://127.0.0.1:${H.port}${path}` })

  it.effect("sends everything on the stream that names the other address", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ sse })
      const get = yield* http.send(
        "GET",
        { host: H.postHeaders.host, accept: "text/event-stream" },
        undefined,
        at("/sse")
      )
      const endpoint = get.now.events()[0]
      assert.strictEqual(endpoint?.event, "endpoint")
      assert.match(endpoint?.data ?? "", /^\/messages\?sessionId=[0-9a-f]{32}$/)
      const post = (body: object) => http.send("POST", H.postHeaders, body, at(endpoint?.data ?? ""))
      assert.strictEqual((yield* post(H.initialize("2024-11-05"))).now.status, 202)
      yield* post(H.notification("notifications/initialized"))
      yield* post(H.call(1, "changed"))
      assert.deepStrictEqual(get.now.events().map(({ event }) => event), ["endpoint", "message", "message", "message"])
      assert.strictEqual(
        (yield* http.send("POST", H.postHeaders, H.call(2, "echo"), at("/messages?sessionId=0"))).now.status,
        404
      )
      yield* get.leave
      assert.deepStrictEqual(http.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
      assert.strictEqual((yield* post(H.call(2, "echo"))).now.status, 404)
    }))
})

describe("HttpTransport, slow bodies", () => {
  it.effect("waits for a body no longer than its time", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ times: { body: Duration.seconds(5) } })
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) })
      const sent = yield* http.stream(body)
      assert.isUndefined(sent.response())
      yield* TestClock.adjust("5 seconds")
      yield* H.settle
      assert.strictEqual(sent.now.status, 408)
    }))
})
