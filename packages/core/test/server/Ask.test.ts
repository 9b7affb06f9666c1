import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Ask from "../../src/server/Ask.ts"
import * as Client from "../../src/server/Client.ts"
import * as Prompt from "../../src/server/Prompt.ts"
import * as Resource from "../../src/server/Resource.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { adjust, json, notification, type Opened, opened, serve, settle } from "./harness.ts"

const Name = Schema.Struct({ name: Schema.String })
const askName = Ask.form({ message: "What is your name?", schema: Name })

const greet = Tool.make("greet", {
  description: "Asks for a name",
  input: Schema.Struct({ loud: Schema.optionalKey(Schema.Boolean) })
}, ({ loud }) =>
  Effect.gen(function*() {
    const { user_name } = yield* Client.ask({ user_name: askName })
    if (user_name.action !== "accept") return `no name: ${user_name.action}`
    return `Hello ${loud === true ? user_name.content.name.toUpperCase() : user_name.content.name}`
  }))

const many = Tool.make("many", { description: "Asks for three things" }, () =>
  Effect.gen(function*() {
    const { model, roots, who } = yield* Client.ask({
      who: askName,
      model: Ask.sampling({ messages: "What is the capital of France?", maxTokens: 100 }),
      roots: Ask.roots
    })
    const name = who.action === "accept" ? who.content.name : "nobody"
    return `${name}, ${model.text}, ${roots.map(({ uri }) => uri).join(" ")}`
  }))

const runs = Ref.makeUnsafe(0)
const steps = Tool.make("steps", { description: "Asks twice" }, () =>
  Effect.gen(function*() {
    const token = yield* Client.once("token", Schema.Finite, Ref.updateAndGet(runs, (n) => n + 1))
    const { step1 } = yield* Client.ask({ step1: askName })
    const { step2 } = yield* Client.ask({
      step2: Ask.form({ message: "Colour?", schema: Schema.Struct({ color: Schema.String }) })
    })
    if (step1.action !== "accept" || step2.action !== "accept") return "no"
    return `${step1.content.name} ${step2.content.color} ${token}`
  }))

const visit = Tool.make("visit", { description: "Sends to a page" }, () =>
  Effect.map(
    Client.ask({ page: Ask.url({ message: "Please sign in", url: "https://example.com/in" }) }),
    ({ page }) => page.action
  ))

const fallback = Tool.make("fallback", { description: "Goes on without" }, () =>
  Client.ask({ roots: Ask.roots }).pipe(
    Effect.map(({ roots }) => `${roots.length} roots`),
    Effect.catchTag("AskError", ({ reason }) => Effect.succeed(`without: ${reason}`))
  ))

const hurried = Tool.make(
  "hurried",
  { description: "Has little time of its own", timeout: "10 seconds" },
  () =>
    Effect.gen(function*() {
      yield* Effect.sleep("6 seconds")
      const { roots } = yield* Client.ask({ roots: Ask.roots })
      yield* Effect.sleep("3 seconds")
      if (roots.length > 1) yield* Effect.sleep("3 seconds")
      return `${roots.length} roots`
    })
)

const big = Tool.make("big", { description: "Keeps too much" }, () =>
  Effect.gen(function*() {
    yield* Client.once("big", Schema.String, Effect.succeed("x".repeat(20_000)))
    yield* Client.ask({ user_name: askName })
    return "asked"
  }))

const prompt = Prompt.make("context", { description: "Asks for context" }, () =>
  Effect.map(
    Client.ask({ user_context: Ask.form({ message: "Which?", schema: Schema.Struct({ context: Schema.String }) }) }),
    ({ user_context }) => user_context.action === "accept" ? user_context.content.context : "none"
  ))

const resource = Resource.make(
  "test://asks",
  {},
  Effect.map(Client.ask({ roots: Ask.roots }), ({ roots }) => `${roots.length}`)
)

