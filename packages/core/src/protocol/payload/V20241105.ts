/**
 * The params and results of 2024-11-05, whole: what later revisions are said as differences from (schema of that
 * revision).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { open } from "./Shape.ts"

const maybe = Schema.optionalKey
const strings = Schema.Array(Schema.String)
const weight = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

// ---- what messages are made of

/**
 * The id of a request (basic/messages, Requests).
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestId = Schema.Union([Schema.String, Schema.Int])
/**
 * The id of a request (basic/messages, Requests).
 *
 * @category models
 * @since 0.1.0
 */
export type RequestId = typeof RequestId.Type

/**
 * What progress is told for (basic/utilities/progress).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProgressToken = Schema.Union([Schema.String, Schema.Int])
/**
 * What progress is told for (basic/utilities/progress).
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressToken = typeof ProgressToken.Type

/**
 * Metadata of anything (basic/index, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Meta = open({})
/**
 * Metadata of anything (basic/index, _meta).
 *
 * @category models
 * @since 0.1.0
 */
export type Meta = typeof Meta.Type

/**
 * Metadata of a request (basic/utilities/progress).
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestMeta = open({ progressToken: maybe(ProgressToken) })
/**
 * Metadata of a request (basic/utilities/progress).
 *
 * @category models
 * @since 0.1.0
 */
export type RequestMeta = typeof RequestMeta.Type

/**
 * The params of a request that has none of its own; it may be sent without any (basic/messages, Requests).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoParams = open({ _meta: maybe(RequestMeta) })
/**
 * The params of a request that has none of its own; it may be sent without any (basic/messages, Requests).
 *
 * @category models
 * @since 0.1.0
 */
export type NoParams = typeof NoParams.Type

/**
 * The params of a notification that has none of its own; it may be sent without any (basic/messages, Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoDetails = open({ _meta: maybe(Meta) })
/**
 * The params of a notification that has none of its own; it may be sent without any (basic/messages, Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type NoDetails = typeof NoDetails.Type

/**
 * A result that says no more than that it was done (basic/messages, Responses).
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmptyResult = open({ _meta: maybe(Meta) })
/**
 * A result that says no more than that it was done (basic/messages, Responses).
 *
 * @category models
 * @since 0.1.0
 */
export type EmptyResult = typeof EmptyResult.Type

/**
 * Who speaks (server/prompts, Data Types).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Role = Schema.Literals(["user", "assistant"])
/**
 * Who speaks (server/prompts, Data Types).
 *
 * @category models
 * @since 0.1.0
 */
export type Role = typeof Role.Type

/**
 * How grave a log message is (server/utilities/logging, Log Levels).
 *
 * @category schemas
 * @since 0.1.0
 */
export const LoggingLevel = Schema.Literals([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
])
/**
 * How grave a log message is (server/utilities/logging, Log Levels).
 *
 * @category models
 * @since 0.1.0
 */
export type LoggingLevel = typeof LoggingLevel.Type

/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = open({ name: Schema.String, version: Schema.String })
/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type Implementation = typeof Implementation.Type

/**
 * For whom content is, and how much it matters (server/resources, Annotations).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = open({ audience: maybe(Schema.Array(Role)), priority: maybe(weight) })
/**
 * For whom content is, and how much it matters (server/resources, Annotations).
 *
 * @category models
 * @since 0.1.0
 */
export type Annotations = typeof Annotations.Type

// ---- content

/**
 * Text (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextContent = open({
  type: Schema.Literal("text"),
  text: Schema.String,
  annotations: maybe(Annotations)
})
/**
 * Text (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type TextContent = typeof TextContent.Type

/**
 * An image in base64 (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ImageContent = open({
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String,
  annotations: maybe(Annotations)
})
/**
 * An image in base64 (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ImageContent = typeof ImageContent.Type

/**
 * The content of a resource, as text (server/resources, Resource Contents).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextResourceContents = open({ uri: Schema.String, mimeType: maybe(Schema.String), text: Schema.String })
/**
 * The content of a resource, as text (server/resources, Resource Contents).
 *
 * @category models
 * @since 0.1.0
 */
