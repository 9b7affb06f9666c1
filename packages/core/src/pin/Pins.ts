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
import * as Digest from "../wire/Digest.ts"
import type { Key, Listing } from "./Definition.ts"
import { Definition, Invalid, keyOf, Kind, kinds, ofKind, unlisted } from "./Definition.ts"
import * as Drift from "./Drift.ts"
import type { Judgement, News, Rejected } from "./Judge.ts"
import { isNews, joined, judge } from "./Judge.ts"
import { compareLaunch, type Difference, LaunchPin } from "./Launch.ts"

export {
  contentOf,
  define,
  Definition,
  Invalid,
  isInvalid,
  isPinnedCapability,
  type Key,
  keyOf,
  Kind,
  kinds,
  type Listing,
  listing,
  longest,
  ofKind,
  opening,
  together,
  unlisted
} from "./Definition.ts"
export {
  type Accepted,
  type Changed,
  type Conflict,
  type Free,
  type HeldVerdict,
  isHeld,
  isNews,
  judge,
  type Judgement,
  type New,
  type News,
  type Rejected,
  shownDiffers,
  type Unfit,
  type Verdict
} from "./Judge.ts"
export { compareLaunch, decidedBy, type Difference, launch, LaunchPin, portable } from "./Launch.ts"

/**
 * How something was accepted: on the terminal, by the digest of exactly what it is, everything unseen, from a file that
 * others made, or as the first listing of a server that was to be trusted.
 *
 * @category schemas
 * @since 0.1.0
 */
export const How = Schema.Literals(["terminal", "digest", "unseen", "import", "first-sight"])
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
 * What a person has looked at and does not want: a definition, or a launch (whose name is empty). `at` is when.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Rejection = Schema.Struct({
  kind: Schema.Literals([...kinds, "launch"]),
  name: Schema.String,
  digest: Schema.String,
  at: Schema.String
})
/**
 * @category models
 * @since 0.1.0
 */
export type Rejection = typeof Rejection.Type

/**
 * Which resources of a server may be read: `listed`: those that were accepted, and what fits an accepted template;
 * `linked`: besides those what a result of this session linked to; `any`: all, and what is listed is recorded, not held.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Resources = Schema.Literals(["listed", "linked", "any"])
/**
 * @category models
 * @since 0.1.0
 */
export type Resources = typeof Resources.Type

/**
 * The newest listing of one kind, held or not.
 *
 * **Details**
 *
 * - `at`: when this content was first seen.
 * - `variant`: what it may depend on (revision and declared capabilities of the session).
 * - `invalid`: the items that are no valid definition, with why.
 * - `fault`: set where the kind could not be listed since; the items are those of the listing before.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SeenKind = Schema.Struct({
  kind: Kind,
  at: Schema.String,
  variant: Schema.String,
  items: Schema.Array(Definition),
  invalid: Schema.Array(Invalid),
  fault: Schema.optionalKey(Schema.String)
})
/**
 * @category models
 * @since 0.1.0
 */
export type SeenKind = typeof SeenKind.Type

/**
 * What was last seen: `pins show`, `diff` and `accept` work from it and start nothing. A kind that was never listed is not
 * in it, and nothing is thought of it. `at` is when something of it was new last.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Seen = Schema.Struct({
  at: Schema.String,
  launch: LaunchPin,
  kinds: Schema.Array(SeenKind)
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
 * - `sighted`: the kinds of which there is no first sight any more: nothing of them is pinned by `--first-sight trust`.
 * - `launch`: the accepted launch; absent until something was accepted.
 * - `expects`: while no launch is accepted, the portable form of the only one that may be started: the first that fits it
 *   is then accepted.
 * - `resources`: which resources may be read, where a person has said so; without it those that are `listed`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Pins = Schema.Struct({
  version: Schema.Int,
  server: Schema.String,
  since: Schema.optionalKey(Schema.String),
  sighted: Schema.Array(Kind),
  launch: Schema.optionalKey(LaunchPin),
  expects: Schema.optionalKey(LaunchPin),
  resources: Schema.optionalKey(Resources),
  pins: Schema.Array(Pin),
  rejected: Schema.Array(Rejection),
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
export const empty = (server: string): Pins => ({ version: 0, server, sighted: [], pins: [], rejected: [] })

// ---- what is held now

/**
 * The launch that was seen and is not the accepted one. `accepted` is absent where none ever was; then there are no
 * differences. `rejected`: a person has looked at it and does not want it.
 *
 * @category models
 * @since 0.1.0
 */
