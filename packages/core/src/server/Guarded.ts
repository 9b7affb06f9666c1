/**
 * A server of one's own behind the same guard that stands before a stranger's.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { FirstSight } from "../line/Accepted.ts"
import * as Faults from "../line/Faults.ts"
import * as Guard from "../line/Guard.ts"
import * as Lifecycle from "../line/Lifecycle.ts"
import { Notices } from "../line/Notices.ts"
import * as Shared from "../line/Shared.ts"
import * as Pins from "../pin/Pins.ts"
import * as Agreement from "../protocol/Agreement.ts"
import { Dispatch } from "../stage/Dispatch.ts"
import type { Gate } from "../stage/Gate.ts"
import type { Ledger } from "../stage/Ledger.ts"
import type { PinStore } from "../stage/PinStore.ts"
import type { Leg } from "../stage/Port.ts"
import type { Who } from "../stage/Transport.ts"

/**
 * How a server is guarded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The name under which pins and ledger know the server. */
  readonly server: string
  /** What a first sight does; one's own tools are trusted unless something else is wanted. */
  readonly firstSight?: FirstSight | undefined
}

/**
 * Puts gate, pins and ledger before a server.
 *
 * **Details**
 *
 * Every call is decided and recorded as a relay would, for each client by its own name. Nothing else changes: it is the
 * same Dispatch with other layers around it. Notices name no command, since there may be none.
 *
 * **Gotchas**
 *
 * Headers that repeat arguments (`x-mcp-header`) are not checked, since that would tell of tools that are not shown.
 * Requests of 2026-07-28 share a line with all others of their client that declare the same capabilities: tasks and
 * questions inside results are known there, whichever connection a request comes on.
 *
 * **Example**
 *
 * ```ts
 * const guarded = Guarded.layer({ server: "notes" })(Server.layerDispatch({ name: "notes", version: "1.0.0" }, ...tools))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer =
  (options: Options) =>
  <E, R>(server: Layer.Layer<Dispatch, E, R>): Layer.Layer<Dispatch, E, R | Gate | Ledger | Notices | PinStore> =>
    Layer.effect(
      Dispatch,
      Effect.gen(function*() {
        const inner = yield* Dispatch
        const context = yield* Effect.context<Gate | Ledger | Notices | PinStore>()
        const notices = yield* Notices
        const scope = yield* Effect.scope
        const guarded = (who: Who): Leg =>
          Effect.fnUntraced(function*(back) {
            const agreement = Agreement.make()
            const dropped = Faults.dropped(options.server, notices.tell)
            const line = Guard.around({
              server: options.server,
              client: who.client,
              firstSight: options.firstSight ?? "trust",
              launch: Effect.succeed(launch),
              session: { type: "session", client: who.client, server: options.server, command: [], loosened: [] },
              agreement,
              dropped
            })(Lifecycle.server(agreement, dropped.faults)(inner.open(who)))
            return yield* Effect.provideContext(line(back), Context.add(context, Scope.Scope, yield* Effect.scope))
          })
        /** The line of each client, for requests that open no session. */
        const shared = new Map<string, Leg>()
        return {
          open: (who) => (back) =>
            Effect.gen(function*() {
              const leg = shared.get(who.client) ??
                (yield* Effect.provideService(Shared.make(guarded(who)), Scope.Scope, scope))
              shared.set(who.client, leg)
              return yield* leg(back)
            })
        }
      })
    ).pipe(Layer.provide(server))

/** Nothing is started for a server in this process. */
const launch: Pins.LaunchPin = Pins.launch({ command: "", args: [], env: [], sandbox: "none" }, {}, "")
