/**
 * Objects that may have more members than a revision names, and how a newer revision is said as a difference.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

const rest = [Schema.Record(Schema.String, Schema.Unknown)] as const

/**
 * An object that keeps the members that it does not name: no revision closes its objects (JSON schema of each:
 * `additionalProperties` is nowhere false).
 *
 * @category models
 * @since 0.1.0
 */
export type Open<F extends Schema.Struct.Fields> = Schema.StructWithRest<Schema.Struct<F>, typeof rest>

/**
 * An object with these members, and any others.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = <const F extends Schema.Struct.Fields>(fields: F): Open<F> =>
  Schema.StructWithRest(Schema.Struct(fields), rest)

/**
 * A newer revision's object: what the older one has, and these members, which replace those of the same name.
 *
 * @category combinators
 * @since 0.1.0
 */
export const extend = <const F extends Schema.Struct.Fields, const G extends Schema.Struct.Fields>(
  older: Open<F>,
  fields: G
) => open(Struct.assign(older.schema.fields, fields))
