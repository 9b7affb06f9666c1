/**
 * Approval: puts what the gate wants asked to a person, in the host's own interface or at the terminal.
 *
 * **Details**
 *
 * In legacy revisions the host is asked by elicitation while the call waits. In the modern era the call is answered with
 * an input request, and the host's retry brings the answer: it is taken out, and the call goes on as it first came (security
 * rule F16). Where the host cannot ask, may not (`via = "terminal"`), or the question does not fit a form, the call waits for
 * `sallyport approvals`. Whichever way, the terminal may answer as well; the first answer counts.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Approval from "../approval/Approval.ts"
import * as Form from "../approval/Form.ts"
import type { Event } from "../ledger/Entry.ts"
import { metaOf } from "../protocol/Agreement.ts"
import * as Capability from "../protocol/Capability.ts"
import { meta } from "../protocol/Revision.ts"
import { Approvals, type ApprovalsError, type Choice } from "../stage/Approvals.ts"
import type { Subject } from "../stage/Gate.ts"
import type { Call } from "../stage/Port.ts"
import { Seal } from "../stage/Seal.ts"
import * as Sealed from "../stage/Sealed.ts"
import { framed } from "../wire/Digest.ts"
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import { type Answer, Ask, type Asker, type Line, type Question } from "./Ask.ts"
import { Notices } from "./Notices.ts"
import { shortened } from "./Recorder.ts"

/** The requests that may be answered with an input request (2026-07-28 basic/patterns/mrtr). */
const rounds: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"])

/** What our states begin with, so that one of an earlier process is known to be none of the server's. */
const prefix = "sallyport:"

/** So many chains of round trips that a person has allowed are remembered, the newest ones. */
const maxCovered = 1024

/** A question that the host has, and that its retry answers. */
interface Open {
  readonly chain: string
  readonly digest: string
  /** The name under which the host answers: nobody else can have it. */
  readonly key: string
  readonly message: string
  readonly choice: Deferred.Deferred<Choice>
  readonly done: Deferred.Deferred<Approval.Approval, ApprovalsError>
  readonly withdraw: () => void
  round: number
}

/** What a person has allowed: the chain, and the digest of what it is bound to. */
interface Covered {
  readonly chain: string
  readonly digest: string
}

const reasons: Readonly<Record<ApprovalsError["kind"], Reason.Reason>> = {
  unavailable: "not-approved",
  full: "approval-full",
  "too-long": "approval-too-long",
  missing: "approval-failed",
  answered: "approval-failed",
  failed: "approval-failed"
}

const refused = (reason: Reason.Reason): Answer => ({ _tag: "Refused", reason })
const allowed: Answer = { _tag: "Allowed" }

const stateOf = (params: Text | undefined): string | undefined => {
  const state = params === undefined ? undefined : T.member(params, "requestState")
  return state === undefined ? undefined : T.string(state)
}

/**
 * Whether it can be answered with an input request of ours: only where it begins a chain of round trips, so that ours and
 * the server's are never mixed.
 */
const opens = ({ method, params }: Call): boolean =>
  rounds.has(method) && params !== undefined && stateOf(params) === undefined &&
  T.member(params, "inputResponses") === undefined

/** What is asked about is one definition: the accepted one, or the one that was seen where none needs to be accepted. */
const definedAs = ({ definition, pin }: Subject): { readonly pin?: string } =>
  pin !== undefined ? { pin } : definition === undefined ? {} : { pin: framed([definition]) }

/** Whether the tool says of itself that it destroys things. */
const destructive = (definition: Text | undefined): boolean => {
  const annotations = definition === undefined ? undefined : T.member(definition, "annotations")
  return annotations !== undefined && T.member(annotations, "destructiveHint") === "true"
}

