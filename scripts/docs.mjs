// Writes what the programs really say, and the text of the examples, into README.md and docs/. A test checks that this was done.
import { readFileSync, writeFileSync } from "node:fs"
import { sourced } from "./lib/source.mjs"
import { filled, pages, tour } from "./lib/tour.mjs"

const said = await tour()
for (const page of pages()) {
  const before = readFileSync(page, "utf8")
  const after = sourced(filled(before, said))
  if (after === before) continue
  writeFileSync(page, after)
  console.log(`written: ${page}`)
}
