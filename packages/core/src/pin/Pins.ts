/**
 * What a person accepted of a server, what was last seen of it, and what follows from the two.
 *
 * **Details**
 *
 * All of it is pure. A definition that was not accepted, or that differs from what was, is *held*: {@link judge} says so
 * for a listing, {@link heldOf} for what was last seen. {@link accept} and {@link trustFirstSight} are the only ways to a
 * pin.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Members from "../protocol/Members.ts"
import * as Canonical from "../wire/Canonical.ts"
import * as Digest from "../wire/Digest.ts"
import * as Fold from "../wire/Fold.ts"
import { Text } from "../wire/Message.ts"
import * as Wire from "../wire/Text.ts"
import * as Drift from "./Drift.ts"
import type { Json } from "./internal/json.ts"
import * as json from "./internal/json.ts"
import { compareLaunch, type Difference, LaunchPin } from "./Launch.ts"
import { skeleton } from "./Names.ts"

export { compareLaunch, type Difference, launch, LaunchPin } from "./Launch.ts"

/**
 * What can be pinned.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Kind = Schema.Literals(["tool"])
/**
 * @category models
 * @since 0.1.0
 */
export type Kind = typeof Kind.Type

/**
 * A definition as the server sent it: a digest a field over its canonical form, one over all of them, and its text.
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
 * How something was accepted: on the terminal, by the digest of exactly what it is, everything unseen, or as the first
 * listing of a server that was to be trusted.
 *
 * @category schemas
 * @since 0.1.0
 */
export const How = Schema.Literals(["terminal", "digest", "unseen", "first-sight"])
/**
 * @category models
 * @since 0.1.0
 */
export type How = typeof How.Type

/**
 * An accepted definition. `variant` names what it may depend on (revision and declared capabilities of the session).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pin = Schema.Struct({
  ...Definition.fields,
  variant: Schema.String,
  how: How,
  at: Schema.String
})
/**
 * @category models
 * @since 0.1.0
 */
export type Pin = typeof Pin.Type

/**
 * The newest listing, held or not: `pins show`, `diff` and `accept` work from it and start nothing.
 *
 * **Details**
 *
 * - `at`: when this content was first seen.
 * - `invalid`: the items that are no valid definition, with why.
 * - `fault`: set where the server could not be listed since; the items are those of the listing before.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Seen = Schema.Struct({
  at: Schema.String,
  variant: Schema.String,
  launch: LaunchPin,
  items: Schema.Array(Definition),
  invalid: Schema.Array(Invalid),
  fault: Schema.optionalKey(Schema.String)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Seen = typeof Seen.Type

/**
 * All that is kept of one server.
 *
 * **Details**
 *
 * - `since`: when a listing of it was read for the first time.
 * - `trusted`: `--first-sight trust` was used up for this name.
 * - `launch`: the accepted launch; absent until something was accepted.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pins = Schema.Struct({
  version: Schema.Int,
  server: Schema.String,
  since: Schema.optionalKey(Schema.String),
  trusted: Schema.Boolean,
  launch: Schema.optionalKey(LaunchPin),
  pins: Schema.Array(Pin),
  seen: Schema.optionalKey(Seen)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Pins = typeof Pins.Type

/**
 * The pins of a server that nothing is known of.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty = (server: string): Pins => ({ version: 0, server, trusted: false, pins: [] })

// ---- definitions

/** Finds a member that a reader which ignores case would take for one of these names, though it is not. */
const variantOf = (names: ReadonlyArray<string>): (self: Json | undefined) => string | undefined => {
  const isVariant = Fold.resembling(names)
  return (self) => self?._tag === "Object" ? [...self.members.keys()].find(isVariant) : undefined
}

const toolVariant = variantOf(Members.definition.tool)
const annotationVariant = variantOf(Members.definition.annotations)
const executionVariant = variantOf(Members.definition.execution)
const iconVariant = variantOf(Members.definition.icon)
const schemaVariant = variantOf(Members.definition.schema)

