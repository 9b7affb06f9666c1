/**
 * The tokens by which clients prove who they are, read strictly from `tokens.toml`, where only their digests are kept.
 *
 * **Details**
 *
 * A token is 256 random bits: nobody can guess one from its digest, so the digest needs no salt and no key. Who reads the
 * file cannot be a client; who can write it can.
 *
 * @since 0.1.0
 */
import * as Access from "@sallyport/core/http/Access"
import { Files } from "@sallyport/core/store/Files"
import type * as Document from "@sallyport/core/toml/Document"
import * as Reader from "@sallyport/core/toml/Reader"
import * as words from "@sallyport/core/toml/Words"
import * as Digest from "@sallyport/core/wire/Digest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isClientName } from "./Grants.ts"
import * as Store from "./internal/store.ts"
import { timeOf } from "./internal/time.ts"

/**
 * A token as it is kept. `id` is the first 12 digits of the digest. Times are in milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Token {
  readonly id: string
  readonly client: string
  /** The digest of the token, in hexadecimal. */
  readonly digest: string
  readonly created: number
  readonly revoked?: number | undefined
}

/**
 * The tokens as they stand in the file.
 *
 * @category models
 * @since 0.1.0
 */
export type All = ReadonlyArray<Token>

/**
 * How many tokens a file may hold.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { tokens: 10_000 }

const keys = ["client", "digest", "created", "revoked"]

/**
 * The token of these 32 random bytes. It begins so that a search for secrets finds it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromBytes = (bytes: Uint8Array): Redacted.Redacted<string> =>
  Redacted.make(`sallyport_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`)

/**
 * The digest under which a token is kept: SHA-256, of its purpose and the token.
 *
 * @category conversions
 * @since 0.1.0
 */
export const digestOf = (token: Redacted.Redacted<string>): string =>
  Digest.framed(["sallyport broker token", Redacted.value(token)])

/**
 * A token as it is kept.
 *
 * @category constructors
 * @since 0.1.0
 */
export const kept = (token: Redacted.Redacted<string>, client: string, created: number): Token => {
  const digest = digestOf(token)
  return { id: digest.slice(0, 12), client, digest, created }
}

interface Placed {
  readonly token: Token
  readonly line: number
}

const reader = (file: string) => {
  const read = Reader.make(file)
  const { note } = read

  const time = (of: string, get: Reader.Fields, key: string): number | undefined => {
    const text = read.string(of, get, key)
    const at = get(key)?.node.at
    if (text === undefined || at === undefined) return undefined
    return timeOf(text) ??
      note(at, `${of}${key} must be a time in UTC, as in "2026-03-01T12:00:00Z"; this is ${words.quote(text)}`)
  }

  const token = (id: string, entry: Document.Entry): Placed | undefined => {
    const of = `token ${words.quote(id)}: `
    if (entry.node._tag !== "Table") {
      return note(entry.node.at, `${of}it must be a table; this is ${Reader.said(entry.node)}`)
    }
    const get = read.fields(entry.node, of, keys)
    for (const key of ["client", "digest", "created"]) {
      if (get(key) === undefined) note(entry.key, `${of}${key} is missing`)
    }
    const client = read.string(of, get, "client")
    const clientAt = get("client")?.node.at
    if (client !== undefined && clientAt !== undefined && !isClientName(client)) {
      note(clientAt, `${of}${words.quote(client)} cannot be the name of a client`)
    }
    const digest = read.string(of, get, "digest")
    const digestAt = get("digest")?.node.at
    if (digest !== undefined && digestAt !== undefined) {
      // Neither is repeated: it may be a token that somebody put where its digest belongs.
      if (!/^[0-9a-f]{64}$/.test(digest)) note(digestAt, `${of}digest must be 64 hexadecimal digits`)
      else if (!digest.startsWith(id) || id.length !== 12) {
        note(entry.key, `${of}the name must be the first 12 digits of its digest`)
      }
    }
    const created = time(of, get, "created")
    const revoked = time(of, get, "revoked")
    return {
      token: { id, client: client ?? "", digest: digest ?? "", created: created ?? 0, revoked },
      line: entry.key.line
    }
  }

  const whole = (root: Document.Table): ReadonlyArray<Placed> => {
    const get = read.fields(root, "", ["tokens"])
    const found = [...read.table("", get, "tokens")?.entries ?? []].flatMap(([id, entry]) => {
      const placed = token(id, entry)
      return placed === undefined ? [] : [placed]
    })
    if (found.length > limits.tokens) note({ line: 1, column: 1 }, `there are more than ${limits.tokens} tokens`)
    return found
  }

  return { errors: read.errors, whole }
}

