import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Schema } from "effect"
import * as Approval from "../../src/line/Approval.ts"
import { Ask } from "../../src/line/Ask.ts"
import * as Notices from "../../src/line/Notices.ts"
import * as NodeSeal from "../../src/node/NodeSeal.ts"
import * as Approvals from "../../src/stage/Approvals.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as H from "./harness.ts"

const elicitation = { elicitation: {} }

interface Options extends H.Options {
  readonly via?: Gate.Ask["via"]
  readonly revision?: string
  readonly client?: unknown
  /** Of another relay, to share with it. */
  readonly services?: Services
}

const build = (tell: (sentence: string) => void = () => {}) =>
  Layer.build(
    Approval.layer({ option: " --state /s" }).pipe(
      Layer.provideMerge(Layer.mergeAll(Approvals.layerMemory(), NodeSeal.layer, Notices.layerTell(tell)))
    )
  )
type Services = Effect.Success<ReturnType<typeof build>>

/** A relay whose gate asks about `write`, and what the operator was told and may do. */
const open = Effect.fnUntraced(function*(options: Options = {}) {
  const told: Array<string> = []
  const services = options.services ?? (yield* build((sentence) => void told.push(sentence)))
  const approvals = Context.get(services, Approvals.Approvals)
  const rule = { epoch: 0, verdict: undefined as Gate.Verdict | undefined }
  const ask: Gate.Ask = { _tag: "Ask", rule: "ask-writes", why: "it writes", via: options.via }
  const gate = Gate.make({
    call: ({ method, name }) =>
      Exit.succeed(name === "read" || method === "elicitation/create" ? Gate.allow : rule.verdict ?? ask),
    epoch: () => rule.epoch
  })
  const relay = yield* H.open({ gate, asker: Context.get(services, Ask).open, ...options })
  /** A person at the terminal answers the one question that waits. */
  const answer = (choice: Approvals.Choice) =>
    Effect.gen(function*() {
      const waiting = yield* approvals.pending
      assert.lengthOf(waiting, 1)
      for (const { approval } of waiting) yield* approvals.answer(approval.id, approval.digest, choice)
      yield* H.settle
    })
  return { relay, told, approvals, rule, answer, waiting: Effect.map(approvals.pending, (all) => all.length) }
})

/** The same with an open legacy session. */
const opened = Effect.fnUntraced(function*(options: Options = {}) {
  const all = yield* open(options)
  yield* H.handshake(all.relay, options.revision, options.client ?? elicitation)
  return all
})

const Form = Schema.Struct({
  message: Schema.String,
  requestedSchema: Schema.Struct({
    type: Schema.Literal("object"),
    properties: Schema.Struct({
      decision: Schema.Struct({
        type: Schema.Literal("string"),
        title: Schema.String,
        description: Schema.String,
        enum: Schema.Array(Schema.String)
      })
    }),
    required: Schema.Array(Schema.String)
  })
})
const decodeForm = Schema.decodeUnknownSync(Form, { onExcessProperty: "error" })

/** The elicitation that the host got last. */
const asked = (relay: H.Relay) => {
  const request = relay.saw().findLast(({ method }) => method === "elicitation/create")
  assert.isDefined(request?.id)
  return { id: request?.id, form: decodeForm(request?.params) }
}

const yes = { action: "accept", content: { decision: "allow" } }

const textOf = (relay: H.Relay, id: number) => H.answerOf(relay.answers(id)[0]).content[0]?.text ?? ""

const happened = (relay: H.Relay) =>
  relay.memory.written().flatMap((entry) =>
    entry.type.startsWith("approval-") || entry.type === "call" || entry.type === "refuse"
      ? [`${entry.type}${"channel" in entry && entry.channel !== undefined ? ` ${entry.channel}` : ""}`]
      : []
  )

