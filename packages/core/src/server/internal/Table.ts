/**
 * The parts of a server, in the order in which they came, and their listings.
 *
 * @since 0.1.0
 */
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import type { Revision } from "../../protocol/Revision.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import type { Client } from "../Client.ts"
import { keyOf, type Single } from "../Part.ts"
import type { Named, Registry } from "../Registry.ts"

/**
 * A part whose own services are provided.
 *
 * @category models
 * @since 0.1.0
 */
export type Own = Single<Client | Registry>

/**
 * What can be listed, and announced as changed.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "tools" | "resources" | "prompts"

/**
 * The kind under which a part is announced.
 *
 * @category getters
 * @since 0.1.0
 */
export const kindOf = (part: { readonly _tag: Own["_tag"] }): Kind | undefined => kinds[part._tag]

const kinds = {
  Tool: "tools",
  Prompt: "prompts",
  Resource: "resources",
  ResourceTemplate: "resources",
  Method: undefined
} as const

interface Entry<A> {
  readonly serial: number
  readonly part: A
}

type Of<Tag extends Own["_tag"]> = Extract<Own, { readonly _tag: Tag }>

/**
 * @category models
 * @since 0.1.0
 */
export interface Table {
  readonly tools: ReadonlyMap<string, Entry<Of<"Tool">>>
  readonly resources: ReadonlyMap<string, Entry<Of<"Resource">>>
  readonly templates: ReadonlyMap<string, Entry<Of<"ResourceTemplate">>>
  readonly prompts: ReadonlyMap<string, Entry<Of<"Prompt">>>
  readonly methods: ReadonlyMap<string, Entry<Of<"Method">>>
  /** Whether a part of this name is there. */
  readonly has: (part: Own) => boolean
  readonly put: (part: Own) => void
  readonly drop: (part: Named) => boolean
  readonly offers: (kind: Kind) => boolean
  readonly completes: () => boolean
  /** Whether a tool may run as a task. */
  readonly runsTasks: () => boolean
  /** The members of a page, or `undefined` where the cursor is none of ours. */
  readonly page: (
    list: "tools" | "resources" | "resourceTemplates" | "prompts",
    revision: Revision,
    cursor: Text | undefined,
    size: number
  ) => ReadonlyArray<readonly [name: string, value: Text]> | undefined
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (expects: ReadonlyArray<Kind>): Table => {
  const tools = new Map<string, Entry<Of<"Tool">>>()
  const resources = new Map<string, Entry<Of<"Resource">>>()
  const templates = new Map<string, Entry<Of<"ResourceTemplate">>>()
  const prompts = new Map<string, Entry<Of<"Prompt">>>()
  const methods = new Map<string, Entry<Of<"Method">>>()
  const lists = { tools, resources, resourceTemplates: templates, prompts }
  const maps = { Tool: tools, Resource: resources, ResourceTemplate: templates, Prompt: prompts, Method: methods }
  let serial = 0

  const set = <A extends Own>(map: Map<string, Entry<A>>, part: A): void => {
    // What takes the place of another keeps it, so that a listing keeps its order and its cursors.
    const before = map.get(keyOf(part))
    map.set(keyOf(part), { serial: before?.serial ?? serial++, part })
  }
  const put = (part: Own): void => {
    switch (part._tag) {
      case "Tool":
        return set(tools, part)
      case "Resource":
        return set(resources, part)
      case "ResourceTemplate":
        return set(templates, part)
      case "Prompt":
        return set(prompts, part)
      case "Method":
        return set(methods, part)
    }
  }
  const nameOf = (part: Named): string =>
    part._tag === "Resource" ? part.uri : part._tag === "ResourceTemplate" ? part.uriTemplate : part.name

  /** The serial number behind which a page begins. */
  const after = (list: keyof typeof lists, cursor: Text | undefined): number | undefined => {
    if (cursor === undefined) return -1
    const text = T.string(cursor)
    const decoded = text === undefined ? undefined : Result.getOrElse(Base64Url.decodeString(text), () => "")
    const found = decoded === undefined ? null : /^(\w+):(0|[1-9]\d{0,15})$/.exec(decoded)
    return found?.[1] === list && Number(found[2]) < serial && Base64Url.encode(decoded ?? "") === text
      ? Number(found[2])
      : undefined
  }

  return {
    tools,
    resources,
    templates,
    prompts,
    methods,
    has: (part) => maps[part._tag].has(keyOf(part)),
    put,
    drop: (part) => maps[part._tag].delete(nameOf(part)),
    offers: (kind) =>
      expects.includes(kind) ||
      (kind === "resources" ? resources.size > 0 || templates.size > 0 : lists[kind].size > 0),
    completes: () => [...prompts.values(), ...templates.values()].some(({ part }) => part.completions.size > 0),
    runsTasks: () => [...tools.values()].some(({ part }) => part.task !== undefined),
    page: (list, revision, cursor, size) => {
      const from = after(list, cursor)
      if (from === undefined) return undefined
      const texts: Array<Text> = []
      let last = from
      let more = false
      for (const { part, serial } of lists[list].values()) {
        if (serial <= from) continue
        more = texts.length >= size
        if (more) break
        texts.push(part.definition(revision))
        last = serial
      }
      return [
        [list, T.array(texts)],
        ...(more ? [["nextCursor", T.quote(Base64Url.encode(`${list}:${last}`))] as const] : [])
      ]
    }
  }
}
