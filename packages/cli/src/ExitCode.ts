/**
 * The exit codes of the command, in one table.
 *
 * @since 0.1.0
 */
import * as Drift from "@sallyport/core/pin/Drift"

/**
 * What each code says.
 *
 * @category constants
 * @since 0.1.0
 */
export const table = {
  0: "done",
  1: "failed; the message says what, where and what to do",
  2: "wrong usage",
  10: "something is held",
  11: "something is held, of class widening or above",
  20: "the ledger does not verify",
  21: "the ledger verifies after a mending",
  30: "refused by the policy"
} as const

/**
 * A code of the {@link table}.
 *
 * @category models
 * @since 0.1.0
 */
export type ExitCode = keyof typeof table

/**
 * The code of a check: whether anything is held, and the strongest class of what drifted.
 *
 * @category conversions
 * @since 0.1.0
 */
export const ofHeld = (held: boolean, grade: Drift.Class | undefined): 0 | 10 | 11 =>
  !held ? 0 : grade !== undefined && Drift.isAtLeast(grade, "widening") ? 11 : 10
