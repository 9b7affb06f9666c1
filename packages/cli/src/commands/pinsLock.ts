/**
 * `sallyport pins lock`: installs the package that an npx command names, so that what runs is bound by digests.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import { isServerName } from "@sallyport/core/stage/PinStore"
import { Files } from "@sallyport/core/store/Files"
import * as Digest from "@sallyport/core/wire/Digest"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join, resolve, sep } from "node:path"
import { ending, Failure } from "../Failure.ts"
import { quoted } from "../Folders.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"

const nothing = (why: string): Failure => new Failure({ message: `nothing was locked: ${why}` })

// ---- the command

/**
 * What an npx command asks for: the package, the program in it where that is named, and what the program is given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly spec: string
  readonly bin: string | undefined
  readonly args: ReadonlyArray<string>
}

/** Options of npx that take no value and change nothing about what is installed. */
const harmless = new Set(["-y", "--yes", "-q", "--quiet", "--prefer-offline", "--prefer-online", "--"])

const verbs: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["npx", []],
  ["pnpx", []],
  ["bunx", []],
  ["npm", ["exec", "x"]],
  ["pnpm", ["dlx"]],
  ["yarn", ["dlx"]],
  ["bun", ["x"]]
])

/**
 * Reads an npx command (or one of its relatives).
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (line: ReadonlyArray<string>): Result.Result<Asked, string> => {
  const [command = "", ...rest] = line
  if (command === "") return Result.fail("the command is missing: put it behind --, as in -- npx -y PACKAGE@VERSION")
  const program = command.split(/[/\\]/).at(-1)?.toLowerCase().replace(/\.(?:exe|cmd)$/, "") ?? ""
  const words = verbs.get(program)
  if (words === undefined || words.length > 0 && !words.includes(rest[0] ?? "")) {
    return Result.fail(
      "this locks what npx and its relatives run; give an image its digest (NAME@sha256:...), " +
        "and install what uvx or pipx would run"
    )
  }
  const args = words.length === 0 ? rest : rest.slice(1)
  let spec: string | undefined
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ""
    const named = /^--package=(.+)$/.exec(arg)?.[1] ?? (arg === "-p" || arg === "--package" ? args[++at] : undefined)
    if (named !== undefined) {
      if (spec !== undefined) return Result.fail("it names several packages")
      spec = named
    } else if (arg.startsWith("-")) {
      if (!harmless.has(arg)) return Result.fail(`the option ${JSON.stringify(arg)} of ${program} is not known here`)
    } else if (spec === undefined) {
      return Result.succeed({ spec: arg, bin: undefined, args: args.slice(at + 1) })
    } else return Result.succeed({ spec, bin: arg, args: args.slice(at + 1) })
  }
  return spec === undefined
    ? Result.fail("it names no package")
    : Result.succeed({ spec, bin: undefined, args: [] })
}

// ---- what npm installed

const Lockfile = Schema.fromJsonString(Schema.Struct({
  packages: Schema.Record(
    Schema.String,
    Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      version: Schema.optionalKey(Schema.String),
      integrity: Schema.optionalKey(Schema.String),
      link: Schema.optionalKey(Schema.Boolean),
      inBundle: Schema.optionalKey(Schema.Boolean),
      dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
    })
  )
}))

const Manifest = Schema.fromJsonString(Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  bin: Schema.optionalKey(Schema.Union([Schema.String, Schema.Record(Schema.String, Schema.String)]))
}))

/**
 * A package that was installed, with what npm compared its content with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Package {
  readonly name: string
  readonly version: string
  readonly integrity: string
}

const prefix = "node_modules/"

/** The packages of a lockfile. Without an integrity nothing says what was installed; one that came inside another is covered. */
const packagesOf = (lock: typeof Lockfile.Type): Result.Result<ReadonlyArray<Package>, string> => {
  const found: Array<Package> = []
  for (const [place, { inBundle, integrity, link, name, version }] of Object.entries(lock.packages)) {
    if (place === "" || inBundle === true) continue
    const called = name ?? place.slice(place.lastIndexOf(prefix) + prefix.length)
    if (integrity === undefined || link === true || version === undefined) {
      return Result.fail(
        `npm has no digest of ${JSON.stringify(called)}: name a version of a registry, or a packed file`
      )
    }
    found.push({ name: called, version, integrity })
  }
  return Result.succeed(found.sort((left, right) => left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
}

/** The program that npx would run: the one that is named, the only one, or the one of the package's own name. */
const programOf = ({ bin, name }: typeof Manifest.Type, wanted: string | undefined): string | undefined => {
  if (bin === undefined) return undefined
  const own = name.slice(name.lastIndexOf("/") + 1)
  const programs = new Map(typeof bin === "string" ? [[own, bin]] : Object.entries(bin))
  if (wanted !== undefined) return programs.get(wanted)
  const only = new Set(programs.values())
  return only.size === 1 ? [...only][0] : programs.get(own)
}

// ---- installing

/**
 * What was locked: the package, everything that was installed with it, and the command that runs it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Locked {
  readonly server: string
  readonly package: string
  readonly version: string
  readonly folder: string
  readonly command: ReadonlyArray<string>
  readonly packages: ReadonlyArray<Package>
}

const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => nothing(`${what}: ${cause instanceof Error ? Visible.short(cause.message, 400) : "it failed"}`)
  })

const decode = <A>(what: string, schema: Schema.ConstraintDecoder<A>, text: string): Effect.Effect<A, Failure> =>
  Effect.mapError(Schema.decodeUnknownEffect(schema)(text), ({ message }) => nothing(`${what}: ${message}`))

/** Scripts of packages are not run, and nothing is asked of a registry but the packages. */
const options = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--no-bin-links",
  "--save-exact",
  "--install-links",
  "--loglevel=error"
]

const npm = (folder: string, spec: string): Effect.Effect<void, Failure> =>
  Effect.callback((resume) => {
    const child = execFile(
      "npm",
      ["install", ...options, "--prefix", folder, "--", spec],
      { cwd: folder, maxBuffer: 16 * 1024 * 1024 },
      (error, _, stderr) => {
        if (error === null) return resume(Effect.void)
        const said = stderr.trim() === "" ? error.message : stderr.trim()
        resume(Effect.fail(nothing(`npm could not install ${Visible.short(spec, 200)}: ${Visible.short(said, 800)}`)))
      }
    )
    return Effect.sync(() => child.kill())
  })

/** A folder or file that is named as one goes on from where the command was given, not from where npm runs. */
const absolute = (spec: string): string => {
  const path = /^file:(?:\/\/(?=\/))?(.*)$/.exec(spec)?.[1] ?? (/^\.{1,2}(?:\/|$)/.test(spec) ? spec : undefined)
  return path === undefined ? spec : `file:${resolve(path)}`
}

const install = Effect.fnUntraced(function*(state: State.State, server: string, asked: Asked) {
  const files = yield* Files
  const parent = `${state.folder}/packages`
  yield* files.folder(state.folder)
  yield* files.folder(parent)
  const fresh = yield* Effect.acquireRelease(
    attempt("no folder can be made", () => mkdtemp(join(parent, ".new-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  yield* attempt("no folder can be made", () => writeFile(join(fresh, "package.json"), "{\"private\":true}\n"))
  yield* npm(fresh, absolute(asked.spec))

  const text = yield* attempt("npm left no lockfile", () => readFile(join(fresh, "package-lock.json"), "utf8"))
  const lock = yield* decode("npm's lockfile cannot be read", Lockfile, text)
  const name = Object.keys(lock.packages[""]?.dependencies ?? {})[0]
  if (name === undefined) return yield* nothing("npm installed no package")
  const packages = yield* Effect.mapError(Effect.fromResult(packagesOf(lock)), nothing)
  const manifest = yield* decode(
    `the package ${Visible.name(name)} cannot be read`,
    Manifest,
    yield* attempt("the package is not there", () => readFile(join(fresh, prefix, name, "package.json"), "utf8"))
  )
  const program = programOf(manifest, asked.bin)
  const within = join(fresh, prefix, name)
  if (program === undefined || !resolve(within, program).startsWith(within + sep)) {
    return yield* nothing(
      `${Visible.name(name)} has no program ${asked.bin === undefined ? "that npx would run" : Visible.name(asked.bin)}`
    )
  }

  // Named by what is in it: the same packages are the same command, so locking again is no drift.
  const digest = Digest.framed(packages.flatMap((each) => [each.name, each.version, each.integrity])).slice(0, 12)
  const folder = join(parent, `${server}-${digest}`)
  const record = { package: name, version: manifest.version, packages }
  yield* attempt(
    "the record cannot be written",
    () => writeFile(join(fresh, "sallyport-lock.json"), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
  )
  const aside = join(parent, `.old-${server}-${digest}`)
  yield* attempt("the folder cannot be put in its place", async () => {
    await rm(aside, { recursive: true, force: true })
    // Mostly there is none; where it cannot be moved away, the next one says so.
    await rename(folder, aside).catch(() => undefined)
    await rename(fresh, folder)
    await rm(aside, { recursive: true, force: true })
  })
  const locked: Locked = {
    server,
    package: name,
    version: manifest.version,
    folder,
    command: ["node", join(folder, prefix, name, program), ...asked.args],
    packages
  }
  return locked
}, Effect.scoped)

const draw = (state: State.State, { command, package: name, packages, server, version }: Locked): string =>
  [
    `Installed ${Visible.name(name)} ${Visible.short(version, 40)}, ${
      Output.count(packages.length, "package")
    } in all, by the digests of npm.`,
    "Start it by this command, in place of the one with npx:",
    "",
    `  sallyport relay --name ${server}${state.option} -- ${command.map(quoted).join(" ")}`,
    "",
    Output.wrapped(
      "A person accepts it like any other launch. The script is pinned by its digest; what it loads from the folder " +
        "beside it was compared by npm when it was installed, and is not compared again."
    )
  ].join("\n")

/**
 * `sallyport pins lock`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "lock",
  {
    state: State.flag,
    json: State.json,
    server: Argument.String("SERVER").pipe(Argument.withDescription("the server's name")),
    line: Argument.String("COMMAND").pipe(
      Argument.withDescription("behind --: the npx command that starts it today"),
      Argument.variadic()
    )
  },
  ({ json, line, server, state }) =>
    ending(Effect.gen(function*() {
      if (!isServerName(server)) return yield* nothing(`${Visible.name(server)} cannot be the name of a server`)
      const asked = yield* Effect.mapError(Effect.fromResult(parse(line)), nothing)
      const opened = yield* State.open(state)
      const locked = yield* install(opened, server, asked)
      yield* json ? Output.printJson(locked) : Output.print(draw(opened, locked))
    }))
).pipe(
  Command.withDescription(
    "Install the package that an npx command names into Sallyport's own folder, by its integrity and without running " +
      "its scripts, and print the command that runs it. Through npx it is looked up anew at each start."
  ),
  Command.withShortDescription("Bind what npx would run to digests"),
  Command.withExamples([
    {
      command: "sallyport pins lock notes -- npx -y notes-server@1.0.0",
      description: "In place of npx"
    }
  ])
)
