import { assert, describe, it } from "@effect/vitest"
import type * as Decide from "@sallyport/core/policy/Decide"
import * as Budgets from "@sallyport/core/stage/Budgets"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as PolicyFile from "@sallyport/core/stage/PolicyFile"
import * as PolicyGate from "@sallyport/core/stage/PolicyGate"
import * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import { layerMemory, MemoryFiles } from "@sallyport/core/store/Files"
import * as Text from "@sallyport/core/wire/Text"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"

const file = "/config/policy.toml"
const directory = "/state/policies"

const allows = `default = "allow"\n`
const denies = `default = "allow"

[[rules]]
id = "no-writes"
match = { name = "write_*" }
then = "deny"
why = "nothing is written here"
`

const settle = Effect.gen(function*() {
  for (let i = 0; i < 60; i++) yield* Effect.yieldNow
})
const second = Effect.andThen(TestClock.adjust("1 second"), settle)

const subject = (given: Partial<Gate.Subject> = {}): Gate.Subject => ({
  client: "editor",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "write_file",
  params: Text.fromValue({ name: "write_file", arguments: {} }),
  pin: "aa",
  definition: Text.fromValue({ name: "write_file", inputSchema: { type: "object" } }),
  ...given
})

const place = { file, directory, server: "files", named: false }

/** A relay's policy: its file, its gate, what it told and what it recorded. */
const started = Effect.fnUntraced(function*(options: Partial<PolicyFile.Options> = {}) {
  const scope = yield* Scope.make()
  const told: Array<string> = []
  const memory = Ledger.makeMemory()
  const tell = (sentence: string) => void told.push(sentence)
  const policy = PolicyFile.layer({ ...place, tell, ...options })
  const context = yield* Layer.buildWithScope(
    PolicyGate.layer({ tell }).pipe(
      Layer.provideMerge(policy),
      Layer.provide(Layer.merge(Ledger.layerMemory(memory), Budgets.layerMemory))
    ),
    scope
  )
  const gate = Context.get(context, Gate.Gate)
  return {
    told,
    gate,
    call: (about: Partial<Gate.Subject> = {}) => gate.call(subject(about)),
    tag: (about: Partial<Gate.Subject> = {}) => Effect.map(gate.call(subject(about)), (verdict) => verdict._tag),
    recorded: () => memory.appended().flatMap((event) => event.type === "policy" ? [event] : []),
    state: () => Context.get(context, PolicyFile.PolicyFile).current(),
    epoch: gate.epoch,
    end: Scope.close(scope, Exit.void)
  }
})

const write = (text: string | undefined, path = file) =>
  Effect.map(MemoryFiles, ({ contents }) => {
    if (text === undefined) contents.delete(path)
    else contents.set(path, text)
  })

const test = <E>(name: string, body: Effect.Effect<void, E, Layer.Success<typeof layerMemory> | Scope.Scope>) =>
  it.effect(name, () => Effect.provide(body, layerMemory))

const used = Effect.flatMap(MemoryFiles, ({ contents }) => Effect.sync(() => contents.get(`${directory}/files.json`)))
const isNeeded = (more: Partial<PolicyUse.Place> = {}) => PolicyUse.isNeeded({ ...place, ...more })

describe("PolicyUse", () => {
  test(
    "a server is under no policy where there is none and never was",
    Effect.gen(function*() {
      assert.isFalse(yield* isNeeded())
      assert.isTrue(yield* isNeeded({ named: true }))
      yield* write(allows)
      assert.isTrue(yield* isNeeded())
    })
  )

  test(
    "F26: a server that was under a policy stays under one when the file is deleted, and so does every other server",
    Effect.gen(function*() {
      yield* write(allows)
      const relay = yield* started()
      yield* relay.end
      yield* write(undefined)
      assert.isTrue(yield* isNeeded())
      assert.isTrue(yield* isNeeded({ server: "notes" }))
      // Another file, in another configuration folder, was never used for that one.
      assert.isFalse(yield* isNeeded({ server: "notes", file: "/other/policy.toml" }))
      yield* PolicyUse.forget(directory, "files")
      assert.isFalse(yield* isNeeded())
    })
  )

  test(
    "F26: a record that cannot be read counts as one",
    Effect.gen(function*() {
      yield* write("{", `${directory}/files.json`)
      assert.isTrue(yield* isNeeded())
      const { untrusted } = yield* MemoryFiles
      untrusted.set(directory, "is writable by everybody")
      assert.isTrue(yield* isNeeded({ server: "notes" }))
    })
  )
})

