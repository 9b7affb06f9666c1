/**
 * What a client keeps between the round trips of one request: earlier answers, sealed.
 *
 * @since 0.1.0
 */
import type { Seal } from "../../stage/Seal.ts"
import * as Sealed from "../../stage/Sealed.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"

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
export type Bound = Sealed.Bound

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

const table = (values: ReadonlyMap<string, Text>): Text => T.object([...values])

const mapOf = (text: Text | undefined): ReadonlyMap<string, Text> => new Map(text === undefined ? [] : T.members(text))

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (seal: Seal["Service"], remembered?: number): States => {
  const states = Sealed.make(seal, remembered)
  return {
    begin: () => ({ chain: "", round: 0, told: false, answers: new Map(), asked: new Set(), kept: new Map() }),
    // A chain gets its name with its first question: most requests never have one.
    close: ({ answers, asked, chain, kept, round }, bound, now) => {
      const inside = T.object([
        ["answers", table(answers)],
        ["asked", T.array([...asked].map(T.quote))],
        ["kept", table(kept)]
      ])
      return states.close({ chain, round, inside }, bound, now)
    },
    open: (text, bound, now) => {
      const opened = states.open(text, bound, now)
      if (opened === undefined) return undefined
      const { chain, inside, round } = opened
      return {
        chain,
        round,
        told: true,
        answers: mapOf(T.member(inside, "answers")),
        asked: new Set(T.elements(T.member(inside, "asked") ?? nothing).map((key) => T.string(key) ?? "")),
        kept: mapOf(T.member(inside, "kept"))
      }
    }
  }
}
