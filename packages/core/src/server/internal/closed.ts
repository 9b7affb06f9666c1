/**
 * Which values fit a schema for sure without a member that it does not name.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/**
 * What is known of the JSON that a schema is decoded from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Closed {
  /** Whether the value has no member that the schema does not name. */
  readonly holds: (value: unknown) => boolean
  /** Whether there may be a number in it. */
  readonly numbers: boolean
}

const named: Closed = { holds: () => true, numbers: false }
const numeric: Closed = { holds: () => true, numbers: true }

/**
 * What is known of a JSON codec; `undefined` where its values have to be looked at by the schema itself, which unions of
 * objects are, records, and objects that become something else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (codec: Schema.Constraint): Closed | undefined => look(codec.ast)

const look = (ast: SchemaAST.AST): Closed | undefined => {
  if (ast.encoding !== undefined) {
    const inner = ast.encoding.map(({ to }) => look(to))
    return inner.every(isLeaf) ? numeric : undefined
  }
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
    case "Boolean":
    case "Null":
    case "Undefined":
      return named
    case "Literal":
      return typeof ast.literal === "string" ? named : numeric
    case "Number":
    case "Enum":
      return numeric
    case "Union":
      return ast.types.every((type) => isLeaf(look(type))) ? numeric : undefined
    case "Arrays": {
      const [element, ...more] = ast.rest.map(look)
      if (ast.elements.length > 0 || more.length > 0 || element === undefined) return undefined
      return {
        holds: isLeaf(element) ? element.holds : (value) => Array.isArray(value) && value.every(element.holds),
        numbers: element.numbers
      }
    }
    case "Objects":
      return ast.indexSignatures.length > 0 ? undefined : struct(ast.propertySignatures)
    default:
      return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const isLeaf = (closed: Closed | undefined): boolean => closed === named || closed === numeric

const struct = (properties: ReadonlyArray<SchemaAST.PropertySignature>): Closed | undefined => {
  const members = new Map<string, Closed>()
  for (const { name, type } of properties) {
    const member = look(type)
    if (member === undefined || typeof name !== "string") return undefined
    members.set(name, member)
  }
  return {
    holds: (value) => {
      if (!isObject(value) || Array.isArray(value)) return false
      for (const name in value) if (members.get(name)?.holds(value[name]) !== true) return false
      return true
    },
    numbers: [...members.values()].some(({ numbers }) => numbers)
  }
}
