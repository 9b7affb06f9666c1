import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as fc from "fast-check"
import * as Ask from "../../src/server/Ask.ts"
import { decoder, encoder } from "../../src/server/internal/codec.ts"
import * as publish from "../../src/server/internal/publish.ts"
import * as Json from "../../src/server/Json.ts"
import * as Refusal from "../../src/server/Refusal.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import * as Message from "../../src/wire/Message.ts"
import { opened, serve } from "./harness.ts"

const text = (json: string) => Message.Text.make(json)

class Point extends Schema.Class<Point>("Point")({ x: Schema.Number, y: Schema.Number }) {}

interface Tree {
  readonly value: Json.Json
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  value: Json.Json,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree, Tree> => Tree))
})

describe("what is listed of a schema", () => {
  for (
    const [name, schema, expected] of [
      ["no fields", Schema.Struct({}), { type: "object", properties: {}, additionalProperties: false }],
      ["a record", Schema.Record(Schema.String, Schema.Unknown), { type: "object" }],
      ["Number is a number", Schema.Struct({ n: Schema.Number }), {
        type: "object",
        properties: { n: { type: "number" } },
        required: ["n"],
        additionalProperties: false
      }],
      ["any JSON", Schema.Struct({ v: Schema.optionalKey(Json.Json) }), {
        type: "object",
        properties: { v: {} },
        additionalProperties: false
      }],
      ["a union", Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.Int })]), {
        type: "object",
        anyOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
          {
            type: "object",
            properties: { b: { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 } },
            required: ["b"],
            additionalProperties: false
          }
        ]
      }],
      ["a vendor's keyword", Schema.Struct({ region: Schema.String.annotate({ "x-mcp-header": "Region" }) }), {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" } },
        required: ["region"],
        additionalProperties: false
      }]
    ] as const
  ) it(name, () => assert.deepStrictEqual<unknown>(publish.arguments_(schema), expected))

  it("a class at the root is an object, and keeps its definitions", () => {
    const { $defs, ...root } = publish.arguments_(Point)
    assert.strictEqual(root["type"], "object")
    assert.isUndefined(root["$ref"])
    assert.isUndefined($defs)
    const nested = JSON.stringify(publish.arguments_(Schema.Struct({ from: Point, to: Point })))
    assert.match(nested, /"\$ref":"#\/\$defs\/Point/)
    assert.match(nested, /"\$defs":\{"Point/)
    assert.match(JSON.stringify(publish.arguments_(Tree)), /^\{"type":"object".*"\$defs"/)
  })

  it.effect("a schema of the author's own is listed as it is", () =>
    Effect.gen(function*() {
      const inputSchema = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: { address: { $anchor: "address", type: "object" } },
        properties: { address: { $ref: "#/$defs/address" } },
        if: { properties: { a: { const: 1 } } },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ["b"] },
        else: {},
        allOf: [{ anyOf: [true, false] }],
        additionalProperties: false
      } as const
      const client = yield* opened(
        yield* serve(Server.layerDispatch(
          { name: "x", version: "1" },
          Tool.make("raw", {
            description: "Raw",
            input: Schema.Record(Schema.String, Schema.Unknown),
            inputSchema
          }, (args) => Effect.succeed(JSON.stringify(args)))
        )),
        "2025-11-25"
      )
      assert.include((yield* client.asks("tools/list")).text, `"inputSchema":${JSON.stringify(inputSchema)}`)
      assert.include((yield* client.asks("tools/call", { name: "raw", arguments: { q: [1] } })).text, `{\\"q\\":[1]}`)
    }))
})

