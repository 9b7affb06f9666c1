/**
 * What a server offers now, judged against what was accepted of it.
 *
 * **Details**
 *
 * The relay lists for itself, whole: all pages are read before any page of a listing goes on. The newest listing decides
 * what is shown and what may be called; while it is being read for the first time, or after the server announced a
 * change, whoever asks waits.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Event } from "../ledger/Entry.ts"
import * as Line from "../ledger/Line.ts"
import * as Pins from "../pin/Pins.ts"
import type { PinStore, PinStoreError } from "../stage/PinStore.ts"
import type { Failure, Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import * as Refusal from "./Refusal.ts"
import { isShut } from "./Shut.ts"
import type { start } from "./Start.ts"

/**
 * How a definition that nobody accepted yet is treated (`--first-sight`).
 *
 * @category models
 * @since 0.1.0
 */
export type FirstSight = "hold" | "trust" | "observe"

/** Pages of one listing, definitions of one listing, and how long one page is waited for. */
const maxPages = 100
const maxItems = 10_000
/** With so many characters of definitions no further one is taken: each is digested, kept and shown. */
const maxText = 8 * 1024 * 1024
const pageLimit = "30 seconds"
/** Listings are at least this far apart, and a listing is used no longer than that, in milliseconds. */
const apart = 1_000
const oldest = 60_000

/**
 * Whether a name may be called.
 *
 * @category models
 * @since 0.1.0
 */
export type Standing =
  | { readonly _tag: "Open"; readonly pin: string | undefined; readonly definition: Text }
  | { readonly _tag: "Shut"; readonly reason: Reason.Reason }

/**
 * What an offer needs from the guard around it.
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
  readonly run: ReturnType<typeof start<never>>
  /** Asks the server something in Sallyport's own name. */
  readonly ask: (method: string, params: Text | undefined, reply: (reply: Reply) => void) => void
  /** What the definitions may depend on: revision and declared capabilities. */
  readonly variant: () => string
  readonly record: (event: Event) => void
  readonly tell: (sentence: string) => void
  /** What a command line needs to mean the same state folder; without it no command is named. */
  readonly option: string | undefined
  /** What was queued meanwhile is to be sent: called when something happened outside a turn. */
  readonly turn: () => void
  /** What is shown to the host has changed without the server having said so. */
  readonly changed: () => void
  /** Whether the session is open: before that a server is not to be asked. */
  readonly isOpen: () => boolean
}

/**
 * What one server offers, as far as it is read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Offer {
  /** A listing is wanted: at the opening, after an announced change (which nobody may overtake), or by a question. */
  readonly refresh: (why: "opened" | "changed" | "asked") => void
  /** Whether the newest listing is read and nothing newer was announced. */
  readonly settled: () => boolean
  /** Calls back once, when it is settled, or could not be read; the function returned gives up. */
  readonly whenSettled: (then: () => void) => () => void
  /** Why nothing can be compared, where the listing could not be read or the pins could not be kept. */
  readonly fault: () => Failure | undefined
  /** For a settled offer: whether a tool may be called. A listing that is too old is read again behind it. */
  readonly standing: (name: string) => Standing
  /** Moves whenever something may be called, or not, that was not, or was, before. */
  readonly epoch: () => number
  /** For a settled offer: what of a page may be shown. */
  readonly shows: (definition: Text) => { readonly name: string; readonly pin: string | undefined } | undefined
  /** Whether this cursor of the page asked for by that one leads nowhere new, so that it is not handed on. */
  readonly loops: (asked: Text | undefined, next: Text) => boolean
  /** The metadata that the host sends with each request of the modern era: own listings are asked for with the same. */
  meta: Text | undefined
}