for (const revision of ["2025-06-18", "2025-11-25"]) {
  describe(`in the host's interface, ${revision}`, () => {
    const at = (options: Options = {}) => opened({ revision, ...options })

    it.effect("lets the call through, once, after a person chose allow", () =>
      Effect.gen(function*() {
        const { relay, waiting } = yield* at()
        yield* relay.says(H.call(1, "write", { n: 1 }))
        assert.lengthOf(relay.calls(), 0)
        const { form, id } = asked(relay)
        assert.deepStrictEqual(form.requestedSchema.properties.decision.enum, ["allow", "deny"])
        assert.deepStrictEqual(form.requestedSchema.required, ["decision"])
        assert.strictEqual(yield* waiting, 1)
        yield* relay.says(H.result(id, yes))
        assert.lengthOf(relay.calls(), 1)
        assert.strictEqual(yield* waiting, 0)
        assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-given host", "call"])
        // The next call is another one.
        yield* relay.says(H.call(2, "write", { n: 1 }))
        assert.lengthOf(relay.calls(), 1)
        assert.strictEqual(yield* waiting, 1)
      }))

    const noes: ReadonlyArray<readonly [string, unknown]> = [
      ["deny", { action: "accept", content: { decision: "deny" } }],
      ["an empty accept", { action: "accept", content: {} }],
      ["an accept without content", { action: "accept" }],
      ["another value", { action: "accept", content: { decision: "Allow" } }],
      ["a list", { action: "accept", content: { decision: ["allow"] } }],
      ["another member", { action: "accept", content: { Decision: "allow" } }],
      ["decline", { action: "decline" }],
      ["decline with the value", { action: "decline", content: { decision: "allow" } }],
      ["cancel", { action: "cancel" }],
      ["nothing", {}]
    ]
    for (const [what, response] of noes) {
      it.effect(`F15: refuses after ${what}`, () =>
        Effect.gen(function*() {
          const { relay } = yield* at()
          yield* relay.says(H.call(1, "write"))
          yield* relay.says(H.result(asked(relay).id, response))
          assert.lengthOf(relay.calls(), 0)
          assert.match(textOf(relay, 1), /a person was asked and did not allow this/)
          assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-denied host", "refuse"])
        }))
    }

    it.effect("no answer is a refusal, and the form is taken back", () =>
      Effect.gen(function*() {
        const { relay } = yield* at()
        yield* relay.says(H.call(1, "write"))
        const { id } = asked(relay)
        yield* H.adjust("301 seconds")
        assert.match(textOf(relay, 1), /did not answer in time/)
        assert.deepInclude(relay.saw().find(({ method }) => method === "notifications/cancelled")?.params, {
          requestId: JSON.parse(id ?? "null")
        })
        assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-expired", "refuse"])
        yield* relay.says(H.result(id, yes))
        assert.lengthOf(relay.calls(), 0)
      }))

    it.effect("a cancelled call takes its question back, and no answer to it counts", () =>
      Effect.gen(function*() {
        const { relay, waiting } = yield* at()
        yield* relay.says(H.call(1, "write"))
        const { id } = asked(relay)
        yield* relay.says(H.cancel(1))
        assert.strictEqual(yield* waiting, 0)
        assert.lengthOf(relay.saw().filter(({ method }) => method === "notifications/cancelled"), 1)
        yield* relay.says(H.result(id, yes))
        assert.lengthOf(relay.calls(), 0)
        assert.lengthOf(relay.answers(1), 0)
        yield* relay.says(H.call(2, "read"))
        assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-withdrawn", "call"])
      }))

    it.effect("the terminal may answer meanwhile, and then the form is taken back", () =>
      Effect.gen(function*() {
        const { answer, relay, told } = yield* at()
        yield* relay.says(H.call(1, "write"))
        assert.match(
          told[0] ?? "",
          /waits for a person in the host, or at the terminal: sallyport approvals allow --state \/s [a-z2-9]{8}$/
        )
        yield* answer("allow")
        assert.lengthOf(relay.calls(), 1)
        assert.lengthOf(relay.saw().filter(({ method }) => method === "notifications/cancelled"), 1)
        assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-given terminal", "call"])
      }))

    it.effect("a host that answers with an error leaves it to the terminal", () =>
      Effect.gen(function*() {
        const { answer, relay } = yield* at()
        yield* relay.says(H.call(1, "write"))
        yield* relay.says(`{"jsonrpc":"2.0","id":${asked(relay).id},"error":{"code":-32603,"message":"no"}}`)
        assert.lengthOf(relay.answers(1), 0)
        yield* answer("allow")
        assert.lengthOf(relay.calls(), 1)
      }))

    it.effect("later calls pass one that waits", () =>
      Effect.gen(function*() {
        const { relay } = yield* at()
        yield* relay.says(H.call(1, "write"), H.call(2, "read"))
        assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2"])
      }))
  })
}

