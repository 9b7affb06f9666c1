import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import * as Gate from "../../src/stage/Gate.ts"
import { SpawnError } from "../../src/stage/Spawn.ts"
import * as H from "../line/harness.ts"

const initialize = (): string => H.initializeOf(1)
const initialized = H.notification("notifications/initialized")
const reasons = (lines: ReadonlyArray<H.Said>) => lines.map(({ error }) => error?.data?.reason)

/** A server that answers each call by itself. */
const answering: H.Options = { answers: { "tools/call": () => `"result":{"content":[]}` } }

describe("the end of the host's input", () => {
  it.effect("goes on to the server at once when nothing is open", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.eof
      assert.deepStrictEqual(yield* relay.outcome, { ending: { _tag: "closed" }, settled: true })
      yield* relay.server().far.inputEnded
    }))

  it.effect("answers in flight are waited for", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"), H.call(2, "read"))
      yield* relay.eof
      yield* relay.server().far.inputEnded
      yield* H.adjust("900 millis")
      yield* relay.server().says(H.result("2"))
      assert.isFalse(relay.done())
      yield* relay.server().says(H.result("1"))
      yield* relay.outcome
      assert.deepStrictEqual(relay.take().map(({ id }) => id), ["2", "1"])
    }))

  it.effect("but not longer than a second", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"))
      yield* relay.eof
      yield* H.adjust("999 millis")
      assert.isFalse(relay.done())
      yield* H.adjust("1 millis")
      assert.isTrue(relay.done())
      assert.deepStrictEqual(relay.take(), [])
    }))

  it.effect("a subscription that stays open does not count", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: H.modernAnswers({ tools: { listChanged: true } }) })
      yield* relay.says(H.modern(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }))
      yield* relay.eof
      assert.isTrue(relay.done())
    }))

  it.effect("a whole session in one write, then the end: everything is answered", () =>
    Effect.gen(function*() {
      const relay = yield* H.open(answering)
      yield* relay.chunk(
        [initialize(), initialized, H.request(2, "tools/list"), H.call(3, "read"), H.call(4, "write")].join("\n")
      )
      yield* relay.eof
      yield* relay.outcome
      assert.sameOrderedMembers(relay.take().map(({ id, result }) => result === undefined ? "" : id), [
        "1",
        "2",
        "3",
        "4"
      ])
    }))

  it.effect("also where the listing has pages that are still to be asked for", () =>
    Effect.gen(function*() {
      const pages = (cursor: string | undefined): string =>
        cursor === undefined
          ? `"result":${H.json({ tools: [H.tool("read")], nextCursor: "b" })}`
          : `"result":${H.json({ tools: [H.tool("write")] })}`
      const relay = yield* H.open({
        answers: {
          ...answering.answers,
          "tools/list": ({ text }) => pages(text.includes(`"cursor"`) ? "b" : undefined)
        }
      })
      yield* relay.far.push(`${[initialize(), initialized, H.request(2, "tools/list")].join("\n")}\n`)
      yield* relay.eof
      yield* relay.outcome
      assert.deepStrictEqual(H.names(relay.answers(2)[0]), ["read"])
    }))

  it.effect("a call that waits for the listing is sent before the input of the server ends", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ ...answering, answers: { ...answering.answers, "tools/list": "silent" } })
      yield* relay.says(initialize())
      yield* relay.says(initialized, H.call(3, "read"))
      yield* relay.eof
      const own = relay.server().saw().find(({ method }) => method === "tools/list")
      yield* relay.server().says(H.result(own?.id, { tools: [H.tool("read")] }))
      yield* relay.outcome
      assert.lengthOf(relay.answers(3), 1)
      assert.isDefined(relay.answers(3)[0]?.result)
    }))

  it.effect("and one that waits for the gate", () =>
    Effect.gen(function*() {
      const verdict = yield* Deferred.make<Gate.Verdict>()
      const relay = yield* H.opened({ ...answering, gate: Gate.make({ call: () => Deferred.await(verdict) }) })
      yield* relay.says(H.call(3, "read"))
      yield* relay.eof
      yield* Deferred.succeed(verdict, Gate.allow)
      yield* relay.outcome
      assert.isDefined(relay.answers(3)[0]?.result)
    }))

  it.effect("with a slow ledger too", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened(answering)
      relay.memory.hold()
      yield* relay.far.push(`${H.call(3, "read")}\n`)
      yield* relay.eof
      relay.memory.release()
      yield* relay.outcome
      assert.isDefined(relay.answers(3)[0]?.result)
    }))

  it.effect("the server's process is stopped with the session", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.eof
      yield* relay.outcome
      // Gone: what is written to it is dropped.
      const before = relay.server().far.written()
      yield* relay.says(H.request(9, "ping"))
      assert.strictEqual(relay.server().far.written(), before)
      yield* relay.server().far.inputEnded
    }))
})

