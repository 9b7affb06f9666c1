/**
 * What is decided about a request of either side: it is sent, refused, or waits.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Agreement from "../protocol/Agreement.ts"
import type * as Gate from "../stage/Gate.ts"
import { attempt } from "../stage/internal/attempt.ts"
import { exitOf } from "../stage/internal/constant.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import type { Answer, Asker } from "./Ask.ts"
import type { Chains } from "./Chains.ts"
import type { Flights, Sent } from "./Flights.ts"
import { over } from "./Flights.ts"
import type { Inspected, Inspector } from "./Inspect.ts"
import type { Recorder } from "./Recorder.ts"
import { shortened } from "./Recorder.ts"
import * as Refusal from "./Refusal.ts"
import type { start } from "./Start.ts"
import { nothing } from "./Start.ts"

/**
 * Decides about the requests of one line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decision {
  /** Puts a request to the gate; what is allowed is recorded, and then sent to that port, with its params or others. */
  readonly decide: (to: Pick<Port, "request">, subject: Gate.Subject, call: Call, sends?: Text) => void
  /** Answers a request with why it goes no further, and records it. */
  readonly refuse: (
    from: "host" | "server",
    call: Call,
    name: string | undefined,
    reason: Reason.Reason,
    answer: Reply,
    rule?: string
  ) => void
}

/**
 * What decisions need of the line around them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly client: string
  readonly server: string
  readonly agreement: Agreement.Agreement
  readonly gate: Gate.Gate["Service"]
  readonly asker: Asker
  readonly inspect: Inspector | undefined
  readonly flights: Flights
  readonly recorder: Recorder
  readonly run: ReturnType<typeof start<never>>
  /** Moves with everything else that a decision depends on. */
  readonly epoch: () => number
  /** Judges a request of the host's from the beginning. */
  readonly again: (call: Call) => void
  /** An answer comes, and goes on as it is or in place of it something else. */
  readonly answers: Chains["answers"]
  /** A request of the host's was refused. */
  readonly refused: (reason: Reason.Reason) => void
  /** What was queued meanwhile is to be sent. */
  readonly turn: () => void
}

