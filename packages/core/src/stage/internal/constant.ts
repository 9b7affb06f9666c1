/**
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

// Of whatever is asked here, most is a success. All of these have one prototype, which V8 sees without looking for a
// property, as Exit.isExit does.
const success: object = Object.getPrototypeOf(Exit.void)

/**
 * The exit that an effect is, where it is a constant: an Exit is an Effect, and needs no fiber to be taken.
 *
 * @category getters
 * @since 0.1.0
 */
export const exitOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Exit<A, E> | undefined =>
  isConstant(effect) ? effect : undefined

const isConstant = <A, E, R>(self: Effect.Effect<A, E, R>): self is Exit.Exit<A, E> =>
  success.isPrototypeOf(self) || Exit.isExit(self)
