import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Scope } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { Environment } from "../../src/node/Environment.ts"
import * as NodeSpawn from "../../src/node/NodeSpawn.ts"
import { type Command, type Launch, Spawn } from "../../src/stage/Spawn.ts"
import type { Peer } from "../../src/stage/Transport.ts"

const node = (code: string, change: Partial<Launch> = {}): Launch => ({
  name: "notes",
  command: process.execPath,
  args: ["-e", code],
  env: [],
  sandbox: "none",
  ...change
})
const sh = (code: string, change: Partial<Launch> = {}) =>
  node("", { command: "/bin/sh", args: ["-c", code], ...change })

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8")

/** Everything that a peer says until it is done. */
const all = (peer: Peer) =>
  Effect.gen(function*() {
    const chunks: Array<Buffer> = []
    yield* peer.receive((chunk) => Effect.sync(() => void chunks.push(Buffer.from(chunk))))
    return Buffer.concat(chunks).toString("utf8")
  })

/** The first line that a peer says; it is read on for as long as the scope is open. */
const firstLine = (peer: Peer) =>
  Effect.gen(function*() {
    const line = yield* Deferred.make<string>()
    let seen = ""
    yield* Effect.forkScoped(peer.receive((chunk) => {
      seen += text(chunk)
      return seen.includes("\n") ? Effect.asVoid(Deferred.succeed(line, seen.split("\n")[0] ?? "")) : Effect.void
    }))
    return yield* Deferred.await(line)
  })

