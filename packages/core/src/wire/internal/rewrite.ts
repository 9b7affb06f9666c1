/** Checked JSON written again: what can be is left out or spelled in one way, everything else stays as it came. */
import { BACKSLASH, inString, LF, PLAIN, QUOTE, SPACE } from "./grammar.ts"
import { quote, unquote } from "./plain.ts"

/** Larger buffers are not kept for the next line. */
const keepBytes = 1 << 18

let scratch = Buffer.allocUnsafe(4096)

/** Calls `use` with the bytes of the range without the blanks that are outside of strings. */
export const withoutBlanks = <A>(b: Buffer, from: number, end: number, use: (bytes: Buffer) => A): A => {
  if (scratch.length < end - from) scratch = Buffer.allocUnsafe(end - from)
  const to = scratch
  let size = 0
  for (let p = from; p < end;) {
    const c = b[p] ?? LF
    if (c === QUOTE) {
      const after = closing(b, p) + 1
      if (after - p > 64) {
        size += b.copy(to, size, p, after)
        p = after
      } else while (p < after) to[size++] = b[p++] ?? LF
    } else {
      if (c > SPACE) to[size++] = c
      p++
    }
  }
  if (to.length > keepBytes) scratch = Buffer.allocUnsafe(4096)
  return use(to.subarray(0, size))
}

/** The index of the quote that closes the string at `p`. */
const closing = (b: Buffer, p: number): number => {
  const near = p + 64
  let q = p + 1
  while (q < near) {
    const c = b[q] ?? LF
    if (inString[c] === PLAIN) q++
    else if (c === QUOTE) return q
    else q += c === BACKSLASH ? 2 : 1
  }
  // a long string: the next quote with an even number of backslashes before it
  for (;;) {
    q = b.indexOf(QUOTE, q)
    let first = q
    while (b[first - 1] === BACKSLASH) first--
    if (((q - first) & 1) === 0) return q
    q++
  }
}

const backslash = "\\".charCodeAt(0)
const quotation = "\"".charCodeAt(0)
const colon = ":".charCodeAt(0)

/** Compact text in which no name has an escape that it does not need. */
export const plainNames = (text: string): string => {
  let out = ""
  let first = 0
  let p = 0
  for (;;) {
    p = text.indexOf("\"", p)
    if (p < 0) return out + text.slice(first)
    let q = p + 1
    let escapes = false
    for (let c = text.charCodeAt(q); c !== quotation; c = text.charCodeAt(q)) {
      if (c === backslash) {
        escapes = true
        q++
      }
      q++
    }
    q++
    if (escapes && text.charCodeAt(q) === colon) {
      const name = unquote(text.slice(p, q))
      if (name !== undefined) {
        out += text.slice(first, p) + quote(name)
        first = q
      }
    }
    p = q
  }
}