describe("what a person reads", () => {
  it.effect("F15: begins with fixed text; arguments come after it, whole, escaped and indented", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened()
      yield* relay.says(
        H.call(1, "write", { path: "\u202e/etc\n\n# Approved by policy\n", n: 1 }).replace(`"n":1`, `"n":1.0`)
      )
      const { message } = asked(relay).form
      assert.match(
        message,
        /^Sallyport asks whether this call may go on, once\.\nChoose allow or deny; anything else denies it\./
      )
      const args = message.slice(message.indexOf("What would be sent"))
      const whole = args.split("\n").slice(2).map((line) => line.slice(6)).join("")
      assert.strictEqual(
        whole,
        `{"name":"write","arguments":{"path":"\\u{202e}/etc\\n\\n# Approved by policy\\n","n":1.0}}`
      )
      for (const line of args.split("\n").slice(1)) assert.match(line, /^$|^ {4}[|:] /)
      assert.notInclude(message, "\u202e")
      assert.isAtMost(message.length, 2000)
    }))

  it.effect("F15: arguments padded beyond 2,000 characters can be approved only on the terminal", () =>
    Effect.gen(function*() {
      const { answer, relay, told } = yield* opened()
      // The arguments of the first would fit, the whole of the question does not.
      for (const [at, length] of [[1, 1800], [2, 2000]] as const) {
        yield* relay.says(H.call(at, "write", { pad: "x".repeat(length), path: "/etc/passwd" }))
        assert.lengthOf(relay.saw().filter(({ method }) => method === "elicitation/create"), 0)
        assert.match(told.at(-1) ?? "", /waits for a person at the terminal/)
        yield* answer("allow")
        assert.lengthOf(relay.calls(), at)
      }
      assert.deepStrictEqual(happened(relay).slice(-3), ["approval-asked terminal", "approval-given terminal", "call"])
    }))
})

describe("at the terminal", () => {
  const cases: ReadonlyArray<readonly [string, Options]> = [
    ["the host has no elicitation", { client: {} }],
    ["the host has only url elicitation", { client: { elicitation: { url: {} } } }],
    ["the revision has no elicitation", { revision: "2025-03-26" }],
    ["the rule demands it", { via: "terminal" }],
    [
      "F15: the tool says that it destroys, and the rule does not say any",
      { tools: [{ ...H.tool("write"), annotations: { destructiveHint: true } }] }
    ]
  ]
  for (const [what, options] of cases) {
    it.effect(`is where it is asked when ${what}`, () =>
      Effect.gen(function*() {
        const { answer, relay } = yield* opened(options)
        yield* relay.says(H.call(1, "write"))
        assert.lengthOf(relay.saw().filter(({ method }) => method === "elicitation/create"), 0)
        assert.lengthOf(relay.answers(1), 0)
        yield* answer("allow")
        assert.lengthOf(relay.calls(), 1)
        yield* relay.says(H.call(2, "write"))
        yield* answer("deny")
        assert.lengthOf(relay.calls(), 1)
        assert.match(textOf(relay, 2), /did not allow this/)
      }))
  }

  it.effect("F15: the host is asked about a tool that destroys where the rule says any", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened({
        via: "any",
        tools: [{ ...H.tool("write"), annotations: { destructiveHint: true } }]
      })
      yield* relay.says(H.call(1, "write"))
      yield* relay.says(H.result(asked(relay).id, yes))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("nobody who could be asked is a refusal with a reason", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened({ client: {} })
      for (let id = 1; id <= 17; id++) yield* relay.says(H.call(id, "write"))
      assert.match(textOf(relay, 17), /too many questions wait/)
      yield* relay.says(H.call(18, "write", { x: "x".repeat(300_000) }))
      assert.lengthOf(relay.calls(), 0)
    }))
})

describe("what a server asks", () => {
  it.effect("is put to a person as that, and goes to the host when they allow it", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened({ client: { elicitation: {}, sampling: {} } })
      yield* relay.server().says(H.request(`"s"`, "sampling/createMessage", { messages: [], maxTokens: 1 }))
      assert.include(asked(relay).form.message, "asks    the server, of the client")
      assert.lengthOf(relay.saw().filter(({ method }) => method === "sampling/createMessage"), 0)
      yield* relay.says(H.result(asked(relay).id, yes))
      assert.lengthOf(relay.saw().filter(({ method }) => method === "sampling/createMessage"), 1)
    }))

  it.effect("F15: in the words of Sallyport's own form, it never reaches the person", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened()
      yield* relay.says(H.call(1, "write"))
      const { message, requestedSchema } = asked(relay).form
      const before = relay.saw().length
      yield* relay.server().says(H.request(`"s"`, "elicitation/create", { message, requestedSchema }))
      assert.strictEqual(relay.saw().length, before)
      assert.strictEqual(relay.server().saw().at(-1)?.error?.data?.reason, "imitation")
    }))
})

