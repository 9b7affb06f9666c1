/**
 * Limits: how often, how many at a time and how many in all, counted for each client, server and tool.
 *
 * **Details**
 *
 * Pure, but for the counts themselves: time is handed in, in milliseconds of a clock that never goes back. What is kept
 * across restarts is a {@link Kept}: merging one adds what other processes used meanwhile and never takes away what was
 * used here, so that a clock that was set back or forward gives nothing to anybody (security rule F30).
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Glob from "./Glob.ts"
import type { Limit, Match } from "./Policy.ts"

/**
 * A call as limits see it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly client: string
  readonly server: string
  readonly method: string
  readonly name: string | undefined
}

/**
 * How many buckets there may be at a time; a call that would need one more is refused.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBuckets = 10_000

// ---- which limits a call is under

/**
 * One limit, as it counts for one client, server and tool.
 *
 * @category models
 * @since 0.1.0
 */
export interface Use {
  readonly limit: Limit
  /** Names the bucket. */
  readonly key: string
  readonly place: Place
}

/**
 * Whose bucket it is. `name` is there where names come from a listing: a URI is chosen by who asks, and a bucket for each
 * would limit nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly limit: string
  readonly client: string
  readonly server: string
  readonly method: string
  readonly name: string
}

/**
 * Finds the limits that a call is under.
 *
 * @category models
 * @since 0.1.0
 */
export type Table = (subject: Subject) => ReadonlyArray<Use>

const listed = new Set(["tools/call", "prompts/get"])
const none: ReadonlyArray<Use> = []

const matcher = (match: Match): (subject: Subject) => boolean => {
  const tests = (["client", "server", "method", "name"] as const).flatMap((part) => {
    const patterns = match[part]
    if (patterns === undefined) return []
    // Patterns that cannot be compiled are none of a policy that was read; such a one would match.
    const globs = patterns.map((pattern) =>
      Result.match(Glob.compile(pattern), { onFailure: () => () => true, onSuccess: (glob) => glob.matches })
    )
    return [(subject: Subject) => globs.some((matches) => matches(subject[part] ?? ""))]
  })
  return (subject) => tests.every((test) => test(subject))
}

/**
 * Compiles the limits of a policy. What was found for the name of a tool is remembered.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (limits: ReadonlyArray<Limit>): Table => {
  if (limits.length === 0) return () => none
  const all = limits.map((limit) => ({ limit, matches: matcher(limit.match) }))
  const known = new Map<string, ReadonlyArray<Use>>()
  return (subject) => {
    const isListed = listed.has(subject.method)
    const key = JSON.stringify([subject.client, subject.server, subject.method, isListed ? subject.name : ""])
    const before = isListed ? known.get(key) : undefined
    if (before !== undefined) return before
    const found = all.flatMap(({ limit, matches }) =>
      matches(subject)
        ? [{
          limit,
          key: `${limit.id} ${key}`,
          place: {
            limit: limit.id,
            client: subject.client,
            server: subject.server,
            method: subject.method,
            name: isListed ? subject.name ?? "" : ""
          }
        }]
        : []
    )
    if (isListed) {
      if (known.size >= maxBuckets) known.clear()
      known.set(key, found)
    }
    return found
  }
}

// ---- what is kept

const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * What was used of the limits of one server, as it is kept across restarts and shared by processes.
 *
 * **Details**
 *
 * `at` is the time of day at which it was written, in milliseconds. `owed` is for how many milliseconds after that a
 * bucket is not full, `spent` what was used of a budget.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Kept = Schema.Struct({
  at: Schema.Int,
  buckets: Schema.Array(Schema.Struct({
    limit: Schema.String,
    client: Schema.String,
    method: Schema.String,
    name: Schema.String,
    owed: Amount,
    spent: Amount
  })).check(Schema.isMaxLength(maxBuckets))
})
/**
 * @category models
 * @since 0.1.0
 */
export type Kept = typeof Kept.Type

/**
 * Nothing used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const nothing: Kept = { at: 0, buckets: [] }

// ---- counting

/**
 * A limit that is used up, and in how many milliseconds there is room again: `undefined` where time alone gives none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Over {
  readonly limit: Limit
  readonly what: "calls" | "concurrent" | "budget" | "buckets"
  readonly free: number | undefined
}

/**
 * The counts of one process.
 *
 * @category models
 * @since 0.1.0
 */
