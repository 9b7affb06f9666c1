/**
 * The accepted definitions that rules of a policy are checked against.
 *
 * @since 0.1.0
 */
import type * as Pins from "@sallyport/core/pin/Pins"
import type * as Decide from "@sallyport/core/policy/Decide"
import type { PinStore, PinStoreError } from "@sallyport/core/stage/PinStore"
import * as Effect from "effect/Effect"

const methods = { tool: "tools/call", prompt: "prompts/get" } as const

/**
 * What was accepted of a server that takes arguments.
 *
 * @category conversions
 * @since 0.1.0
 */
export const ofPins = (pins: Pins.Pins): ReadonlyArray<Decide.Defined> =>
  pins.pins.flatMap(({ kind, name, text }) =>
    kind === "tool" || kind === "prompt"
      ? [{ server: pins.server, method: methods[kind], name, definition: text }]
      : []
  )

/**
 * The same, from where pins are kept.
 *
 * @category reading
 * @since 0.1.0
 */
export const of = (
  store: PinStore["Service"],
  server: string
): Effect.Effect<ReadonlyArray<Decide.Defined>, PinStoreError> => Effect.map(store.load(server), ofPins)

/**
 * What was accepted of all servers.
 *
 * @category reading
 * @since 0.1.0
 */
export const all = Effect.fnUntraced(function*(store: PinStore["Service"]) {
  return (yield* Effect.forEach(yield* store.servers, (server) => of(store, server))).flat()
})
