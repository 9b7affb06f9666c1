/**
 * The params and results of 2025-03-26, as differences from 2024-11-05: audio, annotations of tools, the message of
 * progress, the capability to complete (schema and changelog of that revision).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { extend, open } from "./Shape.ts"
import * as Before from "./V20241105.ts"

const maybe = Schema.optionalKey

/**
 * Audio in base64 (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AudioContent = open({
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String,
  annotations: maybe(Before.Annotations)
})
/**
 * Audio in base64 (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type AudioContent = typeof AudioContent.Type

/**
 * What a prompt message or a tool result is made of: also audio (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContentBlock = Schema.Union([
  Before.TextContent,
  Before.ImageContent,
  AudioContent,
  Before.EmbeddedResource
])
/**
 * What a prompt message or a tool result is made of: also audio (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ContentBlock = typeof ContentBlock.Type

/**
 * What a tool says of itself; hints only (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolAnnotations = open({
  title: maybe(Schema.String),
  readOnlyHint: maybe(Schema.Boolean),
  destructiveHint: maybe(Schema.Boolean),
  idempotentHint: maybe(Schema.Boolean),
  openWorldHint: maybe(Schema.Boolean)
})
/**
 * What a tool says of itself; hints only (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type ToolAnnotations = typeof ToolAnnotations.Type

/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = extend(Before.Tool, { annotations: maybe(ToolAnnotations) })
/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type Tool = typeof Tool.Type

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

/**
 * What a server declares: also completions (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerCapabilities = extend(Before.ServerCapabilities, { completions: maybe(open({})) })
/**
 * What a server declares: also completions (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

/**
 * The answer that settles revision and capabilities (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeResult = extend(Before.InitializeResult, { capabilities: ServerCapabilities })
/**
 * The answer that settles revision and capabilities (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type InitializeResult = typeof InitializeResult.Type

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
 * How far a request has come, also in words (basic/utilities/progress).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProgressParams = extend(Before.ProgressParams, { message: maybe(Schema.String) })
/**
 * How far a request has come, also in words (basic/utilities/progress).
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressParams = typeof ProgressParams.Type

/**
 * What a message of a conversation with a model is made of (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingContent = Schema.Union([Before.TextContent, Before.ImageContent, AudioContent])
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
export const CreateMessageParams = extend(Before.CreateMessageParams, { messages: Schema.Array(SamplingMessage) })
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
 * The params of every method, of requests and of notifications.
 *
 * @category tables
 * @since 0.1.0
 */
export const params = {
  ...Before.params,
  "sampling/createMessage": CreateMessageParams,
  "notifications/progress": ProgressParams
}

/**
 * The result of every request.
 *
 * @category tables
 * @since 0.1.0
 */
export const results = {
  ...Before.results,
  "initialize": InitializeResult,
  "tools/list": ListToolsResult,
  "tools/call": CallToolResult,
  "prompts/get": GetPromptResult,
  "sampling/createMessage": CreateMessageResult
}
