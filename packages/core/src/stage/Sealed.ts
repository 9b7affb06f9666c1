/**
 * A `requestState`: what a client keeps between the round trips of one request (2026-07-28 basic/patterns/mrtr), sealed.
 *
 * **Details**
 *
 * Bound to the program, the principal, the method, the name, the digest of the arguments, the chain of round trips, the
 * round and the expiry. Each can be used once (security rule F17). Which of them were used is kept in memory, as is the
 * seal's key: after a restart all of them are worthless.
 *
 * @since 0.1.0
 */
import { canonical } from "../wire/Canonical.ts"
import { framed } from "../wire/Digest.ts"
import * as Message from "../wire/Message.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Seal } from "./Seal.ts"

/**
 * How long a state may be, in characters.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxLength = 16 * 1024

/**
 * How long a state lives, in milliseconds: 15 minutes.
 *
 * @category constants
 * @since 0.1.0
 */
export const lifetime = 15 * 60 * 1000

/**
 * How many used states are remembered; an older one than those counts as used.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxUsed = 65_536

/**
 * What a state is bound to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bound {
  readonly program: string
  readonly principal: string
  readonly method: string
  readonly name: string
  readonly params: Text | undefined
}

/**
 * What a state holds: the chain of round trips, which round of it, and what is to be known again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Round {
  readonly chain: string
  readonly round: number
  readonly inside: Text
}

/**
 * Closes and opens states.
 *
 * @category models
 * @since 0.1.0
 */
export interface States {
  /** The sealed state, or `undefined` where it would be too long. An empty `chain` gets a name here. */
  readonly close: (round: Round, bound: Bound, now: number) => Text | undefined
  /** The state, used up by this; or `undefined` where it is not one, is another request's, too old, or used. */
  readonly open: (state: Text, bound: Bound, now: number) => Round | undefined
}

const volatile = ["_meta", "inputResponses", "requestState"]

const digestOf = (params: Text | undefined): string =>
  params === undefined ? "" : framed([canonical(volatile.reduce(T.removeMember, params))])

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (seal: Seal["Service"], remembered = maxUsed): States => {
  let issued = 0
  /** States before this one count as used. */
  let floor = 0
  const used = new Map<number, number>()

  const associated = (bound: Bound, header: string): string =>
    framed([bound.program, bound.principal, bound.method, bound.name, digestOf(bound.params), header])

  const use = (serial: number, expiry: number, now: number): boolean => {
    if (serial < floor || used.has(serial)) return false
    used.set(serial, expiry)
    for (const [old, until] of used) {
      if (until > now && used.size <= remembered) break
      used.delete(old)
      // A state that has expired needs no remembering; one that has not is given up together with all before it.
      if (until > now) floor = Math.max(floor, old + 1)
    }
    return true
  }

  return {
    close: ({ chain, inside, round }, bound, now) => {
      const header = `${chain === "" ? seal.name() : chain}.${round}.${now + lifetime}.${issued++}`
      const state = `${header}.${seal.close(inside, associated(bound, header))}`
      return state.length > maxLength ? undefined : T.quote(state)
    },
    open: (text, bound, now) => {
      const state = T.string(text)
      if (state === undefined || state.length > maxLength) return undefined
      const parts = /^(([\w-]+)\.(\d+)\.(\d+)\.(\d+))\.([\w-]+)$/.exec(state)
      if (parts === null) return undefined
      const [, header = "", chain = "", round = "", expiry = "", serial = "", sealed = ""] = parts
      const opened = seal.open(sealed, associated(bound, header))
      if (opened === undefined || Number(expiry) <= now || !use(Number(serial), Number(expiry), now)) return undefined
      return { chain, round: Number(round), inside: Message.Text.make(opened) }
    }
  }
}
