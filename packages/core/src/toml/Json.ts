/**
 * A JSON document as the same tree that a TOML document is, for files of others that are read by the same rules.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Document from "./Document.ts"

/** How deep values may be nested. */
const deepest = 64

const literals: ReadonlyMap<string, boolean | null> = new Map([["true", true], ["false", false], ["null", null]])

type Wrong = Document.Place & { readonly message: string }

/**
 * Reads a document; the failure says what is wrong with it as JSON, and where. A member name that is there twice is wrong.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Document.Node, Wrong> => {
  const checked = Result.try({ try: () => void JSON.parse(text), catch: (error) => String(error) })
  if (Result.isFailure(checked)) {
    const offset = Number(/ at position (\d+)/.exec(checked.failure)?.[1] ?? text.length)
    return Result.fail({ ...Document.placeIn(text, offset), message: "this is not JSON" })
  }

  // It is JSON. Line feeds stand between its parts only.
  let at = 0
  let line = 1
  let start = 0
  let wrong: Wrong | undefined
  const place = (): Document.Place => ({ line, column: at - start + 1 })
  const blank = (): void => {
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (unit === 0x0a) {
        line++
        start = at + 1
      } else if (unit !== 0x20 && unit !== 0x09 && unit !== 0x0d) return
    }
  }
  /** Steps over blanks and this character, where it is the next one. */
  const took = (character: string): boolean => {
    blank()
    if (text[at] !== character) return false
    at++
    return true
  }
  const string = (): Document.Node & { readonly _tag: "String" } => {
    const from = place()
    const begin = at
    for (at++; text[at] !== "\""; at++) if (text[at] === "\\") at++
    at++
    const value: unknown = JSON.parse(text.slice(begin, at))
    return { _tag: "String", at: from, value: String(value), range: [begin, at] }
  }

  const value = (depth: number): Document.Node => {
    blank()
    const from = place()
    if (depth >= deepest) {
      wrong ??= { ...from, message: "this is nested too deeply to be read" }
      at = text.length
      return { _tag: "Other", at: from, what: "nothing" }
    }
    if (text[at] === "\"") return string()
    if (took("[")) {
      const items: Array<Document.Node> = []
      if (took("]")) return { _tag: "Array", at: from, items }
      do items.push(value(depth + 1))
      while (took(","))
      took("]")
      return { _tag: "Array", at: from, items }
    }
    if (took("{")) {
      const entries = new Map<string, Document.Entry>()
      if (took("}")) return { _tag: "Table", at: from, entries }
      do {
        blank()
        if (at >= text.length) break
        const key = string()
        took(":")
        if (entries.has(key.value)) wrong ??= { ...key.at, message: "this key is there twice" }
        entries.set(key.value, { key: key.at, node: value(depth + 1) })
      } while (took(","))
      took("}")
      return { _tag: "Table", at: from, entries }
    }
    const word = /^[-+.0-9a-zA-Z]+/.exec(text.slice(at, at + 1_024))?.[0] ?? ""
    at += word.length
    const literal = literals.get(word)
    if (literal === null) return { _tag: "Other", at: from, what: "null" }
    if (literal !== undefined) return { _tag: "Boolean", at: from, value: literal }
    return /^-?\d{1,100}$/.test(word)
      ? { _tag: "Integer", at: from, value: BigInt(word) }
      : { _tag: "Other", at: from, what: "a number with a fraction" }
  }

  const root = value(0)
  return wrong === undefined ? Result.succeed(root) : Result.fail(wrong)
}
