/**
 * Which revision is spoken: how a server answers an offer, how a client takes the answer, which era a server is of, and
 * whether a modern request carries what it must.
 *
 * **Details**
 *
 * Pure functions from what was said to what follows from it. Nothing here sends or refuses: an outcome is a value with a
 * `_tag`, and a refusal has the code, message and data to answer with.
 *
 * @since 0.1.0
 */
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Capability from "./Capability.ts"
import type * as Method from "./Method.ts"
import * as Revision from "./Revision.ts"

/**
 * A request that cannot be served, as the error to answer it with. Over HTTP each of them goes with status 400.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly code: -32602 | -32021 | -32022
  readonly message: string
  readonly data?: Text
}

// ---- the handshake

/**
 * The answer to an offer: the offered revision itself, or the newest one that there is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly _tag: "Echo" | "Counter"
  readonly revision: Revision.Legacy
}

/**
 * How a server answers the `protocolVersion` of an initialize (2025-11-25 basic/lifecycle, Version Negotiation).
 *
 * **Details**
 *
 * An offer that is supported is answered with itself. Any other offer (an unknown or future date, no date at all,
 * none, or a modern revision, which has no handshake) is countered with the newest supported one: it is no error.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const server = (
  offered: string | undefined,
  supported: readonly [Revision.Legacy, ...ReadonlyArray<Revision.Legacy>] = Revision.legacy
): Answer => {
  const echo = supported.find((revision) => revision === offered)
  if (echo !== undefined) return { _tag: "Echo", revision: echo }
  return { _tag: "Counter", revision: supported.reduce((newest, revision) => revision > newest ? revision : newest) }
}

/**
 * Those of some revisions that have a handshake, newest first; `undefined` where none has. This is the way from what is
 * supported at all to what {@link server} may answer: from a modern revision it walks back to the newest legacy one.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const handshakes = (
  supported: ReadonlyArray<Revision.Revision>
): readonly [Revision.Legacy, ...ReadonlyArray<Revision.Legacy>] | undefined => {
  const [newest, ...others] = Revision.legacy.filter((revision) => supported.includes(revision))
  return newest === undefined ? undefined : [newest, ...others]
}

/**
 * How a client takes the version that initialize was answered with: it goes on, or it ends the connection
 * (2025-11-25 basic/lifecycle, Version Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type Taken =
  | { readonly _tag: "Accept"; readonly revision: Revision.Legacy }
  | { readonly _tag: "Refuse"; readonly answered: string | undefined; readonly modern: boolean }

/**
 * Takes the answer to an initialize.
 *
 * **Details**
 *
 * Accepted is a legacy revision that the client supports, whichever it had offered. Anything else is refused: a modern
 * revision too, for it cannot be agreed on by a handshake.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const client = (
  answered: string | undefined,
  supported: ReadonlyArray<Revision.Revision> = Revision.legacy
): Taken => {
  const revision = Revision.legacy.find((candidate) => candidate === answered && supported.includes(candidate))
  return revision === undefined
    ? { _tag: "Refuse", answered, modern: Revision.isRevision(answered) && Revision.isModern(answered) }
    : { _tag: "Accept", revision }
}

// ---- the era of a server

/**
 * What the answer to server/discover says about a server.
 *
 * - `Modern`: it speaks this revision.
 * - `Other`: it is modern, but speaks no modern revision that the client does. Where one of its versions is a legacy
 *   revision of the client's, `handshake` is it.
 * - `Legacy`: it is to be opened with initialize.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict =
  | { readonly _tag: "Modern"; readonly revision: Revision.Modern }
  | {
    readonly _tag: "Other"
    readonly versions: ReadonlyArray<string>
    readonly handshake: Revision.Legacy | undefined
  }
  | { readonly _tag: "Legacy" }

const strings = (text: Text | undefined): ReadonlyArray<string> | undefined => {
  if (text === undefined || !T.isArray(text)) return undefined
  const all = T.elements(text).map(T.string)
  return all.every((item) => item !== undefined) ? all : undefined
}

const choose = (
  versions: ReadonlyArray<string> | undefined,
  supported: ReadonlyArray<Revision.Revision>
): Verdict => {
  if (versions === undefined) return { _tag: "Legacy" }
  const common = Revision.modern.find((revision) => supported.includes(revision) && versions.includes(revision))
  if (common !== undefined) return { _tag: "Modern", revision: common }
  // Only revisions that open with initialize are left: that is what is to be done, too.
  if (versions.every((version) => Revision.isRevision(version) && Revision.isLegacy(version))) return { _tag: "Legacy" }
  return {
    _tag: "Other",
    versions,
    handshake: Revision.legacy.find((revision) => supported.includes(revision) && versions.includes(revision))
  }
}

/**
 * Classifies a server by the result of server/discover: by its `supportedVersions`, and as legacy without them.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const discovered = (
  result: Text,
  supported: ReadonlyArray<Revision.Revision> = Revision.all
): Verdict => choose(strings(T.member(result, "supportedVersions")), supported)

/**
 * Classifies a server by its answer to server/discover; no answer in reasonable time is `undefined` (2026-07-28
 * basic/versioning, basic/transports/stdio).
 *
 * **Details**
 *
 * A result with `supportedVersions` (see {@link discovered}), or `-32022` with `data.supported`, names what to choose from. `-32021` with
 * `data.requiredCapabilities`, and over HTTP `-32020`, is what only a modern server says, and it did not mind the
 * version, so `asked` is spoken. Any other error and any other result is legacy: no single code means it.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const probe = (
  reply: Reply | undefined,
  options: {
    readonly asked: Revision.Modern
    readonly supported?: ReadonlyArray<Revision.Revision>
    readonly transport?: "stdio" | "http"
  }
): Verdict => {
  const supported = options.supported ?? Revision.all
  if (reply === undefined) return { _tag: "Legacy" }
  if (reply._tag === "Result") return discovered(reply.result, supported)
  const data = T.member(reply.error, "data")
  switch (T.member(reply.error, "code")) {
    case "-32022":
      return choose(data === undefined ? undefined : strings(T.member(data, "supported")), supported)
    case "-32021": {
      const required = data === undefined ? undefined : T.member(data, "requiredCapabilities")
      return required !== undefined && T.isObject(required)
        ? { _tag: "Modern", revision: options.asked }
        : { _tag: "Legacy" }
    }
    case "-32020":
      return options.transport === "http" ? { _tag: "Modern", revision: options.asked } : { _tag: "Legacy" }
    default:
      return { _tag: "Legacy" }
  }
}

// ---- the envelope of a modern request

/**
 * What a modern request says about itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Envelope {
  readonly _tag: "Ok"
  readonly revision: Revision.Modern
  readonly clientCapabilities: Text
  readonly clientInfo: Text | undefined
  readonly logLevel: string | undefined
}

const invalid = (message: string): Refused => ({ _tag: "Refused", code: -32602, message })

/**
 * The refusal of a version that is not supported: `-32022`, with what is (2026-07-28 basic/versioning).
 *
 * @category constructors
 * @since 0.1.0
 */
