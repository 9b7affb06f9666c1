import { assert, describe, it } from "@effect/vitest"
import * as Check from "@sallyport/core/schema/Check"
import * as T from "@sallyport/core/wire/Text"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const name = fc.constantFrom("a", "b", "c", "__proto__x", "x-y")
const scalar = fc.oneof(fc.constantFrom(null, true, false, 0, 1, 2, -1, 1.5, 10, "", "a", "ab", "abc", "\u{1f600}"))

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(name, tie("value"), { maxKeys: 3 })
  )
}))

const typeName = fc.constantFrom("null", "boolean", "number", "integer", "string", "array", "object")
const count = fc.nat(3)

const { schema } = fc.letrec<{ schema: unknown; keywords: object }>((tie) => {
  const sub = tie("schema")
  const list = fc.array(sub, { minLength: 1, maxLength: 3 })
  const map = fc.dictionary(name, sub, { maxKeys: 3 })
  const keyword: ReadonlyArray<fc.Arbitrary<object>> = [
    fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })).map((type) => ({ type })),
    fc.uniqueArray(value, { minLength: 1, maxLength: 3, comparator: (l, r) => JSON.stringify(l) === JSON.stringify(r) })
      .map((list) => ({ enum: list })),
    value.map((value) => ({ const: value })),
    fc.record({ minimum: count, maximum: count }, { requiredKeys: [] }),
    fc.record({ exclusiveMinimum: count, exclusiveMaximum: count }, { requiredKeys: [] }),
    fc.constantFrom(1, 2, 0.5).map((multipleOf) => ({ multipleOf })),
    fc.record({ minLength: count, maxLength: count }, { requiredKeys: [] }),
    fc.constantFrom("^a", "b$", "^[a-c]*$", "a|^$").map((pattern) => ({ pattern })),
    fc.record({ minItems: count, maxItems: count, uniqueItems: fc.boolean() }, { requiredKeys: [] }),
    fc.record({ minProperties: count, maxProperties: count }, { requiredKeys: [] }),
    fc.uniqueArray(name, { maxLength: 2 }).map((required) => ({ required })),
    fc.record({
      properties: map,
      patternProperties: fc.dictionary(fc.constantFrom("^a", "x"), sub, { maxKeys: 2 }),
      additionalProperties: sub
    }, { requiredKeys: [] }),
    sub.map((propertyNames) => ({ propertyNames })),
    fc.record({ prefixItems: list, items: sub }, { requiredKeys: [] }),
    fc.record({ contains: fc.oneof(fc.constant(true), tie("keywords")), minContains: count, maxContains: count }, {
      requiredKeys: ["contains"]
    }),
    list.map((allOf) => ({ allOf })),
    list.map((anyOf) => ({ anyOf })),
    list.map((oneOf) => ({ oneOf })),
    sub.map((not) => ({ not })),
    // oxlint-disable-next-line unicorn/no-thenable
    fc.tuple(sub, sub, sub).map(([test, yes, no]) => ({ if: test, then: yes, else: no })),
    fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }).map((dependentRequired) => ({
      dependentRequired
    })),
    map.map((dependentSchemas) => ({ dependentSchemas })),
    sub.map((unevaluatedProperties) => ({ unevaluatedProperties })),
    // No unevaluatedItems: Ajv also counts what a branch that failed accounts for, and not what contains does.
    fc.constantFrom("#/$defs/one", "#/$defs/two").map(($ref) => ({ $ref }))
  ]
  return {
    schema: fc.oneof({ maxDepth: 4, depthSize: "small" }, fc.boolean(), tie("keywords")),
    keywords: fc.array(fc.oneof(...keyword), { minLength: 1, maxLength: 3 }).map((all) => Object.assign({}, ...all))
  }
})

describe("Check against Ajv", () => {
  it("says the same of the same values, wherever it says something", () => {
    const ajv = new Ajv2020({ strict: false, allErrors: false, logger: false })
    let decided = 0
    fc.assert(
      fc.property(
        schema,
        schema,
        schema,
        fc.array(value, { minLength: 1, maxLength: 5 }),
        (schema, one, two, values) => {
          const whole = typeof schema === "object" && schema !== null ? { ...schema, $defs: { one, two } } : schema
          const text = JSON.stringify(whole)
          // Ajv also counts what a test that failed accounts for.
          if (text.includes("unevaluatedProperties") && text.includes("\"if\"")) return
          // Ajv takes an empty array for one that contains something, beside prefixItems.
          if (text.includes("prefixItems") && text.includes("\"contains\"")) return
          // References that lead round in a circle at one value have no answer here, and overflow the other's stack.
          if (
            /\$ref/.test(JSON.stringify([one, two])) || typeof whole !== "object" && typeof whole !== "boolean"
          ) return
          const validate = ajv.compile(JSON.parse(text))
          const check = Check.compile(T.fromValue(whole))
          for (const value of values) {
            const outcome = Check.check(check, T.fromValue(value))
            if (outcome._tag === "Undecided") continue
            decided++
            // Some of the code that Ajv writes does not run.
            const theirs = Result.try(() => validate(JSON.parse(JSON.stringify(value))))
            if (Result.isFailure(theirs)) continue
            assert.strictEqual(outcome._tag === "Valid", theirs.success, `${text} ${JSON.stringify(value)}`)
          }
          ajv.removeSchema()
        }
      ),
      { numRuns: 300 }
    )
    assert.isAbove(decided, 300)
  })
})
