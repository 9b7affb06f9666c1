import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Tool as AiTool, Toolkit } from "effect/ai"
import * as Server from "../../src/server/Server.ts"
import * as Tools from "../../src/server/Tools.ts"
import { opened, serve } from "./harness.ts"

class Weather
  extends Context.Service<Weather, { readonly of: (city: string) => Effect.Effect<number> }>()("test/Weather")
{}

class NoCity extends Schema.TaggedError<NoCity>()("NoCity", { message: Schema.String }) {}

const kit = Toolkit.make(
  AiTool.make("weather", {
    description: "The weather of a city",
    parameters: Schema.Struct({ city: Schema.NonEmptyString, when: Schema.optionalKey(Schema.Date) }),
    success: Schema.Struct({ degrees: Schema.Finite }),
    failure: NoCity
  }).annotate(AiTool.Title, "Weather").annotate(AiTool.Readonly, true),
  AiTool.make("returned", {
    description: "Fails in its result",
    parameters: AiTool.EmptyParams,
    success: Schema.String,
    failure: Schema.Struct({ message: Schema.String }),
    failureMode: "return"
  }),
  AiTool.make("says", { description: "Says", parameters: AiTool.EmptyParams, success: Schema.String }),
  AiTool.make("nothing", { description: "Gives nothing", parameters: AiTool.EmptyParams }),
  AiTool.make("dies", { description: "Dies", parameters: AiTool.EmptyParams, success: Schema.String })
)

const handlers = kit.toLayer(Effect.gen(function*() {
  const weather = yield* Weather
  return {
    weather: ({ city, when }) =>
      city === "nowhere"
        ? Effect.fail(new NoCity({ message: "There is no such city" }))
        : Effect.map(weather.of(city), (degrees) => ({ degrees: degrees + (when?.getUTCFullYear() ?? 0) })),
    returned: () => Effect.fail({ message: "not today" }),
    says: () => Effect.succeed("hello"),
    nothing: () => Effect.void,
    dies: () => Effect.die("secret")
  }
}))

const server = Server.layerDispatch({ name: "kit", version: "1" }, Tools.fromToolkit(kit)).pipe(
  Layer.provide(handlers),
  Layer.provide(Layer.succeed(Weather, { of: (city) => Effect.succeed(city.length) }))
)

describe("Tools.fromToolkit", () => {
  it.effect("lists a toolkit's tools", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      const { text } = yield* client.asks("tools/list")
      assert.include(text, `"name":"weather","title":"Weather","description":"The weather of a city"`)
      assert.include(text, `"readOnlyHint":true`)
      assert.include(text, `"outputSchema":{"type":"object"`)
      assert.notInclude(text, `"name":"says","description":"Says","inputSchema":{"type":"object"},"outputSchema"`)
      assert.match(text, /"name":"nothing","description":"Gives nothing","inputSchema":\{"type":"object"/)
    }))

  it.effect("calls them", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2025-11-25")
      const call = (name: string, args: unknown = {}) =>
        Effect.map(client.asks("tools/call", { name, arguments: args }), ({ text }) => text)
      assert.include(yield* call("weather", { city: "Oslo" }), `"structuredContent":{"degrees":4}`)
      assert.include(yield* call("weather", { city: "Oslo", when: "2020-01-01" }), `{"degrees":2024}`)
      assert.include(yield* call("weather", { city: "nowhere" }), `"text":"There is no such city"}],"isError":true`)
      assert.include(yield* call("returned"), `"text":"not today"}],"isError":true`)
      assert.include(yield* call("says"), `"content":[{"type":"text","text":"hello"}]}`)
      assert.include(yield* call("nothing"), `"content":[]`)
      for (const args of [{}, { city: "" }, { city: 7 }, { city: "Oslo", more: 1 }]) {
        const text = yield* call("weather", args)
        assert.include(text, "These arguments do not fit", JSON.stringify(args))
        assert.include(text, `"isError":true`)
        assert.notInclude(text, "returned")
      }
      const died = yield* call("dies")
      assert.include(died, "the server's log says more")
      assert.notInclude(died, "secret")
    }))
})
