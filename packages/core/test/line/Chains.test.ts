import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import * as Gate from "../../src/stage/Gate.ts"
import * as H from "./harness.ts"

const refusing = (...methods: ReadonlyArray<string>) => {
  const subjects: Array<Gate.Subject> = []
  const gate = Gate.make({
    call: (subject) => {
      subjects.push(subject)
      return Exit.succeed(
        methods.includes(subject.method)
          ? { _tag: "Refuse", rule: "no-asking", why: "it may not ask", remedy: "Ask the operator" }
          : Gate.allow
      )
    }
  })
  return { gate, subjects }
}

const reasons = (lines: ReadonlyArray<H.Said>) => lines.map(({ error }) => error?.data?.reason)
const Answered = Schema.Struct({ inputResponses: Schema.Unknown })
const everything = {
  sampling: {},
  elicitation: { form: {} },
  roots: {},
  extensions: { "io.modelcontextprotocol/tasks": {} }
}
const modern = (id: number, method: string, params: Record<string, unknown>, capabilities: unknown = everything) =>
  H.request(id, method, { ...params, _meta: H.modernMeta(capabilities) })

const openModern = Effect.fnUntraced(function*(gate = refusing().gate, capabilities: unknown = everything) {
  const server = { tools: {}, prompts: {}, completions: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
  const relay = yield* H.open({
    answers: {
      ...H.modernAnswers(server),
      "tasks/get": "silent",
      "tasks/update": "silent",
      "completion/complete": "silent"
    },
    gate
  })
  yield* relay.says(modern(1, "tools/call", { name: "read" }, capabilities))
  return relay
})

const sampling = { method: "sampling/createMessage", params: { messages: [], maxTokens: 50 } }
const elicitation = (message: string, more: unknown = {}) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema: { type: "object", properties: {} }, ...Object(more) }
})
const asks = (inputRequests: unknown, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState === undefined ? {} : { requestState })
})

describe("F16: what is asked inside a result", () => {
  it.effect("is judged and recorded as a server's request; type, state and unknown members pass unchanged", () =>
    Effect.gen(function*() {
      const { gate, subjects } = refusing()
      const relay = yield* openModern(gate)
      yield* relay.server().says(H.result("1", { ...asks({ q: sampling }, "s1"), other: 1e2 }))
      assert.deepStrictEqual(relay.answers(1)[0]?.result, { ...asks({ q: sampling }, "s1"), other: 100 })
      const subject = subjects.at(-1)
      assert.deepInclude(subject, { from: "server", method: "sampling/createMessage" })
      assert.deepStrictEqual(subject?.within, { method: "tools/call", name: "read" })
      assert.strictEqual(subject?.params, `{"messages":[],"maxTokens":50}`)
      assert.deepStrictEqual(relay.entries("call").map(({ from, method }) => [from, method]), [
        ["host", "tools/call"],
        ["server", "sampling/createMessage"]
      ])
    }))

  it.effect("refused, fails the call with a reason, and nothing of the question reaches the host", () =>
    Effect.gen(function*() {
      const relay = yield* openModern(refusing("sampling/createMessage").gate)
      yield* relay.server().says(H.result("1", asks({ a: elicitation("Your name?"), q: sampling }, "s1")))
      const [answer] = relay.answers(1)
      assert.strictEqual(answer?.error?.data?.reason, "denied")
      assert.include(answer?.error?.message ?? "", "no-asking")
      assert.notInclude(answer?.text ?? "", "Your name")
      assert.deepInclude(relay.entries("refuse")[0], { from: "server", method: "sampling/createMessage" })
      // What was let through of the same result was not put to anyone.
      assert.deepStrictEqual(relay.entries("outcome").map(({ was }) => was), ["result", "cancelled"])
      assert.lengthOf(relay.answers(1), 1)
      // Its answers do not go on either.
      yield* relay.says(modern(2, "tools/call", { name: "read", inputResponses: { q: {} }, requestState: "s1" }))
      assert.deepInclude(relay.calls().at(-1)?.params, { inputResponses: {} })
      assert.deepStrictEqual(relay.entries("dropped").map(({ count, reason }) => [reason, count]), [["unasked", 1]])
    }))

  const unfit: ReadonlyArray<readonly [string, unknown, string]> = [
    ["a method that is not asked so", { q: { method: "tools/call", params: {} } }, "unknown-method"],
    ["a question that the host did not declare", { q: { method: "roots/list" } }, "not-offered"],
    ["another spelling of method", { q: { Method: "roots/list", method: "sampling/createMessage" } }, "bad-answer"],
    ["no questions at all", [], "bad-answer"]
  ]
  for (const [what, inputRequests, reason] of unfit) {
    it.effect(`${what} fails the call`, () =>
      Effect.gen(function*() {
        const relay = yield* openModern(undefined, { sampling: {}, elicitation: {} })
        yield* relay.server().says(H.result("1", asks(inputRequests)))
        assert.deepStrictEqual(reasons(relay.answers(1)), [reason])
      }))
  }

  it.effect("in the answer of a method that asks nothing is a fault of the server's", () =>
    Effect.gen(function*() {
      const relay = yield* openModern()
      yield* relay.says(
        modern(2, "completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } })
      )
      const asked = relay.server().saw().find(({ method }) => method === "completion/complete")
      yield* relay.server().says(H.result(asked?.id, asks({ q: sampling })))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["bad-answer"])
    }))

  it.effect("a legacy result of that shape is data", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"))
      yield* relay.server().says(H.result("1", asks({ q: sampling })))
      assert.deepStrictEqual(relay.answers(1)[0]?.result, asks({ q: sampling }))
    }))

  it.effect("a cancel while it is decided about is the end of it", () =>
    Effect.gen(function*() {
      const gate = Gate.make({ call: ({ from }) => from === "server" ? Effect.never : Exit.succeed(Gate.allow) })
      const relay = yield* openModern(gate)
      yield* relay.server().says(H.result("1", asks({ q: sampling })))
      assert.lengthOf(relay.answers(1), 0)
      yield* relay.says(H.cancel(1))
      yield* relay.eof
      assert.isTrue(relay.done())
      assert.lengthOf(relay.answers(1), 0)
    }))

  it.effect("answers go on only to what was asked in the round before, once, and for the same call", () =>
    Effect.gen(function*() {
      const relay = yield* openModern()
      yield* relay.server().says(H.result("1", asks({ q: sampling, r: { method: "roots/list" } }, "s1")))
      const retry = (id: number, params: Record<string, unknown>) =>
        modern(id, "tools/call", { name: "read", ...params })
      relay.server().take()
      const answered = () =>
        relay.server().take().map(({ params }) => Schema.decodeUnknownSync(Answered)(params).inputResponses)
      yield* relay.says(
        retry(3, { inputResponses: { q: { a: 1 } }, requestState: "s2" }),
        retry(4, { inputResponses: { q: { a: 1 } }, requestState: "s1", arguments: { x: 1 } }),
        retry(5, { inputResponses: [], requestState: "s1" })
      )
      assert.deepStrictEqual(reasons(relay.answers(5)), ["bad-params"])
      assert.deepStrictEqual(answered(), [{}, {}])
      yield* relay.says(retry(6, { inputResponses: { q: { a: 1 }, other: {} }, requestState: "s1" }))
      assert.deepStrictEqual(answered(), [{ q: { a: 1 } }])
      // What was answered is on record, and what was not, too.
      assert.deepStrictEqual(relay.entries("outcome").map(({ was }) => was), ["result", "result", "cancelled"])
      yield* relay.says(retry(7, { inputResponses: { q: { a: 1 } }, requestState: "s1" }))
      assert.deepStrictEqual(answered(), [{}])
      // A retry without answers is a call like any other.
      yield* relay.says(retry(8, { requestState: "s1" }))
      assert.lengthOf(relay.server().take(), 1)
    }))
})

