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
import type { Text } from "../wire/Message.ts"
import { exitOf } from "./internal/constant.ts"

/**
 * What is to be decided. `name` is the tool's or prompt's name, or the resource's URI. `pin` is the digest of the
 * accepted definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly client: string
  readonly server: string
  readonly from: "host" | "server"
  readonly method: string
  readonly name: string | undefined
  readonly params: Text | undefined
  readonly pin: string | undefined
}

/**
 * What was decided: `rule` names what decided it, `why` and `remedy` say it to who asked.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict =
  | { readonly _tag: "Allow"; readonly rule?: string }
  | { readonly _tag: "Refuse"; readonly rule: string; readonly why: string; readonly remedy: string }

/**
 * Allowed, by no rule in particular.
 *
 * @category constructors
 * @since 0.1.0
 */
export const allow: Verdict = { _tag: "Allow" }

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
}>()("@sallyport/core/stage/Gate") {}

/**
 * Allows everything.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOpen: Layer.Layer<Gate> = Layer.succeed(Gate, {
  call: () => Exit.succeed(allow),
  shows: () => true
})

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
  return {
    call: (subject) => Exit.succeed(decide(subject)),
    shows: (subject) => decide(subject)._tag === "Allow"
  }
}

/**
 * All of the gates must allow: the first refusal wins, an error refuses, and no gate can widen another.
 *
 * @category combinators
 * @since 0.1.0
 */
export const all = (gates: ReadonlyArray<Gate["Service"]>): Gate["Service"] => ({
  call: (subject) => {
    for (let i = 0; i < gates.length; i++) {
      const gate = gates[i]
      if (gate === undefined) continue
      // A constant is taken without a fiber; the first gate that has to run takes the rest with it.
      const verdict = gate.call(subject)
      const exit = exitOf(verdict)
      if (exit === undefined) {
        const rest = all(gates.slice(i + 1))
        return Effect.flatMap(verdict, (first) => first._tag === "Refuse" ? Effect.succeed(first) : rest.call(subject))
      }
      if (Exit.isFailure(exit) || exit.value._tag === "Refuse") return exit
    }
    return Exit.succeed(allow)
  },
  shows: (subject) => gates.every((gate) => gate.shows(subject))
})
