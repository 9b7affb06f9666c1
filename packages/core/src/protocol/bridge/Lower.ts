/**
 * From a newer legacy revision, or from the modern one, to an older: what the older has no form for is lowered.
 *
 * **Details**
 *
 * Each piece is a row of {@link rows} and says what it lowered; a value that needs nothing is given back as it is, with
 * every character. In strict mode nothing is lowered: what would have been is withheld ({@link exactly}), a tool from its
 * listing, a result by an error ({@link untranslatable}).
 *
 * @since 0.1.0
 */
import type { Failure, Text } from "../../wire/Message.ts"
import * as Reason from "../../wire/Reason.ts"
import * as T from "../../wire/Text.ts"
import * as Write from "../../wire/Write.ts"
import type * as Revision from "../Revision.ts"

/**
 * A row: what an older peer has no form for, the first revision that has one, and what is done.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly what: string
  readonly first: Revision.Revision
  readonly does: string
}

/**
 * Every feature that is lowered between revisions, by name (each revision's changelog).
 *
 * @category tables
 * @since 0.1.0
 */
export const rows = {
  "audio": { what: "an audio block", first: "2025-03-26", does: "becomes an embedded resource with the same data" },
  "resource-link": { what: "a resource link", first: "2025-06-18", does: "becomes a text with its name and uri" },
  "structured-content": {
    what: "structuredContent and outputSchema",
    first: "2025-06-18",
    does: "left out; a result without content gets it as text"
  },
  "structured-value": {
    what: "structuredContent that is no object, and its outputSchema",
    first: "2026-07-28",
    does: "both are wrapped as {result: ...}"
  },
  "boolean-schema": {
    what: "a property whose schema is true or false",
    first: "2026-07-28",
    does: "becomes {} or {not: {}}"
  },
  "execution": {
    what: "a tool's execution",
    first: "2025-11-25",
    does: "left out; a tool that is only a task is hidden"
  },
  "progress-message": { what: "the message of a progress", first: "2025-03-26", does: "left out" },
  "completion-context": { what: "the context of a completion", first: "2025-06-18", does: "left out" },
  "sampling-content": {
    what: "a list of blocks in a sampling message",
    first: "2025-11-25",
    does: "one block goes alone; more cannot be asked"
  },
  "form-choice": { what: "a titled choice in a form", first: "2025-11-25", does: "becomes enum and enumNames" },
  "form-list": {
    what: "a choice of several in a form",
    first: "2025-11-25",
    does: "cannot be asked: the answer is cancel"
  },
  "form-default": { what: "a default in a form", first: "2025-11-25", does: "left out" }
} as const satisfies Readonly<Record<string, Row>>

/**
 * The name of a row.
 *
 * @category models
 * @since 0.1.0
 */
export type Name = keyof typeof rows

/**
 * Where it is told what was lowered.
 *
 * @category models
 * @since 0.1.0
 */
export type Tell = (name: Name) => void

/**
 * What `lower` gives, or in strict mode `undefined` where anything would have been lowered for it.
 *
 * @category lowering
 * @since 0.1.0
 */
export const exactly = <A>(strict: boolean, tell: Tell, lower: (tell: Tell) => A): A | undefined => {
  let lowered = false
  const given = lower((name) => {
    lowered = true
    tell(name)
  })
  return strict && lowered ? undefined : given
}

/**
 * What a request is answered with in strict mode that would have needed lowering: it itself, or its result.
 *
 * @category constructors
 * @since 0.1.0
 */
export const untranslatable = (server: string, what: "request" | "result"): Failure => {
  const { code, remedy, says } = Reason.table["not-translatable"]
  const more = what === "request" ? "the request was not sent" : "the request itself was carried out"
  return Write.failure(
    code,
    `Sallyport: ${says} (${more}); ${remedy}.`,
    T.object([["reason", T.quote("not-translatable")], ["server", T.quote(server)]])
  )
}

const lacks = (name: Name, to: Revision.Revision): boolean => to < rows[name].first

const typeOf = (block: Text): string | undefined => {
  const type = T.member(block, "type")
  return type === undefined ? undefined : T.string(type)
}

const textBlock = (text: string): Text => T.object([["type", T.quote("text")], ["text", T.quote(text)]])

/** The array with each element passed through; itself where none changes. */
const each = (list: Text, change: (element: Text) => Text): Text => {
  const all = T.elements(list)
  const changed = all.map(change)
  return changed.every((element, at) => element === all[at]) ? list : T.array(changed)
}

const inMember = (text: Text, name: string, change: (value: Text) => Text): Text => {
  const value = T.member(text, name)
  if (value === undefined) return text
  const changed = change(value)
  return changed === value ? text : T.setMember(text, name, changed)
}

/**
 * A content block for a peer of a revision.
 *
 * @category lowering
 * @since 0.1.0
 */
