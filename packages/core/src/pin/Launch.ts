/**
 * The launch as a pinned field: what would be started is compared with what was accepted before anything is started.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Digest from "../wire/Digest.ts"

/**
 * The launch as it is pinned: one text a field, and one digest over all of it.
 *
 * **Details**
 *
 * - `fields`: of a server that runs already `url`, `privately`, and one `header NAME` a header; else `command`,
 *   `executable`, `executable digest`, `script`, `script digest`, `args` (a JSON array), `cwd`, `sandbox`, and one
 *   `env NAME` a variable: `inherited`, or the keyed digest of its literal value. Of both `repair`, where there is any.
 * - `loaders`: those of the variables that decide which code a program loads. A launch with one is of class privilege.
 *
 * @category schemas
 * @since 0.1.0
 */
export const LaunchPin = Schema.Struct({
  digest: Schema.String,
  fields: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
  loaders: Schema.Array(Schema.String)
})
/**
 * @category models
 * @since 0.1.0
 */
export type LaunchPin = typeof LaunchPin.Type

/**
 * What is to be started, as the Spawn stage describes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Launched {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyArray<{ readonly name: string; readonly value?: string }>
  readonly cwd?: string
  readonly sandbox: string
  readonly repair?: ReadonlyArray<string>
}

/**
 * A server that runs already, as the Spawn stage describes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Addressed {
  readonly url: string
  readonly headers: ReadonlyArray<{ readonly name: string; readonly variable: string }>
  readonly privately: boolean
  readonly repair?: ReadonlyArray<string>
}

/**
 * What it resolves to, as the Spawn stage found it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inspected {
  readonly executable?: { readonly path: string; readonly digest?: string }
  readonly script?: { readonly path: string; readonly digest?: string }
}

// On Windows, and for npm everywhere, the case of a name does not matter.
const loader =
  /^(?:PATH|HOME|LD_.*|DYLD_.*|NODE_.*|NPM_CONFIG_.*|PYTHON.*|PERL5.*|RUBY.*|JAVA_TOOL_OPTIONS|BASH_ENV|ENV|GIT_.*)$/i

/**
 * Whether a variable decides which code a program loads.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLoader = (name: string): boolean => loader.test(name)

const inherited = "inherited"

/**
 * What is pinned of a launch. `key` is the secret of the state folder: without it a literal value cannot be guessed from
 * its digest.
 *
 * @category constructors
 * @since 0.1.0
 */
export const launch = (launched: Launched | Addressed, inspected: Inspected, key: string): LaunchPin => {
  const fields: Array<{ readonly name: string; readonly value: string }> = []
  const put = (name: string, value: string | undefined) => {
    if (value !== undefined) fields.push({ name, value })
  }
  const pinned = (loaders: ReadonlyArray<string>): LaunchPin => ({
    digest: Digest.framed(["sallyport/launch/1", ...fields.flatMap(({ name, value }) => [name, value])]),
    fields,
    loaders
  })
  // What is read otherwise than it was written is part of what a person accepts.
  const repair = launched.repair === undefined || launched.repair.length === 0
    ? undefined
    : [...new Set(launched.repair)].sort().join(" ")
  if ("url" in launched) {
    put("url", launched.url)
    const headers = launched.headers.map(({ name, variable }) => [name.toLowerCase(), variable] as const).sort()
    for (const [name, variable] of headers) put(`header ${name}`, `from ${variable}`)
    put("privately", launched.privately ? "true" : undefined)
    put("repair", repair)
    return pinned([])
  }
  put("command", launched.command)
  put("executable", inspected.executable?.path)
  put("executable digest", inspected.executable?.digest)
  put("script", inspected.script?.path)
  put("script digest", inspected.script?.digest)
  put("args", JSON.stringify(launched.args))
  put("cwd", launched.cwd)
  put("sandbox", launched.sandbox)
  put("repair", repair)
  // As when it is started: the order does not matter, and of one name given twice the last counts.
  const env = new Map(launched.env.map((entry) => [entry.name, entry.value]))
  const names = [...env.keys()].sort()
  for (const name of names) {
    const value = env.get(name)
    put(`env ${name}`, value === undefined ? inherited : Digest.framed(["sallyport/launch/value/1", key, name, value]))
  }
  return pinned(names.filter(isLoader))
}

/** What is found anew on each machine. */
const local = new Set(["executable", "executable digest", "script", "script digest", "cwd"])

/**
 * What of a launch is the same on every machine: command and arguments as given, the sandbox, and which variables are set,
 * without their values.
 *
 * @category conversions
 * @since 0.1.0
 */
export const portable = (self: LaunchPin): LaunchPin => {
  const fields = self.fields.filter(({ name }) => !local.has(name)).map(({ name, value }) => ({
    name,
    value: envName(name) === undefined || value === inherited ? value : "literal"
  }))
  return {
    digest: Digest.framed(["sallyport/launch/portable/1", ...fields.flatMap(({ name, value }) => [name, value])]),
    fields,
    loaders: fields.flatMap(({ name }) => envName(name) ?? []).filter(isLoader)
  }
}

/**
 * A program that looks up what it runs at each start: by whom, with which of its first arguments, and whether it looks into
 * the folder that it is started in.
 */
interface Runner {
  readonly by: string
  readonly verbs?: ReadonlyArray<string>
  readonly here: boolean
}

