/**
 * The TOML parser, in a module of its own so that it is loaded only where there is TOML.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Toml from "effect/encoding/Toml"

/**
 * Reads a TOML document; the error is a sentence with the place.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): Effect.Effect<Record<string, unknown>, string> =>
  Effect.mapError(Effect.fromResult(Toml.parse(text)), (error) => error.message)
