/**
 * Completions: what the value of an argument may become while a person types it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as T from "../wire/Text.ts"
import type { Body } from "./internal/body.ts"

/**
 * Proposes values for one argument.
 *
 * **Details**
 *
 * `value` is what stands there so far, `others` what the other arguments are already (2025-06-18 and later). At most
 * 100 values are sent; the client is told that there are more.
 *
 * @category models
 * @since 0.1.0
 */
export type Completion<out R> = (
  value: string,
  others: Readonly<Record<string, string>>
) => Effect.Effect<ReadonlyArray<string>, never, R>

/**
 * Completions by the name of their argument.
 *
 * @category models
 * @since 0.1.0
 */
export type Completions<Name extends string, R> = { readonly [K in Name]?: Completion<R> | undefined }

/**
 * Completions of these arguments, each with services of its own.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<Name extends string, C> =
  & C
  & Completions<Name, unknown>

/**
 * What completions require.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<C> = { [K in keyof C]: C[K] extends Completion<infer R> ? R : never }[keyof C]

/**
 * Proposes those of the values that begin with what was typed, whatever its case.
 *
 * @category constructors
 * @since 0.1.0
 */
export const among = (values: ReadonlyArray<string>): Completion<never> => (value) => {
  const typed = value.toLowerCase()
  return Effect.succeed(values.filter((candidate) => candidate.toLowerCase().startsWith(typed)))
}

/**
 * Completions as a table.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toMap = <R>(completions: Completions<string, R> | undefined): ReadonlyMap<string, Completion<R>> => {
  const known = new Map<string, Completion<R>>()
  for (const [name, completion] of Object.entries(completions ?? {})) {
    if (completion !== undefined) known.set(name, completion)
  }
  return known
}

const max = 100

/**
 * The result of `completion/complete`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toBody = (values: ReadonlyArray<string>): Body => ({
  members: [[
    "completion",
    T.object([
      ["values", T.array(values.slice(0, max).map(T.quote))],
      ["total", T.integer(values.length)],
      ["hasMore", T.literal(values.length > max ? "true" : "false")]
    ])
  ]]
})
