/**
 * How long a handler may take.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Refusal } from "../Refusal.ts"
import type { Timeout } from "../Tool.ts"
import type { Body, Failure } from "./body.ts"
import * as body from "./body.ts"
import type { Exchange } from "./Exchange.ts"
import type { Services } from "./Program.ts"

const late = (method: string, after: Duration.Duration): Effect.Effect<Body, Failure> => {
  const words = `It took longer than ${Duration.format(after)} and was stopped`
  return method === "tools/call"
    ? Effect.succeed(body.error(words))
    : Effect.fail(new Refusal({ code: -32603, message: words }))
}

/**
 * Hands on what a handler does at most for so long; time in which the client is asked does not count.
 *
 * @category combinators
 * @since 0.1.0
 */
export const timed = (
  effect: Effect.Effect<Body, Failure, Services>,
  timeout: Timeout,
  exchange: Pick<Exchange, "onLife">,
  now: () => number,
  method: string
): Effect.Effect<Body, Failure, Services> =>
  Effect.suspend(() => {
    const [given, resets] = typeof timeout === "object" && "resetOnProgress" in timeout
      ? [timeout.after, timeout.resetOnProgress]
      : [timeout, false]
    const after = Duration.fromInputUnsafe(given)
    const millis = Duration.toMillis(after)
    let deadline = now() + millis
    let asking = 0
    let since = 0
    exchange.onLife((life) => {
      if (life === "progress") {
        if (resets) deadline = now() + millis
      } else if (life === "asking") {
        if (asking++ === 0) since = now()
      } else if (--asking === 0) deadline += now() - since
    })
    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const left = asking > 0 ? millis : deadline - now()
      return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(left), watch)
    })
    return Effect.raceFirst(effect, Effect.andThen(watch, Effect.suspend(() => late(method, after))))
  })
