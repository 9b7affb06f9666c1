import { assert, describe, it } from "@effect/vitest"
import * as Capability from "../../src/protocol/Capability.ts"
import * as Members from "../../src/protocol/Members.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Nested from "../../src/protocol/Nested.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Fold from "../../src/wire/Fold.ts"
import * as T from "../../src/wire/Text.ts"

const revisions = Revision.all

describe("revisions", () => {
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
    assert.deepStrictEqual(free, [
      "initialize",
      "server/discover",
      "ping",
      "tools/list",
      "resources/list",
      "resources/templates/list",
      "resources/unsubscribe",
      "prompts/list",
      "logging/setLevel"
    ])
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
    for (const name of new Set([...Members.all, ...Object.values(Members.definition).flat()])) {
      assert.isUndefined(folded.get(Fold.fold(name)), name)
      folded.set(Fold.fold(name), name)
    }
  })
})

describe("members of objects inside params", () => {
  it("that have a protocol name in another case are found, with their place", () => {
    for (const [member, names] of Object.entries(Nested.members)) {
      for (const name of names) {
        assert.isUndefined(Nested.variantIn(T.fromValue({ [member]: { [name]: 1 } })), name)
        const variant = name.toUpperCase()
        assert.strictEqual(
          Nested.variantIn(T.fromValue({ first: 1, [member]: { [name]: 1, [variant]: 2 } })),
          `/${member}/${variant}`
        )
      }
    }
    assert.strictEqual(
      Nested.variantIn(T.fromValue({ notifications: { "toolsLi\u017ftChanged": true } })),
      "/notifications/toolsLi\u017ftChanged"
    )
  })

  it("are only looked for there", () => {
    for (
      const params of [undefined, {}, { arguments: { ref: { Name: 1 } } }, { ref: ["Name"] }, { ref: "Name" }, {
        x: { ref: { Name: 1 } }
      }]
    ) {
      assert.isUndefined(Nested.variantIn(params === undefined ? undefined : T.fromValue(params)))
    }
  })
})
