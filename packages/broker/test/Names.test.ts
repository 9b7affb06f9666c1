import { assert, describe, it } from "@effect/vitest"
import * as Names from "@sallyport/broker/Names"
import { isServerName } from "@sallyport/core/pin/Names"
import * as fc from "fast-check"

const letters = "abcdefghijklmnopqrstuvwxyz"
const server = fc.tuple(
  fc.constantFrom(...letters),
  fc.string({ unit: fc.constantFrom(...letters, "0", "9", "-"), maxLength: 31 })
).map(([first, rest]) => first + rest)
/** Names that are made to meet: underscores, the ends of cut names, and anything else that is text. */
const name = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", "_", "-", "A"), maxLength: 80 }),
  fc.tuple(
    fc.string({ unit: fc.constantFrom("a", "_"), maxLength: 6 }),
    fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 12, maxLength: 12 })
  )
    .map(([start, end]) => `${start}_${end}`),
  fc.string({ unit: "grapheme", maxLength: 80 })
)
const item = fc.record({ server, name })

describe("Names", () => {
  it("F18: is server__name where that is a public name", () => {
    assert.strictEqual(Names.publicName("files", "read_note"), "files__read_note")
    assert.strictEqual(Names.publicName("a", "b".repeat(61)), `a__${"b".repeat(61)}`)
  })

  it("F18: is cut and ends with a digest where it is too long, or has other characters", () => {
    assert.strictEqual(Names.publicName("a", "b".repeat(62)), `a__${"b".repeat(48)}_c6fb0f6108f3`)
    assert.strictEqual(Names.publicName("files", "read.note"), "files__read_note_cdeb9368586e")
  })

  it("F18: a name cannot be chosen to be the cut name of another", () => {
    const cut = Names.publicName("files", "read.note")
    assert.notStrictEqual(Names.publicName("files", cut.slice("files__".length)), cut)
  })

  it("F18: is a valid name of one server, whatever the item is called", () => {
    fc.assert(fc.property(item, ({ name, server }) => {
      const found = Names.publicName(server, name)
      assert.match(found, /^[A-Za-z0-9_-]{1,64}$/)
      assert.isTrue(isServerName(server))
      assert.strictEqual(Names.serverOf(found), server)
      assert.strictEqual(Names.publicName(server, name), found)
    }))
  })

  it("F18: no two items have one name", () => {
    fc.assert(fc.property(fc.array(item, { maxLength: 60 }), (items) => {
      const different = new Set(items.map(({ name, server }) => `${server}\0${name}`))
      assert.strictEqual(new Set(items.map(({ name, server }) => Names.publicName(server, name))).size, different.size)
    }))
  })

  it("F18: a name does not depend on what else there is", () => {
    fc.assert(fc.property(item, fc.array(item, { maxLength: 20 }), (one, others) => {
      const { names } = Names.table([...others, one])
      assert.deepStrictEqual(names.get(Names.publicName(one.server, one.name)), one)
    }))
  })

  it("F18: where two meet, neither has the name", () => {
    const items = [{ server: "a", name: "x" }, { server: "b", name: "x" }, { server: "b", name: "y" }]
    const { met, names } = Names.table(items, { prefixed: false })
    assert.deepStrictEqual([...names], [["y", { server: "b", name: "y" }]])
    assert.deepStrictEqual(met, items.slice(0, 2))
  })

  it("reads no server from a name that has none", () => {
    for (const name of ["", "__x", "x", "A__x", "a_b"]) assert.isUndefined(Names.serverOf(name))
  })
})
