import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Approvals from "@sallyport/core/stage/Approvals"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as PinStore from "@sallyport/core/stage/PinStore"
import { Effect, Layer } from "effect"
import type * as Ancestry from "../src/Ancestry.ts"
import * as Accept from "../src/commands/pinsAccept.ts"
import type { Asked } from "../src/Person.ts"
import * as Person from "../src/Person.ts"
import type * as State from "../src/State.ts"
import {
  accepted,
  changed,
  drifted,
  type Files,
  hiding,
  launch,
  layerMemory,
  load,
  MemoryFiles,
  on,
  put,
  read,
  server,
  state,
  store,
  write
} from "./support.ts"

const yes = { answer: "accept" }

const relay: Ancestry.Process = { name: "node", args: ["node", "/x/bin/sallyport.mjs", "relay", "--name", "files"] }
const agent: Ancestry.Process = { name: "claude", args: ["claude"] }
const shell: Ancestry.Process = { name: "bash", args: ["-bash"] }

describe("on the terminal", () => {
  it.effect("accepts what was shown, after the word accept", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read, hiding]))
      const asked: Array<Asked> = []
      const { code, out } = yield* on("pins accept files", { person: { ...yes, asked }, parents: [shell] })
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "Accepted 2 tools and the launch of files.")
      assert.strictEqual(asked.length, 1)
      assert.include(asked[0]?.shown ?? "", "hi\\u{202e}de")
      assert.match(asked[0]?.question ?? "", /2 tools and the launch of files/)
      const pins = yield* load("files")
      assert.deepStrictEqual(pins.pins.map(({ how, name }) => [name, how]), [["hi\u202ede", "terminal"], [
        "read",
        "terminal"
      ]])
      const entries = yield* accepted
      assert.strictEqual(entries.length, 1)
      assert.deepInclude(entries[0], { server: "files", how: "terminal", parents: ["-bash"] })
      assert.strictEqual((yield* on("ledger verify")).code, 0)
      const again = yield* on("pins accept files", { person: yes })
      assert.strictEqual(again.code, 0)
      assert.match(again.out, /Nothing of files is held/)
    }).pipe(Effect.provide(layerMemory)))

  for (const answer of ["no", "", "y", "yes", "Accept", "accept all", undefined]) {
    it.effect(`accepts nothing after ${JSON.stringify(answer)}`, () =>
      Effect.gen(function*() {
        yield* put(server("files", [read]))
        const { code, err, out } = yield* on("pins accept files", { person: { answer } })
        assert.strictEqual(code, 1)
        assert.strictEqual(out, "")
        assert.match(err, /nothing was accepted: the answer was not accept/)
        assert.deepStrictEqual((yield* load("files")).pins, [])
        assert.deepStrictEqual(yield* accepted, [])
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("accepts nothing where there is no terminal, and names no way around it", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const { code, err } = yield* on("pins accept files")
      assert.strictEqual(code, 1)
      assert.match(err, /there is none here; a person must do it/)
      assert.notMatch(err, /--digest|--all|--unseen/)
      assert.deepStrictEqual((yield* load("files")).pins, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("accepts only the items that were named, and the launch", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read, write]))
      const asked: Array<Asked> = []
      const { out } = yield* on("pins accept files write", { person: { ...yes, asked } })
      assert.strictEqual(out, "Accepted 1 tool and the launch of files. 1 item of it is still held.")
      assert.notInclude(asked[0]?.shown ?? "", "Reads a file")
      const pins = yield* load("files")
      assert.deepStrictEqual(pins.pins.map(({ name }) => name), ["write"])
      const other = yield* on("pins accept files write", { person: yes })
      assert.strictEqual(other.code, 1)
      assert.match(other.err, /write: not held/)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("accepts nothing where it changed while the person looked", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [read, write]))
      const before = put(drifted("files", [read], [changed, write]))
      const files = yield* Effect.context<MemoryFiles | Files>()
      const { code, err } = yield* on("pins accept files", {
        person: { ...yes, before: Effect.asVoid(Effect.provide(before, files)) }
      })
      assert.strictEqual(code, 1)
      assert.match(err, /nothing was accepted: what files offers changed meanwhile/)
      assert.deepStrictEqual((yield* load("files")).pins.map(({ name }) => name), ["read"])
      assert.deepStrictEqual(yield* accepted, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("accepts nothing where the launch changed while the person looked", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const files = yield* Effect.context<MemoryFiles | Files>()
      const before = put(server("files", [read], { launch: launch(["evil.js"]) }))
      const { code } = yield* on("pins accept files", {
        person: { ...yes, before: Effect.asVoid(Effect.provide(before, files)) }
      })
      assert.strictEqual(code, 1)
      assert.isUndefined((yield* load("files")).launch)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("says what cannot be accepted, and asks nothing", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [write, { ...write, description: "x" }, { name: "bad" }]))
      const asked: Array<Asked> = []
      const all = yield* on("pins accept files", { person: { ...yes, asked } })
      assert.strictEqual(all.code, 1)
      assert.match(all.err, /nothing of files is held that could be accepted/)
      const one = yield* on("pins accept files write", { person: { ...yes, asked } })
      assert.strictEqual(one.code, 1)
      assert.match(one.err, /more than once/)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("needs a server that was seen", () =>
    Effect.gen(function*() {
      for (const line of ["pins accept files", "pins accept --all --unseen files"]) {
        const { code, err } = yield* on(line, { person: yes })
        assert.strictEqual(code, 1)
        assert.match(err, /was never seen.*\n.*Start it once/)
      }
    }).pipe(Effect.provide(layerMemory)))
})

describe("without a question", () => {
  it.effect("--digest accepts exactly what it was taken of", () =>
    Effect.gen(function*() {
      const pins = server("files", [read])
      yield* put(pins)
      const digest = Pins.digestOfHeld(pins) ?? "?"
      const wrong = yield* on(`pins accept --digest ${digest.replace(/^./, "x")} files`)
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.err, /not what this digest was taken of/)
      assert.deepStrictEqual((yield* load("files")).pins, [])
      const { code, out } = yield* on(`pins accept --json --digest ${digest} files`, { parents: [shell, agent] })
      assert.strictEqual(code, 0)
      assert.deepInclude(JSON.parse(out), { server: "files", how: "digest", digest, version: 2, launch: true, held: 0 })
      assert.deepInclude((yield* accepted)[0], { how: "digest", parents: ["-bash", "claude"] })
      assert.strictEqual((yield* on(`pins accept --digest ${digest} files`)).code, 1)
    }).pipe(Effect.provide(layerMemory)))

  it.effect("--digest of another listing accepts nothing", () =>
    Effect.gen(function*() {
      yield* put(server("files", [changed]))
      const { code } = yield* on(`pins accept --digest ${Pins.digestOfHeld(server("files", [read]))} files`)
      assert.strictEqual(code, 1)
      assert.deepStrictEqual((yield* load("files")).pins, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("--all --unseen accepts what is held now, and records that nobody saw it", () =>
    Effect.gen(function*() {
      yield* put(drifted("files", [read], [changed, write, { name: "bad" }]))
      const { code, out } = yield* on("pins accept --all --unseen files")
      assert.strictEqual(code, 0)
      assert.strictEqual(out, "Accepted 2 tools of files. 1 item of it is still held.")
      const [entry] = yield* accepted
      assert.deepInclude(entry, { how: "unseen", server: "files" })
      assert.deepStrictEqual((yield* load("files")).pins.map(({ how }) => how), ["unseen", "unseen"])
      assert.match((yield* on("status")).out, /Accepted without a question:\n.*\n.*unseen: read, write/)
    }).pipe(Effect.provide(layerMemory)))

  for (
    const line of [
      "pins accept --all files",
      "pins accept --unseen files",
      "pins accept --all --unseen files read",
      "pins accept --all --unseen --digest x files",
      "pins accept",
      "pins accept --frobnicate files"
    ]
  ) {
    it.effect(`wrong usage: ${line}`, () =>
      Effect.gen(function*() {
        const { code, err, out } = yield* on(line, { person: yes })
        assert.strictEqual(code, 2)
        assert.strictEqual(out, "")
        assert.match(err, /Usage: sallyport pins accept/)
      }).pipe(Effect.provide(layerMemory)))
  }
})

describe("who may accept", () => {
  for (const line of ["pins accept files", "pins accept --all --unseen files", "pins accept --digest DIGEST files"]) {
    it.effect(`below a relay nobody: ${line}`, () =>
      Effect.gen(function*() {
        const pins = server("files", [read])
        yield* put(pins)
        const asked: Array<Asked> = []
        const { code, err } = yield* on(line.replace("DIGEST", Pins.digestOfHeld(pins) ?? "?"), {
          person: { ...yes, asked },
          parents: [shell, { name: "node", args: ["node", "server.js"] }, relay, agent]
        })
        assert.strictEqual(code, 1)
        assert.match(err, /nothing was accepted: this runs below a relay/)
        assert.deepStrictEqual(asked, [])
        assert.deepStrictEqual((yield* load("files")).pins, [])
        assert.isFalse((yield* MemoryFiles).contents.has(`${state}/ledger/key`))
      }).pipe(Effect.provide(layerMemory)))
  }

  it.effect("below an agent nothing is asked", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const asked: Array<Asked> = []
      const { code, err } = yield* on("pins accept files", { person: { ...yes, asked }, parents: [shell, agent] })
      assert.strictEqual(code, 1)
      assert.match(err, /below claude/)
      assert.notMatch(err, /--digest|--all|--unseen/)
      assert.deepStrictEqual(asked, [])
      assert.strictEqual((yield* on("pins accept --all --unseen files", { parents: [shell, agent] })).code, 0)
    }).pipe(Effect.provide(layerMemory)))
})

describe("the ledger", () => {
  it.effect("that cannot be opened: nothing is asked and nothing accepted", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const files = yield* MemoryFiles
      files.untrusted.set(`${state}/ledger`, "is writable by others")
      const asked: Array<Asked> = []
      const { code, err } = yield* on("pins accept files", { person: { ...yes, asked } })
      assert.strictEqual(code, 1)
      assert.match(err, /nothing was accepted: .*ledger.*is writable by others/)
      assert.deepStrictEqual(asked, [])
      assert.deepStrictEqual((yield* load("files")).pins, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("that cannot be written: nothing is accepted", () =>
    Effect.gen(function*() {
      yield* put(server("other", [read]))
      yield* put(server("files", [read]))
      // So that the ledger is there already.
      assert.strictEqual((yield* on("pins accept --all --unseen other")).code, 0)
      const files = yield* MemoryFiles
      // Once it would help itself, by giving up what it keeps in reserve.
      for (let nth = 1; nth < 9; nth++) files.fault("create", nth, "fail")
      const { code, err } = yield* on("pins accept --all --unseen files")
      assert.strictEqual(code, 1)
      assert.match(err, /nothing was accepted: .*ledger.*cannot be written/)
      assert.deepStrictEqual((yield* load("files")).pins, [])
    }).pipe(Effect.provide(layerMemory)))

  it.effect("has it before the pins do", () =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const memory = Ledger.makeMemory()
      const kept = yield* PinStore.PinStore
      let written = -1
      const watched = PinStore.PinStore.of({
        ...kept,
        save: (...args) => {
          written = memory.written().length
          return kept.save(...args)
        }
      })
      yield* Accept.accept(opened, "files", { items: [] }, { _tag: "Unseen" }, []).pipe(
        Effect.provide(
          Layer.mergeAll(
            Layer.succeed(PinStore.PinStore, watched),
            Ledger.layerMemory(memory),
            Person.layerTest()
          )
        )
      )
      assert.strictEqual(written, 1)
    }).pipe(Effect.provide(Layer.provideMerge(store, layerMemory))))
})

/** Only its names are used here. */
const opened: State.State = {
  folder: state,
  pins: store,
  approvals: Approvals.layerFile({ directory: `${state}/approvals` }),
  ledgerFolder: `${state}/ledger`,
  ledger: Ledger.layerFile({ directory: `${state}/ledger`, sync: true }),
  option: ""
}

describe("compare and set", () => {
  /** Another process that is faster: at the first save it saves first. */
  const overtaken = (other: (pins: Pins.Pins) => Pins.Pins) =>
    Effect.gen(function*() {
      const kept = yield* PinStore.PinStore
      let times = 1
      return PinStore.PinStore.of({
        ...kept,
        save: (name, expected, next) =>
          Effect.gen(function*() {
            if (times-- > 0) yield* kept.save(name, expected, other(yield* kept.load(name)))
            return yield* kept.save(name, expected, next)
          })
      })
    })

  const attempt = (other: (pins: Pins.Pins) => Pins.Pins) =>
    Effect.gen(function*() {
      yield* put(server("files", [read]))
      const memory = Ledger.makeMemory()
      const watched = yield* overtaken(other)
      const exit = yield* Effect.result(
        Accept.accept(opened, "files", { items: [] }, { _tag: "Unseen" }, []).pipe(
          Effect.provide(
            Layer.mergeAll(
              Layer.succeed(PinStore.PinStore, watched),
              Ledger.layerMemory(memory),
              Person.layerTest()
            )
          )
        )
      )
      return { exit, pins: yield* load("files"), written: memory.written().length }
    }).pipe(Effect.provide(Layer.provideMerge(store, layerMemory)))

  it.effect("goes on where another process changed what does not matter", () =>
    Effect.gen(function*() {
      const { exit, pins, written } = yield* attempt((pins) => ({ ...pins, since: "before" }))
      assert.strictEqual(exit._tag, "Success")
      assert.deepStrictEqual(pins.pins.map(({ name }) => name), ["read"])
      assert.strictEqual(pins.since, "before")
      assert.strictEqual(written, 1)
    }))

  it.effect("accepts nothing where another process changed what was to be accepted", () =>
    Effect.gen(function*() {
      const { exit, pins } = yield* attempt(() => server("files", [changed]))
      assert.strictEqual(exit._tag, "Failure")
      assert.match(String(exit._tag === "Failure" ? exit.failure.message : ""), /changed meanwhile/)
      assert.deepStrictEqual(pins.pins, [])
    }))
})
