/**
 * A peer over two of Node's streams: one implementation for our own stdio and for the pipes of a child.
 *
 * **Details**
 *
 * It uses the streams' events directly, since every message passes here: a chunk whose Effect is done at once costs no
 * pause, no promise and no queue.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Readable, Writable } from "node:stream"
import type { Peer } from "../stage/Transport.ts"

/**
 * The two directions of a peer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Wires extends Pick<Peer, "receive" | "write" | "end"> {
  /** Whether somebody reads and is waiting for the next chunk. */
  readonly hungry: () => boolean
  /** Bytes handed to the reader so far. */
  readonly taken: () => number
  /** From now on, what nobody reads is thrown away, so that the far side is not held up by it. */
  readonly discard: () => void
  /** Done when all that was written has left this process, or cannot leave it any more. */
  readonly flushed: Effect.Effect<void>
}

/**
 * Reads from one stream and writes to the other.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (readable: Readable, writable: Writable): Wires => {
  // What goes wrong on a pipe always ends in `close`, which is what is acted on.
  readable.on("error", () => {})
  writable.on("error", () => {})

  let onData: ((chunk: Buffer) => void) | undefined
  let onEnd: (() => void) | undefined
  let hungry = false
  let taken = 0
  let discarding = false
  let ended = readable.readableEnded || readable.destroyed
  // Node resumes the pipes of a child that exits, whoever paused them; what comes uncalled for is kept here. It is one
  // chunk at most, since the pause below holds from then on.
  const early: Array<Buffer> = []

  readable.pause()
  readable.on("data", (chunk: Buffer) => {
    if (hungry && onData !== undefined) return onData(chunk)
    if (discarding) return
    early.push(chunk)
    readable.pause()
  })
  const atEnd = () => {
    if (ended) return
    ended = true
    onEnd?.()
  }
  readable.once("end", atEnd)
  readable.once("close", atEnd)

  let waiting: Array<() => void> = []
  const release = () => {
    const now = waiting
    waiting = []
    for (const resume of now) resume()
  }
  writable.on("drain", release)
  writable.on("finish", release)
  writable.on("close", release)
  const deaf = () => writable.destroyed || writable.writableEnded

  const room: Effect.Effect<void> = Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    waiting.push(done)
    return Effect.sync(() => {
      waiting = waiting.filter((other) => other !== done)
    })
  })

  return {
    hungry: () => hungry,
    taken: () => taken,
    discard: () => {
      discarding = true
      if (onData === undefined) readable.resume()
    },
    receive: <E, R>(onChunk: (chunk: Uint8Array) => Effect.Effect<void, E, R>) =>
      Effect.contextWith((context: Context.Context<R>) => {
        const run = Effect.runForkWith(context)
        return Effect.callback<void, E>((resume) => {
          let running: Fiber.Fiber<void, E> | undefined
          let open = true

          const finish = (exit: Exit.Exit<void, E>) => {
            if (!open) return
            open = false
            hungry = false
            onData = onEnd = undefined
            if (!discarding) readable.pause()
            resume(exit)
          }
          const start = (chunk: Buffer): Effect.Effect<void, E, R> => {
            try {
              return onChunk(chunk)
            } catch (defect) {
              return Effect.die(defect)
            }
          }
          const settle = (exit: Exit.Exit<void, E>) => {
            running = undefined
            if (!open) return
            if (Exit.isFailure(exit)) return finish(exit)
            hungry = true
            for (let chunk = early.shift(); chunk !== undefined; chunk = hungry ? early.shift() : undefined) take(chunk)
            if (!hungry) return
            if (ended) return finish(Exit.void)
            readable.resume()
          }
          const take = (chunk: Buffer) => {
            taken += chunk.length
            const effect = start(chunk)
            if (Exit.isExit(effect) && Exit.isSuccess(effect)) return
            // Not read on while it runs, not even when it writes and a chunk comes in on the way.
            hungry = false
            const fiber = run(effect)
            const exit = fiber.pollUnsafe()
            if (exit === undefined) {
              running = fiber
              readable.pause()
              fiber.addObserver(settle)
            } else if (Exit.isFailure(exit)) finish(exit)
            else hungry = open
          }

          onData = take
          onEnd = () => {
            if (hungry) finish(Exit.void)
          }
          settle(Exit.void)
          return Effect.suspend(() => {
            const fiber = running
            finish(Exit.void)
            return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
          })
        })
      }),
    write: (text) => Effect.suspend(() => deaf() || writable.write(text, "utf8") ? Effect.void : room),
    end: Effect.sync(() => {
      if (!deaf()) writable.end()
    }),
    flushed: Effect.suspend(function wait(): Effect.Effect<void> {
      return writable.destroyed || writable.writableFinished ||
          (!writable.writableEnded && writable.writableLength === 0)
        ? Effect.void
        : Effect.andThen(room, Effect.suspend(wait))
    })
  }
}
