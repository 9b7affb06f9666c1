import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Digest from "@sallyport/core/wire/Digest"
import { Effect } from "effect"
import type * as Ancestry from "../src/Ancestry.ts"
import type { Asked } from "../src/Person.ts"
import { changed, drifted, layerMemory, load, MemoryFiles, on, put, read, secret, server, write } from "./support.ts"

const relay: Ancestry.Process = { name: "node", args: ["node", "/x/bin/sallyport.mjs", "relay", "--name", "files"] }
const yes = { answer: "accept" }

/** What a team shares, and the file that it is in here. */
const shared = Effect.gen(function*() {
  yield* put(drifted("files", [read, write], [read, write]))
  const { out } = yield* on("pins export files")
  const files = yield* MemoryFiles
  files.contents.set("/repo/pins.json", out)
  return out
})

describe("pins export", () => {
  it.effect("prints what was accepted, without any value of a variable", () =>
    Effect.gen(function*() {
      yield* put(server("never", [read]))
      const out = yield* shared
      assert.match(out, /^[\n -~]*$/)
      assert.notInclude(out, secret)
      const { format, servers } = JSON.parse(out)
      assert.strictEqual(format, 1)
      assert.deepStrictEqual(servers[0].launch, [
        { name: "command", value: "node" },
        { name: "args", value: "[\"server.js\"]" },
        { name: "sandbox", value: "none" },
        { name: "env LANG", value: "inherited" },
        { name: "env TOKEN", value: "literal" }
      ])
      assert.deepStrictEqual(JSON.parse((yield* on("pins export")).out), { format, servers })
      const { code, err } = yield* on("pins export nobody")
      assert.strictEqual(code, 1)
      assert.match(err, /nothing is known of nobody/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("pins import", () => {
  it.effect("accepts what is in the file after it was shown, and says what is accepted already", () =>
    Effect.gen(function*() {
      yield* shared
      yield* on("pins forget files", { person: { answer: "forget" } })
      yield* put({ ...Pins.empty("files"), sighted: [] })
      const asked: Array<Asked> = []
      const { code, out } = yield* on("pins import /repo/pins.json", { person: { ...yes, asked } })
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "Accepted 2 tools and the launch of files.")
      assert.match(asked[0]?.shown ?? "", /launch, wherever it is installed:\n {4}command +node/)
      assert.match(asked[0]?.shown ?? "", /tool read\n {2}new here, as 2025-11-25\n {4}description:/)
      const pins = yield* load("files")
      assert.deepStrictEqual(pins.pins.map(({ how, name }) => [name, how]), [["read", "import"], ["write", "import"]])
      assert.isDefined(pins.expects)
      assert.strictEqual(
        (yield* on("pins import /repo/pins.json", { person: yes })).out,
        "All of it is accepted already."
      )
      const { out: entries } = yield* on("ledger list --json --type accepted")
      assert.deepInclude(JSON.parse(entries).entries.at(-1), { server: "files", how: "import" })
      assert.strictEqual((yield* on("ledger verify")).code, 0)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("shows how a definition differs from the one accepted here", () =>
    Effect.gen(function*() {
      yield* shared
      yield* put(drifted("files", [changed, write], [changed, write]))
      const asked: Array<Asked> = []
      const { out } = yield* on("pins import /repo/pins.json", { person: { ...yes, asked } })
      assert.strictEqual(out, "Accepted 1 tool of files.")
      assert.match(asked[0]?.shown ?? "", /tool read\n {2}other than accepted here/)
      assert.include(asked[0]?.shown ?? "", "example.org")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("needs a person, or the digest of the file, and nothing below a relay", () =>
    Effect.gen(function*() {
      const out = yield* shared
      yield* put(Pins.empty("files"))
      const digest = Digest.sha256(out)
      for (const around of [{}, { person: { answer: "no" } }, { person: yes, parents: [relay] }]) {
        const { code, err } = yield* on("pins import /repo/pins.json", around)
        assert.strictEqual(code, 1)
        assert.match(err, /nothing was accepted/)
      }
      const wrong = yield* on(`pins import --digest ${"0".repeat(64)} /repo/pins.json`)
      assert.match(wrong.err, /the SHA-256 of \/repo\/pins.json is/)
      assert.strictEqual((yield* on(`pins import --digest ${digest} /repo/pins.json`, { parents: [relay] })).code, 1)
      assert.deepStrictEqual((yield* load("files")).pins, [])
      assert.strictEqual((yield* on(`pins import --digest ${digest} /repo/pins.json`)).code, 0)
      assert.lengthOf((yield* load("files")).pins, 2)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("changes nothing where the file cannot be used", () =>
    Effect.gen(function*() {
      const out = yield* shared
      const files = yield* MemoryFiles
      files.contents.set("/repo/pins.json", out.replace("Reads a file.", "Reads all files."))
      const { code, err } = yield* on("pins import /repo/pins.json", { person: yes })
      assert.strictEqual(code, 1)
      assert.match(
        err,
        /nothing was accepted: \/repo\/pins.json: tool "read" of files is not what its digest was taken of/
      )
    }).pipe(Effect.provide(layerMemory)))
})
