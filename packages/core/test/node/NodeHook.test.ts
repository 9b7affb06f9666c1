import { assert, describe, it } from "@effect/vitest"
import { Environment } from "@sallyport/core/node/Environment"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as NodeHook from "@sallyport/core/node/NodeHook"
import * as Gate from "@sallyport/core/stage/Gate"
import type { Files } from "@sallyport/core/store/Files"
import { Duration, Effect, Fiber, type Scope } from "effect"
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Text } from "../../src/wire/Message.ts"

const subject: Gate.Subject = {
  client: "desk",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "delete",
  params: Text.make(`{"name":"delete","arguments":{"n":1.0}}`),
  pin: undefined,
  definition: undefined
}

const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "sallyport-hook-")))),
  (at) => Effect.sync(() => rmSync(at, { recursive: true, force: true }))
)

/** A hook that is this script of the shell's. */
const hook = Effect.fnUntraced(function*(
  script: string,
  options: { readonly mode?: number; readonly timeout?: Duration.Duration } = {}
) {
  const at = yield* folder
  const file = join(at, "hook.sh")
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, options.mode ?? 0o700)
  const told: Array<string> = []
  const config: NodeHook.Config = { command: [file, at], timeout: options.timeout }
  const gate = yield* NodeHook.gate(() => config, { tell: (sentence) => void told.push(sentence) })
  return { at, file, told, gate }
})

const live = <A, E>(name: string, effect: () => Effect.Effect<A, E, Scope.Scope | Files>) =>
  it.live(name, () => Effect.provide(effect(), NodeFiles.layer))

/** Whether a process of this number is there and no zombie. */
const runs = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

const until = Effect.fnUntraced(function*(done: () => boolean) {
  for (let i = 0; i < 500 && !done(); i++) yield* Effect.sleep("20 millis")
  assert.isTrue(done())
})

