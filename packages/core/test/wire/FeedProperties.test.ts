import { assert, describe, it } from "@effect/vitest"
import * as T from "@sallyport/core/wire/Text"
import * as fc from "fast-check"
import { acceptable, doubled, isVariant, message } from "./arbitrary.ts"
import { exact, isJson, one, read, written } from "./read.ts"

describe("messages, however they are spelled", () => {
  it("leave with the same value, each number with its text, on one line", () => {
    fc.assert(
      fc.property(acceptable, (line) => {
        const out = written(one(line))
        assert.deepStrictEqual(exact(out), exact(line))
        assert.deepStrictEqual(Object.keys(JSON.parse(out)).length, Object.keys(JSON.parse(line)).length)
        assert.isFalse(/[\n\r\u0085\u2028\u2029]/.test(out.slice(0, -1)))
        assert.strictEqual(written(one(out)), out)
      }),
      { numRuns: 1000 }
    )
  })

  it("are the same in one piece and in many, with others around them", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            { weight: 4, arbitrary: message },
            fc.constantFrom("", " ", "nope", "{\"a\":", "[]", "\r", "[1,{}]", "x".repeat(3000))
          ),
          { maxLength: 6 }
        ),
        fc.constantFrom("\n", "\r\n"),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        (lines, end, sizes) => {
          const bytes = lines.join(end)
          const limits = { messageBytes: 2000 }
          assert.deepStrictEqual(read(bytes, sizes, limits), read(bytes, [], limits))
          assert.deepStrictEqual(read(bytes, [1], limits), read(bytes, [], limits))
        }
      ),
      { numRuns: 300 }
    )
  })

  it("are refused exactly if some object in them has a name twice", () => {
    fc.assert(
      fc.property(doubled, ([params, twice]) => {
        const item = one(`{"jsonrpc":"2.0","method":"m","params":${params}}`)
        assert.strictEqual(item._tag === "Refused" ? item.reason : "", twice ? "duplicate-member" : "")
      }),
      { numRuns: 1000 }
    )
  })

  it("leave as they came if they came compact and plain", () => {
    fc.assert(fc.property(fc.json().filter((json) => json.startsWith("{")), (json) => {
      const line = `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(JSON.parse(json))}}\n`
      if (/[\u0085\u2028\u2029]|\\u/.test(line) || isVariant(line)) return
      assert.strictEqual(written(one(line)), line)
    }))
  })
})

describe("any bytes", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const decoded = (bytes: Uint8Array): string | undefined => {
    try {
      return decoder.decode(bytes)
    } catch {
      return undefined
    }
  }

  /** What the reader must say of a line, by readers that are not ours. */
  const agrees = (bytes: Uint8Array): void => {
    const items = read(bytes)
    const text = decoded(bytes)
    if (text !== undefined && /^[ \t\r]*$/.test(text)) {
      assert.deepStrictEqual(items, [])
      return
    }
    assert.strictEqual(items.length, 1)
    const [item] = items
    const reason = item?._tag === "Refused" ? item.reason : undefined
    if (text === undefined) assert.strictEqual(reason, "not-utf8")
    else assert.strictEqual(reason === "not-json", !isJson(text), `${text} gave ${JSON.stringify(item)}`)
  }

  it("never throw, and are JSON exactly if others say so", () => {
    const noLf = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte === 10 ? 32 : byte)
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }).map(noLf), agrees), { numRuns: 2000 })
    const letters = fc.constantFrom(..."{}[]:,\"\\ \ttruefalsn0123456789.eE+-/bu\u00e9\u2028\r".split(""))
    fc.assert(fc.property(fc.string({ unit: letters, maxLength: 30 }), (text) => agrees(Buffer.from(text))), {
      numRuns: 5000
    })
  })

  it("of which one was changed in a good message are judged as others judge", () => {
    fc.assert(
      fc.property(
        message,
        fc.array(
          fc.tuple(
            fc.nat(),
            fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from("{}[]:,\"\\0.e-utn \r"))),
            fc.constantFrom("put", "cut", "insert")
          ),
          { minLength: 1, maxLength: 2 }
        ),
        (line, changes) => {
          let bytes = Buffer.from(line)
          for (const [place, byte, how] of changes) {
            const at = place % bytes.length
            const kept = how === "insert" ? at : at + 1
            bytes = Buffer.concat([
              bytes.subarray(0, at),
              how === "cut" ? Buffer.of() : Buffer.of(byte === 10 ? 0 : byte),
              bytes.subarray(kept)
            ])
          }
          agrees(bytes)
        }
      ),
      { numRuns: 3000 }
    )
  })

  it("inside a checked text are never lost", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (value) => {
      const item = one(`{"jsonrpc":"2.0","id":1,"result":{"v":${T.quote(value)}}}`)
      assert.strictEqual(item._tag, "Response")
      if (item._tag !== "Response" || item.reply._tag !== "Result") return
      const text = T.member(item.reply.result, "v")
      assert.strictEqual(text === undefined ? undefined : T.string(text), value.toWellFormed())
    }))
  })
})
