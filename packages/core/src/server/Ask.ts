/**
 * What a handler may ask of the client: a form, a visit to an address, a model's answer, its roots.
 *
 * **Details**
 *
 * An ask is a value. `Client.ask` puts a record of them to the client and gives a record of typed answers: as real
 * requests in the legacy revisions, as input requests of the result in 2026-07-28. Which of the two is none of the
 * author's business, but for one rule: see `Client.ask`.
 *
 * @since 0.1.0
 */
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type * as Capability from "../protocol/Capability.ts"
import * as Feature from "../protocol/Feature.ts"
import type { Revision } from "../protocol/Revision.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Content } from "./Content.ts"
import type { JsonObject } from "./Definition.ts"
import * as publish from "./internal/publish.ts"

/**
 * Something to ask, and how its answer is read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ask<out A> {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  /** Whether a client with these capabilities can be asked in this revision. */
  readonly supported: (capabilities: ReadonlySet<Capability.Path>, revision: Revision) => boolean
  /** The capabilities that it takes, as a client would declare them. */
  readonly requires: JsonObject
  readonly params: (revision: Revision, id: string) => Text | undefined
  /** The answer, or `undefined` where it is not one. */
  readonly read: (result: Text) => A | undefined
  /** An answer counts only where this server asked: to have been asked is part of its meaning. */
  readonly onlyAsked: boolean
}

/**
 * What an ask is answered with.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer<A> = A extends Ask<infer B> ? B : never

/**
 * How a person answered a form: filled in, declined, or put away.
 *
 * @category models
 * @since 0.1.0
 */
export type Filled<A> =
  | { readonly action: "accept"; readonly content: A }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

const Elicited = Schema.Struct({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Schema.Unknown)
})

const decoded = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownExit(schema)
  return (value: unknown): { readonly value: S["Type"] } | undefined => {
    const exit = decode(value)
    return Exit.isSuccess(exit) ? exit : undefined
  }
}

const elicited = decoded(Elicited)

/** A choice with a title: what a literal with a `title` becomes in JSON Schema. */
const isChoice = (value: unknown): value is { readonly enum: readonly [string]; readonly title?: string } =>
  typeof value === "object" && value !== null && "enum" in value && Array.isArray(value.enum) &&
  value.enum.length === 1 && typeof value.enum[0] === "string"

/** A field as a revision has it: choices with titles came late, and were names beside values before. */
const field = (schema: unknown, revision: Revision, many = false): unknown => {
  if (typeof schema !== "object" || schema === null) return schema
  if ("items" in schema) return { ...schema, items: field(schema.items, revision, true) }
  if (!("anyOf" in schema) || !Array.isArray(schema.anyOf) || !schema.anyOf.every(isChoice)) return schema
  const { anyOf, ...rest } = schema
  const choices: ReadonlyArray<unknown> = anyOf
  const titled = choices.filter(isChoice).map(({ enum: [value], title = value }) => ({ const: value, title }))
  if (many) return { ...rest, anyOf: titled }
  return Feature.isDefined("choice-titles", revision) ? { ...rest, type: "string", oneOf: titled } : {
    ...rest,
    type: "string",
    enum: titled.map(({ const: value }) => value),
    enumNames: titled.map(({ title }) => title)
  }
}

/** The form that is derived from a schema. */
const formOf = (schema: Schema.Constraint) => {
  const { properties, required, type } = publish.arguments_(schema)
  return (revision: Revision): JsonObject => ({
    type,
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, schema]) => [name, field(schema, revision)])
    ),
    required
  })
}

