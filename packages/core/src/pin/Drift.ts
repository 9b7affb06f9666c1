/**
 * How a definition differs from the one that was accepted, and how grave that is.
 *
 * **Details**
 *
 * The comparison goes field by field and the strongest class counts. It errs to the stronger side: what cannot be decided
 * is `widening`, and any string, member name included, that did not stand in the accepted definition is at least `text`.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Decimal from "../wire/Decimal.ts"
import type { Text } from "../wire/Message.ts"
import type { Kind } from "./Definition.ts"
import type { Json } from "./internal/json.ts"
import * as json from "./internal/json.ts"

/**
 * The classes, weakest first.
 *
 * @category constants
 * @since 0.1.0
 */
export const classes = ["cosmetic", "narrowing", "widening", "text", "privilege"] as const

/**
 * How grave a difference is.
 *
 * **Details**
 *
 * - `cosmetic`: means the same.
 * - `narrowing`: less is allowed than before.
 * - `widening`: more is allowed, or it cannot be told.
 * - `text`: a string that was not there before; a model may read it.
 * - `privilege`: an annotation that hosts decide by changed, or the launch.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Class = Schema.Literals(classes)
/**
 * @category models
 * @since 0.1.0
 */
export type Class = typeof Class.Type

/**
 * One place where two definitions differ: a JSON pointer, its class, and what happened there, without quoting any text of
 * the server's.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change {
  readonly pointer: string
  readonly class: Class
  readonly says: string
}

/**
 * All that differs, strongest first. `more` counts the places left out of the list; they count in the class.
 *
 * @category models
 * @since 0.1.0
 */
export interface Drift {
  readonly class: Class
  readonly changes: ReadonlyArray<Change>
  readonly more: number
}

const rank = (self: Class): number => classes.indexOf(self)

/**
 * Whether a class is at least as grave as another.
 *
 * @category comparing
 * @since 0.1.0
 */
export const isAtLeast = (self: Class, floor: Class): boolean => rank(self) >= rank(floor)

/**
 * The graver of two classes.
 *
 * @category comparing
 * @since 0.1.0
 */
export const strongest = (self: Class, that: Class): Class => rank(self) >= rank(that) ? self : that

/**
 * How many parts of a schema are compared before the rest counts as undecidable, and how many places are listed.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultLimits = { steps: 20_000, changes: 200 }

type Path = { readonly up: Path; readonly name: string } | undefined

const pointerOf = (path: Path): string => {
  let pointer = ""
  for (let at = path; at !== undefined; at = at.up) {
    pointer = `/${at.name.replaceAll("~", "~0").replaceAll("/", "~1")}${pointer}`
  }
  return pointer
}

/** One comparison: its budget, and where what was found goes. Trials compare into a {@link Comparison} of their own. */
interface Comparison {
  readonly note: (path: Path, grade: Class, says: string) => void
  /** Takes one step of the budget; false when it is used up. */
  readonly step: () => boolean
  /** Set where parts of a schema bear on each other, so that a narrower part need not narrow the whole. */
  readonly entangled: boolean
}

type Field = (on: Comparison, path: Path, before: Json | undefined, after: Json | undefined) => void

/** A comparison for a part on which others depend: that it became narrower may widen the whole. */
const careful = (on: Comparison): Comparison => ({
  ...on,
  note: (path, grade, says) => on.note(path, grade === "narrowing" ? "widening" : grade, says)
})

const down = (up: Path, name: string): Path => ({ up, name })

const union = (before: Json | undefined, after: Json | undefined): Set<string> => {
  const names = new Set<string>()
  if (before?._tag === "Object") { for (const name of before.members.keys()) names.add(name) }
  if (after?._tag === "Object") { for (const name of after.members.keys()) names.add(name) }
  return names
}

// ---- what has no meaning of its own here

const hasStrings = (self: Json): boolean =>
  self._tag === "String" || (self._tag === "Array" && self.items.some(hasStrings)) ||
  (self._tag === "Object" && self.members.size > 0)

