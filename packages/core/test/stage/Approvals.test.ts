import { assert, describe, it } from "@effect/vitest"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import {
  Approvals,
  type ApprovalsError,
  layerFile,
  layerMemory,
  layerNone,
  maxLength
} from "@sallyport/core/stage/Approvals"
import type { Choice } from "@sallyport/core/stage/Approvals"
import * as Files from "@sallyport/core/store/Files"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Approval, Question } from "../../src/approval/Approval.ts"
import { Text } from "../../src/wire/Message.ts"

const directory = "/state/approvals"

const question: Question = {
  client: "desk",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "delete",
  arguments: Text.make(`{"name":"delete","arguments":{"count":1.0}}`),
  policy: "p1",
  rule: "ask-deletes",
  why: "deleting is final",
  via: "any",
  chain: "c1"
}

const settle = Effect.gen(function*() {
  for (let i = 0; i < 50; i++) yield* Effect.yieldNow
})
/** The file layer looks every half second. */
const soon = Effect.andThen(TestClock.adjust("600 millis"), settle)

const stateOf = (fiber: Fiber.Fiber<Approval, ApprovalsError>) => Effect.map(Fiber.join(fiber), ({ state }) => state)

/** Asks, and gives the fiber once the question waits. */
const asking = Effect.fnUntraced(function*(
  asked: Question = question,
  host?: (approval: Approval) => Effect.Effect<Choice | undefined>
) {
  const approvals = yield* Approvals
  const before = new Set((yield* approvals.pending).map(({ approval }) => approval.id))
  const fiber = yield* Effect.forkChild(approvals.ask(asked, host))
  yield* settle
  const found = (yield* approvals.pending).find(({ approval }) => !before.has(approval.id))
  return { fiber, id: found?.approval.id ?? "", digest: found?.approval.digest ?? "" }
})

const onFiles = layerFile({ directory }).pipe(Layer.provideMerge(Files.layerMemory))

const cases: ReadonlyArray<readonly [string, Layer.Layer<Approvals>, Layer.Layer<Approvals>]> = [
  ["layerMemory", layerMemory(), layerMemory({ pending: 2, expires: () => Duration.minutes(1) })],
  [
    "layerFile",
    onFiles,
    layerFile({ directory, pending: 2, expires: () => Duration.minutes(1) }).pipe(Layer.provide(Files.layerMemory))
  ]
]

for (const [name, layer, small] of cases) {
  describe(name, () => {
    it.effect("waits for the person at the terminal, who allows or denies", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        for (const choice of ["allow", "deny"] as const) {
          const { digest, fiber, id } = yield* asking()
          assert.isUndefined(fiber.pollUnsafe())
          const answered = yield* approvals.answer(id, digest, choice)
          yield* soon
          const state = yield* stateOf(fiber)
          assert.deepStrictEqual(state, { _tag: choice === "allow" ? "Allowed" : "Denied", channel: "terminal" })
          assert.deepStrictEqual(answered.state, state)
          assert.deepStrictEqual(yield* approvals.pending, [])
        }
      }).pipe(Effect.provide(layer)))

    it.effect("shows the question as it was put, number text and all", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        yield* asking()
        const [waiting] = yield* approvals.pending
        assert.deepStrictEqual(waiting?.approval.question, question)
        assert.strictEqual(waiting?.approval.state._tag, "Pending")
      }).pipe(Effect.provide(layer)))

    it.effect("no answer is a refusal: it expires after five minutes", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const { digest, fiber, id } = yield* asking()
        yield* TestClock.adjust("299 seconds")
        yield* settle
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("2 seconds")
        yield* settle
        assert.strictEqual((yield* stateOf(fiber))._tag, "Expired")
        const late = yield* Effect.flip(approvals.answer(id, digest, "allow"))
        assert.strictEqual(late.kind, "missing")
      }).pipe(Effect.provide(layer)))

    it.effect("an answer for another question does not count", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const first = yield* asking()
        const second = yield* asking({ ...question, arguments: Text.make(`{"name":"delete","arguments":{"count":1}}`) })
        assert.notStrictEqual(first.digest, second.digest)
        assert.strictEqual((yield* Effect.flip(approvals.answer(second.id, first.digest, "allow"))).kind, "failed")
        yield* soon
        assert.isUndefined(first.fiber.pollUnsafe())
        assert.isUndefined(second.fiber.pollUnsafe())
      }).pipe(Effect.provide(layer)))

    it.effect("the first answer counts", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const { digest, fiber, id } = yield* asking()
        yield* approvals.answer(id, digest, "deny")
        const second = yield* Effect.flip(approvals.answer(id, digest, "allow"))
        assert.include(["missing", "answered"], second.kind)
        yield* soon
        assert.strictEqual((yield* stateOf(fiber))._tag, "Denied")
      }).pipe(Effect.provide(layer)))

    it.effect("a cancelled call withdraws its question", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const { digest, fiber, id } = yield* asking()
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* approvals.pending, [])
        assert.strictEqual((yield* Effect.flip(approvals.answer(id, digest, "allow"))).kind, "missing")
      }).pipe(Effect.provide(layer)))

    it.effect("takes the host's answer, and gives up asking there when the terminal was faster", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const yes = yield* Deferred.make<Choice>()
        const byHost = yield* asking(question, () => Deferred.await(yes))
        yield* Deferred.succeed(yes, "allow")
        yield* settle
        assert.deepStrictEqual(yield* stateOf(byHost.fiber), { _tag: "Allowed", channel: "host" })

        let given = 0
        const other = yield* asking(question, () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => given++)))
        yield* approvals.answer(other.id, other.digest, "allow")
        yield* soon
        assert.deepStrictEqual(yield* stateOf(other.fiber), { _tag: "Allowed", channel: "terminal" })
        assert.strictEqual(given, 1)
      }).pipe(Effect.provide(layer)))

    it.effect("a host that cannot ask leaves the question to the terminal", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const { digest, fiber, id } = yield* asking(question, () => Effect.undefined)
        yield* soon
        assert.isUndefined(fiber.pollUnsafe())
        yield* approvals.answer(id, digest, "allow")
        yield* soon
        assert.strictEqual((yield* stateOf(fiber))._tag, "Allowed")
      }).pipe(Effect.provide(layer)))

    it.effect("F15: a yes of the host's does not count where the terminal is demanded", () =>
      Effect.gen(function*() {
        const { fiber } = yield* asking({ ...question, via: "terminal" }, () => Effect.succeed("allow"))
        yield* soon
        assert.isUndefined(fiber.pollUnsafe())
      }).pipe(Effect.provide(layer)))

    it.effect("asks so many questions of one server at once, and no more", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const first = yield* asking()
        yield* asking()
        const third = yield* Effect.flip(approvals.ask(question))
        assert.strictEqual(third.kind, "full")
        yield* Effect.forkChild(approvals.ask({ ...question, server: "mail" }))
        yield* settle
        assert.strictEqual((yield* approvals.pending).length, 3)
        yield* Fiber.interrupt(first.fiber)
        yield* asking()
        yield* TestClock.adjust("1 minute")
        yield* settle
        assert.deepStrictEqual(yield* approvals.pending, [])
      }).pipe(Effect.provide(small)))

    it.effect("does not put what no person can look through", () =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const long = Text.make(`{"name":"delete","arguments":{"x":"${"a".repeat(maxLength)}"}}`)
        assert.strictEqual((yield* Effect.flip(approvals.ask({ ...question, arguments: long }))).kind, "too-long")
        assert.deepStrictEqual(yield* approvals.pending, [])
      }).pipe(Effect.provide(layer)))
  })
}

