/**
 * What a server offers, one definition an item: its digests, and whether it is valid at all.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Members from "../protocol/Members.ts"
import { meta } from "../protocol/Revision.ts"
import * as Canonical from "../wire/Canonical.ts"
import * as Decimal from "../wire/Decimal.ts"
import * as Digest from "../wire/Digest.ts"
import * as Fold from "../wire/Fold.ts"
import { Text } from "../wire/Message.ts"
import * as Wire from "../wire/Text.ts"
import type { Json } from "./internal/json.ts"
import * as json from "./internal/json.ts"

/**
 * What can be pinned, in the order in which it is shown.
 *
 * @category constants
 * @since 0.1.0
 */
export const kinds = ["identity", "instructions", "capability", "tool", "prompt", "resource", "template"] as const

/**
 * What can be pinned.
 *
 * **Details**
 *
 * - `tool`, `prompt`: by name; `resource`: by `uri`; `template`: by `uriTemplate`.
 * - `instructions`, `identity`: one item each, of the kind's own name; the name that the operator gave a server is no
 *   part of it.
 * - `capability`: one item for each member of the capabilities that opens no listing ({@link listing} needs none of it).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Kind = Schema.Literals(kinds)
/**
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof Kind.Type

/**
 * What names an item of a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Key {
  readonly kind: Kind
  readonly name: string
}

/**
 * A definition as the server sent it: a digest a field over its canonical form, one over all of them, and its text.
 *
 * **Details**
 *
 * The text of `instructions` is a JSON string, that of a `capability` an object with this one member.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Definition = Schema.Struct({
  kind: Kind,
  name: Schema.String,
  digest: Schema.String,
  // No record: a field may be called __proto__.
  fields: Schema.Array(Schema.Struct({ name: Schema.String, digest: Schema.String })),
  text: Text
})
/**
 * @category models
 * @since 0.1.0
 */
export type Definition = typeof Definition.Type

/**
 * An item of a listing that is no valid definition. `name` is empty where none could be read, `digest` is that of its text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Invalid = Schema.Struct({
  kind: Kind,
  name: Schema.String,
  digest: Schema.String,
  why: Schema.String,
  text: Text
})
/**
 * @category models
 * @since 0.1.0
 */
export type Invalid = typeof Invalid.Type

/**
 * A text that is the same for the same kind and name, and for no other.
 *
 * @category getters
 * @since 0.1.0
 */
export const keyOf = (item: Key): string => `${item.kind}\u0000${item.name}`

// ---- what is valid

/** Why a value is not as the official schemas have it; `undefined` where it is. */
type Why = (self: Json) => string | undefined

/** Finds a member that a reader which ignores case would take for one of these names, though it is not. */
const variantOf = (names: ReadonlyArray<string>): (self: Json | undefined) => string | undefined => {
  const isVariant = Fold.resembling(names)
  return (self) => self?._tag === "Object" ? [...self.members.keys()].find(isVariant) : undefined
}

const variants = {
  tool: variantOf(Members.definition.tool),
  hints: variantOf(Members.definition.hints),
  execution: variantOf(Members.definition.execution),
  icon: variantOf(Members.definition.icon),
  schema: variantOf(Members.definition.schema),
  prompt: variantOf(Members.definition.prompt),
  argument: variantOf(Members.definition.argument),
  resource: variantOf(Members.definition.resource),
  template: variantOf(Members.definition.template),
  annotations: variantOf(Members.definition.annotations),
  identity: variantOf(Members.definition.identity),
  capability: variantOf(Members.definition.capability)
}

const inItems = (self: Json | undefined, find: (item: Json) => string | undefined): string | undefined =>
  self?._tag === "Array" ? self.items.map(find).find((name) => name !== undefined) : undefined

const whyVariant = (found: string | undefined): string | undefined =>
  found === undefined ? undefined : `its member ${JSON.stringify(found)} has a protocol member's name in another case`

/** The members that must be strings; the first is what names the item, and must not be empty. */
const needs = (...names: ReadonlyArray<string>): Why => (self) => {
  if (self._tag !== "Object") return "it is not an object"
  for (const name of names) {
    const value = self.members.get(name)
    if (value?._tag !== "String") return `it has no ${name}`
    if (value.value === "" && name === names[0]) return `its ${name} is empty`
  }
  return undefined
}