export interface Buckets {
  /** Uses all of these, or none: then the limit that is used up. */
  readonly take: (uses: ReadonlyArray<Use>, now: number) => Over | undefined
  /** The call is over: it counts no more among those under way. */
  readonly end: (uses: ReadonlyArray<Use>) => void
  /** Gives back what was taken, as if it had never been. */
  readonly undo: (uses: ReadonlyArray<Use>) => void
  /** Whether anything of this server was used that was not kept yet. */
  readonly isFresh: (server: string) => boolean
  /** What is to be kept of a server now, given what is kept, and what to do once that is written. */
  readonly merge: (
    server: string,
    kept: Kept,
    time: { readonly now: number; readonly wall: number }
  ) => { readonly kept: Kept; readonly done: () => void }
}

interface Bucket {
  readonly place: Place
  /** When the bucket is full again. */
  until: number
  /** What of this was used here and is not kept yet: milliseconds owed, and calls of the budget. */
  owes: number
  spends: number
  /** What was used of the budget in all. */
  spent: number
  running: number
}

/** Sums of fractions come out a little too big or small. */
const grain = 1e-6

const perOf = (limit: Limit): number => limit.per === undefined ? 0 : Duration.toMillis(limit.per)

/** How long one call fills a bucket, in milliseconds. */
const each = (limit: Limit): number => limit.calls === undefined ? 0 : perOf(limit) / limit.calls

const bySpent = (one: Kept["buckets"][number], other: Kept["buckets"][number]): number => other.spent - one.spent

const keyOf = ({ client, limit, method, name, server }: Place): string =>
  `${limit} ${JSON.stringify([client, server, method, name])}`

/**
 * Why this use is too much; `undefined` if it is not.
 *
 * @category guards
 * @since 0.1.0
 */
const over = (limit: Limit, bucket: Bucket, now: number): Over | undefined => {
  if (limit.budget !== undefined && bucket.spent >= limit.budget) return { limit, what: "budget", free: undefined }
  if (limit.concurrent !== undefined && bucket.running >= limit.concurrent) {
    return { limit, what: "concurrent", free: undefined }
  }
  if (limit.calls === undefined) return undefined
  // What was owed under a longer period counts for no more than all of this one.
  const owed = Math.min(Math.max(0, bucket.until - now), perOf(limit))
  const wait = owed + each(limit) - perOf(limit)
  return wait > grain ? { limit, what: "calls", free: wait } : undefined
}