describe("PolicyFile", () => {
  test(
    "decides by the policy of the file, and keeps and records which one that is",
    Effect.gen(function*() {
      yield* write(denies)
      const relay = yield* started()
      assert.deepInclude(yield* relay.call(), { _tag: "Refuse", rule: "no-writes", why: "nothing is written here" })
      assert.strictEqual(yield* relay.tag({ name: "read_file" }), "Allow")
      const [entry] = relay.recorded()
      assert.deepInclude(entry, { server: "files", file, was: undefined })
      assert.include(yield* used, entry?.digest ?? "?")
    })
  )

  test(
    "writes and records nothing at a start with the policy of the last one",
    Effect.gen(function*() {
      yield* write(denies)
      yield* (yield* started()).end
      const { fault } = yield* MemoryFiles
      fault("replace", 1, "fail")
      const next = yield* started()
      assert.strictEqual(next.recorded().length, 0)
      assert.strictEqual(next.state()._tag, "Loaded")
      assert.deepStrictEqual(next.told, [])
    })
  )

  test(
    "records a start with another policy than the last one, and tells of another file",
    Effect.gen(function*() {
      yield* write(denies)
      const first = yield* started()
      yield* first.end
      yield* write(allows, "/other.toml")
      const next = yield* started({ file: "/other.toml", named: true })
      assert.deepInclude(next.recorded()[0], { file: "/other.toml", was: first.recorded()[0]?.digest })
      assert.deepStrictEqual(next.told, [`files was under the policy ${file} before`])
    })
  )

  for (
    const [what, prepare] of [
      ["missing", write(undefined)],
      ["wrong", write(`default = "allow"\n[[rules]]\nid = "x"\nthen = "forbid"\n`)],
      ["cut", write(denies.slice(0, 60))],
      [
        "writable by others",
        Effect.andThen(write(denies), Effect.map(MemoryFiles, ({ untrusted }) => untrusted.set(file, "is writable")))
      ]
    ] as const
  ) {
    test(
      `F26: refuses everything at a start with a file that is ${what}`,
      Effect.gen(function*() {
        yield* prepare
        const relay = yield* started({ named: true })
        for (const about of [{}, { method: "resources/read", name: "file:///a" }]) {
          assert.deepInclude(yield* relay.call(about), { _tag: "Refuse", reason: "policy-missing" })
        }
        assert.strictEqual(relay.told.length, 1)
        assert.include(relay.told[0], file)
        yield* second
        yield* second
        assert.strictEqual(relay.told.length, 1)
      })
    )
  }

  test(
    "F26: says at the start that the policy is gone and how a person has it forgotten; who is refused reads no command",
    Effect.gen(function*() {
      yield* write(denies)
      yield* (yield* started()).end
      yield* write(undefined)
      const relay = yield* started({ option: " --state /state" })
      assert.include(relay.told[0], "sallyport policy forget --state /state files")
      assert.notInclude(JSON.stringify(yield* relay.call()), "sallyport ")
    })
  )

  test(
    "begins to decide when the file is mended",
    Effect.gen(function*() {
      yield* write("default = 1")
      const relay = yield* started()
      const epoch = relay.epoch()
      yield* write(denies)
      yield* second
      assert.deepInclude(yield* relay.call(), { reason: "policy-missing" })
      yield* second
      assert.strictEqual(yield* relay.tag({ name: "read_file" }), "Allow")
      assert.isAbove(relay.epoch(), epoch)
    })
  )

  test(
    "F26: a change counts when it was read twice, a second apart; it is recorded with both digests and moves the epoch",
    Effect.gen(function*() {
      yield* write(denies)
      const relay = yield* started()
      yield* write(allows)
      yield* second
      assert.strictEqual(yield* relay.tag(), "Refuse")
      assert.strictEqual(relay.epoch(), 0)
      yield* second
      assert.strictEqual(yield* relay.tag(), "Allow")
      assert.strictEqual(relay.epoch(), 1)
      const [first, other] = relay.recorded()
      assert.strictEqual(other?.was, first?.digest)
      assert.notStrictEqual(other?.digest, first?.digest)
      assert.strictEqual(relay.told.length, 1)
    })
  )

  test(
    "F26: half a file that was seen once drops no rule",
    Effect.gen(function*() {
      yield* write(denies)
      const relay = yield* started()
      for (const text of [allows, denies, allows, denies]) {
        yield* write(text)
        yield* second
        assert.strictEqual(yield* relay.tag(), "Refuse")
      }
      assert.deepStrictEqual(relay.told, [])
    })
  )

  test(
    "a bad file keeps the old policy and says so once",
    Effect.gen(function*() {
      yield* write(denies)
      const relay = yield* started()
      yield* write(`${denies}\n[[rule]]\n`)
      for (let i = 0; i < 5; i++) yield* second
      assert.deepInclude(yield* relay.call(), { rule: "no-writes" })
      assert.strictEqual(yield* relay.tag({ name: "read" }), "Allow")
      assert.strictEqual(relay.epoch(), 0)
      assert.strictEqual(relay.told.length, 1)
      assert.include(relay.told[0], `the old one holds: ${file}:9:`)
      yield* write(denies)
      yield* second
      yield* second
      assert.strictEqual(relay.told.length, 1)
    })
  )

  test(
    "F26: a file that is deleted under a running relay refuses everything after the second look, until it is back",
    Effect.gen(function*() {
      yield* write(denies)
      const relay = yield* started()
      yield* write(undefined)
      yield* second
      assert.strictEqual(yield* relay.tag({ name: "read" }), "Allow")
      yield* second
      assert.deepInclude(yield* relay.call({ name: "read" }), { reason: "policy-missing" })
      assert.include(relay.recorded()[1]?.why, file)
      assert.isUndefined(relay.recorded()[1]?.digest)
      yield* write(denies)
      yield* second
      yield* second
      assert.strictEqual(yield* relay.tag({ name: "read" }), "Allow")
      assert.strictEqual(relay.epoch(), 2)
    })
  )

  test(
    "F26: a policy of which it cannot be kept that it is used refuses everything",
    Effect.gen(function*() {
      yield* write(allows)
      const { fault } = yield* MemoryFiles
      fault("replace", 1, "fail")
      const relay = yield* started()
      assert.deepInclude(yield* relay.call(), { reason: "policy-missing" })
      yield* second
      yield* second
      assert.strictEqual(yield* relay.tag(), "Allow")
    })
  )

  test(
    "refuses a policy with a rule on an argument that nothing accepted has",
    Effect.gen(function*() {
      const definitions: ReadonlyArray<Decide.Defined> = [{
        server: "files",
        method: "tools/call",
        name: "write_file",
        definition: Text.fromValue({
          name: "write_file",
          inputSchema: { type: "object", properties: { path: { type: "string" } } }
        })
      }]
      yield* write(denies.replace("then", `when = "args.pth == 'x'"\nthen`))
      const relay = yield* started({ definitions: Effect.succeed(definitions) })
      assert.deepInclude(yield* relay.call(), { reason: "policy-missing" })
      assert.include(relay.told[0], `did you mean "path"?`)
    })
  )
})

