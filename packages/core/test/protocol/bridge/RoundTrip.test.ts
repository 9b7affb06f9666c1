/** Both bridges, one behind the other: a legacy host and a legacy server that speak modern in between. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as LegacyHost from "../../../src/protocol/bridge/LegacyHost.ts"
import type * as Message from "../../../src/protocol/bridge/Message.ts"
import * as ModernHost from "../../../src/protocol/bridge/ModernHost.ts"
import * as ErrorCode from "../../../src/protocol/ErrorCode.ts"
import * as Method from "../../../src/protocol/Method.ts"
import * as Negotiation from "../../../src/protocol/Negotiation.ts"
import type { Reply, Text } from "../../../src/wire/Message.ts"
import * as T from "../../../src/wire/Text.ts"
import * as Write from "../../../src/wire/Write.ts"
import { options } from "./play.ts"

type Value = Readonly<Record<string, unknown>>
const text = (value: unknown): Text => T.fromValue(value)
const result = (value: unknown): Reply => ({ _tag: "Result", result: text(value) })

const serverCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {}
}

/** Runs both bridges; what is said between them is handed on until both are silent. */
const make = () => {
  const outer = LegacyHost.make(options())
  const inner = ModernHost.make(options())
  let now = 0
  let keys = 0
  let toHost: Array<Message.Said> = []
  let toServer: Array<Message.Said> = []
  /** In between only the modern era is spoken. */
  const isModern = (said: Message.Said, from: "host" | "server"): void => {
    switch (said._tag) {
      case "Request":
        assert.isDefined(Method.find(said.method, "request", from, "2026-07-28"), said.method)
        assert.strictEqual(Negotiation.envelope(said.params)._tag, "Ok")
        return
      case "Notification":
        assert.isDefined(Method.find(said.method, "notification", from, "2026-07-28"), said.method)
        return
      case "Reply":
        if (said.reply._tag === "Result") assert.isDefined(T.member(said.reply.result, "resultType"))
        else assert.isTrue(ErrorCode.mayEmit(Number(T.member(said.reply.error, "code")), "2026-07-28"))
        return
      case "Cancel":
    }
  }

  const fromOuter = (outs: ReadonlyArray<Message.Out>): void => {
    for (const { said, to } of outs) {
      if (to === "host") toHost.push(said)
      else {
        isModern(said, "host")
        fromInner(inner.fromHost(said, now))
      }
    }
  }
  const fromInner = (outs: ReadonlyArray<Message.Out>): void => {
    for (const { said, to } of outs) {
      if (to === "server") toServer.push(said)
      else {
        isModern(said, "server")
        fromOuter(outer.fromServer(said, now))
      }
    }
  }
  const step = (run: () => void) => {
    toHost = []
    toServer = []
    run()
    // Questions of one moment are one round.
    now += 1
    fromInner(inner.tick(now))
    fromOuter(outer.tick(now))
    return { host: toHost, server: toServer }
  }
  const request = (method: string, params?: Value): Message.Said => ({
    _tag: "Request",
    key: `own-${keys++}`,
    method,
    params: params === undefined ? undefined : text(params)
  })
  return {
    host: (said: Message.Said) => step(() => fromOuter(outer.fromHost(said, now))),
    server: (said: Message.Said) => step(() => fromInner(inner.fromServer(said, now))),
    request
  }
}

const opened = () => {
  const line = make()
  const first = line.host(line.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } },
    clientInfo: { name: "h", version: "1" }
  }))
  const [initialize] = first.server
  if (initialize?._tag !== "Request") assert.fail("no initialize")
  const answered = line.server({
    _tag: "Reply",
    key: initialize.key,
    reply: result({
      protocolVersion: "2025-11-25",
      capabilities: serverCapabilities,
      serverInfo: { name: "s", version: "1" },
      instructions: "i"
    })
  })
  const [reply] = answered.host
  if (reply?._tag !== "Reply" || reply.reply._tag !== "Result") assert.fail("initialize was not answered")
  const notified = line.host({ _tag: "Notification", method: "notifications/initialized", params: undefined })
  return { line, initialize, answer: T.toValue(reply.reply.result), notified }
}

/** The same session, with one request of the host's under way. */
const under = (method: string, params: Value | undefined) => {
  const { line } = opened()
  const asked = line.request(method, params)
  const request = line.host(asked).server.find((said) => said._tag === "Request")
  if (request?._tag !== "Request" || asked._tag !== "Request") assert.fail(`${method} did not arrive`)
  return { line, asked, request }
}

