/**
 * Spawn: a launch becomes a connected peer.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { Repair } from "../wire/Repair.ts"
import * as MemoryPeer from "./MemoryPeer.ts"
import type { Ending } from "./Port.ts"
import type { Peer } from "./Transport.ts"

/**
 * What to start: a fixed argv, never a shell.
 *
 * **Details**
 *
 * - `name`: the server's name: pins, ledger and the stderr prefix use it.
 * - `env`: what the launch names beyond the safe list. `value` absent: taken from our own environment when started.
 * - `cwd`: absent: our own.
 * - `repair`: what is repaired in its lines; nothing where absent.
 * - `sandbox`: `pid`: in a pid namespace, so that nothing outlives us, however hostile (Linux, util-linux).
 *
 * @category models
 * @since 0.1.0
 */
export const Command = Schema.Struct({
  name: Schema.String,
  command: Schema.String,
  args: Schema.Array(Schema.String),
  env: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.optionalKey(Schema.String) })),
  cwd: Schema.optionalKey(Schema.String),
  repair: Schema.optionalKey(Schema.Array(Repair)),
  sandbox: Schema.Literals(["none", "pid"])
})
/**
 * @category models
 * @since 0.1.0
 */
export type Command = typeof Command.Type

/**
 * Where a server is that runs already, and is spoken to over Streamable HTTP.
 *
 * **Details**
 *
 * - `url`: https, or http on this machine.
 * - `headers`: sent with every request; each value is that of a variable of our own environment, so that no secret stands
 *   in a command line (security rule F28).
 * - `privately`: the name in the address may stand for an address of a private network.
 * - `repair`: what is repaired in its messages; nothing where absent.
 *
 * @category models
 * @since 0.1.0
 */
export const Address = Schema.Struct({
  name: Schema.String,
  url: Schema.String,
  headers: Schema.Array(Schema.Struct({ name: Schema.String, variable: Schema.String })),
  privately: Schema.Boolean,
  repair: Schema.optionalKey(Schema.Array(Repair))
})
/**
 * @category models
 * @since 0.1.0
 */
export type Address = typeof Address.Type

/**
 * How a server is come by: a command that starts it, or the address of one that runs.
 *
 * @category models
 * @since 0.1.0
 */
export const Launch = Schema.Union([Command, Address])
/**
 * @category models
 * @since 0.1.0
 */
export type Launch = typeof Launch.Type

/**
 * Whether a server runs already.
 *
 * @category guards
 * @since 0.1.0
 */
export const isAddress = (launch: Launch): launch is Address => "url" in launch

/**
 * The server could not be started.
 *
 * @category errors
 * @since 0.1.0
 */
export class SpawnError extends Schema.TaggedError<SpawnError>("sallyport/stage/SpawnError")("SpawnError", {
  kind: Schema.Literals(["not-found", "not-permitted", "failed"]),
  command: Schema.String,
  message: Schema.String
}) {}

/**
 * How long a closing server is waited for: `term` after its input was ended before SIGTERM goes to its process group,
 * `kill` after that before SIGKILL does. Hosts kill at 2 s, so the two together stay below.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ladder {
  readonly term: Duration.Duration
  readonly kill: Duration.Duration
}

/**
 * One second, then 400 milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const defaultLadder: Ladder = { term: Duration.seconds(1), kill: Duration.millis(400) }

/**
 * What the ladder needs of a process.
 *
 * @category models
 * @since 0.1.0
 */
