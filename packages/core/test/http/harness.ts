/**
 * A scripted server behind the real session, and the transport in memory or on a socket.
 *
 * In memory a request is a web Request and nothing waits for real time: `settle` lets every fiber run as far as it can
 * without the clock.
 */
import { Deferred, Effect, Layer, Redacted, Schema, type Scope } from "effect"
import * as HttpEffect from "effect/http/HttpEffect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpTransport from "../../src/http/HttpTransport.ts"
import * as Notices from "../../src/line/Notices.ts"
import { meta } from "../../src/protocol/Revision.ts"
import * as Session from "../../src/session/Session.ts"
import { Dispatch } from "../../src/stage/Dispatch.ts"
import * as Parse from "../../src/stage/Parse.ts"
import type { Call, Ending, Port } from "../../src/stage/Port.ts"
import { Transport } from "../../src/stage/Transport.ts"
import type { Reply, Text } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as Write from "../../src/wire/Write.ts"

export const port = 4321
export const url = `http://127.0.0.1:${port}/mcp`

// ---- the server

/** What the scripted server did and saw, over all its peers. */
export interface Seen {
  readonly calls: Array<string>
  readonly cancelled: Array<string>
  readonly notified: Array<string>
  readonly answers: Array<Reply>
  readonly opened: Array<string>
  ended: number
  /** One side of every open peer, newest last. */
  readonly backs: Array<Port>
  /** Calls of the tool `held`, to be answered by the test. */
  readonly held: Array<Call>
}

const result = (value: unknown): Reply => ({ _tag: "Result", result: T.fromValue(value) })
export const text = (said: string): Reply => result({ resultType: "complete", content: [{ type: "text", text: said }] })

const tools = [
  "echo",
  "held",
  "progress",
  "log",
  "ask",
  "changed",
  "big"
].map((name) => ({
  name,
  description: name,
  inputSchema: {
    type: "object",
    properties: name === "echo" ? { said: { type: "string", "x-mcp-header": "Said" }, level: { type: "integer" } } : {}
  }
}))
const capabilities = { tools: { listChanged: true }, logging: {} }
const serverInfo = { name: "scripted", version: "1" }

const memberOf = (params: Text | undefined, ...path: ReadonlyArray<string>): Text | undefined => {
  let at = params
  for (const name of path) at = at === undefined ? undefined : T.member(at, name)
  return at
}
const stringOf = (params: Text | undefined, ...path: ReadonlyArray<string>): string | undefined => {
  const value = memberOf(params, ...path)
  return value === undefined ? undefined : T.string(value)
}

export const scripted = (seen: Seen): Layer.Layer<Dispatch> =>
  Layer.succeed(Dispatch, {
    open: (who) => (back) =>
      Effect.gen(function*() {
        const scope = yield* Effect.scope
        const ended = yield* Deferred.make<Ending>()
        const listening = new Map<Call, Text>()
        seen.opened.push(who.client)
        seen.backs.push(back)
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            seen.ended++
          })
        )
        const fork = Effect.runForkWith(yield* Effect.context<never>())
        const soon = (effect: Effect.Effect<void>) => {
          fork(Effect.forkIn(Effect.andThen(effect, back.flush), scope))
        }
        const tool = (call: Call): void => {
          const name = stringOf(call.params, "name") ?? ""
          const token = memberOf(call.params, "_meta", "progressToken")
          switch (name) {
            case "echo":
              return call.reply(text(stringOf(call.params, "arguments", "said") ?? "nothing"))
            case "held":
              seen.held.push(call)
              return
            case "progress": {
              for (const at of [0, 50, 100]) {
                if (token === undefined) break
                back.notify(
                  "notifications/progress",
                  T.object([["progressToken", token], ["progress", T.integer(at)], ["total", T.integer(100)]])
                )
              }
              return call.reply(text("done"))
            }
            case "log":
              back.notify("notifications/message", T.fromValue({ level: "info", data: "logged" }))
              return call.reply(text("logged"))
            case "ask":
              return back.request({
                wish: undefined,
                method: "sampling/createMessage",
                params: T.fromValue({ messages: [], maxTokens: 1 }),
                reply: (reply) => {
                  seen.answers.push(reply)
                  soon(Effect.sync(() => call.reply(text("asked"))))
                }
              })
            case "changed":
              back.notify("notifications/tools/list_changed", undefined)
              return call.reply(text("changed"))
            case "big":
              return call.reply(text("x".repeat(1024 * 1024)))
            case "die":
              return
            default:
              return call.reply(Write.failure(-32602, "no such tool"))
          }
        }
        const endListen = (call: Call, id: Text): void =>
          call.reply(result({ resultType: "complete", _meta: { [meta.subscriptionId]: T.toValue(id) } }))
        const far: Port = {
          request: (call) => {
            seen.calls.push(call.method)
            switch (call.method) {
              case "initialize":
                return call.reply(result({
                  protocolVersion: stringOf(call.params, "protocolVersion") ?? "2025-11-25",
                  capabilities,
                  serverInfo
                }))
              case "server/discover":
                return call.reply(
                  result({
                    resultType: "complete",
                    supportedVersions: ["2026-07-28"],
                    capabilities,
                    ttlMs: 0,
                    cacheScope: "private",
                    _meta: { [meta.serverInfo]: serverInfo }
                  })
                )
              case "ping":
              case "logging/setLevel":
                return call.reply(result({}))
              case "tools/list":
                return call.reply(result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" }))
              case "tools/call":
                return tool(call)
              case "subscriptions/listen": {
                const id = call.wish ?? T.literal("null")
                listening.set(call, id)
                back.notify(
                  "notifications/subscriptions/acknowledged",
                  T.fromValue({ notifications: {}, _meta: { [meta.subscriptionId]: T.toValue(id) } })
                )
                return
              }
              default:
                return call.reply(Write.failure(-32601, "no such method"))
            }
          },
          cancel: (call) => {
            listening.delete(call)
            seen.cancelled.push(stringOf(call.params, "name") ?? call.method)
          },
          notify: (method) => {
            seen.notified.push(method)
          },
          flush: Effect.void,
          end: Effect.sync(() => {
            for (const [call, id] of listening) endListen(call, id)
            listening.clear()
          }),
          ended: Deferred.await(ended)
        }
        return far
      })
  })

