import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import * as MemoryPeer from "../../src/stage/MemoryPeer.ts"
import { layerMemory, Transport } from "../../src/stage/Transport.ts"

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe("MemoryPeer", () => {
  it.effect("reads a chunk only when the one before it was dealt with", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      const log: Array<string> = []
      const reader = yield* Effect.forkChild(peer.receive((chunk) =>
        Effect.gen(function*() {
          log.push(`read ${text(chunk)}`)
          yield* Effect.yieldNow
          log.push(`done ${text(chunk)}`)
        })
      ))
      yield* far.push("a")
      yield* far.send("b")
      assert.deepStrictEqual(log, ["read a", "done a", "read b", "done b"])
      yield* far.endOutput
      assert.isTrue(Exit.isSuccess(yield* Fiber.await(reader)))
    }))

  it.effect("gives the end to a reader that comes late", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      yield* far.push("a")
      yield* far.exit({ _tag: "exited", code: 3 })
      const ended = yield* Effect.forkChild(peer.ended)
      yield* Effect.yieldNow
      assert.isUndefined(ended.pollUnsafe())
      const seen: Array<string> = []
      yield* peer.receive((chunk) => Effect.sync(() => void seen.push(text(chunk))))
      yield* peer.receive(() => Effect.die("nothing is left to read"))
      assert.deepStrictEqual(seen, ["a"])
      assert.deepStrictEqual(yield* Fiber.join(ended), { _tag: "exited", code: 3 })
    }))

  it.effect("ends a reader with the failure or the defect of its handler", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      yield* far.push("a")
      yield* far.push("b")
      assert.strictEqual(yield* Effect.flip(peer.receive(() => Effect.fail("no"))), "no")
      const exit = yield* Effect.exit(peer.receive((): Effect.Effect<void> => {
        throw new Error("bug")
      }))
      assert.isTrue(Exit.hasDies(exit))
    }))

  it.effect("makes writes wait while the far side stalls, and lets them go when it exits", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      yield* peer.write("1\n2")
      yield* far.stall
      const writer = yield* Effect.forkChild(peer.write("\n"), { startImmediately: true })
      yield* Effect.yieldNow
      assert.isUndefined(writer.pollUnsafe())
      yield* far.resume
      yield* Fiber.join(writer)
      assert.strictEqual(yield* far.line, "1")
      assert.strictEqual(yield* far.line, "2")
      assert.deepStrictEqual(far.writes(), ["1\n2", "\n"])

      yield* far.stall
      const second = yield* Effect.forkChild(peer.write("3"), { startImmediately: true })
      yield* far.exit({ _tag: "signaled", signal: "SIGKILL" })
      yield* Fiber.join(second)
      yield* peer.write("dropped")
      assert.strictEqual(far.written(), "1\n2\n3")
      assert.deepStrictEqual(yield* peer.ended, { _tag: "signaled", signal: "SIGKILL" })
    }))

  it.effect("tells the end of its input, and its stderr", () =>
    Effect.gen(function*() {
      const { far, peer } = yield* MemoryPeer.make({ client: "host" })
      yield* far.stderr("oh")
      assert.strictEqual(peer.tail(), "oh")
      yield* peer.end
      yield* far.inputEnded
      yield* peer.write("dropped")
      assert.strictEqual(far.written(), "")
    }))
})

describe("Transport.layerMemory", () => {
  it.effect("serves all its peers side by side and gives back what the first one's session gave", () =>
    Effect.gen(function*() {
      const a = yield* MemoryPeer.make({ client: "a" })
      const b = yield* MemoryPeer.make({ client: "b" })
      const all = yield* Effect.forkChild(
        Effect.gen(function*() {
          const transport = yield* Transport
          return yield* transport.serve((peer) =>
            Effect.as(peer.receive((chunk) => peer.write(text(chunk))), peer.who.client)
          )
        }).pipe(Effect.provide(layerMemory(a.peer, b.peer)))
      )
      yield* b.far.send("to b")
      yield* a.far.send("to a")
      assert.strictEqual(a.far.written(), "to a")
      assert.strictEqual(b.far.written(), "to b")
      yield* a.far.endOutput
      yield* b.far.endOutput
      assert.strictEqual(yield* Fiber.join(all), "a")
    }))
})