export interface HeldLaunch {
  readonly accepted: LaunchPin | undefined
  readonly seen: LaunchPin
  readonly differences: ReadonlyArray<Difference>
  readonly rejected: boolean
}

/**
 * What is held of a server, by what was last seen of it.
 *
 * **Details**
 *
 * - `verdicts`: what nobody has decided about; `rejected`: what a person did not want.
 * - `class`: the strongest drift of what is not decided; absent where nothing drifted (nothing is held, or nothing was ever
 *   accepted). A new item beside accepted ones is text, a new capability or a name given twice is widening, another launch
 *   is privilege.
 *
 * @category models
 * @since 0.1.0
 */
export interface Held {
  readonly launch: HeldLaunch | undefined
  readonly verdicts: ReadonlyArray<News>
  readonly rejected: ReadonlyArray<Rejected>
  readonly class: Drift.Class | undefined
}

/**
 * How the launch that was seen stands: accepted as it is, never accepted, another than the accepted one, or rejected.
 *
 * @category getters
 * @since 0.1.0
 */
export const launchState = ({ launch }: Held): "accepted" | "new" | "changed" | "rejected" =>
  launch === undefined
    ? "accepted"
    : launch.rejected
    ? "rejected"
    : launch.accepted === undefined
    ? "new"
    : "changed"

/**
 * Whether a person has rejected this launch.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRejectedLaunch = (pins: Pins, launch: LaunchPin): boolean =>
  pins.launch?.digest !== launch.digest &&
  pins.rejected.some(({ digest, kind }) => kind === "launch" && digest === launch.digest)

const launchHeld = (pins: Pins): HeldLaunch | undefined => {
  const seen = pins.seen?.launch
  if (seen === undefined || pins.launch?.digest === seen.digest) return undefined
  return {
    accepted: pins.launch,
    seen,
    differences: pins.launch === undefined ? [] : compareLaunch(pins.launch, seen),
    rejected: isRejectedLaunch(pins, seen)
  }
}

const classOf = (verdict: News): Drift.Class | undefined => {
  switch (verdict._tag) {
    case "Changed":
      return verdict.drift.class
    case "New":
      return verdict.kind === "capability" ? "widening" : "text"
    case "Conflict":
      return "widening"
    case "Invalid":
      return undefined
  }
}

/**
 * Judges what was last seen, each kind as the variant that it was seen in.
 *
 * @category judging
 * @since 0.1.0
 */
export const judgeSeen = (pins: Pins): Judgement =>
  joined(
    kinds.flatMap((kind) => {
      const seen = seenOf(pins, kind)
      return seen === undefined ? [] : [[kind, judge(pins, seen.variant, { ...seen, kinds: [kind] })] as const]
    }),
    judge(pins, "", unlisted)
  )

/**
 * What was last seen of one kind; `undefined` where it was never listed.
 *
 * @category getters
 * @since 0.1.0
 */
export const seenOf = (pins: Pins, kind: Kind): SeenKind | undefined =>
  pins.seen?.kinds.find((seen) => seen.kind === kind)

/**
 * Why what was last seen is not the newest: the faults of the kinds that could not be listed since.
 *
 * @category getters
 * @since 0.1.0
 */
export const faultsOf = (pins: Pins): ReadonlyArray<{ readonly kind: Kind; readonly fault: string }> =>
  (pins.seen?.kinds ?? []).flatMap(({ fault, kind }) => fault === undefined ? [] : [{ kind, fault }])

