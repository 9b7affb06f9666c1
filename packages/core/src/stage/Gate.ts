/**
 * Gate: two faces of one rule: whether a call may go on, and whether a definition is shown.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Condition from "../policy/Condition.ts"
import type * as Reason from "../wire/Reason.ts"
import { attempt } from "./internal/attempt.ts"
import { exitOf } from "./internal/constant.ts"

/**
 * What is to be decided.
 *
 * **Details**
 *
 * `name` is the tool's or prompt's name, or the resource's URI. `definition` is the accepted (or observed) definition
 * that the call is of, and `pin` the digest under which it was accepted. `within` says of what a server asks which
 * request of the host's it belongs to, where that is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject extends Condition.Call {
  /** The revision of the session, where there is one yet. */
  readonly revision?: string | undefined
  readonly within?: { readonly method: string; readonly name: string | undefined } | undefined
}

/**
 * What was decided: `rule` names what decided it, `why` and `remedy` say it to who asked.
 *
 * **Details**
 *
 * `Ask` is put to a person, and allowed only when they say so; `via` says where: `any` is the host's interface too, and
 * where the rule does not say it, only for tools that do not declare to be destructive. `ended` is called once, when the call is answered, given up or lost: what a gate counts at one time ends there.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = Allow | Refuse | Ask
/**
 * @category models
 * @since 0.1.0
 */
export interface Allow {
  readonly _tag: "Allow"
  readonly rule?: string | undefined
  readonly noted?: Noted | undefined
  readonly ended?: (() => void) | undefined
}
/**
 * @category models
 * @since 0.1.0
 */
export interface Refuse {
  readonly _tag: "Refuse"
  /** Why, in a word of the table of reasons. Default: `denied`. */
  readonly reason?: Reason.Reason | undefined
  readonly rule: string
  readonly why: string
  readonly remedy: string
  readonly noted?: Noted | undefined
}
/**
 * @category models
 * @since 0.1.0
 */
export interface Ask {
  readonly _tag: "Ask"
  readonly rule: string
  readonly why: string
  readonly via: "any" | "terminal" | undefined
  readonly noted?: Noted | undefined
  readonly ended?: (() => void) | undefined
}

/**
 * What was found beside the verdict, for the record: what rules that only observe would have done, and why a condition
 * had no answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Noted {
  readonly observed: ReadonlyArray<{ readonly rule: string; readonly action: "allow" | "ask" | "deny" }>
  readonly fault: string | undefined
}

/**
 * Allowed, by no rule in particular.
 *
 * @category constructors
 * @since 0.1.0
 */
export const allow: Allow = { _tag: "Allow" }

/**
 * A decision that could not be taken. The call is refused.
 *
 * @category errors
 * @since 0.1.0
 */
export class GateError extends Schema.TaggedError<GateError>("sallyport/stage/GateError")("GateError", {
  message: Schema.String
}) {}

/**
 * Decides about calls. A gate that fails refuses.
 *
 * @category services
 * @since 0.1.0
 */
export class Gate extends Context.Service<Gate, {
  readonly call: (subject: Subject) => Effect.Effect<Verdict, GateError>
  /** Whether the definition of this tool is listed: what may never be called is not shown. */
  readonly shows: (subject: Subject) => boolean
  /**
   * Moves whenever a call might be decided otherwise than before: the rule was loaded anew, a grant taken back. A
   * verdict of another epoch is taken again before the bytes leave (security rule F10).
   */
  readonly epoch: () => number
}>()("@sallyport/core/stage/Gate") {}

