/** Strict mode: every row that lowers withholds instead. */
import { assert, describe, it } from "@effect/vitest"
import * as LegacyHost from "../../../src/protocol/bridge/LegacyHost.ts"
import type * as Lower from "../../../src/protocol/bridge/Lower.ts"
import { rows } from "../../../src/protocol/bridge/Lower.ts"
import * as ModernHost from "../../../src/protocol/bridge/ModernHost.ts"
import type * as Revision from "../../../src/protocol/Revision.ts"
import { type Heard, one, options, play } from "./play.ts"

const old = (revision: Revision.Legacy, strict: boolean) => {
  const bridge = LegacyHost.make(options(strict))
  const session = play(bridge, { host: revision, server: "2026-07-28" })
  const first = session.host("initialize", {
    protocolVersion: revision,
    capabilities: revision >= "2025-06-18" ? { sampling: {}, elicitation: {} } : { sampling: {} },
    clientInfo: { name: "host", version: "1" }
  })
  session.answers("server", one(first.heard, "server", "request").key, {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, prompts: {} },
    ttlMs: 0,
    cacheScope: "private"
  })
  return { bridge, session }
}

/** What a row did: what the side got that would get the lowered form, and what was counted. */
interface Did {
  readonly heard: ReadonlyArray<Heard>
  readonly counted: ReadonlyMap<string, number>
  /** Whether anything of it reached the other side. */
  readonly passed: boolean
}

const calling =
  (revision: Revision.Legacy, result: Record<string, unknown>, method = "tools/call") => (strict: boolean): Did => {
    const { bridge, session } = old(revision, strict)
    const call = session.host(method, { name: "a" })
    const heard = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "complete",
      ...result
    })
    return { heard, counted: bridge.lowered(), passed: heard.some(({ kind }) => kind === "result") }
  }

const listing = (revision: Revision.Legacy, more: Record<string, unknown>) => (strict: boolean): Did => {
  const { bridge, session } = old(revision, strict)
  const list = session.host("tools/list")
  const heard = session.answers("server", one(list.heard, "server", "request").key, {
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
    tools: [{ name: "plain", inputSchema: { type: "object" } }, { name: "a", inputSchema: { type: "object" }, ...more }]
  })
  const shown = JSON.stringify(one(heard, "host", "result").value)
  assert.include(shown, "\"plain\"")
  return { heard, counted: bridge.lowered(), passed: shown.includes("\"a\"") }
}

const asking =
  (revision: Revision.Legacy, method: string, params: Record<string, unknown>) => (strict: boolean): Did => {
    const { bridge, session } = old(revision, strict)
    const call = session.host("tools/call", { name: "a" })
    const heard = session.answers("server", one(call.heard, "server", "request").key, {
      resultType: "input_required",
      inputRequests: { q: { method, params } },
      requestState: "s"
    })
    return {
      heard,
      counted: bridge.lowered(),
      passed: heard.some((each) => each.to === "host" && each.method === method)
    }
  }

const form = (property: Record<string, unknown>) =>
  asking("2025-06-18", "elicitation/create", {
    mode: "form",
    message: "Which?",
    requestedSchema: { type: "object", properties: { p: property } }
  })

const progress = (strict: boolean): Did => {
  const { bridge, session } = old("2024-11-05", strict)
  session.host("tools/call", { name: "a", _meta: { progressToken: 1 } })
  const heard = session.tells("server", "notifications/progress", { progressToken: 1, progress: 1, message: "half" })
  return { heard, counted: bridge.lowered(), passed: heard.length > 0 }
}

const completion = (strict: boolean): Did => {
  const bridge = ModernHost.make(options(strict))
  const session = play(bridge, { host: "2026-07-28", server: "2025-03-26" })
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {}
  }
  const discover = session.host("server/discover", { _meta: meta })
  session.answers("server", one(discover.heard, "server", "request").key, {
    protocolVersion: "2025-03-26",
    capabilities: { completions: {}, prompts: {} },
    serverInfo: { name: "s", version: "1" }
  })
  const { heard } = session.host("completion/complete", {
    ref: { type: "ref/prompt", name: "p" },
    argument: { name: "x", value: "1" },
    context: { arguments: { y: "2" } },
    _meta: meta
  })
  return { heard, counted: bridge.lowered(), passed: heard.some(({ method }) => method === "completion/complete") }
}

