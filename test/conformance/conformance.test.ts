/** The official conformance suite on examples/everything, over our own HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import everything from "../../examples/everything/server.ts"
import { listen } from "../interop/listen.ts"
import * as Suite from "./suite.ts"

/**
 * How many scenarios and passed checks there are, so that nothing is silently left out, and the scenarios in which
 * something is wrong: none that is scored. One that has come to pass has to be taken off this list.
 */
const expected = {
  "2025-11-25": { scenarios: 33, passed: 80, failing: [] },
  "2026-07-28": {
    scenarios: 50,
    passed: 196,
    failing: []
  }
} as const

const revisions = ["2025-11-25", "2026-07-28"] as const

describe("conformance", () => {
  if (!Suite.canRun) {
    it(`its ${revisions.length} runs need Node ${Suite.leastNode} or newer, and this is ${process.version}`, (context) => {
      context.skip()
    })
  }
  for (const revision of Suite.canRun ? revisions : []) {
    it.live(`a server has all that ${revision} requires`, () =>
      Effect.gen(function*() {
        const url = yield* listen(everything)
        const results = yield* Effect.promise(() => Suite.run(url, revision))
        const { failing, passed, scenarios } = expected[revision]
        const wrong = new Map([...results].map(([name, checks]) => [name, Suite.faults(checks)]))
        const unexpected = [...wrong].filter(([name, faults]) =>
          faults.length > 0 && !failing.some((known) => known === name)
        )
        assert.deepStrictEqual(unexpected, [])
        assert.deepStrictEqual([...wrong].flatMap(([name, faults]) => faults.length > 0 ? [name] : []).sort(), [
          ...failing
        ])
        assert.strictEqual(results.size, scenarios)
        assert.isAtLeast([...results.values()].reduce((sum, checks) => sum + Suite.passed(checks), 0), passed)
      }), 100_000)
  }
})
