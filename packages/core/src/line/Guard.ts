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
import * as Effect from "effect/Effect"
import type { Event } from "../ledger/Entry.ts"
import type { LaunchPin } from "../pin/Pins.ts"
import type * as Agreement from "../protocol/Agreement.ts"
import { metaOf } from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import * as Nested from "../protocol/Nested.ts"
import type { Subject } from "../stage/Gate.ts"
import { Gate } from "../stage/Gate.ts"
import { attempt } from "../stage/internal/attempt.ts"
import { Ledger } from "../stage/Ledger.ts"
import { PinStore } from "../stage/PinStore.ts"
import type { Call, Leg, Port } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import type { FirstSight } from "./Accepted.ts"
import * as Accepted from "./Accepted.ts"
import { Ask } from "./Ask.ts"
import * as Asked from "./Asked.ts"
import * as Chains from "./Chains.ts"
import type { Crossed } from "./Crossed.ts"
import * as Decision from "./Decision.ts"
import { Drifts } from "./Drifts.ts"
import * as Early from "./Early.ts"
import type { Dropped } from "./Faults.ts"
import * as Flights from "./Flights.ts"
import { Inspect, type Inspected } from "./Inspect.ts"
import * as Launched from "./Launched.ts"
import * as Listing from "./Listing.ts"
import { Notices } from "./Notices.ts"
import type { Listed } from "./Offer.ts"
import { table } from "./Offer.ts"
import * as Offers from "./Offers.ts"
import * as Recorder from "./Recorder.ts"
import * as Refusal from "./Refusal.ts"
import { nothing, start } from "./Start.ts"
import * as Subscription from "./Subscription.ts"
import { tell } from "./Upstream.ts"
import * as Use from "./Use.ts"
import { wrap } from "./Wrapped.ts"

const listed = ["tool", "prompt", "resource", "template"] as const
const lists = new Map<string, Listed>(listed.map((kind) => [table[kind].list, kind]))

/**
 * What a guard must know of the line that it stands in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's name: pins and ledger use it. */
  readonly server: string
  /** Whether the operator gave it that name: then what it asks says who asks (security rule F15). Default: yes. */
  readonly named?: boolean | undefined
  /** The client's name, as the operator configured it. */
  readonly client: string
  readonly firstSight: FirstSight
  /** What a command line needs to mean the same state folder; without it notices name no command. */
  readonly option?: string | undefined
  /** The launch as it is pinned; compared with the accepted one before anything is started. */
  readonly launch: Effect.Effect<LaunchPin>
  /** The first entry of a session; written with the first thing that is recorded, never before. */
  readonly session: Event
  /** What the leg inside has agreed on with the server. */
  readonly agreement: Agreement.Agreement
  /** What the leg inside could not pass on. */
  readonly dropped: Dropped
  /** What a bridge outside the guard has to record. */
  readonly crossed?: Pick<Crossed, "take"> | undefined
}

/**
 * Puts the guard around a leg.
 *
 * @category combinators
 * @since 0.1.0
 */
