/**
 * JSON-RPC 2.0 messages as Sallyport carries them: checked, and never decoded further than someone must look.
 *
 * **Details**
 *
 * What travels inside a message (`id`, `params`, `result`, `error`) is kept as {@link Text}: compact JSON text that has
 * passed every rule of reading, so that numbers keep their digits and members their order.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Reason from "./Reason.ts"

/**
 * Checked JSON text: compact, one line, without lone surrogates or duplicate member names, numbers exactly as they came.
 * Only the modules of this folder make one.
 *
 * **Details**
 *
 * A member's name is spelled in one way, escaped only where it must be, so that it can be found by its characters. A
 * string is spelled as it came, except that U+0085, U+2028 and U+2029 are escaped.
 *
 * @category models
 * @since 0.1.0
 */
export const Text = Schema.String.pipe(Schema.brand("sallyport/wire/Text"))
/**
 * @category models
 * @since 0.1.0
 */
export type Text = typeof Text.Type

/**
 * A successful answer. `result` is a JSON object.
 *
 * @category models
 * @since 0.1.0
 */
export const Result = Schema.TaggedStruct("Result", { result: Text })
/**
 * @category models
 * @since 0.1.0
 */
export type Result = typeof Result.Type

/**
 * An error answer. `error` is a JSON object with an integer `code` and a string `message`.
 *
 * @category models
 * @since 0.1.0
 */
export const Failure = Schema.TaggedStruct("Failure", { error: Text })
/**
 * @category models
 * @since 0.1.0
 */
export type Failure = typeof Failure.Type

/**
 * The two ways in which a request is answered.
 *
 * @category models
 * @since 0.1.0
 */
export const Reply = Schema.Union([Result, Failure])
/**
 * @category models
 * @since 0.1.0
 */
export type Reply = typeof Reply.Type

/**
 * A request: `id` is the normal form of the id's text (a JSON string without needless escapes, or an integer token), so
 * two ids are the same exactly if their texts are.
 *
 * @category models
 * @since 0.1.0
 */
export const Request = Schema.TaggedStruct("Request", {
  id: Text,
  method: Schema.String,
  params: Schema.UndefinedOr(Text)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Request = typeof Request.Type

/**
 * A notification: a method, and nobody waits for an answer.
 *
 * @category models
 * @since 0.1.0
 */
export const Notification = Schema.TaggedStruct("Notification", {
  method: Schema.String,
  params: Schema.UndefinedOr(Text)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Notification = typeof Notification.Type

/**
 * An answer to a request, by the id's text.
 *
 * @category models
 * @since 0.1.0
 */
export const Response = Schema.TaggedStruct("Response", { id: Text, reply: Reply })
/**
 * @category models
 * @since 0.1.0
 */
export type Response = typeof Response.Type

/**
 * A line, or one element of a batch, that was not accepted.
 *
 * **Details**
 *
 * - `reason`: which rule it broke; its JSON-RPC code stands in the table of {@link Reason}.
 * - `kind`: what it would have been, as far as it could be told (`unknown` where not).
 * - `id`: the text of its id where exactly one top-level id could be read, also from a line that is no JSON to its end
 *   (JSON-RPC answers such a line without an id all the same; it is of use where an answer could not be read).
 * - `pointer`: JSON pointer (RFC 6901) of the place in the line, `""` for the whole line. It is cut after 32 steps, and
 *   a name in it after 64 characters. The names are the peer's own text.
 * - `offset`: byte offset of the place in the line, counted from 0.
 *
 * @category models
 * @since 0.1.0
 */
export const Refused = Schema.TaggedStruct("Refused", {
  reason: Reason.Reason,
  kind: Schema.Literals(["request", "notification", "response", "unknown"]),
  id: Schema.UndefinedOr(Text),
  pointer: Schema.String,
  offset: Schema.Int
})
/**
 * @category models
 * @since 0.1.0
 */
export type Refused = typeof Refused.Type

/**
 * One message of a line, accepted or not.
 *
 * @category models
 * @since 0.1.0
 */
export const Single = Schema.Union([Request, Notification, Response, Refused])
/**
 * @category models
 * @since 0.1.0
 */
export type Single = typeof Single.Type

/**
 * A JSON array of messages on one line, each checked as if it came alone. Never empty: `[]` is a {@link Refused}.
 * Whether the revision has batches at all is not known here.
 *
 * @category models
 * @since 0.1.0
 */
export const Batch = Schema.TaggedStruct("Batch", { items: Schema.NonEmptyArray(Single) })
/**
 * @category models
 * @since 0.1.0
 */
export type Batch = typeof Batch.Type

/**
 * What one line of input gives.
 *
 * @category models
 * @since 0.1.0
 */
export const Item = Schema.Union([Request, Notification, Response, Refused, Batch])
/**
 * @category models
 * @since 0.1.0
 */
export type Item = typeof Item.Type