/**
 * What is held now.
 *
 * @category judging
 * @since 0.1.0
 */
export const heldOf = (pins: Pins): Held => {
  const launch = launchHeld(pins)
  const judged = judgeSeen(pins).held
  const verdicts = judged.filter(isNews)
  let strongest: Drift.Class | undefined
  if (pins.launch !== undefined) {
    const another = launch === undefined || launch.rejected ? undefined : "privilege" as const
    for (const grade of [...verdicts.map(classOf), another]) {
      if (grade !== undefined) strongest = strongest === undefined ? grade : Drift.strongest(strongest, grade)
    }
  }
  return { launch, verdicts, rejected: judged.filter((verdict) => verdict._tag === "Rejected"), class: strongest }
}

/**
 * What an acceptance of these items would accept, in one order. Without items: all that is held and can be accepted, but
 * for what was rejected.
 */
const acceptable = (pins: Pins, items: ReadonlyArray<Key> | undefined): ReadonlyArray<Definition> => {
  const wanted = items === undefined ? undefined : new Set(items.map(keyOf))
  const held = heldOf(pins)
  return [...held.verdicts, ...(wanted === undefined ? [] : held.rejected)]
    .flatMap((verdict) => verdict._tag === "Conflict" || verdict._tag === "Invalid" ? [] : [verdict.item])
    .filter((item) => wanted === undefined || wanted.has(keyOf(item)))
    .sort((left, right) => keyOf(left) < keyOf(right) ? -1 : 1)
}

const setsResources = (pins: Pins, resources: Resources | undefined): boolean =>
  resources !== undefined && resources !== (pins.resources ?? "listed")

/**
 * The digest of exactly what an acceptance would accept now: the held definitions (those that are named, without names
 * all), the launch that was seen, and which resources may be read where that is to change. `undefined` where there is
 * nothing to accept.
 *
 * @category judging
 * @since 0.1.0
 */
export const digestOfHeld = (
  pins: Pins,
  items?: ReadonlyArray<Key>,
  resources?: Resources
): string | undefined => {
  if (pins.seen === undefined) return undefined
  const definitions = acceptable(pins, items)
  const sets = setsResources(pins, resources)
  if (definitions.length === 0 && launchHeld(pins) === undefined && !sets) return undefined
  return Digest.framed([
    "sallyport/pin/held/2",
    pins.server,
    pins.seen.launch.digest,
    sets ? resources ?? "" : "",
    ...definitions.flatMap(({ digest, kind, name }) => [kind, name, seenOf(pins, kind)?.variant ?? "", digest])
  ])
}

/**
 * The server under whose name the same launch, or a definition of this listing, was rejected or is held as changed;
 * `undefined` where there is none.
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
      isRejectedLaunch(other, launch) ||
      other.rejected.some(({ digest, kind }) => kind !== "launch" && digests.has(digest)) ||
      held.verdicts.some((verdict) => verdict._tag === "Changed" && digests.has(verdict.digest))
  })?.server
}

/**
 * How a digest stands under other names.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly server: string
  readonly was: "accepted" | "rejected"
}

/**
 * What was accepted or rejected under other names, by digest: definitions and launches. It is shown with what is new, and
 * decides nothing.
 *
 * @category judging
 * @since 0.1.0
 */
export const linksOf = (others: ReadonlyArray<Pins>): ReadonlyMap<string, ReadonlyArray<Link>> => {
  const links = new Map<string, Array<Link>>()
  const put = (digest: string, link: Link) => {
    const known = links.get(digest)
    if (known === undefined) links.set(digest, [link])
    else if (!known.some(({ server, was }) => server === link.server && was === link.was)) known.push(link)
  }
  for (const { launch, pins, rejected, server } of others) {
    if (launch !== undefined) put(launch.digest, { server, was: "accepted" })
    for (const { digest } of pins) put(digest, { server, was: "accepted" })
    for (const { digest } of rejected) put(digest, { server, was: "rejected" })
  }
  return links
}

