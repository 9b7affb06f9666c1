/** The ledger as an operator meets it: without its key. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./support/folders.ts"
import * as servers from "./support/servers.ts"
import { Wire } from "./support/Wire.ts"

const fresh = folders()

const end = async (wire: Wire) => {
  wire.process.stdin.end()
  return wire.ended
}

describe("a relay whose ledger has lost its key", () => {
  for (const env of [[], ["--env", "TOKEN=hunter2-hunter2"]]) {
    it(`refuses, says why and makes no other key ${env.join(" ")}`, async () => {
      const state = join(fresh(), "state")
      const start = () => new Wire(servers.relayed(servers.sdk1(), state, "--first-sight", "trust", ...env))
      const first = start()
      await first.open()
      await first.call(1, "pid")
      await end(first)
      const key = join(state, "ledger/key")
      rmSync(key)

      const second = start()
      second.send({
        id: 0,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
      })
      const opened = await second.answer(0)
      if (opened.error === undefined) {
        second.send({ method: "notifications/initialized" })
        const answer = await second.call(1, "pid")
        assert.strictEqual(JSON.stringify(answer.error).includes("ledger-failed"), true)
      } else assert.include(JSON.stringify(opened.error), "ledger-failed")
      await end(second)
      assert.match(second.stderr, /the key of the ledger in \S+ is gone, and no other one is made by itself/)
      assert.isFalse(existsSync(key))
      const verify = spawnSync(process.execPath, [servers.sallyport, "ledger", "verify", "--state", state], {
        encoding: "utf8"
      })
      assert.strictEqual(verify.status, 1)
      assert.match(verify.stderr, /key/)
    })
  }
})
