/**
 * Random sessions in which people are asked, against a model: nothing reaches the server that nobody allowed, as it was
 * allowed, and nothing twice.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import * as fc from "fast-check"
import * as Approval from "../../src/line/Approval.ts"
import { Ask } from "../../src/line/Ask.ts"
import * as Notices from "../../src/line/Notices.ts"
import * as NodeSeal from "../../src/node/NodeSeal.ts"
import { meta } from "../../src/protocol/Revision.ts"
import * as Approvals from "../../src/stage/Approvals.ts"
import * as Gate from "../../src/stage/Gate.ts"
import { Text } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as H from "./harness.ts"

const choice = fc.constantFrom("allow", "deny", "empty", "none", "error")
const which = fc.nat({ max: 5 })

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ _tag: fc.constant("call" as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      _tag: fc.constant("host" as const),
      which,
      choice,
      // How the retry of the modern era differs from what it should be.
      wrong: fc.constantFrom("no", "no", "no", "arguments", "state", "key")
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      _tag: fc.constant("terminal" as const),
      which,
      choice: fc.constantFrom<Approvals.Choice>("allow", "deny")
    })
  },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("cancel" as const), which }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("policy" as const) }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("drift" as const) }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("wait" as const), seconds: fc.nat({ max: 200 }) }) }
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const textOf = ({ text }: H.Said) => Text.make(text)

/** One call of the model, known by its argument `n`. */
interface Made {
  readonly n: number
  /** The request that waits: the newest retry of it in the modern era. */
  id: number
  /** What held when the question was put that is open now. */
  under: string
  /** Who said yes to that question. */
  allowed: boolean
  /** The host's own question, or what its retry has to bring. */
  form: { readonly id: string } | { readonly key: string; readonly state: string; readonly old: string } | undefined
}