export type TextResourceContents = typeof TextResourceContents.Type

/**
 * The content of a resource, in base64 (server/resources, Resource Contents).
 *
 * @category schemas
 * @since 0.1.0
 */
export const BlobResourceContents = open({ uri: Schema.String, mimeType: maybe(Schema.String), blob: Schema.String })
/**
 * The content of a resource, in base64 (server/resources, Resource Contents).
 *
 * @category models
 * @since 0.1.0
 */
export type BlobResourceContents = typeof BlobResourceContents.Type

/**
 * The content of a resource (server/resources, Resource Contents).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceContents = Schema.Union([TextResourceContents, BlobResourceContents])
/**
 * The content of a resource (server/resources, Resource Contents).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceContents = typeof ResourceContents.Type

/**
 * A resource with its content (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmbeddedResource = open({
  type: Schema.Literal("resource"),
  resource: ResourceContents,
  annotations: maybe(Annotations)
})
/**
 * A resource with its content (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type EmbeddedResource = typeof EmbeddedResource.Type

/**
 * What a prompt message or a tool result is made of (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContentBlock = Schema.Union([TextContent, ImageContent, EmbeddedResource])
/**
 * What a prompt message or a tool result is made of (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ContentBlock = typeof ContentBlock.Type

// ---- what is offered

/**
 * The JSON schema of arguments (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolInputSchema = open({
  type: Schema.Literal("object"),
  properties: maybe(Schema.Record(Schema.String, open({}))),
  required: maybe(strings)
})
/**
 * The JSON schema of arguments (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolInputSchema = typeof ToolInputSchema.Type

/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = open({
  name: Schema.String,
  description: maybe(Schema.String),
  inputSchema: ToolInputSchema
})
/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type Tool = typeof Tool.Type

/**
 * A resource as it is listed (server/resources, Resource).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Resource = open({
  uri: Schema.String,
  name: Schema.String,
  description: maybe(Schema.String),
  mimeType: maybe(Schema.String),
  size: maybe(Schema.Int),
  annotations: maybe(Annotations)
})
/**
 * A resource as it is listed (server/resources, Resource).
 *
 * @category models
 * @since 0.1.0
 */
export type Resource = typeof Resource.Type

/**
 * A template of resources as it is listed (server/resources, Resource Templates).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceTemplate = open({
  uriTemplate: Schema.String,
  name: Schema.String,
  description: maybe(Schema.String),
  mimeType: maybe(Schema.String),
  annotations: maybe(Annotations)
})
/**
 * A template of resources as it is listed (server/resources, Resource Templates).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceTemplate = typeof ResourceTemplate.Type

/**
 * An argument of a prompt (server/prompts, Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptArgument = open({
  name: Schema.String,
  description: maybe(Schema.String),
  required: maybe(Schema.Boolean)
})
/**
 * An argument of a prompt (server/prompts, Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type PromptArgument = typeof PromptArgument.Type

/**
 * A prompt as it is listed (server/prompts, Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Prompt = open({
  name: Schema.String,
  description: maybe(Schema.String),
  arguments: maybe(Schema.Array(PromptArgument))
})
/**
 * A prompt as it is listed (server/prompts, Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type Prompt = typeof Prompt.Type

/**
 * One message of a prompt (server/prompts, PromptMessage).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptMessage = open({ role: Role, content: ContentBlock })
/**
 * One message of a prompt (server/prompts, PromptMessage).
 *
 * @category models
 * @since 0.1.0
 */
export type PromptMessage = typeof PromptMessage.Type

/**
 * A folder that the client works in (client/roots, Root).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Root = open({ uri: Schema.String, name: maybe(Schema.String) })
/**
 * A folder that the client works in (client/roots, Root).
 *
 * @category models
 * @since 0.1.0
 */
export type Root = typeof Root.Type

// ---- capabilities

