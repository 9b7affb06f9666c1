/**
 * The one place from which our own environment is read.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * The variables that this program was started with.
 *
 * @category references
 * @since 0.1.0
 */
export const Environment = Context.Reference<Readonly<Record<string, string | undefined>>>(
  "@sallyport/core/node/Environment",
  { defaultValue: () => process.env }
)

/**
 * The names that every server gets, as far as they are set: what the official SDKs pass on.
 *
 * @category constants
 * @since 0.1.0
 */
export const safe: ReadonlyArray<string> = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR"]
