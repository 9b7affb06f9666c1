/**
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/**
 * The exit that an effect is, where it is a constant: an Exit is an Effect, and needs no fiber to be taken.
 *
 * @category getters
 * @since 0.1.0
 */
export const exitOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Exit<A, E> | undefined => {
  const isConstant = (self: Effect.Effect<A, E, R>): self is Exit.Exit<A, E> => Exit.isExit(self)
  return isConstant(effect) ? effect : undefined
}
