import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as NodeFiles from "../../src/node/NodeFiles.ts"
import { Files, type FilesError } from "../../src/store/Files.ts"

const owner = NodeFiles.self()
const isRoot = owner.uid === 0

const temporary: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "sallyport-files-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

const test = <E>(name: string, run: (files: Files["Service"], folder: string) => Effect.Effect<void, E>) =>
  it.live(name, () =>
    Effect.gen(function*() {
      yield* run(yield* Files, yield* temporary)
    }).pipe(Effect.provide(NodeFiles.layer)))

/** A disk of 64 KiB; false where that is not permitted. */
const mounted = (folder: string) =>
  spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", folder], { stdio: "ignore" }).status === 0

const mode = (file: string) => (fs.lstatSync(file).mode & 0o7777).toString(8)

describe("NodeFiles", () => {
  test("makes folders for the owner only, and files too", (files, folder) =>
    Effect.gen(function*() {
      const state = path.join(folder, "a", "b")
      yield* files.folder(state)
      yield* files.folder(state)
      assert.deepStrictEqual([mode(path.join(folder, "a")), mode(state)], ["700", "700"])
      const file = path.join(state, "1.json")
      yield* files.create(file, "größe\n")
      assert.strictEqual(mode(file), "600")
      assert.strictEqual(fs.lstatSync(file).nlink, 1)
      assert.strictEqual(yield* files.read(file), "größe\n")
      yield* files.trusted(file)
      yield* files.trusted(state)
      assert.deepStrictEqual(yield* files.list(state), ["1.json"])
      assert.deepStrictEqual(fs.readdirSync(state), ["1.json"])
    }))

  test("tells what is missing", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "none", "x")
      for (const attempt of [files.read(file), files.trusted(file), files.create(file, ""), files.replace(file, "")]) {
        assert.strictEqual((yield* Effect.flip(attempt)).kind, "missing")
      }
      assert.strictEqual((yield* Effect.flip(files.appender(file, "create"))).kind, "missing")
      assert.deepStrictEqual(yield* files.list(path.join(folder, "none")), [])
      yield* files.remove(file)
    }))

  test("lets exactly one of many creators win, whole", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "7.json")
      const texts = Array.from({ length: 16 }, (_, index) => String(index).repeat(100_000))
      const outcomes = yield* Effect.forEach(texts, (text) => Effect.result(files.create(file, text)), {
        concurrency: "unbounded"
      })
      const won = outcomes.flatMap((outcome, index) => outcome._tag === "Success" ? [index] : [])
      assert.strictEqual(won.length, 1)
      assert.isTrue(outcomes.every((outcome) => outcome._tag === "Success" || outcome.failure.kind === "exists"))
      assert.strictEqual(fs.readFileSync(file, "utf8"), texts[won[0] ?? -1])
      assert.deepStrictEqual(fs.readdirSync(folder), ["7.json"])
    }))

  test("does not list what a creator that was killed left", (files, folder) =>
    Effect.gen(function*() {
      fs.writeFileSync(path.join(folder, `.sallyport-${"0".repeat(24)}.tmp`), "half")
      fs.writeFileSync(path.join(folder, ".note"), "somebody else's")
      assert.deepStrictEqual(yield* files.list(folder), [".note"])
    }))

  test("replaces a file, or keeps the old one", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "eras.json")
      yield* files.replace(file, "old")
      yield* files.replace(file, "new")
      assert.strictEqual(yield* files.read(file), "new")
      const occupied = path.join(folder, "occupied")
      fs.mkdirSync(path.join(occupied, "inside"), { recursive: true })
      assert.strictEqual((yield* Effect.flip(files.replace(occupied, "x"))).kind, "failed")
      assert.deepStrictEqual(fs.readdirSync(folder).sort(), ["eras.json", "occupied"])
      yield* files.remove(file)
      assert.isFalse(fs.existsSync(file))
    }))

  test("appends to a file of its own, in one go with the caller", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "log.jsonl")
      const log = yield* files.appender(file, "create")
      assert.strictEqual(mode(file), "600")
      assert.strictEqual((yield* Effect.flip(files.appender(file, "create"))).kind, "exists")
      const fiber = yield* Effect.forkChild(log.append("one\n"), { startImmediately: true })
      assert.isDefined(fiber.pollUnsafe(), "an append takes no turn of the event loop")
      yield* log.sync
      const second = yield* files.appender(file, "existing")
      yield* second.append("two\n")
      yield* log.append("three\n")
      yield* log.sync
      assert.strictEqual(yield* files.read(file), "one\ntwo\nthree\n")
      assert.deepStrictEqual(yield* files.tail(file, 10), { text: "three\n", whole: false })
      assert.deepStrictEqual(yield* files.tail(file, 14), { text: "one\ntwo\nthree\n", whole: true })
      yield* second.append("f\u00f6ur")
      assert.deepStrictEqual(yield* files.lines(file, 0, 1), { text: "one\n", next: 4 })
      assert.deepStrictEqual(yield* files.lines(file, 4, 11), { text: "two\nthree\n", next: 14 })
      assert.deepStrictEqual(yield* files.lines(file, 4, 1), { text: "two\n", next: 8 })
      assert.deepStrictEqual(yield* files.lines(file, 14, 100), { text: "", next: 14 })
      assert.deepStrictEqual(yield* files.lines(file, 99, 100), { text: "", next: 99 })
      yield* second.close
      yield* second.close
      assert.match((yield* Effect.flip(second.append("four\n"))).message, /cannot write/)
      assert.strictEqual((yield* Effect.flip(files.appender(path.join(folder, "x"), "existing"))).kind, "missing")
    }))

  test("writes nothing to a file that was removed meanwhile", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "log.jsonl")
      const log = yield* files.appender(file, "create")
      yield* log.append("one\n")
      fs.unlinkSync(file)
      assert.match((yield* Effect.flip(log.append("two\n"))).message, /log\.jsonl was removed while/)
    }))

  it.live.skipIf(process.platform !== "linux" || !isRoot)(
    "takes back what was written of a text that did not fit",
    () =>
      Effect.gen(function*() {
        const files = yield* Files
        const folder = yield* temporary
        const disk = path.join(folder, "disk")
        fs.mkdirSync(disk, { mode: 0o700 })
        if (!mounted(disk)) return
        yield* Effect.addFinalizer(() => Effect.sync(() => execFileSync("umount", ["-l", disk])))
        const log = yield* files.appender(path.join(disk, "log"), "create")
        yield* log.append("one\n")
        const error = yield* Effect.flip(log.append("x".repeat(200_000)))
        assert.match(error.message, /the disk is full; make room/)
        yield* log.append("two\n")
        assert.strictEqual(yield* files.read(log.path), "one\ntwo\n")
        const whole = yield* Effect.flip(files.create(path.join(disk, "big"), "x".repeat(200_000)))
        assert.strictEqual(whole.kind, "failed")
        assert.deepStrictEqual(fs.readdirSync(disk), ["log"])
      }).pipe(Effect.provide(NodeFiles.layer))
  )

  test("refuses text that is not UTF-8 and files past the bound", (files, folder) =>
    Effect.gen(function*() {
      const file = path.join(folder, "x")
      fs.writeFileSync(file, Buffer.from([0x61, 0xff]))
      assert.match((yield* Effect.flip(files.read(file))).message, /not UTF-8/)
      fs.truncateSync(file, 256 * 1024 * 1024 + 1)
      assert.match((yield* Effect.flip(files.read(file))).message, /larger than 256 MiB/)
    }))
})

