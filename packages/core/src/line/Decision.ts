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
import type { Flights, Sent } from "./Flights.ts"
import { over } from "./Flights.ts"
import type { Inspector } from "./Inspect.ts"
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
  /** Puts a request to the gate; what is allowed is recorded, and then sent to that port. */
  readonly decide: (to: Port, subject: Gate.Subject, call: Call) => void
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
  /** Whether what was decided about is still as it was when it was put to the gate. */
  readonly stands: (subject: Gate.Subject) => boolean
  /** Judges a request from the beginning. */
  readonly again: (call: Call) => void
  /** A request of the host's was refused. */
  readonly refused: (reason: Reason.Reason) => void
  /** What was queued meanwhile is to be sent. */
  readonly turn: () => void
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
    subject: Gate.Subject,
    call: Call,
    reason: Reason.Reason,
    verdict: { readonly rule: string; readonly why: string; readonly remedy?: string }
  ): void => {
    const answer = Refusal.denied(call.method, reason, verdict, { server, item: subject.name })
    refuse(subject.from, call, subject.name, reason, modernised(answer), verdict.rule)
  }

  const failed = (subject: Gate.Subject, call: Call): void =>
    refuse(
      subject.from,
      call,
      subject.name,
      "gate-failed",
      Refusal.failure("gate-failed", { server, item: subject.name })
    )

  const allow = (to: Port, subject: Gate.Subject, call: Call, { ended, rule }: Gate.Allow | Gate.Ask): void => {
    if (!recorder.room(client, server)) {
      over(ended)
      const answer = Refusal.failure("ledger-budget", { server, item: subject.name })
      return refuse(subject.from, call, subject.name, "ledger-budget", answer)
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
      rule
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
      params: call.params,
      reply: (reply) => {
        recorder.outcome(seq, reply)
        flights.forget(call)
        call.reply(
          reply._tag === "Failure" || inspect === undefined ? reply : inspected(inspect, subject, reply.result)
        )
      }
    }
    const sent: Sent = { _tag: "Sent", inner, seq, ended, left: false }
    flights.set(call, sent)
    recorder.release(
      () => {
        if (flights.get(call) !== sent) return
        sent.left = true
        to.request(inner)
      },
      () => {
        recorder.record({ type: "outcome", of: seq, was: "unsent" })
        if (flights.get(call) === sent) fail()
      }
    )
  }

  const inspected = (inspect: Inspector, subject: Gate.Subject, result: Text): Reply =>
    attempt(() => inspect(subject, result), () => Refusal.failure("inspection-failed", { server, item: subject.name }))

  /** Goes on with the exit of an effect: at once where it is a constant, else the call waits, alone. */
  const wait = <A, E>(
    call: Call,
    effect: Effect.Effect<A, E>,
    then: (exit: Exit.Exit<A, E>, waited: boolean) => void,
    lost: (exit: Exit.Exit<A, E>) => void = nothing
  ): void => {
    const constant = exitOf(effect)
    if (constant !== undefined) return then(constant, false)
    let waiting = false
    const stop = run(effect, (exit) => {
      if (waiting && !flights.unpark(call)) return lost(exit)
      then(exit, waiting)
      if (waiting) {
        flights.left()
        options.turn()
      }
    })
    if (stop === nothing) return
    waiting = true
    flights.park(call, stop)
  }

  const decide: Decision["decide"] = (to, subject, call) => {
    const verdict: Effect.Effect<Gate.Verdict, Gate.GateError> = attempt(() => gate.call(subject), Exit.die)
    wait(
      call,
      verdict,
      (exit, waited) => {
        // The definition that was decided about may have been replaced meanwhile: then the call is decided anew.
        if (waited && !options.stands(subject)) {
          overVerdict(exit)
          options.again(call)
        } else judged(to, subject, call, exit)
      },
      overVerdict
    )
  }

  const judged = (
    to: Port,
    subject: Gate.Subject,
    call: Call,
    exit: Exit.Exit<Gate.Verdict, Gate.GateError>
  ): void => {
    if (Exit.isFailure(exit)) return failed(subject, call)
    const verdict = exit.value
    switch (verdict._tag) {
      case "Allow":
        return allow(to, subject, call, verdict)
      case "Refuse":
        return denied(subject, call, verdict.reason ?? "denied", verdict)
      case "Ask":
        return ask(to, subject, call, verdict)
    }
  }

  const ask = (to: Port, subject: Gate.Subject, call: Call, verdict: Gate.Ask): void => {
    const answer: Effect.Effect<Answer> = attempt(() => asker.ask({ call, subject, verdict }), Exit.die)
    wait(
      call,
      answer,
      (exit, waited) => {
        if (Exit.isFailure(exit)) {
          over(verdict.ended)
          failed(subject, call)
        } else if (exit.value._tag === "Allowed") {
          if (!waited || options.stands(subject)) return allow(to, subject, call, verdict)
          over(verdict.ended)
          options.again(call)
        } else if (exit.value._tag === "Refused") {
          over(verdict.ended)
          denied(subject, call, exit.value.reason ?? "not-approved", {
            rule: verdict.rule,
            why: exit.value.why ?? verdict.why
          })
        } else {
          over(verdict.ended)
          flights.forget(call)
          call.reply(exit.value.reply)
        }
      },
      () => over(verdict.ended)
    )
  }

  return { decide, refuse }
}

/** Tells a gate that the call of a verdict that came too late is over. */
const overVerdict = (exit: Exit.Exit<Gate.Verdict, Gate.GateError>): void => {
  if (Exit.isSuccess(exit) && exit.value._tag !== "Refuse") over(exit.value.ended)
}