/**
 * A gate of a function: it shows everything and its rule never changes, unless something else is given.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  gate: Pick<Gate["Service"], "call"> & Partial<Gate["Service"]>
): Gate["Service"] => ({ shows: () => true, epoch: () => 0, ...gate })

/**
 * Allows everything.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOpen: Layer.Layer<Gate> = Layer.succeed(Gate, make({ call: () => Exit.succeed(allow) }))

/**
 * Decides by an effect, which may need services of its own: the whole decision of who embeds.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerEffect = <R = never>(
  call: (subject: Subject) => Effect.Effect<Verdict, GateError, R>
): Layer.Layer<Gate, never, R> =>
  Layer.effect(
    Gate,
    Effect.map(
      Effect.context<R>(),
      (context) => make({ call: (subject) => Effect.provideContext(call(subject), context) })
    )
  )

/**
 * Decides by a table from name to verdict; what is not in it is refused. For tests and for small embeddings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTable = (table: ReadonlyMap<string, Verdict>): Layer.Layer<Gate> =>
  Layer.succeed(Gate, makeTable(table))

/**
 * The gate behind {@link layerTable}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeTable = (table: ReadonlyMap<string, Verdict>): Gate["Service"] => {
  const decide = (subject: Subject): Verdict =>
    table.get(subject.name ?? subject.method) ??
      { _tag: "Refuse", rule: "table", why: "the table has no entry for it", remedy: "ask the operator" }
  return make({
    call: (subject) => Exit.succeed(decide(subject)),
    shows: (subject) => decide(subject)._tag !== "Refuse"
  })
}

/** Two verdicts that let a call through, or to a person, as one: an ask wins, and the terminal over anything. */
const join = (a: Allow | Ask, b: Allow | Ask): Allow | Ask => {
  if (a === allow) return b
  if (b === allow) return a
  const ended = endedOf(a.ended, b.ended)
  const noted = notedOf(a.noted, b.noted)
  if (a._tag === "Ask") return { ...a, via: b._tag === "Ask" ? narrower(a.via, b.via) : a.via, noted, ended }
  return b._tag === "Ask" ? { ...b, noted, ended } : { _tag: "Allow", rule: a.rule ?? b.rule, noted, ended }
}

const narrower = (a: Ask["via"], b: Ask["via"]): Ask["via"] =>
  a === "terminal" || b === "terminal" ? "terminal" : a === undefined ? a : b

const notedOf = (a: Noted | undefined, b: Noted | undefined): Noted | undefined =>
  a === undefined || b === undefined
    ? a ?? b
    : { observed: [...a.observed, ...b.observed], fault: a.fault ?? b.fault }

/** A refusal after what the gates before it have noted. */
const after = (sum: Allow | Ask, refused: Refuse): Refuse =>
  sum.noted === undefined ? refused : { ...refused, noted: notedOf(sum.noted, refused.noted) }

const endedOf = (a: Allow["ended"], b: Allow["ended"]): Allow["ended"] => {
  if (a === undefined || b === undefined) return a ?? b
  return () => {
    a()
    b()
  }
}

/**
 * All of the gates must allow: a refusal wins over an ask and an ask over an allowance, an error refuses, and no gate
 * can widen another.
 *
 * **Details**
 *
 * The gates are asked in order, up to the first that refuses. What the ones before it have begun to count ends then.
 *
 * @category combinators
 * @since 0.1.0
 */
export const all = (gates: ReadonlyArray<Gate["Service"]>): Gate["Service"] => {
  const from = (start: number, before: Allow | Ask, subject: Subject): Effect.Effect<Verdict, GateError> => {
    let sum = before
    for (let i = start; i < gates.length; i++) {
      const verdict: Effect.Effect<Verdict, GateError> = attempt(
        () => gates[i]?.call(subject) ?? Exit.succeed(allow),
        Exit.die
      )
      // A constant is taken without a fiber; the first gate that has to run takes the rest with it.
      const exit = exitOf(verdict)
      if (exit === undefined) {
        const { ended } = sum
        const soFar = sum
        return verdict.pipe(
          Effect.onExit((exit) => Exit.isSuccess(exit) && exit.value._tag !== "Refuse" ? Effect.void : release(ended)),
          Effect.flatMap((verdict) =>
            verdict._tag === "Refuse"
              ? Effect.succeed(after(soFar, verdict))
              : from(i + 1, join(soFar, verdict), subject)
          )
        )
      }
      if (Exit.isFailure(exit)) {
        sum.ended?.()
        return exit
      }
      if (exit.value._tag === "Refuse") {
        sum.ended?.()
        return sum.noted === undefined ? exit : Exit.succeed(after(sum, exit.value))
      }
      sum = join(sum, exit.value)
    }
    return Exit.succeed(sum)
  }
  return {
    call: (subject) => from(0, allow, subject),
    shows: (subject) => gates.every((gate) => gate.shows(subject)),
    epoch: () => gates.reduce((sum, gate) => sum + gate.epoch(), 0)
  }
}

const release = (ended: Allow["ended"]): Effect.Effect<void> => Effect.sync(() => ended?.())