describe("reading", () => {
  // As text, since a member __proto__ is none of a literal's.
  const leaf = fc.constantFrom(
    "\"x\"",
    "\"\\\"\"",
    "\"é, \\n\"",
    "\"\"",
    "\"7\"",
    "\"2020-01-01T00:00:00.000Z\"",
    "1",
    "true",
    "null"
  )
  const { object } = fc.letrec<{ readonly value: string; readonly object: string }>((tie) => {
    const member = (name: string, there: number, not: number) =>
      fc.oneof(
        { arbitrary: tie("value").map((value) => [`"${name}":${value}`]), weight: there },
        { arbitrary: fc.constant<Array<string>>([]), weight: not }
      )
    return {
      value: fc.oneof(
        { maxDepth: 2 },
        { arbitrary: leaf, weight: 4 },
        { arbitrary: fc.array(tie("value"), { maxLength: 2 }).map((all) => `[${all}]`), weight: 1 },
        { arbitrary: tie("object"), weight: 2 }
      ),
      object: fc.tuple(member("a", 9, 1), member("b", 1, 1), member("c", 1, 3), member("__proto__", 1, 9))
        .map((members) => `{${members.flat()}}`)
    }
  })
  const inner = Schema.Struct({ a: Schema.optionalKey(Schema.String), b: Schema.optional(Schema.Number) })
  for (
    const [what, schema] of [
      [
        "leaves",
        Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.Finite), c: Schema.optional(Schema.Null) })
      ],
      ["objects in objects", Schema.Struct({ a: inner, b: Schema.optionalKey(Schema.Array(inner)) })],
      [
        "lists",
        Schema.Struct({ a: Schema.Array(Schema.String), b: Schema.optionalKey(Schema.Tuple([Schema.String])) })
      ],
      [
        "strings and booleans",
        Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.Boolean), c: Schema.optionalKey(Schema.String) })
      ],
      [
        "a name that objects have",
        Schema.Struct({ a: Schema.String, ["__proto__"]: Schema.optionalKey(Schema.String) })
      ],
      ["unions", Schema.Struct({ a: Schema.Union([Schema.String, Schema.Array(Schema.Finite), inner]) })],
      ["what becomes something else", Schema.Struct({ a: Schema.optionalKey(Schema.Date), b: Schema.optional(Point) })],
      ["what becomes a number", Schema.Struct({ a: Schema.FiniteFromString, c: Schema.optionalKey(Schema.Unknown) })],
      ["checks", Schema.Struct({ a: Schema.String.check(Schema.isNonEmpty()), b: Schema.optionalKey(Schema.Int) })],
      ["nothing", Schema.Struct({})]
    ] as const
  ) {
    it.effect(`${what}: nothing is taken that the schema does not name, and the words are the schema's own`, () =>
      Effect.gen(function*() {
        const read = decoder<Schema.ConstraintCodec<unknown, unknown>>(schema)
        const strictly = Schema.decodeUnknownEffect<Schema.ConstraintCodec<unknown, unknown>>(
          Schema.toCodecJson<Schema.ConstraintCodec<unknown, unknown>>(schema),
          publish.options
        )
        let taken = 0
        for (const json of fc.sample(object, { numRuns: 400, seed: 7 })) {
          const expected = yield* Effect.result(strictly(JSON.parse(json)))
          const actual = yield* Effect.result(read(text(json)))
          if (Result.isSuccess(expected)) taken++
          assert.deepStrictEqual(actual, Result.mapError(expected, (error) => error.message), json)
        }
        assert.isAbove(taken, 0)
      }))
  }
})

describe("exact JSON", () => {
  const odd = `{"z":1.0,"a":[12345678901234567890,-0,1e400,"\\u2028",{"1":2,"0":1}],"__proto__":{"n":1E+2}}`

  for (
    const [name, schema, json] of [
      ["a value", Json.Json, odd],
      ["a field", Schema.Struct({ value: Json.Json, n: Schema.Int }), `{"value":${odd},"n":1}`],
      ["an optional field", Schema.Struct({ value: Schema.optionalKey(Json.Json) }), `{"value":${odd}}`],
      ["an array", Schema.Array(Json.Json), `[${odd},1.0,null]`],
      ["a tuple", Schema.Tuple([Schema.Int, Json.Json]), `[1,${odd}]`],
      ["a record", Schema.Record(Schema.String, Json.Json), `{"b":${odd},"a":1.0}`],
      [
        "a field of a field",
        Schema.Struct({ a: Schema.Struct({ b: Schema.Array(Json.Json) }) }),
        `{"a":{"b":[${odd}]}}`
      ],
      [
        "one of two",
        Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Json.Json })]),
        `{"b":${odd}}`
      ],
      ["itself", Tree, `{"value":1.0,"children":[{"value":${odd},"children":[]}]}`]
    ] as const
  ) {
    it.effect(`${name} comes back as it came`, () =>
      Effect.gen(function*() {
        const value = yield* Effect.result(decoder(schema)(text(json)))
        assert.strictEqual(value._tag, "Success")
        if (value._tag === "Success") assert.strictEqual<string>(yield* encoder(schema)(value.success), json)
      }))
  }

  it.effect("a number beside it is refused all the same", () =>
    Effect.gen(function*() {
      const words = yield* Effect.flip(
        decoder(Schema.Struct({ value: Json.Json, list: Schema.Array(Schema.Struct({ n: Schema.Number })) }))(
          text(`{"value":9007199254740993,"list":[{"n":1},{"n":9007199254740993}]}`)
        )
      )
      assert.include(words, "9007199254740993 at list[1].n")
    }))

  it("can be made of a value, and looked at", () => {
    assert.strictEqual(Json.fromValue({ a: [1] }).text, `{"a":[1]}`)
    assert.deepStrictEqual(Json.fromText(text(`{"a":1.0}`)).value, { a: 1 })
    assert.strictEqual(JSON.stringify({ v: Json.fromValue([1]) }), `{"v":[1]}`)
  })
})