const each = (names: ReadonlyArray<string>, tag: Json["_tag"], what: string): Why => (self) => {
  for (const name of names) {
    const value = json.member(self, name)
    if (value !== undefined && value._tag !== tag) return `its ${name} is not ${what}`
  }
  return undefined
}
const strings = (...names: ReadonlyArray<string>): Why => each(names, "String", "a string")
const objects = (...names: ReadonlyArray<string>): Why => each(names, "Object", "an object")

const all = (...whys: ReadonlyArray<Why>): Why => (self) => {
  for (const why of whys) {
    const found = why(self)
    if (found !== undefined) return found
  }
  return undefined
}

const icons: Why = (self) => {
  const list = json.member(self, "icons")
  if (list === undefined || list._tag === "Array" && list.items.every((icon) => icon._tag === "Object")) {
    return undefined
  }
  return "its icons are not a list of objects"
}

const isSchema = (self: Json): boolean => self._tag === "Object" || self._tag === "Boolean"

const whySchema = (self: Json, where: string, root: boolean): string | undefined => {
  if (self._tag !== "Object") return `${where} is not an object`
  const type = self.members.get("type")
  if (root && (type?._tag !== "String" || type.value !== "object")) return `the type of ${where} is not "object"`
  const properties = self.members.get("properties")
  if (properties !== undefined) {
    if (properties._tag !== "Object") return `the properties of ${where} are not an object`
    if (![...properties.members.values()].every(isSchema)) return `a property of ${where} is not a schema`
  }
  const required = self.members.get("required")
  if (
    required !== undefined && !(required._tag === "Array" && required.items.every((item) => item._tag === "String"))
  ) {
    return `what ${where} requires is not a list of names`
  }
  return undefined
}

const schemas: Why = (self) => {
  const input = json.member(self, "inputSchema")
  if (input === undefined) return "it has no inputSchema"
  const output = json.member(self, "outputSchema")
  return whySchema(input, "its inputSchema", true) ??
    (output === undefined ? undefined : whySchema(output, "its outputSchema", false))
}

const hints: Why = (self) => {
  for (const hint of Members.definition.hints) {
    const value = json.member(json.member(self, "annotations"), hint)
    if (value !== undefined && value._tag !== (hint === "title" ? "String" : "Boolean")) {
      return `its annotation ${hint} is not a ${hint === "title" ? "string" : "boolean"}`
    }
  }
  return undefined
}

const whyTool = all(
  needs("name"),
  (self) =>
    whyVariant(
      variants.tool(self) ?? variants.hints(json.member(self, "annotations")) ??
        variants.execution(json.member(self, "execution")) ?? variants.schema(json.member(self, "inputSchema")) ??
        variants.schema(json.member(self, "outputSchema")) ?? inItems(json.member(self, "icons"), variants.icon)
    ),
  schemas,
  strings("title", "description"),
  objects("annotations", "execution", "_meta"),
  hints,
  icons
)

const promptArguments: Why = (self) => {
  const list = json.member(self, "arguments")
  if (list === undefined) return undefined
  if (list._tag !== "Array") return "its arguments are not a list"
  const names = new Set<string>()
  for (const argument of list.items) {
    const name = json.member(argument, "name")
    if (name?._tag !== "String") return "an argument has no name"
    if (names.has(name.value)) return "two arguments have the same name"
    names.add(name.value)
    const required = json.member(argument, "required")
    if (required !== undefined && required._tag !== "Boolean") return "what an argument says of required is no boolean"
    const text = strings("title", "description")(argument)
    if (text !== undefined) return `an argument is not valid: ${text}`
  }
  return undefined
}

const whyPrompt = all(
  needs("name"),
  (self) =>
    whyVariant(
      variants.prompt(self) ?? inItems(json.member(self, "arguments"), variants.argument) ??
        inItems(json.member(self, "icons"), variants.icon)
    ),
  strings("title", "description"),
  objects("_meta"),
  promptArguments,
  icons
)

const annotations: Why = (self) => {
  const found = json.member(self, "annotations")
  const audience = json.member(found, "audience")
  const isRole = (role: Json) => role._tag === "String" && (role.value === "user" || role.value === "assistant")
  if (audience !== undefined && !(audience._tag === "Array" && audience.items.every(isRole))) {
    return "its annotation audience is not a list of roles"
  }
  const priority = json.member(found, "priority")
  if (priority !== undefined) {
    const [low, high] = priority._tag === "Number"
      ? [Decimal.compareTexts(priority.text, "0"), Decimal.compareTexts(priority.text, "1")]
      : []
    if (low === undefined || high === undefined || low < 0 || high > 0) {
      return "its annotation priority is not a number from 0 to 1"
    }
  }
  const modified = json.member(found, "lastModified")
  return modified === undefined || modified._tag === "String"
    ? undefined
    : "its annotation lastModified is not a string"
}

