/**
 * What the HTTP server answers with.
 *
 * @since 0.1.0
 */
import * as Response from "effect/http/HttpServerResponse"
import type { Reply, Text } from "../wire/Message.ts"
import * as Write from "../wire/Write.ts"
import type { Outlet } from "./Outlet.ts"

/** No answer is ever kept by anyone on the way, and none is taken for anything but what it says it is. */
const common = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

type Headers = Readonly<Record<string, string>>

/**
 * The one line of JSON, which is the whole body.
 *
 * @category constructors
 * @since 0.1.0
 */
export const json = (status: number, line: string, headers: Headers = {}): Response.HttpServerResponse =>
  Response.text(line.trimEnd(), { status, contentType: "application/json", headers: { ...common, ...headers } })

/**
 * Nothing more to say.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty = (status: 202 | 204, headers: Headers = {}): Response.HttpServerResponse =>
  Response.empty({ status, headers: { ...common, ...headers } })

/**
 * A stream of events.
 *
 * @category constructors
 * @since 0.1.0
 */
export const events = (outlet: Outlet, headers: Headers = {}): Response.HttpServerResponse =>
  Response.stream(outlet.stream, {
    status: 200,
    contentType: "text/event-stream",
    // Some proxies hold back a response until it ends, unless told.
    headers: { ...common, "x-accel-buffering": "no", ...headers }
  })

/**
 * An error answer to the request with this id; without one where no id was read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failure = (
  status: number,
  reply: Reply,
  id?: Text | undefined,
  headers?: Headers
): Response.HttpServerResponse => json(status, Write.response(id, reply), headers)

/**
 * Refuses a request: the status, and a sentence that says why.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refuse = (status: number, says: string, headers?: Headers): Response.HttpServerResponse =>
  failure(status, Write.failure(status < 500 ? -32600 : -32603, `Sallyport: ${says}.`), undefined, headers)

const later = { "retry-after": "5" }

/**
 * Refuses for now: there is no room.
 *
 * @category constructors
 * @since 0.1.0
 */
export const busy = (says: string, status: 429 | 503 = 503): Response.HttpServerResponse => refuse(status, says, later)
