/**
 * What may be repaired in the lines of a server that writes almost JSON-RPC.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A repair, which the operator wants for a server by its name.
 *
 * **Details**
 *
 * - `null-error`: an answer that has `"error": null` beside its result is taken as the result (libraries of JSON-RPC 1.0).
 * - `surrogates`: half of a surrogate pair in a string of params, a result or an error becomes U+FFFD.
 *
 * Duplicate members have no repair: which one counts is what readers disagree about (security rule F14).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Repair = Schema.Literals(["null-error", "surrogates"])
/**
 * @category models
 * @since 0.1.0
 */
export type Repair = typeof Repair.Type

/**
 * All repairs.
 *
 * @category constants
 * @since 0.1.0
 */
export const all: ReadonlyArray<Repair> = Repair.literals

/**
 * Which repairs a reader makes, and what is told of each that it made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repairs {
  readonly wanted: ReadonlyArray<Repair>
  readonly made: (repair: Repair) => void
}
