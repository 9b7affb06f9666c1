import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import { Effect } from "effect"
import {
  changed,
  drifted,
  hiding,
  launch,
  layerMemory,
  MemoryFiles,
  on,
  put,
  read,
  run,
  secret,
  server,
  state,
  write
} from "./support.ts"

describe("pins list", () => {
  it.effect("says so where no server was seen", () =>
    Effect.gen(function*() {
      const { code, out } = yield* on("pins list --check")
      assert.strictEqual(code, 0)
      assert.match(out, /No server was seen yet/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("has one row a server, and 11 beats 10", () =>
    Effect.gen(function*() {
      yield* put(drifted("calm", [read], [read]))
      assert.strictEqual((yield* on("pins list --check")).code, 0)
      yield* put(server("fresh", [read, write]))
      assert.strictEqual((yield* on("pins list --check")).code, 10)
      yield* put(drifted("grave", [read], [changed]))
      const { code, out } = yield* on("pins list --check")
      assert.strictEqual(code, 11)
      assert.deepStrictEqual(out.split("\n").map((line) => line.split(/ {2,}/)), [
        ["NAME", "ACCEPTED", "HELD", "CLASS", "LAST SEEN"],
        ["calm", "1", "0", "-", "2026-02-01 00:00:00"],
        ["fresh", "0", "2 + launch", "new", "2026-03-01 12:30:05"],
        ["grave", "0", "1", "text", "2026-03-01 12:30:05"]
      ])
      assert.strictEqual((yield* on("pins list")).code, 0)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("prints JSON", () =>
    Effect.gen(function*() {
      yield* put(server("fresh", [read]))
      assert.deepStrictEqual(JSON.parse((yield* on("pins list --json")).out), {
        servers: [{
          server: "fresh",
          accepted: 0,
          held: 1,
          rejected: 0,
          launch: "new",
          class: null,
          decidedBy: null,
          seen: "2026-03-01T12:30:05.000Z",
          fault: false
        }]
      })
    }).pipe(Effect.provide(layerMemory)))

  it.effect("names the file that cannot be read", () =>
    Effect.gen(function*() {
      yield* put(server("fresh", [read]))
      const files = yield* MemoryFiles
      files.contents.set(`${state}/pins/fresh/1.json`, "{")
      const { code, err, out } = yield* on("pins list")
      assert.strictEqual(code, 1)
      assert.strictEqual(out, "")
      assert.match(err, /^sallyport: .*pins\/fresh\/1\.json/)
      assert.notMatch(err, /\n\s+at /)
    }).pipe(Effect.provide(layerMemory)))
})

describe("pins show", () => {
  it.effect("shows what is hidden, and the digest of it", () =>
    Effect.gen(function*() {
      const pins = server("files", [hiding])
      yield* put(pins)
      const { code, out } = yield* on("pins show files")
      assert.strictEqual(code, 0)
      assert.include(out, "hi\\u{202e}de")
      assert.include(out, "\\u{7}bell \\u{e0041}tag")
      assert.include(out, Pins.digestOfHeld(pins) ?? "?")
      assert.match(out, /^[\n -~]*$/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("shows no value of the environment, not even its digest", () =>
    Effect.gen(function*() {
      const pins = drifted("files", [read], [read, write], { launch: launch(["other.js"]) })
      yield* put(pins)
      const value = pins.launch?.fields.find(({ name }) => name === "env TOKEN")?.value ?? "?"
      for (const verb of ["show", "diff", "show --json", "diff --json", "show --whole"]) {
        const { out } = yield* on(`pins ${verb} files`)
        assert.notInclude(out, secret)
        assert.notInclude(out, value)
        assert.include(out, "server.js")
      }
    }).pipe(Effect.provide(layerMemory)))

  it.effect("takes items as they are and as they are shown", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read, hiding]))
      for (const name of ["hi\\u{202e}de", "hi\u202ede"]) {
        const { out } = yield* on(`pins show files ${name}`)
        assert.include(out, "hi\\u{202e}de")
        assert.notInclude(out, "Reads a file")
      }
      const { code, err } = yield* on("pins show files nothing")
      assert.strictEqual(code, 1)
      assert.match(err, /files has no item nothing; sallyport pins show .*files lists what it has/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("prints JSON in ASCII that is the same definition", () =>
    Effect.gen(function*() {
      yield* put(server("files", [hiding]))
      const { out } = yield* on("pins show --json files")
      assert.match(out, /^[\n -~]*$/)
      assert.deepStrictEqual(JSON.parse(JSON.parse(out).items[0].text), hiding)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("says how to have a server seen that never was", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const { code, err } = yield* on("pins show flies")
      assert.strictEqual(code, 1)
      assert.match(err, /flies was never seen/)
      assert.match(err, /Start it once through the relay/)
      assert.match(err, /Known are: files/)
      const bad = yield* on("pins show ../files")
      assert.strictEqual(bad.code, 1)
      assert.match(bad.err, /cannot be the name of a server/)
    }).pipe(Effect.provide(layerMemory)))
})

describe("pins diff", () => {
  it.effect("exits by what is held", () =>
    Effect.gen(function*() {
      yield* put(drifted("calm", [read], [read]))
      yield* put(server("fresh", [read]))
      yield* put(drifted("grave", [read, write], [changed, write]))
      yield* put(drifted("moved", [read], [read], { launch: launch(["other.js"]) }))
      assert.strictEqual((yield* on("pins diff calm")).code, 0)
      assert.strictEqual((yield* on("pins diff fresh")).code, 10)
      assert.strictEqual((yield* on("pins diff moved")).code, 11)
      const grave = yield* on("pins diff grave")
      assert.strictEqual(grave.code, 11)
      assert.include(grave.out, "example.org")
      assert.notInclude(grave.out, "Writes a file")
      // Of an item that is not held nothing is.
      assert.strictEqual((yield* on("pins diff grave write")).code, 0)
      assert.strictEqual((yield* run(["pins", "show", "--state", state, "grave"])).code, 0)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("takes the class of the items that were named", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read, write], [changed, { ...write, title: "Write" }]))
      assert.strictEqual((yield* on("pins diff files read")).code, 11)
      const { code, out } = yield* on("pins diff --json files write")
      assert.strictEqual(JSON.parse(out).items.length, 1)
      assert.strictEqual(code, JSON.parse(out).class === "cosmetic" ? 10 : 11)
    }).pipe(Effect.provide(layerMemory)))
})
