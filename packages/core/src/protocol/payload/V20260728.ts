/**
 * The params and results of 2026-07-28, as differences from 2025-11-25: metadata with every request, the type of every
 * result, input required, listening, hints for caches, extensions; no handshake, no tasks in the core (schema and
 * changelog of that revision).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { meta as names } from "../Revision.ts"
import { extend, open } from "./Shape.ts"
import * as First from "./V20241105.ts"
import * as Elicited from "./V20250618.ts"
import * as Before from "./V20251125.ts"

const maybe = Schema.optionalKey
const strings = Schema.Array(Schema.String)

// ---- what messages are made of

/**
 * Extensions by their prefixed name (basic/versioning, Extension Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Extensions = Schema.Record(Schema.String, open({}))
/**
 * Extensions by their prefixed name (basic/versioning, Extension Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type Extensions = typeof Extensions.Type

/**
 * What a client declares with each request: extensions, no tasks (basic/index, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientCapabilities = open({
  ...Struct.omit(Before.ClientCapabilities.schema.fields, ["tasks"]),
  roots: maybe(open({})),
  extensions: maybe(Extensions)
})
/**
 * What a client declares with each request: extensions, no tasks (basic/index, _meta).
 *
 * @category models
 * @since 0.1.0
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * What a server declares: extensions, no tasks (server/discover).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerCapabilities = open({
  ...Struct.omit(Before.ServerCapabilities.schema.fields, ["tasks"]),
  extensions: maybe(Extensions)
})
/**
 * What a server declares: extensions, no tasks (server/discover).
 *
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

/**
 * Metadata that every request carries (basic/index, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestMeta = extend(First.RequestMeta, {
  [names.protocolVersion]: Schema.String,
  [names.clientCapabilities]: ClientCapabilities,
  [names.clientInfo]: maybe(Before.Implementation),
  [names.logLevel]: maybe(First.LoggingLevel)
})
/**
 * Metadata that every request carries (basic/index, _meta).
 *
 * @category models
 * @since 0.1.0
 */
export type RequestMeta = typeof RequestMeta.Type

/**
 * Metadata of a notification; on a stream that is listened to, which one it is (basic/patterns/subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NotificationMeta = open({ [names.subscriptionId]: maybe(First.RequestId) })
/**
 * Metadata of a notification; on a stream that is listened to, which one it is (basic/patterns/subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type NotificationMeta = typeof NotificationMeta.Type

/**
 * Metadata of a result (basic/index, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResultMeta = open({ [names.serverInfo]: maybe(Before.Implementation) })
/**
 * Metadata of a result (basic/index, _meta).
 *
 * @category models
 * @since 0.1.0
 */
export type ResultMeta = typeof ResultMeta.Type

const asked = { _meta: RequestMeta } as const
const told = { _meta: maybe(NotificationMeta) } as const
const complete = { resultType: Schema.Literal("complete"), _meta: maybe(ResultMeta) } as const
const cacheable = {
  ...complete,
  ttlMs: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  cacheScope: Schema.Literals(["public", "private"])
} as const

/**
 * The params of a request that has none of its own (basic/index, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoParams = open(asked)
/**
 * The params of a request that has none of its own (basic/index, _meta).
 *
 * @category models
 * @since 0.1.0
 */
export type NoParams = typeof NoParams.Type

/**
 * The params of a notification that has none of its own; it may be sent without any (basic/index, Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoDetails = open(told)
/**
 * The params of a notification that has none of its own; it may be sent without any (basic/index, Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type NoDetails = typeof NoDetails.Type

// ---- what is offered

/**
 * The JSON schema of arguments, in dialect 2020-12 (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolInputSchema = open({ $schema: maybe(Schema.String), type: Schema.Literal("object") })
/**
 * The JSON schema of arguments, in dialect 2020-12 (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolInputSchema = typeof ToolInputSchema.Type

/**
 * The JSON schema of structured content, whatever its type (server/tools, Output Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolOutputSchema = open({ $schema: maybe(Schema.String) })
/**
 * The JSON schema of structured content, whatever its type (server/tools, Output Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolOutputSchema = typeof ToolOutputSchema.Type

/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = open({
  ...Struct.omit(Before.Tool.schema.fields, ["execution"]),
  inputSchema: ToolInputSchema,
  outputSchema: maybe(ToolOutputSchema)
})
/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type Tool = typeof Tool.Type

export {
  /** What a prompt message or a tool result is made of (server/tools, Tool Result). */
  ContentBlock,
  /** Who a side says it is (basic/index, _meta). */
  Implementation,
  /** A prompt as it is listed (server/prompts, Prompt). */
  Prompt,
  /** One message of a prompt (server/prompts, PromptMessage). */
  PromptMessage,
  /** A resource as it is listed (server/resources, Resource). */
  Resource,
  /** A template of resources as it is listed (server/resources, Resource Templates). */
  ResourceTemplate
} from "./V20251125.ts"

