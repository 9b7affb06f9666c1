/**
 * What the clients of a server share.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Revision } from "../../protocol/Revision.ts"
import type { Text } from "../../wire/Message.ts"
import type { Client } from "../Client.ts"
import type { Registry } from "../Registry.ts"
import type { Hints } from "../Resource.ts"
import type { Timeout } from "../Tool.ts"
import type { Slots } from "./Slots.ts"
import type { Spans } from "./spans.ts"
import type { States } from "./State.ts"
import type { Kind, Table } from "./Table.ts"
import type { Tasks } from "./Tasks.ts"

/**
 * A server, once its layer is built.
 *
 * @category models
 * @since 0.1.0
 */
export interface Program {
  readonly name: string
  readonly revisions: ReadonlyArray<Revision>
  readonly serverInfo: (revision: Revision) => Text
  readonly instructions: string | undefined
  readonly extensions: Text | undefined
  readonly logging: boolean
  readonly pageSize: number
  readonly hints: Hints
  readonly timeout: Timeout | undefined
  readonly table: Table
  readonly slots: Slots
  readonly states: States
  readonly tasks: Tasks
  readonly spans: Spans
  /** A name that nobody can guess. */
  readonly fresh: () => string
  readonly context: Context.Context<Registry>
  readonly audience: Set<Audience>
  /** What runs when a client's roots have changed. */
  readonly onRoots: Set<Effect.Effect<void, never, Services>>
}

/**
 * A client, as far as it is told of what it did not ask for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Audience {
  readonly changed: (kind: Kind) => void
  readonly updated: (uri: string) => void
  /** A visit to an address is done; only the client that was sent there is told. */
  readonly visited: (id: string) => void
  /** A task has moved, and says this of itself (2026-07-28). */
  readonly task: (id: string, detailed: Text) => void
}

/**
 * What every handler has.
 *
 * @category models
 * @since 0.1.0
 */
export type Services = Client | Registry
