/**
 * A server as a program that listens for Streamable HTTP.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Mirror from "../http/Mirror.ts"
import * as NodeFiles from "../node/NodeFiles.ts"
import * as NodeHttp from "../node/NodeHttp.ts"
import * as NodeMain from "../node/NodeMain.ts"
import { print } from "../node/NodeStderr.ts"
import type { Dispatch } from "../stage/Dispatch.ts"
import type { Transport } from "../stage/Transport.ts"
import type { Text } from "../wire/Message.ts"
import { Registry } from "./Registry.ts"
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

/** Which arguments of a tool headers repeat, looked up again only when its schema is another. */
const paramHeaders = ({ inputSchema }: typeof Registry.Service): Mirror.ParamHeaders => {
  const known = new Map<string, { readonly schema: Text; readonly found: ReadonlyArray<Mirror.ParamHeader> }>()
  return (tool) =>
    Effect.sync(() => {
      const schema = inputSchema(tool)
      if (schema === undefined) return []
      const before = known.get(tool)
      if (before?.schema === schema) return before.found
      const found = Mirror.paramHeadersOf(schema)
      known.set(tool, { schema, found })
      return found
    })
}

/**
 * Listens for a server, which has to be the one that is served: the headers that repeat arguments are checked by what
 * its tools say of them.
 *
 * **Details**
 *
 * A server without a {@link Registry}, such as one behind a guard, has no such headers checked.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTransport = <E, R>(
  server: Layer.Layer<Dispatch, E, R>,
  options: NodeHttp.Options = {}
): Layer.Layer<Transport | NodeHttp.Listening, E | NodeHttp.ListenError, R> =>
  Layer.unwrap(
    Effect.contextWith((context: Context.Context<never>) => {
      const registry = Context.getOrUndefined(context, Registry)
      return Effect.succeed(
        NodeHttp.layerHttp(registry === undefined ? options : { paramHeaders: paramHeaders(registry), ...options })
      )
    })
  ).pipe(Layer.provide(server))

const listen = Effect.fnUntraced(function*<E>(server: Layer.Layer<Dispatch, E>, { tokenFile, ...options }: Options) {
  const token = tokenFile === undefined ? options.token : yield* NodeHttp.tokenFile(tokenFile)
  const transport = layerTransport(server, { ...options, token })
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
