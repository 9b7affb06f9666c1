/**
 * Inspect: looks at what a call gave before the host gets it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type { Subject } from "../stage/Gate.ts"
import type { Reply } from "../wire/Message.ts"

/**
 * What the host gets for a result, and what is recorded of it besides the outcome where something was found.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inspected {
  readonly reply: Reply
  readonly checked?: {
    readonly did: "marked" | "quarantined"
    readonly id?: string | undefined
    readonly found: ReadonlyArray<string>
  } | undefined
}

/**
 * Gives the reply that the host gets for the server's reply to a call: the same, a marked one, or why there is none.
 *
 * **Details**
 *
 * Synchronous, so that results keep their order: what is to be kept of a result is written on the side. The outcome that
 * is recorded of the call is of the server's reply, not of this. One that throws refuses the reply.
 *
 * What a server tells is inspected as the result of the notification's method would be.
 *
 * @category models
 * @since 0.1.0
 */
export type Inspector = (subject: Subject, reply: Reply) => Inspected

/**
 * The inspector of results; without one every result goes on as it came.
 *
 * @category services
 * @since 0.1.0
 */
export const Inspect: Context.Reference<Inspector | undefined> = Context.Reference<Inspector | undefined>(
  "@sallyport/core/line/Inspect",
  { defaultValue: () => undefined }
)
