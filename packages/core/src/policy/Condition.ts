/**
 * Conditions in CEL, compiled once and evaluated in bounded time.
 *
 * **Details**
 *
 * Parser and type checker are a library's; the evaluation is our own, because it must be bounded (security F9), exact
 * (F8) and must never take a fault for an answer (F7). A condition is `true`, `false` or a fault: a missing member, a
 * value of another kind, a number that no comparison can be exact about, a path not in normal form, or no steps left.
 *
 * @since 0.1.0
 */
import { type ASTNode, Environment, ParseError, TypeError as CheckError } from "@marcbachmann/cel-js"
import * as Result from "effect/Result"
import { type Meter, Tree } from "../schema/Tree.ts"
import * as words from "../toml/Words.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Compile from "./internal/compile.ts"
import * as V from "./internal/value.ts"

/**
 * What conditions are bounded by: characters of a condition, parts of it, characters of a regular expression, parts of
 * one, steps of an evaluation, and the characters of params that are looked at.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = {
  source: 8_192,
  nodes: 2_000,
  depth: 64,
  ...Compile.limits,
  steps: 10_000,
  input: 1_048_576
}

/**
 * What is judged: who calls whom with what, `definition` being what was accepted of the tool.
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
  readonly params: Text | undefined
  readonly pin: string | undefined
  readonly definition: Text | undefined
}

/**
 * Where a path really leads, links followed; undefined where that cannot be told. Asked only by rules that say
 * `{"real": true}`.
 *
 * @category models
 * @since 0.1.0
 */
export type Real = (path: string) => string | undefined

/**
 * A call as conditions see it; shared by all that look at the same call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  readonly call: Call
  readonly real: Real | undefined
  /** `params`, an empty object where there are none. */
  readonly params: Tree
  /** `arguments` of params, an empty object where there are none. */
  readonly args: Tree
  readonly callValue: V.Value
  readonly pinValue: V.Value
  readonly tooBig: boolean
}

const nothing = new Tree(T.object([]))

/**
 * Looks at a call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const facts = (call: Call, real?: Real): Facts => {
  const written = call.params === undefined ? undefined : T.member(call.params, "arguments")
  let params: Tree | undefined
  let who: V.Value | undefined
  let pin: V.Value | undefined
  return {
    call,
    real,
    get params() {
      return params ??= call.params === undefined ? nothing : new Tree(call.params)
    },
    args: written === undefined ? nothing : new Tree(written),
    get callValue() {
      return who ??= whoOf(call)
    },
    get pinValue() {
      return pin ??= pinOf(call)
    },
    tooBig: call.params !== undefined && call.params.length > limits.input
  }
}

const whoOf = (call: Call): V.Value => ({
  _tag: "Dict",
  entries: new Map<string, V.Value>([
    ["client", call.client],
    ["server", call.server],
    ["method", call.method],
    ["from", call.from],
    ...(call.name === undefined ? [] : [["name", call.name] as const])
  ])
})

const pinOf = (call: Call): V.Value => {
  const entries = new Map<string, V.Value>([["annotations", nothing]])
  if (call.pin !== undefined) entries.set("digest", call.pin)
  if (call.definition !== undefined) {
    const title = T.member(call.definition, "title")
    const annotations = T.member(call.definition, "annotations")
    if (title !== undefined) entries.set("title", new Tree(title))
    if (annotations !== undefined) entries.set("annotations", new Tree(annotations))
  }
  return { _tag: "Dict", entries }
}

/**
 * Why a condition is neither true nor false.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fault {
  readonly _tag: "Fault"
  readonly why: string
}

/**
 * A compiled condition. `parts` are what it joins with `&&`; `arguments` are the members of args that it looks at, each by
 * its path.
 *
 * @category models
 * @since 0.1.0
 */
export interface Condition {
  readonly source: string
  readonly evaluate: (facts: Facts, meter: Meter) => boolean | Fault
  readonly parts: ReadonlyArray<{
    readonly source: string
    readonly evaluate: (facts: Facts, meter: Meter) => boolean | Fault
  }>
  readonly arguments: ReadonlyArray<ReadonlyArray<string>>
}