export const makeSeen = (): Seen => ({
  calls: [],
  cancelled: [],
  notified: [],
  answers: [],
  opened: [],
  ended: 0,
  backs: [],
  held: []
})

// ---- messages

export const request = (id: number | string, method: string, params: object = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
export const notification = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params })
export const initialize = (version = "2025-11-25", id: number | string = 0) =>
  request(id, "initialize", {
    protocolVersion: version,
    capabilities: { sampling: {}, elicitation: {} },
    clientInfo: { name: "test", version: "1" }
  })
export const call = (id: number | string, name: string, args: object = {}, more: object = {}) =>
  request(id, "tools/call", { name, arguments: args, ...more })
export const claim = (capabilities: object = {}) => ({
  [meta.protocolVersion]: "2026-07-28",
  [meta.clientCapabilities]: capabilities,
  [meta.clientInfo]: { name: "test", version: "1" }
})

export const postHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  host: `127.0.0.1:${port}`
}
export const modernHeaders = (method: string, name?: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name })
})

// ---- in memory

export const settle = Effect.gen(function*() {
  for (let k = 0; k < 40; k++) {
    yield* Effect.yieldNow
    yield* Effect.promise(() => new Promise<void>((resume) => setImmediate(resume)))
  }
})

/** An event of a stream. */
export interface Event {
  readonly id: string | undefined
  readonly retry: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

export const eventsOf = (body: string): ReadonlyArray<Event> =>
  body.split("\n\n").slice(0, -1).map((block) => {
    const fields = new Map(
      block.split("\n").map((line) => {
        const colon = line.indexOf(":")
        return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")] as const
      })
    )
    return { id: fields.get("id"), retry: fields.get("retry"), event: fields.get("event"), data: fields.get("data") }
  })

const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)
const Wire = Schema.Struct({
  id: optional(Schema.NullOr(Schema.Union([Schema.String, Schema.Number]))),
  method: optional(Schema.String),
  params: optional(Schema.Unknown),
  result: optional(Schema.Struct({
    protocolVersion: optional(Schema.String),
    supportedVersions: optional(Schema.Array(Schema.String)),
    tools: optional(Schema.Array(Schema.Struct({ name: Schema.String }))),
    content: optional(Schema.Array(Schema.Struct({ type: Schema.String, text: Schema.String }))),
    _meta: optional(Schema.Record(Schema.String, Schema.Unknown))
  })),
  error: optional(Schema.Struct({
    code: Schema.Int,
    message: Schema.String,
    data: optional(Schema.Struct({
      reason: optional(Schema.String),
      supported: optional(Schema.Array(Schema.String)),
      requested: optional(Schema.String)
    }))
  }))
})
/** A message, as far as the tests look at it. */
export type Message = typeof Wire.Type
const message = Schema.decodeUnknownSync(Schema.fromJsonString(Wire))
/** The answers of a batch. */
export const batch = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Wire)))
/** The text of a tool's result. */
export const said = (message: Message | undefined): string | undefined => message?.result?.content?.[0]?.text

