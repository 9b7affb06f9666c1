/** What is done where somebody removes the ledger of a process that runs, on a disk. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Heads from "../../src/ledger/Heads.ts"
import * as NodeFiles from "../../src/node/NodeFiles.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import * as Folder from "../../src/stage/LedgerFolder.ts"
import type { Files } from "../../src/store/Files.ts"
import { call } from "./support.ts"

/** Longer than a ledger waits after a failure before it tries again. */
const patience = Effect.sleep("120 millis")

const test = <E>(
  name: string,
  run: (directory: string, ledger: Ledger.Ledger["Service"]) => Effect.Effect<void, E, Files>
) =>
  it.live(name, () =>
    Effect.scoped(Effect.gen(function*() {
      const root = mkdtempSync(join(tmpdir(), "sallyport-removed-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(root, { recursive: true })))
      const directory = join(root, "ledger")
      const ledger = yield* Ledger.makeFile({ directory, sync: false })
      ledger.append(call("first"))
      yield* ledger.commit
      yield* run(directory, ledger)
    })).pipe(Effect.provide(NodeFiles.layer)))

describe("a ledger that is removed while it is written to", () => {
  test(
    "lets nothing be written to nowhere: no commit is done until the folder is back",
    (directory, ledger) =>
      Effect.gen(function*() {
        renameSync(directory, `${directory}.away`)
        rmSync(
          join(`${directory}.away`, readdirSync(`${directory}.away`).find((name) => Heads.pattern.test(name)) ?? "")
        )
        ledger.append(call("second"))
        assert.strictEqual((yield* Effect.flip(ledger.commit))._tag, "LedgerError")
        yield* patience
        assert.strictEqual((yield* Effect.flip(ledger.commit))._tag, "LedgerError")
        renameSync(`${directory}.away`, directory)
        yield* patience
        yield* ledger.commit
        const { entries } = yield* Folder.read(directory)
        assert.deepStrictEqual(entries.flatMap(({ event }) => event.type === "call" ? [event.name] : []), ["second"])
        // What is gone is reported.
        assert.notDeepEqual((yield* Folder.verify(directory)).problems, [])
      })
  )

  test("seals nothing with a key that is not the folder's", (directory, ledger) =>
    Effect.gen(function*() {
      rmSync(directory, { recursive: true })
      yield* Effect.scoped(Ledger.makeFile({ directory, sync: false }))
      ledger.append(call("second"))
      assert.strictEqual((yield* Effect.flip(ledger.commit))._tag, "LedgerError")
      yield* patience
      assert.include((yield* Effect.flip(ledger.commit)).message, "is not the key of this run")
      assert.isFalse(readdirSync(directory).some((name) => Heads.pattern.test(name)))
    }))
})
