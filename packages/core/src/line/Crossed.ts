/**
 * What a line records that runs between two eras: that it does, and what was lowered or withheld on the way.
 *
 * @since 0.1.0
 */
import type { Event } from "../ledger/Entry.ts"

/**
 * Counts until it is taken, and says all of it at the end.
 *
 * @category models
 * @since 0.1.0
 */
export interface Crossed {
  /** It is known that host and server are of two eras; `lowered` counts, by the name of the row. */
  readonly translating: (host: "legacy" | "modern", lowered: () => ReadonlyMap<string, number>) => void
  /** What is to be recorded since the last time. */
  readonly take: () => ReadonlyArray<Event>
  /** What was lowered or withheld in all, in words; `undefined` where nothing was. */
  readonly sentence: () => string | undefined
}

/**
 * For the line to a server.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (server: string, strict: boolean): Crossed => {
  let host: "legacy" | "modern" | undefined
  let counts: () => ReadonlyMap<string, number> = () => new Map()
  let told = false
  const taken = new Map<string, number>()
  return {
    translating: (era, lowered) => {
      host = era
      counts = lowered
    },
    take: () => {
      if (host === undefined) return []
      const events: Array<Event> = told ? [] : [{ type: "bridged", server, host, strict }]
      told = true
      for (const [what, count] of counts()) {
        const before = taken.get(what) ?? 0
        if (count === before) continue
        taken.set(what, count)
        events.push({ type: "lowered", server, what, count: count - before })
      }
      return events
    },
    sentence: () => {
      const all = [...counts()].map(([what, count]) => `${what} (${count})`)
      return all.length === 0
        ? undefined
        : `${server} is of another era than its host; what has no exact form there was ${
          strict ? "withheld" : "passed on in another form"
        }: ${all.join(", ")}`
    }
  }
}
