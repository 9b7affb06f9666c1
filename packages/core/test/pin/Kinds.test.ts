import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import { Result } from "effect"
import { accepted, at, later, launch, listing, raw, readNote, seen, text } from "./support.ts"

const why = (kind: Pins.Kind, value: unknown): string => {
  const item = Pins.define(kind, text(value))
  return Pins.isInvalid(item) ? item.why : "valid"
}

const prompt = { name: "review", arguments: [{ name: "code", required: true }, { name: "style" }] }
const resource = { uri: "file:///a", name: "a", mimeType: "text/plain", size: 12 }
const template = { uriTemplate: "file:///{path}", name: "files" }
const identity = { name: "notes", version: "1.2.3" }

describe("a definition of each kind", () => {
  const cases: ReadonlyArray<readonly [Pins.Kind, unknown, string]> = [
    ["prompt", prompt, "valid"],
    ["prompt", { name: "a" }, "valid"],
    ["prompt", { name: "" }, "its name is empty"],
    ["prompt", { name: "a", arguments: {} }, "its arguments are not a list"],
    ["prompt", { name: "a", arguments: [{}] }, "an argument has no name"],
    ["prompt", { name: "a", arguments: [{ name: "x" }, { name: "x" }] }, "two arguments have the same name"],
    [
      "prompt",
      { name: "a", arguments: [{ name: "x", required: "yes" }] },
      "what an argument says of required is no boolean"
    ],
    [
      "prompt",
      { name: "a", arguments: [{ name: "x", description: 1 }] },
      "an argument is not valid: its description is not a string"
    ],
    ["prompt", { name: "a", title: 1 }, "its title is not a string"],
    ["prompt", { name: "a", icons: {} }, "its icons are not a list of objects"],
    ["resource", resource, "valid"],
    ["resource", { ...resource, annotations: { audience: ["user"], priority: 0.5, lastModified: "2026" } }, "valid"],
    ["resource", { name: "a" }, "it has no uri"],
    ["resource", { uri: "", name: "a" }, "its uri is empty"],
    ["resource", { uri: "file:///a" }, "it has no name"],
    ["resource", { ...resource, size: "big" }, "its size is not a number"],
    ["resource", { ...resource, mimeType: null }, "its mimeType is not a string"],
    ["resource", { ...resource, annotations: { audience: ["all"] } }, "its annotation audience is not a list of roles"],
    ["resource", { ...resource, annotations: { priority: 2 } }, "its annotation priority is not a number from 0 to 1"],
    ["resource", { ...resource, annotations: { lastModified: 1 } }, "its annotation lastModified is not a string"],
    ["template", template, "valid"],
    ["template", { uri: "file:///a", name: "a" }, "it has no uriTemplate"],
    ["identity", identity, "valid"],
    ["identity", { name: "notes" }, "it has no version"],
    ["identity", { ...identity, websiteUrl: 1 }, "its websiteUrl is not a string"],
    ["instructions", "Use read_note.", "valid"],
    ["instructions", ["Use read_note."], "it is not a string"],
    ["capability", { experimental: { x: {} } }, "valid"],
    ["capability", { "x-own": true }, "valid"],
    ["capability", { tasks: true }, "its tasks is not an object"],
    ["capability", { a: {}, b: {} }, "it is not one member"]
  ]
  for (const [kind, value, expected] of cases) {
    it(`${kind} ${JSON.stringify(value)}`, () => assert.strictEqual(why(kind, value), expected))
  }

  it("F3: is none with a member's name in another case", () => {
    const cases: ReadonlyArray<readonly [Pins.Kind, string, unknown]> = [
      ["prompt", "Arguments", { ...prompt, Arguments: [] }],
      ["prompt", "Required", { name: "a", arguments: [{ name: "x", Required: true }] }],
      ["resource", "URI", { ...resource, URI: "file:///b" }],
      ["resource", "Priority", { ...resource, annotations: { Priority: 1 } }],
      ["template", "uritemplate", { ...template, uritemplate: "x" }],
      ["identity", "Version", { ...identity, Version: "2" }],
      ["identity", "Src", { ...identity, icons: [{ src: "a", Src: "b" }] }],
      ["capability", "Tools", { Tools: {} }]
    ]
    for (const [kind, name, value] of cases) {
      assert.strictEqual(
        why(kind, value),
        `its member ${JSON.stringify(name)} has a protocol member's name in another case`
      )
    }
  })

  it("is named by what the protocol names it by", () => {
    const named = (kind: Pins.Kind, value: unknown) => Pins.define(kind, text(value)).name
    assert.strictEqual(named("prompt", prompt), "review")
    assert.strictEqual(named("resource", resource), "file:///a")
    assert.strictEqual(named("template", template), "file:///{path}")
    assert.strictEqual(named("identity", identity), "identity")
    assert.strictEqual(named("instructions", "x"), "instructions")
    assert.strictEqual(named("capability", { tasks: {} }), "tasks")
  })

  it("F31: has another digest than the same text as another kind", () => {
    const digests = Pins.kinds.map((kind) =>
      Pins.define(kind, text({ name: "a", inputSchema: { type: "object" } })).digest
    )
    assert.lengthOf(new Set(digests), Pins.kinds.length)
    const tool = Pins.define("tool", text({ name: "a", inputSchema: { type: "object" } }))
    const same = Pins.define("prompt", text({ name: "a", inputSchema: { type: "object" } }))
    assert.isFalse(Pins.isInvalid(tool) || Pins.isInvalid(same))
    assert.notStrictEqual(tool.digest, same.digest)
  })
})

