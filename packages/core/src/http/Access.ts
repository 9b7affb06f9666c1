/**
 * Who may speak to an HTTP server: the names that it answers to, the pages that may use it, and the bearer of a token.
 *
 * **Details**
 *
 * A page that a person visits can send requests to programs on their machine, under a name that its own DNS server
 * chooses. So the name in `Host` and the page in `Origin` are checked before anything else is looked at (basic/transports,
 * Security Warning).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Who } from "../stage/Transport.ts"
import * as Digest from "../wire/Digest.ts"

// ---- names

interface Authority {
  /** In lower case. */
  readonly name: string
  readonly port: string | undefined
}

const authorityOf = (text: string): Authority | undefined => {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/.exec(text.toLowerCase())
  return match === null || match[1] === undefined ? undefined : { name: match[1], port: match[2] }
}

/**
 * Whether a name or address means this machine itself: `localhost`, `127.0.0.0/8` or `::1`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLoopback = (name: string): boolean =>
  name === "localhost" || name === "[::1]" || name === "::1" ||
  /^127(?:\.(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}$/.test(name)

/**
 * Whether `Host` names this server: a loopback name or address with the port that it listens on, or one of `hosts`, each
 * a name with or without a port.
 *
 * @category guards
 * @since 0.1.0
 */
export const hostAllowed = (
  host: string | undefined,
  port: number,
  hosts: ReadonlyArray<string>
): boolean => {
  const authority = host === undefined ? undefined : authorityOf(host)
  if (authority === undefined) return false
  if (isLoopback(authority.name) && Number(authority.port ?? "80") === port) return true
  return hosts.some((entry) => {
    const allowed = authorityOf(entry)
    return allowed !== undefined && allowed.name === authority.name &&
      (allowed.port === undefined || allowed.port === authority.port)
  })
}

/**
 * Whether a request with this `Origin` may pass: one without, one from a loopback origin, or one from `origins`, which are
 * compared as they are written (2025-11-25 basic/transports, Security Warning).
 *
 * @category guards
 * @since 0.1.0
 */
export const originAllowed = (origin: string | undefined, origins: ReadonlyArray<string>): boolean => {
  if (origin === undefined || origins.includes(origin)) return true
  const match = /^https?:\/\/(.+)$/.exec(origin)
  const authority = match?.[1] === undefined ? undefined : authorityOf(match[1])
  return authority !== undefined && isLoopback(authority.name)
}

// ---- tokens

/**
 * Says who has this bearer token (`undefined`: the request has none), or that nobody does.
 *
 * @category models
 * @since 0.1.0
 */
export type Authenticate = (bearer: Redacted.Redacted<string> | undefined) => Effect.Effect<Who | undefined>

/**
 * Takes every request for the same client's.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (who: Who): Authenticate => () => Effect.succeed(who)

/**
 * Whether two digests are the same; takes as long whatever they are.
 *
 * @category guards
 * @since 0.1.0
 */
export const same = (a: string, b: string): boolean => {
  let differs = a.length ^ b.length
  for (let k = 0; k < a.length; k++) differs |= a.charCodeAt(k) ^ b.charCodeAt(k)
  return differs === 0
}

/**
 * Knows each client by a token of its own. Tokens are compared by their digests, all of them every time.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tokens = (
  clients: ReadonlyArray<{ readonly token: Redacted.Redacted<string>; readonly who: Who }>
): Authenticate => {
  const known = clients.map(({ token, who }) => ({ digest: Digest.sha256(Redacted.value(token)), who }))
  return (bearer) =>
    Effect.sync(() => {
      if (bearer === undefined) return undefined
      const digest = Digest.sha256(Redacted.value(bearer))
      let found: Who | undefined
      for (const entry of known) if (same(entry.digest, digest)) found = entry.who
      return found
    })
}

/**
 * The token of an `Authorization` header (RFC 6750 section 2.1).
 *
 * @category getters
 * @since 0.1.0
 */
export const bearerOf = (authorization: string | undefined): Redacted.Redacted<string> | undefined => {
  const match = authorization === undefined ? null : /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)
  return match?.[1] === undefined ? undefined : Redacted.make(match[1])
}
