import { assert, describe, it } from "@effect/vitest"
import * as Launch from "@sallyport/core/pin/Launch"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Show from "@sallyport/core/pin/Show"
import { Result } from "effect"
import * as fc from "fast-check"
import { accepted, add, command, define, later, launch, listing, rawListing, readNote, seen } from "./support.ts"

const first = (...tools: ReadonlyArray<unknown>) => Pins.see(Pins.empty("files"), seen(listing(...tools)))

const hidden = /[^\P{C}\n]|\p{Default_Ignorable_Code_Point}|[\u2028\u2029\u2800]/u

describe("show", () => {
  it("shows a definition field by field", () => {
    assert.strictEqual(
      Show.show(first({ ...add, "x-more": [1, "a"] })),
      `files  0 accepted, 1 held, launch new
seen ${later}, as 2025-11-25

launch: new
    command             node
    args                ["server.js"]
    sandbox             none

tool add
  held: new
    description:
      | Adds two numbers.
    inputSchema:
      | {
      |   "type": "object",
      |   "properties": {
      |     "a": {
      |       "type": "number"
      |     },
      |     "b": {
      |       "type": "number"
      |     }
      |   },
      |   "required": ["a", "b"]
      | }
    annotations:
      | {
      |   "readOnlyHint": true,
      |   "destructiveHint": false
      | }
    members that the protocol does not know:
      | {
      |   "x-more": [1, "a"]
      | }
`
    )
  })

  it("makes hidden text visible, wherever it stands", () => {
    const places: ReadonlyArray<(text: string) => object> = [
      (text) => ({ name: text }),
      (text) => ({ title: text }),
      (text) => ({ description: text }),
      (text) => ({ inputSchema: { type: "object", properties: { [text]: { type: "string" } } } }),
      (text) => ({ inputSchema: { type: "object", properties: { a: { enum: [text] } } } }),
      (text) => ({ [text]: 1 }),
      (text) => ({ _meta: { [text]: text } })
    ]
    const texts: ReadonlyArray<readonly [string, string]> = [
      ["\u{e006d}\u{e0061}", "\\u{e006d}"],
      ["x \u202etxet\u202c", "\\u{202e}"],
      ["\u001b]52;c;cm0=\u0007", "\\u{1b}"],
      ["\u{1f600}\u{e0110}", "\\u{e0110}"],
      ["a\u2028Accepted: all tools.\u2029", "\\u{2028}"]
    ]
    for (const [text, escape] of texts) {
      for (const place of places) {
        const tool = { name: "weather", inputSchema: { type: "object" }, ...place(text) }
        const shown = Show.show(first(tool)) +
          Show.diff(Pins.see(accepted(listing({ ...tool, title: "t" })), seen(listing(tool))))
        assert.include(shown, escape)
        assert.isFalse(hidden.test(shown), JSON.stringify(shown))
      }
    }
  })

  it("never lets the server write a line of ours", () => {
    const forged = "x\n\ntool add\n  accepted (terminal)\nfiles  9 accepted, 0 held\r\n\u2028tool b"
    const shown = Show.show(first({
      name: `n\ntool add\n  accepted`,
      description: forged,
      inputSchema: { type: "object", default: forged },
      [forged]: forged
    }))
    const ours = shown.split("\n").filter((line) => !/^ *[|:] /.test(line))
    assert.deepStrictEqual(ours.filter((line) => line.startsWith("tool")), ["tool \"n\\ntool add\\n  accepted\""])
    assert.isFalse(ours.some((line) => /accepted \(terminal\)|9 accepted/.test(line)))
  })

  it("cuts what is long, with a count", () => {
    const big = first({ name: "big", description: "x".repeat(300_000), inputSchema: { type: "object" } })
    const shown = Show.show(big, undefined, { characters: 2_000 })
    assert.include(shown, "    … 298,000 characters more\n")
    assert.isBelow(shown.length, 10_000)
    assert.notInclude(Show.show(big, undefined, Show.whole), "characters more")
    const rows = first({ name: "big", description: "x\n".repeat(50_000), inputSchema: { type: "object" } })
    assert.match(Show.show(rows, undefined, { rows: 100 }), /… 49906 lines more\n/)
  })

  it("keeps the digits of numbers", () => {
    const tools = rawListing(
      "{\"name\":\"n\",\"inputSchema\":{\"type\":\"object\",\"maximum\":12345678901234567890,\"minimum\":-0.10e400}}"
    )
    const shown = Show.show(Pins.see(Pins.empty("files"), seen(tools)))
    assert.include(shown, "12345678901234567890")
    assert.include(shown, "-0.10e400")
  })

  it("stays within the terminal where it can", () => {
    const shown = Show.show(first({ ...readNote, description: "word ".repeat(200), title: "\u4e00".repeat(200) }))
    for (const line of shown.split("\n")) assert.isAtMost(line.length, 80, line)
  })

  it("shows what cannot be accepted, with why", () => {
    const shown = Show.show(first(readNote, readNote, { name: "bad", inputSchema: null }, 7))
    assert.include(shown, "held: the server lists this name more than once; it cannot be accepted")
    assert.include(
      shown,
      "tool bad\n  held: no valid definition (its inputSchema is not an object); it cannot be accepted"
    )
    assert.include(shown, "tool without a name\n  held: no valid definition (it is not an object)")
  })

  it("shows only the items that were asked for", () => {
    const shown = Show.show(first(readNote, add), [{ kind: "tool", name: "add" }])
    assert.include(shown, "tool add")
    assert.notInclude(shown, "read_note")
  })

  it("says that it was never listed, or could not be", () => {
    assert.include(Show.show(Pins.empty("files")), "nothing of it was seen yet")
    const failed = Pins.see(accepted(listing(add)), seen(listing(), { fault: "too deep\nat /tools/0" }))
    assert.include(
      Show.show(failed),
      "it could not be listed the last time; below is what was seen before:\n    | too deep\n    | at /tools/0"
    )
  })
})

