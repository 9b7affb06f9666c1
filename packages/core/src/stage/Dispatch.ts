/**
 * Dispatch: routes what a peer asks.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type { Leg } from "./Port.ts"
import type { Who } from "./Transport.ts"

/**
 * Opens for each peer the leg that answers it: one server, many, or tools of the program itself.
 *
 * @category services
 * @since 0.1.0
 */
export class Dispatch extends Context.Service<Dispatch, {
  /** The leg that answers this peer. A leg that cannot reach its server still opens, and answers with why. */
  readonly open: (who: Who) => Leg
}>()("@sallyport/core/stage/Dispatch") {}
