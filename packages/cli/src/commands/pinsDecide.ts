/**
 * What the commands have in common by which a person decides about pins.
 *
 * @since 0.1.0
 */
import type { Event } from "@sallyport/core/ledger/Entry"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Visible from "@sallyport/core/pin/Visible"
import { Ledger } from "@sallyport/core/stage/Ledger"
import { PinStore } from "@sallyport/core/stage/PinStore"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Ancestry from "../Ancestry.ts"
import { Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"

/**
 * What a command does, in the past: `nothing was accepted`.
 *
 * @category models
 * @since 0.1.0
 */
export type Did = "accepted" | "rejected" | "forgotten"

/**
 * The failure of a command that did nothing, with why.
 *
 * @category constructors
 * @since 0.1.0
 */
export const nothing = (did: Did, why: string): Failure => new Failure({ message: `nothing was ${did}: ${why}` })

/**
 * Why an acceptance or a rejection was not possible, as a sentence.
 *
 * @category conversions
 * @since 0.1.0
 */
export const sentence = (server: string, error: Pins.AcceptError): string => {
  const names = error.items.map(({ name }) => Visible.name(name)).join(", ")
  switch (error.kind) {
    case "nothing-held":
      return `nothing of ${server} is held that could be accepted or rejected`
    case "not-held":
      return `${names}: not held; it is accepted already, or not offered any more`
    case "not-acceptable":
      return `${names}: the server gives the name more than once, or the definition is not valid; ` +
        "only the server's author can mend that"
    case "digest-differs":
      return `what is held of ${server} now is not what this digest was taken of; ` +
        `look at it again (sallyport pins diff ${server})`
    case "rejected":
      return `the launch of ${server} was rejected, so it is not accepted unseen`
  }
}

/**
 * The failure of a command whose subject changed while the person looked.
 *
 * @category constructors
 * @since 0.1.0
 */
export const meanwhile = (did: Did, server: string): Failure =>
  nothing(did, `what ${server} offers changed meanwhile; look at it again (sallyport pins diff ${server})`)

/**
 * The time in ISO 8601.
 *
 * @category getters
 * @since 0.1.0
 */
export const now = Effect.map(DateTime.now, DateTime.formatIso)

/** So many processes above the command are recorded, the nearest ones. */
const recordedParents = 64

/**
 * The processes above this one; fails where they may not decide (security rule F1).
 *
 * @category getters
 * @since 0.1.0
 */
export const permitted = Effect.fnUntraced(function*(did: Did, asks: boolean) {
  const parents = yield* (yield* Ancestry.Ancestry).parents
  const refused = Ancestry.refusal(parents, asks)
  if (refused !== undefined) return yield* nothing(did, refused)
  return parents
})

/**
 * Shows a text and asks for one word; fails where it does not come.
 *
 * @category asking
 * @since 0.1.0
 */
export const confirm = Effect.fnUntraced(function*(did: Did, shown: string, question: string, word: string) {
  const person = yield* Person
  const answer = yield* Effect.catchTag(
    person.ask(`${shown}\n`, question),
    "NoTerminal",
    () =>
      Effect.fail(nothing(
        did,
        "this asks a person on a terminal, and there is none here; a person must do it, in a terminal of their own"
      ))
  )
  if (answer?.trim() !== word) return yield* nothing(did, `the answer was not ${word}`)
})

/** So often another process may be faster without having changed what was decided about. */
const attempts = 10

/**
 * What a decision comes to: the pins to keep, and what the ledger is told of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decided {
  readonly pins: Pins.Pins
  readonly items: ReadonlyArray<{ readonly kind: string; readonly name: string; readonly digest: string }>
}

/**
 * Takes a decision about pins as they are now, and keeps it.
 *
 * **Details**
 *
 * What is decided is in the ledger before it is in the pins, so an entry without pins is possible where the process is
 * ended in between, the other way round it is not. `decide` is asked again where another process was faster; where it
 * fails then, nothing is changed.
 *
 * @category changing
 * @since 0.1.0
 */
export const keep = Effect.fnUntraced(function*<A extends Decided>(
  did: Did,
  server: string,
  decide: (pins: Pins.Pins, at: string) => Result.Result<A, Failure>,
  how: "terminal" | "digest" | "unseen" | "import",
  parents: ReadonlyArray<Ancestry.Process>
) {
  const store = yield* PinStore
  const ledger = yield* Ledger
  let recorded = false
  for (let attempt = 0; attempt < attempts; attempt++) {
    const pins = yield* store.load(server)
    const decided = yield* Effect.fromResult(decide(pins, yield* now))
    if (!recorded) {
      const described = parents.slice(0, recordedParents).map(Ancestry.describe)
      const event: Event = did === "accepted"
        ? { type: "accepted", server, how, items: [...decided.items], parents: described }
        : { type: did, server, items: [...decided.items], parents: described }
      ledger.append(event)
      yield* Effect.mapError(ledger.commit, (error) => nothing(did, error.message))
      recorded = true
    }
    if (yield* store.save(server, pins.version, decided.pins)) return { ...decided, version: pins.version + 1 }
  }
  return yield* nothing(did, `the pins of ${server} do not hold still; try again`)
})

const nouns: Readonly<Record<Pins.Kind, (amount: number) => string>> = {
  identity: () => "the identity",
  instructions: () => "the instructions",
  capability: (amount) => Output.count(amount, "capability", "capabilities"),
  tool: (amount) => Output.count(amount, "tool"),
  prompt: (amount) => Output.count(amount, "prompt"),
  resource: (amount) => Output.count(amount, "resource"),
  template: (amount) => Output.count(amount, "template")
}

/**
 * Items in words: `2 tools, 1 prompt and the launch`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const phrase = (items: ReadonlyArray<{ readonly kind: string }>, more: ReadonlyArray<string> = []): string => {
  const parts = [
    ...Pins.kinds.flatMap((kind) => {
      const amount = items.filter((item) => item.kind === kind).length
      return amount === 0 ? [] : [nouns[kind](amount)]
    }),
    ...(items.some(({ kind }) => kind === "launch") ? ["the launch"] : []),
    ...more
  ]
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`
}