const server = Server.layerDispatch(
  { name: "asks", version: "1" },
  greet,
  many,
  steps,
  visit,
  fallback,
  hurried,
  big,
  prompt,
  resource
)

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

const Required = Schema.Struct({
  resultType: Schema.String,
  inputRequests: Schema.Record(
    Schema.String,
    Schema.Struct({ method: Schema.String, params: Schema.optionalKey(Schema.Unknown) })
  ),
  requestState: Schema.String
})
const required = Schema.decodeUnknownSync(Required)
const text = (answer: { readonly result?: unknown }): string =>
  Schema.decodeUnknownSync(Schema.Struct({ content: Schema.Array(Schema.Struct({ text: Schema.String })) }))(
    answer.result
  ).content[0]?.text ?? ""

const accept = (content: unknown) => ({ action: "accept", content })
const sampled = { role: "assistant", model: "m", content: { type: "text", text: "Paris" } }

/** Answers the requests that a legacy client was sent last, by method. */
const answered = (client: Opened, answers: Readonly<Record<string, unknown>>) =>
  client.says(
    ...client.take().flatMap(({ id, method }) =>
      method !== undefined && id !== undefined
        ? [`{"jsonrpc":"2.0","id":${id},"result":${json(answers[method])}}`]
        : []
    )
  )

