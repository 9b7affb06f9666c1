import { assert, describe, it } from "@effect/vitest"
import { table as reasons } from "@sallyport/core/wire/Reason"
import { Effect } from "effect"
import * as ExitCode from "../src/ExitCode.ts"
import * as Output from "../src/Output.ts"
import { layerMemory, on, run } from "./support.ts"

const commands = [
  [],
  ["pins"],
  ["pins", "list"],
  ["pins", "show"],
  ["pins", "diff"],
  ["pins", "accept"],
  ["status"],
  ["ledger"],
  ["ledger", "list"],
  ["ledger", "verify"],
  ["explain"]
]

const width = (text: string) => Math.max(...text.split("\n").map((line) => line.length))

describe("help", () => {
  it.effect("without arguments says what it can do", () =>
    Effect.gen(function*() {
      const { code, err, out } = yield* run([])
      assert.strictEqual(code, 0)
      assert.strictEqual(err, "")
      assert.match(out, /sallyport pins accept NAME/)
      assert.isAtMost(width(out), 80)
    }).pipe(Effect.provide(layerMemory)))

  for (const command of commands) {
    it.effect(`${command.join(" ")} --help fits in 80 columns, plain, on stdout`, () =>
      Effect.gen(function*() {
        const { code, err, out } = yield* run([...command, "--help"])
        assert.strictEqual(code, 0)
        assert.strictEqual(err, "")
        assert.match(out, /^Usage: sallyport/)
        assert.isAtMost(width(out), 80)
        assert.match(out, /^[\n -~]*$/)
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("the relay's help goes to stderr", () =>
    Effect.gen(function*() {
      const { code, err, out } = yield* run(["relay", "--help"])
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "")
      assert.match(err, /sallyport relay \[OPTIONS\] -- COMMAND/)
      assert.isAtMost(width(err), 80)
    }).pipe(Effect.provide(layerMemory)))

  for (const line of [["nope"], ["pins"], ["ledger"], ["pins", "list", "--chekc"], ["explain"], ["pins", "show"]]) {
    it.effect(`wrong usage exits 2, help on stderr: ${line.join(" ")}`, () =>
      Effect.gen(function*() {
        const { code, err, out } = yield* run(line)
        assert.strictEqual(code, 2)
        assert.strictEqual(out, "")
        assert.match(err, /Usage: sallyport/)
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("--version", () =>
    Effect.gen(function*() {
      assert.match((yield* run(["--version"])).out, /^sallyport \d+\.\d+\.\d+$/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("completions know the verbs", () =>
    Effect.gen(function*() {
      for (const shell of ["bash", "zsh", "fish"]) {
        const { code, out } = yield* run(["--completions", shell])
        assert.strictEqual(code, 0)
        assert.include(out, "accept")
      }
    }).pipe(Effect.provide(layerMemory)))
})

describe("explain --reasons", () => {
  it.effect("has every reason, with what to do", () =>
    Effect.gen(function*() {
      const { code, out } = yield* run(["explain", "--reasons"])
      assert.strictEqual(code, 0)
      for (const [name, { code }] of Object.entries(reasons)) assert.include(out, `${name} (${code})\n`)
      assert.isAtMost(width(out), 80)
      const json = JSON.parse((yield* run(["explain", "--reasons", "--json"])).out)
      assert.strictEqual(json.reasons.length, Object.keys(reasons).length)
    }).pipe(Effect.provide(layerMemory)))
})

describe("exit codes", () => {
  it("are these", () => {
    assert.deepStrictEqual(Object.keys(ExitCode.table).map(Number), [0, 1, 2, 10, 11, 20, 21, 30])
  })
  it("of a check", () => {
    assert.strictEqual(ExitCode.ofHeld(false, undefined), 0)
    assert.strictEqual(ExitCode.ofHeld(true, undefined), 10)
    assert.strictEqual(ExitCode.ofHeld(true, "cosmetic"), 10)
    assert.strictEqual(ExitCode.ofHeld(true, "narrowing"), 10)
    assert.strictEqual(ExitCode.ofHeld(true, "widening"), 11)
    assert.strictEqual(ExitCode.ofHeld(true, "text"), 11)
    assert.strictEqual(ExitCode.ofHeld(true, "privilege"), 11)
  })
})

describe("output", () => {
  it("wraps the last column and cuts nothing", () => {
    const long = Array.from({ length: 30 }, (_, n) => `word${n}`).join(" ")
    const drawn = Output.table(["A", "B"], [["one", long], ["two", "short"]])
    assert.isAtMost(width(drawn), 80)
    assert.strictEqual(drawn.replace(/\s+/g, " "), `A B one ${long} two short`)
  })
  it("JSON is ASCII, and the same value", () => {
    const value = { text: "a\u202e\u001b\u{1f600}\u007f" }
    assert.match(Output.json(value), /^[\n -~]*$/)
    assert.deepStrictEqual(JSON.parse(Output.json(value)), value)
  })
})

it.effect("a state folder that cannot be trusted is a sentence", () =>
  Effect.gen(function*() {
    const { code, err } = yield* on("pins show ''")
    assert.strictEqual(code, 1)
    assert.notMatch(err, /\n\s+at /)
  }).pipe(Effect.provide(layerMemory)))
