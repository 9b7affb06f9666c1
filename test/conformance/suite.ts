/** The official conformance suite, run on a server, and what it found. */
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

const program = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js")

/** What one scenario looked at. */
export interface Check {
  readonly id: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

/** The least major version of Node that the suite runs on. */
export const leastNode = 22

export const canRun = Number(process.versions.node.split(".")[0]) >= leastNode

const scenarioOf = (folder: string): string => folder.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, "")

/** Runs all that a revision asks of a server, and gives its checks by scenario, the scenarios in their order. */
export const run = (url: string, requirements: string): Promise<ReadonlyMap<string, ReadonlyArray<Check>>> =>
  new Promise((done, failed) => {
    const folder = mkdtempSync(join(tmpdir(), "sallyport-conformance-"))
    const args = [program, "server", "--url", url, "--requirements", requirements, "--output-dir", folder]
    execFile(process.execPath, args, { cwd: folder, timeout: 90_000, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      try {
        const found = readdirSync(folder).map((name): readonly [string, ReadonlyArray<Check>] => [
          scenarioOf(name),
          JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8"))
        ])
        // It ends with 1 where a scenario fails; without results it has not run.
        if (error !== null && found.length === 0) failed(new Error(`${error.message}\n${stdout}\n${stderr}`))
        else done(new Map(found))
      } catch (cause) {
        failed(cause instanceof Error ? cause : new Error(String(cause)))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
  })

/** What is not as it should be, as lines. */
export const faults = (checks: ReadonlyArray<Check>): ReadonlyArray<string> =>
  checks.flatMap(({ errorMessage = "", id, status }) =>
    status === "FAILURE" || status === "WARNING" ? [`${status} ${id}: ${errorMessage}`] : []
  )

export const passed = (checks: ReadonlyArray<Check>): number =>
  checks.filter(({ status }) => status === "SUCCESS").length