/** A response that is being read. */
export interface Reading {
  readonly status: number
  readonly headers: Headers
  /** All that came so far. */
  readonly body: () => string
  readonly json: () => Message
  readonly events: () => ReadonlyArray<Event>
  /** The messages among the events. */
  readonly messages: () => ReadonlyArray<Message>
  readonly done: () => boolean
  /** The client goes away. */
  readonly leave: () => void
}

export const readingOf = (response: Response, leave: () => void, read = true): Reading => {
  let body = ""
  let done = response.body === null
  const decoder = new TextDecoder()
  const pump = async () => {
    const reader = response.body?.getReader()
    try {
      for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
        body += decoder.decode(next.value, { stream: true })
      }
    } catch {
      // It left.
    }
    done = true
  }
  if (read) void pump()
  return {
    status: response.status,
    headers: response.headers,
    body: () => body,
    json: () => message(body),
    events: () => eventsOf(body),
    messages: () => eventsOf(body).flatMap(({ data }) => data === undefined || data === "" ? [] : [message(data)]),
    done: () => done,
    leave
  }
}

export interface Bench {
  readonly seen: Seen
  readonly told: Array<string>
  readonly stats: () => HttpTransport.Stats
  /** Sends a request and waits for the head of its response; `undefined` where none came without the clock. */
  readonly send: (
    method: string,
    headers: Record<string, string | undefined>,
    body?: object | string | ReadableStream,
    more?: { readonly url?: string; readonly read?: boolean }
  ) => Effect.Effect<Sent>
  /** Posts a body that is written as it goes. */
  readonly stream: (body: ReadableStream) => Effect.Effect<Sent>
  readonly post: (body: object | string, headers?: Record<string, string | undefined>) => Effect.Effect<Sent>
  /** Opens a session; its id. */
  readonly open: (version?: string, headers?: Record<string, string | undefined>) => Effect.Effect<string>
  readonly stop: Effect.Effect<void>
}

export interface Sent {
  readonly response: () => Reading | undefined
  /** The response, which must be there. */
  readonly now: Reading
  readonly leave: Effect.Effect<void>
}

const missing = (): never => {
  throw new Error("no response yet")
}

/** The transport in memory, with sessions served. */
export const make = (options: HttpTransport.Options = {}): Effect.Effect<Bench, never, Scope.Scope> =>
  Effect.gen(function*() {
    const seen = makeSeen()
    const told: Array<string> = []
    const made = HttpTransport.make(port, { tell: (sentence) => told.push(sentence), ...options })
    const layer = Layer.mergeAll(
      Layer.succeed(Transport, made.transport),
      Parse.layer(),
      scripted(seen),
      Notices.layerTell((sentence) => told.push(sentence))
    )
    const scope = yield* Effect.scope
    const fiber = yield* Effect.forkIn(Effect.provide(Session.run, layer), scope)
    const context = yield* Effect.context<never>()
    const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest | Scope.Scope>(context)(made.handle)

    const send: Bench["send"] = (method, headers, body, more = {}) =>
      Effect.gen(function*() {
        const abort = new AbortController()
        const given = new Headers()
        for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, value)
        let reading: Reading | undefined
        const leave = () => abort.abort()
        void handler(
          new Request(more.url ?? url, {
            method,
            headers: given,
            signal: abort.signal,
            ...(body === undefined ? {} : body instanceof ReadableStream ? { body, duplex: "half" } : {
              body: typeof body === "string" ? body : JSON.stringify(body)
            })
          })
        ).then((response) => {
          reading = readingOf(response, leave, more.read)
        })
        yield* settle
        return {
          response: () => reading,
          get now() {
            return reading ?? missing()
          },
          leave: Effect.andThen(Effect.sync(leave), settle)
        }
      })
    const post: Bench["post"] = (body, headers = {}) => send("POST", { ...postHeaders, ...headers }, body)
    return {
      seen,
      told,
      stats: made.stats,
      send,
      post,
      stream: (body) => send("POST", postHeaders, body),
      open: (version = "2025-11-25", headers = {}) =>
        Effect.gen(function*() {
          const { now } = yield* post(initialize(version), headers)
          const id = now.headers.get("mcp-session-id") ?? missing()
          yield* post(notification("notifications/initialized"), { ...headers, "mcp-session-id": id })
          return id
        }),
      stop: Effect.gen(function*() {
        yield* Effect.forkIn(Effect.sync(() => fiber.interruptUnsafe()), scope)
        yield* settle
      })
    }
  })

export const token = (name: string) => Redacted.make(`${name}-${"0123456789abcdef"}`)
