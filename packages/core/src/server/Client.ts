/**
 * The client behind the request that a handler serves: what it declared, and what it can be told and asked.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Capability from "../protocol/Capability.ts"
import type { Revision } from "../protocol/Revision.ts"
import type { Answer, Ask } from "./Ask.ts"
import type { Json } from "./Json.ts"

/**
 * How grave a log message is, the least grave first (RFC 5424).
 *
 * @category models
 * @since 0.1.0
 */
export type Level = "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"

/**
 * An ask that has no answer.
 *
 * - `not-supported`: the client did not declare what it takes; a handler that does not catch this ends with -32021 in
 *   2026-07-28.
 * - `refused`: the client answered with an error.
 * - `bad-answer`: the client's answer is none (legacy revisions; else it is asked again).
 * - `too-large`: the answers so far are longer than what the client can be given to keep.
 *
 * @category errors
 * @since 0.1.0
 */
export class AskError extends Schema.TaggedError<AskError>("@sallyport/core/server/AskError")("AskError", {
  reason: Schema.Literals(["not-supported", "refused", "bad-answer", "too-large"]),
  /** The key of the ask. */
  key: Schema.String,
  message: Schema.String,
  /** The capabilities that it takes. */
  requires: Schema.Unknown
}) {}

/**
 * A record of asks.
 *
 * @category models
 * @since 0.1.0
 */
export type Asks = { readonly [key: string]: Ask<unknown> }

/**
 * The answers to a record of asks.
 *
 * @category models
 * @since 0.1.0
 */
export type Answers<A extends Asks> = { readonly [K in keyof A]: Answer<A[K]> }

/**
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /** The client's name as the operator configured it; never what it says of itself. */
  readonly who: string
  readonly revision: Revision
  /** What the client declared, by path. */
  readonly capabilities: ReadonlySet<Capability.Path>
  /** What the client declared, as it came. */
  readonly declared: Json
  /** What the client says of itself: for display and logs only. */
  readonly info: Json | undefined
  /** The request's `_meta`. */
  readonly meta: Json | undefined
  readonly progress: (progress: number, total?: number, message?: string) => Effect.Effect<void>
  readonly log: (level: Level, data: unknown, logger?: string) => Effect.Effect<void>
  readonly ask: <const A extends Asks>(asks: A) => Effect.Effect<Answers<A>, AskError>
  readonly once: <S extends Schema.ConstraintCodec<unknown, unknown>, E, R>(
    key: string,
    schema: S,
    effect: Effect.Effect<S["Type"], E, R>
  ) => Effect.Effect<S["Type"], E, R>
}

/**
 * The service: every handler has it, and no layer need provide it.
 *
 * @category services
 * @since 0.1.0
 */
export class Client extends Context.Service<Client, Service>()("@sallyport/core/server/Client") {}

/**
 * Tells how far the work is. Nothing is sent unless the client asked for progress, or where the number does not grow.
 *
 * @category telling
 * @since 0.1.0
 */
export const progress = (progress: number, total?: number, message?: string): Effect.Effect<void, never, Client> =>
  Client.use((client) => client.progress(progress, total, message))

/**
 * Sends a log message, where the client wants messages of this level.
 *
 * **Gotchas**
 *
 * It goes to the client, and may reach a model. What is for the operator goes to Effect's own logger, which prints on
 * stderr.
 *
 * @category telling
 * @since 0.1.0
 */
export const log = (level: Level, data: unknown, logger?: string): Effect.Effect<void, never, Client> =>
  Client.use((client) => client.log(level, data, logger))

/**
 * Asks the client, all keys at once, and gives their answers under the same keys.
 *
 * **Details**
 *
 * In the legacy revisions each key is a request of its own, and the handler waits. In 2026-07-28 the handler ends here:
 * the client gets the questions as the result of its request, sends the request again with the answers, and the handler
 * runs again from its start. Answers of earlier rounds travel with the client, sealed, so this gives them at once the
 * second time.
 *
 * **Gotchas**
 *
 * What stands before an ask may therefore run more than once. Ask first and act then, or put what must not run twice
 * into {@link once}. An author who keeps to this writes one handler for all revisions.
 *
 * @category asking
 * @since 0.1.0
 */
export const ask = <const A extends Asks>(asks: A): Effect.Effect<Answers<A>, AskError, Client> =>
  Client.use((client) => client.ask(asks))

/**
 * Runs an effect once in a chain of round trips, and keeps its value, sealed, with the client.
 *
 * **Gotchas**
 *
 * The value is kept by the next {@link ask} only. If the client never comes back, what the effect did stays done.
 *
 * @category asking
 * @since 0.1.0
 */
export const once = <S extends Schema.ConstraintCodec<unknown, unknown>, E, R>(
  key: string,
  schema: S,
  effect: Effect.Effect<S["Type"], E, R>
): Effect.Effect<S["Type"], E, R | Client> => Client.use((client) => client.once(key, schema, effect))

/**
 * Whether the client can be asked this.
 *
 * @category asking
 * @since 0.1.0
 */
export const supports = (ask: Ask<unknown>): Effect.Effect<boolean, never, Client> =>
  Client.useSync(({ capabilities, revision }) => ask.supported(capabilities, revision))

/**
 * What the client declared, as it came.
 *
 * @category getters
 * @since 0.1.0
 */
export const capabilities: Effect.Effect<ReadonlySet<Capability.Path>, never, Client> = Client.useSync(
  ({ capabilities }) => capabilities
)

/**
 * The revision in use.
 *
 * @category getters
 * @since 0.1.0
 */
export const revision: Effect.Effect<Revision, never, Client> = Client.useSync(({ revision }) => revision)