describe("what cannot be written", () => {
  it.effect("is a defect, and nothing of it is sent", () =>
    Effect.gen(function*() {
      const output = Schema.Struct({ n: Schema.Number })
      const nan = Tool.make("nan", { description: "NaN", output }, () => Effect.succeed({ n: Number.NaN }))
      const cycle: Record<string, unknown> = {}
      cycle["self"] = cycle
      const meta = Tool.make("meta", { description: "A cycle", output }, () =>
        Effect.succeed(Tool.structured({ n: 1 }, { meta: cycle })))
      const data = Tool.make("data", { description: "A bigint" }, () =>
        Effect.fail(new Refusal.Refusal({ code: -32000, message: "secret", data: 1n })))
      const client = yield* opened(
        yield* serve(Server.layerDispatch({ name: "x", version: "1" }, nan, meta, data)),
        "2025-11-25"
      )
      for (const name of ["nan", "meta", "data"]) {
        const answer = yield* client.asks("tools/call", { name })
        assert.include(answer.text, "the server's log says more", name)
      }
    }))
})

describe("forms", () => {
  const choices = Schema.Union([
    Schema.Literal("v1").annotate({ title: "First" }),
    Schema.Literal("v2").annotate({ title: "Second" })
  ])
  const form = Ask.form({
    message: "Choose",
    schema: Schema.Struct({
      one: choices,
      many: Schema.Array(choices),
      plain: Schema.Literals(["a", "b"]).annotate({ default: "a" }),
      age: Schema.optionalKey(Schema.Int)
    })
  })

  it("have choices with titles in the form of each revision", () => {
    const titled = [{ const: "v1", title: "First" }, { const: "v2", title: "Second" }]
    const plain = { type: "string", enum: ["a", "b"], default: "a" }
    const age = { type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }
    const requested = (one: unknown) => ({
      message: "Choose",
      requestedSchema: {
        type: "object",
        properties: { one, many: { type: "array", items: { anyOf: titled } }, plain, age },
        required: ["one", "many", "plain"]
      }
    })
    assert.deepStrictEqual<unknown>(
      JSON.parse(form.params("2025-11-25", "") ?? ""),
      requested({ type: "string", oneOf: titled })
    )
    assert.deepStrictEqual<unknown>(
      JSON.parse(form.params("2025-06-18", "") ?? ""),
      requested({ type: "string", enum: ["v1", "v2"], enumNames: ["First", "Second"] })
    )
  })
})

describe("words", () => {
  class Full extends Schema.TaggedError<Full>()("Full", { size: Schema.Int }) {}
  for (
    const [failure, words] of [
      ["boom", "boom"],
      [new Error("boom"), "boom"],
      [new Full({ size: 3 }), `{"_tag":"Full","size":3}`],
      [{ a: 1 }, `{"a":1}`],
      [null, "null"],
      [7, "7"]
    ] as const
  ) it(words, () => assert.strictEqual(Refusal.wordsOf(failure), words))
})
