import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { meta } from "../../src/protocol/Revision.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as H from "./harness.ts"

const initialize = H.initializeOf
const initialized = H.notification("notifications/initialized")
const reasons = (lines: ReadonlyArray<H.Said>) => lines.map(({ error }) => error?.data?.reason)
const methods = (lines: ReadonlyArray<H.Said>) => lines.map(({ method }) => method)
const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const

describe("before initialize", () => {
  it.effect("only ping goes on", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(H.request(1, "ping"), H.request(2, "tools/list"), H.call(3, "read"), H.request(4, "nothing"))
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
        ["2", -32600, "not-initialized"],
        ["3", -32600, "not-initialized"],
        ["4", -32600, "not-initialized"],
        ["1", undefined, undefined]
      ])
      assert.deepStrictEqual(methods(relay.server().take()), ["ping"])
    }))

  it.effect("notifications are dropped and told", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(initialized, H.notification("notifications/roots/list_changed"))
      assert.deepStrictEqual([relay.take(), relay.server().take()], [[], []])
      assert.lengthOf(relay.told, 2)
    }))
})

describe("initialize", () => {
  for (const version of [...legacy, "2026-07-28", "2099-01-01", "x"]) {
    it.effect(`with ${version} is passed on as it came: it is the server's to counter`, () =>
      Effect.gen(function*() {
        const relay = yield* H.open({
          answers: {
            initialize: () => `"result":{"protocolVersion":"2025-06-18","capabilities":{},"instructions":"hi","x":1.0}`
          }
        })
        yield* relay.says(initialize(`"i"`, version, { roots: {}, x: [1] }))
        assert.deepStrictEqual(relay.server().take().map(({ text }) => text), [
          initialize(`"i"`, version, { roots: {}, x: [1] })
        ])
        assert.deepStrictEqual(relay.take().map(({ text }) => text), [
          `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{},"instructions":"hi","x":1.0}}`
        ])
      }))
  }

  for (const version of ["2099-01-01", "2026-07-28", "", "1"]) {
    it.effect(`answered with ${H.json(version)} is an error: no revision is echoed that Sallyport does not implement`, () =>
      Effect.gen(function*() {
        const relay = yield* H.open({
          answers: { initialize: () => `"result":${H.json({ protocolVersion: version, capabilities: { tools: {} } })}` }
        })
        yield* relay.says(initialize(1), H.request(2, "tools/list"))
        assert.deepStrictEqual(reasons(relay.take()), ["unsupported-revision", "not-initialized"])
      }))
  }

  it.effect("that is refused by the server leaves the session as it was: another may follow", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({
        answers: { initialize: () => `"error":{"code":-32602,"message":"no","data":{"supported":["x"]}}` }
      })
      yield* relay.says(initialize(1))
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["x"]}}}`
      ])
      relay.answer("initialize", () => `"result":{"protocolVersion":"2025-11-25","capabilities":{}}`)
      yield* relay.says(initialize(2))
      assert.isDefined(relay.take()[0]?.result)
    }))

  it.effect("a second one is refused, before and after the first is answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      yield* relay.says(initialize(1), initialize(2))
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
        ["2", -32600, "already-initialized"]
      ])
      yield* relay.server().says(H.result("1", { protocolVersion: "2025-11-25", capabilities: {} }))
      yield* relay.says(initialize(3), initialized, initialize(4))
      assert.deepStrictEqual(reasons(relay.take()), [undefined, "already-initialized", "already-initialized"])
      assert.lengthOf(relay.server().saw().filter(({ method }) => method === "initialize"), 1)
    }))

  it.effect("what comes behind it without waiting is kept in order", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({
        answers: { initialize: "silent", "tools/list": "silent" },
        capabilities: { tools: {}, prompts: {} }
      })
      yield* relay.says(
        initialize(1),
        initialized,
        H.request(2, "prompts/list"),
        H.request(3, "ping"),
        H.request(4, "tools/list"),
        H.request(5, "nothing")
      )
      assert.deepStrictEqual(methods(relay.server().take()), ["initialize", "ping"])
      assert.deepStrictEqual(relay.take().map(({ id }) => id), ["3"])
      yield* relay.server().says(
        H.result("1", { protocolVersion: "2025-11-25", capabilities: { tools: {}, prompts: {} } })
      )
      assert.deepStrictEqual(
        relay.server().take().map(({ id, method }) => [id?.startsWith(`"sally`) === true ? "own" : id, method]),
        [
          [undefined, "notifications/initialized"],
          // The first sight is of every kind.
          ["own", "tools/list"],
          ["own", "prompts/list"],
          ["2", "prompts/list"],
          ["4", "tools/list"]
        ]
      )
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.data?.reason]).slice(0, 2), [
        ["1", undefined],
        ["5", "unknown-method"]
      ])
    }))

  it.effect("a request that waits behind it can be cancelled: it never reaches the server", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      yield* relay.says(initialize(1), initialized, H.call(2, "read"), H.cancel(2))
      yield* relay.server().says(H.result("1", { protocolVersion: "2025-11-25", capabilities: { tools: {} } }))
      assert.lengthOf(relay.calls(), 0)
      assert.lengthOf(relay.answers(2), 0)
    }))

  it.effect("no more than 1,024 messages, and a megabyte of notifications, wait behind it", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" }, capabilities: {} })
      yield* relay.says(initialize(0), ...Array.from({ length: 1030 }, (_, i) => H.call(i + 1, "read")))
      assert.deepStrictEqual(reasons(relay.take()), Array.from({ length: 6 }, () => "too-many-requests"))
      const other = yield* H.open({ answers: { initialize: "silent" } })
      const long = H.notification("notifications/roots/list_changed", { x: "x".repeat(600_000) })
      yield* other.says(initialize(0, "2025-11-25", { roots: {} }), long, long)
      assert.match(other.told.join(), /not-initialized/)
      yield* other.server().says(H.result("0", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.deepStrictEqual(methods(other.server().saw()), ["initialize", "notifications/roots/list_changed"])
    }))

  it.effect("initialized comes once, and only after it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(initialized)
      assert.deepStrictEqual(relay.server().take(), [])
      assert.match(relay.told.join(), /unknown-notification/)
    }))
})

