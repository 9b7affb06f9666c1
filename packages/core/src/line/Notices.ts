/**
 * What the operator is told while a line is in use: one sentence at a time, never anything that a model reads.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

/**
 * Tells the operator of what happens in a line.
 *
 * @category services
 * @since 0.1.0
 */
export class Notices extends Context.Service<Notices, {
  /** Tells a sentence. Synchronous, never throws, never waits. */
  readonly tell: (sentence: string) => void
}>()("@sallyport/core/line/Notices") {}

/**
 * Tells nobody.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSilent: Layer.Layer<Notices> = Layer.succeed(Notices, { tell: () => {} })

/**
 * Hands each sentence to a function, for tests and for hosts of their own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTell = (tell: (sentence: string) => void): Layer.Layer<Notices> => Layer.succeed(Notices, { tell })
