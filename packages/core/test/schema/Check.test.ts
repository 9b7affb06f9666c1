import { assert, describe, it } from "@effect/vitest"
import * as Check from "@sallyport/core/schema/Check"
import * as Decimal from "@sallyport/core/wire/Decimal"
import { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"

/** Compact JSON as it is, numbers included. */
const raw: (json: string) => Text = Schema.decodeSync(Text)

const run = (schema: unknown, value: string, options?: Check.Options): string => {
  const outcome = Check.check(Check.compile(T.fromValue(schema)), raw(value), options)
  return outcome._tag === "Valid" ? "valid" : `${outcome._tag.toLowerCase()} ${outcome.pointer}: ${outcome.why}`
}

const isValid = (schema: unknown, value: string): boolean | undefined => {
  const outcome = run(schema, value)
  return outcome === "valid" ? true : outcome.startsWith("invalid") ? false : undefined
}

describe("Check", () => {
  it("knows the keywords that tools use", () => {
    const table: ReadonlyArray<readonly [schema: unknown, yes: ReadonlyArray<string>, no: ReadonlyArray<string>]> = [
      [true, ["1", "{}"], []],
      [false, [], ["1", "{}"]],
      [{}, ["1", "null", "[]"], []],
      [{ type: "string" }, [`"a"`], ["1", "null", `["a"]`]],
      [{ type: ["string", "null"] }, [`"a"`, "null"], ["1"]],
      [{ type: "integer" }, ["1", "1.0", "1e3", "-0", "123456789012345678901234567890"], ["1.5", "1e-1", `"1"`]],
      [{ type: "number" }, ["1", "1.5"], [`"1"`]],
      [{ enum: ["a", 1, null, { b: [1] }] }, [`"a"`, "1.0", "null", `{"b":[1]}`], [`"b"`, "2", `{"b":[2]}`, `{}`]],
      [{ const: { a: 1, b: 2 } }, [`{"b":2,"a":1}`], [`{"a":1}`]],
      [{ minimum: 1, maximum: 2 }, ["1", "2", "1.5", `"x"`], ["0", "2.00000000000000000001"]],
      [{ exclusiveMinimum: 1 }, ["1.00000000000000000001"], ["1", "1.0"]],
      [{ exclusiveMaximum: 1 }, ["0.99999999999999999999"], ["1"]],
      [{ multipleOf: 0.1 }, ["0.3", "1", "0"], ["0.35"]],
      [{ minLength: 2, maxLength: 3 }, [`"ab"`, `"\u{1f600}\u{1f600}"`, "1"], [`"a"`, `"\u{1f600}"`, `"abcd"`]],
      [{ pattern: "^a+$" }, [`"aa"`, "1"], [`"ab"`]],
      [{ minItems: 1, maxItems: 2 }, ["[1]", "{}"], ["[]", "[1,2,3]"]],
      [{ uniqueItems: true }, ["[1,2]"], ["[1,1.0]", `[{"a":1,"b":2},{"b":2,"a":1}]`]],
      [{ items: { type: "string" } }, [`["a"]`, "[]"], ["[1]"]],
      [{ prefixItems: [{ type: "string" }], items: false }, [`["a"]`], [`["a",1]`, "[1]"]],
      [{ items: [{ type: "string" }], additionalItems: { type: "number" } }, [`["a",1]`], [`["a","b"]`]],
      [{ contains: { const: 1 } }, ["[2,1]"], ["[]", "[2]"]],
      [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, ["[]", "[1]"], ["[1,1]"]],
      [{ required: ["a"] }, [`{"a":null}`, "[]"], ["{}"]],
      [{ properties: { a: { type: "string" } } }, [`{"a":"x"}`, "{}", `{"b":1}`], [`{"a":1}`]],
      [{ properties: { a: {} }, additionalProperties: false }, [`{"a":1}`], [`{"b":1}`]],
      [{ patternProperties: { "^x-": { type: "number" } }, additionalProperties: false }, [`{"x-a":1}`], [
        `{"x-a":"1"}`,
        `{"y":1}`
      ]],
      [{ additionalProperties: { type: "number" } }, [`{"a":1}`], [`{"a":"1"}`]],
      [{ propertyNames: { pattern: "^[a-z]+$" } }, [`{"a":1}`], [`{"A":1}`]],
      [{ minProperties: 1, maxProperties: 1 }, [`{"a":1}`], ["{}", `{"a":1,"b":2}`]],
      [{ allOf: [{ type: "string" }, { minLength: 2 }] }, [`"ab"`], [`"a"`, "1"]],
      [{ anyOf: [{ type: "string" }, { type: "number" }] }, [`"a"`, "1"], ["null"]],
      [{ oneOf: [{ type: "number" }, { minimum: 5 }] }, ["1", `"a"`], ["6", "7.0"]],
      [{ not: { type: "string" } }, ["1"], [`"a"`]],
      [{
        if: { properties: { k: { const: "a" } }, required: ["k"] },
        // oxlint-disable-next-line unicorn/no-thenable
        then: { required: ["x"] },
        else: { required: ["y"] }
      }, [
        `{"k":"a","x":1}`,
        `{"y":1}`
      ], [`{"k":"a"}`, `{"k":"b"}`]],
      [{ dependentRequired: { a: ["b"] } }, [`{"a":1,"b":1}`, "{}"], [`{"a":1}`]],
      [{ dependentSchemas: { a: { required: ["b"] } } }, [`{"a":1,"b":1}`], [`{"a":1}`]],
      [{ dependencies: { a: ["b"], c: { required: ["d"] } } }, [`{"a":1,"b":1}`], [`{"a":1}`, `{"c":1}`]],
      [{ $ref: "#/$defs/s", $defs: { s: { type: "string" } } }, [`"a"`], ["1"]],
      [{ properties: { next: { $ref: "#" } }, required: ["v"] }, [`{"v":1,"next":{"v":2}}`], [`{"v":1,"next":{}}`]],
      [{ $ref: "#/definitions/a~1b", definitions: { "a/b": { type: "null" } } }, ["null"], ["1"]],
      [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, [`{"a":1}`], [`{"b":1}`]],
      [
        {
          anyOf: [{ properties: { a: {} }, required: ["a"] }, { properties: { b: {} } }],
          unevaluatedProperties: false
        },
        [
          `{"a":1}`,
          `{"b":1}`
        ],
        [`{"c":1}`]
      ],
      // What stands beside a schema accounts for nothing in it.
      [{ allOf: [{ properties: { a: {} } }, { unevaluatedProperties: false }] }, ["{}"], [`{"a":1}`]],
      [{ properties: { a: {} }, $ref: "#/$defs/none", $defs: { none: { unevaluatedProperties: false } } }, ["{}"], [
        `{"a":1}`
      ]],
      // What failed accounts for nothing either.
      [{ if: { properties: { a: {} }, required: ["b"] }, unevaluatedProperties: false }, [`{}`], [`{"a":1}`]],
      [{ prefixItems: [{}], unevaluatedItems: false }, ["[1]"], ["[1,2]"]],
      [{ format: "email", $comment: "x", title: "t", default: 1, examples: [] }, [`"no mail"`], []],
      [{ properties: { ["__proto__"]: { type: "string" } } }, [`{}`], []]
    ]
    for (const [schema, yes, no] of table) {
      for (const value of yes) assert.strictEqual(run(schema, value), "valid", `${JSON.stringify(schema)} ${value}`)
      for (const value of no) assert.isFalse(isValid(schema, value), `${JSON.stringify(schema)} ${value}`)
    }
  })

  it("says where and why, and quotes no value", () => {
    const schema = {
      type: "object",
      properties: { "a/b": { items: { type: "string" } }, n: { minimum: 3 } },
      required: ["n"]
    }
    assert.strictEqual(run(schema, `{"n":3,"a/b":["x",1]}`), "invalid /a~1b/1: must be string")
    assert.strictEqual(run(schema, `{"n":2}`), "invalid /n: must be at least 3")
    assert.strictEqual(run(schema, `{}`), "invalid /n: is missing")
    assert.strictEqual(run(schema, `[]`), "invalid : must be object")
  })

  it("F7: what cannot be told is undecided, not valid", () => {
    for (
      const schema of [
        { $ref: "https://example.com/schema.json" },
        { $ref: "#/nowhere" },
        { $dynamicRef: "#x" },
        { $ref: "#" },
        { pattern: "(?=a)b" },
        { pattern: "(a)\\1" },
        { type: "text" },
        { minimum: "1" },
        { required: "a" },
        { allOf: [] },
        { properties: [] },
        { patternProperties: { "(?=a)": {} } },
        { pattern: "(?:a{500}b?){3}" }
      ]
    ) {
      const value = "pattern" in schema
        ? `"a"`
        : "patternProperties" in schema || "required" in schema
        ? `{"a":1}`
        : "1"
      const sane = "properties" in schema ? `{"a":1}` : value
      assert.isUndefined(isValid(schema, sane), `${JSON.stringify(schema)}: ${run(schema, sane)}`)
    }
    // Not decidable by a part, but invalid by another.
    assert.isFalse(isValid({ $dynamicRef: "#x", type: "string" }, "1"))
    // One alternative fits, so what the others are does not matter.
    assert.isTrue(isValid({ anyOf: [{ $dynamicRef: "#x" }, { type: "string" }] }, `"a"`))
    assert.isUndefined(isValid({ oneOf: [{ $dynamicRef: "#x" }, { type: "string" }] }, `"a"`))
    assert.isUndefined(isValid({ not: { $dynamicRef: "#x" } }, `"a"`))
  })

  describe("F7: closed", () => {
    const closed = (schema: unknown, value: string) => run(schema, value, { closed: true })

    it("refuses members that the schema does not declare, whatever it says of others", () => {
      for (
        const more of [{}, { additionalProperties: true }, { additionalProperties: { type: "string" } }, {
          additionalProperties: {}
        }]
      ) {
        const schema = { type: "object", properties: { path: { type: "string" } }, ...more }
        assert.strictEqual(closed(schema, `{"path":"/a"}`), "valid")
        assert.strictEqual(
          closed(schema, `{"path":"/a","file_path":"/etc/passwd"}`),
          "invalid /file_path: is not declared by the schema"
        )
        assert.strictEqual(closed(schema, `{"__proto__":"x"}`), "invalid /__proto__: is not declared by the schema")
      }
      assert.strictEqual(closed({ type: "object" }, `{"a":1}`), "invalid /a: is not declared by the schema")
      assert.strictEqual(closed({ type: "object" }, `{}`), "valid")
    })

    it("refuses them inside too, where the inside is described", () => {
      const schema = {
        properties: {
          options: { properties: { force: { type: "boolean" } } },
          labels: { type: "object", additionalProperties: { type: "string" } },
          free: { type: "object" },
          list: { items: { properties: { a: {} } } }
        }
      }
      assert.strictEqual(closed(schema, `{"options":{"force":true}}`), "valid")
      assert.strictEqual(
        closed(schema, `{"options":{"Force":true}}`),
        "invalid /options/Force: is not declared by the schema"
      )
      assert.strictEqual(closed(schema, `{"list":[{"b":1}]}`), "invalid /list/0/b: is not declared by the schema")
      assert.strictEqual(closed(schema, `{"labels":{"any":"x"},"free":{"any":1}}`), "valid")
      assert.strictEqual(closed(schema, `{"labels":{"any":1}}`), "invalid /labels/any: must be string")
    })

    it("counts what alternatives and references declare", () => {
      const schema = {
        allOf: [{ properties: { a: {} } }],
        anyOf: [{ properties: { b: {} }, required: ["b"] }, { properties: { c: {} }, required: ["c"] }],
        $ref: "#/$defs/d",
        $defs: { d: { properties: { d: {} } } }
      }
      assert.strictEqual(closed(schema, `{"a":1,"b":1,"d":1}`), "valid")
      assert.strictEqual(closed(schema, `{"b":1,"c":1}`), "valid")
      assert.strictEqual(closed(schema, `{"b":1,"e":1}`), "invalid /e: is not declared by the schema")
    })

    it("never makes valid what is not valid when open", () => {
      const schema = fc.object({
        key: fc.constantFrom("type", "properties", "a", "b", "items", "anyOf", "required"),
        maxDepth: 3
      })
      fc.assert(fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
        const check = Check.compile(T.fromValue(schema))
        const text = T.fromValue(value)
        if (Check.check(check, text, { closed: true })._tag !== "Valid") return
        assert.notStrictEqual(Check.check(check, text)._tag, "Invalid")
      }))
    })
  })

  it("F9: no value and no schema takes more steps than the budget", () => {
    const deep = (n: number) => `${"[".repeat(n)}1${"]".repeat(n)}`
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ items: { $ref: "#" } }, deep(500)],
      [{ uniqueItems: true }, `[${Array.from({ length: 9_000 }, (_, i) => i).join(",")}]`],
      [{ anyOf: Array.from({ length: 50 }, (_, i) => ({ items: { const: i } })) }, `[${"7,".repeat(30_000)}8]`],
      [{
        $ref: "#/$defs/a",
        $defs: {
          a: { anyOf: [{ $ref: "#/$defs/b" }, { $ref: "#/$defs/b" }] },
          b: { anyOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] }
        }
      }, "1"],
      [{ pattern: "^(a|b|ab)*c$" }, `"${"ab".repeat(30_000)}"`]
    ]
    for (const [schema, value] of cases) {
      const meter = { left: 10_000 }
      const outcome = run(schema, value, { meter })
      assert.match(outcome, /^undecided/)
      // One step more than there are is never done: what is charged is charged before it is done.
      assert.isTrue(meter.left < 0 || outcome.includes("too deeply"), outcome)
    }
  })

  it("F9: uses no more than so many patterns of a schema", () => {
    const schema = { allOf: Array.from({ length: Check.limits.patterns + 1 }, (_, i) => ({ pattern: `^a{0,${i}}` })) }
    assert.match(run(schema, `"a"`), /^undecided : the schema has a pattern/)
    assert.strictEqual(run({ allOf: schema.allOf.slice(1) }, `"a"`), "valid")
  })

  it("F8: compares numbers by all of their digits", () => {
    assert.isFalse(isValid({ maximum: 1000 }, "1000.00000000000000001"))
    assert.isFalse(isValid({ const: 1 }, "1.0000000000000000000001"))
    assert.isTrue(isValid({ const: 100 }, "1e2"))
    assert.isFalse(isValid({ maximum: 5 }, "1e1000000000"))
    assert.isUndefined(isValid({ multipleOf: 7 }, "1e1000000000"))
  })

  it("tells what a schema declares, for the rules that look at it", () => {
    const check = Check.compile(T.fromValue({
      properties: { path: {}, options: { $ref: "#/$defs/o" }, list: { items: {} }, free: {} },
      anyOf: [{ properties: { url: {} } }],
      $defs: { o: { properties: { force: {} } } }
    }))
    for (const path of [["path"], ["url"], ["options", "force"], ["free", "x"], ["list", "x"]]) {
      assert.deepStrictEqual(Check.declares(check, path), { declared: true }, path.join("."))
    }
    assert.deepStrictEqual(Check.declares(check, ["pth"]), {
      declared: false,
      names: ["path", "options", "list", "free", "url"]
    })
    assert.deepStrictEqual(Check.declares(check, ["options", "forse"]), { declared: false, names: ["force"] })
  })
})