describe("what a host may say", () => {
  for (const revision of legacy) {
    it.effect(`in ${revision}: unknown methods, methods of other revisions and capabilities nobody offers are refused`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({
          revision,
          capabilities: { tools: {}, logging: true, resources: { subscribe: false } }
        })
        yield* relay.says(
          H.request(1, "nothing/known"),
          H.request(2, "Tools/list"),
          H.request(3, "subscriptions/listen"),
          H.request(4, "sampling/createMessage"),
          H.request(5, "prompts/list"),
          H.request(6, "logging/setLevel", { level: "info" }),
          H.request(7, "resources/subscribe", { uri: "a:b" }),
          H.request(8, "tasks/list"),
          H.request(9, "notifications/initialized")
        )
        assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
          ["1", -32601, "unknown-method"],
          ["2", -32601, "unknown-method"],
          ["3", -32601, "unknown-method"],
          ["4", -32601, "unknown-method"],
          ["5", -32601, "not-offered"],
          ["6", -32601, "not-offered"],
          ["7", -32601, "not-offered"],
          ["8", -32601, revision === "2025-11-25" ? "not-offered" : "unknown-method"],
          ["9", -32601, "unknown-method"]
        ])
        assert.deepStrictEqual(relay.server().take(), [])
      }))

    it.effect(`in ${revision}: completion/complete needs its capability where there is one`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ revision, capabilities: { prompts: {} } })
        relay.server().take()
        const ref = { type: "ref/prompt", name: "p" }
        yield* relay.says(H.request(1, "completion/complete", { ref, argument: { name: "x", value: "" } }))
        assert.deepStrictEqual(methods(relay.server().take()), revision === "2024-11-05" ? ["completion/complete"] : [])
      }))
  }

  for (const member of ["extensions", "experimental"]) {
    it.effect(`a method outside the tables passes, gated, to a server that declared ${member}`, () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const relay = yield* H.opened({
          capabilities: { [member]: { "x/y": {} } },
          gate: Gate.make({
            call: ({ method }) => {
              seen.push(method)
              return Effect.succeed(Gate.allow)
            }
          })
        })
        yield* relay.says(H.request(1, "x/y", { a: 1 }), H.request(2, "prompts/list"))
        assert.deepStrictEqual(methods(relay.server().take()), ["x/y"])
        assert.deepStrictEqual(seen, ["x/y"])
        assert.deepStrictEqual(reasons(relay.answers(2)), ["not-offered"])
        assert.deepInclude(relay.entries("call")[0], { method: "x/y" })
      }))
  }

  it.effect("notifications outside the tables, requests without an id too, are dropped and never answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(
        H.notification("tools/call", { name: "read" }),
        H.notification("notifications/tools/list_changed"),
        H.notification("notifications/roots/list_changed"),
        H.notification("notifications/unknown")
      )
      assert.deepStrictEqual([relay.take(), relay.server().take()], [[], []])
      assert.match(relay.told.join("\n"), /"tools\/call" from host was not passed on/)
    }))

  it.effect("of each kind of what is dropped the operator hears once", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      for (let i = 0; i < 100; i++) yield* relay.says(H.notification(`notifications/unknown${i}`))
      yield* relay.server().says(...Array.from({ length: 100 }, (_, i) => `line ${i}`))
      assert.lengthOf(relay.told, 2)
    }))
})

