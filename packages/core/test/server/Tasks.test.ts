import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import * as TasksExtension from "../../src/protocol/payload/TasksExtension.ts"
import * as V20251125 from "../../src/protocol/payload/V20251125.ts"
import * as Ask from "../../src/server/Ask.ts"
import * as Client from "../../src/server/Client.ts"
import { Refusal } from "../../src/server/Refusal.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { adjust, cancel, json, type Opened, opened, type Said, serve, settle } from "./harness.ts"

/** What handlers did, so that tests see that they were stopped. */
class Log extends Context.Service<Log, Array<string>>()("test/Log") {}

const name = Ask.form({ message: "What is your name?", schema: Schema.Struct({ name: Schema.String }) })

const slow = Tool.make("slow", {
  description: "Takes a minute",
  input: Schema.Struct({ tag: Schema.optionalKey(Schema.String) }),
  output: Schema.Struct({ done: Schema.String }),
  task: "optional"
}, ({ tag = "slow" }) =>
  Effect.gen(function*() {
    const log = yield* Log
    log.push(`began ${tag}`)
    yield* Effect.sleep("30 seconds")
    yield* Client.progress(1, 2, "half way")
    yield* Client.log("warning", "still at it")
    yield* Effect.sleep("30 seconds")
    log.push(`ended ${tag}`)
    return { done: tag }
  }).pipe(Effect.onInterrupt(() => Effect.map(Log, (log) => log.push(`stopped ${tag}`)))))

const hurried = Tool.make(
  "hurried",
  { description: "Has ten seconds", task: "optional", timeout: "10 seconds" },
  () => Effect.never
)

const only = Tool.make("only", { description: "Only as a task", task: "required" }, () => Effect.succeed("done"))
const never = Tool.make("never", { description: "Never a task" }, () => Effect.succeed("done"))
const fails = Tool.make("fails", { description: "Fails", task: "optional" }, () => Effect.fail("no luck"))
const refuses = Tool.make(
  "refuses",
  { description: "Refuses", task: "optional" },
  () => Effect.fail(new Refusal({ code: -32050, message: "broken", data: { why: "it is" } }))
)

const greets = Tool.make("greets", { description: "Asks twice", task: "optional" }, () =>
  Effect.gen(function*() {
    const first = yield* Client.ask({ name, roots: Ask.roots })
    const second = yield* Client.ask({ name })
    const said = [first.name, second.name].map((answer) => answer.action === "accept" ? answer.content.name : "nobody")
    return `${said.join(" and ")}, ${first.roots.length} roots`
  }))

const composed = Tool.make("composed", {
  description: "Asks, then works",
  task: { support: "required", first: { name } }
}, () =>
  Effect.gen(function*() {
    const answers = yield* Client.ask({ name })
    yield* Effect.sleep("1 second")
    return answers.name.action === "accept" ? `Hello ${answers.name.content.name}` : "Hello"
  }))

const parts = [slow, hurried, only, never, fails, refuses, greets, composed] as const

/** A server and what its handlers did. */
const started = Effect.fnUntraced(function*(tasks: Server.Options["tasks"] = {}, pageSize?: number) {
  const log: Array<string> = []
  const server = Server.layerDispatch({ name: "test", version: "1", tasks, pageSize }, ...parts)
  return { log, served: yield* serve(Layer.provide(server, Layer.succeed(Log, log))) }
})

const legacy = (client: Opened, tool: string, task: unknown = {}, more: Record<string, unknown> = {}) =>
  client.asks("tools/call", { name: tool, arguments: {}, task, ...more })

const createdOf = (answer: Said): V20251125.Task =>
  Schema.decodeUnknownSync(V20251125.CreateTaskResult)(answer.result).task
const taskOf = (answer: Said): V20251125.Task => Schema.decodeUnknownSync(V20251125.TaskResult)(answer.result)
const begunOf = (answer: Said): TasksExtension.CreateTaskResult =>
  Schema.decodeUnknownSync(TasksExtension.CreateTaskResult)(answer.result)
