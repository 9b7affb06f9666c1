/**
 * Ask: what becomes of a call that the gate puts to a person.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { Event } from "../ledger/Entry.ts"
import type * as Agreement from "../protocol/Agreement.ts"
import type * as Gate from "../stage/Gate.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Reply } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"

/**
 * A call that a person is to decide about, and the verdict that says so.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question {
  readonly call: Call
  readonly subject: Gate.Subject
  readonly verdict: Gate.Ask
}

/**
 * What came of a question.
 *
 * - `Allowed`: a person allowed this call.
 * - `Refused`: nobody did, and why (default: `not-approved`).
 * - `Replied`: the call is answered with this (an input request of the modern era); its retry comes as a call of its own.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  | { readonly _tag: "Allowed" }
  | { readonly _tag: "Refused"; readonly reason?: Reason.Reason | undefined; readonly why?: string | undefined }
  | { readonly _tag: "Replied"; readonly reply: Reply }

/**
 * Puts questions of one line to a person.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asker {
  /**
   * A request of the host's without what is meant for Sallyport in it: answers to questions of Sallyport's own never
   * reach a server. It is judged, recorded and sent in place of what came, and its reply is the one of what came. A
   * reason where it answers a question that is not open.
   */
  readonly resume: (call: Call) => Call | Reason.Reason
  /** Waits for an answer. Interrupted where the call is given up: the question is withdrawn. */
  readonly ask: (question: Question) => Effect.Effect<Answer>
}

/**
 * What an asker may know and use of the line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  readonly client: string
  readonly server: string
  readonly agreement: Agreement.Agreement
  /** The gate's: what was asked under one rule is not answered under another. */
  readonly epoch: () => number
  readonly record: (event: Event) => void
  /** Asks the host something in Sallyport's own name, withdraws it, and tells it something. Sent at once. */
  readonly host: Pick<Port, "request" | "cancel" | "notify">
}

/**
 * Opens an asker for a line. Without one nobody is asked, and what should be asked is refused.
 *
 * @category services
 * @since 0.1.0
 */
export const Ask = Context.Reference<{
  readonly open: (line: Line) => Effect.Effect<Asker, never, Scope.Scope>
}>("@sallyport/core/line/Ask", {
  defaultValue: () => ({ open: () => Effect.succeed(nobody) })
})

const refused: Answer = { _tag: "Refused" }

/** Asks nobody. */
const nobody: Asker = {
  resume: (call) => call,
  ask: () => Exit.succeed(refused)
}
