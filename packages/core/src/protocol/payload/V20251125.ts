/**
 * The params and results of 2025-11-25, as differences from 2025-06-18: icons, URLs as elicitation, tools in sampling,
 * tasks, more kinds of fields (schema and changelog of that revision).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { extend, open } from "./Shape.ts"
import * as First from "./V20241105.ts"
import * as Before from "./V20250618.ts"

const maybe = Schema.optionalKey
const strings = Schema.Array(Schema.String)
const described = { title: maybe(Schema.String), description: maybe(Schema.String) } as const
const meta = { _meta: maybe(First.Meta) } as const

// ---- what is offered

/**
 * A picture for a user interface (basic/index, icons).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Icon = open({
  src: Schema.String,
  mimeType: maybe(Schema.String),
  sizes: maybe(strings),
  theme: maybe(Schema.Literals(["light", "dark"]))
})
/**
 * A picture for a user interface (basic/index, icons).
 *
 * @category models
 * @since 0.1.0
 */
export type Icon = typeof Icon.Type

const icons = { icons: maybe(Schema.Array(Icon)) } as const

/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = extend(Before.Implementation, {
  ...icons,
  description: maybe(Schema.String),
  websiteUrl: maybe(Schema.String)
})
/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type Implementation = typeof Implementation.Type

/**
 * The JSON schema of arguments (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolInputSchema = extend(First.ToolInputSchema, { $schema: maybe(Schema.String) })
/**
 * The JSON schema of arguments (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolInputSchema = typeof ToolInputSchema.Type

/**
 * Whether a tool may be run as a task (basic/utilities/tasks, Tool-Level Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolExecution = open({ taskSupport: maybe(Schema.Literals(["forbidden", "optional", "required"])) })
/**
 * Whether a tool may be run as a task (basic/utilities/tasks, Tool-Level Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolExecution = typeof ToolExecution.Type

/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = extend(Before.Tool, {
  ...icons,
  inputSchema: ToolInputSchema,
  outputSchema: maybe(ToolInputSchema),
  execution: maybe(ToolExecution)
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
export const Resource = extend(Before.Resource, icons)
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
export const ResourceTemplate = extend(Before.ResourceTemplate, icons)
/**
 * A template of resources as it is listed (server/resources, Resource Templates).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceTemplate = typeof ResourceTemplate.Type

/**
 * A prompt as it is listed (server/prompts, Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Prompt = extend(Before.Prompt, icons)
/**
 * A prompt as it is listed (server/prompts, Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type Prompt = typeof Prompt.Type

/**
 * A resource without its content (server/tools, Resource Links).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceLink = extend(Before.ResourceLink, icons)
/**
 * A resource without its content (server/tools, Resource Links).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceLink = typeof ResourceLink.Type

/**
 * What a prompt message or a tool result is made of (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContentBlock = Schema.Union([
  Before.TextContent,
  Before.ImageContent,
  Before.AudioContent,
  ResourceLink,
  Before.EmbeddedResource
])
/**
 * What a prompt message or a tool result is made of (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ContentBlock = typeof ContentBlock.Type

/**
 * One message of a prompt (server/prompts, PromptMessage).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptMessage = extend(Before.PromptMessage, { content: ContentBlock })
/**
 * One message of a prompt (server/prompts, PromptMessage).
 *
 * @category models
 * @since 0.1.0
 */
export type PromptMessage = typeof PromptMessage.Type

// ---- capabilities

