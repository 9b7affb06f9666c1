import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import * as Notices from "../../src/line/Notices.ts"
import * as Session from "../../src/session/Session.ts"
import { layerScripted } from "../../src/stage/Dispatch.ts"
import * as MemoryPeer from "../../src/stage/MemoryPeer.ts"
import * as Parse from "../../src/stage/Parse.ts"
import * as Transport from "../../src/stage/Transport.ts"
import * as T from "../../src/wire/Text.ts"
import { initializeOf, notification, request } from "../line/harness.ts"

/** Answers every request with who asked what, and notes each peer that opens a session. */
const answering = (opened: Array<string>) =>
  layerScripted((call, who) => {
    if (call.method !== "initialize") {
      return { _tag: "Result", result: T.fromValue({ who: who.client, method: call.method }) }
    }
    opened.push(who.client)
    return { _tag: "Result", result: T.fromValue({ protocolVersion: "2025-11-25", capabilities: { tools: {} } }) }
  })

describe("Dispatch", () => {
  it.effect("is opened once for each peer, with who the operator said it is", () =>
    Effect.gen(function*() {
      const opened: Array<string> = []
      const pairs = yield* Effect.forEach(["one", "two"], (client) => MemoryPeer.make({ client }))
      const [one, two] = pairs
      if (one === undefined || two === undefined) return assert.fail("two pairs were made")
      const session = yield* Effect.forkChild(
        Session.run.pipe(
          Effect.provide(Layer.mergeAll(
            answering(opened),
            Parse.layer(),
            Notices.layerSilent,
            Transport.layerMemory(one.peer, two.peer)
          ))
        )
      )
      for (const { far } of pairs) {
        yield* far.send(
          `${initializeOf(1)}\n${notification("notifications/initialized")}\n${request(2, "tools/list")}\n`
        )
        yield* far.endOutput
      }
      assert.deepStrictEqual(yield* Fiber.join(session), { ending: { _tag: "closed" }, settled: true })
      assert.sameMembers(opened, ["one", "two"])
      assert.include(two.far.written(), `{"jsonrpc":"2.0","id":2,"result":{"who":"two","method":"tools/list"}}`)
      assert.include(one.far.written(), `"who":"one"`)
    }))
})