describe("F10: what changes while a person thinks", () => {
  it.effect("a changed definition: the answer to the old question sends nothing", () =>
    Effect.gen(function*() {
      const { relay } = yield* opened({ capabilities: { tools: { listChanged: true } } })
      yield* relay.says(H.call(1, "write"))
      const { id } = asked(relay)
      relay.setTools([H.tool("read"), H.tool("write", "Writes, and sends it on.")])
      yield* relay.server().says(H.notification("notifications/tools/list_changed"))
      yield* H.adjust("2 seconds")
      yield* relay.says(H.result(id, yes))
      assert.lengthOf(relay.calls(), 0)
      assert.strictEqual(relay.answers(1)[0]?.error?.data?.reason, "held-changed")
    }))

  it.effect("a policy that was loaded anew: the call is judged by that one, and asked about again where it asks", () =>
    Effect.gen(function*() {
      const { relay, rule } = yield* opened()
      yield* relay.says(H.call(1, "write"))
      rule.epoch++
      rule.verdict = { _tag: "Refuse", rule: "no-writes", why: "not any more", remedy: "ask" }
      yield* relay.says(H.result(asked(relay).id, yes))
      assert.lengthOf(relay.calls(), 0)
      assert.match(textOf(relay, 1), /no-writes/)
      rule.verdict = undefined
      yield* relay.says(H.call(2, "write"))
      rule.epoch++
      yield* relay.says(H.result(asked(relay).id, yes))
      assert.lengthOf(relay.calls(), 0)
      yield* relay.says(H.result(asked(relay).id, yes))
      assert.lengthOf(relay.calls(), 1)
    }))
})

// ---- the modern era

const form = { elicitation: { form: {} } }

const Round = Schema.Struct({
  resultType: Schema.Literal("input_required"),
  inputRequests: Schema.Record(
    Schema.String,
    Schema.Struct({ method: Schema.Literal("elicitation/create"), params: Form })
  ),
  requestState: Schema.String
})
const decodeRound = Schema.decodeUnknownSync(Round, { onExcessProperty: "error" })

const modernCall = (id: number, params: Record<string, unknown>, capabilities: unknown = form): string =>
  H.request(id, "tools/call", { ...params, _meta: H.modernMeta(capabilities) })

const openModern = (options: Options = {}) =>
  open({ ...options, answers: { ...H.modernAnswers(), ...options.answers } })

/** The input request that a call was answered with. */
const round = (relay: H.Relay, id: number) => {
  const { inputRequests, requestState } = decodeRound(relay.answers(id)[0]?.result)
  const keys = Object.keys(inputRequests)
  assert.lengthOf(keys, 1)
  const key = keys[0] ?? ""
  return { key, message: inputRequests[key]?.params.message ?? "", requestState }
}

const writes = { name: "write", arguments: { n: 1 } }