const text = { type: "text", text: "x" }
const list = { type: "array", items: { type: "string" } }

/** A case for every row. */
const cases: Readonly<Record<Lower.Name, (strict: boolean) => Did>> = {
  audio: calling("2024-11-05", { content: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] }),
  "resource-link": calling("2025-03-26", { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] }),
  "structured-content": calling("2025-03-26", { content: [text], structuredContent: { a: 1 } }),
  "structured-value": calling("2025-11-25", { content: [text], structuredContent: [1] }),
  "boolean-schema": listing("2025-11-25", { inputSchema: { type: "object", properties: { any: true } } }),
  execution: listing("2025-06-18", { execution: { taskSupport: "required" } }),
  "progress-message": progress,
  "completion-context": completion,
  "sampling-content": asking("2025-06-18", "sampling/createMessage", {
    maxTokens: 1,
    messages: [{ role: "user", content: [text] }]
  }),
  "form-choice": form({ type: "string", oneOf: [{ const: "a", title: "A" }] }),
  "form-list": form({ type: "array", items: { type: "string", enum: ["a"] } }),
  "form-default": form({ type: "string", default: "a" })
}

/** Rows for which even the lowered form does not exist. */
const never: ReadonlySet<string> = new Set(["form-list", "execution"])

describe("strict mode", () => {
  for (const name of Object.keys(rows) as ReadonlyArray<Lower.Name>) {
    it(`${name}: withheld in strict mode, lowered and counted otherwise`, () => {
      const permissive = cases[name](false)
      assert.strictEqual(permissive.passed, !never.has(name))
      assert.strictEqual(permissive.counted.get(name), 1)
      const strict = cases[name](true)
      assert.isFalse(strict.passed)
      assert.strictEqual(strict.counted.get(name), 1)
    })
  }

  for (
    const [name, did] of [
      ["audio", cases.audio],
      ["resource-link", cases["resource-link"]],
      ["structured-content", cases["structured-content"]],
      ["structured-value", cases["structured-value"]],
      [
        "a block of a prompt",
        calling("2024-11-05", {
          messages: [{ role: "user", content: { type: "audio", data: "AA==", mimeType: "audio/wav" } }]
        }, "prompts/get")
      ]
    ] as const
  ) {
    it(`a result with ${name} is an error that says why, and that it was carried out`, () => {
      const { value } = one(did(true).heard, "host", "error")
      assert.deepInclude(value, { code: -32603, data: { reason: "not-translatable", server: "configured" } })
      assert.match(JSON.stringify(value), /was carried out/)
    })
  }

  it("a request that would have to be lowered is not sent, and says so", () => {
    const { value } = one(completion(true).heard, "host", "error")
    assert.deepInclude(value, { data: { reason: "not-translatable", server: "configured" } })
    assert.match(JSON.stringify(value), /was not sent/)
  })

  it("a person who cannot be asked exactly this has cancelled", () => {
    const again = one(cases["form-default"](true).heard, "server", "request").value
    assert.deepInclude(again, { inputResponses: { q: { action: "cancel" } } })
  })

  it("tools whose results have no exact form are not listed", () => {
    for (const schema of [{ type: "object" }, list]) {
      assert.isFalse(listing("2025-03-26", { outputSchema: schema })(true).passed)
      assert.isTrue(listing("2025-03-26", { outputSchema: schema })(false).passed)
    }
    assert.isFalse(listing("2025-11-25", { outputSchema: list })(true).passed)
  })

  it("what needs nothing is as it is without it", () => {
    for (const revision of ["2025-06-18", "2025-11-25"] as const) {
      const result = { content: [text], structuredContent: { a: 1 } }
      assert.deepStrictEqual(calling(revision, result)(true).heard, calling(revision, result)(false).heard)
      const tool = { outputSchema: { type: "object" } }
      assert.deepStrictEqual(listing(revision, tool)(true).heard, listing(revision, tool)(false).heard)
    }
  })
})
