/**
 * Hook: a program of the operator's that decides about calls.
 *
 * **Details**
 *
 * It gets the call as one line of JSON and gives its verdict as JSON. Everything that is not plainly a verdict refuses the
 * call, with the reason `hook-failed`: an exit code that is not 0, no JSON, a member too many, too much of it, or none in
 * time.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Glob from "../policy/Glob.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Gate from "./Gate.ts"

/**
 * The program gave no verdict; the message says why, for the operator.
 *
 * @category errors
 * @since 0.1.0
 */
export class HookError extends Schema.TaggedError<HookError>("sallyport/stage/HookError")("HookError", {
  message: Schema.String
}) {}

/**
 * What a hook answers: one JSON object, and nothing else. `rule` is the name that refusals and the ledger show (default:
 * `hook`), `why` what is said to who asked, or to the person who is asked.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Answer = Schema.Struct({
  verdict: Schema.Literals(["allow", "deny", "ask"]),
  why: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1000))),
  rule: Schema.optionalKey(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(128)))
})
/**
 * @category models
 * @since 0.1.0
 */
export type Answer = typeof Answer.Type

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Answer), { onExcessProperty: "error" })

/**
 * How a hook is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Runs the program: gives it a line, and gives all that it printed. An interrupt ends it. */
  readonly run: (line: string) => Effect.Effect<string, HookError>
  /** How long one run may take. Default: 5 seconds. */
  readonly timeout?: Duration.Duration | undefined
  /** Patterns of the methods that it is asked about. Default: all. */
  readonly methods?: ReadonlyArray<string> | undefined
  /** How many runs there may be at a time. Default: 4. */
  readonly concurrent?: number | undefined
  /** Where its questions may be answered, as a rule says it. Default: not said. */
  readonly via?: Gate.Ask["via"] | undefined
  /** Tells the operator what went wrong; who asked is not told. */
  readonly tell: (sentence: string) => void
}

/** So many calls may wait for a run; more are refused. */
const maxWaiting = 64

/**
 * The line that a hook gets: `params` is the exact text that would be sent.
 *
 * @category conversions
 * @since 0.1.0
 */
export const line = (subject: Gate.Subject): string => {
  const { client, from, method, name, params, pin, revision, server } = subject
  const optional = (member: string, value: string | undefined): ReadonlyArray<readonly [string, Text]> =>
    value === undefined ? [] : [[member, T.quote(value)]]
  return `${
    T.object([
      ["client", T.quote(client)],
      ["server", T.quote(server)],
      ["from", T.quote(from)],
      ["method", T.quote(method)],
      ...optional("name", name),
      ...optional("pin", pin),
      ...optional("revision", revision),
      ...(params === undefined ? [] : [["params", params] as const])
    ])
  }\n`
}

const refused: Gate.Refuse = {
  _tag: "Refuse",
  reason: "hook-failed",
  rule: "hook",
  why: "the operator's hook gave no verdict",
  remedy: "ask the operator"
}

const verdictOf = ({ rule = "hook", verdict, why }: Answer, via: Gate.Ask["via"]): Gate.Verdict => {
  switch (verdict) {
    case "allow":
      return { _tag: "Allow", rule }
    case "deny":
      return { _tag: "Refuse", rule, why: why ?? "the operator's hook refuses it", remedy: "ask the operator" }
    case "ask":
      return { _tag: "Ask", rule, why: why ?? "the operator's hook wants a person to decide", via }
  }
}

/**
 * A gate that asks a hook.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Gate.Gate["Service"] => {
  const { methods, tell, timeout = Duration.seconds(5), via } = options
  const patterns = methods?.map((pattern) => Glob.compile(pattern))
  // A pattern that cannot be read was refused with its file; here it means everything.
  const concerns = (method: string): boolean =>
    patterns === undefined || patterns.some((glob) => Result.isFailure(glob) || glob.success.matches(method))
  const permits = Semaphore.makeUnsafe(options.concurrent ?? 4)
  let waiting = 0

  const ask = (subject: Gate.Subject): Effect.Effect<Gate.Verdict, HookError> =>
    options.run(line(subject)).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => Effect.fail(new HookError({ message: `it gave no verdict in ${Duration.format(timeout)}` }))
      }),
      permits.withPermits(1),
      Effect.flatMap((text) => {
        const answer = decode(text)
        return Result.isSuccess(answer)
          ? Effect.succeed(verdictOf(answer.success, via))
          : Effect.fail(new HookError({ message: `what it printed is no verdict: ${answer.failure.message}` }))
      })
    )

  return Gate.make({
    call: (subject) => {
      if (!concerns(subject.method)) return Exit.succeed(Gate.allow)
      if (waiting >= maxWaiting) {
        tell("the hook is asked too much at once, so a call was refused")
        return Exit.succeed(refused)
      }
      return Effect.suspend(() => {
        waiting++
        return ask(subject)
      }).pipe(
        Effect.ensuring(Effect.sync(() => void waiting--)),
        Effect.catch((error) =>
          Effect.sync(() => {
            tell(`the hook refused a call by failing: ${error.message}`)
            return refused
          })
        )
      )
    }
  })
}