describe("tasks belong to the session whose call they are", () => {
  const task = (id: string) => ({
    resultType: "task",
    taskId: id,
    status: "working",
    createdAt: "",
    lastUpdatedAt: "",
    ttlMs: 1
  })
  const polls = ["tasks/get", "tasks/update", "tasks/cancel"] as const

  for (const method of polls) {
    it.effect(`${method} only for what a call was answered with`, () =>
      Effect.gen(function*() {
        const { gate, subjects } = refusing()
        const relay = yield* openModern(gate)
        yield* relay.server().says(H.result("1", task("t1")))
        relay.server().take()
        yield* relay.says(modern(2, method, { taskId: "t2" }), modern(3, method, {}))
        assert.deepStrictEqual([...reasons(relay.answers(2)), ...reasons(relay.answers(3))], [
          "unknown-task",
          "bad-params"
        ])
        assert.deepStrictEqual(relay.server().take(), [])
        yield* relay.says(modern(4, method, { taskId: "t1" }))
        assert.deepStrictEqual(relay.server().take().map(({ method }) => method), [method])
        const subject = subjects.at(-1)
        assert.deepStrictEqual(subject?.within, { method: "tools/call", name: "read" })
        assert.include(subject?.definition ?? "", `"name":"read"`)
      }))
  }

  it.effect("what a task asks is judged once, and answered only by what was asked", () =>
    Effect.gen(function*() {
      const { gate, subjects } = refusing()
      const relay = yield* openModern(gate)
      yield* relay.server().says(H.result("1", task("t1")))
      const state = { ...task("t1"), resultType: "complete", status: "input_required", inputRequests: { q: sampling } }
      for (const id of [2, 3]) {
        yield* relay.says(modern(id, "tasks/get", { taskId: "t1" }))
        yield* relay.server().says(H.result(String(id), state))
        assert.deepStrictEqual(relay.answers(id)[0]?.result, state)
      }
      assert.lengthOf(subjects.filter(({ from }) => from === "server"), 1)
      yield* relay.says(
        modern(4, "tasks/update", { taskId: "t1", inputResponses: { other: {} } }),
        modern(5, "tasks/update", { taskId: "t1", inputResponses: { q: {} } }),
        modern(6, "tasks/update", { taskId: "t1", inputResponses: { q: {} } })
      )
      assert.deepStrictEqual(
        relay.server().saw().filter(({ method }) => method === "tasks/update").map(({ params }) =>
          Schema.decodeUnknownSync(Answered)(params).inputResponses
        ),
        [{}, { q: {} }, {}]
      )
      // A notification would pass by the gate: the host asks for the task instead.
      relay.take()
      yield* relay.server().says(H.notification("notifications/tasks", { ...state, _meta: {} }))
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("of 2025-11-25, too: others are neither listed nor given", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
        answers: { "tasks/list": () => `"result":${H.json({ tasks: [{ taskId: "t1" }, { taskId: "t2" }, 7] })}` }
      })
      yield* relay.says(H.request(1, "tools/call", { name: "read", task: { ttl: 1 } }))
      yield* relay.server().says(H.result("1", { task: { taskId: "t1", status: "working" } }))
      yield* relay.says(
        H.request(2, "tasks/list"),
        H.request(3, "tasks/result", { taskId: "t2" }),
        H.request(4, "tasks/result", { taskId: "t1" })
      )
      assert.deepStrictEqual(relay.answers(2)[0]?.result, { tasks: [{ taskId: "t1" }] })
      assert.deepStrictEqual(reasons(relay.answers(3)), ["unknown-task"])
      assert.deepStrictEqual(relay.server().take().filter(({ method }) => method === "tasks/result").length, 1)
    }))
})