describe("asking, 2026-07-28", () => {
  const modern = (capabilities: unknown = everything) =>
    Effect.flatMap(serve(server), (served) => opened(served, "2026-07-28", capabilities))

  it.effect("ends with the questions, and runs again with the answers", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      const first = yield* client.asks("tools/call", { name: "greet", arguments: { loud: true } })
      const { inputRequests, requestState, resultType } = required(first.result)
      assert.strictEqual(resultType, "input_required")
      assert.deepStrictEqual(inputRequests, {
        user_name: {
          method: "elicitation/create",
          params: {
            message: "What is your name?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
          }
        }
      })
      assert.notInclude(first.text, "ttlMs")
      assert.isFalse(client.saw().some(({ id, method }) => method !== undefined && id !== undefined))
      const second = yield* client.asks("tools/call", {
        name: "greet",
        arguments: { loud: true },
        inputResponses: { user_name: accept({ name: "Ada" }), other: accept({}) },
        requestState
      })
      assert.strictEqual(text(second), "Hello ADA")
    }))

  it.effect("a refusal is an answer", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      for (const action of ["decline", "cancel"]) {
        const { requestState } = required((yield* client.asks("tools/call", { name: "greet" })).result)
        const answer = yield* client.asks("tools/call", {
          name: "greet",
          requestState,
          inputResponses: { user_name: { action } }
        })
        assert.strictEqual(text(answer), `no name: ${action}`)
      }
    }))

  it.effect("asks again where an answer is missing or none", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      for (
        const inputResponses of [
          undefined,
          null,
          7,
          [],
          {},
          { wrong: accept({ name: "a" }) },
          { user_name: 12345 },
          { user_name: null },
          { user_name: { action: "perhaps" } },
          { user_name: accept({ name: 7 }) },
          { user_name: { action: "accept" } }
        ]
      ) {
        const { requestState } = required((yield* client.asks("tools/call", { name: "greet" })).result)
        for (const state of [{ requestState }, {}]) {
          const again = required((yield* client.asks("tools/call", { name: "greet", inputResponses, ...state })).result)
          assert.deepStrictEqual(Object.keys(again.inputRequests), ["user_name"], json(inputResponses))
          assert.notStrictEqual(again.requestState, requestState)
        }
      }
    }))

  it.effect("takes answers that came before they were asked for, but for a visit", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      const answer = yield* client.asks("tools/call", {
        name: "greet",
        inputResponses: { user_name: accept({ name: "Ada" }), extra: 1 }
      })
      assert.strictEqual(text(answer), "Hello Ada")
      const page = required(
        (yield* client.asks("tools/call", { name: "visit", inputResponses: { page: { action: "accept" } } })).result
      )
      assert.deepStrictEqual(page.inputRequests, {
        page: {
          method: "elicitation/create",
          params: { mode: "url", message: "Please sign in", url: "https://example.com/in" }
        }
      })
      const visited = yield* client.asks("tools/call", {
        name: "visit",
        inputResponses: { page: { action: "accept" } },
        requestState: page.requestState
      })
      assert.strictEqual(text(visited), "accept")
    }))

  it.effect("asks for what is missing only, and keeps what came", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      const first = required((yield* client.asks("tools/call", { name: "many" })).result)
      assert.deepStrictEqual(
        Object.entries(first.inputRequests).map(([key, { method }]) => [key, method]),
        [["who", "elicitation/create"], ["model", "sampling/createMessage"], ["roots", "roots/list"]]
      )
      assert.deepStrictEqual(first.inputRequests["model"]?.params, {
        messages: [{ role: "user", content: { type: "text", text: "What is the capital of France?" } }],
        maxTokens: 100
      })
      const second = required(
        (yield* client.asks("tools/call", {
          name: "many",
          requestState: first.requestState,
          inputResponses: { who: accept({ name: "Ada" }), roots: { roots: [{ uri: "file:///a" }] } }
        })).result
      )
      assert.deepStrictEqual(Object.keys(second.inputRequests), ["model"])
      const third = yield* client.asks("tools/call", {
        name: "many",
        requestState: second.requestState,
        inputResponses: { model: sampled, who: accept({ name: "Eve" }) }
      })
      assert.strictEqual(text(third), "Ada, Paris, file:///a")
    }))

  it.effect("goes round by round, and does once what must be done once", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      yield* Ref.set(runs, 0)
      const first = required((yield* client.asks("tools/call", { name: "steps" })).result)
      assert.deepStrictEqual(Object.keys(first.inputRequests), ["step1"])
      const second = required(
        (yield* client.asks("tools/call", {
          name: "steps",
          requestState: first.requestState,
          inputResponses: { step1: accept({ name: "Ada" }) }
        })).result
      )
      assert.deepStrictEqual(Object.keys(second.inputRequests), ["step2"])
      assert.notStrictEqual(second.requestState, first.requestState)
      const third = yield* client.asks("tools/call", {
        name: "steps",
        requestState: second.requestState,
        inputResponses: { step2: accept({ color: "blue" }) }
      })
      assert.strictEqual(text(third), "Ada blue 1")
    }))

  it.effect("asks in prompts and resources too", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      const first = required((yield* client.asks("prompts/get", { name: "context" })).result)
      const got = yield* client.asks("prompts/get", {
        name: "context",
        requestState: first.requestState,
        inputResponses: { user_context: accept({ context: "tests" }) }
      })
      assert.include(got.text, `"text":"tests"`)
      const read = required((yield* client.asks("resources/read", { uri: "test://asks" })).result)
      const contents = yield* client.asks("resources/read", {
        uri: "test://asks",
        requestState: read.requestState,
        inputResponses: { roots: { roots: [] } }
      })
      assert.include(contents.text, `"text":"0"`)
    }))

  it.effect("refuses a state that was changed, used, is another's or too old", () =>
    Effect.gen(function*() {
      const served = yield* serve(server)
      const client = yield* opened(served, "2026-07-28", everything)
      const other = yield* opened(served, "2026-07-28", everything, "other")
      const elsewhere = yield* opened(yield* serve(server), "2026-07-28", everything)
      const inputResponses = { user_name: accept({ name: "Ada" }) }
      const begin = Effect.map(
        client.asks("tools/call", { name: "greet", arguments: { loud: false } }),
        ({ result }) => required(result).requestState
      )
      const retry = (
        requestState: unknown,
        { by = client, more = {} }: { readonly by?: Opened; readonly more?: Record<string, unknown> } = {}
      ) => by.asks("tools/call", { name: "greet", arguments: { loud: false }, inputResponses, requestState, ...more })

      const state = yield* begin
      const flipped = (at: number) => state.slice(0, at) + (state.charAt(at) === "A" ? "B" : "A") + state.slice(at + 1)
      const [chain = "", round = "", expiry = "", serial = "", sealed = ""] = state.split(".")
      for (
        const wrong of [
          `${state}-TAMPERED`,
          state.slice(0, -1),
          flipped(0),
          flipped(state.length - 1),
          flipped(state.length - 30),
          [chain, "2", expiry, serial, sealed].join("."),
          [chain, round, `${Number(expiry) + 1}`, serial, sealed].join("."),
          [chain, round, expiry, `${Number(serial) + 1}`, sealed].join("."),
          "",
          "x".repeat(20_000),
          7,
          null,
          {}
        ]
      ) {
        assert.strictEqual((yield* retry(wrong)).error?.code, -32602, json(wrong).slice(0, 80))
      }
      assert.strictEqual((yield* retry(state, { by: other })).error?.code, -32602, "another client's")
      assert.strictEqual((yield* retry(state, { by: elsewhere })).error?.code, -32602, "another process's")
      assert.strictEqual((yield* retry(state, { more: { name: "steps" } })).error?.code, -32602, "another tool's")
      assert.strictEqual(
        (yield* retry(state, { more: { arguments: { loud: true } } })).error?.code,
        -32602,
        "other arguments"
      )
      assert.strictEqual(text(yield* retry(state)), "Hello Ada")
      assert.strictEqual((yield* retry(state)).error?.code, -32602, "used")

      const late = yield* begin
      yield* TestClock.adjust("14 minutes")
      assert.strictEqual(text(yield* retry(late)), "Hello Ada")
      const later = yield* begin
      yield* TestClock.adjust("15 minutes")
      assert.strictEqual((yield* retry(later)).error?.code, -32602, "too old")
    }))

  it.effect("never asks for what was not declared", () =>
    Effect.gen(function*() {
      for (
        const [capabilities, name, needs] of [
          [{}, "greet", { elicitation: { form: {} } }],
          [{ elicitation: { url: {} } }, "greet", { elicitation: { form: {} } }],
          [{ elicitation: true }, "greet", { elicitation: { form: {} } }],
          [{ elicitation: {} }, "visit", { elicitation: { url: {} } }],
          [{ elicitation: {}, roots: {} }, "many", { sampling: {} }]
        ] as const
      ) {
        const client = yield* modern(capabilities)
        const answer = yield* client.asks("tools/call", { name })
        assert.strictEqual(answer.error?.code, -32021)
        assert.include(answer.text, `"data":{"requiredCapabilities":${json(needs)}}`)
      }
      assert.strictEqual(
        text(yield* (yield* modern({ elicitation: {} })).asks("tools/call", { name: "fallback" })),
        "without: not-supported"
      )
    }))

  it.effect("keeps no more with the client than it can bear", () =>
    Effect.gen(function*() {
      const client = yield* modern()
      const answer = yield* client.asks("tools/call", { name: "big" })
      assert.include(answer.text, `"isError":true`)
      assert.include(answer.text, "longer than what the client can keep")
    }))
})

