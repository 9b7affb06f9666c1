import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { HttpClient } from "effect/http/HttpClient"
import { TestClock } from "effect/testing"
import * as http from "node:http"
import * as HttpPeer from "../../src/http/HttpPeer.ts"
import type { Ending } from "../../src/stage/Port.ts"

/** One request as the server got it. */
interface Got {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly raw: ReadonlyArray<string>
  readonly body: string
  readonly response: http.ServerResponse
  /** Whether the far side has closed it. */
  closed: boolean
}

type Play = (got: Got, response: http.ServerResponse) => void

/** Waits for the real network, whatever the test's clock says. */
const until = (is: () => boolean, what = "it comes"): Effect.Effect<void> =>
  Effect.promise(async () => {
    for (let i = 0; i < 1000; i++) {
      if (is()) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    assert.fail(`waited in vain until ${what}`)
  })
const moment: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 60)))

const serve = Effect.fnUntraced(function*(play: Play, options: http.ServerOptions = {}) {
  const got: Array<Got> = []
  const server = http.createServer(options, (request, response) => {
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      const one: Got = {
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        raw: request.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
        body,
        response,
        closed: false
      }
      response.on("close", () => (one.closed = true))
      got.push(one)
      play(one, response)
    })
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
  )
  const address = server.address()
  return { server, got, port: typeof address === "object" && address !== null ? address.port : 0 }
})

const Line = Schema.fromJsonString(Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Unknown),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.String,
    data: Schema.optionalKey(Schema.Struct({ reason: Schema.optionalKey(Schema.String) }))
  }))
}))

interface Options {
  readonly headers?: Record<string, string>
  readonly bytes?: number
  readonly idle?: Duration.Duration
  /** Whether nobody reads. */
  readonly deaf?: boolean
  readonly port?: number
  readonly server?: http.ServerOptions
}

const open = Effect.fnUntraced(function*(play: Play, options: Options = {}) {
  const served = yield* serve(play, options.server)
  const context = yield* Layer.build(NodeHttpClient.layerNodeHttpOptions({ keepAlive: true }))
  const client = yield* Effect.provideContext(HttpClient, context)
  const scope = yield* Scope.fork(yield* Effect.scope)
  const peer = yield* Effect.provideService(
    HttpPeer.make(client, {
      who: { client: "far" },
      url: `http://127.0.0.1:${options.port ?? served.port}/mcp`,
      headers: options.headers,
      bytes: options.bytes,
      idle: options.idle
    }),
    Scope.Scope,
    scope
  )
  const lines: Array<string> = []
  let ending: Ending | undefined
  const read = peer.receive((chunk) =>
    Effect.sync(() => {
      for (const line of new TextDecoder().decode(chunk).split("\n")) if (line !== "") lines.push(line)
    })
  )
  if (options.deaf !== true) yield* Effect.forkScoped(read)
  yield* Effect.forkScoped(Effect.map(peer.ended, (how) => (ending = how)))
  const said = () => lines.map((line) => Schema.decodeUnknownSync(Line)(line))
  return {
    ...served,
    peer,
    lines,
    said,
    read,
    ending: () => ending,
    close: Scope.close(scope, Exit.void),
    send: (...all: ReadonlyArray<string>) => peer.write(all.map((line) => `${line}\n`).join("")),
    /** The first line with this id, once it is there. */
    answer: (id: unknown) =>
      Effect.map(
        until(() => said().some((line) => line.id === id), `${JSON.stringify(id)} is answered: ${lines.join()}`),
        () => said().find((line) => line.id === id)
      )
  }
})
type Open = Effect.Success<ReturnType<typeof open>>

const json = (value: unknown): string => JSON.stringify(value)
const request = (id: unknown, method: string, params?: unknown) => json({ jsonrpc: "2.0", id, method, params })
const notification = (method: string, params?: unknown) => json({ jsonrpc: "2.0", method, params })
const result = (id: unknown, value: unknown = {}) => json({ jsonrpc: "2.0", id, result: value })
const error = (id: unknown, code: number, message = "no") => json({ jsonrpc: "2.0", id, error: { code, message } })
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const modern = (id: unknown, method: string, params: Record<string, unknown> = {}) =>
  request(id, method, { ...params, _meta: meta })