/**
 * Counts of which nothing is used yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (most: number = maxBuckets): Buckets => {
  const buckets = new Map<string, Bucket>()

  const isIdle = (bucket: Bucket, now: number): boolean =>
    bucket.running === 0 && bucket.until <= now && bucket.spent === 0 && bucket.owes === 0 && bucket.spends === 0

  const fresh = (place: Place): Bucket => ({ place, until: 0, owes: 0, spends: 0, spent: 0, running: 0 })

  /** The bucket, made where there is room for one more. */
  const find = (key: string, place: Place, now: number): Bucket | undefined => {
    const found = buckets.get(key)
    if (found !== undefined) return found
    if (buckets.size >= most) {
      for (const [other, bucket] of buckets) if (isIdle(bucket, now)) buckets.delete(other)
      if (buckets.size >= most) return undefined
    }
    const made = fresh(place)
    buckets.set(key, made)
    return made
  }

  return {
    take: (uses, now) => {
      const found: Array<readonly [Limit, Bucket]> = []
      for (const { key, limit, place } of uses) {
        const bucket = find(key, place, now)
        if (bucket === undefined) return { limit, what: "buckets", free: undefined }
        const wrong = over(limit, bucket, now)
        if (wrong !== undefined) return wrong
        found.push([limit, bucket])
      }
      for (const [limit, bucket] of found) {
        bucket.running++
        if (limit.calls !== undefined) {
          bucket.until = Math.max(now, Math.min(bucket.until, now + perOf(limit))) + each(limit)
          bucket.owes += each(limit)
        }
        if (limit.budget !== undefined) {
          bucket.spent++
          bucket.spends++
        }
      }
      return undefined
    },
    end: (uses) => {
      for (const { key } of uses) {
        const bucket = buckets.get(key)
        if (bucket !== undefined && bucket.running > 0) bucket.running--
      }
    },
    undo: (uses) => {
      for (const { key, limit } of uses) {
        const bucket = buckets.get(key)
        if (bucket === undefined) continue
        bucket.running = Math.max(0, bucket.running - 1)
        if (limit.calls !== undefined) {
          bucket.until -= each(limit)
          bucket.owes -= each(limit)
        }
        if (limit.budget !== undefined) {
          bucket.spent--
          bucket.spends--
        }
      }
    },
    isFresh: (server) => {
      for (const bucket of buckets.values()) {
        if (bucket.place.server === server && (Math.abs(bucket.owes) > grain || bucket.spends !== 0)) return true
      }
      return false
    },
    merge: (server, kept, { now, wall }) => {
      // A bucket gains by time that passed while nobody looked, never by a clock that was set back.
      const passed = Math.max(0, wall - kept.at)
      const before = new Map(kept.buckets.map((one) => [keyOf({ ...one, server }), one]))
      const next: Array<Kept["buckets"][number]> = []
      const apply: Array<() => void> = []
      for (const [key, { limit, client, method, name, owed, spent }] of before) {
        if (buckets.has(key)) continue
        const left = Math.max(0, owed - passed)
        if (left > 0 || spent > 0) next.push({ limit, client, method, name, owed: left, spent })
      }
      for (const [key, bucket] of buckets) {
        if (bucket.place.server !== server) continue
        const { owes, spends } = bucket
        const old = before.get(key)
        const others = Math.max(0, (old?.owed ?? 0) - passed) + owes
        const owed = Math.max(others, bucket.until - now, 0)
        const spent = (old?.spent ?? 0) + spends
        if (owed > 0 || spent > 0) {
          const { client, limit, method, name } = bucket.place
          next.push({ limit, client, method, name, owed, spent })
        }
        apply.push(() => {
          bucket.owes -= owes
          bucket.spends -= spends
          // What was used while it was being written is on top.
          bucket.until = Math.max(bucket.until, now + owed + bucket.owes)
          bucket.spent = spent + bucket.spends
        })
      }
      return {
        // What was spent is never given back for want of room; what is owed passes anyway.
        kept: { at: wall, buckets: next.length <= maxBuckets ? next : next.sort(bySpent).slice(0, maxBuckets) },
        done: () => {
          for (const one of apply) one()
          for (const [key, { client, limit, method, name, owed, spent }] of before) {
            const left = Math.max(0, owed - passed)
            if (buckets.has(key) || (left === 0 && spent === 0)) continue
            const bucket = find(key, { limit, client, server, method, name }, now)
            if (bucket === undefined) continue
            bucket.until = now + left
            bucket.spent = spent
          }
        }
      }
    }
  }
}

/**
 * The budget among these that would be exceeded if this were kept.
 *
 * @category guards
 * @since 0.1.0
 */
export const overspent = (kept: Kept, uses: ReadonlyArray<Use>): Over | undefined => {
  for (const { limit, place } of uses) {
    const { budget } = limit
    if (budget === undefined) continue
    const over = kept.buckets.some((bucket) =>
      bucket.spent > budget && bucket.limit === place.limit && bucket.client === place.client &&
      bucket.method === place.method && bucket.name === place.name
    )
    if (over) return { limit, what: "budget", free: undefined }
  }
  return undefined
}

/**
 * When there is room again, in words; for who was refused.
 *
 * @category formatting
 * @since 0.1.0
 */
export const remedy = ({ free, what }: Over): string => {
  switch (what) {
    case "calls":
      return `It is free again in ${secondsOf(free ?? 0)}`
    case "concurrent":
      return "It is free again when one of the calls under way is answered"
    case "budget":
      return "The budget is used up, and waiting gives none back; only the operator can give more"
    case "buckets":
      return "Too many limits are in use at a time; try again later"
  }
}

/**
 * What was exceeded, in words.
 *
 * @category formatting
 * @since 0.1.0
 */
export const why = ({ limit, what }: Over): string => {
  switch (what) {
    case "calls":
      return `at most ${calls(limit.calls ?? 0)} let through in ${spanOf(perOf(limit))}`
    case "concurrent":
      return `at most ${calls(limit.concurrent ?? 0)} let through at a time`
    case "budget":
      return `at most ${calls(limit.budget ?? 0)} let through in all`
    case "buckets":
      return `more than ${maxBuckets} limits would be counted`
  }
}

const calls = (amount: number): string => amount === 1 ? "1 call is" : `${amount} calls are`

const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]] as const

/** A time in the words of the policy file. */
const spanOf = (millis: number): string => {
  const [unit, length] = units.find(([, length]) => millis % length === 0) ?? ["milli", 1]
  return millis === length ? `1 ${unit}` : `${millis / length} ${unit}s`
}

const secondsOf = (millis: number): string => {
  const seconds = Math.max(1, Math.ceil(millis / 1000))
  return seconds === 1 ? "1 second" : `${seconds} seconds`
}
