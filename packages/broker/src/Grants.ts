/**
 * The grants: which client may reach which server, and how much of it, read strictly from `grants.toml`.
 *
 * **Details**
 *
 * What no grant names is denied. {@link parse} reports everything that is wrong at once; {@link add} and {@link remove}
 * change the text and leave everything else of it as it is; {@link Grants} reads and changes the file.
 *
 * @since 0.1.0
 */
import { isServerName } from "@sallyport/core/pin/Names"
import * as Glob from "@sallyport/core/policy/Glob"
import * as Method from "@sallyport/core/protocol/Method"
import { Files } from "@sallyport/core/store/Files"
import type * as Document from "@sallyport/core/toml/Document"
import * as Reader from "@sallyport/core/toml/Reader"
import * as words from "@sallyport/core/toml/Words"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Store from "./internal/store.ts"
import { timeOf } from "./internal/time.ts"

/**
 * What a client may do with a server. A member that is undefined narrows nothing.
 *
 * **Details**
 *
 * - `methods`: all that it may ask.
 * - `tools`: patterns of the tools that it may call. Where it is there without `methods`, it may only list tools and call
 *   these.
 * - `policy`: the path of a policy that holds besides.
 * - `expires`: until when, in milliseconds since 1970.
 * - `budget`: how many calls in all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Grant {
  readonly client: string
  readonly server: string
  readonly methods?: ReadonlyArray<string> | undefined
  readonly tools?: ReadonlyArray<string> | undefined
  readonly policy?: string | undefined
  readonly expires?: number | undefined
  readonly budget?: number | undefined
}

/**
 * The grants as they stand in the file, at most one for each client and server.
 *
 * @category models
 * @since 0.1.0
 */
export type All = ReadonlyArray<Grant>

/**
 * How many grants a file may hold.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { grants: 10_000 }

const keys = ["methods", "tools", "policy", "expires", "budget"]

/**
 * Whether a client can have this name: a small letter, then at most 31 small letters, digits and hyphens.
 *
 * @category guards
 * @since 0.1.0
 */
export const isClientName: (name: string) => boolean = isServerName

const grammar = "use a small letter, then at most 31 small letters, digits and hyphens"

interface Placed {
  readonly grant: Grant
  readonly line: number
}

const reader = (file: string) => {
  const read = Reader.make(file)
  const { note } = read

  const patterns = (of: string, get: Reader.Fields, key: string): ReadonlyArray<Reader.Placed> | undefined =>
    read.patterns(of, get, key, Glob.compile)

  const grant = (client: string, server: string, entry: Document.Entry): Placed | undefined => {
    const of = `the grant of ${words.quote(server)} to ${words.quote(client)}: `
    if (entry.node._tag !== "Table") {
      return note(entry.node.at, `${of}it must be a table; this is ${Reader.said(entry.node)}`)
    }
    const get = read.fields(entry.node, of, keys)
    const methods = patterns(of, get, "methods")
    for (const { at, value } of methods ?? []) {
      if (Method.isKnown(value)) continue
      const near = words.nearest(value, Method.names)
      note(
        at,
        `${of}methods: no revision has a method ${words.quote(value)}` +
          (near === undefined ? "" : `; did you mean "${near}"?`)
      )
    }
    const tools = patterns(of, get, "tools")
    const policy = read.string(of, get, "policy")
    const policyAt = get("policy")?.node.at
    if (policy !== undefined && policyAt !== undefined && (!policy.startsWith("/") || policy.includes("\0"))) {
      note(policyAt, `${of}policy must be an absolute path; this is ${words.quote(policy)}`)
    }
    const expires = read.string(of, get, "expires")
    const expiresAt = get("expires")?.node.at
    const time = expires === undefined ? undefined : timeOf(expires)
    if (expires !== undefined && time === undefined && expiresAt !== undefined) {
      note(
        expiresAt,
        `${of}expires must be a time in UTC, as in "2026-03-01T12:00:00Z"; this is ${words.quote(expires)}`
      )
    }
    const found: Grant = {
      client,
      server,
      methods: methods?.map(({ value }) => value),
      tools: tools?.map(({ value }) => value),
      policy,
      expires: time,
      budget: read.count(of, get, "budget")
    }
    return { grant: found, line: entry.key.line }
  }

  const whole = (root: Document.Table): { readonly grants: ReadonlyArray<Placed>; readonly starts: Array<number> } => {
    const get = read.fields(root, "", ["grants"])
    const found: Array<Placed> = []
    const starts: Array<number> = []
    for (const [client, entry] of read.table("", get, "grants")?.entries ?? []) {
      starts.push(entry.key.line)
      if (!isClientName(client)) note(entry.key, `${words.quote(client)} cannot be the name of a client; ${grammar}`)
      if (entry.node._tag !== "Table") {
        note(entry.node.at, `grants.${words.quote(client)} must be a table; this is ${Reader.said(entry.node)}`)
        continue
      }
      for (const [server, inner] of entry.node.entries) {
        starts.push(inner.key.line)
        if (!isServerName(server)) note(inner.key, `${words.quote(server)} cannot be the name of a server; ${grammar}`)
        const placed = grant(client, server, inner)
        if (placed !== undefined) found.push(placed)
      }
    }
    if (found.length > limits.grants) note({ line: 1, column: 1 }, `there are more than ${limits.grants} grants`)
    return { grants: found, starts }
  }

  return { errors: read.errors, whole }
}

