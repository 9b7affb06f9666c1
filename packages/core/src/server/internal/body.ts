/**
 * What a handler of any kind comes to, before it becomes an answer.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Revision } from "../../protocol/Revision.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import type { AskError } from "../Client.ts"
import * as Content from "../Content.ts"
import type { JsonObject } from "../Definition.ts"
import type { NotFound, Refusal } from "../Refusal.ts"

/**
 * The members of a result, without those that every result of a revision has.
 *
 * @category models
 * @since 0.1.0
 */
export interface Body {
  readonly members: ReadonlyArray<readonly [name: string, value: Text]>
  readonly meta?: JsonObject | undefined
}

/**
 * What becomes a JSON-RPC error.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = Refusal | AskError | NotFound

/**
 * What a model reads where something went wrong that is not its fault. The cause is for the log alone: it may hold
 * secrets and paths.
 *
 * @category constants
 * @since 0.1.0
 */
export const defect = "It failed for a reason that is not the caller's; the server's log says more."

/**
 * A result of blocks.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofContent = (
  content: ReadonlyArray<Content.Content>,
  revision: Revision,
  more: ReadonlyArray<readonly [name: string, value: Text]> = [],
  meta?: JsonObject
): Body => ({
  members: [["content", T.array(content.map((block) => T.fromValue(Content.forRevision(block, revision))))], ...more],
  meta
})

/**
 * A result of one text: what most tools give.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofText = (text: string): Body => ({ members: [["content", textBlock(T.quote(text))]] })

const textBlock = T.form((text) => T.array([T.object([["type", T.quote("text")], ["text", text]])]))

const isError = ["isError", T.literal("true")] as const

/**
 * A result that says in words what went wrong, so that a model can act on it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const error = (words: string): Body => ({ members: [["content", textBlock(T.quote(words))], isError] })

/**
 * Calls a handler of an author's, who may throw where an Effect is due.
 *
 * @category running
 * @since 0.1.0
 */
export const invoke = <A, B, E, R>(handler: (input: A) => Effect.Effect<B, E, R>, input: A): Effect.Effect<B, E, R> => {
  try {
    return handler(input)
  } catch (defect) {
    return Effect.die(defect)
  }
}

/**
 * Makes an effect that may throw while it is made.
 *
 * @category running
 * @since 0.1.0
 */
export const attempt = <A, E, R>(make: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  invoke<void, A, E, R>(make, undefined)
