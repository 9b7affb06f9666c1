import { assert, describe, it } from "@effect/vitest"
import * as Two from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import {
  CreateMessageRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as net from "node:net"
import * as Notices from "../../src/line/Notices.ts"
import * as NodeHttp from "../../src/node/NodeHttp.ts"
import * as Session from "../../src/session/Session.ts"
import * as Parse from "../../src/stage/Parse.ts"
import * as Files from "../../src/store/Files.ts"
import * as H from "../http/harness.ts"

interface Served {
  readonly url: string
  readonly host: string
  readonly port: number
  readonly seen: H.Seen
  readonly stats: NodeHttp.Listening["Service"]["stats"]
  /** Closes the server, and waits until it is. */
  readonly close: Effect.Effect<void>
}

const serve = (options: NodeHttp.Options = {}): Effect.Effect<Served, NodeHttp.ListenError, Scope.Scope> =>
  Effect.gen(function*() {
    const seen = H.makeSeen()
    const scope = yield* Scope.fork(yield* Effect.scope)
    const context = yield* Layer.buildWithScope(NodeHttp.layerHttp(options), scope)
    const run = Session.run.pipe(
      Effect.provide(Layer.mergeAll(Parse.layer(), H.scripted(seen), Notices.layerSilent)),
      Effect.provide(context)
    )
    const fiber = yield* Effect.forkIn(run, scope)
    const { port, stats, url } = yield* NodeHttp.Listening.pipe(Effect.provide(context))
    return {
      url,
      host: `127.0.0.1:${port}`,
      port,
      seen,
      stats,
      close: Effect.andThen(Fiber.interrupt(fiber), Scope.close(scope, Exit.void))
    }
  })

const later = (millis: number) => Effect.sleep(Duration.millis(millis))

/** Waits until something is so. */
const until = (is: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => is() ? Effect.void : Effect.andThen(later(5), until(is)))

/** Sends bytes as they are, and gives what comes back until the server closes the connection, or the time is over. */
const raw = (port: number, text: string, millis = 400): Effect.Effect<string> =>
  Effect.callback((resume) => {
    let got = ""
    const socket = net.connect(port, "127.0.0.1", () => socket.write(text))
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(got))
    }
    socket.on("data", (chunk) => got += String(chunk))
    socket.on("error", () => {})
    socket.on("close", done)
    socket.setTimeout(millis, done)
  })

const post = (
  { url }: Served,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal
): Effect.Effect<Response> =>
  Effect.promise(() =>
    fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal })
    })
  )

const open = Effect.fnUntraced(function*(served: Served) {
  const response = yield* post(served, H.initialize())
  const id = response.headers.get("mcp-session-id") ?? ""
  yield* Effect.promise(() => response.text())
  yield* post(served, H.notification("notifications/initialized"), { "mcp-session-id": id })
  return id
})

const head = (served: Served, more: string, body = "{}") =>
  `POST /mcp HTTP/1.1\r\nHost: ${served.host}\r\nContent-Type: application/json\r\n`
  + `Accept: application/json, text/event-stream\r\n${more}\r\n${body}`

const statusOf = (response: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1])

const live = <E>(name: string, run: () => Effect.Effect<void, E, Scope.Scope>) =>
  it.live(name, () => Effect.scoped(run()), 30_000)

