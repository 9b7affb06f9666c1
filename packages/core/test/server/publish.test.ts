import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as publish from "../../src/server/internal/publish.ts"

const property = (schema: Schema.Constraint): unknown => {
  const { properties } = publish.arguments_(Schema.Struct({ it: schema }))
  return typeof properties === "object" && properties !== null && "it" in properties ? properties.it : undefined
}

const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }

describe("what is annotated after a check", () => {
  it("stands beside the rest, where clients look for it", () => {
    assert.deepStrictEqual(
      property(Schema.Int.annotate({ title: "Level", default: 3, "x-mcp-header": "Level" })),
      { type: "integer", ...safe, title: "Level", default: 3, "x-mcp-header": "Level" }
    )
  })

  it("leaves what would say something else where it is", () => {
    assert.deepStrictEqual(
      property(
        Schema.Int.annotate({ "x-mcp-header": "Level" }).check(Schema.isBetween({ minimum: 0, maximum: 9 }))
      ),
      { type: "integer", minimum: 0, maximum: 9, "x-mcp-header": "Level", allOf: [safe] }
    )
  })

  it("keeps the words of both where there are two", () => {
    assert.deepStrictEqual(
      property(
        Schema.String.annotate({ description: "a name" }).check(Schema.isMinLength(1, { description: "not empty" }))
      ),
      { type: "string", description: "a name", minLength: 1, allOf: [{ description: "not empty" }] }
    )
  })
})
