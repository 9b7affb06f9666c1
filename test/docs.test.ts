import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { sourced } from "../scripts/lib/source.mjs"
import { filled, normalized, pages, tour } from "../scripts/lib/tour.mjs"

describe("the documentation", () => {
  it("shows what the programs say; `node scripts/docs.mjs` writes it anew", async () => {
    const said = await tour()
    for (const page of pages()) {
      const text = readFileSync(page, "utf8")
      assert.strictEqual(normalized(filled(text, said)), normalized(text), basename(page))
    }
  }, 60_000)

  for (const page of pages()) {
    it(`${basename(page)} shows the examples as they are; \`node scripts/docs.mjs\` writes them anew`, () => {
      const text = readFileSync(page, "utf8")
      assert.strictEqual(sourced(text), text)
    })

    it(`${basename(page)} links to pages that exist`, () => {
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (!target.includes("://")) assert.isTrue(existsSync(join(dirname(page), target)), target)
      }
    })
  }
})
