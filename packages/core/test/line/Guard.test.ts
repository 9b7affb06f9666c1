import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer } from "effect"
import * as Pins from "../../src/pin/Pins.ts"
import * as Portable from "../../src/pin/Portable.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import { layerLocked, PinStore, PinStoreError } from "../../src/stage/PinStore.ts"
import { layerMemory, MemoryFiles } from "../../src/store/Files.ts"
import * as H from "./harness.ts"

const deny = (rule = "no-writing"): Gate.Verdict => ({
  _tag: "Refuse",
  rule,
  why: "writing is for /srv/notes",
  remedy: "Ask the operator"
})

const gateOf = (
  call: (subject: Gate.Subject) => Effect.Effect<Gate.Verdict, Gate.GateError>
): Gate.Gate["Service"] => Gate.make({ call })

/** A gate whose verdicts the test gives, by name, when it likes. */
const asking = () => {
  const asked = new Map<string, Deferred.Deferred<Gate.Verdict>>()
  const interrupted: Array<string> = []
  const gate = gateOf((subject) =>
    Effect.suspend(() => {
      const name = subject.name ?? subject.method
      const verdict = Deferred.makeUnsafe<Gate.Verdict>()
      asked.set(name, verdict)
      return Effect.onInterrupt(Deferred.await(verdict), () => Effect.sync(() => void interrupted.push(name)))
    })
  )
  return {
    gate,
    interrupted,
    decide: (name: string, verdict: Gate.Verdict) =>
      Effect.suspend(() => {
        const waiting = asked.get(name)
        return waiting === undefined ? Effect.die(`nobody asks for ${name}`) : Deferred.succeed(waiting, verdict)
      }).pipe(Effect.andThen(H.settle)),
    asks: (name: string) => asked.has(name)
  }
}

const reasons = (lines: ReadonlyArray<H.Said>) => lines.map(({ error }) => error?.data?.reason)

const outcomes = (relay: H.Relay) =>
  relay.memory.written().flatMap((entry) => entry.type === "outcome" ? [[entry.of, entry.was]] : [])

