import { assert, describe, it } from "@effect/vitest"
import * as NodeSeal from "../../src/node/NodeSeal.ts"
import * as State from "../../src/server/internal/State.ts"
import * as Sealed from "../../src/stage/Sealed.ts"
import * as T from "../../src/wire/Text.ts"

const bound: State.Bound = {
  program: "p",
  principal: "ann",
  method: "tools/call",
  name: "x",
  params: T.fromValue({ name: "x", arguments: { a: 1 }, _meta: { m: 1 } })
}

describe("State", () => {
  it("keeps answers and what was kept, and counts rounds", () => {
    const states = State.make(NodeSeal.make())
    const rounds: State.Rounds = {
      ...states.begin(),
      chain: "chain",
      round: 3,
      answers: new Map([["a\"", T.fromValue({ n: 1 })]]),
      asked: new Set(["b", ""]),
      kept: new Map([["k", T.fromValue([1])]])
    }
    const state = states.close(rounds, bound, 0)
    assert.isDefined(state)
    assert.deepStrictEqual(states.open(state ?? T.fromValue(""), bound, 1), { ...rounds, told: true })
  })

  it("is bound to everything but what changes from round to round", () => {
    const states = State.make(NodeSeal.make())
    const close = () => states.close(states.begin(), bound, 0) ?? T.fromValue("")
    const params = (value: unknown): State.Bound => ({ ...bound, params: T.fromValue(value) })
    for (
      const other of [
        { ...bound, program: "q" },
        { ...bound, principal: "bob" },
        { ...bound, method: "prompts/get" },
        { ...bound, name: "y" },
        { ...bound, params: undefined },
        params({ name: "x", arguments: { a: 2 } }),
        params({ name: "x", arguments: { a: 1.5 } }),
        params({ name: "x" })
      ]
    ) assert.isUndefined(states.open(close(), other, 1))
    for (
      const same of [
        params({ arguments: { a: 1 }, name: "x" }),
        params({ name: "x", arguments: { a: 1 }, _meta: { m: 2 }, requestState: "s", inputResponses: {} })
      ]
    ) assert.isDefined(states.open(close(), same, 1))
  })

  it("another key opens nothing", () => {
    const state = State.make(NodeSeal.make()).close(State.make(NodeSeal.make()).begin(), bound, 0)
    assert.isUndefined(State.make(NodeSeal.make()).open(state ?? T.fromValue(""), bound, 1))
  })

  it("is not written beyond its length", () => {
    const states = State.make(NodeSeal.make())
    const kept = (length: number) => ({ ...states.begin(), kept: new Map([["k", T.fromValue("x".repeat(length))]]) })
    assert.isDefined(states.close(kept(11_000), bound, 0))
    assert.isUndefined(states.close(kept(12_500), bound, 0))
  })

  it("can be used once, however many were used since", () => {
    const states = State.make(NodeSeal.make(), 100)
    const close = (now: number) => states.close(states.begin(), bound, now) ?? T.fromValue("")
    const [early, ...used] = Array.from({ length: 150 }, () => close(0))
    for (const state of used) assert.isDefined(states.open(state, bound, 1))
    for (const state of [used[0], used[20], used[100], used.at(-1)]) {
      assert.isUndefined(states.open(state ?? T.fromValue(""), bound, 2))
    }
    // One that is older than all that is remembered counts as used.
    assert.isUndefined(states.open(early ?? T.fromValue(""), bound, 2))
    assert.isDefined(states.open(close(2), bound, 3))
    // What has expired is forgotten.
    assert.isDefined(states.open(close(Sealed.lifetime * 2), bound, Sealed.lifetime * 2))
    assert.isUndefined(states.open(used[0] ?? T.fromValue(""), bound, Sealed.lifetime * 2))
  })
})