describe("what a server may say", () => {
  for (const revision of legacy) {
    it.effect(`in ${revision}: a request that does not go to hosts, or was not declared, is answered to the server (F35)`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ revision, client: { sampling: true, roots: false } })
        relay.server().take()
        yield* relay.server().says(
          H.request(1, "tools/list"),
          H.request(2, "tools/call", { name: "read" }),
          H.request(3, "sampling/createMessage", {}),
          H.request(4, "roots/list"),
          H.request(5, "elicitation/create", {}),
          H.request(6, "initialize", {}),
          H.request(7, "ping")
        )
        const elicits = revision === "2025-06-18" || revision === "2025-11-25"
        assert.deepStrictEqual(relay.server().take().map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
          ["1", -32601, "unknown-method"],
          ["2", -32601, "unknown-method"],
          ["3", -32601, "not-offered"],
          ["4", -32601, "not-offered"],
          ["5", -32601, elicits ? "not-offered" : "unknown-method"],
          ["6", -32601, "unknown-method"]
        ])
        assert.deepStrictEqual(methods(relay.take()), ["ping"])
      }))

    it.effect(`in ${revision}: a notification outside the table or of an undeclared capability is dropped and counted`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ revision, client: { roots: {} } })
        yield* relay.server().says(
          H.notification("notifications/unknown"),
          H.notification("notifications/prompts/list_changed"),
          H.notification("notifications/resources/updated", { uri: "a:b" }),
          H.notification("notifications/message", { level: "info", data: 1 }),
          H.notification("notifications/roots/list_changed"),
          H.notification("notifications/subscriptions/acknowledged"),
          H.notification("notifications/tools/list_changed")
        )
        assert.deepStrictEqual(methods(relay.take()), ["notifications/tools/list_changed"])
        yield* H.adjust("1 minute")
        assert.deepStrictEqual(
          relay.entries("dropped").map(({ count, reason }) => [reason, count]),
          [["unknown-notification", 3], ["not-offered", 3]]
        )
      }))
  }

  it.effect("early notifications wait until the host has the answer to its initialize", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      const log = (n: number) => H.notification("notifications/resources/updated", { uri: `file:///${n}` })
      yield* relay.says(initialize(1))
      yield* relay.server().says(log(1), H.notification("notifications/unknown"), log(2))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.server().says(
        H.result("1", { protocolVersion: "2025-11-25", capabilities: { resources: {} } }),
        log(3)
      )
      assert.deepStrictEqual(relay.take().map(({ id, text }) => id === "1" ? "answer" : text), [
        "answer",
        log(1),
        log(2),
        log(3)
      ])
    }))

  it.effect("and are bounded by number and length", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      const log = H.notification("notifications/resources/updated", { uri: "x".repeat(600_000) })
      yield* relay.says(initialize(1))
      yield* relay.server().says(log, log)
      yield* relay.server().says(H.result("1", { protocolVersion: "2025-11-25", capabilities: { resources: {} } }))
      assert.lengthOf(relay.take(), 2)
      assert.match(relay.told.join(), /not-initialized/)
    }))

  it.effect("a request before the session is agreed on is answered, but for ping", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.server().says(H.request(1, "roots/list"), H.request(2, "ping"))
      assert.deepStrictEqual(reasons(relay.server().take()), ["not-offered"])
      assert.deepStrictEqual(methods(relay.take()), ["ping"])
    }))
})

