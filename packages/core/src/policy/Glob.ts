/**
 * Patterns for names: `*` is any text, `?` any one character, `[a-z]` one of a set, `[!a-z]` one not of it, `{a,b}`
 * either text. A backslash takes the next character as it is.
 *
 * **Details**
 *
 * `*` also matches `/`: names of tools have no parts, and a URI that is matched by its beginning is what a rule means.
 * Matching never tries a star twice: its cost is at most the length of the name times that of the pattern.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

type Token =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Any" }
  | { readonly _tag: "Set"; readonly not: boolean; readonly ranges: ReadonlyArray<readonly [from: number, to: number]> }

/** What stands between stars: tokens of one character each, as they must follow each other. */
type Part = ReadonlyArray<Token>

/**
 * A compiled pattern. `literal` is the only name that it matches, where there is only one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Glob {
  readonly source: string
  readonly literal: string | undefined
  /** Whether it matches every name. */
  readonly all: boolean
  /** How many steps matching a name of this length takes at most. */
  readonly cost: (length: number) => number
  readonly matches: (name: string) => boolean
}

/**
 * The longest pattern, and how many patterns one with braces may stand for.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { length: 1024, alternatives: 64 }

/** The texts that a pattern with braces stands for; a reason where it cannot be read. */
const expand = (source: string): Result.Result<ReadonlyArray<string>, string> => {
  let all: Array<string> = [""]
  let at = 0
  while (at < source.length) {
    const c = source.charAt(at)
    if (c === "\\") {
      if (at + 1 === source.length) return Result.fail("it ends with a backslash")
      const escaped = source.slice(at, at + 2)
      all = all.map((head) => head + escaped)
      at += 2
    } else if (c === "[") {
      const end = setEnd(source, at)
      if (end === undefined) return Result.fail(`the "[" at character ${at + 1} is never closed`)
      const set = source.slice(at, end)
      all = all.map((head) => head + set)
      at = end
    } else if (c === "{") {
      const choices: Array<string> = []
      let choice = ""
      let closed = false
      let p = at + 1
      for (; p < source.length && !closed; p++) {
        const d = source.charAt(p)
        if (d === "{") return Result.fail(`the "{" at character ${p + 1} stands inside another`)
        if (d === "," || d === "}") {
          choices.push(choice)
          choice = ""
          closed = d === "}"
        } else if (d === "\\") {
          choice += source.slice(p, p + 2)
          p++
        } else choice += d
      }
      if (!closed) return Result.fail(`the "{" at character ${at + 1} is never closed`)
      if (choices.length < 2) return Result.fail(`the "{" at character ${at + 1} offers no choice; write {a,b}`)
      all = all.flatMap((head) => choices.map((choice) => head + choice))
      if (all.length > limits.alternatives) {
        return Result.fail(`its braces stand for more than ${limits.alternatives} patterns; write a list`)
      }
      at = p
    } else {
      if (c === "}" || c === "]") return Result.fail(`the "${c}" at character ${at + 1} was never opened`)
      all = all.map((head) => head + c)
      at++
    }
  }
  return Result.succeed(all)
}

/** The index after the set that begins at `at`; a `]` right after the opening is a member. */
const setEnd = (source: string, at: number): number | undefined => {
  let p = at + 1
  if (source.charAt(p) === "!") p++
  p += source.charAt(p) === "]" ? 1 : 0
  const end = source.indexOf("]", p)
  return end < 0 ? undefined : end + 1
}

const setOf = (text: string): Result.Result<Token, string> => {
  const not = text.charAt(1) === "!"
  const inner = Array.from(text.slice(not ? 2 : 1, -1), (c) => c.codePointAt(0) ?? 0)
  const ranges: Array<readonly [number, number]> = []
  for (let i = 0; i < inner.length; i++) {
    const from = inner[i] ?? 0
    const to = inner[i + 2]
    if (inner[i + 1] === 0x2d && to !== undefined) {
      if (to < from) return Result.fail(`the set ${text} has a range that runs backwards`)
      ranges.push([from, to])
      i += 2
    } else ranges.push([from, from])
  }
  return ranges.length === 0 ? Result.fail(`the set ${text} is empty`) : Result.succeed({ _tag: "Set", not, ranges })
}

