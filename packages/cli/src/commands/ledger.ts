/**
 * `sallyport ledger list` and `sallyport ledger verify`.
 *
 * @since 0.1.0
 */
import type { Event, Omitted } from "@sallyport/core/ledger/Entry"
import * as Read from "@sallyport/core/ledger/Read"
import type * as Verify from "@sallyport/core/ledger/Verify"
import * as Visible from "@sallyport/core/pin/Visible"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ancestry from "../Ancestry.ts"
import type { ExitCode } from "../ExitCode.ts"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"

// ---- list

type Type = (Event | Omitted)["type"]

/** Every type, as a record so that none can be forgotten. */
const types: { readonly [K in Type]: K } = {
  session: "session",
  call: "call",
  refuse: "refuse",
  repeated: "repeated",
  outcome: "outcome",
  checked: "checked",
  released: "released",
  held: "held",
  withheld: "withheld",
  trusted: "trusted",
  observed: "observed",
  accepted: "accepted",
  "approval-asked": "approval-asked",
  "approval-given": "approval-given",
  "approval-denied": "approval-denied",
  "approval-expired": "approval-expired",
  "approval-withdrawn": "approval-withdrawn",
  dropped: "dropped",
  ended: "ended",
  clock: "clock",
  fault: "fault",
  mended: "mended",
  rekeyed: "rekeyed",
  archived: "archived",
  omitted: "omitted"
}

const text = (value: string): string => Visible.short(value, 120)

const names = (items: ReadonlyArray<{ readonly kind: string; readonly name: string }>): string => {
  const shown = items.slice(0, 8).map(({ kind, name }) =>
    kind === "launch" ? "the launch" : name === "" ? `a ${text(kind)} without a name` : Visible.name(name)
  )
  return `${shown.join(", ")}${items.length > 8 ? ` and ${items.length - 8} more` : ""}`
}

/**
 * What an entry says, on one line and without any argument of a command.
 *
 * @category conversions
 * @since 0.1.0
 */
export const says = (event: Event | Omitted): string => {
  switch (event.type) {
    case "session":
      return `${text(event.client)} began${
        event.loosened.length === 0 ? "" : `; loosened: ${event.loosened.map(text).join(", ")}`
      }`
    case "call":
      return `${event.from === "server" ? "the server asks " : ""}${text(event.method)}${
        event.name === undefined ? "" : ` ${Visible.name(event.name)}`
      }${event.rule === undefined ? "" : ` by ${text(event.rule)}`}`
    case "refuse":
      return `${event.from === "server" ? "the server asked " : ""}${text(event.method)}${
        event.name === undefined ? "" : ` ${Visible.name(event.name)}`
      }: ${text(event.reason)}${event.rule === undefined ? "" : ` by ${text(event.rule)}`}`
    case "outcome":
      return `of ${event.of}: ${event.was}${event.code === undefined ? "" : ` ${event.code}`}`
    case "repeated":
      return `${event.from === "server" ? "the server asked, " : ""}${Output.count(event.count, "time")} more: ${
        text(event.reason)
      }`
    case "checked":
      return `of ${event.of}: ${event.did}${event.id === undefined ? "" : ` ${text(event.id)}`}: ${
        event.found.map(text).join(", ")
      }`
    case "released":
      return text(event.id)
    case "held":
    case "withheld":
    case "trusted":
    case "observed":
      return names(event.items)
    case "accepted":
      return `${event.how}: ${names(event.items)}`
    case "approval-asked":
    case "approval-given":
    case "approval-denied":
    case "approval-expired":
    case "approval-withdrawn":
      return `${text(event.id)}: ${text(event.method)}${
        event.name === undefined ? "" : ` ${Visible.name(event.name)}`
      } by ${text(event.rule)}${event.channel === undefined ? "" : `, ${event.channel}`}`
    case "dropped":
      return `${event.count} by ${text(event.reason)}`
    case "ended":
      return text(event.how)
    case "clock":
      return `it is ${Output.count(Math.round(event.back / 1000), "second")} behind what was recorded before`
    case "fault":
      return text(event.why)
    case "rekeyed":
    case "archived":
      return event.segments.map(({ segment }) => text(segment)).join(", ")
    case "mended":
      return event.segments.map(text).join(", ")
    case "omitted":
      return `${Output.count(event.count, "entry", "entries")} could not be kept`
  }
}

/**
 * Entries as a table.
 *
 * @category conversions
 * @since 0.1.0
 */
