/**
 * PolicyGate: a gate that decides by the operator's policy, and counts by its limits.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Decide from "../policy/Decide.ts"
import * as Limits from "../policy/Limits.ts"
import type { Budgets } from "./Budgets.ts"
import * as Gate from "./Gate.ts"
import { exitOf } from "./internal/constant.ts"
import * as Limiter from "./Limiter.ts"
import { PolicyFile } from "./PolicyFile.ts"

const refusing: Exit.Exit<Gate.Refuse> = Exit.succeed({
  _tag: "Refuse",
  reason: "policy-missing",
  rule: "policy",
  why: "the operator's policy cannot be read",
  remedy: "Ask the operator"
})

const notedOf = ({ fault, observed }: Decide.Decision): Gate.Noted | undefined =>
  fault === undefined && observed.length === 0 ? undefined : { fault, observed }

const overOf = (over: Limits.Over, noted: Gate.Noted | undefined): Gate.Refuse => ({
  _tag: "Refuse",
  reason: "over-limit",
  rule: over.limit.id,
  why: Limits.why(over),
  remedy: Limits.remedy(over),
  noted
})

/** What a decision is as a verdict, if no limit is against it. */
const verdictOf = (
  decision: Decide.Decision,
  noted: Gate.Noted | undefined,
  ended: Gate.Allow["ended"]
): Gate.Verdict => {
  const { action, rule, via, why } = decision
  switch (action) {
    case "allow":
      return rule === undefined && noted === undefined && ended === undefined
        ? Gate.allow
        : { _tag: "Allow", rule, noted, ended }
    case "ask":
      return { _tag: "Ask", rule: rule ?? "default", why, via, noted, ended }
    case "deny":
      return { _tag: "Refuse", rule: rule ?? "default", why, remedy: "Ask the operator", noted }
  }
}

/**
 * A gate of the policy in use. What is denied uses nothing of a limit; what is asked does, whatever the person says.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  tell: (sentence: string) => void
): Effect.fn.Return<Gate.Gate["Service"], never, Budgets | PolicyFile | Scope.Scope> {
  const file = yield* PolicyFile
  const limiter = yield* Limiter.make(tell)

  const call = (subject: Gate.Subject): Effect.Effect<Gate.Verdict, Gate.GateError> => {
    const state = file.current()
    if (state._tag === "Refusing") return refusing
    const decision = Decide.decide(state.compiled, subject)
    const noted = notedOf(decision)
    const uses = decision.action === "deny" ? [] : state.limits(subject)
    if (uses.length === 0) return Exit.succeed(verdictOf(decision, noted, undefined))
    const counted = (over: Limits.Over | undefined): Gate.Verdict =>
      over === undefined ? verdictOf(decision, noted, () => limiter.end(uses)) : overOf(over, noted)
    const taken = limiter.take(uses)
    const exit = exitOf(taken)
    return exit === undefined ? Effect.map(taken, counted) : Exit.map(exit, counted)
  }

  return {
    call,
    shows: (subject) => {
      const state = file.current()
      // What is refused while the policy is missing is refused for now: the host's listing stays as it was.
      return state._tag === "Refusing" || Decide.shows(state.compiled, subject)
    },
    epoch: file.epoch
  }
})

/**
 * The gate of {@link PolicyFile}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: { readonly tell: (sentence: string) => void }
): Layer.Layer<Gate.Gate, never, Budgets | PolicyFile> => Layer.effect(Gate.Gate, make(options.tell))
