/**
 * What was accepted of one server, as a line uses it: kept by compare-and-set, and watched for what a person decides
 * meanwhile.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import type { Event } from "../ledger/Entry.ts"
import * as Line from "../ledger/Line.ts"
import * as Pins from "../pin/Pins.ts"
import type { PinStore, PinStoreError } from "../stage/PinStore.ts"

/**
 * How a definition that nobody accepted yet is treated (`--first-sight`).
 *
 * @category models
 * @since 0.1.0
 */
export type FirstSight = "hold" | "trust" | "observe"

/** How often other processes' decisions are looked for where that failed, in milliseconds. */
const apart = 1_000

/**
 * The pins of one server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Accepted {
  readonly pins: () => Pins.Pins
  /** Whether the listing of any of these kinds would be pinned without a person now. */
  readonly isFirst: (kinds: ReadonlyArray<Pins.Kind>) => boolean
  /**
   * Whether such a listing may be pinned: not where any of it is held under another name (security rule F4), which is told.
   */
  readonly trusts: (listing: Pins.Listing) => Effect.Effect<boolean>
  /** What was seen is kept with the next listing: one change of the pins instead of two. */
  readonly later: (listing: Pins.Listing) => void
  /** Keeps what was seen, and pins a first sight where that is trusted. */
  readonly keep: (listing: Pins.Listing, fault?: string) => Effect.Effect<void, PinStoreError>
  /** How a person looks at what is held, behind a sentence of what is; nothing where notices name no command. */
  readonly toReview: () => string
  /** Calls back whenever another process has changed the pins. */
  readonly watch: (changed: () => void) => void
}

/**
 * What this needs of the line around it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly server: string
  readonly firstSight: FirstSight
  /** The launch as it is pinned; looked at when something is to be kept. */
  readonly launch: Effect.Effect<Pins.LaunchPin>
  readonly store: PinStore["Service"]
  readonly pins: Pins.Pins
  /** What the definitions may depend on: revision and declared capabilities. */
  readonly variant: () => string
  /** What a command line needs to mean the same state folder; without it notices name no command. */
  readonly option: string | undefined
  readonly record: (event: Event) => void
  readonly tell: (sentence: string) => void
}

/**
 * The pins as they were loaded. Its scope watches them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { firstSight, record, server, store, tell } = options
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const alone = yield* Semaphore.make(1)
  const iso = Line.makeTimes()
  const now = (): string => iso(clock.currentTimeMillisUnsafe())
  const watchers: Array<() => void> = []

  let pins = options.pins
  let unread = ""
  let warned = ""
  /** The version that is being saved here. */
  let saving = 0

  /** Changes the pins by compare-and-set; a change to the same writes nothing. */
  const save = Effect.fnUntraced(
    function*(change: (old: Pins.Pins) => Pins.Pins): Effect.fn.Return<void, PinStoreError> {
      for (;;) {
        const before = pins
        const next = change(before)
        if (next === before) return
        const expected = before.version
        saving = expected + 1
        const saved = yield* Effect.onExit(store.save(server, expected, next), (exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit) || !exit.value) saving = 0
          }))
        if (saved) {
          const trusted = next.pins.filter((pin) => pin.how === "first-sight" && !before.pins.includes(pin))
          if (trusted.length > 0) {
            record({
              type: "trusted",
              server,
              items: trusted.map(({ digest, kind, name }) => ({ kind, name, digest }))
            })
          }
          pins = { ...next, version: expected + 1 }
          return
        }
        pins = yield* store.load(server)
      }
    }
  )

  /** The name under which any of this is held as changed. */
  const heldUnder = Effect.fnUntraced(function*(listing: Pins.Listing, launch: Pins.LaunchPin) {
    const others: Array<Pins.Pins> = []
    const names = yield* Effect.result(store.servers)
    if (names._tag === "Failure") return names.failure.server
    for (const name of names.success) {
      if (name === server) continue
      const other = yield* Effect.result(store.load(name))
      // What cannot be read might hold anything.
      if (other._tag === "Failure") return name
      others.push(other.success)
    }
    return Pins.heldElsewhere(others, listing, launch)
  })

  const isFirst = (kinds: ReadonlyArray<Pins.Kind>): boolean => {
    if (firstSight !== "trust") return false
    const at = now()
    return kinds.some((kind) => Pins.isFirstSight(pins, kind, at))
  }

  const trusts = Effect.fnUntraced(function*(listing: Pins.Listing) {
    const elsewhere = yield* heldUnder(listing, yield* options.launch)
    if (elsewhere === undefined) return true
    if (elsewhere !== warned) {
      tell(`${server} is not trusted at first sight: what it offers is held under the name ${elsewhere}`)
    }
    warned = elsewhere
    return false
  })

  let pending: Pins.Listing | undefined
  /** What a sight changes of the pins. */
  const sightOf = Effect.fnUntraced(function*(listing: Pins.Listing, fault: string | undefined) {
    const sight: Pins.Sight = {
      at: now(),
      variant: options.variant(),
      launch: yield* options.launch,
      listing,
      ...(fault === undefined ? {} : { fault })
    }
    const trusted = fault === undefined && isFirst(listing.kinds) && (yield* trusts(listing))
    return (old: Pins.Pins): Pins.Pins => trusted ? Pins.trustFirstSight(old, sight) : Pins.see(old, sight)
  })

  const accepted: Accepted = {
    pins: () => pins,
    isFirst,
    trusts,
    keep: (listing, fault) =>
      alone.withPermits(1)(Effect.gen(function*() {
        const before = pending === undefined ? undefined : yield* sightOf(pending, undefined)
        const after = yield* sightOf(listing, fault)
        yield* save((old) => after(before === undefined ? old : before(old)))
        pending = undefined
      })),
    later: (listing) => {
      pending = listing
    },
    toReview: () =>
      options.option === undefined
        ? ""
        : `; to review: sallyport pins ${pins.pins.length === 0 ? "show" : "diff"}${options.option} ${server}`,
    watch: (changed) => void watchers.push(changed)
  }

  // A person accepts in another process: it is noticed, and what the host sees is judged anew.
  yield* Effect.forkIn(
    Effect.gen(function*() {
      for (;;) {
        yield* store.newer(server, pins.version)
        const loaded = yield* Effect.result(store.load(server))
        if (loaded._tag === "Failure") {
          if (loaded.failure.message !== unread) {
            tell(`what was accepted of ${server} cannot be read: ${loaded.failure.message}`)
          }
          unread = loaded.failure.message
          yield* Effect.sleep(apart)
          continue
        }
        unread = ""
        // One that is being saved here is known when that is done.
        if (loaded.success.version <= Math.max(pins.version, saving)) {
          yield* Effect.sleep(apart)
          continue
        }
        pins = loaded.success
        for (const changed of watchers) changed()
      }
    }),
    scope
  )

  return accepted
})