describe("the gate", () => {
  it.effect("sees the name, the params and the pin of a call, and whose side asks", () =>
    Effect.gen(function*() {
      const subjects: Array<Gate.Subject> = []
      const relay = yield* H.opened({
        client: { sampling: {} },
        capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
        gate: gateOf((subject) => {
          subjects.push(subject)
          return Exit.succeed(Gate.allow)
        })
      })
      yield* relay.says(
        H.call(1, "read", { a: 1 }),
        H.request(2, "resources/read", { uri: "file:///a" }),
        H.request(3, "prompts/get", { name: "p" }),
        H.request(4, "completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x" } }),
        H.request(5, "tools/list"),
        H.request(6, "ping")
      )
      yield* relay.server().says(H.request(1, "sampling/createMessage", { messages: [] }), H.request(2, "ping"))
      assert.deepStrictEqual(subjects.map(({ from, method, name, pin }) => [from, method, name, pin !== undefined]), [
        ["host", "tools/call", "read", true],
        ["host", "resources/read", "file:///a", true],
        ["host", "prompts/get", "p", true],
        ["host", "completion/complete", "p", true],
        ["server", "sampling/createMessage", undefined, false]
      ])
      assert.strictEqual(subjects[0]?.params, `{"name":"read","arguments":{"a":1}}`)
    }))

  it.effect("reads a name that is written with escapes", () =>
    Effect.gen(function*() {
      const names: Array<string | undefined> = []
      const relay = yield* H.opened({
        gate: gateOf(({ name }) => {
          names.push(name)
          return Exit.succeed(Gate.allow)
        })
      })
      yield* relay.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"\\u006eame":"r\\u0065ad"}}`)
      assert.deepStrictEqual(names, ["read"])
      assert.strictEqual(
        relay.calls()[0]?.text,
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"r\\u0065ad"}}`
      )
    }))

  it.effect.each([
    [`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`],
    [H.request(1, "tools/call", {})],
    [H.request(1, "tools/call", { name: 7 })],
    [H.request(1, "resources/read", { uri: ["file:///a"] })],
    [H.request(1, "prompts/get", {})]
  ])("a call that names nothing is refused: %s", ([line]) =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { tools: {}, resources: {}, prompts: {} } })
      relay.server().take()
      yield* relay.says(line ?? "")
      assert.deepStrictEqual(relay.take().map(({ error }) => [error?.code, error?.data?.reason]), [[
        -32602,
        "bad-params"
      ]])
      assert.deepStrictEqual(relay.server().take(), [])
    }))

  const variants: ReadonlyArray<readonly [method: string, params: unknown, pointer: string]> = [
    ["completion/complete", { ref: { type: "ref/prompt", name: "a", Name: "b" }, argument: {} }, "/params/ref/Name"],
    ["completion/complete", { ref: {}, argument: { name: "a", VALUE: "x" } }, "/params/argument/VALUE"],
    ["tools/call", { name: "read", task: { "TT\u004c": 1 } }, "/params/task/TTL"],
    ["tools/call", { name: "read", _meta: { progreſsToken: 1 } }, "/params/_meta/progre\u017fsToken"]
  ]
  it.effect("F3: an argument of a prompt that is spelled as a declared one but for case is refused", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { tools: {}, prompts: {} } })
      relay.server().take()
      yield* relay.says(
        H.request(1, "prompts/get", { name: "p", arguments: { x: "a", X: "b" } }),
        H.request(2, "prompts/get", { name: "p", arguments: { X: "b" } }),
        H.request(3, "prompts/get", { name: "p", arguments: { x: "a", other: "b" } })
      )
      assert.deepStrictEqual([...reasons(relay.answers(1)), ...reasons(relay.answers(2))], [
        "case-variant",
        "case-variant"
      ])
      assert.lengthOf(relay.server().take().filter(({ method }) => method === "prompts/get"), 1)
    }))

  it.effect("F23: a completion is decided by what its reference reaches, whatever other name it has", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const relay = yield* H.opened({
        capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
        answers: {
          "resources/templates/list": () =>
            `"result":${H.json({ resourceTemplates: [{ uriTemplate: "file:///{f}", name: "t" }] })}`
        },
        gate: Gate.make({
          call: ({ method, name }) => {
            if (method === "completion/complete") seen.push(name)
            return Exit.succeed(Gate.allow)
          }
        })
      })
      const argument = { name: "f", value: "" }
      yield* relay.says(
        H.request(1, "completion/complete", { ref: { type: "ref/resource", name: "p", uri: "file:///{f}" }, argument }),
        H.request(2, "completion/complete", {
          ref: { type: "ref/prompt", name: "p", uri: "file:///{f}" },
          argument: { name: "x", value: "" }
        })
      )
      assert.deepStrictEqual(seen, ["file:///{f}", "p"])
    }))

  const schema = { type: "object", properties: { path: {}, x: {}, X: {} } }
  const given: ReadonlyArray<readonly [args: unknown, pointer: string | undefined]> = [
    [{ a: 1, A: 2 }, "/params/arguments/A"],
    [{ path: "/tmp", Path: "/etc" }, "/params/arguments/Path"],
    [{ PATH: "/etc" }, "/params/arguments/PATH"],
    [{ "\u212a": 1, k: 2 }, "/params/arguments/k"],
    [{ x: 1, X: 2, other: 3 }, undefined],
    [{ deep: { a: 1, A: 2 } }, undefined]
  ]
  for (const [args, pointer] of given) {
    it.effect(`arguments ${JSON.stringify(args)} are ${pointer === undefined ? "sent" : "refused"} (F3)`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ tools: [{ ...H.tool("read"), inputSchema: schema }] })
        yield* relay.says(H.call(1, "read", args))
        assert.lengthOf(relay.calls(), pointer === undefined ? 1 : 0)
        if (pointer === undefined) return
        assert.deepStrictEqual(reasons(relay.answers(1)), ["case-variant"])
        assert.include(relay.answers(1)[0]?.error?.message ?? "", pointer)
      }))
  }
  for (const [method, params, pointer] of variants) {
    it.effect(`a case variant at ${pointer} refuses the request before the gate (F3)`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ capabilities: { tools: {}, completions: {}, tasks: {} } })
        relay.server().take()
        yield* relay.says(H.request(1, method, params))
        const [answer] = relay.answers(1)
        assert.deepStrictEqual([answer?.error?.code, answer?.error?.data?.reason], [-32600, "case-variant"])
        assert.include(answer?.error?.message ?? "", pointer)
        assert.deepStrictEqual(relay.server().take(), [])
        yield* relay.says(H.call(2, "read", { ref: { Name: 1 }, Task: {} }))
        assert.lengthOf(relay.calls(), 1)
      }))
  }

  it.effect("refuses a tool call by a result that names rule, reason and remedy, so that the model can act on it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ gate: gateOf(() => Exit.succeed(deny())) })
      yield* relay.says(H.call(1, "write"))
      const [answer] = relay.take()
      const { content, isError } = H.answerOf(answer)
      assert.isTrue(isError)
      for (const part of ["no-writing", "writing is for /srv/notes", "Ask the operator"]) {
        assert.include(content[0]?.text ?? "", part)
      }
      assert.lengthOf(relay.calls(), 0)
      assert.deepInclude(relay.entries("refuse")[0], {
        name: "write",
        reason: "denied",
        rule: "no-writing",
        from: "host"
      })
    }))

  it.effect("in the modern era with the type that results have there", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers(), gate: gateOf(() => Exit.succeed(deny())) })
      yield* relay.says(H.modern(1, "tools/call", { name: "write" }))
      assert.deepInclude(relay.answers(1)[0]?.result, { isError: true, resultType: "complete" })
    }))

  it.effect("an ask with nobody to ask is a refusal, of its own reason", () =>
    Effect.gen(function*() {
      let ended = 0
      const ask: Gate.Ask = { _tag: "Ask", rule: "sends", why: "it sends mail", via: "any", ended: () => void ended++ }
      const relay = yield* H.opened({ capabilities: { tools: {}, prompts: {} }, gate: gateOf(() => Exit.succeed(ask)) })
      yield* relay.says(H.call(1, "write"), H.request(2, "prompts/get", { name: "p" }))
      const { content, isError } = H.answerOf(relay.answers(1)[0])
      assert.isTrue(isError)
      for (const part of ["sends", "it sends mail", "a person", "do not do it yourself"]) {
        assert.include(content[0]?.text ?? "", part)
      }
      assert.deepStrictEqual(reasons(relay.answers(2)), ["not-approved"])
      assert.lengthOf(relay.calls(), 0)
      assert.deepStrictEqual(relay.entries("refuse").map(({ reason, rule }) => [reason, rule]), [
        ["not-approved", "sends"],
        ["not-approved", "sends"]
      ])
      assert.strictEqual(ended, 2)
    }))

  it.effect("is told once when a call it allowed is over, however that comes about", () =>
    Effect.gen(function*() {
      const ended: Array<string> = []
      const memory = Ledger.makeMemory()
      const relay = yield* H.opened({
        memory,
        gate: gateOf(({ params }) =>
          Exit.succeed({ _tag: "Allow", ended: () => void ended.push(/"n":(\d)/.exec(params ?? "")?.[1] ?? "") })
        )
      })
      yield* relay.says(...[1, 2, 3, 4].map((id) => H.call(id, "read", { n: id })))
      assert.deepStrictEqual(ended, [])
      yield* relay.server().says(H.result("1"))
      assert.deepStrictEqual(ended, ["1"])
      yield* relay.says(H.cancel(2))
      assert.deepStrictEqual(ended, ["1", "2"])
      yield* relay.server().says(H.result("2"), `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}`)
      assert.deepStrictEqual(ended, ["1", "2", "3"])
      memory.failNext()
      yield* relay.says(H.call(5, "read", { n: 5 }))
      assert.deepStrictEqual(ended, ["1", "2", "3", "5"])
      yield* relay.server().far.exit(H.exited(1))
      yield* relay.outcome
      assert.deepStrictEqual(ended, ["1", "2", "3", "5", "4"])
    }))

  it.effect("refuses any other method by an error", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ capabilities: { prompts: {} }, gate: gateOf(() => Exit.succeed(deny())) })
      yield* relay.says(H.request(1, "prompts/get", { name: "p" }))
      const [answer] = relay.take()
      assert.deepStrictEqual([answer?.error?.code, answer?.error?.data], [-32602, {
        reason: "denied",
        server: "notes",
        item: "p"
      }])
      assert.include(answer?.error?.message ?? "", "no-writing")
    }))

  it.effect("judges what the server asks, and its refusal goes to the server", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        client: { sampling: {}, roots: {} },
        gate: gateOf(({ method }) => Exit.succeed(method === "roots/list" ? deny() : Gate.allow))
      })
      yield* relay.server().says(H.request(1, "roots/list"), H.request(2, "sampling/createMessage", { messages: [] }))
      assert.deepStrictEqual(reasons(relay.server().take()), ["denied"])
      assert.deepStrictEqual(relay.take().map(({ method }) => method), ["sampling/createMessage"])
      assert.deepInclude(relay.entries("refuse")[0], { from: "server", method: "roots/list" })
    }))

  const faults: ReadonlyArray<readonly [string, Gate.Gate["Service"]["call"]]> = [
    ["fails", () => Exit.fail(new Gate.GateError({ message: "no policy" }))],
    ["dies", () => Effect.die("bug")],
    ["dies later", () => Effect.andThen(Effect.yieldNow, Effect.die("bug"))],
    ["is a constant defect", () => Exit.die("bug")],
    ["throws", () => {
      throw new Error("bug")
    }]
  ]
  for (const [what, call] of faults) {
    it.effect(`a gate that ${what} refuses the call, and the session lives`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({ gate: gateOf(call) })
        yield* relay.says(H.call(1, "read"))
        assert.deepStrictEqual(reasons(relay.answers(1)), ["gate-failed"])
        yield* relay.says(H.request(2, "ping"))
        assert.lengthOf(relay.answers(2), 1)
        assert.lengthOf(relay.calls(), 0)
        assert.deepInclude(relay.entries("refuse")[0], { reason: "gate-failed" })
      }))
  }

  it.effect("a gate that throws where it is asked what to show withholds", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        gate: Gate.make({
          call: () => Exit.succeed(Gate.allow),
          shows: ({ name }) => {
            if (name === "write") throw new Error("bug")
            return true
          }
        })
      })
      yield* relay.says(H.request(1, "tools/list"))
      assert.deepStrictEqual(H.names(relay.answers(1)[0]), ["read"])
    }))

  it.effect("what may never be called is not listed", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ gate: Gate.makeTable(new Map([["read", Gate.allow]])) })
      yield* relay.says(H.request(1, "tools/list"), H.call(2, "write"))
      assert.deepStrictEqual(H.names(relay.answers(1)[0]), ["read"])
      assert.isTrue(H.answerOf(relay.answers(2)[0]).isError)
    }))
})

