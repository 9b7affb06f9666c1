/**
 * What a launch comes to on this machine: its environment, its executable, its sandbox.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { type Command, type Inspection, SpawnError } from "../stage/Spawn.ts"
import { safe } from "./Environment.ts"

/**
 * What is to be started.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly file: string
  readonly argv0: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Names that the launch wants from our environment and that are not set there. */
  readonly unset: ReadonlyArray<string>
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The environment of a launch: the safe list, then what the launch names.
 *
 * @category constructors
 * @since 0.1.0
 */
export const environment = (
  launch: Command,
  own: Variables
): { readonly env: Readonly<Record<string, string>>; readonly unset: ReadonlyArray<string> } => {
  const env: Record<string, string> = Object.create(null)
  const unset: Array<string> = []
  for (const name of safe) {
    const value = own[name]
    // As in the official SDKs: an exported shell function is code.
    if (value !== undefined && !value.startsWith("()")) env[name] = value
  }
  for (const { name, value = own[name] } of launch.env) {
    if (value === undefined) unset.push(name)
    else env[name] = value
  }
  return { env, unset }
}

const workingFolder = (launch: Command) => path.resolve(launch.cwd ?? ".")

const isFile = (file: string): boolean => fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false

const mayRun = (file: string): boolean => {
  try {
    fs.accessSync(file, fs.constants.X_OK)
    return true
  } catch {
    return false
  }
}

type Found =
  | { readonly _tag: "found"; readonly file: string }
  | { readonly _tag: "missing"; readonly searched: string | undefined }
  | { readonly _tag: "forbidden"; readonly file: string }

/**
 * Finds a command as the child would: by the PATH that the child gets. Relative folders in PATH are passed over, since
 * what they find depends on where the host happens to run.
 */
const find = (command: string, search: string | undefined, cwd: string): Found => {
  const attempt = (file: string, unreachable: Found | undefined): Found | undefined => {
    try {
      if (!isFile(file)) return undefined
    } catch {
      return unreachable
    }
    return mayRun(file) ? { _tag: "found", file } : { _tag: "forbidden", file }
  }
  if (command.includes("/")) {
    const file = path.resolve(cwd, command)
    return attempt(file, { _tag: "forbidden", file }) ?? { _tag: "missing", searched: undefined }
  }
  const searched = search ?? "/usr/bin:/bin"
  let forbidden: Found | undefined
  for (const folder of searched.split(":")) {
    if (!path.isAbsolute(folder)) continue
    // A folder of PATH that this user may not enter is passed over, as by every shell.
    const found = attempt(path.join(folder, command), undefined)
    if (found?._tag === "found") return found
    forbidden ??= found
  }
  return forbidden ?? { _tag: "missing", searched }
}

/**
 * Plans the start of a launch.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plan = Effect.fnUntraced(function*(
  launch: Command,
  own: Variables
): Effect.fn.Return<Plan, SpawnError> {
  const fail = (kind: SpawnError["kind"], message: string) =>
    new SpawnError({ kind, command: launch.command, message: `${launch.name} was not started: ${message}` })

  const { env, unset } = environment(launch, own)
  for (const [name, value] of Object.entries(env)) {
    if (name === "" || /[=\0]/.test(name)) {
      return yield* fail("failed", `${JSON.stringify(name)} cannot name a variable`)
    }
    if (value.includes("\0")) return yield* fail("failed", `the value of ${name} holds a NUL character`)
  }
  if ([launch.command, ...launch.args].some((word) => word.includes("\0"))) {
    return yield* fail("failed", "its command line holds a NUL character")
  }
  const cwd = workingFolder(launch)
  const folder = yield* Effect.try({
    try: () => fs.statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false,
    catch: () => fail("not-permitted", `its working folder ${cwd} cannot be reached`)
  })
  if (!folder) return yield* fail("not-found", `its working folder ${cwd} does not exist`)

  const found = find(launch.command, env["PATH"], cwd)
  if (found._tag === "missing") {
    return yield* fail(
      "not-found",
      found.searched === undefined
        ? `${path.resolve(cwd, launch.command)} does not exist`
        : `there is no ${launch.command} in PATH, which is ${found.searched}. Give its absolute path, or a PATH that finds it`
    )
  }
  if (found._tag === "forbidden") {
    return yield* fail("not-permitted", `${found.file} may not be executed by this user; run: chmod +x ${found.file}`)
  }
  return { file: found.file, argv0: launch.command, args: launch.args, cwd, env, unset }
})

/**
 * The command line that puts another one into a pid namespace of its own, which ends when we do. Tried once before it is
 * used, since not every kernel, container and distribution lets a user have one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sandbox = Effect.fnUntraced(function*(
  launch: Command,
  own: Variables
): Effect.fn.Return<ReadonlyArray<string>, SpawnError> {
  const fail = (message: string) =>
    new SpawnError({
      kind: "failed",
      command: launch.command,
      message: `${launch.name} was not started: the pid sandbox ${message}`
    })
  if (process.platform !== "linux") return yield* fail("exists on Linux only; start it without")
  const [setpriv, unshare] = ["setpriv", "unshare"].map((tool) => find(tool, own["PATH"], "/"))
  if (setpriv?._tag !== "found" || unshare?._tag !== "found") {
    return yield* fail("needs the programs setpriv and unshare; install the package util-linux")
  }
  const user = ["--user", "--map-current-user"]
  const ways = process.getuid?.() === 0 ? [[], user] : [user]
  let why = ""
  for (const way of ways) {
    const wrapper = [
      setpriv.file,
      "--pdeathsig",
      "KILL",
      unshare.file,
      ...way,
      "--pid",
      "--fork",
      "--kill-child=KILL",
      "--"
    ]
    const wrong = yield* tried([...wrapper, "/bin/true"])
    if (wrong === undefined) return wrapper
    why = wrong
  }
  return yield* fail(
    `is not permitted here (${why}); unprivileged user namespaces must be allowed (sysctl kernel.unprivileged_userns_clone, `
      + "user.max_user_namespaces, or the AppArmor profile of unshare)"
  )
})

const tried = ([file = "", ...args]: ReadonlyArray<string>): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const child = execFile(file, args, { timeout: 5000, env: {} }, (error, _, stderr) => {
      resume(Effect.succeed(error === null ? undefined : stderr.trim() || error.message))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const whole = 8 * 1024 * 1024
const edge = 256 * 1024
const piece = 16 * 1024
const pieces = 32

/**
 * The digest of a file, whole or sampled: see `Inspection`.
 *
 * @category accessors
 * @since 0.1.0
 */
