import { assert, describe, it } from "@effect/vitest"
import { real } from "@sallyport/core/node/NodeReal"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

describe("NodeReal", () => {
  it("F24: follows every link, and says nothing where it cannot be told", () => {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "sallyport-real-")))
    try {
      fs.mkdirSync(`${root}/notes`)
      fs.mkdirSync(`${root}/secret`)
      fs.writeFileSync(`${root}/secret/key`, "")
      fs.symlinkSync(`${root}/secret`, `${root}/notes/out`)
      fs.symlinkSync(`${root}/gone`, `${root}/notes/dangling`)
      fs.symlinkSync("loop", `${root}/notes/loop`)
      const table: ReadonlyArray<readonly [string, string | undefined]> = [
        ["notes", `${root}/notes`],
        ["notes/out/key", `${root}/secret/key`],
        ["notes/out/new/file", `${root}/secret/new/file`],
        ["notes/new", `${root}/notes/new`],
        ["notes/dangling", undefined],
        ["notes/dangling/x", undefined],
        ["notes/loop", undefined],
        ["secret/key/x", undefined]
      ]
      for (const [given, expected] of table) assert.strictEqual(real(`${root}/${given}`), expected, given)
    } finally {
      fs.rmSync(root, { recursive: true })
    }
  })
})
