/**
 * Resources: what a client may read by its address.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as T from "../wire/Text.ts"
import type { Annotations, ResourceContents } from "./Content.ts"
import * as Content from "./Content.ts"
import type { Icon, JsonObject } from "./Definition.ts"
import * as Definition from "./Definition.ts"
import type { Body, Failure } from "./internal/body.ts"
import * as eager from "./internal/eager.ts"
import { failed } from "./Prompt.ts"

/**
 * How long what was read stays fresh, and who may keep it (2026-07-28 server/utilities/caching).
 *
 * @category models
 * @since 0.1.0
 */
export interface Cache {
  readonly ttl: Duration.Input
  readonly scope: "private" | "public"
}

/**
 * What a resource is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Its name; without one its address. */
  readonly name?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly size?: number | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
  /** Fresh for no time, and private, unless said otherwise. */
  readonly cache?: Cache | undefined
}

/**
 * What reading gives: text, bytes, or contents with addresses of their own.
 *
 * @category models
 * @since 0.1.0
 */
export type Returns = string | Uint8Array | ResourceContents | ReadonlyArray<ResourceContents>

/**
 * A resource, whose reading requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource<out R> {
  readonly _tag: "Resource"
  readonly uri: string
  readonly definition: Definition.Definition
  readonly cache: Hints | undefined
  readonly read: () => Effect.Effect<Body, Failure, R>
}

/**
 * The hints of a {@link Cache}, as they are sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hints {
  readonly ttlMs: number
  readonly cacheScope: "private" | "public"
}

/**
 * @category conversions
 * @since 0.1.0
 */
export const hints = (cache: Cache | undefined): Hints | undefined =>
  cache === undefined ? undefined : { ttlMs: Math.max(0, Duration.toMillis(cache.ttl)), cacheScope: cache.scope }

/**
 * What is listed of a resource or template besides its address.
 *
 * @category constructors
 * @since 0.1.0
 */
export const members = (name: string, options: Options): ReadonlyArray<Definition.Member> => [
  ["name", options.name ?? name],
  ["title", options.title, "titles"],
  ["description", options.description],
  ["mimeType", options.mimeType],
  ["size", options.size],
  ["annotations", options.annotations],
  ["icons", options.icons, "icons"],
  ["_meta", options.meta, "item-metadata"]
]

/**
 * What was read, as a result.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toBody = (value: Returns, uri: string, mimeType: string | undefined): Body => {
  const contents = typeof value === "string" || value instanceof Uint8Array
    ? [Content.contents(uri, value, mimeType)]
    : "uri" in value
    ? [value]
    : value
  return { members: [["contents", T.array(contents.map(T.fromValue))]] }
}

/**
 * A resource with a fixed address.
 *
 * **Example**
 *
 * ```ts
 * const readme = Resource.make("file:///README.md", { mimeType: "text/markdown" }, Effect.succeed("# Read me"))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <E, R>(uri: string, options: Options, read: Effect.Effect<Returns, E, R>): Resource<R> => ({
  _tag: "Resource",
  uri,
  definition: Definition.make([["uri", uri], ...members(uri, options)]),
  cache: hints(options.cache),
  read: () => eager.follow(read, (value) => Effect.succeed(toBody(value, uri, options.mimeType)), failed)
})