/**
 * Capabilities outside the specification, by name (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Experimental = Schema.Record(Schema.String, open({}))
/**
 * Capabilities outside the specification, by name (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type Experimental = typeof Experimental.Type

/**
 * What a client declares (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientCapabilities = open({
  experimental: maybe(Experimental),
  roots: maybe(open({ listChanged: maybe(Schema.Boolean) })),
  sampling: maybe(open({}))
})
/**
 * What a client declares (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * What a server declares (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerCapabilities = open({
  experimental: maybe(Experimental),
  logging: maybe(open({})),
  prompts: maybe(open({ listChanged: maybe(Schema.Boolean) })),
  resources: maybe(open({ subscribe: maybe(Schema.Boolean), listChanged: maybe(Schema.Boolean) })),
  tools: maybe(open({ listChanged: maybe(Schema.Boolean) }))
})
/**
 * What a server declares (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

// ---- lifecycle

/**
 * The opening of a session (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeParams = open({
  protocolVersion: Schema.String,
  capabilities: ClientCapabilities,
  clientInfo: Implementation,
  _meta: maybe(RequestMeta)
})
/**
 * The opening of a session (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type InitializeParams = typeof InitializeParams.Type

/**
 * The answer that settles revision and capabilities (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeResult = open({
  protocolVersion: Schema.String,
  capabilities: ServerCapabilities,
  serverInfo: Implementation,
  instructions: maybe(Schema.String),
  _meta: maybe(Meta)
})
/**
 * The answer that settles revision and capabilities (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type InitializeResult = typeof InitializeResult.Type

// ---- listings

/**
 * Which page of a listing is asked for (server/utilities/pagination).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListParams = open({ cursor: maybe(Schema.String), _meta: maybe(RequestMeta) })
/**
 * Which page of a listing is asked for (server/utilities/pagination).
 *
 * @category models
 * @since 0.1.0
 */
export type ListParams = typeof ListParams.Type

const page = open({ nextCursor: maybe(Schema.String), _meta: maybe(Meta) }).schema.fields

/**
 * A page of a listing (server/tools, Listing Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListToolsResult = open({ ...page, tools: Schema.Array(Tool) })
/**
 * A page of a listing (server/tools, Listing Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type ListToolsResult = typeof ListToolsResult.Type

/**
 * A page of a listing (server/resources, Listing Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResourcesResult = open({ ...page, resources: Schema.Array(Resource) })
/**
 * A page of a listing (server/resources, Listing Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ListResourcesResult = typeof ListResourcesResult.Type

/**
 * A page of a listing (server/resources, Resource Templates).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResourceTemplatesResult = open({ ...page, resourceTemplates: Schema.Array(ResourceTemplate) })
/**
 * A page of a listing (server/resources, Resource Templates).
 *
 * @category models
 * @since 0.1.0
 */
export type ListResourceTemplatesResult = typeof ListResourceTemplatesResult.Type

/**
 * A page of a listing (server/prompts, Listing Prompts).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListPromptsResult = open({ ...page, prompts: Schema.Array(Prompt) })
/**
 * A page of a listing (server/prompts, Listing Prompts).
 *
 * @category models
 * @since 0.1.0
 */
export type ListPromptsResult = typeof ListPromptsResult.Type

// ---- tools, resources, prompts

/**
 * The call of a tool (server/tools, Calling Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallToolParams = open({
  name: Schema.String,
  arguments: maybe(open({})),
  _meta: maybe(RequestMeta)
})
/**
 * The call of a tool (server/tools, Calling Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type CallToolParams = typeof CallToolParams.Type

/**
 * What a tool gave, or that it failed (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallToolResult = open({
  content: Schema.Array(ContentBlock),
  isError: maybe(Schema.Boolean),
  _meta: maybe(Meta)
})
/**
 * What a tool gave, or that it failed (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type CallToolResult = typeof CallToolResult.Type

/**
 * Which resource is meant (server/resources, Reading Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceParams = open({ uri: Schema.String, _meta: maybe(RequestMeta) })
/**
 * Which resource is meant (server/resources, Reading Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceParams = typeof ResourceParams.Type

/**
 * What a resource contains (server/resources, Reading Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadResourceResult = open({ contents: Schema.Array(ResourceContents), _meta: maybe(Meta) })
/**
 * What a resource contains (server/resources, Reading Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ReadResourceResult = typeof ReadResourceResult.Type

/**
 * Which prompt is asked for, and with what (server/prompts, Getting a Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetPromptParams = open({
  name: Schema.String,
  arguments: maybe(Schema.Record(Schema.String, Schema.String)),
  _meta: maybe(RequestMeta)
})
/**
 * Which prompt is asked for, and with what (server/prompts, Getting a Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type GetPromptParams = typeof GetPromptParams.Type

/**
 * A prompt filled in (server/prompts, Getting a Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetPromptResult = open({
  description: maybe(Schema.String),
  messages: Schema.Array(PromptMessage),
  _meta: maybe(Meta)
})
/**
 * A prompt filled in (server/prompts, Getting a Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type GetPromptResult = typeof GetPromptResult.Type

// ---- utilities

/**
 * That a prompt is to be completed (server/utilities/completion, Reference Types).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptReference = open({ type: Schema.Literal("ref/prompt"), name: Schema.String })
/**
 * That a prompt is to be completed (server/utilities/completion, Reference Types).
 *
 * @category models
 * @since 0.1.0
 */
