/**
 * `sallyport policy test`.
 *
 * @since 0.1.0
 */
import { real } from "@sallyport/core/node/NodeReal"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Decide from "@sallyport/core/policy/Decide"
import { Files } from "@sallyport/core/store/Files"
import type { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ExitCode } from "../ExitCode.ts"
import { Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as Policies from "../Policies.ts"

interface Expected {
  readonly call: Policies.Call
  readonly expect: string
  readonly rule: string | undefined
}

const actions = new Set(["allow", "ask", "deny"])

/** The table of a file: TOML where its name says so, else JSON, in which numbers keep every digit. */
const tableOf = Effect.fnUntraced(function*(path: string, text: string) {
  const failed = (why: string) => new Failure({ message: `${path}: ${why}` })
  if (path.endsWith(".toml")) {
    const toml = yield* Effect.promise(() => import("../Toml.ts"))
    return T.fromValue(yield* Effect.mapError(toml.parse(text), failed))
  }
  return yield* Effect.mapError(Effect.fromResult(Policies.json(text)), failed)
})

const expectedOf = (item: Text): Result.Result<Expected, string> => {
  if (!T.isObject(item)) return Result.fail("it must be a table")
  const call = Policies.callOf(item, ["expect", "rule"])
  if (Result.isFailure(call)) return Result.fail(call.failure)
  const text = (name: string): string | undefined => {
    const value = T.member(item, name)
    return value === undefined ? undefined : T.string(value) ?? ""
  }
  const expect = text("expect")
  return expect === undefined || !actions.has(expect)
    ? Result.fail("expect must be \"allow\", \"ask\" or \"deny\"")
    : Result.succeed({ call: call.success, expect, rule: text("rule") })
}

/**
 * Puts the calls of a file to a policy, and prints those that are decided otherwise than expected.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(file: string, path: string, json: boolean) {
  const files = yield* Files
  const table = yield* tableOf(path, yield* files.read(path))
  const calls = T.member(table, "calls")
  const unknown = T.names(table).filter((name) => name !== "calls")
  if (calls === undefined || !T.isArray(calls) || unknown.length > 0) {
    return yield* new Failure({
      message: `${path}: it must hold calls, a list, and nothing else` +
        (unknown.length === 0 ? "" : `; ${unknown.map(Visible.name).join(", ")} is unknown`)
    })
  }
  const compiled = yield* Policies.load(file, real)
  const all: Array<{
    readonly nth: number
    readonly expected: Expected
    readonly decision: Decide.Decision
    readonly holds: boolean
  }> = []
  for (const [at, item] of T.elements(calls).entries()) {
    const read = expectedOf(item)
    if (Result.isFailure(read)) {
      return yield* new Failure({ message: `${path}: call ${at + 1} cannot be read: ${read.failure}` })
    }
    const expected = read.success
    const decision = Decide.decide(compiled, yield* Policies.subject(expected.call))
    const holds = decision.action === expected.expect &&
      (expected.rule === undefined || expected.rule === decision.rule)
    all.push({ nth: at + 1, expected, decision, holds })
  }
  const wrong = all.filter(({ holds }) => !holds)
  if (json) {
    yield* Output.printJson({
      file,
      calls: all.map(({ decision, expected: { call, expect, rule }, holds, nth }) => ({
        nth,
        server: call.server,
        method: call.method,
        name: call.name ?? null,
        expect,
        expectRule: rule ?? null,
        action: decision.action,
        rule: decision.rule ?? null,
        why: decision.why,
        holds
      }))
    })
  } else {
    const by = (action: string, rule: string | undefined) =>
      rule === undefined ? action : `${action} by ${Visible.short(rule, 64)}`
    const rows = wrong.map(({ decision, expected: { call, expect, rule }, nth }) => [
      String(nth),
      by(expect, rule),
      by(decision.action, decision.rule ?? "the default"),
      Policies.what(call)
    ])
    const table = wrong.length === 0 ? [] : [Output.table(["NO", "EXPECTED", "DECIDED", "CALL"], rows), ""]
    yield* Output.print(
      [
        ...table,
        wrong.length === 0
          ? `ok: ${Output.count(all.length, "call")}`
          : `${Output.count(wrong.length, "call")} of ${all.length} ${
            wrong.length === 1 ? "is" : "are"
          } decided otherwise`
      ].join("\n")
    )
  }
  const code: ExitCode = wrong.length === 0 ? 0 : 1
  return code
})