const session = Effect.fnUntraced(function*(era: "legacy" | "modern", steps: ReadonlyArray<Step>) {
  const services = yield* Layer.build(
    Approval.layer().pipe(
      Layer.provideMerge(Layer.mergeAll(Approvals.layerMemory(), NodeSeal.layer, Notices.layerSilent))
    )
  )
  const approvals = Context.get(services, Approvals.Approvals)
  let epoch = 0
  let version = 0
  const ask: Gate.Ask = { _tag: "Ask", rule: "r", why: "w", via: "any" }
  const relay = yield* H.open({
    gate: Gate.make({ call: () => Exit.succeed(ask), epoch: () => epoch }),
    asker: Context.get(services, Ask).open,
    // Everything is callable, whatever it is now: what may not pass is what was allowed of another definition.
    firstSight: "observe",
    capabilities: { tools: { listChanged: true } },
    ...(era === "modern" ? { answers: H.modernAnswers({ tools: { listChanged: true } }) } : {})
  })
  if (era === "legacy") yield* H.handshake(relay, "2025-11-25", { elicitation: {} })

  const made: Array<Made> = []
  let ids = 0
  let seen = 0
  const reached = new Map<number, number>()
  const held = () => `${epoch} ${version}`
  const line = (id: number, params: Record<string, unknown>): string =>
    era === "legacy"
      ? H.request(id, "tools/call", params)
      : H.request(id, "tools/call", { ...params, _meta: H.modernMeta({ elicitation: { form: {} } }) })
  const callOf = (n: number) => ({ name: "write", arguments: { n } })

  /** Looks at what came of the last step: new questions, and calls that the server got. */
  const look = (): void => {
    for (const call of made) {
      const answer = relay.answers(call.id)[0]
      const result = answer === undefined ? undefined : T.member(textOf(answer), "result")
      const state = result === undefined ? undefined : T.member(result, "requestState")
      const requests = result === undefined ? undefined : T.member(result, "inputRequests")
      if (state === undefined || requests === undefined) continue
      const key = T.names(requests)[0] ?? ""
      const fresh = T.string(state) ?? ""
      const before = call.form !== undefined && "key" in call.form ? call.form : undefined
      if (before?.state === fresh) continue
      // Another key is another question.
      if (before?.key !== key) {
        call.under = held()
        call.allowed = false
      }
      call.form = { key, state: fresh, old: before?.state ?? fresh }
    }
    const lines = relay.saw()
    for (const said of lines.slice(seen)) {
      if (said.method !== "elicitation/create" || said.id === undefined) continue
      const message = T.member(T.member(textOf(said), "params") ?? T.object([]), "message") ?? ""
      const n = Number(/\\"n\\":(\d+)/.exec(message)?.[1])
      const call = made.find((one) => one.n === n)
      if (call === undefined) return assert.fail(`a question about nothing: ${message}`)
      call.form = { id: said.id }
      call.under = held()
      call.allowed = false
    }
    seen = lines.length
    const counts = new Map<number, number>()
    for (const call of relay.calls()) {
      const n = Number(/"n":(\d+)/.exec(call.text)?.[1])
      counts.set(n, (counts.get(n) ?? 0) + 1)
    }
    for (const [n, count] of counts) {
      if (reached.get(n) === count) continue
      reached.set(n, count)
      assert.strictEqual(count, 1, `the call ${n} reached the server twice`)
      const call = made.find((one) => one.n === n)
      assert.isTrue(call?.allowed === true, `nobody allowed the call ${n}`)
      assert.strictEqual(call?.under, held(), `the call ${n} was allowed under what does not hold any more`)
    }
  }

  for (const step of steps) {
    switch (step._tag) {
      case "call": {
        const n = made.length
        made.push({ n, id: ids++, under: held(), allowed: false, form: undefined })
        yield* relay.says(line(ids - 1, callOf(n)))
        break
      }
      case "host": {
        const call = made[step.which % Math.max(1, made.length)]
        if (call?.form === undefined) break
        const content = step.choice === "empty" || step.choice === "none" ? {} : { decision: step.choice }
        const given = { action: "accept", content }
        if ("id" in call.form) {
          if (step.choice === "allow") call.allowed = true
          if (step.choice === "none") break
          const { id } = call.form
          call.form = undefined
          yield* relay.says(
            step.choice === "error"
              ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":"no"}}`
              : H.result(id, given)
          )
          break
        }
        const { key, old, state } = call.form
        if (step.choice === "allow" && step.wrong === "no") call.allowed = true
        const id = ids++
        if (step.wrong === "no") call.id = id
        yield* relay.says(line(id, {
          ...callOf(step.wrong === "arguments" ? call.n + 1000 : call.n),
          requestState: step.wrong === "state" ? `${old}x` : state,
          inputResponses: step.choice === "none" ? {} : { [step.wrong === "key" ? `${key}x` : key]: given }
        }))
        if (step.wrong !== "no") call.form = { key, state, old }
        break
      }
      case "terminal": {
        const waiting = yield* approvals.pending
        const approval = waiting[step.which % Math.max(1, waiting.length)]?.approval
        if (approval === undefined) break
        const n = Number(/"n":(\d+)/.exec(approval.question.arguments)?.[1])
        const call = made.find((one) => one.n === n)
        if (call !== undefined && step.choice === "allow") call.allowed = true
        yield* approvals.answer(approval.id, approval.digest, step.choice)
        yield* H.settle
        break
      }
      case "cancel": {
        const call = made[step.which % Math.max(1, made.length)]
        if (call !== undefined) yield* relay.says(H.cancel(call.id))
        break
      }
      case "policy":
        epoch++
        break
      case "drift": {
        // In the modern era a server tells who has subscribed, under the id of that.
        const listens = relay.server().saw().find(({ method }) => method === "subscriptions/listen")?.id
        if (era === "modern" && listens === undefined) break
        version++
        relay.setTools([H.tool("read"), H.tool("write", `Writes, version ${version}.`)])
        const params = listens === undefined ? undefined : { _meta: { [meta.subscriptionId]: JSON.parse(listens) } }
        yield* relay.server().says(H.notification("notifications/tools/list_changed", params))
        yield* H.adjust("2 seconds")
        break
      }
      case "wait":
        yield* H.adjust(`${step.seconds} seconds`)
        break
    }
    look()
  }
  return { reached: reached.size, made: made.length }
})

describe("approvals, in random sessions", () => {
  for (const era of ["legacy", "modern"] as const) {
    it.effect(`nothing undecided reaches the server, and nothing twice: ${era}`, () =>
      Effect.gen(function*() {
        let reached = 0
        let made = 0
        for (
          const steps of fc.sample(fc.array(step, { minLength: 5, maxLength: 40 }), { numRuns: 120, seed: 20260728 })
        ) {
          const count = yield* Effect.scoped(session(era, steps))
          reached += count.reached
          made += count.made
        }
        // That the model sees enough of both.
        assert.isAbove(reached, made / 20)
        assert.isBelow(reached, made)
      }), 120_000)
  }
})
