import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { call, notification, request } from "./harness.ts"

const input = [
  request(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" }
  }),
  notification("notifications/initialized"),
  call(2, "slow")
].map((line) => `${line}\n`).join("")

const served = (drain: number, takes: number) =>
  spawnSync(process.execPath, [join(import.meta.dirname, "fixtures/slow.ts"), String(drain), String(takes)], {
    input,
    encoding: "utf8"
  })

describe("the end of input", () => {
  it("a call in flight is answered where the drain is long enough for it, and the process exits with 0", () => {
    const { status, stdout } = served(60_000, 1_500)
    assert.include(stdout, "slow done")
    assert.strictEqual(status, 0)
  })

  it("a call that takes longer than the drain is not waited for, and the process exits with 0 all the same", () => {
    const { status, stdout } = served(50, 600_000)
    assert.include(stdout, `"serverInfo"`)
    assert.notInclude(stdout, "slow done")
    assert.strictEqual(status, 0)
  })
})
