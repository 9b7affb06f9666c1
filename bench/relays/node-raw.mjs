// node-raw.mjs COMMAND ARGS...: copies bytes between its host and the server. Nothing on Node starts or passes on faster.
import { spawn } from "node:child_process"

const [command, ...args] = process.argv.slice(2)
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
process.stdin.pipe(server.stdin)
server.stdout.pipe(process.stdout)

server.stdin.on("error", () => {})
process.stdout.on("error", () => server.kill())
server.on("exit", (code) => {
  process.exitCode = code ?? 1
  process.stdin.destroy()
})
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => server.kill(signal))
