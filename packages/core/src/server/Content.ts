/**
 * What tools and prompts answer with: blocks of text, image, audio and resources.
 *
 * @since 0.1.0
 */
import * as Base64 from "effect/encoding/Base64"
import * as Feature from "../protocol/Feature.ts"
import type { Revision } from "../protocol/Revision.ts"
import type { JsonObject } from "./Definition.ts"

/**
 * For whom a block is, and how much it matters.
 *
 * @category models
 * @since 0.1.0
 */
export interface Annotations {
  readonly audience?: ReadonlyArray<"user" | "assistant"> | undefined
  readonly priority?: number | undefined
  readonly lastModified?: string | undefined
}

interface Block {
  readonly annotations?: Annotations | undefined
  readonly _meta?: JsonObject | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface TextContent extends Block {
  readonly type: "text"
  readonly text: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ImageContent extends Block {
  readonly type: "image"
  readonly data: string
  readonly mimeType: string
}

/**
 * @category models
 * @since 0.1.0
 */
export interface AudioContent extends Block {
  readonly type: "audio"
  readonly data: string
  readonly mimeType: string
}

/**
 * What a resource holds: text, or bytes in base64.
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceContents =
  & { readonly uri: string; readonly mimeType?: string | undefined; readonly _meta?: JsonObject | undefined }
  & ({ readonly text: string } | { readonly blob: string })

/**
 * @category models
 * @since 0.1.0
 */
export interface EmbeddedResource extends Block {
  readonly type: "resource"
  readonly resource: ResourceContents
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ResourceLink extends Block {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly mimeType?: string | undefined
  readonly size?: number | undefined
}

/**
 * Any block.
 *
 * @category models
 * @since 0.1.0
 */
export type Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink

const base64 = (data: string | Uint8Array): string => typeof data === "string" ? data : Base64.encode(data)

/**
 * A text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string, more: Block = {}): TextContent => ({ type: "text", text, ...more })

/**
 * An image: bytes, or their base64.
 *
 * @category constructors
 * @since 0.1.0
 */
export const image = (data: string | Uint8Array, mimeType: string, more: Block = {}): ImageContent => ({
  type: "image",
  data: base64(data),
  mimeType,
  ...more
})

/**
 * A sound: bytes, or their base64.
 *
 * @category constructors
 * @since 0.1.0
 */
export const audio = (data: string | Uint8Array, mimeType: string, more: Block = {}): AudioContent => ({
  type: "audio",
  data: base64(data),
  mimeType,
  ...more
})

/**
 * The contents of a resource, given as text or as bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contents = (uri: string, body: string | Uint8Array, mimeType?: string): ResourceContents => ({
  uri,
  ...(mimeType === undefined ? {} : { mimeType }),
  ...(typeof body === "string" ? { text: body } : { blob: base64(body) })
})

/**
 * A resource with its contents.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resource = (
  uri: string,
  body: string | Uint8Array,
  mimeType?: string,
  more: Block = {}
): EmbeddedResource => ({ type: "resource", resource: contents(uri, body, mimeType), ...more })

/**
 * A resource by its address.
 *
 * @category constructors
 * @since 0.1.0
 */
export const link = (
  uri: string,
  name: string,
  more: Omit<ResourceLink, "type" | "uri" | "name"> = {}
): ResourceLink => ({
  type: "resource_link",
  uri,
  name,
  ...more
})

/**
 * The block as a revision has it: one that came later is told of in text, since clients refuse a block that they do not
 * know.
 *
 * @category conversions
 * @since 0.1.0
 */
export const forRevision = (content: Content, revision: Revision): Content => {
  if (content.type === "audio" && !Feature.isDefined("audio-content", revision)) {
    return text(`[audio, ${content.mimeType}]`)
  }
  if (content.type === "resource_link" && !Feature.isDefined("resource-links", revision)) {
    return text(`${content.name}: ${content.uri}`)
  }
  if (Feature.isDefined("item-metadata", revision)) return content
  const { _meta: _, ...older } = content
  return older
}
