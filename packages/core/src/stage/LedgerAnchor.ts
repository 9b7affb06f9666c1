/**
 * An anchor: what a ledger, the pins and the budgets were at a time, in one line to be kept elsewhere.
 *
 * **Details**
 *
 * A ledger proves that nothing in it was changed, but not that it is all there was: a shorter one holds too, and so does
 * an old copy of the whole state folder. What is written down elsewhere finds that (security rule F29). The line is sealed
 * with the key of the ledger, so that it cannot be exchanged for another one where it is kept.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Digest, Head } from "../ledger/Entry.ts"
import * as Keys from "../ledger/Keys.ts"
import { makeTimes } from "../ledger/Line.ts"
import type * as Verify from "../ledger/Verify.ts"
import { Files, type FilesError } from "../store/Files.ts"
import { sha256 } from "../wire/Digest.ts"
import { LedgerError, loadKeys } from "./Ledger.ts"
import * as LedgerFolder from "./LedgerFolder.ts"

/**
 * - `segments`: every segment, with its last seal.
 * - `files`: every file of pins and budgets, which policies were used, and the policy, by its path below the state or configuration folder.
 * - `mac`: the seal over all that stands before it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Anchor = Schema.Struct({
  anchor: Schema.Literal(1),
  time: Schema.String,
  key: Schema.String,
  segments: Schema.Array(Schema.Struct({ segment: Schema.String, head: Head })),
  files: Schema.Array(Schema.Struct({ path: Schema.String, digest: Digest })),
  mac: Digest
})
/**
 * @category models
 * @since 0.1.0
 */
export type Anchor = typeof Anchor.Type

/**
 * Where the things are that an anchor holds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Folders {
  /** The state folder, with `ledger`, `pins` and `budgets` in it. */
  readonly state: string
  /** The configuration folder, with `policy.toml` in it. */
  readonly config: string
}

const failed = (error: FilesError): LedgerError =>
  new LedgerError({ message: `the anchor cannot be made: ${error.message}` })

const body = ({ files, key, segments, time }: Omit<Anchor, "anchor" | "mac">): string =>
  JSON.stringify({ anchor: 1, time, key, segments, files })

/** A file, or nothing where it is gone meanwhile: pins are pruned while they are read. */
const digestOf = Effect.fnUntraced(function*(path: string) {
  const files = yield* Files
  const text = yield* Effect.catchIf(
    files.read(path),
    (error) => error.kind === "missing",
    () => Effect.undefined
  )
  return text === undefined ? undefined : sha256(text)
})

/** The files that are there now. */
const look = Effect.fnUntraced(function*({ config, state }: Folders) {
  const files = yield* Files
  const found: Array<{ readonly path: string; readonly digest: string }> = []
  const add = Effect.fnUntraced(function*(folder: string, path: string) {
    const digest = yield* digestOf(`${folder}/${path}`)
    if (digest !== undefined) found.push({ path, digest })
  })
  for (const kind of ["budgets", "pins"]) {
    for (const server of yield* files.list(`${state}/${kind}`)) {
      for (const name of yield* files.list(`${state}/${kind}/${server}`)) {
        if (version(name) !== undefined) yield* add(state, `${kind}/${server}/${name}`)
      }
    }
  }
  for (const name of yield* files.list(`${state}/policies`)) yield* add(state, `policies/${name}`)
  yield* add(config, "policy.toml")
  return found
})

/** Pins and budgets are kept in versions that only grow. */
const version = (name: string): number | undefined => {
  const digits = /^([1-9][0-9]{0,14})\.json$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * Makes an anchor of what is there now. A ledger that does not verify gets none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (folders: Folders) => Effect.Effect<Anchor, LedgerError, Files> = Effect.fnUntraced(
  function*(folders: Folders) {
    const directory = `${folders.state}/ledger`
    const { heads, problems, status } = yield* LedgerFolder.verify(directory)
    const first = problems[0]
    if (first !== undefined) {
      return yield* new LedgerError({
        message: `the ledger does not verify (${status}), so it cannot be an anchor: ${first.segment}: ${first.why}`
      })
    }
    const keys = yield* loadKeys(directory)
    const anchor = {
      time: makeTimes()(yield* Clock.currentTimeMillis),
      key: keys.id,
      segments: heads.map(({ head, segment }) => ({ segment, head })),
      files: yield* Effect.mapError(look(folders), failed)
    }
    return { anchor: 1, ...anchor, mac: Keys.mac(keys.anchor, body(anchor)) }
  }
)

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Anchor), { onExcessProperty: "error" })

/**
 * Reads the line of an anchor.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Anchor, string> =>
  Result.mapError(decode(text), () => "it is not the line that `sallyport ledger anchor` prints")

/**
 * What differs from an anchor. `problems` break it: what only grows has shrunk, or is another. `changed` names what may
 * change, and has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Comparison {
  readonly report: Verify.Report
  readonly changed: ReadonlyArray<string>
}

/**
 * Verifies a ledger, and compares it, the pins and the budgets with an anchor.
 *
 * @category verifying
 * @since 0.1.0
 */
export const compare: (folders: Folders, anchor: Anchor) => Effect.Effect<Comparison, LedgerError, Files> = Effect
  .fnUntraced(function*(folders: Folders, anchor: Anchor) {
    const directory = `${folders.state}/ledger`
    const report = yield* LedgerFolder.verify(directory, anchor.segments)
    const problems: Array<Verify.Problem> = []
    const changed: Array<string> = []
    const problem = (why: string) => problems.push({ segment: "anchor", line: 1, why })

    const keys = yield* Effect.option(Effect.andThen(LedgerFolder.trustKey(directory), loadKeys(directory)))
    if (keys._tag === "None") {
      problem("the key of the ledger is gone, so it cannot be told whether this anchor is of it")
    } else if (keys.value.id !== anchor.key) problem("it was made under another key of the ledger")
    else if (Keys.mac(keys.value.anchor, body(anchor)) !== anchor.mac) {
      problem("it is not as it was printed: its own seal does not fit")
    }

    const now = yield* Effect.mapError(look(folders), failed)
    const newest = (server: string): number =>
      Math.max(0, ...now.map(({ path }) => (path.startsWith(server) ? version(path.slice(server.length)) : 0) ?? 0))
    for (const { digest, path } of anchor.files) {
      const there = now.find((file) => file.path === path)
      if (there?.digest === digest) continue
      const versions = path.slice(0, path.lastIndexOf("/") + 1)
      const number = version(path.slice(versions.length))
      // That a server was under a policy keeps it there when the policy is gone; the policy itself may change.
      if (there === undefined && path.startsWith("policies/")) problem(`${path} is gone`)
      else if (number === undefined) changed.push(`${path} is ${there === undefined ? "gone" : "another one"}`)
      else if (there !== undefined) problem(`${path} is another one`)
      else if (newest(versions) < number) {
        problem(`${path} is gone, and there is no newer version: an older one was put back`)
      }
    }
    return {
      report: problems.length === 0
        ? report
        : { ...report, status: "broken", problems: [...report.problems, ...problems] },
      changed
    }
  })

/**
 * The line of an anchor.
 *
 * @category encoding
 * @since 0.1.0
 */
export const print = (anchor: Anchor): string => `${body(anchor).slice(0, -1)},"mac":"${anchor.mac}"}`
