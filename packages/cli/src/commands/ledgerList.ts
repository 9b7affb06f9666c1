/**
 * `sallyport ledger list`, `ledger tail` and `ledger show`.
 *
 * @since 0.1.0
 */
import * as Read from "@sallyport/core/ledger/Read"
import * as Visible from "@sallyport/core/pin/Visible"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"
import * as Entry from "./ledgerEntry.ts"

const last = Flag.Int("last").pipe(
  Flag.withMetavar("N"),
  Flag.withDescription("only the newest N"),
  Flag.filter((last) => last > 0, () => "give at least 1")
)

const unreadableLines = (unreadable: number, state: State.State): string =>
  `\n${Output.count(unreadable, "line")} could not be read; sallyport ledger verify${state.option} says why.`

/**
 * `sallyport ledger list`.
 *
 * @category commands
 * @since 0.1.0
 */
export const list = Command.make(
  "list",
  { last: Flag.optional(last), ...Entry.flags, state: State.flag, json: State.json },
  ({ json, last, state, ...chosen }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const wanted = Read.matches(yield* Entry.filter(chosen))
      const kept = Read.keeper(Option.getOrUndefined(last))
      let any = false
      const { unreadable } = yield* LedgerFolder.scan(opened.ledgerFolder, (entry) => {
        any = true
        if (wanted(entry)) kept.add(entry)
      })
      const found = kept.sorted()
      if (json) {
        yield* Output.printJson({ entries: found.map(Entry.toJson), unreadable })
        return
      }
      yield* Output.print(
        found.length > 0
          ? Entry.draw(found)
          : any
          ? "There is no such entry."
          : `Nothing is recorded yet, in ${Visible.line(opened.ledgerFolder)}.`
      )
      if (unreadable > 0) yield* Output.print(unreadableLines(unreadable, opened))
    }))
).pipe(
  Command.withDescription("List what was decided and what came of it"),
  Command.withExamples([{
    command: "sallyport ledger list --refused --since 2h",
    description: "What was refused in the last two hours"
  }])
)

/**
 * `sallyport ledger tail`.
 *
 * @category commands
 * @since 0.1.0
 */
export const tail = Command.make(
  "tail",
  {
    last: Flag.withDefault(last, 10),
    follow: Flag.Boolean("follow").pipe(
      Flag.withAlias("f"),
      Flag.withDescription("go on with what is recorded from now on"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    ...Entry.flags,
    state: State.flag,
    json: State.json
  },
  ({ follow, json, last, state, ...chosen }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const wanted = Read.matches(yield* Entry.filter(chosen))
      const next = yield* LedgerFolder.follow(opened.ledgerFolder)
      const show = Effect.fnUntraced(function*(count: number | undefined) {
        const kept = Read.keeper(count)
        yield* next((entry) => wanted(entry) ? kept.add(entry) : undefined)
        const found = kept.sorted()
        if (found.length === 0) return
        yield* Output.print(
          json ? found.map((entry) => Output.jsonLine(Entry.toJson(entry))).join("\n") : Entry.drawRows(found)
        )
      })
      yield* show(last)
      if (follow) return yield* Effect.forever(Effect.andThen(Effect.sleep("500 millis"), show(undefined)))
    }))
).pipe(
  Command.withDescription("The newest entries, and with --follow those to come; with --json one line of JSON each"),
  Command.withShortDescription("The newest entries, and those to come"),
  Command.withExamples([{
    command: "sallyport ledger tail --follow --refused",
    description: "See refusals as they happen"
  }])
)

// ---- show

/** `12`, or `SEGMENT:12` where the beginning of a segment's name, or of a run's, is given. */
const place = /^(?:([0-9a-zA-Z.-]+):)?([1-9]\d{0,15})$/

const isAt = (entry: Read.Listed, where: string | undefined): boolean =>
  where === undefined || entry.segment.startsWith(where) || entry.run.startsWith(where)

const value = (member: unknown): string =>
  typeof member === "string"
    ? Visible.short(member, 1000)
    : Array.isArray(member) && member.every((one) => typeof one === "string")
    ? member.map((one) => Visible.short(one, 200)).join(", ")
    : Array.isArray(member)
    ? member.map((one) => Visible.short(JSON.stringify(one), 400)).join(", ")
    : String(member)

const drawWhole = (entry: Read.Listed): ReadonlyArray<string> => {
  const { event, line, run, segment, seq, time } = entry
  const { text, type, ...members } = { text: undefined, ...event }
  return [
    `${segment}:${seq}`,
    ...Output.table(["", ""], [
      ["time", Output.time(time)],
      ["run", run],
      ["line", String(line)],
      ["type", type],
      ...Object.entries(members).flatMap(([name, member]) => member === undefined ? [] : [[name, value(member)]])
    ]).split("\n").slice(1).map((row) => `  ${row}`),
    ...(text === undefined ? [] : ["  text", ...Visible.block(text, { columns: Output.columns, indent: "  " })])
  ]
}

/** What belongs to an entry: its call, or what came of it. */
const belongs = (entry: Read.Listed, other: Read.Listed): boolean =>
  entry.run === other.run && entry !== other &&
  (("of" in other.event && other.event.of === entry.seq) || ("of" in entry.event && entry.event.of === other.seq))

/**
 * `sallyport ledger show`.
 *
 * @category commands
 * @since 0.1.0
 */
export const show = Command.make(
  "show",
  {
    entry: Argument.String("ENTRY").pipe(
      Argument.withMetavar("[SEGMENT:]NO"),
      Argument.withDescription(
        "the number of the entry; with the beginning of a segment or run where it is not the only one"
      ),
      Argument.filter((given) => place.test(given), (given) => `${JSON.stringify(given)} is not NO or SEGMENT:NO`)
    ),
    state: State.flag,
    json: State.json
  },
  ({ entry: given, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const [, where, number] = place.exec(given) ?? []
      const seq = Number(number)
      const found: Array<Read.Listed> = []
      const others: Array<Read.Listed> = []
      // One pass tells which entries there are, another one what belongs to the one that is meant.
      yield* LedgerFolder.scan(opened.ledgerFolder, (entry) => {
        if (entry.seq === seq && isAt(entry, where)) found.push(entry)
      })
      const [only, ...more] = found
      if (only === undefined) {
        return yield* new Failure({
          message: `there is no entry ${given} in ${Visible.line(opened.ledgerFolder)}; ` +
            `sallyport ledger list${opened.option} names them`
        })
      }
      if (more.length > 0) {
        return yield* new Failure({
          message: [
            `each process numbers its own entries, so there are ${found.length} of number ${seq}. Say which one:`,
            ...found.slice(-20).map((entry) =>
              `  ${entry.segment.slice(0, -".jsonl".length)}:${seq}  ${entry.server ?? "-"}  ${entry.event.type}`
            )
          ].join("\n")
        })
      }
      yield* LedgerFolder.scan(opened.ledgerFolder, (entry) => {
        if (belongs(only, entry)) others.push(entry)
      })
      if (json) {
        yield* Output.printJson({ entry: Entry.toJson(only), linked: others.map(Entry.toJson) })
        return
      }
      yield* Output.print([
        ...drawWhole(only),
        ...others.flatMap((entry) => ["", ...drawWhole(entry)]),
        ...(only.event.type === "call" && others.length === 0 ? ["", "Nothing is recorded of what came of it."] : [])
      ].join("\n"))
    }))
).pipe(Command.withDescription("One entry whole, with what came of it"))
