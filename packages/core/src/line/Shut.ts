/**
 * A line that leads nowhere.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Ending, Port } from "../stage/Port.ts"
import type * as Reason from "../wire/Reason.ts"
import * as Refusal from "./Refusal.ts"

/**
 * A port behind which there is no server: every request is answered with why, until nothing more is sent. A host shows
 * the answer to its initialize, so a person sees there what is wrong.
 *
 * @category constructors
 * @since 0.1.0
 */
export const shut = (reason: Reason.Reason, server: string, more: string): Effect.Effect<Port> =>
  Effect.map(Deferred.make<Ending>(), (ended): Port => {
    const answer = Refusal.failure(reason, { server, more })
    return {
      request: (call) => call.reply(answer),
      cancel: () => {},
      notify: () => {},
      flush: Effect.void,
      end: Effect.asVoid(Deferred.succeed(ended, { _tag: "failed", message: more })),
      ended: Deferred.await(ended)
    }
  })