describe("NodeHook", () => {
  live("gives the call on stdin, and takes the verdict from stdout", () =>
    Effect.gen(function*() {
      const { at, gate } = yield* hook(`cat > "$1/line"; echo '{"verdict":"deny","why":"no"}'`)
      assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", why: "no" })
      assert.strictEqual(
        readFileSync(join(at, "line"), "utf8"),
        `{"client":"desk","server":"files","from":"host","method":"tools/call","name":"delete",` +
          `"params":{"name":"delete","arguments":{"n":1.0}}}\n`
      )
    }))

  live("a program that does not read the call may still decide", () =>
    Effect.gen(function*() {
      const { gate } = yield* hook(`echo '{"verdict":"allow"}'`)
      const params = Text.make(`{"name":"delete","arguments":{"x":"${"a".repeat(1_000_000)}"}}`)
      assert.deepInclude(yield* gate.call({ ...subject, params }), { _tag: "Allow" })
    }))

  live(
    "refuses after an exit code that is not 0, whatever was printed, and tells what it said on stderr",
    () =>
      Effect.gen(function*() {
        const { gate, told } = yield* hook(`echo '{"verdict":"allow"}'; printf 'no\\033[2Jpe' >&2; exit 3`)
        assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", reason: "hook-failed" })
        assert.strictEqual(told[0], `the hook refused a call by failing: it ended with code 3, saying "no\\u{1b}[2Jpe"`)
      })
  )

  live("refuses after too much output, in no time", () =>
    Effect.gen(function*() {
      const { gate, told } = yield* hook(`exec cat /dev/zero`)
      assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", reason: "hook-failed" })
      assert.match(told[0] ?? "", /printed more than 65536 bytes/)
    }))

  live("ends the program with all that it started, after its verdict", () =>
    Effect.gen(function*() {
      const { at, gate } = yield* hook(`sleep 600 & echo $! > "$1/pid"; echo '{"verdict":"allow"}'`)
      assert.deepInclude(yield* gate.call(subject), { _tag: "Allow" })
      const pid = Number(readFileSync(join(at, "pid"), "utf8"))
      yield* until(() => !runs(pid))
    }))

  live("ends the program with all that it started, when it takes too long", () =>
    Effect.gen(function*() {
      const { at, gate } = yield* hook(`trap '' TERM; sleep 600 & echo $! > "$1/pid"; sleep 600`, {
        timeout: Duration.millis(300)
      })
      assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", reason: "hook-failed" })
      if (!existsSync(join(at, "pid"))) return
      const pid = Number(readFileSync(join(at, "pid"), "utf8"))
      yield* until(() => !runs(pid))
    }))

  live("ends the program when the call is given up", () =>
    Effect.gen(function*() {
      const { at, gate } = yield* hook(`echo $$ > "$1/pid"; exec sleep 600`)
      const fiber = yield* Effect.forkChild(gate.call(subject))
      yield* until(() => existsSync(join(at, "pid")) && readFileSync(join(at, "pid"), "utf8").endsWith("\n"))
      yield* Fiber.interrupt(fiber)
      const pid = Number(readFileSync(join(at, "pid"), "utf8"))
      yield* until(() => !runs(pid))
    }))

  live("has the environment that servers get, and the root as its folder", () =>
    Effect.gen(function*() {
      const { at, gate } = yield* Effect.provideService(
        hook(`{ env; pwd; } > "$1/env"; echo '{"verdict":"allow"}'`),
        Environment,
        { PATH: "/usr/bin:/bin", HOME: "/home/ada", SECRET_TOKEN: "hunter2", BASH_FUNC: "() { :; }" }
      )
      yield* gate.call(subject)
      const env = readFileSync(join(at, "env"), "utf8")
      assert.include(env, "HOME=/home/ada")
      assert.notInclude(env, "hunter2")
      assert.match(env, /^\/$/m)
    }))

  live(
    "F5: does not run what others may write, nor what is no absolute path or not there",
    () =>
      Effect.gen(function*() {
        const { at, gate, told } = yield* hook(`touch "$1/ran"; echo '{"verdict":"allow"}'`, { mode: 0o722 })
        assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", reason: "hook-failed" })
        assert.match(told[0] ?? "", /is writable by others/)
        assert.isFalse(existsSync(join(at, "ran")))
        for (const command of ["hook.sh", join(at, "none")]) {
          const config: NodeHook.Config = { command: [command] }
          const other = yield* NodeHook.gate(() => config, { tell: (sentence) => void told.push(sentence) })
          assert.deepInclude(yield* other.call(subject), { _tag: "Refuse", reason: "hook-failed" })
        }
        assert.match(told[1] ?? "", /absolute path/)
        assert.match(told[2] ?? "", /no such file/)
      })
  )

  live(
    "F5: does not run a script that others may write, with an interpreter that they may not",
    () =>
      Effect.gen(function*() {
        const { at, file, told } = yield* hook(`touch "$1/ran"; echo '{"verdict":"allow"}'`, { mode: 0o666 })
        const config: NodeHook.Config = { command: ["/bin/sh", file, at] }
        const gate = yield* NodeHook.gate(() => config, { tell: (sentence) => void told.push(sentence) })
        assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse", reason: "hook-failed" })
        assert.isFalse(existsSync(join(at, "ran")))
        chmodSync(file, 0o600)
        assert.deepInclude(yield* gate.call(subject), { _tag: "Allow" })
        assert.isTrue(existsSync(join(at, "ran")))
      })
  )

  live("starts no shell: what looks like one more command is an argument", () =>
    Effect.gen(function*() {
      const at = yield* folder
      const config: NodeHook.Config = { command: ["/bin/echo", `;touch ${at}/ran;`] }
      const gate = yield* NodeHook.gate(() => config, { tell: () => {} })
      assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse" })
      assert.isFalse(existsSync(join(at, "ran")))
    }))

  live("is another one when the policy names another, and none where it names none", () =>
    Effect.gen(function*() {
      const no: NodeHook.Config = { command: ["/bin/echo", `{"verdict":"deny"}`] }
      const yes: NodeHook.Config = { command: ["/bin/echo", `{"verdict":"allow","rule":"y"}`] }
      let current: NodeHook.Config | undefined = no
      const gate = yield* NodeHook.gate(() => current, { tell: () => {} })
      assert.deepInclude(yield* gate.call(subject), { _tag: "Refuse" })
      current = yes
      assert.deepInclude(yield* gate.call(subject), { _tag: "Allow", rule: "y" })
      current = undefined
      assert.strictEqual(yield* gate.call(subject), Gate.allow)
    }))
})