// ---- changing

/**
 * Nothing was accepted.
 *
 * **Details**
 *
 * - `nothing-held`: there is nothing that could be accepted.
 * - `not-held`: these items are not held (accepted already, or not offered).
 * - `not-acceptable`: these items are given twice by the server, or are no valid definitions.
 * - `digest-differs`: what is held now is not what the digest was taken of.
 * - `rejected`: the launch was rejected, and is not accepted unseen.
 *
 * @category errors
 * @since 0.1.0
 */
export class AcceptError extends Schema.TaggedError<AcceptError>("sallyport/pin/AcceptError")("AcceptError", {
  kind: Schema.Literals(["nothing-held", "not-held", "not-acceptable", "digest-differs", "rejected"]),
  items: Schema.Array(Schema.Struct({ kind: Kind, name: Schema.String })),
  message: Schema.String
}) {}

/**
 * What is to be accepted: these of the held items, without any all but the rejected ones, and which resources may be read;
 * only if it is exactly what `digest` ({@link digestOfHeld} of the same) was taken of. What is accepted `unseen` has no
 * launch that was rejected.
 *
 * @category models
 * @since 0.1.0
 */
export interface Choice {
  readonly items?: ReadonlyArray<Key>
  readonly resources?: Resources
  readonly digest?: string
  readonly unseen?: boolean
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
  /** Which resources may be read, where that was changed. */
  readonly resources: Resources | undefined
}

const pinned = (pins: Pins, seen: Seen, definitions: ReadonlyArray<Definition>, how: How, at: string): Pins => {
  const fresh = definitions.map((definition): Pin => {
    const variant = seenOf(pins, definition.kind)?.variant ?? ""
    return { ...definition, variant, how, at }
  })
  const place = (pin: Pin): string => `${keyOf(pin)}\u0000${pin.variant}`
  const replaced = new Set(fresh.map(place))
  const accepted = new Set([`launch ${seen.launch.digest}`, ...fresh.map(({ digest, kind }) => `${kind} ${digest}`)])
  const { expects: _, ...rest } = pins
  return {
    ...rest,
    launch: seen.launch,
    pins: [...pins.pins.filter((pin) => !replaced.has(place(pin))), ...fresh],
    rejected: pins.rejected.filter(({ digest, kind }) => !accepted.has(`${kind} ${digest}`))
  }
}

const refused = (kind: AcceptError["kind"], message: string, items: ReadonlyArray<Key> = []) =>
  Result.fail(new AcceptError({ kind, items: items.map(({ kind, name }) => ({ kind, name })), message }))

/**
 * Accepts what was last seen, and with it always the launch that was seen. `at` is the time in ISO 8601. From then on
 * nothing is trusted at first sight.
 *
 * @category changing
 * @since 0.1.0
 */
export const accept = (pins: Pins, choice: Choice, how: How, at: string): Result.Result<Acceptance, AcceptError> => {
  const { seen } = pins
  const held = heldOf(pins)
  const digest = digestOfHeld(pins, choice.items, choice.resources)
  if (choice.unseen === true && held.launch?.rejected === true) {
    return refused("rejected", "the launch was rejected; look at it")
  }
  if (choice.items !== undefined) {
    const verdicts = new Map([...held.verdicts, ...held.rejected].map((verdict) => [keyOf(verdict), verdict]))
    const missing = choice.items.filter((item) => !verdicts.has(keyOf(item)))
    if (missing.length > 0) return refused("not-held", "not held", missing)
    const unfit = choice.items.filter((item) => {
      const tag = verdicts.get(keyOf(item))?._tag
      return tag === "Conflict" || tag === "Invalid"
    })
    if (unfit.length > 0) {
      return refused(
        "not-acceptable",
        "cannot be accepted: the server gives the name more than once, or the definition is not valid",
        unfit
      )
    }
  }
  if (seen === undefined || digest === undefined) return refused("nothing-held", `nothing is held of ${pins.server}`)
  if (choice.digest !== undefined && choice.digest !== digest) {
    return refused("digest-differs", "what is held now is not what this digest was taken of; look at it again")
  }
  const definitions = acceptable(pins, choice.items)
  const resources = setsResources(pins, choice.resources) ? choice.resources : undefined
  return Result.succeed({
    pins: {
      ...pinned(pins, seen, definitions, how, at),
      ...(resources === undefined ? {} : { resources }),
      sighted: kinds
    },
    definitions,
    launch: held.launch !== undefined,
    resources
  })
}

