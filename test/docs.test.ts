import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
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
    it(`${basename(page)} links to pages that exist`, () => {
      for (const [, target = ""] of readFileSync(page, "utf8").matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (!target.includes("://")) assert.isTrue(existsSync(join(dirname(page), target)), target)
      }
    })
  }
})