const whyResource = (named: "uri" | "uriTemplate", variant: (self: Json) => string | undefined): Why =>
  all(
    needs(named, "name"),
    (self) =>
      whyVariant(
        variant(self) ?? variants.annotations(json.member(self, "annotations")) ??
          inItems(json.member(self, "icons"), variants.icon)
      ),
    strings("title", "description", "mimeType"),
    objects("annotations", "_meta"),
    annotations,
    icons
  )

const size: Why = (self) => {
  const found = json.member(self, "size")
  return found === undefined || found._tag === "Number" ? undefined : "its size is not a number"
}

const whyIdentity = all(
  needs("name", "version"),
  (self) => whyVariant(variants.identity(self) ?? inItems(json.member(self, "icons"), variants.icon)),
  strings("title", "description", "websiteUrl"),
  icons
)

const whyCapability: Why = (self) => {
  if (self._tag !== "Object") return "it is not an object"
  const [name, value] = [...self.members][0] ?? []
  if (name === undefined || value === undefined || self.members.size > 1) return "it is not one member"
  return whyVariant(variants.capability(self)) ??
    (/^(?:experimental|extensions|tasks)$/.test(name) && value._tag !== "Object"
      ? `its ${name} is not an object`
      : undefined)
}

// ---- the kinds

interface Row {
  /** The member that names an item; where there is none, the kind itself does. */
  readonly named: "name" | "uri" | "uriTemplate" | undefined
  /** How long such a name may be, in characters. For names the protocol advises 128 at most. */
  readonly longest: number
  readonly why: Why
}

const table: Readonly<Record<Kind, Row>> = {
  identity: { named: undefined, longest: 1024, why: whyIdentity },
  instructions: {
    named: undefined,
    longest: 1024,
    why: (self) => self._tag === "String" ? undefined : "it is not a string"
  },
  capability: { named: undefined, longest: 1024, why: whyCapability },
  tool: { named: "name", longest: 1024, why: whyTool },
  prompt: { named: "name", longest: 1024, why: whyPrompt },
  resource: { named: "uri", longest: 8192, why: all(whyResource("uri", variants.resource), size) },
  template: { named: "uriTemplate", longest: 8192, why: whyResource("uriTemplate", variants.template) }
}

const nameOf = (kind: Kind, text: Text): string => {
  if (kind === "identity" || kind === "instructions") return kind
  if (!Wire.isObject(text)) return ""
  if (kind === "capability") return Wire.names(text)[0] ?? ""
  const { named } = table[kind]
  const name = named === undefined ? undefined : Wire.member(text, named)
  return name === undefined ? "" : Wire.string(name) ?? ""
}

/** One digest over all fields, whatever their order: the digest of a field covers its name and its canonical value. */
const digestOf = (what: string, kind: Kind, fields: Definition["fields"]): string =>
  Digest.framed([`sallyport/pin/${what}/1`, kind, ...fields.map(({ digest }) => digest).sort()])

/**
 * The digest of everything but what names it: equal for a definition that was only renamed. `undefined` for kinds of which
 * there is but one, or whose name says all.
 *
 * @category getters
 * @since 0.1.0
 */
export const contentOf = ({ fields, kind }: Definition): string | undefined => {
  const { named } = table[kind]
  return named === undefined ? undefined : digestOf("content", kind, fields.filter(({ name }) => name !== named))
}

/**
 * How long a definition may be, in characters. A longer one is not valid: nobody could look at it, and it would be kept.
 *
 * @category constants
 * @since 0.1.0
 */
export const longest = 1024 * 1024

