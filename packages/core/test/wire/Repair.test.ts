import { assert, describe, it } from "@effect/vitest"
import * as Feed from "@sallyport/core/wire/Feed"
import type { Item } from "@sallyport/core/wire/Message"
import * as Repair from "@sallyport/core/wire/Repair"
import * as fc from "fast-check"
import { members, read, same, written } from "./read.ts"

const repaired = (line: string, wanted: ReadonlyArray<Repair.Repair> = Repair.all, sizes = 1 << 30) => {
  const made: Array<Repair.Repair> = []
  const items: Array<Item> = []
  const feed = Feed.make({
    ...Feed.defaultLimits,
    members,
    repairs: { wanted, made: (repair) => void made.push(repair) }
  })
  const bytes = Buffer.from(`${line}\n`)
  for (let p = 0; p < bytes.length; p += sizes) feed.push(bytes.subarray(p, p + sizes), (item) => void items.push(item))
  return { items, made, bytes }
}

/** The line that comes of one, and what was repaired. */
const mended = (line: string, wanted?: ReadonlyArray<Repair.Repair>) => {
  const { items, made } = repaired(line, wanted)
  assert.strictEqual(items.length, 1)
  const [item] = items
  return item === undefined || item._tag === "Refused"
    ? `${item?.reason} ${item?.pointer}`
    : [written(item).replaceAll("\n", ""), ...made]
}

const answer = (members: string): string => `{"jsonrpc":"2.0","id":1,${members}}`
const plain = answer(`"result":{"a":1}`)

describe("null-error", () => {
  it("takes an answer with a null error beside its result as the result, wherever it stands", () => {
    for (
      const line of [
        answer(`"result":{"a":1},"error":null`),
        answer(`"error":null,"result":{"a":1}`),
        answer(`"result":{"a":1} , "error" : null `),
        `{"error":null,"jsonrpc":"2.0","id":1,"result":{"a":1}}`,
        ` { "error" : null , "jsonrpc":"2.0","result":{"a":1},"id":1 } `
      ]
    ) same(mended(line), [plain, "null-error"])
  })

  it("helps nothing else that is no message", () => {
    for (
      const line of [
        answer(`"error":null`),
        answer(`"result":null,"error":null`),
        answer(`"result":null,"error":{"code":1,"message":"m"}`),
        answer(`"result":{},"error":{"code":1,"message":"m"}`),
        answer(`"result":{},"error":null,"method":"m"`),
        answer(`"method":"m","error":null`),
        `{"id":1,"result":{},"error":null}`,
        `{"jsonrpc":"2.0","result":{},"error":null}`,
        "null",
        "{}"
      ]
    ) assert.match(String(mended(line)), /^not-a-message /)
    same(mended(answer(`"result":{},"error":null,"error":null`)), "not-a-message /error")
    same(mended(answer(`"result":{},"error":null,"x":1`)), "unknown-member /x")
  })
})

describe("surrogates", () => {
  it("puts U+FFFD in the place of halves of pairs, in values and names, and leaves whole pairs", () => {
    same(mended(answer(`"result":{"a":"x\\ud800y"}`)), [answer(`"result":{"a":"x\\ufffdy"}`), "surrogates"])
    same(mended(answer(`"result":{"a":"\\uDC00\\ud83d\\ude00\\ud83d"}`)), [
      answer(`"result":{"a":"\\ufffd\\ud83d\\ude00\\ufffd"}`),
      "surrogates"
    ])
    same(mended(answer(`"result":{"a":"\\ud800\\ud83d\\ude00"}`)), [
      answer(`"result":{"a":"\\ufffd\\ud83d\\ude00"}`),
      "surrogates"
    ])
    same(mended(answer(`"result":{"\\ud800":["\\udfff"]}`)), [answer(`"result":{"\ufffd":["\\ufffd"]}`), "surrogates"])
    same(mended(`{"jsonrpc":"2.0","method":"m","params":{"a":"\\ud800"}}`), [
      `{"jsonrpc":"2.0","method":"m","params":{"a":"\\ufffd"}}`,
      "surrogates"
    ])
  })

  it("reads no escape where a backslash is itself escaped", () => {
    same(mended(answer(`"result":{"a":"\\\\ud800 \\\\\\ud800 \\"\\ud800"}`)), [
      answer(`"result":{"a":"\\\\ud800 \\\\\\ufffd \\"\\ufffd"}`),
      "surrogates"
    ])
  })

  it("changes no id and no method: what is compared stays what was sent", () => {
    same(mended(`{"jsonrpc":"2.0","id":"\\ud800","result":{"a":"\\ud800"}}`), "lone-surrogate /id")
    same(mended(`{"jsonrpc":"2.0","method":"\\ud800","params":{}}`), "lone-surrogate /method")
  })

  it("F14: what a repair makes is read by all other rules: two names that become one are refused", () => {
    same(mended(answer(`"result":{"\\ud800":1,"\\udc00":2}`)), "duplicate-member /result/\ufffd")
    same(mended(answer(`"result":{"a":"\\ud800","b":1,"b":2}`)), "duplicate-member /result/b")
  })
})

describe("repairs", () => {
  it("are made together, in one order or the other, each told once", () => {
    same(mended(answer(`"result":{"a":"\\ud800"},"error":null`)), [
      answer(`"result":{"a":"\\ufffd"}`),
      "surrogates",
      "null-error"
    ])
    same(mended(answer(`"error":null,"result":{"a":"\\ud800"}`)), [
      answer(`"result":{"a":"\\ufffd"}`),
      "null-error",
      "surrogates"
    ])
  })

  it("are made in each message of a batch", () => {
    const line = `[${answer(`"result":{"a":"\\ud800"}`)} , ${answer(`"result":{},"error":null`)},${plain}]`
    same(mended(line), [
      `[${answer(`"result":{"a":"\\ufffd"}`)},${answer(`"result":{}`)},${plain}]`,
      "surrogates",
      "null-error"
    ])
  })

  it("are made only where they are wanted", () => {
    same(mended(answer(`"result":{"a":"\\ud800"}`), ["null-error"]), "lone-surrogate /result/a")
    same(mended(answer(`"result":{},"error":null`), ["surrogates"]), "not-a-message /error")
    same(mended(answer(`"result":{"a":"\\ud800"},"error":null`), ["surrogates"]), "not-a-message /error")
  })

  it("leave the bytes of the peer as they are, however they come", () => {
    for (const sizes of [1, 7, 1 << 30]) {
      const { bytes, items, made } = repaired(answer(`"result":{"a":"\\ud800"},"error":null`), Repair.all, sizes)
      same(items.map((item) => written(item).trimEnd()), [answer(`"result":{"a":"\\ufffd"}`)])
      same(made, ["surrogates", "null-error"])
      assert.include(bytes.toString(), "\\ud800")
    }
  })

  it("change nothing about a line that is read without them, and accept nothing that is not JSON", () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      `"`,
      `"error":null`,
      `"result":{}`,
      `"id":1`,
      `"jsonrpc":"2.0"`,
      "\\ud800",
      "\\udc00",
      "\\",
      "a",
      " ",
      "null",
      "1"
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
        const line = pieces.join("")
        const strict = read(`${line}\n`)
        const { items, made } = repaired(line)
        if (strict.every((item) => item._tag !== "Refused" && item._tag !== "Batch")) {
          same(items, strict)
          same(made, [])
        }
        if (made.length > 0) JSON.parse(line)
      }),
      { numRuns: 500 }
    )
  })
})
