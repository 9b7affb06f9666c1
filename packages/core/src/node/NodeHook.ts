/**
 * The operator's hook as a process of its own.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Visible from "../pin/Visible.ts"
import * as Gate from "../stage/Gate.ts"
import * as Hook from "../stage/Hook.ts"
import { Files } from "../store/Files.ts"
import { Environment, safe } from "./Environment.ts"
import * as ProcessGroup from "./ProcessGroup.ts"

/** So much may a hook print. */
const maxOutput = 64 * 1024
/** So much of its stderr is told where it fails. */
const maxTold = 1024

const failed = (message: string): Hook.HookError => new Hook.HookError({ message })

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/**
 * Runs hooks: a fixed argv, never a shell.
 *
 * **Details**
 *
 * The program is named by its absolute path. It, and every argument that names an existing file by its absolute path (the
 * script of an interpreter), must belong to this user or root and not be writable by others, nor any folder above, each time
 * it is run. It runs in `/`, with the environment that every server gets, in a process group of its own, which is ended with
 * it: after its verdict, after 64 KiB of output, and on interrupt.
 *
 * @category running
 * @since 0.1.0
 */
export const runner = Effect.gen(function*() {
  const files = yield* Files
  const own = yield* Environment
  const env: Record<string, string> = {}
  for (const name of safe) {
    const value = own[name]
    if (value !== undefined && !value.startsWith("()")) env[name] = value
  }

  const real = (at: string): Effect.Effect<string, Hook.HookError> =>
    Effect.try({ try: () => fs.realpathSync(at), catch: (error) => failed(messageOf(error)) })
  const trusted = Effect.fnUntraced(function*(at: string) {
    const file = yield* real(at)
    yield* Effect.mapError(files.trusted(file), ({ message }) => failed(message))
    return file
  })
  const check = Effect.fnUntraced(function*([program, ...args]: readonly [string, ...Array<string>]) {
    if (!path.isAbsolute(program)) {
      return yield* failed(`its program must be named by its absolute path, and ${Visible.name(program)} is none`)
    }
    for (const arg of args) if (path.isAbsolute(arg) && fs.existsSync(arg)) yield* trusted(arg)
    return yield* trusted(program)
  })

  const started = (
    file: string,
    [argv0, ...args]: readonly [string, ...Array<string>],
    line: string
  ): Effect.Effect<string, Hook.HookError> =>
    Effect.callback((resume) => {
      const child = spawn(file, args, { argv0, cwd: "/", env, detached: true, stdio: "pipe" })
      const { pid } = child
      const group = pid === undefined ? undefined : ProcessGroup.make(pid)
      const chunks: Array<Buffer> = []
      let size = 0
      let said = ""
      const give = (outcome: Effect.Effect<string, Hook.HookError>): void => {
        group?.signal("SIGKILL")
        resume(outcome)
      }
      child.once("error", (error) => give(Effect.fail(failed(`it could not be started: ${error.message}`))))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stderr.on("error", () => {})
      child.stdout.on("data", (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxOutput) chunks.push(chunk)
        else give(Effect.fail(failed(`it printed more than ${maxOutput} bytes`)))
      })
      child.stderr.on("data", (chunk: Buffer) => {
        if (said.length < maxTold) said += chunk.toString("utf8").slice(0, maxTold - said.length)
      })
      child.once("exit", () => {
        group?.leaderGone()
        // Whoever it left behind may hold its pipes open.
        group?.signal("SIGKILL")
      })
      child.once("close", (code, signal) => {
        if (code === 0) return give(Effect.succeed(Buffer.concat(chunks).toString("utf8")))
        const more = said.trim() === "" ? "" : `, saying ${Visible.quoted(said.trim())}`
        give(Effect.fail(failed(`it ended with ${signal ?? `code ${code}`}${more}`)))
      })
      child.stdin.end(line)
      return Effect.sync(() => {
        group?.signal("SIGKILL")
        for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      })
    })

  return (command: readonly [string, ...Array<string>]) => (line: string): Effect.Effect<string, Hook.HookError> =>
    Effect.flatMap(check(command), (file) => started(file, command, line))
})

/**
 * Which program is asked, about what, and how long it may take: as a policy has it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Config extends Pick<Hook.Options, "methods" | "timeout"> {
  readonly command: readonly [string, ...Array<string>]
}

/**
 * The gate that asks the hook which is the current one: another one after the policy was loaded anew. Without one it allows.
 *
 * @category constructors
 * @since 0.1.0
 */
export const gate = Effect.fnUntraced(function*(
  current: () => Config | undefined,
  options: Pick<Hook.Options, "tell" | "concurrent">
): Effect.fn.Return<Gate.Gate["Service"], never, Files> {
  const program = yield* runner
  let known: Config | undefined
  let hook: Gate.Gate["Service"] | undefined
  return Gate.make({
    call: (subject) => {
      const config = current()
      if (config !== known) {
        known = config
        hook = config && Hook.make({ ...options, ...config, run: program(config.command) })
      }
      return hook?.call(subject) ?? Exit.succeed(Gate.allow)
    }
  })
})
