// One MCP session over stdio, as a host holds it, and the processes that it started.
import { spawn } from "node:child_process"
import { performance } from "node:perf_hooks"
import * as Processes from "./processes.mjs"

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms))

let sessions = 0

export class Session {
  /** Starts the words. `env` is all that the process gets. */
  constructor(words, env) {
    this.mark = `BENCH_SESSION=${process.pid}.${++sessions}`
    this.started = performance.now()
    const [file, ...args] = words
    this.child = spawn(file, args, { env: { ...env, BENCH_SESSION: this.mark.slice(14) }, stdio: "pipe" })
    this.pid = this.child.pid
    this.said = ""
    this.waiting = new Map()
    this.next = 1
    this.begun = []
    /** Takes each line instead of the session, while a measure needs it: `line(bytes, from, to)`, `turn()`. */
    this.reader = undefined
    this.exited = new Promise((done) => {
      this.child.once("error", (error) => done({ code: error.message }))
      this.child.once("exit", (code, signal) => done({ code: signal ?? code }))
    })
    this.closed = new Promise((done) => this.child.stdout.once("close", done))
    this.child.stdin.on("error", () => {})
    this.child.stderr.setEncoding("utf8").on("data", (text) => this.said = (this.said + text).slice(-2000))
    this.child.stdout.on("data", (chunk) => this.#take(chunk))
  }

  #take(chunk) {
    let at = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      if (this.begun.length === 0) this.#line(chunk, at, end)
      else {
        const whole = Buffer.concat([...this.begun, chunk.subarray(at, end)])
        this.begun = []
        this.#line(whole, 0, whole.length)
      }
      at = end + 1
    }
    if (at < chunk.length) this.begun.push(chunk.subarray(at))
    this.reader?.turn?.()
  }

  #line(bytes, from, to) {
    if (this.reader !== undefined) return this.reader.line(bytes, from, to)
    const message = JSON.parse(bytes.toString("utf8", from, to))
    if (message.method !== undefined) return
    this.waiting.get(message.id)?.(message)
    this.waiting.delete(message.id)
  }

  /** Does what the promise waits for, but no longer than so many seconds, nor than the output is open. */
  async within(seconds, what, promise) {
    let timer
    const late = new Promise((_, failed) => {
      timer = setTimeout(() => failed(new Error(`${what} took more than ${seconds} s: ${this.said}`)), seconds * 1000)
    })
    const gone = this.closed.then(() => {
      throw new Error(`the output ended during ${what}: ${this.said}`)
    })
    gone.catch(() => {})
    try {
      return await Promise.race([promise, late, gone])
    } finally {
      clearTimeout(timer)
      this.reader = undefined
    }
  }

  write(text) {
    this.child.stdin.write(text, "latin1")
  }

  async request(method, params) {
    const id = this.next++
    const answer = new Promise((done) => this.waiting.set(id, done))
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
    const { error, result } = await this.within(30, method, answer)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  async call(name, given = {}) {
    const { content } = await this.request("tools/call", { name, arguments: given })
    return content[0].text
  }

  /** Opens the session; gives the milliseconds from its start to the answer to initialize. */
  async open() {
    const clientInfo = { name: "bench", version: "1" }
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo })
    const took = performance.now() - this.started
    this.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`)
    await this.request("tools/list", {})
    this.server = Number(await this.call("pid"))
    return took
  }

  family() {
    return Processes.family(this.pid, this.mark)
  }

  /** The processes between host and server. */
  relay() {
    return this.family().filter(({ pid }) => pid !== this.server).map(({ pid }) => pid)
  }

  /** Milliseconds of CPU that the relay has used so far. */
  cpu() {
    return this.relay().reduce((sum, pid) => sum + Processes.cpu(pid), 0) / 1e6
  }

  /** The most memory that the relay has held, in MiB. */
  peak() {
    return this.relay().reduce((sum, pid) => sum + Processes.peak(pid), 0)
  }

  /** Ends it, by force where it must be. */
  async end(patience = 1500) {
    const all = this.family()
    this.child.stdin.end()
    const until = performance.now() + patience
    while (all.some(Processes.lives) && performance.now() < until) await sleep(5)
    for (const each of all.filter(Processes.lives)) process.kill(each.pid, "SIGKILL")
    await this.exited
  }
}