/** Two values about which nothing is known: another string is text, everything else is undecidable. */
const opaque: Field = (on, path, before, after) => {
  if (before === undefined) {
    if (after !== undefined) {
      on.note(path, hasStrings(after) ? "text" : "widening", "was added")
    }
    return
  }
  if (after === undefined) return on.note(path, "widening", "was removed")
  if (before._tag === "Object" && after._tag === "Object") {
    for (const name of union(before, after)) {
      opaque(on, down(path, name), before.members.get(name), after.members.get(name))
    }
    return
  }
  if (before._tag === "Array" && after._tag === "Array") {
    for (let index = 0; index < Math.max(before.items.length, after.items.length); index++) {
      opaque(on, down(path, String(index)), before.items[index], after.items[index])
    }
    return
  }
  if (before._tag === "Number" && after._tag === "Number") {
    if (before.text === after.text) return
    const same = Decimal.compareTexts(before.text, after.text) === 0
    return on.note(path, same ? "cosmetic" : "widening", same ? "is the same number written another way" : "changed")
  }
  if (json.same(before, after)) return
  on.note(path, hasStrings(after) ? "text" : "widening", "changed")
}

/** A string for the reader: removing it means `removed`, every other change is text. */
const prose = (removed: Class): Field => (on, path, before, after) => {
  if (before !== undefined && after === undefined) return on.note(path, removed, "was removed")
  if (before !== undefined && after !== undefined && json.same(before, after)) return
  if (after?._tag === "String") return on.note(path, "text", before === undefined ? "was added" : "changed")
  opaque(on, path, before, after)
}

/** Data that nothing depends on where it is gone, and that is text or undecidable in any other change. */
const ornament: Field = (on, path, before, after) => {
  if (before !== undefined && after === undefined) return on.note(path, "cosmetic", "was removed")
  if (before?._tag === "Array" && after?._tag === "Array") {
    const left = new Set(before.items.map(json.key))
    if (after.items.every((item) => left.has(json.key(item)))) {
      if (!json.same(before, after)) on.note(path, "cosmetic", "has fewer or reordered items")
      return
    }
  }
  opaque(on, path, before, after)
}

// ---- annotations

/** What a host assumes where a hint is absent (MCP, ToolAnnotations). */
const hints: ReadonlyMap<string, boolean> = new Map([
  ["readOnlyHint", false],
  ["destructiveHint", true],
  ["idempotentHint", false],
  ["openWorldHint", true]
])

const annotations: Field = (on, path, before, after) => {
  if ((before !== undefined && before._tag !== "Object") || (after !== undefined && after._tag !== "Object")) {
    if (before === undefined || after === undefined || !json.same(before, after)) {
      on.note(path, "privilege", "changed")
    }
    return
  }
  const names = union(before, after)
  if (names.size === 0) return on.note(path, "cosmetic", "says nothing either way")
  for (const name of names) {
    const at = down(path, name)
    const was = before?.members.get(name)
    const is = after?.members.get(name)
    if (was !== undefined && is !== undefined && json.same(was, is)) continue
    const fallback = hints.get(name)
    if (name === "title") {
      prose("cosmetic")(on, at, was, is)
    } else if (fallback === undefined) {
      if (is === undefined) on.note(at, "privilege", "was removed")
      else opaque(on, at, was, is)
    } else if (was === undefined && is?._tag === "Boolean" && is.value === fallback) {
      on.note(at, "cosmetic", "says what was assumed without it")
    } else {
      on.note(at, "privilege", was === undefined ? "was added" : is === undefined ? "was removed" : "changed")
    }
  }
}

// ---- schemas

const Any: Json = { _tag: "Boolean", value: true }

const isFalse = (schema: Json): boolean => schema._tag === "Boolean" && !schema.value

const members = (self: Json | undefined): ReadonlyMap<string, Json> =>
  self?._tag === "Object" ? self.members : new Map<string, Json>()

const strings = (self: Json | undefined): Set<string> | undefined => {
  if (self === undefined) return new Set()
  if (self._tag !== "Array") return undefined
  const found = new Set<string>()
  for (const item of self.items) {
    if (item._tag !== "String") return undefined
    found.add(item.value)
  }
  return found
}

