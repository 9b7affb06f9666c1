/**
 * Listings that the host asks for: they wait for Sallyport's own, and are filtered by it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Agreement from "../protocol/Agreement.ts"
import type { Gate } from "../stage/Gate.ts"
import { attempt } from "../stage/internal/attempt.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import { maxHeld } from "./Endpoint.ts"
import type { Flights } from "./Flights.ts"
import type { Listed } from "./Offer.ts"
import { table } from "./Offer.ts"
import type { Offers } from "./Offers.ts"
import type { Recorder } from "./Recorder.ts"
import * as Refusal from "./Refusal.ts"
import type { start } from "./Start.ts"

/** How long a listing that the server has answered waits for Sallyport's own. */
const limit = "30 seconds"

/** What is asked of an item of each kind. */
const uses = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" } as const

/**
 * What listings need of the line around them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly client: string
  readonly server: string
  readonly agreement: Agreement.Agreement
  readonly gate: Gate["Service"]
  readonly offers: Offers
  readonly flights: Flights
  readonly recorder: Recorder
  readonly port: Port
  readonly run: ReturnType<typeof start<never>>
  /** What was queued meanwhile is to be sent. */
  readonly turn: () => void
}

/**
 * Passes a listing on, and what of its answer may be shown back.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): (kind: Listed, call: Call) => void => {
  const { agreement, client, flights, gate, offers, port, recorder, run, server, turn } = options
  /** How long the listings are together that wait for Sallyport's own. */
  let kept = 0

  /** What may never be used is not shown. A template stands for many addresses, of which some may be. */
  const mayUse = (kind: Listed, name: string, pin: string | undefined, definition: Text): boolean =>
    kind === "template" || attempt(() =>
      gate.shows({
        client,
        server,
        from: "host",
        method: uses[kind],
        name,
        params: undefined,
        pin,
        definition,
        revision: agreement.revision
      }), () => false)

  /** What the gate lets nobody see, by kind, name and digest, as far as it is recorded. */
  const unseen = new Map<string, string | undefined>()
  /** Whether it is to be recorded that this is withheld: once for each change, not for each listing. */
  const isNews = (kind: Listed, name: string, pin: string | undefined, shows: boolean): boolean => {
    const key = `${kind} ${name}`
    if (shows) {
      unseen.delete(key)
      return false
    }
    if (unseen.has(key) && unseen.get(key) === pin) return false
    unseen.set(key, pin)
    return true
  }

  const filtered = (kind: Listed, call: Call, result: Text): Reply => {
    const { member } = table[kind]
    const offer = offers.of(kind)
    const fault = offer.fault()
    if (fault !== undefined) return fault
    const items = T.member(result, member)
    if (items === undefined || !T.isArray(items)) {
      return Refusal.failure("listing-failed", { server, more: `the answer has no array of ${member}` })
    }
    let withheld = 0
    const news: Array<{ readonly kind: string; readonly name: string; readonly digest: string }> = []
    let text = T.filterElements(offers.passes(result), member, (definition) => {
      const shown = offer.shows(definition)
      const shows = shown !== undefined && mayUse(kind, shown.name, shown.pin, definition)
      if (!shows) withheld++
      if (shown !== undefined && isNews(kind, shown.name, shown.pin, shows)) {
        news.push({ kind, name: shown.name, digest: shown.pin ?? "" })
      }
      return shows
    })
    if (news.length > 0) recorder.record({ type: "withheld", server, items: news })
    const next = T.member(text, "nextCursor")
    const asked = call.params === undefined ? undefined : T.member(call.params, "cursor")
    if (next !== undefined && offer.loops(asked, next)) text = T.removeMember(text, "nextCursor")
    // What was withheld from this host is this host's alone, and may be shown soon (2026-07-28 server/utilities/caching).
    if (withheld > 0 && agreement.era === "modern") {
      text = T.setMember(T.setMember(text, "cacheScope", T.quote("private")), "ttlMs", T.integer(0))
    }
    return { _tag: "Result", result: text }
  }

  return (kind, call) => {
    const offer = offers.of(kind)
    offer.refresh("asked")
    const answer = (reply: Reply): void => {
      flights.forget(call)
      call.reply(reply)
    }
    const inner: Call = {
      ...call,
      reply: (reply) => {
        if (reply._tag === "Failure") return answer(reply)
        if (offer.settled()) return answer(filtered(kind, call, reply.result))
        const size = reply.result.length
        if (kept > 0 && kept + size > maxHeld) return answer(Refusal.failure("listing-late", { server }))
        kept += size
        const over = (): void => {
          kept -= size
          giveUp()
          stop()
        }
        const giveUp = offer.whenSettled(() => {
          over()
          answer(filtered(kind, call, reply.result))
        })
        // A server that announces a change with every listing must not make the host wait for ever.
        const stop = run(Effect.sleep(limit), (exit) => {
          if (!Exit.isSuccess(exit)) return
          over()
          answer(Refusal.failure("listing-late", { server }))
          turn()
        })
        flights.set(call, { _tag: "Waits", stop: over })
      }
    }
    flights.lists(call, inner)
    recorder.send(() => port.request(inner))
  }
}
