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
import type { Listed } from "./Offer.ts"
import { table } from "./Offer.ts"
import type { Offers } from "./Offers.ts"
import type { Recorder } from "./Recorder.ts"

/** What of a listing changes is announced as one of these. */
const changes = ["tools", "prompts", "resources"] as const
type Change = (typeof changes)[number]

const announces = new Map<string, Change>(changes.map((change) => [`notifications/${change}/list_changed`, change]))
const changeOf = (kind: Listed): Change => kind === "template" ? "resources" : table[kind].member

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
  readonly announce: (kind: Listed) => void
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
  readonly offers: Offers
  readonly flights: Flights
  readonly recorder: Recorder
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Subscription => {
  const { agreement, back, flights, offers, port, recorder } = options
  let own: Call | undefined
  let refused = false
  // Announcements are coalesced: one goes on at once, the others as one when the new listing is read.
  const announced = new Map<Change, "once" | "more">()

  const subscribe = (metadata: Text): void => {
    if (own !== undefined || refused) return
    const wanted = changes.filter((change) => agreement.server.has(`server.${change}.listChanged`))
    if (wanted.length === 0) return
    const call: Call = {
      wish: undefined,
      method: "subscriptions/listen",
      params: T.object([
        ["notifications", T.object(wanted.map((change) => [`${change}ListChanged`, T.literal("true")]))],
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

  /** Whether an announcement goes on now, and not with others when the new listing is read. */
  const goesOn = (change: Change, method: string): boolean => {
    if (announced.has(change)) {
      announced.set(change, "more")
      return false
    }
    const offer = offers.of(change === "tools" ? "tool" : change === "prompts" ? "prompt" : "resource")
    if (!offer.isWanted()) return true
    announced.set(change, "once")
    offer.whenSettled(() => {
      if (announced.get(change) === "more") recorder.send(() => back.notify(method, undefined))
      announced.delete(change)
    })
    return true
  }

  return {
    opened: (metadata) => {
      const meta = T.removeMember(metadata, "progressToken")
      offers.meta = meta
      offers.opened()
      subscribe(meta)
    },
    ended: (call) => {
      if (call !== own) return false
      own = undefined
      return true
    },
    heard: (method, params) => {
      const ours = agreement.era === "modern" && isOwn(params)
      const change = announces.get(method)
      if (change !== undefined) {
        offers.changed(change)
        if (!ours && agreement.era === "legacy" && !goesOn(change, method)) return
      }
      if (!ours) recorder.send(() => back.notify(method, params))
    },
    announce: (kind) => {
      const change = changeOf(kind)
      const method = `notifications/${change}/list_changed`
      if (agreement.era === "legacy") {
        if (agreement.phase === "open") back.notify(method, undefined)
        return
      }
      for (const [call, flight] of flights.all()) {
        if (flight._tag === "Sent" && call.wish !== undefined && listens(call, table[kind].filter)) {
          back.notify(method, T.object([["_meta", T.object([[meta.subscriptionId, call.wish]])]]))
        }
      }
    }
  }
}

/** Whether a request subscribes to what this filter names. */
const listens = (call: Call, filter: string): boolean => {
  if (call.method !== "subscriptions/listen" || call.params === undefined) return false
  const wanted = T.member(call.params, "notifications")
  return wanted !== undefined && T.isObject(wanted) && T.member(wanted, filter) === "true"
}

/** A subscription of Sallyport's own is marked by the endpoint: nobody outside knows its id. */
const isOwn = (params: Text | undefined): boolean => {
  const metadata = metaOf(params)
  return metadata !== undefined && T.member(metadata, meta.subscriptionId) === "null"
}