const name = fc.string({ minLength: 1, maxLength: 8 })
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes("__proto__"))
const object = fc.dictionary(
  fc.string({ maxLength: 6 }).filter((key) => key !== "__proto__"),
  json,
  { maxKeys: 4, noNullPrototype: true }
)
const metadata = fc.record({ _meta: fc.record({ "a.b/c": json }) }, { noNullPrototype: true })
const withMeta = <A extends Value>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<Value> =>
  fc.oneof(arbitrary, fc.tuple(arbitrary, metadata).map(([value, meta]) => Object.assign({}, value, meta)))

const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string() }, { noNullPrototype: true }),
  fc.record({ type: fc.constant("image"), data: fc.constant("AA=="), mimeType: name }, { noNullPrototype: true }),
  fc.record({ type: fc.constant("audio"), data: fc.constant("AA=="), mimeType: name }, { noNullPrototype: true }),
  fc.record({ type: fc.constant("resource_link"), uri: fc.constant("a:b"), name }, { noNullPrototype: true })
)
const schema = fc.record({ type: fc.constant("object"), "x-any": json }, { noNullPrototype: true })
const tool = fc.record(
  { name, description: fc.string(), inputSchema: schema, outputSchema: schema, annotations: object, _meta: object },
  { requiredKeys: ["name", "inputSchema"], noNullPrototype: true }
)
const cursor = fc.option(fc.string({ minLength: 1 }), { nil: undefined })

/** What a host asks and a server answers in both eras: a method, its params and its result. */
const exchange: fc.Arbitrary<readonly [method: string, params: Value | undefined, result: Value]> = fc.oneof(
  fc.tuple(
    fc.constant("tools/call"),
    withMeta(fc.record({ name, arguments: object }, { noNullPrototype: true })),
    withMeta(
      fc.record(
        { content: fc.array(block), structuredContent: object, isError: fc.boolean() },
        { requiredKeys: ["content"], noNullPrototype: true }
      )
    )
  ),
  fc.tuple(
    fc.constant("tools/list"),
    cursor.map((value) => value === undefined ? undefined : { cursor: value }),
    fc.record({ tools: fc.array(tool), nextCursor: fc.string() }, { requiredKeys: ["tools"], noNullPrototype: true })
  ),
  fc.tuple(
    fc.constant("prompts/get"),
    fc.record({ name, arguments: object }, { noNullPrototype: true }),
    fc.record({
      description: fc.string(),
      messages: fc.array(fc.record({ role: fc.constant("user"), content: block }, { noNullPrototype: true }))
    }, { noNullPrototype: true })
  ),
  fc.tuple(
    fc.constant("resources/read"),
    fc.record({ uri: fc.constant("a:b") }, { noNullPrototype: true }),
    fc.record({ contents: fc.array(fc.constant({ uri: "a:b", text: "t" })) }, { noNullPrototype: true })
  ),
  fc.tuple(
    fc.constant("completion/complete"),
    fc.record({
      ref: fc.constant({ type: "ref/prompt", name: "p" }),
      argument: fc.constant({ name: "a", value: "v" }),
      context: fc.record({ arguments: object }, { noNullPrototype: true })
    }, { noNullPrototype: true }),
    fc.constant({ completion: { values: ["v"] } })
  )
)

/** What a server asks during a call, and what a host answers. */
const question: fc.Arbitrary<readonly [method: string, params: Value | undefined, answer: Value]> = fc.oneof(
  fc.tuple(fc.constant("roots/list"), fc.constant(undefined), fc.constant({ roots: [{ uri: "file:///a" }] })),
  fc.tuple(
    fc.constant("elicitation/create"),
    fc.record({
      mode: fc.constant("form"),
      message: fc.string(),
      requestedSchema: fc.constant({ type: "object", properties: { n: { type: "string", default: "d" } } })
    }, { noNullPrototype: true }),
    fc.record({ action: fc.constantFrom("accept", "decline", "cancel"), content: object }, { noNullPrototype: true })
  ),
  fc.tuple(
    fc.constant("sampling/createMessage"),
    fc.record({
      messages: fc.array(fc.record({ role: fc.constant("user"), content: block }, { noNullPrototype: true })),
      maxTokens: fc.nat()
    }, { noNullPrototype: true }),
    fc.constant({ model: "m", role: "assistant", content: { type: "text", text: "t" } })
  )
)

const value = (params: Text | undefined): unknown => params === undefined ? undefined : T.toValue(params)