export const unsupported = (
  requested: string,
  supported: ReadonlyArray<Revision.Revision> = Revision.modern
): Refused => ({
  _tag: "Refused",
  code: -32022,
  message: "Unsupported protocol version",
  data: T.object([["supported", T.array(supported.map(T.quote))], ["requested", T.quote(requested)]])
})

/**
 * The levels of log messages, the least grave first (server/utilities/logging).
 *
 * @category tables
 * @since 0.1.0
 */
export const levels: ReadonlyArray<string> = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
]

/**
 * Reads the `_meta` of a modern request's params (2026-07-28 basic/index, _meta).
 *
 * **Details**
 *
 * `-32602` where `_meta`, the version or the client's capabilities are missing or of another type; `-32022` where the
 * version is not one of `supported`, whatever else is missing. `clientInfo` and the log level are optional, but where
 * they are there they must be an object and a level.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const envelope = (
  params: Text | undefined,
  supported: ReadonlyArray<Revision.Modern> = Revision.modern
): Envelope | Refused => {
  const meta = params === undefined ? undefined : T.member(params, "_meta")
  if (meta === undefined || !T.isObject(meta)) return invalid("params._meta must be an object")
  const version = T.member(meta, Revision.meta.protocolVersion)
  const requested = version === undefined ? undefined : T.string(version)
  if (requested === undefined) return invalid(`params._meta["${Revision.meta.protocolVersion}"] must be a string`)
  const revision = supported.find((candidate) => candidate === requested)
  if (revision === undefined) return unsupported(requested, supported)
  const clientCapabilities = T.member(meta, Revision.meta.clientCapabilities)
  if (clientCapabilities === undefined || !T.isObject(clientCapabilities)) {
    return invalid(`params._meta["${Revision.meta.clientCapabilities}"] must be an object`)
  }
  const clientInfo = T.member(meta, Revision.meta.clientInfo)
  if (clientInfo !== undefined && !T.isObject(clientInfo)) {
    return invalid(`params._meta["${Revision.meta.clientInfo}"] must be an object`)
  }
  const level = T.member(meta, Revision.meta.logLevel)
  const logLevel = level === undefined ? undefined : T.string(level)
  if (level !== undefined && (logLevel === undefined || !levels.includes(logLevel))) {
    return invalid(`params._meta["${Revision.meta.logLevel}"] must be one of ${levels.join(", ")}`)
  }
  return { _tag: "Ok", revision, clientCapabilities, clientInfo, logLevel }
}

/**
 * The refusal of a request that declares less than it needs: `-32021`, with all that it needs (2026-07-28 basic/index,
 * Error Codes); `undefined` where nothing is missing.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const lacking = (
  declared: ReadonlySet<Capability.Path>,
  needed: ReadonlyArray<Capability.Path>,
  revision: Revision.Modern
): Refused | undefined => {
  const missing = needed.filter((path) => !declared.has(path))
  if (missing.length === 0) return undefined
  const names = missing.map((path) => path.slice(path.indexOf(".") + 1))
  return {
    _tag: "Refused",
    code: -32021,
    message: `The request must declare the client capability ${names.join(", ")}`,
    data: T.object([["requiredCapabilities", Capability.write("client", revision, { paths: needed })]])
  }
}

/**
 * The refusal of a request whose method wants its sender to have declared something: see `declares` of {@link Method}.
 *
 * @category negotiation
 * @since 0.1.0
 */
export const undeclared = (
  method: Method.Method,
  declared: ReadonlySet<Capability.Path>,
  revision: Revision.Modern
): Refused | undefined =>
  method.kind === "notification" || method.declares === undefined
    ? undefined
    : lacking(declared, [method.declares], revision)