export type PromptReference = typeof PromptReference.Type

/**
 * That the URI of a resource is to be completed (server/utilities/completion, Reference Types).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceReference = open({ type: Schema.Literal("ref/resource"), uri: Schema.String })
/**
 * That the URI of a resource is to be completed (server/utilities/completion, Reference Types).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceReference = typeof ResourceReference.Type

/**
 * What is to be completed (server/utilities/completion, Requesting Completions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteParams = open({
  ref: Schema.Union([PromptReference, ResourceReference]),
  argument: open({ name: Schema.String, value: Schema.String }),
  _meta: maybe(RequestMeta)
})
/**
 * What is to be completed (server/utilities/completion, Requesting Completions).
 *
 * @category models
 * @since 0.1.0
 */
export type CompleteParams = typeof CompleteParams.Type

/**
 * How it may go on; 100 values at most (server/utilities/completion, Completion Results).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteResult = open({
  completion: open({
    values: strings.check(Schema.isMaxLength(100)),
    total: maybe(Schema.Int),
    hasMore: maybe(Schema.Boolean)
  }),
  _meta: maybe(Meta)
})
/**
 * How it may go on; 100 values at most (server/utilities/completion, Completion Results).
 *
 * @category models
 * @since 0.1.0
 */
export type CompleteResult = typeof CompleteResult.Type

/**
 * From which level on messages are wanted (server/utilities/logging, Setting Log Level).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SetLevelParams = open({ level: LoggingLevel, _meta: maybe(RequestMeta) })
/**
 * From which level on messages are wanted (server/utilities/logging, Setting Log Level).
 *
 * @category models
 * @since 0.1.0
 */
export type SetLevelParams = typeof SetLevelParams.Type

/**
 * A log message (server/utilities/logging, Log Message Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const LoggingMessageParams = open({
  level: LoggingLevel,
  logger: maybe(Schema.String),
  data: Schema.Unknown,
  _meta: maybe(Meta)
})
/**
 * A log message (server/utilities/logging, Log Message Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type LoggingMessageParams = typeof LoggingMessageParams.Type

/**
 * How far a request has come (basic/utilities/progress).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProgressParams = open({
  progressToken: ProgressToken,
  progress: Schema.Finite,
  total: maybe(Schema.Finite),
  _meta: maybe(Meta)
})
/**
 * How far a request has come (basic/utilities/progress).
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressParams = typeof ProgressParams.Type

/**
 * That a request is no longer wanted (basic/utilities/cancellation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CancelledParams = open({
  requestId: RequestId,
  reason: maybe(Schema.String),
  _meta: maybe(Meta)
})
/**
 * That a request is no longer wanted (basic/utilities/cancellation).
 *
 * @category models
 * @since 0.1.0
 */
export type CancelledParams = typeof CancelledParams.Type

