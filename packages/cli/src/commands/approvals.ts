/**
 * `sallyport approvals`: the questions that wait for a person, and their answers.
 *
 * @since 0.1.0
 */
import type { Approval } from "@sallyport/core/approval/Approval"
import type { Event } from "@sallyport/core/ledger/Entry"
import * as Visible from "@sallyport/core/pin/Visible"
import { Approvals, type Choice, type Waiting } from "@sallyport/core/stage/Approvals"
import { Ledger } from "@sallyport/core/stage/Ledger"
import * as T from "@sallyport/core/wire/Text"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ancestry from "../Ancestry.ts"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"
import { alive } from "../Processes.ts"
import * as State from "../State.ts"

const id = Argument.String("ID").pipe(Argument.withDescription("of the question, see approvals list"))

/**
 * The questions that wait, and that somebody waits for: a relay that was killed left its questions behind.
 *
 * @category reading
 * @since 0.1.0
 */
export const waiting = Effect.map(
  Effect.flatMap(Approvals, (approvals) => approvals.pending),
  (all: ReadonlyArray<Waiting>) => all.filter(({ pid }) => pid === 0 || alive(pid)).map(({ approval }) => approval)
)

/** Minutes and seconds. */
const clock = (millis: number): string => {
  const all = Math.max(0, Math.ceil(millis / 1000))
  return `${Math.floor(all / 60)}:${String(all % 60).padStart(2, "0")}`
}

const what = ({ method, name }: Approval["question"]): string =>
  `${Visible.short(method, 40)}${name === undefined ? "" : ` ${Visible.name(name)}`}`

/**
 * Questions as a table.
 *
 * @category conversions
 * @since 0.1.0
 */
export const draw = (approvals: ReadonlyArray<Approval>, now: number): string =>
  Output.table(
    ["ID", "LEFT", "SERVER", "WHAT"],
    approvals.map(({ expires, id, question }) => [
      id,
      clock(expires - now),
      Visible.short(question.server, 32),
      `${what(question)} by ${Visible.short(question.rule, 120)}`
    ])
  )

const iso = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))

/**
 * A question for programs.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toJson = ({ asked, digest, expires, id, question }: Approval) => ({
  id,
  digest,
  asked: iso(asked),
  expires: iso(expires),
  ...question
})

const indent = "  "

const row = (label: string, text: string): string =>
  Visible.wrap(text, Output.columns - 10).map((part, index) =>
    `${index === 0 ? label.padEnd(10) : " ".repeat(10)}${part.trim()}`
  ).join("\n")

/**
 * A question as a person sees it: every argument whole, in the exact text that would be sent, hidden characters escaped.
 *
 * @category conversions
 * @since 0.1.0
 */
export const shown = ({ expires, id, question }: Approval, now: number): string => {
  const members = T.members(question.arguments)
  const args = question.method === "tools/call" ? members.filter(([name]) => name !== "name") : members
  return [
    row("question", id),
    row("client", Visible.name(question.client)),
    row("server", Visible.name(question.server)),
    ...(question.from === "server" ? [row("asked by", "the server, of the client")] : []),
    row("method", Visible.name(question.method)),
    ...(question.name === undefined ? [] : [row("name", Visible.name(question.name))]),
    row("rule", Visible.line(question.rule)),
    row("why", Visible.line(question.why)),
    row("left", `${clock(expires - now)} minutes`),
    ...(question.via === "terminal" ? [row("answered", "only here, in the terminal")] : []),
    "",
    ...args.flatMap(([name, value]) => [
      `${Visible.name(name)}, exactly as it would be sent:`,
      ...Visible.margin(Visible.again(value), { columns: Output.columns, indent })
    ]),
    ...(args.length === 0 ? ["It has no arguments."] : [])
  ].join("\n")
}

const find = Effect.fnUntraced(function*(state: State.State, wanted: string) {
  const found = (yield* waiting).find(({ id }) => id === wanted)
  return found ?? (yield* new Failure({
    message: `no question ${Visible.name(wanted)} waits; it may have been answered, withdrawn or have expired. ` +
      `sallyport approvals list${state.option} lists those that do`
  }))
})

