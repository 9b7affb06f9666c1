import { assert, describe, it } from "@effect/vitest"
import { layerMemory, MemoryFiles } from "@sallyport/core/store/Files"
import { Effect } from "effect"
import * as Settings from "../src/Settings.ts"

const read = (text: string) =>
  Effect.gen(function*() {
    const files = yield* MemoryFiles
    files.contents.set("/c/settings.toml", text)
    return yield* Settings.read("/c")
  }).pipe(Effect.provide(layerMemory))

describe("settings.toml", () => {
  it.effect("that is not there says nothing", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Settings.read("/c"), {})
    }).pipe(Effect.provide(layerMemory)))

  it.effect("may fix all that it has a name for", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(
        yield* read(
          "locked = true\nmessage_bytes = 1024\ndepth = 8\npeer_bytes = 9\nhalf_close = \"2 seconds\"\nterm = \"50 millis\"\n[ledger]\nsync = true\ndigest = \"plain\"\nfull = true\nsegment_bytes = 65536\nbudget_bytes = 1000000\n"
        ),
        {
          locked: true,
          message_bytes: 1024,
          depth: 8,
          peer_bytes: 9,
          half_close: "2 seconds",
          term: "50 millis",
          ledger: { sync: true, digest: "plain", full: true, segment_bytes: 65536, budget_bytes: 1_000_000 }
        }
      )
    }))

  const rows: ReadonlyArray<readonly [what: string, text: string, says: RegExp]> = [
    ["a name that it has not", "looked = true\n", /looked/],
    ["a limit that lets nothing through", "message_bytes = 0\n", /message_bytes/],
    ["a limit below nothing", "depth = -5\n", /depth/],
    ["a limit with a fraction", "depth = 1.5\n", /depth/],
    ["a time without a unit", "term = \"50\"\n", /term/],
    ["an endless time", "half_close = \"9999999999 seconds\"\n", /half_close/],
    ["a digest that it has not", "[ledger]\ndigest = \"none\"\n", /digest/],
    ["segments that could not be read", "[ledger]\nsegment_bytes = 1000000000\n", /segment_bytes/],
    ["no TOML", "locked = \n", /line 1|1:/]
  ]
  for (const [what, text, says] of rows) {
    it.effect(`with ${what} refuses everything, and names the file`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(read(text))
        assert.include(error.message, "/c/settings.toml")
        assert.match(error.message, says)
      }))
  }
})
