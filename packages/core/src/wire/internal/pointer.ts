/** Where in a JSON text a byte is, as a JSON pointer. Used on lines that were refused, which may be broken there. */
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, LF, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from "./grammar.ts"
import { unquote } from "./plain.ts"

/** Deeper places, and longer names, are cut: names are the peer's own text. */
const maxSegments = 32
const maxName = 64

/** The index after the string at `p`, or `end`. */
const stringEnd = (b: Buffer, p: number, end: number): number => {
  for (let q = p + 1; q < end; q++) {
    const c = b[q] ?? LF
    if (c === QUOTE) return q + 1
    if (c === BACKSLASH) q++
  }
  return end
}

/** The pointer to the innermost value, or member, that has the byte at `at`. */
export const pointerTo = (b: Buffer, from: number, at: number, end: number): string => {
  const path: Array<string | number> = []
  const isObject: Array<boolean> = []
  // containers deeper than what is kept
  let beyond = 0
  let expectsName = false
  let p = from
  while (p < at) {
    const c = b[p] ?? LF
    if (c === QUOTE) {
      const after = stringEnd(b, p, end)
      if (expectsName && beyond === 0) path[path.length - 1] = name(b, p, after)
      if (after > at) break
      p = after
      continue
    }
    if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      if (path.length === maxSegments || beyond > 0) beyond++
      else {
        path.push(c === OPEN_OBJECT ? "" : 0)
        isObject.push(c === OPEN_OBJECT)
        expectsName = c === OPEN_OBJECT
      }
    } else if (beyond > 0) {
      if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) beyond--
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      path.pop()
      isObject.pop()
      expectsName = false
    } else if (c === COMMA) {
      const last = path[path.length - 1]
      if (typeof last === "number") path[path.length - 1] = last + 1
      expectsName = isObject[isObject.length - 1] === true
    } else if (c === COLON) expectsName = false
    p++
  }
  if (p === at && expectsName && beyond === 0) {
    // a name is refused itself, or what stands where one should
    if (b[p] === QUOTE) path[path.length - 1] = name(b, p, stringEnd(b, p, end))
    else path.pop()
  }
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}

const name = (b: Buffer, p: number, end: number): string => {
  const text = b.toString("utf8", p, Math.min(end, p + maxName * 6 + 2))
  return (unquote(text) ?? text.slice(1, -1)).toWellFormed().slice(0, maxName).toWellFormed()
}
