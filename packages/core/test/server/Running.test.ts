import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Schema } from "effect"
import { TestConsole } from "effect/testing"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Client from "../../src/server/Client.ts"
import { Registry } from "../../src/server/Registry.ts"
import * as Resource from "../../src/server/Resource.ts"
import * as ResourceTemplate from "../../src/server/ResourceTemplate.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { adjust, cancel, json, notification, type Opened, opened, serve, settle } from "./harness.ts"

const running = { now: 0, most: 0, interrupted: 0 }

const slow = Tool.make("slow", {
  description: "Takes its time",
  input: Schema.Struct({ seconds: Schema.Int })
}, ({ seconds }) =>
  Effect.suspend(() => {
    running.now++
    running.most = Math.max(running.most, running.now)
    return Effect.as(Effect.sleep(`${seconds} seconds`), "slow done")
  }).pipe(
    Effect.onInterrupt(() => Effect.sync(() => void running.interrupted++)),
    Effect.ensuring(Effect.sync(() => void running.now--))
  ))

const bounded = Tool.make(
  "bounded",
  { description: "Is stopped", timeout: "10 seconds" },
  () => Effect.as(Effect.sleep("1 hour"), "never")
)

const patient = Tool.make(
  "patient",
  { description: "Tells that it lives", timeout: { after: "10 seconds", resetOnProgress: true } },
  () =>
    Effect.gen(function*() {
      for (let i = 1; i <= 3; i++) {
        yield* Effect.sleep("8 seconds")
        yield* Client.progress(i)
      }
      yield* Effect.sleep("1 hour")
      return "never"
    })
)

const progress = Tool.make("progress", { description: "Tells of its steps" }, () =>
  Effect.gen(function*() {
    for (const at of [0, 50, 50, 20, 100]) yield* Client.progress(at, 100, `at ${at}`)
    return "done"
  }))

const logs = Tool.make("logs", { description: "Logs" }, () =>
  Effect.gen(function*() {
    yield* Client.log("debug", "small")
    yield* Client.log("warning", { big: true }, "me")
    return "logged"
  }))

const noisy = Tool.make(
  "noisy",
  { description: "Prints" },
  () => Effect.as(Effect.andThen(Console.log("out"), Effect.log("in")), "printed")
)

const server = Server.layerDispatch(
  { name: "runs", version: "1", concurrency: 2, queue: 3 },
  slow,
  bounded,
  patient,
  progress,
  logs,
  noisy
)

const reset = Effect.sync(() => {
  running.now = running.most = running.interrupted = 0
})

const textOf = (client: Opened, id: number): string => client.answerTo(id)?.text ?? ""

