/**
 * What a line could not pass on: a sink that the parts of a line report to.
 *
 * @since 0.1.0
 */
import * as Reason from "../wire/Reason.ts"
import type { Repair } from "../wire/Repair.ts"

/**
 * A message that was dropped or refused without reaching the far side.
 *
 * - `from`: the side that sent it; `method` where it had a readable one; `where` the place in the line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly from: "host" | "server"
  readonly reason: Reason.Reason
  readonly method?: string | undefined
  readonly where?: { readonly pointer: string; readonly offset: number } | undefined
}

/**
 * Takes note of a fault. Synchronous, never throws.
 *
 * @category models
 * @since 0.1.0
 */
export type Faults = (fault: Fault) => void

/**
 * Counts faults until they are taken, and tells the operator of each kind once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dropped {
  readonly faults: Faults
  /** What came since the last time, by reason. */
  readonly take: () => ReadonlyArray<{ readonly reason: Reason.Reason; readonly count: number }>
  /** Takes note of a repair, of which the first of its kind is told too. Synchronous, never throws. */
  readonly repaired: (repair: Repair) => void
  /** What was repaired since the last time. */
  readonly takeRepaired: () => ReadonlyArray<{ readonly repair: Repair; readonly count: number }>
}

const repairSays: Readonly<Record<Repair, string>> = {
  "null-error": "an answer with \"error\": null beside its result was taken as the result",
  surrogates: "half of a surrogate pair in a string became U+FFFD"
}

/**
 * Counts the faults of what `name` sent, and tells the first of each reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const dropped = (name: string, tell: (sentence: string) => void): Dropped => {
  const told = new Set<string>()
  const repairs = new Map<Repair, number>()
  let counts = new Map<Reason.Reason, number>()
  return {
    faults: (fault) => {
      counts.set(fault.reason, (counts.get(fault.reason) ?? 0) + 1)
      if (told.has(fault.reason)) return
      told.add(fault.reason)
      const what = fault.method === undefined ? "a line" : JSON.stringify(fault.method)
      const at = fault.where === undefined
        ? ""
        : ` at ${fault.where.pointer === "" ? "the top" : fault.where.pointer}, byte ${fault.where.offset}`
      tell(
        `${what} from ${name} was not passed on: ${
          Reason.table[fault.reason].says
        }${at} (${fault.reason}; others like it are only counted)`
      )
    },
    repaired: (repair) => {
      const before = repairs.get(repair)
      repairs.set(repair, (before ?? 0) + 1)
      if (before === undefined) {
        tell(`a line from ${name} was repaired: ${repairSays[repair]} (${repair}; others like it are only counted)`)
      }
    },
    takeRepaired: () => {
      const taken = [...repairs].flatMap(([repair, count]) => count === 0 ? [] : [{ repair, count }])
      for (const { repair } of taken) repairs.set(repair, 0)
      return taken
    },
    take: () => {
      const taken = [...counts].map(([reason, count]) => ({ reason, count }))
      counts = new Map()
      return taken
    }
  }
}