/** Whether a process runs; one that only waits to be reaped does not. */
const runs = (pid: number) => {
  try {
    process.kill(pid, 0)
    return !fs.existsSync(`/proc/${pid}/stat`) || !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}

const gone = (pid: number) =>
  Effect.gen(function*() {
    while (runs(pid)) yield* Effect.sleep(10)
  })

/** For servers that leave in order: however busy the machine is, none of them is signalled. */
const patient = { term: Duration.seconds(20), kill: Duration.millis(300) }
const quick = { term: Duration.millis(150), kill: Duration.millis(150) }

interface Bench {
  readonly spawn: Spawn["Service"]
  readonly printed: ReadonlyArray<string>
}

const test = <E>(
  name: string,
  run: (bench: Bench) => Effect.Effect<void, E, Scope.Scope>,
  options: NodeSpawn.Options & { readonly own?: Record<string, string>; readonly skip?: boolean } = {}
) =>
  it.live.skipIf(options.skip ?? false)(name, () =>
    Effect.gen(function*() {
      const printed: Array<string> = []
      const layer = NodeSpawn.layer({ ladder: quick, stderr: (line) => printed.push(line), ...options })
      yield* Effect.gen(function*() {
        yield* run({ spawn: yield* Spawn, printed })
      }).pipe(
        Effect.provide(layer),
        Effect.provideService(Environment, options.own ?? process.env)
      )
    }))

describe("NodeSpawn", () => {
  test("reports a child that closed its output and goes on as ended: nothing is to be waited for", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(sh("exec 1>&-; sleep 60"))
      assert.strictEqual(yield* all(peer), "")
      assert.deepStrictEqual(yield* peer.ended, { _tag: "failed", message: "it closed its output and went on" })
    }))

  test("speaks with a child until it ends its output, then tells its code", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(
        node(`process.stdin.pipe(process.stdout); process.on("exit", () => process.exitCode = 7)`)
      )
      assert.strictEqual(peer.who.client, "notes")
      yield* peer.write("größe\n")
      yield* peer.end
      assert.strictEqual(yield* all(peer), "größe\n")
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 7 })
      yield* peer.write("dropped")
    }))

  test("tells the signal that ended it", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(sh("kill -9 $$"))
      assert.strictEqual(yield* all(peer), "")
      assert.deepStrictEqual(yield* peer.ended, { _tag: "signaled", signal: "SIGKILL" })
    }))

  test("does not report the end before the output was read, however slow the reader", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(node(`process.stdout.write("x".repeat(300_000))`))
      let length = 0
      let told = false
      yield* Effect.forkScoped(Effect.andThen(
        peer.ended,
        Effect.sync(() => {
          told = true
        })
      ))
      yield* Effect.sleep(300)
      yield* peer.receive((chunk) => {
        assert.isFalse(told)
        length += chunk.length
        return Effect.sleep(length === chunk.length ? 400 : 0)
      })
      assert.strictEqual(length, 300_000)
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 0 })
    }))

  test("reports a death at once though a grandchild holds the output open", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(sh("(trap '' TERM; sleep 30) & echo last; exit 3"))
      assert.strictEqual(yield* all(peer), "last\n")
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 3 })
    }))

  test("holds a writer up while the child does not read", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(node(`
        let length = 0
        const hold = setInterval(() => {}, 1e6)
        process.once("SIGUSR2", () => {
          clearInterval(hold)
          process.stdin.on("data", (chunk) => { length += chunk.length }).on("end", () => console.log("read " + length))
        })
        console.log(process.pid)
      `))
      const up = yield* Deferred.make<number>()
      let said = ""
      const reader = yield* Effect.forkChild(peer.receive((chunk) => {
        said += text(chunk)
        return Effect.asVoid(Deferred.succeed(up, Number.parseInt(said, 10)))
      }))
      const pid = yield* Deferred.await(up)
      const big = "y".repeat(4 * 1024 * 1024)
      const writer = yield* Effect.forkChild(peer.write(big))
      yield* Effect.sleep(100)
      assert.isUndefined(writer.pollUnsafe())
      process.kill(pid, "SIGUSR2")
      yield* Fiber.join(writer)
      yield* peer.end
      yield* Fiber.join(reader)
      assert.strictEqual(said, `${pid}\nread ${big.length}\n`)
    }))

  test("holds a child up while its reader is busy", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(node(`
        const chunk = "z".repeat(1024 * 1024)
        let sent = 0
        const more = () => {
          while (sent < 50) { sent++; if (!process.stdout.write(chunk)) return process.stdout.once("drain", more) }
        }
        more()
        process.stdin.on("data", () => process.stderr.write("sent " + sent + "\\n"))
      `))
      let length = 0
      let first = true
      yield* peer.receive((chunk) => {
        length += chunk.length
        if (!first) return length === 50 * 1024 * 1024 ? peer.end : Effect.void
        first = false
        return Effect.gen(function*() {
          yield* Effect.sleep(200)
          yield* peer.write("?")
          while (peer.tail() === "") yield* Effect.sleep(10)
        })
      })
      assert.strictEqual(length, 50 * 1024 * 1024)
      assert.isAtMost(Number(/sent (\d+)/.exec(peer.tail())?.[1]), 3)
    }))

  test(
    "gives the safe list and what the launch names, and nothing else (F11)",
    ({ printed, spawn }) =>
      Effect.gen(function*() {
        const peer = yield* spawn.connect(
          node(`console.log(JSON.stringify(process.env))`, {
            env: [{ name: "TOKEN" }, { name: "MODE", value: "a" }, { name: "NONE" }]
          })
        )
        assert.deepStrictEqual(JSON.parse(yield* all(peer)), {
          PATH: "/usr/bin:/bin",
          HOME: "/home/me",
          TOKEN: "t",
          MODE: "a"
        })
        assert.match(printed.join("\n"), /^\[notes\] NONE is not set in Sallyport's own environment/)
      }),
    {
      own: {
        PATH: "/usr/bin:/bin",
        HOME: "/home/me",
        TOKEN: "t",
        SECRET: "s",
        NODE_OPTIONS: "--bad-option",
        NODE_PATH: "/x"
      }
    }
  )

  test("starts in the folder given, under the name given, without a shell", ({ spawn }) =>
    Effect.gen(function*() {
      const cwd = fs.realpathSync(os.tmpdir())
      const peer = yield* spawn.connect(
        node("", { args: ["-p", "process.cwd() + process.argv.at(-1)", "$HOME; true"], cwd })
      )
      assert.strictEqual(yield* all(peer), `${cwd}$HOME; true\n`)
    }))

  test("leads a session and group of its own", ({ spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(sh(`cut -d' ' -f5,6 /proc/$$/stat; echo $$`))
      const [ids, pid] = (yield* all(peer)).split("\n")
      assert.strictEqual(ids, `${pid} ${pid}`)
    }), { skip: process.platform !== "linux" })

  test("says what is wrong with a command that cannot be started", ({ spawn }) =>
    Effect.gen(function*() {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "sallyport-spawn-"))
      const file = path.join(folder, "tool")
      fs.writeFileSync(file, "#!/nowhere/interpreter\n", { mode: 0o644 })
      const start = (change: Partial<Launch>) => Effect.flip(Effect.scoped(spawn.connect(node("", change))))
      assert.deepInclude(yield* start({ command: "no-such-command" }), { _tag: "SpawnError", kind: "not-found" })
      assert.deepInclude(yield* start({ command: file }), { kind: "not-permitted" })
      fs.chmodSync(file, 0o755)
      const broken = yield* start({ command: file })
      assert.strictEqual(broken.kind, "not-found")
      assert.match(broken.message, /interpreter that its first line names does not exist/)
      const long = yield* start({ args: Array.from({ length: 64 }, () => "x".repeat(100_000)) })
      assert.strictEqual(long.kind, "failed")
      assert.match(long.message, /too long/)
      fs.rmSync(folder, { recursive: true })
    }))
})

