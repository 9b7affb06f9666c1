/**
 * The one loop: a peer is served by what Dispatch opens for it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Endpoint from "../line/Endpoint.ts"
import * as Faults from "../line/Faults.ts"
import * as Lifecycle from "../line/Lifecycle.ts"
import { Notices } from "../line/Notices.ts"
import * as Agreement from "../protocol/Agreement.ts"
import { Dispatch } from "../stage/Dispatch.ts"
import { Parse } from "../stage/Parse.ts"
import type { Ending } from "../stage/Port.ts"
import type { Peer } from "../stage/Transport.ts"
import { Transport } from "../stage/Transport.ts"

/**
 * How long answers in flight are waited for when the host has ended its input: a second where nobody says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const HalfClose = Context.Reference<Duration.Input>("@sallyport/core/session/Session/HalfClose", {
  defaultValue: () => "1 second"
})

/**
 * How a session ended: how the far side did (`closed` where the host ended first), and whether a revision was agreed on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly ending: Ending
  readonly settled: boolean
}

/**
 * Serves each peer that the transport accepts, and gives how the far side of the line ended.
 *
 * **Details**
 *
 * When a peer ends its input, that is passed on at once; answers in flight are waited for, one second at most. When the
 * far side ends first, everything that waits for it has been answered before the session ends.
 *
 * @category running
 * @since 0.1.0
 */
export const run: Effect.Effect<Outcome, never, Transport | Parse | Dispatch | Notices> = Effect.gen(function*() {
  const transport = yield* Transport
  return yield* transport.serve(serve)
})

const serve = Effect.fnUntraced(function*(peer: Peer) {
  const parse = yield* Parse
  const dispatch = yield* Dispatch
  const notices = yield* Notices
  const agreement = Agreement.make()
  const { faults } = Faults.dropped(peer.who.client, notices.tell)
  const endpoint = yield* Endpoint.make(peer, parse.open(), {
    side: "host",
    batches: () => Agreement.allows(agreement, "batch"),
    idless: () => Agreement.allows(agreement, "idlessError"),
    faults
  })
  const port = yield* Lifecycle.host(agreement, faults)(dispatch.open(peer.who))(endpoint.near)

  const drained = Effect.gen(function*() {
    yield* endpoint.run(port)
    // The end of the host's input goes on at once, behind what still waits to be sent; answers in flight come back.
    yield* Effect.timeoutOption(
      Effect.all([port.end, endpoint.idle], { concurrency: 2, discard: true }),
      yield* HalfClose
    )
    yield* endpoint.near.flush
    return closed
  })
  const ending = yield* Effect.raceFirst(drained, port.ended)
  return { ending, settled: agreement.revision !== undefined }
}, Effect.scoped)

const closed: Ending = { _tag: "closed" }
