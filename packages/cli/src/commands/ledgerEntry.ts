/**
 * How entries of the ledger are chosen and shown.
 *
 * @since 0.1.0
 */
import type { Event, Omitted } from "@sallyport/core/ledger/Entry"
import { makeTimes } from "@sallyport/core/ledger/Line"
import type * as Read from "@sallyport/core/ledger/Read"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Output from "../Output.ts"

/**
 * The type of an entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Type = (Event | Omitted)["type"]

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
  rejected: "rejected",
  forgotten: "forgotten",
  "approval-asked": "approval-asked",
  "approval-given": "approval-given",
  "approval-denied": "approval-denied",
  "approval-expired": "approval-expired",
  "approval-withdrawn": "approval-withdrawn",
  policy: "policy",
  judged: "judged",
  dropped: "dropped",
  repaired: "repaired",
  bridged: "bridged",
  lowered: "lowered",
  ended: "ended",
  clock: "clock",
  fault: "fault",
  mended: "mended",
  rekeyed: "rekeyed",
  archived: "archived",
  omitted: "omitted"
}

// ---- choosing

/** `2026`, `2026-03-01`, `2026-03-01 12:30`, ... as far as one likes, in UTC. */
const instant = /^\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?)?)?)?$/
const ago = /^(\d{1,6})([smhd])$/
const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }
const isUnit = (unit: string | undefined): unit is keyof typeof seconds => unit !== undefined && unit in seconds

/**
 * A time as the ledger has it, or the beginning of one.
 *
 * @category conversions
 * @since 0.1.0
 */
export const beginning = (given: string): Effect.Effect<string> =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const [, amount, unit] = ago.exec(given) ?? []
    return isUnit(unit)
      ? makeTimes()(now - Number(amount) * seconds[unit] * 1000)
      : given.replace(" ", "T").replace("Z", "")
  })

/**
 * A flag for a time.
 *
 * @category flags
 * @since 0.1.0
 */
export const time = (name: string, says: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("TIME"),
    Flag.withDescription(says),
    Flag.filter(
      (given) => instant.test(given) || ago.test(given),
      (given) => `${JSON.stringify(given)} is no time; give 2026-03-01, "2026-03-01 12:30" (UTC), or 30m, 2h, 7d (ago)`
    )
  )

/**
 * The flags that choose entries.
 *
 * @category flags
 * @since 0.1.0
 */
export const flags = {
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
  client: Flag.String("client").pipe(
    Flag.withMetavar("C"),
    Flag.withDescription("only of this client"),
    Flag.optional
  ),
  refused: Flag.Boolean("refused").pipe(
    Flag.withDescription("only what was refused"),
    Flag.withoutNegation,
    Flag.withDefault(false)
  ),
  since: Flag.optional(time("since", "only from then on: 2026-03-01, or 2h for two hours ago")),
  until: Flag.optional(time("until", "only up to then"))
}

/**
 * What the flags gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Chosen {
  readonly type: Option.Option<Type>
  readonly server: Option.Option<string>
  readonly client: Option.Option<string>
  readonly refused: boolean
  readonly since: Option.Option<string>
  readonly until: Option.Option<string>
}

const refusals: ReadonlyArray<Type> = ["refuse", "repeated"]

/**
 * The filter that the flags mean.
 *
 * @category constructors
 * @since 0.1.0
 */
export const filter = Effect.fnUntraced(function*(chosen: Chosen) {
  const type = Option.getOrUndefined(chosen.type)
  const of = (given: Option.Option<string>) => Option.isNone(given) ? Effect.undefined : beginning(given.value)
  const found: Read.Filter = {
    server: Option.getOrUndefined(chosen.server),
    client: Option.getOrUndefined(chosen.client),
    type: chosen.refused
      ? refusals.filter((one) => type === undefined || one === type)
      : type === undefined
      ? undefined
      : [type],
    since: yield* of(chosen.since),
    until: yield* of(chosen.until)
  }
  return found
})

// ---- showing

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
    case "rejected":
    case "forgotten":
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
    case "policy":
      return event.digest === undefined
        ? `${Visible.short(event.file, 120)}: ${text(event.why ?? "")}`
        : `${Visible.short(event.file, 120)} ${text(event.digest.slice(0, 12))}${
          event.was === undefined ? "" : ` instead of ${text(event.was.slice(0, 12))}`
        }`
    case "judged":
      return `${text(event.method)}${event.name === undefined ? "" : ` ${Visible.name(event.name)}`}${
        event.observed.map(({ action, rule }) => `; ${text(rule)} would ${action}`).join("")
      }${event.fault === undefined ? "" : `; ${text(event.fault)}`}`
    case "dropped":
      return `${event.count} by ${text(event.reason)}`
    case "repaired":
      return `${event.count} by ${text(event.repair)}`
    case "bridged":
      return `for a ${text(event.host)} host${event.strict ? ", strictly" : ""}`
    case "lowered":
      return `${event.count} of ${text(event.what)}`
    case "ended":
      return text(event.how)
    case "clock":
      return `set back by ${Output.count(Math.round(event.back / 1000), "second")}`
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

const cells = ({ event, seq, server, time }: Read.Listed): ReadonlyArray<string> => [
  Output.time(time),
  Visible.short(server ?? "-", 32),
  String(seq),
  event.type,
  says(event)
]

/**
 * Entries as a table.
 *
 * @category conversions
 * @since 0.1.0
 */
export const draw = (entries: ReadonlyArray<Read.Listed>): string =>
  Output.table(["TIME", "SERVER", "NO", "TYPE", "WHAT"], entries.map(cells))

/**
 * Entries as rows of a table that goes on, without headings.
 *
 * @category conversions
 * @since 0.1.0
 */
export const drawRows = (entries: ReadonlyArray<Read.Listed>): string =>
  Output.table(["", "", "", "", ""], entries.map(cells)).split("\n").slice(1).join("\n")

/**
 * An entry as JSON.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toJson = ({ client, event, line, run, segment, seq, server, time }: Read.Listed) => ({
  time,
  server: server ?? null,
  ...(client === undefined ? {} : { client }),
  seq,
  run,
  segment,
  line,
  ...event
})