// ---- discovery and listening

/**
 * What a server speaks and can do (server/discover).
 *
 * @category schemas
 * @since 0.1.0
 */
export const DiscoverResult = open({
  ...cacheable,
  supportedVersions: strings,
  capabilities: ServerCapabilities,
  instructions: maybe(Schema.String)
})
/**
 * What a server speaks and can do (server/discover).
 *
 * @category models
 * @since 0.1.0
 */
export type DiscoverResult = typeof DiscoverResult.Type

/**
 * What is listened to (basic/patterns/subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubscriptionFilter = open({
  toolsListChanged: maybe(Schema.Boolean),
  promptsListChanged: maybe(Schema.Boolean),
  resourcesListChanged: maybe(Schema.Boolean),
  resourceSubscriptions: maybe(strings)
})
/**
 * What is listened to (basic/patterns/subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type SubscriptionFilter = typeof SubscriptionFilter.Type

/**
 * The opening of a stream of notifications (basic/patterns/subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenParams = open({ ...asked, notifications: SubscriptionFilter })
/**
 * The opening of a stream of notifications (basic/patterns/subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type ListenParams = typeof ListenParams.Type

/**
 * The end of a stream of notifications (basic/patterns/subscriptions, Graceful Closure).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenResult = open({
  resultType: Schema.Literal("complete"),
  _meta: extend(ResultMeta, { [names.subscriptionId]: First.RequestId })
})
/**
 * The end of a stream of notifications (basic/patterns/subscriptions, Graceful Closure).
 *
 * @category models
 * @since 0.1.0
 */
export type ListenResult = typeof ListenResult.Type

/**
 * What of the filter is kept to (basic/patterns/subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AcknowledgedParams = open({ ...told, notifications: SubscriptionFilter })
/**
 * What of the filter is kept to (basic/patterns/subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type AcknowledgedParams = typeof AcknowledgedParams.Type

// ---- what servers ask, inside results

/**
 * What the tool gave the model (client/sampling, Sampling with Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResultContent = extend(Before.ToolResultContent, { structuredContent: maybe(Schema.Unknown) })
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
  Elicited.TextContent,
  Elicited.ImageContent,
  Elicited.AudioContent,
  Before.ToolUseContent,
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
export const SamplingMessage = extend(Before.SamplingMessage, { content: SamplingContent })
/**
 * A message of a conversation with a model (client/sampling, Message Content).
 *
 * @category models
 * @since 0.1.0
 */
export type SamplingMessage = typeof SamplingMessage.Type

/**
 * What a model is asked (client/sampling, Creating Messages).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateMessageParams = open({
  ...Struct.omit(Before.CreateMessageParams.schema.fields, ["task", "_meta"]),
  messages: Schema.Array(SamplingMessage),
  tools: maybe(Schema.Array(Tool))
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
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListRootsResult = open({ roots: Schema.Array(Elicited.Root) })
/**
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category models
 * @since 0.1.0
 */
export type ListRootsResult = typeof ListRootsResult.Type

/**
 * A form that a person is asked to fill in (client/elicitation, Form Mode).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitFormParams = open(
  Struct.omit(Before.ElicitFormParams.schema.fields, ["task", "_meta"])
)
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
export const ElicitUrlParams = open(
  Struct.omit(Before.ElicitUrlParams.schema.fields, ["task", "_meta", "elicitationId"])
)
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
export const ElicitResult = open(Struct.omit(Before.ElicitResult.schema.fields, ["_meta"]))
/**
 * What the person did with it (client/elicitation, Response Actions).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitResult = typeof ElicitResult.Type

/**
 * What a server asks before it goes on (basic/patterns/mrtr).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequest = Schema.Union([
  open({ method: Schema.Literal("sampling/createMessage"), params: CreateMessageParams }),
  open({ method: Schema.Literal("roots/list"), params: maybe(open({ _meta: maybe(First.Meta) })) }),
  open({ method: Schema.Literal("elicitation/create"), params: ElicitParams })
])
/**
 * What a server asks before it goes on (basic/patterns/mrtr).
 *
 * @category models
 * @since 0.1.0
 */
