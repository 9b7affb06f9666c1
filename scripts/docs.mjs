// Writes what the programs really say into README.md and docs/. A test checks that this was done.
import { readFileSync, writeFileSync } from "node:fs"
import { filled, pages, tour } from "./lib/tour.mjs"

const said = await tour()
for (const page of pages()) {
  const before = readFileSync(page, "utf8")
  const after = filled(before, said)
  if (after === before) continue
  writeFileSync(page, after)
  console.log(`written: ${page}`)
}
