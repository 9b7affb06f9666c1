/**
 * `sallyport policy check`.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import * as Policy from "@sallyport/core/policy/Policy"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"
import * as Policies from "../Policies.ts"

const line = (problem: Policy.Problem): string => Visible.line(Policy.format(problem))

/**
 * Prints everything that is wrong with a policy, a line each, or that nothing is.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(file: string, json: boolean) {
  const { compiled, problems, warnings } = yield* Policies.check(file)
  const ok = problems.length === 0 && compiled !== undefined
  const rules = compiled?.policy.rules.length ?? 0
  const limits = compiled?.policy.limits.length ?? 0
  if (json) {
    yield* Output.printJson({ file, ok, digest: compiled?.policy.digest ?? null, rules, limits, problems, warnings })
  } else {
    const all = [...problems.map(line), ...warnings.map((warning) => `${line(warning)} (a warning)`)]
    if (ok) all.push(`ok: ${Output.count(rules, "rule")}, ${Output.count(limits, "limit")}`)
    yield* Output.print(all.join("\n"))
  }
  return ok ? 0 : 1
})
