/**
 * Announced changes: how Sallyport hears of them, and how the host does.
 *
 * **Details**
 *
 * A legacy server announces to whoever is connected. In the modern era changes are subscribed to, by Sallyport for itself
 * and by the host for itself.
 *
 * @since 0.1.0
 */
import type * as Agreement from "../protocol/Agreement.ts"
import { metaOf } from "../protocol/Agreement.ts"
import { meta } from "../protocol/Revision.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Flights } from "./Flights.ts"
import type { Offer } from "./Offer.ts"
import type { Recorder } from "./Recorder.ts"

const listChanged = "notifications/tools/list_changed"

/**
 * The subscriptions of one line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subscription {
  /** A modern request goes on with this metadata: the first one opens the session, and changes are subscribed to. */
  readonly opened: (metadata: Text) => void
  /** The server ended a call of its own: true where it was the subscription. */
  readonly ended: (call: Call) => boolean
  /** A notification of the server's goes on, or is kept back. */
  readonly heard: (method: string, params: Text | undefined) => void
  /** Tells the host that what it may see has changed, as its era has it. */
  readonly announce: () => void
}

/**
 * What subscriptions need of the line around them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly agreement: Agreement.Agreement
  readonly back: Port
  readonly port: Port
  readonly offer: Offer
  readonly flights: Flights
  readonly recorder: Recorder
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Subscription => {
  const { agreement, back, flights, offer, port, recorder } = options
  let own: Call | undefined
  let refused = false
  // Announcements are coalesced: one goes on at once, the others as one when the new listing is read.
  let announced: "no" | "once" | "more" = "no"

  const subscribe = (metadata: Text): void => {
    const call: Call = {
      wish: undefined,
      method: "subscriptions/listen",
      params: T.object([
        ["notifications", T.object([["toolsListChanged", T.literal("true")]])],
        ["_meta", metadata]
      ]),
      // A server may end a subscription; one that refuses it is not asked with every request.
      reply: (reply) => {
        if (own === call) own = undefined
        if (reply._tag === "Failure") refused = true
      }
    }
    own = call
    recorder.send(() => port.request(call))
  }

  return {
    opened: (metadata) => {
      offer.meta = T.removeMember(metadata, "progressToken")
      if (!agreement.server.has("server.tools")) return
      offer.refresh("opened")
      if (own === undefined && !refused && agreement.server.has("server.tools.listChanged")) subscribe(offer.meta)
    },
    ended: (call) => {
      if (call !== own) return false
      own = undefined
      return true
    },
    heard: (method, params) => {
      const ours = agreement.era === "modern" && isOwn(params)
      if (method === listChanged) {
        offer.refresh("changed")
        if (!ours && agreement.era === "legacy") {
          if (announced !== "no") {
            announced = "more"
            return
          }
          announced = "once"
          offer.whenSettled(() => {
            if (announced === "more") recorder.send(() => back.notify(listChanged, undefined))
            announced = "no"
          })
        }
      }
      if (!ours) recorder.send(() => back.notify(method, params))
    },
    announce: () => {
      if (agreement.era === "legacy") {
        if (agreement.phase === "open") back.notify(listChanged, undefined)
        return
      }
      for (const [call, flight] of flights.all()) {
        if (flight._tag === "Sent" && call.wish !== undefined && listens(call)) {
          back.notify(listChanged, T.object([["_meta", T.object([[meta.subscriptionId, call.wish]])]]))
        }
      }
    }
  }
}

/** Whether a request subscribes to the list of tools. */
const listens = (call: Call): boolean => {
  if (call.method !== "subscriptions/listen" || call.params === undefined) return false
  const wanted = T.member(call.params, "notifications")
  return wanted !== undefined && T.isObject(wanted) && T.member(wanted, "toolsListChanged") === "true"
}

/** A subscription of Sallyport's own is marked by the endpoint: nobody outside knows its id. */
const isOwn = (params: Text | undefined): boolean => {
  const metadata = metaOf(params)
  return metadata !== undefined && T.member(metadata, meta.subscriptionId) === "null"
}
