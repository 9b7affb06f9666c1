/**
 * `sallyport pins show` and `sallyport pins diff`: what a person looks at before accepting.
 *
 * @since 0.1.0
 */
import * as Pins from "@sallyport/core/pin/Pins"
import * as Show from "@sallyport/core/pin/Show"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as ExitCode from "../ExitCode.ts"
import { ending } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"

/**
 * The server that a command is about.
 *
 * @category flags
 * @since 0.1.0
 */
export const server = Argument.String("SERVER").pipe(Argument.withDescription("the server's name, see pins list"))

/**
 * The items of it that a command is about.
 *
 * @category flags
 * @since 0.1.0
 */
export const items = Argument.String("ITEM").pipe(
  Argument.withDescription("only these, by name or KIND:NAME, hidden characters as shown"),
  Argument.variadic()
)

const whole = Flag.Boolean("whole").pipe(
  Flag.withDescription("cut nothing, however long it is"),
  Flag.withoutNegation,
  Flag.withDefault(false)
)

const config = { whole, state: State.flag, json: State.json, server, items }

/**
 * What is held of these items; without any, of all of them.
 *
 * @category conversions
 * @since 0.1.0
 */
export const heldOf = (pins: Pins.Pins, items: ReadonlyArray<Pins.Key> | undefined): Pins.Held => {
  const { seen } = pins
  if (items === undefined || seen === undefined) return Pins.heldOf(pins)
  const keys = new Set(items.map(Pins.keyOf))
  const isNamed = (item: Pins.Key) => keys.has(Pins.keyOf(item))
  const narrowed = (each: Pins.SeenKind): Pins.SeenKind =>
    Object.assign({}, each, { items: each.items.filter(isNamed), invalid: each.invalid.filter(isNamed) })
  // So that the class is that of these, too.
  return Pins.heldOf({ ...pins, seen: { ...seen, kinds: seen.kinds.map(narrowed) } })
}

/**
 * Whether a person has something to decide.
 *
 * @category guards
 * @since 0.1.0
 */
export const isOpen = ({ launch, verdicts }: Pins.Held): boolean =>
  verdicts.length > 0 || launch !== undefined && !launch.rejected

/** The launch, but no value of its environment, not even the digest of one. */
const launchJson = (launch: Pins.LaunchPin) => ({
  digest: launch.digest,
  fields: launch.fields.map(({ name, value }) => ({
    name,
    value: name.startsWith("env ") && value !== "inherited" ? "literal" : value
  })),
  loaders: launch.loaders
})

const stateOf = (verdict: Pins.Verdict): string =>
  verdict._tag === "Accepted" ? "accepted" : verdict._tag === "Free" ? "free" : verdict.reason

const verdictJson = (verdict: Pins.Verdict) => {
  const change = verdict._tag === "Rejected" ? verdict.of : verdict
  return {
    kind: verdict.kind,
    name: verdict.name,
    digest: verdict.digest,
    state: stateOf(verdict),
    ...(verdict._tag === "Accepted" ? { how: verdict.pin.how, at: verdict.pin.at } : {}),
    ...("why" in verdict ? { why: verdict.why } : {}),
    ...(change._tag === "Changed"
      ? { class: change.drift.class, changes: change.drift.changes, more: change.drift.more, before: change.pin.text }
      : {}),
    text: verdict.item.text
  }
}

/** Everything, or only what is held. `text` is the definition as the server sent it, in one string: numbers stay exact. */
const toJson = (pins: Pins.Pins, items: ReadonlyArray<Pins.Key> | undefined, only: "all" | "held") => {
  const held = heldOf(pins, items)
  const judgement = Pins.judgeSeen(pins)
  const keys = items === undefined ? undefined : new Set(items.map(Pins.keyOf))
  const named = <A extends Pins.Key>(all: ReadonlyArray<A>) =>
    keys === undefined ? all : all.filter((item) => keys.has(Pins.keyOf(item)))
  return {
    server: pins.server,
    version: pins.version,
    class: held.class ?? null,
    digest: Pins.digestOfHeld(pins, items) ?? null,
    seen: pins.seen === undefined ? null : {
      at: pins.seen.at,
      kinds: pins.seen.kinds.map(({ at, fault, kind, variant }) => ({ kind, at, variant, fault: fault ?? null }))
    },
    launch: {
      state: Pins.launchState(held),
      differences: held.launch?.differences ?? [],
      ...(pins.launch === undefined ? {} : { accepted: launchJson(pins.launch) }),
      ...(pins.seen === undefined ? {} : { seen: launchJson(pins.seen.launch) })
    },
    items: named(only === "all" ? judgement.verdicts : judgement.held).map(verdictJson),
    gone: named(judgement.gone).map(({ digest, kind, name }) => ({ kind, name, digest }))
  }
}

/** The line that binds an acceptance to what is shown above it. */
const digestLine = (pins: Pins.Pins, items: ReadonlyArray<Pins.Key> | undefined): string => {
  const digest = Pins.digestOfHeld(pins, items)
  return digest === undefined ? "" : `\ndigest of what is held and can be accepted:\n${digest}\n`
}

const load = Effect.fnUntraced(function*(
  { items, server, state }: {
    readonly items: ReadonlyArray<string>
    readonly server: string
    readonly state: State.State
  }
) {
  const pins = yield* State.seen(state, server)
  const links = Pins.linksOf(yield* State.others(server))
  return { pins, links, named: yield* State.items(state, pins, items) }
}, (effect, { state }) => Effect.provide(effect, state.pins))

/**
 * `sallyport pins show`.
 *
 * @category commands
 * @since 0.1.0
 */
export const show = Command.make(
  "show",
  config,
  ({ items, json, server, state, whole }) =>
    ending(Effect.gen(function*() {
      const { links, named, pins } = yield* load({ items, server, state: yield* State.open(state) })
      if (json) yield* Output.printJson(toJson(pins, named, "all"))
      else {yield* Output.print(
          Show.show(pins, named, { ...(whole ? Show.whole : {}), links }) + digestLine(pins, named)
        )}
    }))
).pipe(Command.withDescription("Show all that was seen of a server, field by field"))

/**
 * `sallyport pins diff`.
 *
 * @category commands
 * @since 0.1.0
 */
export const diff = Command.make(
  "diff",
  config,
  ({ items, json, server, state, whole }) =>
    ending(Effect.gen(function*() {
      const { links, named, pins } = yield* load({ items, server, state: yield* State.open(state) })
      if (json) yield* Output.printJson(toJson(pins, named, "held"))
      else {yield* Output.print(
          Show.diff(pins, named, { ...(whole ? Show.whole : {}), links }) + digestLine(pins, named)
        )}
      const held = heldOf(pins, named)
      return ExitCode.ofHeld(isOpen(held), held.class)
    }))
).pipe(
  Command.withDescription("Show what is held: exit 10, from class widening on 11"),
  Command.withShortDescription("Show what is held, and how it differs")
)
