/**
 * Spawn over `node:child_process`.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import type { Ending } from "../stage/Port.ts"
import {
  type Command,
  defaultLadder,
  isAddress,
  type Ladder,
  type Process,
  Spawn,
  SpawnError,
  stop
} from "../stage/Spawn.ts"
import type { Peer } from "../stage/Transport.ts"
import { Environment } from "./Environment.ts"
import * as NodePeer from "./NodePeer.ts"
import { print } from "./NodeStderr.ts"
import * as ProcessGroup from "./ProcessGroup.ts"
import * as Resolve from "./Resolve.ts"
import * as Stderr from "./Stderr.ts"

/**
 * How servers are started and ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly ladder?: Ladder | undefined
  /** Gets each line of a server's stderr, with its name in front; must not block. Default: our own stderr. */
  readonly stderr?: ((line: string) => void) | undefined
  /** How much of a server's stderr is kept for `tail`. Default: 64 KiB. */
  readonly tailBytes?: number | undefined
  /** How much of a line of stderr is passed on. Default: 4 KiB. */
  readonly lineBytes?: number | undefined
}

// A grandchild may hold the server's pipes open for ever. What the server itself wrote is in the pipe when it exits: it
// was read to the end if nothing has come for a while, or if more has come than a pipe holds.
const quiet = Duration.millis(200)
const pipeHolds = 1024 * 1024
// A server that has closed its output can answer nothing any more, whether it ends or not.
const muteFor = Duration.seconds(1)
const groupPoll = Duration.millis(20)

interface Running {
  readonly peer: Peer
  readonly process: Process
  /** Nobody reads any more: a server that still writes is not to be held up by that. */
  readonly discard: Effect.Effect<void>
  /** Lets go of the pipes of a process that is gone. */
  readonly close: Effect.Effect<void>
  readonly watch: Effect.Effect<void>
  readonly watchMute: Effect.Effect<void>
}

