import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Text from "@sallyport/core/wire/Text"
import { Effect } from "effect"
import type * as Ancestry from "../src/Ancestry.ts"
import type { Asked } from "../src/Person.ts"
import { changed, drifted, launch, layerMemory, load, on, put, read, seen, server, write } from "./support.ts"

const reject = { answer: "reject" }
const relay: Ancestry.Process = { name: "node", args: ["node", "/x/bin/sallyport.mjs", "relay", "--name", "files"] }

describe("pins reject", () => {
  it.effect("leaves what is held held, without being news", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [changed, write]))
      const asked: Array<Asked> = []
      const { code, out } = yield* on("pins reject files", { person: { ...reject, asked } })
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "Rejected 2 tools of files.")
      assert.include(asked[0]?.shown ?? "", "example.org")
      const pins = yield* load("files")
      assert.deepStrictEqual(Pins.judgeSeen(pins).held.map(({ name, reason }) => [name, reason]), [
        ["read", "held-rejected"],
        ["write", "held-rejected"]
      ])
      assert.strictEqual((yield* on("pins list --check")).code, 0)
      assert.strictEqual((yield* on("pins diff files")).code, 0)
      assert.match((yield* on("pins show files")).out, /tool read\n {2}held: rejected; changed \(text\)/)
      const { out: entries } = yield* on("ledger list --json --type rejected")
      assert.lengthOf(JSON.parse(entries).entries, 1)
      assert.strictEqual((yield* on("ledger verify")).code, 0)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("is taken back by accepting the item by its name, and by nothing else", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [read, write]))
      yield* on("pins reject files write", { person: reject })
      assert.match((yield* on("pins accept --all --unseen files")).out, /Nothing of files is held/)
      assert.strictEqual((yield* on("pins accept files write", { person: { answer: "accept" } })).code, 0)
      const pins = yield* load("files")
      assert.deepStrictEqual(pins.rejected, [])
      assert.deepStrictEqual(Pins.judgeSeen(pins).held, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("takes an accepted item away, and a launch only where it is said or held", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read, write], [read, write]))
      assert.strictEqual((yield* on("pins reject files read", { person: reject })).out, "Rejected 1 tool of files.")
      let pins = yield* load("files")
      assert.deepStrictEqual(pins.pins.map(({ name }) => name), ["write"])
      assert.isDefined(pins.launch)
      assert.strictEqual(
        (yield* on("pins reject --launch files", { person: reject })).out,
        "Rejected the launch of files."
      )
      pins = yield* load("files")
      assert.isUndefined(pins.launch)
      assert.isTrue(Pins.isRejectedLaunch(pins, launch()))
      // Unseen nothing takes that back.
      const unseen = yield* on("pins accept --all --unseen files")
      assert.strictEqual(unseen.code, 1)
      assert.match(unseen.err, /the launch of files was rejected/)
      assert.strictEqual((yield* on("pins accept files", { person: { answer: "accept" } })).code, 0)
      assert.strictEqual((yield* load("files")).launch?.digest, launch().digest)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("F1: is a person's: not without a terminal, not below a relay, not after another answer", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      for (const verb of ["reject", "forget"]) {
        for (const around of [{}, { person: { answer: verb }, parents: [relay] }, { person: { answer: "yes" } }]) {
          const { code, err } = yield* on(`pins ${verb} files`, around)
          assert.strictEqual(code, 1)
          assert.match(err, /nothing was (rejected|forgotten)/)
        }
      }
      assert.strictEqual((yield* load("files")).version, 1)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("F4: what was rejected under one name is shown under another", () =>
    Effect.gen(function*() {
      yield* put(drifted("known", [read], [read, write]))
      yield* on("pins reject known write", { person: reject })
      yield* put(server("other", [read, write]))
      const { out } = yield* on("pins diff other")
      assert.match(out, /tool read\n {2}held: new; accepted under the name known/)
      assert.match(out, /tool write\n {2}held: new; rejected under the name known/)
      assert.match(out, /launch: new; accepted under the name known/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("pins forget", () => {
  it.effect("leaves nothing but that the name is not trusted again", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [read, write]))
      const { code, out } = yield* on("pins forget files", { person: { answer: "forget" } })
      assert.strictEqual(code, 0)
      assert.match(out, /^Forgot files/)
      const pins = yield* load("files")
      assert.deepStrictEqual({ ...Pins.empty("files"), version: 2, sighted: Pins.kinds }, pins)
      assert.deepStrictEqual(Pins.trustFirstSight(pins, seen([read])).pins, [])
      const { out: entries } = yield* on("ledger list --json --type forgotten")
      assert.lengthOf(JSON.parse(entries).entries[0].items, 2)
    }).pipe(Effect.provide(layerMemory)))
})

describe("names of items", () => {
  it.effect("need their kind only where it cannot be told", () =>
    Effect.gen(function*() {
      const both = Pins.together([
        seen([read]).listing,
        Pins.listing("prompt", [Text.fromValue({ name: "read" })])
      ])
      yield* put(Pins.see(Pins.empty("files"), { ...seen([]), listing: both }))
      const { code, err } = yield* on("pins show files read")
      assert.strictEqual(code, 1)
      assert.match(err, /read may be tool:read or prompt:read; say which/)
      const { out } = yield* on("pins show files prompt:read")
      assert.include(out, "prompt read")
      assert.notInclude(out, "tool read")
    }).pipe(Effect.provide(layerMemory)))
})

describe("F23: pins accept --resources", () => {
  it.effect("is an accepted setting, asked and recorded like any other", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [read]))
      const asked: Array<Asked> = []
      const { out } = yield* on("pins accept --resources any files", { person: { answer: "accept", asked } })
      assert.strictEqual(out, "Accepted the setting resources = any of files.")
      assert.match(asked[0]?.question ?? "", /the setting resources = any of files/)
      assert.strictEqual((yield* load("files")).resources, "any")
      assert.match((yield* on("pins accept --resources any files", { person: { answer: "accept" } })).out, /Nothing/)
      const { out: entries } = yield* on("ledger list --json --type accepted")
      assert.deepStrictEqual(JSON.parse(entries).entries[0].items, [{ kind: "resources", name: "any", digest: "" }])
    }).pipe(Effect.provide(layerMemory)))
})
