/**
 * Going on from an effect without a fiber, where it is a constant.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { exitOf } from "../../stage/internal/constant.ts"

/**
 * Goes on with what an effect gave, or with how it failed; at once where that is known already.
 *
 * @category combinators
 * @since 0.1.0
 */
export const follow = <A, E, R, B, E2, R2, C, E3, R3>(
  effect: Effect.Effect<A, E, R>,
  onSuccess: (value: A) => Effect.Effect<B, E2, R2>,
  onFailure: (error: E) => Effect.Effect<C, E3, R3>
): Effect.Effect<B | C, E2 | E3, R | R2 | R3> => {
  const exit = exitOf(effect)
  return exit !== undefined && Exit.isSuccess(exit)
    ? onSuccess(exit.value)
    : Effect.matchEffect(effect, { onFailure, onSuccess })
}
