/**
 * `sallyport ledger export`.
 *
 * @since 0.1.0
 */
import * as Read from "@sallyport/core/ledger/Read"
import * as Visible from "@sallyport/core/pin/Visible"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import { Files } from "@sallyport/core/store/Files"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { resolve } from "node:path"
import { ending } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"
import * as Entry from "./ledgerEntry.ts"

const columns = [
  "time",
  "segment",
  "run",
  "seq",
  "type",
  "client",
  "server",
  "from",
  "method",
  "name",
  "reason",
  "rule",
  "of",
  "was",
  "code",
  "count",
  "digest",
  "pin",
  "text"
] as const

/** A spreadsheet takes a cell that begins like this for a formula, and the text may be a server's. */
const formula = /^[=+\-@]/

const quoted = (text: string): string => /[",]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text

const cell = (value: unknown): string => {
  if (typeof value !== "string") return value === undefined || value === null ? "" : String(value)
  const text = Visible.line(value)
  return quoted(formula.test(text) ? `'${text}` : text)
}

const known: ReadonlySet<string> = new Set(columns)

/** One row; what has no column of its own stands in the last one, as JSON. */
const row = (entry: Read.Listed): string => {
  const members: Record<string, unknown> = Entry.toJson(entry)
  const rest = Object.entries(members).filter(([name, value]) =>
    !known.has(name) && name !== "line" && value !== undefined
  )
  return [
    ...columns.map((name) => cell(members[name])),
    rest.length === 0 ? "" : quoted(Output.jsonLine(Object.fromEntries(rest)))
  ].join(",")
}

const formats = {
  jsonl: { head: [], line: (entry: Read.Listed): string => Output.jsonLine(Entry.toJson(entry)) },
  csv: { head: [[...columns, "more"].join(",")], line: row }
}

/** Where the lines go: a new file, or stdout. */
const sink = Effect.fnUntraced(function*(output: string | undefined) {
  if (output === undefined) return { write: (text: string) => Output.print(text) }
  const files = yield* Files
  const path = resolve(output)
  const appender = yield* Effect.acquireRelease(files.appender(path, "create"), (appender) => appender.close)
  return {
    // Half an export is worse than none.
    write: (text: string) => Effect.onError(appender.append(text), () => Effect.ignore(files.remove(path)))
  }
})

/**
 * `sallyport ledger export`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "export",
  {
    format: Flag.Literals("format", ["jsonl", "csv"]).pipe(
      Flag.withMetavar("jsonl|csv"),
      Flag.withDescription("one JSON object a line, or a table (default: jsonl)"),
      Flag.withDefault("jsonl")
    ),
    output: Flag.String("output").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("a new file (default: stdout)"),
      Flag.optional
    ),
    ...Entry.flags,
    state: State.flag,
    json: State.json
  },
  ({ format, json, output, state, ...chosen }) =>
    ending(
      Effect.gen(function*() {
        const opened = yield* State.open(state)
        const wanted = Read.matches(yield* Entry.filter(chosen))
        const { head, line } = formats[json ? "jsonl" : format]
        const path = Option.getOrUndefined(output)
        const out = yield* sink(path)
        let lines: Array<string> = [...head]
        let count = 0
        const flush = Effect.suspend(() => {
          if (lines.length === 0) return Effect.void
          const text = lines.join("\n") + "\n"
          lines = []
          return out.write(text)
        })
        const { unreadable } = yield* LedgerFolder.scan(opened.ledgerFolder, (entry) => {
          if (!wanted(entry)) return
          lines.push(line(entry))
          count++
        }, flush)
        yield* flush
        if (path !== undefined) {
          yield* Output.print(`${Output.count(count, "entry", "entries")} in ${Visible.line(path)}.`)
        }
        if (unreadable > 0) {
          yield* Output.warn(
            `${Output.count(unreadable, "line")} could not be read; sallyport ledger verify${opened.option} says why`
          )
        }
      }).pipe(Effect.scoped)
    )
).pipe(
  Command.withDescription("Write entries out, run by run, as lines of JSON or as CSV"),
  Command.withExamples([{
    command: "sallyport ledger export --format csv --output ledger.csv",
    description: "A table for a spreadsheet"
  }])
)
