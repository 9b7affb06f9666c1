/**
 * The registry: which servers there are and how each is come by, read strictly from `servers.toml` or from the `mcpServers`
 * of an agent host.
 *
 * **Details**
 *
 * {@link parse} reports everything that is wrong at once, with its line; {@link Registry} reads the file afresh each time,
 * so that an edit takes effect at once, and gives no server at all where anything is wrong with it.
 *
 * @since 0.1.0
 */
import { isLoopback } from "@sallyport/core/http/Access"
import { isServerName } from "@sallyport/core/pin/Names"
import * as Method from "@sallyport/core/protocol/Method"
import { Files } from "@sallyport/core/store/Files"
import type * as Document from "@sallyport/core/toml/Document"
import * as Json from "@sallyport/core/toml/Json"
import * as Reader from "@sallyport/core/toml/Reader"
import * as words from "@sallyport/core/toml/Words"
import * as Digest from "@sallyport/core/wire/Digest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * A value of the environment or of a header: as it stands, or where it comes from. References are followed when the server
 * is started.
 *
 * @category models
 * @since 0.1.0
 */
export type Value =
  | { readonly _tag: "Literal"; readonly value: string }
  | { readonly _tag: "File"; readonly path: string }
  | { readonly _tag: "Variable"; readonly name: string }
  | { readonly _tag: "Command"; readonly command: readonly [string, ...Array<string>] }

/**
 * A server that is started: a fixed argv, never a shell.
 *
 * **Details**
 *
 * - `command`: an absolute path, or a name without a slash.
 * - `runAs`: the user that it runs as; `launcher`: the argv that goes before the command. At most one of the two.
 *
 * @category models
 * @since 0.1.0
 */
export interface Command {
  readonly _tag: "Command"
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: ReadonlyMap<string, Value>
  readonly cwd: string | undefined
  readonly runAs: string | undefined
  readonly launcher: ReadonlyArray<string> | undefined
  readonly sandbox: "none" | "pid"
}

/**
 * A server that runs already: https, or http on this machine (security rule F28). `privately`: its name may stand for an
 * address of a private network.
 *
 * @category models
 * @since 0.1.0
 */
export interface Address {
  readonly _tag: "Address"
  readonly url: string
  readonly headers: ReadonlyMap<string, Value>
  readonly privately: boolean
}

/**
 * A server of the registry.
 *
 * **Details**
 *
 * - `called`: the name in the file, which is another one where that cannot be a name of ours (see {@link aliasOf}).
 * - `methods`: all that it may be asked; everything where absent.
 * - `firstSight`: whether what it offers is held until a person has seen it, or trusted the first time.
 * - `timeout`: how long a call may take; 30 seconds where the file does not say.
 * - `shared`: whether clients may share a process (security rule F19).
 *
 * @category models
 * @since 0.1.0
 */
export interface Server {
  readonly name: string
  readonly called: string
  readonly target: Command | Address
  readonly firstSight: "hold" | "trust"
  readonly methods: ReadonlyArray<string> | undefined
  readonly timeout: Duration.Duration
  readonly shared: boolean
  readonly at: Document.Place
}

/**
 * The servers by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Servers = ReadonlyMap<string, Server>

/**
 * How much a registry may hold.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { servers: 1_000, args: 1_000 }

const keys = {
  file: ["servers"],
  both: ["first_sight", "methods", "timeout", "shared"],
  command: ["command", "args", "env", "cwd", "run_as", "launcher", "sandbox"],
  address: ["url", "headers", "private"],
  reference: ["file", "env", "command"]
}
const every = [...keys.command, ...keys.address, ...keys.both]

const variable = /^[A-Za-z_][A-Za-z0-9_]*$/
const header = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Headers that are a credential by their meaning. */
const credentials = new Set(["authorization", "proxy-authorization", "cookie"])
/** Headers that belong to the connection or to the protocol. */
const taken = new Set(["host", "connection", "content-length", "content-type", "transfer-encoding", "accept"])