const Sent = Schema.fromJsonString(Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Unknown)
}))
const sentOf = ({ body }: Got) => body === "" ? {} : Schema.decodeUnknownSync(Sent)(body)

const asJson = (response: http.ServerResponse, body: string, status = 200, headers: http.OutgoingHttpHeaders = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(body)
}
const asEvents = (response: http.ServerResponse, headers: http.OutgoingHttpHeaders = {}) => {
  response.writeHead(200, { "content-type": "text/event-stream", ...headers })
  response.flushHeaders()
}
const event = (data: string, id?: string) => `${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`

/** A legacy server with a session: `rest` plays what is not the opening. */
const legacy = (rest: Play, get: Play = (_, response) => response.writeHead(405).end()): Play => (got, response) => {
  const { id, method } = sentOf(got)
  if (got.method === "GET") return get(got, response)
  if (got.method === "DELETE") return void response.writeHead(204).end()
  if (method === "initialize") {
    return asJson(
      response,
      result(id, { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }),
      200,
      { "mcp-session-id": "session-1" }
    )
  }
  if (id === undefined || method === undefined) return void response.writeHead(202).end()
  rest(got, response)
}

const opening = Effect.fnUntraced(function*(one: Open) {
  yield* one.send(
    request(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "h", version: "1" }
    })
  )
  yield* one.answer(0)
  yield* one.send(notification("notifications/initialized"))
})

const reasonOf = (line: { readonly error?: { readonly data?: { readonly reason?: string } } } | undefined) =>
  line?.error?.data?.reason

describe("F28: what goes out", () => {
  it.live("the headers are those of the operator and the protocol's, and no others", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => asJson(response, result(sentOf(got).id)), {
        headers: { authorization: "Bearer secret" }
      })
      yield* one.send(modern(1, "tools/list")).pipe(Effect.withSpan("a span of the host's"))
      yield* one.answer(1)
      assert.deepStrictEqual(one.got[0]?.raw.toSorted(), [
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "mcp-method",
        "mcp-protocol-version"
      ])
      assert.strictEqual(one.got[0]?.headers.authorization, "Bearer secret")
    }))

  for (const status of [301, 302, 303, 307, 308]) {
    it.live(`a redirect with ${status} is not followed, and says so`, () =>
      Effect.gen(function*() {
        const other = yield* serve((_, response) => response.end())
        const one = yield* open(
          (_, response) => response.writeHead(status, { location: `http://127.0.0.1:${other.port}/` }).end(),
          { headers: { authorization: "Bearer secret" } }
        )
        yield* one.send(request(1, "tools/call", { name: "a" }))
        const answer = yield* one.answer(1)
        assert.strictEqual(reasonOf(answer), "http-refused")
        assert.match(answer?.error?.message ?? "", /redirects are not followed/)
        assert.strictEqual(other.got.length, 0)
        assert.strictEqual(one.got.length, 1)
      }))
  }

  it.live("a compressed answer is not read", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) =>
        asJson(response, result(sentOf(got).id), 200, { "content-encoding": "gzip" })
      )
      yield* one.send(request(1, "tools/list"))
      assert.strictEqual(reasonOf(yield* one.answer(1)), "answer-lost")
      assert.isUndefined(one.got[0]?.headers["accept-encoding"])
    }))
})