/** What all lines share: over HTTP a retry of the modern era may come on another line than the question went out on. */
interface Shared {
  readonly approvals: Approvals["Service"]
  readonly seal: Seal["Service"]
  readonly tell: (sentence: string) => void
  readonly now: () => number
  readonly states: Sealed.States
  /** Questions that hosts have, by their chains. */
  readonly open: Map<string, Open>
  /** Chains that were allowed, by the state that the answer before had. */
  readonly covered: Map<string, Covered>
  /** Where questions wait that a host has. */
  readonly scope: Scope.Scope
}

const make = (options: Options, shared: Shared, line: Line): Asker => {
  const { approvals, covered, now, open, scope, seal, states, tell } = shared
  const { agreement, client, server } = line
  const principal = JSON.stringify([client, server])
  /** What a retry brought, until the gate has judged it. */
  const resumed = new WeakMap<Call, { readonly of: Open; readonly given: Choice | undefined }>()
  /** Chains that were allowed, by the call that goes on. */
  const chains = new WeakMap<Call, Covered>()
  const keyOf = (state: string): string => `${principal} ${state}`

  const about = ({ subject, verdict }: Question, chain: string): Approval.Question => ({
    client,
    server,
    from: subject.from,
    method: subject.method,
    ...(subject.name === undefined ? {} : { name: subject.name }),
    arguments: Approval.argumentsOf(subject.params),
    ...definedAs(subject),
    policy: String(line.epoch()),
    rule: verdict.rule,
    why: verdict.why,
    // An answer through the host is no proof of a person (security rule F15).
    via: verdict.via ?? (destructive(subject.definition) ? "terminal" : "any"),
    chain
  })

  const boundOf = (call: Call): Sealed.Bound => {
    const name = call.params === undefined
      ? undefined
      : T.member(call.params, call.method === "resources/read" ? "uri" : "name")
    return {
      program: "approval",
      principal,
      method: call.method,
      name: name ?? "",
      params: call.params
    }
  }

  const hostAsks = (call: Call): boolean => {
    if (agreement.era === "modern") {
      const declared = T.member(metaOf(call.params) ?? T.object([]), meta.clientCapabilities)
      return Capability.read("client", declared, agreement.revision).has("client.elicitation.form")
    }
    return agreement.phase === "open" &&
      agreement.client.has(
        agreement.revision !== undefined && Capability.isDefined("client.elicitation.form", agreement.revision)
          ? "client.elicitation.form"
          : "client.elicitation"
      )
  }

  // ---- what is written down

  const write = (
    type: Extract<Event["type"], `approval-${string}`>,
    { digest, id, question }: Approval.Approval,
    channel?: Approval.Channel
  ): void =>
    line.record({
      type,
      id,
      client,
      server,
      method: shortened(question.method),
      name: shortened(question.name),
      digest,
      rule: question.rule,
      channel
    })

  const concluded = (approval: Approval.Approval): void => {
    const { state } = approval
    if (state._tag === "Allowed") write("approval-given", approval, state.channel)
    else if (state._tag === "Denied") write("approval-denied", approval, state.channel)
    else write("approval-expired", approval)
  }

  /** Puts a question and waits for its end, which is written down; `host` brings the host's answer. */
  const put = (
    question: Approval.Question,
    channel: Approval.Channel,
    host: () => Effect.Effect<Choice | undefined>
  ): Effect.Effect<Approval.Approval, ApprovalsError> =>
    Effect.suspend(() => {
      let asked: Approval.Approval | undefined
      return approvals.ask(question, (approval) => {
        asked = approval
        write("approval-asked", approval, channel)
        const where = channel === "host" ? " in the host, or" : ""
        tell(
          options.option === undefined
            ? `a call of ${server} waits for a person${where} where questions are answered: ${approval.id}`
            : `a call of ${server} waits for a person${where} at the terminal: ` +
              `sallyport approvals allow${options.option} ${approval.id}`
        )
        return host()
      }).pipe(
        Effect.tap((approval) => Effect.sync(() => concluded(approval))),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit) && asked !== undefined) write("approval-withdrawn", asked)
          })
        )
      )
    })

  const failed = (error: ApprovalsError): Effect.Effect<Answer> =>
    Effect.sync(() => {
      tell(`a call of ${server} was refused, since no person could be asked: ${error.message}`)
      return refused(reasons[error.kind])
    })

  /** Uses an approval up for this call. */
  const use = (approval: Approval.Approval, call: Call): Answer => {
    const { digest, question, state } = approval
    const used = Approval.step(approval, { _tag: "Use", digest, now: now() })
    if (Approval.lets(approval, used)) {
      chains.set(call, { chain: question.chain, digest })
      return allowed
    }
    return refused(state._tag === "Denied" ? "approval-denied" : "approval-expired")
  }

  const waited = (
    question: Approval.Question,
    call: Call,
    channel: Approval.Channel,
    host: () => Effect.Effect<Choice | undefined>
  ): Effect.Effect<Answer> =>
    put(question, channel, host).pipe(
      Effect.map((approval) => use(approval, call)),
      Effect.catch(failed)
    )

  // ---- legacy: the host is asked while the call waits

  const elicit = (message: string): Effect.Effect<Choice | undefined> =>
    Effect.callback((resume) => {
      const call: Call = {
        wish: undefined,
        method: "elicitation/create",
        params: Form.params(message),
        // A host that fails to ask leaves it to the terminal.
        reply: (reply) => resume(Effect.succeed(reply._tag === "Failure" ? undefined : Form.choice(reply.result)))
      }
      line.host.request(call)
      return Effect.sync(() => line.host.cancel(call, undefined))
    })

  // ---- modern: the call is answered, and its retry brings the answer

  const inputRequest = (of: Open, call: Call): Answer => {
    const round = { chain: of.chain, round: ++of.round, inside: T.object([]) }
    const sealed = states.close(round, boundOf(call), now())
    const state = sealed === undefined ? undefined : T.string(sealed)
    if (state === undefined) return refused("approval-failed")
    const form = T.object([["method", T.quote("elicitation/create")], ["params", Form.params(of.message)]])
    return {
      _tag: "Replied",
      reply: {
        _tag: "Result",
        result: T.object([
          ["resultType", T.quote("input_required")],
          ["inputRequests", T.object([[of.key, form]])],
          ["requestState", T.quote(`${prefix}${state}`)]
        ])
      }
    }
  }

  const askByRound = Effect.fnUntraced(function*(question: Approval.Question, message: string, call: Call) {
    const { chain } = question
    const choice = Deferred.makeUnsafe<Choice>()
    const done = Deferred.makeUnsafe<Approval.Approval, ApprovalsError>()
    const waits = Deferred.makeUnsafe<void>()
    const fiber = yield* put(question, "host", () => {
      Deferred.doneUnsafe(waits, Effect.void)
      return Deferred.await(choice)
    }).pipe(
      Effect.onExit((exit) => Effect.andThen(Deferred.done(done, exit), Deferred.succeed(waits, undefined))),
      // What nobody comes back for is forgotten when its time is over.
      Effect.tap(({ expires }) => Effect.sleep(Math.max(0, expires - now()))),
      Effect.ensuring(Effect.sync(() => open.delete(chain))),
      Effect.forkIn(scope)
    )
    yield* Effect.onInterrupt(Deferred.await(waits), () => Fiber.interrupt(fiber))
    if (Deferred.isDoneUnsafe(done)) {
      return yield* Deferred.await(done).pipe(Effect.map((approval) => use(approval, call)), Effect.catch(failed))
    }
    const of: Open = {
      chain,
      digest: Approval.digestOf(question),
      key: `sallyport-${seal.name()}`,
      message,
      choice,
      done,
      withdraw: () => fiber.interruptUnsafe(),
      round: 0
    }
    open.set(chain, of)
    return inputRequest(of, call)
  })

  const answered = Effect.fnUntraced(function*(of: Open, given: Choice | undefined, call: Call) {
    if (given === undefined && !Deferred.isDoneUnsafe(of.done)) return inputRequest(of, call)
    if (given !== undefined) Deferred.doneUnsafe(of.choice, Effect.succeed(given))
    const outcome = yield* Deferred.await(of.done).pipe(
      Effect.map((approval) => given === "deny" ? refused("approval-denied") : use(approval, call)),
      Effect.catch(failed)
    )
    open.delete(of.chain)
    of.withdraw()
    return outcome
  })

  const follow = (call: Call, params: Text | undefined): Call => {
    const next: Call = {
      ...call,
      params,
      reply: (reply) => {
        // Judged otherwise than when it was asked, so that nobody had to answer.
        resumed.get(next)?.of.withdraw()
        resumed.delete(next)
        goesOn(next, reply)
        call.reply(reply)
      }
    }
    return next
  }

  /** An allowed call that the server answers with questions of its own goes on with the state that it gave. */
  const goesOn = (call: Call, reply: Reply): void => {
    const chain = chains.get(call)
    if (chain === undefined || reply._tag === "Failure") return
    if (T.member(reply.result, "resultType") !== `"input_required"`) return
    const state = stateOf(reply.result)
    if (state === undefined) return
    covered.set(keyOf(state), chain)
    for (const old of covered.keys()) {
      if (covered.size <= maxCovered) break
      covered.delete(old)
    }
  }

  return {
    resume: (call) => {
      if (agreement.era !== "modern" || !rounds.has(call.method)) return call
      const state = stateOf(call.params)
      if (call.params === undefined || state === undefined || !state.startsWith(prefix)) {
        return follow(call, call.params)
      }
      const opened = states.open(T.quote(state.slice(prefix.length)), boundOf(call), now())
      const of = opened === undefined ? undefined : open.get(opened.chain)
      if (of === undefined) return "stale-state"
      const responses = T.member(call.params, "inputResponses")
      const response = responses === undefined ? undefined : T.member(responses, of.key)
      const next = follow(call, T.removeMember(T.removeMember(call.params, "requestState"), "inputResponses"))
      resumed.set(next, { of, given: response === undefined ? undefined : Form.choice(response) })
      return next
    },
    ask: (question) =>
      Effect.suspend(() => {
        const { call } = question
        const state = stateOf(call.params)
        const chain = state === undefined ? undefined : covered.get(keyOf(state))
        if (state !== undefined && chain !== undefined) {
          // Once: the next round has a state of its own.
          covered.delete(keyOf(state))
          if (Approval.digestOf(about(question, chain.chain)) === chain.digest) {
            chains.set(call, chain)
            return Effect.succeed(allowed)
          }
        }
        const came = resumed.get(call)
        resumed.delete(call)
        if (came !== undefined) {
          const { given, of } = came
          if (Approval.digestOf(about(question, of.chain)) === of.digest) return answered(of, given, call)
          // What it is about has changed meanwhile, so the answer is to another question.
          of.withdraw()
        }
        const asked = about(question, seal.name())
        const message = asked.via === "any" && hostAsks(call) ? Form.message(asked) : undefined
        if (message === undefined) return waited(asked, call, "terminal", () => Effect.undefined)
        if (agreement.era === "legacy") return waited(asked, call, "host", () => elicit(message))
        return question.subject.from === "host" && opens(call)
          ? askByRound(asked, message, call)
          : waited(asked, call, "terminal", () => Effect.undefined)
      })
  }
}

/**
 * How questions are put.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * What a command line needs to mean the same state folder, with a blank in front; without it notices name no command.
   */
  readonly option?: string | undefined
}

/**
 * Puts what the gate wants asked to a person.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<never, never, Approvals | Notices | Seal> =>
  Layer.effect(
    Ask,
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      const seal = yield* Seal
      const shared: Shared = {
        approvals: yield* Approvals,
        seal,
        tell: (yield* Notices).tell,
        now: () => clock.currentTimeMillisUnsafe(),
        states: Sealed.make(seal),
        open: new Map(),
        covered: new Map(),
        scope: yield* Effect.scope
      }
      return { open: (line) => Effect.succeed(make(options, shared, line)) }
    })
  )
