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
  Argument.withDescription("only these, by name, hidden characters as shown"),
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
export const heldOf = (pins: Pins.Pins, names: ReadonlyArray<string> | undefined): Pins.Held => {
  const { seen } = pins
  if (names === undefined || seen === undefined) return Pins.heldOf(pins)
  const isNamed = ({ name }: { readonly name: string }) => names.includes(name)
  // So that the class is that of these, too.
  return Pins.heldOf({
    ...pins,
    seen: { ...seen, items: seen.items.filter(isNamed), invalid: seen.invalid.filter(isNamed) }
  })
}

/** The launch, but no value of its environment, not even the digest of one. */
const launchJson = (launch: Pins.LaunchPin) => ({
  digest: launch.digest,
  fields: launch.fields.map(({ name, value }) => ({
    name,
    value: name.startsWith("env ") && value !== "inherited" ? "literal" : value
  })),
  loaders: launch.loaders
})

const verdictJson = (verdict: Pins.Verdict) => ({
  kind: verdict.kind,
  name: verdict.name,
  digest: verdict.digest,
  state: verdict._tag === "Accepted" ? "accepted" : verdict.reason,
  ...(verdict._tag === "Accepted" ? { how: verdict.pin.how, at: verdict.pin.at } : { why: verdict.why }),
  ...(verdict._tag === "Changed"
    ? { class: verdict.drift.class, changes: verdict.drift.changes, more: verdict.drift.more, before: verdict.pin.text }
    : {}),
  text: verdict.item.text
})

/** Everything, or only what is held. `text` is the definition as the server sent it, in one string: numbers stay exact. */
const toJson = (pins: Pins.Pins, names: ReadonlyArray<string> | undefined, only: "all" | "held") => {
  const held = heldOf(pins, names)
  const judgement = Pins.judgeSeen(pins)
  const named = <A extends { readonly name: string }>(all: ReadonlyArray<A>) =>
    names === undefined ? all : all.filter(({ name }) => names.includes(name))
  return {
    server: pins.server,
    version: pins.version,
    class: held.class ?? null,
    digest: Pins.digestOfHeld(pins, names) ?? null,
    seen: pins.seen === undefined
      ? null
      : { at: pins.seen.at, variant: pins.seen.variant, fault: pins.seen.fault ?? null },
    launch: {
      state: Pins.launchState(held),
      differences: held.launch?.differences ?? [],
      ...(pins.launch === undefined ? {} : { accepted: launchJson(pins.launch) }),
      ...(pins.seen === undefined ? {} : { seen: launchJson(pins.seen.launch) })
    },
    items: named(only === "all" ? judgement.verdicts : held.verdicts).map(verdictJson),
    gone: named(judgement.gone).map(({ digest, kind, name }) => ({ kind, name, digest }))
  }
}

/** The line that binds an acceptance to what is shown above it. */
const digestLine = (pins: Pins.Pins, names: ReadonlyArray<string> | undefined): string => {
  const digest = Pins.digestOfHeld(pins, names)
  return digest === undefined ? "" : `\ndigest of what is held and can be accepted:\n${digest}\n`
}

const load = Effect.fnUntraced(function*(
  { items, server, state }: {
    readonly items: ReadonlyArray<string>
    readonly server: string
    readonly state: State.State
  }
) {
  const pins = yield* Effect.provide(State.seen(state, server), state.pins)
  return { pins, names: yield* State.items(state, pins, items) }
})

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
      const { names, pins } = yield* load({ items, server, state: yield* State.open(state) })
      if (json) yield* Output.printJson(toJson(pins, names, "all"))
      else yield* Output.print(Show.show(pins, names, whole ? Show.whole : {}) + digestLine(pins, names))
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
      const { names, pins } = yield* load({ items, server, state: yield* State.open(state) })
      if (json) yield* Output.printJson(toJson(pins, names, "held"))
      else yield* Output.print(Show.diff(pins, names, whole ? Show.whole : {}) + digestLine(pins, names))
      const held = heldOf(pins, names)
      return ExitCode.ofHeld(held.launch !== undefined || held.verdicts.length > 0, held.class)
    }))
).pipe(
  Command.withDescription("Show what is held: exit 10, from class widening on 11"),
  Command.withShortDescription("Show what is held, and how it differs")
)
