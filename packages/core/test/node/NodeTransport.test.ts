import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("fixtures/stdio.ts", import.meta.url))

/** A host: starts the program, and knows what came of it. */
const start = (session: string) => {
  const child = spawn(process.execPath, [program, session], { stdio: ["pipe", "pipe", "pipe"] })
  let out = ""
  let err = ""
  child.stdout.on("data", (chunk) => out += String(chunk))
  child.stderr.on("data", (chunk) => err += String(chunk))
  child.stdin.on("error", () => {})
  const closed = once(child, "close")
  return {
    child,
    out: () => out,
    err: () => err,
    closed: async () => {
      const [code, signal] = await closed
      return { code, signal, out, err }
    },
    until: async (said: () => boolean) => {
      while (!said()) await new Promise((resume) => setTimeout(resume, 5))
    }
  }
}

const host = (name: string, session: string, run: (host: ReturnType<typeof start>) => Promise<void>) =>
  it.live(name, () => Effect.promise(() => run(start(session))), 60_000)

describe("NodeTransport.layerStdio", () => {
  host(
    "serves the host to the end of its input, and the process ends with the session's code",
    "echo",
    async (host) => {
      host.child.stdin.write("größe\n")
      await host.until(() => host.out() !== "")
      host.child.stdin.end("last")
      assert.deepStrictEqual(await host.closed(), { code: 7, signal: null, out: "größe\nlast", err: "" })
    }
  )

  host("takes a host that no longer reads for gone", "ended", async (host) => {
    await host.until(() => host.out() !== "")
    host.child.stdout.destroy()
    const { code, err } = await host.closed()
    assert.deepStrictEqual({ code, err }, { code: 3, err: "ended closed\n" })
  })

  host("takes the end of its input for the end of the host", "ended", async (host) => {
    host.child.stdin.end()
    const { code, err } = await host.closed()
    assert.deepStrictEqual({ code, err }, { code: 3, err: "ended closed\n" })
  })

  host("half-closes its output, and nothing reaches the host after that", "half", async (host) => {
    await once(host.child.stdout, "end")
    assert.isNull(host.child.exitCode)
    await host.until(() => host.err().includes("half-closed"))
    host.child.stdin.end()
    assert.deepStrictEqual(await host.closed(), { code: 0, signal: null, out: "before", err: "half-closed\n" })
  })

  it.live("half-closes a pipe as well as a socket", () =>
    Effect.promise(async () => {
      // The shell's pipe is a real one; Node gives its children sockets. `cat` is done when the pipe is closed.
      const command = `sleep 30 | "${process.execPath}" "${program}" half | { cat; echo; echo done; }`
      const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "pipe", "ignore"], detached: true })
      let out = ""
      for await (const chunk of child.stdout) {
        out += String(chunk)
        if (out.includes("done")) break
      }
      assert.strictEqual(out, "before\ndone\n")
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    }), 60_000)

  host("does not lose what was written last", "big", async (host) => {
    const { code, out } = await host.closed()
    assert.strictEqual(code, 0)
    assert.strictEqual(out.length, 3_000_000)
  })

  it.live("does not wait for ever for a host that does not read", () =>
    Effect.promise(async () => {
      const child = spawn(process.execPath, [program, "stuck"], { stdio: ["pipe", "pipe", "inherit"] })
      const [code] = await once(child, "exit")
      assert.strictEqual(code, 0)
    }), 60_000)
})

describe("NodeMain.run", () => {
  for (const [signal, code] of [["SIGTERM", 143], ["SIGINT", 130], ["SIGHUP", 129]] as const) {
    host(`runs the finalizers on ${signal}`, "wait", async (host) => {
      await host.until(() => host.out() === "ready")
      host.child.kill(signal)
      assert.deepStrictEqual(await host.closed(), { code, signal: null, out: "ready", err: "ready\ncleaned up\n" })
    })
  }

  host("prints a defect on stderr and gives 1", "defect", async (host) => {
    const { code, err, out } = await host.closed()
    assert.deepStrictEqual({ code, out }, { code: 1, out: "" })
    assert.match(err, /a bug/)
  })
})