describe("through both bridges, from legacy to modern to legacy, all is as it was", () => {
  it("the opening: what each side declared and who it is", () => {
    const { answer, initialize } = opened()
    assert.deepStrictEqual(value(initialize.params), {
      protocolVersion: "2025-11-25",
      capabilities: { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } },
      clientInfo: { name: "h", version: "1" }
    })
    assert.deepStrictEqual(answer, {
      protocolVersion: "2025-11-25",
      capabilities: serverCapabilities,
      serverInfo: { name: "s", version: "1" },
      instructions: "i"
    })
  })

  it("every request and its result", () => {
    fc.assert(fc.property(exchange, ([method, params, answer]) => {
      const { asked, line, request } = under(method, params)
      assert.strictEqual(request.method, method)
      assert.deepStrictEqual(value(request.params), JSON.parse(JSON.stringify(params ?? null)) ?? undefined)
      const { host } = line.server({ _tag: "Reply", key: request.key, reply: result(answer) })
      assert.lengthOf(host, 1)
      const [got] = host
      if (got?._tag !== "Reply" || got.reply._tag !== "Result" || asked._tag !== "Request") assert.fail("no result")
      assert.strictEqual(got.key, asked.key)
      assert.deepStrictEqual(value(got.reply.result), JSON.parse(JSON.stringify(answer)))
    }))
  })

  it("every question of the server's during a call, and its answer", () => {
    fc.assert(fc.property(fc.array(question, { minLength: 1, maxLength: 4 }), (questions) => {
      const { line, request } = under("tools/call", { name: "t", arguments: { a: 1 } })
      for (const [method, params, answer] of questions) {
        const asked = line.request(method, params)
        const { host } = line.server(asked)
        const [question] = host
        if (question?._tag !== "Request" || asked._tag !== "Request") assert.fail(`${method} did not arrive`)
        assert.strictEqual(question.method, method)
        assert.deepStrictEqual(value(question.params) ?? {}, JSON.parse(JSON.stringify(params ?? {})))
        const { server } = line.host({ _tag: "Reply", key: question.key, reply: result(answer) })
        const [got] = server
        if (got?._tag !== "Reply" || got.reply._tag !== "Result") assert.fail("no answer")
        assert.strictEqual(got.key, asked.key)
        assert.deepStrictEqual(value(got.reply.result), JSON.parse(JSON.stringify(answer)))
      }
      const { host } = line.server({ _tag: "Reply", key: request.key, reply: result({ content: [] }) })
      assert.lengthOf(host, 1)
    }))
  })

  it("every error that both eras have", () => {
    fc.assert(fc.property(
      fc.constantFrom("tools/call", "prompts/get", "resources/read"),
      fc.constantFrom(-32603, -32601, -32600, 7, -32002),
      fc.option(json, { nil: undefined }),
      (method, code, data) => {
        // Only the reading of resources has a code for what is not there.
        if (code === -32002 && method !== "resources/read") return
        const { line, request } = under(method, { name: "n", uri: "a:b" })
        const failure = Write.failure(code, "m", data === undefined ? undefined : text(data))
        const { host } = line.server({ _tag: "Reply", key: request.key, reply: failure })
        const [got] = host
        if (got?._tag !== "Reply" || got.reply._tag !== "Failure") assert.fail("no error")
        assert.deepStrictEqual(value(got.reply.error), value(failure.error))
      }
    ))
  })

  it("announcements, updates of what is subscribed to, progress and log messages", () => {
    const { line } = opened()
    for (const method of ["tools", "prompts", "resources"]) {
      const said: Message.Said = {
        _tag: "Notification",
        method: `notifications/${method}/list_changed`,
        params: undefined
      }
      assert.deepStrictEqual(line.server(said).host, [said])
    }
    const subscribe = line.host(line.request("resources/subscribe", { uri: "a:b" }))
    const [upstream] = subscribe.server
    if (upstream?._tag !== "Request") assert.fail("not subscribed")
    assert.strictEqual(upstream.method, "resources/subscribe")
    assert.deepStrictEqual(value(upstream.params), { uri: "a:b" })
    assert.lengthOf(subscribe.host, 1)
    const updated: Message.Said = {
      _tag: "Notification",
      method: "notifications/resources/updated",
      params: text({ uri: "a:b" })
    }
    assert.deepStrictEqual(line.server(updated).host, [updated])

    for (const level of Negotiation.levels) {
      const set = line.host(line.request("logging/setLevel", { level }))
      assert.lengthOf(set.host, 1)
    }
    line.host(line.request("logging/setLevel", { level: "debug" }))
    line.host(line.request("tools/call", { name: "t", _meta: { progressToken: "p" } }))
    for (
      const said of [
        {
          _tag: "Notification" as const,
          method: "notifications/progress",
          params: text({ progressToken: "p", progress: 1, total: 2, message: "m" })
        },
        { _tag: "Notification" as const, method: "notifications/message", params: text({ level: "info", data: [1] }) }
      ]
    ) assert.deepStrictEqual(line.server(said).host, [said])
  })
})
