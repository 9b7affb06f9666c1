// node-parse.mjs COMMAND ARGS...: the least that a relay on Node does which looks at messages: each line is parsed and
// written again, and what a chunk holds is written at once. It checks, decides and records nothing.
import { spawn } from "node:child_process"

const [command, ...args] = process.argv.slice(2)
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })

const pass = (from, to) => {
  let begun = []
  from.on("data", (chunk) => {
    let out = ""
    let at = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      let line = chunk.subarray(at, end)
      if (begun.length > 0) {
        line = Buffer.concat([...begun, line])
        begun = []
      }
      at = end + 1
      if (line.length > 1) out += `${JSON.stringify(JSON.parse(line.toString("utf8")))}\n`
    }
    if (at < chunk.length) begun.push(chunk.subarray(at))
    if (out !== "" && !to.write(out)) {
      from.pause()
      to.once("drain", () => from.resume())
    }
  })
  from.on("end", () => to.end?.())
}
pass(process.stdin, server.stdin)
pass(server.stdout, process.stdout)

server.stdin.on("error", () => {})
process.stdout.on("error", () => server.kill())
server.on("close", (code) => {
  process.exitCode = code ?? 1
  process.stdin.destroy()
})
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => server.kill(signal))