/**
 * An offer that nothing was read of yet. Its scope watches the pins for what a person accepts meanwhile.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { ask, record, run, server, store } = options
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope

  let pins = options.pins
  let listing: Pins.Listing | undefined
  let judged = Pins.judge(pins, "", Pins.unlisted)
  let fault: Failure | undefined
  let reading = false
  let stale = false
  let again = false
  let startedAt = Number.NEGATIVE_INFINITY
  /** When a listing was last begun because a change was announced. */
  let followedAt = Number.NEGATIVE_INFINITY
  let readAt = 0
  let lifetime = oldest
  let told = ""
  let waiters: Array<() => void> = []
  let loop: { readonly asked: Text | undefined; readonly next: Text } | undefined
  /** How far a listing was read that did not end, in words. */
  let cut = ""
  let complaint = ""
  let unread = ""
  let epoch = 0
  /** The version that is being saved here. */
  let saving = 0
  const iso = Line.makeTimes()
  const now = (): number => clock.currentTimeMillisUnsafe()

  const settled = (): boolean => (listing !== undefined || fault !== undefined) && !stale

  const release = (): void => {
    const ready = waiters
    waiters = []
    for (const waiter of ready) waiter()
  }

  // ---- one listing, all of its pages

  const params = (cursor: Text | undefined): Text | undefined => {
    if (cursor === undefined && offer.meta === undefined) return undefined
    return T.object([
      ...(cursor === undefined ? [] : [["cursor", cursor] as const]),
      ...(offer.meta === undefined ? [] : [["_meta", offer.meta] as const])
    ])
  }

  /** Own requests have a limit: a server that never answers must not hold the host's listing for ever. */
  const page = (cursor: Text | undefined, then: (reply: Reply) => void): void => {
    let open = true
    const answer = (reply: Reply): void => {
      if (!open) return
      open = false
      stop()
      then(reply)
    }
    let stop = (): void => {}
    ask("tools/list", params(cursor), answer)
    if (open) {
      stop = run(Effect.sleep(pageLimit), (exit) => {
        if (!Exit.isSuccess(exit) || !open) return
        answer(Refusal.failure("server-silent", { server }))
        options.turn()
      })
    }
  }

  const read = (): void => {
    reading = true
    again = false
    startedAt = now()
    if (stale) followedAt = startedAt
    const found: Array<Text> = []
    const seen = new Set<string>()
    let pages = 0
    let length = 0
    lifetime = oldest
    const next = (cursor: Text | undefined): void =>
      page(cursor, (reply) => {
        if (reply._tag === "Failure") {
          finish(
            isShut(reply) ? reply : Refusal.failure("listing-failed", { server, more: `it says ${saying(reply)}` }),
            found
          )
          return
        }
        const tools = T.member(reply.result, "tools")
        if (tools === undefined || !T.isArray(tools)) {
          finish(Refusal.failure("listing-failed", { server, more: "the answer has no array of tools" }), found)
          return
        }
        let full = false
        for (const tool of T.elements(tools)) {
          full = found.length >= maxItems || length >= maxText
          if (full) break
          found.push(tool)
          length += Math.min(tool.length, Pins.longest)
        }
        const ttl = Number(T.member(reply.result, "ttlMs"))
        // What is no number says nothing; no server can make a listing last.
        if (!Number.isNaN(ttl)) lifetime = Math.max(apart, Math.min(lifetime, ttl))
        const after = T.member(reply.result, "nextCursor")
        const text = after === undefined ? undefined : T.string(after)
        pages++
        const last = text === undefined
        if (full || !last && (seen.has(text) || pages >= maxPages || found.length >= maxItems || length >= maxText)) {
          loop = after === undefined || last ? undefined : { asked: cursor, next: after }
          cutShort(found.length, pages)
          finish(undefined, found)
        } else if (last) {
          loop = undefined
          cut = ""
          finish(undefined, found)
        } else {
          seen.add(text)
          next(after)
        }
      })
    next(undefined)
  }

  /** What was not read is not offered: a person learns it here, and the ledger each time it is news. */
  const cutShort = (tools: number, pages: number): void => {
    const news = `${tools} ${pages}`
    if (news === cut) return
    if (cut === "") {
      options.tell(`the listing of ${server} does not end: ${tools} tools of ${pages} pages were read, and no more`)
    }
    cut = news
    record({ type: "dropped", server, reason: "listing-cut", count: 1 })
  }

  const finish = (failed: Failure | undefined, found: ReadonlyArray<Text>): void => {
    run(settle(failed, found), (exit) => {
      if (Exit.isFailure(exit)) {
        fault = Refusal.failure("pins-failed", { server })
        if (!Cause.hasInterruptsOnly(exit.cause)) {
          options.tell(`what was accepted of ${server} cannot be kept: ${String(Cause.squash(exit.cause))}`)
        }
      }
      reading = false
      readAt = now()
      if (again) {
        // What was announced meanwhile is not in this listing: read once more before anyone is answered.
        request()
        options.turn()
        return
      }
      stale = false
      release()
      options.turn()
    })
  }

  /** Keeps what was seen, pins a first sight where that is trusted, and judges. */
  const settle = Effect.fnUntraced(function*(failed: Failure | undefined, found: ReadonlyArray<Text>) {
    fault = failed
    if (failed !== undefined) epoch++
    // Of a server that is not there nothing was seen.
    if (failed !== undefined && isShut(failed)) return
    const at = iso(now())
    const variant = options.variant()
    const launch = yield* options.launch
    const fresh = Pins.listing("tool", found)
    const sight: Pins.Sight = {
      at,
      variant,
      launch,
      listing: fresh,
      ...(failed === undefined ? {} : { fault: message(failed) })
    }
    const elsewhere = failed === undefined && options.firstSight === "trust" && Pins.isFirstSight(pins, "tool", at)
      ? yield* heldUnder(fresh, launch)
      : undefined
    if (elsewhere !== undefined) {
      options.tell(`${server} is not trusted at first sight: what it offers is held under the name ${elsewhere}`)
    }
    const kept = yield* Effect.result(
      keep((old) =>
        failed === undefined && options.firstSight === "trust" && elsewhere === undefined
          ? Pins.trustFirstSight(old, sight)
          : Pins.see(old, sight)
      )
    )
    if (kept._tag === "Failure") {
      fault = Refusal.failure("pins-failed", { server })
      options.tell(`what was accepted of ${server} cannot be kept: ${kept.failure.message}`)
      return
    }
    if (failed !== undefined) {
      const why = message(failed)
      if (why !== complaint) options.tell(`the listing of ${server} could not be read: ${why}`)
      complaint = why
      return
    }
    complaint = ""
    const before = judged
    const first = listing === undefined
    listing = fresh
    judge(first)
    // After an announcement the host asks by itself; of what is found by age it has to be told.
    if (!first && !stale && Pins.shownDiffers(before, judged)) options.changed()
  })

  /** The name under which any of this is held as changed: another name must not make it trusted (security rule F4). */
  const heldUnder = Effect.fnUntraced(function*(fresh: Pins.Listing, launch: Pins.LaunchPin) {
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
    return Pins.heldElsewhere(others, fresh, launch)
  })

  /** Changes the pins by compare-and-set; a change to the same writes nothing. */
  const keep = Effect.fnUntraced(
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

  const judge = (first: boolean): void => {
    if (listing === undefined) return
    const before = judged
    judged = Pins.judge(pins, options.variant(), listing)
    if (!first && (options.firstSight === "observe" || Pins.shownDiffers(before, judged))) epoch++
    const items = judged.held.map(({ digest, kind, name, reason }) => ({ kind, name, digest, why: reason }))
    const news = items.map((item) => `${item.name} ${item.digest} ${item.why}`).join("\n")
    if (news === told) return
    told = news
    if (items.length === 0) return
    const observing = options.firstSight === "observe"
    record({ type: observing ? "observed" : "held", server, items })
    options.tell(
      `${items.length} of the tools of ${server} ${items.length === 1 ? "is" : "are"} ${
        observing ? "not accepted, but shown, since a first sight only observes" : "held"
      }${
        options.option === undefined
          ? ""
          : `; to review: sallyport pins ${pins.pins.length === 0 ? "show" : "diff"}${options.option} ${server}`
      }`
    )
  }

  /** Starts a listing now, or as soon as one may be: listings are coalesced. */
  const request = (): void => {
    // The first announcement in a while is followed at once, whenever the opening's listing was.
    const wait = Math.max(0, (stale ? followedAt : startedAt) + apart - now())
    if (wait === 0) {
      read()
      return
    }
    reading = true
    run(Effect.sleep(wait), (exit) => {
      if (!Exit.isSuccess(exit)) return
      read()
      options.turn()
    })
  }

  const offer: Offer = {
    refresh: (why) => {
      if (why === "changed") {
        // The opening lists anyway.
        if (listing === undefined && fault === undefined && !reading && !options.isOpen()) return
        stale = true
        epoch++
        again = reading
        if (reading) return
        request()
        return
      }
      if (reading) return
      if (listing === undefined || why === "asked" && fault !== undefined) request()
    },
    settled,
    whenSettled: (then) => {
      waiters.push(then)
      return () => {
        waiters = waiters.filter((waiter) => waiter !== then)
      }
    },
    fault: () => fault,
    standing: (name) => {
      if (!reading && now() - readAt >= lifetime) request()
      const verdict = judged.find("tool", name)
      if (verdict === undefined) return { _tag: "Shut", reason: "unknown-item" }
      if (verdict._tag === "Accepted") return { _tag: "Open", pin: verdict.digest, definition: verdict.item.text }
      return verdict._tag === "Free" || options.firstSight === "observe"
        ? { _tag: "Open", pin: undefined, definition: verdict.item.text }
        : { _tag: "Shut", reason: verdict.reason }
    },
    epoch: () => epoch,
    shows: (definition) => {
      const verdict = judged.status("tool", definition)
      if (verdict._tag === "Accepted") return { name: verdict.name, pin: verdict.digest }
      return verdict._tag === "Free" || options.firstSight === "observe"
        ? { name: verdict.name, pin: undefined }
        : undefined
    },
    loops: (asked, next) => loop !== undefined && loop.asked === asked && loop.next === next,
    meta: undefined
  }

  // A person accepts in another process: it is noticed, and what the host sees is judged anew.
  yield* Effect.forkIn(
    Effect.gen(function*() {
      for (;;) {
        yield* store.newer(server, pins.version)
        const loaded = yield* Effect.result(store.load(server))
        if (loaded._tag === "Failure") {
          if (loaded.failure.message !== unread) {
            options.tell(`what was accepted of ${server} cannot be read: ${loaded.failure.message}`)
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
        const before = judged
        pins = loaded.success
        judge(false)
        if (listing !== undefined && Pins.shownDiffers(before, judged)) {
          options.changed()
          options.turn()
        }
      }
    }),
    scope
  )

  return offer
})

/** The message of an error answer. */
const message = (failure: Failure): string => {
  const text = T.member(failure.error, "message")
  return (text === undefined ? undefined : T.string(text)) ?? failure.error
}

/** The same as somebody else's words: in quotes, and no more than a line of it. */
const saying = (failure: Failure): string => {
  const said = message(failure)
  return JSON.stringify(said.length > 300 ? `${said.slice(0, 300)} ...` : said)
}
