/**
 * The protocol's revisions: their eras, what the framing of each allows, and how version strings are read.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * `legacy`: an initialize handshake opens a session. `modern`: every request carries its own metadata
 * (basic/versioning, Terminology).
 *
 * @category models
 * @since 0.1.0
 */
export type Era = "legacy" | "modern"

/**
 * What a revision says about HTTP (basic/transports).
 *
 * - `transport`: `sse` is the pair of endpoints of 2024-11-05, `streamable` the one endpoint of all later ones.
 * - `session`: `Mcp-Session-Id` is minted with the result of initialize and sent with everything after it.
 * - `version`: when `MCP-Protocol-Version` is due: never, on every request `after-initialize` (one without it is then
 *   taken as 2025-03-26), or on `every-post`, where it must equal what `_meta` says.
 * - `routing`: `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*` mirror the body and must agree with it.
 * - `resume`: a stream may be resumed by GET with `Last-Event-ID`.
 * - `getStream`: GET opens a stream of what the server has to say by itself.
 * - `responses`: a client answers the server's own requests with a POST.
 * - `closeCancels`: closing the stream of a request cancels it; where not, only a notification does.
 * - `originStatus`: the status that a wrong `Origin` is answered with where the revision names one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Http {
  readonly transport: "sse" | "streamable"
  readonly session: boolean
  readonly version: "never" | "after-initialize" | "every-post"
  readonly routing: boolean
  readonly resume: boolean
  readonly getStream: boolean
  readonly responses: boolean
  readonly closeCancels: boolean
  readonly originStatus: 403 | undefined
}

/**
 * A row of the table.
 *
 * - `batch`: arrays of messages, on a line of stdio and in a body of HTTP alike.
 * - `idlessError`: an error answer may leave out the id where none could be read; where not, it has `null`.
 * - `utf8`: the revision says that messages are UTF-8 (Sallyport demands it in all).
 * - `serverAsks`: the server sends requests of its own; where not, it asks inside results.
 * - `idReuse`: when a requestor may use an id again.
 * - `resultType`: every result says its `resultType`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly era: Era
  readonly batch: boolean
  readonly idlessError: boolean
  readonly utf8: boolean
  readonly serverAsks: boolean
  readonly idReuse: "never" | "answered"
  readonly resultType: boolean
  readonly http: Http
}

/**
 * Every revision that Sallyport implements, oldest first (basic/index, basic/transports of each).
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  "2024-11-05": {
    era: "legacy",
    batch: false,
    idlessError: false,
    utf8: false,
    serverAsks: true,
    idReuse: "never",
    resultType: false,
    http: {
      transport: "sse",
      session: false,
      version: "never",
      routing: false,
      resume: false,
      getStream: true,
      responses: true,
      closeCancels: false,
      originStatus: undefined
    }
  },
  "2025-03-26": {
    era: "legacy",
    batch: true,
    idlessError: false,
    utf8: true,
    serverAsks: true,
    idReuse: "never",
    resultType: false,
    http: {
      transport: "streamable",
      session: true,
      version: "never",
      routing: false,
      resume: true,
      getStream: true,
      responses: true,
      closeCancels: false,
      originStatus: undefined
    }
  },
  "2025-06-18": {
    era: "legacy",
    batch: false,
    idlessError: false,
    utf8: true,
    serverAsks: true,
    idReuse: "never",
    resultType: false,
    http: {
      transport: "streamable",
      session: true,
      version: "after-initialize",
      routing: false,
      resume: true,
      getStream: true,
      responses: true,
      closeCancels: false,
      originStatus: undefined
    }
  },
  "2025-11-25": {
    era: "legacy",
    batch: false,
    idlessError: true,
    utf8: true,
    serverAsks: true,
    idReuse: "never",
    resultType: false,
    http: {
      transport: "streamable",
      session: true,
      version: "after-initialize",
      routing: false,
      resume: true,
      getStream: true,
      responses: true,
      closeCancels: false,
      originStatus: 403
    }
  },
  "2026-07-28": {
    era: "modern",
    batch: false,
    idlessError: true,
    utf8: true,
    serverAsks: false,
    idReuse: "answered",
    resultType: true,
    http: {
      transport: "streamable",
      session: false,
      version: "every-post",
      routing: true,
      resume: false,
      getStream: false,
      responses: false,
      closeCancels: true,
      originStatus: 403
    }
  }
} as const satisfies Record<string, Row>

/**
 * The name of a revision that Sallyport implements.
 *
 * @category models
 * @since 0.1.0
 */
