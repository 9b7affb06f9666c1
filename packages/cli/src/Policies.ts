/**
 * Policies as the commands read them, and calls to put to them. Loaded only by commands that need it.
 *
 * @since 0.1.0
 */
import * as Body from "@sallyport/core/http/Body"
import type * as Pins from "@sallyport/core/pin/Pins"
import * as Visible from "@sallyport/core/pin/Visible"
import type * as Condition from "@sallyport/core/policy/Condition"
import * as Decide from "@sallyport/core/policy/Decide"
import * as Policy from "@sallyport/core/policy/Policy"
import type * as Gate from "@sallyport/core/stage/Gate"
import { PinStore } from "@sallyport/core/stage/PinStore"
import { Files } from "@sallyport/core/store/Files"
import type { Text } from "@sallyport/core/wire/Message"
import * as Reason from "@sallyport/core/wire/Reason"
import * as T from "@sallyport/core/wire/Text"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { resolve } from "node:path"
import * as Defined from "./Defined.ts"
import { Failure } from "./Failure.ts"
import * as Folders from "./Folders.ts"

/**
 * The file that was named, else policy.toml in the configuration folder.
 *
 * @category reading
 * @since 0.1.0
 */
export const fileOf = (file: Option.Option<string>, config: Option.Option<string>): Effect.Effect<string, Failure> =>
  Option.isSome(file)
    ? file.value === ""
      ? Effect.fail(new Failure({ message: "the name of the policy is empty" }))
      : Effect.succeed(resolve(file.value))
    : Effect.mapBoth(Folders.config(Option.getOrUndefined(config)), {
      onFailure: ({ message }) =>
        new Failure({ message: `the configuration folder is not known: ${message}; name it with --config DIR` }),
      onSuccess: (folder) => `${folder}/policy.toml`
    })

/**
 * A policy and everything that is wrong with it. `compiled` is there where it can be used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Checked {
  readonly file: string
  readonly compiled: Decide.Compiled | undefined
  readonly problems: ReadonlyArray<Policy.Problem>
  readonly warnings: ReadonlyArray<Policy.Problem>
}

/**
 * Reads a policy and checks it, also against everything that was accepted.
 *
 * @category reading
 * @since 0.1.0
 */
export const check = Effect.fnUntraced(function*(file: string, real?: Condition.Real) {
  const files = yield* Files
  const text = yield* files.read(file)
  const definitions = yield* Defined.all(yield* PinStore)
  const policy = Policy.parse(text, file)
  if (Result.isFailure(policy)) {
    const wrong: Checked = { file, compiled: undefined, problems: policy.failure, warnings: [] }
    return wrong
  }
  const compiled = Decide.compile(policy.success, real === undefined ? undefined : { real })
  const checked: Checked = {
    file,
    compiled,
    problems: Decide.typeCheck(compiled, definitions),
    warnings: policy.success.warnings
  }
  return checked
})

/**
 * The same; fails where anything is wrong with it.
 *
 * @category reading
 * @since 0.1.0
 */
export const load = Effect.fnUntraced(function*(file: string, real?: Condition.Real) {
  const { compiled, problems } = yield* check(file, real)
  return compiled === undefined || problems.length > 0
    ? yield* new Failure({ message: problems.map((problem) => Visible.line(Policy.format(problem))).join("\n") })
    : compiled
})

/** What a problem is about, whichever tools its sentence names. */
const about = ({ column, line, message }: Policy.Problem): string => `${line}:${column} ${message.split(", which ")[0]}`

/**
 * The rules of a policy that would look at an argument which nothing accepted has any more, once these pins take the place
 * of those. None where there is no such policy: then there is nothing to lose.
 *
 * @category checking
 * @since 0.1.0
 */
export const orphaned = Effect.fnUntraced(function*(file: string, before: Pins.Pins, after: Pins.Pins) {
  const files = yield* Files
  const store = yield* PinStore
  const text = yield* Effect.orElseSucceed(files.read(file), () => undefined)
  const policy = text === undefined ? undefined : Result.getOrUndefined(Policy.parse(text, file))
  if (policy === undefined) return []
  const compiled = Decide.compile(policy)
  const others = (yield* Defined.all(store)).filter(({ server }) => server !== before.server)
  const problems = (pins: Pins.Pins) => Decide.typeCheck(compiled, [...others, ...Defined.ofPins(pins)])
  const known = new Set(problems(before).map(about))
  return problems(after).filter((problem) => !known.has(about(problem))).map((problem) =>
    Visible.line(Policy.format(problem))
  )
})

// ---- calls

/**
 * A call that is put to a policy. `arguments` is the exact text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly client: string
  readonly server: string
  readonly from: "host" | "server"
  readonly method: string
  readonly name: string | undefined
  readonly arguments: Text | undefined
}

const kinds = { "tools/call": "tool", "prompts/get": "prompt" } as const

/**
 * Whether calls of this method have arguments, and definitions that are accepted.
 *
 * @category guards
 * @since 0.1.0
 */
