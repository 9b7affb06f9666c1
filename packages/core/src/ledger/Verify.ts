/**
 * Verifies a ledger: every segment for itself, then what the segments say of each other.
 *
 * **Details**
 *
 * Nothing here writes, and the index is not read. A unit of proof is the group (what one commit wrote): its seal covers
 * every byte of it. What stands after the last seal of a segment is torn: nothing of it ever let anything through.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Digest from "../wire/Digest.ts"
import * as Decode from "./Decode.ts"
import type { Name, Opened } from "./Entry.ts"
import * as Keys from "./Keys.ts"

/**
 * A place where the ledger does not hold. `line` counts from 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem {
  readonly segment: string
  readonly line: number
  readonly why: string
}

/**
 * What stands after the last seal of a segment.
 *
 * @category models
 * @since 0.1.0
 */
export interface Torn {
  readonly segment: string
  readonly line: number
  readonly bytes: number
  readonly digest: string
}

/**
 * What was found in one segment.
 *
 * @category models
 * @since 0.1.0
 */
export interface SegmentReport {
  readonly segment: string
  readonly opened: Opened | undefined
  /** Every seal, in order. */
  readonly seals: ReadonlySet<string>
  /** The last seal; empty where there is none. */
  readonly head: string
  /** Number of the last sealed entry; `first - 1` where there is none. */
  readonly last: number
  readonly entries: number
  readonly bytes: number
  readonly closed: boolean
  readonly torn: Torn | undefined
  readonly problem: Problem | undefined
  /** The whole of it, where it was sealed with another key: its seals cannot be computed. */
  readonly foreign: Whole | undefined
  readonly rekeyed: ReadonlyArray<Whole>
  readonly archived: ReadonlyArray<Archived>
}

/**
 * A segment as it was at a time, to the last byte.
 *
 * @category models
 * @since 0.1.0
 */
export interface Whole {
  readonly segment: string
  readonly bytes: number
  readonly digest: string
}

/**
 * A segment that may be taken elsewhere; `last` is the number of its last entry.
 *
 * @category models
 * @since 0.1.0
 */
export interface Archived extends Whole {
  readonly run: string
  readonly last: number
}

/**
 * The whole of a segment.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (segment: string, text: string): Whole => ({
  segment,
  bytes: new TextEncoder().encode(text).length,
  digest: Digest.sha256(text)
})

/**
 * - `ok`: everything holds.
 * - `mended`: everything holds; some segments are torn at their end or were sealed with a key that is lost, and that was
 *   recorded, length and digest.
 * - `torn`: everything before it holds, but a segment ends in something that no later segment recorded yet.
 * - `broken`: see `problems`; the first one comes first.
 *
 * `rekeyed` counts the segments of a lost key, `archived` those that are gone and that a person had recorded before.
 *
 * @category models
 * @since 0.1.0
 */
export interface Report {
  readonly status: "ok" | "mended" | "torn" | "broken"
  readonly problems: ReadonlyArray<Problem>
  readonly torn: ReadonlyArray<Torn>
  readonly mended: ReadonlyArray<Torn>
  readonly segments: number
  readonly entries: number
  readonly rekeyed: number
  readonly archived: number
  readonly heads: ReadonlyArray<Name>
}

/**
 * Verifies one segment by itself.
 *
 * @category verifying
 * @since 0.1.0
 */
