import { assert, describe, it } from "@effect/vitest"
import { isServerName } from "@sallyport/core/stage/PinStore"
import { nameOf } from "@sallyport/relay/Name"
import * as fc from "fast-check"

describe("the name of a server that was given none", () => {
  const rows: ReadonlyArray<readonly [name: string, command: string, ...args: ReadonlyArray<string>]> = [
    ["server-filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"],
    ["server-filesystem", "npx", "-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/srv"],
    ["weather", "npx", "weather@latest"],
    ["mcp-server-git", "uvx", "mcp-server-git", "--repository", "/srv"],
    ["notes", "uv", "run", "notes"],
    ["files", "node", "/opt/files/dist/index.js"],
    ["files", "node", "--enable-source-maps", "./files.mjs"],
    ["notes", "/usr/bin/python3.12", "notes.py"],
    ["notes-server", "python3", "-m", "notes_server"],
    ["my-server", "/opt/My Server"],
    ["notes", "./notes"],
    ["tool", "env", "tool"],
    ["server", "???"],
    ["server", ""],
    ["node", "node"]
  ]
  for (const [name, command, ...args] of rows) {
    it(`of ${[command, ...args].join(" ")} is ${name}`, () => {
      assert.strictEqual(nameOf(command, args), name)
    })
  }

  it("is always one under which pins can be kept", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), fc.array(fc.string()), (command, args) => {
      const name = nameOf(command, args)
      assert.isTrue(isServerName(name), name)
    }))
  })
})
