/**
 * A server in memory: its clients are played by the test, under TestClock.
 */
import { Context, Effect, Fiber, Layer } from "effect"
import * as Notices from "../../src/line/Notices.ts"
import type * as Revision from "../../src/protocol/Revision.ts"
import { meta } from "../../src/protocol/Revision.ts"
import { Registry } from "../../src/server/Registry.ts"
import * as Session from "../../src/session/Session.ts"
import { Dispatch } from "../../src/stage/Dispatch.ts"
import * as MemoryPeer from "../../src/stage/MemoryPeer.ts"
import * as Parse from "../../src/stage/Parse.ts"
import * as Transport from "../../src/stage/Transport.ts"
import { notification, request, type Said, said, settle } from "../line/harness.ts"

export { adjust, call, cancel, json, notification, request, type Said, settle } from "../line/harness.ts"

/** A server that runs, and takes any number of clients. */
export interface Served {
  readonly registry: Registry["Service"]
  readonly connect: (client?: string) => Effect.Effect<Client>
}

export interface Client {
  /** Sends lines, all in one chunk. */
  readonly says: (...lines: ReadonlyArray<string>) => Effect.Effect<void>
  readonly chunk: (bytes: string | Uint8Array) => Effect.Effect<void>
  readonly saw: () => ReadonlyArray<Said>
  /** What it got since this was asked last. */
  readonly take: () => ReadonlyArray<Said>
  /** Sends a request, and gives its answer if it is there. */
  readonly ask: (id: number, method: string, params?: unknown) => Effect.Effect<Said | undefined>
  readonly eof: Effect.Effect<void>
  readonly done: () => boolean
  readonly far: MemoryPeer.Far
}

/** Runs a server; its scope is the test's. */
export const serve = Effect.fnUntraced(function*(server: Layer.Layer<Dispatch | Registry>) {
  const scope = yield* Effect.scope
  const context = yield* Layer.build(server)
  const connect = Effect.fnUntraced(function*(client = "host") {
    const { far, peer } = yield* MemoryPeer.make({ client })
    const session = yield* Session.run.pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.succeed(Dispatch, Context.get(context, Dispatch)),
          Transport.layerMemory(peer),
          Parse.layer(),
          Notices.layerSilent
        )
      ),
      Effect.forkIn(scope)
    )
    yield* settle
    let taken = 0
    const saw = (): ReadonlyArray<Said> => far.written().split("\n").filter((line) => line !== "").map(said)
    const says = (...lines: ReadonlyArray<string>) =>
      Effect.andThen(far.push(lines.map((line) => `${line}\n`).join("")), settle)
    const played: Client = {
      says,
      chunk: (bytes) => Effect.andThen(far.push(bytes), settle),
      saw,
      take: () => {
        const all = saw()
        const fresh = all.slice(taken)
        taken = all.length
        return fresh
      },
      ask: (id, method, params) =>
        Effect.map(
          says(request(id, method, params)),
          () => saw().find((line) => line.id === String(id) && line.method === undefined)
        ),
      eof: Effect.andThen(far.endOutput, settle),
      done: () => session.pollUnsafe() !== undefined,
      far
    }
    return played
  })
  const served: Served = { registry: Context.get(context, Registry), connect }
  return served
})

/** A client of a revision: what it declares, and how its requests are made. */
export interface Era {
  readonly revision: Revision.Revision
  readonly modern: boolean
}

/** Opens a session of this revision; in 2026-07-28 there is nothing to open. */
export const opened = Effect.fnUntraced(
  function*(served: Served, revision: Revision.Revision, capabilities: unknown = {}, client?: string) {
    const played = yield* served.connect(client)
    if (revision < "2026-07-28") {
      yield* played.says(request(`"init"`, "initialize", {
        protocolVersion: revision,
        capabilities,
        clientInfo: { name: "test", version: "1" }
      }))
      yield* played.says(notification("notifications/initialized"))
    }
    const first = played.take()[0]
    let id = 0
    return {
      ...played,
      opening: first,
      revision,
      /** Sends a request of this revision; gives its id. */
      send: (method: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => {
        id++
        return Effect.as(played.says(request(id, method, withMeta(params, revision, capabilities, more))), id)
      },
      /** Sends a request of this revision, and gives its answer. */
      asks: Effect.fnUntraced(
        function*(method: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
          id++
          const answer = yield* played.ask(id, method, withMeta(params, revision, capabilities, more))
          if (answer === undefined) throw new Error(`${method} was not answered`)
          return answer
        }
      ),
      answerTo: (id: number) => played.saw().find((line) => line.id === String(id) && line.method === undefined)
    }
  }
)

export type Opened = Effect.Success<ReturnType<typeof opened>>

const withMeta = (
  params: Record<string, unknown>,
  revision: Revision.Revision,
  capabilities: unknown,
  more: Record<string, unknown>
): Record<string, unknown> =>
  revision < "2026-07-28"
    ? { ...params, ...(Object.keys(more).length === 0 ? {} : { _meta: more }) }
    : {
      ...params,
      _meta: {
        [meta.protocolVersion]: revision,
        [meta.clientCapabilities]: capabilities,
        [meta.clientInfo]: { name: "test", version: "1" },
        ...more
      }
    }

export const joined = <A, E>(fiber: Fiber.Fiber<A, E>) => Fiber.join(fiber)