export const takesArguments = (method: string): method is keyof typeof kinds => Object.hasOwn(kinds, method)

/** The params of such a call. */
const paramsOf = ({ arguments: args, method, name }: Call): Text | undefined =>
  takesArguments(method)
    ? T.object([["name", T.quote(name ?? "")], ...(args === undefined ? [] : [["arguments", args] as const])])
    : name !== undefined && method.startsWith("resources/")
    ? T.object([["uri", T.quote(name)]])
    : args

/**
 * The call as a gate sees it, with what was accepted of its tool.
 *
 * @category conversions
 * @since 0.1.0
 */
export const subject = Effect.fnUntraced(function*(call: Call) {
  const store = yield* PinStore
  const { client, from, method, name, server } = call
  const pins = takesArguments(method) ? yield* store.load(server) : undefined
  const pin = pins?.pins.findLast((pin) => takesArguments(method) && pin.kind === kinds[method] && pin.name === name)
  const found: Gate.Subject = {
    client,
    server,
    from,
    method,
    name,
    params: paramsOf(call),
    pin: pin?.digest,
    definition: pin?.text
  }
  return found
})

const parse = Body.parser(64)

/**
 * Reads JSON that is an object, so that every number keeps its digits; the failure is a sentence.
 *
 * @category parsing
 * @since 0.1.0
 */
export const json = (text: string): Result.Result<Text, string> => {
  const item = parse(Buffer.from(`{"jsonrpc":"2.0","method":"call","params":${text}\n}\n`, "utf8"))
  return item?._tag === "Notification" && item.params !== undefined && T.isObject(item.params)
    ? Result.succeed(item.params)
    : Result.fail(
      item?._tag === "Refused" && item.pointer.startsWith("/params/")
        ? `${Reason.table[item.reason].says}, at ${item.pointer.slice("/params".length)}`
        : "it is no JSON object"
    )
}

const members = ["client", "server", "from", "method", "name", "arguments"]

/**
 * The call that an object says: `server`, and `client`, `from`, `method`, `name` and `arguments` where they are not the
 * default. `more` are other members that it may have. The failure is a sentence.
 *
 * @category parsing
 * @since 0.1.0
 */
export const callOf = (object: Text, more: ReadonlyArray<string> = []): Result.Result<Call, string> => {
  const wrong: Array<string> = []
  const known = [...members, ...more]
  for (const [name] of T.members(object)) {
    if (!known.includes(name)) wrong.push(`${Visible.name(name)} is unknown; the members are ${known.join(", ")}`)
  }
  const string = (name: string): string | undefined => {
    const value = T.member(object, name)
    if (value === undefined) return undefined
    const text = T.string(value)
    if (text === undefined) wrong.push(`${name} must be a string`)
    return text
  }
  const server = string("server")
  const from = string("from") ?? "host"
  const args = T.member(object, "arguments")
  const call: Call = {
    client: string("client") ?? "host",
    server: server ?? "",
    from: from === "server" ? "server" : "host",
    method: string("method") ?? "tools/call",
    name: string("name"),
    arguments: args
  }
  if (server === undefined) wrong.push("server is missing")
  if (from !== "host" && from !== "server") wrong.push("from must be \"host\" or \"server\"")
  if (args !== undefined && !T.isObject(args)) wrong.push("arguments must be an object")
  if (takesArguments(call.method) && call.name === undefined) wrong.push("name is missing")
  return wrong.length === 0 ? Result.succeed(call) : Result.fail(wrong.join("; "))
}

/**
 * The object of a call that was given in parts, or whole in a file.
 *
 * @category reading
 * @since 0.1.0
 */
export const given = Effect.fnUntraced(function*(parts: {
  readonly client: string | undefined
  readonly server: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
  readonly args: string | undefined
  readonly call: string | undefined
}) {
  const { args, call, ...words } = parts
  const read = (what: string, text: string) =>
    Effect.mapError(Effect.fromResult(json(text)), (why) => new Failure({ message: `${what} cannot be read: ${why}` }))
  const named = Object.entries(words).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, T.quote(value)] as const]
  )
  if (call === undefined) {
    const object = args === undefined ? undefined : yield* read("--args", args)
    return T.object([...named, ...(object === undefined ? [] : [["arguments", object] as const])])
  }
  if (named.length > 0 || args !== undefined) {
    return yield* new Failure({ message: "--call has the whole call; leave out the rest" })
  }
  const files = yield* Files
  return yield* read(call, yield* (call === "-" ? stdin : files.read(resolve(call))))
})

const stdin = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return yield* Effect.mapError(
    Stream.mkString(Stream.decodeText(stdio.stdin)),
    ({ message }) => new Failure({ message: `stdin cannot be read: ${message}` })
  )
})

/**
 * A call in a few words.
 *
 * @category formatting
 * @since 0.1.0
 */
export const what = ({ method, name, server }: Pick<Call, "method" | "name" | "server">): string =>
  `${Visible.short(method, 40)}${name === undefined ? "" : ` ${Visible.name(name)}`} of ${Visible.short(server, 40)}`
