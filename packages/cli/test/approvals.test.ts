import { assert, describe, it } from "@effect/vitest"
import type { Question } from "@sallyport/core/approval/Approval"
import { Approvals, layerFile } from "@sallyport/core/stage/Approvals"
import * as Text from "@sallyport/core/wire/Text"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type * as Ancestry from "../src/Ancestry.ts"
import type { Asked } from "../src/Person.ts"
import { layerMemory, MemoryFiles, on, state } from "./support.ts"

const relay: Ancestry.Process = { name: "node", args: ["node", "/x/bin/sallyport.mjs", "relay", "--name", "files"] }
const agent: Ancestry.Process = { name: "claude", args: ["claude"] }

const question: Question = {
  client: "desk",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "delete",
  arguments: Text.object([
    ["name", Text.quote("delete")],
    ["arguments", Text.object([["path", Text.quote("/srv/\u202enotes")], ["count", Text.integer(1)]])]
  ]),
  policy: "p1",
  rule: "ask-deletes",
  why: "deleting is final",
  via: "any",
  chain: "c1"
}

const settle = Effect.gen(function*() {
  for (let i = 0; i < 50; i++) yield* Effect.yieldNow
})

/** A relay that asks, in another process as it were. */
const asking = Effect.fnUntraced(function*(asked: Question = question) {
  const approvals = yield* Effect.provide(Approvals, layerFile({ directory: `${state}/approvals` }))
  const before = new Set((yield* approvals.pending).map(({ approval }) => approval.id))
  const fiber = yield* Effect.forkChild(approvals.ask(asked))
  yield* settle
  const id = (yield* approvals.pending).find(({ approval }) => !before.has(approval.id))?.approval.id ?? ""
  const outcome = Effect.gen(function*() {
    yield* TestClock.adjust("600 millis")
    yield* settle
    return fiber.pollUnsafe() === undefined ? "waits" : (yield* Fiber.join(fiber)).state._tag
  })
  return { id, fiber, outcome }
})

const recorded = Effect.gen(function*() {
  const { out } = yield* on("ledger list --json")
  const { entries }: { readonly entries: ReadonlyArray<Record<string, unknown>> } = JSON.parse(out)
  return entries
})

