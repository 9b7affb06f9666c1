/**
 * Resource templates: resources by the pattern of their addresses.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as UriTemplate from "../protocol/UriTemplate.ts"
import * as Completion from "./Completion.ts"
import * as Definition from "./Definition.ts"
import type { Body, Failure } from "./internal/body.ts"
import * as body from "./internal/body.ts"
import * as eager from "./internal/eager.ts"
import { failed } from "./Prompt.ts"
import type { Hints, Options as ResourceOptions, Returns } from "./Resource.ts"
import * as Resource from "./Resource.ts"

/** The names of one expression of a template, without what modifies them. */
type Names<Text extends string> = Text extends `${infer First},${infer Rest}` ? Names<First> | Names<Rest>
  : Text extends `${infer Name}*` ? Name
  : Text extends `${infer Name}:${string}` ? Name
  : Text

type Operator = "+" | "#" | "/" | "." | ";" | "?" | "&"

/**
 * The variables of a template, read off its type.
 *
 * @category models
 * @since 0.1.0
 */
export type Variables<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}` ?
    | (Expression extends `${Operator}${infer Inner}` ? Names<Inner> : Names<Expression>)
    | Variables<Rest>
  : never

/** Those variables that an address may leave out. */
type Optional<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}` ?
    | (Expression extends `${"?" | "&" | ";"}${infer Inner}` ? Names<Inner> : never)
    | Optional<Rest>
  : never

/**
 * The values of a template's variables.
 *
 * @category models
 * @since 0.1.0
 */
export type Values<Template extends string> =
  & { readonly [K in Exclude<Variables<Template>, Optional<Template>>]: string }
  & { readonly [K in Optional<Template>]?: string }

/**
 * What a template is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Template extends string, C> extends Omit<ResourceOptions, "size"> {
  readonly completions?: Completion.Of<Variables<Template>, C> | undefined
}

/**
 * A template, whose reading requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceTemplate<out R> {
  readonly _tag: "ResourceTemplate"
  readonly uriTemplate: string
  readonly definition: Definition.Definition
  readonly cache: Hints | undefined
  /** How to read an address, or `undefined` where the template does not match it. */
  readonly match: (uri: string) => (() => Effect.Effect<Body, Failure, R>) | undefined
  readonly completions: ReadonlyMap<string, Completion.Completion<R>>
}

/**
 * Resources by the pattern of their addresses (RFC 6570). The handler gets the variables, decoded, and the address; it
 * fails with `NotFound` where there is no such resource.
 *
 * **Gotchas**
 *
 * A decoded variable is the client's own text: it may hold `/` or `..` where the address had them escaped.
 *
 * **Example**
 *
 * ```ts
 * const user = ResourceTemplate.make("db://users/{id}", { mimeType: "application/json" }, ({ id }) =>
 *   Effect.succeed(JSON.stringify({ id })))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  const Template extends string,
  E = never,
  R = never,
  const C extends Completion.Completions<string, unknown> = {}
>(
  uriTemplate: Template,
  options: Options<Template, C>,
  read: (values: Values<Template>, uri: string) => Effect.Effect<Returns, E, R>
): ResourceTemplate<R | Completion.Services<C>>
export function make<R, E>(
  uriTemplate: string,
  options: ResourceOptions & { readonly completions?: Completion.Completions<string, R> | undefined },
  read: (values: Readonly<Record<string, string>>, uri: string) => Effect.Effect<Returns, E, R>
): ResourceTemplate<R> {
  const match = UriTemplate.matcher(uriTemplate)
  return {
    _tag: "ResourceTemplate",
    uriTemplate,
    definition: Definition.make([["uriTemplate", uriTemplate], ...Resource.members(uriTemplate, options)]),
    cache: Resource.hints(options.cache),
    completions: Completion.toMap(options.completions),
    match: (uri) => {
      const values = match(uri)
      return values === undefined ? undefined : () =>
        eager.follow(
          body.invoke((given) => read(given, uri), values),
          (value) => Effect.succeed(Resource.toBody(value, uri, options.mimeType)),
          failed
        )
    }
  }
}