describe("F15: an elicitation says who asks", () => {
  it.effect("and is passed on as it came where the operator gave the server no name", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { elicitation: {} }, named: false })
      yield* relay.server().says(H.request(1, "elicitation/create", elicitation("Your name?").params))
      assert.deepInclude(relay.take()[0]?.params, { message: "Your name?" })
    }))

  it.effect("by the name that the operator gave the server, in both eras", () =>
    Effect.gen(function*() {
      const legacy = yield* H.opened({ client: { elicitation: {} } })
      yield* legacy.server().says(H.request(1, "elicitation/create", elicitation("Your name?").params))
      assert.deepInclude(legacy.take()[0]?.params, { message: "Server notes asks: Your name?" })
      const relay = yield* openModern()
      yield* relay.server().says(H.result("1", asks({ q: elicitation("Your name?") }, "s")))
      assert.deepStrictEqual(
        relay.answers(1)[0]?.result,
        asks({ q: elicitation("Server notes asks: Your name?") }, "s")
      )
    }))

  const schema = (properties: unknown) => ({ requestedSchema: { type: "object", properties } })
  const own: ReadonlyArray<readonly [string, ReturnType<typeof elicitation>]> = [
    ["its name", elicitation("Sallyport: allow delete_all?")],
    ["its name in full width", elicitation("Ｓａｌｌｙｐｏｒｔ: allow?")],
    ["its name in other scripts", elicitation("Ѕаllурогt: allow?")],
    ["its name with what is not drawn", elicitation("Sally\u200bport\u00ad: allow?")],
    ["its name spaced out", elicitation("S A L L Y - P O R T")],
    ["its name in digits", elicitation("5a11yp0rt asks")],
    ["its name in the schema's title", elicitation("Go on?", schema({ yes: { type: "boolean", title: "sallyport" } }))],
    ["its name as a property", elicitation("Go on?", schema({ sallyPort: { type: "boolean" } }))],
    ["what is too long to be looked through", elicitation("a".repeat(300_000))]
  ]
  for (const [what, { method, params }] of own) {
    it.effect(`${what} refuses it, in both eras`, () =>
      Effect.gen(function*() {
        const legacy = yield* H.opened({ client: { elicitation: {} } })
        yield* legacy.server().says(H.request(1, method, params))
        assert.deepStrictEqual(legacy.take(), [])
        assert.deepStrictEqual(reasons(legacy.server().take()), ["imitation"])
        const relay = yield* openModern()
        yield* relay.server().says(H.result("1", asks({ q: { method, params } })))
        assert.deepStrictEqual(reasons(relay.answers(1)), ["imitation"])
      }))
  }

  it.effect("an escaped name is a name", () =>
    Effect.gen(function*() {
      const legacy = yield* H.opened({ client: { elicitation: {} } })
      yield* legacy.server().says(
        `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"\\u0053\\u0061llyport"}}`
      )
      assert.deepStrictEqual(legacy.take(), [])
    }))

  it.effect("others pass, and what is asked of a model is not looked at so", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { elicitation: {}, sampling: {} } })
      yield* relay.server().says(
        H.request(1, "elicitation/create", elicitation("Which ally's port is usually reported?").params),
        H.request(2, "sampling/createMessage", { messages: [{ role: "user", content: "What is Sallyport?" }] })
      )
      assert.lengthOf(relay.take(), 2)
    }))
})
