// The servers of the bench, bundled, and what is measured of a server alone.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { performance } from "node:perf_hooks"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"
import { pipelined } from "./measures.mjs"
import * as Processes from "./processes.mjs"
import { Session } from "./session.mjs"

const here = dirname(dirname(fileURLToPath(import.meta.url)))

/** What docs/server.md tells authors to start with: Node keeps the bytecode of what is loaded behind it. */
const starter = (file, folder) => {
  const path = join(folder, "start.mjs")
  writeFileSync(
    path,
    `import { enableCompileCache } from "node:module"
enableCompileCache(${JSON.stringify(join(folder, "cache"))})
await import(${JSON.stringify(file)})
`
  )
  return path
}

/** One file of a server and all that it imports, as its author would ship it; gives what to start. */
export const bundled = async (name, into) => {
  const folder = join(into, name)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, "server.mjs")
  const build = await rolldown({
    input: join(here, "servers", `${name}.mjs`),
    platform: "node",
    logLevel: "silent",
    // A schema that nothing reads is not built at every start.
    treeshake: { manualPureFunctions: ["Schema", "Context", "Layer"] }
  })
  await build.write({ file, format: "esm", minify: true, codeSplitting: false })
  await build.close()
  return starter(file, folder)
}

/** Calls after a warm-up that is the same for all servers, and the warm-up. */
export const steady = async (open, { calls: count, warm }) => {
  const session = open()
  try {
    await session.open()
    const first = session.cpu()
    await pipelined(session, warm, 1_000_000)
    const before = session.cpu()
    const ms = await pipelined(session, count, 2_000_000)
    return {
      cpuPer1000: (session.cpu() - before) / count * 1000,
      warmPer1000: (before - first) / warm * 1000,
      callsPerSecond: count / ms * 1000,
      peakMiB: session.peak()
    }
  } finally {
    await session.end()
  }
}

/** A session with the server itself: all that it costs is its own. */
export class Direct extends Session {
  relay() {
    return this.family().map(({ pid }) => pid)
  }
}

const size = 16 * 1024 * 1024

/** MB a second of a call whose argument and result are one text of 16 MiB; the best of some, the first not counted. */
export const echo16 = async (open, { times }) => {
  const session = open()
  const message = "The quick brown fox jumps over the lazy dog. ".repeat(size / 32).slice(0, size)
  const line = Buffer.from(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"message":"${message}"}}}\n`
  )
  const once = async () => {
    const begun = performance.now()
    await session.within(
      60,
      "16 MiB",
      new Promise((done, failed) => {
        session.reader = {
          line: (bytes, from, to) => {
            if (bytes.indexOf(message.slice(-1000), to - 2000, "latin1") >= 0 && to - from > size) done()
            else failed(new Error(`a wrong answer: ${bytes.toString("utf8", from, Math.min(to, from + 200))}`))
          }
        }
        session.child.stdin.write(line)
      })
    )
    return performance.now() - begun
  }
  try {
    await session.open()
    await once()
    const took = []
    for (let time = 0; time < times; time++) took.push(await once())
    return { echoMBps: size / 1e6 / Math.min(...took) * 1000, peakMiB: Processes.peak(session.pid) }
  } finally {
    await session.end()
  }
}
