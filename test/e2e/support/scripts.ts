/** What the clients do with each server. */
import * as Types from "@modelcontextprotocol/sdk/types.js"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Script } from "./Transcript.ts"

type Play = (script: Script) => Promise<void>

const opening = async (script: Script): Promise<void> => {
  const { host } = script
  await host.connect()
  await script.step("opened", async () => host.opened())
}

const listings = async (script: Script): Promise<void> => {
  const { host } = script
  for (let cursor: string | undefined, page = 1; page < 10; page++) {
    const at = cursor
    const found = await script.step(`tools, page ${page}`, () => host.listTools(at))
    cursor = found?.nextCursor
    if (cursor === undefined) break
  }
  const { capabilities = {} } = host.opened()
  const offered = capabilities as Record<string, unknown>
  const list = async (name: string, capability: string, ask: () => Promise<unknown>): Promise<void> => {
    if (offered[capability] !== undefined) await script.step(name, ask)
    // The relay refuses what nobody offers by itself: with the same code, and its own words. SDK 2 does not even ask.
    else if (host.kind === "sdk1") await script.decision(name, ask, ({ code }) => code)
  }
  await list("resources", "resources", () => host.listResources())
  await list("templates", "resources", () => host.listResourceTemplates())
  await list("prompts", "prompts", () => host.listPrompts())
}

const calls = async (
  script: Script,
  all: ReadonlyArray<readonly [name: string, args: Record<string, unknown>]>
): Promise<void> => {
  for (const [name, args] of all) await script.step(`call ${name}`, () => script.host.callTool(name, args))
}

/** Calls a tool that reports progress and never ends by itself soon, and cancels it at its first progress. */
const cancel = async (script: Script, name: string, args: Record<string, unknown>): Promise<void> => {
  const { host } = script
  const controller = new AbortController()
  await script.step(`cancel ${name}`, () =>
    host.callTool(name, args, {
      signal: controller.signal,
      progress: () => controller.abort("enough")
    }))
  const sent = host.tap.sent.findLast(({ method, params }) => method === "tools/call" && params?.["name"] === name)
  if (sent?.id !== undefined) script.cancelled.add(sent.id)
}

/** What is reported is compared as it comes over the wire: SDK clients lose progress that comes together with the answer. */
const progress = (script: Script, name: string, args: Record<string, unknown>): Promise<unknown> =>
  script.step(`progress of ${name}`, () => script.host.callTool(name, args, { progress: () => {} }))

export const everything: Play = async (script) => {
  const { host } = script
  const { tap } = host
  await opening(script)
  await script.step("ping", () => host.ping())
  await listings(script)
  await calls(script, [
    ["echo", { message: "caf\u00e9 \ud83d\ude00 \u2028 \u0000 \\u0041" }],
    ["echo", {}],
    ["get-sum", { a: 0.1, b: 2e100 }],
    ["get-env", {}],
    ["get-structured-content", { location: "Chicago" }],
    ["get-structured-content", { location: "Rome" }],
    ["get-annotated-message", { messageType: "debug", includeImage: true }],
    ["get-resource-links", { count: 3 }],
    ["get-resource-reference", { resourceType: "Blob", resourceId: 7 }],
    ["get-tiny-image", {}],
    ["gzip-file-as-resource", { name: "a.txt.gz", data: "data:text/plain,hello", outputType: "resource" }]
  ])
  await progress(script, "trigger-long-running-operation", { duration: 0.2, steps: 4 })
  await cancel(script, "trigger-long-running-operation", { duration: 1.5, steps: 15 })

  await script.step("read", () => host.readResource("demo://resource/static/document/architecture.md"))
  await script.step("read a text", () => host.readResource("demo://resource/dynamic/text/3"))
  await script.step("read a blob", () => host.readResource("demo://resource/dynamic/blob/3"))
  await script.step("read nothing", () => host.readResource("demo://nowhere"))
  await script.step("subscribe", () => host.subscribe("demo://resource/dynamic/text/3"))
  await calls(script, [["toggle-subscriber-updates", {}]])
  await tap.notice("notifications/resources/updated")
  await calls(script, [["toggle-subscriber-updates", {}]])
  await script.step("unsubscribe", () => host.unsubscribe("demo://resource/dynamic/text/3"))

  await script.step("prompt", () => host.getPrompt("simple-prompt"))
  await script.step("prompt with arguments", () => host.getPrompt("args-prompt", { city: "Oslo", state: "Oslo" }))
  await script.step("prompt without its argument", () => host.getPrompt("args-prompt", {}))
  await script.step(
    "prompt with a resource",
    () => host.getPrompt("resource-prompt", { resourceType: "Text", resourceId: "1" })
  )
  await script.step("no such prompt", () => host.getPrompt("no-such-prompt"))
  await script.step("complete a prompt", () =>
    host.complete({
      ref: { type: "ref/prompt", name: "completable-prompt" },
      argument: { name: "name", value: "A" },
      context: { arguments: { department: "Engineering" } }
    }))
  await script.step("complete a resource", () =>
    host.complete({
      ref: { type: "ref/resource", uri: "demo://resource/dynamic/text/{resourceId}" },
      argument: { name: "resourceId", value: "12" }
    }))

  await calls(script, [
    ["trigger-sampling-request", { prompt: "Say hello", maxTokens: 20 }],
    ["trigger-elicitation-request", {}],
    ["trigger-url-elicitation", { url: "https://example.com/login", elicitationId: "login-1" }],
    ["trigger-url-elicitation", { url: "https://example.com/login", elicitationId: "login-2", errorPath: true }],
    ["get-roots-list", {}]
  ])
  // The roots are read 350 ms after the opening, or at the call above: whichever came first, it is told once.
  const roots = ({ method, params }: { method?: string; params?: Record<string, unknown> }) =>
    method === "notifications/message" && String(params?.["data"]).startsWith("Roots updated")
  await tap.until("the roots of the opening", roots)
  await host.sendRootsListChanged()
  await tap.until("the roots after a change", roots, 1)
  await script.step("level", () => host.setLoggingLevel("debug"))
  const before = tap.received.filter(({ method }) => method === "notifications/message").length
  await calls(script, [["toggle-simulated-logging", {}]])
  await tap.notice("notifications/message", before)
  await calls(script, [["toggle-simulated-logging", {}]])
  await script.step("ping", () => host.ping())
}

