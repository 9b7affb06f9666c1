/**
 * The error codes of JSON-RPC and of every revision: what each means, who may answer with it, and who must understand it.
 *
 * @since 0.1.0
 */
import * as Revision from "./Revision.ts"

/**
 * A row of the table.
 *
 * - `name`: what the specification calls it.
 * - `means`: in which cases it is the answer.
 * - `emit`: the revisions in which it may be answered with.
 * - `accept`: the revisions in which it must be understood; elsewhere it has no meaning.
 * - `by`: the side that answers with it.
 * - `data`: the members that its `data` must have.
 * - `http`: the status that always carries it over HTTP in 2026-07-28, where that names one. InvalidParams has 400 where
 *   metadata is missing, and none otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly code: number
  readonly name: string
  readonly means: string
  readonly emit: ReadonlyArray<Revision.Revision>
  readonly accept: ReadonlyArray<Revision.Revision>
  readonly by: "client" | "server" | "both"
  readonly data: ReadonlyArray<string>
  readonly http?: 400 | 404
}

const all = Revision.all
const legacy = Revision.between("2024-11-05", "2025-11-25")
const modern = Revision.between("2026-07-28")

/**
 * Every code (JSON-RPC 2.0 section 5.1; basic/index, Error Codes; lifecycle, server/resources, client/elicitation, Error
 * Handling of each revision).
 *
 * @category tables
 * @since 0.1.0
 */
export const table: ReadonlyArray<Row> = [
  {
    code: -32700,
    name: "ParseError",
    means: "what came is not JSON",
    emit: all,
    accept: all,
    by: "both",
    data: []
  },
  {
    code: -32600,
    name: "InvalidRequest",
    means: "the JSON is no request; in 2025-11-25 also: the request must be sent as a task",
    emit: all,
    accept: all,
    by: "both",
    data: []
  },
  {
    code: -32601,
    name: "MethodNotFound",
    means: "no such method, or one of a capability that was not declared",
    emit: all,
    accept: all,
    by: "both",
    data: [],
    http: 404
  },
  {
    code: -32602,
    name: "InvalidParams",
    means:
      "unknown tool or prompt, missing arguments, bad cursor, bad level; in 2026-07-28 also: missing metadata, unknown resource",
    emit: all,
    accept: all,
    by: "both",
    data: []
  },
  {
    code: -32603,
    name: "InternalError",
    means: "the receiver failed",
    emit: all,
    accept: all,
    by: "both",
    data: []
  },
  {
    code: -32002,
    name: "ResourceNotFound",
    means: "there is no such resource (2026-07-28 answers InvalidParams; clients accept both)",
    emit: legacy,
    accept: all,
    by: "server",
    data: []
  },
  {
    code: -32020,
    name: "HeaderMismatch",
    means: "a header of HTTP is missing or says something else than the body",
    emit: modern,
    accept: modern,
    by: "server",
    data: [],
    http: 400
  },
  {
    code: -32021,
    name: "MissingRequiredClientCapability",
    means: "the request needs a capability that it does not declare",
    emit: modern,
    accept: modern,
    by: "server",
    data: ["requiredCapabilities"],
    http: 400
  },
  {
    code: -32022,
    name: "UnsupportedProtocolVersion",
    means: "the request names a revision that the server does not speak",
    emit: modern,
    accept: modern,
    by: "server",
    data: ["supported", "requested"],
    http: 400
  },
  {
    code: -32042,
    name: "URLElicitationRequired",
    means: "the person must visit a URL first",
    emit: ["2025-11-25"],
    accept: ["2025-11-25"],
    by: "server",
    data: ["elicitations"]
  },
  {
    code: -1,
    name: "UserRejected",
    means: "the person refused what the server asked for",
    emit: legacy,
    accept: legacy,
    by: "client",
    data: []
  }
]

/**
 * A range of codes and who may make new ones in it.
 *
 * - `jsonrpc`: reserved by JSON-RPC: only those of the table.
 * - `legacy`: left to implementations by JSON-RPC. 2026-07-28 wants no new ones here, and a receiver assumes no meaning.
 * - `protocol`: reserved for this protocol since 2026-07-28: only those of the table.
 * - `free`: anyone's.
 *
 * @category models
 * @since 0.1.0
 */
export type Range = "jsonrpc" | "legacy" | "protocol" | "free"

/**
 * The range that a code lies in (JSON-RPC 2.0 section 5.1; 2026-07-28 basic/index, Error Codes).
 *
 * @category getters
 * @since 0.1.0
 */
export const range = (code: number): Range => {
  if (code < -32768 || code > -32000) return "free"
  if (code < -32099) return "jsonrpc"
  return code > -32020 ? "legacy" : "protocol"
}

/**
 * What a code means in a revision; `undefined` where it has no meaning there.
 *
 * @category getters
 * @since 0.1.0
 */
export const meaning = (code: number, revision: Revision.Revision): Row | undefined =>
  table.find((row) => row.code === code && row.accept.includes(revision))

/**
 * Whether a peer may answer with this code in a revision.
 *
 * @category guards
 * @since 0.1.0
 */
export const mayEmit = (code: number, revision: Revision.Revision): boolean => {
  const rows = table.filter((row) => row.code === code)
  if (rows.length > 0) return rows.some((row) => row.emit.includes(revision))
  switch (range(code)) {
    case "free":
      return true
    case "jsonrpc":
      return false
    case "legacy":
    case "protocol":
      return Revision.isLegacy(revision)
  }
}
