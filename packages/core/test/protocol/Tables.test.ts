import { assert, describe, expect, it } from "@effect/vitest"
import * as Capability from "../../src/protocol/Capability.ts"
import * as Members from "../../src/protocol/Members.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Fold from "../../src/wire/Fold.ts"
import * as T from "../../src/wire/Text.ts"

const revisions = Revision.all

/** One line a method: who sends it, the capability that opens it, and whether it is decided and recorded. */
const print = (revision: Revision.Revision): string =>
  Method.names.flatMap((name) =>
    (["host", "server"] as const).flatMap((from) =>
      (["request", "notification"] as const).flatMap((kind) => {
        const method = Method.find(name, kind, from, revision)
        if (method === undefined) return []
        const parts = [
          from === "host" ? ">" : "<",
          kind === "request" ? "?" : "!",
          name,
          ...(method.needs === undefined ? [] : [`needs ${method.needs}`]),
          ...(method.reaches === undefined ? [] : [`reaches ${method.reaches.named ?? "data"}`])
        ]
        return [parts.join(" ")]
      })
    )
  ).join("\n")

describe("revisions", () => {
  it("are five, with what the framing of each allows", () => {
    const rows = revisions.map((revision) => {
      const { batch, era, idlessError } = Revision.table[revision]
      return [revision, era, ...(batch ? ["batches"] : []), ...(idlessError ? ["errors without id"] : [])].join(" ")
    })
    expect(rows.join("\n")).toMatchInlineSnapshot(`
      "2024-11-05 legacy
      2025-03-26 legacy batches
      2025-06-18 legacy
      2025-11-25 legacy errors without id
      2026-07-28 modern errors without id"
    `)
  })

  it("are known by their exact name", () => {
    for (const revision of revisions) assert.isTrue(Revision.isRevision(revision))
    for (const other of [undefined, "", "2025-11-26", "2025-11-25 ", "toString", "__proto__"]) {
      assert.isFalse(Revision.isRevision(other))
    }
  })

  it("of the modern era are offered newest first", () => {
    const modern: ReadonlyArray<string> = Revision.modern
    assert.deepStrictEqual(
      modern,
      revisions.filter((revision) => Revision.table[revision].era === "modern").toReversed()
    )
  })
})