/** The tasks of 2025-11-25: one is cancelled, one asks the person while its result is waited for. */
export const tasks: Play = async (script) => {
  const { host } = script
  const client = host.one
  if (client === undefined) throw new Error("only SDK 1 has tasks")
  await opening(script)
  const create = (topic: string) =>
    script.step(`task ${topic}`, () =>
      client.request({
        method: "tools/call",
        params: { name: "simulate-research-query", arguments: { topic, ambiguous: true }, task: { ttl: 60_000 } }
      }, Types.CreateTaskResultSchema))
  const first = await create("rivers")
  const cancelled = first?.task.taskId ?? ""
  await script.step(
    "cancel",
    () => client.request({ method: "tasks/cancel", params: { taskId: cancelled } }, Types.CancelTaskResultSchema)
  )
  await script.step(
    "get",
    () => client.request({ method: "tasks/get", params: { taskId: cancelled } }, Types.GetTaskResultSchema)
  )
  await script.step(
    "no such task",
    () => client.request({ method: "tasks/get", params: { taskId: "nothing" } }, Types.GetTaskResultSchema)
  )
  const second = await create("python")
  const taskId = second?.task.taskId ?? ""
  await script.step(
    "result",
    () => client.request({ method: "tasks/result", params: { taskId } }, Types.CallToolResultSchema)
  )
  await script.step("list", () => client.request({ method: "tasks/list" }, Types.ListTasksResultSchema))
}

/** The folder holds nothing when it starts. */
export const filesystem = (folder: string): Play => async (script) => {
  const { host } = script
  const file = join(folder, "notes.txt")
  writeFileSync(join(folder, "picture.png"), Buffer.from("iVBORw0KGgo=", "base64"))
  await opening(script)
  await listings(script)
  // What it may reach comes from the client's roots: it asks for them when the session opens.
  await host.tap.until("roots/list", ({ id, method }) => method === "roots/list" && id !== undefined)
  await calls(script, [
    ["list_allowed_directories", {}],
    ["write_file", { path: file, content: "one\r\ntwo \u2029\nthree\n" }],
    ["read_text_file", { path: file }],
    ["read_text_file", { path: file, head: 1 }],
    ["edit_file", { path: file, edits: [{ oldText: "three", newText: "four" }], dryRun: true }],
    ["edit_file", { path: file, edits: [{ oldText: "three", newText: "four" }] }],
    ["create_directory", { path: join(folder, "sub") }],
    ["move_file", { source: file, destination: join(folder, "sub/moved.txt") }],
    ["directory_tree", { path: folder }],
    ["list_directory", { path: folder }],
    ["list_directory_with_sizes", { path: folder }],
    ["search_files", { path: folder, pattern: "**/*.txt" }],
    ["read_media_file", { path: join(folder, "picture.png") }],
    ["get_file_info", { path: join(folder, "sub/moved.txt") }],
    ["read_multiple_files", { paths: [join(folder, "sub/moved.txt"), "/etc/hostname"] }],
    ["read_text_file", { path: "/etc/hostname" }],
    ["read_text_file", { path: 12 }]
  ])
}