describe("the trust check (F5)", () => {
  /** What is laid out, whether it is trusted, and what the message must say. */
  const table: ReadonlyArray<
    readonly [what: string, lay: (folder: string) => string, refused: RegExp | undefined, onlyRoot?: boolean]
  > = [
    ["a plain file", (folder) => plain(folder), undefined],
    ["a file readable by all", (folder) => plain(folder, 0o644), undefined],
    ["a group-writable file", (folder) => plain(folder, 0o660), /mode 0660.*chmod go-w/],
    ["a world-writable file", (folder) => plain(folder, 0o602), /chmod go-w/],
    ["a link", (folder) => {
      fs.symlinkSync(plain(folder), path.join(folder, "link"))
      return path.join(folder, "link")
    }, /symbolic link/],
    ["a fifo", (folder) => {
      execFileSync("mkfifo", ["-m", "600", path.join(folder, "fifo")])
      return path.join(folder, "fifo")
    }, /not a regular file/],
    ["a file below a world-writable folder", (folder) => below(folder, 0o777), /writable by everybody.*chmod o-w/],
    ["a file below a folder writable by our primary group", (folder) => below(folder, 0o770), undefined],
    ["a file below a link to a trusted folder", (folder) => {
      const file = below(folder, 0o700)
      fs.symlinkSync(path.dirname(file), path.join(folder, "link"))
      return path.join(folder, "link", "x")
    }, undefined],
    ["a file below a link to an untrusted folder", (folder) => {
      const file = below(folder, 0o777)
      fs.symlinkSync(path.dirname(file), path.join(folder, "link"))
      return path.join(folder, "link", "x")
    }, /writable by everybody/],
    [
      "a file of somebody else",
      (folder) => {
        const file = plain(folder)
        fs.chownSync(file, 4321, owner.gid)
        return file
      },
      /belongs to user 4321.*chown/,
      true
    ],
    [
      "a file below somebody else's folder",
      (folder) => {
        const file = below(folder, 0o755)
        fs.chownSync(path.dirname(file), 4321, owner.gid)
        return file
      },
      /belongs to user 4321/,
      true
    ],
    [
      "a file below a folder writable by a foreign group",
      (folder) => {
        const file = below(folder, 0o770)
        fs.chownSync(path.dirname(file), owner.uid, 4321)
        return file
      },
      /writable by group 4321.*chmod g-w/,
      true
    ],
    ["a file below a sticky folder of root, as /tmp", (folder) => below(folder, 0o1777), undefined, true],
    [
      "a file below a sticky folder of somebody else",
      (folder) => {
        const file = below(folder, 0o1777)
        fs.chownSync(path.dirname(file), 4321, owner.gid)
        return file
      },
      /belongs to user 4321/,
      true
    ]
  ]
  const plain = (folder: string, mode = 0o600) => {
    const file = path.join(folder, "x")
    fs.writeFileSync(file, "x")
    fs.chmodSync(file, mode)
    return file
  }
  const below = (folder: string, mode: number) => {
    const inner = path.join(folder, "inner")
    fs.mkdirSync(inner)
    const file = plain(inner)
    fs.chmodSync(inner, mode)
    return file
  }

  for (const [what, lay, refused, onlyRoot = false] of table) {
    it.live.skipIf(onlyRoot && !isRoot)(
      `${refused === undefined ? "trusts" : "refuses"} ${what}`,
      () =>
        Effect.gen(function*() {
          const files = yield* Files
          const file = lay(yield* temporary)
          const attempts: ReadonlyArray<Effect.Effect<unknown, FilesError>> = [
            files.read(file),
            files.trusted(file),
            files.appender(file, "existing")
          ]
          for (const attempt of attempts) {
            const outcome = yield* Effect.result(attempt)
            if (refused === undefined) assert.strictEqual(outcome._tag, "Success")
            else {
              const error = outcome._tag === "Failure" ? outcome.failure : undefined
              assert.strictEqual(error?.kind, "untrusted")
              assert.match(error?.message ?? "", refused)
            }
          }
        }).pipe(Effect.provide(NodeFiles.layer))
    )
  }

  test("applies to where a file is put, too", (files, folder) =>
    Effect.gen(function*() {
      const inner = path.join(folder, "inner")
      fs.mkdirSync(inner)
      fs.chmodSync(inner, 0o777)
      const file = path.join(inner, "x")
      for (
        const attempt of [
          files.create(file, ""),
          files.replace(file, ""),
          files.folder(inner),
          files.remove(file),
          Effect.asVoid(files.list(inner)),
          Effect.asVoid(files.appender(file, "create"))
        ]
      ) assert.strictEqual((yield* Effect.flip(attempt)).kind, "untrusted")
      assert.deepStrictEqual(fs.readdirSync(inner), [])
    }))

  it("judges by the owner that it is given", () => {
    const file = fs.statSync(process.execPath)
    const other = { uid: 4321, gid: 4321 }
    const judged = NodeFiles.judgeFile("node", Object.assign(file, { uid: 1234 }), other)
    assert.match(judged ?? "", /belongs to user 1234; it must belong to user 4321 or root/)
    assert.isUndefined(NodeFiles.judgeFile("node", Object.assign(file, { uid: 0, mode: 0o100644 }), other))
  })
})
