/**
 * `sallyport pins accept`: a person accepts what is held, exactly as it was shown.
 *
 * @since 0.1.0
 */
import * as Pins from "@sallyport/core/pin/Pins"
import * as Show from "@sallyport/core/pin/Show"
import * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Ancestry from "../Ancestry.ts"
import { ending, type Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"
import * as Decide from "./pinsDecide.ts"
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

const nothing = (why: string): Failure => Decide.nothing("accepted", why)

/**
 * What is to be accepted besides the launch: these items, without any all that is held; and which resources may be read,
 * where that is to change.
 *
 * @category models
 * @since 0.1.0
 */
export interface Wish {
  readonly items: ReadonlyArray<string>
  readonly resources?: Pins.Resources
}

const decide = (
  pins: Pins.Pins,
  choice: Pins.Choice,
  form: Form,
  at: string
): Result.Result<Pins.Acceptance, Pins.AcceptError> => Pins.accept(pins, choice, hows[form._tag], at)

const itemsOf = (pins: Pins.Pins, acceptance: Pins.Acceptance): Accepted["items"] => [
  ...(acceptance.launch && acceptance.pins.launch !== undefined
    ? [{ kind: "launch", name: pins.server, digest: acceptance.pins.launch.digest }]
    : []),
  ...(acceptance.resources === undefined ? [] : [{ kind: "resources", name: acceptance.resources, digest: "" }]),
  ...acceptance.definitions.map(({ digest, kind, name }) => ({ kind, name, digest }))
]

const phrase = (pins: Pins.Pins, acceptance: Pins.Acceptance): string =>
  Decide.phrase(
    itemsOf(pins, acceptance),
    acceptance.resources === undefined ? [] : [`the setting resources = ${acceptance.resources}`]
  )

/** What is accepted must not take the argument away that a rule of the server's policy looks at. */
const keepsPolicy = Effect.fnUntraced(function*(state: State.State, before: Pins.Pins, after: Pins.Pins) {
  const used = yield* PolicyUse.load(`${state.folder}/policies`, before.server)
  if (used === undefined || used.file === "") return
  const { orphaned } = yield* Effect.promise(() => import("../Policies.ts"))
  const rules = yield* orphaned(used.file, before, after)
  if (rules.length === 0) return
  return yield* nothing(`a rule of the policy would lose its argument; change the rule first:\n${rules.join("\n")}`)
})

/**
 * Accepts what is held of a server. Where it asks, exactly what was shown; fails, and accepts nothing, where that changed
 * meanwhile and where the ledger cannot be written.
 *
 * @category accepting
 * @since 0.1.0
 */
export const accept = Effect.fnUntraced(function*(
  state: State.State,
  server: string,
  wish: Wish,
  form: Form,
  parents: ReadonlyArray<Ancestry.Process>
) {
  const first = yield* State.seen(state, server)
  const items = yield* State.items(state, first, wish.items)
  const chosen: Pins.Choice = {
    ...(items === undefined ? {} : { items }),
    ...(wish.resources === undefined ? {} : { resources: wish.resources }),
    unseen: form._tag === "Unseen"
  }
  const given = form._tag === "Digest" ? { digest: form.digest } : {}
  const planned = decide(first, { ...chosen, ...given }, form, yield* Decide.now)
  if (Result.isFailure(planned)) {
    const error = planned.failure
    const all = Pins.heldOf(first)
    if (error.kind === "nothing-held" && form._tag !== "Digest" && all.verdicts.length === 0) return undefined
    return yield* nothing(Decide.sentence(server, error))
  }
  yield* keepsPolicy(state, first, planned.success.pins)
  // From here on it is this and nothing else, also where everything was asked for.
  const digest = Pins.digestOfHeld(first, items, wish.resources)
  if (digest === undefined) return undefined
  if (form._tag === "Terminal") {
    const question =
      `${Output.wrapped(`This accepts ${phrase(first, planned.success)} of ${server}, exactly as shown.`)}\n` +
      "Type accept to do so, anything else to leave it held: "
    const others = yield* State.others(server)
    yield* Decide.confirm("accepted", Show.diff(first, items, { links: Pins.linksOf(others) }), question, "accept")
  }
  const kept = yield* Decide.keep(
    "accepted",
    server,
    (pins, at) =>
      Result.match(decide(pins, { ...chosen, digest }, form, at), {
        onFailure: () => Result.fail(Decide.meanwhile("accepted", server)),
        onSuccess: (acceptance) =>
          Result.succeed({ pins: acceptance.pins, items: itemsOf(pins, acceptance), acceptance })
      }),
    hows[form._tag],
    parents
  )
  const accepted: Accepted = {
    server,
    how: hows[form._tag],
    digest,
    version: kept.version,
    launch: kept.acceptance.launch,
    items: kept.items,
    held: Pins.heldOf(kept.pins).verdicts.length
  }
  return { accepted, says: phrase(first, kept.acceptance) }
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
    resources: Flag.Literals("resources", ["listed", "linked", "any"]).pipe(
      Flag.withMetavar("WHICH"),
      Flag.withDescription("which resources may be read: accepted ones, also linked ones, or any"),
      Flag.optional
    ),
    state: State.flag,
    json: State.json,
    server: Arguments.server,
    items: Arguments.items
  },
  ({ digest, items, json, resources, server, state, unseen }) =>
    ending(Effect.gen(function*() {
      const form: Form = Option.isSome(digest)
        ? { _tag: "Digest", digest: digest.value.trim().toLowerCase() }
        : { _tag: unseen ? "Unseen" : "Terminal" }
      const parents = yield* Decide.permitted("accepted", form._tag === "Terminal")
      const opened = yield* State.open(state)
      const done = yield* accept(
        opened,
        server,
        { items, ...(resources._tag === "Some" ? { resources: resources.value } : {}) },
        form,
        parents
      ).pipe(
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