describe("as an input request, 2026-07-28", () => {
  it.effect("answers the call with the question, and sends it as it first came after allow", () =>
    Effect.gen(function*() {
      const { relay, waiting } = yield* openModern()
      yield* relay.says(modernCall(1, writes))
      assert.lengthOf(relay.calls(), 0)
      const { key, message, requestState } = round(relay, 1)
      assert.match(message, /^Sallyport asks/)
      assert.match(key, /^sallyport-[\w-]{22}$/)
      assert.strictEqual(yield* waiting, 1)
      yield* relay.says(modernCall(2, { ...writes, inputResponses: { [key]: yes }, requestState }))
      assert.lengthOf(relay.calls(), 1)
      // F16: neither the key nor the answer is sent on.
      assert.notInclude(relay.calls()[0]?.text ?? "", key)
      assert.notInclude(relay.calls()[0]?.text ?? "", "requestState")
      assert.notInclude(relay.calls()[0]?.text ?? "", "inputResponses")
      assert.deepInclude(relay.calls()[0]?.params, writes)
      assert.strictEqual(yield* waiting, 0)
      assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-given host", "call"])
    }))

  it.effect("F16: the state can be used once", () =>
    Effect.gen(function*() {
      const { relay } = yield* openModern()
      yield* relay.says(modernCall(1, writes))
      const { key, requestState } = round(relay, 1)
      const retry = { ...writes, inputResponses: { [key]: yes }, requestState }
      yield* relay.says(modernCall(2, retry), modernCall(3, retry))
      yield* relay.says(modernCall(4, retry))
      assert.lengthOf(relay.calls(), 1)
      for (const id of [3, 4]) assert.strictEqual(relay.answers(id)[0]?.error?.data?.reason, "stale-state")
    }))

  const others: ReadonlyArray<readonly [string, string]> = [
    ["another value", `{"n":2}`],
    ["another spelling of the number", `{"n":1.0}`],
    ["one argument more", `{"n":1,"m":1}`],
    ["none", `{}`]
  ]
  for (const [what, args] of others) {
    it.effect(`F16: a retry with other arguments is not the call that was allowed: ${what}`, () =>
      Effect.gen(function*() {
        const { relay } = yield* openModern()
        yield* relay.says(modernCall(1, writes))
        const { key, requestState } = round(relay, 1)
        yield* relay.says(
          modernCall(2, { ...writes, inputResponses: { [key]: yes }, requestState }).replace(`{"n":1}`, args)
        )
        assert.lengthOf(relay.calls(), 0)
        assert.strictEqual(relay.answers(2)[0]?.error?.data?.reason, "stale-state")
      }))
  }

  it.effect("F16: a retry whose arguments are spelled otherwise is another question", () =>
    Effect.gen(function*() {
      const { relay, waiting } = yield* openModern()
      yield* relay.says(modernCall(1, { name: "write", arguments: { s: "a" } }))
      const { key, requestState } = round(relay, 1)
      const retry = { name: "write", arguments: { s: "a" }, inputResponses: { [key]: yes }, requestState }
      yield* relay.says(modernCall(2, retry).replace(`"s":"a"`, `"s":"\\u0061"`))
      assert.lengthOf(relay.calls(), 0)
      assert.notStrictEqual(round(relay, 2).key, key)
      assert.strictEqual(yield* waiting, 1)
    }))

  it.effect("F16: a retry for another tool is not the call that was allowed", () =>
    Effect.gen(function*() {
      const { relay } = yield* openModern({ tools: [H.tool("write"), H.tool("delete")] })
      yield* relay.says(modernCall(1, writes))
      const { key, requestState } = round(relay, 1)
      yield* relay.says(modernCall(2, { ...writes, name: "delete", inputResponses: { [key]: yes }, requestState }))
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("F17: a state of another process, or one that was changed, is none", () =>
    Effect.gen(function*() {
      const first = yield* openModern()
      yield* first.relay.says(modernCall(1, writes))
      const { key, requestState } = round(first.relay, 1)
      const second = yield* openModern()
      const changed = requestState.replace(/.$/, (last) => last === "A" ? "B" : "A")
      for (const [at, { relay }, state] of [[2, second, requestState], [3, first, changed]] as const) {
        yield* relay.says(modernCall(at, { ...writes, inputResponses: { [key]: yes }, requestState: state }))
        assert.lengthOf(relay.calls(), 0)
        assert.strictEqual(relay.answers(at)[0]?.error?.code, -32602)
        assert.strictEqual(relay.answers(at)[0]?.error?.data?.reason, "stale-state")
      }
    }))

  it.effect("a retry may come on another line of the same server, as over HTTP, and on none of another", () =>
    Effect.gen(function*() {
      const services = yield* build()
      const first = yield* openModern({ services })
      yield* first.relay.says(modernCall(1, writes))
      const { key, requestState } = round(first.relay, 1)
      const retry = { ...writes, inputResponses: { [key]: yes }, requestState }
      const other = yield* openModern({ services, launch: { ...H.launch, name: "other" } })
      yield* other.relay.says(modernCall(2, retry))
      assert.strictEqual(other.relay.answers(2)[0]?.error?.data?.reason, "stale-state")
      const second = yield* openModern({ services })
      yield* second.relay.says(modernCall(3, retry))
      assert.lengthOf(second.relay.calls(), 1)
      yield* first.relay.says(modernCall(4, retry))
      for (const { relay } of [first, other]) assert.lengthOf(relay.calls(), 0)
    }))

  for (
    const [what, response] of [
      ["deny", { action: "accept", content: { decision: "deny" } }],
      ["an empty accept", { action: "accept" }],
      ["decline", { action: "decline" }],
      ["cancel", { action: "cancel" }]
    ] as const
  ) {
    it.effect(`F15: refuses after ${what}`, () =>
      Effect.gen(function*() {
        const { relay, waiting } = yield* openModern()
        yield* relay.says(modernCall(1, writes))
        const { key, requestState } = round(relay, 1)
        yield* relay.says(modernCall(2, { ...writes, inputResponses: { [key]: response }, requestState }))
        assert.lengthOf(relay.calls(), 0)
        assert.match(textOf(relay, 2), /did not allow this/)
        assert.strictEqual(yield* waiting, 0)
        assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-denied host", "refuse"])
      }))
  }

  it.effect("a retry without an answer is asked again, with a state of its own", () =>
    Effect.gen(function*() {
      const { relay, waiting } = yield* openModern()
      yield* relay.says(modernCall(1, writes))
      const first = round(relay, 1)
      yield* relay.says(modernCall(2, { ...writes, requestState: first.requestState, inputResponses: { other: yes } }))
      assert.lengthOf(relay.calls(), 0)
      const second = round(relay, 2)
      assert.strictEqual(second.key, first.key)
      assert.notStrictEqual(second.requestState, first.requestState)
      assert.strictEqual(yield* waiting, 1)
      yield* relay.says(
        modernCall(3, { ...writes, requestState: second.requestState, inputResponses: { [second.key]: yes } })
      )
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("nobody answers: the question expires, and a late retry is none", () =>
    Effect.gen(function*() {
      const { relay, waiting } = yield* openModern()
      yield* relay.says(modernCall(1, writes))
      const { key, requestState } = round(relay, 1)
      yield* H.adjust("301 seconds")
      assert.strictEqual(yield* waiting, 0)
      yield* relay.says(modernCall(2, { ...writes, requestState, inputResponses: { [key]: yes } }))
      assert.lengthOf(relay.calls(), 0)
      assert.strictEqual(relay.answers(2)[0]?.error?.data?.reason, "stale-state")
      assert.deepStrictEqual(happened(relay), ["approval-asked host", "approval-expired", "refuse"])
    }))

  it.effect("the terminal may answer meanwhile; a no of the host's still is one", () =>
    Effect.gen(function*() {
      for (const [n, given, calls] of [[1, undefined, 1], [2, { action: "decline" }, 0]] as const) {
        const { answer, relay } = yield* openModern()
        yield* relay.says(modernCall(n, writes))
        const { key, requestState } = round(relay, n)
        yield* answer("allow")
        const inputResponses = given === undefined ? {} : { [key]: given }
        yield* relay.says(modernCall(n + 10, { ...writes, requestState, inputResponses }))
        assert.lengthOf(relay.calls(), calls)
      }
    }))

  it.effect("holds the request open for the terminal where the host did not declare forms", () =>
    Effect.gen(function*() {
      const { answer, relay } = yield* openModern()
      yield* relay.says(modernCall(1, writes, {}))
      assert.lengthOf(relay.answers(1), 0)
      yield* answer("allow")
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("F16: one approval covers the chain: rounds that the server asks for are not asked about again", () =>
    Effect.gen(function*() {
      const { relay, waiting } = yield* openModern()
      yield* relay.says(modernCall(1, writes))
      const { key, requestState } = round(relay, 1)
      yield* relay.says(modernCall(2, { ...writes, requestState, inputResponses: { [key]: yes } }))
      const server = (state: string) => ({
        resultType: "input_required",
        inputRequests: { who: { method: "elicitation/create", params: { message: "Who?", requestedSchema: {} } } },
        requestState: state
      })
      yield* relay.server().says(H.result(relay.calls().at(-1)?.id, server("s1")))
      assert.include(relay.answers(2)[0]?.text ?? "", `"requestState":"s1"`)
      const responses = { who: { action: "decline" } }
      yield* relay.says(modernCall(3, { ...writes, requestState: "s1", inputResponses: responses }))
      assert.lengthOf(relay.calls(), 2)
      // What the server asked for reaches it as it came.
      assert.deepInclude(relay.calls().at(-1)?.params, { requestState: "s1", inputResponses: responses })
      yield* relay.server().says(H.result(relay.calls().at(-1)?.id, server("s2")))
      yield* relay.says(modernCall(4, { ...writes, requestState: "s2", inputResponses: responses }))
      assert.lengthOf(relay.calls(), 3)
      assert.strictEqual(yield* waiting, 0)
      // Used states, states of nobody and other arguments are calls of their own.
      yield* relay.server().says(H.result(relay.calls().at(-1)?.id, server("s3")))
      const others = [
        { ...writes, requestState: "s1" },
        { ...writes, requestState: "s9" },
        { name: "write", arguments: { n: 2 } },
        { ...writes, requestState: "s2" }
      ]
      for (const [index, params] of others.entries()) {
        yield* relay.says(modernCall(10 + index, params, index === 2 ? {} : form))
        yield* relay.says(modernCall(20 + index, { ...params, inputResponses: responses }))
        // Answers that nobody asked for do not go on, and do not make it the call that was approved.
        assert.lengthOf(relay.calls(), 3)
      }
      assert.lengthOf(relay.calls(), 3)
      assert.strictEqual(yield* waiting, 8)
      yield* relay.says(modernCall(30, { ...writes, requestState: "s3", inputResponses: responses }))
      assert.lengthOf(relay.calls(), 4)
    }))

  const changes: ReadonlyArray<readonly [string, (rule: { epoch: number }) => Record<string, unknown>]> = [
    ["other arguments", () => ({ name: "write", arguments: { n: 2 } })],
    ["another policy", (rule) => (rule.epoch++, writes)]
  ]
  for (const [what, change] of changes) {
    it.effect(`F16: a chain that was allowed does not cover ${what}`, () =>
      Effect.gen(function*() {
        const { relay, rule, waiting } = yield* openModern()
        yield* relay.says(modernCall(1, writes))
        const { key, requestState } = round(relay, 1)
        yield* relay.says(modernCall(2, { ...writes, requestState, inputResponses: { [key]: yes } }))
        // Nothing is asked of the host: it may come again at once.
        yield* relay.server().says(H.result(relay.calls()[0]?.id, { resultType: "input_required", requestState: "s1" }))
        yield* relay.says(modernCall(3, { ...change(rule), requestState: "s1" }))
        assert.lengthOf(relay.calls(), 1)
        assert.strictEqual(yield* waiting, 1)
      }))
  }

  it.effect("F16: a later round is never mixed with a question of ours: it waits for the terminal", () =>
    Effect.gen(function*() {
      const { answer, relay } = yield* openModern()
      // The first round was let through by a rule that now asks.
      yield* relay.says(modernCall(1, { ...writes, requestState: "s1" }))
      assert.lengthOf(relay.answers(1), 0)
      yield* answer("allow")
      assert.lengthOf(relay.calls(), 1)
      assert.deepInclude(relay.calls()[0]?.params, { ...writes, requestState: "s1" })
    }))

  it.effect("F10: a policy loaded meanwhile decides about the retry: it refuses, allows, or asks anew", () =>
    Effect.gen(function*() {
      const { relay, rule, waiting } = yield* openModern()
      const begin = Effect.fnUntraced(function*(id: number) {
        yield* relay.says(modernCall(id, writes))
        const { key, requestState } = round(relay, id)
        return { ...writes, requestState, inputResponses: { [key]: yes } }
      })
      const first = yield* begin(1)
      rule.epoch++
      rule.verdict = { _tag: "Refuse", rule: "no-writes", why: "not any more", remedy: "ask" }
      yield* relay.says(modernCall(2, first))
      assert.match(textOf(relay, 2), /no-writes/)
      assert.strictEqual(yield* waiting, 0)

      rule.verdict = undefined
      const second = yield* begin(3)
      rule.epoch++
      rule.verdict = Gate.allow
      yield* relay.says(modernCall(4, second))
      assert.lengthOf(relay.calls(), 1)
      yield* relay.server().says(H.result(relay.calls()[0]?.id, { resultType: "complete", content: [] }))
      assert.strictEqual(yield* waiting, 0)

      rule.verdict = undefined
      const third = yield* begin(5)
      rule.epoch++
      yield* relay.says(modernCall(6, third))
      assert.lengthOf(relay.calls(), 1)
      assert.notStrictEqual(round(relay, 6).requestState, third.requestState)
      assert.strictEqual(yield* waiting, 1)
    }))
})
