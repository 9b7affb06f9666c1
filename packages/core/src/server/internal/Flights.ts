/**
 * Requests that handlers serve: each has its place, its rounds and its time, and can be cancelled.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Refusals from "../../line/Refusal.ts"
import { nothing, start } from "../../line/Start.ts"
import { means } from "../../line/Wrapped.ts"
import * as Revision from "../../protocol/Revision.ts"
import { exitOf } from "../../stage/internal/constant.ts"
import type { Call, Port } from "../../stage/Port.ts"
import type { Who } from "../../stage/Transport.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import { Client } from "../Client.ts"
import type { Hints } from "../Resource.ts"
import type { Timeout } from "../Tool.ts"
import * as answer from "./answer.ts"
import type { Body, Failure } from "./body.ts"
import * as body from "./body.ts"
import type { Caller } from "./Exchange.ts"
import * as Exchange from "./Exchange.ts"
import { objectOf } from "./params.ts"
import type { Program, Services } from "./Program.ts"
import type { Bound, Rounds } from "./State.ts"
import { timed } from "./timed.ts"

/**
 * What there is to run for a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Job {
  /** What the request names: a tool, a prompt, an address. */
  readonly name: string
  readonly timeout?: Timeout | undefined
  readonly hints?: Hints | undefined
  readonly run: () => Effect.Effect<Body, Failure, Services>
  /** What goes on when it has run, which is then answered with this: the handler's answers are at hand. */
  readonly next?: ((answers: ReadonlyMap<string, Text>) => Next) | undefined
}

/**
 * What goes on behind an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Next {
  readonly reply: Reply
  /** To be called once the answer was sent. */
  readonly begin: () => void
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Flights {
  readonly serve: (call: Call, caller: Caller, job: Job) => void
  /** Runs what nobody waits for, with the client at hand. */
  readonly run: (call: Call, caller: Caller, effect: Effect.Effect<void, never, Services>, done: () => void) => void
  /** Interrupts what runs for a request; nothing more is sent for it. */
  readonly cancel: (call: Call) => void
}

/** What has to run for a request, with what its earlier rounds came to. */
interface Runs {
  readonly _tag: "Runs"
  readonly before: Rounds
  readonly effect: Effect.Effect<Body, Failure, Services>
}

/** A request that runs, or waits for its place. */
interface Flight {
  state: "waits" | "runs" | "ended" | "cancelled"
  /** Whether the turn in which it came is not over. */
  turn: boolean
  stop: () => void
}

const hasEnded = (flight: Flight): boolean => flight.state === "ended"

/** Answers up to this many characters may wait for the end of the turn. */
const maxLoose = 64 * 1024

/** Whether an answer may wait for the end of the turn. */
const isLoose = (reply: Reply): boolean => reply._tag === "Failure" || reply.result.length <= maxLoose

const stale = answer.invalid(
  "requestState cannot be accepted: it is not this request's, is too old, or was used; call again without it"
)

