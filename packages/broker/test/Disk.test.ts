import { assert, describe, it } from "@effect/vitest"
import * as Grants from "@sallyport/broker/Grants"
import * as Registry from "@sallyport/broker/Registry"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "sallyport-broker-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)
const text = `[servers.files]\ncommand = "x"\n`

describe("the broker's files on disk", () => {
  it.live("F2: a registry that becomes a link, or can be written by others, reaches nothing from the next reading on", () =>
    Effect.gen(function*() {
      const folder = yield* temporary
      const file = path.join(folder, "servers.toml")
      const { servers } = yield* Effect.provide(Registry.Registry, Registry.layerFile(file))
      assert.strictEqual((yield* servers).size, 0)
      fs.writeFileSync(file, text, { mode: 0o600 })
      assert.strictEqual((yield* servers).size, 1)

      const breaks: ReadonlyArray<readonly [string, () => void, () => void]> = [
        ["written by the group", () => fs.chmodSync(file, 0o620), () => fs.chmodSync(file, 0o600)],
        ["written by everybody", () => fs.chmodSync(file, 0o602), () => fs.chmodSync(file, 0o600)],
        ["in a folder of everybody's", () => fs.chmodSync(folder, 0o777), () => fs.chmodSync(folder, 0o700)],
        ["a link", () => {
          fs.renameSync(file, `${file}.real`)
          fs.symlinkSync(`${file}.real`, file)
        }, () => fs.renameSync(`${file}.real`, file)],
        ["a link to nothing", () => {
          fs.renameSync(file, `${file}.real`)
          fs.symlinkSync("/nowhere", file)
        }, () => fs.renameSync(`${file}.real`, file)],
        ["a folder", () => {
          fs.renameSync(file, `${file}.real`)
          fs.mkdirSync(file)
        }, () => {
          fs.rmdirSync(file)
          fs.renameSync(`${file}.real`, file)
        }]
      ]
      for (const [what, spoil, mend] of breaks) {
        spoil()
        assert.isTrue(Result.isFailure(yield* Effect.result(servers)), what)
        mend()
        assert.strictEqual((yield* servers).size, 1, what)
      }
    }).pipe(Effect.provide(NodeFiles.layer)))

  it.live("of grants that are changed at once none is lost: each is there, or was refused", () =>
    Effect.gen(function*() {
      const file = path.join(yield* temporary, "grants.toml")
      const grants = yield* Effect.provide(Grants.Grants, Grants.layerFile(file))
      const servers = Array.from({ length: 20 }, (_, nth) => `server-${nth}`)
      const done = yield* Effect.forEach(
        servers,
        (server) => Effect.result(grants.change((text, file) => Grants.add(text, file, { client: "ci", server }))),
        { concurrency: "unbounded" }
      )
      const expected = servers.filter((_, nth) => done[nth] !== undefined && Result.isSuccess(done[nth]))
      for (const result of done) {
        if (Result.isFailure(result)) assert.strictEqual(result.failure.kind, "busy", result.failure.message)
      }
      assert.isNotEmpty(expected)
      assert.deepStrictEqual((yield* grants.all).map(({ server }) => server).toSorted(), expected.toSorted())
      assert.deepStrictEqual(fs.readdirSync(path.dirname(file)), ["grants.toml"])
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
    }).pipe(Effect.provide(NodeFiles.layer)))
})
