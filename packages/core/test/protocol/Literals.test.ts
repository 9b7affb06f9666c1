import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const packages = join(import.meta.dirname, "../../..")

const sources = readdirSync(packages)
  .flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" }).map((file) => `${name}/src/${file}`)
  )
  .filter((file) => file.endsWith(".ts") && !file.startsWith("core/src/protocol/"))

const literal = `["']\\d{4}-\\d{2}-\\d{2}["']`
const compared = new RegExp(`((?<!=)[<>]=?|[=!]==?|\\bcase)\\s*${literal}|${literal}\\s*([<>]=?|[=!]==?)`)

const found = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => compared.test(line))

it("a comparison with a revision is told from a mention of one", () => {
  const comparisons = [`if (revision >= "2025-06-18") {`, `"2025-06-18" === revision`, `case "2025-06-18":`]
  assert.deepStrictEqual(found(comparisons.join("\n")), comparisons)
  assert.deepStrictEqual(found(`const revision = "2025-06-18"\n(revision) => "2025-06-18"\nf("2025-06-18")`), [])
})

it("what revisions differ in is asked of the tables: no source outside protocol/ compares with a revision", () => {
  assert.isAbove(sources.length, 100)
  assert.deepStrictEqual(sources.flatMap((file) => found(readFileSync(join(packages, file), "utf8"))), [])
})