/**
 * What a client declares: also kinds of elicitation and sampling, and tasks (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientCapabilities = extend(Before.ClientCapabilities, {
  sampling: maybe(open({ context: maybe(open({})), tools: maybe(open({})) })),
  elicitation: maybe(open({ form: maybe(open({})), url: maybe(open({})) })),
  tasks: maybe(open({
    list: maybe(open({})),
    cancel: maybe(open({})),
    requests: maybe(open({
      sampling: maybe(open({ createMessage: maybe(open({})) })),
      elicitation: maybe(open({ create: maybe(open({})) }))
    }))
  }))
})
/**
 * What a client declares: also kinds of elicitation and sampling, and tasks (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * What a server declares: also tasks (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerCapabilities = extend(Before.InitializeResult.schema.fields.capabilities, {
  tasks: maybe(open({
    list: maybe(open({})),
    cancel: maybe(open({})),
    requests: maybe(open({ tools: maybe(open({ call: maybe(open({})) })) }))
  }))
})
/**
 * What a server declares: also tasks (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

// ---- tasks

/**
 * That a request is to be run as a task (basic/utilities/tasks, Creating Tasks).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskMetadata = open({ ttl: maybe(Schema.Int) })
/**
 * That a request is to be run as a task (basic/utilities/tasks, Creating Tasks).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskMetadata = typeof TaskMetadata.Type

const asTask = { task: maybe(TaskMetadata) } as const

/**
 * Where a task stands (basic/utilities/tasks, Task Status Lifecycle).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskStatus = Schema.Literals([
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled"
])
/**
 * Where a task stands (basic/utilities/tasks, Task Status Lifecycle).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskStatus = typeof TaskStatus.Type

/**
 * A task (basic/utilities/tasks, Task).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Task = open({
  taskId: Schema.String,
  status: TaskStatus,
  statusMessage: maybe(Schema.String),
  createdAt: Schema.String,
  lastUpdatedAt: Schema.String,
  ttl: Schema.NullOr(Schema.Int),
  pollInterval: maybe(Schema.Int)
})
/**
 * A task (basic/utilities/tasks, Task).
 *
 * @category models
 * @since 0.1.0
 */
export type Task = typeof Task.Type

/**
 * The answer to a request that is run as a task (basic/utilities/tasks, Creating Tasks).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateTaskResult = open({ task: Task, ...meta })
/**
 * The answer to a request that is run as a task (basic/utilities/tasks, Creating Tasks).
 *
 * @category models
 * @since 0.1.0
 */
export type CreateTaskResult = typeof CreateTaskResult.Type

/**
 * Which task is meant (basic/utilities/tasks, Getting Tasks).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskParams = open({ taskId: Schema.String, _meta: maybe(First.RequestMeta) })
/**
 * Which task is meant (basic/utilities/tasks, Getting Tasks).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskParams = typeof TaskParams.Type

/**
 * Where a task stands (basic/utilities/tasks, Getting Tasks).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskResult = extend(Task, meta)
/**
 * Where a task stands (basic/utilities/tasks, Getting Tasks).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskResult = typeof TaskResult.Type

/**
 * What the request would have been answered with (basic/utilities/tasks, Retrieving Task Results).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskPayloadResult = open(meta)
/**
 * What the request would have been answered with (basic/utilities/tasks, Retrieving Task Results).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskPayloadResult = typeof TaskPayloadResult.Type

/**
 * A page of the tasks (basic/utilities/tasks, Listing Tasks).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListTasksResult = open({
  tasks: Schema.Array(Task),
  nextCursor: maybe(Schema.String),
  ...meta
})
/**
 * A page of the tasks (basic/utilities/tasks, Listing Tasks).
 *
 * @category models
 * @since 0.1.0
 */
export type ListTasksResult = typeof ListTasksResult.Type

// ---- lifecycle

/**
 * The opening of a session (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeParams = extend(Before.InitializeParams, {
  capabilities: ClientCapabilities,
  clientInfo: Implementation
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
export const InitializeResult = extend(Before.InitializeResult, {
  capabilities: ServerCapabilities,
  serverInfo: Implementation
})
/**
 * The answer that settles revision and capabilities (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type InitializeResult = typeof InitializeResult.Type

// ---- tools, resources, prompts

/**
 * A page of a listing (server/tools, Listing Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListToolsResult = extend(Before.ListToolsResult, { tools: Schema.Array(Tool) })
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
export const ListResourcesResult = extend(Before.ListResourcesResult, { resources: Schema.Array(Resource) })
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
export const ListResourceTemplatesResult = extend(Before.ListResourceTemplatesResult, {
  resourceTemplates: Schema.Array(ResourceTemplate)
})
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
export const ListPromptsResult = extend(Before.ListPromptsResult, { prompts: Schema.Array(Prompt) })
/**
 * A page of a listing (server/prompts, Listing Prompts).
 *
 * @category models
 * @since 0.1.0
 */
export type ListPromptsResult = typeof ListPromptsResult.Type

