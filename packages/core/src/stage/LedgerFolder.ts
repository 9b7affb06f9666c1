/**
 * Reads and verifies the ledger in a folder: what the command does with it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Name, Opened } from "../ledger/Entry.ts"
import * as Heads from "../ledger/Heads.ts"
import * as Read from "../ledger/Read.ts"
import * as Verify from "../ledger/Verify.ts"
import { Files, type FilesError } from "../store/Files.ts"
import { LedgerError, loadKeys, makeFile, makeKey } from "./Ledger.ts"

const failed = (directory: string) => (error: FilesError): LedgerError =>
  new LedgerError({ message: `the ledger in ${directory} cannot be read: ${error.message}` })

/**
 * Fails where the key is missing or not to be trusted; makes none.
 *
 * @category verifying
 * @since 0.1.0
 */
export const trustKey = (directory: string): Effect.Effect<void, LedgerError, Files> =>
  Effect.flatMap(Files, (files) => Effect.mapError(files.trusted(directory + "/key"), failed(directory)))

/** The names of the segments of a folder, oldest first. */
const segments = Effect.fnUntraced(function*(directory: string) {
  const files = yield* Files
  const names = yield* Effect.mapError(files.list(directory), failed(directory))
  return names.filter((name) => Heads.pattern.test(name))
})

/**
 * Verifies all segments of a folder, one in memory at a time. An empty folder holds.
 *
 * @category verifying
 * @since 0.1.0
 */
export const verify: (
  directory: string,
  anchor?: ReadonlyArray<Name>
) => Effect.Effect<Verify.Report, LedgerError, Files> = Effect.fnUntraced(function*(
  directory: string,
  anchor: ReadonlyArray<Name> = []
) {
  const files = yield* Files
  const names = yield* segments(directory)
  if (names.length === 0) return Verify.join([], anchor)
  // A folder with segments and without a key gets none: a new key would fit nothing.
  yield* trustKey(directory)
  const keys = yield* loadKeys(directory)
  const reports: Array<Verify.SegmentReport> = []
  for (const name of names) {
    reports.push(
      yield* files.read(directory + "/" + name).pipe(
        Effect.map((text) => Verify.segment(name, text, keys)),
        Effect.catch((error) => Effect.succeed(Verify.unreadable(name, error.message)))
      )
    )
  }
  return Verify.join(reports, anchor)
})

/** So much of a segment is in memory at once. */
const piece = 1024 * 1024

/**
 * What was found besides the entries.
 *
 * @category models
 * @since 0.1.0
 */
export type Scanned = Omit<Read.Contents, "entries">

/**
 * Hands every entry of a folder to `each`, run by run, with a part of one segment in memory at a time. What `each` gives
 * is done before the next part is read.
 *
 * @category reading
 * @since 0.1.0
 */
export const scan: (
  directory: string,
  each: (entry: Read.Listed) => void,
  between?: Effect.Effect<void, FilesError>
) => Effect.Effect<Scanned, LedgerError, Files> = Effect.fnUntraced(function*(
  directory: string,
  each: (entry: Read.Listed) => void,
  between: Effect.Effect<void, FilesError> = Effect.void
) {
  const files = yield* Files
  const reading = Read.reader(each)
  const found: Array<{ readonly segment: string; readonly opened: Opened }> = []
  const pieces = (name: string, from: number) =>
    Effect.mapError(files.lines(directory + "/" + name, from, piece), failed(directory))
  for (const segment of yield* segments(directory)) {
    const first = yield* Effect.mapError(files.lines(directory + "/" + segment, 0, 1), failed(directory))
    const opened = Read.opened(first.text)
    if (opened !== undefined) found.push({ segment, opened })
    else {
      for (let from = 0;;) {
        const { next, text } = yield* pieces(segment, from)
        if (next === from) break
        reading.broken(text)
        from = next
      }
    }
  }
  for (const part of Read.plan(found)) {
    const take = reading.segment(part)
    for (let from = 0;;) {
      const { next, text } = yield* pieces(part.segment, from)
      if (next === from) break
      take(text)
      yield* Effect.mapError(between, failed(directory))
      from = next
    }
  }
  return { runs: reading.runs(), unreadable: reading.unreadable() }
})

/**
 * Reads all entries of a folder.
 *
 * @category reading
 * @since 0.1.0
 */
export const read: (directory: string) => Effect.Effect<Read.Contents, LedgerError, Files> = Effect.fnUntraced(
  function*(directory: string) {
    const entries: Array<Read.Listed> = []
    const scanned = yield* scan(directory, (entry) => entries.push(entry))
    return { entries: entries.sort(Read.order), ...scanned }
  }
)

/**
 * Reads a folder again and again: each time what was recorded since the last time; the first time all there is.
 *
 * @category reading
 * @since 0.1.0
 */