describe("Decimal", () => {
  it("F8: gives a number for arithmetic only if it is exactly what is written", () => {
    const table: ReadonlyArray<readonly [string, bigint | number | undefined]> = [
      ["1", 1n],
      ["-0", 0n],
      ["1.0", 1],
      ["0.1", 0.1],
      ["1e2", 100],
      ["9223372036854775807", 9223372036854775807n],
      ["9223372036854775808", undefined],
      ["9007199254740993", 9007199254740993n],
      ["9007199254740993.0", undefined],
      ["1000.00000000000000001", undefined],
      ["1e400", undefined],
      ["1e-400", undefined],
      ["0e400", 0],
      ["10000000000000000000000", 1e22],
      ["1".repeat(500), undefined]
    ]
    for (const [text, value] of table) assert.strictEqual(Decimal.exact(text), value, text)
  })

  it("orders as integers do", () => {
    fc.assert(fc.property(fc.bigInt(), fc.bigInt(), fc.nat(5), (a, b, zeros) => {
      const one = Decimal.parse(`${a}e${zeros}`)
      const other = Decimal.parse(`${b}${"0".repeat(zeros)}`)
      if (one === undefined || other === undefined) throw new Error("not read")
      assert.strictEqual(Math.sign(Decimal.compare(one, other)), a < b ? -1 : a > b ? 1 : 0)
    }))
  })
})