/**
 * The call of a tool (server/tools, Calling Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallToolParams = extend(First.CallToolParams, asTask)
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
export const CallToolResult = extend(Before.CallToolResult, { content: Schema.Array(ContentBlock) })
/**
 * What a tool gave, or that it failed (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type CallToolResult = typeof CallToolResult.Type

/**
 * A prompt filled in (server/prompts, Getting a Prompt).
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetPromptResult = extend(Before.GetPromptResult, { messages: Schema.Array(PromptMessage) })
/**
 * A prompt filled in (server/prompts, Getting a Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type GetPromptResult = typeof GetPromptResult.Type

/**
 * That a request is no longer wanted; a task is cancelled otherwise (basic/utilities/cancellation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CancelledParams = extend(First.CancelledParams, { requestId: maybe(First.RequestId) })
/**
 * That a request is no longer wanted; a task is cancelled otherwise (basic/utilities/cancellation).
 *
 * @category models
 * @since 0.1.0
 */
export type CancelledParams = typeof CancelledParams.Type

// ---- what servers ask

/**
 * That the model wants to use a tool (client/sampling, Sampling with Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolUseContent = open({
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: open({}),
  ...meta
})
/**
 * That the model wants to use a tool (client/sampling, Sampling with Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolUseContent = typeof ToolUseContent.Type

/**
 * What the tool gave the model (client/sampling, Sampling with Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResultContent = open({
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(ContentBlock),
  structuredContent: maybe(open({})),
  isError: maybe(Schema.Boolean),
  ...meta
})
/**
 * What the tool gave the model (client/sampling, Sampling with Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolResultContent = typeof ToolResultContent.Type

/**
 * One part of a message of a conversation with a model (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingBlock = Schema.Union([
  Before.TextContent,
  Before.ImageContent,
  Before.AudioContent,
  ToolUseContent,
  ToolResultContent
])
/**
 * One part of a message of a conversation with a model (client/sampling, Message Content).
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingBlock = typeof SamplingBlock.Type

/**
 * What a message of a conversation with a model is made of (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingContent = Schema.Union([
  ...SamplingBlock.members,
  Schema.Array(SamplingBlock)
])
/**
 * What a message of a conversation with a model is made of (client/sampling, Message Content).
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingContent = typeof SamplingContent.Type

/**
 * A message of a conversation with a model (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingMessage = extend(Before.SamplingMessage, { ...meta, content: SamplingContent })
/**
 * A message of a conversation with a model (client/sampling, Message Content).
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingMessage = typeof SamplingMessage.Type

/**
 * Whether the model may use tools (client/sampling, Sampling with Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolChoice = open({ mode: maybe(Schema.Literals(["auto", "required", "none"])) })
/**
 * Whether the model may use tools (client/sampling, Sampling with Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolChoice = typeof ToolChoice.Type

/**
 * What a model is asked (client/sampling, Creating Messages).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageParams = extend(Before.CreateMessageParams, {
  ...asTask,
  messages: Schema.Array(SamplingMessage),
  tools: maybe(Schema.Array(Tool)),
  toolChoice: maybe(ToolChoice)
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
export const CreateMessageResult = extend(Before.CreateMessageResult, { content: SamplingContent })
/**
 * What the model said (client/sampling, Creating Messages).
 *
 * @category models
 * @since 0.1.0
 */
export type CreateMessageResult = typeof CreateMessageResult.Type

