/**
 * The member names that the protocol gives a meaning to.
 *
 * **Details**
 *
 * Decoders of other languages match member names without regard to case. A message in which a member has one of these
 * names in another case could be read differently by the two sides of a guard, so it is refused (security rule F3).
 *
 * @since 0.1.0
 */
import { meta } from "./Revision.ts"

/**
 * Names of members of params and results, of any method.
 *
 * @category tables
 * @since 0.1.0
 */
export const messages: ReadonlyArray<string> = [
  "_meta",
  "progressToken",
  "protocolVersion",
  "supportedVersions",
  "capabilities",
  "clientInfo",
  "serverInfo",
  "instructions",
  "name",
  "arguments",
  "uri",
  "cursor",
  "nextCursor",
  "tools",
  "resources",
  "resourceTemplates",
  "prompts",
  "messages",
  "contents",
  "content",
  "structuredContent",
  "isError",
  "description",
  "ref",
  "argument",
  "context",
  "completion",
  "level",
  "logger",
  "data",
  "requestId",
  "reason",
  "progress",
  "total",
  "message",
  "roots",
  "role",
  "model",
  "stopReason",
  "modelPreferences",
  "systemPrompt",
  "includeContext",
  "temperature",
  "maxTokens",
  "stopSequences",
  "metadata",
  "toolChoice",
  "mode",
  "requestedSchema",
  "url",
  "elicitationId",
  "action",
  "task",
  "taskId",
  "tasks",
  "status",
  "statusMessage",
  "createdAt",
  "lastUpdatedAt",
  "result",
  "error",
  "ttl",
  "ttlMs",
  "pollInterval",
  "pollIntervalMs",
  "cacheScope",
  "resultType",
  "inputRequests",
  "inputResponses",
  "requestState",
  "notifications",
  "code"
]

/**
 * Names of members of the definitions of what a server offers, and of the objects in them, over all revisions (`Tool`,
 * `Prompt`, `Resource`, `ResourceTemplate`, `Implementation`, `ServerCapabilities` and what they consist of, in each
 * revision's schema).
 *
 * @category tables
 * @since 0.1.0
 */
export const definition = {
  tool: [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "icons",
    "execution",
    "_meta"
  ],
  hints: ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"],
  execution: ["taskSupport"],
  icon: ["src", "mimeType", "sizes", "theme"],
  schema: ["$schema", "type", "properties", "required"],
  prompt: ["name", "title", "description", "arguments", "icons", "_meta"],
  argument: ["name", "title", "description", "required"],
  resource: ["uri", "name", "title", "description", "mimeType", "size", "annotations", "icons", "_meta"],
  template: ["uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta"],
  annotations: ["audience", "priority", "lastModified"],
  identity: ["name", "title", "version", "description", "websiteUrl", "icons"],
  capability: [
    "experimental",
    "logging",
    "completions",
    "prompts",
    "resources",
    "tools",
    "tasks",
    "extensions"
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

/**
 * All names that the reader compares: of messages, and of the protocol's own `_meta` members.
 *
 * @category tables
 * @since 0.1.0
 */
export const all: ReadonlyArray<string> = [...messages, ...Object.values(meta)]
