import { assert, describe, it } from "@effect/vitest"
import * as Drift from "@sallyport/core/pin/Drift"
import * as fc from "fast-check"
import { raw, text } from "./support.ts"

type Grade = Drift.Class | "none"

const grade = (before: unknown, after: unknown): Grade =>
  Drift.between("tool", text(before), text(after))?.class ?? "none"

/** Every string that the cases use stands in both definitions, so that none is new. */
const words = [
  [
    "string",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "null",
    "a",
    "b",
    "c",
    "id",
    "email",
    "date",
    "x",
    "#/$defs/d"
  ],
  [
    "type",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "items",
    "prefixItems",
    "enum",
    "const"
  ],
  [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "multipleOf",
    "pattern",
    "format",
    "uniqueItems"
  ],
  [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "$defs",
    "$ref",
    "d",
    "description",
    "title",
    "default",
    "examples",
    "deprecated"
  ],
  ["propertyNames", "unevaluatedProperties", "minItems", "unknown", "$comment", "nullable", "#/properties/a"]
]

const within = (schema: unknown) => ({ name: "t", inputSchema: schema, _meta: words })

const schemas = (before: unknown, after: unknown): Grade => grade(within(before), within(after))

describe("schemas", () => {
  const cases: ReadonlyArray<readonly [what: string, before: unknown, after: unknown, expected: Grade]> = [
    ["the same", { type: "string" }, { type: "string" }, "none"],
    ["type narrower", { type: ["string", "number"] }, { type: "string" }, "narrowing"],
    ["type reordered", { type: ["string", "number"] }, { type: ["number", "string"] }, "cosmetic"],
    ["number to integer", { type: "number" }, { type: "integer" }, "narrowing"],
    ["integer to number", { type: "integer" }, { type: "number" }, "widening"],
    ["type gone", { type: "string" }, {}, "widening"],
    ["type new", {}, { type: "string" }, "narrowing"],
    ["enum smaller", { enum: ["a", "b"] }, { enum: ["a"] }, "narrowing"],
    ["enum bigger", { enum: ["a"] }, { enum: ["a", "b"] }, "widening"],
    ["enum reordered", { enum: ["a", "b"] }, { enum: ["b", "a"] }, "cosmetic"],
    ["enum to const", { enum: ["a", "b"] }, { const: "a" }, "narrowing"],
    ["const to enum of it", { const: "a" }, { enum: ["a"] }, "cosmetic"],
    ["const another", { const: "a" }, { const: "b" }, "widening"],
    ["enum gone", { enum: ["a"] }, {}, "widening"],
    ["minimum higher", { minimum: 1 }, { minimum: 2 }, "narrowing"],
    ["minimum lower", { minimum: 2 }, { minimum: 1 }, "widening"],
    ["minimum new", {}, { minimum: -1 }, "narrowing"],
    ["minimum gone", { minimum: 1 }, {}, "widening"],
    ["maximum lower", { maximum: 2 }, { maximum: -1 }, "narrowing"],
    ["maxLength higher", { maxLength: 2 }, { maxLength: 3 }, "widening"],
    ["multipleOf another", { multipleOf: 2 }, { multipleOf: 4 }, "widening"],
    ["pattern new", {}, { pattern: "a" }, "narrowing"],
    ["pattern gone", { pattern: "a" }, {}, "widening"],
    ["pattern another", { pattern: "a" }, { pattern: "b" }, "text"],
    ["format new", {}, { format: "email" }, "narrowing"],
    ["uniqueItems on", {}, { uniqueItems: true }, "narrowing"],
    ["uniqueItems off", { uniqueItems: true }, { uniqueItems: false }, "widening"],
    ["required more", { required: ["a"] }, { required: ["a", "b"] }, "narrowing"],
    ["required less", { required: ["a", "b"] }, { required: ["a"] }, "widening"],
    ["required reordered", { required: ["a", "b"] }, { required: ["b", "a"] }, "cosmetic"],
    ["required of an old draft", { required: true }, { required: false }, "widening"],
    ["property new", { properties: {} }, { properties: { a: {} } }, "widening"],
    ["property new but never allowed", { properties: {} }, { properties: { a: false } }, "narrowing"],
    ["property gone, others allowed", { properties: { a: {} } }, { properties: {} }, "widening"],
    ["property gone, others not allowed", { properties: { a: {} }, additionalProperties: false }, {
      properties: {},
      additionalProperties: false
    }, "narrowing"],
    ["property narrower", { properties: { a: {} } }, { properties: { a: { type: "string" } } }, "narrowing"],
    ["additionalProperties closed", {}, { additionalProperties: false }, "narrowing"],
    ["additionalProperties opened", { additionalProperties: false }, {}, "widening"],
    ["items narrower", { items: {} }, { items: { type: "string" } }, "narrowing"],
    ["items tuple of an old draft", { items: [{}] }, { items: [{ type: "string" }] }, "text"],
    ["prefixItems narrower", { prefixItems: [{}] }, { prefixItems: [{ type: "string" }] }, "narrowing"],
    ["anyOf branch gone", { anyOf: [{ type: "a" }, { type: "b" }] }, { anyOf: [{ type: "b" }] }, "narrowing"],
    ["anyOf branch new", { anyOf: [{ type: "a" }] }, { anyOf: [{ type: "b" }, { type: "a" }] }, "widening"],
    [
      "anyOf reordered",
      { anyOf: [{ type: "a" }, { type: "b" }] },
      { anyOf: [{ type: "b" }, { type: "a" }] },
      "cosmetic"
    ],
    ["anyOf branch narrower", { anyOf: [{ type: "a" }, {}] }, { anyOf: [{ type: "a" }, { minimum: 1 }] }, "narrowing"],
    ["allOf branch new", { allOf: [{ type: "a" }] }, { allOf: [{ type: "a" }, { minimum: 1 }] }, "narrowing"],
    ["allOf branch gone", { allOf: [{ type: "a" }, { minimum: 1 }] }, { allOf: [{ type: "a" }] }, "widening"],
    ["oneOf narrower inside", { oneOf: [{ minimum: 1 }] }, { oneOf: [{ minimum: 2 }] }, "widening"],
    ["not narrower inside", { not: { minimum: 1 } }, { not: { minimum: 2 } }, "widening"],
    ["if changed", { if: { minimum: 1 } }, { if: { minimum: 2 } }, "widening"],
    ["$defs narrower", { $defs: { d: { minimum: 1 } } }, { $defs: { d: { minimum: 2 } } }, "widening"],
    [
      "$ref elsewhere makes narrower undecidable",
      { properties: { a: { minimum: 1 }, b: { $ref: "#/properties/a" } } },
      { properties: { a: { minimum: 2 }, b: { $ref: "#/properties/a" } } },
      "widening"
    ],
    ["$ref to definitions does not", { properties: { a: { minimum: 1 }, b: { $ref: "#/$defs/d" } } }, {
      properties: { a: { minimum: 2 }, b: { $ref: "#/$defs/d" } }
    }, "narrowing"],
    ["unevaluated makes narrower undecidable", { unevaluatedProperties: false, minimum: 1 }, {
      unevaluatedProperties: false,
      minimum: 2
    }, "widening"],
    ["schema to false", { properties: { a: {} } }, { properties: { a: false } }, "narrowing"],
    ["schema from false", { properties: { a: false } }, { properties: { a: {} } }, "widening"],
    ["true is the empty schema", { properties: { a: true } }, { properties: { a: {} } }, "cosmetic"],
    ["description gone", { description: "a" }, {}, "widening"],
    ["description of a word that stood elsewhere", {}, { description: "a" }, "text"],
    ["title gone", { title: "a" }, {}, "cosmetic"],
    ["comment gone", { $comment: "a" }, {}, "cosmetic"],
    ["examples fewer", { examples: ["a", "b"] }, { examples: ["b"] }, "cosmetic"],
    ["default flipped", { default: true }, { default: false }, "widening"],
    ["default another word", { default: "a" }, { default: "b" }, "text"],
    ["unknown keyword", { unknown: 1 }, { unknown: 2 }, "widening"],
    ["nullable", {}, { nullable: true }, "widening"],
    ["narrower and wider", { minimum: 1, maximum: 2 }, { minimum: 2, maximum: 3 }, "widening"]
  ]
  for (const [what, before, after, expected] of cases) {
    it(what, () => assert.strictEqual(schemas(before, after), expected))
  }

  it("compares numbers by their exact value", () => {
    const tool = (number: string) => raw(`{"name":"t","inputSchema":{"type":"object","minimum":${number}}}`)
    const numbers: ReadonlyArray<readonly [string, string, Grade]> = [
      ["1", "1.0", "cosmetic"],
      ["10", "1e1", "cosmetic"],
      ["0", "-0", "cosmetic"],
      ["0.000", "0e5", "cosmetic"],
      ["12345678901234567890", "12345678901234567891", "narrowing"],
      ["12345678901234567891", "12345678901234567890", "widening"],
      ["1000", "1000.00000000000000001", "narrowing"],
      ["-2", "-1", "narrowing"],
      ["-1", "-1.5", "widening"],
      ["0", "0.001", "narrowing"],
      ["0.1", "0.01", "widening"],
      ["1e400", "1e500", "narrowing"],
      ["1e1000000000", "1e1000000001", "narrowing"],
      ["1", "1e99999999999999999999", "widening"]
    ]
    for (const [before, after, expected] of numbers) {
      assert.strictEqual(Drift.between("tool", tool(before), tool(after))?.class, expected, `${before} to ${after}`)
    }
  })
})