export const draw = (entries: ReadonlyArray<Read.Listed>): string =>
  Output.table(
    ["TIME", "SERVER", "NO", "TYPE", "WHAT"],
    entries.map(({ event, seq, server, time }) => [
      Output.time(time),
      Visible.short(server ?? "-", 32),
      String(seq),
      event.type,
      says(event)
    ])
  )

const list = Command.make(
  "list",
  {
    last: Flag.Int("last").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("only the newest N"),
      Flag.filter((last) => last > 0, () => "give at least 1"),
      Flag.optional
    ),
    type: Flag.Literals("type", Object.values(types)).pipe(
      Flag.withMetavar("T"),
      Flag.withDescription("only of this type"),
      Flag.optional
    ),
    server: Flag.String("server").pipe(
      Flag.withMetavar("S"),
      Flag.withDescription("only of this server"),
      Flag.optional
    ),
    state: State.flag,
    json: State.json
  },
  ({ json, last, server, state, type }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { entries, unreadable } = yield* State.entries(opened)
      const found = Read.list(entries, {
        last: Option.getOrUndefined(last),
        server: Option.getOrUndefined(server),
        type: Option.getOrUndefined(Option.map(type, (one) => [one]))
      })
      if (json) {
        yield* Output.printJson({
          entries: found.map(({ event, line, run, segment, seq, server, time }) => ({
            time,
            server: server ?? null,
            seq,
            run,
            segment,
            line,
            ...event
          })),
          unreadable
        })
        return
      }
      yield* Output.print(
        found.length > 0
          ? draw(found)
          : entries.length > 0
          ? "There is no such entry."
          : `Nothing is recorded yet, in ${Visible.line(opened.ledgerFolder)}.`
      )
      if (unreadable > 0) {
        yield* Output.print(
          `\n${Output.count(unreadable, "line")} could not be read; sallyport ledger verify${opened.option} says why.`
        )
      }
    }))
).pipe(
  Command.withDescription("List what was decided and what came of it"),
  Command.withExamples([{
    command: "sallyport ledger list --type refuse --last 20",
    description: "The newest refusals"
  }])
)

// ---- verify

const codes: { readonly [K in Verify.Report["status"]]: ExitCode } = { ok: 0, mended: 21, torn: 20, broken: 20 }

const tornLine = (folder: string) => ({ bytes, line, segment }: Verify.Torn): string =>
  `${folder}/${segment}:${line}: it ends in ${Output.count(bytes, "byte")} that were never finished`

const lines = (report: Verify.Report, state: State.State): ReadonlyArray<string> => {
  const folder = Visible.line(state.ledgerFolder)
  const size = `${Output.count(report.entries, "entry", "entries")} in ${Output.count(report.segments, "segment")}`
  switch (report.status) {
    case "ok":
      return [`The ledger verifies: ${size}.`]
    case "mended":
      return [...report.mended.map(tornLine(folder)), `The ledger verifies after a mending: ${size}.`]
    case "torn":
      return [
        ...report.torn.map(tornLine(folder)),
        "The ledger verifies up to there: a process was ended while it wrote, or the end was cut off.",
        `To record these ends as they are now: sallyport ledger verify --mend${state.option}`
      ]
    case "broken":
      return [
        ...report.problems.map(({ line, segment, why }) =>
          `${folder}/${Visible.line(segment)}:${line}: ${Visible.short(why, 400)}`
        ),
        `The ledger does not verify: ${Output.count(report.problems.length, "problem")}, ${size}.`,
        "Keep the folder as it is, and compare it with a copy or an anchor."
      ]
  }
}

const verify = Command.make(
  "verify",
  {
    mend: Flag.Boolean("mend").pipe(
      Flag.withDescription("record the unfinished ends of segments first, as they are now"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    state: State.flag,
    json: State.json
  },
  ({ json, mend, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      if (mend) {
        const refused = Ancestry.refusal(yield* (yield* Ancestry.Ancestry).parents, false)
        if (refused !== undefined) return yield* new Failure({ message: `nothing was recorded: ${refused}` })
      }
      const report = yield* (mend ? LedgerFolder.mend : LedgerFolder.verify)(opened.ledgerFolder)
      if (json) yield* Output.printJson({ folder: opened.ledgerFolder, ...report })
      else yield* Output.print(lines(report, opened).join("\n"))
      return codes[report.status]
    }))
).pipe(
  Command.withDescription("Verify the ledger: exit 0, 20 where it does not hold, 21 after a mending"),
  Command.withShortDescription("Verify the ledger")
)

/**
 * `sallyport ledger`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("ledger").pipe(
  Command.withDescription("Read and verify what was recorded"),
  Command.withSubcommands([list, verify])
)