describe("methods", () => {
  it("of 2024-11-05", () => {
    expect(print("2024-11-05")).toMatchInlineSnapshot(`
      "> ? initialize
      > ! notifications/initialized
      > ? ping
      < ? ping
      > ? tools/list needs server.tools
      > ? tools/call needs server.tools reaches name
      > ? resources/list needs server.resources
      > ? resources/templates/list needs server.resources
      > ? resources/read needs server.resources reaches uri
      > ? resources/subscribe needs server.resources.subscribe reaches uri
      > ? resources/unsubscribe needs server.resources.subscribe
      > ? prompts/list needs server.prompts
      > ? prompts/get needs server.prompts reaches name
      > ? completion/complete reaches data
      > ? logging/setLevel needs server.logging
      < ? sampling/createMessage needs client.sampling reaches data
      < ? roots/list needs client.roots reaches data
      > ! notifications/cancelled
      < ! notifications/cancelled
      > ! notifications/progress
      < ! notifications/progress
      < ! notifications/message needs server.logging
      < ! notifications/tools/list_changed needs server.tools
      < ! notifications/prompts/list_changed needs server.prompts
      < ! notifications/resources/list_changed needs server.resources
      < ! notifications/resources/updated needs server.resources
      > ! notifications/roots/list_changed needs client.roots"
    `)
  })
  it("of 2025-03-26", () => {
    expect(print("2025-03-26")).toMatchInlineSnapshot(`
      "> ? initialize
      > ! notifications/initialized
      > ? ping
      < ? ping
      > ? tools/list needs server.tools
      > ? tools/call needs server.tools reaches name
      > ? resources/list needs server.resources
      > ? resources/templates/list needs server.resources
      > ? resources/read needs server.resources reaches uri
      > ? resources/subscribe needs server.resources.subscribe reaches uri
      > ? resources/unsubscribe needs server.resources.subscribe
      > ? prompts/list needs server.prompts
      > ? prompts/get needs server.prompts reaches name
      > ? completion/complete needs server.completions reaches data
      > ? logging/setLevel needs server.logging
      < ? sampling/createMessage needs client.sampling reaches data
      < ? roots/list needs client.roots reaches data
      > ! notifications/cancelled
      < ! notifications/cancelled
      > ! notifications/progress
      < ! notifications/progress
      < ! notifications/message needs server.logging
      < ! notifications/tools/list_changed needs server.tools
      < ! notifications/prompts/list_changed needs server.prompts
      < ! notifications/resources/list_changed needs server.resources
      < ! notifications/resources/updated needs server.resources
      > ! notifications/roots/list_changed needs client.roots"
    `)
  })
  it("of 2025-06-18", () => {
    expect(print("2025-06-18")).toMatchInlineSnapshot(`
      "> ? initialize
      > ! notifications/initialized
      > ? ping
      < ? ping
      > ? tools/list needs server.tools
      > ? tools/call needs server.tools reaches name
      > ? resources/list needs server.resources
      > ? resources/templates/list needs server.resources
      > ? resources/read needs server.resources reaches uri
      > ? resources/subscribe needs server.resources.subscribe reaches uri
      > ? resources/unsubscribe needs server.resources.subscribe
      > ? prompts/list needs server.prompts
      > ? prompts/get needs server.prompts reaches name
      > ? completion/complete needs server.completions reaches data
      > ? logging/setLevel needs server.logging
      < ? sampling/createMessage needs client.sampling reaches data
      < ? roots/list needs client.roots reaches data
      < ? elicitation/create needs client.elicitation reaches data
      > ! notifications/cancelled
      < ! notifications/cancelled
      > ! notifications/progress
      < ! notifications/progress
      < ! notifications/message needs server.logging
      < ! notifications/tools/list_changed needs server.tools
      < ! notifications/prompts/list_changed needs server.prompts
      < ! notifications/resources/list_changed needs server.resources
      < ! notifications/resources/updated needs server.resources
      > ! notifications/roots/list_changed needs client.roots"
    `)
  })
  it("of 2025-11-25", () => {
    expect(print("2025-11-25")).toMatchInlineSnapshot(`
      "> ? initialize
      > ! notifications/initialized
      > ? ping
      < ? ping
      > ? tools/list needs server.tools
      > ? tools/call needs server.tools reaches name
      > ? resources/list needs server.resources
      > ? resources/templates/list needs server.resources
      > ? resources/read needs server.resources reaches uri
      > ? resources/subscribe needs server.resources.subscribe reaches uri
      > ? resources/unsubscribe needs server.resources.subscribe
      > ? prompts/list needs server.prompts
      > ? prompts/get needs server.prompts reaches name
      > ? completion/complete needs server.completions reaches data
      > ? logging/setLevel needs server.logging
      > ? tasks/get needs server.tasks reaches taskId
      < ? tasks/get needs client.tasks reaches taskId
      > ? tasks/result needs server.tasks reaches taskId
      < ? tasks/result needs client.tasks reaches taskId
      > ? tasks/cancel needs server.tasks.cancel reaches taskId
      < ? tasks/cancel needs client.tasks.cancel reaches taskId
      > ? tasks/list needs server.tasks.list reaches data
      < ? tasks/list needs client.tasks.list reaches data
      < ? sampling/createMessage needs client.sampling reaches data
      < ? roots/list needs client.roots reaches data
      < ? elicitation/create needs client.elicitation reaches data
      > ! notifications/cancelled
      < ! notifications/cancelled
      > ! notifications/progress
      < ! notifications/progress
      < ! notifications/message needs server.logging
      < ! notifications/tools/list_changed needs server.tools
      < ! notifications/prompts/list_changed needs server.prompts
      < ! notifications/resources/list_changed needs server.resources
      < ! notifications/resources/updated needs server.resources
      > ! notifications/roots/list_changed needs client.roots
      < ! notifications/elicitation/complete needs client.elicitation.url
      > ! notifications/tasks/status needs client.tasks
      < ! notifications/tasks/status needs server.tasks"
    `)
  })
  it("of 2026-07-28", () => {
    expect(print("2026-07-28")).toMatchInlineSnapshot(`
      "> ? server/discover
      > ? tools/list needs server.tools
      > ? tools/call needs server.tools reaches name
      > ? resources/list needs server.resources
      > ? resources/templates/list needs server.resources
      > ? resources/read needs server.resources reaches uri
      > ? prompts/list needs server.prompts
      > ? prompts/get needs server.prompts reaches name
      > ? completion/complete needs server.completions reaches data
      > ? subscriptions/listen reaches data
      > ? tasks/get needs server.extensions.io.modelcontextprotocol/tasks reaches taskId
      > ? tasks/update needs server.extensions.io.modelcontextprotocol/tasks reaches taskId
      > ? tasks/cancel needs server.extensions.io.modelcontextprotocol/tasks reaches taskId
      > ! notifications/cancelled
      < ! notifications/cancelled
      < ! notifications/progress
      < ! notifications/message needs server.logging
      < ! notifications/tools/list_changed needs server.tools
      < ! notifications/prompts/list_changed needs server.prompts
      < ! notifications/resources/list_changed needs server.resources
      < ! notifications/resources/updated needs server.resources
      < ! notifications/tasks needs server.extensions.io.modelcontextprotocol/tasks
      < ! notifications/subscriptions/acknowledged"
    `)
  })

  it("are found by their exact name, kind and direction", () => {
    for (const revision of revisions) {
      assert.isUndefined(Method.find("Tools/list", "request", "host", revision))
      assert.isUndefined(Method.find("tools/list", "notification", "host", revision))
      assert.isUndefined(Method.find("tools/list", "request", "server", revision))
      assert.isUndefined(Method.find("__proto__", "request", "host", revision))
      assert.isUndefined(Method.find("constructor", "request", "host", revision))
    }
  })

  it("outside the tables reach anything", () => {
    assert.deepStrictEqual(Method.reaches("x/y", "host"), {})
    assert.deepStrictEqual(Method.reaches("x/y", "server"), {})
    assert.isFalse(Method.isKnown("x/y"))
  })

  it("that only list or negotiate reach nothing", () => {
    const free = Method.names.filter((name) =>
      revisions.some((revision) => Method.find(name, "request", "host", revision) !== undefined) &&
      Method.reaches(name, "host") === undefined
    )
    expect(free).toMatchInlineSnapshot(`
      [
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/unsubscribe",
        "prompts/list",
        "logging/setLevel",
      ]
    `)
  })

  it("need only capabilities that can be read", () => {
    const paths = new Set<string>(Capability.leaves.map(([path]) => path))
    for (const name of Method.names) {
      for (const revision of revisions) {
        for (const from of ["host", "server"] as const) {
          for (const kind of ["request", "notification"] as const) {
            const needs = Method.find(name, kind, from, revision)?.needs
            assert.isTrue(needs === undefined || paths.has(needs), `${name} needs ${needs}`)
            // What one side asks is opened by what the other side declared.
            if (kind === "request" && needs !== undefined) {
              assert.isTrue(needs.startsWith(from === "host" ? "server." : "client."), name)
            }
          }
        }
      }
    }
  })
})

