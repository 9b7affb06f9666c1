import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Buffer } from "node:buffer"
import * as Search from "../../src/check/Search.ts"
import * as Secrets from "../../src/check/Secrets.ts"

const all = (words: ReadonlyArray<string>, text: string) => {
  const found: Array<string> = []
  Search.make(words)(text, ({ end, word }) => {
    found.push(`${word}@${end}`)
  })
  return found.sort()
}

/** The same by hand. */
const naive = (words: ReadonlyArray<string>, text: string) =>
  words.flatMap((word, index) =>
    word === ""
      ? []
      : Array.from({ length: text.length }, (_, at) => at)
        .filter((at) => text.startsWith(word, at))
        .map((at) => `${index}@${at + word.length}`)
  ).sort()

describe("Search", () => {
  it("finds all words wherever they end, also within one another", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 })
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom("a", "b", "c", "x"), maxLength: 40 }),
        (words, text) => assert.deepStrictEqual(all(words, text), naive(words, text))
      ),
      { numRuns: 500 }
    )
  })

  it("ends when it is told to", () => {
    let count = 0
    Search.make(["a"])("aaaa", () => {
      count++
      return count === 2
    })
    assert.strictEqual(count, 2)
  })
})

describe("Secrets", () => {
  const value = "s3cret/+pass \"w\u00f6rd\"\\"
  const encodings: ReadonlyArray<readonly [string, (text: string) => string]> = [
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify({ a: text })],
    ["in JSON within JSON", (text) => JSON.stringify(JSON.stringify({ a: text }))],
    [
      "in ASCII JSON",
      (text) => JSON.stringify(text).replace(/[\u0080-\uffff]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)
    ],
    ["in JSON with escaped slashes", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64url", (text) => Buffer.from(text).toString("base64url")],
    [
      "in base64 within JSON with escaped slashes",
      (text) => Buffer.from(text).toString("base64").replaceAll("/", "\\/")
    ],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex")],
    ["in upper case hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
    ["in a URL", (text) => encodeURIComponent(text)],
    ["in a whole URL", (text) => encodeURI(text)],
    ["in a form", (text) => new URLSearchParams({ a: text }).toString()],
    ["in a URL of lower case", (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase())]
  ]

  for (const [what, encode] of encodings) {
    it(`F29: finds and takes out a secret ${what}, wherever it stands in what was encoded`, () => {
      const finder = Secrets.finder([{ name: "TOKEN", value }])
      for (const before of ["", "a", "ab", "abc", "user:"]) {
        const text = encode(before + value + before)
        assert.deepStrictEqual(finder?.names(text), ["TOKEN"], text)
        const clear = finder?.without(text) ?? ""
        assert.include(clear, "[TOKEN]")
        assert.deepStrictEqual(finder?.names(clear), [])
        assert.isBelow(clear.length, text.length)
      }
    })
  }

  it("leaves a text alone that has none, and valid JSON valid", () => {
    const finder = Secrets.finder([{ name: "A", value: "aaaaaaaaaaaa" }, { name: "B", value: "aaaaaaaabbbb" }])
    fc.assert(fc.property(fc.json(), (text) => {
      assert.strictEqual(finder?.without(text), text)
    }))
    fc.assert(fc.property(fc.string(), (text) => {
      const clear = finder?.without(JSON.stringify({ [text]: `${text}aaaaaaaabbbb${text}` })) ?? ""
      assert.isString(JSON.parse(clear)[text])
      assert.include(clear, "[B]")
    }))
    // The longest one that begins there; overlapping ones go as one.
    assert.strictEqual(finder?.without("xaaaaaaaaaaaaaabbbby"), "x[A]y")
  })

  it("does not look for short values, and looks for each line of long ones", () => {
    assert.isUndefined(Secrets.finder([{ name: "DEBUG", value: "1" }]))
    const finder = Secrets.finder([{ name: "KEY", value: "-----BEGIN-----\nMIIEvQIBADANBg\n-----END-----" }])
    assert.deepStrictEqual(finder?.names("it says MIIEvQIBADANBg"), ["KEY"])
  })
})
