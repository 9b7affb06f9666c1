/**
 * The requests of a line that are on their way: decided and sent, or waiting for a decision or a listing.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Allow } from "../stage/Gate.ts"
import { attempt } from "../stage/internal/attempt.ts"
import type { Call } from "../stage/Port.ts"
import { nothing } from "./Start.ts"

/**
 * Sent as `inner` under the decision `seq`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sent {
  readonly _tag: "Sent"
  readonly inner: Call
  readonly seq: number | undefined
  /** What the gate wants to be told when the call is over. */
  readonly ended: Allow["ended"]
  /** Whether its bytes have left. */
  left: boolean
}

/**
 * Waiting until something calls `stop`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waits {
  readonly _tag: "Waits"
  readonly stop: () => void
}

/**
 * A call on its way.
 *
 * @category models
 * @since 0.1.0
 */
export type Flight = Sent | Waits

/**
 * All of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Flights {
  readonly get: (call: Call) => Flight | undefined
  readonly set: (call: Call, flight: Flight) => void
  readonly all: () => Iterable<readonly [Call, Flight]>
  /** The call as it came, for the one that was sent in its place. */
  readonly outer: (inner: Call) => readonly [Call, Sent] | undefined
  /** The call waits until it is decided, or `stop` gives that up. */
  readonly park: (call: Call, stop: () => void) => void
  /** The call no longer waits: false if it was given up meanwhile. */
  readonly unpark: (call: Call) => boolean
  /** The host waits for a listing. */
  readonly lists: (call: Call, inner: Call) => void
  /** The call is answered or given up. */
  readonly forget: (call: Call) => void
  /** A call that waits is given up. */
  readonly giveUp: (call: Call, waits: Waits) => void
  /** Called last: who waits for the end goes on at once, and what was decided has to be queued by then. */
  readonly left: () => void
  /** Done when nothing more has to be asked of the server for what the host has asked. */
  readonly idle: Effect.Effect<void>
}

/**
 * Nothing on its way. `settled` says whether listings that the host waits for can be answered at once.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (settled: () => boolean): Flights => {
  const flights = new Map<Call, Flight>()
  const parked = new Set<Call>()
  const listings = new Set<Call>()
  const leaving: Array<Deferred.Deferred<void>> = []

  const busy = (): boolean => parked.size > 0 || (listings.size > 0 && !settled())
  const left = (): void => {
    if (leaving.length === 0 || busy()) return
    for (const waiter of leaving.splice(0)) Deferred.doneUnsafe(waiter, Effect.void)
  }
  const unpark = (call: Call): boolean => {
    if (!parked.delete(call)) return false
    flights.delete(call)
    return true
  }

  return {
    get: (call) => flights.get(call),
    set: (call, flight) => void flights.set(call, flight),
    all: () => flights,
    outer: (inner) => {
      for (const [outer, flight] of flights) {
        if (flight._tag === "Sent" && flight.inner === inner) return [outer, flight]
      }
      return undefined
    },
    park: (call, stop) => {
      parked.add(call)
      flights.set(call, { _tag: "Waits", stop })
    },
    unpark,
    lists: (call, inner) => {
      listings.add(call)
      flights.set(call, { _tag: "Sent", inner, seq: undefined, ended: undefined, left: true })
    },
    forget: (call) => {
      const at = flights.get(call)
      flights.delete(call)
      if (at?._tag === "Sent") over(at.ended)
      if (listings.delete(call)) left()
    },
    giveUp: (call, { stop }) => {
      unpark(call)
      stop()
      left()
    },
    left,
    idle: Effect.suspend(() => {
      if (!busy()) return Effect.void
      const waiter = Deferred.makeUnsafe<void>()
      leaving.push(waiter)
      return Deferred.await(waiter)
    })
  }
}

/**
 * Tells a gate that a call is over.
 *
 * @category running
 * @since 0.1.0
 */
export const over = (ended: Allow["ended"]): void => {
  if (ended !== undefined) attempt(ended, nothing)
}
