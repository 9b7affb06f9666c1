/**
 * Reads a file of Sallyport's own strictly: keys that are not known are wrong, and everything wrong is reported at once.
 *
 * **Details**
 *
 * A file that was misspelt must not be a weaker file. {@link document} reads the text, {@link make} gives the parts to
 * read its tables with; each notes what is wrong, with its place, and goes on. Messages begin with `of`: what the table
 * is, as in `rule "no-delete": `.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Document from "./Document.ts"
import * as words from "./Words.ts"

/**
 * Something wrong with a file: where, and a sentence that says what.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem extends Document.Place {
  readonly file: string
  readonly message: string
}

/**
 * A problem as one line, as compilers write it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = (problem: Problem): string =>
  `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`

/**
 * How much a file may hold: characters in all, and patterns in one list.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { text: 4 * 1024 * 1024, patterns: 256 }

const units: ReadonlyMap<string, number> = new Map([
  ["millis", 1],
  ["second", 1_000],
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000]
])

const durationOf = (text: string): Duration.Duration | undefined => {
  const found = /^([1-9][0-9]{0,8}) (millis|(?:second|minute|hour|day)s?)$/.exec(text)
  if (found === null) return undefined
  const unit = units.get(found[2] ?? "") ?? units.get((found[2] ?? "").slice(0, -1)) ?? 0
  return Duration.millis(Number(found[1]) * unit)
}

const saying = {
  String: "a string",
  Integer: "a number",
  Boolean: "true or false",
  Array: "a list",
  Table: "a table"
}

/**
 * What a value is, in words.
 *
 * @category formatting
 * @since 0.1.0
 */
export const said = (node: Document.Node): string => node._tag === "Other" ? node.what : saying[node._tag]

/**
 * The entries of a table by key.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = (key: string) => Document.Entry | undefined

/**
 * A string of the file and where it stands.
 *
 * @category models
 * @since 0.1.0
 */
export interface Placed {
  readonly at: Document.Place
  readonly value: string
}

const byPlace = (left: Problem, right: Problem): number =>
  left.line - right.line || left.column - right.column ||
  (left.message < right.message ? -1 : left.message > right.message ? 1 : 0)

/**
 * The tables of a text; the failure is what makes it no TOML.
 *
 * @category parsing
 * @since 0.1.0
 */
export const document = (text: string, file: string): Result.Result<Document.Table, Problem> => {
  const fail = (at: Document.Place, message: string) =>
    Result.fail<Problem>({ file, line: at.line, column: at.column, message })
  const start = { line: 1, column: 1 }
  if (text.length > limits.text) return fail(start, `the file is bigger than ${limits.text} characters`)
  if (text.startsWith("\ufeff")) {
    return fail(start, "the file begins with a byte order mark; save it as UTF-8 without one")
  }
  const nul = text.indexOf("\0")
  if (nul >= 0) {
    return fail(
      Document.placeIn(text, nul),
      "there is a NUL character, which no text has; the file may have been damaged when it was written"
    )
  }
  const root = Document.parse(text)
  return Result.isFailure(root) ? fail(root.failure, root.failure.message) : Result.succeed(root.success)
}

/**
 * The parts to read one file with. Each part is undefined where the key is absent or wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  /** What was found wrong so far, by place. */
  readonly errors: () => ReadonlyArray<Problem>
  /** What is surely not meant, but can be carried out, by place. */
  readonly warnings: () => ReadonlyArray<Problem>
  readonly note: (at: Document.Place, message: string) => undefined
  readonly warn: (at: Document.Place, message: string) => void
  /** Notes that a value is not what it must be. */
  readonly wrong: (entry: Document.Entry, of: string, key: string, must: string) => undefined
  /** The entries of a table, those with unknown keys noted. */
  readonly fields: (table: Document.Table, of: string, known: ReadonlyArray<string>) => Fields
  /** A string that is not empty. */
  readonly string: (of: string, get: Fields, key: string) => string | undefined
  /** One of some words. */
  readonly choice: <const A extends string>(
    of: string,
    get: Fields,
    key: string,
    choices: ReadonlyArray<A>
  ) => A | undefined
  readonly boolean: (of: string, get: Fields, key: string) => boolean | undefined
  /** A whole number from 1 to 1000000000. */
  readonly count: (of: string, get: Fields, key: string) => number | undefined
  /** A number and a unit, as in "5 minutes"; at most so many days. */
  readonly duration: (of: string, get: Fields, key: string, most: number) => Duration.Duration | undefined
  readonly table: (of: string, get: Fields, key: string) => Document.Table | undefined
  /** The tables of `[[key]]`, at most so many. */
  readonly list: (get: Fields, key: string, most: number) => ReadonlyArray<Document.Table>
  /** A pattern or a list of patterns; `compile` says what makes one unfit. */
  readonly patterns: (
    of: string,
    get: Fields,
    key: string,
    compile: (pattern: string) => Result.Result<unknown, string>
  ) => ReadonlyArray<Placed> | undefined
}