/**
 * A form that a person fills in: strings, numbers, booleans and choices, one level deep.
 *
 * **Details**
 *
 * The fields are derived from the schema: `default`, `title` and `description` annotations reach the person, and a union
 * of literals with titles is a choice with titles. Where the derived form is not what is wanted, `requestedSchema` is
 * sent in its place, and the answer is still read by the schema.
 *
 * **Gotchas**
 *
 * Never ask for a secret in a form (client/elicitation): send the person to a page with {@link url}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const form = <S extends Schema.ConstraintDecoder<unknown>>(options: {
  readonly message: string
  readonly schema: S
  readonly requestedSchema?: JsonObject | undefined
}): Ask<Filled<S["Type"]>> => {
  const read = decoded(Schema.toCodecJson(options.schema))
  const fields = formOf(options.schema)
  return {
    method: "elicitation/create",
    supported: (has, revision) =>
      Feature.isDefined("elicitation", revision) && has.has("client.elicitation") &&
      (has.has("client.elicitation.form") || !has.has("client.elicitation.url")),
    requires: { elicitation: { form: {} } },
    onlyAsked: false,
    params: (revision) =>
      T.fromValue({ message: options.message, requestedSchema: options.requestedSchema ?? fields(revision) }),
    read: (result) => {
      const answer = elicited(T.toValue(result))?.value
      if (answer === undefined) return undefined
      if (answer.action !== "accept") return { action: answer.action }
      const content = read(answer.content)
      return content === undefined ? undefined : { action: "accept", content: content.value }
    }
  }
}

/**
 * A visit to an address, which the client opens only when the person agrees (2025-11-25 and later).
 *
 * **Gotchas**
 *
 * `accept` says that the person went there, not that anything was done there.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (options: {
  readonly message: string
  readonly url: string
  /** A name for the visit that nobody can guess, by which `Registry.visited` tells that it is done. Default: a new one. */
  readonly id?: string | undefined
}): Ask<{ readonly action: "accept" | "decline" | "cancel" }> => ({
  method: "elicitation/create",
  supported: (has, revision) => Feature.isDefined("elicitation-url", revision) && has.has("client.elicitation.url"),
  requires: { elicitation: { url: {} } },
  onlyAsked: true,
  params: (revision, id) =>
    T.fromValue({
      mode: "url",
      message: options.message,
      url: options.url,
      ...(Feature.isDefined("elicitation-ids", revision) ? { elicitationId: options.id ?? id } : {})
    }),
  read: (result) => {
    const answer = elicited(T.toValue(result))?.value
    return answer === undefined ? undefined : { action: answer.action }
  }
})

/**
 * A message for a model.
 *
 * @category models
 * @since 0.1.0
 */
export interface SamplingMessage {
  readonly role: "user" | "assistant"
  readonly content: Content | JsonObject | ReadonlyArray<Content | JsonObject>
}

/**
 * What a model is asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sampling {
  /** A string is one message of the user's. */
  readonly messages: string | ReadonlyArray<SamplingMessage>
  readonly maxTokens: number
  readonly systemPrompt?: string | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly modelPreferences?: JsonObject | undefined
  readonly includeContext?: "none" | "thisServer" | "allServers" | undefined
  readonly metadata?: JsonObject | undefined
  readonly tools?: ReadonlyArray<JsonObject> | undefined
  readonly toolChoice?: JsonObject | undefined
}

/**
 * What a model answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sampled {
  readonly role: "user" | "assistant"
  readonly model: string
  readonly stopReason: string | undefined
  readonly content: ReadonlyArray<JsonObject>
  /** All of its text. */
  readonly text: string
}

const AnyBlock = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown)
])

const sampled = decoded(Schema.Struct({
  role: Schema.Literals(["user", "assistant"]),
  model: Schema.String,
  stopReason: Schema.optionalKey(Schema.String),
  content: Schema.Union([AnyBlock, Schema.Array(AnyBlock)])
}))

/**
 * An answer of the client's model.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sampling = (options: Sampling): Ask<Sampled> => ({
  method: "sampling/createMessage",
  supported: (has) =>
    has.has("client.sampling") &&
    (options.tools === undefined && options.toolChoice === undefined || has.has("client.sampling.tools")),
  requires: { sampling: options.tools === undefined && options.toolChoice === undefined ? {} : { tools: {} } },
  onlyAsked: false,
  params: () =>
    T.fromValue({
      ...options,
      messages: typeof options.messages === "string"
        ? [{ role: "user", content: { type: "text", text: options.messages } }]
        : options.messages
    }),
  read: (result) => {
    const answer = sampled(T.toValue(result))?.value
    if (answer === undefined) return undefined
    const content: ReadonlyArray<JsonObject> = "type" in answer.content ? [answer.content] : answer.content
    return {
      role: answer.role,
      model: answer.model,
      stopReason: answer.stopReason,
      content,
      text: content.flatMap(({ text, type }) => type === "text" && typeof text === "string" ? [text] : []).join("")
    }
  }
})

/**
 * A folder that the client lets servers work in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Root {
  readonly uri: string
  readonly name?: string
}

const rooted = decoded(Schema.Struct({
  roots: Schema.Array(Schema.Struct({ uri: Schema.String, name: Schema.optionalKey(Schema.String) }))
}))

/**
 * The client's roots.
 *
 * @category constructors
 * @since 0.1.0
 */
export const roots: Ask<ReadonlyArray<Root>> = {
  method: "roots/list",
  supported: (has) => has.has("client.roots"),
  requires: { roots: {} },
  onlyAsked: false,
  params: () => undefined,
  read: (result) => rooted(T.toValue(result))?.value.roots
}
