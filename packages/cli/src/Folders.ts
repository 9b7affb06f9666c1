/**
 * Where Sallyport keeps its state and finds its configuration.
 *
 * The folders are those of Effect's `UserDirectories`, which reads them through `Config`; that is a fifth of the relay's
 * program, and a host waits while it is loaded.
 *
 * @since 0.1.0
 */
import { Environment } from "@sallyport/core/node/Environment"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { join, resolve } from "node:path"

/**
 * The environment does not say where the user's folders are.
 *
 * @category errors
 * @since 0.1.0
 */
export class FoldersError extends Data.TaggedError("FoldersError")<{ readonly message: string }> {}

const folder = Effect.fnUntraced(function*(given: string | undefined, variable: string, home: string) {
  // An unset variable of a shell: the folder that the command happens to run in is never meant.
  if (given === "") return yield* new FoldersError({ message: "the name that was given is empty" })
  if (given !== undefined) return resolve(given)
  const own = yield* Environment
  const named = own[variable]
  // Another path would depend on where the host happens to run.
  if (named !== undefined && named.startsWith("/")) return join(named, "sallyport")
  if (own["HOME"] === undefined) return yield* new FoldersError({ message: `neither ${variable} nor HOME is set` })
  return join(own["HOME"], process.platform === "darwin" ? "Library/Application Support" : home, "sallyport")
})

/**
 * The state folder: as given, else `sallyport` in the user's state folder (XDG_STATE_HOME).
 *
 * @category reading
 * @since 0.1.0
 */
export const state = (given: string | undefined): Effect.Effect<string, FoldersError> =>
  folder(given, "XDG_STATE_HOME", ".local/state")

/**
 * The configuration folder: as given, else `sallyport` in the user's configuration folder (XDG_CONFIG_HOME).
 *
 * @category reading
 * @since 0.1.0
 */
export const config = (given: string | undefined): Effect.Effect<string, FoldersError> =>
  folder(given, "XDG_CONFIG_HOME", ".config")

/** A path as one word of a shell's command line. */
export const quoted = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
