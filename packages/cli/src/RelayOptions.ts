/**
 * The command line of `sallyport relay`, and what the operator's settings say to it.
 *
 * @since 0.1.0
 */
import type { FirstSight } from "@sallyport/core/line/Accepted"
import { Environment } from "@sallyport/core/node/Environment"
import { looksAround } from "@sallyport/core/pin/Launch"
import * as Ledger from "@sallyport/core/stage/Ledger"
import { isServerName } from "@sallyport/core/stage/PinStore"
import * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import type { Address, Command, Launch } from "@sallyport/core/stage/Spawn"
import { Files } from "@sallyport/core/store/Files"
import * as Repair from "@sallyport/core/wire/Repair"
import * as Name from "@sallyport/relay/Name"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { addressOf } from "./Address.ts"
import * as Folders from "./Folders.ts"
import * as Settings from "./Settings.ts"

/**
 * How the relay is used.
 *
 * @category constants
 * @since 0.1.0
 */
export const usage = `Usage: sallyport relay [OPTIONS] -- COMMAND [ARGS...]
       sallyport relay [OPTIONS] --url URL

Stands between an MCP host and the server that COMMAND starts, or that runs at
URL: holds what nobody has accepted, decides every call and records it.

Options:
  --name NAME             what the server is called (default: after COMMAND)
  --first-sight MODE      a server never seen: hold (default), trust or observe
  --locked FILE           only what is in FILE (from pins export), and nothing
                          else: no pins of this machine are read
  --env NAME[=VALUE]      give the server this variable; may be repeated
  --cwd DIR               where the server runs (default: here; for npx and the
                          like an empty folder)
  --bridge auto|strict|off
                          where host and server are of two eras: translate and
                          lower what the other has no form for (default),
                          translate and leave such things out, or let it fail
  --url URL               a server that runs already (Streamable HTTP): https,
                          or http on this machine
  --header NAME=VARIABLE  send it this header, with the value of that variable
                          of the environment; may be repeated
  --private               the name in URL may stand for a private address
  --http HOST:PORT        the host connects here, instead of over stdio
  --token-file FILE       the token that it has to bring
  --ledger file|none      where calls are recorded (default: file)
  --sandbox pid|none      run the server in a pid namespace (default: none)
  --repair null-error|surrogates
                          read an answer with "error": null beside its result,
                          or half of a surrogate pair as U+FFFD, where the line
                          would be refused; may be repeated; pinned
  --policy FILE           what is allowed and denied (default: policy.toml)
  --client NAME           what rules and records call the host (default: host)
  --state DIR             where pins and ledger are kept
  --config DIR            where settings.toml and policy.toml are
  --help                  this text

Example:
  sallyport relay --name memory -- npx -y @modelcontextprotocol/server-memory
`

/**
 * A command line or a configuration that cannot be used; the process ends with `code`.
 *
 * @category errors
 * @since 0.1.0
 */
export class RelayOptionsError
  extends Schema.TaggedError<RelayOptionsError>("sallyport/cli/RelayOptionsError")("RelayOptionsError", {
    code: Schema.Int,
    message: Schema.String
  })
{}

/**
 * What a relay is started with.
 *
 * @category models
 * @since 0.1.0
 */
export interface RelayOptions {
  readonly launch: Launch
  /** Where the host connects to, where that is not our stdio. */
  readonly http: { readonly host: string; readonly port: number; readonly tokenFile: string | undefined } | undefined
  readonly firstSight: FirstSight
  /** The file of pins that holds instead of those of this machine. */
  readonly locked: string | undefined
  /** Whether --name was given. */
  readonly named: boolean
  readonly bridge: "auto" | "strict" | "off"
  readonly ledger: "file" | "none"
  /** What the host is called in rules and records. */
  readonly client: string
  /** Where the policy is that the server is under; absent where it is under none. */
  readonly policy: PolicyUse.Place | undefined
  readonly state: string
  /** What a command line needs to mean this state folder: ` --state DIR`, or nothing. */
  readonly option: string
  readonly settings: Settings.Settings
  /** What of the command line loosens the guard, in words. */
  readonly loosened: ReadonlyArray<string>
  /** Why the relay must not serve; its host is told so in answers. */
  readonly refused: { readonly reason: "locked" | "ledger-failed"; readonly why: string } | undefined
  /** The secret under which literal values of the environment are kept. */
  readonly key: string
}

const wrong = (message: string): RelayOptionsError =>
  new RelayOptionsError({ code: 2, message: `sallyport relay: ${message}\n\n${usage}` })

const oneOf = <const A extends string>(
  flag: string,
  allowed: ReadonlyArray<A>,
  given: string | undefined,
  otherwise: A
): Effect.Effect<A, RelayOptionsError> => {
  const found = given === undefined ? otherwise : allowed.find((value) => value === given)
  return found === undefined
    ? Effect.fail(wrong(`--${flag} is ${allowed.join(", ")}; not ${JSON.stringify(given)}`))
    : Effect.succeed(found)
}

