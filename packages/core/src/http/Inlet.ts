/**
 * The input of a peer that speaks by HTTP: each body that was taken is one chunk.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type { Ending } from "../stage/Port.ts"
import type { Peer, Who } from "../stage/Transport.ts"

interface Chunk {
  readonly bytes: Uint8Array
  readonly before: () => void
  readonly after: () => void
}

/**
 * The side that fills the input.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inlet {
  /**
   * Hands a chunk in; `false` where the input is over, or where too much of it is unread. `before` is called when the
   * session takes it, `after` when it is done with it.
   */
  readonly offer: (bytes: Uint8Array, before?: () => void, after?: () => void) => boolean
  /** The input is over, behind what was handed in. */
  readonly end: () => void
  readonly peer: Peer
}

const nothing = (): void => {}

/**
 * A peer whose output goes to `write`. At most `bytes` of its input may be unread.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (who: Who, bytes: number, write: Peer["write"]): Inlet => {
  const chunks = Effect.runSync(Queue.unbounded<Chunk | undefined>())
  const ended = Deferred.makeUnsafe<Ending>()
  let held = 0
  let open = true

  return {
    offer: (chunk, before = nothing, after = nothing) => {
      if (!open || held > 0 && held + chunk.length > bytes) return false
      held += chunk.length
      return Queue.offerUnsafe(chunks, { bytes: chunk, before, after })
    },
    end: () => {
      if (!open) return
      open = false
      Queue.offerUnsafe(chunks, undefined)
      Deferred.doneUnsafe(ended, Effect.succeed<Ending>({ _tag: "closed" }))
    },
    peer: {
      who,
      receive: Effect.fnUntraced(function*<E, R>(onChunk: (chunk: Uint8Array) => Effect.Effect<void, E, R>) {
        while (true) {
          const chunk = yield* Queue.take(chunks)
          if (chunk === undefined) break
          chunk.before()
          yield* Effect.ensuring(
            Effect.suspend(() => onChunk(chunk.bytes)),
            Effect.sync(() => {
              held -= chunk.bytes.length
              chunk.after()
            })
          )
        }
        // The end stays, so that a second reader sees it too.
        Queue.offerUnsafe(chunks, undefined)
      }),
      write,
      end: Effect.void,
      ended: Deferred.await(ended),
      tail: () => ""
    }
  }
}