const moreOrLess = (on: Comparison, path: Path, narrower: boolean, wider: boolean, what: string): void => {
  if (wider) on.note(path, "widening", `${what} differently`)
  else if (narrower) on.note(path, "narrowing", `${what} less`)
  else on.note(path, "cosmetic", `${what} the same`)
}

/** A number is every integer too. */
const allTypes = ["null", "boolean", "object", "array", "number", "integer", "string"]

const typesOf = (self: Json | undefined): Set<string> | undefined => {
  if (self === undefined) return new Set(allTypes)
  const found = self._tag === "String" ? new Set([self.value]) : strings(self)
  if (found?.has("number")) found.add("integer")
  return found
}

const type: Field = (on, path, before, after) => {
  const was = typesOf(before)
  const is = typesOf(after)
  if (was === undefined || is === undefined) return opaque(on, path, before, after)
  moreOrLess(on, path, !was.isSubsetOf(is), !is.isSubsetOf(was), "allows types")
}

const valuesOf = (schema: ReadonlyMap<string, Json>): Set<string> | "any" | undefined => {
  const constant = schema.get("const")
  const list = schema.get("enum")
  if (list !== undefined && list._tag !== "Array") return undefined
  const values = list === undefined ? undefined : new Set(list.items.map(json.key))
  if (constant === undefined) return values ?? "any"
  const only = new Set([json.key(constant)])
  return values === undefined ? only : only.intersection(values)
}

const values = (on: Comparison, path: Path, before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>) => {
  const was = valuesOf(before)
  const is = valuesOf(after)
  if (was === undefined || is === undefined) {
    opaque(on, down(path, "enum"), before.get("enum"), after.get("enum"))
    opaque(on, down(path, "const"), before.get("const"), after.get("const"))
    return
  }
  const wider = was !== "any" && (is === "any" || !is.isSubsetOf(was))
  const narrower = is !== "any" && (was === "any" || !was.isSubsetOf(is))
  moreOrLess(
    on,
    down(path, after.has("const") || before.has("const") ? "const" : "enum"),
    narrower,
    wider,
    "allows values"
  )
}

/** A bound; `sign` is 1 where a bigger number allows less. */
const bound = (sign: 1 | -1): Field => (on, path, before, after) => {
  if (before === undefined && after?._tag === "Number") return on.note(path, "narrowing", "is a new bound")
  if (before?._tag === "Number" && after?._tag === "Number") {
    const order = Decimal.compareTexts(before.text, after.text)
    if (order === undefined) return on.note(path, "widening", "changed")
    return moreOrLess(on, path, order * sign < 0, order * sign > 0, "allows")
  }
  opaque(on, path, before, after)
}

const required: Field = (on, path, before, after) => {
  const was = strings(before)
  const is = strings(after)
  if (was === undefined || is === undefined) return opaque(on, path, before, after)
  if (!was.isSubsetOf(is)) on.note(path, "widening", "demands fewer members")
  else if (!is.isSubsetOf(was)) on.note(path, "narrowing", "demands more members")
  else on.note(path, "cosmetic", "demands the same members")
}

/** A restriction that is only compared for being there. */
const restriction: Field = (on, path, before, after) => {
  if (before === undefined) return on.note(path, "narrowing", "is a new restriction")
  if (after === undefined) return on.note(path, "widening", "is a restriction that was removed")
  opaque(on, path, before, after)
}

const uniqueItems: Field = (on, path, before, after) => {
  const was = before?._tag === "Boolean" && before.value
  const is = after?._tag === "Boolean" && after.value
  moreOrLess(on, path, is && !was, was && !is, "allows")
}

const inner: Field = (on, path, before, after) => schema(on, path, before ?? Any, after ?? Any)

/** Definitions for `$ref`: where each is used is not followed, so a narrower one may widen the whole. */
const definitions: Field = (on, path, before, after) => {
  if ((before !== undefined && before._tag !== "Object") || (after !== undefined && after._tag !== "Object")) {
    return opaque(on, path, before, after)
  }
  const within = careful(on)
  for (const name of union(before, after)) {
    const was = before?.members.get(name)
    const is = after?.members.get(name)
    const at = down(path, name)
    if (was === undefined || is === undefined) on.note(at, "widening", was === undefined ? "was added" : "was removed")
    else schema(within, at, was, is)
  }
}

