// CPU time of reading and writing a line: Feed and Write against JSON.parse and JSON.stringify.
// Run: node bench/wire.mjs [rounds]. Only the ratios inside one run mean anything.
import * as Feed from "../packages/core/src/wire/Feed.ts"
import * as Write from "../packages/core/src/wire/Write.ts"

const rounds = Number(process.argv[2] ?? 9)

const call = (k, pad) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: k,
    method: "tools/call",
    params: {
      name: "read_file",
      arguments: { path: `/srv/notes/${k}.md`, head: 20, options: { follow: true, text: pad } }
    }
  })

const blanks = (line) => JSON.stringify(JSON.parse(line), undefined, 1).replaceAll(/\n */g, " ")

const one = Buffer.from(call(1, "x").replace("\"x\"", "\"\""))
const fill = (size, unit) => unit.repeat(Math.ceil((size - one.length) / Buffer.byteLength(unit)))

const big = 16 * 1024 * 1024
const prose = "The quick brown fox jumps over the lazy dog.\n"
const loads = {
  "300 B ASCII": { lines: (k) => call(k, fill(300, "x")), count: 40_000 },
  "300 B with blanks": { lines: (k) => blanks(call(k, fill(280, "x"))), count: 40_000 },
  "300 B not ASCII": { lines: (k) => call(k, fill(300, "\u00e9t\u00e9 ")), count: 40_000 },
  "1 KiB in 20 members": {
    lines: (k) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: k,
        method: "tools/call",
        params: {
          name: "t",
          arguments: Object.fromEntries(
            Array.from({ length: 20 }, (_, i) => [`member${i}`, { a: i, b: `value ${i} of ${k}`, c: [1, 2.5] }])
          )
        }
      }),
    count: 10_000
  },
  "4 KiB of prose": { lines: (k) => call(k, fill(3800, prose)), count: 5_000 },
  "16 MiB plain": { lines: (k) => call(k, fill(big, "x")), count: 1 },
  "16 MiB prose": { lines: (k) => call(k, fill(big, prose)), count: 1 },
  "16 MiB not ASCII": { lines: (k) => call(k, fill(big, "\u4f60\u597d")), count: 1 },
  "16 MiB of small values": {
    lines: (k) =>
      JSON.stringify({
        jsonrpc: "2.0",
        id: k,
        method: "m",
        params: {
          a: Array.from({ length: big / 64 }, (_, i) => ({ name: `item ${i}`, size: i * 1.5, tags: ["a", "b"] }))
        }
      }),
    count: 1
  }
}

const chunkSize = 64 * 1024

/** Splits, parses, writes again. */
const parsed = (chunks) => {
  let rest = []
  let size = 0
  for (const chunk of chunks) {
    let out = ""
    let p = 0
    for (;;) {
      const end = chunk.indexOf(10, p)
      if (end < 0) break
      const bytes = rest.length > 0 ? Buffer.concat([...rest, chunk.subarray(p, end)]) : chunk.subarray(p, end)
      rest = []
      const message = JSON.parse(bytes.toString())
      out += JSON.stringify(message) + "\n"
      p = end + 1
    }
    if (p < chunk.length) rest.push(chunk.subarray(p))
    if (out !== "") size += Buffer.from(out).length
  }
  return size
}

const members = ["_meta", "name", "arguments", "uri", "cursor", "task", "content", "tools", "isError"]

const fed = (chunks) => {
  const feed = Feed.make({ ...Feed.defaultLimits, members })
  let size = 0
  let out = ""
  const each = (item) => {
    if (item._tag === "Request") out += Write.request(item.id, item.method, item.params)
    else throw new Error(JSON.stringify(item))
  }
  for (const chunk of chunks) {
    feed.push(chunk, each)
    if (out !== "") size += Buffer.from(out).length
    out = ""
  }
  return size
}

const cpu = (run, chunks) => {
  globalThis.gc?.()
  const before = process.cpuUsage()
  run(chunks)
  const { system, user } = process.cpuUsage(before)
  return user + system
}

// other work on the machine only ever adds time
const least = (values) => Math.min(...values)

for (const [name, { count, lines }] of Object.entries(loads)) {
  const bytes = Buffer.from(Array.from({ length: count }, (_, k) => `${lines(k)}\n`).join(""))
  const chunks = []
  for (let p = 0; p < bytes.length; p += chunkSize) chunks.push(bytes.subarray(p, p + chunkSize))
  const a = []
  const b = []
  for (let round = 0; round < rounds; round++) {
    a.push(cpu(parsed, chunks))
    b.push(cpu(fed, chunks))
  }
  const each = (values) => `${(least(values) / count).toFixed(count > 1 ? 2 : 0)} us`
  console.log(
    `${name.padEnd(24)} parse+stringify ${each(a).padStart(10)}   feed+write ${each(b).padStart(10)}   ratio ${
      (least(b) / least(a)).toFixed(2)
    }`
  )
}
