/**
 * `sallyport status`: how things stand.
 *
 * @since 0.1.0
 */
import type { Approval } from "@sallyport/core/approval/Approval"
import type { Event, Omitted } from "@sallyport/core/ledger/Entry"
import * as Read from "@sallyport/core/ledger/Read"
import * as Visible from "@sallyport/core/pin/Visible"
import { Approvals as Questions } from "@sallyport/core/stage/Approvals"
import * as Quarantine from "@sallyport/core/stage/Quarantine"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { alive } from "../Processes.ts"
import * as State from "../State.ts"
import * as Approvals from "./approvals.ts"
import * as Ledger from "./ledgerEntry.ts"
import * as List from "./pinsList.ts"
import { directoryOf } from "./quarantine.ts"

type Entry<T> = Read.Listed & { readonly event: Extract<Event | Omitted, { readonly type: T }> }

const of = <T extends (Event | Omitted)["type"]>(type: T) => (entry: Read.Listed): entry is Entry<T> =>
  entry.event.type === type

/**
 * How often a repair was made in the lines of a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Repaired {
  readonly server: string
  readonly repair: string
  readonly count: number
}

/**
 * What status tells.
 *
 * - `refusals`: the last ten, newest last.
 * - `unknown`: the last ten calls that were let through and of which nothing more is known: their relay was killed.
 * - `approvals`: the calls that wait for a person.
 * - `quarantined`: results that a check kept back, and that nobody has released.
 * - `unreadable`: a sentence for each file of the state folder that was passed over.
 * - `unasked`: what was lately accepted without a question: by its digest, or unseen.
 * - `repaired`: how often the lines of a server were repaired, by repair, as far as the ledger goes back.
 * - `loosened`: what the newest session of each server loosened on its command line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Status {
  readonly folder: string
  readonly servers: ReadonlyArray<List.Row>
  readonly refusals: ReadonlyArray<Entry<"refuse">>
  readonly unknown: ReadonlyArray<Read.Listed>
  readonly approvals: ReadonlyArray<Approval>
  readonly quarantined: ReadonlyArray<Quarantine.Held>
  readonly unreadable: ReadonlyArray<string>
  readonly unasked: ReadonlyArray<Entry<"accepted">>
  readonly loosened: ReadonlyArray<Entry<"session">>
  readonly repaired: ReadonlyArray<Repaired>
  readonly tails: ReadonlyArray<{ readonly server: string; readonly lines: ReadonlyArray<string> }>
}

const newestOf = (sessions: ReadonlyArray<Entry<"session">>): ReadonlyArray<Entry<"session">> => [
  ...new Map(sessions.map((entry) => [entry.event.server, entry])).values()
]

const summed = (entries: ReadonlyArray<Entry<"repaired">>): ReadonlyArray<Repaired> => {
  const sums = new Map<string, Repaired>()
  for (const { event: { count, repair, server } } of entries) {
    const key = `${server} ${repair}`
    sums.set(key, { server, repair, count: (sums.get(key)?.count ?? 0) + count })
  }
  return [...sums.values()]
}

/** The last lines. What a terminal would act on was made visible when they were kept, and is once more. */
const lastLines = (text: string, count: number): ReadonlyArray<string> =>
  text.replace(/\n$/, "").split("\n").slice(-count).map((line) => Visible.short(line, 400, Visible.again))

/**
 * Looks at one server, or at all.
 *
 * @category reading
 * @since 0.1.0
 */
export const look = Effect.fnUntraced(function*(state: State.State, name: string | undefined) {
  const mine = (server: string | undefined) => name === undefined || server === name
  const servers = (yield* Effect.provide(List.rows, state.pins)).filter(({ server }) => mine(server))
  const contents = yield* State.entries(state)
  const entries = contents.entries.filter(({ server }) => mine(server))
  const tails: Array<{ readonly server: string; readonly lines: ReadonlyArray<string> }> = []
  for (const server of (yield* State.tails(state)).filter(mine)) {
    const text = yield* State.tail(state, server)
    if (text !== undefined && text !== "") tails.push({ server, lines: lastLines(text, name === undefined ? 5 : 40) })
  }
  const approvals = (yield* Effect.provide(Approvals.waiting, state.approvals)).filter(({ question }) =>
    mine(question.server)
  )
  const quarantine = yield* Quarantine.list(directoryOf(state))
  const quarantined = quarantine.results.flatMap(({ held, released }) => !released && mine(held.server) ? [held] : [])
  const known = [servers, entries, tails, approvals, quarantined]
  if (name !== undefined && known.every(({ length }) => length === 0)) {
    return yield* new Failure({
      message: `nothing is known of ${Visible.name(name)} in ${Visible.line(state.folder)}; ` +
        `sallyport pins list${state.option} names the servers`
    })
  }
  const status: Status = {
    folder: state.folder,
    servers,
    refusals: entries.filter(of("refuse")).slice(-10),
    unknown: Read.unknownFates(contents, alive).filter(({ server }) => mine(server)).slice(-10),
    approvals,
    quarantined,
    unreadable: [
      ...(yield* Effect.provide(Effect.flatMap(Questions, (questions) => questions.unreadable), state.approvals)),
      ...quarantine.unreadable
    ],
    unasked: entries.filter(of("accepted")).filter(({ event }) => event.how !== "terminal").slice(-5),
    repaired: summed(entries.filter(of("repaired"))),
    loosened: newestOf(entries.filter(of("session"))).filter(({ event }) => event.loosened.length > 0),
    tails
  }
  return status
})

