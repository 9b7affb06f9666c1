/**
 * One session of the transport of 2024-11-05: a GET stream on which all comes, and an address for POSTs (2024-11-05
 * basic/transports, HTTP with SSE).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { Peer, Who } from "../stage/Transport.ts"
import * as Answer from "./Answer.ts"
import * as Inlet from "./Inlet.ts"
import * as Outlet from "./Outlet.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Pair {
  readonly who: Who
  readonly peer: Peer
  /** The stream; the session ends with it. */
  readonly listen: Effect.Effect<HttpServerResponse, never, Scope.Scope>
  /** Serves a POST. */
  readonly post: (bytes: Uint8Array) => HttpServerResponse
  readonly end: () => void
  readonly over: () => void
}

/**
 * A session of this client, whose messages are posted to `address`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  who: Who,
  address: string,
  options: { readonly inputBytes: number; readonly outlet: Outlet.Options }
): Pair => {
  const outlet = Outlet.make(options.outlet)
  const inlet = Inlet.make(who, options.inputBytes, (text) =>
    Effect.suspend(() => {
      for (const line of text.split("\n")) if (line !== "") outlet.push(Outlet.event(undefined, line))
      return outlet.room
    }))
  outlet.push(`event: endpoint\ndata: ${address}\n\n`)
  return {
    who,
    peer: inlet.peer,
    listen: Effect.as(
      Effect.addFinalizer(() =>
        Effect.sync(() => {
          outlet.cut()
          inlet.end()
        })
      ),
      Answer.events(outlet)
    ),
    post: (bytes) =>
      outlet.open() && inlet.offer(bytes)
        ? Answer.empty(202)
        : Answer.busy("the session has not read yet what was sent before", 429),
    end: inlet.end,
    over: () => {
      inlet.end()
      outlet.end()
    }
  }
}
