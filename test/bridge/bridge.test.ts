/** Every host at every server through the relay, over stdio and over HTTP: what works, what is withheld, and why. */
import { assert, describe, expect, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { clients } from "../interop/clients.ts"
import { type Name, names, type Trial } from "./features.ts"
import { faults } from "./scan.ts"
import * as Session from "./session.ts"
import * as Table from "./table.ts"
import { reason, type Way, ways } from "./withheld.ts"

/** Only what never comes is waited for so long. */
const limit = 30_000
/** What is withheld is waited for as well, if not for so long. */
const withheldLimit = 700

const timed = <A>(promise: Promise<A>, millis: number): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("not in time")), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

const outcomes: Array<Table.Outcome> = []

/** Where a server is not over HTTP in the table, the way over HTTP is the one to the relay. */
const servers = (over: Way): ReadonlyArray<readonly [string, Session.Server]> =>
  Object.entries(Session.servers).filter(([, served]) => over !== "stdio to HTTP" || "http" in served)

for (const over of ways) {
  for (const [server, served] of servers(over)) {
    describe.concurrent(`${server} over ${over}`, () => {
      for (const [host, { open }] of Object.entries(clients)) {
        it(host, { timeout: 180_000 }, async () => {
          const { client, close, legs, sent } = await Session.open[over](open, served)
          const told = (text: string): boolean =>
            legs().some(({ far, said }) => far === "host" && said.some((line) => line.includes(text)))
          const wrong: Array<string> = []
          const features: Partial<Record<Name, string>> = {}
          for (const name of names) {
            const why = reason({ host, server, over, feature: name })
            const patience = why === undefined ? limit : withheldLimit
            const attempt = async (): Promise<string> => {
              const trial: Trial = { client: await client, sent, told, patience: patience - 100 }
              return (await served.features[name](trial))?.cannot.replace(/^it /, "the host ") ?? "works"
            }
            const outcome = await timed(attempt(), patience).catch((cause) => `failed: ${cause}`)
            features[name] = why ?? outcome
            if (why === undefined && outcome.startsWith("failed")) wrong.push(`${name} ${outcome}`)
            if (why !== undefined && outcome === "works") wrong.push(`${name} is withheld, and works`)
          }
          await close()
          assert.deepStrictEqual([wrong, [...new Set(legs().flatMap(faults))]], [[], []])
          outcomes.push({ host, server, over, features })
        })
      }
    })
  }
}

describe("docs/bridge.md", () => {
  it("has the table as it came out; `npx vitest run test/bridge -u` writes it anew", async (context) => {
    const order = ways.flatMap((over) =>
      servers(over).flatMap(([server]) => Object.keys(clients).map((host) => ({ over, server, host })))
    )
    const sorted = order.flatMap((cell) =>
      outcomes.filter(({ host, over, server }) => host === cell.host && over === cell.over && server === cell.server)
    )
    if (sorted.length < order.length) return context.skip("some sessions were not run, or failed")
    const page = join(import.meta.dirname, "../../docs/bridge.md")
    const texts = { sessions: Table.sessions(sorted), lowered: Table.lowered() }
    await expect(Table.filled(readFileSync(page, "utf8"), texts)).toMatchFileSnapshot(page)
  })
})
