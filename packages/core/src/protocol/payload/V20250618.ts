/**
 * The params and results of 2025-06-18, as differences from 2025-03-26: elicitation, structured content, links to
 * resources, titles, metadata of items, the context of a completion (schema and changelog of that revision).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { extend, open } from "./Shape.ts"
import * as First from "./V20241105.ts"
import * as Before from "./V20250326.ts"

const maybe = Schema.optionalKey
const strings = Schema.Array(Schema.String)
const title = { title: maybe(Schema.String) } as const
const described = { ...title, description: maybe(Schema.String) } as const
const meta = { _meta: maybe(First.Meta) } as const

// ---- content

/**
 * For whom content is, how much it matters, and when it changed (server/resources, Annotations).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = extend(First.Annotations, { lastModified: maybe(Schema.String) })
/**
 * For whom content is, how much it matters, and when it changed (server/resources, Annotations).
 *
 * @category models
 * @since 0.1.0
 */
export type Annotations = typeof Annotations.Type

const annotated = { annotations: maybe(Annotations), ...meta } as const

/**
 * Text (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextContent = extend(First.TextContent, annotated)
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
export const ImageContent = extend(First.ImageContent, annotated)
/**
 * An image in base64 (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ImageContent = typeof ImageContent.Type

/**
 * Audio in base64 (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AudioContent = extend(Before.AudioContent, annotated)
/**
 * Audio in base64 (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type AudioContent = typeof AudioContent.Type

/**
 * The content of a resource, as text (server/resources, Resource Contents).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextResourceContents = extend(First.TextResourceContents, meta)
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
export const BlobResourceContents = extend(First.BlobResourceContents, meta)
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
export const EmbeddedResource = extend(First.EmbeddedResource, { ...annotated, resource: ResourceContents })
/**
 * A resource with its content (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type EmbeddedResource = typeof EmbeddedResource.Type

/**
 * A resource as it is listed (server/resources, Resource).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Resource = extend(First.Resource, { ...annotated, ...title })
/**
 * A resource as it is listed (server/resources, Resource).
 *
 * @category models
 * @since 0.1.0
 */
export type Resource = typeof Resource.Type

/**
 * A resource without its content (server/tools, Resource Links).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceLink = extend(Resource, { type: Schema.Literal("resource_link") })
/**
 * A resource without its content (server/tools, Resource Links).
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceLink = typeof ResourceLink.Type

/**
 * What a prompt message or a tool result is made of: also links (server/tools, Tool Result).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ContentBlock = Schema.Union([
  TextContent,
  ImageContent,
  AudioContent,
  ResourceLink,
  EmbeddedResource
])
/**
 * What a prompt message or a tool result is made of: also links (server/tools, Tool Result).
 *
 * @category models
 * @since 0.1.0
 */
export type ContentBlock = typeof ContentBlock.Type

// ---- what is offered

/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = extend(First.Implementation, title)
/**
 * Who a side says it is (basic/lifecycle, Initialization).
 *
 * @category models
 * @since 0.1.0
 */
export type Implementation = typeof Implementation.Type

/**
 * The JSON schema of structured content (server/tools, Output Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolOutputSchema = First.ToolInputSchema
/**
 * The JSON schema of structured content (server/tools, Output Schema).
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
export const Tool = extend(Before.Tool, { ...title, ...meta, outputSchema: maybe(ToolOutputSchema) })
/**
 * A tool as it is listed (server/tools, Tool).
 *
 * @category models
 * @since 0.1.0
 */
export type Tool = typeof Tool.Type

/**
 * A template of resources as it is listed (server/resources, Resource Templates).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceTemplate = extend(First.ResourceTemplate, { ...annotated, ...title })
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
export const PromptArgument = extend(First.PromptArgument, title)
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
export const Prompt = extend(First.Prompt, { ...title, ...meta, arguments: maybe(Schema.Array(PromptArgument)) })
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
export const PromptMessage = extend(Before.PromptMessage, { content: ContentBlock })
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
export const Root = extend(First.Root, meta)
/**
 * A folder that the client works in (client/roots, Root).
 *
 * @category models
 * @since 0.1.0
 */
export type Root = typeof Root.Type

// ---- lifecycle

/**
 * What a client declares: also elicitation (basic/lifecycle, Capability Negotiation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientCapabilities = extend(First.ClientCapabilities, { elicitation: maybe(open({})) })
/**
 * What a client declares: also elicitation (basic/lifecycle, Capability Negotiation).
 *
 * @category models
 * @since 0.1.0
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * The opening of a session (basic/lifecycle, Initialization).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeParams = extend(First.InitializeParams, {
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
export const InitializeResult = extend(Before.InitializeResult, { serverInfo: Implementation })
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
export const ListResourcesResult = extend(First.ListResourcesResult, { resources: Schema.Array(Resource) })
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
export const ListResourceTemplatesResult = extend(First.ListResourceTemplatesResult, {
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
export const ListPromptsResult = extend(First.ListPromptsResult, { prompts: Schema.Array(Prompt) })
/**
 * A page of a listing (server/prompts, Listing Prompts).
 *
 * @category models
 * @since 0.1.0
 */
