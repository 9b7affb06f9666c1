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
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Revision from "./Revision.ts"

/**
 * A request that cannot be served, as the error to answer it with.
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

const levels: ReadonlyArray<string> = [
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
