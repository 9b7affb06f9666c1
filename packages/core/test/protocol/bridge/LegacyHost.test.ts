import { assert, describe, it } from "@effect/vitest"
import * as LegacyHost from "../../../src/protocol/bridge/LegacyHost.ts"
import { maxSubscribed } from "../../../src/protocol/bridge/Message.ts"
import type * as Revision from "../../../src/protocol/Revision.ts"
import { type Heard, one, options, play } from "./play.ts"

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" }
}

const serverCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
  experimental: { "x.y/z": { on: true } }
}

const discover = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: serverCapabilities,
  instructions: "Add with care.",
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern", version: "2" } }
}

const isError = ({ kind }: Heard): boolean => kind === "error"

/** A session that is open: initialize was answered and the subscription acknowledged. */
const opened = (revision: Revision.Legacy = "2025-11-25", strict = false) => {
  const bridge = LegacyHost.make(options(strict))
  const session = play(bridge, { host: revision, server: "2026-07-28" })
  const first = session.host("initialize", {
    protocolVersion: revision,
    capabilities: revision >= "2025-11-25"
      ? { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } }
      : revision >= "2025-06-18"
      ? { sampling: {}, elicitation: {}, roots: { listChanged: true } }
      : { sampling: {}, roots: { listChanged: true } },
    clientInfo: { name: "host", version: "1" }
  })
  const asked = one(first.heard, "server", "request")
  const initialized = session.answers("server", asked.key, discover)
  const listening = session.tells("host", "notifications/initialized")
  return { bridge, session, asked, initialized, listening }
}

const result = (heard: Heard): unknown => heard.value

