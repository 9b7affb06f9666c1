/**
 * A line that leads nowhere.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Ending, Port } from "../stage/Port.ts"
import type { Failure, Reply } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as Refusal from "./Refusal.ts"

const shutting = new WeakSet<Reply>()

/**
 * The answer of a line that leads nowhere, to whatever is asked.
 *
 * @category constructors
 * @since 0.1.0
 */
export const answer = (reason: Reason.Reason, server: string, more?: string): Failure => {
  const failure = Refusal.failure(reason, { server, more })
  shutting.add(failure)
  return failure
}

/**
 * Whether an answer says that there is no server at all, so that nothing need be judged any more.
 *
 * @category guards
 * @since 0.1.0
 */
export const isShut = (reply: Reply): boolean => shutting.has(reply)

/**
 * A port behind which there is no server: every request is answered with why, until nothing more is sent. A host shows
 * the answer to its initialize, so a person sees there what is wrong.
 *
 * @category constructors
 * @since 0.1.0
 */
export const shut = (reason: Reason.Reason, server: string, more: string): Effect.Effect<Port> =>
  Effect.map(Deferred.make<Ending>(), (ended): Port => {
    const reply = answer(reason, server, more)
    return {
      request: (call) => call.reply(reply),
      cancel: () => {},
      notify: () => {},
      flush: Effect.void,
      end: Effect.asVoid(Deferred.succeed(ended, { _tag: "failed", message: more })),
      ended: Deferred.await(ended)
    }
  })
