import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { cancel, opened, serve } from "./harness.ts"

describe("a handler that ends without a result", () => {
  const log: Array<string> = []
  const logger = Logger.layer([
    Logger.make<unknown, void>(({ message }) => {
      log.push(String(message))
    })
  ])
  const server = Server.layerDispatch(
    { name: "test", version: "1" },
    Tool.make("waits", { description: "Waits" }, () => Effect.never),
    Tool.make("breaks", { description: "Breaks" }, () => Effect.die("broken")),
    Tool.make(
      "breaks_late",
      { description: "Breaks when it is stopped" },
      () => Effect.onInterrupt(Effect.never, () => Effect.die("broken"))
    )
  )

  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`is told to the operator, unless it was told to stop and did (${revision})`, () =>
      Effect.gen(function*() {
        log.length = 0
        const client = yield* opened(yield* serve(server), revision)
        const waits = yield* client.send("tools/call", { name: "waits" })
        yield* client.says(cancel(waits))
        assert.deepStrictEqual(log, [])
        yield* client.send("tools/call", { name: "breaks" })
        assert.strictEqual(log.length, 1)
        const late = yield* client.send("tools/call", { name: "breaks_late" })
        yield* client.says(cancel(late))
        assert.strictEqual(log.length, 2)
        assert.strictEqual(client.answerTo(waits), undefined)
      }).pipe(Effect.provide(Layer.fresh(logger))))
  }
})
