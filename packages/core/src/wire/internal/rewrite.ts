/** Checked JSON written again: what can be is left out or spelled in one way, everything else stays as it came. */
import { BACKSLASH, LF, QUOTE, SPACE } from "./grammar.ts"
import { quote, unquote } from "./plain.ts"

/** Larger buffers are not kept for the next line. */
const keepBytes = 1 << 18

/** Longer strings are copied as a whole. */
const nearBytes = 64

let scratch = Buffer.allocUnsafe(4096)

/** What `read` makes of the bytes of the range without the blanks that are outside of strings. */
export const withoutBlanks = <A>(
  b: Buffer,
  from: number,
  end: number,
  read: (b: Buffer, from: number, end: number) => A
): A => {
  if (scratch.length < end - from) scratch = Buffer.allocUnsafe(end - from)
  const to = scratch
  let size = 0
  for (let p = from; p < end;) {
    let c = b[p++] ?? LF
    if (c > SPACE) to[size++] = c
    if (c !== QUOTE) continue
    // a string goes as it is: byte by byte while it is short
    const near = p + nearBytes
    do {
      if (p >= near) {
        const after = closing(b, p) + 1
        size += b.copy(to, size, p, after)
        p = after
        break
      }
      c = b[p++] ?? LF
      to[size++] = c
      if (c === BACKSLASH) to[size++] = b[p++] ?? LF
    } while (c !== QUOTE)
  }
  if (to.length > keepBytes) scratch = Buffer.allocUnsafe(4096)
  return read(to, 0, size)
}

/** The index of the quote that closes the string in which `p` is, not after a backslash that escapes what is there. */
const closing = (b: Buffer, p: number): number => {
  const start = p
  for (;;) {
    const q = b.indexOf(QUOTE, p)
    let first = q
    while (first > start && b[first - 1] === BACKSLASH) first--
    // an even number of backslashes before it does not escape the quote
    if (((q - first) & 1) === 0) return q
    p = q + 1
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