const whyNoUrl = (url: string): string | undefined => {
  if (!URL.canParse(url)) return "it is no URL"
  const { hash, hostname, password, protocol, username } = new URL(url)
  if (username !== "" || password !== "") return "it has a name or password in it; give a header instead"
  if (hash !== "") return "it has a fragment"
  if (protocol === "https:") return undefined
  if (protocol !== "http:") return `it begins with ${protocol}`
  return isLoopback(hostname) ? undefined : "what is sent over http can be read on the way; use https"
}

/** `literal`: values are what they are, and none is a reference. */
const reader = (file: string, literal: boolean) => {
  const read = Reader.make(file)
  const { note } = read

  /** A text that the system takes as it is. */
  const plain = (of: string, get: Reader.Fields, key: string): string | undefined => {
    const text = read.string(of, get, key)
    if (text?.includes("\0") !== true) return text
    return note(get(key)?.node.at ?? { line: 1, column: 1 }, `${of}${key} has a NUL character in it`)
  }

  const absolute = (of: string, get: Reader.Fields, key: string): string | undefined => {
    const path = plain(of, get, key)
    const at = get(key)?.node.at
    if (path === undefined || path.startsWith("/") || at === undefined) return path
    return note(at, `${of}${key} must be an absolute path; this is ${words.quote(path)}`)
  }

  const list = (of: string, get: Reader.Fields, key: string): ReadonlyArray<string> | undefined => {
    const entry = get(key)
    if (entry === undefined) return undefined
    if (entry.node._tag !== "Array") return read.wrong(entry, of, key, "a list of strings")
    if (entry.node.items.length > limits.args) {
      return note(entry.node.at, `${of}${key} has more than ${limits.args} items`)
    }
    return entry.node.items.flatMap((item) => {
      if (item._tag === "String" && !item.value.includes("\0")) return [item.value]
      note(
        item.at,
        item._tag === "String"
          ? `${of}${key}: this item has a NUL character in it`
          : `${of}${key} must be a list of strings; this item is ${Reader.said(item)}`
      )
      return []
    })
  }

  /** The program of an argv: what it is must not depend on where the broker happens to run. */
  const program = (of: string, key: string, at: Document.Place, name: string): string | undefined =>
    name !== "" && (name.startsWith("/") || !name.includes("/")) ? name : note(
      at,
      `${of}${key} must be an absolute path, or a name without a slash; this is ${words.quote(name)}`
    )

  const argv = (of: string, get: Reader.Fields, key: string): readonly [string, ...Array<string>] | undefined => {
    const parts = list(of, get, key)
    const entry = get(key)
    if (parts === undefined || entry === undefined) return undefined
    const [first, ...rest] = parts
    if (first === undefined) return note(entry.node.at, `${of}${key} names no program`)
    return program(of, key, entry.node.at, first) === undefined ? undefined : [first, ...rest]
  }

  const value = (of: string, key: string, entry: Document.Entry): Value | undefined => {
    const { node } = entry
    if (node._tag === "String") {
      if (node.value.includes("\0")) return note(node.at, `${of}${key} has a NUL character in it`)
      return { _tag: "Literal", value: node.value }
    }
    if (literal) return read.wrong(entry, of, key, "a string")
    const must = "a string, { file = PATH }, { env = NAME } or { command = [...] }"
    if (node._tag !== "Table") return read.wrong(entry, of, key, must)
    const inner = `${of}${key}: `
    const get = read.fields(node, inner, keys.reference)
    if (node.entries.size !== 1) return note(node.at, `${inner}it must have exactly one of file, env and command`)
    if (get("file") !== undefined) {
      const path = absolute(inner, get, "file")
      return path === undefined ? undefined : { _tag: "File", path }
    }
    if (get("env") !== undefined) {
      const name = plain(inner, get, "env")
      if (name === undefined) return undefined
      return variable.test(name)
        ? { _tag: "Variable", name }
        : note(node.at, `${inner}env must be the name of a variable; this is ${words.quote(name)}`)
    }
    const command = argv(inner, get, "command")
    return command === undefined ? undefined : { _tag: "Command", command }
  }

  const values = (
    of: string,
    get: Reader.Fields,
    key: string,
    check: (name: string, entry: Document.Entry) => string | undefined
  ): ReadonlyMap<string, Value> => {
    const all = new Map<string, Value>()
    for (const [name, entry] of read.table(of, get, key)?.entries ?? []) {
      const why = check(name, entry)
      const found = value(of, `${key}.${name}`, entry)
      if (why !== undefined) note(entry.key, `${of}${key}: ${why}`)
      else if (found !== undefined) all.set(name, found)
    }
    return all
  }

  const methods = (of: string, get: Reader.Fields): ReadonlyArray<string> | undefined => {
    const found = list(of, get, "methods")
    const at = get("methods")?.node.at
    if (found === undefined || at === undefined) return undefined
    if (found.length === 0) return note(at, `${of}methods is an empty list; leave it out to allow all methods`)
    for (const name of found) {
      if (Method.isKnown(name)) continue
      const near = words.nearest(name, Method.names)
      note(
        at,
        `${of}methods: no revision has a method ${words.quote(name)}` +
          (near === undefined ? "" : `; did you mean "${near}"?`)
      )
    }
    return found
  }

  const command = (of: string, get: Reader.Fields): Command => {
    const named = plain(of, get, "command")
    const at = get("command")?.node.at
    if (named !== undefined && at !== undefined) program(of, "command", at, named)
    const args = list(of, get, "args")
    const env = values(
      of,
      get,
      "env",
      (name) => variable.test(name) ? undefined : `${words.quote(name)} cannot be the name of a variable`
    )
    const cwd = absolute(of, get, "cwd")
    const runAs = plain(of, get, "run_as")
    if (runAs !== undefined && !/^[a-z_][a-z0-9_-]{0,31}$/.test(runAs)) {
      note(
        get("run_as")?.node.at ?? { line: 1, column: 1 },
        `${of}run_as must be the name of a user; this is ${words.quote(runAs)}`
      )
    }
    const launcher = argv(of, get, "launcher")
    const both = get("launcher")
    if (both !== undefined && get("run_as") !== undefined) {
      note(both.key, `${of}run_as and launcher exclude each other; let the launcher change the user`)
    }
    const sandbox = read.choice(of, get, "sandbox", ["none", "pid"])
    return {
      _tag: "Command",
      command: named ?? "",
      args: args ?? [],
      env,
      cwd,
      runAs,
      launcher,
      sandbox: sandbox ?? "none"
    }
  }

  const address = (of: string, get: Reader.Fields): Address => {
    const url = plain(of, get, "url")
    const why = url === undefined ? undefined : whyNoUrl(url)
    // The address itself is not repeated: it may have a password in it.
    if (why !== undefined) note(get("url")?.node.at ?? { line: 1, column: 1 }, `${of}the url cannot be used: ${why}`)
    const seen = new Set<string>()
    const headers = values(of, get, "headers", (name, { node }) => {
      const folded = name.toLowerCase()
      const twice = seen.has(folded)
      seen.add(folded)
      if (!header.test(name)) return `${words.quote(name)} cannot be the name of a header`
      if (twice) return `${words.quote(name)} is there twice, the case of its letters aside`
      if (taken.has(folded) || folded.startsWith("mcp-")) return `${words.quote(name)} is set by the protocol`
      if (node._tag !== "String") return undefined
      return credentials.has(folded) && !literal
        ? `${words.quote(name)} is a credential; say where it comes from, as in { file = "/run/secrets/name" }`
        : /[^\t\x20-\x7e]/.test(node.value)
        ? `the value of ${words.quote(name)} has characters that no header can have`
        : undefined
    })
    const privately = read.boolean(of, get, "private")
    return { _tag: "Address", url: url ?? "", headers, privately: privately ?? false }
  }

  const server = (name: string, entry: Document.Entry): Server | undefined => {
    if (!isServerName(name)) {
      note(
        entry.key,
        `${
          words.quote(name)
        } cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
      )
    }
    const of = `server ${words.quote(name)}: `
    if (entry.node._tag !== "Table") {
      return note(entry.key, `${of}it must be a table; this is ${Reader.said(entry.node)}`)
    }
    const at = entry.key
    const get = read.fields(entry.node, of, every)
    const url = get("url")
    if (url === undefined && get("command") === undefined) {
      note(at, `${of}command or url is missing; write what is started, or where it runs`)
    }
    const other = url === undefined ? keys.address : keys.command
    for (const key of other) {
      const found = get(key)
      if (found === undefined || key === "url") continue
      note(
        found.key,
        key === "command"
          ? `${of}command and url exclude each other`
          : `${of}${key} is for a server with ${url === undefined ? "a url" : "a command"}`
      )
    }
    const target = url === undefined ? command(of, get) : address(of, get)
    const firstSight = read.choice(of, get, "first_sight", ["hold", "trust"])
    const timeout = read.duration(of, get, "timeout", 1)
    const shared = read.boolean(of, get, "shared")
    return {
      name,
      called: name,
      target,
      firstSight: firstSight ?? "hold",
      methods: methods(of, get),
      timeout: timeout ?? Duration.seconds(30),
      shared: shared ?? false,
      at
    }
  }

  const whole = (root: Document.Table): Servers => {
    const get = read.fields(root, "", keys.file)
    const all = new Map<string, Server>()
    const table = read.table("", get, "servers")
    if (table !== undefined && table.entries.size > limits.servers) {
      note(table.at, `there are more than ${limits.servers} servers`)
      return all
    }
    for (const [name, entry] of table?.entries ?? []) {
      const found = server(name, entry)
      if (found !== undefined) all.set(name, found)
    }
    return all
  }

  const host = (called: string, entry: Document.Entry): Server | undefined => {
    const of = `server ${words.quote(called)}: `
    if (entry.node._tag !== "Table") {
      return note(entry.key, `${of}it must be a table; this is ${Reader.said(entry.node)}`)
    }
    const get = read.fields(entry.node, of, hostKeys)
    if (read.boolean(of, get, "disabled") === true) return undefined
    const url = get("url")
    if (url === undefined && get("command") === undefined) note(entry.key, `${of}command or url is missing`)
    if (url !== undefined && get("command") !== undefined) note(entry.key, `${of}command and url exclude each other`)
    read.choice(of, get, "type", url === undefined ? ["stdio"] : ["http", "streamable-http", "streamableHttp"])
    return {
      name: aliasOf(called),
      called,
      target: url === undefined ? command(of, get) : address(of, get),
      firstSight: "hold",
      methods: undefined,
      timeout: Duration.seconds(30),
      shared: false,
      at: entry.key
    }
  }

  const hosts = (root: Document.Node): Servers => {
    const all = new Map<string, Server>()
    // What else a host keeps in its file is the host's.
    const get = (key: string) => root._tag === "Table" ? root.entries.get(key) : undefined
    if (get("mcpServers") === undefined) note(root.at, "mcpServers is missing")
    for (const [called, entry] of read.table("", get, "mcpServers")?.entries ?? []) {
      const found = host(called, entry)
      if (found === undefined) continue
      const other = all.get(found.name)
      if (other === undefined) all.set(found.name, found)
      else note(entry.key, `${words.quote(called)} and ${words.quote(other.called)} would both be ${found.name}`)
    }
    if (all.size > limits.servers) note(root.at, `there are more than ${limits.servers} servers`)
    return all
  }

  return { errors: read.errors, whole, hosts }
}

/** What entries of hosts have; the last three say nothing of how a server is come by. */
const hostKeys = [
  "type",
  "command",
  "args",
  "env",
  "cwd",
  "url",
  "headers",
  "disabled",
  "description",
  "autoApprove",
  "alwaysAllow"
]

/**
 * The name of a server that an agent host calls so: the same, where that can be a name of ours; else what is left of it,
 * and 6 hexadecimal digits of its SHA-256.
 *
 * @category conversions
 * @since 0.1.0
 */
export const aliasOf = (called: string): string => {
  if (isServerName(called)) return called
  const left = called.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^[^a-z]+/, "").slice(0, 25).replace(/-+$/, "")
  return `${left === "" ? "server" : left}-${Digest.sha256(called).slice(0, 6)}`
}

/**
 * Reads the `mcpServers` of an agent host's file. The failure holds everything that is wrong with them, by line.
 *
 * **Details**
 *
 * A string is always a literal, whatever it looks like (security rule F11). Servers that are `disabled` are none. What a
 * host would approve by itself is nothing to us: what a server offers is held until a person has seen it.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parseHosts = (text: string, file: string): Result.Result<Servers, ReadonlyArray<Reader.Problem>> => {
  if (text.length > Reader.limits.text) {
    const message = `the file is bigger than ${Reader.limits.text} characters`
    return Result.fail([{ file, line: 1, column: 1, message }])
  }
  const root = Json.parse(text)
  if (Result.isFailure(root)) return Result.fail([{ file, ...root.failure }])
  const reading = reader(file, true)
  const servers = reading.hosts(root.success)
  const errors = reading.errors()
  return errors.length === 0 ? Result.succeed(servers) : Result.fail(errors)
}

/**
 * Reads a registry. The failure holds everything that is wrong with it, by line.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string, file: string): Result.Result<Servers, ReadonlyArray<Reader.Problem>> => {
  const root = Reader.document(text, file)
  if (Result.isFailure(root)) return Result.fail([root.failure])
  const reading = reader(file, false)
  const servers = reading.whole(root.success)
  const errors = reading.errors()
  return errors.length === 0 ? Result.succeed(servers) : Result.fail(errors)
}

/**
 * The registry cannot be read, may not be trusted, or has something wrong in it: then no server is reached. The message is
 * for the operator, and never for a client.
 *
 * @category errors
 * @since 0.1.0
 */
export class RegistryError
  extends Schema.TaggedError<RegistryError>("sallyport/broker/RegistryError")("RegistryError", {
    file: Schema.String,
    message: Schema.String
  })
{}

/**
 * The servers that can be reached.
 *
 * @category services
 * @since 0.1.0
 */
export class Registry extends Context.Service<Registry, {
  /** All of them, as they are now; none where there is no registry. */
  readonly servers: Effect.Effect<Servers, RegistryError>
}>()("@sallyport/broker/Registry") {}

/**
 * The registry of a file, `mcpServers` where its name ends with `.json`, which is read and checked each time: it must be a regular file and no link, and neither it nor
 * a folder above it may be another user's or writable by others.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (file: string): Layer.Layer<Registry, never, Files> =>
  Layer.effect(
    Registry,
    Effect.map(Files, (files) => ({
      servers: files.read(file).pipe(
        Effect.map((text) => file.endsWith(".json") ? parseHosts(text, file) : parse(text, file)),
        Effect.catchIf(
          (error) => error.kind === "missing",
          () => Effect.succeed(Result.succeed<Servers>(new Map()))
        ),
        Effect.mapError(({ message }) => new RegistryError({ file, message })),
        Effect.flatMap((parsed) =>
          Result.isSuccess(parsed)
            ? Effect.succeed(parsed.success)
            : Effect.fail(new RegistryError({ file, message: parsed.failure.map(Reader.format).join("\n") }))
        )
      )
    }))
  )

/**
 * A registry that does not change, for tests and for small embeddings.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerServers = (servers: Servers): Layer.Layer<Registry> =>
  Layer.succeed(Registry, { servers: Effect.succeed(servers) })
