/**
 * What a relay needs besides where its host connects over HTTP.
 *
 * @since 0.1.0
 */
import * as Mirror from "@sallyport/core/http/Mirror"
import { Lines } from "@sallyport/core/line/Lines"
import * as Shared from "@sallyport/core/line/Shared"
import * as Pins from "@sallyport/core/pin/Pins"
import { Dispatch } from "@sallyport/core/stage/Dispatch"
import { PinStore } from "@sallyport/core/stage/PinStore"
import type { Leg } from "@sallyport/core/stage/Port"
import type { Launch } from "@sallyport/core/stage/Spawn"
import * as T from "@sallyport/core/wire/Text"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

/**
 * Routes everything to the one server: requests that open no session share one line to the server, a session has one
 * of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDispatch = (launch: Launch): Layer.Layer<Dispatch, never, Lines> =>
  Layer.effect(
    Dispatch,
    Effect.gen(function*() {
      const lines = yield* Lines
      const scope = yield* Effect.scope
      const legs = new Map<string, Leg>()
      return Dispatch.of({
        open: (who) => (back) =>
          Effect.gen(function*() {
            const leg = legs.get(who.client) ??
              (yield* Effect.provideService(Shared.make(lines.open(launch, who)), Scope.Scope, scope))
            legs.set(who.client, leg)
            return yield* leg(back)
          })
      })
    })
  )

/**
 * The arguments that headers repeat, of each tool as it was last seen at the server (2026-07-28
 * basic/transports/streamable-http, Custom Headers).
 *
 * @category getters
 * @since 0.1.0
 */
export const paramHeaders = (server: string): Effect.Effect<Mirror.ParamHeaders, never, PinStore> =>
  Effect.map(PinStore, (store) => {
    let known: { readonly version: number; readonly found: Map<string, ReadonlyArray<Mirror.ParamHeader>> } | undefined
    return (tool) =>
      Effect.matchEffect(store.load(server), {
        // What cannot be read is told where it matters; no call gets past the pins then.
        onFailure: () => Effect.succeed([]),
        onSuccess: (pins) =>
          Effect.sync(() => {
            if (known?.version !== pins.version) known = { version: pins.version, found: new Map() }
            const before = known.found.get(tool)
            if (before !== undefined) return before
            const definition = Pins.seenOf(pins, "tool")?.items.find(({ name }) => name === tool)
            const schema = definition === undefined ? undefined : T.member(definition.text, "inputSchema")
            const found = schema === undefined ? [] : Mirror.paramHeadersOf(schema)
            known.found.set(tool, found)
            return found
          })
      })
  })
