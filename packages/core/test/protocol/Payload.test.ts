import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import * as Members from "../../src/protocol/Members.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Nested from "../../src/protocol/Nested.ts"
import * as Payload from "../../src/protocol/Payload.ts"
import * as TasksExtension from "../../src/protocol/payload/TasksExtension.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import { isNode, type Json, list, type Node, node } from "./official.ts"

interface Line {
  readonly from: "client" | "server"
  readonly message: Node
}

/** A session that was written by hand: every method of the revision's core, and members that it does not name. */
const session = (revision: Revision.Revision): ReadonlyArray<Line> =>
  readFileSync(join(import.meta.dirname, "sessions", `${revision}.jsonl`), "utf8").trimEnd().split("\n").map((line) =>
    JSON.parse(line)
  )

/** What each message carries, with the schema for it. */
const carried = (lines: ReadonlyArray<Line>, revision: Revision.Revision) => {
  const asked = new Map<string, string>()
  return lines.map(({ from, message }) => {
    const id = JSON.stringify(message["id"] ?? null)
    const method = message["method"]
    if (typeof method === "string") {
      const kind = "id" in message ? "request" : "notification"
      const row = Method.find(method, kind, from === "client" ? "host" : "server", revision)
      if (row === undefined) assert.fail(`${from} sends ${method}`)
      if (kind === "request") asked.set(`${from} ${id}`, method)
      return { what: method, codec: Payload.findParams(method, revision), value: message["params"] ?? {} }
    }
    const of = asked.get(`${from === "client" ? "server" : "client"} ${id}`) ?? ""
    return { what: `result of ${of}`, codec: Payload.findResult(of, revision), value: message["result"] ?? null }
  })
}

for (const revision of Revision.all) {
  describe(`payloads of ${revision}`, () => {
    const messages = carried(session(revision), revision)

    for (const { codec, value, what } of messages) {
      it(`${what}: ${JSON.stringify(value).slice(0, 60)}`, () => {
        if (codec === undefined) assert.fail("no schema")
        const read = Schema.decodeUnknownResult(codec)(value)
        if (Result.isFailure(read)) assert.fail(String(read.failure))
        // Nothing is lost: not the members that the revision does not name either.
        assert.deepStrictEqual(read.success, value)
        assert.deepStrictEqual(Schema.encodeSync(codec)(read.success), value)
      })
    }

    it("are not read without a member that is required", () => {
      for (const { codec, value, what } of messages) {
        if (codec === undefined || !isNode(value)) continue
        const is = Schema.is(codec)
        const document = JSON.parse(JSON.stringify(Schema.toJsonSchemaDocument(codec)))
        for (const name of document.schema.required ?? []) {
          const { [name]: _, ...others } = value
          assert.isFalse(is(others), `${what} without ${name}`)
        }
      }
    })

    it("are objects", () => {
      const { params, results } = Payload.table[revision]
      for (const codec of [...Object.values(params), ...Object.values(results)]) {
        for (const other of [null, [], "x", 1, true, undefined]) assert.isFalse(Schema.is(codec)(other))
      }
    })

    it("of the session show every request of the core that is answered", () => {
      const seen = new Set(messages.map(({ what }) => what))
      for (const [name, method] of Method.table) {
        const left = name === "resources/unsubscribe" || method.from !== "host" && name.startsWith("tasks/")
        if (method.kind === "request" && method.in.includes(revision) && !left) {
          assert.isTrue(seen.has(`result of ${name}`), name)
        }
      }
    })
  })
}