const gotOf = (answer: Said): TasksExtension.GetTaskResult =>
  Schema.decodeUnknownSync(TasksExtension.GetTaskResult)(answer.result)

const Content = Schema.Struct({ content: Schema.Array(Schema.Struct({ text: Schema.String })) })
const textOf = (result: unknown): string => Schema.decodeUnknownSync(Content)(result).content[0]?.text ?? ""
const codeOf = (answer: Said | undefined): number | undefined => answer?.error?.code

const accept = (content: unknown) => ({ action: "accept", content })
const able = { elicitation: { form: {} }, roots: {} }
const extended = { ...able, extensions: { "io.modelcontextprotocol/tasks": {} } }
const statuses = (client: Opened, method: string): ReadonlyArray<string> =>
  client.saw().filter((line) => line.method === method).map(({ params }) =>
    Schema.decodeUnknownSync(Schema.Struct({ status: Schema.String }))(params).status
  )

describe("tasks, 2025-11-25", () => {
  it.effect("are offered, and a tool says whether it runs as one", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25")
      assert.include(
        client.opening?.text ?? "",
        `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`
      )
      const listed = yield* client.asks("tools/list")
      assert.include(listed.text, `"execution":{"taskSupport":"optional"}`)
      assert.include(listed.text, `"execution":{"taskSupport":"required"}`)
      for (const revision of ["2025-06-18", "2026-07-28"] as const) {
        const other = yield* opened(served, revision)
        assert.notInclude((yield* other.asks("tools/list")).text, "execution")
        assert.notInclude(other.opening?.text ?? "", `"tasks"`)
      }
      const without = yield* serve(Server.layerDispatch({ name: "none", version: "1" }, never))
      const plain = yield* opened(without, "2025-11-25")
      assert.notInclude(plain.opening?.text ?? "", "tasks")
      assert.strictEqual(codeOf(yield* plain.asks("tasks/get", { taskId: "x" })), -32601)
      assert.strictEqual(textOf((yield* legacy(plain, "never")).result), "done")
    }))

  it.effect("work, tell where they stand, and give their result", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started()
      const client = yield* opened(served, "2025-11-25")
      const created = createdOf(yield* legacy(client, "slow", { ttl: 120_000 }, { _meta: { progressToken: 7 } }))
      assert.strictEqual(created.status, "working")
      assert.strictEqual(created.ttl, 120_000)
      assert.strictEqual(created.pollInterval, 1000)
      assert.strictEqual(created.createdAt, "1970-01-01T00:00:00.000Z")
      assert.match(created.taskId, /^[\w-]{22}$/)
      const { taskId } = created
      const waits = yield* client.send("tasks/result", { taskId })
      const given = yield* client.send("tasks/result", { taskId })
      yield* client.says(cancel(given))
      assert.strictEqual(client.answerTo(waits), undefined)
      yield* adjust("30 seconds")
      const half = taskOf(yield* client.asks("tasks/get", { taskId }))
      assert.strictEqual(half.statusMessage, "half way")
      assert.strictEqual(half.lastUpdatedAt, "1970-01-01T00:00:30.000Z")
      const told = client.saw().find(({ method }) => method === "notifications/message")
      assert.include(told?.text ?? "", `"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}`)
      const progress = client.saw().find(({ method }) => method === "notifications/progress")
      assert.include(progress?.text ?? "", `"progressToken":7`)
      yield* adjust("30 seconds")
      assert.deepStrictEqual(log, ["began slow", "ended slow"])
      const answer = client.answerTo(waits)
      assert.include(answer?.text ?? "", `"structuredContent":{"done":"slow"}`)
      assert.include(answer?.text ?? "", `"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}`)
      assert.strictEqual(client.answerTo(given), undefined)
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId })).status, "completed")
      assert.deepStrictEqual(
        (yield* client.asks("tasks/result", { taskId })).result,
        answer?.result
      )
      assert.deepStrictEqual(statuses(client, "notifications/tasks/status"), ["working", "completed"])
    }))

  it.effect("end with their ttl, whatever they do", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started({ ttl: "90 seconds" })
      const client = yield* opened(served, "2025-11-25")
      const short = createdOf(yield* legacy(client, "slow", { ttl: 10_000 }))
      const least = createdOf(yield* legacy(client, "only", { ttl: 0 }))
      const most = createdOf(yield* legacy(client, "only", { ttl: 10_000_000 }))
      assert.deepStrictEqual([least.ttl, most.ttl], [1000, 90_000])
      const waits = yield* client.send("tasks/result", { taskId: short.taskId })
      yield* adjust("9999 millis")
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId: short.taskId })).status, "working")
      yield* adjust("1 millis")
      assert.strictEqual(codeOf(yield* client.asks("tasks/get", { taskId: short.taskId })), -32602)
      assert.strictEqual(codeOf(client.answerTo(waits)), -32602)
      assert.deepStrictEqual(log, ["began slow", "stopped slow"])
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId: most.taskId })).status, "completed")
      yield* adjust("80 seconds")
      assert.strictEqual(codeOf(yield* client.asks("tasks/get", { taskId: most.taskId })), -32602)
    }))

  it.effect("are interrupted when they are cancelled, once", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started()
      const client = yield* opened(served, "2025-11-25")
      const { taskId } = createdOf(yield* legacy(client, "slow"))
      const waits = yield* client.send("tasks/result", { taskId })
      assert.strictEqual(taskOf(yield* client.asks("tasks/cancel", { taskId })).status, "cancelled")
      yield* settle
      assert.deepStrictEqual(log, ["began slow", "stopped slow"])
      assert.strictEqual(codeOf(client.answerTo(waits)), -32602)
      assert.strictEqual(codeOf(yield* client.asks("tasks/cancel", { taskId })), -32602)
      yield* adjust("2 minutes")
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId })).status, "cancelled")
      assert.deepStrictEqual(statuses(client, "notifications/tasks/status"), ["cancelled"])
    }))

  it.effect("have failed when the tool told of an error, and give it as it was", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25")
      const fails = createdOf(yield* legacy(client, "fails"))
      const refuses = createdOf(yield* legacy(client, "refuses"))
      assert.deepStrictEqual([fails.status, refuses.status], ["working", "working"])
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId: fails.taskId })).status, "failed")
      assert.include((yield* client.asks("tasks/result", { taskId: fails.taskId })).text, `"isError":true`)
      const failed = taskOf(yield* client.asks("tasks/get", { taskId: refuses.taskId }))
      assert.deepStrictEqual([failed.status, failed.statusMessage], ["failed", "broken"])
      assert.strictEqual(codeOf(yield* client.asks("tasks/result", { taskId: refuses.taskId })), -32050)
      const late = createdOf(yield* legacy(client, "hurried"))
      yield* adjust("10 seconds")
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId: late.taskId })).status, "failed")
    }))

  it.effect("are begun only as the tool says", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25")
      assert.strictEqual(codeOf(yield* client.asks("tools/call", { name: "only" })), -32601)
      assert.strictEqual(codeOf(yield* legacy(client, "never")), -32601)
      for (const task of [7, null, [], { ttl: -1 }, { ttl: 1.5 }, { ttl: "1" }, { ttl: 1e300 }]) {
        assert.strictEqual(codeOf(yield* legacy(client, "slow", task)), -32602, json(task))
      }
      assert.strictEqual(textOf((yield* client.asks("tools/call", { name: "fails" })).result), "no luck")
      const old = yield* opened(served, "2025-06-18")
      assert.strictEqual(textOf((yield* legacy(old, "only")).result), "done")
      assert.strictEqual(codeOf(yield* old.asks("tasks/list")), -32601)
      assert.strictEqual(codeOf(yield* client.asks("tasks/update", { taskId: "x" })), -32601)
    }))

  it.effect("are at most so many, and the next one is refused until one is gone", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started({ max: 2, ttl: "1 minute" })
      const client = yield* opened(served, "2025-11-25")
      yield* legacy(client, "slow", { ttl: 5000 })
      yield* legacy(client, "slow")
      assert.isDefined(codeOf(yield* legacy(client, "slow")))
      assert.deepStrictEqual(log, ["began slow", "began slow"])
      yield* adjust("5 seconds")
      assert.strictEqual(createdOf(yield* legacy(client, "slow")).status, "working")
      assert.isDefined(codeOf(yield* legacy(client, "slow")))
    }))

  it.effect("are listed in pages, to the session that began them", () =>
    Effect.gen(function*() {
      const { served } = yield* started({}, 2)
      const client = yield* opened(served, "2025-11-25")
      const ids: Array<string> = []
      for (let i = 0; i < 3; i++) ids.push(createdOf(yield* legacy(client, "slow")).taskId)
      const list = (cursor?: string) =>
        Effect.map(
          client.asks("tasks/list", cursor === undefined ? {} : { cursor }),
          ({ result }) => Schema.decodeUnknownSync(V20251125.ListTasksResult)(result)
        )
      const first = yield* list()
      const second = yield* list(first.nextCursor)
      assert.deepStrictEqual([...first.tasks, ...second.tasks].map(({ taskId }) => taskId), ids)
      assert.strictEqual(second.nextCursor, undefined)
      assert.strictEqual(codeOf(yield* client.asks("tasks/list", { cursor: "other" })), -32602)
      assert.strictEqual(codeOf(yield* client.asks("tasks/list", { cursor: 7 })), -32602)
      const other = yield* opened(served, "2025-11-25")
      assert.deepStrictEqual((yield* other.asks("tasks/list")).result, { tasks: [] })
    }))

  it.effect("outlive the session, for the same client; to another one their ids never were", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started()
      const client = yield* opened(served, "2025-11-25", {}, "ada")
      const { taskId } = createdOf(yield* legacy(client, "slow"))
      yield* client.eof
      yield* adjust("2 seconds")
      assert.isTrue(client.done())
      const again = yield* opened(served, "2025-11-25", {}, "ada")
      const other = yield* opened(served, "2025-11-25", {}, "bob")
      const modern = yield* opened(served, "2026-07-28", extended, "ada")
      for (
        const [stranger, methods] of [
          [other, ["tasks/get", "tasks/result", "tasks/cancel"]],
          [modern, ["tasks/get", "tasks/cancel"]]
        ] as const
      ) {
        for (const method of methods) {
          const foreign = yield* stranger.asks(method, { taskId })
          const unknown = yield* stranger.asks(method, { taskId: "AAAAAAAAAAAAAAAAAAAAAA" })
          assert.deepStrictEqual(foreign.error, unknown.error)
          assert.strictEqual(codeOf(foreign), -32602)
        }
      }
      yield* adjust("1 minute")
      assert.deepStrictEqual(log, ["began slow", "ended slow"])
      assert.strictEqual(textOf((yield* again.asks("tasks/result", { taskId })).result), `{"done":"slow"}`)
    }))

  it.effect("ask by requests that name them", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25", able)
      const { taskId } = createdOf(yield* legacy(client, "greets"))
      const result = yield* client.send("tasks/result", { taskId })
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId })).status, "input_required")
      const answers: Readonly<Record<string, unknown>> = {
        "elicitation/create": accept({ name: "Ada" }),
        "roots/list": { roots: [] }
      }
      const answer = Effect.suspend(() => {
        const asked = client.take().filter(({ id, method }) => id !== undefined && method !== undefined)
        for (const { text } of asked) {
          assert.include(text, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"${taskId}"}}`)
        }
        return Effect.as(
          client.says(
            ...asked.map(({ id, method = "" }) => `{"jsonrpc":"2.0","id":${id},"result":${json(answers[method])}}`)
          ),
          asked.length
        )
      })
      assert.strictEqual(yield* answer, 2)
      assert.strictEqual(yield* answer, 1)
      assert.strictEqual(textOf(client.answerTo(result)?.result), "Ada and Ada, 0 roots")
      assert.deepStrictEqual(statuses(client, "notifications/tasks/status"), [
        "input_required",
        "working",
        "input_required",
        "working",
        "completed"
      ])
    }))

  it.effect("ask whoever waits for the result, and nobody where nobody is there", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25", able)
      const asked = createdOf(yield* legacy(client, "greets"))
      const cancelled = createdOf(yield* legacy(client, "greets"))
      yield* client.asks("tasks/cancel", { taskId: cancelled.taskId })
      yield* settle
      assert.strictEqual(client.saw().filter(({ method }) => method === "notifications/cancelled").length, 2)
      yield* client.eof
      yield* adjust("2 seconds")
      const again = yield* opened(served, "2025-11-25", able)
      const { status } = taskOf(yield* again.asks("tasks/get", { taskId: asked.taskId }))
      assert.strictEqual(status, "failed")
      assert.include((yield* again.asks("tasks/result", { taskId: asked.taskId })).text, "it is gone")
    }))

  it.effect("ask nothing before they begin", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2025-11-25", able)
      const { taskId } = createdOf(yield* legacy(client, "composed"))
      assert.strictEqual(taskOf(yield* client.asks("tasks/get", { taskId })).status, "input_required")
    }))
})

describe("tasks, the extension of 2026-07-28", () => {
  const call = (client: Opened, name: string, more: Record<string, unknown> = {}) =>
    client.asks("tools/call", { name, arguments: {}, ...more })

  it.effect("are for requests that declare it, and else as if there were none", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started()
      const plain = yield* opened(served, "2026-07-28")
      assert.include((yield* plain.asks("server/discover")).text, `"extensions":{"io.modelcontextprotocol/tasks":{}}`)
      assert.strictEqual(textOf((yield* call(plain, "fails", { task: { ttl: 1 } })).result), "no luck")
      const required = yield* call(plain, "only")
      assert.strictEqual(codeOf(required), -32021)
      assert.include(
        required.text,
        `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
      )
      const client = yield* opened(served, "2026-07-28", extended)
      const { taskId } = begunOf(yield* call(client, "slow"))
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        assert.strictEqual(codeOf(yield* plain.asks(method, { taskId, inputResponses: {} })), -32021)
      }
      const listens = yield* plain.asks("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      assert.strictEqual(codeOf(listens), -32021)
      for (const method of ["tasks/result", "tasks/list"]) {
        assert.strictEqual(codeOf(yield* client.asks(method, { taskId })), -32601)
      }
      assert.notInclude((yield* call(client, "never", { task: { ttl: 1 } })).text, "taskId")
      assert.deepStrictEqual(log, ["began slow"])
      const without = yield* serve(Server.layerDispatch({ name: "none", version: "1" }, never))
      const none = yield* opened(without, "2026-07-28", extended)
      assert.strictEqual(codeOf(yield* none.asks("tasks/get", { taskId })), -32601)
    }))

  it.effect("work, and hold their result", () =>
    Effect.gen(function*() {
      const { served } = yield* started({ pollInterval: "5 seconds" })
      const client = yield* opened(served, "2026-07-28", extended)
      const begun = yield* call(client, "slow")
      const { pollIntervalMs, resultType, status, taskId, ttlMs } = begunOf(begun)
      assert.deepStrictEqual([resultType, status, ttlMs, pollIntervalMs], ["task", "working", 3_600_000, 5000])
      assert.notInclude(begun.text, "requestState")
      assert.strictEqual(gotOf(yield* client.asks("tasks/get", { taskId })).status, "working")
      yield* adjust("30 seconds")
      assert.strictEqual(gotOf(yield* client.asks("tasks/get", { taskId })).statusMessage, "half way")
      yield* adjust("30 seconds")
      const got = gotOf(yield* client.asks("tasks/get", { taskId }))
      assert.strictEqual(got.status === "completed" ? textOf(got.result) : "", `{"done":"slow"}`)
      assert.notInclude(json(got), "related-task")
      const sent = client.saw().filter(({ method }) => method !== undefined)
      assert.deepStrictEqual(sent, [])
      yield* adjust("1 hour")
      assert.strictEqual(codeOf(yield* client.asks("tasks/get", { taskId })), -32602)
    }))

  it.effect("have failed for errors of the protocol alone", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2026-07-28", extended)
      const fails = begunOf(yield* call(client, "fails"))
      const told = gotOf(yield* client.asks("tasks/get", { taskId: fails.taskId }))
      assert.strictEqual(told.status, "completed")
      const refuses = begunOf(yield* call(client, "refuses"))
      const failed = gotOf(yield* client.asks("tasks/get", { taskId: refuses.taskId }))
      assert.deepStrictEqual(failed.status === "failed" ? failed.error : undefined, {
        code: -32050,
        message: "broken",
        data: { why: "it is" }
      })
      const undeclared = yield* opened(served, "2026-07-28", { extensions: extended.extensions })
      const { taskId } = begunOf(yield* call(undeclared, "greets"))
      const unable = gotOf(yield* undeclared.asks("tasks/get", { taskId }))
      assert.strictEqual(unable.status === "failed" ? unable.error.code : undefined, -32021)
    }))

  it.effect("are cancelled, and that is acknowledged as often as it is asked", () =>
    Effect.gen(function*() {
      const { log, served } = yield* started()
      const client = yield* opened(served, "2026-07-28", extended)
      const { taskId } = begunOf(yield* call(client, "slow"))
      for (let i = 0; i < 2; i++) {
        const { result } = yield* client.asks("tasks/cancel", { taskId })
        assert.deepStrictEqual(
          Object.keys(Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Unknown))(result)),
          [
            "resultType",
            "_meta"
          ]
        )
      }
      yield* settle
      assert.deepStrictEqual(log, ["began slow", "stopped slow"])
      assert.strictEqual(gotOf(yield* client.asks("tasks/get", { taskId })).status, "cancelled")
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        assert.strictEqual(codeOf(yield* client.asks(method, { taskId: "none", inputResponses: {} })), -32602)
        assert.strictEqual(codeOf(yield* client.asks(method, { inputResponses: {} })), -32602)
      }
      const other = yield* opened(served, "2026-07-28", extended, "bob")
      assert.strictEqual(codeOf(yield* other.asks("tasks/get", { taskId })), -32602)
    }))

  it.effect("ask in what they say of themselves, never twice by one key", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2026-07-28", extended)
      const { taskId } = begunOf(yield* call(client, "greets"))
      const asked = Effect.map(client.asks("tasks/get", { taskId }), (answer) => {
        const got = gotOf(answer)
        return got.status === "input_required" ? Object.keys(got.inputRequests) : got.status
      })
      const update = (inputResponses: unknown) => client.asks("tasks/update", { taskId, inputResponses })
      assert.deepStrictEqual(yield* asked, ["name", "roots"])
      assert.strictEqual(codeOf(yield* update(7)), -32602)
      for (
        const none of [{}, { other: accept({}) }, { name: 7 }, { name: accept({ name: 7 }) }, {
          "name-2": accept({ name: "x" })
        }]
      ) {
        assert.include((yield* update(none)).text, `"resultType":"complete"`)
        assert.deepStrictEqual(yield* asked, ["name", "roots"])
      }
      yield* update({ roots: { roots: [{ uri: "file:///a" }] } })
      assert.deepStrictEqual(yield* asked, ["name"])
      yield* update({ name: accept({ name: "Ada" }) })
      assert.deepStrictEqual(yield* asked, ["name-2"])
      yield* update({ name: accept({ name: "late" }) })
      assert.deepStrictEqual(yield* asked, ["name-2"])
      yield* update({ "name-2": accept({ name: "Bob" }) })
      const got = gotOf(yield* client.asks("tasks/get", { taskId }))
      assert.strictEqual(got.status === "completed" ? textOf(got.result) : got.status, "Ada and Bob, 1 roots")
    }))

  it.effect("begin behind what is asked first", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2026-07-28", extended)
      const first = yield* call(client, "composed")
      assert.include(first.text, `"resultType":"input_required"`)
      assert.notInclude(first.text, "taskId")
      const { requestState } = Schema.decodeUnknownSync(Schema.Struct({ requestState: Schema.String }))(first.result)
      const second = yield* call(client, "composed", {
        requestState,
        inputResponses: { name: accept({ name: "Ada" }) }
      })
      const { taskId } = begunOf(second)
      assert.notInclude(second.text, "requestState")
      assert.strictEqual(gotOf(yield* client.asks("tasks/get", { taskId })).status, "working")
      yield* adjust("1 second")
      const got = gotOf(yield* client.asks("tasks/get", { taskId }))
      assert.strictEqual(got.status === "completed" ? textOf(got.result) : got.status, "Hello Ada")
      const again = yield* call(client, "composed", { requestState, inputResponses: { name: accept({ name: "Ada" }) } })
      assert.strictEqual(codeOf(again), -32602)
    }))

  it.effect("are told to those who listen, if they are theirs", () =>
    Effect.gen(function*() {
      const { served } = yield* started()
      const client = yield* opened(served, "2026-07-28", extended)
      const other = yield* opened(served, "2026-07-28", extended, "bob")
      const { taskId } = begunOf(yield* call(client, "greets"))
      const id = yield* client.send("subscriptions/listen", { notifications: { taskIds: [taskId, "none", 7] } })
      yield* other.send("subscriptions/listen", { notifications: { taskIds: [taskId] } })
      assert.include(
        client.saw().find(({ method }) => method === "notifications/subscriptions/acknowledged")?.text ?? "",
        `"notifications":{"taskIds":["${taskId}"]}`
      )
      yield* client.asks("tasks/update", {
        taskId,
        inputResponses: { name: accept({ name: "Ada" }), roots: { roots: [] } }
      })
      yield* client.asks("tasks/update", { taskId, inputResponses: { "name-2": accept({ name: "Bob" }) } })
      yield* settle
      const told = client.saw().filter(({ method }) => method === "notifications/tasks")
      assert.deepStrictEqual(statuses(client, "notifications/tasks"), [
        "input_required",
        "working",
        "input_required",
        "working",
        "completed"
      ])
      for (const { params, text } of told) {
        Schema.decodeUnknownSync(TasksExtension.TaskNotificationParams)(params)
        assert.include(text, `"io.modelcontextprotocol/subscriptionId":${id}`)
      }
      assert.include(told.at(-1)?.text ?? "", "Ada and Bob")
      assert.deepStrictEqual(statuses(other, "notifications/tasks"), [])
    }))

  it.effect("end with the server", () =>
    Effect.gen(function*() {
      const stopped = yield* Deferred.make<void>()
      const long = Tool.make(
        "long",
        { description: "Lasts", task: "optional" },
        () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.scoped(Effect.gen(function*() {
        const served = yield* serve(Server.layerDispatch({ name: "long", version: "1" }, long))
        const client = yield* opened(served, "2026-07-28", extended)
        assert.strictEqual(begunOf(yield* call(client, "long")).status, "working")
        assert.isFalse(Deferred.isDoneUnsafe(stopped))
      }))
      assert.isTrue(Deferred.isDoneUnsafe(stopped))
    }))
})