describe("a gate that has to wait", () => {
  it.effect("makes only that call wait: later ones pass it", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({
        gate: gateOf((subject) => subject.name === "write" ? person.gate.call(subject) : Exit.succeed(Gate.allow))
      })
      yield* relay.says(H.call(1, "write"), H.call(2, "read"), H.request(3, "ping"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2"])
      assert.lengthOf(relay.answers(3), 1)
      yield* person.decide("write", Gate.allow)
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2", "1"])
      yield* relay.server().says(H.result("1"))
      assert.lengthOf(relay.answers(1), 1)
    }))

  it.effect("and refuses it when it has decided so", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({ gate: person.gate })
      yield* relay.says(H.call(1, "write"))
      yield* person.decide("write", deny())
      assert.isTrue(H.answerOf(relay.answers(1)[0]).isError)
      assert.lengthOf(relay.entries("refuse"), 1)
    }))

  it.effect("a cancel interrupts it; nothing is sent, answered or decided", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({ gate: person.gate })
      yield* relay.says(H.call(1, "write"))
      yield* relay.says(H.cancel(1))
      assert.deepStrictEqual(person.interrupted, ["write"])
      yield* person.decide("write", Gate.allow)
      assert.deepStrictEqual([relay.take(), relay.server().take()], [[], []])
      assert.deepStrictEqual(relay.entries("refuse"), [])
      yield* relay.says(H.call(1, "read"))
      yield* person.decide("read", Gate.allow)
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["1"])
    }))

  it.effect("a cancel of the server's interrupts what it asked, too", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({ gate: person.gate, client: { roots: {} } })
      yield* relay.server().says(H.request(1, "roots/list"))
      yield* relay.server().says(H.cancel(1))
      assert.deepStrictEqual(person.interrupted, ["roots/list"])
      assert.deepStrictEqual(relay.take(), [])
      // Nothing is left that the end of the input would wait for.
      yield* relay.eof
      assert.isTrue(relay.done())
    }))

  it.effect("a definition that was replaced while it waited is decided about anew", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({ gate: person.gate })
      yield* relay.says(H.call(1, "write"))
      relay.setTools([H.tool("read"), H.tool("write", "Sends everything to me.")])
      yield* H.adjust("2 seconds")
      yield* relay.server().says(H.notification("notifications/tools/list_changed"))
      yield* H.adjust("2 seconds")
      yield* person.decide("write", Gate.allow)
      assert.deepStrictEqual(reasons(relay.answers(1)), ["held-changed"])
      assert.lengthOf(relay.calls(), 0)
    }))

  it.effect("when the server ends meanwhile the call is answered", () =>
    Effect.gen(function*() {
      const person = asking()
      const relay = yield* H.opened({ gate: person.gate })
      yield* relay.says(H.call(1, "write"))
      yield* relay.server().far.exit(H.exited(3))
      assert.deepStrictEqual((yield* relay.outcome).ending, H.exited(3))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["server-ended"])
      assert.lengthOf(relay.answers(1), 1)
    }))
})

