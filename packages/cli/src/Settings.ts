/**
 * settings.toml: what the operator has fixed for all programs on this machine.
 *
 * @since 0.1.0
 */
import { Files } from "@sallyport/core/store/Files"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * Settings that cannot be used. `message` names the file, the place and what to do.
 *
 * @category errors
 * @since 0.1.0
 */
export class SettingsError extends Schema.TaggedError<SettingsError>("sallyport/cli/SettingsError")("SettingsError", {
  message: Schema.String
}) {}

const atLeastOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
/** Hosts end a relay after two seconds. */
const span = Schema.TemplateLiteral([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 })),
  " ",
  Schema.Literals(["millis", "second", "seconds"])
])

/**
 * - `locked`: what loosens the guard on a command line is refused.
 * - `message_bytes`, `depth`: the limits of reading, in bytes and levels.
 * - `peer_bytes`: how much the unanswered requests of one side may hold together.
 * - `half_close`, `term`: how long answers are waited for at the end, and how long a server has after SIGTERM.
 * - `ledger.sync`: decisions also survive a loss of power.
 * - `ledger.digest`: `"plain"`: digests of arguments and results without the key, so that anybody can compare (and guess).
 * - `ledger.full`: arguments and results are recorded in full.
 * - `ledger.segment_bytes`: a segment that has grown beyond it is closed and another one begun.
 * - `ledger.budget_bytes`: so much may one client with one server record in an hour; then its calls are refused.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Settings = Schema.Struct({
  locked: Schema.optionalKey(Schema.Boolean),
  message_bytes: Schema.optionalKey(atLeastOne),
  depth: Schema.optionalKey(atLeastOne),
  peer_bytes: Schema.optionalKey(atLeastOne),
  half_close: Schema.optionalKey(span),
  term: Schema.optionalKey(span),
  ledger: Schema.optionalKey(Schema.Struct({
    sync: Schema.optionalKey(Schema.Boolean),
    digest: Schema.optionalKey(Schema.Literals(["keyed", "plain"])),
    full: Schema.optionalKey(Schema.Boolean),
    // At most what can be read at once.
    segment_bytes: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 65_536, maximum: 134_217_728 }))),
    budget_bytes: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(65_536)))
  }))
})
/**
 * What settings.toml may say.
 *
 * @category models
 * @since 0.1.0
 */
export type Settings = typeof Settings.Type

/** The schema's own words with the place, on one line, and what a key may be. */
const wrong = (path: string, message: string): SettingsError =>
  new SettingsError({
    message: `${path}: ${message.replace(/\s*\n\s*/g, " ")}` +
      "; the keys are locked, message_bytes, depth, " +
      "peer_bytes, half_close, term and ledger.sync, .digest, .full, .segment_bytes, .budget_bytes"
  })

const decode = Schema.decodeUnknownEffect(Settings, { onExcessProperty: "error" })

/**
 * Reads the settings of a folder; none where there is no file. A file that cannot be used refuses everything.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = Effect.fnUntraced(function*(folder: string) {
  const files = yield* Files
  const path = `${folder}/settings.toml`
  const text = yield* files.read(path).pipe(
    Effect.catchTag(
      "FilesError",
      (error) =>
        error.kind === "missing"
          ? Effect.succeed(undefined)
          : Effect.fail(new SettingsError({ message: error.message }))
    )
  )
  if (text === undefined) return {}
  // The parser is loaded only where there is something to parse: a relay starts without it.
  const toml = yield* Effect.promise(() => import("./Toml.ts"))
  const value = yield* Effect.mapError(toml.parse(text), (error) => new SettingsError({ message: `${path}: ${error}` }))
  return yield* Effect.mapError(decode(value), (error) => wrong(path, error.message))
})
