/** The official conformance suite on examples/everything through the relay, over HTTP on both sides. */
import { assert, describe, it } from "@effect/vitest"
import * as Revision from "@sallyport/core/protocol/Revision"
import * as Effect from "effect/Effect"
import { make } from "../../examples/everything/server.ts"
import { listen } from "../interop/listen.ts"
import { relay } from "./relayed.ts"
import * as Suite from "./suite.ts"

interface Run {
  readonly name: string
  readonly requirements: "2025-11-25" | "2026-07-28"
  readonly served: ReadonlyArray<Revision.Revision>
  readonly scenarios: number
  readonly passed: number
  /** Scenarios of what the two eras do not both have, with why. */
  readonly withheld: Readonly<Record<string, string>>
}

/** Tasks of the extension have no counterpart at a legacy server: those of 2025-11-25 are asked for by the client. */
const tasks = "the tasks extension is not offered before a legacy server"

/** A warning, and meant: answers reach a server only for what it asked in the round before (security rule F16). */
const unasked = "answers to questions that nobody asked do not reach the server"

const runs: ReadonlyArray<Run> = [
  {
    name: "2025-11-25 is as it is directly",
    requirements: "2025-11-25",
    served: Revision.all,
    scenarios: 33,
    passed: 80,
    withheld: {}
  },
  {
    name: "2026-07-28 is as it is directly",
    requirements: "2026-07-28",
    served: Revision.all,
    scenarios: 50,
    passed: 195,
    withheld: { "input-required-result-ignore-extra-params": unasked }
  },
  {
    name: "2025-11-25 before a server of 2026-07-28 alone",
    requirements: "2025-11-25",
    served: Revision.modern,
    scenarios: 33,
    passed: 80,
    withheld: {}
  },
  {
    name: "2026-07-28 before a server of the legacy revisions alone",
    requirements: "2026-07-28",
    served: Revision.legacy,
    scenarios: 50,
    passed: 0,
    withheld: {
      "input-required-result-basic-elicitation": "questions of legacy servers have no names to keep",
      "input-required-result-ignore-extra-params": unasked,
      "server-stateless": "a legacy server does not say which capability a tool of its would need",
      "tasks-capability-negotiation": tasks,
      "tasks-dispatch-and-envelope": tasks,
      "tasks-lifecycle": tasks,
      "tasks-mrtr-composition": tasks,
      "tasks-mrtr-input": tasks,
      "tasks-request-headers": tasks,
      "tasks-request-state-removal": tasks,
      "tasks-required-task-error": tasks,
      "tasks-wire-fields": tasks
    }
  }
]

describe("conformance through the relay", () => {
  if (!Suite.canRun) {
    it(`its ${runs.length} runs need Node ${Suite.leastNode} or newer, and this is ${process.version}`, (context) => {
      context.skip()
    })
  }
  for (const { name, passed, requirements, scenarios, served, withheld } of Suite.canRun ? runs : []) {
    it.live(name, () =>
      Effect.gen(function*() {
        const url = yield* relay(yield* listen(make(served)))
        const results = yield* Effect.promise(() => Suite.run(url, requirements))
        const wrong = [...results].flatMap(([scenario, checks]) => {
          const faults = Suite.faults(checks)
          return faults.length === 0 ? [] : [[scenario, faults] as const]
        })
        assert.deepStrictEqual(wrong.filter(([scenario]) => !Object.hasOwn(withheld, scenario)), [])
        assert.deepStrictEqual(wrong.map(([scenario]) => scenario).sort(), Object.keys(withheld).sort())
        assert.strictEqual(results.size, scenarios)
        assert.isAtLeast([...results.values()].reduce((sum, checks) => sum + Suite.passed(checks), 0), passed)
      }), 120_000)
  }
})
