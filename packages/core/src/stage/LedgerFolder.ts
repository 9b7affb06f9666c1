/**
 * Reads and verifies the ledger in a folder: what the command does with it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Name } from "../ledger/Entry.ts"
import * as Heads from "../ledger/Heads.ts"
import * as Read from "../ledger/Read.ts"
import * as Verify from "../ledger/Verify.ts"
import { Files, type FilesError } from "../store/Files.ts"
import { LedgerError, loadKeys, makeFile, makeKey } from "./Ledger.ts"

const failed = (directory: string) => (error: FilesError): LedgerError =>
  new LedgerError({ message: `the ledger in ${directory} cannot be read: ${error.message}` })

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
  yield* Effect.mapError(files.trusted(directory + "/key"), failed(directory))
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

/**
 * Reads all entries of a folder.
 *
 * @category reading
 * @since 0.1.0
 */
export const read: (directory: string) => Effect.Effect<Read.Contents, LedgerError, Files> = Effect.fnUntraced(
  function*(directory: string) {
    const files = yield* Files
    const texts: Array<{ readonly segment: string; readonly text: string }> = []
    for (const segment of yield* segments(directory)) {
      const text = yield* Effect.mapError(files.read(directory + "/" + segment), failed(directory))
      texts.push({ segment, text })
    }
    return Read.contents(texts)
  }
)

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
      for (const { segment } of report.rekeyed) known.add(segment)
      if (report.foreign !== undefined) old.push(report.foreign)
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