/**
 * The parts to read the file of this name with.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (file: string): Reader => {
  const errors: Array<Problem> = []
  const warnings: Array<Problem> = []
  const note = (at: Document.Place, message: string): undefined => {
    errors.push({ file, line: at.line, column: at.column, message })
  }
  const warn = (at: Document.Place, message: string): void => {
    warnings.push({ file, line: at.line, column: at.column, message })
  }
  const wrong = (entry: Document.Entry, of: string, key: string, must: string): undefined =>
    note(entry.node.at, `${of}${key} must be ${must}; this is ${said(entry.node)}`)

  const strings = (of: string, get: Fields, key: string, must: string): ReadonlyArray<Document.Node> | undefined => {
    const entry = get(key)
    if (entry === undefined) return undefined
    if (entry.node._tag === "String") return [entry.node]
    if (entry.node._tag !== "Array") return wrong(entry, of, key, must)
    if (entry.node.items.length === 0) return note(entry.node.at, `${of}${key} is an empty list and matches nothing`)
    if (entry.node.items.length > limits.patterns) {
      return note(entry.node.at, `${of}${key} has more than ${limits.patterns} items`)
    }
    return entry.node.items
  }

  return {
    errors: () => errors.toSorted(byPlace),
    warnings: () => warnings.toSorted(byPlace),
    note,
    warn,
    wrong,
    fields: (table, of, known) => {
      for (const [key, entry] of table.entries) {
        if (known.includes(key)) continue
        const near = words.nearest(key, known)
        note(
          entry.key,
          `${of}unknown key ${words.quote(key)}; ` +
            (near === undefined ? `the keys are ${known.join(", ")}` : `did you mean "${near}"?`)
        )
      }
      return (key) => table.entries.get(key)
    },
    string: (of, get, key) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      if (entry.node._tag !== "String") return wrong(entry, of, key, "a string")
      if (entry.node.value.trim() === "") return note(entry.node.at, `${of}${key} is empty`)
      return entry.node.value
    },
    choice: (of, get, key, choices) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      const must = words.either(choices.map((choice) => `"${choice}"`))
      if (entry.node._tag !== "String") return wrong(entry, of, key, must)
      const value = entry.node.value
      const chosen = choices.find((choice) => choice === value)
      if (chosen !== undefined) return chosen
      const near = words.nearest(value, choices)
      return note(
        entry.node.at,
        `${of}${key} must be ${must}; this is ${words.quote(value)}` +
          (near === undefined ? "" : `, did you mean "${near}"?`)
      )
    },
    boolean: (of, get, key) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      return entry.node._tag === "Boolean" ? entry.node.value : wrong(entry, of, key, "true or false")
    },
    count: (of, get, key) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      if (entry.node._tag !== "Integer") return wrong(entry, of, key, "a whole number")
      if (entry.node.value < 1n || entry.node.value > 1_000_000_000n) {
        return note(entry.node.at, `${of}${key} must be from 1 to 1000000000; this is ${entry.node.value}`)
      }
      return Number(entry.node.value)
    },
    duration: (of, get, key, most) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      const must = "a number and a unit (millis, seconds, minutes, hours, days), as in \"5 minutes\""
      if (entry.node._tag !== "String") return wrong(entry, of, key, must)
      const found = durationOf(entry.node.value)
      if (found === undefined) {
        return note(entry.node.at, `${of}${key} must be ${must}; this is ${words.quote(entry.node.value)}`)
      }
      if (Duration.toMillis(found) > most * 86_400_000) {
        return note(entry.node.at, `${of}${key} is longer than ${most === 1 ? "a day" : `${most} days`}`)
      }
      return found
    },
    table: (of, get, key) => {
      const entry = get(key)
      if (entry === undefined) return undefined
      return entry.node._tag === "Table" ? entry.node : wrong(entry, of, key, "a table")
    },
    list: (get, key, most) => {
      const entry = get(key)
      if (entry === undefined) return []
      if (entry.node._tag !== "Array") {
        note(entry.key, `${key} must be written as [[${key}]], one for each; this is ${said(entry.node)}`)
        return []
      }
      if (entry.node.items.length > most) note(entry.key, `there are more than ${most} ${key}`)
      return entry.node.items.flatMap((item) =>
        item._tag === "Table" ? [item] : (note(item.at, `${key} must hold tables; this is ${said(item)}`), [])
      )
    },
    patterns: (of, get, key, compile) => {
      const must = "a pattern or a list of patterns"
      return strings(of, get, key, must)?.flatMap((item) => {
        if (item._tag !== "String") {
          note(item.at, `${of}${key} must be ${must}; this item is ${said(item)}`)
          return []
        }
        const compiled = compile(item.value)
        if (Result.isSuccess(compiled)) return [{ at: item.at, value: item.value }]
        note(item.at, `${of}${key}: the pattern ${words.quote(item.value)} cannot be used: ${compiled.failure}`)
        return []
      })
    }
  }
}
