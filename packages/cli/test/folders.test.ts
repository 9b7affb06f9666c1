import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@sallyport/core/node/Environment"
import { Effect } from "effect"
import * as Folders from "../src/Folders.ts"

const state = (given: string | undefined, own: Readonly<Record<string, string>>) =>
  Effect.provideService(Folders.state(given), Environment, own)

describe("the state folder", () => {
  it.effect("is the one given, else the user's", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* state("/s", {}), "/s")
      assert.strictEqual(yield* state(undefined, { HOME: "/h", XDG_STATE_HOME: "/x" }), "/x/sallyport")
      // A relative one would depend on where the host happens to run.
      assert.match(yield* state(undefined, { HOME: "/h", XDG_STATE_HOME: "x" }), /^\/h\/.*sallyport$/)
    }))

  it.effect("is never the folder of an empty name: a shell's variable was not set", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(state("", { HOME: "/h" }))
      assert.include(error.message, "empty")
    }))

  it.effect("is not known without a home", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(state(undefined, {}))
      assert.strictEqual(error.message, "neither XDG_STATE_HOME nor HOME is set")
    }))
})
