/**
 * A server as a program of its own.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as Notices from "../line/Notices.ts"
import * as NodeConsole from "../node/NodeConsole.ts"
import * as NodeMain from "../node/NodeMain.ts"
import { print } from "../node/NodeStderr.ts"
import * as NodeStdout from "../node/NodeStdout.ts"
import * as NodeTransport from "../node/NodeTransport.ts"
import * as Session from "../session/Session.ts"
import type { Dispatch } from "../stage/Dispatch.ts"
import * as Parse from "../stage/Parse.ts"
import type { Transport } from "../stage/Transport.ts"
import { wordsOf } from "./Refusal.ts"

/**
 * Logs, prints and notices on stderr: what a program has to do whose stdout is the protocol's.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStderr: Layer.Layer<Notices.Notices> = Layer.mergeAll(
  Layer.succeed(Console.Console, NodeConsole.stderr()),
  Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]),
  Notices.layerTell((sentence) => print(`sallyport: ${sentence}`))
)

/**
 * Serves over any transport, with the strict reader. It gives the code to exit with.
 *
 * @category running
 * @since 0.1.0
 */
export const over = <E, R, E2, R2>(
  server: Layer.Layer<Dispatch, E, R>,
  transport: Layer.Layer<Transport, E2, R2>
): Effect.Effect<number, E | E2, R | R2> =>
  Session.run.pipe(
    Effect.as(0),
    Effect.provide(Layer.mergeAll(server, transport, Parse.layer()).pipe(Layer.provideMerge(layerStderr)))
  )

/**
 * How a server serves the host that started it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long calls in flight may still take when the host has ended its input: a second. */
  readonly drain?: Duration.Input | undefined
}

const drained = <A, E, R>(program: Effect.Effect<A, E, R>, { drain }: Options): Effect.Effect<A, E, R> =>
  drain === undefined ? program : Effect.provideService(program, Session.HalfClose, drain)

/**
 * Serves the host that started this process, and ends with it.
 *
 * **Details**
 *
 * Stdout is taken for the protocol: what handlers print goes to stderr. When the host ends its input, calls in flight are
 * answered, as far as they end in time, and the process exits with 0.
 *
 * @category running
 * @since 0.1.0
 */
export const stdio = <E>(server: Layer.Layer<Dispatch, E>, options: Options = {}): void =>
  NodeMain.run(told(drained(over(server, NodeTransport.layer({ output: NodeStdout.take() })), options)))

/**
 * Loads a server, which a module exports by default, and serves it as {@link stdio} does. Nothing that the module prints
 * while it is loaded reaches stdout.
 *
 * @category running
 * @since 0.1.0
 */
export const main = (load: Load, options: Options = {}): void => {
  const transport = NodeTransport.layer({ output: NodeStdout.take() })
  NodeMain.run(told(drained(Effect.flatMap(loaded(load), (server) => over(server, transport)), options)))
}

/**
 * Loads a module.
 *
 * @category models
 * @since 0.1.0
 */
export type Load = () => Promise<{ readonly default?: unknown }>

/**
 * A module that exports no server.
 *
 * @category errors
 * @since 0.1.0
 */
export class LoadError extends Schema.TaggedError<LoadError>("@sallyport/core/server/LoadError")("LoadError", {
  message: Schema.String
}) {}

/** Why a module could not be loaded: where a package is missing, what to do says more than where Node looked for it. */
const unloaded = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  if (!("code" in cause) || cause.code !== "ERR_MODULE_NOT_FOUND") return cause.stack ?? cause.message
  return `${cause.message.split("\n", 1)[0]}; what it imports must be installed in its own folder or one above`
}

/**
 * The server that a module exports by default.
 *
 * @category running
 * @since 0.1.0
 */
export const loaded = Effect.fnUntraced(function*(load: Load): Effect.fn.Return<Layer.Layer<Dispatch>, LoadError> {
  const module = yield* Effect.tryPromise({
    try: load,
    catch: (cause) => new LoadError({ message: `the module could not be loaded: ${unloaded(cause)}` })
  })
  if (isServer(module.default)) return module.default
  return yield* new LoadError({
    message: "the module's default export is no server: export default Server.layerDispatch(...)"
  })
})

/** Whether it is a layer; that it gives a Dispatch shows when it is built. */
const isServer = (value: unknown): value is Layer.Layer<Dispatch> => Layer.isLayer(value)

/**
 * A program that tells on stderr why it failed, and then gives 1.
 *
 * @category running
 * @since 0.1.0
 */
export const told = <E>(program: Effect.Effect<number, E>): Effect.Effect<number> =>
  Effect.catch(program, (error) =>
    Effect.sync(() => {
      print(`sallyport: ${wordsOf(error)}`)
      return 1
    }))
