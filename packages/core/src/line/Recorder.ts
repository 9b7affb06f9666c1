/**
 * What a line writes down, and what waits until it is written.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Event } from "../ledger/Entry.ts"
import { attempt } from "../stage/internal/attempt.ts"
import { exitOf } from "../stage/internal/constant.ts"
import type { Ledger } from "../stage/Ledger.ts"
import { LedgerError } from "../stage/Ledger.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Notices } from "./Notices.ts"
import * as Refusal from "./Refusal.ts"
import type { start } from "./Start.ts"
import { nothing } from "./Start.ts"

/**
 * The record of one line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Recorder {
  /**
   * The number of the entry; `undefined` where the ledger broke, so that nothing can be let through, and for a refusal that
   * is only counted.
   */
  readonly record: (event: Event) => number | undefined
  /** The digest under which a text is recorded; `undefined` where there is none. */
  readonly digest: (text: Text | undefined) => string | undefined
  /** The text as it is recorded where the ledger keeps texts in full. */
  readonly text: (text: Text | undefined) => string | undefined
  /** Whether this client may record more of this server. */
  readonly room: (client: string, server: string) => boolean
  /** Records what came of the decision `seq`. */
  readonly outcome: (seq: number, reply: Reply) => void
  /** Queues what may leave once all that is recorded is written, and what happens instead where it cannot be. */
  readonly release: (go: () => void, fail: () => void) => void
  /** Sends in the order of decision: nothing that needs no decision overtakes what waits for the ledger. */
  readonly send: (go: () => void) => void
  /** Decisions are on record before their bytes leave; what was decided together is written together. */
  readonly decided: Effect.Effect<void>
  /** Outcomes are on record soon after: what cannot be written now is written before anything else passes. */
  readonly outcomes: Effect.Effect<void>
  /** The same at the end of this round of the event loop: what other turns of it record is written along. */
  readonly outcomesSoon: Effect.Effect<void>
  /** Records how many refusals were only counted since this was asked last. */
  readonly sum: () => void
  /** Whether anything was recorded. */
  readonly begun: () => boolean
}

type Refuse = Extract<Event, { readonly type: "refuse" }>

/** What waits for the ledger. */
interface Ready {
  readonly go: () => void
  readonly fail: () => void
}

/**
 * So many refusals of one side for one reason have an entry each until they are summed; what comes then is counted, so that
 * who is refused cannot fill the disk (security rule F13).
 */
const whole = 20

/** So much of a name or a method is recorded; the digest is of all. */
const recorded = 4096

/**
 * A text of someone else's as it is recorded.
 *
 * @category formatting
 * @since 0.1.0
 */
export const shortened = <A extends string | undefined>(text: A): A | string =>
  text === undefined || text.length <= recorded ? text : `${text.slice(0, recorded)} ...`

/**
 * A record that begins with the session, with the first thing that is recorded and never before.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly ledger: Ledger["Service"]
  readonly notices: Notices["Service"]
  readonly session: Event
  readonly run: ReturnType<typeof start<never>>
}): Recorder => {
  const { ledger, notices, run, session } = options
  let begun = false
  let unwritten = false
  let complained = false
  let coming = false
  let ready: Array<Ready> = []

  /** Told once, until it can be written again. */
  const complain = (why: string): void => {
    if (complained) return
    complained = true
    notices.tell(`the ledger cannot be written, so calls are refused: ${why}`)
  }
  const broken = (defect: unknown): undefined => {
    complain(String(defect))
    return undefined
  }

  const refusals = new Map<string, { readonly first: Refuse; count: number }>()
  /** Whether this refusal is one too many to have an entry. */
  const isCounted = (event: Refuse): boolean => {
    const key = `${event.from} ${event.reason}`
    const known = refusals.get(key)
    if (known === undefined) refusals.set(key, { first: event, count: 1 })
    else known.count++
    return known !== undefined && known.count > whole
  }

  const record = (event: Event): number | undefined =>
    attempt(() => {
      if (event.type === "refuse" && isCounted(event)) return undefined
      if (!begun) {
        begun = true
        ledger.append(session)
      }
      unwritten = true
      return ledger.append(event)
    }, broken)

  const digest = (text: Text | undefined): string | undefined => attempt(() => ledger.digest(text), () => undefined)
  const text = (text: Text | undefined): string | undefined => attempt(() => ledger.text(text), () => undefined)

  const failed = (cause: Cause.Cause<LedgerError>): Effect.Effect<void> =>
    Effect.sync(() => {
      const error = Cause.squash(cause)
      if (!Cause.hasInterruptsOnly(cause)) complain(error instanceof LedgerError ? error.message : String(error))
    })

  const letGo = (batch: ReadonlyArray<Ready>): void => {
    complained = false
    for (const entry of batch) entry.go()
  }

  const outcomes = Effect.suspend(() => {
    if (!unwritten) return Effect.void
    unwritten = false
    // They stay queued in the ledger, before whatever is decided next.
    return Effect.catchCause(ledger.commit, failed)
  })
  const written = Effect.andThen(
    Effect.yieldNow,
    Effect.suspend(() => {
      coming = false
      return outcomes
    })
  )

  // A server in this process may answer within the release, and what it asks in that is decided and waits in turn.
  const decided: Effect.Effect<void> = Effect.suspend(() => {
    if (ready.length === 0) return Effect.void
    const batch = ready
    ready = []
    unwritten = false
    const done = exitOf(ledger.commit)
    if (done !== undefined && Exit.isSuccess(done)) {
      letGo(batch)
      return decided
    }
    return Effect.andThen(
      Effect.matchCauseEffect(ledger.commit, {
        onSuccess: () => Effect.sync(() => letGo(batch)),
        onFailure: (cause) =>
          Effect.andThen(
            failed(cause),
            Effect.sync(() => {
              for (const entry of batch) entry.fail()
            })
          )
      }),
      decided
    )
  })

  return {
    record,
    digest,
    text,
    room: (client, server) => attempt(() => ledger.room(client, server), () => false),
    outcome: (seq, reply) => {
      if (reply._tag === "Failure") {
        const code = Number(T.member(reply.error, "code"))
        record({
          type: "outcome",
          of: seq,
          was: Refusal.isServerEnded(reply) ? "lost" : "error",
          text: text(reply.error),
          code: Number.isSafeInteger(code) ? code : undefined
        })
        return
      }
      const failed = reply.result.includes("\"isError\"") && T.member(reply.result, "isError") === "true"
      record({
        type: "outcome",
        of: seq,
        was: failed ? "tool-error" : "result",
        digest: digest(reply.result),
        text: text(reply.result)
      })
    },
    release: (go, fail) => void ready.push({ go, fail }),
    send: (go) => {
      if (ready.length === 0) go()
      else ready.push({ go, fail: go })
    },
    decided,
    outcomes,
    outcomesSoon: Effect.sync(() => {
      if (!unwritten || coming) return
      coming = true
      run(written, nothing)
    }),
    sum: () => {
      for (const { count, first } of refusals.values()) {
        const { client, from, reason, server } = first
        if (count > whole) record({ type: "repeated", from, client, server, reason, count: count - whole })
      }
      refusals.clear()
    },
    begun: () => begun
  }
}