const caseVariant = (tool: Json): string | undefined => {
  const icons = json.member(tool, "icons")
  const found = toolVariant(tool) ?? annotationVariant(json.member(tool, "annotations")) ??
    executionVariant(json.member(tool, "execution")) ?? schemaVariant(json.member(tool, "inputSchema")) ??
    schemaVariant(json.member(tool, "outputSchema"))
  if (found !== undefined || icons?._tag !== "Array") return found
  return icons.items.map(iconVariant).find((name) => name !== undefined)
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

/** Why this is no definition of a tool by the official schemas; `undefined` where it is one. */
const whyTool = (tool: Json): string | undefined => {
  if (tool._tag !== "Object") return "it is not an object"
  const name = tool.members.get("name")
  if (name?._tag !== "String") return "it has no name"
  if (name.value === "") return "its name is empty"
  const variant = caseVariant(tool)
  if (variant !== undefined) return `its member ${JSON.stringify(variant)} has a protocol member's name in another case`
  const input = tool.members.get("inputSchema")
  if (input === undefined) return "it has no inputSchema"
  const inputWhy = whySchema(input, "its inputSchema", true)
  if (inputWhy !== undefined) return inputWhy
  const output = tool.members.get("outputSchema")
  const outputWhy = output === undefined ? undefined : whySchema(output, "its outputSchema", false)
  if (outputWhy !== undefined) return outputWhy
  for (const member of ["title", "description"]) {
    const value = tool.members.get(member)
    if (value !== undefined && value._tag !== "String") return `its ${member} is not a string`
  }
  for (const member of ["annotations", "execution", "_meta"]) {
    const value = tool.members.get(member)
    if (value !== undefined && value._tag !== "Object") return `its ${member} is not an object`
  }
  for (const hint of Members.definition.annotations) {
    const value = json.member(tool.members.get("annotations"), hint)
    if (value !== undefined && value._tag !== (hint === "title" ? "String" : "Boolean")) {
      return `its annotation ${hint} is not a ${hint === "title" ? "string" : "boolean"}`
    }
  }
  const icons = tool.members.get("icons")
  if (icons !== undefined && !(icons._tag === "Array" && icons.items.every((icon) => icon._tag === "Object"))) {
    return "its icons are not a list of objects"
  }
  return undefined
}

/** One digest over all fields, whatever their order: the digest of a field covers its name and its canonical value. */
const digestOf = (what: string, kind: Kind, fields: Definition["fields"]): string =>
  Digest.framed([`sallyport/pin/${what}/1`, kind, ...fields.map(({ digest }) => digest).sort()])

/**
 * How long a definition may be, in characters. A longer one is not valid: nobody could look at it, and it would be kept.
 *
 * @category constants
 * @since 0.1.0
 */
export const longest = 1024 * 1024

/** How long a name may be, in characters; the protocol advises 128 at most. */
const longestName = 1024

/**
 * Reads an item of a listing: a definition with its digests, or why it is none. An invalid item costs only itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const define = (kind: Kind, text: Text): Definition | Invalid => {
  const invalid = (name: string, why: string, kept: Text): Invalid => ({
    kind,
    name: name.length > longestName ? "" : name,
    digest: Digest.framed(["sallyport/pin/invalid/1", kind, text]),
    why,
    text: kept
  })
  if (text.length > longest) {
    const named = Wire.isObject(text) ? Wire.member(text, "name") : undefined
    const name = named === undefined ? "" : Wire.string(named) ?? ""
    return invalid(
      name,
      `it has ${text.length} characters, and ${longest} are the most`,
      Wire.quote(text.slice(0, 1000))
    )
  }
  const item = json.parse(text)
  const named = json.member(item, "name")
  const name = named?._tag === "String" ? named.value : ""
  const why = item === undefined
    ? "it cannot be read"
    : whyTool(item) ?? (name.length > longestName
      ? `its name has ${name.length} characters, and ${longestName} are the most`
      : undefined)
  if (why !== undefined) return invalid(name, why, text)
  const fields = Wire.members(text).map(([field, value]) => ({
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
 * A whole listing, all of its pages.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listing {
  readonly items: ReadonlyArray<Definition>
  readonly invalid: ReadonlyArray<Invalid>
}

/**
 * Reads a whole listing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const listing = (texts: ReadonlyArray<Text>, kind: Kind = "tool"): Listing => {
  const items: Array<Definition> = []
  const invalid: Array<Invalid> = []
  for (const text of texts) {
    const item = define(kind, text)
    if (isInvalid(item)) invalid.push(item)
    else items.push(item)
  }
  return { items, invalid }
}

// ---- judging

/**
 * A definition that was accepted, exactly as it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Accepted {
  readonly _tag: "Accepted"
  readonly kind: Kind
  readonly name: string
  readonly digest: string
  readonly item: Definition
  readonly pin: Pin
}

/**
 * A name that nobody accepted. `same`: accepted under this name with the same content (a renamed or copied tool). `alike`:
 * an accepted name that this one is easily taken for.
 *
 * @category models
 * @since 0.1.0
 */
export interface New {
  readonly _tag: "New"
  readonly kind: Kind
  readonly name: string
  readonly digest: string
  readonly reason: "held-new"
  readonly why: string
  readonly item: Definition
  readonly same: string | undefined
  readonly alike: string | undefined
}

/**
 * An accepted name with other content. `pin` may be of another variant, where this one was never accepted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Changed {
  readonly _tag: "Changed"
  readonly kind: Kind
  readonly name: string
  readonly digest: string
  readonly reason: "held-changed"
  readonly why: string
  readonly item: Definition
  readonly pin: Pin
  readonly drift: Drift.Drift
}

/**
 * One of several items with one name: all of them are held, an accepted copy too, because a caller cannot say which one it
 * means.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conflict {
  readonly _tag: "Conflict"
  readonly kind: Kind
  readonly name: string
  readonly digest: string
  readonly reason: "held-conflict"
  readonly why: string
  readonly item: Definition | Invalid
}

/**
 * An item that is no valid definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Unfit {
  readonly _tag: "Invalid"
  readonly kind: Kind
  readonly name: string
  readonly digest: string
  readonly reason: "held-invalid"
  readonly why: string
  readonly item: Invalid
}

/**
 * What is thought of an item that is held: `reason` is what a call of it is refused with, `why` says it in a few words
 * of which none are the server's.
 *
 * @category models
 * @since 0.1.0
 */
export type HeldVerdict = New | Changed | Conflict | Unfit

/**
 * What is thought of one item. Everything but {@link Accepted} is held.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = Accepted | HeldVerdict

/**
 * What is thought of a listing of one kind.
 *
 * **Details**
 *
 * - `verdicts`: one an item; `held`: those that are not accepted.
 * - `gone`: the accepted definitions that are not listed any more. Nothing is held for them.
 * - `byName`: for a call. A name with several items is a conflict.
 * - `status`: for an item of a page, which is judged by what it is, also where it was not in the listing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Judgement {
  readonly verdicts: ReadonlyArray<Verdict>
  readonly held: ReadonlyArray<HeldVerdict>
  readonly gone: ReadonlyArray<Pin>
  readonly byName: ReadonlyMap<string, Verdict>
  readonly status: (text: Text) => Verdict
}

const keyOf = (item: { readonly kind: Kind; readonly name: string }): string => `${item.kind}\u0000${item.name}`

const groups = <A extends { readonly kind: Kind; readonly name: string }>(
  items: Iterable<A>
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const found = new Map<string, Array<A>>()
  for (const item of items) {
    const key = keyOf(item)
    const list = found.get(key)
    if (list === undefined) found.set(key, [item])
    else list.push(item)
  }
  return found
}

const isHeld = (verdict: Verdict): verdict is HeldVerdict => verdict._tag !== "Accepted"

/** Everything but the name: equal for a tool that was only renamed. */
const contentOf = ({ fields, kind }: Definition): string =>
  digestOf("content", kind, fields.filter(({ name }) => name !== "name"))

const driftOf = (pin: Pin, definition: Definition): Drift.Drift =>
  Drift.between(pin.text, definition.text) ?? Drift.undecidable

/** The verdict against the nearest of these pins, which all have another digest. */
const changed = (pins: ReadonlyArray<Pin>, item: Definition): Changed | undefined => {
  let nearest: { readonly pin: Pin; readonly drift: Drift.Drift } | undefined
  for (const pin of pins) {
    const drift = driftOf(pin, item)
    if (nearest === undefined || !Drift.isAtLeast(drift.class, nearest.drift.class)) nearest = { pin, drift }
  }
  if (nearest === undefined) return undefined
  const { digest, kind, name } = item
  const why = `changed: ${nearest.drift.class}`
  return { _tag: "Changed", kind, name, digest, reason: "held-changed", why, item, ...nearest }
}

/**
 * Judges a listing for a session of this variant.
 *
 * **Details**
 *
 * A definition is accepted if the pin of its name and this variant has its digest; where the name has no pin of this
 * variant, if a pin of another variant has.
 *
 * @category judging
 * @since 0.1.0
 */
export const judge = (pins: Pins, variant: string, listing: Listing): Judgement => {
  const all = [...listing.items, ...listing.invalid]
  const accepted = groups(pins.pins)
  const listed = groups(all)
  let alike: Map<string, Pin> | undefined
  let contents: Map<string, Pin> | undefined

  const fresh = (item: Definition): New => {
    contents ??= new Map(pins.pins.map((pin) => [contentOf(pin), pin]))
    alike ??= new Map(pins.pins.map((pin) => [`${pin.kind}\u0000${skeleton(pin.name)}`, pin]))
    const { digest, kind, name } = item
    const same = contents.get(contentOf(item))
    const twin = alike.get(`${kind}\u0000${skeleton(name)}`)
    const why = twin !== undefined
      ? "new, with a name that looks like an accepted one"
      : same !== undefined
      ? "new, with the content of an accepted one"
      : "new"
    return {
      _tag: "New",
      kind,
      name,
      digest,
      reason: "held-new",
      why,
      item,
      same: same?.name,
      alike: twin?.name
    }
  }

  const verdict = (item: Definition | Invalid): Verdict => {
    const { digest, kind, name } = item
    // Items without a readable name have none in common.
    if (name !== "" && (listed.get(keyOf(item))?.length ?? 0) > 1) {
      const why = "the name is listed more than once"
      return { _tag: "Conflict", kind, name, digest, reason: "held-conflict", why, item }
    }
    if (isInvalid(item)) {
      return { _tag: "Invalid", kind, name, digest, reason: "held-invalid", why: "no valid definition", item }
    }
    const known = accepted.get(keyOf(item)) ?? []
    const own = known.filter((pin) => pin.variant === variant)
    const candidates = own.length > 0 ? own : known
    const pin = candidates.find((pin) => pin.digest === digest)
    if (pin !== undefined) return { _tag: "Accepted", kind, name, digest, item, pin }
    return changed(candidates, item) ?? fresh(item)
  }

  const verdicts = all.map(verdict)
  const byName = new Map<string, Verdict>()
  const byText = new Map<string, Verdict>()
  for (const found of verdicts) {
    if (!byName.has(found.name)) byName.set(found.name, found)
    byText.set(found.item.text, found)
  }
  return {
    verdicts,
    held: verdicts.filter(isHeld),
    gone: pins.pins.filter((pin) => !listed.has(keyOf(pin))),
    byName,
    status: (text) => byText.get(text) ?? verdict(define("tool", text))
  }
}

/**
 * Whether a host that was shown the one is to be told that there is another: other definitions are accepted.
 *
 * @category judging
 * @since 0.1.0
 */
export const shownDiffers = (before: Judgement, after: Judgement): boolean => {
  const shown = (self: Judgement) =>
    self.verdicts.filter((verdict) => verdict._tag === "Accepted").map((verdict) => keyOf(verdict) + verdict.digest)
      .sort()
  const left = shown(before)
  const right = shown(after)
  return left.length !== right.length || left.some((key, index) => key !== right[index])
}

// ---- what is held now

/**
 * The launch that was seen and is not the accepted one. `accepted` is absent where none ever was; then there are no
 * differences.
 *
 * @category models
 * @since 0.1.0
 */
export interface HeldLaunch {
  readonly accepted: LaunchPin | undefined
  readonly seen: LaunchPin
  readonly differences: ReadonlyArray<Difference>
}

/**
 * What is held of a server, by what was last seen of it.
 *
 * **Details**
 *
 * - `class`: the strongest drift; absent where nothing drifted (nothing is held, or nothing was ever accepted). A new item
 *   beside accepted ones is text, a name given twice is widening, another launch is privilege.
 *
 * @category models
 * @since 0.1.0
 */
export interface Held {
  readonly launch: HeldLaunch | undefined
  readonly verdicts: ReadonlyArray<HeldVerdict>
  readonly class: Drift.Class | undefined
}

/**
 * How the launch that was seen stands: accepted as it is, never accepted, or another than the accepted one.
 *
 * @category getters
 * @since 0.1.0
 */
export const launchState = ({ launch }: Held): "accepted" | "new" | "changed" =>
  launch === undefined ? "accepted" : launch.accepted === undefined ? "new" : "changed"

const launchHeld = (pins: Pins): HeldLaunch | undefined => {
  const seen = pins.seen?.launch
  if (seen === undefined || pins.launch?.digest === seen.digest) return undefined
  return { accepted: pins.launch, seen, differences: pins.launch === undefined ? [] : compareLaunch(pins.launch, seen) }
}

const classOf = (verdict: HeldVerdict): Drift.Class | undefined => {
  switch (verdict._tag) {
    case "Changed":
      return verdict.drift.class
    case "New":
      return "text"
    case "Conflict":
      return "widening"
    case "Invalid":
      return undefined
  }
}

/**
 * Judges what was last seen.
 *
 * @category judging
 * @since 0.1.0
 */
export const judgeSeen = (pins: Pins): Judgement =>
  judge(pins, pins.seen?.variant ?? "", pins.seen ?? { items: [], invalid: [] })

/**
 * What is held now.
 *
 * @category judging
 * @since 0.1.0
 */
export const heldOf = (pins: Pins): Held => {
  const launch = launchHeld(pins)
  const verdicts = judgeSeen(pins).held
  let strongest: Drift.Class | undefined
  if (pins.launch !== undefined) {
    for (const grade of [...verdicts.map(classOf), launch === undefined ? undefined : "privilege" as const]) {
      if (grade !== undefined) strongest = strongest === undefined ? grade : Drift.strongest(strongest, grade)
    }
  }
  return { launch, verdicts, class: strongest }
}

/** What an acceptance of these names would accept, in one order. Without names: all that is held and can be accepted. */
const acceptable = (pins: Pins, names: ReadonlyArray<string> | undefined): ReadonlyArray<Definition> => {
  const wanted = names === undefined ? undefined : new Set(names)
  return heldOf(pins).verdicts
    .filter((verdict) => verdict._tag === "New" || verdict._tag === "Changed")
    .map(({ item }) => item)
    .filter(({ name }) => wanted === undefined || wanted.has(name))
    .sort((left, right) => keyOf(left) < keyOf(right) ? -1 : 1)
}

/**
 * The digest of exactly what an acceptance would accept now: the held definitions (those of these names, without names
 * all), and the launch that was seen. `undefined` where there is nothing to accept.
 *
 * @category judging
 * @since 0.1.0
 */
export const digestOfHeld = (pins: Pins, names?: ReadonlyArray<string>): string | undefined => {
  if (pins.seen === undefined) return undefined
  const definitions = acceptable(pins, names)
  if (definitions.length === 0 && launchHeld(pins) === undefined) return undefined
  return Digest.framed([
    "sallyport/pin/held/1",
    pins.server,
    pins.seen.variant,
    pins.seen.launch.digest,
    ...definitions.flatMap(({ digest, kind, name }) => [kind, name, digest])
  ])
}

/**
 * The server under whose name the same launch, or a definition of this listing, is held as changed; `undefined` where
 * there is none.
 *
 * **When to use**
 *
 * Before a first sight is trusted: what is held under one name must not become trusted by giving another.
 *
 * @category judging
 * @since 0.1.0
 */
export const heldElsewhere = (
  others: ReadonlyArray<Pins>,
  listing: Listing,
  launch: LaunchPin
): string | undefined => {
  const digests = new Set(listing.items.map(({ digest }) => digest))
  return others.find((other) => {
    const held = heldOf(other)
    return (held.launch?.accepted !== undefined && held.launch.seen.digest === launch.digest) ||
      held.verdicts.some((verdict) => verdict._tag === "Changed" && digests.has(verdict.digest))
  })?.server
}

// ---- changing

/**
 * Nothing was accepted.
 *
 * **Details**
 *
 * - `nothing-held`: there is nothing that could be accepted.
 * - `not-held`: these names are not held (accepted already, or not offered).
 * - `not-acceptable`: these names are given twice by the server, or are no valid definitions.
 * - `digest-differs`: what is held now is not what the digest was taken of.
 *
 * @category errors
 * @since 0.1.0
 */
export class AcceptError extends Schema.TaggedError<AcceptError>("sallyport/pin/AcceptError")("AcceptError", {
  kind: Schema.Literals(["nothing-held", "not-held", "not-acceptable", "digest-differs"]),
  names: Schema.Array(Schema.String),
  message: Schema.String
}) {}

/**
 * What is to be accepted: the held items of these names, without names all; only if it is exactly what `digest`
 * ({@link digestOfHeld} of the same names) was taken of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice {
  readonly names?: ReadonlyArray<string>
  readonly digest?: string
}

/**
 * What came of an acceptance: the pins to store, and what was accepted. What stays held (names given twice, invalid items)
 * is in {@link heldOf} of the new pins.
 *
 * @category models
 * @since 0.1.0
 */
export interface Acceptance {
  readonly pins: Pins
  readonly definitions: ReadonlyArray<Definition>
  readonly launch: boolean
}

const pinned = (pins: Pins, seen: Seen, definitions: ReadonlyArray<Definition>, how: How, at: string): Pins => {
  const replaced = new Set(definitions.map(keyOf))
  return {
    ...pins,
    launch: seen.launch,
    pins: [
      ...pins.pins.filter((pin) => pin.variant !== seen.variant || !replaced.has(keyOf(pin))),
      ...definitions.map((definition) => ({ ...definition, variant: seen.variant, how, at }))
    ]
  }
}

/**
 * Accepts what was last seen, and with it always the launch that was seen. `at` is the time in ISO 8601.
 *
 * @category changing
 * @since 0.1.0
 */
export const accept = (pins: Pins, choice: Choice, how: How, at: string): Result.Result<Acceptance, AcceptError> => {
  const { seen } = pins
  const held = heldOf(pins)
  const digest = digestOfHeld(pins, choice.names)
  if (choice.names !== undefined) {
    const verdicts = new Map(held.verdicts.map((verdict) => [verdict.name, verdict]))
    const missing = choice.names.filter((name) => !verdicts.has(name))
    if (missing.length > 0) {
      return Result.fail(new AcceptError({ kind: "not-held", names: missing, message: "not held" }))
    }
    const unfit = choice.names.filter((name) => {
      const tag = verdicts.get(name)?._tag
      return tag === "Conflict" || tag === "Invalid"
    })
    if (unfit.length > 0) {
      return Result.fail(
        new AcceptError({
          kind: "not-acceptable",
          names: unfit,
          message: "cannot be accepted: the server gives the name more than once, or the definition is not valid"
        })
      )
    }
  }
  if (seen === undefined || digest === undefined) {
    return Result.fail(
      new AcceptError({ kind: "nothing-held", names: [], message: `nothing is held of ${pins.server}` })
    )
  }
  if (choice.digest !== undefined && choice.digest !== digest) {
    return Result.fail(
      new AcceptError({
        kind: "digest-differs",
        names: [],
        message: "what is held now is not what this digest was taken of; look at it again"
      })
    )
  }
  const definitions = acceptable(pins, choice.names)
  return Result.succeed({
    pins: pinned(pins, seen, definitions, how, at),
    definitions,
    launch: held.launch !== undefined
  })
}

/**
 * Whether nothing was ever trusted or accepted of this server, and no listing of it was read before this time. A listing
 * that failed is no sight.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFirstSight = (pins: Pins, at: string): boolean =>
  !pins.trusted && pins.launch === undefined && pins.pins.length === 0 &&
  (pins.since === undefined || pins.since === at)

/**
 * Pins the first listing of a server as it is, and keeps it as {@link see} does; where it is not the first sight of it,
 * only that. Names given twice and invalid items are not pinned. It uses up the trust: later news is held.
 *
 * @category changing
 * @since 0.1.0
 */
export const trustFirstSight = (
  pins: Pins,
  listing: Listing,
  variant: string,
  launch: LaunchPin,
  at: string
): Pins => {
  const seen: Seen = { at, variant, launch, items: listing.items, invalid: listing.invalid }
  const sighted = see(pins, seen)
  if (!isFirstSight(pins, at)) return sighted
  return { ...pinned(sighted, seen, acceptable(sighted, undefined), "first-sight", at), trusted: true }
}

const fingerprint = (seen: Seen): string =>
  Digest.framed([
    seen.variant,
    seen.launch.digest,
    seen.fault ?? "",
    ...seen.items.map((item) => `${item.digest} ${item.name}`).sort(),
    ...seen.invalid.map((item) => item.digest).sort()
  ])

/**
 * Keeps the newest listing. The same pins come back (the same object) where nothing is new, so that a caller knows that
 * nothing need be stored. A listing that failed leaves the items of the one before.
 *
 * @category changing
 * @since 0.1.0
 */
export const see = (pins: Pins, seen: Seen): Pins => {
  const before = pins.seen
  const next: Seen = before !== undefined && seen.fault !== undefined
    ? { ...before, launch: seen.launch, fault: seen.fault }
    : seen
  if (before !== undefined && fingerprint(before) === fingerprint(next)) return pins
  return { ...pins, seen: next, ...(pins.since === undefined && seen.fault === undefined ? { since: seen.at } : {}) }
}

/**
 * Keeps a launch that was not started because it is not the accepted one, so that it can be shown and accepted. What was
 * listed stays as it was last seen.
 *
 * @category changing
 * @since 0.1.0
 */
export const seeLaunch = (pins: Pins, launch: LaunchPin, at: string): Pins =>
  pins.seen?.launch.digest === launch.digest
    ? pins
    : { ...pins, seen: { ...(pins.seen ?? { at, variant: "", items: [], invalid: [] }), launch } }

/**
 * Forgets everything but that the name was there once, so that it is not trusted at first sight again.
 *
 * @category changing
 * @since 0.1.0
 */
export const forget = (pins: Pins): Pins => ({ version: pins.version, server: pins.server, trusted: true, pins: [] })