/**
 * What is wrong with a condition, and at which character of it, counted from 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Wrong {
  readonly offset: number
  readonly message: string
}

// ---- the library's part

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: limits.nodes, maxDepth: limits.depth, maxListElements: 256, maxMapEntries: 64 }
})
  .registerVariable("args", "map")
  .registerVariable("params", "map")
  .registerVariable("uri", "string")
  .registerVariable("call", {
    schema: { client: "string", server: "string", method: "string", name: "string", from: "string" }
  })
  .registerVariable("pin", { schema: { digest: "string", annotations: "map", title: "string" } })
  // Only their types are used: what is registered here is never called.
  .registerFunction("under(dyn, string): bool", () => false)
  .registerFunction("under(dyn, string, map): bool", () => false)
  .registerFunction("under_any(dyn, list): bool", () => false)
  .registerFunction("under_any(dyn, list, map): bool", () => false)
  .registerFunction("basename(dyn): string", () => "")
  .registerFunction("ext(dyn): string", () => "")
  .registerFunction("url(dyn): map", () => ({}))

// ---- the whole

const evaluator = (run: Compile.Run) => (facts: Facts, meter: Meter): boolean | Fault => {
  if (facts.tooBig) return V.fault(`params are longer than ${limits.input} characters`)
  const value = run({ facts, meter, locals: [] })
  return typeof value === "boolean" || V.isFault(value) ? value : V.fault("it is neither true nor false")
}

const conjuncts = (node: ASTNode): ReadonlyArray<ASTNode> =>
  node.op === "&&" ? [...conjuncts(node.args[0]), ...conjuncts(node.args[1])] : [node]

const said = (summary: string): string => {
  const fits = /^found no matching overload for '(.*)'$/.exec(summary)
  if (fits !== null) {
    const name = /^(?:.*\.)?([A-Za-z_]+)\(/.exec(fits[1] ?? "")?.[1] ?? ""
    const near = words.nearest(name, [...Compile.functions, ...Compile.methods].filter((known) => known !== name))
    return `no function fits ${fits[1]}` + (near === undefined ? "" : `; did you mean "${near}"?`)
  }
  const key = /^No such key: (.*)$/.exec(summary)
  if (key !== null) return `there is no member ${words.quote(key[1] ?? "")} here`
  const name = /^Unknown variable: (.*)$/.exec(summary)
  if (name !== null) {
    const near = words.nearest(name[1] ?? "", Compile.variables)
    return `there is no variable ${words.quote(name[1] ?? "")}` +
      (near === undefined ? `; the variables are ${Compile.variables.join(", ")}` : `; did you mean "${near}"?`)
  }
  return summary.slice(0, 1).toLowerCase() + summary.slice(1)
}

const wrongOf = (error: unknown): Wrong =>
  error instanceof ParseError || error instanceof CheckError
    ? { offset: error.range?.start ?? 0, message: said(error.summary) }
    : { offset: 0, message: "it cannot be read" }

/**
 * Compiles a condition; the failure holds what is wrong with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (source: string): Result.Result<Condition, ReadonlyArray<Wrong>> => {
  if (source.length > limits.source) {
    return Result.fail([{ offset: 0, message: `it is longer than ${limits.source} characters` }])
  }
  const parsed = Result.try({ try: () => environment.parse(source), catch: wrongOf })
  if (Result.isFailure(parsed)) return Result.fail([parsed.failure])
  const checked = parsed.success.check()
  if (!checked.valid) return Result.fail([wrongOf(checked.error)])
  const ast = parsed.success.ast
  if (checked.type !== "bool" && checked.type !== "dyn") {
    return Result.fail([{ offset: 0, message: `it is ${checked.type}; a condition is true or false` }])
  }
  const draft: Compile.Draft = { wrong: [], arguments: new Map() }
  const run = Compile.compileTruth(ast, [], draft)
  if (draft.wrong.length > 0) return Result.fail(draft.wrong)
  const scratch: Compile.Draft = { wrong: [], arguments: new Map() }
  return Result.succeed({
    source,
    evaluate: evaluator(run),
    parts: conjuncts(ast).map((part) => ({
      source: Compile.textOf(part),
      evaluate: evaluator(Compile.compileTruth(part, [], scratch))
    })),
    arguments: [...draft.arguments.values()]
  })
}