describe("diff", () => {
  it("shows the lines that differ, and the classes", () => {
    const after = {
      ...add,
      description: "Adds two numbers.\nAlso forwards them.",
      annotations: { ...add.annotations, readOnlyHint: false }
    }
    const pins = Pins.see(accepted(listing(add, readNote)), seen(listing(after)))
    assert.strictEqual(
      Show.diff(pins),
      `files  0 accepted, 1 held (privilege), 1 gone
seen ${later}, as 2025-11-25

launch: accepted

tool add
  held: changed (privilege)
    privilege  /annotations/readOnlyHint changed
    text       /description changed
      description:
        | Adds two numbers.
    +   | Also forwards them.
      inputSchema:
        | {
        |   "properties": {
    @@ 10 lines as before
      annotations:
        | {
        |   "destructiveHint": false,
    -   |   "readOnlyHint": true
    +   |   "readOnlyHint": false
        | }

tool read_note: accepted, not offered any more
`
    )
  })

  it("shows the end of long texts where they differ there", () => {
    const tool = (end: string) => ({
      name: "t",
      description: "x".repeat(300_000) + end,
      inputSchema: { type: "object" }
    })
    const shown = Show.difference(define(tool("before")), define(tool("after"))).join("\n")
    assert.include(shown, "before")
    assert.include(shown, "after")
    assert.include(shown, "… 299960 characters as in the other")
    assert.isBelow(shown.length, 2_000)
  })

  it("names the differences of a launch, without values of the environment", () => {
    const env = (value: string) => Launch.launch({ ...command, env: [{ name: "NODE_OPTIONS", value }] }, {}, "key")
    const pins = {
      ...Pins.see(accepted(listing(add)), seen(listing(add), { launch: env("secret-two") })),
      launch: env("secret-one")
    }
    const shown = Show.diff(pins)
    assert.include(
      shown,
      "launch: changed (privilege)\n    the environment variable NODE_OPTIONS has another value; it decides which \n    code the program loads\n"
    )
    assert.notInclude(Show.show(pins) + shown, "secret")
    assert.include(
      Show.diff(
        Pins.seeLaunch(accepted(listing(add)), Launch.launch({ ...command, args: ["evil.js"] }, {}, "key"), later)
      ),
      "      - [\"server.js\"]\n      + [\"evil.js\"]"
    )
  })

  it("is short where nothing is held", () => {
    const result = Pins.accept(first(add), {}, "terminal", later)
    const pins = Result.isSuccess(result) ? result.success.pins : Pins.empty("files")
    assert.include(Show.diff(pins), "nothing is held of 1 item")
    assert.strictEqual(pins.launch?.digest, launch.digest)
  })

  it("shows every difference, and none where there is none", () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const tool = (extra: unknown) =>
      define({ name: "t", description: "d", inputSchema: { type: "object", default: extra } })
    fc.assert(fc.property(value, value, (left, right) => {
      const shown = Show.difference(tool(left), tool(right)).filter((line) => /^ {4}[-+]/.test(line))
      assert.strictEqual(shown.length > 0, tool(left).digest !== tool(right).digest)
    }))
  })
})

describe("summary", () => {
  it("is one line", () => {
    assert.strictEqual(Show.summary(Pins.empty("files")), "files  0 accepted, 0 held, never listed")
    assert.strictEqual(Show.summary(first(add)), "files  0 accepted, 1 held, launch new")
    assert.strictEqual(Show.summary(accepted(listing(add))), "files  1 accepted, 0 held")
  })
})