export const follow: (
  directory: string
) => Effect.Effect<(each: (entry: Read.Listed) => void) => Effect.Effect<void, LedgerError>, never, Files> = Effect
  .fnUntraced(function*(directory: string) {
    const files = yield* Files
    const places = new Map<string, { from: number; readonly take: (text: string) => void }>()
    // After a failed write the same entries stand in two segments; they are told once.
    const told = new Map<string, number>()
    let each: (entry: Read.Listed) => void = () => {}
    const reading = Read.reader((entry) => {
      if (entry.seq <= (told.get(entry.run) ?? 0)) return
      told.set(entry.run, entry.seq)
      each(entry)
    })
    const known = Effect.fnUntraced(function*(segment: string) {
      const found = places.get(segment)
      if (found !== undefined) return found
      const first = yield* files.lines(directory + "/" + segment, 0, 1)
      const opened = Read.opened(first.text)
      if (opened === undefined) return undefined
      const fresh = { from: 0, take: reading.segment({ segment, opened, until: Number.POSITIVE_INFINITY }) }
      places.set(segment, fresh)
      return fresh
    })
    return (to) =>
      Effect.gen(function*() {
        each = to
        for (const segment of (yield* files.list(directory)).filter((name) => Heads.pattern.test(name))) {
          const place = yield* known(segment)
          if (place === undefined) continue
          for (;;) {
            const { next, text } = yield* files.lines(directory + "/" + segment, place.from, piece)
            if (next === place.from) break
            place.take(text)
            place.from = next
          }
        }
      }).pipe(Effect.mapError(failed(directory)))
  })

/**
 * Records the torn ends of segments, as the next process to write would: begins a segment that names them. Gives the
 * report afterwards.
 *
 * @category mending
 * @since 0.1.0
 */
export const mend: (directory: string) => Effect.Effect<Verify.Report, LedgerError, Files> = Effect.fnUntraced(
  function*(directory: string) {
    const before = yield* verify(directory)
    if (before.torn.length === 0) return before
    yield* Effect.scoped(Effect.gen(function*() {
      const ledger = yield* makeFile({ directory, sync: true })
      ledger.append({ type: "mended", segments: before.torn.map(({ segment }) => segment) })
      yield* ledger.commit
    }))
    return yield* verify(directory)
  }
)

/**
 * Makes a new key where the old one is lost, and records what it had sealed, so that this can no longer change unseen.
 * Gives the report afterwards.
 *
 * **Gotchas**
 *
 * A process that still has the old key goes on under it, and its segment then differs from what was recorded: end all
 * relays first.
 *
 * @category mending
 * @since 0.1.0
 */
export const newKey: (directory: string) => Effect.Effect<Verify.Report, LedgerError, Files> = Effect.fnUntraced(
  function*(directory: string) {
    const files = yield* Files
    yield* Effect.mapError(makeKey(directory + "/key"), failed(directory))
    const keys = yield* loadKeys(directory)
    const known = new Set<string>()
    const old: Array<Verify.Whole> = []
    for (const name of yield* segments(directory)) {
      const text = yield* Effect.mapError(files.read(directory + "/" + name), failed(directory))
      const report = Verify.segment(name, text, keys)
      if (report.foreign !== undefined) old.push(report.foreign)
      else for (const { segment } of report.rekeyed) known.add(segment)
    }
    const lost = old.filter(({ segment }) => !known.has(segment))
    if (lost.length === 0) {
      return yield* new LedgerError({ message: `the key of the ledger in ${directory} fits all segments there are` })
    }
    yield* Effect.scoped(Effect.gen(function*() {
      const ledger = yield* makeFile({ directory, sync: true })
      ledger.append({ type: "rekeyed", segments: lost })
      yield* ledger.commit
    }))
    return yield* verify(directory)
  }
)

/**
 * What {@link archive} did: the segments that may be taken elsewhere now, and those that cannot be yet.
 *
 * @category models
 * @since 0.1.0
 */
export interface Archive {
  readonly archived: ReadonlyArray<Verify.Archived>
  readonly open: ReadonlyArray<string>
}

/**
 * Records that the segments begun before `until` may be taken elsewhere, so that {@link verify} does not miss them. What a
 * process may still write to, by `alive`, stays.
 *
 * **Details**
 *
 * `until` is the beginning of a time in ISO 8601. What older segments recorded of still older ones is said again, so that
 * they may go too. A ledger that does not verify is left as it is.
 *
 * @category archiving
 * @since 0.1.0
 */
export const archive: (
  directory: string,
  until: string,
  alive: (pid: number) => boolean
) => Effect.Effect<Archive, LedgerError, Files> = Effect.fnUntraced(function*(
  directory: string,
  until: string,
  alive: (pid: number) => boolean
) {
  const files = yield* Files
  const { problems, status } = yield* verify(directory)
  if (status === "broken" || status === "torn") {
    return yield* new LedgerError({
      message: `the ledger in ${directory} does not verify (${problems[0]?.why ?? status}), so nothing is archived`
    })
  }
  const keys = yield* loadKeys(directory)
  const archived: Array<Verify.Archived> = []
  const open: Array<string> = []
  const lost: Array<Verify.Whole> = []
  for (const name of yield* segments(directory)) {
    const text = yield* Effect.mapError(files.read(directory + "/" + name), failed(directory))
    const report = Verify.segment(name, text, keys)
    if (report.opened === undefined || report.opened.time >= until) continue
    if (!report.closed && alive(report.opened.pid)) {
      open.push(name)
      continue
    }
    archived.push({ ...Verify.whole(name, text), run: report.opened.run, last: report.last }, ...report.archived)
    if (report.foreign === undefined) lost.push(...report.rekeyed)
  }
  const unique = [...new Map(archived.map((part) => [part.segment, part])).values()]
  const stay = lost.filter(({ segment }) => !unique.some((part) => part.segment === segment))
  if (unique.length === 0) return { archived: [], open }
  yield* Effect.scoped(Effect.gen(function*() {
    const ledger = yield* makeFile({ directory, sync: true })
    ledger.append({ type: "archived", segments: unique })
    if (stay.length > 0) ledger.append({ type: "rekeyed", segments: stay })
    yield* ledger.commit
  }))
  return { archived: unique, open }
})
