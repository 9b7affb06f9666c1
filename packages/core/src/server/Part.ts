/**
 * What a server is made of.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Text } from "../wire/Message.ts"
import type { Method } from "./Method.ts"
import type { Prompt } from "./Prompt.ts"
import type { Resource } from "./Resource.ts"
import type { ResourceTemplate } from "./ResourceTemplate.ts"
import type { Tool } from "./Tool.ts"

/**
 * Parts that have to be made first, such as the tools of a toolkit.
 *
 * @category models
 * @since 0.1.0
 */
export interface Group<out R, out Load = R> {
  readonly _tag: "Group"
  readonly parts: Effect.Effect<ReadonlyArray<Single<R>>, never, Load>
}

/**
 * One thing that a server offers.
 *
 * @category models
 * @since 0.1.0
 */
export type Single<R> = Tool<R> | Resource<R> | ResourceTemplate<R> | Prompt<R> | Method<R>

/**
 * Anything that can be given to a server.
 *
 * @category models
 * @since 0.1.0
 */
export type Part<R, Load = R> = Single<R> | Group<R, Load>

/**
 * What the handlers of a part require.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<P> = P extends Tool<infer R> ? R
  : P extends Resource<infer R> ? R
  : P extends ResourceTemplate<infer R> ? R
  : P extends Prompt<infer R> ? R
  : P extends Method<infer R> ? R
  : P extends Group<infer R, unknown> ? R
  : never

/**
 * What it takes to make the parts of a group.
 *
 * @category models
 * @since 0.1.0
 */
export type Loads<P> = P extends Group<unknown, infer Load> ? Load : never

/**
 * The key under which a server knows a part.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyOf = (part: Single<unknown>): string =>
  part._tag === "Resource" ? part.uri : part._tag === "ResourceTemplate" ? part.uriTemplate : part.name

/**
 * The part with another way to run its effects.
 *
 * @category combinators
 * @since 0.1.0
 */
export const mapEffects = <R, R2>(
  part: Single<R>,
  map: <A, E>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R2>
): Single<R2> => {
  switch (part._tag) {
    case "Tool":
      return { ...part, call: (args, revision) => map(part.call(args, revision)) }
    case "Method":
      return { ...part, call: (params: Text) => map(part.call(params)) }
    case "Resource":
      return { ...part, read: () => map(part.read()) }
    case "ResourceTemplate":
      return {
        ...part,
        match: (uri) => {
          const read = part.match(uri)
          return read === undefined ? undefined : () => map(read())
        },
        completions: new Map(
          [...part.completions].map(([name, complete]) =>
            [name, (value, others) => map(complete(value, others))] as const
          )
        )
      }
    case "Prompt":
      return {
        ...part,
        get: (args, revision) => map(part.get(args, revision)),
        completions: new Map(
          [...part.completions].map(([name, complete]) =>
            [name, (value, others) => map(complete(value, others))] as const
          )
        )
      }
  }
}