/** `allOf` and `anyOf`: what both sides have is set aside, then the rest is compared in pairs. */
const branches = (all: boolean): Field => (on, path, before, after) => {
  if (before?._tag !== "Array" || after?._tag !== "Array") {
    if (before === undefined && after?._tag === "Array") return on.note(path, "narrowing", "is a new restriction")
    return restriction(on, path, before, after)
  }
  const rest = new Map<string, Array<Json>>()
  for (const branch of before.items) {
    const key = json.key(branch)
    rest.set(key, [...(rest.get(key) ?? []), branch])
  }
  const added = after.items.filter((branch) => rest.get(json.key(branch))?.pop() === undefined)
  const gone = [...rest.values()].flat()
  if (added.length === 0 && gone.length === 0) return on.note(path, "cosmetic", "has the same branches")
  if (added.length === gone.length) {
    for (const [index, branch] of added.entries()) {
      const was = gone[index]
      if (was !== undefined) schema(on, down(path, String(after.items.indexOf(branch))), was, branch)
    }
    return
  }
  const narrower = all ? gone.length === 0 : added.length === 0 && after.items.length > 0
  on.note(path, narrower ? "narrowing" : "widening", narrower ? "allows less" : "has other branches")
}

const keywords: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["title", prose("cosmetic")],
  // A sentence such as "never outside the test system" may be all that kept a model back.
  ["description", prose("widening")],
  ["$comment", prose("cosmetic")],
  ["examples", ornament],
  ["type", type],
  ["minimum", bound(1)],
  ["exclusiveMinimum", bound(1)],
  ["minLength", bound(1)],
  ["minItems", bound(1)],
  ["minProperties", bound(1)],
  ["maximum", bound(-1)],
  ["exclusiveMaximum", bound(-1)],
  ["maxLength", bound(-1)],
  ["maxItems", bound(-1)],
  ["maxProperties", bound(-1)],
  ["multipleOf", restriction],
  ["pattern", restriction],
  ["format", restriction],
  ["contentEncoding", restriction],
  ["contentMediaType", restriction],
  ["required", required],
  ["uniqueItems", uniqueItems],
  ["additionalProperties", inner],
  ["propertyNames", inner],
  ["allOf", branches(true)],
  ["anyOf", branches(false)],
  ["$defs", definitions],
  ["definitions", definitions]
])

const properties = (
  on: Comparison,
  path: Path,
  before: ReadonlyMap<string, Json>,
  after: ReadonlyMap<string, Json>
) => {
  for (const keyword of ["properties", "patternProperties"]) {
    const was = before.get(keyword)
    const is = after.get(keyword)
    if ((was !== undefined && was._tag !== "Object") || (is !== undefined && is._tag !== "Object")) {
      opaque(on, down(path, keyword), was, is)
      continue
    }
    const closed = isFalse(after.get("additionalProperties") ?? Any) &&
      members(after.get("patternProperties")).size === 0
    for (const name of union(was, is)) {
      const at = down(down(path, keyword), name)
      const old = members(was).get(name)
      const now = members(is).get(name)
      if (old !== undefined && now !== undefined) schema(on, at, old, now)
      // Where others are allowed the schema of a new property is a restriction; but a model now knows to send it.
      else if (now !== undefined) on.note(at, isFalse(now) ? "narrowing" : "widening", "was added")
      else on.note(at, closed && keyword === "properties" ? "narrowing" : "widening", "was removed")
    }
  }
}

const items = (on: Comparison, path: Path, before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>) => {
  const was = before.get("prefixItems")
  const is = after.get("prefixItems")
  const at = down(path, "items")
  if (was === undefined && is === undefined) {
    const old = before.get("items")
    const now = after.get("items")
    // An array is the tuple of older drafts.
    if (old?._tag === "Array" || now?._tag === "Array") opaque(on, at, old, now)
    else inner(on, at, old, now)
    return
  }
  if (was?._tag === "Array" && is?._tag === "Array" && was.items.length === is.items.length) {
    for (const [index, now] of is.items.entries()) {
      const old = was.items[index]
      if (old !== undefined) schema(on, down(down(path, "prefixItems"), String(index)), old, now)
    }
    return inner(on, at, before.get("items"), after.get("items"))
  }
  opaque(on, down(path, "prefixItems"), was, is)
  opaque(on, at, before.get("items"), after.get("items"))
}

