import { assert, describe, it } from "@effect/vitest"
import * as Tokens from "@sallyport/broker/Tokens"
import * as Files from "@sallyport/core/store/Files"
import * as Reader from "@sallyport/core/toml/Reader"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const at = Date.UTC(2026, 2, 1, 12)
const one = Tokens.fromBytes(new Uint8Array(32).fill(1))
const two = Tokens.fromBytes(new Uint8Array(32).fill(2))
const kept = Tokens.kept(one, "ci", at)

const done = (result: Result.Result<string, string>): string => Result.getOrThrowWith(result, (why) => new Error(why))
const refused = (result: Result.Result<string, string>) => Result.isFailure(result) ? result.failure : "done"
const parsed = (text: string): Tokens.All => Result.getOrElse(Tokens.parse(text, "t.toml"), () => [])
const wrong = (text: string): ReadonlyArray<string> => {
  const found = Tokens.parse(text, "t.toml")
  return Result.isFailure(found) ? found.failure.map(Reader.format) : ["nothing"]
}
const whole = done(Tokens.add("", "t.toml", kept))
const section = (line: string, by: string) => whole.replace(new RegExp(`^${line} = .*$`, "m"), by)

const broken: ReadonlyArray<readonly [what: string, text: string, lines: ReadonlyArray<string>]> = [
  ["not TOML", "tokens =\n", ["t.toml:1:9: this is not TOML: the value is missing"]],
  ["an unknown key at the top", "[token.a]\n", [`t.toml:1:2: unknown key "token"; did you mean "tokens"?`]],
  ["an unknown key of a token", section("created", `created = "2026-03-01T12:00:00Z"\nrevokd = "x"`), [
    `t.toml:5:1: token "${kept.id}": unknown key "revokd"; did you mean "revoked"?`
  ]],
  ["a token that is no table", `tokens.a = "x"\n`, [`t.toml:1:12: token "a": it must be a table; this is a string`]],
  ["a token of nobody", section("client", ""), [`t.toml:1:9: token "${kept.id}": client is missing`]],
  ["a client with a capital", section("client", `client = "Ci"`), [
    `t.toml:2:10: token "${kept.id}": "Ci" cannot be the name of a client`
  ]],
  ["a digest that is another token's", section("digest", `digest = "${"0".repeat(64)}"`), [
    `t.toml:1:9: token "${kept.id}": the name must be the first 12 digits of its digest`
  ]],
  ["a token in place of its digest, without showing it", section("digest", `digest = "${Redacted.value(one)}"`), [
    `t.toml:3:10: token "${kept.id}": digest must be 64 hexadecimal digits`
  ]],
  ["a time that is none", section("created", `created = "yesterday"`), [
    `t.toml:4:11: token "${kept.id}": created must be a time in UTC, as in "2026-03-01T12:00:00Z"; this is "yesterday"`
  ]],
  ["revoked that is no time", `${whole}revoked = true\n`, [
    `t.toml:5:11: token "${kept.id}": revoked must be a string; this is true or false`
  ]]
]

describe("Tokens.parse", () => {
  for (const [what, text, lines] of broken) it(`refuses ${what}`, () => assert.deepStrictEqual(wrong(text), lines))
})

describe("Tokens", () => {
  it("are 256 bits, and kept by a digest that is not that of the token alone", () => {
    assert.strictEqual(Redacted.value(one), `sallyport_${"01".repeat(32)}`)
    assert.notInclude(String(one), "01")
    assert.match(kept.digest, /^[0-9a-f]{64}$/)
    assert.strictEqual(Tokens.digestOf(Redacted.make(Redacted.value(one))), kept.digest)
    assert.notInclude(whole, Redacted.value(one))
  })

  it("what is added is what is read, and what is found by its token alone", () => {
    const bytes = fc.uniqueArray(fc.uint8Array({ minLength: 32, maxLength: 32 }), {
      selector: String,
      minLength: 2,
      maxLength: 5
    })
    fc.assert(fc.property(bytes, ([first, ...rest]) => {
      if (first === undefined) return
      const tokens = rest.map((bytes, nth) => Tokens.kept(Tokens.fromBytes(bytes), `client-${nth}`, at))
      const all = parsed(tokens.reduce((text, token) => done(Tokens.add(text, "t.toml", token)), "# ours\n"))
      assert.deepStrictEqual(all.map(({ digest }) => digest), tokens.map(({ digest }) => digest))
      rest.forEach((bytes, nth) => {
        assert.strictEqual(Tokens.find(all, Tokens.fromBytes(bytes))?.client, `client-${nth}`)
      })
      assert.isUndefined(Tokens.find(all, Tokens.fromBytes(first)))
    }))
  })

  it("one that was taken back is nobody's, stays in the file, and leaves the others", () => {
    const both = done(Tokens.add(whole, "t.toml", Tokens.kept(two, "ci", at)))
    const text = done(Tokens.revoke(both, "t.toml", kept.id, at + 1_000))
    assert.isUndefined(Tokens.find(parsed(text), one))
    assert.strictEqual(Tokens.find(parsed(text), two)?.client, "ci")
    assert.strictEqual(parsed(text)[0]?.revoked, at + 1_000)
    assert.strictEqual(text.replace(/^revoked = .*\n/m, ""), both)
    assert.strictEqual(
      refused(Tokens.revoke(text, "t.toml", kept.id, at)),
      `the token ${kept.id} was taken back already`
    )
    assert.strictEqual(refused(Tokens.revoke(text, "t.toml", "x", at)), `there is no token "x"`)
  })

  it("is not what the file has: neither digest nor id gets anybody in", () => {
    for (const text of [kept.digest, kept.id, `sallyport_${kept.digest}`, "", "sallyport_"]) {
      assert.isUndefined(Tokens.find(parsed(whole), Redacted.make(text)))
    }
  })
})

const file = "/etc/sallyport/tokens.toml"
const layer = Tokens.layerFile(file).pipe(Layer.provideMerge(Files.layerMemory))

describe("Tokens.layerFile", () => {
  it.effect("knows nobody where there is no file, and who has a token from when it is there", () =>
    Effect.gen(function*() {
      const { contents } = yield* Files.MemoryFiles
      contents.set("/etc/sallyport/servers.toml", "")
      const tokens = yield* Tokens.Tokens
      assert.isUndefined(Tokens.find(yield* tokens.all, one))
      yield* tokens.change((text, file) => Tokens.add(text, file, kept))
      assert.strictEqual(Tokens.find(yield* tokens.all, one)?.client, "ci")
      yield* tokens.change((text, file) => Tokens.revoke(text, file, kept.id, at))
      assert.isUndefined(Tokens.find(yield* tokens.all, one))
    }).pipe(Effect.provide(layer)))

  it.effect("F2: knows nobody where the file is wrong or not to be trusted", () =>
    Effect.gen(function*() {
      const { contents, untrusted } = yield* Files.MemoryFiles
      const tokens = yield* Tokens.Tokens
      contents.set(file, `${whole}[tokens.x]\n`)
      assert.strictEqual((yield* Effect.flip(tokens.all)).kind, "wrong")
      contents.set(file, whole)
      untrusted.set(file, "can be written by others")
      assert.strictEqual((yield* Effect.flip(tokens.all)).kind, "file")
    }).pipe(Effect.provide(layer)))
})
