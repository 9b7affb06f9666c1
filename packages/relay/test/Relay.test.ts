import { assert, describe, it } from "@effect/vitest"
import * as Lines from "@sallyport/core/line/Lines"
import * as Notices from "@sallyport/core/line/Notices"
import * as Session from "@sallyport/core/session/Session"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as MemoryPeer from "@sallyport/core/stage/MemoryPeer"
import * as Parse from "@sallyport/core/stage/Parse"
import * as PinStore from "@sallyport/core/stage/PinStore"
import * as Spawn from "@sallyport/core/stage/Spawn"
import * as Transport from "@sallyport/core/stage/Transport"
import { layerMemory as filesInMemory, MemoryFiles } from "@sallyport/core/store/Files"
import * as Relay from "@sallyport/relay/Relay"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"

const launch: Spawn.Launch = { name: "notes", command: "notes", args: ["--x"], env: [], sandbox: "none" }

/** A server that answers its initialize, says something on stderr, and ends as it is told. */
const script = (ending: Parameters<MemoryPeer.Far["exit"]>[0]) => ({ server }: Spawn.Started): Effect.Effect<void> =>
  Effect.gen(function*() {
    yield* server.line
    yield* server.push(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}\n`)
    yield* server.line
    yield* server.stderr("fatal: \u001b[31mno memory\nlast words\u202e\n")
    yield* server.exit(ending)
  })

const initialize =
  `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n` +
  `{"jsonrpc":"2.0","method":"notifications/initialized"}\n`

describe("the relay as a program", () => {
  it.effect("is a session over its dispatch: one host, one server, and the server's end is its own", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      const guard = Lines.layer({ firstSight: "hold", loosened: [], key: "k" }).pipe(
        Layer.provideMerge(Layer.mergeAll(
          Gate.layerOpen,
          Ledger.layerNone,
          PinStore.layerMemory,
          Notices.layerSilent,
          Parse.layer(),
          Spawn.layerMemory({ script: script({ _tag: "exited", code: 3 }) })
        ))
      )
      const program = Effect.gen(function*() {
        const session = yield* Effect.forkChild(Session.run)
        yield* far.push(initialize)
        const outcome = yield* Fiber.join(session)
        const { all } = yield* Spawn.Servers
        return { outcome, started: all().map((one) => one.launch) }
      })
      const { outcome, started } = yield* program.pipe(
        Effect.provide(
          Layer.mergeAll(Relay.layerDispatch(launch), Transport.layerMemory(peer)).pipe(Layer.provideMerge(guard))
        )
      )
      assert.deepStrictEqual(started, [launch])
      assert.deepStrictEqual(outcome, { ending: { _tag: "exited", code: 3 }, settled: true })
      assert.strictEqual(Relay.exitCode(outcome, {}), 3)
      assert.strictEqual(
        far.written(),
        `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}\n`
      )
    }))
})

describe("the exit code", () => {
  const rows: ReadonlyArray<readonly [Session.Outcome["ending"], settled: boolean, code: number]> = [
    [{ _tag: "closed" }, true, 0],
    [{ _tag: "closed" }, false, 0],
    [{ _tag: "exited", code: 0 }, true, 0],
    [{ _tag: "exited", code: 0 }, false, 1],
    [{ _tag: "exited", code: 7 }, true, 7],
    [{ _tag: "exited", code: 7 }, false, 7],
    [{ _tag: "signaled", signal: "SIGTERM" }, true, 143],
    [{ _tag: "signaled", signal: "SIGKILL" }, false, 137],
    [{ _tag: "signaled", signal: "SIGUNKNOWN" }, true, 128],
    [{ _tag: "failed", message: "not found" }, false, 1]
  ]
  for (const [ending, settled, code] of rows) {
    it(`of ${JSON.stringify(ending)}${settled ? "" : ", nothing agreed"} is ${code}`, () => {
      assert.strictEqual(Relay.exitCode({ ending, settled }, { SIGTERM: 15, SIGKILL: 9 }), code)
    })
  }
})

describe("the last words of a server", () => {
  const run = (
    prepare: Effect.Effect<void, never, MemoryFiles> = Effect.void,
    say = "fatal: \u001b[31mno\nlast\u202e words\n"
  ) =>
    Effect.gen(function*() {
      yield* prepare
      const spawn = yield* Spawn.Spawn
      const scope = yield* Scope.make()
      yield* Scope.provide(spawn.connect(launch), scope)
      const { server } = yield* (yield* Spawn.Servers).next
      yield* server.stderr(say)
      yield* Scope.close(scope, Exit.void)
      return (yield* MemoryFiles).contents
    }).pipe(
      Effect.provide(
        Relay.layerTails("/state/tails").pipe(Layer.provideMerge(Layer.mergeAll(Spawn.layerMemory(), filesInMemory)))
      )
    )

  it.effect("are kept under its name when it ends, with what a terminal would obey made visible (F25)", () =>
    Effect.gen(function*() {
      const contents = yield* run()
      const kept = contents.get("/state/tails/notes") ?? ""
      assert.include(kept, "no")
      assert.include(kept, "\n")
      for (const hidden of ["\u001b", "\u202e"]) assert.notInclude(kept, hidden)
    }))

  it.effect("are no file where it said nothing", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* run(Effect.void, "")).size, 0)
    }))

  it.effect("that cannot be kept cost nothing", () =>
    Effect.gen(function*() {
      const contents = yield* run(Effect.map(MemoryFiles, ({ fault }) => fault("replace", 1, "fail")))
      assert.strictEqual(contents.size, 0)
    }))

  it.effect("leave the rest of Spawn as it is", () =>
    Effect.gen(function*() {
      const spawn = yield* Spawn.Spawn
      assert.deepStrictEqual(yield* spawn.inspect(launch), { executable: { path: "/bin/notes" } })
    }).pipe(
      Effect.provide(
        Relay.layerTails("/t").pipe(
          Layer.provide(
            Layer.mergeAll(
              Spawn.layerMemory({ inspect: () => ({ executable: { path: "/bin/notes" } }) }),
              filesInMemory
            )
          )
        )
      )
    ))
})
