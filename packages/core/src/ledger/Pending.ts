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
 * The queue of entries that are not written yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Pending {
  readonly append: (event: Event) => number
  /** The number of the newest entry. */
  readonly newest: () => number
  /** How many characters wait. */
  readonly size: () => number
  /** Takes all entries that wait; `undefined` if none does. */
  readonly take: () => Taken | undefined
  /** Puts back what could not be written, before everything that was appended since. */
  readonly restore: (taken: Taken) => void
  /** What was taken is written. */
  readonly settle: () => void
}

/** While nothing can be written, so much is kept in memory. */
const kept = 1024 * 1024

/**
 * A clock that goes back by more than so many milliseconds was set, or stood still: it is recorded (security rule F30).
 *
 * @category constants
 * @since 0.1.0
 */
export const clockStep = 60_000

/**
 * An empty queue; the first entry has number 1. `stepped` is told where the clock went back.
 *
 * **Details**
 *
 * While the ledger cannot be written, calls are refused, but a host may go on asking. Beyond a limit, what let nothing
 * through is only counted. Outcomes of calls that did leave are always kept: there are no more of them than such calls.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (now: () => number, stepped: (back: number) => void = () => {}): Pending => {
  const time = Line.makeTimes()
  let latest = Number.NEGATIVE_INFINITY
  let seq = 0
  let first = 1
  let lines = ""
  let failing = false
  let omitted = 0

  const spare = (event: Event): boolean =>
    event.type === "call" || event.type === "refuse" || event.type === "dropped" || event.type === "repaired" ||
    event.type === "lowered" ||
    (event.type === "outcome" && event.of >= first)
  const push = (line: string) => {
    lines = lines === "" ? line : lines + Line.end + line
  }
  const flush = () => {
    if (omitted === 0) return
    push(Line.entry(seq - omitted + 1, time(now()), { type: "omitted", count: omitted }))
    omitted = 0
  }

  const append = (event: Event): number => {
    const at = now()
    if (at > latest) latest = at
    else if (at < latest - clockStep) {
      const back = latest - at
      latest = at
      append({ type: "clock", back })
      stepped(back)
    }
    if (failing && lines.length > kept && spare(event)) {
      omitted++
      return ++seq
    }
    flush()
    push(Line.entry(++seq, time(at), event))
    return seq
  }

  return {
    append,
    newest: () => seq,
    size: () => lines.length,
    take() {
      flush()
      if (lines === "") return undefined
      const taken = { first, last: seq, lines }
      first = seq + 1
      lines = ""
      return taken
    },
    restore(taken) {
      failing = true
      first = taken.first
      lines = lines === "" ? taken.lines : taken.lines + Line.end + lines
    },
    settle() {
      failing = false
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