const together = new Set(["enum", "const", "properties", "patternProperties", "items", "prefixItems"])

/** Whether the second schema allows less or more than the first. A keyword that is not known here is undecidable. */
const schema = (on: Comparison, path: Path, before: Json, after: Json): void => {
  if (before === after) return
  if (!on.step()) return on.note(path, "widening", "is too large to compare")
  const open = (self: Json) => self._tag === "Boolean" && self.value ? new Map<string, Json>() : undefined
  const was = before._tag === "Object" ? before.members : open(before)
  const is = after._tag === "Object" ? after.members : open(after)
  if (was === undefined || is === undefined) {
    if (json.same(before, after)) return
    if (was !== undefined && isFalse(after)) return on.note(path, "narrowing", "allows nothing any more")
    on.note(path, "widening", "changed")
    return
  }
  if (was.size === 0 && is.size === 0) return on.note(path, "cosmetic", "is the same schema written another way")
  // `unevaluated...`, and `$ref` to other places than definitions, let one part of a schema decide about another.
  const within = on.entangled ? careful(on) : on
  for (const keyword of new Set([...was.keys(), ...is.keys()])) {
    if (together.has(keyword)) continue
    const old = was.get(keyword)
    const now = is.get(keyword)
    if (old !== undefined && now !== undefined && json.same(old, now)) continue
    const compare = keywords.get(keyword) ?? opaque
    compare(within, down(path, keyword), old, now)
  }
  const differs = (...names: ReadonlyArray<string>) =>
    names.some((name) => {
      const old = was.get(name)
      const now = is.get(name)
      return old === undefined || now === undefined ? old !== now : !json.same(old, now)
    })
  if (differs("enum", "const")) values(within, path, was, is)
  if (differs("properties", "patternProperties")) properties(within, path, was, is)
  if (differs("items", "prefixItems")) items(within, path, was, is)
}

// ---- the whole

const schemaField: Field = (on, path, before, after) => {
  if (before === undefined || after === undefined) {
    // Without an output schema results are free, without an input schema there is no tool.
    return on.note(
      path,
      before === undefined ? "narrowing" : "widening",
      before === undefined ? "was added" : "was removed"
    )
  }
  schema(on, path, before, after)
}

/** The arguments of a prompt by their names; `undefined` where this is no list of named ones. */
const argumentsOf = (self: Json | undefined): Map<string, Json> | undefined => {
  if (self === undefined) return new Map()
  if (self._tag !== "Array") return undefined
  const found = new Map<string, Json>()
  for (const item of self.items) {
    const name = json.member(item, "name")
    if (name?._tag !== "String" || found.has(name.value)) return undefined
    found.set(name.value, item)
  }
  return found
}

const isRequired = (argument: Json): boolean => {
  const required = json.member(argument, "required")
  return required?._tag === "Boolean" && required.value
}

/** The arguments of a prompt. One that is new asks for more to be handed out, whether it must be given or not. */
const promptArguments: Field = (on, path, before, after) => {
  const was = argumentsOf(before)
  const is = argumentsOf(after)
  if (was === undefined || is === undefined) return opaque(on, path, before, after)
  let same = true
  for (const name of new Set([...was.keys(), ...is.keys()])) {
    const at = down(path, name)
    const old = was.get(name)
    const now = is.get(name)
    if (old !== undefined && now !== undefined && json.same(old, now)) continue
    same = false
    if (old === undefined) on.note(at, "widening", "is a new argument")
    else if (now === undefined) {
      on.note(at, isRequired(old) ? "widening" : "narrowing", "is an argument that was removed")
    } else {
      for (const member of union(old, now)) {
        const left = json.member(old, member)
        const right = json.member(now, member)
        if (left !== undefined && right !== undefined && json.same(left, right)) continue
        const compare = member === "required" ? demand : argumentFields.get(member) ?? opaque
        compare(on, down(at, member), left, right)
      }
    }
  }
  if (same) on.note(path, "cosmetic", "has the same arguments")
}