describe("stderr", () => {
  test("is passed on by lines, with the name in front and control characters made visible", ({ printed, spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(
        node(
          `process.stderr.write("\\x1b[2Jone\\r\\ntwo my-secret-token"); console.error(""); process.stderr.write("end")`,
          {
            env: [{ name: "TOKEN", value: "my-secret-token" }]
          }
        )
      )
      yield* all(peer)
      yield* peer.ended
      assert.deepStrictEqual(printed, ["[notes] \\u{1b}[2Jone", "[notes] two [TOKEN]", "[notes] end"])
      assert.strictEqual(peer.tail(), "\u001b[2Jone\r\ntwo [TOKEN]\nend")
    }))

  test("is drained and bounded, whatever comes", ({ printed, spawn }) =>
    Effect.gen(function*() {
      const peer = yield* spawn.connect(
        node(`process.stderr.write(Buffer.alloc(200_000, 0xff), () => process.stdout.write("still here"))`)
      )
      assert.strictEqual(yield* all(peer), "still here")
      yield* peer.ended
      assert.deepStrictEqual(printed, [`[notes] ${"\ufffd".repeat(4096)} ... (${200_000 - 4096} bytes more)`])
      assert.strictEqual(peer.tail(), "\ufffd".repeat(64 * 1024))
    }))
})

