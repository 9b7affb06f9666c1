import { assert, describe, it } from "@effect/vitest"
import { importsOf, violations } from "../scripts/lib/imports.mjs"

const whys = (path: string, text: string) => violations([{ path, text }]).map((_) => _.why)
const core = (file: string) => `packages/core/src/${file}`

const refused: ReadonlyArray<readonly [path: string, specifier: string, why: RegExp]> = [
  ["packages/core/src/wire/Line.ts", "../protocol/Revision.ts", /wire may not import protocol/],
  ["packages/core/src/protocol/Revision.ts", "../stage/Parse.ts", /protocol may not import stage/],
  ["packages/core/src/pin/Diff.ts", "../policy/Rule.ts", /pin may not import policy/],
  ["packages/core/src/ledger/Entry.ts", "../store/Files.ts", /ledger may not import store/],
  ["packages/core/src/stage/Gate.ts", "../line/Guard.ts", /stage may not import line/],
  ["packages/core/src/line/Guard.ts", "../session/Session.ts", /line may not import session/],
  ["packages/core/src/session/Session.ts", "../pin/Diff.ts", /session may not import pin/],
  ["packages/core/src/line/Guard.ts", "@sallyport/core/server/Tools", /line may not import server/],
  ["packages/core/src/wire/Line.ts", "../index.ts", /barrel/],
  ["packages/core/src/new/Thing.ts", "../wire/Line.ts", /no rule yet/],
  ["packages/core/src/server/Tools.ts", "@sallyport/relay", /core may not import relay/],
  ["packages/relay/src/Relay.ts", "@sallyport/broker/Broker", /relay may not import broker/],
  ["packages/broker/src/Broker.ts", "@sallyport/relay", /broker may not import relay/],
  ["packages/relay/src/Relay.ts", "../../core/src/wire/Line.ts", /by its name/],
  ["packages/relay/src/Relay.ts", "sallyport", /relay may not import cli/],
  ["packages/core/src/wire/Line.ts", "../../test/wire/Line.test.ts", /tests/],
  ["packages/cli/src/main.ts", "@effect/platform-node", /barrel/],
  ["packages/core/test/wire/Line.test.ts", "@effect/platform-node", /barrel/],
  ["packages/relay/src/Relay.ts", "effect", /one by one/],
  ["packages/core/src/wire/Line.ts", "node:buffer", /bound to Node/],
  ["packages/core/src/wire/Line.ts", "fs/promises", /bound to Node/],
  ["packages/core/src/wire/Digest.ts", "node:fs", /bound to Node/],
  ["packages/relay/src/Relay.ts", "@effect/platform-node/NodeStdio", /bound to Node/]
]

const allowed: ReadonlyArray<readonly [path: string, specifier: string]> = [
  ["packages/core/src/protocol/Revision.ts", "../wire/Json.ts"],
  ["packages/core/src/stage/PinStore.ts", "../pin/Pin.ts"],
  ["packages/core/src/stage/PinStore.ts", "../store/Files.ts"],
  ["packages/core/src/line/Guard.ts", "../stage/Gate.ts"],
  ["packages/core/src/session/Session.ts", "../line/Guard.ts"],
  ["packages/core/src/server/Tools.ts", "../session/Session.ts"],
  ["packages/core/src/wire/Line.ts", "./internal/cut.ts"],
  ["packages/core/src/wire/Digest.ts", "node:crypto"],
  ["packages/core/src/node/Spawn.ts", "node:child_process"],
  ["packages/core/src/node/Spawn.ts", "@effect/platform-node/NodeFileSystem"],
  ["packages/core/src/wire/Line.ts", "effect/Effect"],
  ["packages/relay/src/Relay.ts", "@sallyport/core/stage/Gate"],
  ["packages/cli/src/main.ts", "@sallyport/broker"],
  ["packages/cli/src/main.ts", "effect"],
  ["packages/cli/src/main.ts", "node:fs"],
  ["packages/core/test/wire/Line.test.ts", "node:fs"]
]

describe("check-imports", () => {
  for (const [path, specifier, why] of refused) {
    it(`refuses ${specifier} in ${path}`, () => {
      const found = whys(path, `import * as X from "${specifier}"\n`)
      assert.strictEqual(found.length, 1)
      assert.match(found[0] ?? "", why)
    })
  }

  for (const [path, specifier] of allowed) {
    it(`allows ${specifier} in ${path}`, () => {
      assert.deepStrictEqual(whys(path, `import * as X from "${specifier}"\n`), [])
    })
  }

  it("sees every form of import and gives its line", () => {
    const text = [
      `import "a"`,
      `import type { A } from "b"`,
      `import {`,
      `  one,`,
      `  two`,
      `} from "c"`,
      `export * as D from "d"`,
      `export { e } from "e"`,
      `const f = () => import("f")`,
      `type G = import("g").G`,
      `const h = process.getBuiltinModule("h")`
    ].join("\n")
    assert.deepStrictEqual(
      importsOf(text).map(({ line, specifier }) => [specifier, line]),
      [["a", 1], ["b", 2], ["c", 6], ["d", 7], ["e", 8], ["f", 9], ["g", 10], ["h", 11]]
    )
  })

  it("sees no imports in comments and exported values", () => {
    const text = [
      `/**`,
      ` * import * as X from "x"`,
      ` * import("x")`,
      ` */`,
      `// import("x")`,
      `export const from = "x"`,
      `export {}`,
      `export type T = "x"`
    ].join("\n")
    assert.deepStrictEqual(importsOf(text), [])
  })

  it("names file, line and module", () => {
    const text = `import * as Effect from "effect/Effect"\nimport * as P from "../protocol/Revision.ts"\n`
    assert.deepStrictEqual(violations([{ path: core("wire/Line.ts"), text }]), [{
      path: "packages/core/src/wire/Line.ts",
      line: 2,
      specifier: "../protocol/Revision.ts",
      why: "wire may not import protocol"
    }])
  })
})