/** Whether an argument must be given; `false` where it does not say so. */
const demand: Field = (on, path, before, after) => {
  const truth = (self: Json | undefined) => self?._tag === "Boolean" && self.value
  moreOrLess(on, path, truth(after) && !truth(before), truth(before) && !truth(after), "demands")
}

const argumentFields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["title", prose("cosmetic")],
  ["description", prose("widening")]
])

const roles: ReadonlyArray<string> = ["user", "assistant"]

/** For whom a resource is; for everybody where that is not said. */
const audience: Field = (on, path, before, after) => {
  const was = before === undefined ? new Set(roles) : strings(before)
  const is = after === undefined ? new Set(roles) : strings(after)
  if (was === undefined || is === undefined) return opaque(on, path, before, after)
  moreOrLess(on, path, !was.isSubsetOf(is), !is.isSubsetOf(was), "is for readers")
}

/** How much a resource matters: 1 means that it is as good as required. */
const priority: Field = (on, path, before, after) => {
  if (before?._tag !== "Number" || after?._tag !== "Number") return opaque(on, path, before, after)
  const order = Decimal.compareTexts(before.text, after.text)
  moreOrLess(on, path, order !== undefined && order > 0, order === undefined || order < 0, "matters")
}

const resourceAnnotations: Field = (on, path, before, after) => {
  if ((before !== undefined && before._tag !== "Object") || (after !== undefined && after._tag !== "Object")) {
    return opaque(on, path, before, after)
  }
  const names = union(before, after)
  if (names.size === 0) return on.note(path, "cosmetic", "says nothing either way")
  for (const name of names) {
    const was = before?.members.get(name)
    const is = after?.members.get(name)
    if (was !== undefined && is !== undefined && json.same(was, is)) continue
    const compare = resourceHints.get(name)
    if (compare !== undefined) compare(on, down(path, name), was, is)
    // What is not known may be all that kept a host back.
    else if (is === undefined) on.note(down(path, name), "privilege", "was removed")
    else opaque(on, down(path, name), was, is)
  }
}

const resourceHints: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["audience", audience],
  ["priority", priority],
  ["lastModified", prose("cosmetic")]
])

/** A size says nothing about what may be done; contents are not pinned. */
const size: Field = (on, path, before, after) => {
  const isSize = (self: Json | undefined) => self === undefined || self._tag === "Number"
  if (isSize(before) && isSize(after)) on.note(path, "cosmetic", "is another size")
  else opaque(on, path, before, after)
}

/** Versions as programs count them, in which nothing can be told to a model. */
const counted = /^v?\d{1,9}(?:\.\d{1,9}){0,4}(?:-(?:alpha|beta|rc|dev|pre|next)(?:\.?\d{1,9}(?:\.\d{1,9}){0,2})?)?$/

const isCounted = (self: Json | undefined): self is Json & { readonly _tag: "String" } =>
  self?._tag === "String" && counted.test(self.value)

const version: Field = (on, path, before, after) => {
  if (isCounted(after)) on.note(path, "cosmetic", "is another version")
  else prose("text")(on, path, before, after)
}

const described: ReadonlyArray<readonly [string, Field]> = [
  ["title", prose("cosmetic")],
  ["description", prose("widening")],
  ["icons", ornament]
]

const resource = new Map<string, Field>([
  ...described,
  ["name", prose("text")],
  ["mimeType", prose("widening")],
  ["annotations", resourceAnnotations],
  ["size", size]
])

/** How the fields of each kind are compared; all others are opaque. */
const fields: Readonly<Record<Kind, ReadonlyMap<string, Field>>> = {
  identity: new Map<string, Field>([
    ...described,
    ["name", prose("text")],
    ["version", version],
    ["websiteUrl", prose("cosmetic")]
  ]),
  instructions: new Map(),
  capability: new Map(),
  tool: new Map<string, Field>([
    ...described,
    ["name", prose("text")],
    ["inputSchema", schemaField],
    ["outputSchema", schemaField],
    ["annotations", annotations]
  ]),
  prompt: new Map<string, Field>([...described, ["name", prose("text")], ["arguments", promptArguments]]),
  resource,
  template: resource
}