const list = Command.make(
  "list",
  { state: State.flag, json: State.json },
  ({ json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { found, unreadable } = yield* Effect.provide(
        Effect.all({ found: waiting, unreadable: Effect.flatMap(Approvals, (approvals) => approvals.unreadable) }),
        opened.approvals
      )
      if (json) return yield* Output.printJson({ approvals: found.map(toJson), unreadable })
      const now = yield* Clock.currentTimeMillis
      yield* Output.print(Output.unreadable(
        unreadable,
        found.length === 0
          ? "No question waits."
          : `${draw(found, now)}\n\nLook at one and decide: sallyport approvals allow${opened.option} ID`
      ))
    }))
).pipe(Command.withDescription("The questions that wait for an answer"))

const show = Command.make(
  "show",
  { state: State.flag, json: State.json, id },
  ({ id, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const approval = yield* Effect.provide(find(opened, id), opened.approvals)
      const now = yield* Clock.currentTimeMillis
      yield* json ? Output.printJson(toJson(approval)) : Output.print(shown(approval, now))
    }))
).pipe(Command.withDescription("One question whole, with every argument"))

const did = { allow: "Allowed", deny: "Denied" } as const
const nothing = (why: string): Failure => new Failure({ message: `nothing was answered: ${why}` })

const recordedParents = 64

/**
 * Answers a question as a person at the terminal: shows it whole, asks for the word, and answers exactly what was shown.
 *
 * **Details**
 *
 * The answer is in the ledger before it counts, so an entry without its effect is possible where the question ended in
 * between, the other way round it is not.
 *
 * @category answering
 * @since 0.1.0
 */
export const decide = Effect.fnUntraced(function*(state: State.State, id: string, choice: Choice) {
  const parents = yield* (yield* Ancestry.Ancestry).parents
  const refused = Ancestry.refusal(parents, true)
  if (refused !== undefined) return yield* nothing(refused)
  const approval = yield* find(state, id)
  const { digest, question } = approval
  const answer = yield* (yield* Person).ask(
    `${shown(approval, yield* Clock.currentTimeMillis)}\n\n`,
    `Type ${choice} to ${choice} exactly this call, once; anything else leaves it waiting: `
  ).pipe(Effect.catchTag("NoTerminal", () =>
    Effect.fail(
      nothing(
        "this asks a person on a terminal, and there is none here; a person must do it, in a terminal of their own"
      )
    )))
  if (answer?.trim() !== choice) return yield* nothing(`the answer was not ${choice}`)

  // It may have ended while the person looked: then nothing is written down either.
  yield* find(state, id)
  const ledger = yield* Ledger
  const event: Event = {
    type: choice === "allow" ? "approval-given" : "approval-denied",
    id,
    client: question.client,
    server: question.server,
    method: question.method,
    name: question.name,
    digest,
    rule: question.rule,
    channel: "terminal",
    parents: parents.slice(0, recordedParents).map(Ancestry.describe)
  }
  ledger.append(event)
  yield* Effect.mapError(ledger.commit, (error) => nothing(error.message))
  return yield* Effect.mapError(
    Effect.flatMap(Approvals, (approvals) => approvals.answer(id, digest, choice)),
    (error) => nothing(error.message)
  )
})

const answering = (choice: Choice, description: string) =>
  Command.make(
    choice,
    { state: State.flag, json: State.json, id },
    ({ id, json, state }) =>
      ending(Effect.gen(function*() {
        const opened = yield* State.open(state)
        const { question, state: after } = yield* decide(opened, id, choice).pipe(
          Effect.provide(Layer.merge(opened.approvals, opened.ledger)),
          Effect.catchTag("LedgerError", (error) => Effect.fail(nothing(error.message)))
        )
        if (json) return yield* Output.printJson({ id, answer: choice, state: after._tag.toLowerCase() })
        yield* Output.print(`${did[choice]}: ${what(question)} of ${Visible.name(question.server)}, once.`)
      }))
  ).pipe(Command.withDescription(description))

/**
 * `sallyport approvals`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("approvals").pipe(
  Command.withDescription("Calls that wait for a person, and their answers"),
  Command.withSubcommands([
    list,
    show,
    answering("allow", "Let a call through once, as it is shown. Asks on the terminal; refused below a relay."),
    answering("deny", "Refuse a call. Asks on the terminal; refused below a relay.")
  ])
)
