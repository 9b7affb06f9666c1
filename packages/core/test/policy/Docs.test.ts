import { assert, describe, it } from "@effect/vitest"
import * as Condition from "@sallyport/core/policy/Condition"
import * as Policy from "@sallyport/core/policy/Policy"
import * as Result from "effect/Result"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const page = readFileSync(join(import.meta.dirname, "../../../../docs/policy.md"), "utf8")

const blocks = (language: string): ReadonlyArray<string> =>
  [...page.matchAll(/^```(.*)\n([^]*?)^```$/gm)].filter(([, found]) => found === language).map(([, , text = ""]) =>
    text
  )

describe("docs/policy.md", () => {
  it("shows a policy that can be used", () => {
    const [example = ""] = blocks("toml")
    const parsed = Policy.parse(example, "policy.toml")
    assert.deepStrictEqual(Result.isSuccess(parsed) ? parsed.success.warnings : parsed.failure, [])
  })

  it("shows what is said of a broken one", () => {
    const [broken = ""] = blocks("toml broken")
    const [said = ""] = blocks("text")
    const parsed = Policy.parse(broken, "policy.toml")
    assert.deepStrictEqual(
      Result.isFailure(parsed) ? parsed.failure.map(Policy.format) : [],
      said.trimEnd().split("\n")
    )
  })

  it("shows conditions that can be used", () => {
    const [conditions = ""] = blocks("cel")
    const lines = conditions.trimEnd().split("\n")
    assert.isAbove(lines.length, 3)
    for (const line of lines) assert.isTrue(Result.isSuccess(Condition.compile(line)), line)
  })
})