const flags = {
  name: { type: "string" },
  "first-sight": { type: "string" },
  locked: { type: "string" },
  env: { type: "string", multiple: true },
  cwd: { type: "string" },
  bridge: { type: "string" },
  url: { type: "string" },
  header: { type: "string", multiple: true },
  private: { type: "boolean" },
  http: { type: "string" },
  "token-file": { type: "string" },
  ledger: { type: "string" },
  sandbox: { type: "string" },
  repair: { type: "string", multiple: true },
  policy: { type: "string" },
  client: { type: "string" },
  state: { type: "string" },
  config: { type: "string" }
} as const

/** A folder named on the command line that a project could have brought along (security rule F5). */
const inProject = (folder: string, project = process.cwd()): boolean => {
  const real = (path: string): string => {
    try {
      return realpathSync(path)
    } catch {
      return path
    }
  }
  const cwd = real(project)
  if (cwd === "/" || cwd === real(homedir())) return false
  let at = folder
  // A folder that does not exist yet is where its nearest existing parent is.
  for (;;) {
    const found = real(at)
    if (found === cwd || found.startsWith(`${cwd}/`)) return true
    const up = at.slice(0, at.lastIndexOf("/"))
    if (up === "" || found !== at) return false
    at = up
  }
}

const emptied = Effect.fnUntraced(function*(state: string) {
  const files = yield* Files
  yield* files.folder(state)
  yield* files.folder(`${state}/empty`)
})

const placeOf = (place: PolicyUse.Place) =>
  Effect.map(PolicyUse.isNeeded(place), (needed) => needed ? place : undefined)

/**
 * Reads the command line behind `relay`.
 *
 * @category reading
 * @since 0.1.0
 */
