/**
 * What a server offers of one kind, judged against what was accepted of it.
 *
 * **Details**
 *
 * The relay lists for itself, whole: all pages are read before any page of a listing goes on. The newest listing decides
 * what is shown and what may be used; while it is being read for the first time, or after the server announced a change,
 * whoever asks waits.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Event } from "../ledger/Entry.ts"
import type * as Drift from "../pin/Drift.ts"
import * as Pins from "../pin/Pins.ts"
import type { Failure, Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import type { Accepted, FirstSight } from "./Accepted.ts"
import * as Refusal from "./Refusal.ts"
import { isShut } from "./Shut.ts"
import type { start } from "./Start.ts"

/**
 * The kinds that are listed, and how (`ListToolsResult`, `ListPromptsResult`, `ListResourcesResult` and
 * `ListResourceTemplatesResult` of each revision's schema).
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  tool: { list: "tools/list", member: "tools", needs: "server.tools", noun: "tools", filter: "toolsListChanged" },
  prompt: {
    list: "prompts/list",
    member: "prompts",
    needs: "server.prompts",
    noun: "prompts",
    filter: "promptsListChanged"
  },
  resource: {
    list: "resources/list",
    member: "resources",
    needs: "server.resources",
    noun: "resources",
    filter: "resourcesListChanged"
  },
  template: {
    list: "resources/templates/list",
    member: "resourceTemplates",
    needs: "server.resources",
    noun: "resource templates",
    filter: "resourcesListChanged"
  }
} as const

/**
 * A kind that is listed.
 *
 * @category models
 * @since 0.1.0
 */
export type Listed = keyof typeof table

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
 * Whether something may be used.
 *
 * @category models
 * @since 0.1.0
 */
export type Standing =
  | { readonly _tag: "Open"; readonly pin: string | undefined; readonly definition: Text | undefined }
  | { readonly _tag: "Shut"; readonly reason: Reason.Reason }

/**
 * What an offer needs from the guard around it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly server: string
  readonly kind: Listed
  readonly firstSight: FirstSight
  /** Whether the policy shows what drifted by this class; it is recorded. */
  readonly accepts: (drift: Drift.Class) => boolean
  readonly accepted: Accepted
  readonly run: ReturnType<typeof start<never>>
  /** Asks the server something in Sallyport's own name. */
  readonly ask: (method: string, params: Text | undefined, reply: (reply: Reply) => void) => void
  /** The metadata that the host sends with each request of the modern era: own listings are asked for with the same. */
  readonly meta: () => Text | undefined
  /** What the definitions may depend on: revision and declared capabilities. */
  readonly variant: () => string
  readonly record: (event: Event) => void
  readonly tell: (sentence: string) => void
  /** What was queued meanwhile is to be sent: called when something happened outside a turn. */
  readonly turn: () => void
  /** What is shown to the host has changed without the server having said so. */
  readonly changed: () => void
  /** Whether the server offers this kind at all; where it does not, nothing is asked of it. */
  readonly isDeclared: () => boolean
  /** Whether the session is open: before that a server is not to be asked. */
  readonly isOpen: () => boolean
}

/**
 * What one server offers of one kind, as far as it is read.
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
  /** Whether a listing was ever wanted. */
  readonly isWanted: () => boolean
  /**
   * For a settled offer: whether an item may be used; `undefined` where there is none of this name. A listing that is too
   * old is read again behind it.
   */
  readonly standing: (name: string) => Standing | undefined
  /** For a settled offer: the definitions that may be used. */
  readonly open: () => ReadonlyArray<{ readonly name: string; readonly digest: string; readonly text: Text }>
  /** Moves whenever something may be called, or not, that was not, or was, before. */
  readonly epoch: () => number
  /** For a settled offer: what of a page may be shown. */
  readonly shows: (definition: Text) => { readonly name: string; readonly pin: string | undefined } | undefined
  /** Whether this cursor of the page asked for by that one leads nowhere new, so that it is not handed on. */
  readonly loops: (asked: Text | undefined, next: Text) => boolean
}