const readAll = (text: string, file: string) => {
  const root = Reader.document(text, file)
  if (Result.isFailure(root)) return Result.fail<ReadonlyArray<Reader.Problem>>([root.failure])
  const reading = reader(file)
  const found = reading.whole(root.success)
  const errors = reading.errors()
  return errors.length === 0 ? Result.succeed(found) : Result.fail(errors)
}

/**
 * Reads the grants. The failure holds everything that is wrong with them, by line.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string, file: string): Result.Result<All, ReadonlyArray<Reader.Problem>> =>
  Result.map(readAll(text, file), ({ grants }) => grants.map(({ grant }) => grant))

/**
 * The grant of a server to a client.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (grants: All, client: string, server: string): Grant | undefined =>
  grants.find((grant) => grant.client === client && grant.server === server)

/**
 * What a client asks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly method: string
  readonly name: string | undefined
}

const ofTools = ["tools/list", "tools/call"]

/**
 * Whether a grant covers what a client asks. `now` is the later of the clock's time and the newest of the ledger, in
 * milliseconds, so that a clock that is set back revives no grant (security rule F30). Its policy and its budget are not
 * looked at here.
 *
 * @category guards
 * @since 0.1.0
 */
export const allows = (grant: Grant | undefined, { method, name }: Asked, now: number): boolean => {
  if (grant === undefined) return false
  // Not `now >= expires`: a time that is no number must not be before everything.
  if (grant.expires !== undefined && !(now < grant.expires)) return false
  const methods = grant.methods ?? (grant.tools === undefined ? undefined : ofTools)
  if (methods !== undefined && !methods.includes(method)) return false
  if (grant.tools === undefined || method !== "tools/call") return true
  return name !== undefined && grant.tools.some((pattern) => {
    const glob = Result.getOrUndefined(Glob.compile(pattern))
    return glob !== undefined && glob.matches(name)
  })
}

/** A string as TOML. JSON's escapes are TOML's; DEL may not stand as it is. */
const quote = (text: string): string => JSON.stringify(text).replaceAll("\u007f", "\\u007f")

const list = (items: ReadonlyArray<string>): string => `[${items.map(quote).join(", ")}]`