export type InputRequest = typeof InputRequest.Type

/**
 * What a server asks, by keys of its own (basic/patterns/mrtr).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequests = Schema.Record(Schema.String, InputRequest)
/**
 * What a server asks, by keys of its own (basic/patterns/mrtr).
 *
 * @category models
 * @since 0.1.0
 */
export type InputRequests = typeof InputRequests.Type

/**
 * What it is answered, by the same keys (basic/patterns/mrtr).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputResponses = Schema.Record(
  Schema.String,
  Schema.Union([CreateMessageResult, ListRootsResult, ElicitResult])
)
/**
 * What it is answered, by the same keys (basic/patterns/mrtr).
 *
 * @category models
 * @since 0.1.0
 */
export type InputResponses = typeof InputResponses.Type

/**
 * That a request is to be sent again with answers, with the state, or with both (basic/patterns/mrtr).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequiredResult = open({
  resultType: Schema.Literal("input_required"),
  inputRequests: maybe(InputRequests),
  requestState: maybe(Schema.String),
  _meta: maybe(ResultMeta)
})
/**
 * That a request is to be sent again with answers, with the state, or with both (basic/patterns/mrtr).
 *
 * @category models
 * @since 0.1.0
 */
export type InputRequiredResult = typeof InputRequiredResult.Type

const again = { ...asked, inputResponses: maybe(InputResponses), requestState: maybe(Schema.String) } as const

// ---- tools, resources, prompts

/**
 * Which page of a listing is asked for (server/utilities/pagination).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListParams = extend(First.ListParams, asked)
/**
 * Which page of a listing is asked for (server/utilities/pagination).
 *
 * @category models
 * @since 0.1.0
 */
export type ListParams = typeof ListParams.Type

/**
 * A page of a listing, and how long it may be kept (server/tools, Listing Tools).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListToolsResult = extend(Before.ListToolsResult, { ...cacheable, tools: Schema.Array(Tool) })
/**
 * A page of a listing, and how long it may be kept (server/tools, Listing Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type ListToolsResult = typeof ListToolsResult.Type

/**
 * A page of a listing, and how long it may be kept (server/resources, Listing Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResourcesResult = extend(Before.ListResourcesResult, cacheable)
/**
 * A page of a listing, and how long it may be kept (server/resources, Listing Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ListResourcesResult = typeof ListResourcesResult.Type

/**
 * A page of a listing, and how long it may be kept (server/resources, Resource Templates).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResourceTemplatesResult = extend(Before.ListResourceTemplatesResult, cacheable)
/**
 * A page of a listing, and how long it may be kept (server/resources, Resource Templates).
 *
 * @category models
 * @since 0.1.0
 */
export type ListResourceTemplatesResult = typeof ListResourceTemplatesResult.Type

/**
 * A page of a listing, and how long it may be kept (server/prompts, Listing Prompts).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListPromptsResult = extend(Before.ListPromptsResult, cacheable)
/**
 * A page of a listing, and how long it may be kept (server/prompts, Listing Prompts).
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
export const CallToolParams = extend(First.CallToolParams, again)
/**
 * The call of a tool (server/tools, Calling Tools).
 *
 * @category models
 * @since 0.1.0
 */
export type CallToolParams = typeof CallToolParams.Type

/**
 * What a tool gave, also as data of any type, or that it failed (server/tools, Structured Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallToolResult = extend(Before.CallToolResult, {
  ...complete,
  structuredContent: maybe(Schema.Unknown)
})
/**
 * What a tool gave, also as data of any type, or that it failed (server/tools, Structured Content).
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
export const ReadResourceParams = extend(First.ResourceParams, again)
/**
 * Which resource is meant (server/resources, Reading Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ReadResourceParams = typeof ReadResourceParams.Type

/**
 * What a resource contains, and how long it may be kept (server/resources, Reading Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadResourceResult = extend(Elicited.ReadResourceResult, cacheable)
/**
 * What a resource contains, and how long it may be kept (server/resources, Reading Resources).
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
export const GetPromptParams = extend(First.GetPromptParams, again)
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
export const GetPromptResult = extend(Before.GetPromptResult, complete)
/**
 * A prompt filled in (server/prompts, Getting a Prompt).
 *
 * @category models
 * @since 0.1.0
 */
