/**
 * What a bridge is told and what it says: messages of its two sides, with a key in place of an id.
 *
 * @since 0.1.0
 */
import type { Reply, Text } from "../../wire/Message.ts"

/**
 * The name of a request in flight. Who makes the request gives it its key; keys of a bridge begin with `bridge-`.
 *
 * @category models
 * @since 0.1.0
 */
export type Key = string

/**
 * A message. `wish` is the id that a request came with or is to have, where the far side is free to give it that one;
 * a subscription is known by it.
 *
 * @category models
 * @since 0.1.0
 */
export type Said =
  | {
    readonly _tag: "Request"
    readonly key: Key
    readonly wish?: Text | undefined
    readonly method: string
    readonly params: Text | undefined
  }
  | { readonly _tag: "Notification"; readonly method: string; readonly params: Text | undefined }
  | { readonly _tag: "Cancel"; readonly key: Key; readonly params: Text | undefined }
  | { readonly _tag: "Reply"; readonly key: Key; readonly reply: Reply }

/**
 * A message with the side that it goes to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Out {
  readonly to: "host" | "server"
  readonly said: Said
}

/**
 * A bridge: what either side says at a time, in milliseconds, becomes what is said to both. It does nothing else and knows
 * no other clock.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bridge {
  readonly fromHost: (said: Said, now: number) => ReadonlyArray<Out>
  readonly fromServer: (said: Said, now: number) => ReadonlyArray<Out>
  /** What is due because time has passed. */
  readonly tick: (now: number) => ReadonlyArray<Out>
  /** When {@link Bridge.tick} is wanted next, in milliseconds; `undefined` while nothing waits. */
  readonly due: () => number | undefined
  /** What was lowered or left out so far: the name of the row and how often. */
  readonly lowered: () => ReadonlyMap<string, number>
}

/**
 * So many resources can be subscribed to at a time: each change of them may say them all again.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxSubscribed = 1024

/**
 * How a bridge is set.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's configured name, for one that does not say who it is. */
  readonly server: string
  /** Names that nobody can guess. */
  readonly fresh: () => string
  /** Whether what cannot be translated exactly is left out instead of lowered. */
  readonly strict: boolean
}

/**
 * Where a bridge puts what it says until the turn ends; {@link Outbox.taken} runs a turn and gives all of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outbox {
  readonly host: (said: Said) => void
  readonly server: (said: Said) => void
  readonly taken: (run: () => void) => ReadonlyArray<Out>
}

/**
 * An empty outbox.
 *
 * @category constructors
 * @since 0.1.0
 */
export const outbox = (): Outbox => {
  let out: Array<Out> = []
  return {
    host: (said) => void out.push({ to: "host", said }),
    server: (said) => void out.push({ to: "server", said }),
    taken: (run) => {
      out = []
      run()
      const said = out
      out = []
      return said
    }
  }
}