describe("F22: the opening", () => {
  it("has identity, instructions and the capabilities that open no listing", () => {
    const result = text({
      protocolVersion: "2025-11-25",
      serverInfo: identity,
      instructions: "Use read_note.",
      capabilities: {
        tools: {},
        logging: {},
        completions: {},
        resources: {},
        prompts: {},
        experimental: { x: {} },
        own: 1
      }
    })
    const { invalid, items, kinds } = Pins.opening(result)
    assert.deepStrictEqual(kinds, ["identity", "instructions", "capability"])
    assert.deepStrictEqual(invalid, [])
    assert.deepStrictEqual(items.map(({ name, text }) => [name, text]), [
      ["identity", raw(`{"name":"notes","version":"1.2.3"}`)],
      ["instructions", raw(`"Use read_note."`)],
      ["experimental", raw(`{"experimental":{"x":{}}}`)],
      ["own", raw(`{"own":1}`)]
    ])
  })

  it("has the identity of 2026-07-28 in the metadata", () => {
    const result = text({ capabilities: {}, _meta: { "io.modelcontextprotocol/serverInfo": identity } })
    assert.deepStrictEqual(Pins.opening(result).items.map(({ kind }) => kind), ["identity"])
  })

  it("is listed also where there is nothing of it", () => {
    assert.deepStrictEqual(Pins.opening(text({})), {
      kinds: ["identity", "instructions", "capability"],
      items: [],
      invalid: []
    })
  })
})

describe("several kinds", () => {
  const prompts = Pins.listing("prompt", [text({ name: "read_note" }), text(prompt)])
  const both = Pins.together([listing(readNote), prompts])

  it("are judged by kind and name", () => {
    const pins = accepted(listing(readNote))
    const judgement = Pins.judge(pins, "2025-11-25", both)
    assert.strictEqual(judgement.find("tool", "read_note")?._tag, "Accepted")
    // The name of an accepted tool says nothing about a prompt.
    assert.strictEqual(judgement.find("prompt", "read_note")?._tag, "New")
    assert.isUndefined(judgement.find("resource", "read_note"))
    assert.strictEqual(judgement.status("prompt", text({ name: "read_note" }))._tag, "New")
  })

  it("that were not listed are not gone", () => {
    const pins = accepted(both)
    assert.lengthOf(pins.pins, 3)
    const judged = (listing: Pins.Listing) => Pins.judge(pins, "2025-11-25", listing)
    assert.deepStrictEqual(judged(listing(readNote)).gone, [])
    assert.deepStrictEqual(judged(Pins.listing("prompt", [])).gone.map(({ name }) => name), ["read_note", "review"])
    const again = Pins.see(pins, seen(listing(readNote)))
    assert.strictEqual(again, pins)
    assert.deepStrictEqual(Pins.judgeSeen(Pins.see(pins, seen(listing()))).gone.map(({ kind }) => kind), ["tool"])
  })

  it("are seen one by one, and a fault is of its kind", () => {
    const failed = Pins.see(accepted(both), seen(Pins.listing("prompt", []), { fault: "too deep" }))
    assert.deepStrictEqual(Pins.faultsOf(failed), [{ kind: "prompt", fault: "too deep" }])
    assert.lengthOf(Pins.seenOf(failed, "prompt")?.items ?? [], 2)
    assert.deepStrictEqual(Pins.heldOf(failed).verdicts, [])
  })

  it("are accepted by kind and name, and in one digest", () => {
    const first = Pins.see(Pins.empty("files"), seen(both, { at }))
    const choice = { items: [{ kind: "prompt", name: "read_note" }] } as const
    const { pins } = Result.getOrThrow(Pins.accept(first, choice, "terminal", later))
    assert.deepStrictEqual(pins.pins.map(({ kind, name }) => [kind, name]), [["prompt", "read_note"]])
    assert.deepStrictEqual(Pins.heldOf(pins).verdicts.map(({ kind, name }) => [kind, name]), [
      ["tool", "read_note"],
      ["prompt", "review"]
    ])
    assert.notStrictEqual(
      Pins.digestOfHeld(first, choice.items),
      Pins.digestOfHeld(first, [{ kind: "tool", name: "read_note" }])
    )
  })

  it("keep each the variant that they were seen in", () => {
    const first = Pins.see(
      Pins.see(Pins.empty("files"), seen(listing(readNote), { at, variant: "one" })),
      seen(prompts, { at, variant: "two" })
    )
    const { pins } = Result.getOrThrow(Pins.accept(first, {}, "terminal", later))
    assert.deepStrictEqual(pins.pins.map(({ kind, variant }) => [kind, variant]).toSorted(), [
      ["prompt", "two"],
      ["prompt", "two"],
      ["tool", "one"]
    ])
    assert.deepStrictEqual(Pins.heldOf(pins).verdicts, [])
  })
})

describe("F23: resources", () => {
  const offered = Pins.together([
    Pins.listing("resource", [text(resource)]),
    Pins.listing("template", [text(template)]),
    Pins.listing("prompt", [text(prompt)])
  ])

  it("are held like everything else", () => {
    const { held } = Pins.judge(Pins.empty("files"), "", offered)
    assert.deepStrictEqual(held.map(({ kind }) => kind), ["prompt", "resource", "template"])
  })

  it("are recorded and not held where any may be read, but for rejected ones", () => {
    const any: Pins.Pins = { ...Pins.empty("files"), launch, resources: "any" }
    assert.deepStrictEqual(Pins.judge(any, "", offered).held.map(({ kind }) => kind), ["prompt"])
    assert.strictEqual(Pins.judge(any, "", offered).find("resource", "file:///a")?._tag, "Free")
    const { digest } = Pins.define("resource", text(resource))
    const rejecting = { ...any, rejected: [{ kind: "resource", name: "file:///a", digest, at }] } as const
    assert.deepStrictEqual(Pins.judge(rejecting, "", offered).held.map(({ kind }) => kind), ["prompt", "resource"])
  })
})