describe("F28: what is bounded", () => {
  it.live("the size of a body", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => asJson(response, result(sentOf(got).id, { a: "x".repeat(5000) })), {
        bytes: 1000
      })
      yield* one.send(request(1, "tools/list"))
      const answer = yield* one.answer(1)
      assert.strictEqual(reasonOf(answer), "answer-lost")
      assert.match(answer?.error?.message ?? "", /too long/)
    }))

  it.live("the size of an event, whether its line ends or not", () =>
    Effect.gen(function*() {
      for (const end of ["", "\n\n"]) {
        const one = yield* open((got, response) => {
          asEvents(response)
          response.write(`data: ${result(sentOf(got).id, { a: "x".repeat(5000) })}${end}`)
        }, { bytes: 1000 })
        yield* one.send(request(1, "tools/list"))
        assert.strictEqual((yield* one.answer(1))?.error?.code, -32603)
        yield* until(() => one.got[0]?.closed === true)
        assert.strictEqual(one.lines.length, 1)
      }
    }))

  it.live("the size of the headers", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) =>
        asJson(response, result(sentOf(got).id), 200, { "x-long": "x".repeat(40_000) })
      )
      yield* one.send(request(1, "tools/list"))
      const answer = yield* one.answer(1)
      assert.match(answer?.error?.message ?? "", /headers of its answer are too long/)
    }))

  const silent: Record<string, Play> = {
    "headers never come": () => {},
    "a body stalls": (_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write("{\"jsonrpc\"")
    },
    "events never come": (_, response) => asEvents(response)
  }
  for (const [what, play] of Object.entries(silent)) {
    it.effect(`silence ends a call: ${what}`, () =>
      Effect.gen(function*() {
        const one = yield* open(play)
        yield* one.send(request(1, "tools/call", { name: "a" }))
        yield* until(() => one.got.length === 1)
        yield* moment
        yield* TestClock.adjust("9 minutes")
        yield* moment
        assert.deepStrictEqual(one.lines, [])
        yield* TestClock.adjust("70 seconds")
        const answer = yield* one.answer(1)
        assert.strictEqual(reasonOf(answer), "answer-lost")
        assert.match(answer?.error?.message ?? "", /silent for too long/)
        yield* until(() => one.got[0]?.closed === true)
        // Whether it was carried out is not known: it is not sent again (F27).
        assert.strictEqual(one.got.length, 1)
      }))
  }

  it.effect("what trickles without an end of a line is silence, and a comment is none", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => asEvents(response), { idle: Duration.minutes(1) })
      yield* one.send(request("drip", "tools/call", { name: "a" }), request("alive", "tools/call", { name: "a" }))
      yield* until(() => one.got.length === 2)
      yield* moment
      for (let i = 0; i < 4; i++) {
        for (const got of one.got) got.response.write(sentOf(got).id === "drip" ? ":" : ": here\n\n")
        yield* moment
        yield* TestClock.adjust("30 seconds")
      }
      assert.strictEqual(reasonOf(yield* one.answer("drip")), "answer-lost")
      for (const got of one.got) if (sentOf(got).id === "alive") got.response.end(event(result("alive", { ok: 1 })))
      assert.deepStrictEqual((yield* one.answer("alive"))?.result, { ok: 1 })
    }))

  it.effect("a subscription may be silent for ever", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => asEvents(response))
      yield* one.send(modern(1, "subscriptions/listen", { notifications: {} }))
      yield* until(() => one.got.length === 1)
      yield* moment
      yield* TestClock.adjust("3 days")
      yield* moment
      assert.deepStrictEqual(one.lines, [])
      assert.isFalse(one.got[0]?.closed)
    }))
})

