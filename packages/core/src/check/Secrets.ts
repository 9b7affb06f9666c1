/**
 * The values that Sallyport itself handed to a server, in the forms in which they come back.
 *
 * **Details**
 *
 * The forms are: the value as it is, as it stands in a JSON string and in a JSON string within one, in base64 and
 * base64url wherever in a longer text it was encoded, in hexadecimal of either case, and percent-encoded as a URL or a
 * form has it, of either case. Other encodings are not found (security rule F29). Each line of a value of several lines
 * is a value too.
 *
 * @since 0.1.0
 */
import * as Search from "./Search.ts"

/**
 * A value of the environment that was given on the command line, by its name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Secret {
  readonly name: string
  readonly value: string
}

/**
 * Shorter values are words of any text, like `1` or `debug`: they are not looked for.
 *
 * @category constants
 * @since 0.1.0
 */
export const shortest = 8

/** What is looked for in one pass; the rest of a form is then compared where its beginning was found. */
const beginning = 24

const hex = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0")
  return text
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/**
 * The digits of base64 that say nothing but these bytes, where so many others (0, 1 or 2 of a group of three) stand
 * before them: what stands at both ends depends on the neighbours, and is left out.
 */
const base64 = (bytes: Uint8Array, before: number): string => {
  let text = ""
  const bits = bytes.length * 8
  // The first digit that holds none of what stands before.
  const first = (6 - (before * 8) % 6) % 6
  for (let at = first; at + 6 <= bits; at += 6) {
    const byte = at >> 3
    const both = ((bytes[byte] ?? 0) << 8) | (bytes[byte + 1] ?? 0)
    text += alphabet[(both >> (10 - (at & 7))) & 63]
  }
  return text
}

const percent = (bytes: Uint8Array, plain: RegExp): string => {
  let text = ""
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    text += byte < 0x80 && plain.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
  }
  return text
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** JSON of writers that escape all that is not ASCII. */
const inAscii = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * All forms of a value.
 *
 * @category conversions
 * @since 0.1.0
 */
export const forms = (value: string): ReadonlyArray<string> => {
  const bytes = new TextEncoder().encode(value)
  const digits = hex(bytes)
  const coded = [0, 1, 2].map((before) => base64(bytes, before))
  const escaped = [
    percent(bytes, /[A-Za-z0-9\-_.~]/),
    percent(bytes, /[A-Za-z0-9\-_.!~*'()]/),
    percent(bytes, /[A-Za-z0-9\-_.!~*'();/?:@&=+$,#]/),
    percent(bytes, /[A-Za-z0-9\-_.* ]/).replaceAll(" ", "+")
  ]
  const json = [inJson(value), inAscii(inJson(value)), inJson(value).replaceAll("/", "\\/")]
  return [
    ...new Set([
      value,
      ...json,
      ...json.map(inJson),
      ...coded,
      ...coded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
      // Within JSON a slash may be escaped.
      ...coded.map((text) => text.replaceAll("/", "\\/")),
      digits,
      digits.toUpperCase(),
      ...escaped,
      ...escaped.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))
    ])
  ].filter((form) => form.length >= shortest)
}

/**
 * Finds secrets in texts.
 *
 * @category models
 * @since 0.1.0
 */
export interface Finder {
  /** The names of the secrets that stand in the text, in any form. */
  readonly names: (text: string) => ReadonlyArray<string>
  /** The text with `[NAME]` for each of them. */
  readonly without: (text: string) => string
}

/**
 * Prepares the search; `undefined` where there is nothing to look for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const finder = (secrets: ReadonlyArray<Secret>): Finder | undefined => {
  const known = secrets
    .flatMap(({ name, value }) => [value, ...value.split(/[\r\n]+/)].map((part) => ({ name, value: part })))
    .filter(({ value }) => value.length >= shortest)
    .flatMap(({ name, value }) => forms(value).map((form) => ({ name, form })))
    // Of several that begin alike, the longest one is taken out.
    .sort((a, b) => b.form.length - a.form.length)
  if (known.length === 0) return undefined
  const beginnings = [...new Set(known.map(({ form }) => form.slice(0, beginning)))]
  const behind = beginnings.map((text) => known.filter(({ form }) => form.startsWith(text)))
  const search = Search.make(beginnings)

  const each = (text: string, found: (name: string, start: number, end: number) => void): void =>
    search(text, ({ end, word }) => {
      const start = end - (beginnings[word] ?? "").length
      const whole = behind[word]?.find(({ form }) => text.startsWith(form, start))
      if (whole !== undefined) found(whole.name, start, start + whole.form.length)
    })

  return {
    names: (text) => {
      const names = new Set<string>()
      each(text, (name) => names.add(name))
      return [...names]
    },
    without: (text) => {
      const places: Array<{ readonly name: string; readonly start: number; readonly end: number }> = []
      each(text, (name, start, end) => places.push({ name, start, end }))
      if (places.length === 0) return text
      let clear = ""
      let at = 0
      // Where two overlap, what is left of the second one goes too.
      for (const { end, name, start } of places.sort((a, b) => a.start - b.start || b.end - a.end)) {
        if (end <= at) continue
        if (start >= at) clear += `${text.slice(at, start)}[${name}]`
        at = end
      }
      return clear + text.slice(at)
    }
  }
}