describe("layerFile, between processes", () => {
  /** Two services over one folder. */
  const two = Effect.gen(function*() {
    const relay = yield* Effect.provide(Approvals, layerFile({ directory }))
    const command = yield* Effect.provide(Approvals, layerFile({ directory }))
    return { relay, command }
  })

  it.effect("answers in one process what another one asks", () =>
    Effect.gen(function*() {
      const { command, relay } = yield* two
      const fiber = yield* Effect.forkChild(relay.ask(question))
      yield* settle
      const [waiting] = yield* command.pending
      assert.isDefined(waiting)
      if (waiting === undefined) return
      yield* command.answer(waiting.approval.id, waiting.approval.digest, "allow")
      yield* soon
      assert.strictEqual((yield* stateOf(fiber))._tag, "Allowed")
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("F30: a question that was seen to have expired stays so when the clock is set back", () =>
    Effect.gen(function*() {
      const { command, relay } = yield* two
      const files = yield* Files.MemoryFiles
      yield* TestClock.setTime(1_000_000_000_000)
      const fiber = yield* Effect.forkChild(relay.ask(question))
      yield* settle
      // As after kill -9 of the relay: the question lies there, and nobody ends it.
      const left = new Map(files.contents)
      yield* Fiber.interrupt(fiber)
      files.contents.clear()
      for (const [path, text] of left) files.contents.set(path, text)
      assert.strictEqual((yield* command.pending).length, 1)
      yield* TestClock.setTime(1_000_000_301_000)
      assert.deepStrictEqual(yield* command.pending, [])
      yield* TestClock.setTime(1_000_000_001_000)
      assert.deepStrictEqual(yield* command.pending, [])
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("of a withdrawal and an answer the first one counts, and the other one is told", () =>
    Effect.gen(function*() {
      const { command, relay } = yield* two
      const files = yield* Files.MemoryFiles
      const fiber = yield* Effect.forkChild(relay.ask(question))
      yield* settle
      const [waiting] = yield* command.pending
      if (waiting === undefined) return assert.fail("no question waits")
      const { digest, id } = waiting.approval
      // The command has read the question and is about to answer; the call is cancelled in between.
      const held = yield* Deferred.make<void>()
      files.fault("create", 1, Deferred.await(held))
      const answering = yield* Effect.forkChild(Effect.flip(command.answer(id, digest, "allow")))
      yield* settle
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(held, undefined)
      yield* settle
      assert.strictEqual((yield* Fiber.join(answering)).kind, "answered")
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("an answer that lies there for another question, or from before, allows nothing", () =>
    Effect.gen(function*() {
      const { relay } = yield* two
      const files = yield* Files.MemoryFiles
      const fiber = yield* Effect.forkChild(Effect.flip(relay.ask(question)))
      yield* settle
      const id = [...files.contents.keys()].find((path) => path.startsWith(directory))?.slice(
        directory.length + 1,
        directory.length + 9
      )
      files.contents.set(
        `${directory}/${id}.answer.json`,
        JSON.stringify({ id, verdict: "allow", channel: "terminal", digest: "0".repeat(64), at: 0, expires: 1 })
      )
      yield* soon
      assert.strictEqual((yield* Fiber.join(fiber)).kind, "failed")
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("a disk that fails refuses, and so does a folder that is not to be trusted", () =>
    Effect.gen(function*() {
      const { relay } = yield* two
      const files = yield* Files.MemoryFiles
      files.fault("create", 1, "fail")
      assert.strictEqual((yield* Effect.flip(relay.ask(question))).kind, "failed")
      // The host's yes cannot be written: nobody could say any more that it was not a no.
      files.fault("create", 2, "fail")
      assert.strictEqual((yield* Effect.flip(relay.ask(question, () => Effect.succeed("allow")))).kind, "failed")
      files.untrusted.set(directory, "is writable by everybody")
      assert.strictEqual((yield* Effect.flip(relay.ask(question))).kind, "failed")
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("takes the arguments off the disk when the question is over, and the answer some time later", () =>
    Effect.gen(function*() {
      const { command, relay } = yield* two
      const files = yield* Files.MemoryFiles
      const names = () => [...files.contents.keys()].map((path) => path.slice(directory.length + 10))
      const fiber = yield* Effect.forkChild(relay.ask(question))
      yield* settle
      const [waiting] = yield* command.pending
      if (waiting === undefined) return assert.fail("no question waits")
      yield* command.answer(waiting.approval.id, waiting.approval.digest, "deny")
      assert.deepStrictEqual(names(), ["json", "answer.json"])
      yield* soon
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(names(), ["answer.json"])
      yield* TestClock.adjust("1 hour")
      yield* command.pending
      assert.deepStrictEqual(names(), [])
    }).pipe(Effect.provide(Files.layerMemory)))

  it.effect("what lies in the folder and cannot be read stands in the way of no question, and is said", () =>
    Effect.gen(function*() {
      const { command, relay } = yield* two
      const { contents } = yield* Files.MemoryFiles
      const put = (name: string, text: string) => contents.set(`${directory}/${name}`, text)
      put("aaaaaaaa.json", "half a quest")
      put("bbbbbbbb.answer.json", "{}")
      put("cccccccc.json", `{"id":"cccccccc","more":1}`)
      put("notes.txt", "mine")
      const fiber = yield* Effect.forkChild(relay.ask(question))
      yield* settle
      const [waiting] = yield* command.pending
      if (waiting === undefined) return assert.fail("no question waits")
      const said = yield* command.unreadable
      assert.deepStrictEqual(said.map((sentence) => sentence.split(" ")[0]), [
        `${directory}/aaaaaaaa.json`,
        `${directory}/bbbbbbbb.answer.json`,
        `${directory}/cccccccc.json`
      ])
      yield* command.answer(waiting.approval.id, waiting.approval.digest, "allow")
      yield* soon
      assert.strictEqual((yield* stateOf(fiber))._tag, "Allowed")
    }).pipe(Effect.provide(Files.layerMemory)))

  it.live("is two files of mode 0600 on a disk", () =>
    Effect.gen(function*() {
      const folder = mkdtempSync(join(tmpdir(), "sallyport-approvals-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const at = join(folder, "approvals")
      const approvals = yield* Effect.provide(
        Approvals,
        layerFile({ directory: at }).pipe(Layer.provide(NodeFiles.layer))
      )
      const shown: Array<string> = []
      const done = yield* approvals.ask(question, (approval) =>
        Effect.gen(function*() {
          for (const name of readdirSync(at)) {
            shown.push(`${name} ${(statSync(join(at, name)).mode & 0o777).toString(8)}`)
          }
          yield* Effect.orDie(approvals.answer(approval.id, approval.digest, "allow"))
          for (const name of readdirSync(at)) {
            shown.push(`${name} ${(statSync(join(at, name)).mode & 0o777).toString(8)}`)
          }
          return undefined
        }))
      assert.deepStrictEqual(done.state, { _tag: "Allowed", channel: "terminal" })
      assert.deepStrictEqual(shown, [
        `${done.id}.json 600`,
        `${done.id}.answer.json 600`,
        `${done.id}.json 600`
      ])
    }))
})

describe("layerNone", () => {
  it.effect("refuses: nobody can be asked", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      assert.strictEqual((yield* Effect.flip(approvals.ask(question))).kind, "unavailable")
      assert.deepStrictEqual(yield* approvals.pending, [])
    }).pipe(Effect.provide(layerNone)))
})
