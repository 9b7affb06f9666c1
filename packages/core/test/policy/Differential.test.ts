import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@marcbachmann/cel-js"
import * as Condition from "@sallyport/core/policy/Condition"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { call, raw } from "./support.ts"

const args = {
  a: 1,
  b: -2,
  d: 2.5,
  s: "abc",
  t: "b",
  l: [1, 2, 3],
  e: [],
  w: ["a", "b"],
  m: { k: "v", n: { x: true } },
  yes: true,
  n: null
}

/** As the library takes JSON: whole numbers are int. */
const native = (value: unknown): unknown =>
  typeof value === "number" && Number.isInteger(value)
    ? BigInt(value)
    : Array.isArray(value)
    ? value.map(native)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, value]) => [name, native(value)]))
    : value

const { truth } = fc.letrec<{ truth: string; number: string; text: string; list: string; any: string }>((tie) => {
  const pair = (left: fc.Arbitrary<string>, ops: ReadonlyArray<string>, right: fc.Arbitrary<string>) =>
    fc.tuple(left, fc.constantFrom(...ops), right).map(([l, op, r]) => `(${l} ${op} ${r})`)
  const number = tie("number")
  const text = tie("text")
  const list = tie("list")
  const truth = tie("truth")
  const any = tie("any")
  const depth = { maxDepth: 4, depthSize: "small" } as const
  return {
    number: fc.oneof(
      depth,
      fc.constantFrom(
        "args.a",
        "args.b",
        "1",
        "2",
        "-3",
        "0",
        "9223372036854775807",
        "args.zzz",
        "args.l[0]",
        "args.m.q"
      ),
      pair(number, ["+", "-", "*", "/", "%"], number),
      list.map((l) => `size(${l})`),
      text.map((t) => `${t}.size()`),
      number.map((n) => `-${n}`),
      fc.tuple(truth, number, number).map(([c, y, n]) => `(${c} ? ${y} : ${n})`)
    ),
    text: fc.oneof(
      depth,
      fc.constantFrom("args.s", "args.t", `"a"`, `""`, "args.m.k", "args.s_", "args.w[1]", `"\u{1f600}"`),
      pair(text, ["+"], text),
      text.map((t) => `${t}.upperAscii()`),
      number.map((n) => `string(${n})`)
    ),
    list: fc.oneof(
      depth,
      fc.constantFrom("args.l", "args.e", "[1, 2]", "[3]"),
      pair(list, ["+"], list),
      fc.tuple(list, number).map(([l, n]) => `${l}.map(x, x + ${n})`),
      fc.tuple(list, number).map(([l, n]) => `${l}.filter(y, y > ${n})`)
    ),
    any: fc.oneof(depth, number, text, list, truth, fc.constantFrom("args.m", "args.n", "null", "args.d", "1.5")),
    truth: fc.oneof(
      depth,
      fc.constantFrom(
        "true",
        "false",
        "args.yes",
        "has(args.a)",
        "has(args.zz)",
        "has(args.m.n)",
        "args.m.n.x",
        "args.no"
      ),
      pair(number, ["<", "<=", ">", ">=", "==", "!="], number),
      pair(text, ["<", "==", "!=", ">="], text),
      pair(list, ["==", "!="], list),
      pair(number, ["in"], list),
      pair(text, ["in"], fc.constantFrom("args.w", "args.m", `["a", "x"]`)),
      pair(truth, ["&&", "||", "==", "!="], truth),
      pair(any, ["==", "!="], fc.constant("null")),
      truth.map((t) => `!(${t})`),
      fc.tuple(text, fc.constantFrom("startsWith", "endsWith", "contains"), text).map(([t, f, u]) => `${t}.${f}(${u})`),
      fc.tuple(text, fc.constantFrom("^a", "b+", "[a-c]{2}", "^$", "(a|b)*c")).map(([t, p]) => `${t}.matches("${p}")`),
      fc.tuple(list, fc.constantFrom("all", "exists", "exists_one"), number).map(([l, f, n]) =>
        `${l}.${f}(z, z == ${n})`
      ),
      fc.tuple(any, fc.constantFrom("int", "string", "list", "bool", "map")).map(([a, t]) =>
        `(type(dyn(${a})) == ${t})`
      )
    )
  }
})

describe("Condition against the library's own evaluation", () => {
  it("gives the same answer, wherever it gives one", () => {
    const library = new Environment({ homogeneousAggregateLiterals: false }).registerVariable("args", "map")
    const context = { args: native(args) }
    const facts = Condition.facts(call("read", raw(JSON.stringify(args))))
    let answered = 0
    fc.assert(
      fc.property(truth, (source) => {
        const compiled = Condition.compile(source)
        if (Result.isFailure(compiled)) return
        const ours = compiled.success.evaluate(facts, { left: Condition.limits.steps })
        if (typeof ours !== "boolean") return
        answered++
        assert.strictEqual(ours, library.evaluate(source, context), source)
      }),
      { numRuns: 500 }
    )
    assert.isAbove(answered, 100)
  })
})
