/**
 * One request as its handler sees the client: what it is told, and what it is asked, in either era.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { nothing } from "../../line/Start.ts"
import type * as Capability from "../../protocol/Capability.ts"
import * as Feature from "../../protocol/Feature.ts"
import * as Revision from "../../protocol/Revision.ts"
import type { Call, Port } from "../../stage/Port.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import type { Ask } from "../Ask.ts"
import type { Answers, Asks, Level, Service } from "../Client.ts"
import { AskError } from "../Client.ts"
import * as Json from "../Json.ts"
import type { Body } from "./body.ts"
import { decoder, encoder } from "./codec.ts"
import type { Bound, Rounds, States } from "./State.ts"

/**
 * The levels, the least grave first.
 *
 * @category tables
 * @since 0.1.0
 */
export const levels: ReadonlyArray<Level> = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
]

/**
 * Who asks, as far as a request knows it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Caller {
  readonly who: string
  readonly revision: Revision.Revision
  readonly capabilities: ReadonlySet<Capability.Path>
  readonly declared: Text
  readonly info: Text | undefined
  /** The least grave level that the client wants, or `undefined` where it wants none. */
  readonly level: () => Level | undefined
}

/**
 * What a handler is told of who asks, and with which metadata.
 *
 * @category getters
 * @since 0.1.0
 */
export const told = (caller: Caller, meta: Text | undefined) => ({
  who: caller.who,
  revision: caller.revision,
  capabilities: caller.capabilities,
  declared: Json.fromText(caller.declared),
  info: caller.info === undefined ? undefined : Json.fromText(caller.info),
  meta: meta === undefined ? undefined : Json.fromText(meta)
})

/**
 * What an exchange needs of the program around it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Around {
  readonly back: Port
  readonly states: States
  /** Names for what needs one, such as a visit to an address. */
  readonly fresh: () => string
}

/**
 * A request in the making.
 *
 * @category models
 * @since 0.1.0
 */
export interface Exchange {
  readonly service: Service
  /** The questions that the handler has ended with (2026-07-28), if it has. */
  readonly questions: () => Body | undefined
  /** The answers that the handler made use of, by key. */
  readonly answers: () => ReadonlyMap<string, Text>
  /** From now on nothing is sent for it. */
  readonly close: () => void
  /** Called with each step of progress, and around the time in which the client is asked. */
  readonly onLife: (listener: (life: "progress" | "asking" | "answered") => void) => void
}

const noAnswers: ReadonlyMap<string, Text> = new Map()

const failure = (reason: AskError["reason"], key: string, message: string, ask: Ask<unknown>): AskError =>
  new AskError({ reason, key, message, requires: ask.requires })

/**
 * Why a client cannot be asked one of these: it did not declare what that takes.
 *
 * @category getters
 * @since 0.1.0
 */
export const unsupported = (
  { capabilities, revision }: Caller,
  entries: ReadonlyArray<readonly [key: string, ask: Ask<unknown>]>
): AskError | undefined => {
  const unable = entries.find(([, ask]) => !ask.supported(capabilities, revision))
  if (unable === undefined) return undefined
  const [key, ask] = unable
  const needs = JSON.stringify(ask.requires)
  return failure("not-supported", key, `The client cannot be asked ${ask.method}: it did not declare ${needs}`, ask)
}

/**
 * Asks one key as a request of its own.
 *
 * @category asking
 * @since 0.1.0
 */
export const request = <A>(
  back: Port,
  key: string,
  ask: Ask<A>,
  params: Text | undefined
): Effect.Effect<A, AskError> =>
  Effect.suspend(() => {
    const answered = Deferred.makeUnsafe<Reply>()
    const own: Call = {
      wish: undefined,
      method: ask.method,
      params,
      reply: (reply) => Deferred.doneUnsafe(answered, Effect.succeed(reply))
    }
    back.request(own)
    return Effect.andThen(back.flush, Deferred.await(answered)).pipe(
      Effect.onInterrupt(() => {
        back.cancel(own, undefined)
        return back.flush
      }),
      Effect.flatMap((reply) => {
        if (reply._tag === "Failure") {
          const said = T.member(reply.error, "message")
          const why = said === undefined ? "it gave no reason" : T.string(said) ?? "it gave no reason"
          return Effect.fail(failure("refused", key, `The client refused ${ask.method}: ${why}`, ask))
        }
        const answer = ask.read(reply.result)
        return answer === undefined
          ? Effect.fail(failure("bad-answer", key, `The client's answer to ${ask.method} does not fit`, ask))
          : Effect.succeed(answer)
      })
    )
  })