export const segment = (name: string, text: string, keys: Keys.Keys): SegmentReport => {
  const seals = new Set<string>()
  let opened: Opened | undefined
  let head = ""
  let last = 0
  let entries = 0
  let closed = false
  // Of the group whose seal has not been reached yet.
  let groupAt = 0
  let groupLine = 1
  let groupEntries = 0
  let next = 0
  let closing = false
  let foreign = false
  const rekeyed: Array<Whole> = []
  const archived: Array<Archived> = []
  // Of the group whose seal has not been reached yet, too.
  let recorded: Array<Decode.Decoded> = []

  /** Why this line cannot stand here. */
  const place = (found: Decode.Decoded, number: number): string | undefined => {
    if (closing) return "the segment was closed before this line"
    if (number === 1) {
      if (found._tag !== "Opened") return "the segment does not begin with its opening line"
      if (found.opened.segment !== name) return `this is the segment ${found.opened.segment} under another name`
      foreign = found.opened.key !== keys.id
      opened = found.opened
      next = opened.first
      last = opened.first - 1
      return undefined
    }
    if (found._tag === "Opened") return "the segment is opened a second time"
    if (found._tag === "Closed") {
      closing = true
      return undefined
    }
    if (found.seq !== next) {
      return `entry ${found.seq} follows entry ${next - 1}: ` +
        (found.seq > next ? "something between them is missing" : "it stands twice or in another place")
    }
    next += Decode.width(found.event)
    groupEntries++
    if (found.event.type === "rekeyed" || found.event.type === "archived") recorded.push(found)
    return undefined
  }

  /** Why the group that ends before `end` does not hold. */
  const group = (seal: NonNullable<Decode.Decoded["seal"]>, end: number, number: number): string | undefined => {
    const what = groupLine === number ? "this line" : `one of the lines ${groupLine} to ${number}`
    if (!foreign && Keys.mac(keys.chain, text.slice(groupAt, end - Decode.sealLength)) !== seal.digest) {
      return `${what} is not as it was written: the seal does not fit`
    }
    if (seal.prev !== head) return `${what} does not follow what stands before: something was removed or moved`
    head = seal.digest
    seals.add(head)
    last = next - 1
    entries += groupEntries
    closed = closing
    groupAt = end
    groupLine = number + 1
    groupEntries = 0
    for (const found of recorded) {
      if (found._tag !== "Entry") continue
      if (found.event.type === "rekeyed") rekeyed.push(...found.event.segments)
      if (found.event.type === "archived") archived.push(...found.event.segments)
    }
    recorded = []
    return undefined
  }

  const result = (torn: Torn | undefined, problem: Problem | undefined): SegmentReport => ({
    segment: name,
    opened,
    seals,
    head,
    last,
    entries,
    // Sealed lines are ASCII.
    bytes: torn === undefined ? text.length : groupAt + torn.bytes,
    closed,
    torn,
    problem,
    foreign: foreign ? whole(name, text) : undefined,
    rekeyed,
    archived
  })

  let at = 0
  let number = 0
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
    number++
    const decoded = Decode.line(text.slice(at, end))
    at = end + 1
    if (Result.isFailure(decoded)) {
      const why = `this is not a line of the ledger: ${decoded.failure}`
      return result(undefined, { segment: name, line: number, why })
    }
    const found = decoded.success
    const misplaced = place(found, number)
    if (misplaced !== undefined) return result(undefined, { segment: name, line: number, why: misplaced })
    if (found.seal === undefined) continue
    const line = groupLine
    const why = group(found.seal, at, number)
    if (why !== undefined) return result(undefined, { segment: name, line, why })
  }

  const tail = text.slice(groupAt)
  if (tail === "") return result(undefined, undefined)
  if (closed) {
    return result(undefined, { segment: name, line: groupLine, why: "the segment was closed before this line" })
  }
  const bytes = new TextEncoder().encode(tail).length
  return result({ segment: name, line: groupLine, bytes, digest: Digest.sha256(tail) }, undefined)
}

/**
 * The report of a segment that could not even be read.
 *
 * @category verifying
 * @since 0.1.0
 */
export const unreadable = (name: string, why: string): SegmentReport => ({
  segment: name,
  opened: undefined,
  seals: new Set(),
  head: "",
  last: 0,
  entries: 0,
  bytes: 0,
  closed: false,
  torn: undefined,
  problem: { segment: name, line: 1, why },
  foreign: undefined,
  rekeyed: [],
  archived: []
})

/**
 * Verifies what the segments say of each other, and what an anchor says of them.
 *
 * @category verifying
 * @since 0.1.0
 */