export const digest = (file: string): string | undefined => {
  // Without promises: a start is waited for, and each of them costs a turn of the loop and a thread of the pool.
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile()) return undefined
    const hash = createHash("sha256")
    const buffer = Buffer.allocUnsafe(Math.min(edge, Math.max(stat.size, 1)))
    const add = (from: number, length: number): void => {
      for (let at = from; at < from + length;) {
        const count = fs.readSync(fd, buffer, 0, Math.min(buffer.length, from + length - at), at)
        if (count === 0) return
        hash.update(buffer.subarray(0, count))
        at += count
      }
    }
    if (stat.size <= whole) {
      add(0, stat.size)
      return hash.digest("hex")
    }
    hash.update(`${stat.size}\n`)
    add(0, edge)
    const step = Math.floor((stat.size - 2 * edge) / pieces)
    for (let index = 0; index < pieces; index++) add(edge + index * step, piece)
    add(stat.size - edge, edge)
    return `sampled:${hash.digest("hex")}`
  } finally {
    fs.closeSync(fd)
  }
}

const interpreters =
  /^(?:node|nodejs|deno|bun|tsx|ts-node|python|pythonw|pypy|ruby|perl|php|lua|Rscript|julia|java|dotnet|sh|bash|dash|zsh|ksh|fish|pwsh|env|uv|wasmtime)[\d.]*$/

// What comes behind these is code or a module's name, and no script follows.
const inline = new Set(["-c", "-e", "-p", "-m", "--eval", "--print", "--command"])

const script = (launch: Command, file: string): string | undefined => {
  if (![path.basename(launch.command), path.basename(file)].some((name) => interpreters.test(name))) return undefined
  for (const word of launch.args) {
    if (inline.has(word)) return undefined
    const at = path.resolve(workingFolder(launch), word)
    if (!word.includes("\0") && isFile(at)) return fs.realpathSync(at)
  }
  return undefined
}

const orNothing = <A>(run: () => A): Effect.Effect<A | undefined> =>
  Effect.orElseSucceed(Effect.try({ try: run, catch: () => undefined }), () => undefined)

const described = Effect.fnUntraced(function*(at: string) {
  const sum = yield* orNothing(() => digest(at))
  return sum === undefined ? { path: at } : { path: at, digest: sum }
})

/**
 * What a launch would start.
 *
 * @category accessors
 * @since 0.1.0
 */
export const inspect = Effect.fnUntraced(function*(launch: Command, own: Variables): Effect.fn.Return<Inspection> {
  const { env } = environment(launch, own)
  const found = yield* orNothing(() => find(launch.command, env["PATH"], workingFolder(launch)))
  if (found?._tag !== "found") return {}
  const file = yield* orNothing(() => fs.realpathSync(found.file))
  if (file === undefined) return {}
  const code = yield* orNothing(() => script(launch, file))
  const executable = yield* described(file)
  const second = code === undefined ? undefined : yield* described(code)
  return second === undefined ? { executable } : { executable, script: second }
})
