/** A server that listens over HTTP in this process, for as long as a scope is open. */
import type * as NodeHttp from "@sallyport/core/node/NodeHttp"
import { Listening } from "@sallyport/core/node/NodeHttp"
import * as Serve from "@sallyport/core/server/Serve"
import * as ServeHttp from "@sallyport/core/server/ServeHttp"
import type { Dispatch } from "@sallyport/core/stage/Dispatch"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Gives the address of the endpoint. */
export const listen = Effect.fnUntraced(function*(server: Layer.Layer<Dispatch>, options: NodeHttp.Options = {}) {
  const listening = yield* Deferred.make<string, NodeHttp.ListenError>()
  const told = Layer.effectDiscard(Effect.flatMap(Listening, ({ url }) => Deferred.succeed(listening, url)))
  const transport = Layer.provideMerge(told, ServeHttp.layerTransport(server, options))
  yield* Serve.over(server, transport).pipe(
    Effect.catch((error) => Deferred.fail(listening, error)),
    Effect.forkScoped
  )
  return yield* Deferred.await(listening)
})
