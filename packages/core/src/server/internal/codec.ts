/**
 * Schemas at the border: from checked text to values, and from values to text that fits what was listed.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { exitOf } from "../../stage/internal/constant.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as Closed from "./closed.ts"
import * as exact from "./exact.ts"
import * as Flat from "./flat.ts"
import * as publish from "./publish.ts"

/** A path as a reader of JSON writes it. */
const dotted = (path: ReadonlyArray<string | number>): string =>
  path.map((step) => typeof step === "number" ? `[${step}]` : `.${step}`).join("").replace(/^\./, "")

/**
 * Reads text by a schema, which is built once; a failure says in words what does not fit.
 *
 * **Details**
 *
 * Most arguments fit, and have no number that could be rounded: those are read without the options under which a parser
 * tells all that is wrong, which cost more than the rest of it. Whatever else comes is read anew under them.
 *
 * @category conversions
 * @since 0.1.0
 */
export const decoder = <S extends Schema.Constraint>(schema: S) => {
  const codec = Schema.toCodecJson(schema)
  const plan = exact.planOf(codec)
  const decode = Schema.decodeUnknownEffect(codec, publish.options)
  const decodeFitting = Schema.decodeUnknownEffect(codec)
  const closed = plan === undefined ? Closed.of(codec) : undefined
  const flat = Flat.of(codec)
  return (text: Text): Effect.Effect<S["Type"], string, S["DecodingServices"]> => {
    const quick = flat?.(text)
    if (quick !== undefined) return Effect.succeed(quick)
    if (closed !== undefined && !(closed.numbers && T.hasLongNumber(text))) {
      const value = T.toValue(text)
      const exit = closed.holds(value) ? exitOf(decodeFitting(value)) : undefined
      if (exit !== undefined && Exit.isSuccess(exit)) return Effect.succeed(exit.value)
    }
    const value = exact.read(text, plan)
    if (Result.isFailure(value)) {
      const { path, token } = value.failure
      return Effect.fail(`The number ${token} at ${dotted(path)} has more digits than can be kept: it would be rounded`)
    }
    return Effect.mapError(decode(value.success), (error) => error.message)
  }
}

/**
 * Writes values by a schema, which is built once; a failure says in words what does not fit.
 *
 * @category conversions
 * @since 0.1.0
 */
export const encoder = <S extends Schema.Constraint>(schema: S) => {
  const codec = Schema.toCodecJson(schema)
  const plan = exact.planOf(codec)
  const encode = Schema.encodeUnknownEffect(codec, { errors: "all" })
  const mayBeInfinite = publish.mayBeInfinite(schema)
  return (value: unknown): Effect.Effect<Text, string, S["EncodingServices"]> => {
    const nowhere = mayBeInfinite ? publish.unwritable(value) : undefined
    if (nowhere !== undefined) return Effect.fail(`The number at ${nowhere} is not finite`)
    const encoded = encode(value)
    const exit = exitOf(encoded)
    return exit !== undefined && Exit.isSuccess(exit)
      ? Effect.succeed(exact.write(exit.value, plan))
      : Effect.mapBoth(encoded, {
        onFailure: (error) => error.message,
        onSuccess: (json) => exact.write(json, plan)
      })
  }
}
