/**
 * What a server says before anything of it was accepted (security rule F22).
 *
 * @since 0.1.0
 */
import * as Visible from "../pin/Visible.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { FirstSight } from "./Accepted.ts"

/** So many notices are kept until the first listing is pinned or observed. */
const maxKept = 100
/** So much of one is told to the operator, in characters. */
const told = 300

const message = "notifications/message"

/**
 * @category models
 * @since 0.1.0
 */
export interface Early {
  /** A notification of the server's comes: true where it does not go on now. */
  readonly holds: (method: string, params: Text | undefined) => boolean
  /** Something of the server was accepted: what was kept goes on, in order. */
  readonly known: () => void
}

/**
 * Keeps notices back. The operator is told those of a server of which nothing is accepted.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly server: string
  readonly firstSight: FirstSight
  readonly isKnown: () => boolean
  readonly tell: (sentence: string) => void
  readonly pass: (method: string, params: Text | undefined) => void
}): Early => {
  let kept: Array<Text | undefined> = []
  let said = 0
  return {
    holds: (method, params) => {
      if (method !== message || options.isKnown()) return false
      if (options.firstSight !== "hold") {
        if (kept.length < maxKept) kept.push(params)
        return true
      }
      said++
      if (said > maxKept) return true
      const data = params === undefined ? undefined : T.member(params, "data")
      const text = data === undefined ? "nothing" : Visible.short(T.string(data) ?? data, told)
      options.tell(`${options.server}, of which nothing is accepted, says: ${text}`)
      return true
    },
    known: () => {
      const rest = kept
      kept = []
      for (const params of rest) options.pass(message, params)
    }
  }
}
