import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Spawn from "../../src/stage/Spawn.ts"

const launch: Spawn.Launch = { name: "notes", command: "notes", args: [], env: [], sandbox: "none" }

type Step = "stdin" | "SIGTERM" | "SIGKILL" | "never"

/** A process that leaves, and whose group is gone, at the steps given; it logs the time of everything that reaches it. */
const fake = (options: { readonly leaves: Step; readonly groupLeaves?: Step; readonly inputEnded?: bigint }) =>
  Effect.gen(function*() {
    const exited = yield* Deferred.make<void>()
    const gone = yield* Deferred.make<void>()
    const log: Array<string> = []
    const at = (step: Step) =>
      Effect.gen(function*() {
        log.push(`${yield* Clock.currentTimeMillis} ${step}`)
        if (step === options.leaves) yield* Deferred.succeed(exited, undefined)
        if (step === (options.groupLeaves ?? options.leaves)) yield* Deferred.succeed(gone, undefined)
      })
    const process: Spawn.Process = {
      endInput: Effect.andThen(
        at("stdin"),
        options.inputEnded === undefined ? Clock.monotonicTimeNanos : Effect.succeed(options.inputEnded)
      ),
      exited: Deferred.await(exited),
      gone: Deferred.await(gone),
      signal: at
    }
    return { process, log }
  })

const run = (options: Parameters<typeof fake>[0]) =>
  Effect.gen(function*() {
    const { log, process } = yield* fake(options)
    const fiber = yield* Effect.forkChild(
      Effect.andThen(Spawn.stop(process, Spawn.defaultLadder), Clock.currentTimeMillis)
    )
    yield* TestClock.adjust("10 seconds")
    return { log, done: yield* Fiber.join(fiber) }
  })

describe("Spawn.stop", () => {
  it.effect("signals the group also of a process that leaves at the end of its input", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run({ leaves: "stdin" }), { log: ["0 stdin", "0 SIGTERM"], done: 0 })
    }))

  it.effect("sends SIGKILL to grandchildren that stay when the process has left in order", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run({ leaves: "stdin", groupLeaves: "SIGKILL" }), {
        log: ["0 stdin", "0 SIGTERM", "400 SIGKILL"],
        done: 400
      })
    }))

  it.effect("sends SIGTERM after a second", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run({ leaves: "SIGTERM" }), { log: ["0 stdin", "1000 SIGTERM"], done: 1000 })
    }))

  it.effect("sends SIGKILL 400 ms later", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run({ leaves: "SIGKILL" }), {
        log: ["0 stdin", "1000 SIGTERM", "1400 SIGKILL"],
        done: 1400
      })
    }))

  it.effect("is over in less than two seconds whatever happens", () =>
    Effect.gen(function*() {
      const { done } = yield* run({ leaves: "never" })
      assert.isBelow(done, 2000)
    }))

  it.effect("counts from the time at which its input was ended", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("700 millis")
      assert.deepStrictEqual(yield* run({ leaves: "SIGTERM", inputEnded: 0n }), {
        log: ["700 stdin", "1000 SIGTERM"],
        done: 1000
      })
      yield* TestClock.adjust("10 seconds")
      const late = yield* run({ leaves: "SIGTERM", inputEnded: 0n })
      assert.deepStrictEqual(late.log.map((line) => line.split(" ")[1]), ["stdin", "SIGTERM"])
      assert.strictEqual(`${late.done} stdin`, late.log[0])
    }))

  it.effect("runs to its end as the finalizer of an interrupted fiber", () =>
    Effect.gen(function*() {
      const { log, process } = yield* fake({ leaves: "SIGKILL" })
      const fiber = yield* Effect.forkChild(
        Effect.scoped(Effect.andThen(
          Effect.acquireRelease(Effect.void, () => Spawn.stop(process, Spawn.defaultLadder)),
          Effect.never
        )),
        { startImmediately: true }
      )
      const stopping = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(log, ["0 stdin", "1000 SIGTERM", "1400 SIGKILL"])
    }))
})

describe("Spawn.layerMemory", () => {
  it.effect("connects a launch to the test's own hand", () =>
    Effect.gen(function*() {
      const spawn = yield* Spawn.Spawn
      const servers = yield* Spawn.Servers
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(spawn.connect(launch), scope)
      const { launch: started, server, signals } = yield* servers.next
      assert.strictEqual(started, launch)
      yield* peer.write("hello\n")
      assert.strictEqual(yield* server.line, "hello")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(signals(), [])
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 0 })
    }).pipe(Effect.provide(Spawn.layerMemory())))

  it.effect("does not take a half-close for the end", () =>
    Effect.scoped(Effect.gen(function*() {
      const spawn = yield* Spawn.Spawn
      const servers = yield* Spawn.Servers
      const peer = yield* spawn.connect(launch)
      const { server } = yield* servers.next
      yield* peer.end
      yield* server.inputEnded
      const answer = yield* Effect.forkChild(server.send("answer"))
      const seen: Array<number> = []
      const reader = yield* Effect.forkChild(peer.receive((chunk) => Effect.sync(() => void seen.push(chunk.length))))
      yield* Fiber.join(answer)
      yield* server.exit({ _tag: "exited", code: 0 })
      yield* Fiber.join(reader)
      assert.deepStrictEqual(seen, [6])
    })).pipe(Effect.provide(Spawn.layerMemory())))

  it.effect("runs the real ladder on a stubborn server", () =>
    Effect.gen(function*() {
      const spawn = yield* Spawn.Spawn
      const servers = yield* Spawn.Servers
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(spawn.connect(launch), scope)
      const { signals } = yield* servers.next
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1399 millis")
      assert.deepStrictEqual(signals(), ["SIGTERM"])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(signals(), ["SIGTERM", "SIGKILL"])
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* peer.ended, { _tag: "signaled", signal: "SIGKILL" })
    }).pipe(Effect.provide(Spawn.layerMemory({ leaves: "SIGKILL" }))))

  it.effect("plays a script, refuses and inspects as told", () =>
    Effect.scoped(Effect.gen(function*() {
      const spawn = yield* Spawn.Spawn
      const peer = yield* spawn.connect(launch)
      const seen: Array<string> = []
      const reader = yield* Effect.forkChild(
        peer.receive((chunk) => Effect.sync(() => void seen.push(new TextDecoder().decode(chunk))))
      )
      yield* peer.write("ping\n")
      yield* Fiber.join(reader)
      assert.deepStrictEqual(seen, ["echo ping"])
      const error = yield* Effect.flip(spawn.connect({ ...launch, name: "bad" }))
      assert.strictEqual(error.kind, "not-found")
      assert.deepStrictEqual(yield* spawn.inspect(launch), { executable: { path: "/bin/notes" } })
    })).pipe(Effect.provide(Spawn.layerMemory({
      script: ({ server }) =>
        Effect.gen(function*() {
          yield* server.push(`echo ${yield* server.line}`)
          yield* server.exit({ _tag: "exited", code: 0 })
        }),
      refuse: ({ name }) =>
        name === "bad" ? new Spawn.SpawnError({ kind: "not-found", command: "x", message: "x" }) : undefined,
      inspect: () => ({ executable: { path: "/bin/notes" } })
    }))))

  it("has a ladder below the two seconds after which hosts kill", () => {
    const { kill, term } = Spawn.defaultLadder
    assert.isBelow(Duration.toMillis(Duration.sum(term, kill)), 2000)
  })
})
