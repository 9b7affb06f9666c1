/**
 * What a server offers while it runs: parts come and go, resources change, and clients are told.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Text } from "../wire/Message.ts"
import type { Client } from "./Client.ts"
import type { Part } from "./Part.ts"

/**
 * What {@link Registry} does.
 *
 * @category models
 * @since 0.1.0
 */
export interface Service {
  /**
   * Adds parts, or puts them in the place of those with the same name. Their handlers get the services of the effect
   * that adds them.
   */
  readonly add: <R = never>(
    ...parts: ReadonlyArray<Part<R | Client | Registry, R>>
  ) => Effect.Effect<void, never, R>
  /** Removes parts; those that are not there are passed over. */
  readonly remove: (...parts: ReadonlyArray<Named>) => Effect.Effect<void>
  /** Tells those who subscribed to it that a resource has changed. */
  readonly updated: (uri: string) => Effect.Effect<void>
  /**
   * Tells the client that was sent to an address, under this id, that the visit is done (2025-11-25); see the `id` of
   * `Ask.url`. A client that was not sent there is told nothing, and none is told twice.
   */
  readonly visited: (id: string) => Effect.Effect<void>
  /**
   * Runs a handler whenever a client says that its roots have changed, until the scope ends; `Client` is that client. Of
   * what a client says while a handler runs for it only one more run is made. 2026-07-28 does not have this.
   */
  readonly onRootsChanged: (
    handler: Effect.Effect<void, never, Client | Registry>
  ) => Effect.Effect<void, never, Scope.Scope>
  /** What is listed of a tool's arguments; `undefined` where there is no such tool. */
  readonly inputSchema: (tool: string) => Text | undefined
}

/**
 * The name of a part.
 *
 * @category models
 * @since 0.1.0
 */
export type Named =
  | { readonly _tag: "Tool" | "Prompt" | "Method"; readonly name: string }
  | { readonly _tag: "Resource"; readonly uri: string }
  | { readonly _tag: "ResourceTemplate"; readonly uriTemplate: string }

/**
 * The service: every handler has it, and the server's layer gives it to other layers.
 *
 * **Gotchas**
 *
 * A legacy client is told of a kind of part only if the server had one of that kind, or `expects` it, when the session
 * was opened: capabilities are agreed on once.
 *
 * @category services
 * @since 0.1.0
 */
export class Registry extends Context.Service<Registry, Service>()("@sallyport/core/server/Registry") {}