export const block = (text: Text, to: Revision.Revision, tell: Tell): Text => {
  const type = typeOf(text)
  if (type === "audio" && lacks("audio", to)) {
    tell("audio")
    const data = T.member(text, "data")
    const mime = T.member(text, "mimeType")
    return T.object([
      ["type", T.quote("resource")],
      [
        "resource",
        T.object([
          ["uri", T.quote("urn:sallyport:audio")],
          ...(mime === undefined ? [] : [["mimeType", mime] as const]),
          ["blob", data ?? T.quote("")]
        ])
      ]
    ])
  }
  if (type === "resource_link" && lacks("resource-link", to)) {
    tell("resource-link")
    return textBlock(
      `${T.stringIn(text, "title") ?? T.stringIn(text, "name") ?? "resource"}: ${T.stringIn(text, "uri") ?? ""}`
    )
  }
  return text
}

const blocks = (list: Text, to: Revision.Revision, tell: Tell): Text =>
  each(list, (element) => block(element, to, tell))

/** Pointers into a schema that now stands one level deeper. */
const rebase = (schema: Text): Text => {
  if (T.isArray(schema)) return each(schema, rebase)
  if (!T.isObject(schema)) return schema
  let text = schema
  for (const [name, value] of T.members(schema)) {
    const pointer = name === "$ref" ? T.string(value) : undefined
    const changed = pointer === undefined
      ? rebase(value)
      : pointer === "#" || pointer.startsWith("#/")
      ? T.quote(`#/properties/result${pointer.slice(1)}`)
      : value
    if (changed !== value) text = T.setMember(text, name, changed)
  }
  return text
}

/**
 * Whether the schema of a result says that the result is an object.
 *
 * @category guards
 * @since 0.1.0
 */
export const isObjectSchema = (schema: Text): boolean => {
  const type = T.isObject(schema) ? T.member(schema, "type") : undefined
  return type !== undefined && T.string(type) === "object"
}

const wrapSchema = (schema: Text): Text =>
  T.object([
    ["type", T.quote("object")],
    ["properties", T.object([["result", rebase(schema)]])],
    ["required", T.array([T.quote("result")])]
  ])

/** What a definition of a tool becomes; `undefined` where it has to be hidden. */
const tool = (text: Text, to: Revision.Revision, tell: Tell): Text | undefined => {
  let lowered = text
  const execution = T.member(lowered, "execution")
  if (execution !== undefined && (lacks("execution", to) || to >= "2026-07-28")) {
    if (T.stringIn(execution, "taskSupport") === "required") {
      tell("execution")
      return undefined
    }
    lowered = T.removeMember(lowered, "execution")
  }
  const output = T.member(lowered, "outputSchema")
  if (output !== undefined && lacks("structured-content", to)) {
    tell("structured-content")
    lowered = T.removeMember(lowered, "outputSchema")
  } else if (output !== undefined && lacks("structured-value", to) && !isObjectSchema(output)) {
    tell("structured-value")
    lowered = T.setMember(lowered, "outputSchema", wrapSchema(output))
  }
  if (lacks("boolean-schema", to)) {
    for (const member of ["inputSchema", "outputSchema"]) {
      lowered = inMember(lowered, member, (schema) =>
        inMember(schema, "properties", (properties) => {
          let changed = properties
          for (const [name, value] of T.members(properties)) {
            if (value !== "true" && value !== "false") continue
            tell("boolean-schema")
            changed = T.setMember(changed, name, value === "true" ? T.object([]) : T.object([["not", T.object([])]]))
          }
          return changed
        }))
    }
  }
  return lowered
}

/**
 * The result of a request of the host's, for a host of a revision.
 *
 * **Details**
 *
 * `wraps` says of a tool's name whether its outputSchema was wrapped; a result whose structured content is no object is
 * wrapped in any case.
 *
 * @category lowering
 * @since 0.1.0
 */
export const result = (
  method: string,
  text: Text,
  to: Revision.Revision,
  options: { readonly strict: boolean; readonly wraps: boolean; readonly tell: Tell }
): Text => {
  const { strict, tell } = options
  switch (method) {
    case "tools/list": {
      const list = T.member(text, "tools")
      if (list === undefined || !T.isArray(list)) return text
      const all = T.elements(list)
      const kept = all.map((each) => exactly(strict, tell, (tell) => tool(each, to, tell)))
      return kept.every((each, at) => each === all[at])
        ? text
        : T.setMember(text, "tools", T.array(kept.filter((each) => each !== undefined)))
    }
    case "tools/call": {
      let lowered = inMember(text, "content", (list) => blocks(list, to, tell))
      const structured = T.member(lowered, "structuredContent")
      if (structured === undefined) return lowered
      if (lacks("structured-content", to)) {
        tell("structured-content")
        lowered = T.removeMember(lowered, "structuredContent")
        const content = T.member(lowered, "content")
        return content === undefined || content === "[]"
          ? T.setMember(lowered, "content", T.array([textBlock(structured)]))
          : lowered
      }
      if (lacks("structured-value", to) && (options.wraps || !T.isObject(structured))) {
        tell("structured-value")
        return T.setMember(lowered, "structuredContent", T.object([["result", structured]]))
      }
      return lowered
    }
    case "prompts/get":
      return inMember(
        text,
        "messages",
        (list) => each(list, (message) => inMember(message, "content", (content) => block(content, to, tell)))
      )
    default:
      return text
  }
}

