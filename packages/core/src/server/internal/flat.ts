/**
 * Reading short arguments that are nothing but strings and booleans, without a parser: what most tools take.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"

/**
 * Longer text is left to the parser. What is read here are slices of the text, and a handler that keeps one of them keeps
 * all of it.
 */
const maxLength = 1024

interface Field {
  readonly name: string
  readonly key: string
  readonly isString: boolean
  readonly isRequired: boolean
}

const isBare = (ast: SchemaAST.AST): boolean => ast.encoding === undefined && ast.checks === undefined

const fieldOf = ({ name, type }: SchemaAST.PropertySignature): Field | undefined =>
  isBare(type) && (type._tag === "String" || type._tag === "Boolean") && typeof name === "string" &&
    name !== "__proto__"
    ? {
      name,
      key: `${T.quote(name)}:`,
      isString: type._tag === "String",
      isRequired: !SchemaAST.isOptional(type)
    }
    : undefined

/**
 * How to read what fits a JSON codec that is a struct of bare strings and booleans; `undefined` where it is anything else.
 *
 * **Details**
 *
 * The reader gives what the codec would decode, or `undefined` where it leaves that to the codec: strings with escapes,
 * and all that does not fit.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = ({ ast }: Schema.Constraint): ((text: Text) => unknown) | undefined => {
  if (ast._tag !== "Objects" || !isBare(ast) || ast.encodingChecks !== undefined) return undefined
  if (ast.indexSignatures.length > 0) return undefined
  const fields = ast.propertySignatures.flatMap((property) => fieldOf(property) ?? [])
  if (fields.length === 0 || fields.length < ast.propertySignatures.length) return undefined
  const required = fields.filter(({ isRequired }) => isRequired).length

  return (text) => {
    if (text.length > maxLength || text.length === 2 || text.includes("\\")) return undefined
    const value: Record<string, unknown> = {}
    let missing = required
    // Without an escape every quote begins or ends a string, and checked text names no member twice.
    for (let p = 1; p < text.length;) {
      const field = fieldAt(fields, text, p)
      if (field === undefined) return undefined
      const from = p + field.key.length
      if (field.isString) {
        if (text.charCodeAt(from) !== quotation) return undefined
        const end = text.indexOf("\"", from + 1)
        value[field.name] = text.slice(from + 1, end)
        p = end + 2
      } else if (text.startsWith("true", from)) {
        value[field.name] = true
        p = from + 5
      } else if (text.startsWith("false", from)) {
        value[field.name] = false
        p = from + 6
      } else return undefined
      if (field.isRequired) missing--
    }
    return missing === 0 ? value : undefined
  }
}

const quotation = "\"".charCodeAt(0)

const fieldAt = (fields: ReadonlyArray<Field>, text: Text, p: number): Field | undefined => {
  for (const field of fields) if (text.startsWith(field.key, p)) return field
  return undefined
}
