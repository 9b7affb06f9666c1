/**
 * `sallyport policy replay`.
 *
 * @since 0.1.0
 */
import type * as Read from "@sallyport/core/ledger/Read"
import { real } from "@sallyport/core/node/NodeReal"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Decide from "@sallyport/core/policy/Decide"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import { PinStore } from "@sallyport/core/stage/PinStore"
import type { Text } from "@sallyport/core/wire/Message"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Output from "../Output.ts"
import * as Policies from "../Policies.ts"
import type * as State from "../State.ts"

/** A decision of the ledger, and what the policy says of the same. */
interface Replayed {
  readonly entry: Read.Listed
  readonly method: string
  readonly name: string | undefined
  readonly client: string
  readonly server: string
  readonly was: Was
  readonly by: string | undefined
  readonly now: Decide.Decision | undefined
  /** Why it cannot be told what the policy says. */
  readonly undecidable: string | undefined
}

type Was = "allow" | "ask" | "deny"

/** What a policy was asked about; other refusals are none of its. */
const reasons: ReadonlyMap<string, Was> = new Map([
  ["denied", "deny"],
  ["not-approved", "ask"],
  ["approval-denied", "ask"],
  ["approval-expired", "ask"]
])

/**
 * Puts what a ledger holds to a policy, and prints what it would decide otherwise.
 *
 * **Details**
 *
 * The ledger has the arguments only where the operator wants texts in full. Without them a call under a condition is
 * undecidable, unless a rule without one denies it.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(state: State.State, file: string, json: boolean) {
  const compiled = yield* Policies.load(file, real)
  const store = yield* PinStore
  const definitions = new Map<string, Text>()
  for (const server of yield* store.servers) {
    for (const pin of (yield* store.load(server)).pins) definitions.set(pin.digest, pin.text)
  }

  const decide = (entry: Read.Listed, asked: ReadonlySet<string>): Replayed | undefined => {
    const { event } = entry
    if (event.type !== "call" && event.type !== "refuse") return undefined
    const was = event.type === "refuse"
      ? reasons.get(event.reason)
      : event.rule !== undefined && asked.has(event.rule)
      ? "ask"
      : "allow"
    if (was === undefined) return undefined
    const { client, from, method, name, server, text } = event
    const pin = event.type === "call" ? event.pin : undefined
    const params = text === undefined ? undefined : Result.getOrUndefined(Policies.json(text))
    const definition = pin === undefined ? undefined : definitions.get(pin)
    const call = { client, server, from, method, name, params, pin, definition }
    const found = compiled.find(call)
    const flat = found.constant !== undefined || found.deny.some(({ ready }) => ready.condition === undefined)
    const undecidable = flat || (params !== undefined && (found.closed === undefined || definition !== undefined))
      ? undefined
      : params === undefined
      ? "arguments are not in the ledger"
      : "the definition that it was judged by is not kept"
    return {
      entry,
      method,
      name,
      client,
      server,
      was,
      by: event.rule,
      now: undecidable === undefined ? Decide.decide(compiled, call) : undefined,
      undecidable
    }
  }

  const asked = new Set<string>()
  const all: Array<Replayed> = []
  const { unreadable } = yield* LedgerFolder.scan(state.ledgerFolder, (entry) => {
    if (entry.event.type === "approval-asked") asked.add(entry.event.rule)
    const replayed = decide(entry, asked)
    if (replayed !== undefined) all.push(replayed)
  })
  const differs = all.filter(({ now, was }) => now !== undefined && now.action !== was)
  const undecidable = all.filter((one) => one.undecidable !== undefined)

  if (json) {
    const shown = ({ by, client, entry, method, name, now, server, undecidable, was }: Replayed) => ({
      segment: entry.segment,
      seq: entry.seq,
      time: entry.time,
      client,
      server,
      method,
      name: name ?? null,
      was,
      by: by ?? null,
      action: now?.action ?? null,
      rule: now?.rule ?? null,
      undecidable: undecidable ?? null
    })
    yield* Output.printJson({
      file,
      decisions: all.length,
      differs: differs.map(shown),
      undecidable: undecidable.map(shown),
      unreadable
    })
    return
  }
  const by = (action: string, rule: string | undefined) =>
    rule === undefined ? action : `${action} by ${Visible.short(rule, 64)}`
  const before = ({ by: rule, entry, was }: Replayed) => [Output.time(entry.time), by(was, rule)]
  yield* Output.print(
    [
      ...(differs.length === 0 ? [] : [
        Output.table(
          ["TIME", "WAS", "WOULD BE"],
          differs.map((one) => [
            ...before(one),
            `${by(one.now?.action ?? "", one.now?.rule ?? "the default")}: ${Policies.what(one)}`
          ])
        ),
        ""
      ]),
      ...(undecidable.length === 0 ? [] : [
        Output.table(
          ["TIME", "WAS", "UNDECIDABLE"],
          undecidable.map((one) => [...before(one), `${Policies.what(one)}: ${one.undecidable ?? ""}`])
        ),
        ""
      ]),
      `${Output.count(all.length, "decision")}: ${differs.length} would differ, ${undecidable.length} undecidable.`,
      ...(unreadable === 0 ? [] : [`${Output.count(unreadable, "line")} of the ledger could not be read.`])
    ].join("\n")
  )
})
