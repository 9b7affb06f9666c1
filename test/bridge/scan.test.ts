import { assert, describe, it } from "@effect/vitest"
import { faults } from "./scan.ts"

const modern = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message })

const initialize = line({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } })
const initialized = line({
  id: 0,
  result: { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } }
})
const list = line({ id: 1, method: "tools/list" })
const listed = (result: object) => line({ id: 1, result: { tools: [], ...result } })
const legacyHost = (...said: ReadonlyArray<string>) =>
  faults({ far: "host", heard: [initialize, list], said: [initialized, ...said] })

describe("the scan of a leg", () => {
  it("finds nothing where all is of the leg's revision", () => {
    assert.deepStrictEqual(legacyHost(listed({}), line({ method: "notifications/tools/list_changed" })), [])
  })
  for (
    const [what, message] of [
      ["a modern member in a result", listed({ resultType: "complete" })],
      ["an error of the modern era", line({ id: 1, error: { code: -32021, message: "no" } })],
      ["a result that is not of the schema", line({ id: 1, result: { tools: "none" } })],
      ["an answer to nothing", line({ id: 9, result: {} })],
      ["a notification of the modern era", line({ method: "notifications/subscriptions/acknowledged", params: {} })],
      ["a question of a later revision", line({ id: 5, method: "tasks/get", params: { taskId: "1" } })]
    ] as const
  ) {
    it(`finds ${what} at a legacy host`, () => {
      assert.lengthOf(legacyHost(message), 1)
    })
  }
  for (
    const [what, message] of [
      ["a code of the legacy era", line({ id: 1, error: { code: -32002, message: "no" } })],
      ["a result without its type", line({ id: 1, result: { tools: [] } })],
      ["a request of the server's", line({ id: 5, method: "roots/list" })]
    ] as const
  ) {
    it(`finds ${what} at a modern host`, () => {
      const heard = [line({ id: 1, method: "tools/list", params: { _meta: modern } })]
      assert.lengthOf(faults({ far: "host", heard, said: [message] }), 1)
    })
  }
  it("finds what a server is sent of the other era", () => {
    assert.lengthOf(faults({ far: "server", heard: [initialized], said: [initialize, list] }), 0)
    const enveloped = line({ id: 1, method: "tools/list", params: { _meta: modern } })
    assert.lengthOf(faults({ far: "server", heard: [initialized], said: [initialize, enveloped] }), 1)
    const cancelled = line({ method: "notifications/cancelled", params: { requestId: 1, _meta: modern } })
    assert.lengthOf(faults({ far: "server", heard: [initialized], said: [initialize, cancelled] }), 1)
    assert.isNotEmpty(faults({ far: "server", heard: [], said: [list] }))
  })
})