export type ListPromptsResult = typeof ListPromptsResult.Type

/**
 * What a tool gave, also as data, or that it failed (server/tools, Structured Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallToolResult = extend(Before.CallToolResult, {
  content: Schema.Array(ContentBlock),
  structuredContent: maybe(open({}))
})
/**
 * What a tool gave, also as data, or that it failed (server/tools, Structured Content).
 *
 * @category models
 * @since 0.1.0
 */
export type CallToolResult = typeof CallToolResult.Type

/**
 * What a resource contains (server/resources, Reading Resources).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadResourceResult = extend(First.ReadResourceResult, { contents: Schema.Array(ResourceContents) })
/**
 * What a resource contains (server/resources, Reading Resources).
 *
 * @category models
 * @since 0.1.0
 */
export type ReadResourceResult = typeof ReadResourceResult.Type

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

// ---- utilities

/**
 * That a prompt is to be completed (server/utilities/completion, Reference Types).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptReference = extend(First.PromptReference, title)
/**
 * That a prompt is to be completed (server/utilities/completion, Reference Types).
 *
 * @category models
 * @since 0.1.0
 */
export type PromptReference = typeof PromptReference.Type

/**
 * What is to be completed, and what was filled in before (server/utilities/completion, Requesting Completions).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteParams = extend(First.CompleteParams, {
  ref: Schema.Union([PromptReference, First.ResourceReference]),
  context: maybe(open({ arguments: maybe(Schema.Record(Schema.String, Schema.String)) }))
})
/**
 * What is to be completed, and what was filled in before (server/utilities/completion, Requesting Completions).
 *
 * @category models
 * @since 0.1.0
 */
export type CompleteParams = typeof CompleteParams.Type

// ---- what servers ask

/**
 * What a message of a conversation with a model is made of (client/sampling, Message Content).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingContent = Schema.Union([TextContent, ImageContent, AudioContent])
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
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListRootsResult = extend(First.ListRootsResult, { roots: Schema.Array(Root) })
/**
 * The folders that the client works in (client/roots, Listing Roots).
 *
 * @category models
 * @since 0.1.0
 */
export type ListRootsResult = typeof ListRootsResult.Type

/**
 * A field for text (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const StringSchema = open({
  ...described,
  type: Schema.Literal("string"),
  minLength: maybe(Schema.Int),
  maxLength: maybe(Schema.Int),
  format: maybe(Schema.Literals(["email", "uri", "date", "date-time"]))
})
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
export const NumberSchema = open({
  ...described,
  type: Schema.Literals(["number", "integer"]),
  minimum: maybe(Schema.Finite),
  maximum: maybe(Schema.Finite)
})
/**
 * A field for a number (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type NumberSchema = typeof NumberSchema.Type

/**
 * A field for yes or no (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const BooleanSchema = open({
  ...described,
  type: Schema.Literal("boolean"),
  default: maybe(Schema.Boolean)
})
/**
 * A field for yes or no (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type BooleanSchema = typeof BooleanSchema.Type

/**
 * A field for one of some values (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const EnumSchema = open({
  ...described,
  type: Schema.Literal("string"),
  enum: strings,
  enumNames: maybe(strings)
})
/**
 * A field for one of some values (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type EnumSchema = typeof EnumSchema.Type

/**
 * A field of a form (client/elicitation, Requested Schema).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PrimitiveSchema = Schema.Union([EnumSchema, StringSchema, NumberSchema, BooleanSchema])
/**
 * A field of a form (client/elicitation, Requested Schema).
 *
 * @category models
 * @since 0.1.0
 */
export type PrimitiveSchema = typeof PrimitiveSchema.Type

/**
 * A form that a person is asked to fill in (client/elicitation, Creating Elicitation Requests).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitParams = open({
  message: Schema.String,
  requestedSchema: open({
    type: Schema.Literal("object"),
    properties: Schema.Record(Schema.String, PrimitiveSchema),
    required: maybe(strings)
  }),
  _meta: maybe(First.RequestMeta)
})
/**
 * A form that a person is asked to fill in (client/elicitation, Creating Elicitation Requests).
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
export const ElicitResult = open({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: maybe(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]))),
  ...meta
})
/**
 * What the person did with it (client/elicitation, Response Actions).
 *
 * @category models
 * @since 0.1.0
 */
export type ElicitResult = typeof ElicitResult.Type

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
  "completion/complete": CompleteParams,
  "sampling/createMessage": CreateMessageParams,
  "elicitation/create": ElicitParams
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
  "resources/list": ListResourcesResult,
  "resources/templates/list": ListResourceTemplatesResult,
  "resources/read": ReadResourceResult,
  "prompts/list": ListPromptsResult,
  "prompts/get": GetPromptResult,
  "sampling/createMessage": CreateMessageResult,
  "roots/list": ListRootsResult,
  "elicitation/create": ElicitResult
}
