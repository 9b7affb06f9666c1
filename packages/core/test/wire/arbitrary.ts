/** Messages as peers may send them. */
import * as fc from "fast-check"
import { members } from "./read.ts"

/** An object as some peer might spell it: with blanks, with escapes that nobody needs, numbers in any form. */
const spelled: fc.Arbitrary<string> = (() => {
  const blank = fc.stringMatching(/^[ \t\r]{0,2}$/)
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  const string = fc.tuple(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({
        unit: fc.constantFrom("\"", "\\", "/", "\n", "\u2028", "\u0085", "{", "}", "[", ",", ":", "a"),
        maxLength: 40
      }),
      fc.string({ minLength: 30, maxLength: 200 })
    ),
    fc.boolean()
  ).map(([value, escapes]) => escapes ? `"${value.split("").map(escape).join("")}"` : JSON.stringify(value))
  const number = fc.oneof(
    fc.integer().map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.stringMatching(/^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/)
  )
  const name = fc.oneof(
    string,
    fc.constantFrom("\"__proto__\"", "\"constructor\"", "\"\\u006eame\"", "\"name\"", "\"_meta\"", "\"toString\"")
  )
  const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      string,
      number,
      fc.constantFrom("true", "false", "null"),
      fc.array(fc.tuple(blank, tie("value"), blank).map((parts) => parts.join("")), { maxLength: 4 }).chain((items) =>
        blank.map((blank) => `[${items.length === 0 ? blank : items.join(",")}]`)
      ),
      tie("object")
    ),
    object: fc.tuple(
      fc.uniqueArray(fc.tuple(name, blank, blank, tie("value"), blank), {
        maxLength: 5,
        selector: ([name]) => JSON.parse(name)
      }),
      blank
    ).map(([members, blank]) =>
      members.length === 0
        ? `{${blank}}`
        : `{${members.map(([name, a, b, value, c]) => `${b}${name}${a}:${b}${value}${c}`).join(",")}}`
    )
  }))
  return object
})()

const id = fc.oneof(fc.integer().map(String), fc.string().map((value) => JSON.stringify(value.toWellFormed())))
const method = fc.oneof(fc.constantFrom("tools/call", "ping"), fc.string({ unit: "binary" })).map((value) =>
  JSON.stringify(value.toWellFormed())
)

export const message: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(id, method, spelled).map(([id, method, params]) => [["id", id], ["method", method], ["params", params]]),
  fc.tuple(method, spelled).map(([method, params]) => [["method", method], ["params", params]]),
  fc.tuple(id, method).map(([id, method]) => [["id", id], ["method", method]]),
  fc.tuple(id, spelled).map(([id, result]) => [["id", id], ["result", result]]),
  fc.tuple(id, fc.integer(), fc.string()).map(([id, code, text]) => [
    ["id", id],
    ["error", `{"code":${code},"message":${JSON.stringify(text.toWellFormed())}}`]
  ])
).chain((entries) => fc.shuffledSubarray([["jsonrpc", "\"2.0\""], ...entries], { minLength: entries.length + 1 }))
  .map((entries) => `{${entries.map(([name, value]) => `"${name}":${value}`).join(",")}}`)

/** Half of a surrogate pair, escaped. */
const lone = /\\u[dD][89a-fA-F]/
/** A name in another case. */
export const isVariant = (line: string): boolean => {
  const names = new Set(members)
  const folded = new Set(members.map((name) => name.toLowerCase()))
  let found = false
  JSON.parse(line, (key, value) => {
    if (!names.has(key) && folded.has(key.toLowerCase())) found = true
    return value
  })
  return found
}

/** Messages that the rules of reading have nothing against. */
export const acceptable: fc.Arbitrary<string> = message.filter((line) =>
  !lone.test(JSON.stringify(JSON.parse(line))) && !isVariant(line)
)

const names = [
  "\"a\"",
  "\"\\u0061\"",
  "\"A\"",
  "\"\u00e9\"",
  "\"\\u00e9\"",
  "\"\\u00E9\"",
  "\"e\"",
  "\"\"",
  "\"1\"",
  "\"\\u0031\""
]

type Doubled = readonly [json: string, twice: boolean]

/** A value whose objects may have a name twice, spelled in one way or another, and whether one does. */
export const doubled: fc.Arbitrary<Doubled> = fc.letrec<{ value: Doubled; object: Doubled }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constant<Doubled>(["1", false]),
    fc.array(tie("value"), { maxLength: 3 }).map((items): Doubled => [
      `[${items.map(([json]) => json).join(",")}]`,
      items.some(([, twice]) => twice)
    ]),
    tie("object")
  ),
  object: fc.array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 4 }).map((members): Doubled => [
    `{${members.map(([name, [json]]) => `${name}:${json}`).join(",")}}`,
    members.some(([, [, twice]]) => twice) || new Set(members.map(([name]) => JSON.parse(name))).size < members.length
  ])
})).object