const draw = (status: Status, option: string, name: string | undefined): string => {
  const held = status.servers.filter(List.isHeld)
  const parts: ReadonlyArray<ReadonlyArray<string>> = [
    [
      status.servers.length > 0
        ? List.draw(status.servers)
        : name === undefined
        ? `No server was listed yet, in ${Visible.line(status.folder)}.`
        : `Nothing was listed yet of ${Visible.name(name)}.`
    ],
    held.length === 0 ? [] : [
      "Held, until a person has looked at it:",
      ...held.flatMap(({ server }) => [
        `  look at it:  sallyport pins diff${option} ${server}`,
        `  accept it:   sallyport pins accept${option} ${server}`
      ])
    ],
    status.approvals.length === 0 ? [] : [
      `${Output.count(status.approvals.length, "call waits", "calls wait")} for a person:`,
      ...status.approvals.map(({ id, question }) =>
        `  sallyport approvals allow${option} ${id}   (${Visible.short(question.server, 32)})`
      )
    ],
    status.quarantined.length === 0 ? [] : [
      `${Output.count(status.quarantined.length, "result")} kept back by a check, the newest last:`,
      ...status.quarantined.slice(-5).map(({ id, server }) =>
        `  sallyport quarantine show${option} ${Visible.short(id, 32)}   (${Visible.short(server, 32)})`
      )
    ],
    status.loosened.length === 0 ? [] : [
      "Loosened on the command line:",
      ...status.loosened.map(({ event, time }) =>
        Output.wrapped(
          `${Output.time(time)}  ${Visible.short(event.server, 32)}  ${
            event.loosened.map((what) => Visible.short(what, 120)).join(", ")
          }`,
          "  "
        )
      )
    ],
    status.repaired.length === 0 ? [] : [
      "Repaired in what servers sent:",
      ...status.repaired.map(({ count, repair, server }) =>
        `  ${Visible.short(server, 32)}  ${Output.count(count, "line")} by ${Visible.short(repair, 32)}`
      )
    ],
    status.unasked.length === 0 ? [] : ["Accepted without a question:", Ledger.draw(status.unasked)],
    status.unknown.length === 0 ? [] : ["Cut short, whether they ran is not known:", Ledger.draw(status.unknown)],
    status.refusals.length === 0 ? ["Nothing was refused."] : ["Last refusals:", Ledger.draw(status.refusals)],
    ...status.tails.map(({ lines, server }) => [
      `Last lines of ${server} on stderr:`,
      ...lines.flatMap((line) => Visible.margin(line, { columns: Output.columns, indent: "  " }))
    ])
  ]
  const text = parts.filter((part) => part.length > 0).map((part) => part.join("\n")).join("\n\n")
  return Output.unreadable(status.unreadable, text)
}

const toJson = (status: Status) => {
  const entry = ({ event, seq, time }: Read.Listed) => ({ time, seq, ...event })
  return {
    folder: status.folder,
    servers: status.servers,
    refusals: status.refusals.map(entry),
    unknown: status.unknown.map(entry),
    approvals: status.approvals.map(Approvals.toJson),
    quarantined: status.quarantined.map((held) => ({ ...held, result: undefined })),
    unreadable: status.unreadable,
    unasked: status.unasked.map(entry),
    loosened: status.loosened.map(({ event, time }) => ({ time, server: event.server, loosened: event.loosened })),
    repaired: status.repaired,
    tails: status.tails
  }
}

/**
 * `sallyport status`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "status",
  {
    state: State.flag,
    json: State.json,
    name: Argument.String("NAME").pipe(
      Argument.withDescription("only this server, with more of its stderr"),
      Argument.optional
    )
  },
  ({ json, name, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const only = Option.getOrUndefined(name)
      const status = yield* look(opened, only)
      yield* json ? Output.printJson(toJson(status)) : Output.print(draw(status, opened.option, only))
    }))
).pipe(Command.withDescription("Say how things stand: servers, what is held, refusals, stderr"))
