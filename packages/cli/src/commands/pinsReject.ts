/**
 * `sallyport pins reject` and `sallyport pins forget`: a person does not want what was seen, or wants to begin anew.
 *
 * @since 0.1.0
 */
import * as Pins from "@sallyport/core/pin/Pins"
import * as Show from "@sallyport/core/pin/Show"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { ending } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"
import * as Decide from "./pinsDecide.ts"
import * as Arguments from "./pinsShow.ts"

const rejecting = Effect.fnUntraced(function*(
  state: State.State,
  { items: named, launch, server }: {
    readonly items: ReadonlyArray<string>
    readonly launch: boolean
    readonly server: string
  }
) {
  const parents = yield* Decide.permitted("rejected", true)
  const first = yield* State.seen(state, server)
  const items = yield* State.items(state, first, named)
  const choice: Pins.Refusal = { ...(items === undefined ? {} : { items }), launch }
  const planned = yield* Effect.mapError(
    Effect.fromResult(Pins.reject(first, choice, yield* Decide.now)),
    (error) => Decide.nothing("rejected", Decide.sentence(server, error))
  )
  const links = Pins.linksOf(yield* State.others(server))
  // Without items everything that is held is shown; an accepted item has no difference, and is shown in full.
  const shown = items === undefined ? Show.diff(first, undefined, { links }) : Show.show(first, items, { links })
  const what = Decide.phrase(planned.rejected)
  const question = `${Output.wrapped(`This rejects ${what} of ${server}: held, and not news any more.`)}\n` +
    "Type reject to do so, anything else to leave it as it is: "
  yield* Decide.confirm("rejected", shown, question, "reject")
  const digests = planned.rejected.map(({ digest }) => digest).join(" ")
  return yield* Decide.keep(
    "rejected",
    server,
    (pins, at) =>
      Result.match(Pins.reject(pins, choice, at), {
        onFailure: () => Result.fail(Decide.meanwhile("rejected", server)),
        onSuccess: ({ pins, rejected }) =>
          rejected.map(({ digest }) => digest).join(" ") === digests
            ? Result.succeed({
              pins,
              items: rejected.map(({ digest, kind, name }) => ({
                kind,
                name: kind === "launch" ? server : name,
                digest
              }))
            })
            : Result.fail(Decide.meanwhile("rejected", server))
      }),
    "terminal",
    parents
  )
})

/**
 * `sallyport pins reject`.
 *
 * @category commands
 * @since 0.1.0
 */
export const reject = Command.make(
  "reject",
  {
    launch: Flag.Boolean("launch").pipe(
      Flag.withDescription("the launch, and with it only the items that are named"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    state: State.flag,
    json: State.json,
    server: Arguments.server,
    items: Arguments.items
  },
  ({ items, json, launch, server, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const done = yield* rejecting(opened, { items, launch, server }).pipe(
        Effect.provide(Layer.merge(opened.pins, opened.ledger)),
        Effect.catchTag("LedgerError", (error) => Effect.fail(Decide.nothing("rejected", error.message)))
      )
      yield* json
        ? Output.printJson({ server, version: done.version, items: done.items })
        : Output.print(`Rejected ${Decide.phrase(done.items)} of ${server}.`)
    }))
).pipe(
  Command.withDescription(
    "Reject what is held, or was accepted: it stays held and is not counted as news. Under another name it is not " +
      "trusted either. Accepting it by its name takes that back. Asks on the terminal; refused below a relay."
  ),
  Command.withShortDescription("Reject what is held, or was accepted"),
  Command.withExamples([
    { command: "sallyport pins reject files export_all", description: "Leave one tool held for good" }
  ])
)

const forgetting = Effect.fnUntraced(function*(state: State.State, server: string) {
  const parents = yield* Decide.permitted("forgotten", true)
  const first = yield* State.seen(state, server)
  const dropped = (pins: Pins.Pins) => [
    ...(pins.launch === undefined ? [] : [{ kind: "launch", name: server, digest: pins.launch.digest }]),
    ...pins.pins.map(({ digest, kind, name }) => ({ kind, name, digest }))
  ]
  const what = Decide.phrase(dropped(first))
  const question = Output.wrapped(
    `This forgets ${
      what === "" ? "what was seen" : `that ${what} of ${server} were accepted`
    }, and what was rejected. ` +
      "The name is not trusted at first sight again."
  )
  yield* Decide.confirm(
    "forgotten",
    `${Show.summary(first)}\n`,
    `${question}\nType forget to do so, anything else to leave it as it is: `,
    "forget"
  )
  return yield* Decide.keep(
    "forgotten",
    server,
    (pins) => Result.succeed({ pins: Pins.forget(pins), items: dropped(pins) }),
    "terminal",
    parents
  )
})

/**
 * `sallyport pins forget`.
 *
 * @category commands
 * @since 0.1.0
 */
export const forget = Command.make(
  "forget",
  { state: State.flag, json: State.json, server: Arguments.server },
  ({ json, server, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const done = yield* forgetting(opened, server).pipe(
        Effect.provide(Layer.merge(opened.pins, opened.ledger)),
        Effect.catchTag("LedgerError", (error) => Effect.fail(Decide.nothing("forgotten", error.message)))
      )
      yield* json
        ? Output.printJson({ server, version: done.version, items: done.items })
        : Output.print(`Forgot ${server}. What it offers is held when it is seen again.`)
    }))
).pipe(
  Command.withDescription(
    "Forget all that was accepted, rejected and seen of a server. Asks on the terminal; refused below a relay."
  ),
  Command.withShortDescription("Forget all about a server")
)