/**
 * An offer that nothing was read of yet. Its scope watches the pins for what a person accepts meanwhile.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { accepted, ask, kind, record, run, server } = options
  const { list, member, noun } = table[kind]
  const clock = yield* Clock.Clock

  let listing: Pins.Listing | undefined
  let judged = Pins.judge(accepted.pins(), "", Pins.unlisted)
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
  let epoch = 0
  const now = (): number => clock.currentTimeMillisUnsafe()

  const settled = (): boolean => (listing !== undefined || fault !== undefined) && !stale

  const release = (): void => {
    const ready = waiters
    waiters = []
    for (const waiter of ready) waiter()
  }

  // ---- one listing, all of its pages

  const params = (cursor: Text | undefined): Text | undefined => {
    const meta = options.meta()
    if (cursor === undefined && meta === undefined) return undefined
    return T.object([
      ...(cursor === undefined ? [] : [["cursor", cursor] as const]),
      ...(meta === undefined ? [] : [["_meta", meta] as const])
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
    ask(list, params(cursor), answer)
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
          // Whoever waits is told so with the end itself.
          if (Refusal.isServerEnded(reply)) return
          // A server may serve resources and no templates: it does not know the method then.
          if (kind !== "tool" && pages === 0 && T.member(reply.error, "code") === "-32601" && !isShut(reply)) {
            finish(undefined, found)
            return
          }
          finish(
            isShut(reply) ? reply : Refusal.failure("listing-failed", { server, more: `it says ${saying(reply)}` }),
            found
          )
          return
        }
        const items = T.member(reply.result, member)
        if (items === undefined || !T.isArray(items)) {
          finish(Refusal.failure("listing-failed", { server, more: `the answer has no array of ${member}` }), found)
          return
        }
        let full = false
        for (const item of T.elements(items)) {
          full = found.length >= maxItems || length >= maxText
          if (full) break
          found.push(item)
          length += Math.min(item.length, Pins.longest)
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
    if (options.isDeclared()) next(undefined)
    else finish(undefined, found)
  }

  /** What was not read is not offered: a person learns it here, and the ledger each time it is news. */
  const cutShort = (items: number, pages: number): void => {
    const news = `${items} ${pages}`
    if (news === cut) return
    if (cut === "") {
      options.tell(`the listing of ${server} does not end: ${items} ${noun} of ${pages} pages were read, and no more`)
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
    const fresh = Pins.listing(kind, found)
    const kept = options.isDeclared()
      ? yield* Effect.result(accepted.keep(fresh, failed === undefined ? undefined : message(failed)))
      : undefined
    if (kept?._tag === "Failure") {
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
    if (!first && !stale && differs(before)) options.changed()
  })

  const isOpen = (verdict: Pins.Verdict): boolean =>
    verdict._tag === "Accepted" || verdict._tag === "Free" || options.firstSight === "observe" ||
    verdict._tag === "Changed" && options.accepts(verdict.drift.class)

  /** Whether other definitions may be used than before. */
  const differs = (before: Pins.Judgement): boolean => {
    const shown = ({ verdicts }: Pins.Judgement) => {
      return verdicts.filter(isOpen).map(({ digest, name }) => `${name} ${digest}`).sort().join("\n")
    }
    return shown(before) !== shown(judged)
  }

  const judge = (first: boolean): void => {
    if (listing === undefined) return
    const before = judged
    judged = Pins.judge(accepted.pins(), options.variant(), listing)
    if (!first && differs(before)) epoch++
    const held = judged.held.filter((verdict) => !isOpen(verdict))
    const open = judged.held.filter(isOpen)
    const itemOf = ({ digest, kind, name, reason }: Pins.HeldVerdict) => ({ kind, name, digest, why: reason })
    const news = [...held, ...open].map((item) => `${item.name} ${item.digest} ${item.reason}`).join("\n")
    if (news === told) return
    told = news
    if (held.length > 0) record({ type: "held", server, items: held.map(itemOf) })
    if (open.length > 0) record({ type: "observed", server, items: open.map(itemOf) })
    const fresh = judged.held.filter(Pins.isNews)
    if (fresh.length === 0) return
    const observing = options.firstSight === "observe"
    options.tell(
      `${fresh.length} of the ${noun} of ${server} ${fresh.length === 1 ? "is" : "are"} ${
        observing
          ? "not accepted, but shown, since a first sight only observes"
          : held.length === 0
          ? "shown because the policy accepts such a change"
          : "held"
      }${accepted.toReview()}`
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
        // The opening lists anyway; of what nobody asked for yet nothing is known that could be wrong.
        if (listing === undefined && fault === undefined && !reading && (kind !== "tool" || !options.isOpen())) return
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
    isWanted: () => listing !== undefined || fault !== undefined || reading,
    standing: (name) => {
      if (!reading && now() - readAt >= lifetime) request()
      const verdict = judged.find(kind, name)
      if (verdict === undefined) return undefined
      if (!isOpen(verdict)) return { _tag: "Shut", reason: Pins.isHeld(verdict) ? verdict.reason : "unknown-item" }
      return { _tag: "Open", pin: pinOf(verdict, options.accepts), definition: verdict.item.text }
    },
    open: () => judged.verdicts.filter(isOpen).map(({ digest, item, name }) => ({ name, digest, text: item.text })),
    epoch: () => epoch,
    shows: (definition) => {
      const verdict = judged.status(kind, definition)
      return isOpen(verdict) ? { name: verdict.name, pin: pinOf(verdict, options.accepts) } : undefined
    },
    loops: (asked, next) => loop !== undefined && loop.asked === asked && loop.next === next
  }

  accepted.watch(() => {
    if (listing === undefined) return
    const before = judged
    judge(false)
    if (!differs(before)) return
    options.changed()
    options.turn()
  })

  return offer
})

/** The digest under which a person, or the policy, has let it be used. */
const pinOf = (verdict: Pins.Verdict, accepts: Options["accepts"]): string | undefined =>
  verdict._tag === "Accepted" || verdict._tag === "Changed" && accepts(verdict.drift.class) ? verdict.digest : undefined

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
