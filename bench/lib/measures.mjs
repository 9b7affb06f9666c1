// What is measured of a relay. Each takes what opens a session, and gives numbers.
import { performance } from "node:perf_hooks"
import * as Processes from "./processes.mjs"
import { sleep } from "./session.mjs"

const text = "The quick brown fox jumps over the lazy dog 0123456789 (abcdefghijklmnopq) xy. ".repeat(3).slice(0, 200)
const idKey = Buffer.from("\"id\":")
const seqKey = Buffer.from("\"seq\":")

/** The number behind a key in a line; -1 where there is none. */
const numberAt = (bytes, key, from, to) => {
  const found = bytes.indexOf(key, from)
  if (found < 0 || found >= to) return -1
  let number = 0
  for (let at = found + key.length; bytes[at] >= 48 && bytes[at] <= 57; at++) number = number * 10 + bytes[at] - 48
  return number
}

const toolCall = (id, name, given) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${given}}}\n`

/** So many calls, 64 of them under way: each answer must be of a call that waits, and whole. */
export const pipelined = async (session, count, base) => {
  const answered = new Uint8Array(count)
  let sent = 0
  let got = 0
  let freed = 0
  const send = (more) => {
    let out = ""
    for (; more > 0 && sent < count; more--, sent++) {
      out += toolCall(base + sent, "echo", `{"message":"${base + sent} ${text}"}`)
    }
    if (out !== "") session.write(out)
  }
  const begun = performance.now()
  await session.within(
    120,
    "pipelined calls",
    new Promise((done, failed) => {
      session.reader = {
        line: (bytes, from, to) => {
          const call = numberAt(bytes, idKey, from, to) - base
          const whole = bytes.indexOf(`${base + call} ${text}`, from, "latin1")
          if (answered[call] !== 0 || whole < 0 || whole >= to) {
            failed(new Error(`a wrong answer: ${bytes.toString("utf8", from, Math.min(to, from + 200))}`))
          }
          answered[call] = 1
          got++
          freed++
        },
        turn: () => {
          const more = freed
          freed = 0
          if (got === count) done()
          else send(more)
        }
      }
      send(64)
    })
  )
  return performance.now() - begun
}

/** Milliseconds from the start of the process to the answer to initialize. */
export const cold = async (open) => {
  const session = open()
  try {
    return { ms: await session.open() }
  } finally {
    await session.end()
  }
}

export const calls = async (open, { calls: count }) => {
  const session = open()
  try {
    await session.open()
    // What runs often is compiled by then.
    await pipelined(session, 5000, 1_000_000)
    const before = session.cpu()
    const ms = await pipelined(session, count, 2_000_000)
    return {
      cpuPer1000: (session.cpu() - before) / count * 1000,
      callsPerSecond: count / ms * 1000,
      peakMiB: session.peak()
    }
  } finally {
    await session.end()
  }
}

export const flood = async (open, { flood: count }) => {
  const session = open()
  try {
    await session.open()
    let due = 0
    let wrong = 0
    const begun = performance.now()
    await session.within(
      120,
      "the flood",
      new Promise((done) => {
        let answered = false
        session.reader = {
          line: (bytes, from, to) => {
            const seq = numberAt(bytes, seqKey, from, to)
            if (seq < 0) answered = true
            else if (seq !== due++) wrong++
          },
          turn: () => {
            if (answered) done()
          }
        }
        session.write(toolCall(9, "flood", `{"count":${count}}`))
      })
    )
    const ms = performance.now() - begun
    return { perSecond: due / ms * 1000, lost: count - due, disordered: wrong }
  } finally {
    await session.end()
  }
}

/** MB a second of one text of 16 MiB each way, the first not counted. */
export const big = async (open, { times }) => {
  const size = 16 * 1024 * 1024
  const session = open()
  const once = async (line, least) => {
    const begun = performance.now()
    await session.within(
      60,
      "16 MiB",
      new Promise((done, failed) => {
        session.reader = {
          line: (bytes, from, to) => {
            if (to - from >= least) done()
            else failed(new Error(`a wrong answer: ${bytes.toString("utf8", from, Math.min(to, from + 200))}`))
          }
        }
        session.child.stdin.write(line)
      })
    )
    return performance.now() - begun
  }
  const rate = async (line, least) => {
    await once(line, least)
    const took = []
    for (let time = 0; time < times; time++) took.push(await once(line, least))
    return size / 1e6 / Math.min(...took) * 1000
  }
  try {
    await session.open()
    const message = JSON.stringify(text.repeat(Math.ceil(size / text.length)).slice(0, size))
    return {
      resultMBps: await rate(toolCall(9, "blob", `{"bytes":${size}}`), size),
      argumentMBps: await rate(Buffer.from(toolCall(9, "sink", `{"message":${message}}`)), 20)
    }
  } finally {
    await session.end()
  }
}

/** How a session can end. */
export const endings = ["input ends", "SIGTERM", "SIGKILL", "server dies"]
/** And with a server that ignores SIGTERM and the end of its input, which a plain relay waits for without end. */
export const stubborn = ["input ends, stubborn", "SIGTERM, stubborn"]

/** Milliseconds until relay and server are gone, and what is still there after eight seconds. */
export const shutdown = async (open, { how }) => {
  const session = open(how.endsWith("stubborn") ? ["--stubborn"] : [])
  try {
    await session.open()
    await sleep(50)
    const all = session.family()
    const begun = performance.now()
    if (how.startsWith("input")) session.child.stdin.end()
    else if (how === "server dies") session.call("die").catch(() => {})
    else session.child.kill(how.slice(0, 7))
    let relay
    while (performance.now() - begun < 8000) {
      if (!all.some(Processes.lives)) break
      if (relay === undefined && Processes.find(session.pid) === undefined) relay = performance.now() - begun
      await sleep(1)
    }
    const orphans = all.filter(Processes.lives).length
    const ms = performance.now() - begun
    return { relayMs: relay ?? ms, allMs: orphans > 0 ? undefined : ms, orphans }
  } finally {
    await session.end(0)
  }
}
