/**
 * What the two ends of a line have agreed on: the era, the revision, and what each side declared.
 *
 * **Details**
 *
 * A pure state machine, fed with the messages that open a session. It refuses nothing itself: {@link judgeRequest} and
 * {@link judgeNotification} answer from the tables, and the parts of the line act on the answer.
 *
 * @since 0.1.0
 */
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import * as Capability from "./Capability.ts"
import * as Method from "./Method.ts"
import * as Negotiation from "./Negotiation.ts"
import * as Revision from "./Revision.ts"

/**
 * The state of an agreement.
 *
 * - `opening`: nothing was agreed; `initializing`: an initialize is unanswered; `agreed`: revision and capabilities are
 *   known; `open`: the session is in use (`notifications/initialized` passed, or the era is modern).
 *
 * @category models
 * @since 0.1.0
 */
export interface Agreement {
  phase: "opening" | "initializing" | "agreed" | "open"
  era: Revision.Era | undefined
  revision: Revision.Revision | undefined
  client: ReadonlySet<Capability.Path>
  server: ReadonlySet<Capability.Path>
}

/**
 * Nothing agreed yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Agreement => ({
  phase: "opening",
  era: undefined,
  revision: undefined,
  client: new Set(),
  server: new Set()
})

/**
 * The params' `_meta` object, where there is one.
 *
 * @category getters
 * @since 0.1.0
 */
export const metaOf = (params: Text | undefined): Text | undefined => {
  // Looked for as text first, since most params have none: a search for what begins with a rare character costs nothing.
  const meta = params === undefined || !params.includes("_meta\"") ? undefined : T.member(params, "_meta")
  return meta !== undefined && T.isObject(meta) ? meta : undefined
}

/**
 * The protocol version that a request's `_meta` names, by which it claims the modern era; `undefined` where it names none.
 *
 * @category getters
 * @since 0.1.0
 */
export const claimOf = (params: Text | undefined): string | undefined => {
  const meta = metaOf(params)
  const version = meta === undefined ? undefined : T.member(meta, Revision.meta.protocolVersion)
  return version === undefined ? undefined : T.string(version)
}

/**
 * An initialize request goes on: what the client declares is known from here.
 *
 * @category combinators
 * @since 0.1.0
 */
export const initializeSent = (self: Agreement, params: Text | undefined): void => {
  self.phase = "initializing"
  self.client = Capability.read("client", params === undefined ? undefined : T.member(params, "capabilities"))
}

/**
 * Initialize was answered. Gives the reason where the answer names a revision that Sallyport does not implement, or no
 * legacy one (lifecycle, Version Negotiation); an error answer leaves the session as it was before.
 *
 * @category combinators
 * @since 0.1.0
 */
export const initializeAnswered = (self: Agreement, reply: Reply): Reason.Reason | undefined => {
  if (reply._tag === "Failure") {
    self.phase = "opening"
    return undefined
  }
  const version = T.member(reply.result, "protocolVersion")
  const revision = version === undefined ? undefined : T.string(version)
  if (!Revision.isRevision(revision) || !Revision.isLegacy(revision)) {
    self.phase = "opening"
    return "unsupported-revision"
  }
  self.phase = "agreed"
  self.era = "legacy"
  self.revision = revision
  self.client = Capability.within(self.client, revision)
  const declared = Capability.read("server", T.member(reply.result, "capabilities"))
  self.server = Capability.within(declared, revision)
  // A legacy server may have extensions under a name that its revision does not know: judgeRequest lets them pass.
  if (declared.has("server.extensions")) self.server = new Set([...self.server, "server.extensions"])
  return undefined
}

/**
 * The host said that it is ready (`notifications/initialized`).
 *
 * @category combinators
 * @since 0.1.0
 */
export const initialized = (self: Agreement): void => {
  if (self.phase === "agreed") self.phase = "open"
}

/**
 * server/discover was answered. A result settles the era to modern; an error settles nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const discoverAnswered = (self: Agreement, reply: Reply): void => {
  if (reply._tag === "Failure" || self.era === "legacy") return
  const verdict = Negotiation.discovered(reply.result)
  if (verdict._tag !== "Modern") return
  self.phase = "open"
  self.era = "modern"
  self.revision = verdict.revision
  self.server = Capability.read("server", T.member(reply.result, "capabilities"), verdict.revision)
}

/**
 * A modern request was seen: its declared capabilities are the ones that count until the next one.
 *
 * @category combinators
 * @since 0.1.0
 */
export const modernRequest = (self: Agreement, params: Text | undefined): void => {
  const meta = metaOf(params)
  if (meta !== undefined) {
    self.client = Capability.read("client", T.member(meta, Revision.meta.clientCapabilities), self.revision)
  }
}

/**
 * Whether the framing of the revision in use has this; while none is agreed on, it does not.
 *
 * @category guards
 * @since 0.1.0
 */
export const allows = (self: Agreement, rule: "batch" | "idlessError"): boolean =>
  self.revision !== undefined && Revision.table[self.revision][rule]

/**
 * Whether a request may go on under what was agreed: its reason to be refused, or `undefined`.
 *
 * **Details**
 *
 * A method outside the tables passes, as far as this table goes, to a server that declared `extensions` or
 * `experimental`: the gate decides.
 *
 * @category getters
 * @since 0.1.0
 */
export const judgeRequest = (self: Agreement, from: "host" | "server", name: string): Reason.Reason | undefined => {
  if (self.revision === undefined) return name === "ping" ? undefined : "not-initialized"
  const method = Method.find(name, "request", from, self.revision)
  const declared = from === "host" ? self.server : self.client
  if (method === undefined) {
    return from === "host" && !Method.isKnown(name) &&
        (declared.has("server.extensions") || declared.has("server.experimental"))
      ? undefined
      : "unknown-method"
  }
  return method.needs === undefined || declared.has(method.needs) ? undefined : "not-offered"
}

/**
 * Whether a notification may go on: its reason to be dropped, or `undefined`.
 *
 * @category getters
 * @since 0.1.0
 */
export const judgeNotification = (
  self: Agreement,
  from: "host" | "server",
  name: string
): Reason.Reason | undefined => {
  if (self.revision === undefined) return "not-initialized"
  const method = Method.find(name, "notification", from, self.revision)
  if (method === undefined) return "unknown-notification"
  const declared = method.needs === undefined ||
    (method.needs.startsWith("client.") ? self.client : self.server).has(method.needs)
  return declared ? undefined : "not-offered"
}
