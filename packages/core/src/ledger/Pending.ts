/**
 * The entries that are not written yet: what gives them their numbers and their order, and seals them in groups.
 *
 * @since 0.1.0
 */
import type { Event } from "./Entry.ts"
import * as Keys from "./Keys.ts"
import * as Line from "./Line.ts"

/**
 * Entries on their way to the disk.
 *
 * @category models
 * @since 0.1.0
 */
export interface Taken {
  /** Number of the first and of the last of them. */
  readonly first: number
  readonly last: number
  /** All lines, the last one without its end. */
  readonly lines: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Pending {
  readonly append: (event: Event) => number
  /** The number of the newest entry. */
  readonly newest: () => number
  /** Takes all entries that wait; `undefined` if none does. */
  readonly take: () => Taken | undefined
  /** Puts back what could not be written, before everything that was appended since. */
  readonly restore: (taken: Taken) => void
}

/**
 * An empty queue; the first entry has number 1.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (now: () => number): Pending => {
  const time = Line.makeTimes()
  let seq = 0
  let first = 1
  let lines = ""
  return {
    append(event) {
      const line = Line.entry(++seq, time(now()), event)
      lines = lines === "" ? line : lines + Line.end + line
      return seq
    },
    newest: () => seq,
    take() {
      if (lines === "") return undefined
      const taken = { first, last: seq, lines }
      first = seq + 1
      lines = ""
      return taken
    },
    restore(taken) {
      first = taken.first
      lines = lines === "" ? taken.lines : taken.lines + Line.end + lines
    }
  }
}

/**
 * Ends a group of lines: gives its text and its seal, which covers every byte of the group before it and, by way of
 * `prev`, every group before this one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const seal = (chain: string, prev: string, lines: string): { readonly text: string; readonly seal: string } => {
  const body = lines + Line.prev(prev)
  const digest = Keys.mac(chain, body)
  return { text: body + Line.seal(digest), seal: digest }
}