describe("PolicyGate", () => {
  const limited = `default = "allow"

[[limits]]
id = "few"
match = { name = "*" }
calls = 2
per = "1 minute"
concurrent = 1

[[rules]]
id = "no-writes"
match = { name = "write_*" }
then = "deny"
`

  test(
    "refuses what is over a limit: rule, why, and when it is free again",
    Effect.gen(function*() {
      yield* write(limited)
      const relay = yield* started()
      const taken = yield* relay.call({ name: "read" })
      assert.deepInclude(yield* relay.call({ name: "read" }), {
        _tag: "Refuse",
        reason: "over-limit",
        rule: "few",
        why: "at most 1 call is let through at a time"
      })
      if (taken._tag !== "Refuse") taken.ended?.()
      const next = yield* relay.call({ name: "read" })
      if (next._tag !== "Refuse") next.ended?.()
      assert.deepInclude(yield* relay.call({ name: "read" }), {
        why: "at most 2 calls are let through in 1 minute",
        remedy: "It is free again in 30 seconds"
      })
    })
  )

  test(
    "decides without a fiber",
    Effect.gen(function*() {
      yield* write(limited)
      const relay = yield* started()
      yield* relay.call({ name: "read" })
      for (const name of ["read", "write_file", "other"]) assert.isTrue(Exit.isExit(relay.call({ name })), name)
    })
  )

  test(
    "uses nothing of a limit for what is denied",
    Effect.gen(function*() {
      yield* write(limited)
      const relay = yield* started()
      for (let i = 0; i < 5; i++) assert.deepInclude(yield* relay.call(), { rule: "no-writes" })
    })
  )

  test(
    "does not list what is denied whatever its arguments are",
    Effect.gen(function*() {
      yield* write(limited)
      const { gate } = yield* started()
      assert.isFalse(gate.shows(subject()))
      assert.isTrue(gate.shows(subject({ name: "read" })))
    })
  )

  test(
    "notes what an observing rule would have done, and why a condition had no answer",
    Effect.gen(function*() {
      yield* write(`default = "allow"

[[rules]]
id = "later"
match = { name = "*" }
then = "deny"
observe = true

[[rules]]
id = "faulty"
match = { name = "*" }
when = "args.path == 'x'"
arguments = "open"
then = "ask"
`)
      const relay = yield* started()
      const verdict = yield* relay.call()
      assert.strictEqual(verdict._tag, "Ask")
      assert.deepStrictEqual(verdict.noted?.observed, [{ rule: "later", action: "deny" }])
      assert.isString(verdict.noted?.fault)
    })
  )
})