for (const revision of Revision.all.filter(Revision.isLegacy)) {
  describe(`asking, ${revision}`, () => {
    const elicits = revision >= "2025-06-18"
    const legacy = (capabilities: unknown = everything) =>
      Effect.flatMap(serve(server), (served) => opened(served, revision, capabilities))

    it.effect("sends requests of its own, all at once", () =>
      Effect.gen(function*() {
        const client = yield* legacy()
        const id = yield* client.send("tools/call", { name: "many" })
        const asked = client.saw().filter(({ id, method }) => id !== undefined && method !== undefined)
        if (!elicits) {
          assert.deepStrictEqual(asked, [])
          assert.include(client.answerTo(id)?.text ?? "", "cannot be asked elicitation/create")
          return
        }
        assert.deepStrictEqual(asked.map(({ method }) => method), [
          "elicitation/create",
          "sampling/createMessage",
          "roots/list"
        ])
        assert.isUndefined(client.answerTo(id))
        yield* answered(client, {
          "elicitation/create": accept({ name: "Ada" }),
          "sampling/createMessage": sampled,
          "roots/list": { roots: [{ uri: "file:///a", name: "a" }] }
        })
        assert.strictEqual(text(client.answerTo(id) ?? {}), "Ada, Paris, file:///a")
      }))

    it.effect("an ask without the capability is a failure that a model can act on", () =>
      Effect.gen(function*() {
        const client = yield* legacy({})
        const answer = yield* client.asks("tools/call", { name: "greet" })
        assert.include(answer.text, `"isError":true`)
        assert.include(answer.text, "did not declare")
        assert.strictEqual(text(yield* client.asks("tools/call", { name: "fallback" })), "without: not-supported")
        assert.strictEqual((yield* client.asks("resources/read", { uri: "test://asks" })).error?.code, -32603)
      }))

    it.effect("a client that refuses, or answers with something else, is told of", () =>
      Effect.gen(function*() {
        const client = yield* legacy({ roots: {}, sampling: {} })
        const first = yield* client.send("tools/call", { name: "fallback" })
        const ask = client.take().find(({ method }) => method === "roots/list")
        yield* client.says(`{"jsonrpc":"2.0","id":${ask?.id},"error":{"code":-1,"message":"no"}}`)
        assert.strictEqual(text(client.answerTo(first) ?? {}), "without: refused")
        const second = yield* client.send("tools/call", { name: "fallback" })
        yield* answered(client, { "roots/list": { roots: "none" } })
        assert.strictEqual(text(client.answerTo(second) ?? {}), "without: bad-answer")
      }))

    it.effect("a cancelled call takes its questions back", () =>
      Effect.gen(function*() {
        const client = yield* legacy({ roots: {} })
        const id = yield* client.send("tools/call", { name: "fallback" })
        const ask = client.take().find(({ method }) => method === "roots/list")
        yield* client.says(notification("notifications/cancelled", { requestId: id }))
        yield* settle
        const [taken, ...more] = client.take()
        assert.deepStrictEqual(more, [])
        assert.strictEqual(taken?.method, "notifications/cancelled")
        assert.deepStrictEqual(taken?.params, { requestId: JSON.parse(ask?.id ?? "null") })
      }))

    it.effect("the time in which the client is asked is not the handler's", () =>
      Effect.gen(function*() {
        const client = yield* legacy({ roots: {} })
        for (
          const [roots, says] of [[[], "0 roots"], [[{ uri: "file:///a" }, { uri: "file:///b" }], "longer"]] as const
        ) {
          const id = yield* client.send("tools/call", { name: "hurried" })
          yield* adjust("6 seconds")
          yield* adjust("1 hour")
          yield* answered(client, { "roots/list": { roots } })
          yield* adjust("3 seconds")
          yield* adjust("10 seconds")
          assert.include(client.answerTo(id)?.text ?? "", says)
        }
      }))

    it.effect("a visit has an id of its own where the revision wants one", () =>
      Effect.gen(function*() {
        const client = yield* legacy()
        const id = yield* client.send("tools/call", { name: "visit" })
        if (revision < "2025-11-25") {
          assert.include(client.answerTo(id)?.text ?? "", "cannot be asked")
          return
        }
        const ask = client.take().find(({ method }) => method === "elicitation/create")
        assert.match(ask?.text ?? "", /"mode":"url".*"elicitationId":"[\w-]{20,}"/)
        yield* client.says(`{"jsonrpc":"2.0","id":${ask?.id},"result":{"action":"accept"}}`)
        assert.strictEqual(text(client.answerTo(id) ?? {}), "accept")
      }))
  })
}
