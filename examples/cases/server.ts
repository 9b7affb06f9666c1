/**
 * Tools for tests of the wire: each does one thing that a host, or what stands between, could get wrong.
 */
import * as Client from "@sallyport/core/server/Client"
import * as Json from "@sallyport/core/server/Json"
import * as Server from "@sallyport/core/server/Server"
import * as Tool from "@sallyport/core/server/Tool"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const echo = Tool.make("echo", {
  description: "Gives back a text",
  input: Schema.Struct({ text: Schema.String }),
  annotations: { readOnlyHint: true }
}, ({ text }) => Effect.succeed(text))

const echoJson = Tool.make("echo_json", {
  description: "Gives back any JSON value, digit for digit",
  input: Schema.Struct({ value: Json.Json }),
  output: Schema.Struct({ value: Json.Json })
}, ({ value }) => Effect.succeed({ value }))

const add = Tool.make("add", {
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  output: Schema.Struct({ sum: Schema.Finite })
}, ({ a, b }) => Effect.succeed({ sum: a + b }))

const slow = Tool.make("slow", {
  description: "Answers after a while",
  input: Schema.Struct({ ms: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 })) })
}, ({ ms }) => Effect.as(Effect.sleep(ms), "slow done"))

const fail = Tool.make("fail", { description: "Always fails" }, () => Effect.fail("boom"))

const noisy = Tool.make("noisy", { description: "Prints to the console" }, () =>
  Effect.gen(function*() {
    yield* Console.log("this is not the protocol")
    yield* Effect.log("and neither is this")
    yield* Effect.sync(() => globalThis.console.log("nor this"))
    yield* Effect.sync(() => process.stdout.write("nor this\n"))
    return "printed"
  }))

const big = Tool.make("big", {
  description: "Answers with many letters",
  input: Schema.Struct({ n: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 64 * 1024 * 1024 })) })
}, ({ n }) => Effect.succeed("x".repeat(n)))

const progress = Tool.make("progress", {
  description: "Tells of each of its steps",
  input: Schema.Struct({ steps: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })) })
}, ({ steps }) =>
  Effect.gen(function*() {
    for (let step = 1; step <= steps; step++) {
      yield* Effect.sleep(10)
      yield* Client.progress(step, steps, `step ${step}`)
    }
    return `${steps} steps`
  }))

export default Server.layerDispatch(
  { name: "cases", version: "1.0.0" },
  echo,
  echoJson,
  add,
  slow,
  fail,
  noisy,
  big,
  progress
)