describe("other fields", () => {
  const base = { name: "t", inputSchema: { type: "object" }, _meta: ["readOnlyHint", "title", "b"] }
  const all = { readOnlyHint: true, destructiveHint: true, idempotentHint: false, openWorldHint: true }
  const annotated = (annotations: unknown) => ({ ...base, annotations })
  const cases: ReadonlyArray<readonly [what: string, before: unknown, after: unknown, expected: Grade]> = [
    ["order of members", { name: "t", inputSchema: {} }, { inputSchema: {}, name: "t" }, "none"],
    ["title changed", { ...base, title: "a" }, { ...base, title: "b" }, "text"],
    ["title gone", { ...base, title: "a" }, base, "cosmetic"],
    ["description changed", { ...base, description: "a" }, { ...base, description: "b" }, "text"],
    ["description gone", { ...base, description: "a" }, base, "widening"],
    ["annotations gone", annotated(all), base, "privilege"],
    ["readOnlyHint on", annotated({ readOnlyHint: false }), annotated({ readOnlyHint: true }), "privilege"],
    ["readOnlyHint off", annotated({ readOnlyHint: true }), annotated({ readOnlyHint: false }), "privilege"],
    ["destructiveHint off", annotated(all), annotated({ ...all, destructiveHint: false }), "privilege"],
    [
      "destructiveHint gone",
      annotated({ destructiveHint: true, readOnlyHint: false }),
      annotated({ readOnlyHint: false }),
      "privilege"
    ],
    ["a hint of what is assumed anyway", annotated({}), annotated({ readOnlyHint: false }), "cosmetic"],
    ["an unknown negative annotation gone", annotated({ neverUnattended: true }), annotated({}), "privilege"],
    ["annotation title", annotated({ title: "a" }), annotated({ title: "b" }), "text"],
    ["empty annotations gone", annotated({}), base, "cosmetic"],
    ["output schema gone", { ...base, outputSchema: {} }, base, "widening"],
    [
      "output schema wider",
      { ...base, outputSchema: { minimum: 2 } },
      { ...base, outputSchema: { minimum: 1 } },
      "widening"
    ],
    ["icon gone", { ...base, icons: [{ src: "a" }, { src: "b" }] }, { ...base, icons: [{ src: "b" }] }, "cosmetic"],
    ["icon new", { ...base, icons: [{ src: "a" }] }, { ...base, icons: [{ src: "a" }, { src: "c" }] }, "text"],
    ["meta gone", { ...base, _meta: { a: 1 } }, { ...base, _meta: {} }, "widening"],
    ["meta number", { ...base, _meta: { a: 1 } }, { ...base, _meta: { a: 2 } }, "widening"],
    [
      "execution",
      { ...base, execution: { taskSupport: "b" } },
      { ...base, execution: { taskSupport: "title" } },
      "text"
    ],
    [
      "a member called __proto__",
      base,
      JSON.parse(
        "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"_meta\":[\"readOnlyHint\",\"title\",\"b\"],\"__proto__\":1}"
      ),
      "text"
    ]
  ]
  for (const [what, before, after, expected] of cases) {
    it(what, () => assert.strictEqual(grade(before, after), expected))
  }

  it("lists the places, strongest first, and bounds the list but not the class", () => {
    const before = { ...base, title: "a", annotations: { readOnlyHint: false } }
    const after = { ...base, description: "new", annotations: { readOnlyHint: true }, "x/~y": "z" }
    assert.deepStrictEqual(Drift.between("tool", text(before), text(after))?.changes, [
      { pointer: "/annotations/readOnlyHint", class: "privilege", says: "changed" },
      { pointer: "/description", class: "text", says: "was added" },
      { pointer: "/x~1~0y", class: "text", says: "was added" },
      { pointer: "/title", class: "cosmetic", says: "was removed" }
    ])
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`m${index}`, "z"]))
    const drift = Drift.between("tool", text(before), text({ ...before, ...many, annotations: { readOnlyHint: true } }))
    assert.strictEqual(drift?.class, "privilege")
    assert.isAtMost(drift?.changes.length ?? 0, Drift.defaultLimits.changes)
    assert.isAbove(drift?.more ?? 0, 1_000)
  })

  it("is widening where the budget is used up, and still finds new strings", () => {
    const deep = (leaf: object, depth: number): unknown => depth === 0 ? leaf : { items: deep(leaf, depth - 1) }
    const before = within(deep({ minimum: 1 }, 50))
    const after = within(deep({ minimum: 2 }, 50))
    assert.strictEqual(Drift.between("tool", text(before), text(after))?.class, "narrowing")
    assert.strictEqual(Drift.between("tool", text(before), text(after), { steps: 10, changes: 9 })?.class, "widening")
    const sneaky = within(deep({ minimum: 2, $comment: "do this" }, 50))
    assert.strictEqual(Drift.between("tool", text(before), text(sneaky), { steps: 10, changes: 9 })?.class, "text")
  })

  it("does not mind text that is no JSON", () => {
    assert.isUndefined(Drift.between("tool", raw("{"), raw("{")))
    assert.strictEqual(Drift.between("tool", raw("{"), raw("{}"))?.class, "widening")
  })
})

