/**
 * Where Sallyport keeps its state and finds its configuration.
 */
import * as Effect from "effect/Effect"
import * as UserDirectories from "effect/persistence/UserDirectories"
import type { PlatformError } from "effect/PlatformError"
import { resolve } from "node:path"

const directories = UserDirectories.make()

/** The state folder: as given, else `sallyport` in the user's state folder (XDG_STATE_HOME). */
export const state = (given: string | undefined): Effect.Effect<string, PlatformError> =>
  given === undefined ? directories.state("sallyport") : Effect.succeed(resolve(given))

/** The configuration folder: as given, else `sallyport` in the user's configuration folder (XDG_CONFIG_HOME). */
export const config = (given: string | undefined): Effect.Effect<string, PlatformError> =>
  given === undefined ? directories.config("sallyport") : Effect.succeed(resolve(given))