describe("a legacy host before a modern server", () => {
  it("5.2 initialize: discovers the server, and answers with its capabilities, identity and instructions", () => {
    const { asked, initialized } = opened()
    assert.strictEqual(asked.method, "server/discover")
    assert.deepStrictEqual(asked.value, { _meta: meta })
    assert.deepStrictEqual(result(one(initialized, "host", "result")), {
      protocolVersion: "2025-11-25",
      capabilities: {
        experimental: { "x.y/z": { on: true } },
        logging: {},
        completions: {},
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        tools: { listChanged: true }
      },
      serverInfo: { name: "modern", version: "2" },
      instructions: "Add with care."
    })
  })

  it("5.2 initialize: an unknown revision is countered with the newest, and the bridge names a server that does not", () => {
    const session = play(LegacyHost.make(options()), { host: "2025-11-25", server: "2026-07-28" })
    const { heard } = session.host("initialize", {
      protocolVersion: "2099-01-01",
      capabilities: {},
      clientInfo: { name: "h", version: "1" }
    })
    const { _meta: _, ...anonymous } = discover
    const answer = one(session.answers("server", one(heard, "server", "request").key, anonymous), "host", "result")
    assert.include(answer.value, { protocolVersion: "2025-11-25" })
    assert.deepInclude(answer.value, { serverInfo: { name: "configured", version: "" } })
  })

  it("5.2 initialize: a server that cannot be discovered, or has no revision in common, is an error that says so", () => {
    for (
      const answer of [
        (session: ReturnType<typeof play>, key: string | undefined) => session.refuses("server", key, -32601),
        (session: ReturnType<typeof play>, key: string | undefined) =>
          session.answers("server", key, { ...discover, supportedVersions: ["2099-01-01"] })
      ]
    ) {
      const session = play(LegacyHost.make(options()), { host: "2025-11-25", server: "2026-07-28" })
      const { heard } = session.host("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "h", version: "1" }
      })
      one(answer(session, one(heard, "server", "request").key), "host", "error")
    }
  })

  it("5.2 initialized: is consumed, and opens one subscription to what the server announces", () => {
    const { listening } = opened()
    assert.deepStrictEqual(one(listening, "server", "request").value, {
      _meta: meta,
      notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
    })
    assert.strictEqual(listening.length, 1)
  })

  it("5.2 requests: each carries version, capabilities, identity and level, and keeps its own metadata", () => {
    const { session } = opened()
    session.host("logging/setLevel", { level: "warning" })
    const { heard } = session.host("tools/call", {
      name: "add",
      arguments: { a: 1 },
      task: { ttl: 1 },
      _meta: { progressToken: 7, "io.modelcontextprotocol/protocolVersion": "forged" }
    })
    assert.deepStrictEqual(one(heard, "server", "request").value, {
      name: "add",
      arguments: { a: 1 },
      _meta: { progressToken: 7, ...meta, "io.modelcontextprotocol/logLevel": "warning" }
    })
  })

  it("5.2 results: lose what only modern hosts know, and keep the rest", () => {
    const { session } = opened()
    const call = session.host("resources/list")
    const answer = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "complete",
      resources: [{ uri: "a:b", name: "b" }],
      ttlMs: 5,
      cacheScope: "public",
      nextCursor: "2",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern", version: "2" }, "x/y": 1 }
    })
    assert.deepStrictEqual(result(one(answer, "host", "result")), {
      resources: [{ uri: "a:b", name: "b" }],
      nextCursor: "2",
      _meta: { "x/y": 1 }
    })
  })

  it("5.2 results: an unknown type of result never reaches the host", () => {
    const { session } = opened()
    for (
      const [method, params, resultType] of [
        ["tools/call", { name: "add" }, "task"],
        ["tools/list", undefined, "input_required"],
        ["tools/call", { name: "add" }, "later"]
      ] as const
    ) {
      const call = session.host(method, params)
      const answer = session.answers("server", one(call.heard, "server", "request").key, { resultType })
      assert.include(one(answer, "host", "error").value, { code: -32603 })
    }
  })

  it("5.2 input_required: becomes requests of their own, whose answers go back with the state under a new id", () => {
    const { session } = opened()
    const call = session.host("tools/call", { name: "book", arguments: { n: 1 } })
    const first = one(call.heard, "server", "request")
    const asked = session.answers("server", first.key, {
      resultType: "input_required",
      inputRequests: {
        who: {
          method: "elicitation/create",
          params: { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } }
        },
        where: { method: "roots/list" }
      },
      requestState: "sealed"
    })
    const [who, where] = asked.filter(({ kind, to }) => kind === "request" && to === "host")
    assert.strictEqual(who?.method, "elicitation/create")
    assert.strictEqual(where?.method, "roots/list")
    assert.isEmpty(session.answers("host", where?.key, { roots: [] }), "it waits for all of them")
    const again = one(
      session.answers("host", who?.key, { action: "accept", content: { n: "ada" } }),
      "server",
      "request"
    )
    assert.notStrictEqual(again.key, first.key)
    assert.deepStrictEqual(again.value, {
      name: "book",
      arguments: { n: 1 },
      _meta: meta,
      inputResponses: { where: { roots: [] }, who: { action: "accept", content: { n: "ada" } } },
      requestState: "sealed"
    })
    const done = session.answers("server", again.key, { resultType: "complete", content: [] })
    assert.strictEqual(one(done, "host", "result").key, call.key)
  })

  it("5.2 input_required: rounds are bounded, and so is the time that the host has", () => {
    const endless = opened().session
    const call = endless.host("tools/call", { name: "book" })
    let key = one(call.heard, "server", "request").key
    let rounds = 0
    for (; rounds < 20; rounds++) {
      const asked = endless.answers("server", key, {
        resultType: "input_required",
        inputRequests: { where: { method: "roots/list" } }
      })
      const question = asked.find(({ kind }) => kind === "request")
      if (question === undefined) break
      key = one(endless.answers("host", question.key, { roots: [] }), "server", "request").key
    }
    assert.strictEqual(rounds, 7)
    assert.deepInclude(endless.all.at(-1), { to: "host", kind: "result", key: call.key })

    const silent = opened().session
    const late = silent.host("tools/call", { name: "book" })
    silent.answers("server", one(late.heard, "server", "request").key, {
      resultType: "input_required",
      inputRequests: { where: { method: "roots/list" } }
    })
    const over = silent.after(600_000)
    assert.strictEqual(one(over, "host", "cancel").to, "host")
    assert.deepInclude(one(over, "host", "result").value, { isError: true })
  })

  it("5.2 input_required: a state alone is sent again after a while, and not for ever", () => {
    const { bridge, session } = opened()
    const call = session.host("tools/call", { name: "wait" })
    let key = one(call.heard, "server", "request").key
    let polls = 0
    while (polls < 50) {
      const held = session.answers("server", key, { resultType: "input_required", requestState: `s${polls}` })
      if (held.length > 0) break
      assert.isDefined(bridge.due())
      const again = one(session.after(250), "server", "request")
      assert.deepInclude(again.value, { requestState: `s${polls}` })
      key = again.key
      polls++
    }
    assert.strictEqual(polls, 9)
  })

  it("5.2 input_required: a host that refuses, or cannot be asked, fails the call and nothing else", () => {
    const { session } = opened("2025-06-18")
    for (
      const [method, params] of [
        ["tools/call", { name: "book" }],
        ["prompts/get", { name: "greet" }],
        ["resources/read", { uri: "a:b" }]
      ] as const
    ) {
      const call = session.host(method, params)
      const asked = session.answers("server", one(call.heard, "server", "request").key, {
        resultType: "input_required",
        inputRequests: { where: { method: "roots/list" } }
      })
      const over = session.refuses("host", one(asked, "host", "request").key, -1)
      if (method === "tools/call") assert.deepInclude(one(over, "host", "result").value, { isError: true })
      else assert.include(one(over, "host", "error").value, { code: -32603 })
    }
    const tools = session.host("tools/call", { name: "book" })
    const cannot = session.answers("server", one(tools.heard, "server", "request").key, {
      resultType: "input_required",
      inputRequests: {
        talk: {
          method: "sampling/createMessage",
          params: { messages: [], maxTokens: 1, tools: [] }
        }
      }
    })
    assert.deepInclude(one(cannot, "host", "result").value, { isError: true })
  })

  it("5.2 elicitation url: each address is named for 2025-11-25, and is answered cancel for a host that knows forms only", () => {
    const visit = {
      resultType: "input_required",
      inputRequests: {
        go: { method: "elicitation/create", params: { mode: "url", message: "Go", url: "https://example.com" } }
      }
    }
    const newer = opened().session
    const call = newer.host("tools/call", { name: "pay" })
    const asked = one(newer.answers("server", one(call.heard, "server", "request").key, visit), "host", "request")
    assert.deepInclude(asked.value, { mode: "url", url: "https://example.com", elicitationId: "name-1" })
    const older = opened("2025-06-18").session
    const other = older.host("tools/call", { name: "pay" })
    const again = one(older.answers("server", one(other.heard, "server", "request").key, visit), "server", "request")
    assert.deepInclude(again.value, { inputResponses: { go: { action: "cancel" } } })
  })

  it("5.2 elicitation form: a titled choice becomes enum and enumNames, and a choice of several is answered cancel", () => {
    const { bridge, session } = opened("2025-06-18")
    const form = (properties: unknown) => ({
      resultType: "input_required",
      inputRequests: {
        pick: {
          method: "elicitation/create",
          params: { mode: "form", message: "Pick", requestedSchema: { type: "object", properties } }
        }
      }
    })
    const call = session.host("tools/call", { name: "pick" })
    const asked = session.answers(
      "server",
      one(call.heard, "server", "request").key,
      form({ c: { type: "string", oneOf: [{ const: "r", title: "Red" }], default: "r" } })
    )
    assert.deepStrictEqual(one(asked, "host", "request").value, {
      message: "Pick",
      requestedSchema: { type: "object", properties: { c: { type: "string", enum: ["r"], enumNames: ["Red"] } } }
    })
    const several = session.host("tools/call", { name: "pick" })
    const again = session.answers(
      "server",
      one(several.heard, "server", "request").key,
      form({ c: { type: "array", items: { anyOf: [{ const: "r", title: "Red" }] } } })
    )
    assert.deepInclude(one(again, "server", "request").value, { inputResponses: { pick: { action: "cancel" } } })
    assert.sameMembers([...bridge.lowered().keys()], ["form-choice", "form-default", "form-list"])
  })

  it("5.2 ping, setLevel: are answered here; a level that there is not is refused", () => {
    const { session } = opened()
    assert.deepStrictEqual(one(session.host("ping").heard, "host", "result").value, {})
    assert.deepStrictEqual(one(session.host("logging/setLevel", { level: "info" }).heard, "host", "result").value, {})
    assert.include(one(session.host("logging/setLevel", { level: "loud" }).heard, "host", "error").value, {
      code: -32602
    })
  })

  it("5.2 subscribe: is answered when the server has acknowledged it, and the subscription before ends only then", () => {
    const { listening, session } = opened()
    const before = one(listening, "server", "request")
    const idOf = ({ wish }: Heard): unknown => JSON.parse(wish ?? "null")
    const call = session.host("resources/subscribe", { uri: "a:b" })
    const next = one(call.heard, "server", "request")
    const late = session.tells("server", "notifications/subscriptions/acknowledged", {
      notifications: { toolsListChanged: true },
      _meta: { "io.modelcontextprotocol/subscriptionId": idOf(before) }
    })
    assert.isEmpty(late, "one that was replaced meanwhile acknowledges nothing")
    assert.deepInclude(next.value, {
      notifications: {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ["a:b"]
      }
    })
    assert.strictEqual(call.heard.length, 1)
    const done = session.tells("server", "notifications/subscriptions/acknowledged", {
      notifications: { resourceSubscriptions: ["a:b"] },
      _meta: { "io.modelcontextprotocol/subscriptionId": idOf(next) }
    })
    assert.strictEqual(one(done, "server", "cancel").key, before.key)
    assert.strictEqual(one(done, "host", "result").key, call.key)
    assert.deepStrictEqual(
      one(
        session.tells("server", "notifications/resources/updated", {
          uri: "a:b",
          _meta: { "io.modelcontextprotocol/subscriptionId": "y" }
        }),
        "host",
        "notification"
      ).value,
      { uri: "a:b" }
    )
    const refused = session.host("resources/subscribe", { uri: "c:d" })
    assert.strictEqual(refused.heard.length, 1)
    const no = session.tells("server", "notifications/subscriptions/acknowledged", {
      notifications: { resourceSubscriptions: ["a:b"] },
      _meta: { "io.modelcontextprotocol/subscriptionId": idOf(one(refused.heard, "server", "request")) }
    })
    assert.include(one(no, "host", "error").value, { code: -32602 })
  })

  it("5.2 subscribe: is refused where there are too many resources already", () => {
    const { session } = opened()
    for (let at = 0; at < maxSubscribed; at++) {
      assert.lengthOf(session.host("resources/subscribe", { uri: `note://${at}` }).heard.filter(isError), 0)
    }
    const { heard } = session.host("resources/subscribe", { uri: "note://more" })
    assert.include(one(heard, "host", "error").value, { code: -32602 })
  })

  it("5.2 list_changed: goes on without the name of the subscription", () => {
    const { session } = opened()
    const told = session.tells("server", "notifications/tools/list_changed", {
      _meta: { "io.modelcontextprotocol/subscriptionId": "x" }
    })
    assert.deepStrictEqual(told, [{
      to: "host",
      kind: "notification",
      method: "notifications/tools/list_changed",
      value: undefined
    }])
  })

  it("5.2 what has no modern form: roots/list_changed and a host's progress go no further", () => {
    const { session } = opened()
    assert.isEmpty(session.tells("host", "notifications/roots/list_changed"))
    assert.isEmpty(session.tells("host", "notifications/progress", { progressToken: 1, progress: 1 }))
    for (const method of ["tasks/get", "tasks/result"]) {
      assert.include(one(session.host(method, { taskId: "1" }).heard, "host", "error").value, { code: -32601 })
    }
  })

  it("5.2 cancelled: reaches the round that is under way, and what the host is asked in it", () => {
    const { session } = opened()
    const call = session.host("tools/call", { name: "book" })
    const asked = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "input_required",
      inputRequests: { where: { method: "roots/list" } }
    })
    const question = one(asked, "host", "request")
    assert.deepStrictEqual(session.cancels("host", call.key), [{ to: "host", kind: "cancel", key: question.key ?? "" }])
    assert.isEmpty(session.answers("host", question.key, { roots: [] }))
    const other = session.host("tools/call", { name: "book" })
    assert.strictEqual(
      one(session.cancels("host", other.key), "server", "cancel").key,
      one(other.heard, "server", "request").key
    )
  })

  it("5.2 errors: codes of the modern era never reach the host", () => {
    const { session } = opened()
    const codes = (method: string, params: Record<string, unknown>, code: number): unknown => {
      const call = session.host(method, params)
      const over = session.refuses("server", one(call.heard, "server", "request").key, code, {})
      return over.map(({ kind, value }) => kind === "error" ? value : kind)
    }
    assert.deepNestedInclude(codes("resources/read", { uri: "a:b" }, -32602), { code: -32002, message: "no", data: {} })
    for (const code of [-32020, -32021, -32022]) {
      const [error] = codes("prompts/get", { name: "p" }, code) as ReadonlyArray<{ readonly code: number }>
      assert.strictEqual(error?.code, -32603)
    }
    assert.deepStrictEqual(codes("tools/call", { name: "t" }, -32021), ["result"])
  })

  it("5.2 structured content that is no object: the schema and the content are wrapped alike; strict hides the tool", () => {
    const listing = {
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
      tools: [{
        name: "names",
        inputSchema: { type: "object", properties: { any: true, none: false } },
        outputSchema: { type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: { type: "string" } } }
      }]
    }
    const { bridge, session } = opened()
    const list = session.host("tools/list")
    const shown = session.answers("server", one(list.heard, "server", "request").key, listing)
    assert.deepStrictEqual(one(shown, "host", "result").value, {
      tools: [{
        name: "names",
        inputSchema: { type: "object", properties: { any: {}, none: { not: {} } } },
        outputSchema: {
          type: "object",
          properties: {
            result: {
              type: "array",
              items: { $ref: "#/properties/result/$defs/n" },
              $defs: { n: { type: "string" } }
            }
          },
          required: ["result"]
        }
      }]
    })
    const call = session.host("tools/call", { name: "names" })
    const called = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "complete",
      content: [],
      structuredContent: ["a"]
    })
    assert.deepInclude(one(called, "host", "result").value, { structuredContent: { result: ["a"] } })
    assert.include([...bridge.lowered().keys()], "structured-value")

    const strict = opened("2025-11-25", true).session
    const hidden = strict.host("tools/list")
    const kept = strict.answers("server", one(hidden.heard, "server", "request").key, listing)
    assert.deepStrictEqual(one(kept, "host", "result").value, { tools: [] })
  })

  it("5.4 older hosts: blocks, structured content and messages of progress that they have no form for are lowered", () => {
    const { bridge, session } = opened("2024-11-05")
    const call = session.host("tools/call", { name: "show", _meta: { progressToken: 1 } })
    assert.deepStrictEqual(
      one(
        session.tells("server", "notifications/progress", { progressToken: 1, progress: 1, message: "half" }),
        "host",
        "notification"
      ).value,
      { progressToken: 1, progress: 1 }
    )
    const shown = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "complete",
      content: [
        { type: "audio", data: "AA==", mimeType: "audio/wav" },
        { type: "resource_link", uri: "a:b", name: "b" },
        { type: "text", text: "t" }
      ],
      structuredContent: { a: 1 }
    })
    assert.deepStrictEqual(one(shown, "host", "result").value, {
      content: [
        { type: "resource", resource: { uri: "urn:sallyport:audio", mimeType: "audio/wav", blob: "AA==" } },
        { type: "text", text: "b: a:b" },
        { type: "text", text: "t" }
      ]
    })
    assert.sameMembers([...bridge.lowered().keys()], [
      "progress-message",
      "audio",
      "resource-link",
      "structured-content"
    ])
  })

  it("a server's own request is refused: it has none in its revision", () => {
    const { session } = opened()
    assert.include(one(session.server("roots/list").heard, "server", "error").value, { code: -32601 })
  })
})