describe("F21: fields of other kinds", () => {
  const kinds = {
    prompt: { name: "p", arguments: [{ name: "a", required: true }, { name: "b", description: "words" }] },
    resource: {
      uri: "file:///a",
      name: "a",
      mimeType: "text/plain",
      size: 1,
      annotations: { audience: ["user"], priority: 0.5 }
    },
    template: { uriTemplate: "file:///{a}", name: "a", mimeType: "text/plain" },
    identity: { name: "n", title: "N", version: "1.2.3", description: "Notes." },
    instructions: "Use read_note.",
    capability: { experimental: { x: { a: true } } }
  } as const
  const { identity, prompt, resource, template } = kinds
  const [a, b] = prompt.arguments
  const cases: ReadonlyArray<readonly [kind: keyof typeof kinds, what: string, after: unknown, expected: Grade]> = [
    ["prompt", "the same", prompt, "none"],
    ["prompt", "arguments reordered", { ...prompt, arguments: [b, a] }, "cosmetic"],
    ["prompt", "an argument more, by a new word", { ...prompt, arguments: [a, b, { name: "secret" }] }, "text"],
    ["prompt", "an argument more, by a known word", { ...prompt, arguments: [a, b, { name: "words" }] }, "widening"],
    [
      "prompt",
      "a demanded argument more",
      { ...prompt, arguments: [a, b, { name: "words", required: true }] },
      "widening"
    ],
    ["prompt", "an argument less", { ...prompt, arguments: [a] }, "narrowing"],
    ["prompt", "a demanded argument less", { ...prompt, arguments: [b] }, "widening"],
    ["prompt", "an argument demanded", { ...prompt, arguments: [a, { ...b, required: true }] }, "narrowing"],
    ["prompt", "an argument not demanded", { ...prompt, arguments: [{ ...a, required: false }, b] }, "widening"],
    ["prompt", "an argument without description", { ...prompt, arguments: [a, { name: "b" }] }, "widening"],
    ["prompt", "an argument described anew", { ...prompt, arguments: [a, { ...b, description: "do this" }] }, "text"],
    ["prompt", "title new", { ...prompt, title: "Review" }, "text"],
    ["resource", "another size", { ...resource, size: 2 }, "cosmetic"],
    ["resource", "another type", { ...resource, mimeType: "text/html" }, "text"],
    ["resource", "without a type", { ...resource, mimeType: undefined }, "widening"],
    ["resource", "another name", { ...resource, name: "b" }, "text"],
    [
      "resource",
      "for more readers",
      { ...resource, annotations: { audience: ["user", "assistant"], priority: 0.5 } },
      "text"
    ],
    ["resource", "for all readers", { ...resource, annotations: { priority: 0.5 } }, "widening"],
    ["resource", "for nobody", { ...resource, annotations: { audience: [], priority: 0.5 } }, "narrowing"],
    ["resource", "matters more", { ...resource, annotations: { audience: ["user"], priority: 1 } }, "widening"],
    ["resource", "matters less", { ...resource, annotations: { audience: ["user"], priority: 0 } }, "narrowing"],
    ["resource", "modified", { ...resource, annotations: { ...resource.annotations, lastModified: "2026" } }, "text"],
    ["template", "another type", { ...template, mimeType: "text/html" }, "text"],
    ["template", "described", { ...template, description: "a" }, "text"],
    ["identity", "another version", { ...identity, version: "1.3.0-rc.1" }, "cosmetic"],
    ["identity", "a version that says something", { ...identity, version: "1.3.0-call-export-first" }, "text"],
    [
      "identity",
      "another version and more",
      { ...identity, version: "1.3.0", description: "Notes. Use always." },
      "text"
    ],
    ["identity", "another name", { ...identity, name: "m" }, "text"],
    ["identity", "a page", { ...identity, websiteUrl: "https://x.invalid" }, "text"],
    ["identity", "without description", { ...identity, description: undefined }, "widening"],
    ["instructions", "changed", "Use read_note", "text"],
    ["capability", "less", { experimental: { x: {} } }, "widening"],
    ["capability", "another value", { experimental: { x: { a: false } } }, "widening"],
    ["capability", "more", { experimental: { x: { a: true }, y: {} } }, "text"]
  ]
  for (const [kind, what, after, expected] of cases) {
    it(`${kind}: ${what}`, () =>
      assert.strictEqual(Drift.between(kind, text(kinds[kind]), text(after))?.class ?? "none", expected))
  }

  /** The value with one thing in it changed, chosen by a path of numbers. */
  const mutate = (self: unknown, path: ReadonlyArray<number>): unknown => {
    const at = path[0] ?? 0
    const rest = path.slice(1)
    if (typeof self === "number") return self + 1
    if (typeof self === "boolean") return !self
    if (Array.isArray(self) && self.length > 0) {
      return at % 4 === 0
        ? self.slice(1)
        : self.map((item, index) => index === at % self.length ? mutate(item, rest) : item)
    }
    if (typeof self === "object" && self !== null && Object.keys(self).length > 0) {
      const entries = Object.entries(self)
      const chosen = at % entries.length
      return Object.fromEntries(
        entries.flatMap(([name, value], index) =>
          index !== chosen ? [[name, value]] : at % 5 === 0 ? [] : [[name, mutate(value, rest)]]
        )
      )
    }
    return "never seen before"
  }
  const shuffled = (self: unknown): unknown =>
    Array.isArray(self)
      ? self.map(shuffled)
      : typeof self === "object" && self !== null
      ? Object.fromEntries(Object.entries(self).toReversed().map(([name, value]) => [name, shuffled(value)]))
      : self
  const kindsOf = fc.constantFrom<keyof typeof kinds>(
    "prompt",
    "resource",
    "template",
    "identity",
    "instructions",
    "capability"
  )

  it("equal definitions never drift, and every single change is found", () => {
    fc.assert(
      fc.property(kindsOf, fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }), (kind, path) => {
        const before = kinds[kind]
        assert.isUndefined(Drift.between(kind, text(before), text(shuffled(before))))
        const after = mutate(before, path)
        if (JSON.stringify(after) === JSON.stringify(before)) return
        const drift = Drift.between(kind, text(before), text(after))
        assert.isDefined(drift, JSON.stringify(after))
        assert.isAbove(drift?.changes.length ?? 0, 0)
        if (JSON.stringify(after).includes("never seen before")) {
          assert.isTrue(Drift.isAtLeast(drift?.class ?? "cosmetic", "text"), JSON.stringify(after))
        }
      }),
      { numRuns: 1_000 }
    )
  })
})

