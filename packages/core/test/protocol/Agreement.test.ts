import { assert, describe, it } from "@effect/vitest"
import * as Agreement from "../../src/protocol/Agreement.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import type { Reply } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"

const result = (value: unknown): Reply => ({ _tag: "Result", result: T.fromValue(value) })
const failure: Reply = { _tag: "Failure", error: T.fromValue({ code: -1, message: "no" }) }

const everything = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
  tasks: { list: {}, cancel: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} }
}
const hosts = {
  roots: {},
  sampling: {},
  elicitation: { form: {}, url: {} },
  tasks: { list: {}, cancel: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} }
}

/** An agreement on a revision, with these capabilities on each side. */
const on = (
  revision: Revision.Revision,
  server: unknown = everything,
  client: unknown = hosts
): Agreement.Agreement => {
  const self = Agreement.make()
  if (Revision.table[revision].era === "legacy") {
    Agreement.initializeSent(self, T.fromValue({ protocolVersion: revision, capabilities: client }))
    assert.isUndefined(Agreement.initializeAnswered(self, result({ protocolVersion: revision, capabilities: server })))
    Agreement.initialized(self)
  } else {
    Agreement.modernRequest(self, T.fromValue({ _meta: { [Revision.meta.clientCapabilities]: client } }))
    Agreement.discoverAnswered(self, result({ supportedVersions: [revision], capabilities: server }))
  }
  return self
}

describe("what is agreed", () => {
  it("comes step by step", () => {
    const self = Agreement.make()
    const phases: Array<string> = [self.phase]
    Agreement.initialized(self)
    phases.push(self.phase)
    Agreement.initializeSent(self, T.fromValue({ capabilities: { roots: {} } }))
    phases.push(self.phase)
    Agreement.initialized(self)
    Agreement.initializeAnswered(self, result({ protocolVersion: "2025-06-18", capabilities: { tools: {} } }))
    phases.push(self.phase)
    Agreement.initialized(self)
    phases.push(self.phase)
    assert.deepStrictEqual(phases, ["opening", "opening", "initializing", "agreed", "open"])
    assert.deepStrictEqual([self.era, self.revision, [...self.client], [...self.server]], [
      "legacy",
      "2025-06-18",
      ["client.roots"],
      ["server.tools"]
    ])
  })

  it("is nothing after an error or an answer that names no legacy revision", () => {
    for (
      const [reply, reason] of [
        [failure, undefined],
        [result({}), "unsupported-revision"],
        [result({ protocolVersion: 20251125 }), "unsupported-revision"],
        [result({ protocolVersion: "2099-01-01" }), "unsupported-revision"],
        [result({ protocolVersion: "2026-07-28" }), "unsupported-revision"]
      ] as const
    ) {
      const self = Agreement.make()
      Agreement.initializeSent(self, undefined)
      assert.strictEqual(Agreement.initializeAnswered(self, reply), reason)
      assert.deepStrictEqual([self.phase, self.era, self.revision], ["opening", undefined, undefined])
    }
  })

  it("by discover is modern only where a revision is common, and never after a legacy one", () => {
    for (
      const reply of [
        failure,
        result({}),
        result({ supportedVersions: "2026-07-28" }),
        result({ supportedVersions: [1, "2025-11-25"] })
      ]
    ) {
      const self = Agreement.make()
      Agreement.discoverAnswered(self, reply)
      assert.isUndefined(self.era)
    }
    const legacy = on("2025-11-25")
    Agreement.discoverAnswered(legacy, result({ supportedVersions: ["2026-07-28"] }))
    assert.strictEqual(legacy.era, "legacy")
    assert.strictEqual(on("2026-07-28").phase, "open")
  })

  it("of capabilities in the modern era is what the newest request says", () => {
    const self = on("2026-07-28")
    Agreement.modernRequest(self, T.fromValue({ _meta: { [Revision.meta.clientCapabilities]: { roots: {} } } }))
    assert.deepStrictEqual([...self.client], ["client.roots"])
    Agreement.modernRequest(self, T.fromValue({}))
    assert.deepStrictEqual([...self.client], ["client.roots"])
    Agreement.modernRequest(self, T.fromValue({ _meta: {} }))
    assert.deepStrictEqual([...self.client], [])
  })

  it("is claimed by _meta alone", () => {
    const name = Revision.meta.protocolVersion
    assert.strictEqual(Agreement.claimOf(T.fromValue({ _meta: { [name]: "2026-07-28" } })), "2026-07-28")
    for (
      const params of [undefined, {}, { [name]: "x" }, { _meta: [name] }, { _meta: { [name]: 1 } }, {
        a: { _meta: { [name]: "x" } }
      }]
    ) {
      assert.isUndefined(Agreement.claimOf(params === undefined ? undefined : T.fromValue(params)))
    }
  })
})

describe("requests and notifications are judged from the tables", () => {
  for (const revision of Revision.Revision.literals) {
    it(`all of ${revision}, in both directions, with every capability and with none`, () => {
      const full = on(revision)
      const bare = on(revision, {}, {})
      for (const name of Method.names) {
        for (const from of ["host", "server"] as const) {
          const request = Method.find(name, "request", from, revision)
          assert.strictEqual(
            Agreement.judgeRequest(full, from, name),
            request === undefined ? "unknown-method" : undefined,
            `${from} ${name}`
          )
          assert.strictEqual(
            Agreement.judgeRequest(bare, from, name),
            request === undefined ? "unknown-method" : request.needs === undefined ? undefined : "not-offered",
            `${from} ${name}`
          )
          const notification = Method.find(name, "notification", from, revision)
          assert.strictEqual(
            Agreement.judgeNotification(full, from, name),
            notification === undefined ? "unknown-notification" : undefined,
            `${from} ${name}`
          )
          assert.strictEqual(
            Agreement.judgeNotification(bare, from, name),
            notification === undefined
              ? "unknown-notification"
              : notification.needs === undefined
              ? undefined
              : "not-offered",
            `${from} ${name}`
          )
        }
      }
    })
  }

  it("outside the tables: a request passes only to a server that declared extensions or experimental, a notification never", () => {
    for (const revision of Revision.Revision.literals) {
      for (
        const [capabilities, reason] of [
          [{}, "unknown-method"],
          [{ extensions: {} }, undefined],
          [{ experimental: { x: {} } }, undefined],
          [{ extensions: true }, "unknown-method"]
        ] as const
      ) {
        const self = on(revision, capabilities, { experimental: {}, extensions: {} })
        assert.strictEqual(Agreement.judgeRequest(self, "host", "x/y"), reason)
        assert.strictEqual(Agreement.judgeRequest(self, "server", "x/y"), "unknown-method")
        assert.strictEqual(Agreement.judgeNotification(self, "host", "notifications/x"), "unknown-notification")
        assert.strictEqual(Agreement.judgeNotification(self, "server", "notifications/x"), "unknown-notification")
        // A method of another revision is no extension.
        const other = Revision.table[revision].era === "modern" ? "logging/setLevel" : "subscriptions/listen"
        assert.strictEqual(Agreement.judgeRequest(self, "host", other), "unknown-method")
      }
    }
  })

  it("before anything is agreed only ping passes", () => {
    const self = Agreement.make()
    for (const name of [...Method.names, "x/y"]) {
      for (const from of ["host", "server"] as const) {
        assert.strictEqual(Agreement.judgeRequest(self, from, name), name === "ping" ? undefined : "not-initialized")
        assert.strictEqual(Agreement.judgeNotification(self, from, name), "not-initialized")
      }
    }
  })
})