describe("capabilities", () => {
  it("are read by the type of their leaf", () => {
    for (const [path, leaf] of Capability.leaves) {
      const side = path.startsWith("client.") ? "client" : "server"
      // The name of an extension is one step, with its dots.
      const [, inner, extension] = /^[a-z]+\.(.*?)(?:(?<=extensions)\.(.*))?$/.exec(path) ?? []
      const steps = [...(inner ?? "").split("."), ...(extension === undefined ? [] : [extension])]
      const declare = (value: unknown) =>
        Capability.read(
          side,
          T.fromValue(steps.toReversed().reduce<unknown>((inner, step) => ({ [step]: inner }), value))
        )
      assert.isTrue(declare(leaf === "object" ? {} : true).has(path), path)
      for (const wrong of [false, null, 0, 1, "", "true", [], leaf === "object" ? true : {}]) {
        assert.isFalse(declare(wrong).has(path), `${path}: ${JSON.stringify(wrong)}`)
      }
    }
  })

  it("of one side are not those of the other, and what is unknown is not there", () => {
    const both = T.fromValue({ tools: {}, roots: {}, unknown: {}, Tools: {} })
    assert.deepStrictEqual([...Capability.read("server", both)], ["server.tools"])
    assert.deepStrictEqual([...Capability.read("client", both)], ["client.roots"])
  })

  it("that are no object declare nothing", () => {
    for (const none of [undefined, T.fromValue([]), T.fromValue(null), T.fromValue("tools"), T.fromValue(true)]) {
      assert.strictEqual(Capability.read("server", none).size, 0)
    }
  })
})

describe("member names", () => {
  it("are all there that the tables and the reader use", () => {
    for (const name of ["name", "uri", "taskId", "cursor", "tools", "_meta", "requestId", "progressToken"]) {
      assert.include(Members.messages, name)
    }
    for (const name of Object.values(Revision.meta)) assert.include(Members.all, name)
  })

  it("do not refuse each other: no two are equal after folding", () => {
    const folded = new Map<string, string>()
    for (const name of new Set([...Members.all, ...Members.definitions])) {
      assert.isUndefined(folded.get(Fold.fold(name)), name)
      folded.set(Fold.fold(name), name)
    }
  })
})
