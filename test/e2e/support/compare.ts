/** Each client does the same with a server, directly and through the relay, and must see the same. */
import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { folders } from "./folders.ts"
import * as Host from "./Host.ts"
import { gone } from "./processes.ts"
import * as servers from "./servers.ts"
import { mediated, Script, type Transcript } from "./Transcript.ts"

export interface Case {
  readonly name: string
  readonly kinds?: ReadonlyArray<Host.Kind>
  readonly answers?: Host.Answers
  /** The server and the script, with a folder of the run's own; its path is the same length in every run. */
  readonly prepare: (
    folder: string
  ) => { readonly launch: servers.Launch; readonly play: (script: Script) => Promise<void> }
}

/** Plays a script, then closes; the process that the client started is gone after that. */
const run = async (
  kind: Host.Kind,
  launch: servers.Launch,
  answers: Host.Answers,
  play: (script: Script) => Promise<void>
): Promise<Transcript> => {
  const host = Host.make(kind, launch, answers)
  const script = new Script(host)
  try {
    await play(script)
  } catch (error) {
    throw new Error(`${String(error)}\nafter ${JSON.stringify(script.steps.at(-1))}\n${host.stderr()}`, {
      cause: error
    })
  } finally {
    await host.close()
  }
  await gone(host.pid())
  return script.transcript()
}

const legacy: ReadonlyArray<Host.Kind> = ["sdk1", "sdk2", "sdk2-auto"]

/** The tests of some servers. */
export const compare = (cases: ReadonlyArray<Case>): void => {
  describe("through the relay a client sees what it sees directly", () => {
    const fresh = folders()

    for (const { answers = {}, kinds = legacy, name, prepare } of cases) {
      for (const kind of kinds) {
        it(`${name} to ${kind}`, async () => {
          const own = fresh()
          const play = async (way: "direct" | "behind") => {
            // One path for both, one after the other: it is in what the servers answer.
            const folder = join(own, "work")
            rmSync(folder, { recursive: true, force: true })
            mkdirSync(folder)
            const { launch, play } = prepare(folder)
            return run(kind, way === "direct" ? launch : servers.mirrored(launch, join(own, "state")), answers, play)
          }
          const direct = await play("direct")
          const behind = await play("behind")
          assert.isAbove(direct.answers.length, 4)
          assert.deepStrictEqual(mediated(behind), mediated(direct))
        }, 120_000)
      }
    }
  })
}
