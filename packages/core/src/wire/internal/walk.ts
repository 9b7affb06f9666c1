/** Where values begin and end in checked text. */
import { quote } from "./plain.ts"

const quotation = "\"".charCodeAt(0)
const backslash = "\\".charCodeAt(0)
const comma = ",".charCodeAt(0)
const colon = ":".charCodeAt(0)
const openObject = "{".charCodeAt(0)
const closeObject = "}".charCodeAt(0)
const openArray = "[".charCodeAt(0)
const closeArray = "]".charCodeAt(0)
const lowerE = "e".charCodeAt(0)

/** Names and short values are walked through; a search for the quote costs as much as so many steps. */
const nearLength = 12

/** The index after the string at `p`. */
const stringEnd = (text: string, p: number): number => {
  const near = Math.min(p + nearLength, text.length)
  let q = p + 1
  while (q < near) {
    const c = text.charCodeAt(q)
    if (c === quotation) return q + 1
    q += c === backslash ? 2 : 1
  }
  // a long string: the next quote with an even number of backslashes before it
  for (;;) {
    q = text.indexOf("\"", q)
    if (q < 0) return text.length
    let first = q
    while (text.charCodeAt(first - 1) === backslash) first--
    if (((q - first) & 1) === 0) return q + 1
    q++
  }
}

/** The index after the value, or the name, at `p`. */
export const valueEnd = (text: string, p: number): number => {
  const c = text.charCodeAt(p)
  if (c === quotation) return stringEnd(text, p)
  if (c !== openObject && c !== openArray) {
    while (p < text.length) {
      const c = text.charCodeAt(p)
      if (c === comma || c === closeObject || c === closeArray || c === colon) return p
      p++
    }
    return p
  }
  let depth = 0
  while (p < text.length) {
    const c = text.charCodeAt(p)
    if (c === quotation) p = stringEnd(text, p)
    else {
      p++
      if (c === openObject || c === openArray) depth++
      else if ((c === closeObject || c === closeArray) && --depth === 0) return p
    }
  }
  return p
}

const minus = "-".charCodeAt(0)
const zero = "0".charCodeAt(0)
const nine = "9".charCodeAt(0)

/** Any double keeps so many digits. */
const sureDigits = 15

/** Whether a number has an exponent, or is longer than what any double keeps. */
export const longNumber = (text: string): boolean => {
  for (let p = 0; p < text.length;) {
    const c = text.charCodeAt(p)
    if (c === quotation) p = stringEnd(text, p)
    else if (c === minus || (c >= zero && c <= nine)) {
      const end = valueEnd(text, p)
      if (end - p > sureDigits) return true
      for (; p < end; p++) if ((text.charCodeAt(p) | 0x20) === lowerE) return true
    } else p++
  }
  return false
}

const keys = new Map<string, string>()

/** A name as it stands in an object, quotes and colon and all. */
export const keyOf = (name: string): string => {
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = `${quote(name)}:`
  // names that are looked for are few; names that are written may be anybody's
  if (keys.size < 512 && name.length < 64) keys.set(name, key)
  return key
}
