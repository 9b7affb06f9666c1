import { assert, describe, it } from "@effect/vitest"
import * as Grants from "@sallyport/broker/Grants"
import * as Files from "@sallyport/core/store/Files"
import * as Reader from "@sallyport/core/toml/Reader"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const section = (...lines: ReadonlyArray<string>) => `[grants.ci.files]\n${lines.join("\n")}\n`

const wrong = (text: string): ReadonlyArray<string> => {
  const parsed = Grants.parse(text, "g.toml")
  return Result.isFailure(parsed) ? parsed.failure.map(Reader.format) : ["nothing"]
}
const parsed = (text: string): Grants.All => Result.getOrElse(Grants.parse(text, "g.toml"), () => [])

const of = `the grant of "files" to "ci": `
const broken: ReadonlyArray<readonly [what: string, text: string, lines: ReadonlyArray<string>]> = [
  ["not TOML", "[grants", ["g.toml:1:8: this is not TOML: unterminated table-key"]],
  ["an unknown key at the top", "[grant.ci.files]\n", [`g.toml:1:2: unknown key "grant"; did you mean "grants"?`]],
  ["an unknown key of a grant", section("tool = []"), [`g.toml:2:1: ${of}unknown key "tool"; did you mean "tools"?`]],
  ["a grant twice", section() + section(), ["g.toml:3:12: this is not TOML: this key is there twice"]],
  ["a client that is no table", `grants.ci = "files"\n`, [
    `g.toml:1:13: grants."ci" must be a table; this is a string`
  ]],
  ["a grant that is no table", "grants.ci.files = true\n", [
    `g.toml:1:19: ${of}it must be a table; this is true or false`
  ]],
  ["a client with a capital", "[grants.Ci.files]\n", [
    `g.toml:1:9: "Ci" cannot be the name of a client; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["every client", `[grants."*".files]\n`, [
    `g.toml:1:9: "*" cannot be the name of a client; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["every server", `[grants.ci."*"]\n`, [
    `g.toml:1:12: "*" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["a method that is none", section(`methods = ["tools/cal"]`), [
    `g.toml:2:12: ${of}methods: no revision has a method "tools/cal"; did you mean "tools/call"?`
  ]],
  ["no methods", section("methods = []"), [`g.toml:2:11: ${of}methods is an empty list and matches nothing`]],
  ["no tools", section("tools = []"), [`g.toml:2:9: ${of}tools is an empty list and matches nothing`]],
  ["a tool that is a number", section("tools = [1]"), [
    `g.toml:2:10: ${of}tools must be a pattern or a list of patterns; this item is a number`
  ]],
  ["a pattern that cannot be used", section(`tools = ["{a"]`), [
    `g.toml:2:10: ${of}tools: the pattern "{a" cannot be used: the "{" at character 1 is never closed`
  ]],
  ["a relative policy", section(`policy = "strict.toml"`), [
    `g.toml:2:10: ${of}policy must be an absolute path; this is "strict.toml"`
  ]],
  ["a date of TOML", section("expires = 2026-03-01T12:00:00Z"), [
    `g.toml:2:11: ${of}expires must be a string; this is a date or time`
  ]],
  ["a time without a zone", section(`expires = "2026-03-01T12:00:00"`), [
    `g.toml:2:11: ${of}expires must be a time in UTC, as in "2026-03-01T12:00:00Z"; this is "2026-03-01T12:00:00"`
  ]],
  ["a day that no month has", section(`expires = "2026-02-30T12:00:00Z"`), [
    `g.toml:2:11: ${of}expires must be a time in UTC, as in "2026-03-01T12:00:00Z"; this is "2026-02-30T12:00:00Z"`
  ]],
  ["a budget of nothing", section("budget = 0"), [`g.toml:2:10: ${of}budget must be from 1 to 1000000000; this is 0`]]
]

const at = Date.UTC(2026, 2, 1, 12)
const whole: Grants.Grant = { client: "ci", server: "files" }

describe("Grants.parse", () => {
  for (const [what, text, lines] of broken) it(`refuses ${what}`, () => assert.deepStrictEqual(wrong(text), lines))

  it("reads a grant with every key", () =>
    assert.deepStrictEqual(
      parsed(section(
        `methods = ["tools/list", "tools/call"]`,
        `tools = ["read_*", "list"]`,
        `policy = "/etc/sallyport/ci.toml"`,
        `expires = "2026-03-01T12:00:00Z"`,
        "budget = 100"
      )),
      [{
        client: "ci",
        server: "files",
        methods: ["tools/list", "tools/call"],
        tools: ["read_*", "list"],
        policy: "/etc/sallyport/ci.toml",
        expires: at,
        budget: 100
      }]
    ))

  it("`__proto__` is no client, and no way to one", () => {
    assert.match(wrong("[grants.__proto__.files]\n").join(), /"__proto__" cannot be the name of a client/)
    assert.isUndefined(Grants.find(parsed(section()), "ci", "toString"))
  })
})

describe("Grants.allows", () => {
  const call = (name: string | undefined): Grants.Asked => ({ method: "tools/call", name })

  it("denies what is not granted", () => {
    const grants = parsed(section())
    assert.isTrue(Grants.allows(Grants.find(grants, "ci", "files"), call("x"), 0))
    assert.isFalse(Grants.allows(Grants.find(grants, "ci", "notes"), call("x"), 0))
    assert.isFalse(Grants.allows(Grants.find(grants, "di", "files"), call("x"), 0))
  })

  it("is narrowed by methods", () => {
    const grant = { ...whole, methods: ["tools/list"] }
    assert.isTrue(Grants.allows(grant, { method: "tools/list", name: undefined }, 0))
    assert.isFalse(Grants.allows(grant, call("x"), 0))
  })

  it("is narrowed by tools, and then to tools alone unless methods say more", () => {
    const grant = { ...whole, tools: ["read_*", "list"] }
    for (const name of ["read_note", "list"]) assert.isTrue(Grants.allows(grant, call(name), 0), name)
    for (const name of ["delete_note", "lists", "READ_NOTE", undefined]) {
      assert.isFalse(Grants.allows(grant, call(name), 0))
    }
    const read = { method: "resources/read", name: "read_x" }
    assert.isTrue(Grants.allows(grant, { method: "tools/list", name: undefined }, 0))
    assert.isFalse(Grants.allows(grant, read, 0))
    assert.isTrue(Grants.allows({ ...grant, methods: ["tools/call", "resources/read"] }, read, 0))
    assert.isFalse(Grants.allows({ ...grant, methods: ["resources/read"] }, call("list"), 0))
  })

  it("F30: ends at its time, and before a time that is none", () => {
    const grant = { ...whole, expires: at }
    assert.isTrue(Grants.allows(grant, call("x"), at - 1))
    for (const now of [at, at + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.isFalse(Grants.allows(grant, call("x"), now))
    }
  })
})

const letters = "abcxyz"
const nameOf = fc.tuple(
  fc.constantFrom(...letters),
  fc.string({ unit: fc.constantFrom(...letters, "0", "-"), maxLength: 5 })
)
  .map(([first, rest]) => first + rest)
const someTools = fc.array(fc.constantFrom("read_*", "a\"b", "\\\\x", "né", "*", "\u007f"), {
  minLength: 1,
  maxLength: 3
})
const grant: fc.Arbitrary<Grants.Grant> = fc.record({
  client: nameOf,
  server: nameOf,
  methods: fc.option(fc.constant(["tools/list", "tools/call"]), { nil: undefined }),
  tools: fc.option(someTools, { nil: undefined }),
  policy: fc.option(fc.constantFrom("/etc/p.toml", "/a \"b\"\n"), { nil: undefined }),
  expires: fc.option(fc.integer({ min: 0, max: 4_000_000_000_000 }), { nil: undefined }),
  budget: fc.option(fc.integer({ min: 1, max: 1_000_000_000 }), { nil: undefined })
})
const several = fc.uniqueArray(grant, {
  selector: ({ client, server }) => `${client} ${server}`,
  minLength: 1,
  maxLength: 6
})
const success = <A>(result: Result.Result<A, string>): A => Result.getOrThrowWith(result, (why) => new Error(why))

describe("Grants.add and remove", () => {
  it("what is added is what is read", () => {
    fc.assert(fc.property(several, (grants) => {
      const text = grants.reduce((text, grant) => success(Grants.add(text, "g.toml", grant)), "")
      assert.deepStrictEqual(
        parsed(text).map((found) => [found.client, found.server]).toSorted(),
        grants.map(({ client, server }) => [client, server]).toSorted()
      )
      for (const grant of grants) assert.deepStrictEqual(Grants.find(parsed(text), grant.client, grant.server), grant)
    }))
  })

  it("what is added and taken back leaves the text as it was", () => {
    fc.assert(fc.property(several, (grants) => {
      const [last, ...others] = grants.toReversed()
      if (last === undefined) return
      const text = others.reduce((text, grant) => success(Grants.add(text, "g.toml", grant)), "# who may what\n")
      const more = success(Grants.add(text, "g.toml", last))
      assert.strictEqual(success(Grants.remove(more, "g.toml", last.client, last.server)), text)
    }))
  })

  it("leaves comments, blank lines and the order of everything else alone", () => {
    const text =
      `# ours\n\n[grants.ci.files] # one\ntools = [\n  "a", # why\n]\n\n# for the others\n[grants.di.files]\n\n[grants.ci.notes]\nbudget = 1\n`
    assert.strictEqual(
      success(Grants.remove(text, "g.toml", "ci", "files")),
      `# ours\n\n# for the others\n[grants.di.files]\n\n[grants.ci.notes]\nbudget = 1\n`
    )
    assert.strictEqual(
      success(Grants.remove(text, "g.toml", "ci", "notes")),
      `# ours\n\n[grants.ci.files] # one\ntools = [\n  "a", # why\n]\n\n# for the others\n[grants.di.files]\n`
    )
  })

  it("gives no second grant, takes back none that is not there, and changes no file that is wrong", () => {
    const refused = (result: Result.Result<string, string>) => Result.isFailure(result) ? result.failure : "done"
    assert.strictEqual(
      refused(Grants.add(section(), "g.toml", whole)),
      "ci has a grant of files already; take it back first to give another one"
    )
    assert.strictEqual(refused(Grants.remove(section(), "g.toml", "ci", "notes")), "ci has no grant of notes")
    const bad = section("budget = 0")
    assert.match(refused(Grants.add(bad, "g.toml", { ...whole, server: "notes" })), /^g\.toml:2:10: /)
    assert.match(refused(Grants.remove(bad, "g.toml", "ci", "files")), /^g\.toml:2:10: /)
    // A name that would be other TOML than was meant.
    assert.match(
      refused(Grants.add("", "g.toml", { ...whole, client: "a.b" })),
      /^g\.toml:1:\d+: the grant of "b" to "a": unknown key "files"/
    )
  })

  it("does not change what is written in another way than by sections", () => {
    const text = `[grants]\nci = { files = {}, notes = {} }\n`
    assert.strictEqual(parsed(text).length, 2)
    assert.deepStrictEqual(
      Grants.remove(text, "g.toml", "ci", "files"),
      Result.fail("g.toml is not written as one section for each grant; change it by hand")
    )
  })
})

const file = "/etc/sallyport/grants.toml"
const layer = Grants.layerFile(file).pipe(Layer.provideMerge(Files.layerMemory))
const adding = (server: string) => (text: string, file: string) => Grants.add(text, file, { ...whole, server })
const start = Effect.gen(function*() {
  const { contents, ...memory } = yield* Files.MemoryFiles
  contents.set(file, "# mine\n")
  return { ...memory, contents, grants: yield* Grants.Grants }
})

describe("Grants.layerFile", () => {
  it.effect("grants nothing where there is no file, and a change is there at once", () =>
    Effect.gen(function*() {
      const { contents, grants } = yield* start
      contents.delete(file)
      assert.deepStrictEqual(yield* grants.all, [])
      contents.set(file, "# mine\n")
      assert.strictEqual((yield* grants.change(adding("files"))).length, 1)
      assert.strictEqual((yield* grants.all)[0]?.server, "files")
      assert.strictEqual(contents.get(file), "# mine\n\n[grants.ci.files]\n")
      assert.deepStrictEqual([...contents.keys()], [file])
    }).pipe(Effect.provide(layer)))

  it.effect("one fault, or a file that is not to be trusted, grants nothing (F2)", () =>
    Effect.gen(function*() {
      const { contents, grants, untrusted } = yield* start
      contents.set(file, section() + "[grants.ci.notes]\nbudget = 0\n")
      assert.strictEqual((yield* Effect.flip(grants.all)).kind, "wrong")
      contents.set(file, section())
      untrusted.set(file, "can be written by others")
      const error = yield* Effect.flip(grants.all)
      assert.deepStrictEqual([error.kind, error.message], ["file", `${file} can be written by others`])
      assert.strictEqual((yield* Effect.flip(grants.change(adding("notes")))).kind, "file")
      untrusted.delete(file)
      assert.strictEqual(contents.get(file), section())
    }).pipe(Effect.provide(layer)))

  it.effect("of two changes at one time one is refused, and none is lost", () =>
    Effect.gen(function*() {
      const { contents, grants } = yield* start
      const begun = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const before = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(go))
      const first = yield* Effect.forkChild(grants.change(adding("files"), before))
      yield* Deferred.await(begun)
      const second = yield* Effect.flip(grants.change(adding("notes")))
      assert.strictEqual(second.kind, "busy")
      assert.match(second.message, /being changed by another process/)
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(first)
      yield* grants.change(adding("notes"))
      assert.deepStrictEqual((yield* grants.all).map(({ server }) => server), ["files", "notes"])
      assert.isFalse(contents.has(`${file}.lock`))
    }).pipe(Effect.provide(layer)))

  it.effect("where something goes wrong, or who changes it is interrupted, the file is as it was and not locked", () =>
    Effect.gen(function*() {
      const { contents, fault, grants } = yield* start
      fault("replace", 1, "fail")
      assert.strictEqual((yield* Effect.flip(grants.change(adding("files")))).kind, "file")
      assert.strictEqual(
        yield* Effect.flip(grants.change(adding("files"), Effect.fail("not recorded"))),
        "not recorded"
      )
      const begun = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(
        grants.change(adding("files"), Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual([...contents], [[file, "# mine\n"]])
    }).pipe(Effect.provide(layer)))

  it.effect("records nothing of a change that is not possible", () =>
    Effect.gen(function*() {
      const { grants } = yield* start
      let recorded = 0
      const before = Effect.sync(() => {
        recorded++
      })
      yield* grants.change(adding("files"), before)
      assert.strictEqual((yield* Effect.flip(grants.change(adding("files"), before))).kind, "refused")
      assert.strictEqual(recorded, 1)
    }).pipe(Effect.provide(layer)))
})