export const around = (options: Options) => <E, R>(leg: Leg<E, R>): Leg<E, R | Gate | PinStore | Ledger | Notices> =>
  Effect.fnUntraced(function*(back: Port) {
    const { agreement, client, option, server } = options
    const gate = yield* Gate
    const ledger = yield* Ledger
    const store = yield* PinStore
    const notices = yield* Notices
    const run = start(yield* Effect.context<never>(), yield* Effect.scope)

    const recorder = Recorder.make({ ledger, notices, session: options.session, run })
    const { record, send } = recorder
    const flights = Flights.make(() => listed.every((kind) => !offers.of(kind).isWanted() || offers.of(kind).settled()))

    /** Sends what was decided, to both sides: what a turn of the host's or the server's does at its end. */
    const flushBoth = Effect.suspend(() =>
      recorder.decided.pipe(
        Effect.andThen(port.flush),
        Effect.andThen(back.flush),
        Effect.andThen(recorder.outcomesSoon)
      )
    )
    const turn = (): void => {
      run(flushBoth, nothing)
    }

    let warned = false
    const refused = (reason: Reason.Reason): void => {
      if (warned) return
      warned = true
      notices.tell(
        `a call to ${server} was refused (${reason})${
          option === undefined ? "" : `; sallyport status${option} ${server} tells more`
        }. ` +
          "A server or an agent's shell that runs as you can write Sallyport's state and is not defended against; use another user or a sandbox for that"
      )
    }

    const { open } = yield* Ask
    const asker = yield* open({
      client,
      server,
      agreement,
      epoch: gate.epoch,
      record,
      host: {
        request: (call) => {
          back.request(call)
          run(back.flush, nothing)
        },
        cancel: (call, params) => {
          back.cancel(call, params)
          run(back.flush, nothing)
        },
        notify: (method, params) => {
          back.notify(method, params)
          run(back.flush, nothing)
        }
      }
    })
    const inspect = yield* Inspect
    const { decide, refuse } = Decision.make({
      client,
      server,
      agreement,
      gate,
      asker,
      inspect,
      flights,
      recorder,
      run,
      // A process is replaced only while nothing but server/discover was asked of it: no decision outlives it.
      epoch: () => offers.epoch(),
      again: (call) => judge(call),
      answers: (subject, call, reply, deliver) => {
        const passed = subject.from === "server" || reply._tag === "Failure" ? reply : passing(reply)
        chains.answers(subject, call, passed, deliver)
      },
      refused,
      turn
    })

    const speaker = options.named === false ? undefined : server
    const chains = Chains.make({ client, server, speaker, agreement, flights, recorder, decide, refuse })

    const passing = (reply: Reply & { readonly _tag: "Result" }): Reply => {
      const result = offers.passes(reply.result)
      return result === reply.result ? reply : { _tag: "Result", result }
    }

    // ---- the launch, then the line itself

    const launched = yield* Launched.check({
      server,
      option,
      launch: options.launch,
      store,
      notices,
      recorder,
      run,
      refuse: (call, reason) => refuse("host", call, undefined, reason, Launched.refusal(reason, server))
    })
    if (launched._tag === "Shut") return launched.port

    const port: Port = yield* leg({
      ...back,
      request: (call) => fromServer(call),
      cancel: (call, params) => serverCancels(call, params),
      notify: (method, params) => {
        // It would pass by the gate; who asks for the task gets the same.
        if (
          method === "notifications/tasks" && params !== undefined && T.member(params, "inputRequests") !== undefined
        ) {
          return options.dropped.faults({ from: "server", reason: "told-input", method })
        }
        const told = heard(method, params)
        if (told === "kept") return options.dropped.faults({ from: "server", reason: "quarantined", method })
        if (!early.holds(method, told)) subscription.heard(method, told)
      },
      flush: Effect.suspend(() =>
        recorder.decided.pipe(Effect.andThen(back.flush), Effect.andThen(recorder.outcomesSoon))
      )
    })

    /** What a server tells, as the checks of results let it go on: a model may read it as it reads results. */
    const heard = (method: string, params: Text | undefined): Text | undefined | "kept" => {
      if (inspect === undefined || params === undefined) return params
      const { reply } = attempt(
        (): Inspected => inspect(subjectOf("host", { method, params }, undefined), { _tag: "Result", result: params }),
        (): Inspected => ({ reply: Refusal.failure("inspection-failed", { server }) })
      )
      return reply._tag === "Result" ? reply.result : "kept"
    }

    const variant = (): string => `${agreement.revision ?? ""} ${[...agreement.client].sort().join(",")}`.trim()
    const accepted = yield* Accepted.make({
      server,
      firstSight: options.firstSight,
      launch: options.launch,
      store,
      pins: launched.pins,
      variant,
      option: options.option,
      record,
      tell: notices.tell
    })
    const offers = yield* Offers.make({
      server,
      firstSight: options.firstSight,
      accepts: yield* Drifts,
      accepted,
      agreement,
      run,
      ask: (method, params, reply) => send(() => port.request({ wish: undefined, method, params, reply })),
      variant,
      record,
      tell: notices.tell,
      turn,
      changed: (kind) => subscription.announce(kind),
      known: () => early.known(),
      isOpen: () => agreement.era === "modern" || agreement.phase === "open"
    })
    const early = Early.make({
      server,
      firstSight: options.firstSight,
      isKnown: offers.isKnown,
      tell: notices.tell,
      pass: (method, params) => send(() => back.notify(method, params))
    })
    const subscription = Subscription.make({ agreement, back, port, offers, flights, recorder })
    const list = Listing.make({ client, server, agreement, gate, offers, flights, recorder, port, run, turn })
    const use = Use.make({
      server,
      offers,
      flights,
      refuse,
      run,
      turn,
      decide: (call, name, pin, definition) => decide(port, subjectOf("host", call, name, pin, definition), call)
    })

    // ---- what the host says

    /** What goes on in place of what came, where those differ. */
    const resumed = new WeakMap<Call, Call>()
    const fromHost = (came: Call): void => {
      const variant = Nested.variantIn(came.params)
      if (variant !== undefined) {
        const answer = Refusal.failure("case-variant", { more: `at /params${variant}` })
        return refuse("host", came, undefined, "case-variant", answer)
      }
      if (agreement.era === "modern" && came.method !== "server/discover") {
        const metadata = metaOf(came.params)
        if (metadata !== undefined) subscription.opened(metadata)
      }
      const again = asker.resume(came)
      const call = typeof again === "string" ? again : chains.comes("host", again)
      if (typeof call === "string") return refuse("host", came, undefined, call, Refusal.failure(call, { server }))
      if (call !== came) resumed.set(came, call)
      judge(call)
    }

    const judge = (call: Call): void => {
      if (use(call)) return
      const kind = lists.get(call.method)
      if (kind !== undefined) return list(kind, call)
      if (call.method === "initialize" || call.method === "server/discover") return opening(call)
      const reaches = Method.reaches(call.method, "host")
      if (reaches === undefined) return send(() => port.request(call))
      const name = reaches.named === undefined ? undefined : nameIn(call.params, reaches.named)
      if (reaches.named !== undefined && name === undefined) {
        return refuse("host", call, undefined, "bad-params", Refusal.failure("bad-params", { server }))
      }
      const task = chains.taskOf(call)
      decide(
        port,
        task === undefined
          ? subjectOf("host", call, name)
          : {
            ...subjectOf("host", call, name, task.pin, task.definition),
            within: { method: "tools/call", name: task.name }
          },
        call
      )
    }

    const subjectOf = (
      from: "host" | "server",
      call: Pick<Call, "method" | "params">,
      name: string | undefined,
      pin?: string,
      definition?: Text
    ): Subject => ({
      client,
      server,
      from,
      method: call.method,
      name,
      params: call.params,
      pin,
      definition,
      revision: agreement.revision
    })

    const opening = (call: Call): void =>
      send(() =>
        port.request(
          wrap(call, (reply) => {
            if (reply._tag === "Failure") return call.reply(reply)
            offers.opens(reply.result, (result) => call.reply({ _tag: "Result", result }))
          })
        )
      )

    const hostSays = (method: string, params: Text | undefined): void => {
      send(() => port.notify(method, params))
      if (method === "notifications/initialized") offers.opened()
    }

    const hostCancels = (came: Call, params: Text | undefined): void => {
      const call = resumed.get(came) ?? came
      const at = flights.get(call)
      if (at === undefined) return send(() => port.cancel(call, params))
      flights.forget(call)
      if (at._tag === "Waits") return flights.giveUp(call, at)
      if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: "cancelled" })
      send(() => port.cancel(at.inner, params))
    }

    // ---- what the server says

    const fromServer = (call: Call): void => {
      if (Method.reaches(call.method, "server") === undefined) return send(() => back.request(call))
      const goes = Asked.imitates(call.method, call.params) ? "imitation" : chains.comes("server", call)
      if (typeof goes === "string") return refuse("server", call, undefined, goes, Refusal.failure(goes, { server }))
      decide(back, subjectOf("server", call, undefined), call, Asked.named(speaker, call.method, call.params))
    }

    /** The server gives up a request of its own, or one of the host's that it keeps open (a subscription). */
    const serverCancels = (call: Call, params: Text | undefined): void => {
      const at = flights.get(call)
      if (at !== undefined) {
        flights.forget(call)
        if (at._tag === "Waits") return flights.giveUp(call, at)
        if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: "cancelled" })
        back.cancel(at.inner, params)
        return
      }
      const held = flights.outer(call)
      if (held !== undefined) {
        const [outer, { seq }] = held
        if (seq !== undefined) record({ type: "outcome", of: seq, was: "cancelled" })
        flights.forget(outer)
        back.cancel(outer, params)
        return
      }
      if (!subscription.ended(call)) back.cancel(call, params)
    }

    // ---- what could not be passed on, and the end

    const sum = (): void => {
      recorder.sum()
      for (const { count, reason } of options.dropped.take()) record({ type: "dropped", server, reason, count })
      for (const { count, repair } of options.dropped.takeRepaired()) {
        record({ type: "repaired", server, repair, count })
      }
      for (const event of options.crossed?.take() ?? []) record(event)
    }
    yield* Effect.forkScoped(Effect.gen(function*() {
      for (;;) {
        yield* Effect.sleep("1 minute")
        if (agreement.phase !== "open") continue
        sum()
        yield* recorder.outcomes
      }
    }))
    let how = "closed by Sallyport"
    yield* Effect.addFinalizer(() =>
      Effect.suspend(() => {
        if (!recorder.begun()) return Effect.void
        sum()
        chains.end()
        record({ type: "ended", server, how })
        return recorder.outcomes
      })
    )

    return {
      request: fromHost,
      cancel: hostCancels,
      notify: hostSays,
      flush: Effect.suspend(() =>
        recorder.decided.pipe(Effect.andThen(port.flush), Effect.andThen(recorder.outcomesSoon))
      ),
      // A call that waits for a listing or for the gate is still sent before the input is ended.
      end: Effect.suspend(() => {
        for (const kind of listed) offers.of(kind).whenSettled(flights.left)
        return flights.idle.pipe(Effect.andThen(recorder.decided), Effect.andThen(port.end))
      }),
      // What still waits for a decision, for the ledger or for a listing is answered before the end is told.
      ended: Effect.tap(port.ended, (ending) => {
        how = tell(ending)
        chains.end()
        for (const [call, at] of flights.all()) {
          if (at._tag === "Waits") flights.giveUp(call, at)
          else if (at.seq !== undefined) record({ type: "outcome", of: at.seq, was: at.left ? "lost" : "unsent" })
          flights.forget(call)
          call.reply(Refusal.serverEnded(server, tell(ending)))
        }
        return Effect.andThen(back.flush, recorder.outcomes)
      })
    }
  })

/** The name in params, where it is there and a string. */
const nameIn = (params: Text | undefined, member: string): string | undefined => {
  const name = params === undefined ? undefined : T.member(params, member)
  return name === undefined ? undefined : T.string(name)
}