export const memory: Play = async (script) => {
  const { host } = script
  const uri = "memory://knowledge-graph"
  await opening(script)
  await listings(script)
  await script.step("subscribe", () => host.subscribe(uri))
  await calls(script, [
    ["create_entities", {
      entities: [
        { name: "Ada", entityType: "person", observations: ["wrote \u201cnotes\u201d"] },
        { name: "Engine", entityType: "machine", observations: [] }
      ]
    }],
    ["create_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "describes" }] }],
    ["add_observations", { observations: [{ entityName: "Nobody", contents: ["x"] }] }],
    ["add_observations", { observations: [{ entityName: "Ada", contents: ["countess"] }] }],
    ["search_nodes", { query: "ada" }],
    ["open_nodes", { names: ["Engine"] }],
    ["read_graph", {}]
  ])
  await script.step("read", () => host.readResource(uri))
  await script.step("unsubscribe", () => host.unsubscribe(uri))
  await calls(script, [["delete_entities", { entityNames: ["Ada"] }], ["read_graph", {}]])
}

export const thinking: Play = async (script) => {
  await opening(script)
  await listings(script)
  await calls(script, [
    ["sequentialthinking", { thought: "first", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
    ["sequentialthinking", { thought: "second", nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 }],
    ["sequentialthinking", { thought: "no number" }]
  ])
}

export const sdk1: Play = async (script) => {
  const { host } = script
  await opening(script)
  await listings(script)
  await calls(script, [["fail", {}], ["refuse", {}], ["odd", {}], ["take-back", {}]])
  await cancel(script, "hang", {})
  await script.step("read", () => host.readResource("note://1"))
  await script.step("read nothing", () => host.readResource("note://2"))
  await script.step(
    "complete",
    () => host.complete({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "b" } })
  )
  await script.step("level", () => host.setLoggingLevel("debug"))
  await calls(script, [["touch", {}]])
  await host.tap.notice("notifications/tools/list_changed")
  await script.step("ping", () => host.ping())
}

export const sdk2: Play = async (script) => {
  const { host } = script
  await opening(script)
  const modern = host.two?.getProtocolEra() === "modern"
  await listings(script)
  await calls(script, [["add", { a: 0.1, b: 0.2 }], ["add", { a: "x" }], ["fail", {}], ["confirm", { what: "tea" }]])
  await progress(script, "steps", { steps: 5 })
  await cancel(script, "hang", {})
  await script.step("read", () => host.readResource("note://1"))
  await script.step("read a note", () => host.readResource("note://any/12"))
  await script.step("read nothing", () => host.readResource("nothing://1"))
  await script.step("prompt", () => host.getPrompt("greet", { name: "Ada" }))
  await script.step(
    "complete",
    () => host.complete({ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "A" } })
  )
  await script.step(
    "complete a resource",
    () => host.complete({ ref: { type: "ref/resource", uri: "note://any/{id}" }, argument: { name: "id", value: "4" } })
  )

  const kinds = ["tools/list_changed", "resources/list_changed", "prompts/list_changed", "resources/updated"] as const
  if (modern) {
    const subscription = await host.two?.listen({
      toolsListChanged: true,
      resourcesListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ["note://1"]
    })
    await script.step("listen", async () => subscription?.honoredFilter)
    await calls(script, [["touch", {}]])
    for (const kind of kinds) await host.tap.notice(`notifications/${kind}`)
    await subscription?.close()
    await script.step("closed", async () => subscription?.closed)
  } else {
    await script.step("subscribe", () => host.subscribe("note://1"))
    await script.step("level", () => host.setLoggingLevel("debug"))
    await calls(script, [["touch", {}]])
    for (const kind of kinds) await host.tap.notice(`notifications/${kind}`)
    await host.tap.notice("notifications/message")
    await script.step("ping", () => host.ping())
  }
}