export const read = Effect.fnUntraced(
  function*(argv: ReadonlyArray<string>) {
    const at = argv.indexOf("--")
    const [command, ...args] = at < 0 ? [] : argv.slice(at + 1)
    const { values } = yield* Effect.try({
      try: () =>
        parseArgs({
          args: argv.slice(1, at < 0 ? undefined : at),
          options: flags,
          strict: true,
          allowPositionals: false
        }),
      catch: (cause) =>
        wrong(
          cause instanceof Error
            ? cause.message
              .replace(/\. To specify.*/s, ".")
              .replace(/This command does not take positional arguments$/, "The server's command goes behind --")
            : "the options cannot be read"
        )
    })
    const { url } = values
    if (command === undefined && url === undefined) {
      return yield* wrong("the command of the server is missing: put it behind --, or give --url")
    }
    if (command !== undefined && url !== undefined) return yield* wrong("--url is instead of a command behind --")
    const name = values.name ??
      (command === undefined ? Name.hostOf(url ?? "") : Name.nameOf(command, args))
    if (!isServerName(name)) {
      return yield* wrong(`--name is a letter a-z, then at most 31 of a-z, 0-9 and -; not ${JSON.stringify(name)}`)
    }
    const firstSight = yield* oneOf("first-sight", ["hold", "trust", "observe"], values["first-sight"], "hold")
    if (values.locked !== undefined && firstSight !== "hold") {
      return yield* wrong("--locked holds what is not in its file; leave out --first-sight")
    }
    if (values.locked === "") return yield* wrong("--locked is the name of a file; the name that was given is empty")
    const bridge = yield* oneOf("bridge", ["auto", "strict", "off"], values.bridge, "auto")
    const ledger = yield* oneOf("ledger", ["file", "none"], values.ledger, "file")
    const sandbox = yield* oneOf("sandbox", ["none", "pid"], values.sandbox, "none")
    const repair = yield* Effect.forEach(
      new Set(values.repair),
      (given) => oneOf("repair", Repair.all, given, "surrogates")
    )
    const repairs = repair.length === 0 ? {} : { repair }
    const client = values.client ?? "host"
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(client)) {
      return yield* wrong(`--client is at most 64 letters, digits, ".", "_" and "-"; not ${JSON.stringify(client)}`)
    }
    if (values.policy === "") return yield* wrong("--policy is the name of a file; the name that was given is empty")
    const env: Array<Command["env"][number]> = []
    for (const entry of values.env ?? []) {
      const cut = entry.indexOf("=")
      const variable = cut < 0 ? entry : entry.slice(0, cut)
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
        return yield* wrong(`--env is NAME or NAME=VALUE; ${JSON.stringify(variable)} is no name of a variable`)
      }
      env.push(cut < 0 ? { name: variable } : { name: variable, value: entry.slice(cut + 1) })
    }
    const headers: Array<Address["headers"][number]> = []
    for (const entry of values.header ?? []) {
      const [, header, variable] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([A-Za-z_][A-Za-z0-9_]*)$/.exec(entry) ?? []
      if (header === undefined || variable === undefined) {
        return yield* wrong(
          "--header is NAME=VARIABLE: the value is taken from the environment, so that no secret stands in a command line"
        )
      }
      headers.push({ name: header, variable })
    }
    if (url === undefined && (headers.length > 0 || values.private === true)) {
      return yield* wrong("--header and --private are for --url")
    }
    if (url !== undefined && (env.length > 0 || values.sandbox !== undefined || values.cwd !== undefined)) {
      return yield* wrong("--env, --cwd and --sandbox are for a command behind --")
    }
    if (values.cwd === "") return yield* wrong("--cwd is the name of a folder; the name that was given is empty")
    const http = values.http === undefined ? undefined : addressOf(values.http)
    if (values.http !== undefined && http === undefined) {
      return yield* wrong(`--http is HOST:PORT, as in 127.0.0.1:8080; not ${JSON.stringify(values.http)}`)
    }
    if (values["token-file"] !== undefined && http === undefined) return yield* wrong("--token-file is for --http")
    yield* Effect.try({
      try: () => process.cwd(),
      catch: () =>
        new RelayOptionsError({
          code: 1,
          message:
            "sallyport relay: the folder that this was started in does not exist any more; start it in another one"
        })
    })
    const state = yield* Folders.state(values.state)
    const config = yield* Folders.config(values.config)
    const settings = yield* Settings.read(config)
    const loosened = [
      ...(firstSight === "hold" ? [] : [`--first-sight ${firstSight}`]),
      // Whoever wrote that file says what is accepted.
      ...(values.locked === undefined ? [] : ["--locked"]),
      ...(ledger === "none" ? ["--ledger none"] : []),
      ...(values.policy === undefined ? [] : ["--policy"]),
      ...(values.state === undefined ? [] : ["--state"]),
      ...(values.config === undefined ? [] : ["--config"])
    ]
    // What configures a project's server may set variables too; a default below HOME is the user's own.
    const own = yield* Environment
    const named = (flag: string, value: string | undefined, variable: string): string | undefined =>
      value !== undefined ? flag : own[variable]?.startsWith("/") === true ? variable : undefined
    const stateNamed = named("--state", values.state, "XDG_STATE_HOME")
    const configNamed = named("--config", values.config, "XDG_CONFIG_HOME")
    const policyFile = values.policy === undefined ? `${config}/policy.toml` : resolve(values.policy)
    const brought = (folder: string): boolean =>
      inProject(folder) || values.cwd !== undefined && inProject(folder, resolve(values.cwd))
    const planted = [
      ...(values.policy !== undefined && brought(policyFile) ? ["--policy"] : []),
      ...(stateNamed !== undefined && brought(state) ? [stateNamed] : []),
      ...(configNamed !== undefined && brought(config) ? [configNamed] : [])
    ]
    const locked = planted.length > 0
      ? `${planted.join(" and ")} must not lie in the folder that the server runs in: a project could bring its own`
      : settings.locked === true && loosened.length > 0
      ? `${loosened.join(" and ")}: settings.toml is locked, so nothing on a command line may loosen the guard`
      : undefined
    // A package that is looked up by its name is looked for in the folder first, and a project could bring one along.
    const apart = values.cwd === undefined && command !== undefined && looksAround(command, args)
    const cwd = values.cwd !== undefined ? resolve(values.cwd) : apart ? `${state}/empty` : undefined
    if (apart && locked === undefined) yield* emptied(state)
    // The key is only needed where there is a value to hide: a relay starts without touching it.
    const hides = env.some((entry) => entry.value !== undefined)
    const keys = hides && locked === undefined ? yield* Effect.result(Ledger.loadKeys(`${state}/ledger`)) : undefined
    const refused: RelayOptions["refused"] = locked !== undefined
      ? { reason: "locked", why: locked }
      : keys?._tag === "Failure"
      ? { reason: "ledger-failed", why: keys.failure.message }
      : undefined
    const options: RelayOptions = {
      client,
      policy: yield* placeOf({
        file: policyFile,
        named: values.policy !== undefined,
        directory: `${state}/policies`,
        server: name
      }),
      launch: command === undefined
        ? { name, url: url ?? "", headers, privately: values.private === true, ...repairs }
        : { name, command, args, env, ...(cwd === undefined ? {} : { cwd }), sandbox, ...repairs },
      http: http === undefined ? undefined : { ...http, tokenFile: values["token-file"] },
      firstSight,
      locked: values.locked === undefined ? undefined : resolve(values.locked),
      named: values.name !== undefined,
      bridge,
      ledger,
      state,
      option: values.state === undefined ? "" : ` --state ${Folders.quoted(state)}`,
      settings,
      loosened,
      refused,
      key: keys?._tag === "Success" ? keys.success.text : ""
    }
    return options
  },
  Effect.mapError((error) =>
    error._tag === "RelayOptionsError"
      ? error
      : new RelayOptionsError({ code: 1, message: `sallyport relay: ${error.message}` })
  )
)
