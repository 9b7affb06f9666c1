/**
 * `sallyport pins list`: one row a server.
 *
 * @since 0.1.0
 */
import type * as Drift from "@sallyport/core/pin/Drift"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Visible from "@sallyport/core/pin/Visible"
import { PinStore } from "@sallyport/core/stage/PinStore"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as ExitCode from "../ExitCode.ts"
import { ending } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"

/**
 * One server in one row.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly server: string
  readonly accepted: number
  readonly held: number
  readonly rejected: number
  readonly launch: "accepted" | "new" | "changed" | "rejected"
  readonly class: Drift.Class | null
  /** Who decides at each start what runs; absent where the launch is bound by digests. */
  readonly decidedBy: string | null
  readonly seen: string | null
  readonly fault: boolean
}

/**
 * Whether a person has something to look at.
 *
 * @category guards
 * @since 0.1.0
 */
export const isHeld = (row: Row): boolean => row.held > 0 || row.launch === "new" || row.launch === "changed"

/**
 * Sums up what is known of a server.
 *
 * @category conversions
 * @since 0.1.0
 */
export const row = (pins: Pins.Pins): Row => {
  const held = Pins.heldOf(pins)
  const judgement = Pins.judgeSeen(pins)
  return {
    server: pins.server,
    accepted: judgement.verdicts.length - judgement.held.length,
    held: held.verdicts.length,
    rejected: held.rejected.length,
    launch: Pins.launchState(held),
    class: held.class ?? null,
    decidedBy: pins.seen === undefined ? null : Pins.decidedBy(pins.seen.launch) ?? null,
    seen: pins.seen?.at ?? null,
    fault: Pins.faultsOf(pins).length > 0
  }
}

/**
 * One row of every server, by name.
 *
 * @category reading
 * @since 0.1.0
 */
export const rows = Effect.gen(function*() {
  const store = yield* PinStore
  return yield* Effect.forEach(yield* store.servers, (server) => Effect.map(store.load(server), row))
})

/**
 * The rows as a table.
 *
 * @category conversions
 * @since 0.1.0
 */
export const draw = (rows: ReadonlyArray<Row>): string =>
  [drawTable(rows), ...rows.filter(({ decidedBy }) => decidedBy !== null).map(unverifiable)].join("\n")

/** No digest says what such a launch runs (security rule F32). */
const unverifiable = ({ decidedBy, server }: Row): string =>
  `${server} is unverifiable: what runs is decided at each start by ${decidedBy}`

const drawTable = (rows: ReadonlyArray<Row>): string =>
  Output.table(
    ["NAME", "ACCEPTED", "HELD", "CLASS", "LAST SEEN"],
    rows.map((row) => [
      row.server,
      String(row.accepted),
      `${row.held}${row.launch === "accepted" || row.launch === "rejected" ? "" : " + launch"}`,
      row.class ?? (isHeld(row) ? "new" : "-"),
      `${row.seen === null ? "never" : Output.time(row.seen)}${row.fault ? " (not listed since)" : ""}`
    ])
  )

/**
 * `sallyport pins list`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "list",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("exit 10 when something is held, 11 from class widening on"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    state: State.flag,
    json: State.json
  },
  ({ check, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const found = yield* Effect.provide(rows, opened.pins)
      if (json) yield* Output.printJson({ servers: found })
      else {
        yield* Output.print(
          found.length === 0
            ? `No server was seen yet, in ${Visible.line(opened.folder)}.\n` +
              `Start one: sallyport relay --name NAME${opened.option} -- COMMAND`
            : draw(found)
        )
      }
      if (!check) return 0
      const codes = new Set(found.map((each) => ExitCode.ofHeld(isHeld(each), each.class ?? undefined)))
      return codes.has(11) ? 11 : codes.has(10) ? 10 : 0
    }))
).pipe(
  Command.withDescription("List the servers: what is accepted, what is held"),
  Command.withExamples([{ command: "sallyport pins list --check", description: "In a script: is anything held?" }])
)
