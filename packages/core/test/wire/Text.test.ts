import { assert, describe, it } from "@effect/vitest"
import type { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import * as Write from "@sallyport/core/wire/Write"
import * as fc from "fast-check"
import { one, open, written } from "./read.ts"

const value = fc.jsonValue({ stringUnit: "binary" }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const name = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("a", "b", "name", "\"", "\\", "a\":", "__proto__")
).map((name) => name.toWellFormed())
const entries = fc.uniqueArray(fc.tuple(name, value), { maxLength: 6, selector: ([name]) => name })
const textOf = (entries: ReadonlyArray<readonly [string, unknown]>): Text =>
  T.object(entries.map(([name, value]) => [name, T.fromValue(value)]))

describe("looking", () => {
  it("finds what JSON.parse finds", () => {
    fc.assert(
      fc.property(entries, name, (entries, name) => {
        const text = textOf(entries)
        const known = new Map(entries)
        for (const key of [...known.keys(), name]) {
          const found = T.member(text, key)
          if (!known.has(key)) assert.strictEqual(found, undefined)
          else assert.deepStrictEqual(found === undefined ? undefined : T.toValue(found), known.get(key))
        }
        assert.deepStrictEqual(T.members(text).map(([name, value]) => [name, T.toValue(value)]), [...entries])
        assert.deepStrictEqual(T.names(text), entries.map(([name]) => name))
        const around = T.object([["x", T.fromValue("{\"inner\":{}}")], ["inner", text], ["y", T.integer(1)]])
        assert.deepStrictEqual(T.namesIn(around, "inner"), entries.map(([name]) => name))
        assert.deepStrictEqual(T.namesIn(around, "x"), [])
        assert.deepStrictEqual(T.namesIn(around, "z"), [])
      }),
      { numRuns: 500 }
    )
    fc.assert(fc.property(fc.array(value, { maxLength: 6 }), (values) => {
      assert.deepStrictEqual(T.elements(T.fromValue(values)).map(T.toValue), values)
    }))
  })

  it("finds the same in what was read last as in any text", () => {
    const line = fc.tuple(entries, fc.constantFrom("", " "), fc.boolean()).map(([entries, blank, escaped]) => {
      const known = entries.filter(([name]) => name.toLowerCase() === name)
      const inside = known.map(([name, value]) => {
        const key = JSON.stringify(name)
        const spelled = escaped && /^"[a-z]/.test(key) ? `"\\u00${key.charCodeAt(1).toString(16)}${key.slice(2)}` : key
        return `${spelled}${blank}:${JSON.stringify(value)}`
      })
      return { known: new Map(known), json: `{"jsonrpc":"2.0","method":"m","params":{${inside.join(`,${blank}`)}}}\n` }
    })
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 3 }), name, (lines, name) => {
        const later: Array<() => void> = []
        open().feed.push(Buffer.from(lines.map(({ json }) => json).join("")), (item) => {
          const params = item._tag === "Notification" ? item.params : undefined
          const known = lines[later.length]?.known
          if (params === undefined || known === undefined) return
          const look = (): void => {
            for (const key of [...known.keys(), name]) {
              const found = T.member(params, key)
              assert.strictEqual(found, known.has(key) ? T.fromValue(known.get(key)) : undefined)
              const set = [...new Map<string, unknown>([...known, [key, 1]])]
              assert.strictEqual(T.setMember(params, key, T.integer(1)), textOf(set))
              assert.deepStrictEqual(T.namesIn(params, key), found === undefined ? [] : T.names(found))
            }
          }
          look()
          later.push(look)
        })
        assert.strictEqual(later.length, lines.length)
        for (const look of later) look()
      }),
      { numRuns: 300 }
    )
  })

  it("reads strings", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => {
      assert.strictEqual(T.string(T.quote(value)), value.toWellFormed())
      assert.strictEqual(T.string(T.fromValue(value)), value.toWellFormed())
      assert.isFalse(/[\n\r\u0085\u2028\u2029]/.test(T.quote(value)))
    }))
    assert.strictEqual(T.string(T.integer(1)), undefined)
    assert.strictEqual(T.string(T.object([])), undefined)
  })

  it("sees a number that needs a second look, wherever it stands", () => {
    const number = fc.tuple(
      fc.constantFrom("", "-"),
      fc.stringMatching(/^(?:0|[1-9]\d{0,17})$/),
      fc.option(fc.stringMatching(/^\d{1,17}$/)),
      fc.option(fc.constantFrom("e1", "E-7", "e+30"))
    ).map(([sign, whole, fraction, exponent]) =>
      `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${exponent ?? ""}`
    )
    const inString = "e1 12345678901234567890 \\\" 1e5 \\"
    fc.assert(
      fc.property(number, fc.constantFrom("", inString), (number, string) => {
        for (
          const json of [
            number,
            `[true,false,null,${JSON.stringify(string)},${number}]`,
            `{${JSON.stringify(string)}:{"e":[${number},1]}}`
          ]
        ) {
          const item = one(`{"jsonrpc":"2.0","id":1,"result":{"x":${json}}}`)
          const result = item._tag === "Response" && item.reply._tag === "Result" ? item.reply.result : undefined
          const text = result === undefined ? undefined : T.member(result, "x")
          if (text === undefined) assert.fail(json)
          assert.strictEqual(T.hasLongNumber(text), number.length > 15 || /e/i.test(number))
        }
      }),
      { numRuns: 300 }
    )
    assert.isFalse(T.hasLongNumber(T.fromValue([inString, { [inString]: [true, null, false, "e"] }])))
  })

  it("is not led astray by what is inside of strings", () => {
    const long = "x\\\\\\\"".repeat(40)
    const text = T.object([
      ["a", T.quote("},\"b\":1")],
      ["\",\"b\":", T.integer(2)],
      [long, T.array([T.quote(long), T.quote("]")])],
      ["b", T.integer(3)]
    ])
    assert.strictEqual(T.member(text, "b"), "3")
    assert.deepStrictEqual(
      T.toValue(text),
      Object.fromEntries(T.members(text).map(([name, value]) => [name, T.toValue(value)]))
    )
  })

  it("says nothing of what is no container", () => {
    for (
      const text of [T.quote("{\"a\":1}"), T.integer(1), T.literal("null"), T.array([T.object([["a", T.integer(1)]])])]
    ) {
      assert.strictEqual(T.member(text, "a"), undefined)
      assert.deepStrictEqual(T.members(text), [])
      assert.strictEqual(T.removeMember(text, "a"), text)
    }
    assert.deepStrictEqual(T.elements(T.object([])), [])
    assert.deepStrictEqual(T.elements(T.array([])), [])
    assert.deepStrictEqual([
      T.isObject(T.object([])),
      T.isObject(T.array([])),
      T.isArray(T.array([])),
      T.isArray(T.quote("["))
    ], [true, false, true, false])
  })

  it("gives ids a normal form", () => {
    const id = (json: string): Text | undefined => {
      const item = one(`{"jsonrpc":"2.0","method":"a","params":{"v":${json}}}`)
      const params = item._tag === "Notification" ? item.params : undefined
      const value = params === undefined ? undefined : T.member(params, "v")
      return value === undefined ? undefined : T.id(value)
    }
    assert.deepStrictEqual(
      ["1", "-1", "0", "-0", "1.0", "1e2", "null", "{}", "\"a\\u0062\"", `"${"x".repeat(600)}"`].map(id),
      ["1", "-1", "0", undefined, undefined, undefined, undefined, undefined, "\"ab\"", undefined]
    )
  })
})

describe("writing", () => {
  it("fills a form with any value", () => {
    const form = T.form((value) => T.object([["a", T.array([T.integer(1), value])], ["b", T.object([])]]))
    fc.assert(fc.property(value, (value) => {
      assert.deepStrictEqual(T.toValue(form(T.fromValue(value))), { a: [1, value], b: {} })
    }))
  })

  it("sets and removes what JavaScript sets and removes", () => {
    fc.assert(
      fc.property(entries, name, value, (entries, name, value) => {
        const text = textOf(entries)
        const known = new Map(entries)
        known.set(name, value)
        assert.deepStrictEqual(
          T.members(T.setMember(text, name, T.fromValue(value))).map(([name, value]) => [name, T.toValue(value)]),
          [...known]
        )
        known.delete(name)
        assert.deepStrictEqual(T.members(T.removeMember(text, name)).map(([name, value]) => [name, T.toValue(value)]), [
          ...known
        ])
      }),
      { numRuns: 500 }
    )
  })

  it("keeps every character of what it does not set", () => {
    const item = one(
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1.00,\"tools\":[{\"a\":1e2},{\"b\":\"\\u0041\"},3],\"z\":\"\\/\"}}"
    )
    if (item._tag !== "Response" || item.reply._tag !== "Result") throw new Error(item._tag)
    const { result } = item.reply
    assert.strictEqual(
      T.filterElements(result, "tools", (_, k) => k > 0),
      "{\"n\":1.00,\"tools\":[{\"b\":\"\\u0041\"},3],\"z\":\"\\/\"}"
    )
    assert.strictEqual(T.filterElements(result, "tools", () => false), "{\"n\":1.00,\"tools\":[],\"z\":\"\\/\"}")
    assert.strictEqual(T.filterElements(result, "tools", () => true), result)
    assert.strictEqual(T.filterElements(result, "n", () => false), result)
    assert.strictEqual(T.filterElements(result, "none", () => false), result)
    assert.strictEqual(
      T.setMember(result, "n", T.literal("true")),
      "{\"n\":true,\"tools\":[{\"a\":1e2},{\"b\":\"\\u0041\"},3],\"z\":\"\\/\"}"
    )
    assert.strictEqual(T.removeMember(T.removeMember(result, "tools"), "z"), "{\"n\":1.00}")
    assert.strictEqual(T.removeMember(T.object([["a", T.integer(1)]]), "a"), "{}")
  })

  it("writes any value on one line", () => {
    fc.assert(fc.property(value, (value) => {
      const text = T.fromValue(value)
      assert.isFalse(/[\n\r\u0085\u2028\u2029]/.test(text))
      assert.isFalse(/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(text))
    }))
    assert.deepStrictEqual(
      T.fromValue(["\ud800", "\\ud800", "\u{1f600}", undefined, "\u2028"]),
      "[\"\ufffd\",\"\\\\ud800\",\"\u{1f600}\",null,\"\\u2028\"]"
    )
    assert.strictEqual(T.fromValue(undefined), "null")
    assert.strictEqual(T.quote("\ud800a"), "\"\ufffda\"")
  })

  it("writes lines that are read as what they are", () => {
    const params = T.object([["name", T.quote("a\n\u2028")]])
    const lines = [
      Write.request(T.quote("x"), "tools/\"call\u2029", params),
      Write.request(T.integer(5), "ping", undefined),
      Write.notification("n", params),
      Write.notification("n", undefined),
      Write.response(T.integer(1), { _tag: "Result", result: params }),
      Write.response(T.integer(1), Write.failure(-32603, "m\u0085", params)),
      Write.response(T.integer(1), Write.failure(-32603, "m"))
    ]
    for (const line of lines) {
      assert.match(line, /^[^\n\r\u0085\u2028\u2029]+\n$/)
      assert.strictEqual(written(one(line)), line)
    }
    const batch = one(Write.batch(lines))
    assert.strictEqual(written(batch), Write.batch(lines))
    assert.strictEqual(
      Write.response(undefined, Write.failure(-32700, "m")),
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"m\"}}\n"
    )
  })
})
