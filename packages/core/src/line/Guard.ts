/**
 * Guard: stands next to a server, and lets nothing pass that was not accepted, allowed and written down.
 *
 * **Details**
 *
 * Gate, PinStore and Ledger are joined here, once. What a host asks that reaches data is compared with the pins, put to
 * the gate, written to the ledger and only then sent. What waits for a decision steps out of line alone; all that is
 * decided leaves in order. On the way back listings are filtered, by the method that was asked, and outcomes recorded.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Event } from "../ledger/Entry.ts"
import { makeTimes } from "../ledger/Line.ts"
import { compareLaunch, seeLaunch } from "../pin/Pins.ts"
import type { LaunchPin } from "../pin/Pins.ts"
import type * as Agreement from "../protocol/Agreement.ts"
import { metaOf } from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import * as Nested from "../protocol/Nested.ts"
import { meta } from "../protocol/Revision.ts"
import type { Allow, GateError, Subject, Verdict } from "../stage/Gate.ts"
import { Gate } from "../stage/Gate.ts"
import { attempt } from "../stage/internal/attempt.ts"
import { exitOf } from "../stage/internal/constant.ts"
import { Ledger, LedgerError } from "../stage/Ledger.ts"
import { PinStore } from "../stage/PinStore.ts"
import type { Call, Leg, Port } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import { maxHeld } from "./Endpoint.ts"
import type { Dropped } from "./Faults.ts"
import { Notices } from "./Notices.ts"
import * as Offer from "./Offer.ts"
import * as Refusal from "./Refusal.ts"
import { answer, shut } from "./Shut.ts"
import { nothing, start } from "./Start.ts"
import { tell } from "./Upstream.ts"
import { wrap } from "./Wrapped.ts"

/** How long a call waits for a listing before it is refused. */
const callLimit = "5 seconds"
/** How long a listing that the server has answered waits for Sallyport's own. */
const listingLimit = "30 seconds"
/** So much of a name or a method is recorded; the digest is of all. */
const recorded = 4096

/**
 * What a guard must know of the line that it stands in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's name: pins and ledger use it. */
  readonly server: string
  /** The client's name, as the operator configured it. */
  readonly client: string
  readonly firstSight: Offer.FirstSight
  /** What a command line needs to mean the same state folder. Default: nothing. */
  readonly option?: string | undefined
  /** The launch as it is pinned; compared with the accepted one before anything is started. */
  readonly launch: Effect.Effect<LaunchPin>
  /** The first entry of a session; written with the first thing that is recorded, never before. */
  readonly session: Event
  /** What the leg inside has agreed on with the server. */
  readonly agreement: Agreement.Agreement
  /** What the leg inside could not pass on. */
  readonly dropped: Dropped
}

/** A decision that waits for the ledger, and what happens when it is written or cannot be. */
interface Ready {
  readonly go: () => void
  readonly fail: () => void
}

/** A call on its way: sent as `inner` under the decision `seq`, or waiting until something calls `stop`. */
type Flight =
  | {
    readonly _tag: "Sent"
    readonly inner: Call
    readonly seq: number | undefined
    /** What the gate wants to be told when the call is over. */
    readonly ended: (() => void) | undefined
    left: boolean
  }
  | { readonly _tag: "Waits"; readonly stop: () => void }

const listChanged = "notifications/tools/list_changed"

const iso = makeTimes()

/**
 * Puts the guard around a leg.
 *
 * @category combinators
 * @since 0.1.0
 */
