/**
 * Failures that a handler may have on purpose, and what the client gets of them.
 *
 * @since 0.1.0
 */
import * as Formatter from "effect/Formatter"
import * as Schema from "effect/Schema"

/**
 * A JSON-RPC error that the client gets as it is: for a caller that made a mistake in the protocol.
 *
 * **Gotchas**
 *
 * A model does not see it. What a model should act on is a failure of the tool's own, which becomes a result with
 * `isError`.
 *
 * @category errors
 * @since 0.1.0
 */
export class Refusal extends Schema.TaggedError<Refusal>("@sallyport/core/server/Refusal")("Refusal", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
}) {}

/**
 * The params cannot be served (-32602).
 *
 * @category constructors
 * @since 0.1.0
 */
export const invalidParams = (message: string, data?: unknown): Refusal =>
  new Refusal({ code: -32602, message, ...(data === undefined ? {} : { data }) })

/**
 * There is no resource of this address, although a template matches it: -32002 to older clients, -32602 from 2026-07-28
 * on.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Schema.TaggedError<NotFound>("@sallyport/core/server/NotFound")("NotFound", {
  uri: Schema.String
}) {
  override get message(): string {
    return `There is no resource ${this.uri}`
  }
}

/**
 * What a failure says, in words: its `message` where it has one, a string as it is, else its JSON.
 *
 * @category conversions
 * @since 0.1.0
 */
export const wordsOf = (failure: unknown): string => {
  if (typeof failure === "string") return failure
  const message = typeof failure === "object" && failure !== null && "message" in failure ? failure.message : undefined
  return typeof message === "string" && message !== "" ? message : Formatter.formatJson(failure)
}