describe("what goes wrong", () => {
  it.live("nothing listens there: nothing was sent", () =>
    Effect.gen(function*() {
      const gone = yield* Effect.scoped(serve(() => {}))
      const one = yield* open(() => {}, { port: gone.port })
      yield* one.send(request(1, "tools/call", { name: "a" }))
      const answer = yield* one.answer(1)
      assert.strictEqual(reasonOf(answer), "unreachable")
      assert.match(answer?.error?.message ?? "", /nothing listens/)
    }))

  it.live("a reset in the middle of an event", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => {
        asEvents(response)
        response.write("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"res")
        setTimeout(() => response.socket?.resetAndDestroy(), 20)
      })
      yield* one.send(request(1, "tools/call", { name: "a" }))
      assert.strictEqual(reasonOf(yield* one.answer(1)), "answer-lost")
      assert.strictEqual(one.lines.length, 1)
    }))

  it.live("the server is killed with requests in flight: each is answered once", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => asEvents(response))
      yield* one.send(...Array.from({ length: 20 }, (_, id) => request(id, "tools/call", { name: "a" })))
      yield* until(() => one.got.length === 20)
      one.server.closeAllConnections()
      one.server.close()
      for (let id = 0; id < 20; id++) assert.strictEqual(reasonOf(yield* one.answer(id)), "answer-lost")
      assert.strictEqual(one.lines.length, 20)
    }))

  const bodies: Record<string, readonly [type: string, body: string]> = {
    "JSON that ends before its id": ["application/json", "{\"jsonrpc\":\"2.0\",\"i"],
    "an empty body": ["application/json", ""],
    "the answer to another request": ["application/json", result(2)],
    "another type": ["text/html", "<p>hello</p>"],
    "no UTF-8": ["application/json", "\u0000"]
  }
  for (const [what, [type, body]] of Object.entries(bodies)) {
    it.live(`status 200 with ${what}`, () =>
      Effect.gen(function*() {
        const one = yield* open((_, response) => {
          response.writeHead(200, { "content-type": type })
          response.end(body === "\u0000" ? Buffer.from([0x7b, 0xff, 0x7d]) : body)
        })
        yield* one.send(request(1, "tools/call", { name: "a" }))
        assert.strictEqual(reasonOf(yield* one.answer(1)), "answer-lost")
        assert.strictEqual(one.lines.length, 1)
      }))
  }

  it.live("truncated JSON with the request's id is for the reader, who says at which place", () =>
    Effect.gen(function*() {
      const body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
      const one = yield* open((_, response) => asJson(response, body))
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => one.lines.length > 0)
      yield* moment
      assert.deepStrictEqual(one.lines, [body])
    }))

  for (const status of [400, 401, 403, 404, 405, 429, 500, 503]) {
    it.live(`status ${status}, with and without a JSON-RPC error as its body`, () =>
      Effect.gen(function*() {
        const one = yield* open((got, response) => {
          const { id } = sentOf(got)
          const bodies: Record<string, string> = {
            own: error(id, -32001),
            null: error(null, -32002),
            none: json({ error: { code: -32003, message: "\"id\":null" }, jsonrpc: "2.0" }),
            other: error("somebody", -32004),
            text: "sorry"
          }
          const body = bodies[String(id)] ?? ""
          asJson(response, body, status, id === "text" ? { "content-type": "text/plain" } : {})
        })
        yield* one.send(
          ...["own", "null", "none", "other", "text"].map((id) => request(id, "tools/call", { name: "a" }))
        )
        assert.strictEqual((yield* one.answer("own"))?.error?.code, -32001)
        assert.strictEqual((yield* one.answer("null"))?.error?.code, -32002)
        assert.deepStrictEqual((yield* one.answer("none"))?.error, { code: -32003, message: "\"id\":null" })
        for (const id of ["other", "text"]) {
          const answer = yield* one.answer(id)
          assert.strictEqual(reasonOf(answer), status < 500 ? "http-refused" : "answer-lost")
          assert.include(answer?.error?.message, `status ${status}`)
        }
        assert.strictEqual(one.lines.length, 5)
      }))
  }
})

