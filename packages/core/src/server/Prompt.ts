/**
 * Prompts: messages that a person chooses to send.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Revision } from "../protocol/Revision.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import { AskError } from "./Client.ts"
import * as Completion from "./Completion.ts"
import * as Content from "./Content.ts"
import type { Icon, JsonObject } from "./Definition.ts"
import * as Definition from "./Definition.ts"
import type { Body, Failure } from "./internal/body.ts"
import * as body from "./internal/body.ts"
import { decoder } from "./internal/codec.ts"
import * as eager from "./internal/eager.ts"
import { invalidParams, NotFound, Refusal, wordsOf } from "./Refusal.ts"

/**
 * A message of a prompt.
 *
 * @category models
 * @since 0.1.0
 */
export interface Message {
  readonly role: "user" | "assistant"
  readonly content: Content.Content
}

/**
 * A message of the user's: a text, or a block.
 *
 * @category constructors
 * @since 0.1.0
 */
export const user = (content: string | Content.Content): Message => ({ role: "user", content: blockOf(content) })

/**
 * A message of the assistant's: a text, or a block.
 *
 * @category constructors
 * @since 0.1.0
 */
export const assistant = (content: string | Content.Content): Message => ({
  role: "assistant",
  content: blockOf(content)
})

const blockOf = (content: string | Content.Content): Content.Content =>
  typeof content === "string" ? Content.text(content) : content

/**
 * What a handler gives: one text of the user's, messages, or messages with a description of their own.
 *
 * @category models
 * @since 0.1.0
 */
export type Returns = string | Message | ReadonlyArray<Message> | {
  readonly description: string
  readonly messages: ReadonlyArray<Message>
}

/**
 * Fields whose values a client can send: strings, and what is decoded from a string.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = {
  readonly [name: string]: Schema.ConstraintCodec<unknown, string | undefined, unknown, unknown>
}

/**
 * What a prompt is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<F extends Fields, C> {
  readonly description: string
  readonly title?: string | undefined
  /** A field's `description` annotation is listed; one that may be missing is not required. */
  readonly arguments?: F | undefined
  readonly completions?: Completion.Of<keyof F & string, C> | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
}

/**
 * A prompt, whose handler requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt<out R> {
  readonly _tag: "Prompt"
  readonly name: string
  readonly definition: Definition.Definition
  readonly get: (args: Text, revision: Revision) => Effect.Effect<Body, Failure, R>
  readonly completions: ReadonlyMap<string, Completion.Completion<R>>
}

/** The services of the fields of a prompt. */
type Services<F extends Fields> = { [K in keyof F]: F[K]["DecodingServices"] }[keyof F]

type FieldsOf<R> = { readonly [name: string]: Schema.ConstraintCodec<unknown, string | undefined, R, unknown> }

/**
 * A prompt.
 *
 * **Example**
 *
 * ```ts
 * const review = Prompt.make("review", {
 *   description: "Reviews a file",
 *   arguments: { path: Schema.String },
 *   completions: { path: Completion.among(["README.md", "LICENSE"]) }
 * }, ({ path }) => Effect.succeed(`Please review ${path}`))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  R = never,
  E = never,
  const F extends Fields = {},
  const C extends Completion.Completions<string, unknown> = {}
>(
  name: string,
  options: Options<F, C>,
  handler: (args: Schema.Struct<F>["Type"]) => Effect.Effect<Returns, E, R>
): Prompt<R | Completion.Services<C> | Services<F>>
export function make<R, E>(
  name: string,
  options: Omit<Options<FieldsOf<R>, {}>, "completions"> & {
    readonly completions?: Completion.Completions<string, R> | undefined
  },
  handler: (args: Schema.Struct<FieldsOf<R>>["Type"]) => Effect.Effect<Returns, E, R>
): Prompt<R> {
  const fields: FieldsOf<R> = options.arguments ?? {}
  const read = decoder(Schema.Struct(fields))
  const listed = Object.entries(fields).map(([name, { ast }]) => ({
    name,
    title: SchemaAST.resolveTitle(ast),
    description: SchemaAST.resolveDescription(ast),
    required: !SchemaAST.isOptional(SchemaAST.toEncoded(ast))
  }))
  return {
    _tag: "Prompt",
    name,
    definition: Definition.make([
      ["name", name],
      ["title", options.title, "titles"],
      ["description", options.description],
      ["arguments", listed.length === 0 ? undefined : listed],
      ["icons", options.icons, "icons"],
      ["_meta", options.meta, "item-metadata"]
    ]),
    completions: Completion.toMap(options.completions),
    get: (args, revision) =>
      eager.follow(
        read(args),
        (given) =>
          eager.follow(body.invoke(handler, given), (value) => Effect.succeed(answer(value, revision)), failed),
        (words) => Effect.fail(invalidParams(`These arguments do not fit: ${words}`))
      )
  }
}

const answer = (value: Returns, revision: Revision): Body => {
  const { description, messages } = typeof value === "string"
    ? { description: undefined, messages: [user(value)] }
    : "messages" in value
    ? value
    : { description: undefined, messages: "role" in value ? [value] : value }
  const texts = messages.map(({ content, role }) =>
    T.object([["role", T.quote(role)], ["content", T.fromValue(Content.forRevision(content, revision))]])
  )
  return {
    members: [
      ...(description === undefined ? [] : [["description", T.quote(description)] as const]),
      ["messages", T.array(texts)]
    ]
  }
}

/**
 * What becomes of a failure where no result can say that something went wrong.
 *
 * @category conversions
 * @since 0.1.0
 */
export const failed = (failure: unknown): Effect.Effect<never, Failure> =>
  Effect.fail(
    failure instanceof Refusal || failure instanceof AskError || failure instanceof NotFound
      ? failure
      : new Refusal({ code: -32603, message: wordsOf(failure) })
  )
