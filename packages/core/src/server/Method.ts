/**
 * Methods of extensions: what a client may ask beyond the protocol (2026-07-28 basic/versioning, Extension Negotiation).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Body, Failure } from "./internal/body.ts"
import * as body from "./internal/body.ts"
import { decoder, encoder } from "./internal/codec.ts"
import * as eager from "./internal/eager.ts"
import { failed } from "./Prompt.ts"
import { invalidParams } from "./Refusal.ts"

/**
 * What a method is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Params, Result> {
  /** The params without `_meta`; a member that they do not name is refused. */
  readonly params: Params
  readonly result: Result
}

/**
 * A method of an extension, whose handler requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Method<out R> {
  readonly _tag: "Method"
  readonly name: string
  readonly call: (params: Text) => Effect.Effect<Body, Failure, R>
}

type Object_<R> = Schema.ConstraintCodec<unknown, unknown, R, R>

/**
 * A method of an extension, which the server names in its `extensions`. Only 2026-07-28 has those.
 *
 * **Gotchas**
 *
 * A method of the protocol's own is never handed to it.
 *
 * **Example**
 *
 * ```ts
 * const stats = Method.make("com.example/stats", {
 *   params: Schema.Struct({ since: Schema.String }),
 *   result: Schema.Struct({ calls: Schema.Int })
 * }, () => Effect.succeed({ calls: 1 }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  Params extends Schema.Constraint & { readonly Encoded: object },
  Result extends Schema.Constraint & { readonly Encoded: object },
  R = never,
  E = never
>(
  name: string,
  options: Options<Params, Result>,
  handler: (params: Params["Type"]) => Effect.Effect<Result["Type"], E, R>
): Method<R | Params["DecodingServices"] | Result["EncodingServices"]>
export function make<R, E>(
  name: string,
  options: Options<Object_<R>, Object_<R>>,
  handler: (params: unknown) => Effect.Effect<unknown, E, R>
): Method<R> {
  const read = decoder(options.params)
  const write = encoder(options.result)
  return {
    _tag: "Method",
    name,
    call: (params) =>
      eager.follow(
        read(T.removeMember(params, "_meta")),
        (given) =>
          eager.follow(
            body.invoke(handler, given),
            (value) =>
              eager.follow(
                write(value),
                (text) => Effect.succeed<Body>({ members: T.members(text) }),
                (words) => Effect.die(`The result of ${name} does not fit its schema: ${words}`)
              ),
            failed
          ),
        (words) => Effect.fail(invalidParams(`These params do not fit: ${words}`))
      )
  }
}
