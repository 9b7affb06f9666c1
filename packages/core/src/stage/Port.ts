/**
 * The two-way line between a host and a server, and the parts that stand in it.
 *
 * **Details**
 *
 * A {@link Port} is one end of a two-way line. A {@link Leg}, given the port back, opens the port on. Session, guard,
 * upstream and broker are all legs, or functions from leg to leg: that one type is what makes them compose.
 *
 * A request in flight is an object with a continuation, a {@link Call}, not an id: each part that must see the answer
 * wraps `reply`. Ids never leave the connection that they were read from.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Reply, Text } from "../wire/Message.ts"

/**
 * A request in flight. Its identity is the object itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  /** The id that it came with, kept by the next connection where it is free there. */
  readonly wish: Text | undefined
  readonly method: string
  readonly params: Text | undefined
  /** Answers it. Synchronous, never throws; the first answer wins, later ones are dropped. */
  readonly reply: (reply: Reply) => void
}

/**
 * How the far side of a line ended.
 *
 * - `closed`: it ended its output in order, or the session was closed by us.
 * - `exited`: its process ended with a code; `signaled`: by a signal.
 * - `failed`: it never came to be (not found, launch changed, no permission).
 *
 * @category models
 * @since 0.1.0
 */
export type Ending =
  | { readonly _tag: "closed" }
  | { readonly _tag: "exited"; readonly code: number }
  | { readonly _tag: "signaled"; readonly signal: string }
  | { readonly _tag: "failed"; readonly message: string }

/**
 * One end of a two-way line. `request`, `cancel` and `notify` only queue: synchronous, they never throw and never wait.
 *
 * @category models
 * @since 0.1.0
 */
export interface Port {
  readonly request: (call: Call) => void
  /** Withdraws a call that was given to `request`, or one that this end itself made and the other end cannot serve on. */
  readonly cancel: (call: Call, params: Text | undefined) => void
  readonly notify: (method: string, params: Text | undefined) => void
  /** Sends all that is queued; done when there is room for more (backpressure). */
  readonly flush: Effect.Effect<void>
  /** Half-close: nothing more will be sent this way. Done when that was passed on. */
  readonly end: Effect.Effect<void>
  /** The far side is gone; every call in flight has been answered before. */
  readonly ended: Effect.Effect<Ending>
}

/**
 * Opens the port on, given the port back.
 *
 * @category models
 * @since 0.1.0
 */
export type Leg<E = never, R = never> = (back: Port) => Effect.Effect<Port, E, R | Scope.Scope>