describe("events", () => {
  it.live("come in any cut, with any end of line, and one message is one line", () =>
    Effect.gen(function*() {
      const text = "grüße 🛶 \u2028"
      const one = yield* open((got, response) => {
        asEvents(response)
        const { id } = sentOf(got)
        const bytes = Buffer.from(
          "\uFEFF: hello\r\nretry: 5\r\n\r\n"
            + `data: ${notification("notifications/message", { level: "info", data: text })}\r\n\r\n`
            + "event: other\ndata: {\"not\":\"ours\"}\n\n"
            + `data: ${notification("notifications/message", { level: "info", data: "two" })}\r\r`
            + `data: {"jsonrpc":"2.0",\ndata: "id":${json(id)},\ndata: "result":{"text":${json(text)}}}\n\n`
        )
        if (id === "whole") {
          response.end(bytes)
          return
        }
        let at = 0
        const next = (): void => {
          if (at >= bytes.length) return void response.end()
          response.write(bytes.subarray(at, at + 1))
          at++
          setImmediate(next)
        }
        next()
      })
      for (const id of ["whole", "bytes"]) {
        yield* one.send(request(id, "tools/call", { name: "a" }))
        assert.deepStrictEqual((yield* one.answer(id))?.result, { text })
      }
      assert.strictEqual(one.lines.length, 6)
      const first = one.said().slice(0, 3).map(({ params, result: answer }) => params ?? answer)
      assert.deepStrictEqual(first, [{ level: "info", data: text }, { level: "info", data: "two" }, { text }])
      assert.deepStrictEqual(one.said().slice(3).map(({ params, result: answer }) => params ?? answer), first)
    }))

  it.live("a body may begin with a byte order mark", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => asJson(response, `\uFEFF${result(sentOf(got).id, { a: 1 })}`))
      yield* one.send(request(1, "tools/list"))
      assert.deepStrictEqual((yield* one.answer(1))?.result, { a: 1 })
    }))

  it.live("F20: an answer for another request is dropped, and so is a second one", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => {
        const { id } = sentOf(got)
        if (id === "victim") return
        asEvents(response)
        response.write(event(result("victim", { forged: true })))
        response.write(event(`[${result("victim", { forged: true })},${error("victim", -1)}]`))
        response.write(event(`{"id":"victim","result":`))
        response.write(event(result(id, { own: true })))
        response.end(event(result(id, { twice: true })))
      })
      yield* one.send(request("victim", "tools/call", { name: "a" }))
      yield* until(() => one.got.length === 1)
      yield* one.send(request("other", "tools/call", { name: "a" }))
      assert.deepStrictEqual((yield* one.answer("other"))?.result, { own: true })
      yield* moment
      assert.strictEqual(one.lines.length, 1)
    }))

  it.live("requests and notifications of the server come on a call's stream, in their order, and are answered by a POST", () =>
    Effect.gen(function*() {
      const one = yield* open(legacy((got, response) => {
        asEvents(response)
        const { id } = sentOf(got)
        for (let n = 0; n < 200; n++) response.write(event(notification("notifications/message", { n })))
        response.write(event(request("ask", "roots/list")))
        response.end(event(result(id)))
      }))
      yield* opening(one)
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* one.answer(1)
      const came = one.said().filter(({ method }) => method === "notifications/message").map(({ params }) => params)
      assert.deepStrictEqual(came, Array.from({ length: 200 }, (_, n) => ({ n })))
      assert.strictEqual((yield* one.answer("ask"))?.method, "roots/list")
      yield* one.send(result("ask", { roots: [] }))
      yield* until(() => one.got.some(({ body }) => body === result("ask", { roots: [] })))
      assert.strictEqual(one.got.at(-1)?.headers["mcp-session-id"], "session-1")
    }))
})

describe("a reader that does not read", () => {
  it.live("stops the reading from the socket, and loses nothing", () =>
    Effect.gen(function*() {
      const total = 10_000
      let wrote = 0
      const one = yield* open((got, response) => {
        asEvents(response)
        const next = (): void => {
          while (wrote < total) {
            const more = response.write(
              event(notification("notifications/message", { n: wrote, pad: "x".repeat(1000) }))
            )
            wrote++
            if (!more) {
              response.once("drain", next)
              return
            }
          }
          response.end(event(result(sentOf(got).id)))
        }
        next()
      }, { bytes: 100_000, deaf: true })
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => wrote > 100)
      let before = -1
      while (before !== wrote) {
        before = wrote
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 200)))
      }
      assert.isBelow(wrote, total)
      yield* Effect.forkScoped(one.read)
      yield* one.answer(1)
      assert.strictEqual(one.lines.length, total + 1)
    }), 20_000)

  it.effect("is not taken for a silent server", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => {
        asEvents(response)
        for (let n = 0; n < 100; n++) {
          response.write(event(notification("notifications/message", { n, pad: "x".repeat(1000) })))
        }
        response.end(event(result(sentOf(got).id, { ok: true })))
      }, { bytes: 5000, deaf: true })
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => one.got.length === 1)
      yield* moment
      yield* TestClock.adjust("1 hour")
      yield* moment
      yield* Effect.forkScoped(one.read)
      assert.deepStrictEqual((yield* one.answer(1))?.result, { ok: true })
    }))
})

