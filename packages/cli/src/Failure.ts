/**
 * How a command ends that does not end with 0.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ExitCode } from "./ExitCode.ts"

/**
 * A command could not do its work: what happened, where, and what to do.
 *
 * @category errors
 * @since 0.1.0
 */
export class Failure extends Data.TaggedError("Failure")<{ readonly message: string }> {}

/**
 * A command did its work, and its exit code says what it found.
 *
 * @category errors
 * @since 0.1.0
 */
export class Ended extends Data.TaggedError("Ended")<{ readonly code: ExitCode }> {}

/**
 * Makes a handler that gives an exit code fit for the command line parser, whose handlers give nothing. No code is 0.
 *
 * @category combinators
 * @since 0.1.0
 */
export const ending = <E, R>(handler: Effect.Effect<ExitCode | void, E, R>): Effect.Effect<void, E | Ended, R> =>
  Effect.flatMap(handler, (code) => code === undefined || code === 0 ? Effect.void : Effect.fail(new Ended({ code })))