describe("running calls", () => {
  for (const revision of Revision.all) {
    describe(revision, () => {
      it.effect("runs so many at a time, lets so many wait, and refuses the rest", () =>
        Effect.gen(function*() {
          yield* reset
          const client = yield* opened(yield* serve(server), revision)
          const ids: Array<number> = []
          for (let i = 0; i < 6; i++) {
            ids.push(yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } }))
          }
          assert.strictEqual(running.now, 2)
          assert.include(textOf(client, 6), "too-many-requests")
          yield* adjust("1 second")
          yield* adjust("1 second")
          yield* adjust("1 second")
          assert.deepStrictEqual(ids.map((id) => textOf(client, id).includes("slow done")), [
            true,
            true,
            true,
            true,
            true,
            false
          ])
          assert.strictEqual(running.most, 2)
          // What needs no place is answered all the same.
          yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
          yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
          const listed = yield* client.asks("tools/list")
          assert.isUndefined(listed.error)
        }))

      it.effect("a cancelled call is interrupted, and nothing more is said of it", () =>
        Effect.gen(function*() {
          yield* reset
          const client = yield* opened(yield* serve(server), revision)
          const first = yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
          yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
          const waiting = yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
          yield* client.says(cancel(waiting), cancel(first), cancel(99))
          assert.strictEqual(running.interrupted, 1)
          assert.strictEqual(running.now, 1)
          yield* adjust("1 second")
          yield* adjust("1 second")
          assert.strictEqual(textOf(client, first), "")
          assert.strictEqual(textOf(client, waiting), "")
          assert.strictEqual(running.most, 2)
          // Its id is free again.
          const again = yield* client.ask(first, "tools/call", {
            name: "progress",
            _meta: revision === "2026-07-28"
              ? { [Revision.meta.protocolVersion]: revision, [Revision.meta.clientCapabilities]: {} }
              : {}
          })
          assert.include(again?.text ?? "", "done")
        }))

      it.effect("a call that takes too long is stopped, and told of in words", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const id = yield* client.send("tools/call", { name: "bounded" })
          yield* adjust("9 seconds")
          assert.strictEqual(textOf(client, id), "")
          yield* adjust("1 second")
          assert.include(textOf(client, id), "longer than 10s")
          assert.include(textOf(client, id), `"isError":true`)
        }))

      it.effect("progress starts the time again where that was asked for", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const id = yield* client.send("tools/call", { name: "patient" })
          for (let i = 0; i < 33; i++) yield* adjust("1 second")
          assert.strictEqual(textOf(client, id), "")
          yield* adjust("1 second")
          assert.include(textOf(client, id), "longer than 10s")
        }))

      it.effect("tells of progress that grows, to those who asked for it", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          client.take()
          yield* client.asks("tools/call", { name: "progress" })
          assert.strictEqual(client.take().length, 1)
          yield* client.asks("tools/call", { name: "progress" }, { progressToken: 0 })
          const told = client.take()
          assert.deepStrictEqual(
            told.slice(0, -1).map(({ method, params }) => [method, params]),
            [0, 50, 100].map((at) => ["notifications/progress", {
              progressToken: 0,
              progress: at,
              total: 100,
              ...(revision >= "2025-03-26" ? { message: `at ${at}` } : {})
            }])
          )
          assert.include(told.at(-1)?.text ?? "", "done")
        }))

      it.effect("logs at the level that was asked for", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          client.take()
          const logged = (level?: string) =>
            Effect.gen(function*() {
              const modern = revision === "2026-07-28"
              if (!modern && level !== undefined) yield* client.asks("logging/setLevel", { level })
              yield* client.asks(
                "tools/call",
                { name: "logs" },
                modern && level !== undefined ? { [Revision.meta.logLevel]: level } : {}
              )
              return client.take().flatMap(({ method, params }) => method === "notifications/message" ? [params] : [])
            })
          const warning = { level: "warning", logger: "me", data: { big: true } }
          assert.deepStrictEqual(yield* logged(), revision === "2026-07-28" ? [] : [warning])
          assert.deepStrictEqual(yield* logged("debug"), [{ level: "debug", data: "small" }, warning])
          assert.deepStrictEqual(yield* logged("error"), [])
          if (revision !== "2026-07-28") {
            assert.strictEqual((yield* client.asks("logging/setLevel", { level: "loud" })).error?.code, -32602)
          }
        }))

      it.effect("answers what is in flight when the host ends its input", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(Server.layerDispatch({ name: "x", version: "1" }, slow)), revision)
          const ids: Array<number> = []
          for (let i = 0; i < 10; i++) {
            ids.push(yield* client.send("tools/call", { name: "slow", arguments: { seconds: 0 } }))
          }
          yield* client.eof
          yield* adjust("300 millis")
          assert.isTrue(ids.every((id) => textOf(client, id).includes("slow done")))
          assert.isTrue(client.done())
        }))

      it.effect("ends although a handler does not", () =>
        Effect.gen(function*() {
          yield* reset
          const client = yield* opened(yield* serve(server), revision)
          yield* client.send("tools/call", { name: "slow", arguments: { seconds: 3600 } })
          yield* client.eof
          assert.isFalse(client.done())
          yield* adjust("1 second")
          assert.isTrue(client.done())
          assert.strictEqual(running.interrupted, 1)
        }))
    })
  }

  it.effect("thousands that end as they begin go through the queue", () =>
    Effect.gen(function*() {
      const served = yield* serve(
        Server.layerDispatch({ name: "x", version: "1", concurrency: 1, queue: 5000 }, slow, progress)
      )
      const client = yield* opened(served, "2025-11-25")
      yield* client.send("tools/call", { name: "slow", arguments: { seconds: 1 } })
      yield* client.says(...Array.from({ length: 3000 }, (_, i) =>
        `{"jsonrpc":"2.0","id":"q${i}","method":"tools/call","params":{"name":"progress"}}`))
      yield* adjust("1 second")
      assert.strictEqual(
        client.saw().filter(({ text }) =>
          text.includes("\"done\"")
        ).length,
        3000
      )
    }))

  it.effect("a client's calls end with it, another's go on", () =>
    Effect.gen(function*() {
      yield* reset
      const served = yield* serve(server)
      const one = yield* opened(served, "2025-11-25", {}, "one")
      const two = yield* opened(served, "2025-11-25", {}, "two")
      yield* one.send("tools/call", { name: "slow", arguments: { seconds: 5 } })
      const id = yield* two.send("tools/call", { name: "slow", arguments: { seconds: 5 } })
      yield* one.eof
      yield* adjust("1 second")
      assert.isTrue(one.done())
      assert.strictEqual(running.interrupted, 1)
      yield* adjust("4 seconds")
      assert.include(textOf(two, id), "slow done")
    }))

  it.effect("what a handler prints goes to the console that was provided", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      yield* client.asks("tools/call", { name: "noisy" })
      const [out, ...logged] = yield* TestConsole.logLines
      assert.strictEqual(out, "out")
      assert.include(logged.join(" "), "in")
    }).pipe(Effect.provide(TestConsole.layer)))
})

// ---- changes

