import { assert, describe, it } from "@effect/vitest"
import { maxSubscribed } from "../../../src/protocol/bridge/Message.ts"
import * as ModernHost from "../../../src/protocol/bridge/ModernHost.ts"
import * as T from "../../../src/wire/Text.ts"
import { one, options, play } from "./play.ts"

const clientCapabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} }
const meta = (capabilities: unknown = clientCapabilities) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": capabilities,
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" }
})
const info = { name: "legacy", version: "1" }

const initializeResult = {
  protocolVersion: "2025-11-25",
  capabilities: {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
    tasks: { list: {} }
  },
  serverInfo: info,
  instructions: "Add with care."
}

const opened = (capabilities: unknown = clientCapabilities) => {
  const bridge = ModernHost.make(options())
  const session = play(bridge, { host: "2026-07-28", server: "2025-11-25" })
  const discover = session.host("server/discover", { _meta: meta(capabilities) })
  const asked = one(discover.heard, "server", "request")
  const initialized = session.answers("server", asked.key, initializeResult)
  const first = session.host("tools/list", { _meta: meta(capabilities) })
  assert.strictEqual(one(first.heard, "server", "notification").method, "notifications/initialized")
  session.answers("server", one(first.heard, "server", "request").key, { tools: [] })
  const call = (name: string, args: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
    session.host("tools/call", { name, arguments: args, ...more, _meta: { ...meta(capabilities), ...extra(more) } })
  return { bridge, session, asked, initialized, call }
}
const extra = (more: Record<string, unknown>): Record<string, unknown> =>
  typeof more["_meta"] === "object" ? { ...more["_meta"] } : {}

const keyOf = (list: Parameters<typeof one>[0]): string | undefined => one(list, "server", "request").key

const stateOf = (value: unknown): string => {
  if (typeof value !== "object" || value === null || !("requestState" in value)) assert.fail("no requestState")
  return String(value.requestState)
}

const inputsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value !== "object" || value === null || !("inputRequests" in value)) assert.fail("no inputRequests")
  return Object.keys(Object(value.inputRequests))
}

