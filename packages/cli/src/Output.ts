/**
 * What commands print: tables of 80 columns, and JSON.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"

/**
 * The columns that everything fits in.
 *
 * @category constants
 * @since 0.1.0
 */
export const columns = 80

/**
 * Prints a text on stdout, without the line feed that may end it.
 *
 * @category printing
 * @since 0.1.0
 */
export const print = (text: string): Effect.Effect<void> => Console.log(text.endsWith("\n") ? text.slice(0, -1) : text)

/**
 * Says something on stderr that is not what was asked for.
 *
 * @category printing
 * @since 0.1.0
 */
export const warn = (sentence: string): Effect.Effect<void> => Console.error(`sallyport: ${sentence}`)

/**
 * JSON in ASCII: what a terminal would act on, or a reader would not see, is escaped, and still the same JSON.
 *
 * @category conversions
 * @since 0.1.0
 */
export const json = (value: unknown): string => ascii(JSON.stringify(value, undefined, 2) ?? "null")

/**
 * The same on one line.
 *
 * @category conversions
 * @since 0.1.0
 */
export const jsonLine = (value: unknown): string => ascii(JSON.stringify(value) ?? "null")

const ascii = (json: string): string =>
  json.replace(/[^\n\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Prints a value as JSON.
 *
 * @category printing
 * @since 0.1.0
 */
export const printJson = (value: unknown): Effect.Effect<void> => Console.log(json(value))

/**
 * Rows under headings. Each column is as wide as its widest cell, the last one takes what is left and goes on in the next
 * line, so that nothing is cut. Cells are text of ours, or went through `Visible`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = headings.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => at === headings.length - 1 ? 0 : (row[at] ?? "").length))
  )
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
  const room = Math.max(20, columns - before)
  const draw = (row: ReadonlyArray<string>): string => {
    const start = row.slice(0, -1).map((cell, at) => cell.padEnd((widths[at] ?? 0) + 2)).join("")
    return Visible.wrap(row.at(-1) ?? "", room)
      .map((part, index) => `${index === 0 ? start : " ".repeat(before)}${part.trim()}`.trimEnd())
      .join("\n")
  }
  return [headings, ...rows].map(draw).join("\n")
}

/**
 * A sentence in lines of 80 columns.
 *
 * @category conversions
 * @since 0.1.0
 */
export const wrapped = (text: string, indent = ""): string =>
  Visible.wrap(text, columns - indent.length).map((line) => `${indent}${line.trim()}`).join("\n")

/**
 * A time as people read it: `2026-03-01 12:30:05`, in UTC.
 *
 * @category conversions
 * @since 0.1.0
 */
export const time = (iso: string): string => Visible.short(iso, 32).replace("T", " ").replace(/(?:\.\d+)?Z$/, "")

/**
 * An amount with its noun.
 *
 * @category conversions
 * @since 0.1.0
 */
export const count = (amount: number, one: string, many: string = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : many}`

/**
 * A text, and behind it what could not be read beside it: a sentence for each file.
 *
 * @category conversions
 * @since 0.1.0
 */
export const unreadable = (sentences: ReadonlyArray<string>, text: string): string =>
  sentences.length === 0
    ? text
    : [text, "", "Could not be read:", ...sentences.map((sentence) => wrapped(Visible.again(sentence), "  "))].join(
      "\n"
    )
