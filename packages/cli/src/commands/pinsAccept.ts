/**
 * `sallyport pins accept`: a person accepts what is held, exactly as it was shown.
 *
 * @since 0.1.0
 */
import type { Event } from "@sallyport/core/ledger/Entry"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Show from "@sallyport/core/pin/Show"
import * as Visible from "@sallyport/core/pin/Visible"
import { Ledger } from "@sallyport/core/stage/Ledger"
import { PinStore } from "@sallyport/core/stage/PinStore"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Ancestry from "../Ancestry.ts"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"
import * as State from "../State.ts"
import * as Arguments from "./pinsShow.ts"

/**
 * How it is accepted: after a question, or exactly what this digest was taken of, or whatever is held now.
 *
 * @category models
 * @since 0.1.0
 */
export type Form =
  | { readonly _tag: "Terminal" }
  | { readonly _tag: "Digest"; readonly digest: string }
  | { readonly _tag: "Unseen" }

const hows = { Terminal: "terminal", Digest: "digest", Unseen: "unseen" } as const

/**
 * What was accepted; `version` is that of the pins with it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Accepted {
  readonly server: string
  readonly how: "terminal" | "digest" | "unseen"
  readonly digest: string
  readonly version: number
  readonly launch: boolean
  readonly items: ReadonlyArray<{ readonly kind: string; readonly name: string; readonly digest: string }>
  readonly held: number
}

const nothing = (why: string): Failure => new Failure({ message: `nothing was accepted: ${why}` })

const meanwhile = (server: string): Failure =>
  nothing(`what ${server} offers changed meanwhile; look at it again (sallyport pins diff ${server})`)

const sentence = (server: string, error: Pins.AcceptError): string => {
  const names = error.items.map(({ name }) => Visible.name(name)).join(", ")
  switch (error.kind) {
    case "nothing-held":
      return `nothing of ${server} is held that could be accepted`
    case "not-held":
      return `${names}: not held; it is accepted already, or not offered any more`
    case "not-acceptable":
      return `${names}: the server gives the name more than once, or the definition is not valid; ` +
        "only the server's author can mend that"
    case "digest-differs":
      return `what is held of ${server} now is not what this digest was taken of; ` +
        `look at it again (sallyport pins diff ${server})`
  }
}

const now = Effect.map(DateTime.now, DateTime.formatIso)

const decide = (
  pins: Pins.Pins,
  items: ReadonlyArray<Pins.Key> | undefined,
  digest: string | undefined,
  form: Form,
  at: string
): Result.Result<Pins.Acceptance, Pins.AcceptError> =>
  Pins.accept(
    pins,
    { ...(items === undefined ? {} : { items }), ...(digest === undefined ? {} : { digest }) },
    hows[form._tag],
    at
  )

const itemsOf = (pins: Pins.Pins, acceptance: Pins.Acceptance): Accepted["items"] => [
  ...(acceptance.launch && acceptance.pins.launch !== undefined
    ? [{ kind: "launch", name: pins.server, digest: acceptance.pins.launch.digest }]
    : []),
  ...acceptance.definitions.map(({ digest, kind, name }) => ({ kind, name, digest }))
]

const nouns: Readonly<Record<Pins.Kind, (amount: number) => string>> = {
  identity: () => "the identity",
  instructions: () => "the instructions",
  capability: (amount) => Output.count(amount, "capability", "capabilities"),
  tool: (amount) => Output.count(amount, "tool"),
  prompt: (amount) => Output.count(amount, "prompt"),
  resource: (amount) => Output.count(amount, "resource"),
  template: (amount) => Output.count(amount, "template")
}

const phrase = (acceptance: Pins.Acceptance): string => {
  const parts = [
    ...Pins.kinds.flatMap((kind) => {
      const amount = acceptance.definitions.filter((item) => item.kind === kind).length
      return amount === 0 ? [] : [nouns[kind](amount)]
    }),
    ...(acceptance.launch ? ["the launch"] : [])
  ]
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}

/** The processes above this one; fails where they may not accept. */
const permitted = Effect.fnUntraced(function*(form: Form) {
  const parents = yield* (yield* Ancestry.Ancestry).parents
  const refused = Ancestry.refusal(parents, form._tag === "Terminal")
  if (refused !== undefined) return yield* nothing(refused)
  return parents
})

/** Asks whether exactly this is to be accepted. */
const confirm = Effect.fnUntraced(function*(
  pins: Pins.Pins,
  items: ReadonlyArray<Pins.Key> | undefined,
  acceptance: Pins.Acceptance
) {
  const person = yield* Person
  const question = `${Output.wrapped(`This accepts ${phrase(acceptance)} of ${pins.server}, exactly as shown.`)}\n` +
    "Type accept to do so, anything else to leave it held: "
  const answer = yield* Effect.catchTag(
    person.ask(`${Show.diff(pins, items)}\n`, question),
    "NoTerminal",
    () =>
      Effect.fail(nothing(
        "this asks a person on a terminal, and there is none here; a person must do it, in a terminal of their own"
      ))
  )
  if (answer?.trim() !== "accept") return yield* nothing("the answer was not accept")
})

/** So many processes above the command are recorded, the nearest ones. */
const recordedParents = 64