describe("the modern era", () => {
  const discover = (id: string | number = `"d"`) => H.modern(id, "server/discover")

  it.effect("discover is passed on as it came, and settles the process", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(discover())
      assert.deepStrictEqual(relay.server().take().map(({ text }) => text), [discover()])
      yield* relay.says(initialize(1), H.modern(2, "tools/list"))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["other-era"])
      assert.strictEqual(relay.answers(1)[0]?.error?.code, -32600)
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read", "write"])
    }))

  it.effect("a settled legacy process refuses discover and requests that claim the other era", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(discover(1), H.modern(2, "tools/list"), H.request(3, "tools/list", { _meta: { x: 1 } }))
      assert.deepStrictEqual([1, 2, 3].map((id) => reasons(relay.answers(id))[0]), [
        "other-era",
        "other-era",
        undefined
      ])
    }))

  it.effect("a request without the metadata is refused", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(discover())
      yield* relay.says(H.request(1, "tools/list"), H.request(2, "tools/list", { _meta: {} }), H.request(3, "ping"))
      assert.deepStrictEqual(
        [1, 2, 3].map((id) => [relay.answers(id)[0]?.error?.code, reasons(relay.answers(id))[0]]),
        [
          [-32602, "missing-metadata"],
          [-32602, "missing-metadata"],
          [-32602, "missing-metadata"]
        ]
      )
    }))

  for (const version of ["2027-01-01", "2025-11-25", "1900-01-01"]) {
    it.effect(`a request that names ${version} is answered -32022 with what is supported, each time`, () =>
      Effect.gen(function*() {
        const relay = yield* H.open({ answers: H.modernAnswers() })
        const ask = (id: number) => H.request(id, "tools/list", { _meta: H.modernMeta({}, version) })
        yield* relay.says(ask(1))
        yield* relay.says(discover())
        yield* relay.says(ask(2))
        for (const id of [1, 2]) {
          assert.strictEqual(
            relay.answers(id)[0]?.text,
            `{"jsonrpc":"2.0","id":${id},"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"${version}"}}}`
          )
        }
      }))
  }

  it.effect("methods that are gone, and what nobody offers, are refused", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(discover())
      const gone = ["ping", "logging/setLevel", "resources/subscribe", "tasks/list", "prompts/list"]
      yield* relay.says(...gone.map((method, id) => H.modern(id, method)))
      assert.deepStrictEqual(relay.take().slice(1).map(({ error }) => [error?.code, error?.data?.reason]), [
        ...gone.slice(0, 4).map(() => [-32601, "unknown-method"]),
        [-32601, "not-offered"]
      ])
    }))

  it.effect("a server may ask hosts nothing there", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(H.request(1, "tools/list", { _meta: H.modernMeta({ sampling: {}, roots: {} }) }))
      relay.server().take()
      relay.take()
      yield* relay.server().says(H.request(1, "sampling/createMessage", {}), H.request(2, "ping"))
      assert.deepStrictEqual(reasons(relay.server().take()), ["unknown-method", "unknown-method"])
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("a request that must declare a capability and does not is answered with what it lacks", () =>
    Effect.gen(function*() {
      const extensions = { "io.modelcontextprotocol/tasks": {} }
      const relay = yield* H.open({ answers: H.modernAnswers({ tools: {}, extensions }) })
      yield* relay.says(H.modern(1, "server/discover"), H.modern(2, "tasks/get", { taskId: "t" }))
      assert.strictEqual(relay.answers(2)[0]?.error?.code, -32021)
      yield* relay.says(H.request(3, "tasks/get", { taskId: "t", _meta: H.modernMeta({ extensions }) }))
      assert.strictEqual(relay.answers(3)[0]?.error?.data?.reason, "unknown-task")
    }))

  it.effect("a host that opens with another request has the era asked for first, with its own metadata", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(
        H.request(1, "tools/list", { _meta: { ...H.modernMeta(), progressToken: 5 } }),
        H.modern(2, "tools/call", { name: "read" })
      )
      const [probe] = relay.server().saw()
      assert.strictEqual(probe?.method, "server/discover")
      assert.match(probe?.id ?? "", /^"sallyport-/)
      assert.deepStrictEqual(probe?.params, { _meta: H.modernMeta() })
      assert.isDefined(relay.answers(1)[0]?.result)
      assert.lengthOf(relay.calls(), 1)
      assert.lengthOf(relay.saw().filter(({ id }) => id === probe?.id), 0)
    }))

  it.effect("and gets, without a bridge, an error that names both sides where the server is of the era before", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ bridge: "off" })
      yield* relay.says(H.modern(1, "tools/list"))
      yield* relay.says(H.modern(2, "tools/list"))
      for (const id of [1, 2]) {
        const { error } = relay.answers(id)[0] ?? {}
        assert.strictEqual(error?.data?.reason, "no-common-revision")
        assert.include(
          error?.message ?? "",
          "the host speaks 2026-07-28; the server answered server/discover with the error"
        )
        assert.include(error?.message ?? "", "Method not found")
      }
      assert.deepStrictEqual(methods(relay.server().saw()), ["server/discover"])
      // The same process still serves a host that falls back.
      yield* relay.says(initialize(3), initialized, H.request(4, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(4)[0]), ["read", "write"])
    }))

  it.effect("or where the server's revisions are others", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({
        answers: { "server/discover": () => `"result":{"supportedVersions":["2031-01-01"],"capabilities":{}}` }
      })
      yield* relay.says(H.modern(1, "tools/list"))
      assert.include(relay.answers(1)[0]?.error?.message ?? "", `the server supports ["2031-01-01"]`)
    }))

  it.effect("an initialize behind the relay's own probe waits for its answer", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { "server/discover": "silent" }, bridge: "off" })
      yield* relay.says(H.modern(1, "tools/list"), initialize(2))
      assert.deepStrictEqual(methods(relay.server().saw()), ["server/discover"])
      yield* relay.server().says(
        `{"jsonrpc":"2.0","id":${relay.server().saw()[0]?.id},"error":{"code":-1,"message":"what"}}`
      )
      assert.deepStrictEqual(methods(relay.server().saw()), ["server/discover", "initialize"])
      assert.isDefined(relay.answers(2)[0]?.result)
    }))

  it.effect("subscriptions/listen stays open, and what comes on it keeps its id", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers({ resources: {} }) })
      yield* relay.says(H.modern(`"s"`, "subscriptions/listen", { notifications: {} }))
      const on = (id: string, method: string) => H.notification(method, { _meta: { [meta.subscriptionId]: id } })
      yield* relay.server().says(
        on("s", "notifications/subscriptions/acknowledged"),
        on("s", "notifications/resources/list_changed"),
        on("t", "notifications/resources/list_changed")
      )
      assert.deepStrictEqual(relay.take().map(({ text }) => text), [
        on("s", "notifications/subscriptions/acknowledged"),
        on("s", "notifications/resources/list_changed")
      ])
      yield* relay.says(H.cancel(`"s"`))
      yield* relay.server().says(on("s", "notifications/resources/list_changed"))
      assert.deepStrictEqual(relay.take(), [])
    }))
})

