/**
 * JSON values whose text is kept: numbers digit for digit, members in their order.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/** Names the places of a schema where text is kept. */
declare module "effect/Schema" {
  namespace Annotations {
    interface Annotations {
      readonly "@sallyport/core/Json"?: boolean | undefined
    }
  }
}

/**
 * A JSON value as it came.
 *
 * @category models
 * @since 0.1.0
 */
export interface Json {
  /** Compact JSON text. */
  readonly text: Text
  /** The value as JavaScript has it: a number becomes what `JSON.parse` makes of it. */
  readonly value: unknown
}

class Kept implements Json {
  readonly text: Text
  constructor(text: Text) {
    this.text = text
  }
  get value(): unknown {
    return T.toValue(this.text)
  }
  toJSON(): unknown {
    return this.value
  }
}

/**
 * Whether a value is a {@link Json}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isJson = (value: unknown): value is Json => value instanceof Kept

/**
 * A JSON value of checked text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromText = (text: Text): Json => new Kept(text)

/**
 * A JSON value of a JavaScript value, as `JSON.stringify` writes it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromValue = (value: unknown): Json => isJson(value) ? value : new Kept(T.fromValue(value))

/**
 * The schema of any JSON value, for fields whose numbers must not be rounded.
 *
 * **Example**
 *
 * ```ts
 * const echo = Tool.make("echo", {
 *   description: "Gives back what it got",
 *   input: Schema.Struct({ value: Json.Json }),
 *   output: Schema.Struct({ value: Json.Json })
 * }, ({ value }) => Effect.succeed({ value }))
 * ```
 *
 * @category schemas
 * @since 0.1.0
 */
export const Json: Schema.declare<Json> = Schema.declare(isJson, {
  expected: "a JSON value",
  "@sallyport/core/Json": true,
  // It is its own form in JSON: what reads and writes text makes it and takes it apart.
  toCodecJson: () => undefined
})
