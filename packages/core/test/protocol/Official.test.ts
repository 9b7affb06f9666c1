import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Capability from "../../src/protocol/Capability.ts"
import * as ErrorCode from "../../src/protocol/ErrorCode.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Payload from "../../src/protocol/Payload.ts"
import * as TasksExtension from "../../src/protocol/payload/TasksExtension.ts"
import type { Revision } from "../../src/protocol/Revision.ts"
import {
  constOf,
  definitions,
  type Json,
  list,
  members,
  methodOf,
  type Node,
  node,
  outline,
  resolve
} from "./official.ts"

const unions = [
  ["ClientRequest", "request", "host"],
  ["ServerRequest", "request", "server"],
  ["ClientNotification", "notification", "host"],
  ["ServerNotification", "notification", "server"]
] as const

const core = Method.table.filter(([, method]) => method.extension === undefined)

const sent = (revision: Revision, kind: Method.Method["kind"], from: "host" | "server"): ReadonlyArray<string> =>
  core.flatMap(([name, method]) =>
    method.kind === kind && method.from !== (from === "host" ? "server" : "host") && method.in.includes(revision)
      ? [name]
      : []
  ).toSorted()

describe("the schemas are found", () => {
  it("of four revisions", () => {
    for (const [revision, schema] of definitions) {
      assert.isAbove(Object.keys(schema).length, 80, revision)
    }
  })
})

for (const [revision, schema] of definitions) {
  describe(`as the schema of ${revision}`, () => {
    for (const [name, kind, from] of unions) {
      it(`is the table of methods: ${name}`, () => {
        assert.deepStrictEqual(sent(revision, kind, from), members(name, schema).map(methodOf).toSorted())
      })
    }

    it("is what servers ask inside results", () => {
      const embedded = Method.names.filter((name) => Method.embedded(name, revision) !== undefined)
      assert.deepStrictEqual(embedded.toSorted(), members("InputRequest", schema).map(methodOf).toSorted())
    })

    it("is what may be answered by asking back, and what may be kept", () => {
      const results = Object.entries(schema).filter(([name]) => name.endsWith("ResultResponse"))
      const asking = results.filter(([, response]) => JSON.stringify(response).includes("/InputRequiredResult\""))
      const asks = core.filter(([, method]) => method.asks?.includes(revision) === true)
      assert.strictEqual(asks.length, asking.length)
      for (const [name] of asks) assert.isDefined(asking.find(([of]) => of === `${stem(name, schema)}ResultResponse`))
      for (const [name, method] of core) {
        if (method.kind !== "request" || !method.in.includes(revision)) continue
        const properties = node(node(schema[`${stem(name, schema)}Result`])["properties"])
        assert.strictEqual(method.caches?.includes(revision) === true, "ttlMs" in properties, name)
        assert.strictEqual(method.lists !== undefined, "nextCursor" in properties, name)
        if (method.lists !== undefined) assert.property(properties, method.lists)
      }
    })

    for (const side of ["client", "server"] as const) {
      it(`is the tree of capabilities of the ${side}`, () => {
        const found: Array<string> = []
        const into = (json: Json, path: string): void => {
          const at = resolve(json, schema)
          for (const [name, value] of Object.entries(node(at["properties"]))) {
            const leaf = resolve(value, schema)
            const type = leaf["type"] ?? "object"
            found.push(`${path}.${name} ${JSON.stringify(type).slice(1, -1)}`)
            into(value, `${path}.${name}`)
          }
        }
        into(schema[side === "client" ? "ClientCapabilities" : "ServerCapabilities"] ?? {}, side)
        const ours = Capability.leaves.flatMap(([path, leaf]) =>
          path.startsWith(`${side}.`) && !path.includes(".extensions.") && Capability.isDefined(path, revision)
            ? [`${path} ${leaf}`]
            : []
        )
        assert.deepStrictEqual(ours.toSorted(), found.toSorted())
      })
    }

    it("is the table of error codes, where it names one", () => {
      const codes = Object.values(schema).flatMap((definition) => {
        const own = constOf(node(node(definition)["properties"])["code"])
        const inside = list(node(node(node(definition)["properties"])["error"])["allOf"]).map((part) =>
          constOf(node(node(part)["properties"])["code"])
        )
        return [own, ...inside].filter((code) => typeof code === "number")
      })
      for (const code of codes) {
        assert.isTrue(ErrorCode.mayEmit(code, revision), String(code))
        assert.isDefined(ErrorCode.meaning(code, revision), String(code))
      }
      const named = ErrorCode.table.filter(({ code, emit }) =>
        ErrorCode.range(code) === "protocol" && emit.includes(revision)
      )
      for (const { code } of named) assert.include(codes, code)
    })

    // `_meta` is in the older schemas only where something else is inherited, though the prose allows it everywhere.
    const without = new Set(["resultType", ...revision === "2026-07-28" ? [] : ["_meta"]])
    const ours = (codec: Payload.Any): string => {
      const document = Schema.toJsonSchemaDocument(codec)
      const json: Json = JSON.parse(JSON.stringify(document))
      return outline(node(json)["schema"] ?? {}, node(node(json)["definitions"]), without)
    }
    const theirs = (...of: ReadonlyArray<Json>): string => outline({ anyOf: of }, schema, without)

    it("are the params of every method", () => {
      for (const definition of unions.flatMap(([name]) => members(name, schema))) {
        const codec = Payload.findParams(methodOf(definition), revision)
        if (codec === undefined) assert.fail(methodOf(definition))
        const params = node(definition["properties"])["params"] ?? {}
        assert.strictEqual(ours(codec), theirs(params), methodOf(definition))
      }
    })

    it("are the results of every request", () => {
      for (const [name, method] of core) {
        if (method.kind !== "request" || !method.in.includes(revision)) continue
        const codec = Payload.findResult(name, revision)
        if (codec === undefined) assert.fail(name)
        const of: Array<Json> = [{ $ref: `#/$defs/${stem(name, schema)}Result` }]
        if (method.asks?.includes(revision) === true) of.push({ $ref: "#/$defs/InputRequiredResult" })
        if (method.task?.in === revision) of.push({ $ref: "#/$defs/CreateTaskResult" })
        assert.strictEqual(ours(codec), theirs(...of), name)
      }
    })

    it("is the table of payloads: nothing in it is of another revision", () => {
      const half = Payload.table[revision]
      const extension = revision === "2026-07-28" ? Object.keys(TasksExtension.params) : []
      const requests = [...sent(revision, "request", "host"), ...sent(revision, "request", "server")]
      const notifications = [...sent(revision, "notification", "host"), ...sent(revision, "notification", "server")]
      assert.deepStrictEqual(
        Object.keys(half.params).toSorted(),
        [...new Set([...requests, ...notifications, ...extension])].toSorted()
      )
      assert.deepStrictEqual(
        Object.keys(half.results).toSorted(),
        [...new Set([...requests, ...extension.filter((name) => !name.startsWith("notifications/"))])].toSorted()
      )
    })
  })
}

/** The name that a method's definitions begin with. */
const stem = (method: string, schema: Node): string => {
  const found = Object.entries(schema).find(([name, definition]) =>
    name.endsWith("Request") && methodOf(node(definition)) === method
  )
  const name = (found?.[0] ?? "").slice(0, -"Request".length)
  return `${name}Result` in schema ? name : "Empty"
}
