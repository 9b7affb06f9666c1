/**
 * Dispatch: routes what a peer asks.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Reply } from "../wire/Message.ts"
import type { Call, Leg } from "./Port.ts"
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

/**
 * Answers every request as a function says, for tests and sketches: what it gives is the answer, and where it gives
 * nothing the request stays open. Notifications go nowhere, and the far side never ends.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerScripted = (answer: (call: Call, who: Who) => Reply | undefined): Layer.Layer<Dispatch> =>
  Layer.succeed(Dispatch, {
    open: (who) => () =>
      Effect.succeed({
        request: (call) => {
          const reply = answer(call, who)
          if (reply !== undefined) call.reply(reply)
        },
        cancel: () => {},
        notify: () => {},
        flush: Effect.void,
        end: Effect.void,
        ended: Effect.never
      })
  })