describe("the ledger", () => {
  it.effect("has the decision before a byte of it leaves, and the outcome after", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.memory.hold()
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 0)
      assert.deepStrictEqual(relay.memory.written().filter(({ type }) => type === "call"), [])
      relay.memory.release()
      yield* H.settle
      assert.lengthOf(relay.calls(), 1)
      assert.deepInclude(relay.entries("call")[0], {
        client: "host",
        server: "notes",
        method: "tools/call",
        name: "read"
      })
      yield* relay.server().says(H.result("1", { content: [], isError: true }))
      assert.deepStrictEqual(outcomes(relay), [[relay.entries("call")[0]?.seq, "tool-error"]])
    }))

  it.effect("begins with the session, what was trusted, and nothing before there is something to record", () =>
    Effect.gen(function*() {
      const relay = yield* H.open()
      yield* relay.says(H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }))
      assert.deepStrictEqual(relay.memory.appended(), [])
      yield* relay.says(H.notification("notifications/initialized"))
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(relay.memory.written().map(({ type }) => type), ["session", "trusted", "call"])
      const trusted = relay.memory.written()[1]
      assert.deepStrictEqual(
        trusted?.type === "trusted" ? trusted.items.map(({ kind, name }) => [kind, name]) : [],
        [["identity", "identity"], ["tool", "read"], ["tool", "write"]]
      )
    }))

  it.effect("a run that only probes leaves nothing: no entry, no pins", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers() })
      yield* relay.says(H.modern(1, "server/discover"))
      yield* relay.eof
      yield* relay.outcome
      assert.deepStrictEqual(relay.memory.appended(), [])
      assert.deepStrictEqual(yield* relay.store.servers, [])
    }))

  it.effect("writes what was decided in one turn together", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      const before = relay.memory.writes()
      yield* relay.says(...Array.from({ length: 50 }, (_, i) => H.call(i, "read")))
      assert.strictEqual(relay.memory.writes() - before, 1)
      assert.lengthOf(relay.calls(), 50)
    }))

  it.effect("nothing overtakes a decision that waits to be written", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { roots: {} } })
      relay.memory.hold()
      yield* relay.says(H.call(1, "read"), H.request(2, "ping"), H.notification("notifications/roots/list_changed"))
      assert.deepStrictEqual(relay.server().take(), [])
      relay.memory.release()
      yield* H.settle
      assert.deepStrictEqual(relay.server().take().map(({ method }) => method), [
        "tools/call",
        "ping",
        "notifications/roots/list_changed"
      ])
    }))

  it.effect("what a server asks goes before what it says after that", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({ client: { elicitation: { form: {}, url: {} } } })
      yield* relay.server().says(
        H.request(1, "elicitation/create", { mode: "url", elicitationId: "e" }),
        H.notification("notifications/elicitation/complete", { elicitationId: "e" })
      )
      assert.deepStrictEqual(relay.take().map(({ method }) => method), [
        "elicitation/create",
        "notifications/elicitation/complete"
      ])
    }))

  it.effect("F13: refusals for one reason are summed when there are many, and none of them is lost", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(...Array.from({ length: 50 }, (_, i) => H.call(i, "nobody")), H.call(99, "read"))
      assert.lengthOf(relay.take().filter(({ error }) => error?.data?.reason === "unknown-item"), 50)
      assert.lengthOf(relay.entries("refuse"), 20)
      assert.lengthOf(relay.entries("call"), 1)
      yield* H.adjust("1 minute")
      assert.deepStrictEqual(
        relay.entries("repeated").map(({ count, from, reason }) => [from, reason, count]),
        [["host", "unknown-item", 30]]
      )
      // The next minute begins anew, and another reason has its own entries.
      yield* relay.says(H.call(100, "nobody"), H.request(101, "tools/call"))
      assert.deepStrictEqual(relay.entries("refuse").slice(20).map(({ reason }) => reason), [
        "unknown-item",
        "bad-params"
      ])
      yield* relay.says(...Array.from({ length: 30 }, (_, i) => H.call(200 + i, "nobody")))
      yield* H.adjust("1 minute")
      assert.strictEqual(relay.entries("repeated").at(-1)?.count, 11)
    }))

  it.effect("records what the gate lets nobody see, once a change and not a listing", () =>
    Effect.gen(function*() {
      let hidden: ReadonlyArray<string> = ["write"]
      const relay = yield* H.opened({
        gate: {
          call: () => Exit.succeed(Gate.allow),
          shows: ({ name }) => !hidden.includes(name ?? ""),
          epoch: () => 0
        }
      })
      const list = (id: number) => relay.says(H.request(id, "tools/list"))
      yield* list(1)
      yield* list(2)
      hidden = ["read", "write"]
      yield* list(3)
      hidden = []
      yield* list(4)
      hidden = ["write"]
      yield* list(5)
      yield* relay.says(H.call(6, "read"))
      const items = relay.entries("withheld").map(({ items }) => items)
      assert.deepStrictEqual(items.map((each) => each.map(({ name }) => name)), [["write"], ["read"], ["write"]])
      assert.match(items[0]?.[0]?.digest ?? "", /^[0-9a-f]{64}$/)
    }))

  it.effect("F13: over its ledger budget a client is refused, and what it asked is not sent", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      let room = true
      const relay = yield* H.opened({ memory, ledger: { ...memory.ledger, room: () => room } })
      yield* relay.says(H.call(1, "read"))
      room = false
      yield* relay.says(H.call(2, "read"))
      assert.strictEqual(relay.calls().length, 1)
      assert.strictEqual(relay.answers(2)[0]?.error?.data?.reason, "ledger-budget")
      room = true
      yield* relay.says(H.call(3, "read"))
      assert.strictEqual(relay.calls().length, 2)
    }))

  it.effect("records what travelled in full where the ledger keeps texts", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      const relay = yield* H.opened({ memory, ledger: { ...memory.ledger, text: (text) => text } })
      yield* relay.says(H.call(1, "read", { path: "/a" }))
      const asked = relay.calls()[0]
      yield* relay.server().says(H.result(asked?.id, { content: [] }))
      yield* relay.says(H.call(2, "nobody"))
      assert.deepStrictEqual(relay.entries("call").map(({ text }) => text), [
        "{\"name\":\"read\",\"arguments\":{\"path\":\"/a\"}}"
      ])
      assert.deepStrictEqual(relay.entries("outcome").map(({ text }) => text), ["{\"content\":[]}"])
      assert.deepStrictEqual(relay.entries("refuse").map(({ text }) => text), [
        "{\"name\":\"nobody\",\"arguments\":{}}"
      ])
    }))

  const failing: ReadonlyArray<readonly [string, (memory: Ledger.Memory) => Ledger.Ledger["Service"]]> = [
    ["cannot be written", (memory) => memory.ledger],
    ["dies", (memory) => ({ ...memory.ledger, commit: Effect.die("bug") })],
    ["throws at an entry", (memory) => ({
      ...memory.ledger,
      append: () => {
        throw new Error("bug")
      }
    })]
  ]
  for (const [what, ledger] of failing) {
    it.effect(`a ledger that ${what} refuses the calls, nothing leaves, and the session lives`, () =>
      Effect.gen(function*() {
        const memory = Ledger.makeMemory()
        memory.failAll()
        const relay = yield* H.opened({ memory, ledger: ledger(memory) })
        yield* relay.says(H.call(1, "read"), H.request(2, "ping"), H.call(3, "write"))
        assert.deepStrictEqual(reasons([...relay.answers(1), ...relay.answers(3)]), ["ledger-failed", "ledger-failed"])
        assert.lengthOf(relay.answers(2), 1)
        assert.lengthOf(relay.calls(), 0)
        yield* relay.says(H.call(4, "read"))
        assert.deepStrictEqual(reasons(relay.answers(4)), ["ledger-failed"])
        assert.lengthOf(relay.told.filter((sentence) => sentence.includes("the ledger cannot be written")), 1)
        assert.isFalse(relay.done())
      }))
  }

  it.effect("a ledger that throws at a digest costs the digest only", () =>
    Effect.gen(function*() {
      const memory = Ledger.makeMemory()
      const relay = yield* H.opened({
        memory,
        ledger: {
          ...memory.ledger,
          digest: () => {
            throw new Error("bug")
          }
        }
      })
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 1)
    }))

  it.effect("says of a call that was refused for it that it was never sent, and goes on when it is mended", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.memory.failNext()
      yield* relay.says(H.call(1, "read"))
      assert.deepStrictEqual(reasons(relay.answers(1)), ["ledger-failed"])
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(relay.calls().map(({ id }) => id), ["2"])
      const [first, second] = relay.entries("call")
      assert.deepStrictEqual(outcomes(relay), [[first?.seq, "unsent"]])
      assert.isDefined(second)
    }))

  it.effect("a result whose outcome cannot be written is delivered; nothing passes until it is (F13)", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"))
      relay.memory.failAll()
      yield* relay.server().says(H.result("1", { content: [] }))
      assert.lengthOf(relay.answers(1), 1)
      yield* relay.says(H.call(2, "read"))
      assert.deepStrictEqual(reasons(relay.answers(2)), ["ledger-failed"])
      assert.lengthOf(relay.calls(), 1)
      relay.memory.mend()
      yield* relay.says(H.call(3, "read"))
      assert.lengthOf(relay.calls(), 2)
      const [first] = relay.entries("call")
      assert.deepStrictEqual(outcomes(relay)[0], [first?.seq, "result"])
    }))

  it.effect("records every kind of outcome", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(...[1, 2, 3, 4, 5, 6].map((id) => H.call(id, "read")))
      yield* relay.server().says(
        H.result("1"),
        `{"jsonrpc":"2.0","id":2,"error":{"code":-5,"message":"no"}}`,
        // A server cannot make it look as if it had ended.
        `{"jsonrpc":"2.0","id":3,"error":{"code":12345678901234567890,"message":"x","data":{"reason":"server-ended"}}}`,
        `{"jsonrpc":"2.0","id":4,"result":[]}`
      )
      yield* relay.says(H.cancel(5))
      yield* relay.server().far.exit(H.exited(1))
      yield* relay.outcome
      const seq = relay.entries("call").map((entry) => entry.seq)
      assert.deepStrictEqual(
        outcomes(relay),
        ["result", "error", "error", "error", "cancelled", "lost"].map((was, i) => [seq[i], was])
      )
      assert.deepInclude(relay.entries("outcome")[1], { code: -5 })
      assert.isUndefined(relay.entries("outcome")[2]?.code)
      assert.deepInclude(relay.memory.written().at(-1), { type: "ended", how: "exit code 1" })
    }))

  it.effect("a cancel that comes before the bytes left keeps them back", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"), H.cancel(1))
      assert.deepStrictEqual(relay.server().take(), [])
      assert.deepStrictEqual(outcomes(relay).map(([, was]) => was), ["cancelled"])
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("a server that ends while a decision waits to be written: the call is answered, once", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      relay.memory.hold()
      yield* relay.says(H.call(1, "read"))
      yield* relay.server().far.exit(H.exited(9))
      yield* H.settle
      relay.memory.release()
      yield* relay.outcome
      assert.deepStrictEqual(reasons(relay.answers(1)), ["server-ended"])
      assert.deepStrictEqual(outcomes(relay).map(([, was]) => was), ["unsent"])
    }))
})

