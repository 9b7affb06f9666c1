// Prints what .ci/run ends with, from vitest's JSON report: `N passed, N failed, N skipped`.
// usage: count.mjs REPORT STATUS OTHER, where STATUS is the exit code of the tests and OTHER counts failures beside them.
import { existsSync, readFileSync } from "node:fs"

const [, , file, status, other] = process.argv
let [passed, failed, skipped] = [0, Number(other), 0]

if (existsSync(file)) {
  const report = JSON.parse(readFileSync(file, "utf8"))
  for (const suite of report.testResults) {
    const before = failed
    for (const { status: outcome } of suite.assertionResults) {
      if (outcome === "passed") passed++
      else if (outcome === "failed") failed++
      else skipped++
    }
    // A file that could not be loaded has no assertions.
    if (suite.status === "failed" && failed === before) failed++
  }
}
// The checks before the tests, or vitest itself, failed.
if (Number(status) !== 0 && failed === Number(other)) failed++

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