describe("approvals", () => {
  it.effect("says that no question waits", () =>
    Effect.gen(function*() {
      const { code, out } = yield* on("approvals list")
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "No question waits.")
      assert.deepStrictEqual(JSON.parse((yield* on("approvals list --json")).out), {
        approvals: [],
        unreadable: []
      })
    }).pipe(Effect.provide(layerMemory)))

  it.effect("lists what waits, in 80 columns, and status counts it", () =>
    Effect.gen(function*() {
      const { id } = yield* asking({ ...question, name: "a".repeat(200), rule: "r".repeat(90) })
      const { out } = yield* on("approvals list")
      const table = out.split("\n\n")[0] ?? ""
      for (const line of table.split("\n")) assert.isAtMost(line.length, 80, line)
      assert.include(table, id)
      assert.include(table, "5:00")
      const status = yield* on("status")
      assert.include(status.out, "1 call waits for a person:")
      assert.include(status.out, id)
      const json: { readonly approvals: ReadonlyArray<unknown> } = JSON.parse((yield* on("status --json")).out)
      assert.strictEqual(json.approvals.length, 1)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("a file that cannot be read takes no question along: list and status say which one it is", () =>
    Effect.gen(function*() {
      const { id } = yield* asking()
      const { contents } = yield* MemoryFiles
      contents.set(`${state}/approvals/aaaaaaaa.json`, "\u001b[2J")
      for (const line of ["approvals list", "status"]) {
        const { code, out } = yield* on(line)
        assert.strictEqual(code, 0)
        assert.include(out, id)
        assert.include(out, "Could not be read:")
        assert.include(out, "aaaaaaaa.json")
        assert.match(out, /^[ -~\n]*$/)
      }
      for (const line of ["approvals list --json", "status --json"]) {
        assert.lengthOf(JSON.parse((yield* on(line)).out).unreadable, 1)
      }
    }).pipe(Effect.provide(layerMemory)))

  it.effect("shows every argument whole, hidden characters and all", () =>
    Effect.gen(function*() {
      const long = "x".repeat(5000)
      const { id } = yield* asking({
        ...question,
        arguments: Text.object([
          ["name", Text.quote("delete")],
          ["arguments", Text.object([["path", Text.quote("/srv/\u202enotes\u0007\n")], ["more", Text.quote(long)]])]
        ])
      })
      const { code, out } = yield* on(`approvals show ${id}`)
      assert.strictEqual(code, 0)
      for (const line of out.split("\n")) assert.isAtMost(line.length, 80, line)
      assert.include(out, "deleting is final")
      assert.include(out, `{"path":"/srv/\\u{202e}notes\\u0007\\n"`)
      // The random id may have the letter too.
      assert.strictEqual(out.replaceAll(id, "").split("x").length - 1, 5000 + "exactly".split("x").length - 1)
      const json: Record<string, unknown> = JSON.parse((yield* on(`approvals show --json ${id}`)).out)
      assert.include(json, { id, server: "files", name: "delete", rule: "ask-deletes" })
    }).pipe(Effect.provide(layerMemory)))

  it.effect("lets the call through after the word allow, and has written down who did it before", () =>
    Effect.gen(function*() {
      const { id, outcome } = yield* asking()
      const asked: Array<Asked> = []
      const { code, out } = yield* on(`approvals allow ${id}`, { person: { answer: "allow", asked } })
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "Allowed: tools/call delete of files, once.")
      assert.include(asked[0]?.shown ?? "", "/srv/\\u{202e}notes")
      assert.strictEqual(yield* outcome, "Allowed")
      const entries = yield* recorded
      assert.strictEqual(entries.length, 1)
      assert.deepInclude(entries[0], {
        type: "approval-given",
        id,
        server: "files",
        name: "delete",
        channel: "terminal",
        parents: []
      })
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      const again = yield* on(`approvals allow ${id}`, { person: { answer: "allow" } })
      assert.strictEqual(again.code, 1)
      assert.match(again.err, /no question .* waits/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("denies", () =>
    Effect.gen(function*() {
      const { id, outcome } = yield* asking()
      const { out } = yield* on(`approvals deny ${id} --json`, { person: { answer: "deny" } })
      assert.deepStrictEqual(JSON.parse(out), { id, answer: "deny", state: "denied" })
      assert.strictEqual(yield* outcome, "Denied")
      assert.deepInclude((yield* recorded)[0], { type: "approval-denied", id })
    }).pipe(Effect.provide(layerMemory)))

  for (const answer of ["", "y", "yes", "Allow", "deny", "allow all", undefined]) {
    it.effect(`allows nothing after ${JSON.stringify(answer)}`, () =>
      Effect.gen(function*() {
        const { id, outcome } = yield* asking()
        const { code, err } = yield* on(`approvals allow ${id}`, { person: { answer } })
        assert.strictEqual(code, 1)
        assert.match(err, /nothing was answered: the answer was not allow/)
        assert.strictEqual(yield* outcome, "waits")
        assert.deepStrictEqual(yield* recorded, [])
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("F1: is a person's: refused without a terminal, below a relay and below an agent", () =>
    Effect.gen(function*() {
      const { id, outcome } = yield* asking()
      for (const verb of ["allow", "deny"]) {
        const alone = yield* on(`approvals ${verb} ${id}`)
        assert.strictEqual(alone.code, 1)
        assert.match(alone.err, /asks a person on a terminal/)
        for (const parents of [[relay], [agent]]) {
          const below = yield* on(`approvals ${verb} ${id}`, { person: { answer: verb }, parents })
          assert.strictEqual(below.code, 1)
          assert.match(below.err, /nothing was answered: this runs below/)
        }
      }
      assert.strictEqual(yield* outcome, "waits")
    }).pipe(Effect.provide(layerMemory)))

  it.effect("answers nothing where the call was cancelled while the person looked", () =>
    Effect.gen(function*() {
      const { fiber, id } = yield* asking()
      const before = Effect.asVoid(Fiber.interrupt(fiber))
      const { code, err } = yield* on(`approvals allow ${id}`, { person: { answer: "allow", before } })
      assert.strictEqual(code, 1)
      assert.match(err, /no question .* waits/)
      assert.deepStrictEqual(yield* recorded, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("leaves out what a relay that is gone has left behind", () =>
    Effect.gen(function*() {
      const { id } = yield* asking()
      const files = yield* MemoryFiles
      const path = `${state}/approvals/${id}.json`
      // A number that no process has.
      files.contents.set(path, (files.contents.get(path) ?? "").replace(`"pid":0`, `"pid":4194304999`))
      assert.strictEqual((yield* on("approvals list")).out, "No question waits.")
      assert.strictEqual((yield* on(`approvals allow ${id}`, { person: { answer: "allow" } })).code, 1)
    }).pipe(Effect.provide(layerMemory)))
})
