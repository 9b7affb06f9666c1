/**
 * A text that several processes change: kept as numbered versions in a folder, of which the newest counts.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { type Files, FilesError } from "./Files.ts"

/**
 * A version: 0 is that of nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Version {
  readonly number: number
  readonly text: string | undefined
}

/**
 * Reads and changes the text of one folder.
 *
 * @category models
 * @since 0.1.0
 */
export interface Versions {
  /** The newest version. */
  readonly load: Effect.Effect<Version, FilesError>
  /** Puts a text behind this version; false where another was faster. */
  readonly save: (expected: number, text: string) => Effect.Effect<boolean, FilesError>
}

/** How many versions stay: a reader that has just listed the newest must still find it. */
const keep = 3
const name = /^([1-9][0-9]{0,14})\.json$/

/**
 * The versions in a folder: `FOLDER/NUMBER.json`, the last three. Other files there are left alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (files: Files["Service"], folder: string): Versions => {
  const path = (number: number): string => `${folder}/${number}.json`
  /** The numbers there are, the oldest first. */
  const numbers: Effect.Effect<ReadonlyArray<number>, FilesError> = Effect.map(
    files.list(folder),
    (names) =>
      names.flatMap((each) => {
        const digits = name.exec(each)?.[1]
        return digits === undefined ? [] : [Number(digits)]
      }).sort((left, right) => left - right)
  )

  return {
    load: Effect.gen(function*() {
      // The newest version can be pruned between the two looks, but then there is a newer one.
      for (let attempt = 0; attempt < 100; attempt++) {
        const number = (yield* numbers).at(-1) ?? 0
        if (number === 0) return { number, text: undefined }
        const text = yield* Effect.catchIf(
          files.read(path(number)),
          (error: FilesError) => error.kind === "missing",
          () => Effect.undefined
        )
        if (text !== undefined) return { number, text }
      }
      return yield* new FilesError({
        kind: "failed",
        path: folder,
        message: `what is in ${folder} does not hold still`
      })
    }),
    save: Effect.fnUntraced(function*(expected, text) {
      const number = expected + 1
      yield* files.folder(folder)
      if (((yield* numbers).at(-1) ?? 0) !== expected) return false
      const created = yield* Effect.catchIf(
        Effect.as(files.create(path(number), text), true),
        (error: FilesError) => error.kind === "exists",
        () => Effect.succeed(false)
      )
      if (!created) return false
      const now = yield* numbers
      // Whoever sleeps between looking and creating may find that the place of the next version was taken and pruned
      // meanwhile. Then others are at least this far ahead, and whether ours came in time cannot be told: decide again.
      if ((now.at(-1) ?? 0) >= number + keep) return false
      yield* Effect.forEach(
        now.filter((old) => old <= number - keep),
        (old) => Effect.ignore(files.remove(path(old))),
        { discard: true }
      )
      return true
    })
  }
}