const partsOf = (source: string): Result.Result<ReadonlyArray<Part>, string> => {
  const parts: Array<Part> = []
  let part: Array<Token> = []
  let text = ""
  const flush = () => {
    if (text !== "") part.push({ _tag: "Text", text })
    text = ""
  }
  for (let at = 0; at < source.length; at++) {
    const c = source.charAt(at)
    if (c === "*") {
      flush()
      parts.push(part)
      part = []
    } else if (c === "?") {
      flush()
      part.push({ _tag: "Any" })
    } else if (c === "[") {
      flush()
      const end = setEnd(source, at) ?? source.length
      const set = setOf(source.slice(at, end))
      if (Result.isFailure(set)) return Result.fail(set.failure)
      part.push(set.success)
      at = end - 1
    } else {
      if (c === "\\") at++
      text += source.charAt(at)
    }
  }
  flush()
  parts.push(part)
  return Result.succeed(parts)
}

/** Where the part ends if it stands at `at`; -1 if it does not stand there. */
const stands = (part: Part, name: string, at: number): number => {
  for (const token of part) {
    if (token._tag === "Text") {
      if (!name.startsWith(token.text, at)) return -1
      at += token.text.length
      continue
    }
    const code = name.codePointAt(at)
    if (code === undefined) return -1
    if (token._tag === "Set" && token.ranges.some(([from, to]) => from <= code && code <= to) === token.not) return -1
    at += code > 0xffff ? 2 : 1
  }
  return at
}

/** The first place where the part stands, from `from` on, and where it ends; undefined if nowhere. */
const seek = (part: Part, name: string, from: number): number | undefined => {
  const first = part[0]
  for (let at = from; at <= name.length; at++) {
    if (first?._tag === "Text") {
      at = name.indexOf(first.text, at)
      if (at < 0) return undefined
    }
    const end = stands(part, name, at)
    if (end >= 0) return end
  }
  return undefined
}

/** Whether the part stands at the very end, not before `from`. */
const endsWith = (part: Part, name: string, from: number): boolean => {
  // A character may be one or two code units, so the place is counted back by characters.
  let at = name.length
  for (let i = part.length - 1; i >= 0; i--) {
    const token = part[i]
    if (token?._tag === "Text") at -= token.text.length
    else {
      const low = name.charCodeAt(at - 1)
      const high = name.charCodeAt(at - 2)
      at -= low >= 0xdc00 && low < 0xe000 && high >= 0xd800 && high < 0xdc00 ? 2 : 1
    }
    if (at < from) return false
  }
  return stands(part, name, at) === name.length
}

const matcher = (parts: ReadonlyArray<Part>): (name: string) => boolean => {
  const first = parts[0] ?? []
  const last = parts.at(-1) ?? []
  if (parts.length === 1) return (name) => stands(first, name, 0) === name.length
  const middle = parts.slice(1, -1).filter((part) => part.length > 0)
  return (name) => {
    let at = stands(first, name, 0)
    if (at < 0) return false
    for (const part of middle) {
      const end = seek(part, name, at)
      if (end === undefined) return false
      at = end
    }
    return endsWith(last, name, at)
  }
}

/**
 * Compiles a pattern; the failure says what is wrong with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (source: string): Result.Result<Glob, string> => {
  if (source === "") return Result.fail("it is empty and matches nothing")
  if (source.length > limits.length) return Result.fail(`it is longer than ${limits.length} characters`)
  const expanded = expand(source)
  if (Result.isFailure(expanded)) return Result.fail(expanded.failure)
  const all: Array<ReadonlyArray<Part>> = []
  for (const alternative of expanded.success) {
    const parts = partsOf(alternative)
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    all.push(parts.success)
  }
  const only = all.length === 1 && all[0]?.length === 1 ? all[0][0] ?? [] : undefined
  const literal = only?.length === 1 && only[0]?._tag === "Text" ? only[0].text : undefined
  const everything = all.some((parts) => parts.length > 1 && parts.every((part) => part.length === 0))
  const matchers = all.map(matcher)
  // A part between two stars may be tried at each place of the name; one at an end only there.
  const tries = all.reduce((sum, parts) => sum + parts.slice(1, -1).reduce((n, part) => n + part.length + 1, 0), 0)
  return Result.succeed({
    source,
    literal,
    all: everything,
    cost: (length) => literal !== undefined || everything ? 0 : all.length + ((length * tries) >> 4),
    matches: literal !== undefined
      ? (name) => name === literal
      : everything
      ? () => true
      : (name) => matchers.some((matches) => matches(name))
  })
}
