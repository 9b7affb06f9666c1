/**
 * `sallyport policy explain`.
 *
 * @since 0.1.0
 */
import { real } from "@sallyport/core/node/NodeReal"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Decide from "@sallyport/core/policy/Decide"
import * as Limits from "@sallyport/core/policy/Limits"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ExitCode } from "../ExitCode.ts"
import { Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as Policies from "../Policies.ts"

const did = { allow: "allowed", ask: "put to a person", deny: "denied" } as const

const limitOf = ({ limit }: Limits.Use): string => {
  const { budget, calls, concurrent } = limit
  const parts = [
    ...(calls === undefined ? [] : [Limits.why({ limit, what: "calls", free: undefined })]),
    ...(concurrent === undefined ? [] : [Limits.why({ limit, what: "concurrent", free: undefined })]),
    ...(budget === undefined ? [] : [Limits.why({ limit, what: "budget", free: undefined })])
  ]
  return `limit "${limit.id}" (line ${limit.at.line}): ${parts.join("; ")}`
}

const ruleOf = ({ outcome, parts, rule, values, why }: Decide.Explained): ReadonlyArray<string> => [
  `  line ${rule.at.line}: "${rule.id}" ${outcome}${rule.observe ? ", and only observes" : ""}: ${
    rule.observe ? "it would " : ""
  }${rule.action}${why === undefined ? "" : ` (${Visible.short(why, 400)})`}`,
  ...parts.map(({ source, value }) =>
    `    ${Visible.line(source)} is ${
      typeof value === "boolean" ? value : `unanswered: ${Visible.short(value.fault, 400)}`
    }`
  ),
  ...values.map(({ path, value }) =>
    `    ${Visible.line(path)} is ${value === undefined ? "not there" : Visible.line(value)}`
  )
]

/** A line that goes on under its beginning, where it is longer than what everything fits in. */
const folded = (line: string): string => {
  const indent = " ".repeat(/^ *(?:- )?/.exec(line)?.[0].length ?? 0)
  const [first = "", ...rest] = Visible.wrap(line, Output.columns)
  if (rest.length === 0) return first
  return [
    first.trimEnd(),
    ...Visible.wrap(rest.join(""), Output.columns - indent.length - 2).map((part) => `${indent}  ${part.trim()}`)
  ].join("\n")
}

/** The lines of an explanation, for people. */
const lines = (
  call: Policies.Call,
  { arguments: refused, decision, nearest, rules }: Decide.Explanation,
  uses: ReadonlyArray<Limits.Use>,
  accepted: boolean,
  file: string
): ReadonlyArray<string> => [
  `${Policies.what(call)} is ${did[decision.action]} by ${
    decision.rule === undefined ? "the default" : `the rule "${decision.rule}"`
  }: ${Visible.short(decision.why, 400)}`,
  ...(accepted ? [] : ["Nobody has accepted it, so it is held whatever the policy says."]),
  ...(decision.fault === undefined ? [] : [`A condition had no answer: ${Visible.short(decision.fault, 400)}`]),
  ...(refused === undefined ? [] : [`Its arguments are refused: ${Visible.short(refused, 400)}`]),
  ...(rules.length === 0 ? ["No rule is about it."] : ["", "Rules about it:", ...rules.flatMap(ruleOf)]),
  ...(uses.length === 0 ? [] : ["", "Limits:", ...uses.map((use) => `  ${limitOf(use)}`)]),
  ...(nearest.length === 0
    ? []
    : [
      "",
      "What would allow it:",
      ...nearest.flatMap((one) =>
        `- ${one.replaceAll(`${file}:`, "line ")}`.split("\n").map((line) => `  ${Visible.line(line)}`)
      )
    ])
]

/**
 * Says how a call is decided, and why. The code is 30 where it is denied.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(
  function*(file: string, given: Result.Result<Policies.Call, string>, json: boolean) {
    if (Result.isFailure(given)) {
      return yield* new Failure({
        message: `the call cannot be read: ${given.failure}; sallyport policy explain --help says how to give one`
      })
    }
    const call = given.success
    const compiled = yield* Policies.load(file, real)
    const subject = yield* Policies.subject(call)
    const explanation = Decide.explain(compiled, subject)
    const uses = Limits.compile(compiled.policy.limits)(subject)
    const accepted = subject.pin !== undefined || !Policies.takesArguments(call.method)
    if (json) {
      const { decision, nearest, rules } = explanation
      yield* Output.printJson({
        client: call.client,
        server: call.server,
        method: call.method,
        name: call.name ?? null,
        accepted,
        decision: {
          ...decision,
          rule: decision.rule ?? null,
          via: decision.via ?? null,
          fault: decision.fault ?? null
        },
        arguments: explanation.arguments ?? null,
        rules: rules.map(({ outcome, parts, rule, values, why }) => ({
          id: rule.id,
          line: rule.at.line,
          action: rule.action,
          observe: rule.observe,
          outcome,
          why: why ?? null,
          parts,
          values: values.map(({ path, value }) => ({ path, value: value ?? null }))
        })),
        limits: uses.map(({ limit }) => limit.id),
        nearest
      })
    } else yield* Output.print(lines(call, explanation, uses, accepted, file).map(folded).join("\n"))
    const code: ExitCode = explanation.decision.action === "deny" ? 30 : 0
    return code
  }
)