/**
 * The names of the tools of a listing whose outputSchema has to be wrapped for a host of a revision.
 *
 * @category getters
 * @since 0.1.0
 */
export const wrapped = (listing: Text, to: Revision.Revision): ReadonlyArray<string> => {
  const list = T.member(listing, "tools")
  if (list === undefined || !lacks("structured-value", to) || lacks("structured-content", to)) return []
  return T.elements(list).flatMap((each) => {
    const output = T.member(each, "outputSchema")
    const name = T.stringIn(each, "name")
    return output === undefined || name === undefined || isObjectSchema(output) ? [] : [name]
  })
}

/**
 * A progress notification's params for a peer of a revision.
 *
 * @category lowering
 * @since 0.1.0
 */
export const progress = (params: Text, to: Revision.Revision, tell: Tell): Text => {
  if (!lacks("progress-message", to) || T.member(params, "message") === undefined) return params
  tell("progress-message")
  return T.removeMember(params, "message")
}

/**
 * A completion's params for a server of a revision.
 *
 * @category lowering
 * @since 0.1.0
 */
export const completion = (params: Text, to: Revision.Revision, tell: Tell): Text => {
  if (!lacks("completion-context", to) || T.member(params, "context") === undefined) return params
  tell("completion-context")
  return T.removeMember(params, "context")
}

/** One field of a form; `undefined` where the revision has no form for it. */
const field = (schema: Text, tell: Tell): Text | undefined => {
  if (T.stringIn(schema, "type") === "array") {
    tell("form-list")
    return undefined
  }
  let lowered = schema
  const choices = T.member(lowered, "oneOf")
  if (choices !== undefined && T.isArray(choices)) {
    tell("form-choice")
    const all = T.elements(choices)
    const values = all.map((choice) => T.member(choice, "const"))
    const titles = all.map((choice) => T.member(choice, "title"))
    if (!values.every((value) => value !== undefined)) return undefined
    lowered = T.setMember(T.removeMember(lowered, "oneOf"), "enum", T.array(values))
    if (titles.every((title) => title !== undefined)) lowered = T.setMember(lowered, "enumNames", T.array(titles))
  }
  const isBoolean = T.stringIn(lowered, "type") === "boolean"
  if (T.member(lowered, "default") !== undefined && !isBoolean) {
    tell("form-default")
    lowered = T.removeMember(lowered, "default")
  }
  return lowered
}

/**
 * What a server asks, for a host of a revision; `undefined` where it cannot be asked there.
 *
 * @category lowering
 * @since 0.1.0
 */
export const ask = (
  method: string,
  params: Text | undefined,
  to: Revision.Revision,
  tell: Tell
): { readonly params: Text | undefined } | undefined => {
  if (params === undefined || to >= "2025-11-25") return { params }
  if (method === "elicitation/create") {
    if (T.stringIn(params, "mode") === "url") return undefined
    let lowered = T.removeMember(params, "mode")
    const schema = T.member(lowered, "requestedSchema")
    const properties = schema === undefined ? undefined : T.member(schema, "properties")
    if (schema === undefined || properties === undefined) return { params: lowered }
    const entries = T.members(properties).map(([name, value]) => [name, field(value, tell)] as const)
    const fields: Array<readonly [string, Text]> = []
    for (const [name, value] of entries) {
      if (value === undefined) return undefined
      fields.push([name, value])
    }
    const next = T.object(fields)
    if (next !== properties) {
      lowered = T.setMember(lowered, "requestedSchema", T.setMember(schema, "properties", next))
    }
    return { params: lowered }
  }
  if (method === "sampling/createMessage") {
    if (T.member(params, "tools") !== undefined || T.member(params, "toolChoice") !== undefined) return undefined
    const messages = T.member(params, "messages")
    if (messages === undefined) return { params }
    const all: Array<Text> = []
    for (const message of T.elements(messages)) {
      const content = T.member(message, "content")
      if (content === undefined || !T.isArray(content)) {
        all.push(content === undefined ? message : T.setMember(message, "content", block(content, to, tell)))
        continue
      }
      const [only, ...others] = T.elements(content)
      tell("sampling-content")
      if (only === undefined || others.length > 0) return undefined
      all.push(T.setMember(message, "content", block(only, to, tell)))
    }
    return { params: T.setMember(params, "messages", T.array(all)) }
  }
  return { params }
}
