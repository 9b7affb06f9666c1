import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as Decode from "../../src/ledger/Decode.ts"
import { Event } from "../../src/ledger/Entry.ts"
import * as Line from "../../src/ledger/Line.ts"

describe("Line", () => {
  it("writes every time as Date does", () => {
    const time = Line.makeTimes()
    // Years 1 to 9999: the ones that have four digits.
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (millis) => {
        assert.strictEqual(time(millis), new Date(millis).toISOString())
      }),
      { numRuns: 2000 }
    )
    for (const millis of [0, -1, 951_782_399_999, 951_782_400_000, 1_709_164_800_000, 1_709_251_199_999]) {
      assert.strictEqual(time(millis), new Date(millis).toISOString())
      assert.strictEqual(time(millis), new Date(millis).toISOString())
    }
  })

  it("writes every string in ASCII, so that it reads back", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), (text) => {
        const quoted = Line.quote(text)
        assert.match(quoted, /^[ -~]*$/)
        assert.strictEqual(JSON.parse(quoted), text)
      })
    )
    assert.strictEqual(Line.quote("plain"), "\"plain\"")
    assert.strictEqual(Line.quote("a\"\\\n\u007f\u2028é😀"), "\"a\\\"\\\\\\n\\u007f\\u2028\\u00e9\\ud83d\\ude00\"")
  })

  it.prop("writes every event so that it reads back", [Event], ([event]) => {
    const text = Line.entry(7, "2026-01-02T03:04:05.678Z", event)
    const decoded = Decode.line(text + "}")
    assert.isTrue(Result.isSuccess(decoded), text)
    if (Result.isFailure(decoded) || decoded.success._tag !== "Entry") return
    // JSON has no negative zero.
    assert.deepStrictEqual(decoded.success.event, JSON.parse(JSON.stringify(event)))
    assert.strictEqual(decoded.success.seq, 7)
  }, { arbitrary: { runs: 500 } })
})

describe("Decode", () => {
  const good =
    "{\"seq\":1,\"time\":\"2026-01-02T03:04:05.678Z\",\"type\":\"ended\",\"server\":\"notes\",\"how\":\"exit 0\"}"
  const refused: ReadonlyArray<readonly [string, string]> = [
    ["not JSON", "{"],
    ["no object", "[1]"],
    ["an empty line", ""],
    ["a blank more", good.replace(",", ", ")],
    ["a blank behind", good + " "],
    ["a carriage return", good + "\r"],
    ["an unknown member", good.replace("}", ",\"extra\":1}")],
    ["a member twice", good.replace("}", ",\"how\":\"exit 0\"}")],
    ["a member in another case", good.replace("}", ",\"How\":\"exit 1\"}")],
    [
      "another order",
      good.replace("\"server\":\"notes\",\"how\":\"exit 0\"", "\"how\":\"exit 0\",\"server\":\"notes\"")
    ],
    ["a member missing", good.replace(",\"how\":\"exit 0\"", "")],
    ["another type of value", good.replace("\"exit 0\"", "0")],
    ["a needless escape", good.replace("notes", "n\\u006ftes")],
    ["a character beyond ASCII", good.replace("notes", "nötes")],
    ["a number in another form", good.replace("\"seq\":1", "\"seq\":1.0")],
    ["a number with an exponent", good.replace("\"seq\":1", "\"seq\":1e0")],
    ["number zero", good.replace("\"seq\":1", "\"seq\":0")],
    ["an unknown type", good.replace("ended", "endet")],
    ["no time", good.replace("2026-01-02T03:04:05.678Z", "yesterday")],
    ["half a seal", good.replace("}", ",\"seal\":\"" + "0".repeat(64) + "\"}")],
    ["a seal of another form", good.replace("}", ",\"prev\":\"\",\"seal\":\"" + "A".repeat(64) + "\"}")],
    ["__proto__", good.replace("}", ",\"__proto__\":{}}")]
  ]

  it("accepts what the writer writes", () => {
    assert.isTrue(Result.isSuccess(Decode.line(good)))
    assert.isTrue(
      Result.isSuccess(Decode.line(good.replace("}", ",\"prev\":\"\",\"seal\":\"" + "a".repeat(64) + "\"}")))
    )
  })

  for (const [what, text] of refused) {
    it(`refuses ${what}`, () => {
      assert.isTrue(Result.isFailure(Decode.line(text)), text)
    })
  }
})
