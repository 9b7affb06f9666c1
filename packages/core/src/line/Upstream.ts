/**
 * The end of a line: a server that was started and is spoken to.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Agreement from "../protocol/Agreement.ts"
import { Parse } from "../stage/Parse.ts"
import type { Call, Ending, Leg, Port } from "../stage/Port.ts"
import type { Launch } from "../stage/Spawn.ts"
import { Spawn } from "../stage/Spawn.ts"
import type { Failure } from "../wire/Message.ts"
import type { Repairs } from "../wire/Repair.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Dropped } from "./Faults.ts"
import { Notices } from "./Notices.ts"
import * as Refusal from "./Refusal.ts"
import { shut } from "./Shut.ts"
import { start } from "./Start.ts"
import { wrap } from "./Wrapped.ts"

/**
 * A leg that starts the launch and speaks to it.
 *
 * **Details**
 *
 * Where it cannot be started the leg opens all the same, and answers every request with why. When the server ends, each
 * request that it has not answered is answered with how it ended; only then does `ended` say so. A server that ends at
 * server/discover, with nothing else asked of it, is of the era before: it is started once more.
 *
 * @category constructors
 * @since 0.1.0
 */
export const leg = (
  launch: Launch,
  agreement: Agreement.Agreement,
  dropped: Pick<Dropped, "faults" | "repaired">
): Leg<never, Spawn | Parse | Notices> =>
  Effect.fnUntraced(function*(back: Port) {
    const spawn = yield* Spawn
    const parse = yield* Parse
    const scope = yield* Effect.scope
    const run = start(yield* Effect.context<never>(), scope)
    const ended = yield* Deferred.make<Ending>()

    const repairs: Repairs | undefined = launch.repair === undefined || launch.repair.length === 0
      ? undefined
      : { wanted: launch.repair, made: dropped.repaired }

    const connect = Effect.gen(function*() {
      const peer = yield* spawn.connect(launch)
      const endpoint = yield* Endpoint.make(peer, parse.open(repairs), {
        side: "server",
        batches: () => Agreement.allows(agreement, "batch"),
        idless: () => Agreement.allows(agreement, "idlessError"),
        faults: dropped.faults
      })
      return { peer, endpoint, discovering: 0, used: false, heard: false }
    })

    const first = yield* Effect.result(connect)
    if (first._tag === "Failure") {
      const { tell } = yield* Notices
      tell(first.failure.message)
      return yield* shut("server-not-started", launch.name, first.failure.message)
    }
    let now = first.success
    let again = true
    let over: Failure | undefined

    /** Reads one process to its end; gives whether another one was started in its place. */
    const live = Effect.fnUntraced(function*() {
      const process = now
      yield* process.endpoint.run({
        ...back,
        request: (call) => {
          process.heard = true
          back.request(call)
        },
        notify: (method, params) => {
          process.heard = true
          back.notify(method, params)
        }
      })
      const ending = yield* process.peer.ended
      const restart = again && process.discovering > 0 && !process.used
      again = false
      if (restart) {
        const next = yield* Effect.result(Effect.provideService(connect, Scope.Scope, scope))
        if (next._tag === "Success") now = next.success
      }
      const lost = Refusal.serverEnded(launch.name, tell(ending))
      if (process === now) over = lost
      process.endpoint.fail(lost)
      yield* back.flush
      if (process !== now) {
        yield* now.endpoint.near.flush
        return true
      }
      yield* Deferred.succeed(ended, ending)
      return false
    })
    yield* Effect.forkScoped(Effect.gen(function*() {
      while (yield* live());
    }))

    /** Sallyport's own probe has a limit: silence is an answer (2026-07-28 basic/versioning, Backward Compatibility). */
    const limit = (call: Call): void => {
      const process = now
      const silent = Effect.gen(function*() {
        for (let waited = 0; waited < 10_000 - 1_500; waited += 100) {
          if (process.heard || process.peer.tail() !== "") break
          yield* Effect.sleep(100)
        }
        yield* Effect.sleep(1_500)
        call.reply(Refusal.failure("server-silent", { server: launch.name }))
        yield* Effect.andThen(process.endpoint.near.flush, back.flush)
      })
      run(silent, () => {})
    }

    const discover = (call: Call): void => {
      const process = now
      process.discovering++
      let open = true
      const once = wrap(call, (reply) => {
        if (!open) return
        open = false
        process.discovering--
        call.reply(reply)
      })
      process.endpoint.near.request(once)
      if (call.wish === undefined) limit(once)
    }

    return {
      request: (call) => {
        if (over !== undefined) return call.reply(over)
        if (call.method === "server/discover") return discover(call)
        now.used = true
        now.endpoint.near.request(call)
      },
      cancel: (call, params) => now.endpoint.near.cancel(call, params),
      notify: (method, params) => now.endpoint.near.notify(method, params),
      flush: Effect.suspend(() => now.endpoint.near.flush),
      end: Effect.suspend(() => now.endpoint.near.end),
      ended: Deferred.await(ended)
    }
  })

/**
 * How a server ended, in words.
 *
 * @category formatting
 * @since 0.1.0
 */
export const tell = (ending: Ending): string => {
  switch (ending._tag) {
    case "closed":
      return "it closed its output"
    case "exited":
      return `exit code ${ending.code}`
    case "signaled":
      return `signal ${ending.signal}`
    case "failed":
      return ending.message
  }
}
