import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Capability from "../../src/protocol/Capability.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as T from "../../src/wire/Text.ts"

const write = (side: Capability.Side, revision: Revision.Revision, ...paths: ReadonlyArray<Capability.Path>) =>
  T.toValue(Capability.write(side, revision, { paths }))

describe("writing", () => {
  it("makes objects of objects and true of booleans", () => {
    assert.deepStrictEqual(
      write(
        "server",
        "2025-11-25",
        "server.tasks.list",
        "server.tasks.requests.tools.call",
        "server.tools.listChanged"
      ),
      { tools: { listChanged: true }, tasks: { list: {}, requests: { tools: { call: {} } } } }
    )
  })

  it("never erases a child by its parent, in whatever order", () => {
    fc.assert(fc.property(
      fc.shuffledSubarray([...Capability.paths]),
      fc.constantFrom(...Revision.all),
      fc.constantFrom("client" as const, "server" as const),
      (paths, revision, side) => {
        const read = Capability.read(side, Capability.write(side, revision, { paths }), revision)
        for (const path of paths) {
          const there = path.startsWith(`${side}.`) && Capability.isDefined(path, revision)
          if (there) assert.isTrue(read.has(path), path)
        }
        for (const path of read) {
          const named = paths.some((one) => one === path || one.startsWith(`${path}.`))
          assert.isTrue(named || path === "client.elicitation.form", path)
        }
      }
    ))
  })

  it("leaves out what the revision does not define", () => {
    assert.deepStrictEqual(write("client", "2025-06-18", "client.elicitation.url", "client.tasks.list"), {
      elicitation: {}
    })
    assert.deepStrictEqual(write("client", "2026-07-28", "client.roots.listChanged"), { roots: {} })
    assert.deepStrictEqual(write("server", "2026-07-28", "server.tasks.list", "client.roots"), {})
  })

  it("names an extension by its whole name", () => {
    assert.deepStrictEqual(write("server", "2026-07-28", "server.extensions.io.modelcontextprotocol/tasks"), {
      extensions: { "io.modelcontextprotocol/tasks": {} }
    })
  })
})

describe("reading", () => {
  const read = (side: Capability.Side, value: unknown, revision?: Revision.Revision) => [
    ...Capability.read(side, T.fromValue(value), revision)
  ]

  it("knows only what the revision defines", () => {
    const client = { elicitation: { form: {}, url: {} }, tasks: { list: {} }, extensions: {} }
    assert.deepStrictEqual(read("client", client, "2025-03-26"), [])
    assert.deepStrictEqual(read("client", client, "2025-06-18"), ["client.elicitation"])
    assert.notInclude(read("client", client, "2026-07-28"), "client.tasks")
    assert.include(read("client", client, "2026-07-28"), "client.extensions")
  })

  it("takes an elicitation of no kind as one by form", () => {
    assert.deepStrictEqual(read("client", { elicitation: {} }, "2025-11-25"), [
      "client.elicitation",
      "client.elicitation.form"
    ])
    assert.deepStrictEqual(read("client", { elicitation: { url: {} } }, "2025-11-25"), [
      "client.elicitation",
      "client.elicitation.url"
    ])
    assert.deepStrictEqual(read("client", { elicitation: {} }, "2025-06-18"), ["client.elicitation"])
  })

  for (
    const odd of [
      { roots: true },
      { sampling: null },
      { elicitation: [] },
      { tasks: { list: true, requests: { sampling: { createMessage: true } } } },
      { roots: { listChanged: {} } },
      { roots: { listChanged: false } },
      { extensions: { "io.modelcontextprotocol/tasks": true } }
    ]
  ) {
    it(`does not take ${JSON.stringify(odd)} for more than it is`, () => {
      for (const revision of Revision.all) {
        const leaves = ["true", "list", "createMessage", "listChanged", "io.modelcontextprotocol/tasks"]
        for (const path of read("client", odd, revision)) {
          assert.isFalse(leaves.some((leaf) => path.endsWith(leaf)), path)
        }
      }
    })
  }
})

describe("what a capabilities object says", () => {
  const capabilities = T.fromValue({
    tools: { listChanged: true, other: 1 },
    experimental: { "example.com/a": { n: 1.0, list: [1, 2] }, odd: true },
    extensions: { "example.com/b": { deep: { er: "x" } }, "io.modelcontextprotocol/tasks": {}, odd: 1 },
    vendor: [1, { a: null }],
    roots: {}
  })

  it("is kept with its content", () => {
    const { experimental, extensions, paths, unknown } = Capability.parse("server", capabilities, "2026-07-28")
    assert.isTrue(paths.has("server.tools.listChanged"))
    assert.deepStrictEqual(experimental, [["example.com/a", T.fromValue({ n: 1, list: [1, 2] })]])
    assert.deepStrictEqual(extensions.map(([name]) => name), ["example.com/b", "io.modelcontextprotocol/tasks"])
    assert.deepStrictEqual(unknown, [["vendor", T.fromValue([1, { a: null }])], ["roots", T.object([])]])
    assert.strictEqual(Capability.content(extensions, "example.com/b"), T.fromValue({ deep: { er: "x" } }))
    assert.isUndefined(Capability.content(extensions, "toString"))
  })

  it("is unknown where the revision does not define it, and kept all the same", () => {
    const { extensions, unknown } = Capability.parse("server", capabilities, "2025-11-25")
    assert.deepStrictEqual(extensions, [])
    assert.deepStrictEqual(unknown.map(([name]) => name), ["extensions", "vendor", "roots"])
  })

  it("is the same after it was written", () => {
    for (const revision of Revision.all) {
      const said = Capability.parse("server", capabilities, revision)
      const again = Capability.parse("server", Capability.write("server", revision, said), revision)
      assert.deepStrictEqual(again, said)
    }
  })

  it("is nothing where there is none", () => {
    assert.deepStrictEqual(Capability.parse("client", undefined, "2025-11-25"), {
      paths: new Set<Capability.Path>(),
      experimental: [],
      extensions: [],
      unknown: []
    })
  })
})