describe("closing the scope", () => {
  const closed = (spawn: Spawn["Service"], launch: Launch) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(spawn.connect(launch), scope)
      const line = yield* Scope.provide(firstLine(peer), scope)
      const [pid, grandchild] = line.split(" ").map(Number)
      yield* Scope.close(scope, Exit.void)
      const ending = yield* peer.ended
      if (pid !== undefined) yield* gone(pid)
      if (grandchild !== undefined) yield* gone(grandchild)
      return ending
    })

  test("ends the input of a polite server and waits for it", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(spawn, sh("echo $$; cat; exit 5"))
      assert.deepStrictEqual(ending, { _tag: "exited", code: 5 })
    }), { ladder: { term: Duration.seconds(20), kill: Duration.seconds(20) } })

  test("sends SIGTERM to a server that stays", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(spawn, sh("echo $$; exec sleep 60"))
      assert.deepStrictEqual(ending, { _tag: "signaled", signal: "SIGTERM" })
    }))

  test("sends SIGKILL to a server that ignores both", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(
        spawn,
        node(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6); console.log(process.pid)`)
      )
      assert.deepStrictEqual(ending, { _tag: "signaled", signal: "SIGKILL" })
    }))

  test("ends grandchildren after an orderly exit", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(spawn, sh("sleep 60 & echo $$ $!; cat"))
      assert.deepStrictEqual(ending, { _tag: "exited", code: 0 })
    }), { ladder: patient })

  test("ends grandchildren that ignore SIGTERM after an orderly exit", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(
        spawn,
        sh("(trap '' TERM; exec sleep 60) & sleep 0.3; echo $$ $!; cat")
      )
      assert.deepStrictEqual(ending, { _tag: "exited", code: 0 })
    }), { skip: process.platform !== "linux", ladder: patient })

  test("ends grandchildren of a server that needs SIGTERM", ({ spawn }) =>
    Effect.gen(function*() {
      const ending = yield* closed(spawn, sh("sleep 60 & echo $$ $!; exec sleep 60"))
      assert.deepStrictEqual(ending, { _tag: "signaled", signal: "SIGTERM" })
    }))

  test("ends grandchildren of a server that died by itself before", ({ spawn }) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(spawn.connect(sh("sleep 60 & echo $!; exit 4")), scope)
      const grandchild = Number(yield* all(peer))
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 4 })
      yield* Scope.close(scope, Exit.void)
      yield* gone(grandchild)
    }))

  test("does not let a server hang on output that nobody reads any more", ({ spawn }) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(
        spawn.connect(
          node(`process.stdin.on("end", () => process.stdout.write("x".repeat(5e6), () => process.exit(6))).resume()`)
        ),
        scope
      )
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 6 })
    }), { ladder: { term: Duration.seconds(20), kill: Duration.seconds(20) } })
})

const sandboxed = process.platform === "linux"
  && spawnSync("setpriv", [
      "--pdeathsig",
      "KILL",
      "unshare",
      "--user",
      "--map-current-user",
      "--pid",
      "--fork",
      "--kill-child=KILL",
      "--",
      "true"
    ]).status === 0

/** Starts the fixture that starts a server, and kills it as soon as the server is up. */
const killed = (sandbox: Command["sandbox"], code: string) =>
  Effect.promise(async () => {
    const program = fileURLToPath(new URL("fixtures/spawn.ts", import.meta.url))
    const relay = spawn(process.execPath, [program, sandbox, code], { stdio: ["ignore", "pipe", "inherit"] })
    for await (const chunk of relay.stdout) {
      if (String(chunk).includes("up")) break
    }
    relay.kill("SIGKILL")
  })

describe("SIGKILL of ourselves", () => {
  const left = (marker: string) => spawnSync("pgrep", ["-f", marker], { encoding: "utf8" }).stdout.trim()
  const nothing = (marker: string) =>
    Effect.gen(function*() {
      while (left(marker) !== "") yield* Effect.sleep(20)
    })

  it.live("leaves no polite server behind", () =>
    Effect.gen(function*() {
      const marker = `polite-${process.pid}`
      yield* killed("none", `console.log("up"); process.stdin.resume() // ${marker}`)
      yield* nothing(marker)
    }))

  it.live.skipIf(!sandboxed)("leaves nothing at all behind in a pid sandbox", () =>
    Effect.gen(function*() {
      const marker = `stubborn-${process.pid}`
      yield* killed(
        "pid",
        `require("child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6) // ${marker}"], {
          detached: true, stdio: "ignore"
        }).unref(); setInterval(() => {}, 1e6); setTimeout(() => console.log("up"), 200) // ${marker}`
      )
      yield* nothing(marker)
    }))
})

describe("sandbox: pid", () => {
  test("leaves nothing behind, not even what left the group", ({ spawn }) =>
    Effect.gen(function*() {
      const marker = String(60_000 + process.pid)
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(
        spawn.connect(
          sh(`echo $$; setsid sleep ${marker} & setsid setsid sleep ${marker} & cat; exit 2`, { sandbox: "pid" })
        ),
        scope
      )
      assert.strictEqual(yield* Scope.provide(firstLine(peer), scope), "1")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* peer.ended, { _tag: "exited", code: 2 })
      const left = () => spawnSync("pgrep", ["-f", `sleep ${marker}`], { encoding: "utf8" }).stdout.trim()
      while (left() !== "") yield* Effect.sleep(20)
    }), { skip: !sandboxed })

  test("says what to install where a tool is missing", ({ spawn }) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.scoped(spawn.connect(sh("true", { sandbox: "pid" }))))
      assert.match(
        error.message,
        /pid sandbox (?:needs the programs setpriv and unshare; install|exists on Linux only)/
      )
    }), { own: { PATH: "/nowhere" } })
})