describe("a legacy session", () => {
  it.live("is kept in a header, has its version after initialize, and ends with DELETE", () =>
    Effect.gen(function*() {
      const one = yield* open(legacy((got, response) => asJson(response, result(sentOf(got).id))))
      yield* opening(one)
      yield* one.send(request(1, "tools/list"))
      yield* one.answer(1)
      yield* until(() => one.got.some(({ method }) => method === "GET"))
      yield* moment
      // A server without a stream of its own is not asked for it again.
      assert.strictEqual(one.got.filter(({ method }) => method === "GET").length, 1)
      yield* one.close
      yield* until(() => one.got.some(({ method }) => method === "DELETE"))
      const [first, ...others] = one.got
      assert.isUndefined(first?.headers["mcp-session-id"])
      assert.isUndefined(first?.headers["mcp-protocol-version"])
      for (const { headers } of others) {
        assert.strictEqual(headers["mcp-session-id"], "session-1")
        assert.strictEqual(headers["mcp-protocol-version"], "2025-11-25")
        assert.isUndefined(headers["mcp-method"])
      }
      assert.deepStrictEqual(one.got.map(({ method }) => method).toSorted(), ["DELETE", "GET", "POST", "POST", "POST"])
    }))

  it.live("no request goes out before the server has taken notifications/initialized", () =>
    Effect.gen(function*() {
      let release = (): void => {}
      const one = yield* open((got, response) => {
        if (sentOf(got).method === "notifications/initialized") {
          release = () => void response.writeHead(202).end()
        } else legacy((got, response) => asJson(response, result(sentOf(got).id)))(got, response)
      })
      yield* opening(one)
      yield* one.send(request(1, "tools/list"))
      yield* until(() => one.got.length === 2)
      yield* moment
      assert.strictEqual(one.got.length, 2)
      release()
      yield* one.answer(1)
    }))

  it.live("404 ends it, says so, and the request was not carried out", () =>
    Effect.gen(function*() {
      const one = yield* open(legacy((_, response) => response.writeHead(404).end()))
      yield* opening(one)
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => one.ending() !== undefined)
      assert.deepStrictEqual(one.ending(), { _tag: "failed", message: "it has ended the session" })
    }))

  it.effect("the server's own stream is resumed where it was left, after the time that the server says, and not for ever", () =>
    Effect.gen(function*() {
      let gets = 0
      const one = yield* open(legacy(() => {}, (_, response) => {
        gets++
        asEvents(response)
        if (gets <= 2) {
          response.write(`retry: 20000\n${event(notification("notifications/message", { gets }), `e${gets}`)}`)
        }
        response.end()
      }))
      yield* opening(one)
      yield* until(() => one.lines.length === 2)
      yield* moment
      yield* TestClock.adjust("19 seconds")
      yield* moment
      assert.strictEqual(gets, 1)
      yield* TestClock.adjust("2 seconds")
      yield* until(() => gets === 2)
      for (let i = 0; i < 60; i++) {
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 10)))
        yield* TestClock.adjust("2 minutes")
      }
      const asked = one.got.filter(({ method }) => method === "GET").map(({ headers }) => headers["last-event-id"])
      assert.deepStrictEqual(asked.slice(0, 3), [undefined, "e1", "e2"])
      assert.isBelow(asked.length, 16)
    }))

  it.effect("an answer's stream that breaks is resumed, and the request is not sent again", () =>
    Effect.gen(function*() {
      const one = yield* open(legacy((_, response) => {
        asEvents(response)
        response.end(event("", "first"))
      }, (got, response) => {
        if (got.headers["last-event-id"] !== "first") return void response.writeHead(405).end()
        asEvents(response)
        response.write(event(result("another", { forged: true }), "second"))
        response.end(event(result(1, { ok: true }), "third"))
      }))
      yield* opening(one)
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => one.got.some(({ body }) => body.includes("tools/call")))
      yield* moment
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual((yield* one.answer(1))?.result, { ok: true })
      assert.strictEqual(one.lines.length, 2)
      assert.strictEqual(one.got.filter(({ body }) => body.includes("tools/call")).length, 1)
    }))

  it.live("a cancel is a notification, and what it cancelled may still be answered", () =>
    Effect.gen(function*() {
      const one = yield* open(legacy((_, response) => asEvents(response)))
      yield* opening(one)
      yield* one.send(request(1, "tools/call", { name: "a" }))
      yield* until(() => one.got.some(({ body }) => body.includes("tools/call")))
      yield* one.send(notification("notifications/cancelled", { requestId: 1 }))
      yield* until(() => one.got.some(({ body }) => body.includes("notifications/cancelled")))
      const call = one.got.find(({ body }) => body.includes("tools/call"))
      assert.isFalse(call?.closed)
      call?.response.end(event(result(1, { late: true })))
      assert.deepStrictEqual((yield* one.answer(1))?.result, { late: true })
    }))

  it.live("notifications go out one after the other", () =>
    Effect.gen(function*() {
      let under = 0
      let most = 0
      const one = yield* open((_, response) => {
        most = Math.max(most, ++under)
        setTimeout(() => {
          under--
          response.writeHead(202).end()
        }, 2)
      })
      const all = Array.from({ length: 30 }, (_, n) => notification("notifications/roots/list_changed", { n }))
      yield* one.send(...all)
      yield* until(() => one.got.length === 30)
      assert.deepStrictEqual(one.got.map(({ body }) => body), all)
      assert.strictEqual(most, 1)
    }))
})

