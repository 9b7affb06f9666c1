/**
 * The relay program: one host, one server, and the guard between them.
 *
 * **Example**
 *
 * ```ts
 * const program = Session.run.pipe(
 *   Effect.provide(
 *     Layer.mergeAll(Relay.layerDispatch(launch).pipe(Layer.provide(guard)), NodeTransport.layerStdio).pipe(
 *       Layer.provideMerge(Layer.mergeAll(Parse.layer(), Notices.layerTell(console.error)))
 *     )
 *   )
 * )
 * ```
 *
 * @since 0.1.0
 */
import { Lines } from "@sallyport/core/line/Lines"
import * as Visible from "@sallyport/core/pin/Visible"
import type { Outcome } from "@sallyport/core/session/Session"
import { Dispatch } from "@sallyport/core/stage/Dispatch"
import type { Launch } from "@sallyport/core/stage/Spawn"
import { Spawn } from "@sallyport/core/stage/Spawn"
import { Files } from "@sallyport/core/store/Files"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Routes everything that the one host asks to the one server.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDispatch = (launch: Launch): Layer.Layer<Dispatch, never, Lines> =>
  Layer.effect(
    Dispatch,
    Effect.map(Lines, (lines) => Dispatch.of({ open: (who) => lines.open(launch, who) }))
  )

/**
 * Keeps the end of what a server printed on stderr in a file of its name, for `sallyport status`: with control characters
 * made visible, since a person reads it (security rule F25).
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTails = (directory: string): Layer.Layer<Spawn, never, Spawn | Files> =>
  Layer.effect(
    Spawn,
    Effect.gen(function*() {
      const spawn = yield* Spawn
      const files = yield* Files
      return Spawn.of({
        ...spawn,
        connect: Effect.fnUntraced(function*(launch) {
          const peer = yield* spawn.connect(launch)
          const keep = Effect.suspend(() => {
            const tail = peer.tail().split("\n").map(Visible.line).join("\n")
            if (tail === "") return Effect.void
            // A tail that cannot be kept must not cost the session anything.
            return Effect.ignore(
              Effect.andThen(files.folder(directory), files.replace(`${directory}/${launch.name}`, tail))
            )
          })
          yield* Effect.addFinalizer(() => keep)
          return peer
        })
      })
    })
  )

/**
 * The exit code of a relay: the server's own code, or 128 and the number of the signal that ended it; 1 where it never
 * came to be or ended before the session opened; 0 where the host ended first.
 *
 * @category running
 * @since 0.1.0
 */
export const exitCode = (outcome: Outcome, signals: Readonly<Record<string, number>>): number => {
  switch (outcome.ending._tag) {
    case "closed":
      return 0
    case "failed":
      return 1
    case "exited":
      return outcome.ending.code === 0 && !outcome.settled ? 1 : outcome.ending.code
    case "signaled":
      return 128 + (signals[outcome.ending.signal] ?? 0)
  }
}
