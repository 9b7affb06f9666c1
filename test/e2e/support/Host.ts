/** The official clients, behind one interface, so that one script can be run by each of them. */
import * as Two from "@modelcontextprotocol/client"
import * as TwoStdio from "@modelcontextprotocol/client/stdio"
import * as One from "@modelcontextprotocol/sdk/client/index.js"
import * as OneStdio from "@modelcontextprotocol/sdk/client/stdio.js"
import * as Types from "@modelcontextprotocol/sdk/types.js"
import type { Launch } from "./servers.ts"
import { Tap, within } from "./Tap.ts"

/** How a client opens a session. */
export type Kind = "sdk1" | "sdk2" | "sdk2-auto" | "sdk2-pin"
export const kinds: ReadonlyArray<Kind> = ["sdk1", "sdk2", "sdk2-auto", "sdk2-pin"]

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly progress?: (progress: number) => void
}
interface Page {
  readonly nextCursor?: string | undefined
}

/** What scripts do with a client; everything returns what the client's own method gave. */
export interface Host {
  readonly kind: Kind
  readonly tap: Tap
  readonly stderr: () => string
  readonly pid: () => number
  readonly connect: () => Promise<void>
  readonly close: () => Promise<void>
  readonly opened: () => Record<string, unknown>
  readonly ping: () => Promise<unknown>
  readonly listTools: (cursor?: string) => Promise<Page & { readonly tools: ReadonlyArray<{ readonly name: string }> }>
  readonly listResources: () => Promise<unknown>
  readonly listResourceTemplates: () => Promise<unknown>
  readonly listPrompts: () => Promise<unknown>
  readonly callTool: (name: string, args: Record<string, unknown>, options?: CallOptions) => Promise<unknown>
  readonly readResource: (uri: string) => Promise<unknown>
  readonly subscribe: (uri: string) => Promise<unknown>
  readonly unsubscribe: (uri: string) => Promise<unknown>
  readonly getPrompt: (name: string, args?: Record<string, string>) => Promise<unknown>
  readonly complete: (params: Types.CompleteRequest["params"]) => Promise<unknown>
  readonly setLoggingLevel: (level: Types.LoggingLevel) => Promise<unknown>
  readonly sendRootsListChanged: () => Promise<void>
  /** The client itself, for what only one of them has. */
  readonly one?: One.Client
  readonly two?: Two.Client
}

const info = { name: "end-to-end", title: "End to end", version: "1.0.0" }
const capabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
  experimental: { "example.com/test": { on: true } }
}

/** What a person and a model behind the client say; `roots` waits to be cancelled where `hang` says so. */
export interface Answers {
  readonly elicited?: Record<string, string | number | boolean>
  readonly roots?: "hang"
}

const sampled = (text: string) => ({
  model: "a-model",
  role: "assistant" as const,
  stopReason: "endTurn",
  content: { type: "text" as const, text }
})
const roots = {
  roots: [{ uri: "file:///srv/notes", name: "Notes" }, { uri: "file:///srv/other", name: "Other" }]
}
const cancelled = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cancelled")), { once: true }))

const reading = (stream: { on?: unknown } | null) => {
  let text = ""
  const readable = stream as NodeJS.ReadableStream | null
  readable?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return () => text
}

/** The process of a transport, also after it was closed. */
const processOf = (transport: { readonly pid: number | null }) => {
  let pid = -1
  return () => {
    if (pid < 0) pid = transport.pid ?? -1
    return pid
  }
}

