/**
 * Reads a ledger: what was recorded, in the order of time.
 *
 * **Details**
 *
 * Reading does not verify: it leaves out what it cannot read, and says how much.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Decode from "./Decode.ts"
import type { Event, Omitted, Opened } from "./Entry.ts"

/**
 * An entry and where it stands. `server` and `client` are the entry's own, for an outcome those of its call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listed {
  readonly segment: string
  readonly line: number
  readonly run: string
  readonly seq: number
  readonly time: string
  readonly server: string | undefined
  readonly client: string | undefined
  readonly event: Event | Omitted
}

/**
 * One process's use of the ledger. `closed` says that it ended in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface Run {
  readonly run: string
  readonly pid: number
  readonly closed: boolean
}

/**
 * Everything in a ledger. `unreadable` counts lines that are none, or that were never sealed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Contents {
  readonly entries: ReadonlyArray<Listed>
  readonly runs: ReadonlyArray<Run>
  readonly unreadable: number
}

/**
 * The first line of a segment; `undefined` where it is none.
 *
 * @category decoding
 * @since 0.1.0
 */
export const opened = (text: string): Opened | undefined => {
  const end = text.indexOf("\n")
  const decoded = Decode.line(end < 0 ? text : text.slice(0, end))
  return Result.isSuccess(decoded) && decoded.success._tag === "Opened" ? decoded.success.opened : undefined
}

/**
 * A segment to be read: its entries count below `until`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  readonly segment: string
  readonly opened: Opened
  readonly until: number
}

/**
 * The order in which segments are read: run by run, oldest first, so that numbers grow within a run.
 *
 * **Details**
 *
 * Where a write failed, its writer wrote the same entries again to a new segment, not knowing how much of them the first
 * one kept. So a segment's entries count only below the first number of the next segment of the same run.
 *
 * @category reading
 * @since 0.1.0
 */
export const plan = (
  segments: ReadonlyArray<{ readonly segment: string; readonly opened: Opened }>
): ReadonlyArray<Part> => {
  const runs = new Map<string, Array<{ readonly segment: string; readonly opened: Opened }>>()
  for (const part of [...segments].sort((a, b) => a.segment < b.segment ? -1 : 1)) {
    const parts = runs.get(part.opened.run)
    if (parts === undefined) runs.set(part.opened.run, [part])
    else parts.push(part)
  }
  return [...runs.values()].flatMap((parts) => {
    // By part, not by name: the clock may have been set back.
    parts.sort((a, b) => a.opened.part - b.opened.part)
    return parts.map((part, index) => ({
      ...part,
      until: parts[index + 1]?.opened.first ?? Number.POSITIVE_INFINITY
    }))
  })
}

/**
 * Reads segments as their text comes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  /** Begins a segment; gives what takes its whole lines, in pieces of any size. */
  readonly segment: (part: Part) => (text: string) => void
  /** A segment that does not even begin as one. */
  readonly broken: (text: string) => void
  readonly runs: () => ReadonlyArray<Run>
  readonly unreadable: () => number
}

/**
 * A reader that hands every entry of a sealed group to `each`.
 *
 * @category reading
 * @since 0.1.0
 */
export const reader = (each: (entry: Listed) => void): Reader => {
  const runs = new Map<string, { readonly pid: number; closed: boolean }>()
  /** Whose calls have no outcome yet, by run and number. */
  const open = new Map<string, Pick<Listed, "client" | "server">>()
  let unreadable = 0

  const give = (entry: Listed): void => {
    const { event, run, seq } = entry
    if (event.type === "call") open.set(`${run} ${seq}`, entry)
    if (event.type !== "outcome") return each(entry)
    const key = `${run} ${event.of}`
    const call = open.get(key)
    each(call === undefined ? entry : { ...entry, server: call.server, client: call.client })
    open.delete(key)
  }

  return {
    segment: ({ opened: { pid, run }, segment, until }) => {
      const state = { pid, closed: false }
      runs.set(run, state)
      let line = 0
      let group: Array<Listed> = []
      return (text) => {
        let at = 0
        for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
          line++
          const decoded = Decode.line(text.slice(at, end))
          at = end + 1
          if (Result.isFailure(decoded)) {
            unreadable++
            continue
          }
          const found = decoded.success
          if (found._tag === "Closed") state.closed = !found.closed.more
          else if (found._tag === "Entry") {
            group.push({
              segment,
              line,
              run,
              seq: found.seq,
              time: found.time,
              server: "server" in found.event ? found.event.server : undefined,
              client: "client" in found.event ? found.event.client : undefined,
              event: found.event
            })
            unreadable++
          }
          if (found.seal === undefined) continue
          unreadable -= group.length
          for (const entry of group) if (entry.seq < until) give(entry)
          group = []
        }
        if (at < text.length) unreadable++
      }
    },
    broken: (text) => {
      unreadable += text === "" ? 0 : text.replace(/\n$/, "").split("\n").length
    },
    runs: () => [...runs].map(([run, { closed, pid }]) => ({ run, pid, closed })),
    unreadable: () => unreadable
  }
}

