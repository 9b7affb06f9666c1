import { assert, describe, it } from "@effect/vitest"
import { skeleton } from "@sallyport/core/pin/Names"

describe("skeleton", () => {
  const alike: ReadonlyArray<readonly [string, string]> = [
    ["read_note", "Read_Note"],
    ["read_note", "re\u0430d_note"],
    ["read_note", "read-note"],
    ["read_note", "read\u200b_note"],
    ["read_note", "\uff52\uff45\uff41\uff44_note"],
    ["read_note", "re\u0101d_note"],
    ["list", "1ist"],
    ["list", "Iist"],
    ["list", "l\u0456st"],
    ["modern", "modem"],
    ["key", "\u212aey"],
    ["summary", "\u017fummary"],
    ["o", "\u03bf"],
    ["mosaic", "\u043cos\u0430\u0456\u0441"],
    ["file", "\ufb01le"]
  ]
  for (const [left, right] of alike) {
    it(`${left} and ${JSON.stringify(right)}`, () => assert.strictEqual(skeleton(left), skeleton(right)))
  }

  it("leaves other names apart", () => {
    const names = ["read_note", "write_note", "read_notes", "add", "toString", "__proto__", "日本", "export_all"]
    assert.lengthOf(new Set(names.map(skeleton)), names.length)
  })
})