/**
 * A grant as the section of the file that says it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const print = (grant: Grant): string => {
  const lines = [
    `[grants.${grant.client}.${grant.server}]`,
    ...(grant.methods === undefined ? [] : [`methods = ${list(grant.methods)}`]),
    ...(grant.tools === undefined ? [] : [`tools = ${list(grant.tools)}`]),
    ...(grant.policy === undefined ? [] : [`policy = ${quote(grant.policy)}`]),
    ...(grant.expires === undefined
      ? []
      : [`expires = ${quote(DateTime.formatIso(DateTime.makeUnsafe(grant.expires)))}`]),
    ...(grant.budget === undefined ? [] : [`budget = ${grant.budget}`])
  ]
  return `${lines.join("\n")}\n`
}

const keyOf = (grant: Grant): string =>
  JSON.stringify([
    grant.client,
    grant.server,
    grant.methods ?? null,
    grant.tools ?? null,
    grant.policy ?? null,
    grant.expires ?? null,
    grant.budget ?? null
  ])

/** The changed text, where it says just what was meant; the file may be written in ways that cannot be changed by sections. */
const meant = (text: string, file: string, grants: All): Result.Result<string, string> => {
  const found = parse(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  const same = (all: All): string => all.map(keyOf).toSorted().join("\n")
  return same(found.success) === same(grants)
    ? Result.succeed(text)
    : Result.fail(`${file} is not written as one section for each grant; change it by hand`)
}

/**
 * The text with a grant more, everything else as it was; the failure is a sentence. A client has one grant of a server:
 * another one is not put beside it.
 *
 * @category changing
 * @since 0.1.0
 */
export const add = (text: string, file: string, grant: Grant): Result.Result<string, string> => {
  const found = parse(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  if (find(found.success, grant.client, grant.server) !== undefined) {
    return Result.fail(`${grant.client} has a grant of ${grant.server} already; take it back first to give another one`)
  }
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`
  const after = `${before}${before === "" ? "" : "\n"}${print(grant)}`
  return meant(after, file, [...found.success, grant])
}

/**
 * The text without the grant of a server to a client, everything else as it was; the failure is a sentence.
 *
 * @category changing
 * @since 0.1.0
 */
export const remove = (text: string, file: string, client: string, server: string): Result.Result<string, string> => {
  const found = readAll(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  const { grants, starts } = found.success
  const gone = grants.find(({ grant }) => grant.client === client && grant.server === server)
  if (gone === undefined) return Result.fail(`${client} has no grant of ${server}`)
  const lines = text.split("\n")
  const first = gone.line - 1
  let end = Math.min(...starts.filter((line) => line > gone.line).map((line) => line - 1), lines.length)
  // Comments and blank lines before the next section are that one's.
  while (end > first + 1 && /^\s*(?:#.*)?$/.test(lines[end - 1] ?? "")) end--
  const rest = [...lines.slice(0, first), ...lines.slice(end)]
  // The blank line that stood before the section goes with it.
  if (rest[first - 1] === "" && (rest[first] === "" || rest[first] === undefined)) rest.splice(first - 1, 1)
  return meant(
    rest.join("\n"),
    file,
    grants.flatMap((placed) => placed === gone ? [] : [placed.grant])
  )
}

/**
 * The grants cannot be read, changed or trusted: then nothing is granted. The message is for the operator, and never for a
 * client.
 *
 * @category errors
 * @since 0.1.0
 */
export class GrantsError extends Schema.TaggedError<GrantsError>("sallyport/broker/GrantsError")("GrantsError", {
  /** `refused`: the change was not possible, as `message` says; nothing was changed. */
  kind: Schema.Literals(["file", "wrong", "busy", "refused"]),
  file: Schema.String,
  message: Schema.String
}) {}

/**
 * What is granted.
 *
 * @category services
 * @since 0.1.0
 */
export class Grants extends Context.Service<Grants, {
  /** All of them, as they are now; none where there is no file. */
  readonly all: Effect.Effect<All, GrantsError>
  /**
   * Changes the text of the file, all at once and while nobody else does; gives the grants as they are then. `change` is
   * given the text and the name of the file (see {@link add} and {@link remove}); `before` runs when the change is
   * certain to be possible and before it is done, and where it fails nothing is changed.
   */
  readonly change: <E = never, R = never>(
    change: (text: string, file: string) => Result.Result<string, string>,
    before?: Effect.Effect<void, E, R>
  ) => Effect.Effect<All, GrantsError | E, R>
}>()("@sallyport/broker/Grants") {}

/**
 * The grants of a file, which is read and checked each time: it must be a regular file and no link, and neither it nor a
 * folder above it may be another user's or writable by others.
 *
 * **Details**
 *
 * Who changes it holds `FILE.lock` meanwhile. The file is put in place whole, so that who reads sees all of a change or
 * nothing of it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (file: string): Layer.Layer<Grants, never, Files> =>
  Layer.effect(
    Grants,
    Effect.map(Files, (files) =>
      Store.make(files, file, parse, (kind, message) => new GrantsError({ kind, file, message })))
  )
