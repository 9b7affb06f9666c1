/** Folders of a test file's own, which are deleted when its tests are done. */
import { afterAll, beforeAll } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** To be called once in a file, or in a `describe`: gives what makes a new folder each time. */
export const folders = (): () => string => {
  let root = ""
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "sallyport-e2e-"))
  })
  afterAll(() => {
    rmSync(root, { recursive: true, force: true })
  })
  return () => mkdtempSync(join(root, "run-"))
}
