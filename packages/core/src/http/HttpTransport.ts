/**
 * Transport over HTTP: every session of every client is a peer.
 *
 * **Details**
 *
 * One handler from request to response, for Node's server or any other that Effect runs on. It serves the sessions of
 * 2025-03-26 to 2025-11-25, the single requests of 2026-07-28 side by side with them on the same address, and on request
 * the two addresses of 2024-11-05 (basic/transports of each).
 *
 * A request is judged in this order: where it was sent and by which page, address and verb, who sends it, its form, its
 * size, and only then what it says.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberSet from "effect/FiberSet"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Response from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Revision from "../protocol/Revision.ts"
import type { Peer, Transport, Who } from "../stage/Transport.ts"
import { defaultLimits } from "../wire/Feed.ts"
import type { Item } from "../wire/Message.ts"
import * as Access from "./Access.ts"
import * as Answer from "./Answer.ts"
import * as Body from "./Body.ts"
import * as Conversation from "./Conversation.ts"
import * as Head from "./Head.ts"
import * as Mirror from "./Mirror.ts"
import * as Modern from "./Modern.ts"
import * as Pair from "./Pair.ts"
import * as Said from "./Said.ts"

/**
 * What there is at most.
 *
 * - `bodyBytes`: of one body; `bodiesBytes`: of all that are being read. `depth`: nesting of a body's JSON.
 * - `requests`, `sessions`: at once, in all; `clientRequests`, `clientSessions`: of one client.
 * - `streams`: unanswered POSTs of one session.
 * - `replayBytes`, `waitingBytes`, `inputBytes`, `outputBytes`: what one session keeps for resuming, for want of a stream,
 *   of unread bodies, and for a reader that is slow.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly bodyBytes: number
  readonly bodiesBytes: number
  readonly depth: number
  readonly requests: number
  readonly clientRequests: number
  readonly sessions: number
  readonly clientSessions: number
  readonly streams: number
  readonly replayBytes: number
  readonly waitingBytes: number
  readonly inputBytes: number
  readonly outputBytes: number
}

/**
 * @category constants
 * @since 0.1.0
 */
export const defaultBounds: Limits = {
  bodyBytes: 4 * 1024 * 1024,
  bodiesBytes: 64 * 1024 * 1024,
  depth: defaultLimits.depth,
  requests: 1024,
  clientRequests: 1024,
  sessions: 1000,
  clientSessions: 1000,
  streams: 256,
  replayBytes: 256 * 1024,
  waitingBytes: 256 * 1024,
  inputBytes: 8 * 1024 * 1024,
  outputBytes: 256 * 1024
}

/**
 * How long things take.
 *
 * - `body`: a body may take to come. `idle`: a session lives without connection and request.
 * - `patience`: without a word, an answer becomes a stream of events. `keepAlive`: a stream is silent before a comment.
 * - `stall`: a reader that takes nothing is waited for. `retry`: a client waits before it resumes.
 * - `life`: a connection of a stream that can be resumed is kept before its client has to come again; without it there is
 *   no end, as proxies between may have. `shutdown`: sessions may take to end when the server closes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Times {
  readonly body: Duration.Duration
  readonly idle: Duration.Duration
  readonly patience: Duration.Duration
  readonly keepAlive: Duration.Duration
  readonly stall: Duration.Duration
  readonly retry: Duration.Duration
  readonly life?: Duration.Duration | undefined
  readonly shutdown: Duration.Duration
}

/**
 * @category constants
 * @since 0.1.0
 */
export const defaultTimes: Times = {
  body: Duration.seconds(30),
  idle: Duration.minutes(30),
  patience: Duration.millis(500),
  keepAlive: Duration.seconds(15),
  stall: Duration.seconds(60),
  retry: Duration.seconds(1),
  shutdown: Duration.seconds(2)
}