describe("the modern era", () => {
  const schema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      n: { type: "integer", "x-mcp-header": "N" },
      deep: { type: "object", properties: { on: { type: "boolean", "x-mcp-header": "On" } } },
      list: { type: "array", "x-mcp-header": "List" }
    }
  }
  const tools = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, inputSchema: schema }))

  it.live("version, method, name and arguments are repeated in headers, encoded where they must be", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => {
        const { id, method } = sentOf(got)
        asJson(response, result(id, method === "tools/list" ? { tools: tools("sché") } : {}))
      })
      yield* one.send(modern(1, "tools/list"))
      yield* one.answer(1)
      const args = { region: " eu\n", n: 7, deep: { on: true }, list: [1], other: "secret" }
      yield* one.send(modern(2, "tools/call", { name: "sché", arguments: args }))
      yield* one.answer(2)
      const headers = one.got[1]?.headers ?? {}
      const sentinel = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`
      assert.strictEqual(headers["mcp-protocol-version"], "2026-07-28")
      assert.strictEqual(headers["mcp-method"], "tools/call")
      assert.strictEqual(headers["mcp-name"], sentinel("sché"))
      assert.deepStrictEqual(
        Object.entries(headers).filter(([name]) => name.startsWith("mcp-param-")).toSorted(),
        [["mcp-param-n", "7"], ["mcp-param-on", "true"], ["mcp-param-region", sentinel(" eu\n")]]
      )
      yield* one.send(modern(3, "tools/call", { name: "sché", arguments: { region: "=?base64?eA==?=", n: null } }))
      yield* one.answer(3)
      assert.strictEqual(one.got[2]?.headers["mcp-param-region"], sentinel("=?base64?eA==?="))
      assert.isUndefined(one.got[2]?.headers["mcp-param-n"])
    }))

  it.live("F27: a call refused for its headers is sent once more where they were not known, and only once", () =>
    Effect.gen(function*() {
      const one = yield* open((got, response) => {
        const { id, method } = sentOf(got)
        if (method === "tools/list") return asJson(response, result(id, { tools: tools("a") }))
        if (got.headers["mcp-param-region"] === "eu" && id === 1) return asJson(response, result(id, { ok: true }))
        asJson(response, error(id, -32020), 400)
      })
      yield* one.send(modern(1, "tools/call", { name: "a", arguments: { region: "eu" } }))
      assert.deepStrictEqual((yield* one.answer(1))?.result, { ok: true })
      assert.deepStrictEqual(one.got.map((got) => sentOf(got).method), ["tools/call", "tools/list", "tools/call"])
      assert.strictEqual(one.lines.length, 1)
      yield* one.send(modern(2, "tools/call", { name: "b", arguments: { region: "eu" } }))
      assert.strictEqual((yield* one.answer(2))?.error?.code, -32020)
      assert.strictEqual(one.got.length, 5)
    }))

  it.live("F28: where the definition was known, nothing is repeated by one that nobody has seen; the guard lists anew", () =>
    Effect.gen(function*() {
      let listed = 0
      const one = yield* open((got, response) => {
        const { id, method } = sentOf(got)
        if (method !== "tools/list") return asJson(response, error(id, -32020), 400)
        listed++
        asJson(
          response,
          result(id, { tools: [{ name: "a", inputSchema: listed === 1 ? { type: "object" } : schema }] })
        )
      })
      yield* one.send(modern(1, "tools/list"))
      yield* one.answer(1)
      yield* one.send(modern(2, "tools/call", { name: "a", arguments: { region: "secret" } }))
      assert.strictEqual((yield* one.answer(2))?.error?.code, -32020)
      assert.strictEqual(one.got.length, 2)
      assert.include(one.said().map(({ method }) => method), "notifications/tools/list_changed")
      assert.notInclude(one.got.flatMap(({ raw }) => raw), "mcp-param-region")
    }))

  it.live("a cancel closes the stream, and nothing is sent", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => asEvents(response))
      yield* one.send(modern(1, "tools/call", { name: "a" }), modern(2, "tools/call", { name: "a" }))
      yield* until(() => one.got.length === 2)
      yield* moment
      yield* one.send(notification("notifications/cancelled", { requestId: 1 }))
      yield* until(() => one.got.some((got) => sentOf(got).id === 1 && got.closed))
      yield* moment
      assert.strictEqual(one.got.length, 2)
      assert.isFalse(one.got.find((got) => sentOf(got).id === 2)?.closed)
    }))

  it.live("its end waits for answers and not for subscriptions", () =>
    Effect.gen(function*() {
      const one = yield* open((_, response) => asEvents(response))
      yield* one.send(
        modern(1, "tools/call", { name: "a" }),
        modern("s", "subscriptions/listen", { notifications: {} })
      )
      yield* until(() => one.got.length === 2)
      yield* moment
      yield* one.peer.end
      yield* until(() => one.got.some((got) => sentOf(got).id === "s" && got.closed))
      yield* moment
      assert.isUndefined(one.ending())
      one.got.find((got) => sentOf(got).id === 1)?.response.end(event(result(1)))
      yield* until(() => one.ending() !== undefined)
      assert.isDefined(yield* one.answer(1))
    }))
})

it.live("closing it breaks off what is on its way", () =>
  Effect.gen(function*() {
    const one = yield* open((_, response) => asEvents(response))
    yield* one.send(...Array.from({ length: 5 }, (_, id) => request(id, "tools/call", { name: "a" })))
    yield* until(() => one.got.length === 5)
    const closing = yield* Effect.forkScoped(one.close)
    yield* until(() => one.got.every(({ closed }) => closed))
    yield* Fiber.join(closing)
    assert.deepStrictEqual(one.ending(), { _tag: "closed" })
  }))
