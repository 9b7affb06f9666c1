/**
 * JSON as a tree with exact numbers: what {@link Drift}, {@link Show} and the check of a definition look at.
 *
 * @since 0.1.0
 */
import * as Decimal from "../../wire/Decimal.ts"

/**
 * A JSON value. Numbers keep their text, members their order; a Map, so that `__proto__` is a name like any other.
 *
 * @category models
 * @since 0.1.0
 */
export type Json =
  | { readonly _tag: "Null" }
  | { readonly _tag: "Boolean"; readonly value: boolean }
  | { readonly _tag: "Number"; readonly text: string }
  | { readonly _tag: "String"; readonly value: string }
  | { readonly _tag: "Array"; readonly items: ReadonlyArray<Json> }
  | { readonly _tag: "Object"; readonly members: ReadonlyMap<string, Json> }

// Deeper than any message that reading lets through by default; bounds the recursion for texts from files.
const maxDepth = 1_000

const Null: Json = { _tag: "Null" }
const True: Json = { _tag: "Boolean", value: true }
const False: Json = { _tag: "Boolean", value: false }

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const escape = /\\(?:u([0-9a-fA-F]{4})|(.))/g
const short: ReadonlyMap<string, string> = new Map([["b", "\b"], ["f", "\f"], ["n", "\n"], ["r", "\r"], ["t", "\t"]])

/**
 * Reads checked text; `undefined` for text that is no JSON after all (a file that was edited) or nests absurdly deep.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Json | undefined => {
  let at = 0

  const blank = () => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      at++
    }
  }

  const string = (): string | undefined => {
    if (text[at] !== "\"") return undefined
    const start = at + 1
    let end = start
    let escaped = false
    for (;;) {
      if (end >= text.length) return undefined
      const code = text.charCodeAt(end)
      if (code === 0x22) break
      if (code === 0x5c) {
        escaped = true
        end++
      }
      end++
    }
    at = end + 1
    const raw = text.slice(start, end)
    if (!escaped) return raw
    return raw.replace(
      escape,
      (_, hex: string | undefined, letter: string | undefined) =>
        hex === undefined ? short.get(letter ?? "") ?? letter ?? "" : String.fromCharCode(Number.parseInt(hex, 16))
    )
  }

  const word = (expected: string, json: Json): Json | undefined => {
    if (!text.startsWith(expected, at)) return undefined
    at += expected.length
    return json
  }

  const array = (depth: number): Json | undefined => {
    const items: Array<Json> = []
    at++
    blank()
    if (text[at] === "]") {
      at++
      return { _tag: "Array", items }
    }
    for (;;) {
      const item = value(depth + 1)
      if (item === undefined) return undefined
      items.push(item)
      blank()
      const next = text[at++]
      if (next === "]") return { _tag: "Array", items }
      if (next !== ",") return undefined
    }
  }

  const object = (depth: number): Json | undefined => {
    const members = new Map<string, Json>()
    at++
    blank()
    if (text[at] === "}") {
      at++
      return { _tag: "Object", members }
    }
    for (;;) {
      blank()
      const name = string()
      blank()
      if (name === undefined || text[at++] !== ":") return undefined
      const member = value(depth + 1)
      if (member === undefined) return undefined
      members.set(name, member)
      blank()
      const next = text[at++]
      if (next === "}") return { _tag: "Object", members }
      if (next !== ",") return undefined
    }
  }

  const value = (depth: number): Json | undefined => {
    if (depth > maxDepth) return undefined
    blank()
    switch (text[at]) {
      case "{":
        return object(depth)
      case "[":
        return array(depth)
      case "\"": {
        const decoded = string()
        return decoded === undefined ? undefined : { _tag: "String", value: decoded }
      }
      case "t":
        return word("true", True)
      case "f":
        return word("false", False)
      case "n":
        return word("null", Null)
      default: {
        number.lastIndex = at
        const found = number.exec(text)
        if (found === null) return undefined
        at = number.lastIndex
        return { _tag: "Number", text: found[0] }
      }
    }
  }

  const json = value(0)
  blank()
  return at === text.length ? json : undefined
}

const numberKey = (text: string): string => {
  const d = Decimal.parse(text)
  return d === undefined ? text : `${d.negative ? "-" : ""}.${d.digits}e${d.exponent}`
}

/**
 * Orders the members of an object by the code units of their names.
 *
 * @category comparing
 * @since 0.1.0
 */
export const byName = (left: readonly [string, unknown], right: readonly [string, unknown]): number =>
  left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0

/**
 * A text that is equal for two values exactly if they are the same value, whatever the order of members and the spelling
 * of numbers.
 *
 * @category comparing
 * @since 0.1.0
 */
export const key = (json: Json): string => {
  switch (json._tag) {
    case "Null":
      return "null"
    case "Boolean":
      return json.value ? "true" : "false"
    case "Number":
      return numberKey(json.text)
    case "String":
      return JSON.stringify(json.value)
    case "Array":
      return `[${json.items.map(key).join(",")}]`
    case "Object":
      return `{${
        [...json.members].sort(byName).map(([name, value]) => `${JSON.stringify(name)}:${key(value)}`).join(",")
      }}`
  }
}

/**
 * Whether two values are the same, numbers compared by their text.
 *
 * @category comparing
 * @since 0.1.0
 */
export const same = (left: Json, right: Json): boolean => {
  if (left === right) return true
  if (left._tag === "Null") return right._tag === "Null"
  if (left._tag === "Boolean") return right._tag === "Boolean" && left.value === right.value
  if (left._tag === "Number") return right._tag === "Number" && left.text === right.text
  if (left._tag === "String") return right._tag === "String" && left.value === right.value
  if (left._tag === "Array") {
    if (right._tag !== "Array" || left.items.length !== right.items.length) return false
    return left.items.every((item, index) => {
      const other = right.items[index]
      return other !== undefined && same(item, other)
    })
  }
  if (right._tag !== "Object" || left.members.size !== right.members.size) return false
  for (const [name, value] of left.members) {
    const other = right.members.get(name)
    if (other === undefined || !same(value, other)) return false
  }
  return true
}

/**
 * A member of an object; `undefined` where there is none, or no object.
 *
 * @category accessors
 * @since 0.1.0
 */
export const member = (json: Json | undefined, name: string): Json | undefined =>
  json?._tag === "Object" ? json.members.get(name) : undefined