export type Revision = keyof typeof table

/**
 * The revisions of one era.
 *
 * @category models
 * @since 0.1.0
 */
export type Of<E extends Era> = { [R in Revision]: (typeof table)[R]["era"] extends E ? R : never }[Revision]

/**
 * A revision with an initialize handshake.
 *
 * @category models
 * @since 0.1.0
 */
export type Legacy = Of<"legacy">

/**
 * A revision whose requests carry their own metadata.
 *
 * @category models
 * @since 0.1.0
 */
export type Modern = Of<"modern">

/**
 * Whether a version string names a revision that Sallyport implements.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRevision = (version: string | undefined): version is Revision =>
  version !== undefined && Object.hasOwn(table, version)

/**
 * Whether a revision opens with initialize.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLegacy = (revision: Revision): revision is Legacy => table[revision].era === "legacy"

/**
 * Whether a revision's requests carry their own metadata.
 *
 * @category guards
 * @since 0.1.0
 */
export const isModern = (revision: Revision): revision is Modern => table[revision].era === "modern"

/**
 * All revisions, oldest first.
 *
 * @category tables
 * @since 0.1.0
 */
export const all = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
  "2026-07-28"
] as const satisfies ReadonlyArray<
  Revision
>

/**
 * The name of a revision that Sallyport implements.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Revision = Schema.Literals(all)

/**
 * The legacy revisions, newest first: what an initialize may end in.
 *
 * @category tables
 * @since 0.1.0
 */
export const legacy = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const satisfies ReadonlyArray<Legacy>

/**
 * The modern revisions, newest first: what an answer of `-32022` offers.
 *
 * @category tables
 * @since 0.1.0
 */
export const modern: ReadonlyArray<Modern> = ["2026-07-28"]

/**
 * The newest revision.
 *
 * @category constants
 * @since 0.1.0
 */
export const newest: Modern = "2026-07-28"

/**
 * What a request over HTTP without `MCP-Protocol-Version` is taken as, in the legacy era (2025-06-18 basic/transports,
 * Protocol Version Header).
 *
 * @category constants
 * @since 0.1.0
 */
export const headerless: Legacy = "2025-03-26"

/**
 * The revisions from one to another, both included, oldest first; to the newest where no last one is named.
 *
 * @category getters
 * @since 0.1.0
 */
export const between = (first: Revision, last?: Revision): ReadonlyArray<Revision> =>
  all.filter((revision) => revision >= first && (last === undefined || revision <= last))

/**
 * What a version string is.
 *
 * - `Known`: a revision that Sallyport implements.
 * - `Future`: a date after every one of them; read as such and countered, never echoed.
 * - `Unknown`: an older date that names no revision implemented here, such as that of a pre-release.
 * - `NotADate`: anything else, such as the name of a draft.
 *
 * @category models
 * @since 0.1.0
 */
export type Version =
  | { readonly _tag: "Known"; readonly revision: Revision }
  | { readonly _tag: "Future"; readonly date: string }
  | { readonly _tag: "Unknown"; readonly date: string }
  | { readonly _tag: "NotADate"; readonly text: string }

const isDate = (text: string): boolean => {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null) return false
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return days !== undefined && day >= 1 && day <= days
}

/**
 * Reads a version string (basic/versioning: revisions are named by dates, `YYYY-MM-DD`).
 *
 * @category conversions
 * @since 0.1.0
 */
export const parse = (text: string): Version => {
  if (isRevision(text)) return { _tag: "Known", revision: text }
  if (!isDate(text)) return { _tag: "NotADate", text }
  return all.every((revision) => text > revision) ? { _tag: "Future", date: text } : { _tag: "Unknown", date: text }
}

/**
 * The members of a request's `_meta` that open the modern era, and the protocol's other ones (2026-07-28 basic/index,
 * _meta).
 *
 * @category constants
 * @since 0.1.0
 */
export const meta = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId"
} as const

/**
 * The names of the protocol's HTTP headers; they are compared without regard to case (basic/transports, Streamable
 * HTTP).
 *
 * @category constants
 * @since 0.1.0
 */
export const headers = {
  session: "Mcp-Session-Id",
  version: "MCP-Protocol-Version",
  method: "Mcp-Method",
  name: "Mcp-Name",
  paramPrefix: "Mcp-Param-",
  lastEventId: "Last-Event-ID"
} as const