export const around = (options: Options) => <E, R>(leg: Leg<E, R>): Leg<E, R | Gate | PinStore | Ledger | Notices> =>
  Effect.fnUntraced(function*(back: Port) {
    const { agreement, client, option = "", server } = options
    const gate = yield* Gate
    const ledger = yield* Ledger
    const store = yield* PinStore
    const notices = yield* Notices
    const run = start(yield* Effect.context<never>(), yield* Effect.scope)

    // ---- what is written down

    let begun = false
    let unwritten = false
    /** The number of the entry; `undefined` where the ledger broke, so that nothing can be let through. */
    const record = (event: Event): number | undefined =>
      attempt(() => {
        if (!begun) {
          begun = true
          ledger.append(options.session)
        }
        unwritten = true
        return ledger.append(event)
      }, broken)
    const digestOf = (text: Text | undefined): string | undefined => attempt(() => ledger.digest(text), () => undefined)
    const textOf = (text: Text | undefined): string | undefined => attempt(() => ledger.text(text), () => undefined)
    let complained = false
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

    let ready: Array<Ready> = []
    const release = (batch: ReadonlyArray<Ready>): void => {
      for (const entry of batch) entry.go()
    }
    /** Decisions are on record before their bytes leave; what was decided together is written together. */
    const decided = Effect.suspend(() => {
      if (ready.length === 0) return Effect.void
      const batch = ready
      ready = []
      unwritten = false
      const written = exitOf(ledger.commit)
      if (written !== undefined && Exit.isSuccess(written)) {
        release(batch)
        return Effect.void
      }
      return Effect.matchCause(ledger.commit, {
        onSuccess: () => {
          complained = false
          release(batch)
        },
        onFailure: (cause) => {
          const error = Cause.squash(cause)
          complain(error instanceof LedgerError ? error.message : String(error))
          for (const entry of batch) entry.fail()
        }
      })
    })
    /** Outcomes are on record soon after: what cannot be written now is written before anything else passes. */
    const outcomes = Effect.suspend(() => {
      if (!unwritten) return Effect.void
      unwritten = false
      return Effect.ignoreCause(ledger.commit)
    })
    let coming = false
    const written = Effect.andThen(
      Effect.yieldNow,
      Effect.suspend(() => {
        coming = false
        return outcomes
      })
    )
    /** At the end of this round of the event loop: what other turns of it record is written along. */
    const outcomesSoon = Effect.sync(() => {
      if (!unwritten || coming) return
      coming = true
      run(written, nothing)
    })
    /** Sends in the order of decision: nothing that needs no decision overtakes what waits for the ledger. */
    const send = (go: () => void): void => {
      if (ready.length === 0) go()
      else ready.push({ go, fail: go })
    }
    const flushBoth = Effect.suspend(() =>
      decided.pipe(
        Effect.andThen(port.flush),
        Effect.andThen(back.flush),
        Effect.andThen(outcomesSoon)
      )
    )
    const turn = (): void => {
      run(flushBoth, nothing)
    }

    // ---- decisions, of either side's requests

    /** Requests of the host that are not decided yet. */
    const parked = new Set<Call>()
    const leaving: Array<Deferred.Deferred<void>> = []
    const park = (call: Call, stop: () => void): void => {
      parked.add(call)
      flight.set(call, { _tag: "Waits", stop })
    }
    /** The call no longer waits: false if it was given up meanwhile. */
    const unpark = (call: Call): boolean => {
      if (!parked.delete(call)) return false
      flight.delete(call)
      return true
    }
    /** Whether something must still be asked of the server for what the host has asked. */
    const busy = (): boolean => parked.size > 0 || (listings.size > 0 && !offer.settled())
    /** Called last: who waits for it goes on at once, and what was decided has to be queued by then. */
    const left = (): void => {
      if (!busy()) { for (const waiter of leaving.splice(0)) Deferred.doneUnsafe(waiter, Effect.void) }
    }
    /** The call is answered or given up. */
    const forget = (call: Call): void => {
      const at = flight.get(call)
      flight.delete(call)
      if (at?._tag === "Sent") over(at.ended)
      listening.delete(call)
      if (listings.delete(call)) left()
    }

    /** Calls that are decided or wait: what the far side was given, or how to give up waiting. */
    const flight = new Map<Call, Flight>()
    /** Listings that the host waits for, and subscriptions of the host's to the list of tools. */
    const listings = new Set<Call>()
    const listening = new Set<Call>()

    const refuse = (
      from: "host" | "server",
      call: Call,
      name: string | undefined,
      reason: Reason.Reason,
      answer: Reply,
      rule?: string
    ): void => {
      const digest = digestOf(call.params)
      record({
        type: "refuse",
        from,
        client,
        server,
        method: shortened(call.method),
        name: shortened(name),
        digest,
        text: textOf(call.params),
        reason,
        rule
      })
      if (from === "host") tellRefusal(reason)
      forget(call)
      call.reply(answer)
    }
    let warned = false
    const tellRefusal = (reason: Reason.Reason): void => {
      if (warned) return
      warned = true
      notices.tell(
        `a call to ${server} was refused (${reason}); sallyport status${option} ${server} tells more. ` +
          "A server or an agent's shell that runs as you can write Sallyport's state and is not defended against; use another user or a sandbox for that"
      )
    }

    const allowed = (to: Port, subject: Subject, call: Call, { ended, rule }: Allow): void => {
      if (!attempt(() => ledger.room(client, server), () => false)) {
        over(ended)
        return refuse(
          subject.from,
          call,
          subject.name,
          "ledger-budget",
          Refusal.failure("ledger-budget", { server, item: subject.name })
        )
      }
      const digest = digestOf(call.params)
      const seq = record({
        type: "call",
        from: subject.from,
        client,
        server,
        method: shortened(call.method),
        name: shortened(subject.name),
        digest,
        text: textOf(call.params),
        pin: subject.pin,
        rule
      })
      const fail = (): void => {
        forget(call)
        call.reply(modernised(Refusal.failure("ledger-failed", { server })))
      }
      if (seq === undefined) {
        over(ended)
        return fail()
      }
      const inner: Call = {
        wish: call.wish,
        method: call.method,
        params: call.params,
        reply: (reply) => {
          forget(call)
          outcome(seq, reply)
          call.reply(reply)
        }
      }
      const sent: Flight = { _tag: "Sent", inner, seq, ended, left: false }
      flight.set(call, sent)
      ready.push({
        go: () => {
          if (flight.get(call) !== sent) return
          sent.left = true
          to.request(inner)
        },
        fail: () => {
          record({ type: "outcome", of: seq, was: "unsent" })
          if (flight.get(call) === sent) fail()
        }
      })
    }

    const outcome = (seq: number, reply: Reply): void => {
      if (reply._tag === "Failure") {
        const code = Number(T.member(reply.error, "code"))
        record({
          type: "outcome",
          of: seq,
          was: Refusal.isServerEnded(reply) ? "lost" : "error",
          text: textOf(reply.error),
          code: Number.isSafeInteger(code) ? code : undefined
        })
        return
      }
      const failed = reply.result.includes("\"isError\"") && T.member(reply.result, "isError") === "true"
      const digest = digestOf(reply.result)
      record({
        type: "outcome",
        of: seq,
        was: failed ? "tool-error" : "result",
        digest,
        text: textOf(reply.result)
      })
    }

    const judged = (to: Port, subject: Subject, call: Call, exit: Exit.Exit<Verdict, GateError>): void => {
      if (Exit.isFailure(exit)) {
        refuse(
          subject.from,
          call,
          subject.name,
          "gate-failed",
          modernised(Refusal.failure("gate-failed", { server, item: subject.name }))
        )
      } else if (exit.value._tag === "Allow") {
        allowed(to, subject, call, exit.value)
      } else {
        // Where nobody can be asked, an ask is a refusal.
        if (exit.value._tag === "Ask") over(exit.value.ended)
        const reason = exit.value._tag === "Ask" ? "not-approved" : "denied"
        refuse(
          subject.from,
          call,
          subject.name,
          reason,
          modernised(Refusal.denied(call.method, reason, exit.value, { server, item: subject.name })),
          exit.value.rule
        )
      }
    }

    const decide = (to: Port, subject: Subject, call: Call): void => {
      const verdict = attempt(() => gate.call(subject), Exit.die)
      const constant = exitOf(verdict)
      if (constant !== undefined) return judged(to, subject, call, constant)
      let waiting = false
      const stop = run(verdict, (exit) => {
        if (waiting && !unpark(call)) return overVerdict(exit)
        // The definition that was decided about may have been replaced meanwhile: then the call is decided anew.
        if (
          waiting && subject.pin !== undefined && subject.name !== undefined && !offer.stands(subject.name, subject.pin)
        ) {
          overVerdict(exit)
          toolCall(call)
        } else judged(to, subject, call, exit)
        if (waiting) {
          left()
          turn()
        }
      })
      if (stop === nothing) return
      waiting = true
      park(call, stop)
    }

    /** A result of our own making has the type that modern results carry. */
    const modernised = (reply: Reply): Reply =>
      reply._tag === "Result" && agreement.era === "modern"
        ? { _tag: "Result", result: T.setMember(reply.result, "resultType", T.quote("complete")) }
        : reply

    // ---- the launch, then the line itself

    const pins = yield* Effect.result(store.load(server))
    if (pins._tag === "Failure") {
      notices.tell(`what was accepted of ${server} cannot be read: ${pins.failure.message}`)
      return yield* shut("pins-failed", server, "Sallyport's stderr says what is wrong")
    }
    const unasked = pins.success.pins.filter(({ how }) => how === "digest" || how === "unseen")
    if (unasked.length > 0) {
      notices.tell(
        `${unasked.length} of what is accepted of ${server} was accepted without a question (last at ${
          unasked.reduce((last, { at }) => at > last ? at : last, "")
        }); sallyport status${option} ${server} tells how`
      )
    }
    const accepted = pins.success.launch
    const launched = accepted === undefined ? undefined : yield* options.launch
    const differs = accepted === undefined || launched === undefined
      ? []
      : compareLaunch(accepted, launched).map(({ says }) => says)
    if (launched !== undefined && differs.length > 0) {
      const closed = yield* shut("launch-changed", server, differs.join("; "))
      notices.tell(
        `${server} was not started: ${
          differs.join("; ")
        }. To review: sallyport pins diff${option} ${server}; for another server give another --name`
      )
      const at = yield* Clock.currentTimeMillis
      // What was not started is kept as seen, so that a person can look at it and accept it.
      const keep = Effect.catch(
        Effect.suspend(() => store.save(server, pins.success.version, seeLaunch(pins.success, launched, iso(at)))),
        (error) =>
          Effect.sync(() => notices.tell(`the launch of ${server} cannot be kept for review: ${error.message}`))
      )
      let stored = false
      return {
        ...closed,
        request: (call) => {
          refuse("host", call, undefined, "launch-changed", answer("launch-changed", server))
          if (stored) return
          stored = true
          run(keep, nothing)
        },
        flush: outcomes
      }
    }
    const port: Port = yield* leg({
      ...back,
      request: (call) => fromServer(call),
      cancel: (call, params) => serverCancels(call, params),
      notify: (method, params) => serverSays(method, params),
      flush: Effect.suspend(() => decided.pipe(Effect.andThen(back.flush), Effect.andThen(outcomesSoon)))
    })

    /** The server gives up a request of its own, or one of the host's that it keeps open (a subscription). */
    const serverCancels = (call: Call, params: Text | undefined): void => {
      const at = flight.get(call)
      if (at !== undefined) {
        forget(call)
        if (at._tag === "Waits") {
          unpark(call)
          at.stop()
          left()
        } else {
          if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: "cancelled" })
          back.cancel(at.inner, params)
        }
        return
      }
      for (const [outer, held] of flight) {
        if (held._tag === "Sent" && held.inner === call) {
          if (held.seq !== undefined) record({ type: "outcome", of: held.seq, was: "cancelled" })
          forget(outer)
          back.cancel(outer, params)
          return
        }
      }
      if (call === subscription) subscription = undefined
      else back.cancel(call, params)
    }

    const offer = yield* Offer.make({
      server,
      firstSight: options.firstSight,
      launch: options.launch,
      store,
      pins: pins.success,
      run,
      ask: (method, params, reply) => send(() => port.request({ wish: undefined, method, params, reply })),
      variant: () => `${agreement.revision ?? ""} ${[...agreement.client].sort().join(",")}`.trim(),
      record,
      tell: notices.tell,
      option,
      turn,
      changed: () => announce(),
      isOpen: () => agreement.era === "modern" || agreement.phase === "open"
    })

    // ---- what the host says

    const fromHost = (call: Call): void => {
      const variant = Nested.variantIn(call.params)
      if (variant !== undefined) {
        refuse(
          "host",
          call,
          undefined,
          "case-variant",
          Refusal.failure("case-variant", { more: `at /params${variant}` })
        )
        return
      }
      if (agreement.era === "modern") modernRequest(call)
      switch (call.method) {
        case "initialize":
        case "server/discover":
          return opening(call)
        case "tools/list":
          return listing(call)
        case "tools/call":
          return toolCall(call)
      }
      const reaches = Method.reaches(call.method, "host")
      if (reaches === undefined) {
        send(() => port.request(call))
        return
      }
      const name = reaches.named === undefined ? undefined : nameIn(call.params, reaches.named)
      if (reaches.named !== undefined && name === undefined) {
        refuse("host", call, undefined, "bad-params", Refusal.failure("bad-params", { server }))
        return
      }
      if (call.method === "subscriptions/listen") listens(call)
      decide(
        port,
        {
          client,
          server,
          from: "host",
          method: call.method,
          name,
          params: call.params,
          pin: undefined,
          definition: undefined
        },
        call
      )
    }

    const toolCall = (call: Call): void => {
      const name = nameIn(call.params, "name")
      if (name === undefined) {
        refuse("host", call, undefined, "bad-params", Refusal.failure("bad-params", { server }))
        return
      }
      if (offer.settled()) {
        callTool(call, name)
        return
      }
      offer.refresh("opened")
      if (offer.settled()) {
        callTool(call, name)
        return
      }
      const give = offer.whenSettled(() => {
        stop()
        if (!unpark(call)) return
        callTool(call, name)
        left()
      })
      const stop = run(Effect.sleep(callLimit), (exit) => {
        if (!Exit.isSuccess(exit) || !unpark(call)) return
        give()
        refuse("host", call, name, "listing-late", Refusal.failure("listing-late", { server, item: name }))
        left()
        turn()
      })
      park(call, () => {
        give()
        stop()
      })
    }

    const callTool = (call: Call, name: string): void => {
      const fault = offer.fault()
      if (fault !== undefined) {
        refuse("host", call, name, "listing-failed", fault)
        offer.refresh("asked")
        return
      }
      const standing = offer.standing(name)
      if (standing._tag === "Shut") {
        refuse("host", call, name, standing.reason, Refusal.failure(standing.reason, { server, item: name }))
        return
      }
      const variant = Nested.variantInArguments(call.params, standing.definition)
      if (variant !== undefined) {
        const more = `at /params${variant}`
        refuse("host", call, name, "case-variant", Refusal.failure("case-variant", { server, item: name, more }))
        return
      }
      decide(
        port,
        {
          client,
          server,
          from: "host",
          method: call.method,
          name,
          params: call.params,
          pin: standing.pin,
          definition: standing.definition
        },
        call
      )
    }

    const listing = (call: Call): void => {
      offer.refresh("asked")
      const inner: Call = {
        ...call,
        reply: (reply) => {
          const answer = (reply: Reply): void => {
            forget(call)
            call.reply(reply)
          }
          if (reply._tag === "Failure") return answer(reply)
          if (offer.settled()) return answer(filtered(call, reply.result))
          const size = reply.result.length
          if (kept > 0 && kept + size > maxHeld) return answer(Refusal.failure("listing-late", { server }))
          kept += size
          const over = (): void => {
            kept -= size
            giveUp()
            limit()
          }
          const giveUp = offer.whenSettled(() => {
            over()
            answer(filtered(call, reply.result))
          })
          // A server that announces a change with every listing must not make the host wait for ever.
          const limit = run(Effect.sleep(listingLimit), (exit) => {
            if (!Exit.isSuccess(exit)) return
            over()
            answer(Refusal.failure("listing-late", { server }))
            turn()
          })
          flight.set(call, { _tag: "Waits", stop: over })
        }
      }
      listings.add(call)
      flight.set(call, { _tag: "Sent", inner, seq: undefined, ended: undefined, left: true })
      send(() => port.request(inner))
    }

    /** How long the listings are together that wait for Sallyport's own. */
    let kept = 0

    const filtered = (call: Call, result: Text): Reply => {
      const fault = offer.fault()
      if (fault !== undefined) return fault
      const tools = T.member(result, "tools")
      if (tools === undefined || !T.isArray(tools)) {
        return Refusal.failure("listing-failed", { server, more: "the answer has no array of tools" })
      }
      let withheld = 0
      let text = T.filterElements(result, "tools", (element) => {
        const shown = offer.shows(element)
        const kept = shown !== undefined &&
          attempt(() =>
            gate.shows({
              client,
              server,
              from: "host",
              method: "tools/call",
              name: shown.name,
              params: undefined,
              pin: shown.pin,
              definition: element
            }), () => false)
        if (!kept) withheld++
        return kept
      })
      const next = T.member(text, "nextCursor")
      const asked = call.params === undefined ? undefined : T.member(call.params, "cursor")
      if (next !== undefined && offer.loops(asked, next)) text = T.removeMember(text, "nextCursor")
      // What was withheld from this host is this host's alone, and may be shown soon (2026-07-28 server/utilities/caching).
      if (withheld > 0 && agreement.era === "modern") {
        text = T.setMember(T.setMember(text, "cacheScope", T.quote("private")), "ttlMs", T.integer(0))
      }
      return { _tag: "Result", result: text }
    }

    /** The relay can announce a change of its own (an acceptance), so it says that tools may change. */
    const opening = (call: Call): void =>
      send(() =>
        port.request(
          wrap(
            call,
            (reply) =>
              call.reply(reply._tag === "Failure" ? reply : { _tag: "Result", result: announcing(reply.result) })
          )
        )
      )
    const announcing = (result: Text): Text => {
      const capabilities = T.member(result, "capabilities")
      const tools = capabilities !== undefined && T.isObject(capabilities) ? T.member(capabilities, "tools") : undefined
      if (
        capabilities === undefined || tools === undefined || !T.isObject(tools) ||
        T.member(tools, "listChanged") === "true"
      ) {
        return result
      }
      return T.setMember(
        result,
        "capabilities",
        T.setMember(capabilities, "tools", T.setMember(tools, "listChanged", T.literal("true")))
      )
    }

    // ---- the modern era: no session opens, so the first request does, and changes are subscribed to

    let subscription: Call | undefined
    let unsubscribable = false
    const modernRequest = (call: Call): void => {
      const metadata = metaOf(call.params)
      if (metadata === undefined || call.method === "server/discover") return
      offer.meta = T.removeMember(metadata, "progressToken")
      if (!agreement.server.has("server.tools")) return
      offer.refresh("opened")
      if (subscription !== undefined || unsubscribable || !agreement.server.has("server.tools.listChanged")) return
      const own: Call = {
        wish: undefined,
        method: "subscriptions/listen",
        params: T.object([
          ["notifications", T.object([["toolsListChanged", T.literal("true")]])],
          ["_meta", offer.meta ?? T.object([])]
        ]),
        // A server may end a subscription; one that refuses it is not asked with every request.
        reply: (reply) => {
          if (subscription === own) subscription = undefined
          if (reply._tag === "Failure") unsubscribable = true
        }
      }
      subscription = own
      send(() => port.request(own))
    }
    const listens = (call: Call): void => {
      const wanted = call.params === undefined ? undefined : T.member(call.params, "notifications")
      if (wanted !== undefined && T.isObject(wanted) && T.member(wanted, "toolsListChanged") === "true") {
        listening.add(call)
      }
    }

    /** Tells the host that what it may see has changed, as its era has it. */
    const announce = (): void => {
      if (agreement.era === "legacy") {
        if (agreement.phase === "open") back.notify(listChanged, undefined)
        return
      }
      for (const call of listening) {
        if (flight.has(call) && call.wish !== undefined) {
          back.notify(listChanged, T.object([["_meta", T.object([[meta.subscriptionId, call.wish]])]]))
        }
      }
    }

    const hostSays = (method: string, params: Text | undefined): void => {
      send(() => port.notify(method, params))
      if (method === "notifications/initialized" && agreement.server.has("server.tools")) offer.refresh("opened")
    }

    // ---- what the server says

    const fromServer = (call: Call): void => {
      if (Method.reaches(call.method, "server") === undefined) {
        send(() => back.request(call))
        return
      }
      decide(back, {
        client,
        server,
        from: "server",
        method: call.method,
        name: undefined,
        params: call.params,
        pin: undefined,
        definition: undefined
      }, call)
    }

    // Announcements are coalesced: one goes on at once, the others as one when the new listing is read.
    let announced: "no" | "once" | "more" = "no"
    const serverSays = (method: string, params: Text | undefined): void => {
      const own = agreement.era === "modern" && isOwn(params)
      if (method === listChanged) {
        offer.refresh("changed")
        if (!own && agreement.era === "legacy") {
          if (announced !== "no") {
            announced = "more"
            return
          }
          announced = "once"
          offer.whenSettled(() => {
            if (announced === "more") send(() => back.notify(listChanged, undefined))
            announced = "no"
          })
        }
      }
      if (!own) send(() => back.notify(method, params))
    }
    /** A subscription of Sallyport's own is marked by the endpoint: nobody outside knows its id. */
    const isOwn = (params: Text | undefined): boolean => {
      const metadata = metaOf(params)
      return metadata !== undefined && T.member(metadata, meta.subscriptionId) === "null"
    }

    // ---- what could not be passed on, and the end

    const sum = (): void => {
      for (const { count, reason } of options.dropped.take()) record({ type: "dropped", server, reason, count })
    }
    yield* Effect.forkScoped(Effect.gen(function*() {
      for (;;) {
        yield* Effect.sleep("1 minute")
        if (agreement.phase !== "open") continue
        sum()
        yield* outcomes
      }
    }))
    let how = "closed by Sallyport"
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        if (!begun) return Effect.void
        sum()
        record({ type: "ended", server, how })
        return outcomes
      })
    )

    return {
      request: fromHost,
      cancel: (call, params) => {
        const at = flight.get(call)
        if (at === undefined) {
          send(() => port.cancel(call, params))
          return
        }
        forget(call)
        if (at._tag === "Waits") {
          unpark(call)
          at.stop()
          left()
          return
        }
        if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: "cancelled" })
        send(() => port.cancel(at.inner, params))
      },
      notify: hostSays,
      flush: Effect.suspend(() => decided.pipe(Effect.andThen(port.flush), Effect.andThen(outcomesSoon))),
      // A call that waits for a listing or for the gate is still sent before the input is ended.
      end: Effect.suspend(() => {
        if (!busy()) return Effect.andThen(decided, port.end)
        const waiter = Deferred.makeUnsafe<void>()
        leaving.push(waiter)
        offer.whenSettled(left)
        return Deferred.await(waiter).pipe(Effect.andThen(decided), Effect.andThen(port.end))
      }),
      // What still waits for a decision, for the ledger or for a listing is answered before the end is told.
      ended: Effect.tap(port.ended, (ending) => {
        how = tell(ending)
        for (const [call, at] of flight) {
          if (at._tag === "Waits") {
            unpark(call)
            at.stop()
            left()
          } else if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: at.left ? "lost" : "unsent" })
          forget(call)
          call.reply(Refusal.serverEnded(server, tell(ending)))
        }
        return Effect.andThen(back.flush, outcomes)
      })
    }
  })

/** Tells a gate that a call is over. */
const over = (ended: Allow["ended"]): void => {
  if (ended !== undefined) attempt(ended, nothing)
}

/** The same of a verdict that came too late. */
const overVerdict = (exit: Exit.Exit<Verdict, GateError>): void => {
  if (Exit.isSuccess(exit) && exit.value._tag !== "Refuse") over(exit.value.ended)
}

/** The name in params, where it is there and a string. */
const nameIn = (params: Text | undefined, member: string): string | undefined => {
  const name = params === undefined ? undefined : T.member(params, member)
  return name === undefined ? undefined : T.string(name)
}

const shortened = <A extends string | undefined>(text: A): A | string =>
  text === undefined || text.length <= recorded ? text : `${text.slice(0, recorded)} ...`
