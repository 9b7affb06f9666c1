import { assert, describe, it } from "@effect/vitest"
import * as Visible from "@sallyport/core/pin/Visible"
import * as fc from "fast-check"

/** What no terminal may get from a server's text. */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom(
      "a",
      "b",
      " ",
      "\n",
      "\t",
      "\\",
      "n",
      "u",
      "{",
      "}",
      "\"",
      "|",
      ":",
      "\u202e",
      "\u001b",
      "\u0301",
      "\u200b",
      "\u4e00",
      "\u{1f600}"
    )
  })
)

describe("line", () => {
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["right-to-left override", "a\u202eb", "a\\u{202e}b"],
    ["isolate", "a\u2066b", "a\\u{2066}b"],
    ["tags", "\u{e006d}\u{e0061}", "\\u{e006d}\\u{e0061}"],
    ["variation selectors", "\u{1f600}\u{e0110}\ufe0f", "\u{1f600}\\u{e0110}\\u{fe0f}"],
    ["escape and bell", "\u001b]8;;x\u0007", "\\u{1b}]8;;x\\u{7}"],
    ["c1 and next line", "\u009b\u0085", "\\u{9b}\\u{85}"],
    ["separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
    ["zero widths", "a\u200b\u200c\u200d\u2060\ufeff", "a\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}"],
    ["soft hyphen", "a\u00adb", "a\\u{ad}b"],
    ["fillers", "\u115f\u1160\u3164\uffa0\u2800", "\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}\\u{2800}"],
    ["spaces", "a\u00a0b\u3000c", "a\\u{a0}b\\u{3000}c"],
    ["private and unassigned", "\ue000\u0378\u{10ffff}", "\\u{e000}\\u{378}\\u{10ffff}"],
    ["half of a pair", "\ud800", "\\u{d800}"],
    ["line feed, tab, return", "a\nb\tc\rd", "a\\nb\\tc\\u{d}d"],
    ["backslash", "a\\nb\\u{202e}", "a\\\\nb\\\\u{202e}"],
    ["piled marks", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301\\u{301}\\u{301}"],
    ["a mark on nothing", "\u0301x", "\\u{301}x"],
    ["ordinary text of any language", "Größe, 日本語, Ελλάδα, é 😀", "Größe, 日本語, Ελλάδα, é 😀"]
  ]
  for (const [what, text, expected] of cases) it(what, () => assert.strictEqual(Visible.line(text), expected))

  it("leaves nothing unseen", () => {
    fc.assert(fc.property(anyText, (text) => assert.isFalse(unseen.test(Visible.line(text)))), { numRuns: 500 })
  })

  it("draws no two texts alike", () => {
    const decode = (shown: string) =>
      shown.replace(/\\(?:u\{([0-9a-f]+)\}|(.))/gu, (_, hex?: string, letter?: string) =>
        hex === undefined
          ? letter === "n" ? "\n" : letter === "t" ? "\t" : letter ?? ""
          : String.fromCodePoint(Number.parseInt(hex, 16)))
    fc.assert(fc.property(anyText, (text) => assert.strictEqual(decode(Visible.line(text)), text)), { numRuns: 500 })
  })
})

describe("again", () => {
  it("leaves what line wrote as it is, and nothing unseen in any other text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        assert.strictEqual(Visible.again(Visible.line(text)), Visible.line(text))
        assert.isFalse(unseen.test(Visible.again(text)))
      }),
      { numRuns: 500 }
    )
    assert.strictEqual(Visible.again("C:\\tmp \\u{1b} \u001b"), "C:\\tmp \\u{1b} \\u{1b}")
  })
})

describe("name", () => {
  it("names what is not ASCII", () => {
    assert.strictEqual(Visible.name("read_note"), "read_note")
    assert.strictEqual(Visible.name("__proto__"), "__proto__")
    assert.strictEqual(Visible.name("a b"), "\"a b\"")
    assert.strictEqual(Visible.name("a\"b"), "\"a\\\"b\"")
    assert.strictEqual(Visible.name("re\u0430d"), "\"re\u0430d\" (with \\u{430})")
    assert.strictEqual(Visible.name("a\nb"), "\"a\\nb\"")
    assert.isBelow(Visible.name("\u0430".repeat(10_000)).length, 300)
    assert.include(Visible.name("x".repeat(10_000)), "… 9,872 characters more")
  })
})

describe("cut", () => {
  it("counts what it leaves out, in characters", () => {
    assert.deepStrictEqual(Visible.cut("abc", 3), { text: "abc", more: 0 })
    assert.deepStrictEqual(Visible.cut("abcd", 3), { text: "abc", more: 1 })
    assert.deepStrictEqual(Visible.cut("😀😀😀", 2), { text: "😀😀", more: 1 })
    assert.strictEqual(Visible.short("x".repeat(300_000), 2_000), `${"x".repeat(2_000)} … 298,000 characters more`)
    assert.strictEqual(Visible.more(1), "… 1 character more")
    assert.strictEqual(Visible.more(1_234_567), "… 1,234,567 characters more")
  })
})

describe("block", () => {
  it("marks every line of a text", () => {
    assert.deepStrictEqual(Visible.block("one\n\n    | two\nAccepted: all"), [
      "    | one",
      "    | ",
      "    |     | two",
      "    | Accepted: all"
    ])
  })

  it("marks where it goes on with a long line, and where it cuts", () => {
    assert.deepStrictEqual(Visible.block("aaaa bbbb cccc dddd eeee ffff", { columns: 20, indent: "" }), [
      "| aaaa bbbb cccc ",
      ": dddd eeee ffff"
    ])
    assert.deepStrictEqual(Visible.block("abcdef", { characters: 4 }), ["    | abcd", "    … 2 characters more"])
  })

  it("never gives a line without margin, nor one that the terminal breaks", () => {
    const width = (text: string) =>
      [...text].reduce((sum, letter) => sum + ((letter.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1), 0)
    fc.assert(
      fc.property(anyText, (text) => {
        for (const line of Visible.block(text, { columns: 40 })) {
          assert.match(line, /^ {4}[|:] /)
          assert.isAtMost(width(line), 40)
        }
      }),
      { numRuns: 500 }
    )
  })

  it("loses nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = Visible.block(text, { columns: 30 })
        const joined = lines.map((line, index) => (line[4] === "|" && index > 0 ? "\\n" : "") + line.slice(6)).join("")
        assert.strictEqual(joined, Visible.line(text))
      }),
      { numRuns: 500 }
    )
  })

  it("takes its time in proportion", () => {
    // In the square of its length, this would take longer than a test may.
    for (const unit of ["x", " ", "\u0301", "\u202e", "\n", "\\", "x "]) {
      assert.isNotEmpty(Visible.block(unit.repeat(300_000)))
    }
  })
})