export interface Process {
  /** Ends its input, if that is not done yet, and gives the (monotonic) time at which it was done. */
  readonly endInput: Effect.Effect<bigint>
  /** Done when the process itself is gone. */
  readonly exited: Effect.Effect<void>
  /** Done when nothing is left of the process and its group. */
  readonly gone: Effect.Effect<void>
  /** Signals what is left of its group, if there is anything. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => Effect.Effect<void>
}

// The kernel needs a moment to take down what SIGKILL went to; what it cannot take down is not waited for.
const reaped = Duration.millis(300)

const within = (effect: Effect.Effect<void>, duration: Duration.Duration): Effect.Effect<boolean> =>
  Effect.raceFirst(Effect.as(effect, true), Effect.as(Effect.sleep(duration), false))

/**
 * Ends a process and all of its group: end of input, SIGTERM, SIGKILL.
 *
 * **Details**
 *
 * `term` counts from when its input was ended, which may be long before (a half-close that was passed on). SIGTERM goes
 * to the group also when the process has left in order, for the sake of grandchildren. SIGKILL follows `kill` later for
 * whoever is left.
 *
 * @category combinators
 * @since 0.1.0
 */
export const stop = Effect.fnUntraced(function*(process: Process, ladder: Ladder): Effect.fn.Return<void> {
  const since = yield* process.endInput
  const now = yield* Clock.monotonicTimeNanos
  const left = Duration.subtract(ladder.term, Duration.nanos(now - since))
  yield* within(process.exited, Duration.max(left, Duration.zero))
  yield* process.signal("SIGTERM")
  if (yield* within(process.gone, ladder.kill)) return
  yield* process.signal("SIGKILL")
  yield* within(process.gone, reaped)
})

/**
 * Starts servers.
 *
 * @category services
 * @since 0.1.0
 */
export class Spawn extends Context.Service<Spawn, {
  /**
   * Starts it. Closing the scope ends the process and its whole group by the ladder: end of input, SIGTERM, SIGKILL;
   * the group is signalled also when the process itself has left in order (grandchildren).
   */
  readonly connect: (launch: Launch) => Effect.Effect<Peer, SpawnError, Scope.Scope>
  /** What the launch would start, as far as it can be told without starting it: the resolved executable, script and their digests. */
  readonly inspect: (launch: Launch) => Effect.Effect<Inspection>
}>()("@sallyport/core/stage/Spawn") {}

/**
 * What a launch resolves to.
 *
 * **Details**
 *
 * - `executable`: the real path of what PATH finds; absent where it finds nothing.
 * - `script`: where the executable is a known interpreter (node, python, sh ...), the real path of the first argument that
 *   names an existing file. Without that rule a data file named on the command line would be a changed launch each time
 *   it is written to.
 * - `digest`: SHA-256 (hex) of the file's bytes, up to 8 MiB. Of a larger file, `sampled:` and the SHA-256 of its size,
 *   its first and last 256 KiB and 32 evenly spaced pieces of 16 KiB: an upgrade shows, the same version installed again
 *   does not, and a start does not wait for 120 MB of runtime to be read. Who can craft a file past that can write
 *   the file, and runs code as us already. Absent where the file cannot be read.
 *
 * Neither covers what the file goes on to load.
 *
 * @category models
 * @since 0.1.0
 */
export const Inspection = Schema.Struct({
  executable: Schema.optionalKey(Schema.Struct({ path: Schema.String, digest: Schema.optionalKey(Schema.String) })),
  script: Schema.optionalKey(Schema.Struct({ path: Schema.String, digest: Schema.optionalKey(Schema.String) }))
})
/**
 * @category models
 * @since 0.1.0
 */
export type Inspection = typeof Inspection.Type

/**
 * A server in memory that was started.
 *
 * @category models
 * @since 0.1.0
 */
export interface Started {
  readonly launch: Launch
  readonly server: MemoryPeer.Far
  /** The signals that it got, in order. */
  readonly signals: () => ReadonlyArray<"SIGTERM" | "SIGKILL">
}

/**
 * The servers that {@link layerMemory} started.
 *
 * @category services
 * @since 0.1.0
 */
export class Servers extends Context.Service<Servers, {
  /** The next one that was started and not taken yet; waits for it. */
  readonly next: Effect.Effect<Started>
  readonly all: () => ReadonlyArray<Started>
}>()("@sallyport/core/stage/Spawn/Servers") {}

/**
 * How the servers of {@link layerMemory} behave.
 *
 * @category models
 * @since 0.1.0
 */
export interface MemoryOptions {
  /** Plays the server, from its start until its scope is closed. */
  readonly script?: ((started: Started) => Effect.Effect<void>) | undefined
  /** Why a launch cannot be started; `undefined` starts it. */
  readonly refuse?: ((launch: Launch) => SpawnError | undefined) | undefined
  readonly inspect?: ((launch: Launch) => Inspection) | undefined
  /** Where the servers leave when their scope is closed; `stdin` (the default): at the end of their input. */
  readonly leaves?: "stdin" | "SIGTERM" | "SIGKILL" | undefined
  readonly ladder?: Ladder | undefined
}

/**
 * Starts servers in memory, which a script or the test itself plays.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options: MemoryOptions = {}): Layer.Layer<Spawn | Servers> =>
  Layer.effectContext(Effect.gen(function*() {
    const all: Array<Started> = []
    const fresh = yield* Queue.unbounded<Started>()
    const ladder = options.ladder ?? defaultLadder
    const leaves = options.leaves ?? "stdin"

    const connect = Effect.fnUntraced(function*(launch: Launch): Effect.fn.Return<Peer, SpawnError, Scope.Scope> {
      const refused = options.refuse?.(launch)
      if (refused !== undefined) return yield* refused
      const { far, peer } = yield* MemoryPeer.make({ client: launch.name })
      const signals: Array<"SIGTERM" | "SIGKILL"> = []
      const exited = Deferred.makeUnsafe<void>()
      let closing = false
      let endedAt: bigint | undefined

      const exit = (ending: Ending) => Effect.andThen(far.exit(ending), Deferred.succeed(exited, undefined))
      const started: Started = {
        launch,
        server: { ...far, exit: (ending) => Effect.asVoid(exit(ending)) },
        signals: () => signals.slice()
      }
      const end = Effect.gen(function*() {
        yield* peer.end
        const now = yield* Clock.monotonicTimeNanos
        endedAt ??= now
        // A server may still have to answer when its input ends; it leaves by itself only once nobody listens any more.
        if (closing && leaves === "stdin") yield* exit({ _tag: "exited", code: 0 })
        return endedAt
      })

      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          closing = true
          return stop({
            endInput: end,
            exited: Deferred.await(exited),
            gone: Deferred.await(exited),
            signal: (signal) =>
              Effect.suspend(() => {
                if (Deferred.isDoneUnsafe(exited)) return Effect.void
                signals.push(signal)
                return signal === leaves || signal === "SIGKILL"
                  ? Effect.asVoid(exit({ _tag: "signaled", signal }))
                  : Effect.void
              })
          }, ladder)
        })
      )
      all.push(started)
      Queue.offerUnsafe(fresh, started)
      if (options.script !== undefined) yield* Effect.forkScoped(options.script(started))
      return { ...peer, end: Effect.asVoid(end) }
    })

    return Context.make(Spawn, {
      connect,
      inspect: (launch) => Effect.sync(() => options.inspect?.(launch) ?? {})
    }).pipe(Context.add(Servers, { next: Queue.take(fresh), all: () => all.slice() }))
  }))