export type GetPromptResult = typeof GetPromptResult.Type

/**
 * What is to be completed (server/utilities/completion, Requesting Completions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteParams = extend(Elicited.CompleteParams, asked)
/**
 * What is to be completed (server/utilities/completion, Requesting Completions).
 *
 * @category models
 * @since 0.1.0
 */
export type CompleteParams = typeof CompleteParams.Type

/**
 * How it may go on (server/utilities/completion, Completion Results).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteResult = extend(First.CompleteResult, complete)
/**
 * How it may go on (server/utilities/completion, Completion Results).
 *
 * @category models
 * @since 0.1.0
 */
export type CompleteResult = typeof CompleteResult.Type

/**
 * That a request is no longer wanted (basic/utilities/cancellation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CancelledParams = extend(First.CancelledParams, told)
/**
 * That a request is no longer wanted (basic/utilities/cancellation).
 *
 * @category models
 * @since 0.1.0
 */
export type CancelledParams = typeof CancelledParams.Type

/**
 * How far a request has come (basic/utilities/progress).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProgressParams = extend(Before.params["notifications/progress"], told)
/**
 * How far a request has come (basic/utilities/progress).
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressParams = typeof ProgressParams.Type

/**
 * A log message (server/utilities/logging, Log Message Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const LoggingMessageParams = extend(First.LoggingMessageParams, told)
/**
 * A log message (server/utilities/logging, Log Message Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type LoggingMessageParams = typeof LoggingMessageParams.Type

/**
 * That a resource changed (server/resources, Subscriptions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceUpdatedParams = extend(First.ResourceUpdatedParams, told)
/**
 * That a resource changed (server/resources, Subscriptions).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceUpdatedParams = typeof ResourceUpdatedParams.Type

// ---- by method

/**
 * The params of every method, of requests and of notifications.
 *
 * @category tables
 * @since 0.1.0
 */
export const params = {
  "server/discover": NoParams,
  "tools/list": ListParams,
  "tools/call": CallToolParams,
  "resources/list": ListParams,
  "resources/templates/list": ListParams,
  "resources/read": ReadResourceParams,
  "prompts/list": ListParams,
  "prompts/get": GetPromptParams,
  "completion/complete": CompleteParams,
  "subscriptions/listen": ListenParams,
  "notifications/cancelled": CancelledParams,
  "notifications/progress": ProgressParams,
  "notifications/message": LoggingMessageParams,
  "notifications/tools/list_changed": NoDetails,
  "notifications/prompts/list_changed": NoDetails,
  "notifications/resources/list_changed": NoDetails,
  "notifications/resources/updated": ResourceUpdatedParams,
  "notifications/subscriptions/acknowledged": AcknowledgedParams
}

/**
 * The result of every request; of those that may ask back, also that.
 *
 * @category tables
 * @since 0.1.0
 */
export const results = {
  "server/discover": DiscoverResult,
  "tools/list": ListToolsResult,
  "tools/call": Schema.Union([CallToolResult, InputRequiredResult]),
  "resources/list": ListResourcesResult,
  "resources/templates/list": ListResourceTemplatesResult,
  "resources/read": Schema.Union([ReadResourceResult, InputRequiredResult]),
  "prompts/list": ListPromptsResult,
  "prompts/get": Schema.Union([GetPromptResult, InputRequiredResult]),
  "completion/complete": CompleteResult,
  "subscriptions/listen": ListenResult
}

/**
 * The params of what servers ask inside results.
 *
 * @category tables
 * @since 0.1.0
 */
export const embeddedParams = {
  "sampling/createMessage": CreateMessageParams,
  "roots/list": open({ _meta: maybe(First.Meta) }),
  "elicitation/create": ElicitParams
}

/**
 * What that is answered with.
 *
 * @category tables
 * @since 0.1.0
 */
export const embeddedResults = {
  "sampling/createMessage": CreateMessageResult,
  "roots/list": ListRootsResult,
  "elicitation/create": ElicitResult
}
