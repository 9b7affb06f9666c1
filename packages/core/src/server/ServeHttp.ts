/**
 * A server as a program that listens for Streamable HTTP.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeFiles from "../node/NodeFiles.ts"
import * as NodeHttp from "../node/NodeHttp.ts"
import * as NodeMain from "../node/NodeMain.ts"
import { print } from "../node/NodeStderr.ts"
import type { Dispatch } from "../stage/Dispatch.ts"
import * as Serve from "./Serve.ts"

/**
 * Where it listens, and the file with the token that every request must bring.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends NodeHttp.Options {
  readonly tokenFile?: string | undefined
}

const listen = Effect.fnUntraced(function*<E>(server: Layer.Layer<Dispatch, E>, { tokenFile, ...options }: Options) {
  const token = tokenFile === undefined ? options.token : yield* NodeHttp.tokenFile(tokenFile)
  const transport = NodeHttp.layerHttp({ ...options, token })
  const told = Layer.effectDiscard(Effect.map(NodeHttp.Listening, ({ url }) => print(`sallyport: listening on ${url}`)))
  return yield* Serve.over(server, Layer.provideMerge(told, transport))
}, Effect.provide(NodeFiles.layer))

/**
 * Listens until the process is told to end.
 *
 * @category running
 * @since 0.1.0
 */
export const http = <E>(server: Layer.Layer<Dispatch, E>, options: Options = {}): void =>
  NodeMain.run(Serve.told(listen(server, options)))

/**
 * Loads a server, which a module exports by default, and listens as {@link http} does.
 *
 * @category running
 * @since 0.1.0
 */
export const main = (load: Serve.Load, options: Options = {}): void =>
  NodeMain.run(Serve.told(Effect.flatMap(Serve.loaded(load), (server) => listen(server, options))))
