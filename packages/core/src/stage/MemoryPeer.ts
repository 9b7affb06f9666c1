/**
 * A peer in memory, and the hand that plays its far side: what tests and embeddings use in place of a process or a host.
 *
 * **Details**
 *
 * There is no clock and no randomness in it: what happens, and when, is what the {@link Far} side says.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import type { Ending } from "./Port.ts"
import type { Peer, Who } from "./Transport.ts"

/**
 * The far side of a peer in memory.
 *
 * @category models
 * @since 0.1.0
 */
export interface Far {
  /** Everything that was written to it so far. */
  readonly written: () => string
  /** Every write by itself, as it came: what counts writes per turn. */
  readonly writes: () => ReadonlyArray<string>
  /** The next whole line written to it that was not taken yet, without its line feed; waits for one. */
  readonly line: Effect.Effect<string>
  /** Sends a chunk and waits until the reader's Effect for it is done. */
  readonly send: (chunk: string | Uint8Array) => Effect.Effect<void>
  /** Puts a chunk in the pipe and does not wait. */
  readonly push: (chunk: string | Uint8Array) => Effect.Effect<void>
  /** Ends its output after all that was sent; it goes on reading. */
  readonly endOutput: Effect.Effect<void>
  /** Is gone: its output ends after all that was sent, it reads no more, and then `ended` tells this. */
  readonly exit: (ending: Ending) => Effect.Effect<void>
  /** Prints on its stderr. */
  readonly stderr: (text: string) => Effect.Effect<void>
  /** Stops reading: every write from now on waits until {@link Far.resume}. */
  readonly stall: Effect.Effect<void>
  /** Reads again. */
  readonly resume: Effect.Effect<void>
  /** Done when nothing more will be written to it. */
  readonly inputEnded: Effect.Effect<void>
}

/**
 * A peer and its far side.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pair {
  readonly peer: Peer
  readonly far: Far
}

const encoder = new TextEncoder()

interface Chunk {
  readonly bytes: Uint8Array
  readonly taken: Deferred.Deferred<void>
}

/**
 * Makes a pair.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(who: Who): Effect.fn.Return<Pair> {
  // A far side that is done has put `undefined` last.
  const chunks = yield* Queue.unbounded<Chunk | undefined>()
  const lines = yield* Queue.unbounded<string>()
  const room = Latch.makeUnsafe(true)
  const inputEnded = Deferred.makeUnsafe<void>()
  const ended = Deferred.makeUnsafe<Ending>()
  const gone = Deferred.makeUnsafe<void>()
  const writes: Array<string> = []
  let rest = ""
  let tail = ""
  let reads = true
  let open = true
  let sends = true
  let reading = false
  let last: Ending | undefined

  // `ended` tells once the far side is gone and nothing that it sent is unread.
  const settle = () => {
    if (last === undefined || reading || Queue.sizeUnsafe(chunks) > 1) return
    Deferred.doneUnsafe(ended, Effect.succeed(last))
  }

  const peer: Peer = {
    who,
    receive: (onChunk) =>
      Effect.gen(function*() {
        while (true) {
          const chunk = yield* Queue.take(chunks)
          if (chunk === undefined) break
          reading = true
          yield* Effect.ensuring(
            Effect.suspend(() => onChunk(chunk.bytes)),
            Effect.sync(() => {
              reading = false
              Deferred.doneUnsafe(chunk.taken, Effect.void)
              settle()
            })
          )
        }
        // The end stays in the pipe, so that a second reader sees it too.
        Queue.offerUnsafe(chunks, undefined)
        settle()
      }),
    write: (text) =>
      Effect.suspend(() => {
        if (!reads || !open) return Effect.void
        writes.push(text)
        const cut = (rest + text).split("\n")
        rest = cut.pop() ?? ""
        for (const line of cut) Queue.offerUnsafe(lines, line)
        return Latch.isOpen(room) ? Effect.void : Effect.raceFirst(room.await, Deferred.await(gone))
      }),
    end: Effect.sync(() => {
      open = false
      Deferred.doneUnsafe(inputEnded, Effect.void)
    }),
    ended: Deferred.await(ended),
    tail: () => tail
  }

  const push = (chunk: string | Uint8Array): Effect.Effect<Chunk> =>
    Effect.sync(() => {
      const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk
      const entry: Chunk = { bytes, taken: Deferred.makeUnsafe() }
      if (sends) Queue.offerUnsafe(chunks, entry)
      else Deferred.doneUnsafe(entry.taken, Effect.void)
      return entry
    })

  const endOutput = Effect.sync(() => {
    if (!sends) return
    sends = false
    Queue.offerUnsafe(chunks, undefined)
  })

  const far: Far = {
    written: () => writes.join(""),
    writes: () => writes.slice(),
    line: Queue.take(lines),
    send: (chunk) => Effect.flatMap(push(chunk), (entry) => Deferred.await(entry.taken)),
    push: (chunk) => Effect.asVoid(push(chunk)),
    endOutput,
    exit: (ending) =>
      Effect.andThen(
        endOutput,
        Effect.sync(() => {
          if (last !== undefined) return
          last = ending
          reads = false
          Deferred.doneUnsafe(gone, Effect.void)
          settle()
        })
      ),
    stderr: (text) =>
      Effect.sync(() => {
        tail += text
      }),
    stall: Effect.asVoid(room.close),
    resume: Effect.asVoid(room.open),
    inputEnded: Deferred.await(inputEnded)
  }

  return { peer, far }
})