/**
 * Reads all segments, and puts their entries into the order of time.
 *
 * @category reading
 * @since 0.1.0
 */
export const contents = (
  segments: ReadonlyArray<{ readonly segment: string; readonly text: string }>
): Contents => {
  const entries: Array<Listed> = []
  const reading = reader((entry) => entries.push(entry))
  const texts = new Map(segments.map(({ segment, text }) => [segment, text]))
  const parts: Array<{ readonly segment: string; readonly opened: Opened }> = []
  for (const { segment, text } of segments) {
    const first = opened(text)
    if (first === undefined) reading.broken(text)
    else parts.push({ segment, opened: first })
  }
  for (const part of plan(parts)) reading.segment(part)(texts.get(part.segment) ?? "")
  return { entries: entries.sort(order), runs: reading.runs(), unreadable: reading.unreadable() }
}

/**
 * The order of time; within a run, that of the numbers.
 *
 * @category comparing
 * @since 0.1.0
 */
export const order = (a: Listed, b: Listed): number =>
  a.run === b.run
    ? a.seq - b.seq
    : a.time !== b.time
    ? (a.time < b.time ? -1 : 1)
    : a.run < b.run
    ? -1
    : 1

/**
 * Which entries are wanted; what is not given lets all through. `since` and `until` are the beginnings of times, as long
 * as one likes: `2026-03` is the whole month.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  readonly server?: string | undefined
  readonly client?: string | undefined
  readonly type?: ReadonlyArray<(Event | Omitted)["type"]> | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/**
 * Whether a filter lets an entry through.
 *
 * @category filtering
 * @since 0.1.0
 */
export const matches = (filter: Filter) => (entry: Listed): boolean =>
  (filter.server === undefined || entry.server === filter.server) &&
  (filter.client === undefined || entry.client === filter.client) &&
  (filter.type === undefined || filter.type.includes(entry.event.type)) &&
  (filter.since === undefined || entry.time >= filter.since) &&
  (filter.until === undefined || entry.time.slice(0, filter.until.length) <= filter.until)

/**
 * Keeps what it is given, in the order of time: all of it, or the newest `last`.
 *
 * @category filtering
 * @since 0.1.0
 */
export const keeper = (last: number | undefined) => {
  let kept: Array<Listed> = []
  const sorted = (): ReadonlyArray<Listed> => {
    kept.sort(order)
    if (last !== undefined && kept.length > last) kept = last > 0 ? kept.slice(-last) : []
    return kept
  }
  return {
    add: (entry: Listed): void => {
      kept.push(entry)
      // Now and then, so that a long ledger does not have to fit into the memory.
      if (last !== undefined && kept.length >= 2 * last + 1024) sorted()
    },
    sorted
  }
}

/**
 * The calls of which nothing is known: they were let through, no outcome was recorded, and the process that would have
 * recorded it is gone.
 *
 * **Details**
 *
 * A run that was closed in order is over. Of one that was not, `alive` tells whether its process still runs; without it,
 * none does.
 *
 * @category filtering
 * @since 0.1.0
 */
export const unknownFates = (
  { entries, runs }: Contents,
  alive: (pid: number) => boolean = () => false
): ReadonlyArray<Listed> => {
  const running = new Set(runs.filter((run) => !run.closed && alive(run.pid)).map(({ run }) => run))
  const known = new Set<string>()
  for (const { event, run } of entries) if (event.type === "outcome") known.add(run + " " + event.of)
  return entries.filter(({ event, run, seq }) =>
    event.type === "call" && !running.has(run) && !known.has(run + " " + seq)
  )
}
