/**
 * JSON as RFC 8259 has it, over bytes of one line.
 *
 * A line ends with a line feed, which no JSON text can contain inside a line: it ends every loop here, so that none
 * counts. `?? LF` says the same for the compiler: past the end there is a line feed.
 */

export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
export const QUOTE = 0x22
export const COMMA = 0x2c
export const MINUS = 0x2d
export const ZERO = 0x30
export const NINE = 0x39
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
const PLUS = 0x2b
const DOT = 0x2e
const UPPER_E = 0x45
const LOWER_E = 0x65
const LOWER_F = 0x66
const LOWER_N = 0x6e
const LOWER_T = 0x74
const LOWER_U = 0x75

/** What a byte is inside a string: a character of ASCII, part of another character, or what no run goes past. */
export const PLAIN = 0
const HIGH = 1
export const STOP = 2
export const inString = new Uint8Array(256)
inString.fill(STOP, 0, SPACE)
inString.fill(HIGH, 0x80)
inString[QUOTE] = STOP
inString[BACKSLASH] = STOP

/** The places of hexadecimal digits, and of what may stand after a backslash. */
const hex = new Uint8Array(256)
for (const digit of Buffer.from("0123456789abcdefABCDEF")) hex[digit] = 1
const escape = new Uint8Array(256)
for (const letter of Buffer.from("\"\\/bfnrtu")) escape[letter] = 1

/** Whether a backslash and this letter are an escape. */
export const isShortEscape = (c: number): boolean => escape[c] === 1 && c !== LOWER_U

/** The index of the first byte from `p` that is no blank. */
export const skipBlanks = (b: Uint8Array, p: number): number => {
  let c = b[p] ?? LF
  while (c === SPACE || c === TAB || c === CR) c = b[++p] ?? LF
  return p
}

/** The index after the escape whose backslash is at `p`, or -1 if it is none. */
export const escapeEnd = (b: Uint8Array, p: number): number => {
  const c = b[p + 1] ?? LF
  if (escape[c] !== 1) return -1
  if (c !== LOWER_U) return p + 2
  for (let k = p + 2; k < p + 6; k++) if (hex[b[k] ?? LF] !== 1) return -1
  return p + 6
}

/** The index after the number that begins at `p`, or -1 if none does. */
export const numberEnd = (b: Uint8Array, p: number): number => {
  let c = b[p] ?? LF
  if (c === MINUS) c = b[++p] ?? LF
  if (c === ZERO) c = b[++p] ?? LF
  else if (c > ZERO && c <= NINE) {
    do c = b[++p] ?? LF
    while (c >= ZERO && c <= NINE)
  } else return -1
  if (c === DOT) {
    const first = p + 1
    do c = b[++p] ?? LF
    while (c >= ZERO && c <= NINE)
    if (p === first) return -1
  }
  if (c === LOWER_E || c === UPPER_E) {
    c = b[++p] ?? LF
    if (c === PLUS || c === MINUS) c = b[++p] ?? LF
    const first = p
    while (c >= ZERO && c <= NINE) c = b[++p] ?? LF
    if (p === first) return -1
  }
  return p
}

/** Whether these bytes stand at `p`. */
export const standsAt = (b: Uint8Array, p: number, word: Uint8Array): boolean => {
  for (let k = 0; k < word.length; k++) if (b[p + k] !== word[k]) return false
  return true
}

const wordTrue = Buffer.from("true")
const wordFalse = Buffer.from("false")
const wordNull = Buffer.from("null")

/** The index after the literal that begins at `p`, or -1 if none does. */
export const literalEnd = (b: Uint8Array, p: number): number => {
  const word = b[p] === LOWER_T ? wordTrue : b[p] === LOWER_F ? wordFalse : b[p] === LOWER_N ? wordNull : undefined
  return word !== undefined && standsAt(b, p, word) ? p + word.length : -1
}

/** What {@link wellFormed} found. */
export interface Verdict {
  /** Where the text stops to be JSON; -1 if it is JSON to the line's end. */
  readonly broken: number
  /** Where the elements of the outermost array begin, of one more than `keep` at the most. */
  readonly elements: ReadonlyArray<number>
}

/**
 * Whether the line from `p` is one JSON text. Nothing but the grammar is looked at, and an open container costs one bit,
 * so that no depth is too deep for a verdict.
 */
export const wellFormed = (b: Uint8Array, p: number, keep: number): Verdict => {
  const elements: Array<number> = []
  let bits = new Uint8Array(32)
  let depth = 0
  let isObject = false
  const result = (broken: number): Verdict => ({ broken, elements })

  /** The index after the string at `at`; where it is none, the bitwise complement of the place that breaks it. */
  const stringEnd = (at: number): number => {
    if (b[at] !== QUOTE) return ~at
    let q = at + 1
    for (;;) {
      let c = b[q] ?? LF
      while (inString[c] !== STOP) c = b[++q] ?? LF
      if (c === QUOTE) return q + 1
      if (c !== BACKSLASH) return ~q
      const after = escapeEnd(b, q)
      if (after < 0) return ~q
      q = after
    }
  }
  /** The index of the value of the member whose name is at `at`, or a complement as above. */
  const memberValue = (at: number): number => {
    const after = stringEnd(at)
    if (after < 0) return after
    const colon = skipBlanks(b, after)
    return b[colon] === COLON ? skipBlanks(b, colon + 1) : ~colon
  }

  p = skipBlanks(b, p)
  for (;;) {
    // a value begins at p
    const c = b[p] ?? LF
    if (depth === 1 && !isObject && elements.length <= keep) elements.push(p)
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (depth >> 3 === bits.length) {
        const more = new Uint8Array(bits.length * 2)
        more.set(bits)
        bits = more
      }
      const mask = 1 << (depth & 7)
      const byte = bits[depth >> 3] ?? 0
      bits[depth >> 3] = isObject ? byte | mask : byte & ~mask
      depth++
      isObject = c === OPEN_OBJECT
      p = skipBlanks(b, p + 1)
      if (b[p] !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (isObject && (p = memberValue(p)) < 0) return result(~p)
        continue
      }
    } else if (c === QUOTE) {
      p = stringEnd(p)
      if (p < 0) return result(~p)
    } else {
      const after = c === MINUS || (c >= ZERO && c <= NINE) ? numberEnd(b, p) : literalEnd(b, p)
      if (after < 0) return result(p)
      p = after
    }
    // after a value, or before the end of an empty container
    for (;;) {
      p = skipBlanks(b, p)
      if (depth === 0) return result((b[p] ?? LF) === LF ? -1 : p)
      const c = b[p] ?? LF
      if (c === COMMA) {
        p = skipBlanks(b, p + 1)
        if (isObject && (p = memberValue(p)) < 0) return result(~p)
        break
      }
      if (c !== (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return result(p)
      p++
      depth--
      isObject = ((bits[depth >> 3] ?? 0) & (1 << (depth & 7))) !== 0
    }
  }
}
