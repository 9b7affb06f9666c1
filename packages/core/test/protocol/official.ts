/**
 * The official JSON schemas, as far as a published package carries them: @modelcontextprotocol/conformance has those of
 * 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28 in its one file, which exports none of them, so they are cut out of
 * its text. No package has 2024-11-05: golden/payloads-2024-11-05.txt was checked against the schema
 * that is published with that revision.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { runInNewContext } from "node:vm"
import type { Revision } from "../../src/protocol/Revision.ts"

export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }
export type Node = { readonly [name: string]: Json }

const require = createRequire(import.meta.url)
const folder = dirname(require.resolve("@modelcontextprotocol/conformance/package.json"))
const source = readFileSync(join(folder, "dist/index.js"), "utf8")

/** The object literal that begins at the brace. */
const literal = (from: number): string => {
  let depth = 0
  let quote = ""
  for (let at = from; at < source.length; at++) {
    const char = source.charAt(at)
    if (quote !== "") {
      if (char === "\\") at++
      else if (char === quote) quote = ""
    } else if (char === "`" || char === "\"" || char === "'") quote = char
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return source.slice(from, at + 1)
  }
  return ""
}

const table = /=\{"2025-03-26":([\w$]+),"2025-06-18":([\w$]+),"2025-11-25":([\w$]+),\[[\w$]+\]:([\w$]+)\}/.exec(source)

export const isNode = (json: Json | undefined): json is Node =>
  typeof json === "object" && json !== null && !Array.isArray(json)

export const node = (json: Json | undefined): Node => isNode(json) ? json : {}

export const list = (json: Json | undefined): ReadonlyArray<Json> => Array.isArray(json) ? json : []

const read = (name: string | undefined): Node => {
  const from = source.indexOf(`${name}={$schema:`)
  // It goes through JSON, so that what is tested is of this realm.
  const schema: Json = JSON.parse(JSON.stringify(runInNewContext(`(${literal(source.indexOf("{", from))})`)))
  return node(node(schema)["$defs"] ?? node(schema)["definitions"])
}

/** The definitions of each schema by name. */
export const definitions: ReadonlyArray<readonly [Revision, Node]> = [
  ["2025-03-26", read(table?.[1])],
  ["2025-06-18", read(table?.[2])],
  ["2025-11-25", read(table?.[3])],
  ["2026-07-28", read(table?.[4])]
]

/** 2026-07-28 defines JSON in itself, and without an end. */
const anything: Node = { JSONObject: { type: "object" }, JSONArray: { type: "array" }, JSONValue: {} }

/** The schema that a reference is for; any other schema is for itself. */
export const resolve = (json: Json, definitions: Node): Node => {
  const at = node(json)
  const ref = at["$ref"]
  if (typeof ref !== "string") return at
  const name = ref.slice(ref.lastIndexOf("/") + 1)
  return resolve(anything[name] ?? definitions[name] ?? {}, definitions)
}

/** What a union's name stands for: the names of its members. */
export const members = (name: string, definitions: Node): ReadonlyArray<Node> => {
  const union = resolve(definitions[name] ?? {}, definitions)
  const any = list(union["anyOf"])
  return any.length === 0
    ? Object.keys(union).length === 0 ? [] : [union]
    : any.map((member) => resolve(member, definitions))
}

export const constOf = (json: Json | undefined): Json | undefined => node(json)["const"]

/** The method of a request or a notification. */
export const methodOf = (definition: Node): string => String(constOf(node(definition["properties"])["method"]))

/**
 * What a JSON schema demands, in one line that two schemas of the same demands share: members with `?` where they may be
 * absent, unions in order, constants by value. Formats, bounds, descriptions and defaults are left out, and integers are
 * numbers, because the official schemas have one for the other in places.
 */
export const outline = (json: Json, definitions: Node, without: ReadonlySet<string>): string => {
  const at = resolve(json, definitions)
  const parts = [at, ...list(at["allOf"]).map((part) => resolve(part, definitions))]
  const any = list(at["anyOf"] ?? at["oneOf"])
  if (any.length > 0) return union(any.map((member) => outline(member, definitions, without)))
  if ("const" in at) return JSON.stringify(at["const"])
  if ("enum" in at) return union(list(at["enum"]).map((value) => JSON.stringify(value)))
  const type = at["type"]
  if (Array.isArray(type)) return union(type.map((name) => name === "integer" ? "number" : String(name)))
  if (type === "integer") return "number"
  if (type === "array") return `[${outline(at["items"] ?? {}, definitions, without)}]`
  const found = new Map<string, string>()
  const required = new Set<Json>()
  for (const part of parts.flatMap((part) => [part, ...list(part["allOf"]).map((one) => resolve(one, definitions))])) {
    for (const name of list(part["required"])) required.add(name)
    for (const [name, value] of Object.entries(node(part["properties"]))) {
      if (!without.has(name)) found.set(name, outline(value, definitions, without))
    }
    const rest = part["additionalProperties"]
    if (isNode(rest) && Object.keys(rest).length > 0) found.set("*", outline(rest, definitions, without))
  }
  if (found.size > 0 || type === "object" || parts.length > 1) {
    const names = [...found].map(([name, value]) => `${name}${required.has(name) || name === "*" ? "" : "?"}: ${value}`)
    return `{${names.toSorted().join(", ")}}`
  }
  return typeof type === "string" ? type : "any"
}

const union = (members: ReadonlyArray<string>): string =>
  [...new Set(members.flatMap((member) => /[{[]/.test(member) ? [member] : member.split(" | ")))].toSorted().join(" | ")