/** So often another process may be faster without having changed what is accepted. */
const attempts = 10

/**
 * Accepts what is held of a server. Where it asks, exactly what was shown; fails, and accepts nothing, where that changed
 * meanwhile and where the ledger cannot be written.
 *
 * **Details**
 *
 * What is accepted is in the ledger before it is in the pins, so an entry without pins is possible where the process is
 * ended in between, the other way round it is not.
 *
 * @category accepting
 * @since 0.1.0
 */
export const accept = Effect.fnUntraced(function*(
  state: State.State,
  server: string,
  named: ReadonlyArray<string>,
  form: Form,
  parents: ReadonlyArray<Ancestry.Process>
) {
  const store = yield* PinStore
  const first = yield* State.seen(state, server)
  const chosen = yield* State.items(state, first, named)
  const given = form._tag === "Digest" ? form.digest : undefined
  const planned = decide(first, chosen, given, form, yield* now)
  if (Result.isFailure(planned)) {
    const error = planned.failure
    const all = Pins.heldOf(first)
    if (error.kind === "nothing-held" && given === undefined && all.verdicts.length === 0) return undefined
    return yield* nothing(sentence(server, error))
  }
  // From here on it is this and nothing else, also where everything was asked for.
  const digest = Pins.digestOfHeld(first, chosen)
  if (digest === undefined) return undefined
  if (form._tag === "Terminal") yield* confirm(first, chosen, planned.success)

  const ledger = yield* Ledger
  let recorded = false
  for (let attempt = 0; attempt < attempts; attempt++) {
    const pins = yield* store.load(server)
    const decided = decide(pins, chosen, digest, form, yield* now)
    if (Result.isFailure(decided)) return yield* meanwhile(server)
    const items = itemsOf(pins, decided.success)
    if (!recorded) {
      const event: Event = {
        type: "accepted",
        server,
        how: hows[form._tag],
        items: [...items],
        parents: parents.slice(0, recordedParents).map(Ancestry.describe)
      }
      ledger.append(event)
      yield* Effect.mapError(ledger.commit, (error) => nothing(error.message))
      recorded = true
    }
    if (yield* store.save(server, pins.version, decided.success.pins)) {
      const accepted: Accepted = {
        server,
        how: hows[form._tag],
        digest,
        version: pins.version + 1,
        launch: decided.success.launch,
        items,
        held: Pins.heldOf(decided.success.pins).verdicts.length
      }
      return { accepted, says: phrase(decided.success) }
    }
  }
  return yield* nothing(`the pins of ${server} do not hold still; try again`)
})

/**
 * `sallyport pins accept`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "accept",
  {
    digest: Flag.String("digest").pipe(
      Flag.withMetavar("D"),
      Flag.withDescription("exactly what show or diff gave this digest for; does not ask"),
      Flag.optional
    ),
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("with --unseen: everything that is held now; does not ask"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    unseen: Flag.Boolean("unseen").pipe(
      Flag.withDescription("with --all: recorded as accepted without having been seen"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    state: State.flag,
    json: State.json,
    server: Arguments.server,
    items: Arguments.items
  },
  ({ digest, items, json, server, state, unseen }) =>
    ending(Effect.gen(function*() {
      const form: Form = Option.isSome(digest)
        ? { _tag: "Digest", digest: digest.value.trim().toLowerCase() }
        : { _tag: unseen ? "Unseen" : "Terminal" }
      const parents = yield* permitted(form)
      const opened = yield* State.open(state)
      const done = yield* accept(opened, server, items, form, parents).pipe(
        // Opened before anything is asked: a person is not to answer in vain.
        Effect.provide(Layer.merge(opened.pins, opened.ledger)),
        Effect.catchTag("LedgerError", (error) => Effect.fail(nothing(error.message)))
      )
      if (json) yield* Output.printJson(done?.accepted ?? { server, items: [], launch: false, held: 0 })
      else if (done === undefined) yield* Output.print(`Nothing of ${server} is held.`)
      else {
        const left = done.accepted.held
        yield* Output.print(
          `Accepted ${done.says} of ${server}.` +
            (left === 0 ? "" : ` ${Output.count(left, "item")} of it ${left === 1 ? "is" : "are"} still held.`)
        )
      }
    }))
).pipe(
  Command.validate(({ all, digest, items, unseen }) => {
    const wrong = all !== unseen
      ? "--all and --unseen go together: accepting everything means accepting it unseen"
      : Option.isSome(digest) && all
      ? "--digest and --all --unseen exclude each other"
      : all && items.length > 0
      ? "--all --unseen is for everything; leave out the items"
      : undefined
    return wrong === undefined ? Effect.void : Effect.fail(new CliError.ValidationError({ message: wrong }))
  }),
  Command.withDescription(
    "Accept what is held, exactly as it is shown. Asks on the terminal for the word accept, " +
      "unless --digest or --all --unseen is given. Refused below a relay."
  ),
  Command.withShortDescription("Accept what is held, as it is shown"),
  Command.withExamples([
    { command: "sallyport pins accept files", description: "Look at everything held of files, and decide" },
    { command: "sallyport pins accept files read_file", description: "Only one tool, and the launch" }
  ])
)
