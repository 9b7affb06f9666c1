/** Clients that others wrote, behind one interface, each with what it can do and why it cannot do the rest. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Two from "@modelcontextprotocol/client"
import * as TwoStdio from "@modelcontextprotocol/client/stdio"
import * as One from "@modelcontextprotocol/sdk/client/index.js"
import * as OneStdio from "@modelcontextprotocol/sdk/client/stdio.js"
import * as OneHttp from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as Types from "@modelcontextprotocol/sdk/types.js"
import * as McpClient from "effect/ai/McpClient"
import type * as McpClientError from "effect/ai/McpClientError"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as ChildProcess from "effect/process/ChildProcess"

type Args = Readonly<Record<string, unknown>>

/** Where the server is: a command to start, or the address of one that runs. */
export type Server =
  | { readonly _tag: "Stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly _tag: "Http"; readonly url: string }

/** The result of a call, as far as clients agree on it. */
export interface Called {
  readonly text: string
  readonly structured: unknown
  readonly isError: boolean
}

/** Something that a client cannot do, and why. */
export interface Cannot {
  readonly cannot: string
}
export const cannot = (why: string): Cannot => ({ cannot: why })

export type Can<A> = A | Cannot

export interface Client {
  readonly revision: () => string | undefined
  readonly tools: () => Promise<ReadonlyArray<string>>
  readonly call: (name: string, args?: Args) => Promise<Called>
  /** Calls, and gives the steps of progress. */
  readonly progress: Can<(name: string, args?: Args) => Promise<ReadonlyArray<number>>>
  /** Calls, and gives up as soon as `when` is there. */
  readonly cancel: (name: string, args: Args, when: () => Promise<void>) => Promise<void>
  readonly resources: () => Promise<ReadonlyArray<string>>
  readonly templates: Can<() => Promise<ReadonlyArray<string>>>
  /** The text or the base64 of a resource. */
  readonly read: (uri: string) => Promise<string>
  readonly prompts: () => Promise<ReadonlyArray<string>>
  readonly prompt: (name: string, args: Readonly<Record<string, string>>) => Promise<string>
  readonly complete: Can<(prompt: string, argument: string, value: string) => Promise<ReadonlyArray<string>>>
  /** The methods of the notifications that came. */
  readonly heard: Can<ReadonlyArray<string>>
  /** Wants to hear of changes of lists, and of a resource where one is named. */
  readonly watch: Can<(uri?: string) => Promise<void>>
  /** Calls, and wants log messages meanwhile. */
  readonly logged: Can<(name: string) => Promise<void>>
  /** Answers what the server asks. */
  readonly answers: Can<true>
  readonly close: () => Promise<void>
}

const info = { name: "interop", version: "1.0.0" }
const capabilities = { sampling: {}, elicitation: { form: {} }, roots: {} }

/** What the person, the model and the client behind the client say. */
export const said = {
  form: { username: "ada", email: "ada@example.com" },
  model: "Paris, of course",
  root: "file:///srv/notes"
}
const sampled = {
  model: "a-model",
  role: "assistant" as const,
  stopReason: "endTurn",
  content: { type: "text" as const, text: said.model }
}
const roots = { roots: [{ uri: said.root, name: "Notes" }] }
const elicited = { action: "accept" as const, content: said.form }

// ---- the SDKs

interface Contents {
  readonly contents: ReadonlyArray<{ readonly text?: string } | { readonly blob?: string }>
}
interface Messages {
  readonly messages: ReadonlyArray<{ readonly content: { readonly type: string } }>
}

const textOf = (block: object): ReadonlyArray<string> =>
  "text" in block && typeof block.text === "string" ? [block.text] : []

const called = (result: object): Called => ({
  text: "content" in result && Array.isArray(result.content) ? result.content.flatMap(textOf).join("") : "",
  structured: "structuredContent" in result ? result.structuredContent : undefined,
  isError: "isError" in result && result.isError === true
})
const readOf = ({ contents }: Contents): string =>
  contents.flatMap((each) => "blob" in each && each.blob !== undefined ? [each.blob] : textOf(each)).join("")
const messagesOf = ({ messages }: Messages): string => messages.flatMap(({ content }) => textOf(content)).join("\n")

const logLevel = { "io.modelcontextprotocol/logLevel": "debug" }

/** Under exactOptionalPropertyTypes the SDKs' own transports are not of their own type, for want of an `undefined`. */
const connect = async (client: One.Client | Two.Client, transport: object): Promise<void> => {
  await Reflect.apply(client.connect, client, [transport])
}

const names = (list: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => list.map(({ name }) => name)

const sdk1 = async (server: Server): Promise<Client> => {
  const heard: Array<string> = []
  const client = new One.Client(info, { capabilities })
  client.fallbackNotificationHandler = async ({ method }) => {
    heard.push(method)
  }
  client.setRequestHandler(Types.CreateMessageRequestSchema, () => sampled)
  client.setRequestHandler(Types.ElicitRequestSchema, () => elicited)
  client.setRequestHandler(Types.ListRootsRequestSchema, () => roots)
  await connect(
    client,
    server._tag === "Http"
      ? new OneHttp.StreamableHTTPClientTransport(new URL(server.url))
      : new OneStdio.StdioClientTransport({ command: server.command, args: [...server.args], stderr: "pipe" })
  )
  const call: Client["call"] = async (name, args) => called(await client.callTool({ name, arguments: { ...args } }))
  return {
    revision: () => undefined,
    tools: async () => names((await client.listTools()).tools),
    call,
    progress: async (name, args) => {
      const steps: Array<number> = []
      await client.callTool({ name, arguments: { ...args } }, undefined, {
        onprogress: ({ progress }) => void steps.push(progress)
      })
      return steps
    },
    cancel: async (name, args, when) => {
      const controller = new AbortController()
      const gone = client.callTool({ name, arguments: { ...args } }, undefined, { signal: controller.signal }).then(
        () => Promise.reject(new Error("it was answered")),
        () => {}
      )
      await when()
      controller.abort("enough")
      await gone
    },
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) => readOf(await client.readResource({ uri })),
    prompts: async () => names((await client.listPrompts()).prompts),
    prompt: async (name, args) => messagesOf(await client.getPrompt({ name, arguments: { ...args } })),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion
        .values,
    heard,
    watch: async (uri) => {
      if (uri !== undefined) await client.subscribeResource({ uri })
    },
    logged: async (name) => {
      await client.setLoggingLevel("debug")
      await call(name)
    },
    answers: true,
    close: () => client.close()
  }
}

const sdk2 = (mode: "legacy" | "auto" | { readonly pin: "2026-07-28" }) => async (server: Server): Promise<Client> => {
  const heard: Array<string> = []
  const client = new Two.Client(info, { capabilities, versionNegotiation: { mode } })
  client.fallbackNotificationHandler = async ({ method }) => {
    heard.push(method)
  }
  client.setRequestHandler("sampling/createMessage", () => sampled)
  client.setRequestHandler("elicitation/create", () => elicited)
  client.setRequestHandler("roots/list", () => roots)
  await connect(
    client,
    server._tag === "Http"
      ? new Two.StreamableHTTPClientTransport(new URL(server.url))
      : new TwoStdio.StdioClientTransport({ command: server.command, args: [...server.args], stderr: "pipe" })
  )
  const modern = client.getProtocolEra() === "modern"
  return {
    revision: () => client.getNegotiatedProtocolVersion(),
    tools: async () => names((await client.listTools()).tools),
    call: async (name, args) => called(await client.callTool({ name, arguments: { ...args } })),
    progress: async (name, args) => {
      const steps: Array<number> = []
      await client.callTool({ name, arguments: { ...args } }, {
        onprogress: ({ progress }) => void steps.push(progress)
      })
      return steps
    },
    cancel: async (name, args, when) => {
      const controller = new AbortController()
      const gone = client.callTool({ name, arguments: { ...args } }, { signal: controller.signal }).then(
        () => Promise.reject(new Error("it was answered")),
        () => {}
      )
      await when()
      controller.abort("enough")
      await gone
    },
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    read: async (uri) => readOf(await client.readResource({ uri })),
    prompts: async () => names((await client.listPrompts()).prompts),
    prompt: async (name, args) => messagesOf(await client.getPrompt({ name, arguments: { ...args } })),
    complete: async (name, argument, value) =>
      (await client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion
        .values,
    heard,
    watch: async (uri) => {
      if (modern) {
        await client.listen({
          toolsListChanged: true,
          promptsListChanged: true,
          ...(uri === undefined ? {} : { resourceSubscriptions: [uri] })
        })
      } else if (uri !== undefined) await client.subscribeResource({ uri })
    },
    logged: async (name) => {
      if (!modern) await client.setLoggingLevel("debug")
      await client.callTool({ name, ...(modern ? { _meta: logLevel } : {}) })
    },
    answers: true,
    close: () => client.close()
  }
}

// ---- Effect

const protocols = { "2025-11-25": McpProtocol.v2025_11_25, "2026-07-28": McpProtocol.v2026_07_28 } as const

const effect = (revision: "2025-11-25" | "2026-07-28") => async (server: Server): Promise<Client> => {
  const protocol = protocols[revision]
  const layer = server._tag === "Http"
    ? McpClient.layerHttp({ ...info, url: server.url, protocol }).pipe(Layer.provide(NodeHttpClient.layerUndici))
    : McpClient.layerStdio({ ...info, command: ChildProcess.make(server.command, server.args), protocol }).pipe(
      Layer.provide(NodeServices.layer)
    )
  const runtime = ManagedRuntime.make(layer)
  const use = <A>(f: (client: McpClient.McpClient) => Effect.Effect<A, McpClientError.McpClientError>): Promise<A> =>
    runtime.runPromise(Effect.flatMap(McpClient.McpClient, f))
  await use(() => Effect.void)
  const toolOf = (client: McpClient.McpClient, name: string) =>
    Effect.flatMap(client.listTools(), (tools): Effect.Effect<McpSchema.Tool> => {
      const tool = tools.find((tool) => tool.name === name)
      return tool === undefined ? Effect.die(`there is no tool ${name}`) : Effect.succeed(tool)
    })
  const calling = (client: McpClient.McpClient, name: string, args: Args) =>
    Effect.flatMap(toolOf(client, name), (tool) => client.callTool({ tool, arguments: { ...args } }))
  const silent = cannot("it discards what it is notified of")
  return {
    revision: () => revision,
    tools: () => use((client) => Effect.map(client.listTools(), names)),
    call: async (name, args = {}) => called(await use((client) => calling(client, name, args))),
    progress: silent,
    cancel: async (name, args, when) => {
      const controller = new AbortController()
      const gone = runtime.runPromiseExit(
        Effect.flatMap(McpClient.McpClient, (client) => calling(client, name, args)),
        {
          signal: controller.signal
        }
      )
      await when()
      controller.abort()
      const exit = await gone
      if (Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)) throw new Error("it was not interrupted")
    },
    resources: () => use((client) => Effect.map(client.listResources(), (found) => found.map(({ uri }) => uri))),
    templates: cannot("it does not list templates"),
    read: async (uri) => {
      const { contents } = await use((client) => client.readResource({ uri }))
      return contents.map((each) => "text" in each ? each.text : Buffer.from(each.blob).toString("base64")).join("")
    },
    prompts: () => use((client) => Effect.map(client.listPrompts(), names)),
    prompt: async (name, args) =>
      messagesOf(
        await use((client) =>
          Effect.flatMap(client.listPrompts(), (prompts) => {
            const prompt = prompts.find((prompt) => prompt.name === name)
            return prompt === undefined
              ? Effect.die(`there is no prompt ${name}`)
              : client.getPrompt({ prompt, arguments: { ...args } })
          })
        )
      ),
    complete: cannot("it has no completions"),
    heard: silent,
    watch: cannot("it has no subscriptions"),
    logged: silent,
    answers: cannot("it answers no requests of a server"),
    close: () => runtime.dispose()
  }
}

/** Every client by its name, and the revision that it speaks. */
export const clients = {
  "SDK 1": { open: sdk1, revision: undefined },
  "SDK 2, legacy": { open: sdk2("legacy"), revision: "2025-11-25" },
  "SDK 2, auto": { open: sdk2("auto"), revision: "2026-07-28" },
  "SDK 2, pinned": { open: sdk2({ pin: "2026-07-28" }), revision: "2026-07-28" },
  "Effect, 2025-11-25": { open: effect("2025-11-25"), revision: "2025-11-25" },
  "Effect, 2026-07-28": { open: effect("2026-07-28"), revision: "2026-07-28" }
} as const
