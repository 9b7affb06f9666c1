/** Every host at every server through the relay, over stdio and over HTTP: what works, what is withheld, and why. */
import { assert, describe, it } from "@effect/vitest"
import { clients } from "../interop/clients.ts"
import { type Name, names, type Trial } from "./features.ts"
import { faults, type Leg } from "./scan.ts"
import * as Session from "./session.ts"
import { reason } from "./withheld.ts"

const limit = 15_000
/** What is withheld is waited for as well, if not for so long. */
const withheldLimit = 700

const timed = <A>(promise: Promise<A>, millis: number): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("not in time")), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

for (const over of ["stdio", "HTTP"] as const) {
  for (const [server, served] of Object.entries(Session.servers)) {
    describe.concurrent(`${server} over ${over}`, () => {
      for (const [host, { open }] of Object.entries(clients)) {
        it(host, { timeout: 60_000 }, async () => {
          const { client, close, legs } = await (over === "stdio" ? Session.stdio : Session.http)(open, served)
          const said = (side: Leg["far"], text: string): boolean =>
            legs().some(({ far, said }) => far === side && said.some((line) => line.includes(text)))
          const sent = (text: string): boolean => said("server", text)
          const told = (text: string): boolean => said("host", text)
          const wrong: Array<string> = []
          const outcomes: Partial<Record<Name, string>> = {}
          for (const name of names) {
            const why = reason({ host, server, over, feature: name })
            const patience = why === undefined ? limit : withheldLimit
            const attempt = async (): Promise<string> => {
              const trial: Trial = { client: await client, sent, told, patience: patience - 100 }
              return (await served.features[name](trial))?.cannot ?? "works"
            }
            const outcome = await timed(attempt(), patience).catch((cause) => `failed: ${cause}`)
            outcomes[name] = why ?? outcome
            if (why === undefined && outcome.startsWith("failed")) wrong.push(`${name} ${outcome}`)
            if (why !== undefined && outcome === "works") wrong.push(`${name} is withheld, and works`)
          }
          await close()
          assert.deepStrictEqual([wrong, [...new Set(legs().flatMap(faults))]], [[], []])
        })
      }
    })
  }
}
