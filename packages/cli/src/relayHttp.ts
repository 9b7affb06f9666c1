/**
 * The parts of a relay that speak HTTP, on either side: loaded only where the command line asks for them.
 *
 * @since 0.1.0
 */
import * as NodeHttp from "@sallyport/core/node/NodeHttp"
import { tell } from "@sallyport/core/node/NodeStderr"
import * as RelayHttp from "@sallyport/relay/RelayHttp"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Options from "./RelayOptions.ts"

export {
  /** Connects to servers that run already. */
  layer as layerConnect
} from "@sallyport/core/node/NodeConnect"

export {
  /** Routes what hosts ask that connect over HTTP. */
  layerDispatch
} from "@sallyport/relay/RelayHttp"

/**
 * Listens for the host. The headers that repeat arguments are checked by what was last seen of the server's tools.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTransport = (
  server: string,
  client: string,
  { host, port, tokenFile }: NonNullable<Options.RelayOptions["http"]>
) =>
  Layer.unwrap(Effect.gen(function*() {
    const token = tokenFile === undefined ? undefined : yield* NodeHttp.tokenFile(tokenFile)
    const paramHeaders = yield* RelayHttp.paramHeaders(server)
    const told = Layer.effectDiscard(Effect.map(NodeHttp.Listening, ({ url }) => tell(`listening on ${url}`)))
    return Layer.provideMerge(
      told,
      NodeHttp.layerHttp({ host, port, token, who: { client }, paramHeaders })
    )
  }))