/**
 * Opens the exchange of a request. `end` is called when the handler has to stop because the client must be asked first.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  call: Call,
  caller: Caller,
  around: Around,
  rounds: { readonly before: Rounds; readonly bound: Bound },
  end: () => void
): Exchange => {
  const { back, fresh, states } = around
  const modern = Revision.isModern(caller.revision)
  const meta = call.params === undefined ? undefined : T.member(call.params, "_meta")
  const token = meta === undefined ? undefined : T.member(meta, "progressToken")
  let open = true
  let last = Number.NEGATIVE_INFINITY
  let questions: Body | undefined
  let listener: (life: "progress" | "asking" | "answered") => void = nothing
  // Made when something is kept, or accepted: most handlers ask nothing.
  let keeps: Map<string, Text> | undefined
  const kept = (): Map<string, Text> => keeps ??= new Map(rounds.before.kept)
  /** The answers that were of use in this run: those alone go on to the next round. */
  let accepted: Map<string, Text> | undefined

  const tell = (method: string, params: Text): Effect.Effect<void> => {
    back.notify(method, params)
    return back.flush
  }

  const progress: Service["progress"] = (progress, total, message) =>
    Effect.suspend(() => {
      if (!open) return Effect.void
      listener("progress")
      if (token === undefined || !(progress > last)) return Effect.void
      last = progress
      return tell(
        "notifications/progress",
        T.object([
          ["progressToken", token],
          ["progress", T.fromValue(progress)],
          ...(total === undefined ? [] : [["total", T.fromValue(total)] as const]),
          ...(message === undefined || !Feature.isDefined("progress-message", caller.revision)
            ? []
            : [["message", T.quote(message)] as const])
        ])
      )
    })

  const log: Service["log"] = (level, data, logger) =>
    Effect.suspend(() => {
      const least = caller.level()
      if (!open || least === undefined || levels.indexOf(level) < levels.indexOf(least)) return Effect.void
      return tell(
        "notifications/message",
        T.object([
          ["level", T.quote(level)],
          ...(logger === undefined ? [] : [["logger", T.quote(logger)] as const]),
          ["data", T.fromValue(data)]
        ])
      )
    })

  const answerOf = <A>(key: string, ask: Ask<A>): A | undefined => {
    const text = rounds.before.answers.get(key)
    if (text === undefined || !T.isObject(text) || ask.onlyAsked && !rounds.before.told) return undefined
    const answer = ask.read(text)
    if (answer !== undefined) (accepted ??= new Map()).set(key, text)
    return answer
  }

  /** Ends the handler here, with what is still to be asked. */
  const stop = Effect.fnUntraced(
    function*(missing: ReadonlyArray<readonly [key: string, ask: Ask<unknown>]>): Effect.fn.Return<never, AskError> {
      const now = yield* Clock.currentTimeMillis
      const state = states.close(
        {
          ...rounds.before,
          round: rounds.before.round + 1,
          answers: accepted ?? noAnswers,
          asked: new Set(missing.map(([key]) => key)),
          kept: kept()
        },
        rounds.bound,
        now
      )
      if (state === undefined) {
        return yield* new AskError({
          reason: "too-large",
          key: missing[0]?.[0] ?? "",
          message: "The answers so far are longer than what the client can keep",
          requires: {}
        })
      }
      questions = {
        members: [
          [
            "inputRequests",
            T.object(missing.map(([key, ask]) => {
              const params = ask.params(caller.revision, "")
              return [
                key,
                T.object([
                  ["method", T.quote(ask.method)],
                  ...(params === undefined ? [] : [["params", params] as const])
                ])
              ]
            }))
          ],
          ["requestState", state]
        ]
      }
      end()
      return yield* Effect.interruptible(Effect.never)
    }
  )

  function ask<const A extends Asks>(asks: A): Effect.Effect<Answers<A>, AskError>
  function ask(asks: Asks): Effect.Effect<Readonly<Record<string, unknown>>, AskError> {
    const entries = Object.entries(asks)
    const unable = unsupported(caller, entries)
    if (unable !== undefined) return Effect.fail(unable)
    if (modern) {
      const answers = entries.map(([key, ask]) => [key, answerOf(key, ask), ask] as const)
      const missing = answers.flatMap(([key, answer, ask]) => answer === undefined ? [[key, ask] as const] : [])
      return missing.length > 0
        ? stop(missing)
        : Effect.succeed(Object.fromEntries(answers.map(([key, answer]) => [key, answer])))
    }
    return Effect.suspend(() => {
      listener("asking")
      return Effect.all(
        Object.fromEntries(
          entries.map(([key, ask]) => [key, request(back, key, ask, ask.params(caller.revision, fresh()))])
        ),
        {
          concurrency: "unbounded"
        }
      )
    }).pipe(Effect.ensuring(Effect.sync(() => listener("answered"))))
  }

  const once: Service["once"] = (key, schema, effect) => {
    const before = kept().get(key)
    const run = Effect.tap(effect, (value) =>
      Effect.match(encoder(schema)(value), {
        onFailure: () => {},
        onSuccess: (text) => void kept().set(key, text)
      }))
    return before === undefined ? run : Effect.catch(decoder(schema)(before), () => run)
  }

  return {
    service: {
      ...told(caller, meta),
      progress,
      log,
      ask,
      once
    },
    questions: () => questions,
    answers: () => accepted ?? noAnswers,
    close: () => {
      open = false
    },
    onLife: (next) => {
      listener = next
    }
  }
}
