/**
 * Lines: the only way to a server, so that nobody can forget the guard.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Pins from "../pin/Pins.ts"
import * as Agreement from "../protocol/Agreement.ts"
import type { Gate } from "../stage/Gate.ts"
import type { Ledger } from "../stage/Ledger.ts"
import type { Parse } from "../stage/Parse.ts"
import type { PinStore } from "../stage/PinStore.ts"
import type { Leg } from "../stage/Port.ts"
import type { Launch } from "../stage/Spawn.ts"
import { isAddress, Spawn } from "../stage/Spawn.ts"
import type { Who } from "../stage/Transport.ts"
import type { FirstSight } from "./Accepted.ts"
import * as Bridge from "./Bridge.ts"
import * as Crossed from "./Crossed.ts"
import * as Faults from "./Faults.ts"
import * as Guard from "./Guard.ts"
import * as Lifecycle from "./Lifecycle.ts"
import { Notices } from "./Notices.ts"
import * as Upstream from "./Upstream.ts"

/**
 * How lines are guarded: what a first sight does, and what of the operator's settings loosens the defaults (named in the
 * first ledger entry of a session).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly firstSight: FirstSight
  readonly loosened: ReadonlyArray<string>
  /** What a command line needs to mean the same state folder, with a blank in front: ` --state DIR`. Default: nothing. */
  readonly option?: string | undefined
  /** Whether the operator gave the servers their names, which then stand before what they ask. Default: yes. */
  readonly named?: boolean | undefined
  /**
   * What is done where host and server are of two eras: `auto` (the default) translates, and lowers what has no form on the
   * other side; `strict` translates, and leaves such things out; `off` lets either opening fail as it would directly.
   */
  readonly bridge?: "auto" | "strict" | "off" | undefined
  /** The secret of the state folder: literal values of the environment are kept as digests under it. */
  readonly key: string
}

/**
 * Opens guarded lines to servers.
 *
 * @category services
 * @since 0.1.0
 */
export class Lines extends Context.Service<Lines, {
  /** A leg to a server: guarded, in the order of its era, and started when the leg is opened. */
  readonly open: (launch: Launch, who: Who) => Leg
}>()("@sallyport/core/line/Lines") {}

/**
 * The lines of a guard: Bridge, Guard, Lifecycle and Upstream, in that order, from the host's side.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<Lines, never, Gate | Ledger | Notices | Parse | PinStore | Spawn> =>
  Layer.effect(
    Lines,
    Effect.gen(function*() {
      const context = yield* Effect.context<Gate | Ledger | Notices | Parse | PinStore | Spawn>()
      const notices = yield* Notices
      const spawn = yield* Spawn
      return Lines.of({
        open: (launch, who) =>
          Effect.fnUntraced(function*(back) {
            const agreement = Agreement.make()
            const dropped = Faults.dropped(launch.name, notices.tell)
            const { bridge = "auto" } = options
            const crossed = Crossed.make(launch.name, bridge === "strict")
            yield* Effect.addFinalizer(() =>
              Effect.sync(() => {
                const sentence = crossed.sentence()
                if (sentence !== undefined) notices.tell(sentence)
              })
            )
            const guarded = Guard.around({
              server: launch.name,
              named: options.named,
              client: who.client,
              firstSight: options.firstSight,
              option: options.option ?? "",
              launch: yield* Effect.cached(
                Effect.map(spawn.inspect(launch), (inspection) => Pins.launch(launch, inspection, options.key))
              ),
              session: {
                type: "session",
                client: who.client,
                server: launch.name,
                command: isAddress(launch) ? [launch.url] : [launch.command, ...launch.args],
                loosened: options.loosened
              },
              agreement,
              dropped,
              crossed
            })
            const inside = guarded(
              Lifecycle.server(agreement, dropped.faults)(
                Upstream.leg(launch, agreement, dropped)
              )
            )
            const line = bridge === "off"
              ? inside
              : Bridge.between({ server: launch.name, strict: bridge === "strict", translating: crossed.translating })(
                inside
              )
            // The line lives as long as its session, not as long as this layer, whose scope is in the context too.
            return yield* Effect.provideContext(line(back), Context.add(context, Scope.Scope, yield* Effect.scope))
          })
      })
    })
  )
