/**
 * What is thought of what a server offers, against what was accepted of it.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import type { Definition, Invalid, Key, Kind, Listing } from "./Definition.ts"
import { contentOf, define, isInvalid, keyOf, kinds } from "./Definition.ts"
import * as Drift from "./Drift.ts"
import { skeleton } from "./Names.ts"
import type { Pin, Pins } from "./Pins.ts"

/**
 * A definition that was accepted, exactly as it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Accepted extends Key {
  readonly _tag: "Accepted"
  readonly digest: string
  readonly item: Definition
  readonly pin: Pin
}

/**
 * A resource or a template of a server whose resources are all free: it is shown and may be read, nobody accepted it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Free extends Key {
  readonly _tag: "Free"
  readonly digest: string
  readonly item: Definition
}

/**
 * A name that nobody accepted. `same`: accepted under this name with the same content (a renamed or copied tool). `alike`:
 * an accepted name that this one is easily taken for.
 *
 * @category models
 * @since 0.1.0
 */
export interface New extends Key {
  readonly _tag: "New"
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
export interface Changed extends Key {
  readonly _tag: "Changed"
  readonly digest: string
  readonly reason: "held-changed"
  readonly why: string
  readonly item: Definition
  readonly pin: Pin
  readonly drift: Drift.Drift
}

/**
 * What a person has looked at and does not want. It is held, and no news; `of` is what it would be otherwise.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rejected extends Key {
  readonly _tag: "Rejected"
  readonly digest: string
  readonly reason: "held-rejected"
  readonly why: string
  readonly item: Definition
  readonly of: New | Changed
}

/**
 * One of several items with one name: all of them are held, an accepted copy too, because a caller cannot say which one it
 * means.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conflict extends Key {
  readonly _tag: "Conflict"
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
export interface Unfit extends Key {
  readonly _tag: "Invalid"
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
export type HeldVerdict = New | Changed | Rejected | Conflict | Unfit

/**
 * What is thought of one item. Everything but {@link Accepted} and {@link Free} is held.
 *
 * @category models
 * @since 0.1.0
 */
export type Verdict = Accepted | Free | HeldVerdict

/**
 * Whether an item is held.
 *
 * @category guards
 * @since 0.1.0
 */
export const isHeld = (verdict: Verdict): verdict is HeldVerdict =>
  verdict._tag !== "Accepted" && verdict._tag !== "Free"

/**
 * What is held and was not decided about: everything but what was rejected.
 *
 * @category models
 * @since 0.1.0
 */
export type News = Exclude<HeldVerdict, Rejected>

/**
 * Whether an item is held and nobody has decided about it.
 *
 * @category guards
 * @since 0.1.0
 */
export const isNews = (verdict: Verdict): verdict is News => isHeld(verdict) && verdict._tag !== "Rejected"

/**
 * What is thought of a listing.
 *
 * **Details**
 *
 * - `verdicts`: one an item, the kinds in their order; `held`: those that are held.
 * - `gone`: the accepted definitions of the listed kinds that are not there any more. Nothing is held for them.
 * - `find`: for a call. A name with several items is a conflict.
 * - `status`: for an item of a page, which is judged by what it is, also where it was not in the listing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Judgement {
  readonly verdicts: ReadonlyArray<Verdict>
  readonly held: ReadonlyArray<HeldVerdict>
  readonly gone: ReadonlyArray<Pin>
  readonly find: (kind: Kind, name: string) => Verdict | undefined
  readonly status: (kind: Kind, text: Text) => Verdict
}

/** Lists by key, in the order of their items. */
const groups = <A extends Key>(items: Iterable<A>): ReadonlyMap<string, ReadonlyArray<A>> => {
  const found = new Map<string, Array<A>>()
  for (const item of items) {
    const key = keyOf(item)
    const list = found.get(key)
    if (list === undefined) found.set(key, [item])
    else list.push(item)
  }
  return found
}

const driftOf = (pin: Pin, definition: Definition): Drift.Drift =>
  Drift.between(pin.kind, pin.text, definition.text) ?? Drift.undecidable

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

/** What new items are compared with; made when there is the first one. */
const likenesses = (pins: ReadonlyArray<Pin>) => {
  let contents: Map<string | undefined, Pin> | undefined
  let alike: Map<string, Pin> | undefined
  const looks = ({ kind, name }: Key): string => `${kind}\u0000${skeleton(name)}`
  return (item: Definition): New => {
    contents ??= new Map(pins.map((pin) => [contentOf(pin), pin]))
    alike ??= new Map(pins.map((pin) => [looks(pin), pin]))
    const content = contentOf(item)
    const same = content === undefined ? undefined : contents.get(content)
    const twin = alike.get(looks(item))
    const why = twin !== undefined
      ? "new, with a name that looks like an accepted one"
      : same !== undefined
      ? "new, with the content of an accepted one"
      : "new"
    const { digest, kind, name } = item
    return { _tag: "New", kind, name, digest, reason: "held-new", why, item, same: same?.name, alike: twin?.name }
  }
}

const isResource = (kind: Kind): boolean => kind === "resource" || kind === "template"

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
    .sort((left, right) => kinds.indexOf(left.kind) - kinds.indexOf(right.kind))
  const accepted = groups(pins.pins)
  const listed = groups(all)
  const fresh = likenesses(pins.pins)
  const rejected = new Set(pins.rejected.map(({ digest, kind }) => `${kind}\u0000${digest}`))

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
    const isRejected = rejected.has(`${kind}\u0000${digest}`)
    if (!isRejected && pins.resources === "any" && isResource(kind)) return { _tag: "Free", kind, name, digest, item }
    const of = changed(candidates, item) ?? fresh(item)
    return isRejected
      ? { _tag: "Rejected", kind, name, digest, reason: "held-rejected", why: "rejected", item, of }
      : of
  }

  const verdicts = all.map(verdict)
  const byKey = new Map<string, Verdict>()
  const byText = new Map<Kind, Map<Text, Verdict>>(listing.kinds.map((kind) => [kind, new Map()]))
  for (const found of verdicts) {
    const key = keyOf(found)
    if (!byKey.has(key)) byKey.set(key, found)
    byText.get(found.kind)?.set(found.item.text, found)
  }
  return {
    verdicts,
    held: verdicts.filter(isHeld),
    gone: pins.pins.filter((pin) => listing.kinds.includes(pin.kind) && !listed.has(keyOf(pin))),
    find: (kind, name) => byKey.get(keyOf({ kind, name })),
    status: (kind, text) => byText.get(kind)?.get(text) ?? verdict(define(kind, text))
  }
}

/**
 * Judgements of different kinds as one; `otherwise` judges items of the kinds that are not among them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const joined = (parts: ReadonlyArray<readonly [Kind, Judgement]>, otherwise: Judgement): Judgement => {
  const of = new Map(parts)
  return {
    verdicts: parts.flatMap(([, { verdicts }]) => verdicts),
    held: parts.flatMap(([, { held }]) => held),
    gone: parts.flatMap(([, { gone }]) => gone),
    find: (kind, name) => of.get(kind)?.find(kind, name),
    status: (kind, text) => (of.get(kind) ?? otherwise).status(kind, text)
  }
}

/**
 * Whether a host that was shown the one is to be told that there is another: other definitions are shown.
 *
 * @category judging
 * @since 0.1.0
 */
export const shownDiffers = (before: Judgement, after: Judgement): boolean => {
  const shown = (self: Judgement) =>
    self.verdicts.filter((verdict) => !isHeld(verdict)).map((verdict) => keyOf(verdict) + verdict.digest).sort()
  const left = shown(before)
  const right = shown(after)
  return left.length !== right.length || left.some((key, index) => key !== right[index])
}