/**
 * A field for text (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const StringSchema = extend(Before.StringSchema, { default: maybe(Schema.String) })
/**
 * A field for text (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type StringSchema = typeof StringSchema.Type

/**
 * A field for a number (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NumberSchema = extend(Before.NumberSchema, { default: maybe(Schema.Finite) })
/**
 * A field for a number (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type NumberSchema = typeof NumberSchema.Type

/**
 * A field for one of some values, as 2025-06-18 has it (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const LegacyEnumSchema = extend(Before.EnumSchema, { default: maybe(Schema.String) })
/**
 * A field for one of some values, as 2025-06-18 has it (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type LegacyEnumSchema = typeof LegacyEnumSchema.Type

const option = open({ const: Schema.String, title: Schema.String })
const several = {
  ...described,
  type: Schema.Literal("array"),
  minItems: maybe(Schema.Int),
  maxItems: maybe(Schema.Int),
  default: maybe(strings)
} as const

/**
 * A field for one of some values (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const UntitledEnumSchema = open({
  ...described,
  type: Schema.Literal("string"),
  enum: strings,
  default: maybe(Schema.String)
})
/**
 * A field for one of some values (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type UntitledEnumSchema = typeof UntitledEnumSchema.Type

/**
 * A field for one of some values with titles (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TitledEnumSchema = open({
  ...described,
  type: Schema.Literal("string"),
  oneOf: Schema.Array(option),
  default: maybe(Schema.String)
})
/**
 * A field for one of some values with titles (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type TitledEnumSchema = typeof TitledEnumSchema.Type

/**
 * A field for several of some values (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const UntitledMultiEnumSchema = open({
  ...several,
  items: open({ type: Schema.Literal("string"), enum: strings })
})
/**
 * A field for several of some values (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type UntitledMultiEnumSchema = typeof UntitledMultiEnumSchema.Type

/**
 * A field for several of some values with titles (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TitledMultiEnumSchema = open({ ...several, items: open({ anyOf: Schema.Array(option) }) })
/**
 * A field for several of some values with titles (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type TitledMultiEnumSchema = typeof TitledMultiEnumSchema.Type

/**
 * A field of a form (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PrimitiveSchema = Schema.Union([
  LegacyEnumSchema,
  UntitledEnumSchema,
  TitledEnumSchema,
  UntitledMultiEnumSchema,
  TitledMultiEnumSchema,
  StringSchema,
  NumberSchema,
  Before.BooleanSchema
])
/**
 * A field of a form (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type PrimitiveSchema = typeof PrimitiveSchema.Type

/**
 * A form that a person is asked to fill in (client/elicitation, Form Mode).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitFormParams = extend(Before.ElicitParams, {
  ...asTask,
  mode: maybe(Schema.Literal("form")),
  requestedSchema: extend(Before.ElicitParams.schema.fields.requestedSchema, {
    $schema: maybe(Schema.String),
    properties: Schema.Record(Schema.String, PrimitiveSchema)
  })
})
/**
 * A form that a person is asked to fill in (client/elicitation, Form Mode).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitFormParams = typeof ElicitFormParams.Type

/**
 * A page that a person is asked to visit (client/elicitation, URL Mode).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitUrlParams = open({
  ...asTask,
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  elicitationId: Schema.String,
  _meta: maybe(First.RequestMeta)
})
/**
 * A page that a person is asked to visit (client/elicitation, URL Mode).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitUrlParams = typeof ElicitUrlParams.Type

/**
 * What a person is asked (client/elicitation, Creating Elicitation Requests).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitParams = Schema.Union([ElicitUrlParams, ElicitFormParams])
/**
 * What a person is asked (client/elicitation, Creating Elicitation Requests).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitParams = typeof ElicitParams.Type

/**
 * What the person did with it (client/elicitation, Response Actions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitResult = extend(Before.ElicitResult, {
  content: maybe(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, strings]))
  )
})
/**
 * What the person did with it (client/elicitation, Response Actions).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitResult = typeof ElicitResult.Type

/**
 * That a page was dealt with (client/elicitation, Completion Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitationCompleteParams = open({ elicitationId: Schema.String, ...meta })
/**
 * That a page was dealt with (client/elicitation, Completion Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitationCompleteParams = typeof ElicitationCompleteParams.Type

// ---- by method

/**
 * The params of every method, of requests and of notifications.
 *
 * @category tables
 * @since 0.1.0
 */
export const params = {
  ...Before.params,
  "initialize": InitializeParams,
  "tools/call": CallToolParams,
  "sampling/createMessage": CreateMessageParams,
  "elicitation/create": ElicitParams,
  "tasks/get": TaskParams,
  "tasks/result": TaskParams,
  "tasks/cancel": TaskParams,
  "tasks/list": First.ListParams,
  "notifications/cancelled": CancelledParams,
  "notifications/elicitation/complete": ElicitationCompleteParams,
  "notifications/tasks/status": TaskResult
}

/**
 * The result of every request; of those that may be run as a task, also the task.
 *
 * @category tables
 * @since 0.1.0
 */
export const results = {
  ...Before.results,
  "initialize": InitializeResult,
  "tools/list": ListToolsResult,
  "tools/call": Schema.Union([CallToolResult, CreateTaskResult]),
  "resources/list": ListResourcesResult,
  "resources/templates/list": ListResourceTemplatesResult,
  "prompts/list": ListPromptsResult,
  "prompts/get": GetPromptResult,
  "sampling/createMessage": Schema.Union([CreateMessageResult, CreateTaskResult]),
  "elicitation/create": Schema.Union([ElicitResult, CreateTaskResult]),
  "tasks/get": TaskResult,
  "tasks/result": TaskPayloadResult,
  "tasks/cancel": TaskResult,
  "tasks/list": ListTasksResult
}