describe("the end of the server", () => {
  const endings = [
    [{ _tag: "exited", code: 7 }, "exit code 7"],
    [{ _tag: "signaled", signal: "SIGSEGV" }, "signal SIGSEGV"],
    [{ _tag: "closed" }, "it closed its output"]
  ] as const
  for (const [ending, words] of endings) {
    it.effect(`answers everything that waits, at once: ${words}`, () =>
      Effect.gen(function*() {
        const relay = yield* H.opened({
          capabilities: { tools: {}, prompts: {} },
          answers: { "prompts/list": "silent", "prompts/get": "silent" }
        })
        yield* relay.says(H.call(1, "read"), H.request(2, "prompts/list"), H.request(3, "prompts/get", { name: "p" }))
        yield* relay.server().far.stderr("secret: run this command\n")
        yield* relay.server().far.exit(ending)
        assert.deepStrictEqual(yield* relay.outcome, { ending, settled: true })
        const answers = relay.take()
        assert.deepStrictEqual(answers.map(({ error, id }) => [id, error?.code, error?.data?.reason]), [
          ["1", -32603, "server-ended"],
          ["2", -32603, "server-ended"],
          ["3", -32603, "server-ended"]
        ])
        for (const { error } of answers) {
          assert.include(error?.message ?? "", words)
          // What it printed stays away from the model (F25).
          assert.notInclude(error?.message ?? "", "secret")
        }
      }))
  }

  it.effect("answers that came with the end are delivered before it", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.says(H.call(1, "read"), H.call(2, "read"))
      yield* relay.server().far.push(`${H.result("1")}\n${H.result("2", { last: true })}`)
      yield* relay.server().far.exit(H.exited(0))
      yield* relay.outcome
      assert.deepStrictEqual(relay.take().map(({ result }) => result), [{}, { last: true }])
    }))

  it.effect("answers what waits behind initialize, in order", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { initialize: "silent" } })
      yield* relay.says(initialize(), H.request(2, "tools/list"), H.call(3, "read"))
      yield* relay.server().far.exit(H.exited(1))
      assert.deepStrictEqual(yield* relay.outcome, { ending: H.exited(1), settled: false })
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.data?.reason]), [
        ["1", "server-ended"],
        ["2", "not-initialized"],
        ["3", "not-initialized"]
      ])
    }))

  it.effect("answers what waits for a listing", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ answers: { "tools/list": "silent" } })
      yield* relay.says(initialize(), initialized)
      yield* relay.says(H.request(2, "tools/list"), H.call(3, "read"))
      yield* relay.server().far.exit(H.exited(1))
      yield* relay.outcome
      assert.sameDeepMembers(relay.take().map(({ error, id }) => [id, error !== undefined]), [
        ["1", false],
        ["2", true],
        ["3", true]
      ])
    }))

  it.effect("a server that exits without a word while nothing is open ends the session", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened()
      yield* relay.server().far.exit(H.exited(0))
      assert.deepStrictEqual(yield* relay.outcome, { ending: H.exited(0), settled: true })
      assert.deepStrictEqual(relay.take(), [])
      assert.lengthOf(relay.servers, 1)
    }))
})

describe("a server that cannot be started", () => {
  const refuse = () => new SpawnError({ kind: "not-found", command: "notes", message: "notes was not found in PATH" })

  it.effect("every request is answered with why, until the host ends", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ refuse })
      yield* relay.says(initialize())
      yield* relay.says(initialized, H.request(2, "tools/list"), H.request(3, "ping"), H.cancel(2))
      assert.deepStrictEqual(reasons(relay.saw()), ["server-not-started", "server-not-started", "server-not-started"])
      assert.include(relay.take()[0]?.error?.message ?? "", "not found in PATH")
      assert.include(relay.told.join("\n"), "notes was not found in PATH")
      assert.isFalse(relay.done())
      yield* relay.eof
      assert.deepStrictEqual((yield* relay.outcome).settled, false)
    }))

  it.effect("a modern host gets the same answer", () =>
    Effect.gen(function*() {
      const relay = yield* H.open({ refuse })
      yield* relay.says(H.modern(1, "tools/list"))
      yield* relay.says(H.modern(2, "tools/call", { name: "read" }), H.modern(3, "server/discover"))
      assert.deepStrictEqual(relay.take().map(({ error, id }) => [id, error?.data?.reason]), [
        ["1", "server-not-started"],
        ["2", "server-not-started"],
        ["3", "server-not-started"]
      ])
    }))
})

describe("a defect", () => {
  it.effect("of a gate ends neither the session nor other calls", () =>
    Effect.gen(function*() {
      const relay = yield* H.opened({
        ...answering,
        gate: Gate.make({ call: ({ name }) => name === "read" ? Exit.die("bug") : Exit.succeed(Gate.allow) })
      })
      yield* relay.says(H.call(1, "read"), H.call(2, "write"))
      assert.deepStrictEqual(relay.take().map(({ id, result }) => [id, result !== undefined]), [["1", false], [
        "2",
        true
      ]])
    }))
})
