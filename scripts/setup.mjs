// Installs the workspace when something that decides its content has changed, and does nothing otherwise.
// Runs on the system's Node (18 or newer): pnpm then brings the Node that everything else runs on.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const PNPM = "pnpm@12.21.0"
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, "node_modules", ".setup-stamp")

const members = ["packages", "examples"].flatMap((folder) =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder)).sort().map((name) => join(folder, name, "package.json"))
    : []
)
const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...members]
  .filter((file) => existsSync(join(root, file)))

const hash = createHash("sha256").update(PNPM)
for (const file of files) {
  hash.update(`\0${file}\0`).update(readFileSync(join(root, file)))
}
const wanted = hash.digest("hex")

if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
  process.exit(0)
}

const result = spawnSync("npx", ["-y", PNPM, "install", "--frozen-lockfile"], { cwd: root, stdio: "inherit" })
if (result.error !== undefined) {
  console.error(`setup: npx could not be started: ${result.error.message}`)
  process.exit(1)
}
if (result.status !== 0) {
  console.error(`setup: "${PNPM} install --frozen-lockfile" failed`)
  process.exit(result.status ?? 1)
}
mkdirSync(dirname(stamp), { recursive: true })
writeFileSync(stamp, wanted)
