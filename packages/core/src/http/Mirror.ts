/**
 * The headers that repeat what the body of a modern request says, so that a proxy can route it unread (2026-07-28
 * basic/transports/streamable-http, Standard Request Headers and Custom Headers).
 *
 * **Details**
 *
 * The body is what counts. A header that is missing, or says something else, makes the request refused: a proxy that acted
 * on the header would have acted on another request than the server.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Method from "../protocol/Method.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Who } from "../stage/Transport.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

type Headers = Readonly<Record<string, string | undefined>>

/**
 * An argument of a tool that a header repeats: `Mcp-Param-` and the name, and the way to the argument.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParamHeader {
  readonly header: string
  readonly path: ReadonlyArray<string>
  readonly type: "string" | "integer" | "boolean"
}

/**
 * Knows, of a tool, which arguments headers repeat.
 *
 * @category models
 * @since 0.1.0
 */
export type ParamHeaders = (tool: string, who: Who) => Effect.Effect<ReadonlyArray<ParamHeader>>

/** How deep a schema is looked into. */
const maxDepth = 32

/**
 * The annotations `x-mcp-header` of an input schema: of primitive properties that are reached through `properties` alone.
 * One that is not valid counts for nothing: a client drops a tool that has such a one (2026-07-28
 * basic/transports/streamable-http, Schema Extension).
 *
 * @category getters
 * @since 0.1.0
 */
export const paramHeadersOf = (inputSchema: Text): ReadonlyArray<ParamHeader> => {
  const found = new Map<string, ParamHeader>()
  const visit = (schema: Text, path: ReadonlyArray<string>): void => {
    const properties = T.member(schema, "properties")
    if (properties === undefined || path.length >= maxDepth) return
    for (const [name, property] of T.members(properties)) {
      const at = [...path, name]
      const annotation = T.member(property, "x-mcp-header")
      const header = annotation === undefined ? undefined : T.string(annotation)
      const declared = T.member(property, "type")
      const type = declared === undefined ? undefined : T.string(declared)
      if (
        header !== undefined && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header) && !found.has(header.toLowerCase()) &&
        (type === "string" || type === "integer" || type === "boolean")
      ) found.set(header.toLowerCase(), { header, path: at, type })
      visit(property, at)
    }
  }
  visit(inputSchema, [])
  return [...found.values()]
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * What a header's value stands for: itself, or what is encoded in it between `=?base64?` and `?=`. Undefined where that is
 * no base64, or no UTF-8.
 *
 * @category conversions
 * @since 0.1.0
 */
export const decode = (value: string): string | undefined => {
  const trimmed = value.replace(/^[ \t]+|[ \t]+$/g, "")
  const encoded = /^=\?base64\?(.*)\?=$/s.exec(trimmed)?.[1]
  if (encoded === undefined) return trimmed
  if (!base64.test(encoded)) return undefined
  try {
    return utf8.decode(Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0)))
  } catch {
    return undefined
  }
}

const says = (header: string, what: string): string => `the header ${header} ${what}`

/** Why a header does not repeat this value; undefined if it does. */
const judge = (header: string, given: string | undefined, value: string | undefined, same = equal) => {
  if (given === undefined) return value === undefined ? undefined : says(header, "is missing")
  const stands = decode(given)
  if (stands === undefined) return says(header, "is not valid base64 of UTF-8")
  return value !== undefined && same(stands, value) ? undefined : says(header, "does not say what the body says")
}
const equal = (a: string, b: string): boolean => a === b
const sameInteger = (a: string, b: string): boolean =>
  /^-?\d+(?:\.0+)?$/.test(a) && Number.isSafeInteger(Number(a)) && Number(a) === Number(b)

/**
 * The tool that a `tools/call` names.
 *
 * @category getters
 * @since 0.1.0
 */
export const toolOf = (params: Text | undefined): string | undefined => {
  const name = params === undefined ? undefined : T.member(params, "name")
  return name === undefined ? undefined : T.string(name)
}

/**
 * Why `Mcp-Method` and `Mcp-Name` are not those of this request; undefined if they are.
 *
 * @category getters
 * @since 0.1.0
 */
export const standard = (headers: Headers, method: string, params: Text | undefined): string | undefined => {
  const wrong = judge("Mcp-Method", headers["mcp-method"], method)
  if (wrong !== undefined) return wrong
  // A method of another revision is not there: it is refused as that, whatever its headers say.
  const member = Method.nameMember(method, Revision.newest)
  if (member === undefined) return undefined
  const value = params === undefined ? undefined : T.member(params, member)
  return judge("Mcp-Name", headers["mcp-name"], value === undefined ? undefined : T.string(value))
}

/**
 * Why a header of these does not repeat its argument; undefined if all do. An argument that is null or not there has none.
 *
 * @category getters
 * @since 0.1.0
 */
export const custom = (
  headers: Headers,
  mirrored: ReadonlyArray<ParamHeader>,
  params: Text | undefined
): string | undefined => {
  for (const { header, path, type } of mirrored) {
    let value = params === undefined ? undefined : T.member(params, "arguments")
    for (const name of path) value = value === undefined ? undefined : T.member(value, name)
    // An object or array in its place is for the tool to refuse.
    if (value !== undefined && (T.isObject(value) || T.isArray(value))) continue
    const text = value === undefined || value === "null" ? undefined : T.string(value) ?? value
    const wrong = judge(
      `Mcp-Param-${header}`,
      headers[`mcp-param-${header.toLowerCase()}`],
      text,
      type === "integer" ? sameInteger : equal
    )
    if (wrong !== undefined) return wrong
  }
  return undefined
}
