/**
 * Transport over our own stdio: the host that started us is the one peer.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Readable, Writable } from "node:stream"
import type { Ending } from "../stage/Port.ts"
import { type Peer, Transport, type Who } from "../stage/Transport.ts"
import * as NodePeer from "./NodePeer.ts"

/**
 * How the host is spoken to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly who?: Who | undefined
  readonly input?: Readable | undefined
  readonly output?: Writable | undefined
  /** How long, after the session, a host that does not read is waited for; what it has not taken then is lost. */
  readonly flush?: Duration.Duration | undefined
}

/**
 * The host as a peer. Where it no longer reads (EPIPE) it counts as gone, and nothing more is read from it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makePeer = (options: Options = {}): { readonly peer: Peer; readonly flushed: Effect.Effect<void> } => {
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stdout
  const ended = Deferred.makeUnsafe<Ending>()
  const closed = () => Deferred.doneUnsafe(ended, Effect.succeed<Ending>({ _tag: "closed" }))
  const { end, flushed, receive, write } = NodePeer.make(input, output)
  input.once("end", closed)
  input.once("close", closed)
  output.once("error", () => {
    closed()
    input.destroy()
  })
  if (output === process.stdout) output.once("finish", release)
  return {
    peer: { who: options.who ?? { client: "host" }, receive, write, end, ended: Deferred.await(ended), tail: () => "" },
    flushed
  }
}

/**
 * Node keeps descriptor 1 open to the end of the process, but a host that reads a pipe sees the end of our output only
 * when it is closed. The null device takes its number at once, so that no file that is opened later becomes our stdout.
 */
const release = () => {
  // Not imported: where this is an ES module, all of node:fs would be loaded at the start, its streams too.
  const fs = process.getBuiltinModule("node:fs")
  try {
    if (!fs.fstatSync(1).isFIFO()) return
    fs.closeSync(1)
    fs.openSync("/dev/null", "w")
  } catch {
    // Then the host sees it when this process ends.
  }
}

/**
 * The layer for these options.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Transport> =>
  Layer.sync(Transport, () => {
    const { flushed, peer } = makePeer(options)
    const rest = Effect.raceFirst(flushed, Effect.sleep(options.flush ?? Duration.millis(500)))
    return { serve: (session) => Effect.ensuring(Effect.suspend(() => session(peer)), rest) }
  })

/**
 * Our stdin and stdout, with the host that started us at the other end.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio: Layer.Layer<Transport> = layer()
