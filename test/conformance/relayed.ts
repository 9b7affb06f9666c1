/** A relay that listens over HTTP in this process, before a server that does. */
import * as Lines from "@sallyport/core/line/Lines"
import { Environment } from "@sallyport/core/node/Environment"
import * as NodeConnect from "@sallyport/core/node/NodeConnect"
import * as NodeHttp from "@sallyport/core/node/NodeHttp"
import * as NodeSpawn from "@sallyport/core/node/NodeSpawn"
import * as Serve from "@sallyport/core/server/Serve"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as Parse from "@sallyport/core/stage/Parse"
import * as PinStore from "@sallyport/core/stage/PinStore"
import * as RelayHttp from "@sallyport/relay/RelayHttp"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Gives the address of the relay's endpoint. */
export const relay = Effect.fnUntraced(function*(url: string) {
  const listening = yield* Deferred.make<string, NodeHttp.ListenError>()
  const pins = PinStore.layerMemory
  const lines = Lines.layer({ firstSight: "observe", loosened: [], key: "key" }).pipe(
    Layer.provide(Layer.mergeAll(
      Gate.layerOpen,
      Ledger.layerMemory(),
      pins,
      Parse.layer(),
      Serve.layerStderr,
      NodeConnect.layer.pipe(Layer.provide(NodeSpawn.layer()))
    ))
  )
  const dispatch = RelayHttp.layerDispatch({ name: "everything", url, headers: [], privately: false }).pipe(
    Layer.provide(lines)
  )
  const transport = Layer.unwrap(
    Effect.map(RelayHttp.paramHeaders("everything"), (paramHeaders) => NodeHttp.layerHttp({ paramHeaders }))
  ).pipe(Layer.provide(pins))
  const told = Layer.effectDiscard(
    Effect.flatMap(NodeHttp.Listening, ({ url }) => Deferred.succeed(listening, url))
  )
  yield* Serve.over(dispatch, Layer.provideMerge(told, transport)).pipe(
    Effect.catch((error) => Deferred.fail(listening, error)),
    Effect.provideService(Environment, {}),
    Effect.forkScoped
  )
  return yield* Deferred.await(listening)
})
