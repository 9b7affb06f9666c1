/**
 * The body of one response that is a stream of events (Server-Sent Events), with a bound on what waits in it.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

/**
 * How a stream of events is written.
 *
 * - `high`: with more characters than this in it, the outlet has no room.
 * - `keepAlive`: after this long without an event a comment is sent, so that nobody on the way closes the connection.
 * - `stall`: a reader that has taken nothing for this long while there was no room is cut off.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly high: number
  readonly keepAlive: Duration.Duration
  readonly stall: Duration.Duration
}

/**
 * One reader's stream of events.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outlet {
  /** Queues; dropped where the reader is gone. */
  readonly push: (text: string) => void
  /** Nothing more comes; what is queued still goes out. */
  readonly end: () => void
  /** The reader is gone, or is made to be: what is queued is dropped. */
  readonly cut: () => void
  readonly open: () => boolean
  readonly full: () => boolean
  /** Done when there is room, or nobody to have room for. */
  readonly room: Effect.Effect<void>
  readonly stream: Stream.Stream<Uint8Array>
}

/**
 * An event with a message (HTML, server-sent events). The message is one line.
 *
 * @category constructors
 * @since 0.1.0
 */
export const event = (id: string | undefined, line: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${line}\n\n`

/**
 * The event that opens a stream: it has an id to resume from and no data, and says how long to wait before that
 * (2025-11-25 basic/transports, Sending Messages).
 *
 * @category constructors
 * @since 0.1.0
 */
export const prime = (id: string, retry: number): string => `id: ${id}\nretry: ${retry}\ndata: \n\n`

/**
 * How long a reader is to wait before it comes again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const retry = (millis: number): string => `retry: ${millis}\n\n`

/**
 * Nothing, said: it keeps a connection alive, and as the first thing in a stream it sends the headers on their way.
 *
 * @category constants
 * @since 0.1.0
 */
export const comment = ":\n\n"

const encoder = new TextEncoder()

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ high, keepAlive, stall }: Options): Outlet => {
  let queued = ""
  let ended = false
  let gone = false
  let wake: Deferred.Deferred<void> | undefined
  let roomy: Deferred.Deferred<void> | undefined
  let reader: Fiber.Fiber<unknown, unknown> | undefined

  // Who waits goes on within the call, and may wait again.
  const rouse = (): void => {
    const waiter = wake
    wake = undefined
    if (waiter !== undefined) Deferred.doneUnsafe(waiter, Effect.void)
  }
  const relieve = (): void => {
    const waiter = roomy
    roomy = undefined
    if (waiter !== undefined) Deferred.doneUnsafe(waiter, Effect.void)
  }
  const cut = (): void => {
    if (gone) return
    gone = true
    queued = ""
    rouse()
    relieve()
  }
  const full = (): boolean => !gone && queued.length > high

  const pull: Effect.Effect<readonly [Uint8Array], Cause.Done> = Effect.suspend(() => {
    if (queued !== "") {
      const bytes = encoder.encode(queued)
      queued = ""
      relieve()
      return Effect.succeed([bytes] as const)
    }
    if (ended || gone) return Cause.done()
    const next = wake = Deferred.makeUnsafe<void>()
    return Effect.flatMap(
      Effect.timeoutOption(Deferred.await(next), keepAlive),
      Option.match({ onNone: () => Effect.succeed([encoder.encode(comment)] as const), onSome: () => pull })
    )
  })

  /** The reader's own fiber waits for a socket that takes nothing: nothing but its interruption ends that. */
  const stalled = Effect.andThen(
    Effect.sleep(stall),
    Effect.sync(() => {
      cut()
      reader?.interruptUnsafe()
    })
  )

  return {
    push: (text) => {
      if (gone || ended) return
      queued += text
      rouse()
    },
    end: () => {
      ended = true
      rouse()
    },
    cut,
    open: () => !gone && !ended,
    full,
    room: Effect.suspend(() => {
      if (!full()) return Effect.void
      roomy ??= Deferred.makeUnsafe<void>()
      return Effect.raceFirst(Deferred.await(roomy), stalled)
    }),
    stream: Stream.fromPull(Effect.sync(() =>
      Effect.withFiber((fiber) => {
        reader = fiber
        return pull
      })
    ))
  }
}
