/**
 * Transport: accepts peers.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Ending } from "./Port.ts"

/**
 * Who a peer is, as far as the operator said: never what the peer says of itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Who {
  /** The configured name of the client; `host` for a relay's one host. */
  readonly client: string
}

/**
 * A connected program: chunks in, text out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Peer {
  readonly who: Who
  /**
   * Reads until the far side ends its output. A chunk's Effect is done before the next chunk is read, so a slow reader
   * slows the writer. The chunk is only valid until that Effect is done. One reader at a time.
   */
  readonly receive: <E, R>(onChunk: (chunk: Uint8Array) => Effect.Effect<void, E, R>) => Effect.Effect<void, E, R>
  /** Writes; done when there is room for more. Where the far side no longer reads, the text is dropped: `ended` tells. */
  readonly write: (text: string) => Effect.Effect<void>
  /** Half-close: nothing more will be written. Done at once; what was written before still goes out. */
  readonly end: Effect.Effect<void>
  /**
   * How the far side ended: for a process, after it is gone and its output was read to the end; for a host over stdio,
   * when it has ended our input or no longer reads our output.
   */
  readonly ended: Effect.Effect<Ending>
  /** The last of what the far side printed on stderr (bounded, as it came); empty where there is none. */
  readonly tail: () => string
}

/**
 * Accepts peers and serves them.
 *
 * @category services
 * @since 0.1.0
 */
export class Transport extends Context.Service<Transport, {
  /** Serves each peer with the session; over stdio there is one peer, and what its session gave is given back. */
  readonly serve: <A, E, R>(session: (peer: Peer) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("@sallyport/core/stage/Transport") {}

/**
 * Serves these peers side by side, usually the near ends of pairs from `MemoryPeer.make`, and gives back what the first
 * one's session gave, once all are done.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (first: Peer, ...others: ReadonlyArray<Peer>): Layer.Layer<Transport> =>
  Layer.succeed(Transport, {
    serve: <A, E, R>(session: (peer: Peer) => Effect.Effect<A, E, R>) =>
      Effect.map(
        Effect.all(
          [session(first), Effect.forEach(others, session, { concurrency: "unbounded", discard: true })],
          { concurrency: "unbounded" }
        ),
        ([given]) => given
      )
  })
