/**
 * The requests of 2026-07-28: each POST is a peer of its own, and nothing is remembered between two of them
 * (2026-07-28 basic/transports/streamable-http).
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as ErrorCode from "../protocol/ErrorCode.ts"
import * as Method from "../protocol/Method.ts"
import * as Negotiation from "../protocol/Negotiation.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Peer, Who } from "../stage/Transport.ts"
import type { Item, Notification, Request, Text } from "../wire/Message.ts"
import * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import * as Answer from "./Answer.ts"
import * as Inlet from "./Inlet.ts"
import * as Mirror from "./Mirror.ts"
import * as Outlet from "./Outlet.ts"
import type * as Said from "./Said.ts"

type Headers = Readonly<Record<string, string | undefined>>

const revision: Revision.Revision = "2026-07-28"

const HeaderMismatch = -32020

const encoder = new TextEncoder()

/**
 * Whether a request is to be judged by the modern rules: it says so in its metadata, whatever its header says, or in its
 * header.
 *
 * @category guards
 * @since 0.1.0
 */
export const claims = (version: string | undefined, item: Item): boolean =>
  Revision.isRevision(version) && Revision.table[version].era === "modern" ||
  (item._tag === "Request" || item._tag === "Notification") && claimOf(item.params) !== undefined

const claimOf = (params: Text | undefined): Text | undefined => {
  const meta = params === undefined ? undefined : T.member(params, "_meta")
  return meta === undefined ? undefined : T.member(meta, Revision.meta.protocolVersion)
}

/** The status that an error answer goes out with. */
const statusOf = (error: Text | undefined): number => {
  const code = error === undefined ? undefined : T.member(error, "code")
  return code === undefined ? 200 : ErrorCode.meaning(Number(code), revision)?.http ?? 200
}

/**
 * Refuses a request whose headers and body disagree (`-32020`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const mismatch = (says: string, id: Text | undefined): HttpServerResponse =>
  Answer.failure(400, Write.failure(HeaderMismatch, `Sallyport: ${says}.`), id)

/**
 * Refuses a request whose header names a version that there is not (`-32022`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const unsupported = (version: string, item: Item): HttpServerResponse => {
  const { code, data, message } = Negotiation.unsupported(version)
  return Answer.failure(400, Write.failure(code, message, data), item._tag === "Request" ? item.id : undefined)
}

/** Why the version header does not agree with the metadata; undefined if it does. */
const versionWrong = (header: string | undefined, params: Text | undefined): string | undefined => {
  if (header === undefined) return "the header MCP-Protocol-Version is missing"
  const claim = claimOf(params)
  const claimed = claim === undefined ? undefined : T.string(claim)
  return claimed === undefined || claimed === header
    ? undefined
    : "the header MCP-Protocol-Version does not say what the body's _meta says"
}

/**
 * Judges a request before anything sees it: version, metadata, mirrored headers, method, in this order.
 *
 * @category getters
 * @since 0.1.0
 */
export const judge = (headers: Headers, item: Request): HttpServerResponse | undefined => {
  const { id, method, params } = item
  const version = versionWrong(headers["mcp-protocol-version"], params)
  if (version !== undefined) return mismatch(version, id)
  const envelope = Negotiation.envelope(params)
  if (envelope._tag === "Refused") {
    return Answer.failure(400, Write.failure(envelope.code, envelope.message, envelope.data), id)
  }
  const wrong = Mirror.standard(headers, method, params)
  if (wrong !== undefined) return mismatch(wrong, id)
  // A method of another revision, and one that no client sends, is known to be none here.
  if (Method.isKnown(method) && Method.find(method, "request", "host", revision) === undefined) {
    const { code, remedy, says } = Reason.table["unknown-method"]
    return Answer.failure(404, Write.failure(code, `Sallyport: ${says}; ${remedy}.`), id)
  }
  return undefined
}

/**
 * Judges a notification: nothing but its headers can be wrong, and nothing comes of it (2026-07-28
 * basic/transports/streamable-http: a client has none to send over HTTP).
 *
 * @category getters
 * @since 0.1.0
 */
export const judgeNotification = (headers: Headers, { method, params }: Notification): HttpServerResponse => {
  const version = versionWrong(headers["mcp-protocol-version"], params)
  if (version !== undefined) return mismatch(version, undefined)
  const header = headers["mcp-method"]
  return header !== undefined && Mirror.decode(header) !== method
    ? mismatch("the header Mcp-Method does not say what the body says", undefined)
    : Answer.empty(202)
}

/**
 * What serving needs.
 *
 * - `start`: starts the session of a peer and gives what ends it; `done` is called when it has ended.
 * - `patience`: after this long without a word, the answer becomes a stream of events.
 *
 * @category models
 * @since 0.1.0
 */
export interface Serving {
  readonly start: (peer: Peer, done: () => void) => () => void
  readonly outlet: Outlet.Options
  readonly patience: Duration.Duration
  readonly inputBytes: number
  readonly read: Said.Read
  readonly dropped: (what: string) => void
  /** Takes the end that a closing server puts to the input. */
  readonly closing: (end: () => void) => () => void
}

/**
 * Serves one request, which was judged: by one JSON object where the answer is all that comes, else by a stream of events.
 * A client that goes away has cancelled it.
 *
 * @category running
 * @since 0.1.0
 */
export const serve = (
  who: Who,
  item: Request,
  bytes: Uint8Array,
  { closing, dropped, inputBytes, outlet: options, patience, read, start }: Serving
): Effect.Effect<HttpServerResponse, never, Scope.Scope> =>
  Effect.gen(function*() {
    const first = Deferred.makeUnsafe<void>()
    let early: Array<string> = []
    let answer: (Said.Said & { readonly _tag: "Answer" }) | undefined
    let outlet: Outlet.Outlet | undefined
    let over = false

    const finish = (): void => {
      over = true
      inlet.end()
      outlet?.end()
      Deferred.doneUnsafe(first, Effect.void)
    }
    const put = (line: string): void => {
      if (outlet === undefined) early.push(line)
      else outlet.push(Outlet.event(undefined, line))
    }
    const route = (said: Said.Said): void => {
      if (over) dropped("a message after the answer")
      else if (said._tag === "Answer") {
        answer = said
        put(said.line)
        finish()
      } else if (said._tag === "Request") dropped("a request of the server's own, which 2026-07-28 does not have")
      else if (said.method === "notifications/cancelled") finish()
      else {
        put(said.line)
        Deferred.doneUnsafe(first, Effect.void)
      }
    }
    const inlet = Inlet.make(who, inputBytes, (text) =>
      Effect.suspend(() => {
        for (const said of read(text)) route(said)
        return outlet?.room ?? Effect.void
      }))

    let stop = (): void => {}
    const forget = closing(inlet.end)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        forget()
        outlet?.cut()
        if (over) return
        over = true
        const params = T.object([["requestId", item.id]])
        if (!inlet.offer(encoder.encode(Write.notification("notifications/cancelled", params)))) stop()
        inlet.end()
      })
    )
    stop = start(inlet.peer, finish)
    inlet.offer(bytes)

    yield* Effect.raceFirst(Deferred.await(first), Effect.sleep(patience))
    if (over && answer !== undefined && early.length === 1) return Answer.json(statusOf(answer.error), answer.line)
    if (over && early.length === 0) {
      return Answer.failure(500, Write.failure(-32603, "Sallyport: the server ended before it answered."), item.id)
    }
    const stream = outlet = Outlet.make(options)
    if (early.length === 0) stream.push(Outlet.comment)
    for (const line of early) put(line)
    early = []
    if (over) stream.end()
    return Answer.events(stream)
  })