export const join = (
  reports: ReadonlyArray<SegmentReport>,
  anchor: ReadonlyArray<Name> = []
): Report => {
  const sorted = [...reports].sort((a, b) => a.segment < b.segment ? -1 : 1)
  const bySegment = new Map(sorted.map((report) => [report.segment, report]))
  const problems = sorted.flatMap((report) => report.problem === undefined ? [] : [report.problem])
  const recorded = new Set<string>()
  // A broken segment has been reported; what it says of others may be what was edited.
  const sound = sorted.filter((report) => report.problem === undefined && report.seals.size > 0)

  const own = sound.filter(({ foreign }) => foreign === undefined)
  const rekeyed = new Map(own.flatMap((report) => report.rekeyed.map((whole) => [whole.segment, whole])))
  // What a segment of a lost key says counts as far as it is known to be as it was.
  const trusted = sound.filter(({ foreign, segment }) =>
    foreign === undefined || isWhole(foreign, rekeyed.get(segment))
  )
  const archived = new Map(trusted.flatMap((report) => report.archived.map((whole) => [whole.segment, whole])))
  for (const [segment, known] of archived) {
    const there = bySegment.get(segment)
    if (there === undefined || there.problem !== undefined) continue
    if (there.bytes !== known.bytes || there.last !== known.last || there.opened?.run !== known.run) {
      problems.push({ segment, line: 1, why: "the segment is no longer as it was when it was archived" })
    }
  }

  for (const { foreign, problem, segment } of sorted) {
    if (foreign !== undefined && problem === undefined && !rekeyed.has(segment)) {
      problems.push({ segment, line: 1, why: "the segment was sealed with another key" })
    }
  }
  for (const [segment, known] of rekeyed) {
    const there = bySegment.get(segment)
    if (there === undefined ? archived.has(segment) : isWhole(known, there.foreign)) continue
    const why = `the segment of a lost key is ${there === undefined ? "gone" : "no longer as it was"} ` +
      "since the new key was made"
    problems.push({ segment, line: 1, why })
  }

  const named = (by: string, names: ReadonlyArray<Name>) => {
    for (const name of names) {
      const target = bySegment.get(name.segment)
      if (target === undefined && archived.has(name.segment)) continue
      const why = compare(name, target, recorded)
      if (why !== undefined) problems.push({ segment: by, line: 1, why })
    }
  }
  for (const report of sound) named(report.segment, report.opened?.names ?? [])
  named("anchor", anchor)
  problems.push(...gaps(sorted, [...archived.values()]))

  const torn = sorted.flatMap((report) => report.torn === undefined ? [] : [report.torn])
  const isRecorded = ({ segment }: Torn): boolean => recorded.has(segment) || rekeyed.has(segment)
  const open = torn.filter((part) => !isRecorded(part))
  const foreign = sorted.filter((report) => report.foreign !== undefined).length
  return {
    status: problems.length > 0
      ? "broken"
      : open.length > 0
      ? "torn"
      : torn.length > 0 || foreign > 0
      ? "mended"
      : "ok",
    problems,
    torn: open,
    mended: torn.filter(isRecorded),
    segments: sorted.length,
    entries: sorted.reduce((sum, report) => sum + report.entries, 0),
    rekeyed: foreign,
    archived: [...archived.keys()].filter((segment) => !bySegment.has(segment)).length,
    heads: sorted.flatMap((report) => report.head === "" ? [] : [{ segment: report.segment, head: report.head }])
  }
}

const isWhole = (a: Whole, b: Whole | undefined): boolean => a.bytes === b?.bytes && a.digest === b.digest

/** Whether a segment still is what another one said of it; notes where a torn end is the recorded one. */
const compare = (name: Name, target: SegmentReport | undefined, recorded: Set<string>): string | undefined => {
  if (target === undefined) {
    return name.head === "" ? undefined : `it names the segment ${name.segment}, which is gone`
  }
  if (target.problem !== undefined) return undefined
  if (name.head !== "" && !target.seals.has(name.head)) {
    return `it names a seal of the segment ${name.segment} that is no longer in it: its end was cut off or replaced`
  }
  // A segment that went on after it was named was not torn: its writer was in the middle of a line.
  if (name.torn === undefined || target.head !== name.head) return undefined
  if (target.torn?.digest !== name.torn.digest || target.torn.bytes !== name.torn.bytes) {
    return `it records the torn end of the segment ${name.segment}, which is now another one`
  }
  recorded.add(name.segment)
  return undefined
}

/** Whether the segments of each run leave no number out. Numbers may stand twice: see {@link Read.contents}. */
const gaps = (
  sorted: ReadonlyArray<SegmentReport>,
  archived: ReadonlyArray<Archived>
): ReadonlyArray<Problem> => {
  const reached = new Map<string, number>()
  for (const { last, run } of archived) reached.set(run, Math.max(reached.get(run) ?? 0, last))
  const problems: Array<Problem> = []
  // By part, not by name: the clock may have been set back.
  const parts = sorted.flatMap(({ last, opened, problem, seals, segment }) =>
    opened === undefined || problem !== undefined || seals.size === 0 ? [] : [{ last, opened, segment }]
  ).sort((a, b) => a.opened.part - b.opened.part)
  for (const { last, opened, segment } of parts) {
    const before = reached.get(opened.run) ?? 0
    if (opened.first > before + 1) {
      const missing = `${before + 1} to ${opened.first - 1}`
      const why = `it begins with entry ${opened.first} of its run, but entries ${missing} are nowhere`
      problems.push({ segment, line: 1, why })
    }
    reached.set(opened.run, Math.max(before, last))
  }
  return problems
}
