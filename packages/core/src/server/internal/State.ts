/**
 * What a client keeps between the round trips of one request: earlier answers, sealed (2026-07-28 basic/patterns/mrtr).
 *
 * **Details**
 *
 * Sealed with AES-256-GCM under a key that is random per process. Bound to the program, the principal, the method, the
 * name, the digest of the arguments, the chain of round trips, the round and the expiry. Each round can be used once
 * (security rule F17).
 *
 * @since 0.1.0
 */
import type { Seal } from "../../node/NodeSeal.ts"
import { canonical } from "../../wire/Canonical.ts"
import { framed } from "../../wire/Digest.ts"
import * as Message from "../../wire/Message.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"

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
 * What the rounds so far came to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rounds {
  readonly chain: string
  readonly round: number
  /** Whether there were questions before: then answers are to those. */
  readonly told: boolean
  /** Answers by key, as they came. */
  readonly answers: ReadonlyMap<string, Text>
  /** What was asked last, by key. */
  readonly asked: ReadonlySet<string>
  /** What `Client.once` keeps. */
  readonly kept: ReadonlyMap<string, Text>
}

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
 * @category models
 * @since 0.1.0
 */
export interface States {
  readonly begin: () => Rounds
  /** The sealed state, or `undefined` where it would be too long. */
  readonly close: (rounds: Rounds, bound: Bound, now: number) => Text | undefined
  /** The state, used up by this; or `undefined` where it is not one, is another request's, too old, or used. */
  readonly open: (state: Text, bound: Bound, now: number) => Rounds | undefined
}

const nothing = T.array([])

const volatile = ["_meta", "inputResponses", "requestState"]

const digestOf = (params: Text | undefined): string =>
  params === undefined ? "" : framed([canonical(volatile.reduce(T.removeMember, params))])

const table = (values: ReadonlyMap<string, Text>): Text => T.object([...values])

const mapOf = (text: Text | undefined): ReadonlyMap<string, Text> => new Map(text === undefined ? [] : T.members(text))

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (seal: Seal, remembered = maxUsed): States => {
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
    begin: () => ({ chain: "", round: 0, told: false, answers: new Map(), asked: new Set(), kept: new Map() }),
    close: (rounds, bound, now) => {
      // A chain gets its name with its first question: most requests never have one.
      const header = `${rounds.chain === "" ? seal.name() : rounds.chain}.${rounds.round}.${now + lifetime}.${issued++}`
      const text = T.object([
        ["answers", table(rounds.answers)],
        ["asked", T.array([...rounds.asked].map(T.quote))],
        ["kept", table(rounds.kept)]
      ])
      const state = `${header}.${seal.close(text, associated(bound, header))}`
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
      const inside = Message.Text.make(opened)
      return {
        chain,
        round: Number(round),
        told: true,
        answers: mapOf(T.member(inside, "answers")),
        asked: new Set(T.elements(T.member(inside, "asked") ?? nothing).map((key) => T.string(key) ?? "")),
        kept: mapOf(T.member(inside, "kept"))
      }
    }
  }
}