const runners: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ["npx", { by: "npm", here: true }],
  ["npm", { by: "npm", verbs: ["exec", "x"], here: true }],
  ["pnpx", { by: "pnpm", here: true }],
  ["pnpm", { by: "pnpm", verbs: ["dlx"], here: true }],
  ["yarn", { by: "yarn", verbs: ["dlx"], here: true }],
  ["bunx", { by: "bun", here: true }],
  ["bun", { by: "bun", verbs: ["x"], here: true }],
  ["uvx", { by: "uv", here: true }],
  // What uv runs in a project is that project's own: without it there is nothing to run.
  ["uv", { by: "uv", verbs: ["tool", "run"], here: false }],
  ["pipx", { by: "pipx", verbs: ["run"], here: true }],
  ["docker", { by: "docker", verbs: ["run", "container"], here: false }],
  ["podman", { by: "podman", verbs: ["run", "container"], here: false }]
])

const runnerOf = (command: string, args: ReadonlyArray<string>): Runner | undefined => {
  const program = command.split(/[/\\]/).at(-1)?.toLowerCase().replace(/\.(?:exe|cmd|bat|ps1)$/, "") ?? ""
  const runner = runners.get(program)
  return runner?.verbs === undefined || runner.verbs.some((verb) => args.includes(verb)) ? runner : undefined
}

/**
 * Whether a command may run what it finds in the folder that it is started in, though it names a package: a cloned
 * repository could bring that package along.
 *
 * @category guards
 * @since 0.1.0
 */
export const looksAround = (command: string, args: ReadonlyArray<string>): boolean =>
  runnerOf(command, args)?.here === true

const decodeArguments = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.String)))

const argumentsOf = (text: string | undefined): ReadonlyArray<string> =>
  Option.getOrElse(decodeArguments(text), (): ReadonlyArray<string> => [])

/**
 * Who decides at each start what a launch runs, so that no digest of a file binds it; `undefined` where the launch itself
 * does. An image with a digest is bound by it.
 *
 * @category getters
 * @since 0.1.0
 */
export const decidedBy = ({ fields }: LaunchPin): string | undefined => {
  const value = (name: string) => fields.find((field) => field.name === name)?.value
  const args = argumentsOf(value("args"))
  const runner = runnerOf(value("command") ?? "", args)
  if (runner === undefined) return undefined
  const bound = !runner.here && args.some((arg) => /@sha256:[0-9a-f]{64}$/.test(arg))
  return bound ? undefined : runner.by
}

/**
 * A field in which two launches differ.
 *
 * **Details**
 *
 * - `says`: a sentence without any value, fit for an error message and a log.
 * - `before`, `now`: the texts, for a person who reviews; absent where there is none, and for values of the environment.
 *
 * @category models
 * @since 0.1.0
 */
export interface Difference {
  readonly field: string
  readonly loader: boolean
  readonly says: string
  readonly before?: string
  readonly now?: string
}

const envName = (field: string): string | undefined => field.startsWith("env ") ? field.slice(4) : undefined

const inWords = (value: string): string =>
  value === inherited ? "taken from Sallyport's own environment" : "a literal value"

const sayEnv = (name: string, before: string | undefined, now: string | undefined): string => {
  const effect = isLoader(name) ? "; it decides which code the program loads" : ""
  if (before === undefined) return `the environment variable ${name} was added (${inWords(now ?? "")})${effect}`
  if (now === undefined) return `the environment variable ${name} is no longer set`
  if (before === inherited || now === inherited) {
    return `the environment variable ${name} was ${inWords(before)} and is now ${inWords(now)}${effect}`
  }
  return `the environment variable ${name} has another value${effect}`
}

const sentences: ReadonlyMap<string, string> = new Map([
  ["command", "the command is another"],
  ["executable", "the command resolves to another file"],
  ["executable digest", "the program file has other content"],
  ["script", "the script is another file"],
  ["script digest", "the script has other content"],
  ["args", "the arguments differ"],
  ["cwd", "the working folder differs"],
  ["sandbox", "the sandbox differs"],
  ["url", "the address is another"],
  ["privately", "whether its name may stand for an address of a private network differs"],
  ["repair", "what is repaired in its lines differs"]
])

/**
 * The fields in which the launch differs from the accepted one; empty where it is the same.
 *
 * @category comparing
 * @since 0.1.0
 */
export const compareLaunch = (accepted: LaunchPin, now: LaunchPin): ReadonlyArray<Difference> => {
  if (accepted.digest === now.digest) return []
  const was = new Map(accepted.fields.map(({ name, value }) => [name, value]))
  const is = new Map(now.fields.map(({ name, value }) => [name, value]))
  const found: Array<Difference> = []
  for (const field of new Set([...was.keys(), ...is.keys()])) {
    const before = was.get(field)
    const after = is.get(field)
    if (before === after) continue
    const name = envName(field)
    found.push(
      name === undefined
        ? {
          field,
          loader: false,
          says: sentences.get(field) ?? `${field} differs`,
          ...(before === undefined ? {} : { before }),
          ...(after === undefined ? {} : { now: after })
        }
        : { field, loader: isLoader(name), says: sayEnv(name, before, after) }
    )
  }
  // The digest says that they differ: never is that read as "the same".
  return found.length > 0 ? found : [{ field: "launch", loader: false, says: "the launch differs" }]
}
