/**
 * The protocol's revisions and eras.
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
 * Every revision that Sallyport implements, oldest first, with what the framing of each allows: `batch`, arrays of
 * messages (2025-03-26 only, basic/index, Batching); `idlessError`, an error answer without an id (2025-11-25 and
 * later).
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  "2024-11-05": { era: "legacy", batch: false, idlessError: false },
  "2025-03-26": { era: "legacy", batch: true, idlessError: false },
  "2025-06-18": { era: "legacy", batch: false, idlessError: false },
  "2025-11-25": { era: "legacy", batch: false, idlessError: true },
  "2026-07-28": { era: "modern", batch: false, idlessError: true }
} as const satisfies Record<string, { readonly era: Era; readonly batch: boolean; readonly idlessError: boolean }>

/**
 * @category models
 * @since 0.1.0
 */
export type Revision = keyof typeof table

/**
 * @category schemas
 * @since 0.1.0
 */
export const Revision = Schema.Literals(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])

/**
 * Whether a version string names a revision that Sallyport implements.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRevision = (version: string | undefined): version is Revision =>
  version !== undefined && Object.hasOwn(table, version)

/**
 * The modern revisions, newest first: what an answer of `-32022` offers.
 *
 * @category tables
 * @since 0.1.0
 */
export const modern: ReadonlyArray<Revision> = ["2026-07-28"]

/**
 * The members of a request's `_meta` that open the modern era (2026-07-28 basic/index, _meta).
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