const noRounds: Rounds = { chain: "", round: 0, told: false, answers: new Map(), asked: new Set(), kept: new Map() }

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (program: Program, who: Who, back: Port, scope: Scope.Scope): Flights => {
  const { context, slots, states } = program
  const clock = Context.get(context, Clock.Clock)
  const now = () => clock.currentTimeMillisUnsafe()
  const runs = start(context, scope)
  const around: Exchange.Around = { back, states, fresh: program.fresh }
  const flights = new Map<Call, Flight>()

  /** What is left to say of a handler that ended neither with a result nor with a failure of its own. */
  const broken = (call: Call, revision: Revision.Revision, cause: Cause.Cause<Failure>): Reply => {
    runs(Effect.logError(`${call.method} failed`, cause), () => {})
    return call.method === "tools/call"
      ? answer.result(program, revision, body.error(body.defect))
      : answer.fail(-32603, body.defect)
  }

  const serve = (call: Call, caller: Caller, job: Job): void => {
    const next = slots.vacant() ? prepare(call, caller, job) : undefined
    // Most handlers are done by now: such a call never had to hold a place.
    if (next !== undefined && next._tag !== "Runs" && isLoose(next)) return call.reply(next)
    const flight: Flight = { state: "waits", turn: true, stop: nothing }
    const takeBack = slots.take((free) => run(call, caller, job, next ?? prepare(call, caller, job), flight, free))
    flight.turn = false
    if (takeBack === undefined) call.reply(Refusals.failure("too-many-requests"))
    else if (flight.state === "waits") {
      flight.stop = takeBack
      flights.set(call, flight)
    }
  }

  const boundOf = (call: Call, job: Pick<Job, "name">): Bound => ({
    program: program.name,
    principal: who.client,
    method: call.method,
    name: job.name,
    params: call.params
  })

  /** What a request comes to, where that needs no fiber; else what has to run for it. */
  const prepare = (call: Call, caller: Caller, job: Job): Reply | Runs => {
    const { revision } = caller
    const before = roundsOf(call, revision, job)
    if (before === undefined) return stale
    const effect = program.spans(call, caller, job.name, body.attempt(job.run))
    const constant = exitOf(effect)
    return constant !== undefined && Exit.isSuccess(constant) && constant.value.meta === undefined
      ? answer.result(program, revision, constant.value, job.hints)
      : { _tag: "Runs", before, effect }
  }

  /** Holds a place for a request until it is answered. */
  const run = (
    call: Call,
    caller: Caller,
    job: Job,
    next: Reply | Runs,
    flight: Flight,
    free: () => void
  ): void => {
    const { revision } = caller
    const end = (reply: Reply): void => {
      if (flight.state !== "cancelled") call.reply(reply)
      flight.state = "ended"
      flights.delete(call)
      // A long answer keeps its place until there is room for more: what a client does not read is bounded.
      if (flight.turn && isLoose(reply)) free()
      else runs(back.flush, free)
    }
    if (next._tag !== "Runs") return end(next)
    const { before, effect } = next

    flight.state = "runs"
    const exchange = Exchange.make(call, caller, around, { before, bound: boundOf(call, job) }, () => flight.stop())
    let goOn = nothing
    const replyOf = (exit: Exit.Exit<Body, Failure>): Reply => {
      if (Exit.isSuccess(exit)) {
        if (job.next === undefined || flight.state === "cancelled") {
          return answer.result(program, revision, exit.value, job.hints)
        }
        const next = job.next(exchange.answers())
        goOn = next.begin
        return next.reply
      }
      const questions = exchange.questions()
      if (questions !== undefined) return answer.result(program, revision, questions, undefined, "input_required")
      const failure = Cause.findErrorOption(exit.cause)
      return Option.isSome(failure) ? answer.failed(failure.value, revision) : broken(call, revision, exit.cause)
    }
    const settle = (exit: Exit.Exit<Body, Failure>): void => {
      exchange.close()
      // A handler that was told to stop and did so has not failed, and nobody waits for its answer.
      if (flight.state === "cancelled" && Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) {
        return end(answer.empty)
      }
      // Metadata and the data of errors are the author's own values: they may be none that JSON can have.
      end(Result.getOrElse(Result.try(() => replyOf(exit)), (defect) => broken(call, revision, Cause.die(defect))))
      goOn()
    }
    let asked = false
    flight.stop = () => {
      asked = true
    }
    const timeout = job.timeout ?? program.timeout
    const stop = start(Context.add(context, Client, exchange.service), scope)(
      timeout === undefined ? effect : timed(effect, timeout, exchange, now, call.method),
      settle
    )
    if (hasEnded(flight)) return
    flight.stop = stop
    flights.set(call, flight)
    // It ended with questions before it could be told to stop.
    if (asked) stop()
  }

  /** What earlier rounds came to, with the answers of this one; `undefined` where its state cannot be accepted. */
  const roundsOf = (call: Call, revision: Revision.Revision, job: Job): Rounds | undefined => {
    if (!Revision.isModern(revision) || call.params === undefined) return noRounds
    const state = T.member(call.params, "requestState")
    const answers = objectOf(call.params, "inputResponses")
    const before = state === undefined ? states.begin() : states.open(state, boundOf(call, job), now())
    if (before === undefined || answers === undefined) return before
    // Without a state these are answers to questions that can be told beforehand; with one, to what was asked.
    const given = T.members(answers).filter(([key]) => !before.told || before.asked.has(key))
    return { ...before, answers: new Map([...before.answers, ...given]) }
  }

  return {
    serve,
    run: (call, caller, effect, done) => {
      const bound = boundOf(call, { name: "" })
      const exchange = Exchange.make(call, caller, around, { before: noRounds, bound }, nothing)
      start(Context.add(context, Client, exchange.service), scope)(effect, (exit) => {
        exchange.close()
        if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) {
          runs(Effect.logError(`${call.method} failed`, exit.cause), nothing)
        }
        done()
      })
    },
    cancel: (call) => {
      for (const [flying, flight] of flights) {
        if (!means(flying, call)) continue
        flight.state = "cancelled"
        flights.delete(flying)
        flight.stop()
      }
    }
  }
}