describe("for all definitions", () => {
  const leaf = fc.oneof(
    fc.record({ type: fc.constantFrom("string", "integer", "number", "boolean") }),
    fc.record({
      type: fc.constant("integer"),
      minimum: fc.integer({ min: -2, max: 3 }),
      maximum: fc.integer({ min: 0, max: 4 })
    }, { requiredKeys: ["type"] }),
    fc.record({ exclusiveMinimum: fc.integer({ min: -1, max: 3 }) }),
    fc.record({ minLength: fc.integer({ min: 0, max: 3 }), maxLength: fc.integer({ min: 0, max: 3 }) }, {
      requiredKeys: []
    }),
    fc.record({ enum: fc.subarray<unknown>([1, 2, "a", "b", true, null], { minLength: 1 }) }),
    fc.record({ const: fc.constantFrom<unknown>(1, "a", null) }),
    fc.constant(true),
    fc.constant(false),
    fc.constant({})
  )
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      leaf,
      fc.record({
        type: fc.constant("object"),
        properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { noNullPrototype: true }),
        required: fc.subarray(["a", "b"]),
        additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
        propertyNames: fc.record({ enum: fc.subarray(["a", "b", "c"], { minLength: 1 }) })
      }, { requiredKeys: [] }),
      fc.record({ items: tie("schema"), maxItems: fc.integer({ min: 0, max: 2 }), uniqueItems: fc.boolean() }, {
        requiredKeys: []
      }),
      fc.record({ prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), items: tie("schema") }, {
        requiredKeys: ["prefixItems"]
      }),
      fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
      fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
      fc.record({ not: tie("schema") })
    )
  }))

  /** The same schema with something in it changed, so that the two are related more often than by chance. */
  const mutated = (self: unknown, seed: number): unknown => {
    if (typeof self !== "object" || self === null) return self === true ? { minimum: 1 } : self
    const entries = Object.entries(self)
    if (entries.length === 0) return seed % 2 === 0 ? { minimum: 1 } : { type: "object" }
    const at = seed % entries.length
    return Object.fromEntries(entries.flatMap(([name, value], index) => {
      if (index !== at) return [[name, value]]
      if (seed % 5 === 0) return []
      if (typeof value === "number") return [[name, value + (seed % 3) - 1]]
      if (Array.isArray(value) && seed % 3 === 0) return [[name, value.slice(1)]]
      if (Array.isArray(value)) {
        return [[
          name,
          value.map((item: unknown) => typeof item === "object" ? mutated(item, Math.floor(seed / 3)) : item)
        ]]
      }
      if (typeof value === "boolean") return [[name, !value]]
      return [[name, mutated(value, Math.floor(seed / 3))]]
    }))
  }
  const pair = fc.oneof(
    fc.tuple(schema, schema),
    fc.tuple(schema, fc.nat(10_000)).map(([one, seed]): [unknown, unknown] => [one, mutated(one, seed)]),
    fc.tuple(schema, fc.nat(10_000)).map(([one, seed]): [unknown, unknown] => [mutated(one, seed), one])
  )

  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value)

  /** JSON Schema as far as the schemas above use it. */
  const valid = (self: unknown, value: unknown): boolean => {
    if (typeof self === "boolean") return self
    if (!isObject(self)) return true
    const number = (name: string) => typeof self[name] === "number" ? self[name] : undefined
    const list = (name: string) => Array.isArray(self[name]) ? self[name] : undefined
    if ("type" in self) {
      const fits: Record<string, boolean> = {
        string: typeof value === "string",
        number: typeof value === "number",
        integer: Number.isInteger(value),
        boolean: typeof value === "boolean",
        object: isObject(value)
      }
      if (!fits[String(self["type"])]) return false
    }
    const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right)
    if ("const" in self && !same(self["const"], value)) return false
    if (list("enum")?.every((item) => !same(item, value))) return false
    if (typeof value === "number") {
      if (value < (number("minimum") ?? -Infinity) || value > (number("maximum") ?? Infinity)) return false
      if (value <= (number("exclusiveMinimum") ?? -Infinity)) return false
    }
    if (typeof value === "string") {
      if (value.length < (number("minLength") ?? 0) || value.length > (number("maxLength") ?? Infinity)) return false
    }
    if (Array.isArray(value)) {
      const prefix = list("prefixItems") ?? []
      if (!value.every((item, index) => valid(index < prefix.length ? prefix[index] : self["items"] ?? true, item))) {
        return false
      }
      if (value.length > (number("maxItems") ?? Infinity)) return false
      if (self["uniqueItems"] === true && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
        return false
      }
    }
    if (isObject(value)) {
      const properties = isObject(self["properties"]) ? self["properties"] : {}
      if (!(list("required") ?? []).every((name) => String(name) in value)) return false
      for (const [name, member] of Object.entries(value)) {
        if (!valid(name in properties ? properties[name] : self["additionalProperties"] ?? true, member)) return false
        if (!valid(self["propertyNames"] ?? true, name)) return false
      }
    }
    if (list("anyOf")?.every((branch) => !valid(branch, value))) return false
    if (list("allOf")?.some((branch) => !valid(branch, value))) return false
    const one = list("oneOf")
    if (one !== undefined && one.filter((branch) => valid(branch, value)).length !== 1) return false
    return !("not" in self && valid(self["not"], value))
  }

  const scalars: ReadonlyArray<unknown> = [-2, -1, 0, 1, 2, 3, 4, 1.5, "", "a", "b", "abc", "abcd", true, false, null]
  const values: ReadonlyArray<unknown> = [
    ...scalars,
    [],
    ...scalars.map((value) => [value]),
    ["a", "a"],
    [1, 2, 3],
    ["a", 1],
    [{ a: 1 }],
    {},
    ...scalars.flatMap((
      value
    ) => [{ a: value }, { b: value }, { c: value }, { a: 1, b: value }, { a: "a", b: value, c: value }]),
    { a: { a: 1 } },
    { a: ["a"] },
    { b: { b: "a" } }
  ]

  it("narrowing and cosmetic allow nothing that was not allowed", () => {
    let decided = 0
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const found = schemas(before, after)
        if (found !== "narrowing" && found !== "cosmetic" && found !== "none") return
        if (found !== "none") decided++
        for (const value of values) {
          if (valid(after, value)) assert.isTrue(valid(before, value), JSON.stringify({ found, before, after, value }))
          if (found === "cosmetic") {
            assert.strictEqual(valid(before, value), valid(after, value), JSON.stringify({ before, after, value }))
          }
        }
      }),
      { numRuns: 5_000 }
    )
    // Else the property says nothing.
    assert.isAbove(decided, 200)
  })

  it("is none for the same and never throws", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      assert.strictEqual(grade(one, one), "none")
      if (JSON.stringify(one) === JSON.stringify(other)) return
      assert.isTrue([...Drift.classes, "none"].includes(grade(one, other)))
    }))
  })

  it("is at least text for any string that was not there", () => {
    const place = (self: unknown, path: ReadonlyArray<number>, put: string): unknown => {
      const at = path[0] ?? 0
      if (Array.isArray(self)) {
        return self.length === 0 || path.length === 1
          ? [...self, put]
          : self.map((item, index) => index === at % self.length ? place(item, path.slice(1), put) : item)
      }
      if (!isObject(self)) return put
      const entries = Object.entries(self)
      if (entries.length === 0 || path.length === 1) return { ...self, [put]: 1 }
      return Object.fromEntries(
        entries.map((
          [name, value],
          index
        ) => [name, index === at % entries.length ? place(value, path.slice(1), put) : value])
      )
    }
    fc.assert(
      fc.property(schema, fc.array(fc.nat(9), { minLength: 1, maxLength: 5 }), (schema, path) => {
        const before = { name: "t", annotations: { readOnlyHint: true }, inputSchema: schema }
        const after = place(before, path, "never seen before")
        assert.isTrue(
          Drift.isAtLeast(Drift.between("tool", text(before), text(after))?.class ?? "cosmetic", "text"),
          JSON.stringify({ before, after })
        )
      }),
      { numRuns: 1_000 }
    )
  })

  it("is privilege for any hint that changes", () => {
    const hints = fc.record({
      readOnlyHint: fc.boolean(),
      destructiveHint: fc.boolean(),
      idempotentHint: fc.boolean(),
      openWorldHint: fc.boolean()
    }, { requiredKeys: [] })
    const effective = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
    fc.assert(fc.property(hints, hints, (before, after) => {
      const differs = JSON.stringify({ ...effective, ...before }) !== JSON.stringify({ ...effective, ...after })
      if (differs) {
        assert.strictEqual(grade({ name: "t", annotations: before }, { name: "t", annotations: after }), "privilege")
      }
    }))
  })
})
