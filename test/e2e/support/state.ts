/** The state folder that relays leave behind. */
import type { Event, Omitted } from "@sallyport/core/ledger/Entry"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import type { Files } from "@sallyport/core/store/Files"
import * as Effect from "effect/Effect"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

const names = (folder: string): ReadonlyArray<string> => existsSync(folder) ? readdirSync(folder) : []

/** The ledger's segments. */
export const segments = (state: string): ReadonlyArray<string> =>
  names(join(state, "ledger")).filter((name) => name.endsWith(".jsonl"))

/** The versions of the pins of a server. */
export const versions = (state: string, server: string): ReadonlyArray<string> => names(join(state, "pins", server))

const run = <A, E>(effect: Effect.Effect<A, E, Files>) => Effect.runPromise(Effect.provide(effect, NodeFiles.layer))

export const verify = (state: string) => run(LedgerFolder.verify(join(state, "ledger")))

/** What was recorded, in the order of time. */
export const events = async (state: string): Promise<ReadonlyArray<Event | Omitted>> => {
  const contents = await run(LedgerFolder.read(join(state, "ledger")))
  return contents.entries.map(({ event }) => event)
}
