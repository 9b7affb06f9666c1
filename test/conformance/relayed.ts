/** A relay that listens over HTTP in this process. */
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
import { type Launch, Spawn } from "@sallyport/core/stage/Spawn"
import { type Peer, Transport } from "@sallyport/core/stage/Transport"
import * as RelayHttp from "@sallyport/relay/RelayHttp"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Sees what a peer and the relay say to each other. */
export type Tap = (peer: Peer) => Peer

interface Taps {
  readonly host: Tap
  readonly server: Tap
}

const tapped = ({ host, server }: Taps) => ({
  spawn: Layer.effect(
    Spawn,
    Effect.map(Spawn, (spawn) => Spawn.of({ ...spawn, connect: (launch) => Effect.map(spawn.connect(launch), server) }))
  ),
  transport: Layer.effect(
    Transport,
    Effect.map(
      Transport,
      (transport) => Transport.of({ serve: (session) => transport.serve((peer) => session(host(peer))) })
    )
  )
})

const untapped: Taps = { host: (peer) => peer, server: (peer) => peer }

/** Gives the address of the relay's endpoint, before a server at an address. */
export const relay = (url: string) => before({ name: "everything", url, headers: [], privately: false }, untapped)

/** Gives the address of the relay's endpoint. */
export const before = Effect.fnUntraced(function*(launch: Launch, taps: Taps) {
  const tap = tapped(taps)
  const listening = yield* Deferred.make<string, NodeHttp.ListenError>()
  const pins = PinStore.layerMemory
  const lines = Lines.layer({ firstSight: "observe", loosened: [], key: "key" }).pipe(
    Layer.provide(Layer.mergeAll(
      Gate.layerOpen,
      Ledger.layerMemory(),
      pins,
      Parse.layer(),
      Serve.layerStderr,
      tap.spawn.pipe(Layer.provide(NodeConnect.layer), Layer.provide(NodeSpawn.layer()))
    ))
  )
  const dispatch = RelayHttp.layerDispatch(launch).pipe(Layer.provide(lines))
  const transport = Layer.unwrap(
    Effect.map(RelayHttp.paramHeaders(launch.name), (paramHeaders) => NodeHttp.layerHttp({ paramHeaders }))
  ).pipe(Layer.provide(pins))
  const told = Layer.effectDiscard(
    Effect.flatMap(NodeHttp.Listening, ({ url }) => Deferred.succeed(listening, url))
  )
  yield* Serve.over(dispatch, tap.transport.pipe(Layer.provideMerge(told), Layer.provideMerge(transport))).pipe(
    Effect.catch((error) => Deferred.fail(listening, error)),
    Effect.provideService(Environment, {}),
    Effect.forkScoped
  )
  return yield* Deferred.await(listening)
})