/**
 * That a resource changed (server/resources, Subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceUpdatedParams = open({ uri: Schema.String, _meta: maybe(Meta) })
/**
 * That a resource changed (server/resources, Subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceUpdatedParams = typeof ResourceUpdatedParams.Type

// ---- what servers ask

/**
 * A message of a conversation with a model (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingMessage = open({
  role: Role,
  content: Schema.Union([TextContent, ImageContent])
})
/**
 * A message of a conversation with a model (client/sampling, Message Content).
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingMessage = typeof SamplingMessage.Type

/**
 * Which model is wanted (client/sampling, Model Preferences).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelPreferences = open({
  hints: maybe(Schema.Array(open({ name: maybe(Schema.String) }))),
  costPriority: maybe(weight),
  speedPriority: maybe(weight),
  intelligencePriority: maybe(weight)
})
/**
 * Which model is wanted (client/sampling, Model Preferences).
 *
 * @category models
 * @since 0.1.0
 */
export type ModelPreferences = typeof ModelPreferences.Type

/**
 * What a model is asked (client/sampling, Creating Messages).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageParams = open({
  messages: Schema.Array(SamplingMessage),
  modelPreferences: maybe(ModelPreferences),
  systemPrompt: maybe(Schema.String),
  includeContext: maybe(Schema.Literals(["none", "thisServer", "allServers"])),
  temperature: maybe(Schema.Finite),
  maxTokens: Schema.Int,
  stopSequences: maybe(strings),
  metadata: maybe(open({})),
  _meta: maybe(RequestMeta)
})
/**
 * What a model is asked (client/sampling, Creating Messages).
 *
 * @category models
 * @since 0.1.0
 */
export type CreateMessageParams = typeof CreateMessageParams.Type

/**
 * What the model said (client/sampling, Creating Messages).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageResult = open({
  role: Role,
  content: Schema.Union([TextContent, ImageContent]),
  model: Schema.String,
  stopReason: maybe(Schema.String),
  _meta: maybe(Meta)
})
/**
 * What the model said (client/sampling, Creating Messages).
 *
 * @category models
 * @since 0.1.0
 */
export type CreateMessageResult = typeof CreateMessageResult.Type

/**
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListRootsResult = open({ roots: Schema.Array(Root), _meta: maybe(Meta) })
/**
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category models
 * @since 0.1.0
 */
export type ListRootsResult = typeof ListRootsResult.Type

// ---- by method

/**
 * The params of every method, of requests and of notifications.
 *
 * @category tables
 * @since 0.1.0
 */
export const params = {
  "initialize": InitializeParams,
  "ping": NoParams,
  "tools/list": ListParams,
  "tools/call": CallToolParams,
  "resources/list": ListParams,
  "resources/templates/list": ListParams,
  "resources/read": ResourceParams,
  "resources/subscribe": ResourceParams,
  "resources/unsubscribe": ResourceParams,
  "prompts/list": ListParams,
  "prompts/get": GetPromptParams,
  "completion/complete": CompleteParams,
  "logging/setLevel": SetLevelParams,
  "sampling/createMessage": CreateMessageParams,
  "roots/list": NoParams,
  "notifications/initialized": NoDetails,
  "notifications/cancelled": CancelledParams,
  "notifications/progress": ProgressParams,
  "notifications/message": LoggingMessageParams,
  "notifications/tools/list_changed": NoDetails,
  "notifications/prompts/list_changed": NoDetails,
  "notifications/resources/list_changed": NoDetails,
  "notifications/resources/updated": ResourceUpdatedParams,
  "notifications/roots/list_changed": NoDetails
}

/**
 * The result of every request.
 *
 * @category tables
 * @since 0.1.0
 */
export const results = {
  "initialize": InitializeResult,
  "ping": EmptyResult,
  "tools/list": ListToolsResult,
  "tools/call": CallToolResult,
  "resources/list": ListResourcesResult,
  "resources/templates/list": ListResourceTemplatesResult,
  "resources/read": ReadResourceResult,
  "resources/subscribe": EmptyResult,
  "resources/unsubscribe": EmptyResult,
  "prompts/list": ListPromptsResult,
  "prompts/get": GetPromptResult,
  "completion/complete": CompleteResult,
  "logging/setLevel": EmptyResult,
  "sampling/createMessage": CreateMessageResult,
  "roots/list": ListRootsResult
}
