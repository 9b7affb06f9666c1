import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Latch } from "effect"
import { PassThrough, Writable } from "node:stream"
import * as NodePeer from "../../src/node/NodePeer.ts"

class Name extends Context.Service<Name, string>()("test/Name") {}

/** Lets streams and fibers do all that they can without anything new. */
const rest = Effect.promise(async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
})

const slow = () => {
  const waiting: Array<() => void> = []
  const seen: Array<string> = []
  const stream = new Writable({
    highWaterMark: 8,
    decodeStrings: false,
    write(chunk, _, done) {
      seen.push(String(chunk))
      waiting.push(done)
    }
  })
  return { stream, seen, next: () => waiting.shift()?.() }
}

const make = (highWaterMark = 64 * 1024) => {
  const input = new PassThrough({ highWaterMark })
  const output = slow()
  return { input, output, wires: NodePeer.make(input, output.stream) }
}

describe("NodePeer.receive", () => {
  it.live("reads the next chunk when the Effect of the one before is done", () =>
    Effect.gen(function*() {
      const { input, wires } = make(4)
      const gate = yield* Latch.make(false)
      const seen: Array<string> = []
      const reader = yield* Effect.forkChild(wires.receive((chunk) => {
        seen.push(Buffer.from(chunk).toString())
        return gate.await
      }))
      yield* rest
      assert.isTrue(wires.hungry())
      let accepted = 0
      while (accepted < 100 && input.write("abcd")) accepted += 1
      input.end("last")
      yield* rest
      assert.deepStrictEqual(seen, ["abcd"])
      assert.isFalse(wires.hungry())
      assert.isBelow(accepted, 10, "the writer is held up")
      yield* gate.open
      yield* Fiber.join(reader)
      assert.strictEqual(seen.at(-1), "last")
      assert.strictEqual(wires.taken(), seen.join("").length)
    }))

  it.live("stays in the event for a chunk that is dealt with at once", () =>
    Effect.gen(function*() {
      const { input, wires } = make()
      let pauses = 0
      input.on("pause", () => pauses += 1)
      const reader = yield* Effect.forkChild(wires.receive(() => Effect.sync(() => {})))
      yield* rest
      const before = pauses
      for (const chunk of ["a", "b", "c"]) {
        input.write(chunk)
        yield* rest
      }
      assert.strictEqual(pauses, before)
      assert.strictEqual(wires.taken(), 3)
      input.end()
      yield* Fiber.join(reader)
    }))

  it.live("ends with the failure, the defect or the throw of a handler", () =>
    Effect.gen(function*() {
      const late = (exit: Exit.Exit<void, string>) => Effect.andThen(Effect.sleep(1), exit)
      const handlers: ReadonlyArray<readonly [() => Effect.Effect<void, string>, boolean]> = [
        [() => Effect.fail("no"), false],
        [() => late(Exit.fail("no")), false],
        [() => Effect.die("bug"), true],
        [() => late(Exit.die("bug")), true],
        [() => {
          throw new Error("bug")
        }, true]
      ]
      for (const [handler, dies] of handlers) {
        const { input, wires } = make()
        input.write("x")
        const exit = yield* Effect.exit(wires.receive(handler))
        assert.strictEqual(Exit.isFailure(exit) && Exit.hasDies(exit), dies)
        assert.strictEqual(Exit.isFailure(exit) && Exit.hasFails(exit), !dies)
        assert.isTrue(input.isPaused())
      }
    }))

  it.live("gives the services of its caller to the handler", () =>
    Effect.gen(function*() {
      const { input, wires } = make()
      input.end("x")
      let name = ""
      yield* wires.receive(() => Effect.map(Name, (given) => void (name = given))).pipe(
        Effect.provideService(Name, "given")
      )
      assert.strictEqual(name, "given")
    }))

  it.live("interrupts the handler when it is interrupted, and leaves the rest to the next reader", () =>
    Effect.gen(function*() {
      const { input, wires } = make()
      const interrupted = yield* Deferred.make<void>()
      input.write("one")
      const reader = yield* Effect.forkChild(
        wires.receive(() => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      )
      yield* rest
      yield* Fiber.interrupt(reader)
      yield* Deferred.await(interrupted)
      input.end("two")
      yield* rest
      const seen: Array<string> = []
      yield* wires.receive((chunk) => Effect.sync(() => void seen.push(Buffer.from(chunk).toString())))
      assert.deepStrictEqual(seen, ["two"])
    }))

  it.live("keeps what comes while nobody reads, as Node resumes the pipes of a child that exits", () =>
    Effect.gen(function*() {
      const { input, wires } = make()
      const gate = yield* Latch.make(false)
      input.write("one")
      input.resume()
      yield* rest
      const seen: Array<string> = []
      const reader = yield* Effect.forkChild(wires.receive((chunk) => {
        seen.push(Buffer.from(chunk).toString())
        return gate.await
      }))
      yield* rest
      input.write("two")
      input.resume()
      yield* rest
      input.write("three")
      input.end()
      input.resume()
      yield* rest
      assert.deepStrictEqual(seen, ["one"])
      yield* gate.open
      yield* Fiber.join(reader)
      assert.deepStrictEqual(seen.join(" "), "one two three")
    }))

  it.live("takes a broken stream for the end", () =>
    Effect.gen(function*() {
      const { input, wires } = make()
      const reader = yield* Effect.forkChild(wires.receive(() => Effect.void))
      yield* rest
      input.destroy(new Error("ECONNRESET"))
      yield* Fiber.join(reader)
      yield* wires.receive(() => Effect.die("nothing"))
    }))

  it.live("throws away what nobody reads once that was asked for", () =>
    Effect.gen(function*() {
      const { input, wires } = make(4)
      for (let index = 0; index < 100; index++) input.write("abcd")
      input.end()
      wires.discard()
      yield* rest
      assert.isTrue(input.readableEnded)
    }))
})

describe("NodePeer.write", () => {
  it.live("is done at once while there is room, else when there is room again", () =>
    Effect.gen(function*() {
      const { output, wires } = make()
      const first = yield* Effect.forkChild(wires.write("abc"), { startImmediately: true })
      assert.isDefined(first.pollUnsafe())
      const writers = yield* Effect.forEach(["defghi", "j"], (text) => Effect.forkChild(wires.write(text)))
      yield* rest
      assert.isTrue(writers.every((fiber) => fiber.pollUnsafe() === undefined))
      output.next()
      output.next()
      output.next()
      yield* Effect.forEach(writers, Fiber.join)
      assert.strictEqual(output.seen.join(""), "abcdefghij")
    }))

  it.live("lets go of everyone who waits when the reader is gone, and drops what comes then", () =>
    Effect.gen(function*() {
      const { output, wires } = make()
      const writers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => `waits ${index}`),
        (text) => Effect.forkChild(wires.write(text))
      )
      yield* rest
      output.stream.destroy(new Error("EPIPE"))
      yield* Effect.forEach(writers, Fiber.join)
      yield* wires.write("x")
      yield* wires.end
      yield* wires.flushed
    }))

  it.live("half-closes behind what was written, and tells when all of it has left", () =>
    Effect.gen(function*() {
      const { output, wires } = make()
      yield* wires.flushed
      yield* wires.write("abc")
      yield* wires.end
      yield* wires.write("dropped")
      const flushed = yield* Effect.forkChild(wires.flushed)
      yield* rest
      assert.isUndefined(flushed.pollUnsafe())
      output.next()
      yield* Fiber.join(flushed)
      assert.deepStrictEqual(output.seen, ["abc"])
      assert.isTrue(output.stream.writableFinished)
    }))
})
