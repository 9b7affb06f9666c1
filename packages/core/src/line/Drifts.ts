/**
 * Drifts: what changes of accepted definitions need no person.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Drift from "../pin/Drift.ts"

/**
 * Whether a definition that drifted by this class is shown and open all the same; it is recorded. Without one every drift
 * is held.
 *
 * @category services
 * @since 0.1.0
 */
export const Drifts: Context.Reference<(drift: Drift.Class) => boolean> = Context.Reference<
  (drift: Drift.Class) => boolean
>("@sallyport/core/line/Drifts", { defaultValue: () => () => false })