const collect = (self: Json, into: Set<string>): void => {
  if (self._tag === "String") into.add(self.value)
  else if (self._tag === "Array") { for (const item of self.items) collect(item, into) }
  else if (self._tag === "Object") {
    for (const [name, value] of self.members) {
      into.add(name)
      collect(value, into)
    }
  }
}

/** Every string that did not stand in what was accepted. A new member is one place, whatever is in it. */
const newStrings = (on: Comparison, path: Path, known: ReadonlySet<string>, self: Json): void => {
  if (self._tag === "String") {
    if (!known.has(self.value)) on.note(path, "text", "is a new string")
  } else if (self._tag === "Array") {
    for (const [index, item] of self.items.entries()) newStrings(on, down(path, String(index)), known, item)
  } else if (self._tag === "Object") {
    for (const [name, value] of self.members) {
      const at = down(path, name)
      if (known.has(name)) newStrings(on, at, known, value)
      else on.note(at, "text", "is a new member")
    }
  }
}

const isEntangled = (self: Json): boolean => {
  if (self._tag === "Array") return self.items.some(isEntangled)
  if (self._tag !== "Object") return false
  for (const [name, value] of self.members) {
    if (name.startsWith("unevaluated") || name === "$dynamicRef" || name === "$recursiveRef") return true
    if (name === "$ref" && !(value._tag === "String" && /^#\/(?:\$defs|definitions)\/[^/]+$/.test(value.value))) {
      return true
    }
    if (isEntangled(value)) return true
  }
  return false
}

/**
 * What stands for a difference that cannot be found by comparing.
 *
 * @category constants
 * @since 0.1.0
 */
export const undecidable: Drift = {
  class: "widening",
  changes: [{ pointer: "", class: "widening", says: "cannot be compared" }],
  more: 0
}

/**
 * What differs between an accepted definition and another of the same kind; `undefined` where they are the same but for the
 * order of members.
 *
 * @category comparing
 * @since 0.1.0
 */
export const between = (
  kind: Kind,
  accepted: Text,
  now: Text,
  limits: { readonly steps: number; readonly changes: number } = defaultLimits
): Drift | undefined => {
  const before = json.parse(accepted)
  const after = json.parse(now)
  if (before === undefined || after === undefined) return accepted === now ? undefined : undecidable
  if (json.same(before, after)) return undefined

  const places = new Map<string, Change>()
  let steps = limits.steps
  let grade: Class = "cosmetic"
  let more = 0
  let noted = 0
  const on: Comparison = {
    note: (path, found, says) => {
      noted++
      grade = strongest(grade, found)
      // The strongest finding of a place stands for it. The list is bounded, the class is not.
      if (noted > limits.changes * 4) {
        more++
        return
      }
      const pointer = pointerOf(path)
      const known = places.get(pointer)
      if (known === undefined || rank(found) > rank(known.class)) places.set(pointer, { pointer, class: found, says })
    },
    step: () => steps-- > 0,
    entangled: isEntangled(before) || isEntangled(after)
  }

  if (before._tag !== "Object" || after._tag !== "Object") opaque(on, undefined, before, after)
  else {
    for (const name of union(before, after)) {
      const was = before.members.get(name)
      const is = after.members.get(name)
      if (was !== undefined && is !== undefined && json.same(was, is)) continue
      const compare = fields[kind].get(name) ?? opaque
      compare(on, down(undefined, name), was, is)
    }
  }
  const known = new Set<string>()
  collect(before, known)
  const numbered = kind === "identity" ? json.member(after, "version") : undefined
  if (isCounted(numbered)) known.add(numbered.value)
  newStrings(on, undefined, known, after)
  if (noted === 0) return undecidable

  const changes = [...places.values()].sort((left, right) =>
    rank(right.class) - rank(left.class) || (left.pointer < right.pointer ? -1 : left.pointer > right.pointer ? 1 : 0)
  )
  return {
    class: grade,
    changes: changes.slice(0, limits.changes),
    more: more + Math.max(0, changes.length - limits.changes)
  }
}