describe("a server that does not know discover", () => {
  const silent: H.Options = { answers: { "server/discover": "silent" }, bridge: "off" }

  it.effect("and keeps silent: one passed on from the host stays open, and an initialize behind it goes on", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      yield* relay.says(H.modern(`"d"`, "server/discover"))
      yield* H.adjust("1 hour")
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.says(initialize(1))
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
        ["1", undefined, undefined],
        [`"d"`, -32601, "discover-superseded"]
      ])
      yield* relay.server().says(H.result(`"d"`, { supportedVersions: ["2026-07-28"] }))
      assert.deepStrictEqual(relay.take(), [])
      yield* relay.says(initialized, H.request(2, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read", "write"])
    }))

  it.effect("for the relay's own probe silence is an answer 10 s after the start", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      yield* relay.says(H.modern(1, "tools/list"))
      yield* H.adjust("9900 millis")
      assert.deepStrictEqual(relay.take(), [])
      yield* H.adjust("100 millis")
      assert.deepStrictEqual(reasons(relay.take()), ["no-common-revision"])
    }))

  it.effect("or 1.5 s after the server's first sign of life: a notification, a request, a line on stderr", () =>
    Effect.gen(function*() {
      const signs: ReadonlyArray<(server: H.Server) => Effect.Effect<void>> = [
        (server) => server.says(H.notification("notifications/message", { level: "info", data: 1 })),
        (server) => server.says(H.request(1, "ping")),
        (server) => server.far.stderr("listening\n")
      ]
      for (const sign of signs) {
        const relay = yield* H.open(silent)
        yield* relay.says(H.modern(1, "tools/list"))
        yield* H.adjust("3 seconds")
        yield* sign(relay.server())
        yield* H.adjust("1400 millis")
        assert.lengthOf(relay.answers(1), 0)
        yield* H.adjust("300 millis")
        assert.deepStrictEqual(reasons(relay.answers(1)), ["no-common-revision"])
      }
    }))

  it.effect("a late answer to the probe is of no meaning", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      yield* relay.says(H.modern(1, "tools/list"))
      const probe = relay.server().saw()[0]?.id
      yield* H.adjust("10 seconds")
      yield* relay.says(initialize(2), initialized)
      yield* relay.server().says(H.result(probe, { supportedVersions: ["2026-07-28"], capabilities: {} }))
      yield* relay.says(H.request(3, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(3)[0]), ["read", "write"])
    }))

  it.effect("and exits at it: the discover is answered, and it is started once more", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      yield* relay.says(H.modern(`"d"`, "server/discover"))
      yield* relay.server().far.exit(H.exited(1))
      yield* H.settle
      assert.deepStrictEqual(reasons(relay.take()), ["server-ended"])
      assert.lengthOf(relay.servers, 2)
      yield* relay.says(initialize(1), initialized, H.request(2, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read", "write"])
      assert.deepStrictEqual(methods(relay.servers[0]?.saw() ?? []), ["server/discover"])
    }))

  it.effect("but only once", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      for (const id of [1, 2]) {
        yield* relay.says(H.modern(id, "server/discover"))
        yield* relay.server().far.exit(H.exited(4))
        yield* H.settle
      }
      assert.lengthOf(relay.servers, 2)
      assert.deepStrictEqual((yield* relay.outcome).ending, H.exited(4))
      assert.deepStrictEqual(reasons(relay.take()), ["server-ended", "server-ended"])
    }))

  it.effect("and not where something else was asked of it: that may have been done (F27)", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { "server/discover": "silent", initialize: "silent" } })
      yield* relay.says(H.modern(1, "server/discover"), initialize(2))
      yield* relay.server().far.exit(H.exited(1))
      assert.deepStrictEqual((yield* relay.outcome).ending, H.exited(1))
      assert.lengthOf(relay.servers, 1)
      assert.sameMembers(reasons(relay.take()), ["server-ended", "server-ended"])
    }))

  it.effect("and exits at the relay's own probe: the host is told, and its initialize is served by the new one", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(silent)
      yield* relay.says(H.modern(1, "tools/list"), initialize(2))
      yield* relay.server().far.exit(H.exited(1))
      yield* H.settle
      assert.deepStrictEqual(reasons(relay.answers(1)), ["no-common-revision"])
      assert.isDefined(relay.answers(2)[0]?.result)
      assert.lengthOf(relay.servers, 2)
    }))
})
