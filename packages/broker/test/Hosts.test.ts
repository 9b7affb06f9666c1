import { assert, describe, it } from "@effect/vitest"
import * as Registry from "@sallyport/broker/Registry"
import { isServerName } from "@sallyport/core/pin/Names"
import * as Files from "@sallyport/core/store/Files"
import type * as Document from "@sallyport/core/toml/Document"
import * as Json from "@sallyport/core/toml/Json"
import * as Reader from "@sallyport/core/toml/Reader"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const hosts = (servers: string) => `{\n  "mcpServers": ${servers}\n}\n`
const wrong = (text: string): ReadonlyArray<string> => {
  const found = Registry.parseHosts(text, "h.json")
  return Result.isFailure(found) ? found.failure.map(Reader.format) : ["nothing"]
}

const broken: ReadonlyArray<readonly [what: string, text: string, lines: ReadonlyArray<string>]> = [
  ["no JSON", "{\n  x\n}", ["h.json:2:3: this is not JSON"]],
  ["comments", `{\n  // ours\n  "mcpServers": {}\n}`, ["h.json:2:3: this is not JSON"]],
  ["a file that was cut", `{"mcpServers": {`, ["h.json:1:17: this is not JSON"]],
  ["no object", "[]", ["h.json:1:1: mcpServers is missing"]],
  ["no servers", `{"servers": {}}`, ["h.json:1:1: mcpServers is missing"]],
  ["a list of servers", hosts("[]"), ["h.json:2:17: mcpServers must be a table; this is a list"]],
  ["a server twice", hosts(`{\n"a": {"command": "x"},\n"a": {"command": "y"}}`), [
    "h.json:4:1: this key is there twice"
  ]],
  ["an unknown key", hosts(`{ "a": { "command": "x", "arg": [] } }`), [
    `h.json:2:42: server "a": unknown key "arg"; did you mean "args"?`
  ]],
  ["neither command nor url", hosts(`{ "a": {} }`), [`h.json:2:19: server "a": command or url is missing`]],
  ["an old transport", hosts(`{ "a": { "url": "https://example.com", "type": "sse" } }`), [
    `h.json:2:64: server "a": type must be "http", "streamable-http" or "streamableHttp"; this is "sse"`
  ]],
  ["null for a command", hosts(`{ "a": { "command": null } }`), [
    `h.json:2:37: server "a": command must be a string; this is null`
  ]],
  ["F11: a reference", hosts(`{ "a": { "command": "x", "env": { "T": { "file": "/x" } } } }`), [
    `h.json:2:56: server "a": env.T must be a string; this is a table`
  ]]
]

/** What a tree says, without places. */
const plain = (node: Document.Node): unknown => {
  switch (node._tag) {
    case "Array":
      return node.items.map(plain)
    case "Table":
      return new Map([...node.entries].map(([key, { node }]) => [key, plain(node)]))
    case "Other":
      return node.what
    default:
      return node.value
  }
}
const said = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(said)
  if (value === null) return "null"
  if (typeof value === "object") return new Map(Object.entries(value).map(([key, inner]) => [key, said(inner)]))
  if (typeof value !== "number") return value
  return /^-?\d+$/.test(JSON.stringify(value)) ? BigInt(JSON.stringify(value)) : "a number with a fraction"
}

describe("Registry.parseHosts", () => {
  for (const [what, text, lines] of broken) it(`refuses ${what}`, () => assert.deepStrictEqual(wrong(text), lines))

  it("F11: reads what hosts write; every string is a literal", () => {
    const found = Result.getOrThrow(Registry.parseHosts(
      `{"theme": "dark", "mcpServers": {
        "files": {"type": "stdio", "command": "mcp-files", "args": ["--root"], "env": {"T": "file:/etc/shadow"}},
        "My Notes": {"url": "https://example.com", "headers": {"Authorization": "Bearer x"}, "autoApprove": ["*"]},
        "off": {"command": "x", "disabled": true}
      }}`,
      "h.json"
    ))
    assert.deepStrictEqual([...found.keys()], ["files", Registry.aliasOf("My Notes")])
    const [files, notes] = [...found.values()]
    assert.deepStrictEqual(
      files?.target._tag === "Command" ? [...files.target.env] : undefined,
      [["T", { _tag: "Literal", value: "file:/etc/shadow" }]]
    )
    assert.strictEqual(notes?.called, "My Notes")
    assert.strictEqual(notes?.firstSight, "hold")
    assert.deepStrictEqual(
      notes?.target._tag === "Address" ? [...notes.target.headers] : undefined,
      [["Authorization", { _tag: "Literal", value: "Bearer x" }]]
    )
  })

  it("F18: every name has an alias that can be a name, and names that differ have aliases that differ", () => {
    fc.assert(fc.property(fc.uniqueArray(fc.string({ unit: "grapheme" }), { maxLength: 30 }), (names) => {
      const aliases = names.map(Registry.aliasOf)
      for (const alias of aliases) assert.isTrue(isServerName(alias), alias)
      assert.strictEqual(new Set(aliases).size, names.length)
    }))
  })

  it.effect("is what layerFile reads where the file ends with .json", () =>
    Effect.gen(function*() {
      const { contents } = yield* Files.MemoryFiles
      contents.set("/home/me/hosts.json", hosts(`{ "files": { "command": "x" } }`))
      const registry = yield* Registry.Registry
      assert.deepStrictEqual([...(yield* registry.servers).keys()], ["files"])
    }).pipe(Effect.provide(Registry.layerFile("/home/me/hosts.json").pipe(Layer.provideMerge(Files.layerMemory)))))
})

describe("Json", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(fc.property(fc.json(), fc.boolean(), (json, spaced) => {
      const value: unknown = JSON.parse(json)
      const text = spaced ? JSON.stringify(value, undefined, 2) : json
      assert.deepStrictEqual(plain(Result.getOrThrow(Json.parse(text))), said(JSON.parse(text)))
    }))
  })

  it("reads nothing that JSON.parse does not", () => {
    for (const text of ["", " ", "{", "[1,]", "01", "'a'", "\"a", "nul", "{\"a\" 1}", "[1] 2", "\ufeff{}"]) {
      assert.isTrue(Result.isFailure(Json.parse(text)), text)
    }
  })

  it("ends where values are nested too deeply", () => {
    for (const text of ["[".repeat(65) + "]".repeat(65), "{\"a\":".repeat(66) + "1" + "}".repeat(66)]) {
      assert.include(JSON.stringify(Json.parse(text)), "nested too deeply")
    }
    assert.isTrue(Result.isSuccess(Json.parse("[".repeat(64) + "]".repeat(64))))
  })
})
