/**
 * Random sessions against a model: what a host may never see done to it, and what may never reach a server.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import { Deferred, Effect, Exit } from "effect"
import * as fc from "fast-check"
import * as Gate from "../../src/stage/Gate.ts"
import * as H from "./harness.ts"

const tools = ["read", "write", "send"]

type Step =
  | { readonly _tag: "call"; readonly tool: string }
  | { readonly _tag: "reuse"; readonly tool: string }
  | { readonly _tag: "burst"; readonly tools: ReadonlyArray<string> }
  | { readonly _tag: "cancel"; readonly which: number }
  | { readonly _tag: "answer"; readonly which: number; readonly broken: boolean }
  | { readonly _tag: "stray"; readonly which: number }
  | { readonly _tag: "change"; readonly tool: string; readonly version: number }
  | { readonly _tag: "announce" }
  | { readonly _tag: "list" }
  | { readonly _tag: "listing" }
  | { readonly _tag: "accept" }
  | { readonly _tag: "decide"; readonly which: number; readonly allow: boolean }
  | { readonly _tag: "hold" }
  | { readonly _tag: "release" }
  | { readonly _tag: "fail" }
  | { readonly _tag: "wait"; readonly millis: number }

const name = fc.constantFrom(...tools)
const which = fc.nat({ max: 7 })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ _tag: fc.constant("call" as const), tool: name }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("reuse" as const), tool: name }) },
  { weight: 1, arbitrary: fc.record({ _tag: fc.constant("burst" as const), tools: fc.array(name, { maxLength: 5 }) }) },
  { weight: 3, arbitrary: fc.record({ _tag: fc.constant("cancel" as const), which }) },
  { weight: 6, arbitrary: fc.record({ _tag: fc.constant("answer" as const), which, broken: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("stray" as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ _tag: fc.constant("change" as const), tool: name, version: fc.nat({ max: 2 }) })
  },
  { weight: 3, arbitrary: fc.constant({ _tag: "announce" as const }) },
  { weight: 2, arbitrary: fc.constant({ _tag: "list" as const }) },
  { weight: 4, arbitrary: fc.constant({ _tag: "listing" as const }) },
  { weight: 2, arbitrary: fc.constant({ _tag: "accept" as const }) },
  { weight: 4, arbitrary: fc.record({ _tag: fc.constant("decide" as const), which, allow: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ _tag: "hold" as const }) },
  { weight: 2, arbitrary: fc.constant({ _tag: "release" as const }) },
  { weight: 1, arbitrary: fc.constant({ _tag: "fail" as const }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("wait" as const), millis: fc.nat({ max: 2000 }) }) }
)

/** A request of the host's: what became of it. */
interface Asked {
  readonly id: number
  readonly kind: "call" | "list"
  cancelled: boolean
}