/**
 * What is to be rejected: these items, held or accepted, and the launch where it is said; without either all that is held
 * and not decided.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refusal {
  readonly items?: ReadonlyArray<Key>
  readonly launch?: boolean
}

/**
 * What came of a rejection: the pins to store, and what was rejected.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rejecting {
  readonly pins: Pins
  readonly rejected: ReadonlyArray<Rejection>
}

/**
 * Rejects what was last seen: it stays held and is no news any more; an accepted item, or launch, is so no longer. `at` is
 * the time in ISO 8601. From then on nothing is trusted at first sight.
 *
 * @category changing
 * @since 0.1.0
 */
export const reject = (pins: Pins, choice: Refusal, at: string): Result.Result<Rejecting, AcceptError> => {
  const held = heldOf(pins)
  const everything = choice.items === undefined && choice.launch !== true
  const can = new Map(
    judgeSeen(pins).verdicts.flatMap((verdict) =>
      verdict._tag === "Conflict" || verdict._tag === "Invalid" || verdict._tag === "Rejected"
        ? []
        : [[keyOf(verdict), verdict] as const]
    )
  )
  const missing = (choice.items ?? []).filter((item) => !can.has(keyOf(item)))
  if (missing.length > 0) return refused("not-held", "not held, and not accepted", missing)
  const chosen = everything
    ? held.verdicts.flatMap((verdict) => can.get(keyOf(verdict)) ?? [])
    : (choice.items ?? []).flatMap((item) => can.get(keyOf(item)) ?? [])
  const launch = choice.launch === true || everything && held.launch !== undefined && !held.launch.rejected
    ? pins.seen?.launch
    : undefined
  const rejected: ReadonlyArray<Rejection> = [
    ...(launch === undefined || isRejectedLaunch(pins, launch)
      ? []
      : [{ kind: "launch" as const, name: "", digest: launch.digest, at }]),
    ...chosen.map(({ digest, kind, name }) => ({ kind, name, digest, at }))
  ]
  if (rejected.length === 0) return refused("nothing-held", `nothing is held of ${pins.server}`)
  const gone = new Set(rejected.map(({ digest, kind }) => `${kind} ${digest}`))
  const { launch: accepted, ...rest } = pins
  return Result.succeed({
    pins: {
      ...rest,
      ...(accepted === undefined || gone.has(`launch ${accepted.digest}`) ? {} : { launch: accepted }),
      sighted: kinds,
      pins: pins.pins.filter(({ digest, kind }) => !gone.has(`${kind} ${digest}`)),
      rejected: [...pins.rejected.filter(({ digest, kind }) => !gone.has(`${kind} ${digest}`)), ...rejected]
    },
    rejected
  })
}

/**
 * What a relay saw: whole listings of some kinds. With a `fault` these kinds could not be listed, and `listing` has nothing
 * of them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sight {
  readonly at: string
  readonly variant: string
  readonly launch: LaunchPin
  readonly listing: Listing
  readonly fault?: string
}

/**
 * How long a first sight lasts, in milliseconds: kinds are listed one after the other, and a host may start a server twice.
 *
 * @category constants
 * @since 0.1.0
 */
export const firstSightMillis = 60_000

/**
 * Whether nothing of this kind was ever seen of this server, and at this time the server itself is new: nothing was decided
 * about it, and its first listing was read less than a minute ago. A listing that failed is no sight.
 *
 * @category guards
 * @since 0.1.0
 */