/**
 * Reads one definition with its digests, or says why it is none. An invalid item costs only itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const define = (kind: Kind, text: Text): Definition | Invalid => {
  const row = table[kind]
  const name = nameOf(kind, text)
  const invalid = (why: string, kept: Text): Invalid => ({
    kind,
    name: name.length > row.longest ? "" : name,
    digest: Digest.framed(["sallyport/pin/invalid/1", kind, text]),
    why,
    text: kept
  })
  if (text.length > longest) {
    const why = `it has ${text.length} characters, and ${longest} are the most`
    return invalid(why, Wire.quote(text.slice(0, 1000)))
  }
  const item = json.parse(text)
  const why = item === undefined
    ? "it cannot be read"
    : row.why(item) ?? (name.length > row.longest
      ? `its ${row.named ?? "name"} has ${name.length} characters, and ${row.longest} are the most`
      : undefined)
  if (why !== undefined) return invalid(why, text)
  const members = kind === "instructions" ? [["instructions", text] as const] : Wire.members(text)
  const fields = members.map(([field, value]) => ({
    name: field,
    digest: Digest.framed(["sallyport/pin/field/1", field, Canonical.canonical(value)])
  }))
  return { kind, name, digest: digestOf("definition", kind, fields), fields, text }
}

/**
 * Whether an item of a listing is no valid definition.
 *
 * @category guards
 * @since 0.1.0
 */
export const isInvalid = (item: Definition | Invalid): item is Invalid => "why" in item

/**
 * Whole listings, all of their pages, of one kind or several.
 *
 * **Details**
 *
 * `kinds` says what was listed, also where there is nothing of it: of a kind that was not listed nothing is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listing {
  readonly kinds: ReadonlyArray<Kind>
  readonly items: ReadonlyArray<Definition>
  readonly invalid: ReadonlyArray<Invalid>
}

/**
 * Nothing listed.
 *
 * @category constants
 * @since 0.1.0
 */
export const unlisted: Listing = { kinds: [], items: [], invalid: [] }

/**
 * Reads a whole listing of one kind.
 *
 * @category constructors
 * @since 0.1.0
 */
export const listing = (kind: Kind, texts: ReadonlyArray<Text>): Listing => {
  const items: Array<Definition> = []
  const invalid: Array<Invalid> = []
  for (const text of texts) {
    const item = define(kind, text)
    if (isInvalid(item)) invalid.push(item)
    else items.push(item)
  }
  return { kinds: [kind], items, invalid }
}

/**
 * Several listings as one. A kind that is in several counts as it is in the last of them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const together = (listings: ReadonlyArray<Listing>): Listing => {
  const last = new Map<Kind, Listing>()
  for (const each of listings) for (const kind of each.kinds) last.set(kind, each)
  const of = [...last].map(([kind, each]) => ofKind(each, kind))
  return {
    kinds: [...last.keys()],
    items: of.flatMap(({ items }) => items),
    invalid: of.flatMap(({ invalid }) => invalid)
  }
}

/**
 * What a listing says of one kind.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofKind = (self: Listing, kind: Kind): Listing => ({
  kinds: self.kinds.filter((each) => each === kind),
  items: self.items.filter((item) => item.kind === kind),
  invalid: self.invalid.filter((item) => item.kind === kind)
})

/** The capabilities that are passed on as they are: what they open is filtered item by item, or carries no text. */
const listed: ReadonlySet<string> = new Set(["tools", "resources", "prompts", "completions", "logging"])

/**
 * Whether a member of the capabilities is pinned: everything but what opens a listing, and logging.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPinnedCapability = (name: string): boolean => !listed.has(name)

/**
 * Reads what a server says at the opening, in the result of initialize or server/discover: its identity, its instructions
 * and its pinned capabilities.
 *
 * @category constructors
 * @since 0.1.0
 */
export const opening = (result: Text): Listing => {
  const { capabilities, identity, instructions } = openingOf(result)
  return together([
    listing("identity", identity === undefined ? [] : [identity]),
    listing("instructions", instructions === undefined ? [] : [instructions]),
    listing("capability", capabilities)
  ])
}

const openingOf = (result: Text) => {
  if (!Wire.isObject(result)) return { identity: undefined, instructions: undefined, capabilities: [] }
  const metadata = Wire.member(result, "_meta")
  const declared = Wire.member(result, "capabilities")
  return {
    // In 2026-07-28 it stands in the metadata of results (basic/index, _meta).
    identity: Wire.member(result, "serverInfo") ??
      (metadata === undefined || !Wire.isObject(metadata) ? undefined : Wire.member(metadata, meta.serverInfo)),
    instructions: Wire.member(result, "instructions"),
    capabilities: declared === undefined || !Wire.isObject(declared)
      ? []
      : Wire.members(declared).filter(([name]) => isPinnedCapability(name)).map(([name, value]) =>
        Wire.object([[name, value]])
      )
  }
}