const run = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>) {
  const verdicts: Array<Deferred.Deferred<Gate.Verdict>> = []
  const versions = new Map(tools.map((tool) => [tool, 0]))
  const definitions = () => tools.map((tool) => H.tool(tool, `${tool}, version ${versions.get(tool) ?? 0}`))
  const relay = yield* H.opened({
    tools: definitions(),
    gate: Gate.make({
      // What sends is asked about; the rest is decided at once.
      call: (subject) => {
        if (subject.name !== "send") return Exit.succeed(Gate.allow)
        const verdict = Deferred.makeUnsafe<Gate.Verdict>()
        verdicts.push(verdict)
        return Deferred.await(verdict)
      }
    })
  })
  relay.answer("tools/list", "silent")
  const server = relay.server()
  const asked: Array<Asked> = []
  const freed: Array<number> = []
  let next = 10
  /** Calls that the server was given, by its own id, and has not answered; and the listings that it was asked for. */
  const open = new Map<string, string>()
  const listings: Array<string> = []
  const stray: Array<string> = []
  /** Texts of definitions that a person or the first sight accepted and nothing newer of theirs replaced. */
  const accepted = new Map(definitions().map((tool) => [tool.name, H.json(tool)]))
  let marker = 0
  /** Which call an answer was given for: by the marker in it. */
  const given = new Map<string, string>()
  /** What the relay last read of the server. A call may only go by a definition in it that is accepted. */
  let read = new Map(definitions().map((tool) => [tool.name, H.json(tool)]))

  const look = () => {
    for (const line of server.take()) {
      if (line.method === "tools/list") listings.push(line.id ?? "")
      if (line.method !== "tools/call") continue
      const tool = tools.find((tool) => line.text.includes(`"name":"${tool}"`)) ?? ""
      // The first rule: what reaches the server is a call of a definition that was accepted as it was last read.
      assert.strictEqual(read.get(tool), accepted.get(tool), `a call of ${tool} reached the server`)
      assert.isFalse(open.has(line.id ?? ""), "two calls are open under one id")
      open.set(line.id ?? "", line.text)
    }
  }
  const ask = (kind: Asked["kind"], id = next++): number => {
    asked.push({ id, kind, cancelled: false })
    return id
  }
  const waiting = () => asked.filter(({ cancelled, id }) => !cancelled && !answered(id))
  const answersTo = (id: number) => relay.answers(id).length
  const answered = (id: number) => answersTo(id) >= asked.filter((one) => one.id === id && !one.cancelled).length

  const answerListing = Effect.gen(function*() {
    const id = listings.shift()
    if (id === undefined) return
    if (id.startsWith(`"sally`)) read = new Map(definitions().map((tool) => [tool.name, H.json(tool)]))
    yield* server.says(H.result(id, { tools: definitions() }))
  })

  const one = Effect.fnUntraced(function*(step: Step) {
    switch (step._tag) {
      case "call":
        return yield* relay.says(H.call(ask("call"), step.tool))
      case "reuse": {
        const id = freed.pop()
        return id === undefined ? undefined : yield* relay.says(H.call(ask("call", id), step.tool))
      }
      case "burst":
        return yield* relay.says(...step.tools.map((tool) => H.call(ask("call"), tool)))
      case "cancel": {
        const found = waiting().at(-1 - step.which)
        if (found === undefined) return
        found.cancelled = true
        freed.push(found.id)
        return yield* relay.says(H.cancel(found.id))
      }
      case "answer": {
        const [id, text] = [...open].at(step.which) ?? []
        if (id === undefined || text === undefined) return
        open.delete(id)
        stray.push(id)
        given.set(String(++marker), text)
        return yield* server.says(
          step.broken ? `{"jsonrpc":"2.0","id":${id},"result":[${marker}]}` : H.result(id, { marker: String(marker) })
        )
      }
      case "stray": {
        // An answer that came already, or an id that was never asked.
        const id = stray.at(step.which) ?? `"never"`
        return open.has(id) ? undefined : yield* server.says(H.result(id, { marker: "stray" }))
      }
      case "change":
        versions.set(step.tool, step.version)
        return
      case "announce":
        return yield* server.says(H.notification("notifications/tools/list_changed"))
      case "list":
        return yield* relay.says(H.request(ask("list"), "tools/list"))
      case "listing":
        return yield* answerListing
      case "accept": {
        const pins = yield* relay.store.load("notes")
        for (const item of Pins.seenOf(pins, "tool")?.items ?? []) accepted.set(item.name, item.text)
        yield* Effect.ignore(H.acceptAll(relay.store))
        // Another process's acceptance is noticed within a second.
        return yield* H.adjust("1001 millis")
      }
      case "decide": {
        const refused: Gate.Verdict = { _tag: "Refuse", rule: "r", why: "w", remedy: "m" }
        for (const verdict of verdicts.splice(step.which, 1)) {
          yield* Deferred.succeed(verdict, step.allow ? Gate.allow : refused)
        }
        return
      }
      case "hold":
        relay.memory.hold()
        return
      case "release":
        relay.memory.release()
        return
      case "fail":
        relay.memory.failNext()
        return
      case "wait":
        return yield* H.adjust(step.millis)
    }
  })

  for (const step of steps) {
    yield* one(step)
    yield* H.settle
    look()
  }

  // To the end: everything is answered that can be, and each exactly once.
  relay.memory.mend()
  relay.memory.release()
  for (let round = 0; round < 12; round++) {
    yield* H.adjust("1 second")
    look()
    while (listings.length > 0) {
      yield* answerListing
      look()
    }
    for (const verdict of verdicts.splice(0)) yield* Deferred.succeed(verdict, Gate.allow)
    yield* H.settle
    look()
    for (const id of Array.from(open.keys())) {
      open.delete(id)
      yield* server.says(H.result(id, { marker: "end" }))
    }
    look()
  }
  const ids = new Set(asked.map(({ id }) => id))
  for (const id of ids) {
    const all = asked.filter((one) => one.id === id)
    const due = all.filter(({ cancelled }) => !cancelled).length
    assert.strictEqual(answersTo(id), due, `request ${id} got ${answersTo(id)} answers, not ${due}`)
  }
  // No answer but to what was asked, and no answer twice.
  const markers: Array<string> = []
  for (const line of relay.saw()) {
    if (line.method !== undefined || line.id === `"init"`) continue
    assert.isTrue(ids.has(Number(line.id)), line.text)
    const found = /"marker":"(\d+|stray)"/.exec(line.text)?.[1]
    if (found !== undefined) markers.push(found)
  }
  assert.deepStrictEqual([...new Set(markers)], markers, "an answer was given twice")
  assert.notInclude(markers, "stray")
  // Every call that was let through is on record before, with one outcome at most.
  const outcomes = relay.memory.written().flatMap((entry) => entry.type === "outcome" ? [entry.of] : [])
  assert.deepStrictEqual([...new Set(outcomes)], outcomes, "a decision has two outcomes")
  assert.isFalse(relay.done())
})

describe("random sessions", () => {
  it.effect(
    "no call of what is not accepted reaches the server, no request has two answers, and none is lost",
    () =>
      Effect.gen(function*() {
        const samples = fc.sample(fc.array(step, { minLength: 10, maxLength: 60 }), { numRuns: 150, seed: 20260728 })
        for (const [index, steps] of samples.entries()) {
          const exit = yield* Effect.exit(Effect.scoped(run(steps)))
          if (Exit.isFailure(exit)) {
            const trace = steps.map((one) => H.json(one)).join("\n")
            return yield* Effect.die(new Error(`sample ${index}:\n${trace}\n${String(exit.cause)}`))
          }
        }
      }),
    60_000
  )
})