/** One call that is decided about, where it is to go, and what held when it was put to the gate. */
interface Case {
  readonly to: Pick<Port, "request">
  readonly subject: Gate.Subject
  readonly call: Call
  readonly sends: Text | undefined
  readonly gate: number
  readonly epoch: number
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Decision => {
  const { agreement, asker, client, flights, gate, inspect, recorder, run, server } = options

  const refuse: Decision["refuse"] = (from, call, name, reason, answer, rule) => {
    recorder.record({
      type: "refuse",
      from,
      client,
      server,
      method: shortened(call.method),
      name: shortened(name),
      digest: recorder.digest(call.params),
      text: recorder.text(call.params),
      reason,
      rule
    })
    if (from === "host") options.refused(reason)
    flights.forget(call)
    call.reply(answer)
  }

  /** A result of our own making has the type that modern results carry. */
  const modernised = (reply: Reply): Reply =>
    reply._tag === "Result" && agreement.era === "modern"
      ? { _tag: "Result", result: T.setMember(reply.result, "resultType", T.quote("complete")) }
      : reply

  const denied = (
    { call, subject }: Case,
    reason: Reason.Reason,
    verdict: { readonly rule: string; readonly why: string; readonly remedy?: string }
  ): void => {
    const answer = Refusal.denied(call.method, reason, verdict, { server, item: subject.name })
    refuse(subject.from, call, subject.name, reason, modernised(answer), verdict.rule)
  }

  const failed = ({ call, subject }: Case, reason: Reason.Reason): void =>
    refuse(subject.from, call, subject.name, reason, Refusal.failure(reason, { server, item: subject.name }))

  // A gate that does not know its epoch has another one each time it is asked, so that nothing is let through.
  const gateEpoch = (): number => attempt(gate.epoch, () => Number.NaN)
  /** What a decision is taken under: a sum of counters moves when any of them does. */
  const epoch = (): number => gateEpoch() + options.epoch()

  /** What a decision was taken under has changed: the call is judged from the beginning, once (security rule F10). */
  const outdated = (at: Case): void => {
    if (rejudged.has(at.call)) return failed(at, "outdated")
    rejudged.add(at.call)
    flights.forget(at.call)
    if (at.subject.from === "host") options.again(at.call)
    else decide(at.to, at.subject, at.call, at.sends)
  }
  const rejudged = new WeakSet<Call>()

  const allow = (at: Case, { ended, rule }: Gate.Allow | Gate.Ask): void => {
    const { call, subject } = at
    if (epoch() !== at.epoch) {
      over(ended)
      return outdated(at)
    }
    if (!recorder.room(client, server)) {
      over(ended)
      return failed(at, "ledger-budget")
    }
    const seq = recorder.record({
      type: "call",
      from: subject.from,
      client,
      server,
      method: shortened(call.method),
      name: shortened(subject.name),
      digest: recorder.digest(call.params),
      text: recorder.text(call.params),
      pin: subject.pin,
      rule,
      epoch: at.epoch > 0 ? at.epoch : undefined
    })
    const fail = (): void => {
      flights.forget(call)
      call.reply(Refusal.failure("ledger-failed", { server }))
    }
    if (seq === undefined) {
      over(ended)
      return fail()
    }
    const inner: Call = {
      wish: call.wish,
      method: call.method,
      params: at.sends,
      reply: (reply) => {
        recorder.outcome(seq, reply)
        flights.forget(call)
        options.answers(
          subject,
          call,
          reply,
          (reply) =>
            call.reply(
              inspect === undefined || Refusal.isServerEnded(reply) ? reply : inspected(inspect, subject, reply, seq)
            )
        )
      }
    }
    const sent: Sent = { _tag: "Sent", inner, seq, ended, left: false }
    flights.set(call, sent)
    recorder.release(
      () => {
        if (flights.get(call) !== sent) return
        if (epoch() !== at.epoch) {
          recorder.record({ type: "outcome", of: seq, was: "unsent" })
          outdated(at)
          options.turn()
          return
        }
        sent.left = true
        at.to.request(inner)
      },
      () => {
        recorder.record({ type: "outcome", of: seq, was: "unsent" })
        if (flights.get(call) === sent) fail()
      }
    )
  }

  const inspected = (inspect: Inspector, subject: Gate.Subject, given: Reply, of: number): Reply => {
    const { checked, reply } = attempt(
      (): Inspected => inspect(subject, given),
      (): Inspected => ({ reply: Refusal.failure("inspection-failed", { server, item: subject.name }) })
    )
    if (checked !== undefined) recorder.record({ type: "checked", of, server, ...checked })
    return reply
  }

  /** Goes on with the exit of an effect: at once where it is a constant, else the call waits, alone. */
  const wait = <A, E>(
    call: Call,
    effect: Effect.Effect<A, E>,
    then: (exit: Exit.Exit<A, E>) => void,
    lost: (exit: Exit.Exit<A, E>) => void
  ): void => {
    const constant = exitOf(effect)
    if (constant !== undefined) return then(constant)
    let waiting = false
    const stop = run(effect, (exit) => {
      if (waiting && !flights.unpark(call)) return lost(exit)
      then(exit)
      if (waiting) {
        flights.left()
        options.turn()
      }
    })
    if (stop === nothing) return
    waiting = true
    flights.park(call, stop)
  }

  const decide: Decision["decide"] = (to, subject, call, sends = call.params) => {
    const gateAt = gateEpoch()
    const at: Case = { to, subject, call, sends, gate: gateAt, epoch: gateAt + options.epoch() }
    const verdict: Effect.Effect<Gate.Verdict, Gate.GateError> = attempt(() => gate.call(subject), Exit.die)
    wait(call, verdict, (exit) => judged(at, exit), overVerdict)
  }

  const note = ({ subject }: Case, { fault, observed }: Gate.Noted): void =>
    void recorder.record({
      type: "judged",
      client,
      server,
      method: shortened(subject.method),
      name: shortened(subject.name),
      observed: observed,
      fault: shortened(fault)
    })

  const judged = (at: Case, exit: Exit.Exit<Gate.Verdict, Gate.GateError>): void => {
    if (Exit.isFailure(exit)) return failed(at, "gate-failed")
    const verdict = exit.value
    if (verdict.noted !== undefined) note(at, verdict.noted)
    switch (verdict._tag) {
      case "Allow":
        return allow(at, verdict)
      case "Refuse":
        return denied(at, verdict.reason ?? "denied", verdict)
      case "Ask":
        return ask(at, verdict)
    }
  }

  const ask = (at: Case, verdict: Gate.Ask): void => {
    const { call, subject } = at
    const given = approved.get(call)
    if (given !== undefined && given.rule === verdict.rule && isSame(given.at, at)) return allow(at, verdict)
    const answer: Effect.Effect<Answer> = attempt(() => asker.ask({ call, subject, verdict }), Exit.die)
    wait(
      call,
      answer,
      (exit) => {
        const given: Answer | undefined = Exit.isSuccess(exit) ? exit.value : undefined
        if (given?._tag === "Allowed") {
          approved.set(call, { rule: verdict.rule, at })
          return allow(at, verdict)
        }
        over(verdict.ended)
        if (given === undefined) return failed(at, "gate-failed")
        if (given._tag === "Refused") {
          const why = given.why ?? verdict.why
          return denied(at, given.reason ?? "not-approved", { rule: verdict.rule, why })
        }
        flights.forget(call)
        call.reply(given.reply)
      },
      () => over(verdict.ended)
    )
  }
  /** What a person allowed of a call that is then judged again: they are not asked twice about the same. */
  const approved = new WeakMap<Call, { readonly rule: string; readonly at: Case }>()

  return { decide, refuse }
}

/** Whether the one was decided about under the same rule as the other, and is of the same definition. */
const isSame = (a: Case, b: Case): boolean =>
  a.gate === b.gate && a.subject.pin === b.subject.pin && a.subject.definition === b.subject.definition

/** Tells a gate that the call of a verdict that came too late is over. */
const overVerdict = (exit: Exit.Exit<Gate.Verdict, Gate.GateError>): void => {
  if (Exit.isSuccess(exit) && exit.value._tag !== "Refuse") over(exit.value.ended)
}
