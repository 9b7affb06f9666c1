/**
 * A console that prints on stderr, whatever it is told: stdout is the protocol's.
 *
 * @since 0.1.0
 */
import type * as EffectConsole from "effect/Console"
import { Console } from "node:console"

/**
 * The console of a program that speaks the protocol on its stdout.
 *
 * @category constructors
 * @since 0.1.0
 */
export const stderr = (): EffectConsole.Console => new Console(process.stderr, process.stderr)
