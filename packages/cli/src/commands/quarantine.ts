/**
 * `sallyport quarantine list`, `show` and `release`: results that a check kept back.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import { Ledger } from "@sallyport/core/stage/Ledger"
import * as Quarantine from "@sallyport/core/stage/Quarantine"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Ancestry from "../Ancestry.ts"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"
import * as State from "../State.ts"

/**
 * Where results are that were kept back.
 *
 * @category reading
 * @since 0.1.0
 */
export const directoryOf = ({ folder }: State.State): string => `${folder}/quarantine`

const found = (held: Quarantine.Held): string => held.found.map((one) => Visible.short(one, 120)).join(", ")

const about = (held: Quarantine.Held): string =>
  `${Visible.short(held.method, 40)}${held.name === undefined ? "" : ` ${Visible.name(held.name)}`}`

/** As much of a result as is asked for on a terminal; `--whole` shows all of it. */
const shown = 8192

const draw = (held: Quarantine.Held, released: boolean): ReadonlyArray<string> => [
  `${held.id}${released ? " (released)" : ""}`,
  ...Output.table(["", ""], [
    ["time", Output.time(held.time)],
    ["client", Visible.short(held.client, 120)],
    ["server", Visible.short(held.server, 32)],
    ["asked", about(held)],
    ["found", found(held)],
    ["length", Output.count(held.length, "character")]
  ]).split("\n").slice(1).map((row) => `  ${row}`),
  ...(held.result === undefined
    ? ["  It is too long to be kept."]
    : ["  result", ...Visible.block(held.result, { columns: Output.columns, indent: "  ", characters: shown })])
]

const find = Effect.fnUntraced(function*(state: State.State, id: string) {
  const one = (yield* Quarantine.list(directoryOf(state))).results.find(({ held }) => held.id === id)
  if (one !== undefined) return one
  return yield* new Failure({
    message: `${Visible.name(id)} is not in quarantine; sallyport quarantine list${state.option} names what is`
  })
})

const id = Argument.String("ID").pipe(
  Argument.withMetavar("ID"),
  Argument.withDescription("the reference, as the host was told it and as list prints it")
)

const list = Command.make(
  "list",
  { state: State.flag, json: State.json },
  ({ json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { results: all, unreadable } = yield* Quarantine.list(directoryOf(opened))
      if (json) {
        yield* Output.printJson({
          results: all.map(({ held, released }) => ({ ...held, result: undefined, released })),
          unreadable
        })
        return
      }
      yield* Output.print(Output.unreadable(
        unreadable,
        all.length === 0
          ? "Nothing is in quarantine."
          : Output.table(
            ["ID", "TIME", "SERVER", "WHAT"],
            all.map(({ held, released }) => [
              held.id,
              Output.time(held.time),
              Visible.short(held.server, 32),
              `${about(held)}: ${found(held)}${released ? " (released)" : ""}`
            ])
          )
      ))
    }))
).pipe(Command.withDescription("List the results that a check kept back"))

const show = Command.make(
  "show",
  { id, state: State.flag, json: State.json },
  ({ id, json, state }) =>
    ending(Effect.gen(function*() {
      const { held, released } = yield* find(yield* State.open(state), id)
      if (json) yield* Output.printJson({ ...held, released })
      else yield* Output.print(draw(held, released).join("\n"))
    }))
).pipe(Command.withDescription("Show a result that was kept back, and why"))

/** So many processes above the command are recorded, the nearest ones. */
const recordedParents = 64

const nothing = (why: string): Failure => new Failure({ message: `nothing was released: ${why}` })

const release = Command.make(
  "release",
  { id, state: State.flag, json: State.json },
  ({ id, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const parents = yield* (yield* Ancestry.Ancestry).parents
      const refused = Ancestry.refusal(parents, true)
      if (refused !== undefined) return yield* nothing(refused)
      const { held, released } = yield* find(opened, id)
      if (released) {
        yield* json ? Output.printJson({ id, released: true }) : Output.print(`${id} is released already.`)
        return
      }
      const answer = yield* (yield* Person).ask(
        `${draw(held, false).join("\n")}\n\n`,
        `${
          Output.wrapped(
            `From now on exactly this result passes, whenever ${held.server} gives it for this. It is not handed out by itself: ` +
              "the host must ask again."
          )
        }\nType release to let it pass, anything else to keep it back: `
      ).pipe(
        Effect.catchTag("NoTerminal", () =>
          Effect.fail(nothing(
            "this asks a person on a terminal, and there is none here; a person must do it, in a terminal of their own"
          )))
      )
      if (answer?.trim() !== "release") return yield* nothing("the answer was not release")
      yield* Effect.gen(function*() {
        const ledger = yield* Ledger
        const above = parents.slice(0, recordedParents).map(Ancestry.describe)
        ledger.append({ type: "released", server: held.server, id, parents: above })
        yield* Effect.mapError(ledger.commit, (error) => nothing(error.message))
      }).pipe(Effect.provide(opened.ledger))
      yield* Quarantine.release(directoryOf(opened), held)
      yield* json
        ? Output.printJson({ id, released: true })
        : Output.print(`${id} is released: the same result passes from now on, when the host asks again.`)
    }))
).pipe(
  Command.withDescription("Let exactly this result pass from now on; for a person, in a terminal"),
  Command.withShortDescription("Let a result pass")
)

/**
 * `sallyport quarantine`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("quarantine").pipe(
  Command.withDescription("Results that a check kept back"),
  Command.withSubcommands([list, show, release])
)