const readAll = (text: string, file: string): Result.Result<ReadonlyArray<Placed>, ReadonlyArray<Reader.Problem>> => {
  const root = Reader.document(text, file)
  if (Result.isFailure(root)) return Result.fail([root.failure])
  const reading = reader(file)
  const found = reading.whole(root.success)
  const errors = reading.errors()
  return errors.length === 0 ? Result.succeed(found) : Result.fail(errors)
}

/**
 * Reads the tokens. The failure holds everything that is wrong with them, by line.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string, file: string): Result.Result<All, ReadonlyArray<Reader.Problem>> =>
  Result.map(readAll(text, file), (found) => found.map(({ token }) => token))

const iso = (millis: number): string => DateTime.formatIso(DateTime.makeUnsafe(millis))

const keyOf = ({ client, created, digest, id, revoked }: Token): string =>
  [id, client, digest, created, revoked ?? ""].join(" ")

/** The changed text, where it says just what was meant; the file may be written in ways that cannot be changed by sections. */
const meant = (text: string, file: string, tokens: All): Result.Result<string, string> => {
  const found = parse(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  return found.success.map(keyOf).join("\n") === tokens.map(keyOf).join("\n")
    ? Result.succeed(text)
    : Result.fail(`${file} is not written as one section for each token; change it by hand`)
}

/**
 * The text with a token more, everything else as it was; the failure is a sentence.
 *
 * @category changing
 * @since 0.1.0
 */
export const add = (text: string, file: string, token: Token): Result.Result<string, string> => {
  const found = parse(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`
  const section = `[tokens.${token.id}]\nclient = "${token.client}"\ndigest = "${token.digest}"\n` +
    `created = "${iso(token.created)}"\n`
  return meant(`${before}${before === "" ? "" : "\n"}${section}`, file, [...found.success, token])
}

/**
 * The text with a token taken back at this time, everything else as it was; the failure is a sentence. It stays in the
 * file, so that it can be told what it was.
 *
 * @category changing
 * @since 0.1.0
 */
export const revoke = (text: string, file: string, id: string, at: number): Result.Result<string, string> => {
  const found = readAll(text, file)
  if (Result.isFailure(found)) return Result.fail(Store.problems(found.failure))
  const placed = found.success.find(({ token }) => token.id === id)
  if (placed === undefined) return Result.fail(`there is no token ${words.quote(id)}`)
  if (placed.token.revoked !== undefined) return Result.fail(`the token ${id} was taken back already`)
  const gone: Token = { ...placed.token, revoked: at }
  const lines = text.split("\n")
  lines.splice(placed.line, 0, `revoked = "${iso(at)}"`)
  return meant(
    lines.join("\n"),
    file,
    found.success.map(({ token }) => token === placed.token ? gone : token)
  )
}

/**
 * The token of the file that this is, unless it was taken back. It is compared with all of them, every time.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (tokens: All, token: Redacted.Redacted<string>): Token | undefined => {
  const digest = digestOf(token)
  let found: Token | undefined
  for (const each of tokens) if (Access.same(each.digest, digest)) found = each
  return found?.revoked === undefined ? found : undefined
}

/**
 * The tokens cannot be read, changed or trusted: then nobody is known. The message is for the operator, and never for a
 * client.
 *
 * @category errors
 * @since 0.1.0
 */
export class TokensError extends Schema.TaggedError<TokensError>("sallyport/broker/TokensError")("TokensError", {
  /** `refused`: the change was not possible, as `message` says; nothing was changed. */
  kind: Schema.Literals(["file", "wrong", "busy", "refused"]),
  file: Schema.String,
  message: Schema.String
}) {}

/**
 * The tokens that there are.
 *
 * @category services
 * @since 0.1.0
 */
export class Tokens extends Context.Service<Tokens, {
  /** All of them, as they are now; none where there is no file. */
  readonly all: Effect.Effect<All, TokensError>
  /** As that of the grants: the file is changed whole, while nobody else does, and after `before`. */
  readonly change: <E = never, R = never>(
    change: (text: string, file: string) => Result.Result<string, string>,
    before?: Effect.Effect<void, E, R>
  ) => Effect.Effect<All, TokensError | E, R>
}>()("@sallyport/broker/Tokens") {}

/**
 * The tokens of a file, which is read and checked each time, as the grants are.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (file: string): Layer.Layer<Tokens, never, Files> =>
  Layer.effect(
    Tokens,
    Effect.map(Files, (files) =>
      Store.make(files, file, parse, (kind, message) => new TokensError({ kind, file, message })))
  )
