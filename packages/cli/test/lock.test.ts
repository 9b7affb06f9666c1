import { assert, describe, it } from "@effect/vitest"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import { Effect, Result } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Lock from "../src/commands/pinsLock.ts"
import { run } from "./support.ts"

describe("the npx command", () => {
  const cases: ReadonlyArray<readonly [line: string, expected: Lock.Asked | string]> = [
    ["npx -y pkg@1.2.3", { spec: "pkg@1.2.3", bin: undefined, args: [] }],
    ["npx pkg --root /srv -y", { spec: "pkg", bin: undefined, args: ["--root", "/srv", "-y"] }],
    ["/usr/bin/npx --yes @scope/pkg a", { spec: "@scope/pkg", bin: undefined, args: ["a"] }],
    ["npx -y -p pkg@1 serve --x", { spec: "pkg@1", bin: "serve", args: ["--x"] }],
    ["npx --package=pkg serve", { spec: "pkg", bin: "serve", args: [] }],
    ["npm exec -- pkg a", { spec: "pkg", bin: undefined, args: ["a"] }],
    ["pnpm dlx pkg", { spec: "pkg", bin: undefined, args: [] }],
    ["bunx pkg", { spec: "pkg", bin: undefined, args: [] }],
    ["npx -y", "it names no package"],
    ["npx -p a -p b run", "it names several packages"],
    ["npx --registry=https://x.invalid pkg", "the option \"--registry=https://x.invalid\" of npx is not known here"],
    ["npx -c pkg", "the option \"-c\" of npx is not known here"],
    ["", "the command is missing: put it behind --"],
    ["npm start", "this locks what npx and its relatives run"],
    ["uvx pkg", "this locks what npx and its relatives run"],
    ["docker run image", "this locks what npx and its relatives run"]
  ]
  for (const [line, expected] of cases) {
    it(line, () => {
      const found = Lock.parse(line.split(" "))
      if (typeof expected !== "string") return assert.deepStrictEqual(found, Result.succeed(expected))
      assert.include(Result.isFailure(found) ? found.failure : "", expected)
    })
  }
})

/** A package with a script that must not run, packed as a registry would give it. */
const packed = (root: string, more: object = {}): string => {
  const folder = join(root, "fixture")
  mkdirSync(folder)
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({
      name: "@fixture/server",
      version: "1.2.3",
      bin: { server: "bin/server.js" },
      scripts: { postinstall: `node -e "require('fs').writeFileSync('${join(root, "ran")}', '')"` },
      ...more
    })
  )
  mkdirSync(join(folder, "bin"))
  writeFileSync(join(folder, "bin/server.js"), "#!/usr/bin/env node\nconsole.log(process.argv.slice(2).join())\n")
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", root], { cwd: folder })
  return join(root, "fixture-server-1.2.3.tgz")
}

const within = <A, E>(use: (root: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "sallyport-lock-"))
      chmodSync(root, 0o700)
      return root
    }),
    use,
    (root) => Effect.sync(() => rmSync(root, { recursive: true }))
  )

const lock = (root: string, ...line: ReadonlyArray<string>) =>
  run(["pins", "lock", "--json", "--state", join(root, "state"), "files", "--", ...line]).pipe(
    Effect.provide(NodeFiles.layer)
  )

describe("F32: pins lock", () => {
  it.effect(
    "installs by integrity, runs no script of the package, and prints what runs it",
    () =>
      within((root) =>
        Effect.gen(function*() {
          const { code, err, out } = yield* lock(root, "npx", "-y", `file:${packed(root)}`, "--root", "/srv")
          assert.strictEqual(code, 0, err)
          const locked: Lock.Locked = JSON.parse(out)
          assert.strictEqual(locked.package, "@fixture/server")
          assert.strictEqual(locked.version, "1.2.3")
          assert.lengthOf(locked.packages, 1)
          assert.match(locked.packages[0]?.integrity ?? "", /^sha512-/)
          const [node = "", script = "", ...args] = locked.command
          assert.deepStrictEqual([node, ...args], ["node", "--root", "/srv"])
          assert.isTrue(script.startsWith(join(root, "state/packages/files-")))
          assert.strictEqual(execFileSync(node, [script, ...args], { encoding: "utf8" }), "--root,/srv\n")
          assert.isFalse(existsSync(join(root, "ran")))
          assert.strictEqual(statSync(locked.folder).mode & 0o777, 0o700)
          assert.deepStrictEqual(JSON.parse(readFileSync(join(locked.folder, "sallyport-lock.json"), "utf8")), {
            package: "@fixture/server",
            version: "1.2.3",
            packages: locked.packages
          })
          // Again is the same command, with what was changed meanwhile put right.
          writeFileSync(script, "console.log('changed')")
          const again = yield* lock(
            root,
            "npx",
            "-y",
            `file:${join(root, "fixture-server-1.2.3.tgz")}`,
            "--root",
            "/srv"
          )
          assert.strictEqual(again.out, out)
          assert.include(readFileSync(script, "utf8"), "process.argv")
        })
      ),
    60_000
  )

  it.effect(
    "locks nothing that npm has no digest of, or that has no such program",
    () =>
      within((root) =>
        Effect.gen(function*() {
          const file = packed(root)
          const folder = yield* lock(root, "npx", join(root, "fixture"))
          assert.strictEqual(folder.code, 1)
          assert.match(folder.err, /nothing was locked: npm has no digest of "@fixture\/server"/)
          const bin = yield* lock(root, "npx", "-p", `file:${file}`, "other")
          assert.match(bin.err, /@fixture\/server has no program other/)
          const missing = yield* lock(root, "npx", `file:${join(root, "none.tgz")}`)
          assert.match(missing.err, /npm could not install file:.*none\.tgz/)
          assert.deepStrictEqual(
            execFileSync("ls", ["-A", join(root, "state/packages")], { encoding: "utf8" }),
            ""
          )
        })
      ),
    60_000
  )
})
