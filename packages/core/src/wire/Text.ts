/**
 * Looking into checked text, and writing it anew, without decoding it.
 *
 * **Details**
 *
 * A {@link Message.Text} is compact and its member names have one spelling, so a member is found by comparing
 * characters, and what is not asked for keeps every character: numbers their digits, strings their escapes, members
 * their order.
 *
 * @since 0.1.0
 */
import { checked } from "./internal/checked.ts"
import * as Latest from "./internal/latest.ts"
import { lineSafe, normalId, quote as quoted, unquote } from "./internal/plain.ts"
import { keyOf, longNumber, valueEnd } from "./internal/walk.ts"
import type { Text } from "./Message.ts"

const empty: Text = checked("{}")

// ---- looking

/**
 * Whether the text is an object.
 *
 * @category guards
 * @since 0.1.0
 */
export const isObject = (text: Text): boolean => text.startsWith("{")

/**
 * Whether the text is an array.
 *
 * @category guards
 * @since 0.1.0
 */
export const isArray = (text: Text): boolean => text.startsWith("[")

/** The value of the member of this name: where it begins and ends, and where its name begins. */
interface Found {
  readonly name: number
  readonly from: number
  readonly end: number
}

const find = (text: Text, name: string): Found | undefined => {
  if (Latest.isLatest(text)) {
    const k = Latest.indexOf(name)
    return k < 0 ? undefined : { name: Latest.nameOf(k), from: Latest.valueOf(k), end: Latest.endOf(k) }
  }
  if (!isObject(text) || text.length === 2) return undefined
  const key = keyOf(name)
  for (let p = 1; p < text.length;) {
    const is = text.startsWith(key, p)
    const from = is ? p + key.length : valueEnd(text, p) + 1
    const end = valueEnd(text, from)
    if (is) return { name: p, from, end }
    p = end + 1
  }
  return undefined
}

/**
 * The value of a member of an object; undefined if there is no such member, or the text is no object.
 *
 * @category getters
 * @since 0.1.0
 */
export const member = (text: Text, name: string): Text | undefined => {
  const found = find(text, name)
  return found === undefined ? undefined : checked(text.slice(found.from, found.end))
}

/**
 * The members of an object in their order, names decoded; none if the text is no object.
 *
 * @category getters
 * @since 0.1.0
 */
export const members = (text: Text): ReadonlyArray<readonly [name: string, value: Text]> => {
  const all: Array<readonly [string, Text]> = []
  if (!isObject(text) || text.length === 2) return all
  for (let p = 1; p < text.length;) {
    const colon = valueEnd(text, p)
    const end = valueEnd(text, colon + 1)
    all.push([string(checked(text.slice(p, colon))) ?? "", checked(text.slice(colon + 1, end))])
    p = end + 1
  }
  return all
}

/** The names in the object that begins at `p`; none if there is no object. */
const namesFrom = (text: Text, p: number): ReadonlyArray<string> => {
  const all: Array<string> = []
  if (!text.startsWith("{", p) || text.startsWith("}", p + 1)) return all
  do {
    const colon = valueEnd(text, p + 1)
    all.push(string(checked(text.slice(p + 1, colon))) ?? "")
    p = valueEnd(text, colon + 1)
  } while (text.startsWith(",", p))
  return all
}

/**
 * The names of an object's members in their order, decoded; none if the text is no object.
 *
 * @category getters
 * @since 0.1.0
 */
export const names = (text: Text): ReadonlyArray<string> => namesFrom(text, 0)

/**
 * The names in a member that is an object, in their order, decoded; none if there is no such member, or it is no object.
 *
 * @category getters
 * @since 0.1.0
 */
export const namesIn = (text: Text, member: string): ReadonlyArray<string> => {
  if (Latest.isLatest(text)) {
    const k = Latest.indexOf(member)
    return k < 0 ? [] : namesFrom(text, Latest.valueOf(k))
  }
  if (!isObject(text) || text.length === 2) return []
  const key = keyOf(member)
  for (let p = 1; p < text.length;) {
    if (text.startsWith(key, p)) return namesFrom(text, p + key.length)
    p = valueEnd(text, valueEnd(text, p) + 1) + 1
  }
  return []
}

/**
 * The elements of an array; none if the text is no array.
 *
 * @category getters
 * @since 0.1.0
 */
export const elements = (text: Text): ReadonlyArray<Text> => {
  const all: Array<Text> = []
  if (!isArray(text) || text.length === 2) return all
  for (let p = 1; p < text.length;) {
    const end = valueEnd(text, p)
    all.push(checked(text.slice(p, end)))
    p = end + 1
  }
  return all
}

/**
 * Hands every string in the text to `each`, decoded and in order, names of members too.
 *
 * @category getters
 * @since 0.1.0
 */
export const eachString = (text: Text, each: (string: string) => void): void => {
  for (let at = text.indexOf("\""); at !== -1; at = text.indexOf("\"", at)) {
    let end = at + 1
    let escaped = false
    // Checked text has an end for every string.
    for (let unit = text.charCodeAt(end); unit !== 0x22; unit = text.charCodeAt(end)) {
      if (unit === 0x5c) {
        escaped = true
        end++
      }
      end++
    }
    end++
    const plain = text.slice(at + 1, end - 1)
    each(escaped ? unquote(text.slice(at, end)) ?? plain : plain)
    at = end
  }
}

