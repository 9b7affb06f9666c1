import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Tracer } from "effect"
import * as Prompt from "../../src/server/Prompt.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { opened, serve } from "./harness.ts"

const work = Tool.make("work", { description: "works" }, () => Effect.withSpan(Effect.yieldNow, "inner"))
const constant = Tool.make("constant", { description: "constant" }, () => Effect.succeed("done"))
const broken = Tool.make("broken", { description: "breaks" }, () => Effect.die(new Error("no")))
const greet = Prompt.make("greet", { description: "greets" }, () => Effect.succeed("hello"))

const parts = [work, constant, broken, greet] as const

const traced = Effect.fnUntraced(function*(revision: "2025-11-25" | "2026-07-28") {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const server = Server.layerDispatch({ name: "s", version: "1" }, ...parts).pipe(
    Layer.provide(Layer.succeed(Tracer.Tracer, tracer))
  )
  const client = yield* opened(yield* serve(server), revision)
  return { client, spans }
})

describe("spans", () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`${revision}: a request that a handler serves is one span, and what the handler does is inside it`, () =>
      Effect.gen(function*() {
        const { client, spans } = yield* traced(revision)
        yield* client.asks("tools/list")
        assert.deepStrictEqual(spans, [])
        yield* client.asks("tools/call", { name: "work" })
        yield* client.asks("tools/call", { name: "constant" })
        yield* client.asks("prompts/get", { name: "greet" })
        assert.deepStrictEqual(spans.map(({ name }) => name), [
          "tools/call work",
          "inner",
          "tools/call constant",
          "prompts/get greet"
        ])
        const [call, inner] = spans
        assert.strictEqual(call?.kind, "server")
        assert.strictEqual(call?.attributes.get("mcp.protocol.version"), revision)
        assert.strictEqual(call?.attributes.get("gen_ai.tool.name"), "work")
        assert.isTrue(Option.isNone(call?.parent ?? Option.none()))
        assert.strictEqual(Option.getOrUndefined(inner?.parent ?? Option.none())?.spanId, call?.spanId)
        for (const { status } of spans) assert.strictEqual(status._tag, "Ended")
      }))

    it.effect(`${revision}: traceparent names the parent, and one that cannot be read names none`, () =>
      Effect.gen(function*() {
        const { client, spans } = yield* traced(revision)
        const trace = "0af7651916cd43dd8448eb211c80319c"
        const asked = [
          `00-${trace}-b7ad6b7169203331-01`,
          `00-${trace}-b7ad6b7169203331-00`,
          `00-${trace}-0000000000000000-01`,
          "x",
          7
        ]
        for (const traceparent of asked) yield* client.asks("tools/call", { name: "constant" }, { traceparent })
        const parents = spans.map(({ parent }) => Option.getOrUndefined(parent))
        assert.deepStrictEqual(parents.map((parent) => parent?.spanId), [
          "b7ad6b7169203331",
          "b7ad6b7169203331",
          undefined,
          undefined,
          undefined
        ])
        assert.strictEqual(spans[0]?.traceId, trace)
        assert.deepStrictEqual(parents.slice(0, 2).map((parent) => parent?.sampled), [true, false])
      }))
  }

  it.effect("a defect ends the span with its cause", () =>
    Effect.gen(function*() {
      const { client, spans } = yield* traced("2025-11-25")
      yield* client.asks("tools/call", { name: "broken" })
      const status = spans[0]?.status
      assert.isTrue(status?._tag === "Ended" && status.exit._tag === "Failure")
    }))

  it.effect("a server that was built without a tracer makes none, whatever serves it has", () =>
    Effect.gen(function*() {
      let made = 0
      const tracer = Tracer.make({
        span: (options) => {
          made++
          return new Tracer.NativeSpan(options)
        }
      })
      const client = yield* opened(
        yield* serve(Server.layerDispatch({ name: "s", version: "1" }, constant)),
        "2025-11-25"
      )
      yield* Effect.provideService(client.asks("tools/call", { name: "constant" }), Tracer.Tracer, tracer)
      assert.strictEqual(made, 0)
    }))
})