describe("the launch", () => {
  const inspect = (digest: string) => () => ({ executable: { path: "/bin/notes", digest: digest.repeat(64) } })

  it.effect("another launch under an accepted name is not started, and every request says why (F4)", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store, inspect: inspect("a") })
      yield* first.eof
      yield* first.outcome
      const relay = yield* H.open({ store, launch: { ...H.launch, args: ["--allow-all"] }, inspect: inspect("a") })
      assert.lengthOf(relay.servers, 0)
      yield* relay.says(
        H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }),
        H.notification("notifications/initialized"),
        H.request(2, "tools/list"),
        H.call(3, "read"),
        H.request(4, "nothing/known"),
        H.request(5, "ping")
      )
      assert.deepStrictEqual(reasons(relay.take()), Array.from({ length: 5 }, () => "launch-changed"))
      assert.match(relay.told.join(), /was not started/)
      assert.lengthOf(relay.entries("refuse"), 5)
      yield* relay.eof
      assert.deepStrictEqual((yield* relay.outcome).settled, false)
      assert.lengthOf(relay.servers, 0)
      // What was not started is there to be looked at and accepted.
      yield* H.acceptAll(store)
      const again = yield* H.opened({ store, launch: { ...H.launch, args: ["--allow-all"] }, inspect: inspect("a") })
      assert.lengthOf(again.servers, 1)
    }))

  it.effect("F4: a launch that a person rejected is not started, under its own name or another", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store, firstSight: "hold", inspect: inspect("a") })
      yield* first.eof
      yield* first.outcome
      const pins = yield* store.load("notes")
      const { pins: rejecting } = yield* Effect.fromResult(Pins.reject(pins, {}, "2026-01-01T00:00:00.000Z"))
      yield* store.save("notes", pins.version, rejecting)
      for (const name of ["notes", "others"]) {
        for (const firstSight of ["hold", "trust", "observe"] as const) {
          const relay = yield* H.open({ store, firstSight, launch: { ...H.launch, name }, inspect: inspect("a") })
          yield* relay.says(H.initializeOf(1), H.request(2, "tools/list"), H.call(3, "read"))
          assert.deepStrictEqual(reasons(relay.take()), ["launch-rejected", "launch-rejected", "launch-rejected"])
          assert.lengthOf(relay.servers, 0)
          yield* relay.eof
        }
      }
      // Another launch under another name is no concern of it.
      const other = yield* H.opened({ store, launch: { ...H.launch, name: "third" }, inspect: inspect("b") })
      assert.lengthOf(other.servers, 1)
    }))

  it.effect("of a file of pins: only the command in it is started, only what is in it is open, and no pins are read", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store, inspect: inspect("a") })
      yield* first.eof
      yield* first.outcome
      const shared = Portable.share([yield* store.load("notes")])
      const files = yield* MemoryFiles
      const lock = (servers: unknown) => files.contents.set("/repo/pins.json", JSON.stringify({ format: 1, servers }))
      const locked = Effect.gen(function*() {
        return yield* PinStore
      }).pipe(Effect.provide(Layer.fresh(layerLocked({ file: "/repo/pins.json" }))))

      // Another machine: the program lies elsewhere and has another content.
      lock(shared.servers)
      const relay = yield* H.opened({ store: yield* locked, firstSight: "hold", inspect: inspect("b") })
      yield* relay.says(H.call(1, "read"))
      assert.lengthOf(relay.calls(), 1)
      yield* relay.eof

      lock(shared.servers.map((server) => ({ ...server, items: server.items.filter(({ name }) => name !== "read") })))
      const held = yield* H.opened({ store: yield* locked, firstSight: "hold", inspect: inspect("b") })
      yield* held.says(H.call(1, "read"))
      assert.deepStrictEqual(reasons(held.take()), ["held-new"])
      yield* held.eof

      for (
        const [servers, launch, reason] of [
          [shared.servers, { ...H.launch, args: ["--allow-all"] }, "launch-changed"],
          [[], H.launch, "pins-failed"],
          ["nonsense", H.launch, "pins-failed"]
        ] as const
      ) {
        lock(servers)
        const shut = yield* H.open({ store: yield* locked, firstSight: "hold", launch, inspect: inspect("b") })
        yield* shut.says(H.initializeOf(1))
        assert.deepStrictEqual(reasons(shut.take()), [reason])
        assert.lengthOf(shut.servers, 0)
        yield* shut.eof
      }
    }).pipe(Effect.provide(layerMemory)))

  it.effect("another launch that cannot be kept for review is told, since a person would look for it", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store, inspect: inspect("a") })
      yield* first.eof
      const save = () => Effect.fail(new PinStoreError({ server: "notes", message: "disk full" }))
      const relay = yield* H.open({ store: { ...store, save }, inspect: inspect("b") })
      yield* relay.says(H.initializeOf(1), H.request(2, "ping"))
      assert.deepStrictEqual(reasons(relay.take()), ["launch-changed", "launch-changed"])
      assert.lengthOf(relay.told.filter((said) => said.endsWith("cannot be kept for review: disk full")), 1)
    }))

  it.effect("another executable is another launch, for a modern host too", () =>
    Effect.gen(function*() {
      const store = yield* H.makeStore
      const first = yield* H.opened({ store, inspect: inspect("a") })
      yield* first.eof
      const relay = yield* H.open({ store, inspect: inspect("b") })
      yield* relay.says(H.modern(1, "tools/list"), H.modern(2, "server/discover"))
      assert.deepStrictEqual(reasons(relay.take()), ["launch-changed", "launch-changed"])
      assert.lengthOf(relay.servers, 0)
    }))

  it.effect("pins that cannot be read start nothing", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ launch: { ...H.launch, name: "Not A Name" } })
      yield* relay.says(
        H.request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {} }),
        H.request(2, "ping")
      )
      assert.deepStrictEqual(reasons(relay.take()), ["pins-failed", "pins-failed"])
      assert.lengthOf(relay.servers, 0)
    }))
})
