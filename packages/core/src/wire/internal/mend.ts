/**
 * The repairs of a message that the scanner has refused, in its bytes, which are known to be JSON.
 *
 * None moves a byte, so that places stay where they are. What comes of it is scanned once more, by the same rules.
 */
import type { Reason } from "../Reason.ts"
import type { Repair } from "../Repair.ts"
import * as G from "./grammar.ts"

/** Which repair there is for a reason. */
export const repairOf = (reason: Reason): Repair | undefined =>
  reason === "lone-surrogate" ? "surrogates" : reason === "not-a-message" ? "null-error" : undefined

/** Makes a repair; whether there was something to repair. */
export const mend = (b: Buffer, repair: Repair): boolean => repair === "surrogates" ? surrogates(b) : nullError(b)

/** The index after the string at `p`; `escape` is called with every escape of four digits. */
const stringEnd = (b: Buffer, p: number, escape?: (at: number) => number): number => {
  for (p++; p < b.length;) {
    const c = b[p]
    if (c === G.QUOTE) return p + 1
    if (c !== G.BACKSLASH) p++
    else if (escape !== undefined && b[p + 1] === 0x75) p = escape(p)
    else p += 2
  }
  return p
}

/** The UTF-16 unit of the escape at `at`, or NaN where none is. */
const unitAt = (b: Buffer, at: number): number =>
  b[at] === G.BACKSLASH && b[at + 1] === 0x75 ? Number.parseInt(b.toString("latin1", at + 2, at + 6), 16) : Number.NaN

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000

/** What is not in a value of the message (its id, its method) stays as it is: it is compared, not read. */
const surrogates = (b: Buffer): boolean => {
  let depth = 0
  let made = false
  const escape = (at: number): number => {
    const unit = unitAt(b, at)
    if (isHigh(unit) && isLow(unitAt(b, at + 6))) return at + 12
    if (depth > 1 && (isHigh(unit) || isLow(unit))) {
      b.write("fffd", at + 2, "latin1")
      made = true
    }
    return at + 6
  }
  for (let p = 0; p < b.length;) {
    const c = b[p]
    if (c === G.QUOTE) {
      p = stringEnd(b, p, escape)
      continue
    }
    if (c === G.OPEN_OBJECT || c === G.OPEN_ARRAY) depth++
    else if (c === G.CLOSE_OBJECT || c === G.CLOSE_ARRAY) depth--
    p++
  }
  return made
}

interface Member {
  /** As it is spelled, with its quotes. */
  readonly name: string
  readonly from: number
  readonly value: string
  readonly end: number
  /** Where the comma after it is, or -1. */
  readonly comma: number
}

/** The index after the value at `p`. */
const valueEnd = (b: Buffer, p: number): number => {
  let depth = 0
  while (p < b.length) {
    const c = b[p]
    if (c === G.QUOTE) p = stringEnd(b, p)
    else if (c === G.OPEN_OBJECT || c === G.OPEN_ARRAY) {
      depth++
      p++
    } else if (c === G.CLOSE_OBJECT || c === G.CLOSE_ARRAY) {
      if (depth === 0) return p
      depth--
      p++
    } else if (c === G.COMMA && depth === 0) return p
    else p++
  }
  return p
}

/** The members of the message. */
const membersOf = (b: Buffer): ReadonlyArray<Member> => {
  const members: Array<Member> = []
  let p = G.skipBlanks(b, 1)
  while (b[p] === G.QUOTE) {
    const from = p
    const after = stringEnd(b, p)
    const value = G.skipBlanks(b, G.skipBlanks(b, after) + 1)
    const end = valueEnd(b, value)
    const comma = b[end] === G.COMMA ? end : -1
    members.push({
      name: b.toString("latin1", from, after),
      from,
      value: b.toString("latin1", value, Math.min(end, value + 8)).trimEnd(),
      end,
      comma
    })
    p = comma < 0 ? b.length : G.skipBlanks(b, comma + 1)
  }
  return members
}

const nullError = (b: Buffer): boolean => {
  if (b[0] !== G.OPEN_OBJECT) return false
  const members = membersOf(b)
  const [at, ...others] = members.flatMap(({ name }, k) => name === "\"error\"" ? [k] : [])
  const error = at === undefined ? undefined : members[at]
  if (at === undefined || error === undefined || others.length > 0 || error.value !== "null") return false
  if (!members.some(({ name }) => name === "\"result\"")) return false
  b.fill(G.SPACE, error.from, error.comma < 0 ? error.end : error.comma + 1)
  const before = members[at - 1]
  if (error.comma < 0 && before !== undefined) b[before.comma] = G.SPACE
  return true
}