describe("a modern host before a legacy server", () => {
  it("5.3 discover: initializes the server once, and answers with what it has", () => {
    const { asked, initialized, session } = opened()
    assert.strictEqual(asked.method, "initialize")
    assert.deepStrictEqual(asked.value, {
      protocolVersion: "2025-11-25",
      capabilities: clientCapabilities,
      clientInfo: { name: "host", version: "1" }
    })
    assert.lengthOf(initialized, 1, "a host that only asks who is there opens no session")
    assert.deepStrictEqual(one(initialized, "host", "result").value, {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {
        logging: {},
        completions: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true }
      },
      instructions: "Add with care.",
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": info }
    })
    one(session.host("server/discover", { _meta: meta() }).heard, "host", "result")
  })

  it("5.3 discover: what comes before it is answered waits in order; what cannot be opened is an error each time", () => {
    const session = play(ModernHost.make(options()), { host: "2026-07-28", server: "2025-11-25" })
    const first = session.host("tools/list", { _meta: meta({}) })
    const second = session.host("tools/call", { name: "a", _meta: meta({}) })
    assert.strictEqual(one(first.heard, "server", "request").method, "initialize")
    assert.isEmpty(second.heard)
    const open = session.answers("server", keyOf(first.heard), initializeResult)
    assert.deepStrictEqual(open.flatMap(({ method }) => method ?? []), [
      "notifications/initialized",
      "tools/list",
      "tools/call"
    ])
    const broken = play(ModernHost.make(options()), { host: "2026-07-28", server: "2025-11-25" })
    const discover = broken.host("server/discover", { _meta: meta() })
    one(broken.refuses("server", keyOf(discover.heard), -32603), "host", "error")
    one(broken.host("tools/list", { _meta: meta() }).heard, "host", "error")
  })

  it("5.3 envelope: is checked, and taken off; other metadata stays", () => {
    const { call, session } = opened({})
    assert.include(one(session.host("tools/list", {}).heard, "host", "error").value, { code: -32602 })
    assert.include(
      one(
        session.host("tools/list", { _meta: { ...meta(), "io.modelcontextprotocol/protocolVersion": "1999-01-01" } })
          .heard,
        "host",
        "error"
      ).value,
      { code: -32022 }
    )
    const { heard } = call("add", { a: 1 }, { _meta: { progressToken: 1, traceparent: "00" } })
    assert.deepStrictEqual(one(heard, "server", "request").value, {
      name: "add",
      arguments: { a: 1 },
      _meta: { progressToken: 1, traceparent: "00" }
    })
  })

  it("5.3 results: get their type, how long they may be kept, and who answered", () => {
    const { session } = opened({})
    const list = session.host("tools/list", { _meta: meta({}) })
    const answer = session.answers("server", keyOf(list.heard), {
      tools: [
        { name: "a", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } },
        { name: "only-task", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }
      ]
    })
    assert.deepStrictEqual(one(answer, "host", "result").value, {
      resultType: "complete",
      tools: [{ name: "a", inputSchema: { type: "object" } }],
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": info }
    })
  })

  it("5.3 a question during a call ends the round; the request with the answers goes on with the parked call", () => {
    const { call, session } = opened()
    const first = call("book", { n: 1 })
    const upstream = keyOf(first.heard)
    const who = session.server("elicitation/create", {
      mode: "url",
      message: "Go",
      url: "https://example.com",
      elicitationId: "e1"
    })
    const where = session.server("roots/list")
    assert.isEmpty([...who.heard, ...where.heard], "questions of one moment are one round")
    const round = one(session.after(0), "host", "result")
    assert.deepInclude(round.value, {
      resultType: "input_required",
      inputRequests: {
        "elicitation-1": {
          method: "elicitation/create",
          params: { mode: "url", message: "Go", url: "https://example.com" }
        },
        "roots-2": { method: "roots/list" }
      }
    })
    const inputResponses = { "elicitation-1": { action: "accept" }, "roots-2": { roots: [] } }
    const again = call("book", { n: 1 }, { inputResponses, requestState: stateOf(round.value) })
    assert.deepStrictEqual(again.heard.map(({ key, kind, to, value }) => ({ key, kind, to, value })), [
      { key: who.key, kind: "result", to: "server", value: { action: "accept" } },
      { key: where.key, kind: "result", to: "server", value: { roots: [] } }
    ])
    const done = session.answers("server", upstream, { content: [] })
    assert.strictEqual(one(done, "host", "result").key, again.key)
  })

  it("5.3 a parked call is found by its own request alone, and once", () => {
    const { call, session } = opened()
    call("book", { n: 1 })
    session.server("roots/list")
    const state = stateOf(one(session.after(0), "host", "result").value)
    const inputResponses = { "roots-1": { roots: [] } }
    for (
      const wrong of [
        call("book", { n: 2 }, { inputResponses, requestState: state }),
        call("other", { n: 1 }, { inputResponses, requestState: state }),
        call("book", { n: 1 }, { inputResponses, requestState: `${state}x` })
      ]
    ) assert.include(one(wrong.heard, "host", "error").value, { code: -32602 })
    const missing = call("book", { n: 1 }, { inputResponses: {}, requestState: state })
    assert.deepInclude(one(missing.heard, "host", "result").value, { resultType: "input_required" })
    one(call("book", { n: 1 }, { inputResponses, requestState: state }).heard, "server", "result")
    assert.include(
      one(call("book", { n: 1 }, { inputResponses, requestState: state }).heard, "host", "error").value,
      { code: -32602 }
    )
  })

  it("5.3 calls that may lead to questions go one after the other; where the host cannot be asked, all at once", () => {
    const serial = opened()
    const first = serial.call("a")
    assert.isEmpty(serial.call("b").heard)
    assert.lengthOf(serial.session.host("tools/list", { _meta: meta() }).heard, 1)
    const done = serial.session.answers("server", keyOf(first.heard), { content: [] })
    assert.deepInclude(one(done, "server", "request").value, { name: "b" })
    const free = opened({})
    assert.lengthOf(free.call("a").heard, 1)
    assert.lengthOf(free.call("b").heard, 1)
  })

  it("5.3 a parked call lets the next one go, and goes on itself when that has ended", () => {
    const { call, session } = opened()
    const first = call("a")
    const upstream = keyOf(first.heard)
    const question = session.server("roots/list")
    const waiting = call("b")
    assert.isEmpty(waiting.heard)
    const parked = session.after(0)
    const state = stateOf(one(parked, "host", "result").value)
    assert.deepInclude(one(parked, "server", "request").value, { name: "b" })
    const inputResponses = { "roots-1": { roots: [] } }
    assert.isEmpty(call("a", {}, { inputResponses, requestState: state }).heard, "b may still ask")
    const over = session.answers("server", one(parked, "server", "request").key, { content: [] })
    assert.deepStrictEqual(over.map(({ key, kind, to }) => [to, kind, key]), [
      ["host", "result", waiting.key],
      ["server", "result", question.key]
    ])
    one(session.answers("server", upstream, { content: [] }), "host", "result")
  })

  it("5.3 what the server answers without waiting for its questions is there for the one who comes back", () => {
    const { call, session } = opened()
    const first = call("a")
    session.server("roots/list")
    const state = stateOf(one(session.after(0), "host", "result").value)
    assert.isEmpty(session.answers("server", keyOf(first.heard), { content: [{ type: "text", text: "early" }] }))
    const again = call("a", {}, { inputResponses: { "roots-1": { roots: [] } }, requestState: state })
    assert.deepInclude(one(again.heard, "host", "result").value, { content: [{ type: "text", text: "early" }] })
  })

  it("5.3 a call that nobody comes back to: its questions are answered, and it is given up", () => {
    const { bridge, call, session } = opened()
    const first = call("book")
    const question = session.server("elicitation/create", {
      message: "Who?",
      requestedSchema: { type: "object", properties: {} }
    })
    session.after(0)
    assert.isDefined(bridge.due())
    const over = session.after(300_000)
    assert.deepInclude(over, { to: "server", kind: "result", key: question.key, value: { action: "cancel" } })
    assert.deepInclude(over, { to: "server", kind: "cancel", key: keyOf(first.heard) ?? "" })
  })

  it("5.3 a question with no call to belong to, or that the host did not declare, is refused to the server", () => {
    const { session } = opened()
    assert.include(one(session.server("roots/list").heard, "server", "error").value, { code: -32601 })
    assert.include(
      one(session.server("sampling/createMessage", { messages: [], maxTokens: 1 }).heard, "server", "error").value,
      { code: -1 }
    )
    assert.deepStrictEqual(
      one(
        session.server("elicitation/create", { message: "?", requestedSchema: { type: "object", properties: {} } })
          .heard,
        "server",
        "result"
      ).value,
      { action: "cancel" }
    )
    assert.deepStrictEqual(one(session.server("ping").heard, "server", "result").value, {})
    session.host("tools/call", { name: "a", _meta: meta({ elicitation: {} }) })
    assert.include(one(session.server("roots/list").heard, "server", "error").value, { code: -32601 })
  })

  it("5.3 -32042: becomes questions with the addresses, and the request is sent anew when they were visited", () => {
    const { call, session } = opened()
    const first = call("pay", { n: 1 })
    const round = one(
      session.refuses("server", keyOf(first.heard), -32042, {
        elicitations: [{ mode: "url", message: "Go", url: "https://example.com", elicitationId: "e1" }]
      }),
      "host",
      "result"
    )
    const value = round.value
    if (typeof value !== "object" || value === null || !("inputRequests" in value)) assert.fail("no questions")
    const [[name, question] = []] = Object.entries(Object(value.inputRequests))
    assert.deepStrictEqual(question, {
      method: "elicitation/create",
      params: { mode: "url", message: "Go", url: "https://example.com" }
    })
    const again = call("pay", { n: 1 }, {
      inputResponses: { [String(name)]: { action: "accept" } },
      requestState: stateOf(value)
    })
    assert.deepStrictEqual(one(again.heard, "server", "request").value, { name: "pay", arguments: { n: 1 } })
    const cannot = opened({})
    const other = cannot.call("pay")
    const over = cannot.session.refuses("server", keyOf(other.heard), -32042, { elicitations: [] })
    assert.include(one(over, "host", "error").value, { code: -32603 })
  })

  it("5.3 -32002: becomes -32602 with its data", () => {
    const { session } = opened({})
    const read = session.host("resources/read", { uri: "a:b", _meta: meta({}) })
    const over = session.refuses("server", keyOf(read.heard), -32002, { uri: "a:b" })
    assert.deepStrictEqual(one(over, "host", "error").value, { code: -32602, message: "no", data: { uri: "a:b" } })
  })

  it("5.3 listen: is acknowledged with what the server has, told of it under its name, and counted for resources", () => {
    const { session } = opened({})
    const first = session.host("subscriptions/listen", {
      notifications: { toolsListChanged: true, resourceSubscriptions: ["a:b"] },
      _meta: meta({})
    }, 7)
    assert.deepInclude(first.heard, {
      to: "host",
      kind: "notification",
      method: "notifications/subscriptions/acknowledged",
      value: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ["a:b"] },
        _meta: { "io.modelcontextprotocol/subscriptionId": 7 }
      }
    })
    const subscribed = one(first.heard, "server", "request")
    assert.strictEqual(subscribed.method, "resources/subscribe")
    assert.isEmpty(session.answers("server", subscribed.key, {}))
    const second = session.host("subscriptions/listen", {
      notifications: { resourceSubscriptions: ["a:b"] },
      _meta: meta({})
    }, 8)
    assert.lengthOf(second.heard, 1)
    const told = session.tells("server", "notifications/resources/updated", { uri: "a:b" })
    assert.deepStrictEqual(
      told.map(({ value }) => value),
      [7, 8].map((id) => ({
        uri: "a:b",
        _meta: { "io.modelcontextprotocol/subscriptionId": id }
      }))
    )
    assert.lengthOf(session.tells("server", "notifications/tools/list_changed"), 1)
    assert.isEmpty(session.tells("server", "notifications/prompts/list_changed"))
    assert.isEmpty(session.cancels("host", first.key))
    assert.strictEqual(
      one(session.cancels("host", second.key), "server", "request").method,
      "resources/unsubscribe"
    )
    assert.isEmpty(session.tells("server", "notifications/tools/list_changed"))
  })

  it("5.3 logLevel: the lowest that was asked for holds for the session; nobody who asked for none is told", () => {
    const { session } = opened({})
    const call = (level?: string) =>
      session.host("tools/call", {
        name: "a",
        _meta: { ...meta({}), ...(level === undefined ? {} : { "io.modelcontextprotocol/logLevel": level }) }
      })
    const quiet = call()
    const message = () => session.tells("server", "notifications/message", { level: "warning", data: "x" })
    assert.isEmpty(message())
    const loud = call("warning")
    assert.deepStrictEqual(loud.heard.map(({ method }) => method), ["logging/setLevel", "tools/call"])
    assert.lengthOf(call("error").heard, 1)
    assert.lengthOf(message(), 1)
    assert.lengthOf(call("debug").heard, 2)
    session.answers("server", keyOf(quiet.heard), { content: [] })
  })

  it("5.3 progress: has the token of the round that is under way, and only increases", () => {
    const { call, session } = opened()
    call("slow", {}, { _meta: { progressToken: "first" } })
    const step = (progress: number) =>
      session.tells("server", "notifications/progress", { progressToken: "first", progress }).map(({ value }) => value)
    assert.deepStrictEqual(step(1), [{ progressToken: "first", progress: 1 }])
    assert.isEmpty(step(1))
    session.server("roots/list")
    const state = stateOf(one(session.after(0), "host", "result").value)
    assert.isEmpty(step(2))
    call("slow", {}, {
      inputResponses: { "roots-1": { roots: [] } },
      requestState: state,
      _meta: { progressToken: "second" }
    })
    assert.deepStrictEqual(step(3), [{ progressToken: "second", progress: 3 }])
  })

  it("5.3 cancelled: what waits is dropped, what runs is cancelled, and its questions are answered", () => {
    const { call, session } = opened()
    const first = call("a")
    const second = call("b")
    assert.isEmpty(session.cancels("host", second.key))
    const question = session.server("roots/list")
    const over = session.cancels("host", first.key)
    assert.deepInclude(over, { to: "server", kind: "cancel", key: keyOf(first.heard) ?? "" })
    assert.strictEqual(one(over, "server", "error").key, question.key)
    assert.isEmpty(over.filter(({ to }) => to === "host"))
  })

  it("5.3 cancelled: says why, and nothing of the modern era", () => {
    const { bridge, call } = opened()
    const { key } = call("a")
    const params = T.fromValue({ requestId: 7, reason: "enough", _meta: meta() })
    const [said] = bridge.fromHost({ _tag: "Cancel", key, params }, 0)
    assert.deepStrictEqual(
      said?.said._tag === "Cancel" && said.said.params,
      T.fromValue({ requestId: 7, reason: "enough" })
    )
  })

  it("5.3 a question that the server takes back is not asked", () => {
    const { call, session } = opened()
    call("a")
    const question = session.server("roots/list")
    session.cancels("server", question.key)
    assert.isEmpty(session.after(1000))
  })

  it("5.3 removed methods: are refused; notifications of legacy servers that have no modern form go no further", () => {
    const { session } = opened()
    for (const method of ["ping", "logging/setLevel", "resources/subscribe", "tasks/list"]) {
      const said = session.host(method, { _meta: meta() })
      assert.include(one(said.heard, "host", "error").value, { code: -32601 })
    }
    assert.isEmpty(session.tells("server", "notifications/elicitation/complete", { elicitationId: "e" }))
  })

  it("5.3 a question that was taken back leaves its name to nobody who waits", () => {
    const { call, session } = opened()
    call("a")
    const first = session.server("roots/list").key
    const second = session.server("roots/list").key
    session.cancels("server", first)
    const third = session.server("roots/list").key
    const asked = one(session.after(0), "host", "result")
    const names = inputsOf(asked.value)
    assert.lengthOf(names, 2)
    const answers = Object.fromEntries(names.map((name, at) => [name, { roots: [{ uri: `file:///${at}` }] }]))
    const resumed = call("a", {}, { inputResponses: answers, requestState: stateOf(asked.value) })
    assert.sameMembers(resumed.heard.map(({ key }) => key), [second, third])
    assert.notInclude(resumed.heard.map(({ key }) => key), first)
  })

  it("5.3 an error that comes while the call is parked is what its retry is told", () => {
    const { call, session } = opened()
    const begun = call("a")
    session.server("roots/list")
    const asked = one(session.after(0), "host", "result")
    assert.isEmpty(session.refuses("server", keyOf(begun.heard), -32000))
    const retried = call("a", {}, {
      inputResponses: { "roots-1": { roots: [] } },
      requestState: stateOf(asked.value)
    })
    assert.include(one(retried.heard, "host", "error").value, { code: -32000 })
  })

  it("5.3 a call that is parked for longest is given up when there are too many", () => {
    const { call, session } = opened()
    const states: Array<string> = []
    const servers: Array<string | undefined> = []
    for (let at = 0; at < 257; at++) {
      servers.push(keyOf(call(`tool ${at}`).heard))
      session.server("roots/list")
      const said = session.after(0)
      states.push(stateOf(one(said, "host", "result").value))
      const given = said.filter(({ kind }) => kind === "cancel").map(({ key }) => key)
      assert.deepStrictEqual(given, at === 256 ? [servers[0]] : [])
    }
    const retry = (at: number) =>
      call(`tool ${at}`, {}, { inputResponses: { "roots-1": { roots: [] } }, requestState: states[at] })
    assert.include(one(retry(0).heard, "host", "error").value, { code: -32602 })
    assert.strictEqual(one(retry(1).heard, "server", "result").kind, "result")
  })

  it("5.3 listen: honours so many resources, and says which", () => {
    const { session } = opened()
    const uris = Array.from({ length: 1100 }, (_, at) => `note://${at}`)
    const { heard } = session.host("subscriptions/listen", {
      notifications: { resourceSubscriptions: uris },
      _meta: meta()
    }, 7)
    assert.lengthOf(heard.filter(({ method }) => method === "resources/subscribe"), maxSubscribed)
    assert.deepInclude(one(heard, "host", "notification").value, {
      notifications: { resourceSubscriptions: uris.slice(0, maxSubscribed) }
    })
  })
})