describe("a revision differs from the one before", () => {
  const text = { type: "text", text: "x" }
  const read = (codec: Payload.Any, value: unknown): boolean => Schema.is(codec)(value)

  it("by the kinds of content", () => {
    const result = (block: unknown) => ({ content: [text, block], resultType: "complete" })
    const audio = result({ type: "audio", data: "", mimeType: "audio/wav" })
    const link = result({ type: "resource_link", uri: "x:", name: "x" })
    const by = Revision.all.map((revision) => {
      const codec = Payload.result("tools/call", revision)
      return [read(codec, audio), read(codec, link)]
    })
    assert.deepStrictEqual(by, [[false, false], [true, false], [true, true], [true, true], [true, true]])
  })

  it("by what structured content may be", () => {
    const by = (structuredContent: unknown) =>
      Revision.all.map((revision) =>
        read(Payload.result("tools/call", revision), { content: [], structuredContent, resultType: "complete" })
      )
    assert.deepStrictEqual(by({ a: 1 }), [true, true, true, true, true])
    assert.deepStrictEqual(by([1]), [true, true, false, false, true])
    assert.deepStrictEqual(by(null), [true, true, false, false, true])
  })

  it("by what a cancellation must name", () => {
    const by = Revision.all.map((revision) => read(Payload.params("notifications/cancelled", revision), {}))
    assert.deepStrictEqual(by, [false, false, false, true, false])
  })

  it("by what a request carries", () => {
    const by = Revision.all.map((revision) => read(Payload.params("tools/list", revision), {}))
    assert.deepStrictEqual(by, [true, true, true, true, false])
  })

  it("by the schemas of tools", () => {
    const tool = (inputSchema: unknown, outputSchema: unknown) => ({
      tools: [{ name: "x", inputSchema, outputSchema }],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private"
    })
    const by = (value: unknown) => Revision.all.map((revision) => read(Payload.result("tools/list", revision), value))
    const object = { type: "object" }
    assert.deepStrictEqual(by(tool(object, object)), [true, true, true, true, true])
    assert.deepStrictEqual(by(tool(object, { type: "array" })), [true, true, false, false, true])
    assert.deepStrictEqual(by(tool({ type: "object", properties: { a: true } }, object)), [
      false,
      false,
      false,
      false,
      true
    ])
    assert.deepStrictEqual(by(tool({ type: "string" }, object)), [false, false, false, false, false])
  })

  it("by when a task has which members", () => {
    const task = { taskId: "t", createdAt: "", lastUpdatedAt: "", ttlMs: null, resultType: "complete" }
    const codec = Payload.result("tasks/get", "2026-07-28")
    assert.isTrue(read(codec, { ...task, status: "working" }))
    assert.isFalse(read(codec, { ...task, status: "completed" }))
    assert.isTrue(read(codec, { ...task, status: "completed", result: {} }))
    assert.isFalse(read(codec, { ...task, status: "failed" }))
    assert.isTrue(read(codec, { ...task, status: "failed", error: { code: 1, message: "no" } }))
    assert.isFalse(read(codec, { ...task, status: "input_required" }))
    assert.isTrue(read(TasksExtension.CreateTaskResult, { ...task, status: "working", resultType: "task" }))
    assert.isFalse(read(TasksExtension.CreateTaskResult, { ...task, status: "working" }))
  })

  it("by what is no result there", () => {
    const codec = Payload.result("tools/call", "2026-07-28")
    assert.isFalse(read(codec, { content: [] }))
    assert.isFalse(read(codec, { content: [], resultType: "task" }))
    assert.isTrue(read(codec, { resultType: "input_required" }))
  })

  it("by name: no other names have schemas", () => {
    for (const name of ["toString", "__proto__", "", "tools/Call"]) {
      for (const revision of Revision.all) {
        assert.isUndefined(Payload.findParams(name, revision))
        assert.isUndefined(Payload.findResult(name, revision))
      }
    }
    assert.isUndefined(Payload.findParams("initialize", "2026-07-28"))
    assert.isUndefined(Payload.findParams("elicitation/create", "2025-03-26"))
  })

  it("and is typed so", () => {
    const call: (typeof Payload.table)["2025-11-25"]["params"]["tools/call"]["Type"] = { name: "x", task: { ttl: 1 } }
    const tool: Payload.Tool = { name: "x", inputSchema: { type: "object" }, vendor: 1 }
    assert.isTrue(read(Payload.params("tools/call", "2025-11-25"), call))
    assert.isTrue(read(Payload.Tool, tool))
    // @ts-expect-error the revision has no such method
    assert.isUndefined(Payload.params("initialize", "2026-07-28"))
  })
})

describe("the names that the reader compares", () => {
  const all: Array<readonly [string, Payload.Any]> = [
    ["a task", TasksExtension.CreateTaskResult],
    ["a filter", Schema.Struct({ notifications: TasksExtension.SubscriptionFilter })]
  ]
  for (const { params, results } of Object.values(Payload.table)) {
    all.push(...Object.entries(params), ...Object.entries(results))
  }

  /** The members of what is at a path, of every alternative. */
  const named = (at: Node, visit: (name: string, value: Node) => void): void => {
    for (const part of [...list(at["allOf"]), ...list(at["anyOf"])]) named(node(part), visit)
    for (const [name, value] of Object.entries(node(at["properties"]))) visit(name, node(value))
  }

  it("are all that params and results have, and what is named inside them", () => {
    for (const [method, codec] of all) {
      const json: Json = JSON.parse(JSON.stringify(Schema.toJsonSchemaDocument(codec)))
      named(node(node(json)["schema"]), (name, value) => {
        assert.include(Members.messages, name, method)
        const inside = Nested.members[name]
        if (inside === undefined) return
        named(value, (below) => {
          assert.include([...inside, ...Members.all], below, `${method}: ${name}`)
        })
      })
    }
  })
})

describe("what only passes messages on", () => {
  const root = join(import.meta.dirname, "../../../..")
  const reached = (from: string, seen: Set<string>): Set<string> => {
    if (seen.has(from) || !existsSync(from)) return seen
    seen.add(from)
    for (
      const [, specifier] of readFileSync(from, "utf8").matchAll(/^(?:import|export)(?! type)[^"]*? from "([^"]+)"/gm)
    ) {
      if (specifier?.startsWith(".") === true) reached(resolve(dirname(from), specifier), seen)
      const core = /^@sallyport\/core\/(.+)$/.exec(specifier ?? "")
      if (core !== null) reached(join(root, "packages/core/src", `${core[1]}.ts`), seen)
    }
    return seen
  }
  const files = (folder: string): ReadonlyArray<string> =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory()
        ? files(`${folder}/${entry.name}`)
        : entry.name.endsWith(".ts")
        ? [join(root, folder, entry.name)]
        : []
    )

  it("does not load the schemas of payloads", () => {
    const from = [
      "packages/relay/src",
      "packages/core/src/line",
      "packages/core/src/session",
      "packages/core/src/stage"
    ]
    const all = from.flatMap(files).reduce((seen, file) => reached(file, seen), new Set<string>())
    assert.isAbove(all.size, 30)
    assert.deepStrictEqual([...all].filter((file) => /protocol\/(?:Payload\.ts|payload\/)/.test(file)), [])
  })
})