describe("NodeHttp.layerHttp", () => {
  live("listens on this machine alone, and on more only with a way to know who is there", () =>
    Effect.gen(function*() {
      const served = yield* serve()
      assert.match(served.url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/)
      const refused = yield* Effect.flip(serve({ host: "0.0.0.0" }))
      assert.match(refused.message, /give it a token/)
      const taken = yield* Effect.flip(serve({ port: served.port }))
      assert.match(taken.message, /something else listens there/)
      const guarded = yield* serve({ host: "0.0.0.0", token: H.token("one") })
      const { port } = guarded
      const local = { ...guarded, url: `http://127.0.0.1:${port}/mcp` }
      assert.strictEqual((yield* post(local, H.initialize())).status, 401)
      const authorization = "Bearer one-0123456789abcdef"
      assert.strictEqual((yield* post(local, H.initialize(), { authorization })).status, 200)
      yield* serve({ host: "0.0.0.0", unguarded: true })
    }))

  it.effect("takes its token from a file that holds one", () =>
    Effect.gen(function*() {
      const files = yield* Files.MemoryFiles
      files.contents.set("/token", "0123456789abcdef\n")
      files.contents.set("/short", "0123\n")
      yield* NodeHttp.tokenFile("/token")
      assert.strictEqual((yield* Effect.flip(NodeHttp.tokenFile("/short")))._tag, "ListenError")
    }).pipe(Effect.provide(Files.layerMemory)))

  live("refuses the names and pages of DNS rebinding", () =>
    Effect.gen(function*() {
      const served = yield* serve()
      const body = JSON.stringify(H.initialize())
      const send = (host: string, more = "") =>
        raw(
          served.port,
          `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nConnection: close\r\n`
            + `Accept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
        )
      assert.strictEqual(statusOf(yield* send(served.host)), 200)
      assert.strictEqual(statusOf(yield* send("evil.example.com")), 403)
      assert.strictEqual(statusOf(yield* send(`evil.example.com:${served.port}`)), 403)
      assert.strictEqual(statusOf(yield* send(served.host, "Origin: http://evil.example.com\r\n")), 403)
      assert.strictEqual(statusOf(yield* send(served.host, "Origin: null\r\n")), 403)
      assert.strictEqual(statusOf(yield* send(served.host, `Host: ${served.host}\r\n`)), 400)
      const absolute = yield* raw(
        served.port,
        `POST http://evil.example.com/mcp HTTP/1.1\r\nHost: ${served.host}\r\nConnection: close\r\n\r\n`
      )
      assert.strictEqual(statusOf(absolute), 403)
      assert.strictEqual(served.seen.opened.length, 1)
    }))

  live("refuses requests that a proxy could read in another way", () =>
    Effect.gen(function*() {
      const served = yield* serve()
      const both = yield* raw(
        served.port,
        head(served, "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")
      )
      assert.strictEqual(statusOf(both), 400)
      assert.strictEqual(
        statusOf(yield* raw(served.port, head(served, "Content-Length: 2\r\nContent-Length: 3\r\n"))),
        400
      )
      const folded = yield* raw(served.port, head(served, "Mcp-Method: tools/list\r\n x\r\nContent-Length: 2\r\n"))
      assert.strictEqual(statusOf(folded), 400)
      const twice = yield* raw(served.port, head(served, "Mcp-Name: a\r\nMcp-Name: b\r\nContent-Length: 2\r\n"))
      assert.strictEqual(statusOf(twice), 400)
      assert.match(twice, /the header mcp-name may come only once/)
      const token = yield* raw(
        served.port,
        head(served, "Authorization: Bearer a\r\nAuthorization: Bearer b\r\nContent-Length: 2\r\n")
      )
      assert.strictEqual(statusOf(token), 400)
      const long = yield* raw(served.port, head(served, `X: ${"x".repeat(20_000)}\r\nContent-Length: 2\r\n`))
      assert.strictEqual(statusOf(long), 431)
      assert.deepStrictEqual(served.seen.opened, [])
    }))

  live("reads no more of a body than it may, and no longer", () =>
    Effect.gen(function*() {
      const served = yield* serve({
        limits: { bodyBytes: 1000 },
        times: { body: Duration.millis(200) }
      })
      const announced = yield* raw(served.port, head(served, "Content-Length: 5000000\r\n", "{"))
      assert.strictEqual(statusOf(announced), 413)
      const chunk = "7d0\r\n" + "x".repeat(2000) + "\r\n"
      assert.strictEqual(statusOf(yield* raw(served.port, head(served, "Transfer-Encoding: chunked\r\n", chunk))), 413)
      const slow = yield* raw(served.port, head(served, "Content-Length: 100\r\n", "{"), 2000)
      assert.strictEqual(statusOf(slow), 408)
      const asked = yield* raw(served.port, head(served, "Content-Length: 5000000\r\nExpect: 100-continue\r\n", ""))
      assert.strictEqual(statusOf(asked), 413)
      const go = yield* raw(served.port, head(served, "Content-Length: 2\r\nExpect: 100-continue\r\n", ""), 100)
      assert.strictEqual(statusOf(go), 100)
      yield* until(() => served.stats().requests === 0)
    }))

  live("has a bound on connections", () =>
    Effect.gen(function*() {
      const served = yield* serve({ connections: 2 })
      const id = yield* open(served)
      const headers = { accept: "text/event-stream", "mcp-session-id": id }
      const listen = Effect.promise(() => fetch(served.url, { headers }))
      const streams = [yield* listen, yield* listen]
      const third = yield* Effect.exit(Effect.tryPromise(() => fetch(served.url, { headers })))
      assert.isTrue(Exit.isFailure(third))
      yield* Effect.promise(async () => {
        for (const { body } of streams) await body?.cancel()
      })
      yield* until(() => served.stats().requests === 0)
    }))

  live("cancels a modern call whose socket closes, not a legacy one", () =>
    Effect.gen(function*() {
      const served = yield* serve({ times: { patience: Duration.millis(20) } })
      const id = yield* open(served)
      const abort = new AbortController()
      const old = yield* post(served, H.call(1, "held"), { "mcp-session-id": id }, abort.signal)
      const params = { name: "held", _meta: H.claim() }
      const recent = yield* post(
        served,
        H.request(1, "tools/call", params),
        H.modernHeaders("tools/call", "held"),
        abort.signal
      )
      assert.deepStrictEqual([old.status, recent.status, served.seen.held.length], [200, 200, 2])
      abort.abort()
      yield* until(() => served.stats().requests === 0 && served.stats().peers === 1)
      assert.deepStrictEqual(served.seen.cancelled, ["held"])
    }))

  live("holds a thousand sessions, and no more", () =>
    Effect.gen(function*() {
      const served = yield* serve({ limits: { sessions: 1000 } })
      const before = process.memoryUsage().heapUsed
      const initialized = Effect.flatMap(post(served, H.initialize()), (response) =>
        Effect.promise(async () => {
          await response.text()
          return response.status
        }))
      const statuses = yield* Effect.all(Array.from({ length: 1010 }, () => initialized), { concurrency: 16 })
      assert.deepStrictEqual(statuses.filter((status) => status === 503).length, 10)
      assert.strictEqual(served.stats().sessions, 1000)
      assert.isBelow(process.memoryUsage().heapUsed - before, 200 * 1024 * 1024)
      yield* served.close
      assert.deepStrictEqual(served.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
    }))

  live("lets a slow reader slow its own session only, in bounded memory", () =>
    Effect.gen(function*() {
      const served = yield* serve()
      const [slow, other] = [yield* open(served), yield* open(served)]
      const socket = net.connect(served.port, "127.0.0.1")
      socket.pause()
      socket.write(
        `GET /mcp HTTP/1.1\r\nHost: ${served.host}\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${slow}\r\n\r\n`
      )
      yield* until(() => served.stats().requests === 1)
      const back = served.seen.backs[0]
      let sent = 0
      const flood = Effect.gen(function*() {
        while (true) {
          back?.notify("notifications/tools/list_changed", undefined)
          yield* back?.flush ?? Effect.void
          sent++
          if (sent % 100 === 0) yield* later(0)
        }
      })
      const fiber = yield* Effect.forkChild(flood)
      let before = -1
      yield* until(() => sent > 1000)
      while (sent !== before) {
        before = sent
        yield* later(300)
      }
      assert.isBelow(sent * 80, 20 * 1024 * 1024)
      const listed = yield* post(served, H.request(1, "tools/list"), { "mcp-session-id": other })
      assert.strictEqual(listed.status, 200)
      socket.destroy()
      yield* until(() => sent > before)
      yield* Fiber.interrupt(fiber)
      yield* until(() => served.stats().requests === 0)
    }))

  live(
    "closes in order: streams end, subscriptions have their last result, no socket is left",
    () =>
      Effect.gen(function*() {
        const served = yield* serve()
        const id = yield* open(served)
        const get = yield* Effect.promise(() =>
          fetch(served.url, { headers: { accept: "text/event-stream", "mcp-session-id": id } })
        )
        const listen = yield* post(
          served,
          H.request("listen:0", "subscriptions/listen", { _meta: H.claim(), notifications: {} }),
          H.modernHeaders("subscriptions/listen")
        )
        yield* served.close
        const [stream, listened] = yield* Effect.promise(() => Promise.all([get.text(), listen.text()]))
        assert.match(stream, /^id: /)
        assert.strictEqual(H.eventsOf(listened).length, 2)
        assert.match(listened, /"id":"listen:0"/)
        assert.deepStrictEqual(served.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
        const gone = yield* Effect.exit(Effect.tryPromise(() => fetch(served.url)))
        assert.isTrue(Exit.isFailure(gone))
      })
  )
})

const info = { name: "test", version: "1" }

/** Under exactOptionalPropertyTypes the SDK's own transports are not of its own type, for want of an `undefined`. */
const connect = async (client: Client, transport: StreamableHTTPClientTransport | SSEClientTransport) => {
  await Reflect.apply(client.connect, client, [transport])
}

describe("NodeHttp.layerHttp, the official clients", () => {
  live(
    "SDK 1: tools, progress, sampling, logging, lists that change, and the end of the session",
    () =>
      Effect.gen(function*() {
        const served = yield* serve()
        const client = new Client(info, { capabilities: { sampling: {} } })
        const changed: Array<string> = []
        client.setRequestHandler(CreateMessageRequestSchema, async () => ({
          model: "m",
          role: "assistant" as const,
          content: { type: "text" as const, text: "sampled" }
        }))
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
          changed.push("tools")
        })
        client.setNotificationHandler(LoggingMessageNotificationSchema, () => {
          changed.push("log")
        })
        const transport = new StreamableHTTPClientTransport(new URL(served.url))
        const errors: Array<string> = []
        Object.assign(client, { onerror: (error: Error) => errors.push(String(error)) })
        yield* Effect.promise(async () => {
          await connect(client, transport)
          assert.strictEqual((await client.listTools()).tools.length, 7)
          const progress: Array<number> = []
          await client.callTool({ name: "progress" }, undefined, {
            onprogress: (at) => {
              progress.push(at.progress)
            }
          })
          assert.deepStrictEqual(progress.slice(0, 2), [0, 50])
          await client.callTool({ name: "ask" })
          assert.strictEqual(served.seen.answers[0]?._tag, "Result")
          await client.callTool({ name: "log" })
          await client.callTool({ name: "changed" })
          const all = await Promise.all(
            Array.from({ length: 30 }, (_, k) => client.callTool({ name: "echo", arguments: { said: String(k) } }))
          )
          assert.deepStrictEqual(
            all.map((result) => Array.isArray(result.content) ? result.content[0].text : undefined),
            Array.from({ length: 30 }, (_, k) => String(k))
          )
          const big = await client.callTool({ name: "big" })
          assert.strictEqual(Array.isArray(big.content) ? big.content[0].text.length : 0, 1024 * 1024)
        })
        yield* until(() => changed.length === 2)
        assert.deepStrictEqual(changed.toSorted(), ["log", "tools"])
        yield* Effect.promise(async () => {
          const abort = new AbortController()
          const held = client.callTool({ name: "held" }, undefined, { signal: abort.signal }).then(
            () => "answered",
            () => "gone"
          )
          while (served.seen.held.length === 0) await new Promise((resume) => setTimeout(resume, 5))
          abort.abort("enough")
          assert.strictEqual(await held, "gone")
        })
        yield* until(() => served.seen.cancelled.length === 1)
        yield* Effect.promise(async () => {
          await transport.terminateSession()
          await client.close()
        })
        yield* until(() => served.stats().sessions === 0 && served.stats().requests === 0)
        assert.deepStrictEqual(errors, [])
      })
  )

  live("SDK 1 resumes a call whose stream was lost", () =>
    Effect.gen(function*() {
      const served = yield* serve({ times: { patience: Duration.millis(10), retry: Duration.millis(20) } })
      const client = new Client(info)
      let calls = 0
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const transport = new StreamableHTTPClientTransport(new URL(served.url), {
        fetch: async (input, init) => {
          const response = await fetch(input, init)
          if (init?.method !== "POST" || !String(init.body).includes("tools/call")) return response
          calls++
          // The connection is lost behind the first event.
          const reader = response.body?.getReader()
          const first = await reader?.read()
          await reader?.cancel()
          const { readable, writable } = new TransformStream()
          const writer = writable.getWriter()
          void writer.write(first?.value).then(() => writer.close())
          return new Response(readable, { status: response.status, headers: response.headers })
        }
      })
      yield* Effect.promise(async () => {
        await connect(client, transport)
        const held = client.callTool({ name: "held" })
        while (served.seen.held.length === 0) await new Promise((resume) => setTimeout(resume, 5))
        await new Promise((resume) => setTimeout(resume, 60))
        served.seen.held[0]?.reply(H.text("resumed"))
        await run(served.seen.backs[0]?.flush ?? Effect.void)
        const result = await held
        assert.strictEqual(Array.isArray(result.content) ? result.content[0].text : undefined, "resumed")
        assert.strictEqual(calls, 1)
        await client.close()
      })
    }))

  live("SDK 1 over the two addresses of 2024-11-05", () =>
    Effect.gen(function*() {
      const served = yield* serve({ sse: { stream: "/sse", messages: "/messages" } })
      const client = new Client(info)
      yield* Effect.promise(async () => {
        await connect(client, new SSEClientTransport(new URL("/sse", served.url)))
        assert.strictEqual((await client.listTools()).tools.length, 7)
        await client.close()
      })
      yield* until(() => served.stats().sessions === 0)
    }))

  const modes: ReadonlyArray<"legacy" | "auto" | { readonly pin: string }> = ["legacy", "auto", { pin: "2026-07-28" }]
  for (const mode of modes) {
    const name = typeof mode === "string" ? mode : "pin"
    live(`SDK 2, ${name}`, () =>
      Effect.gen(function*() {
        const served = yield* serve()
        const client = new Two.Client(info, { versionNegotiation: { mode } })
        const transport = new Two.StreamableHTTPClientTransport(new URL(served.url))
        yield* Effect.promise(async () => {
          await client.connect(transport)
          assert.strictEqual(
            client.getNegotiatedProtocolVersion(),
            mode === "legacy" ? "2025-11-25" : "2026-07-28"
          )
          assert.strictEqual((await client.listTools()).tools.length, 7)
          const progress: Array<number> = []
          const called = await client.callTool({ name: "progress" }, {
            onprogress: (at) => {
              progress.push(at.progress)
            }
          })
          assert.deepStrictEqual(progress.slice(0, 2), [0, 50])
          assert.deepStrictEqual(called.content, [{ type: "text", text: "done" }])
          const abort = new AbortController()
          const held = client.callTool({ name: "held" }, { signal: abort.signal }).then(() => "answered", () => "gone")
          while (served.seen.held.length === 0) await new Promise((resume) => setTimeout(resume, 5))
          abort.abort("enough")
          assert.strictEqual(await held, "gone")
        })
        yield* until(() => served.seen.cancelled.length === 1)
        yield* Effect.promise(() => client.close())
        yield* until(() => served.stats().requests === 0)
        assert.strictEqual(served.stats().sessions, mode === "legacy" ? 1 : 0)
      }))
  }
})
