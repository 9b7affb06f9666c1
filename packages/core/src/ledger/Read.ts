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
 * An entry and where it stands. `server` is the entry's own, for an outcome that of its call.
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

interface Part {
  readonly opened: Opened
  readonly closed: boolean
  readonly entries: Array<Listed>
}

/** The entries of the sealed groups of one segment. */
const part = (segment: string, text: string): { readonly part: Part | undefined; readonly unreadable: number } => {
  let opened: Opened | undefined
  let closed = false
  let unreadable = 0
  const entries: Array<Listed> = []
  let group: Array<Listed> = []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  let number = 0
  for (const line of lines) {
    number++
    const decoded = Decode.line(line)
    if (Result.isFailure(decoded)) {
      unreadable++
      continue
    }
    const found = decoded.success
    if (found._tag === "Opened") opened ??= found.opened
    else if (found._tag === "Closed") closed = !found.closed.more
    else {
      group.push({
        segment,
        line: number,
        run: opened?.run ?? segment,
        seq: found.seq,
        time: found.time,
        server: "server" in found.event ? found.event.server : undefined,
        event: found.event
      })
    }
    if (found.seal !== undefined) {
      entries.push(...group)
      group = []
    }
  }
  return { part: opened === undefined ? undefined : { opened, closed, entries }, unreadable: unreadable + group.length }
}

/**
 * Reads all segments.
 *
 * **Details**
 *
 * Where a write failed, its writer wrote the same entries again to a new segment, not knowing how much of them the first
 * one kept. So a segment's entries count only below the first number of the next segment of the same run.
 *
 * @category reading
 * @since 0.1.0
 */
export const contents = (
  segments: ReadonlyArray<{ readonly segment: string; readonly text: string }>
): Contents => {
  const runs = new Map<string, Array<Part>>()
  let unreadable = 0
  for (const { segment, text } of [...segments].sort((a, b) => a.segment < b.segment ? -1 : 1)) {
    const read = part(segment, text)
    unreadable += read.unreadable
    if (read.part === undefined) continue
    const parts = runs.get(read.part.opened.run)
    if (parts === undefined) runs.set(read.part.opened.run, [read.part])
    else parts.push(read.part)
  }
  const entries: Array<Listed> = []
  for (const parts of runs.values()) {
    // By part, not by name: the clock may have been set back.
    parts.sort((a, b) => a.opened.part - b.opened.part)
    const servers = new Map<number, string>()
    parts.forEach(({ entries: found }, index) => {
      const until = parts[index + 1]?.opened.first ?? Number.POSITIVE_INFINITY
      for (const entry of found) {
        if (entry.seq >= until) continue
        if (entry.server !== undefined) servers.set(entry.seq, entry.server)
        const server = entry.event.type === "outcome" ? servers.get(entry.event.of) : entry.server
        entries.push({ ...entry, server })
      }
    })
  }
  return {
    entries: entries.sort(order),
    runs: [...runs].map(([run, parts]) => ({
      run,
      pid: parts[0]?.opened.pid ?? 0,
      closed: parts.at(-1)?.closed ?? false
    })),
    unreadable
  }
}

const order = (a: Listed, b: Listed): number =>
  a.run === b.run
    ? a.seq - b.seq
    : a.time !== b.time
    ? (a.time < b.time ? -1 : 1)
    : a.run < b.run
    ? -1
    : 1

/**
 * Which entries are wanted; what is not given lets all through.
 *
 * @category models
 * @since 0.1.0
 */
export interface Filter {
  readonly server?: string | undefined
  readonly type?: ReadonlyArray<(Event | Omitted)["type"]> | undefined
  /** Only so many, the newest. */
  readonly last?: number | undefined
}

/**
 * The entries that a filter lets through.
 *
 * @category filtering
 * @since 0.1.0
 */
export const list = (entries: ReadonlyArray<Listed>, filter: Filter): ReadonlyArray<Listed> => {
  const found = entries.filter((entry) =>
    (filter.server === undefined || entry.server === filter.server) &&
    (filter.type === undefined || filter.type.includes(entry.event.type))
  )
  return filter.last === undefined ? found : filter.last > 0 ? found.slice(-filter.last) : []
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
