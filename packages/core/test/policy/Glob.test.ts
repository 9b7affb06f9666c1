import { assert, describe, it } from "@effect/vitest"
import * as Glob from "@sallyport/core/policy/Glob"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const glob = (pattern: string): Glob.Glob => Result.getOrThrow(Glob.compile(pattern))

describe("Glob", () => {
  it("matches what the pattern says", () => {
    const table: ReadonlyArray<readonly [pattern: string, yes: ReadonlyArray<string>, no: ReadonlyArray<string>]> = [
      ["read", ["read"], ["Read", "read ", "xread", ""]],
      ["*", ["", "a", "a/b"], []],
      ["**", ["", "a/b"], []],
      ["write_*", ["write_", "write_file"], ["write", "awrite_"]],
      ["*_file", ["_file", "read_file"], ["read_files"]],
      ["*a*b*", ["ab", "xaxbx"], ["ba", "a"]],
      ["a*a", ["aa", "aba"], ["a"]],
      ["a?c", ["abc", "a\u{1f600}c"], ["ac", "abbc"]],
      ["{read,list}_*", ["read_x", "list_"], ["write_x"]],
      ["{,un}lock", ["lock", "unlock"], ["relock"]],
      ["[a-c]x", ["ax", "cx"], ["dx", "x"]],
      ["[!a-c]x", ["dx"], ["ax"]],
      ["[]]x", ["]x"], ["x"]],
      ["a\\*b", ["a*b"], ["axb"]],
      ["*\u{1f600}", ["x\u{1f600}"], ["x"]],
      ["*?", ["a", "\u{1f600}"], [""]],
      ["file:///srv/*", ["file:///srv/a/b"], ["file:///etc"]]
    ]
    for (const [pattern, yes, no] of table) {
      for (const name of yes) assert.isTrue(glob(pattern).matches(name), `${pattern} matches ${name}`)
      for (const name of no) assert.isFalse(glob(pattern).matches(name), `${pattern} does not match ${name}`)
    }
  })

  it("says what is wrong with a pattern", () => {
    const table: ReadonlyArray<readonly [string, string]> = [
      ["", "it is empty and matches nothing"],
      ["[a", `the "[" at character 1 is never closed`],
      ["x{a,b", `the "{" at character 2 is never closed`],
      ["{a}", `the "{" at character 1 offers no choice; write {a,b}`],
      ["{a,{b,c}}", `the "{" at character 4 stands inside another`],
      ["a}", `the "}" at character 2 was never opened`],
      ["a\\", "it ends with a backslash"],
      ["[z-a]", "the set [z-a] has a range that runs backwards"],
      ["{a,b}".repeat(7), "its braces stand for more than 64 patterns; write a list"],
      ["x".repeat(1025), "it is longer than 1024 characters"]
    ]
    for (const [pattern, why] of table) assert.deepStrictEqual(Glob.compile(pattern), Result.fail(why))
  })

  it("matches as the same pattern as a regular expression does", () => {
    const part = fc.constantFrom("*", "?", "a", "b", "ab", "[ab]", "[!a]", "{a,b*}")
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), fc.stringMatching(/^[abc]{0,8}$/), (parts, name) => {
        const expression = parts.map((p) =>
          p === "*" ? "[^]*" : p === "?" ? "[^]" : p === "[!a]" ? "[^a]" : p === "{a,b*}" ? "(?:a|b[^]*)" : p
        )
        assert.strictEqual(glob(parts.join("")).matches(name), new RegExp(`^${expression.join("")}$`).test(name))
      })
    )
  })

  it("F9: a hostile name costs no more than its length times the pattern's", () => {
    const hostile = glob(`${"*a".repeat(100)}*b`)
    // Each part is looked for once from where the one before ended; no star is tried again.
    assert.isFalse(hostile.matches("a".repeat(100_000)))
    assert.isAtMost(hostile.cost(100_000), 100_000 * 200 / 16 + 1)
  })
})
