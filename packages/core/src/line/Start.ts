/**
 * The one joint between synchronous turns and effects that may have to wait.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { exitOf } from "../stage/internal/constant.ts"

/**
 * Runs an effect from synchronous code and hands its exit on.
 *
 * **Details**
 *
 * A constant is taken as it is, at no cost. An effect that never waits ends within the call. Only one that has to wait
 * becomes a fiber, which lives in the scope; the returned function interrupts it.
 *
 * @category running
 * @since 0.1.0
 */
export const start = <R>(context: Context.Context<R>, scope: Scope.Scope) => {
  const fork = Effect.runForkWith(context)
  return <A, E>(effect: Effect.Effect<A, E, R>, then: (exit: Exit.Exit<A, E>) => void): () => void => {
    const constant = exitOf(effect)
    if (constant !== undefined) {
      then(constant)
      return nothing
    }
    const fiber = fork(effect)
    const done = fiber.pollUnsafe()
    if (done !== undefined) {
      then(done)
      return nothing
    }
    fiber.addObserver(then)
    Fiber.runIn(fiber, scope)
    return () => fiber.interruptUnsafe()
  }
}

/**
 * What {@link start} gives for an effect that had ended before it returned: there is nothing to interrupt.
 *
 * @category running
 * @since 0.1.0
 */
export const nothing = (): void => {}