const makeOne = (launch: Launch, answers: Answers): Host => {
  const transport = new OneStdio.StdioClientTransport({
    command: launch.command,
    args: launch.args,
    env: { ...OneStdio.getDefaultEnvironment(), ...launch.env },
    stderr: "pipe"
  })
  const client = new One.Client(info, { capabilities })
  const tap = new Tap(transport)
  client.setRequestHandler(
    Types.CreateMessageRequestSchema,
    (request) => sampled(`${request.params.messages.length} read`)
  )
  client.setRequestHandler(Types.ElicitRequestSchema, (request) =>
    request.params.mode === "url"
      ? { action: "accept" }
      : { action: "accept", content: answers.elicited ?? {} })
  client.setRequestHandler(
    Types.ListRootsRequestSchema,
    (_, extra) => answers.roots === "hang" ? cancelled(extra.signal) : roots
  )
  const pid = processOf(transport)
  return {
    kind: "sdk1",
    tap,
    one: client,
    stderr: reading(transport.stderr),
    pid,
    connect: async () => {
      await within("connect", client.connect(transport))
      pid()
    },
    close: () => within("close", client.close()),
    opened: () => ({
      capabilities: client.getServerCapabilities(),
      version: client.getServerVersion(),
      instructions: client.getInstructions()
    }),
    ping: () => client.ping(),
    listTools: (cursor) => client.listTools(cursor === undefined ? undefined : { cursor }),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    callTool: (name, args, { progress, signal } = {}) =>
      client.callTool({ name, arguments: args }, undefined, {
        ...(signal === undefined ? {} : { signal }),
        ...(progress === undefined ? {} : { onprogress: (each) => progress(each.progress) })
      }),
    readResource: (uri) => client.readResource({ uri }),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) }),
    complete: (params) => client.complete(params),
    setLoggingLevel: (level) => client.setLoggingLevel(level),
    sendRootsListChanged: () => client.sendRootsListChanged()
  }
}

const makeTwo = (launch: Launch, kind: Exclude<Kind, "sdk1">, answers: Answers): Host => {
  const transport = new TwoStdio.StdioClientTransport({
    command: launch.command,
    args: launch.args,
    env: { ...TwoStdio.getDefaultEnvironment(), ...launch.env },
    stderr: "pipe"
  })
  const mode = kind === "sdk2" ? "legacy" : kind === "sdk2-auto" ? "auto" : { pin: "2026-07-28" }
  const client = new Two.Client(info, { capabilities, versionNegotiation: { mode } })
  const tap = new Tap(transport)
  client.setRequestHandler("sampling/createMessage", (request) => sampled(`${request.params.messages.length} read`))
  client.setRequestHandler("elicitation/create", (request) =>
    request.params.mode === "url"
      ? { action: "accept" }
      : { action: "accept", content: answers.elicited ?? {} })
  client.setRequestHandler("roots/list", (_, ctx) => answers.roots === "hang" ? cancelled(ctx.mcpReq.signal) : roots)
  const pid = processOf(transport)
  return {
    kind,
    tap,
    two: client,
    stderr: reading(transport.stderr),
    pid,
    connect: async () => {
      await within("connect", client.connect(transport))
      pid()
    },
    close: () => within("close", client.close()),
    opened: () => ({
      era: client.getProtocolEra(),
      revision: client.getNegotiatedProtocolVersion(),
      capabilities: client.getServerCapabilities(),
      version: client.getServerVersion(),
      instructions: client.getInstructions(),
      discovered: client.getDiscoverResult()
    }),
    ping: () => client.ping(),
    listTools: (cursor) => client.listTools(cursor === undefined ? undefined : { cursor }),
    listResources: () => client.listResources(),
    listResourceTemplates: () => client.listResourceTemplates(),
    listPrompts: () => client.listPrompts(),
    callTool: (name, args, { progress, signal } = {}) =>
      client.callTool({ name, arguments: args }, {
        ...(signal === undefined ? {} : { signal }),
        ...(progress === undefined ? {} : { onprogress: (each) => progress(each.progress) })
      }),
    readResource: (uri) => client.readResource({ uri }),
    subscribe: (uri) => client.subscribeResource({ uri }),
    unsubscribe: (uri) => client.unsubscribeResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, ...(args === undefined ? {} : { arguments: args }) }),
    complete: (params) => client.complete(params),
    setLoggingLevel: (level) => client.setLoggingLevel(level),
    sendRootsListChanged: () => client.sendRootsListChanged()
  }
}

/** A client that is not connected yet. */
export const make = (kind: Kind, launch: Launch, answers: Answers = {}): Host =>
  kind === "sdk1" ? makeOne(launch, answers) : makeTwo(launch, kind, answers)