/**
 * What a string stands for; undefined if the text is no string.
 *
 * @category getters
 * @since 0.1.0
 */
export const string = (text: Text): string | undefined => {
  if (!text.startsWith("\"")) return undefined
  return text.includes("\\") ? unquote(text) : text.slice(1, -1)
}

/**
 * What a member that is a string stands for; undefined if there is no such member, or it is no string.
 *
 * @category getters
 * @since 0.1.0
 */
export const stringIn = (text: Text | undefined, name: string): string | undefined => {
  const value = text === undefined ? undefined : member(text, name)
  return value === undefined ? undefined : string(value)
}

/**
 * The normal form of an id, or of a progress token: the text of an integer as it is, a string without needless escapes.
 * Undefined if the text is neither, so that two ids are the same exactly if their normal forms are.
 *
 * @category getters
 * @since 0.1.0
 */
export const id = (text: Text): Text | undefined => normalId(text)

/**
 * The value as JavaScript has it. Numbers become what `JSON.parse` makes of them.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toValue = (text: Text): unknown => JSON.parse(text)

/**
 * Whether a number is in the text that needs a second look before JavaScript may read it: one with an exponent, or of more
 * than 15 characters. All others keep their value.
 *
 * @category guards
 * @since 0.1.0
 */
export const hasLongNumber = (text: Text): boolean => longNumber(text)

// ---- writing

/**
 * A string as text: escaped only where JSON requires it, and U+0085, U+2028 and U+2029 besides.
 *
 * **Gotchas**
 *
 * Half of a surrogate pair, which no UTF-8 can carry, is written as U+FFFD.
 *
 * @category constructors
 * @since 0.1.0
 */
export const quote = (value: string): Text => quoted(value)

/**
 * One of the three literals.
 *
 * @category constructors
 * @since 0.1.0
 */
export const literal = (value: "true" | "false" | "null"): Text => checked(value)

/**
 * An integer as text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const integer = (value: number): Text => checked(JSON.stringify(Math.trunc(value)))

/**
 * An object with these members. The names must differ.
 *
 * @category constructors
 * @since 0.1.0
 */
export const object = (entries: ReadonlyArray<readonly [name: string, value: Text]>): Text => {
  let out = ""
  for (const [name, value] of entries) out += (out === "" ? "{" : ",") + keyOf(name) + value
  return out === "" ? empty : checked(`${out}}`)
}

/**
 * An array of these elements.
 *
 * @category constructors
 * @since 0.1.0
 */
export const array = (items: ReadonlyArray<Text>): Text => checked(`[${items.join(",")}]`)

/**
 * Text that is the same but for one value: `make` is called once, and what it gives is written around each value.
 *
 * @category constructors
 * @since 0.1.0
 */
export const form = (make: (value: Text) => Text): (value: Text) => Text => {
  // No checked text has such a character.
  const hole = checked("\0")
  const [head = "", tail = ""] = make(hole).split(hole)
  return (value) => checked(head + value + tail)
}

/** A half of a surrogate pair as `JSON.stringify` writes it, or any other escape. */
const escapes = /\\(?:ud[89a-f][\da-f]{2}|[^])/g

/**
 * A value as text, as `JSON.stringify` writes it; what that leaves out is `null`.
 *
 * **Gotchas**
 *
 * The value must be one that JSON can have: a cycle or a bigint is a defect. Halves of surrogate pairs become U+FFFD.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromValue = (value: unknown): Text => {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) return checked("null")
  const whole = json.includes("\\ud") ?
    json.replace(escapes, (escape) => escape.length === 6 ? "\ufffd" : escape) :
    json
  return checked(lineSafe(whole))
}

/**
 * The object with this value for the member: in its place if it is there, else as the last one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const setMember = (text: Text, name: string, value: Text): Text => {
  const found = find(text, name)
  if (found !== undefined) return checked(text.slice(0, found.from) + value + text.slice(found.end))
  if (!isObject(text) || text === empty) return object([[name, value]])
  return checked(`${text.slice(0, -1)},${keyOf(name)}${value}}`)
}

/**
 * The object without the member.
 *
 * @category combinators
 * @since 0.1.0
 */
export const removeMember = (text: Text, name: string): Text => {
  const found = find(text, name)
  if (found === undefined) return text
  // one comma goes with the member: the one after it, or for the last member the one before it
  const last = text.charAt(found.end) === "}"
  const from = last && found.name > 1 ? found.name - 1 : found.name
  return checked(text.slice(0, from) + text.slice(last ? found.end : found.end + 1))
}

/**
 * The object with only those elements of one of its arrays that `keep` says yes to; everything else keeps every
 * character. The object itself if it has no such array.
 *
 * @category combinators
 * @since 0.1.0
 */
export const filterElements = (
  text: Text,
  name: string,
  keep: (element: Text, index: number) => boolean
): Text => {
  const list = member(text, name)
  if (list === undefined || !isArray(list)) return text
  const all = elements(list)
  const kept = all.filter(keep)
  return kept.length === all.length ? text : setMember(text, name, array(kept))
}