/**
 * How HTTP is served.
 *
 * - `path`: the address of all but 2024-11-05 (`/mcp`).
 * - `hosts`: what `Host` may say beside loopback names with this port; `origins`: what `Origin` may beside loopback origins.
 *   Only pages of these origins may read answers (CORS).
 * - `authenticate`: who sends a request; without it everyone is the client `http`.
 * - `sse`: the two addresses of 2024-11-05; not served without it.
 * - `paramHeaders`: which arguments of a tool `Mcp-Param-*` headers repeat; without it those headers are not looked at.
 * - `tell`: is told in a sentence what was dropped, once for each kind.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly path?: string | undefined
  readonly hosts?: ReadonlyArray<string> | undefined
  readonly origins?: ReadonlyArray<string> | undefined
  readonly authenticate?: Access.Authenticate | undefined
  readonly sse?: { readonly stream: string; readonly messages: string } | undefined
  readonly paramHeaders?: Mirror.ParamHeaders | undefined
  readonly limits?: Partial<Limits> | undefined
  readonly times?: Partial<Times> | undefined
  readonly tell?: ((sentence: string) => void) | undefined
}

/**
 * What is going on at the moment.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stats {
  readonly requests: number
  readonly sessions: number
  readonly peers: number
  /** Messages that could go nowhere, since the start. */
  readonly dropped: number
}

/**
 * The two faces of the transport: the handler of requests, and the stage that serves sessions. Requests wait for that.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpTransport {
  readonly handle: Effect.Effect<Response.HttpServerResponse, never, HttpServerRequest | Scope.Scope>
  readonly transport: Context.Service.Shape<typeof Transport>
  readonly stats: () => Stats
}

/** A session that outlives its requests. */
interface Kept {
  readonly who: Who
  readonly end: () => void
  readonly quiet: () => boolean
  readonly conversation: Conversation.Conversation | undefined
  readonly pair: Pair.Pair | undefined
  seen: number
}

type Handled = Effect.Effect<Response.HttpServerResponse, Response.HttpServerResponse, Scope.Scope>

