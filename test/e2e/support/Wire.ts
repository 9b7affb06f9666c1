/** A relay that is spoken to line by line, where a test needs what no client would send, or no client at all. */
import { getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import type { Launch } from "./servers.ts"
import { type Message, within } from "./Tap.ts"

export class Wire {
  readonly received: Array<Message> = []
  readonly process: ChildProcessWithoutNullStreams
  /** Exit code and signal, once the process and its output have ended. */
  readonly ended: Promise<readonly [code: number | null, signal: NodeJS.Signals | null]>
  stderr = ""
  private rest = ""
  private arrived: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor({ args, command, env }: Launch) {
    this.process = spawn(command, args, { env: { ...getDefaultEnvironment(), ...env } })
    this.process.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (this.rest + chunk).split("\n")
      this.rest = lines.pop() ?? ""
      this.received.push(...lines.map((line) => JSON.parse(line) as Message))
      this.arrived.resolve()
    })
    this.process.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.stderr += chunk
      this.arrived.resolve()
    })
    this.process.stdin.on("error", () => undefined)
    this.ended = once(this.process, "close") as Promise<[number | null, NodeJS.Signals | null]>
    void this.ended.then(() => this.arrived.resolve())
  }

  send(...messages: ReadonlyArray<object>): void {
    this.process.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""))
  }

  async until<A>(what: string, find: () => A | undefined): Promise<A> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await within(what, this.arrived.promise)
      this.arrived = Promise.withResolvers()
    }
  }

  answer(id: string | number): Promise<Message> {
    return this.until(
      `the answer to ${id}`,
      () => this.received.find((message) => message.id === id && message.method === undefined)
    )
  }

  /** Opens a session of 2025-11-25, whose requests have the ids before 1. */
  async open(): Promise<Message> {
    this.send({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "by-hand", version: "1" } }
    })
    const answer = await this.answer(0)
    this.send({ method: "notifications/initialized" })
    return answer
  }

  async call(id: number, name: string, args: object = {}): Promise<Message> {
    this.send({ id, method: "tools/call", params: { name, arguments: args } })
    return this.answer(id)
  }
}