const count = { reads: 0 }
const changing = Server.layerDispatch(
  { name: "changes", version: "1", expects: ["prompts"] },
  Tool.make("grow", { description: "Adds a tool" }, () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      yield* registry.add(Tool.make("grown", { description: "Was added" }, () => Effect.succeed("grown")))
      return "ok"
    })),
  Tool.make("shrink", { description: "Removes it" }, () =>
    Effect.as(
      Effect.flatMap(Registry, (registry) => registry.remove({ _tag: "Tool", name: "grown" })),
      "ok"
    )),
  Resource.make("test://watched", {}, Effect.sync(() => `${count.reads++}`)),
  ResourceTemplate.make("test://many/{id}", {}, ({ id }) => Effect.succeed(id))
)

const changes = (client: Opened) =>
  client.take().flatMap(({ method, params }) => method === undefined ? [] : [[method, params]])

describe("changes", () => {
  for (const revision of Revision.all.filter(Revision.isLegacy)) {
    it.effect(`${revision}: are announced before the answer of the call that made them`, () =>
      Effect.gen(function*() {
        const client = yield* opened(yield* serve(changing), revision)
        client.take()
        yield* client.asks("tools/call", { name: "grow" })
        const [first, second] = client.take()
        assert.strictEqual(first?.text, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
        assert.include(second?.text ?? "", "ok")
        assert.include((yield* client.asks("tools/call", { name: "grown" })).text, "grown")
        assert.include((yield* client.asks("tools/list")).text, "grown")
        yield* client.asks("tools/call", { name: "shrink" })
        assert.strictEqual((yield* client.asks("tools/call", { name: "grown" })).error?.code, -32602)
        client.take()
        yield* client.asks("tools/call", { name: "shrink" })
        assert.deepStrictEqual(changes(client), [])
      }))

    it.effect(`${revision}: of a resource are told to those who subscribed`, () =>
      Effect.gen(function*() {
        const served = yield* serve(changing)
        const client = yield* opened(served, revision)
        const other = yield* opened(served, revision)
        yield* client.asks("resources/subscribe", { uri: "test://watched" })
        yield* client.asks("resources/subscribe", { uri: "test://many/7" })
        assert.strictEqual((yield* client.asks("resources/subscribe", { uri: "test://none" })).error?.code, -32002)
        assert.strictEqual((yield* client.asks("resources/subscribe", {})).error?.code, -32602)
        client.take()
        other.take()
        yield* served.registry.updated("test://watched")
        yield* served.registry.updated("test://other")
        yield* settle
        assert.deepStrictEqual(changes(client), [["notifications/resources/updated", { uri: "test://watched" }]])
        assert.deepStrictEqual(changes(other), [])
        yield* client.asks("resources/unsubscribe", { uri: "test://watched" })
        client.take()
        yield* served.registry.updated("test://watched")
        yield* settle
        assert.deepStrictEqual(changes(client), [])
      }))
  }

  it.effect("nothing is said to a client that has not opened its session", () =>
    Effect.gen(function*() {
      const served = yield* serve(changing)
      const client = yield* served.connect()
      yield* served.registry.add(Tool.make("new", { description: "New" }, () => Effect.void))
      yield* settle
      assert.deepStrictEqual(client.saw(), [])
    }))

  it.effect("2026-07-28: a subscription gets what it asked for, by its id, and nothing else", () =>
    Effect.gen(function*() {
      const served = yield* serve(changing)
      const client = yield* opened(served, "2026-07-28")
      const silent = yield* opened(served, "2026-07-28")
      yield* silent.asks("tools/list")
      silent.take()
      const tools = yield* client.send("subscriptions/listen", { notifications: { toolsListChanged: true } })
      const resources = yield* client.send("subscriptions/listen", {
        notifications: {
          resourcesListChanged: true,
          resourceSubscriptions: ["test://watched", 7],
          promptsListChanged: false
        }
      })
      const tag = (id: number) => ({ _meta: { [Revision.meta.subscriptionId]: id } })
      assert.deepStrictEqual(changes(client), [
        ["notifications/subscriptions/acknowledged", { ...tag(tools), notifications: { toolsListChanged: true } }],
        ["notifications/subscriptions/acknowledged", {
          ...tag(resources),
          notifications: { resourcesListChanged: true, resourceSubscriptions: ["test://watched"] }
        }]
      ])
      yield* client.asks("tools/call", { name: "grow" })
      assert.deepStrictEqual(changes(client), [["notifications/tools/list_changed", tag(tools)]])
      yield* served.registry.updated("test://watched")
      yield* settle
      assert.deepStrictEqual(changes(client), [
        ["notifications/resources/updated", { ...tag(resources), uri: "test://watched" }]
      ])
      yield* client.says(notification("notifications/cancelled", { requestId: tools }))
      yield* client.asks("tools/call", { name: "shrink" })
      assert.deepStrictEqual(changes(client), [])
      assert.deepStrictEqual(silent.take(), [])
      assert.strictEqual((yield* client.asks("subscriptions/listen", {})).error?.code, -32602)

      client.take()
      yield* client.eof
      const [last, ...more] = client.take()
      assert.deepStrictEqual(more, [])
      assert.strictEqual(
        last?.text,
        `{"jsonrpc":"2.0","id":${resources},"result":${json({ ...tag(resources), resultType: "complete" })}}`
      )
      assert.isTrue(client.done())
    }))
})
