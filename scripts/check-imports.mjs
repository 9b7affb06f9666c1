// Checks the directions of imports; the rules are in lib/imports.mjs.
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { violations } from "./lib/imports.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const skipped = new Set(["node_modules", "dist", "build", "fixtures"])

const sources = (folder) =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : sources(path)
    return /\.m?[jt]s$/.test(entry.name) ? [path] : []
  })

const files = ["packages", "examples", "test", "bench", "demo"]
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap(sources)
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))

const found = violations(files)
for (const { path, line, specifier, why } of found) {
  console.error(`${path}:${line} imports "${specifier}": ${why}`)
}
if (found.length > 0) {
  console.error(`check-imports: ${found.length} of the imports above are not allowed`)
  process.exit(1)
}