export const isFirstSight = (pins: Pins, kind: Kind, at: string): boolean => {
  if (pins.sighted.includes(kind)) return false
  if (pins.since === undefined) return pins.launch === undefined && pins.pins.length === 0
  const age = Date.parse(at) - Date.parse(pins.since)
  return age >= 0 && age < firstSightMillis
}

/**
 * Pins the first listing of each kind as it is, and keeps it as {@link see} does; of kinds of which it is not the first
 * sight only that. Names given twice and invalid items are not pinned. It uses up the trust: later news is held.
 *
 * @category changing
 * @since 0.1.0
 */
export const trustFirstSight = (pins: Pins, sight: Sight): Pins => {
  const sighted = see(pins, sight)
  const { seen } = sighted
  const first = sight.fault === undefined
    ? sight.listing.kinds.filter((kind) => isFirstSight(pins, kind, sight.at))
    : []
  const isKnown = pins.launch !== undefined && pins.launch.digest !== sight.launch.digest
  if (seen === undefined || first.length === 0 || isKnown || isRejectedLaunch(pins, sight.launch)) return sighted
  const definitions = acceptable(sighted, undefined).filter(({ kind }) => first.includes(kind))
  return pinned(sighted, seen, definitions, "first-sight", sight.at)
}

const fingerprint = (seen: SeenKind): string =>
  Digest.framed([
    seen.variant,
    seen.fault ?? "",
    ...seen.items.map((item) => `${item.digest} ${item.name}`).sort(),
    ...seen.invalid.map((item) => item.digest).sort()
  ])

/**
 * Keeps the newest listing of each kind in it. The same pins come back (the same object) where nothing is new, so that a
 * caller knows that nothing need be stored. A listing that failed leaves the items of the one before.
 *
 * @category changing
 * @since 0.1.0
 */
export const see = (pins: Pins, { at, fault, launch, listing, variant }: Sight): Pins => {
  const before = pins.seen
  let news = before === undefined || before.launch.digest !== launch.digest
  const seen = listing.kinds.map((kind): SeenKind => {
    const old = seenOf(pins, kind)
    const { invalid, items } = ofKind(listing, kind)
    const next: SeenKind = fault === undefined
      ? { kind, at, variant, items, invalid }
      : { ...(old ?? { kind, at, variant, items, invalid }), fault }
    if (old !== undefined && fingerprint(old) === fingerprint(next)) return old
    news = true
    return next
  })
  if (!news) return pins
  const listed = new Set(listing.kinds)
  return {
    ...pins,
    seen: { at, launch, kinds: [...(before?.kinds ?? []).filter(({ kind }) => !listed.has(kind)), ...seen] },
    ...(fault === undefined && listed.size > 0
      ? { sighted: [...new Set([...pins.sighted, ...listed])], since: pins.since ?? at }
      : {})
  }
}

/**
 * Keeps a launch that was not started because it is not the accepted one, so that it can be shown and accepted. What was
 * listed stays as it was last seen.
 *
 * @category changing
 * @since 0.1.0
 */
export const seeLaunch = (pins: Pins, launch: LaunchPin, at: string): Pins =>
  pins.seen?.launch.digest === launch.digest ? pins : { ...pins, seen: { at, launch, kinds: pins.seen?.kinds ?? [] } }

/**
 * Accepts the launch that is started, where it fits what is expected ({@link Pins}, `expects`).
 *
 * @category changing
 * @since 0.1.0
 */
export const settleLaunch = (pins: Pins, launch: LaunchPin): Pins => {
  const { expects: _, ...rest } = pins
  return { ...rest, launch }
}

/**
 * Forgets everything but that the name was there once, so that it is not trusted at first sight again.
 *
 * @category changing
 * @since 0.1.0
 */
export const forget = (pins: Pins): Pins => ({ ...empty(pins.server), version: pins.version, sighted: kinds })
