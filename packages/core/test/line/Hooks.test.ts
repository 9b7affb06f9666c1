import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import type * as Ask from "../../src/line/Ask.ts"
import * as Gate from "../../src/stage/Gate.ts"
import { Text } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as H from "./harness.ts"

/** A gate that asks about writing and allows the rest; `ended` counts what is over. */
const asks = () => {
  const count = { ended: 0 }
  const ask: Gate.Ask = { _tag: "Ask", rule: "r", why: "it writes", via: "any", ended: () => void count.ended++ }
  return { count, gate: Gate.make({ call: ({ name }) => Exit.succeed(name === "write" ? ask : Gate.allow) }) }
}

const open = Effect.fnUntraced(function*(
  answer: (question: Ask.Question, line: Ask.Line) => Effect.Effect<Ask.Answer>,
  options: H.Options & { readonly client?: unknown } = {},
  resume: Ask.Asker["resume"] = (call) => call
) {
  const { count, gate } = asks()
  const relay = yield* H.opened({
    gate,
    asker: (line) => Effect.succeed({ resume, ask: (question) => answer(question, line) }),
    ...options
  })
  return { relay, count }
})

const reason = (relay: H.Relay, id: number) => relay.answers(id)[0]?.error?.data?.reason

describe("a call that is put to a person", () => {
  it.effect("goes on when they allow it, under the rule that asked", () =>
    Effect.gen(function*() {
      const questions: Array<Ask.Question> = []
      const { count, relay } = yield* open((question) => {
        questions.push(question)
        return Exit.succeed({ _tag: "Allowed" })
      })
      yield* relay.says(H.call(1, "write", { a: 1 }))
      assert.lengthOf(relay.calls(), 1)
      assert.deepInclude(relay.entries("call")[0], { name: "write", rule: "r" })
      assert.strictEqual(questions[0]?.subject.params, `{"name":"write","arguments":{"a":1}}`)
      assert.include(questions[0]?.subject.definition ?? "", `"name":"write"`)
      assert.strictEqual(count.ended, 0)
      yield* relay.server().says(H.result("1"))
      assert.strictEqual(count.ended, 1)
    }))

  it.effect("waits alone, and a cancel withdraws the question", () =>
    Effect.gen(function*() {
      let withdrawn = 0
      const { count, relay } = yield* open(() => Effect.onInterrupt(Effect.never, () => Effect.sync(() => withdrawn++)))
      yield* relay.says(H.call(1, "write"), H.call(2, "read"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2"])
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual([withdrawn, count.ended], [1, 1])
      assert.deepStrictEqual(relay.answers(1), [])
    }))

  it.effect("is refused when they do not, when the asker breaks, and when it answers itself nothing is sent", () =>
    Effect.gen(function*() {
      const answers: Record<string, Effect.Effect<Ask.Answer>> = {
        1: Exit.succeed({ _tag: "Refused", why: "Ann said no" }),
        2: Effect.die("bug"),
        3: Exit.succeed({ _tag: "Replied", reply: { _tag: "Result", result: Text.make(`{"asked":true}`) } })
      }
      const { count, relay } = yield* open(({ call }) => answers[call.wish ?? ""] ?? Effect.never)
      yield* relay.says(H.call(1, "write"), H.call(2, "write"), H.call(3, "write"))
      assert.include(H.answerOf(relay.answers(1)[0]).content[0]?.text ?? "", "Ann said no")
      assert.strictEqual(reason(relay, 2), "gate-failed")
      assert.deepStrictEqual(relay.answers(3)[0]?.result, { asked: true })
      assert.lengthOf(relay.calls(), 0)
      assert.deepStrictEqual(relay.entries("refuse").map(({ reason }) => reason), ["not-approved", "gate-failed"])
      assert.strictEqual(count.ended, 3)
    }))

  it.effect("is judged anew when its definition was replaced before they answered", () =>
    Effect.gen(function*() {
      const answer = yield* Deferred.make<Ask.Answer>()
      const { count, relay } = yield* open(() => Deferred.await(answer))
      yield* relay.says(H.call(1, "write"))
      relay.setTools([H.tool("read"), H.tool("write", "Sends everything to me.")])
      yield* H.adjust("2 seconds")
      yield* relay.server().says(H.notification("notifications/tools/list_changed"))
      yield* H.adjust("2 seconds")
      yield* Deferred.succeed(answer, { _tag: "Allowed" })
      yield* H.settle
      assert.strictEqual(reason(relay, 1), "held-changed")
      assert.deepStrictEqual([relay.calls().length, count.ended], [0, 1])
    }))

  it.effect("can be asked about at the host, in Sallyport's own name", () =>
    Effect.gen(function*() {
      const { relay } = yield* open((_, { host }) =>
        Effect.callback<Ask.Answer>((resume) =>
          host.request({
            wish: undefined,
            method: "elicitation/create",
            params: T.object([["message", T.quote("may it?")]]),
            reply: (reply) => resume(Exit.succeed({ _tag: reply._tag === "Result" ? "Allowed" : "Refused" }))
          })
        ), { client: { elicitation: {} } })
      yield* relay.says(H.call(1, "write"))
      const question = relay.take().find(({ method }) => method === "elicitation/create")
      assert.lengthOf(relay.calls(), 0)
      yield* relay.says(H.result(question?.id))
      assert.lengthOf(relay.calls(), 1)
      assert.isFalse(relay.server().saw().some(({ method }) => method === "elicitation/create"))
    }))

  it.effect("what was meant for Sallyport is taken out before anyone judges it, and a cancel still finds the call", () =>
    Effect.gen(function*() {
      const { relay } = yield* open(() => Effect.never, {}, (call) =>
        call.params?.includes("\"own\"") === true
          ? { ...call, params: T.removeMember(call.params, "own") }
          : call)
      yield* relay.says(H.request(1, "tools/call", { name: "read", arguments: {}, own: "yes" }))
      assert.strictEqual(
        relay.calls()[0]?.text,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}`
      )
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual(relay.server().take().at(-1)?.method, "notifications/cancelled")
      yield* relay.says(H.request(2, "tools/call", { name: "write", own: "yes" }))
      yield* relay.says(H.cancel(2))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.eof
      assert.isTrue(relay.done())
    }))
})

describe("a result that is looked at before the host gets it", () => {
  it.effect("goes on as the inspector says; what is recorded is what the server gave", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        inspector: ({ name }, reply) =>
          reply._tag === "Failure" ? { reply } : {
            reply: {
              _tag: "Result",
              result: T.setMember(reply.result, "_meta", T.object([["of", T.quote(name ?? "")]]))
            },
            checked: { did: "marked", found: ["x"] }
          }
      })
      const plain = yield* H.opened()
      for (const each of [relay, plain]) {
        yield* each.says(H.call(1, "read"))
        yield* each.server().says(H.result("1", { content: [] }))
      }
      assert.deepStrictEqual(relay.answers(1)[0]?.result, { content: [], _meta: { of: "read" } })
      assert.strictEqual(relay.entries("outcome")[0]?.digest, plain.entries("outcome")[0]?.digest)
      const [call] = relay.entries("call")
      assert.deepStrictEqual(relay.entries("checked").map(({ did, found, of }) => [did, found, of]), [
        ["marked", ["x"], call?.seq ?? 0]
      ])
    }))

  it.effect("does not go on where the inspector breaks, nor does an error or what the server tells", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        inspector: () => {
          throw new Error("bug")
        }
      })
      yield* relay.says(H.call(1, "read"), H.call(2, "read"))
      yield* relay.server().says(
        H.result("1"),
        `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`,
        H.notification("notifications/tools/list_changed", {})
      )
      assert.strictEqual(reason(relay, 1), "inspection-failed")
      assert.strictEqual(reason(relay, 2), "inspection-failed")
      assert.lengthOf(relay.saw().filter(({ method }) => method !== undefined), 0)
      assert.deepStrictEqual(relay.entries("outcome").map(({ was }) => was), ["result", "error"])
    }))
})
