import { assert, describe, it } from "@effect/vitest"
import { canonical } from "@sallyport/core/wire/Canonical"
import * as Digest from "@sallyport/core/wire/Digest"
import type { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import * as fc from "fast-check"
import { one } from "./read.ts"

/** Text as it comes from a peer. */
const received = (json: string): Text => {
  const item = one(`{"jsonrpc":"2.0","id":1,"result":${json}}`)
  if (item._tag !== "Response" || item.reply._tag !== "Result") throw new Error(`not accepted: ${json}`)
  return item.reply.result
}

const shuffled = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(shuffled) :
    typeof value === "object" && value !== null ?
    Object.fromEntries(Object.entries(value).map(([name, value]) => [name, shuffled(value)] as const).toReversed()) :
    value

describe("canonical", () => {
  it("does not depend on the order of members or the spelling of strings", () => {
    assert.strictEqual(
      canonical(
        received(
          "{\"b\":[{\"\\u0061\":1,\"B\":\"\\u0041\\/\\u000a\\u2028\"}],\"a\":{},\"\\ud83d\\ude00\":1,\"\ufb33\":2,\"\":[]}"
        )
      ),
      "{\"\":[],\"a\":{},\"b\":[{\"B\":\"A/\\n\\u2028\",\"a\":1}],\"\u{1f600}\":1,\"\ufb33\":2}"
    )
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      assert.strictEqual(canonical(T.fromValue(shuffled(value))), canonical(T.fromValue(value)))
      assert.deepStrictEqual(JSON.parse(canonical(T.fromValue(value))), JSON.parse(JSON.stringify(value)))
    }))
  })

  it("tells numbers apart by their text, and everything else by its value (F8)", () => {
    const forms = [
      "{\"a\":1}",
      "{\"a\":1.0}",
      "{\"a\":1e0}",
      "{\"a\":\"1\"}",
      "{\"a\":[1]}",
      "{\"a\":null}",
      "{\"a\":-0}",
      "{\"a\":0}",
      "{}"
    ]
    assert.strictEqual(new Set(forms.map((form) => canonical(received(form)))).size, forms.length)
  })
})

describe("digests", () => {
  it("are SHA-256", () => {
    assert.strictEqual(Digest.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert.strictEqual(Digest.sha256(Buffer.from("abc")), Digest.sha256("abc"))
  })

  it("of lists tell all lists apart", () => {
    const lists = [
      [],
      [""],
      ["", ""],
      ["a"],
      ["a", ""],
      ["", "a"],
      ["ab"],
      ["a", "b"],
      ["1:a"],
      ["a1:b"],
      ["\ud800"],
      ["\ufffd"],
      ["\"\\ud800\""],
      ["\ud801"]
    ]
    assert.strictEqual(new Set(lists.map(Digest.framed)).size, lists.length)
    const list = fc.array(fc.string({ unit: fc.constantFrom("a", "1", ":", "!", "2"), maxLength: 4 }), { maxLength: 4 })
    fc.assert(fc.property(list, list, (one, other) => {
      assert.strictEqual(Digest.framed(one) === Digest.framed(other), JSON.stringify(one) === JSON.stringify(other))
    }))
  })
})