const hex = (bytes: number): string =>
  Array.from(SecureRandom.randomBytesUnsafe(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")

const refuse = (status: number, says: string, headers?: Readonly<Record<string, string>>) =>
  Effect.fail(Answer.refuse(status, says, headers))

// The same words whether it ended, is another client's or never was.
const noSession = refuse(404, "there is no such session")

/**
 * A transport for a server that listens on `port`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (port: number, options: Options = {}): HttpTransport => {
  const limits: Limits = { ...defaultBounds, ...options.limits }
  const times: Times = { ...defaultTimes, ...options.times }
  const path = options.path ?? "/mcp"
  const hosts = options.hosts ?? []
  const origins = options.origins ?? []
  const authenticate = options.authenticate ?? Access.open({ client: "http" })
  const read = Body.make({ bytes: limits.bodyBytes, allBytes: limits.bodiesBytes, time: times.body })
  const parse = Body.parser(limits.depth)
  const said = Said.reader()
  const outlet = { high: limits.outputBytes, keepAlive: times.keepAlive, stall: times.stall }

  const sessions = new Map<string, Kept>()
  /** What is to be ended when the server closes. */
  const ends = new Set<() => void>()
  const byClient = new Map<string, { requests: number; sessions: number }>()
  let requests = 0
  let kept = 0
  let peers = 0
  let dropCount = 0
  let closing = false

  const told = new Set<string>()
  const dropped = (what: string): void => {
    dropCount++
    if (told.has(what)) return
    told.add(what)
    options.tell?.(`${what} was dropped (others like it are only counted)`)
  }

  // ---- sessions are run by whoever serves them

  type Start = (peer: Peer, done: () => void) => () => void
  const serving = Deferred.makeUnsafe<Start>()

  const onClose = (end: () => void): () => void => {
    ends.add(end)
    return () => {
      ends.delete(end)
    }
  }

  const countOf = (who: Who) => {
    let count = byClient.get(who.client)
    if (count === undefined) byClient.set(who.client, count = { requests: 0, sessions: 0 })
    return count
  }
  const leave = (who: Who, what: "requests" | "sessions"): void => {
    const count = countOf(who)
    count[what]--
    if (count.requests === 0 && count.sessions === 0) byClient.delete(who.client)
  }

  /** Starts a session that outlives this request, if there is room for one. */
  const keepSession = Effect.fnUntraced(
    function*(who: Who, open: () => { readonly peer: Peer; readonly end: () => void; readonly over: () => void }) {
      const start = yield* Deferred.await(serving)
      if (closing) return yield* Effect.fail(Answer.busy("the server is closing"))
      if (kept >= limits.sessions || countOf(who).sessions >= limits.clientSessions) {
        return yield* Effect.fail(Answer.busy("too many sessions are open"))
      }
      const session = open()
      kept++
      countOf(who).sessions++
      const forget = onClose(session.end)
      start(session.peer, () => {
        kept--
        leave(who, "sessions")
        forget()
        session.over()
      })
    }
  )

  const sessionOf = (id: string | undefined, who: Who) => {
    const found = id === undefined ? undefined : sessions.get(id)
    return found === undefined || found.who.client !== who.client ? undefined : found
  }

  // ---- the verbs

  const initialize = Effect.fnUntraced(function*(who: Who, item: Item, bytes: Uint8Array) {
    const id = hex(16)
    const conversation = Conversation.make(who, hex(4), {
      streams: limits.streams,
      replayBytes: limits.replayBytes,
      waitingBytes: limits.waitingBytes,
      inputBytes: limits.inputBytes,
      patience: times.patience,
      retry: times.retry,
      life: times.life,
      outlet,
      read: said,
      dropped
    })
    // Nobody knows the id before it is sent, so a client that goes away, or is refused, leaves nothing behind.
    let agreed = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (!agreed) conversation.end()
      })
    )
    yield* keepSession(who, () => ({
      peer: conversation.peer,
      end: conversation.end,
      over: () => {
        sessions.delete(id)
        conversation.over()
      }
    }))
    const opened = yield* conversation.open(item, bytes)
    agreed = opened.agreed
    if (!opened.agreed) return Answer.json(200, opened.line)
    sessions.set(id, {
      who,
      end: conversation.end,
      quiet: conversation.quiet,
      conversation,
      pair: undefined,
      seen: yield* Clock.currentTimeMillis
    })
    return Answer.json(200, opened.line, { "mcp-session-id": id })
  })

  /** A request that belongs to a session: which one, once its headers were found in order. */
  const within = (request: HttpServerRequest, who: Who) =>
    Effect.gen(function*() {
      const id = request.headers["mcp-session-id"]
      if (id === undefined) return yield* refuse(400, "the header Mcp-Session-Id is missing")
      const session = sessionOf(id, who)
      const conversation = session?.conversation
      if (session === undefined || conversation === undefined) return yield* noSession
      const version = request.headers["mcp-protocol-version"]
      if (version !== undefined && (!Revision.isRevision(version) || Revision.table[version].era !== "legacy")) {
        return yield* refuse(400, "the header MCP-Protocol-Version names no revision that this server speaks")
      }
      session.seen = yield* Clock.currentTimeMillis
      return { id, session, conversation }
    })

  const post = (request: HttpServerRequest, who: Who): Handled =>
    Effect.gen(function*() {
      const { headers } = request
      if (!Head.isJson(headers["content-type"], headers["content-encoding"])) {
        return yield* refuse(415, "the body must be application/json, in UTF-8 and not compressed")
      }
      if (
        !Head.accepts(headers["accept"], "application/json") || !Head.accepts(headers["accept"], "text/event-stream")
      ) {
        return yield* refuse(406, "the header Accept must have both application/json and text/event-stream")
      }
      const bytes = yield* read(request)
      const item = parse(bytes)
      const version = headers["mcp-protocol-version"]
      const revision = Revision.isRevision(version) ? version : undefined
      if (item === undefined) return yield* refuse(400, "the body has no message")
      if (item._tag === "Refused") return yield* Effect.fail(Conversation.refused(item, revision))
      if (Modern.claims(version, item)) return yield* modern(request, who, item, bytes)
      if (version !== undefined && revision === undefined) {
        return yield* Effect.fail(Modern.unsupported(version, item))
      }
      const opens = item._tag === "Request" && item.method === "initialize"
      if (opens && headers["mcp-session-id"] === undefined) return yield* initialize(who, item, bytes)
      const { conversation, session } = yield* within(request, who)
      const response = yield* conversation.post(item, bytes)
      session.seen = yield* Clock.currentTimeMillis
      return response
    })

  const modern = (request: HttpServerRequest, who: Who, item: Item, bytes: Uint8Array): Handled =>
    Effect.gen(function*() {
      const { headers } = request
      if (item._tag === "Notification") return Modern.judgeNotification(headers, item)
      if (item._tag !== "Request") return yield* refuse(400, "a body of 2026-07-28 is one request or notification")
      const refusal = Modern.judge(headers, item)
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      if (options.paramHeaders !== undefined && item.method === "tools/call") {
        const tool = Mirror.toolOf(item.params)
        const mirrored = tool === undefined ? [] : yield* options.paramHeaders(tool, who)
        const wrong = Mirror.custom(headers, mirrored, item.params)
        if (wrong !== undefined) return yield* Effect.fail(Modern.mismatch(wrong, item.id))
      }
      if (closing) return yield* Effect.fail(Answer.busy("the server is closing"))
      const start = yield* Deferred.await(serving)
      return yield* Modern.serve(who, item, bytes, {
        start,
        outlet,
        patience: times.patience,
        inputBytes: limits.inputBytes,
        read: said,
        dropped,
        closing: onClose
      })
    })

  const get = (request: HttpServerRequest, who: Who): Handled =>
    Effect.gen(function*() {
      if (!Head.accepts(request.headers["accept"], "text/event-stream")) {
        return yield* refuse(405, "a GET must accept text/event-stream", { allow })
      }
      const { conversation } = yield* within(request, who)
      return yield* conversation.listen(request.headers["last-event-id"])
    })

  const remove = (request: HttpServerRequest, who: Who): Handled =>
    Effect.gen(function*() {
      const { id, session } = yield* within(request, who)
      sessions.delete(id)
      session.end()
      return Answer.empty(204)
    })

  const allow = "GET, POST, DELETE"
  const streamable = (request: HttpServerRequest, who: Who): Handled => {
    if (request.method === "POST") return post(request, who)
    const version = request.headers["mcp-protocol-version"]
    if (Revision.isRevision(version) && Revision.table[version].era === "modern") {
      return refuse(405, "2026-07-28 has only POST", { allow: "POST" })
    }
    if (request.method === "GET") return get(request, who)
    if (request.method === "DELETE") return remove(request, who)
    return refuse(405, "this address takes GET, POST and DELETE", { allow })
  }

  // ---- 2024-11-05

  const pairStream = (messages: string, who: Who): Handled =>
    Effect.gen(function*() {
      const id = hex(16)
      const pair = Pair.make(who, `${messages}?sessionId=${id}`, { inputBytes: limits.inputBytes, outlet })
      const response = yield* pair.listen
      yield* keepSession(who, () => ({
        peer: pair.peer,
        end: pair.end,
        over: () => {
          sessions.delete(id)
          pair.over()
        }
      }))
      const seen = yield* Clock.currentTimeMillis
      sessions.set(id, { who, end: pair.end, quiet: () => false, conversation: undefined, pair, seen })
      return response
    })

  const pairMessage = (request: HttpServerRequest, who: Who): Handled =>
    Effect.gen(function*() {
      const { headers, url } = request
      const id = /[?&]sessionId=([0-9a-f]{32})(?:&|$)/.exec(url)?.[1]
      const pair = sessionOf(id, who)?.pair
      if (pair === undefined) return yield* noSession
      if (!Head.isJson(headers["content-type"], headers["content-encoding"])) {
        return yield* refuse(415, "the body must be application/json, in UTF-8 and not compressed")
      }
      const bytes = yield* read(request)
      const item = parse(bytes)
      if (item === undefined) return yield* refuse(400, "the body has no message")
      if (item._tag === "Refused") return yield* Effect.fail(Conversation.refused(item, "2024-11-05"))
      return pair.post(bytes)
    })

  // ---- the handler

  const serve = (request: HttpServerRequest): Handled =>
    Effect.gen(function*() {
      const { headers, method } = request
      if (!Access.hostAllowed(headers["host"], port, hosts)) {
        return yield* refuse(403, "the header Host names another server; only configured names are answered")
      }
      if (!Access.originAllowed(headers["origin"], origins)) {
        return yield* refuse(403, "pages of this origin may not use this server")
      }
      const at = request.url.split("?")[0]
      const isStream = options.sse !== undefined && at === options.sse.stream
      const isMessage = options.sse !== undefined && at === options.sse.messages
      if (at !== path && !isStream && !isMessage) return yield* refuse(404, "there is nothing at this address")
      const origin = headers["origin"]
      if (method === "OPTIONS" && origin !== undefined && origins.includes(origin)) return preflight
      if (requests > limits.requests) return yield* Effect.fail(Answer.busy("too many requests are open"))

      const bearer = Access.bearerOf(headers["authorization"])
      const who = yield* authenticate(bearer)
      if (who === undefined) {
        const challenge = bearer === undefined ? "Bearer" : "Bearer error=\"invalid_token\""
        return yield* refuse(401, "a bearer token is needed, and this is none", { "www-authenticate": challenge })
      }
      const count = countOf(who)
      count.requests++
      yield* Effect.addFinalizer(() => Effect.sync(() => leave(who, "requests")))
      if (count.requests > limits.clientRequests) {
        return yield* Effect.fail(Answer.busy("too many requests of this client are open", 429))
      }
      if (at === path) return yield* streamable(request, who)
      if (options.sse !== undefined && isStream) {
        return method === "GET"
          ? yield* pairStream(options.sse.messages, who)
          : yield* refuse(405, "this address takes GET", { allow: "GET" })
      }
      return method === "POST"
        ? yield* pairMessage(request, who)
        : yield* refuse(405, "this address takes POST", { allow: "POST" })
    })

  const preflight = Answer.empty(204, {
    "access-control-allow-methods": allow,
    "access-control-allow-headers": "*, authorization",
    "access-control-max-age": "600"
  })

  /** Pages of the origins that were named may read the answers. */
  const readable = (request: HttpServerRequest, response: Response.HttpServerResponse): Response.HttpServerResponse => {
    const origin = request.headers["origin"]
    return origin === undefined || !origins.includes(origin) ? response : Response.setHeaders(response, {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "mcp-session-id, www-authenticate, retry-after",
      vary: "origin"
    })
  }

  const handle = Effect.gen(function*() {
    const request = yield* HttpServerRequest
    requests++
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        requests--
      })
    )
    // Effect's servers run a handler uninterruptibly, and a client that goes away interrupts it.
    const response = yield* Effect.interruptible(serve(request)).pipe(
      Effect.catch(Effect.succeed),
      Effect.catchDefect(() => Effect.succeed(Answer.refuse(500, "the request could not be served")))
    )
    return readable(request, response)
  })

  // ---- the stage

  /** Ends sessions that nobody uses. */
  const expire = Effect.gen(function*() {
    const idle = Duration.toMillis(times.idle)
    while (true) {
      yield* Effect.sleep(Duration.millis(Math.max(1, Math.min(idle / 2, 30_000))))
      const now = yield* Clock.currentTimeMillis
      for (const [id, session] of sessions) {
        if (!session.quiet()) session.seen = now
        else if (now - session.seen >= idle) {
          sessions.delete(id)
          session.end()
        }
      }
    }
  })

  const transport: HttpTransport["transport"] = {
    serve: <A, E, R>(session: (peer: Peer) => Effect.Effect<A, E, R>) =>
      Effect.scoped(Effect.gen(function*() {
        const fibers = yield* FiberSet.make<void>()
        const run = yield* FiberSet.runtime(fibers)<R>()
        const start: Start = (peer, done) => {
          peers++
          const ended = Effect.sync(() => {
            peers--
            done()
          })
          const fiber = run(
            session(peer).pipe(
              Effect.exit,
              Effect.flatMap((exit) => Exit.isFailure(exit) ? Effect.sync(() => failed(exit)) : Effect.void),
              Effect.ensuring(ended)
            )
          )
          return () => fiber.interruptUnsafe()
        }
        // Sessions end in order: their input first, then they have time to say what they still have to say.
        yield* Effect.addFinalizer(() =>
          Effect.suspend(() => {
            closing = true
            for (const end of ends) end()
            return Effect.timeoutOption(FiberSet.awaitEmpty(fibers), times.shutdown)
          })
        )
        yield* Effect.forkScoped(expire)
        yield* Deferred.succeed(serving, start)
        return yield* Effect.never
      }))
  }
  const failed = (exit: Exit.Exit<unknown, unknown>): void => {
    if (!Exit.hasInterrupts(exit)) dropped("a session that failed")
  }

  return { handle, transport, stats: () => ({ requests, sessions: kept, peers, dropped: dropCount }) }
}
