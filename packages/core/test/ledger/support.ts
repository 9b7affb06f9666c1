import * as Effect from "effect/Effect"
import type { Event } from "../../src/ledger/Entry.ts"
import * as Heads from "../../src/ledger/Heads.ts"
import * as Keys from "../../src/ledger/Keys.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import { MemoryFiles } from "../../src/store/Files.ts"

export const directory = "/state/ledger"

export const call = (name: string, text?: string): Event => ({
  type: "call",
  from: "host",
  client: "host",
  server: "notes",
  method: "tools/call",
  name,
  digest: "5f".repeat(32),
  text,
  rule: "read"
})

export const outcome = (of: number): Event => ({ type: "outcome", of, was: "result" })

/** The segments of the folder, oldest first. */
export const segments = Effect.map(MemoryFiles, ({ contents }) =>
  [...contents]
    .flatMap(([path, text]) => {
      const segment = path.slice(path.lastIndexOf("/") + 1)
      return Heads.pattern.test(segment) ? [{ segment, path, text }] : []
    })
    .sort((a, b) => a.segment < b.segment ? -1 : 1))

/** Waits until the reserve was made, and takes it away: what follows meets a full disk with nothing to give up. */
export const withoutReserve = Effect.gen(function*() {
  const { contents } = yield* MemoryFiles
  while (!contents.has(`${directory}/reserve`)) yield* Effect.yieldNow
  contents.delete(`${directory}/reserve`)
})

/** The keys of the folder. */
export const keys = Effect.map(MemoryFiles, ({ contents }) => Keys.derive(contents.get(`${directory}/key`) ?? ""))

/** A file ledger of its own, closed at the end of the surrounding scope. */
export const open = (options?: Partial<Ledger.FileOptions>) => Ledger.makeFile({ directory, sync: false, ...options })