/**
 * Servers as child processes, each the leader of a session and group of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Spawn> => Layer.effect(Spawn, make(options))

/**
 * The service behind {@link layer}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Spawn["Service"]> {
  const own = yield* Environment
  const { ladder = defaultLadder, lineBytes = 4096, stderr = print, tailBytes = 64 * 1024 } = options

  const attach = (launch: Command, child: ChildProcessWithoutNullStreams, pid: number, secrets: Secrets): Running => {
    const wires = NodePeer.make(child.stdout, child.stdin)
    const group = ProcessGroup.make(pid)
    const exited = Deferred.makeUnsafe<void>()
    const closed = Deferred.makeUnsafe<Ending>()
    const mute = Deferred.makeUnsafe<void>()
    let endedAt: bigint | undefined

    child.stdout.once("close", () => Deferred.doneUnsafe(mute, Effect.void))
    child.once("exit", () => {
      group.leaderGone()
      Deferred.doneUnsafe(exited, Effect.void)
    })
    child.once("close", (code, signal) => {
      lines.end()
      Deferred.doneUnsafe(
        closed,
        Effect.succeed<Ending>(signal === null ? { _tag: "exited", code: code ?? 0 } : { _tag: "signaled", signal })
      )
    })

    const secret = Stderr.redactor(secrets)
    const kept = Stderr.ring(tailBytes)
    const lines = Stderr.lines(lineBytes, ({ missing, text }) => {
      const clear = Stderr.visible(secret.whole(missing > 0 ? secret.cut(text) : text))
      stderr(`[${launch.name}] ${clear}${missing > 0 ? ` ... (${missing} bytes more)` : ""}`)
    })
    child.stderr.on("error", () => {})
    child.stderr.on("data", (chunk: Buffer) => {
      kept.push(chunk)
      lines.push(chunk)
    })

    const endInput = Effect.gen(function*() {
      yield* wires.end
      const now = yield* Clock.monotonicTimeNanos
      return endedAt ??= now
    })
    const release = Effect.sync(() => {
      child.stdin.destroy()
      child.stdout.destroy()
      child.stderr.destroy()
    })

    const watchMute = Effect.gen(function*() {
      yield* Deferred.await(mute)
      yield* Effect.sleep(muteFor)
      if (Deferred.isDoneUnsafe(exited)) return
      Deferred.doneUnsafe(
        closed,
        Effect.succeed<Ending>({ _tag: "failed", message: "it closed its output and went on" })
      )
    })

    return {
      peer: {
        who: { client: launch.name },
        receive: wires.receive,
        write: wires.write,
        end: Effect.asVoid(endInput),
        ended: Deferred.await(closed),
        tail: () => secret.whole(kept.text())
      },
      process: {
        endInput,
        exited: Deferred.await(exited),
        gone: Effect.gen(function*() {
          yield* Deferred.await(exited)
          while (group.alive()) yield* Effect.sleep(groupPoll)
        }),
        signal: (signal) => Effect.sync(() => group.signal(signal))
      },
      discard: Effect.sync(wires.discard),
      close: release,
      watchMute,
      watch: Effect.gen(function*() {
        yield* Deferred.await(exited)
        const atExit = wires.taken()
        for (let seen = -1; !Deferred.isDoneUnsafe(closed);) {
          const taken = wires.taken()
          if (wires.hungry() && (taken === seen || taken - atExit > pipeHolds)) return yield* release
          seen = taken
          yield* Effect.raceFirst(Effect.asVoid(Deferred.await(closed)), Effect.sleep(quiet))
        }
      })
    }
  }

  const start = (launch: Command, plan: Resolve.Plan, wrapper: ReadonlyArray<string>) =>
    Effect.callback<Running, SpawnError>((resume) => {
      const failed = (error: unknown) => resume(Effect.fail(spawnError(launch, plan, error)))
      const [file = plan.file, ...args] = [...wrapper, plan.file, ...plan.args]
      try {
        const child = spawn(file, args, {
          argv0: wrapper.length === 0 ? plan.argv0 : file,
          cwd: plan.cwd,
          env: plan.env,
          detached: true,
          shell: false,
          stdio: ["pipe", "pipe", "pipe"]
        })
        child.on("error", failed)
        if (child.pid === undefined) return
        const secrets = launch.env.map(({ name }) => ({ name, value: plan.env[name] ?? "" }))
        resume(Effect.succeed(attach(launch, child, child.pid, secrets)))
      } catch (error) {
        failed(error)
      }
    })

  return {
    inspect: (launch) => isAddress(launch) ? Effect.succeed({}) : Resolve.inspect(launch, own),
    connect: Effect.fnUntraced(function*(launch) {
      if (isAddress(launch)) {
        return yield* new SpawnError({
          kind: "failed",
          command: launch.url,
          message: `${launch.name} was not started: ${launch.url} is the address of a server that runs already`
        })
      }
      const plan = yield* Resolve.plan(launch, own)
      const wrapper = launch.sandbox === "pid" ? yield* Resolve.sandbox(launch, own) : []
      for (const name of plan.unset) {
        stderr(`[${launch.name}] ${name} is not set in Sallyport's own environment, so the server does not get it`)
      }
      const running = yield* Effect.acquireRelease(
        start(launch, plan, wrapper),
        ({ close, discard, process }) => Effect.andThen(discard, Effect.andThen(stop(process, ladder), close))
      )
      yield* Effect.forkScoped(running.watch)
      yield* Effect.forkScoped(running.watchMute)
      return running.peer
    })
  }
})

type Secrets = ReadonlyArray<{ readonly name: string; readonly value: string }>

const spawnError = (launch: Command, plan: Resolve.Plan, error: unknown): SpawnError => {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  const what = `${launch.name} was not started: `
  const { command } = launch
  if (code === "EACCES" || code === "EPERM") {
    return new SpawnError({
      kind: "not-permitted",
      command,
      message: `${what}${plan.file} may not be executed by this user`
    })
  }
  if (code === "ENOENT") {
    return new SpawnError({
      kind: "not-found",
      command,
      message: `${what}${plan.file} cannot be executed; the interpreter that its first line names does not exist`
    })
  }
  const reason = code === "E2BIG"
    ? "its arguments and environment are too long for this system"
    : error instanceof Error
    ? error.message
    : String(error)
  return new SpawnError({ kind: "failed", command, message: `${what}${reason}` })
}
