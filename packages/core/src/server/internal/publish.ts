/**
 * The JSON Schema (draft 2020-12) that is listed for a schema.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { JsonObject } from "../Definition.ts"

/** How the parsers of a server read and write: nothing is dropped unseen, and all that is wrong is told at once. */
export const options = { errors: "all", onExcessProperty: "error" } as const

/** What `Schema.Number` is in JSON, whose numbers are always finite. */
const isNumber = (value: JsonObject): boolean => {
  const [number, text, ...more] = Array.isArray(value["anyOf"]) ? value["anyOf"] : []
  return more.length === 0 && isObject(number) && number["type"] === "number" && isObject(text) &&
    Array.isArray(text["enum"]) && text["enum"].includes("NaN")
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Keywords that say the same beside their schema as in an `allOf` of it. */
const isLoose = (keyword: string): boolean =>
  keyword.startsWith("x-") || [
    "title",
    "description",
    "default",
    "examples",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems"
  ].includes(keyword)

/**
 * What was annotated after a check stands in an `allOf`, where clients do not look for a title or a default, and where
 * `x-mcp-header` is forbidden: it is put beside the rest, if nothing of its name is there.
 */
const flat = ({ allOf, ...schema }: JsonObject): JsonObject => {
  if (!Array.isArray(allOf)) return allOf === undefined ? schema : { ...schema, allOf }
  const found: Record<string, unknown> = { ...schema }
  const left = allOf.flatMap((each: unknown) => {
    if (!isObject(each)) return [each]
    const rest = Object.entries(each).filter(([name, value]) => {
      if (!isLoose(name) || Object.hasOwn(found, name)) return true
      found[name] = value
      return false
    })
    return rest.length === 0 ? [] : [Object.fromEntries(rest)]
  })
  return left.length === 0 ? found : { ...found, allOf: left }
}

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  if (isNumber(value)) {
    const { anyOf: _, ...rest } = value
    return { type: "number", ...rest }
  }
  return flat(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)])))
}

/** The schema with its `$ref` at the root resolved. */
const rooted = (schema: JsonObject, definitions: JsonObject): JsonObject => {
  const name = typeof schema["$ref"] === "string" ? schema["$ref"].slice("#/$defs/".length) : undefined
  const target = name === undefined ? undefined : definitions[name.replaceAll("~1", "/").replaceAll("~0", "~")]
  if (!isObject(target)) return schema
  const { $ref: _, ...rest } = schema
  return rooted({ ...target, ...rest }, definitions)
}

const document = (schema: Schema.Constraint): JsonObject => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, {
    onExcessProperty: "error",
    includeAnnotationKey: (key) => key.startsWith("x-")
  })
  const found = plain(rooted(root, definitions))
  const named = JSON.stringify(found).includes("\"#/$defs/") ||
      Object.keys(definitions).some((name) => JSON.stringify(definitions[name]).includes("\"#/$defs/"))
    ? { $defs: plain(definitions) }
    : {}
  return { ...(isObject(found) ? found : {}), ...named }
}

/**
 * The schema of arguments: an object at the root, as the protocol wants it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const arguments_ = (schema: Schema.Constraint): JsonObject => {
  const { type, ...rest } = document(schema)
  if (type === "object") return { type, ...rest }
  // A struct without fields is any value to Effect, and an object without members to the protocol.
  if (isObject(rest["not"])) return { type: "object", properties: {}, additionalProperties: false }
  return { type: "object", ...rest }
}

/**
 * The schema of structured output, whatever its root is.
 *
 * @category conversions
 * @since 0.1.0
 */
export const output = (schema: Schema.Constraint): JsonObject => document(schema)

/**
 * Whether a schema has numbers that JSON cannot have: `Schema.Number` takes NaN and the infinities.
 *
 * @category guards
 * @since 0.1.0
 */
export const mayBeInfinite = (schema: Schema.Constraint): boolean =>
  JSON.stringify(Schema.toJsonSchemaDocument(schema)).includes("\"NaN\"")

/**
 * Where a value has a number that JSON cannot have.
 *
 * @category getters
 * @since 0.1.0
 */
export const unwritable = (value: unknown): string | undefined => {
  const seen = new Set<unknown>()
  const visit = (at: unknown, path: string): string | undefined => {
    if (typeof at === "number") return Number.isFinite(at) ? undefined : path
    if (typeof at !== "object" || at === null || seen.has(at)) return undefined
    seen.add(at)
    for (const [name, member] of Object.entries(at)) {
      const found = visit(member, `${path}/${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return visit(value, "")
}
