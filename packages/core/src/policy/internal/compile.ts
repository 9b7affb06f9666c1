/**
 * Conditions as closures: each part of a parsed expression becomes a function that takes its steps before it works.
 *
 * Nothing here throws. What cannot be done with an expression is noted with its place; what cannot be done with a value is a
 * fault.
 */
import type { ASTNode } from "@marcbachmann/cel-js"
import * as Result from "effect/Result"
import { RE2JS } from "re2js"
import { type Meter, take } from "../../schema/Tree.ts"
import * as words from "../../toml/Words.ts"
import * as Decimal from "../../wire/Decimal.ts"
import type { Facts, Wrong } from "../Condition.ts"
import * as Location from "../Location.ts"
import * as V from "./value.ts"

/** How long a regular expression may be, and how many parts it may have. */
export const limits = { pattern: 1_024, program: 1_000 }

export const variables = ["args", "params", "uri", "call", "pin"]
const types = new Set(["bool", "int", "double", "string", "list", "map", "null_type"])
const urlParts = ["scheme", "host", "port", "path", "query"]
export const functions = [
  "basename",
  "double",
  "dyn",
  "ext",
  "has",
  "int",
  "size",
  "string",
  "type",
  "under",
  "under_any",
  "url"
]
export const methods = [
  "all",
  "contains",
  "endsWith",
  "exists",
  "exists_one",
  "filter",
  "lowerAscii",
  "map",
  "matches",
  "size",
  "startsWith",
  "upperAscii"
]

export interface Run {
  (env: Env): V.Value
}

export interface Env {
  readonly facts: Facts
  readonly meter: Meter
  readonly locals: Array<V.Value>
}

/** What compiling has come by so far. */
export interface Draft {
  readonly wrong: Array<Wrong>
  readonly arguments: Map<string, ReadonlyArray<string>>
}

/** The names of comprehensions around, with the slot of each. */
type Scope = ReadonlyArray<string>

export const textOf = (node: ASTNode): string => node.input.slice(node.start, node.end)

const short = (node: ASTNode): string => {
  const text = textOf(node).replace(/\s+/g, " ")
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}

const bad = (draft: Draft, node: ASTNode, message: string): Run => {
  draft.wrong.push({ offset: node.start, message })
  return () => V.fault(message)
}

const literal = (node: ASTNode | undefined): string | undefined =>
  node?.op === "value" && typeof node.args === "string" ? node.args : undefined

/** The path of members from `args` on, as far as it is written out; undefined if the node begins elsewhere. */
const pathOf = (node: ASTNode, scope: Scope): ReadonlyArray<string> | undefined => {
  if (node.op === "id") return node.args === "args" && !scope.includes("args") ? [] : undefined
  if (node.op !== "." && node.op !== "[]") return undefined
  const head = pathOf(node.args[0], scope)
  const name = node.op === "." ? node.args[1] : literal(node.args[1])
  return head === undefined || name === undefined ? undefined : [...head, name]
}

const noteArgument = (draft: Draft, node: ASTNode, scope: Scope): void => {
  const path = pathOf(node, scope)
  if (path !== undefined && path.length > 0) draft.arguments.set(path.join("\0"), path)
}

const settled = (run: Run): Run => (env) => V.settle(run(env), env.meter)

const compileNode = (node: ASTNode, scope: Scope, draft: Draft): Run => {
  const run = compileOp(node, scope, draft)
  return (env) => take(env.meter, 1) ? run(env) : V.spent
}

const compileOp = (node: ASTNode, scope: Scope, draft: Draft): Run => {
  switch (node.op) {
    case "value":
      return compileLiteral(node, node.args, draft)
    case "id":
      return compileName(node, node.args, scope, draft)
    case ".":
      noteArgument(draft, node, scope)
      return compileMember(node, node.args[0], node.args[1], scope, draft)
    case "[]":
      noteArgument(draft, node, scope)
      return compileIndex(node, node.args[0], node.args[1], scope, draft)
    case "call":
      return compileCall(node, node.args[0], node.args[1], scope, draft)
    case "rcall":
      return compileMethod(node, node.args[0], node.args[1], node.args[2], scope, draft)
    case "list": {
      const runs = node.args.map((item) => compileNode(item, scope, draft))
      return (env) => {
        const items: Array<V.Value> = []
        for (const run of runs) {
          const value = run(env)
          if (V.isFault(value)) return value
          items.push(value)
        }
        return { _tag: "List", items }
      }
    }
    case "map": {
      const runs: Array<readonly [string, Run]> = []
      for (const [key, value] of node.args) {
        const name = literal(key)
        if (name === undefined) return bad(draft, key, "the keys of a map must be written-out strings")
        runs.push([name, compileNode(value, scope, draft)])
      }
      return (env) => {
        const entries = new Map<string, V.Value>()
        for (const [name, run] of runs) {
          const value = run(env)
          if (V.isFault(value)) return value
          entries.set(name, value)
        }
        return { _tag: "Dict", entries }
      }
    }
    case "?:": {
      const test = compileTruth(node.args[0], scope, draft)
      const yes = compileNode(node.args[1], scope, draft)
      const no = compileNode(node.args[2], scope, draft)
      return (env) => {
        const truth = test(env)
        return V.isFault(truth) ? truth : truth === true ? yes(env) : no(env)
      }
    }
    case "||":
    case "&&": {
      const left = compileTruth(node.args[0], scope, draft)
      const right = compileTruth(node.args[1], scope, draft)
      const decisive = node.op === "||"
      // As CEL has it: one side that decides is enough, whatever became of the other.
      return (env) => {
        const first = left(env)
        if (first === decisive) return decisive
        const second = right(env)
        return second === decisive ? decisive : V.isFault(first) ? first : second
      }
    }
    case "!_": {
      const run = compileTruth(node.args, scope, draft)
      return (env) => {
        const value = run(env)
        return V.isFault(value) ? value : value !== true
      }
    }
    case "-_": {
      if (node.args.op === "value" && node.args.args === 2n ** 63n) return () => -(2n ** 63n)
      const run = settled(compileNode(node.args, scope, draft))
      return (env) => V.negate(run(env))
    }
    case "==":
    case "!=": {
      const left = compileNode(node.args[0], scope, draft)
      const right = compileNode(node.args[1], scope, draft)
      const equal = node.op === "=="
      if (isNull(node.args[0]) || isNull(node.args[1])) {
        const other = settled(isNull(node.args[0]) ? right : left)
        return (env) => {
          const value = other(env)
          return V.isFault(value) ? value : (value === null) === equal
        }
      }
      return (env) => {
        const same = V.equal(left(env), right(env), env.meter)
        return V.isFault(same) ? same : same === equal
      }
    }
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const left = compileNode(node.args[0], scope, draft)
      const right = compileNode(node.args[1], scope, draft)
      const op = node.op
      return (env) => {
        const order = V.order(left(env), right(env), env.meter)
        if (V.isFault(order)) return order
        return op === "<" ? order < 0 : op === "<=" ? order <= 0 : op === ">" ? order > 0 : order >= 0
      }
    }
    case "in":
      return compileIn(node.args[0], node.args[1], scope, draft)
    case "+":
    case "-":
    case "*":
    case "/":
    case "%": {
      const left = compileNode(node.args[0], scope, draft)
      const right = compileNode(node.args[1], scope, draft)
      const op = node.op
      return (env) => V.calculate(op, left(env), right(env), env.meter)
    }
    default:
      return bad(draft, node, "this is not among what conditions can do")
  }
}

const isNull = (node: ASTNode): boolean => node.op === "value" && node.args === null

/** A part that must be true or false. */
export const compileTruth = (node: ASTNode, scope: Scope, draft: Draft): Run => {
  const run = settled(compileNode(node, scope, draft))
  return (env) => {
    const value = run(env)
    return typeof value === "boolean" || V.isFault(value)
      ? value
      : V.fault(`${short(node)} is ${V.kindOf(value)}, not true or false`)
  }
}

const compileLiteral = (node: ASTNode, value: unknown, draft: Draft): Run => {
  if (typeof value === "bigint") {
    return value > 2n ** 63n - 1n ? bad(draft, node, "the number is beyond 64 bits") : () => value
  }
  if (value === null || typeof value === "boolean" || typeof value === "string") return () => value
  if (typeof value === "number") {
    return Decimal.exact(textOf(node).replace(/^\./, "0.")) === undefined
      ? bad(draft, node, "the number cannot be compared exactly; write fewer digits")
      : () => value
  }
  return bad(draft, node, "bytes and unsigned numbers are not among what conditions can do; JSON has neither")
}

const compileName = (node: ASTNode, name: string, scope: Scope, draft: Draft): Run => {
  const slot = scope.lastIndexOf(name)
  if (slot >= 0) return (env) => env.locals[slot] ?? null
  switch (name) {
    case "args":
      return ({ facts: { args } }) =>
        args.kind === "object" ? args : V.fault(`the arguments are ${V.kindOf(args)}, not a map`)
    case "params":
      return (env) => env.facts.params
    case "call":
      return (env) => env.facts.callValue
    case "pin":
      return (env) => env.facts.pinValue
    case "uri": {
      const none = V.fault("uri is there only for methods about a resource")
      return ({ facts }) => facts.call.method.startsWith("resources/") ? facts.call.name ?? none : none
    }
  }
  if (types.has(name)) {
    const type: V.Type = { _tag: "Type", name }
    return () => type
  }
  return bad(draft, node, `there is no ${words.quote(name)}; the variables are ${variables.join(", ")}`)
}

/** The member of a map, or the fault that there is none. */
const memberOf = (node: ASTNode, of: ASTNode, name: string) => {
  const missing = V.fault(`${short(node)} is missing`)
  return (value: V.Value, env: Env): V.Value => {
    if (V.isFault(value)) return value
    const entries = V.entries(value, env.meter)
    if (entries === undefined) return V.fault(`${short(of)} is ${V.kindOf(V.settle(value, env.meter))}, not a map`)
    if ("_tag" in entries) return entries
    return entries.get(name) ?? missing
  }
}

const compileMember = (node: ASTNode, of: ASTNode, name: string, scope: Scope, draft: Draft): Run => {
  if (of.op === "call" && of.args[0] === "url" && !urlParts.includes(name)) {
    return bad(draft, node, `a url has no ${words.quote(name)}; its parts are ${urlParts.join(", ")}`)
  }
  const run = compileNode(of, scope, draft)
  const member = memberOf(node, of, name)
  return (env) => member(run(env), env)
}

const compileIndex = (node: ASTNode, of: ASTNode, by: ASTNode, scope: Scope, draft: Draft): Run => {
  const name = literal(by)
  const run = compileNode(of, scope, draft)
  if (name !== undefined) {
    const member = memberOf(node, of, name)
    return (env) => member(run(env), env)
  }
  const index = settled(compileNode(by, scope, draft))
  return (env) => {
    const value = run(env)
    if (V.isFault(value)) return value
    const at = index(env)
    if (V.isFault(at)) return at
    if (typeof at === "string") return memberOf(node, of, at)(value, env)
    const items = V.items(value, env.meter)
    if (items === undefined) return V.fault(`${short(of)} is ${V.kindOf(V.settle(value, env.meter))}, not a list`)
    if ("_tag" in items) return items
    if (typeof at !== "bigint") return V.fault(`${short(by)} is ${V.kindOf(at)}, and no place in a list`)
    return items[Number(at)] ?? V.fault(`${short(of)} has no element ${at}`)
  }
}

const compileIn = (what: ASTNode, where: ASTNode, scope: Scope, draft: Draft): Run => {
  const left = compileNode(what, scope, draft)
  const right = compileNode(where, scope, draft)
  return (env) => {
    const value = V.settle(left(env), env.meter)
    if (V.isFault(value)) return value
    const set = right(env)
    if (V.isFault(set)) return set
    const entries = V.entries(set, env.meter)
    if (entries !== undefined) {
      if ("_tag" in entries) return entries
      return typeof value === "string"
        ? entries.has(value)
        : V.fault(`${short(what)} is ${V.kindOf(value)}, not a name`)
    }
    const items = V.items(set, env.meter)
    if (items === undefined) {
      return V.fault(`${short(where)} is ${V.kindOf(V.settle(set, env.meter))}, neither a list nor a map`)
    }
    if ("_tag" in items) return items
    let faulty: V.Value = false
    for (const item of items) {
      if (!take(env.meter, 1)) return V.spent
      const same = V.equal(value, item, env.meter)
      if (same === true) return true
      if (V.isFault(same)) faulty = same
    }
    return faulty
  }
}

/** A text argument, or the fault that it is none. */
const compileText = (node: ASTNode, scope: Scope, draft: Draft): (env: Env) => string | V.Fault => {
  const run = settled(compileNode(node, scope, draft))
  return (env) => {
    const value = run(env)
    return typeof value === "string" || V.isFault(value)
      ? value
      : V.fault(`${short(node)} is ${V.kindOf(value)}, not a string`)
  }
}

const compilePath = (node: ASTNode, scope: Scope, draft: Draft): (env: Env) => Location.Segments | V.Fault => {
  const text = compileText(node, scope, draft)
  return (env) => {
    const value = text(env)
    if (typeof value !== "string") return value
    if (!take(env.meter, 4 + (value.length >> 1))) return V.spent
    const segments = Location.path(value)
    return Result.isFailure(segments) ? V.fault(`${short(node)}: ${segments.failure}`) : segments.success
  }
}

const isSegments = (value: Location.Segments | V.Fault): value is Location.Segments => !("_tag" in value)

interface UnderOptions {
  readonly foldCase: boolean
  readonly real: boolean
}

const underOptions = (node: ASTNode | undefined, draft: Draft): UnderOptions => {
  const options = { foldCase: false, real: false }
  if (node === undefined) return options
  if (node.op !== "map") {
    bad(draft, node, "the options must be written out, as in {\"fold_case\": true}")
    return options
  }
  for (const [key, value] of node.args) {
    const name = literal(key)
    const on = value.op === "value" ? value.args : undefined
    if (name !== "fold_case" && name !== "real") bad(draft, key, "the options are \"fold_case\" and \"real\"")
    else if (typeof on !== "boolean") bad(draft, value, `${name} must be true or false`)
    else if (name === "real") options.real = on
    else options.foldCase = on
  }
  return options
}

const rootOf = (node: ASTNode, draft: Draft): Location.Segments | undefined => {
  const text = literal(node)
  if (text === undefined) {
    bad(draft, node, "the root must be written out, so that it can be checked now")
    return undefined
  }
  const root = Location.path(text.length > 1 && text.endsWith("/") ? text.slice(0, -1) : text)
  if (Result.isSuccess(root)) return root.success
  bad(draft, node, `the root ${words.quote(text)} cannot be used: ${root.failure}`)
  return undefined
}

const compileUnder = (
  what: ASTNode,
  roots: ReadonlyArray<ASTNode>,
  options: ASTNode | undefined,
  scope: Scope,
  draft: Draft
): Run => {
  const path = compilePath(what, scope, draft)
  const { foldCase, real } = underOptions(options, draft)
  const all = roots.map((root) => rootOf(root, draft) ?? [])
  return (env) => {
    const found = path(env)
    if (!isSegments(found)) return found
    if (!take(env.meter, all.length)) return V.spent
    const lexical = all.filter((root) => Location.isUnder(found, root, foldCase))
    if (!real || lexical.length === 0) return lexical.length > 0
    const resolve = env.facts.real
    if (resolve === undefined) return V.fault("links cannot be resolved here, as real asks for")
    const leads = resolve(`/${found.join("/")}`)
    const there = leads === undefined ? undefined : Location.path(leads)
    if (there === undefined || Result.isFailure(there)) return V.fault(`${short(what)}: where it leads cannot be told`)
    return lexical.some((root) => {
      const real = resolve(`/${root.join("/")}`)
      const base = real === undefined ? undefined : Location.path(real)
      return base !== undefined && Result.isSuccess(base) && Location.isUnder(there.success, base.success, foldCase)
    })
  }
}

const unknown = (draft: Draft, node: ASTNode, name: string, known: ReadonlyArray<string>): Run => {
  const near = words.nearest(name, known)
  return bad(
    draft,
    node,
    `${words.quote(name)} is not among what conditions can do` +
      (near === undefined ? "; see docs/policy.md for what is" : `; did you mean "${near}"?`)
  )
}

const compileCall = (
  node: ASTNode,
  name: string,
  args: ReadonlyArray<ASTNode>,
  scope: Scope,
  draft: Draft
): Run => {
  const [first, second, third] = args
  if (first === undefined) return unknown(draft, node, name, functions)
  switch (name) {
    case "has":
      return compileHas(node, first, scope, draft)
    case "size":
      return compileSize(first, scope, draft)
    case "dyn":
      return compileNode(first, scope, draft)
    case "type": {
      const run = settled(compileNode(first, scope, draft))
      return (env) => {
        const value = run(env)
        return V.isFault(value) ? value : { _tag: "Type", name: V.kindOf(value) }
      }
    }
    case "int":
    case "double":
    case "string": {
      const run = settled(compileNode(first, scope, draft))
      const convert = conversions[name]
      return (env) => {
        const value = run(env)
        if (V.isFault(value)) return value
        if (!take(env.meter, typeof value === "string" ? 1 + (value.length >> 4) : 1)) return V.spent
        return convert(value) ?? V.fault(`${short(first)} cannot be made ${name}`)
      }
    }
    case "under":
      if (second === undefined) break
      return compileUnder(first, [second], third, scope, draft)
    case "under_any":
      if (second === undefined) break
      if (second.op !== "list") {
        return bad(draft, second, "the roots must be written out, as in [\"/srv/a\", \"/srv/b\"]")
      }
      return compileUnder(first, second.args, third, scope, draft)
    case "basename":
    case "ext": {
      const path = compilePath(first, scope, draft)
      return (env) => {
        const segments = path(env)
        if (!isSegments(segments)) return segments
        const last = segments.at(-1) ?? ""
        const dot = last.lastIndexOf(".")
        return name === "basename" ? last : dot > 0 ? last.slice(dot + 1) : ""
      }
    }
    case "url": {
      const text = compileText(first, scope, draft)
      return (env) => {
        const value = text(env)
        if (typeof value !== "string") return value
        if (!take(env.meter, 20 + value.length)) return V.spent
        const url = Location.url(value)
        if (Result.isFailure(url)) return V.fault(`${short(first)}: ${url.failure}`)
        const { scheme, host, port, path, query } = url.success
        return {
          _tag: "Dict",
          entries: new Map<string, V.Value>([
            ["scheme", scheme],
            ["host", host],
            ["port", BigInt(port)],
            ["path", path],
            ["query", query]
          ])
        }
      }
    }
  }
  return unknown(draft, node, name, functions)
}

const conversions = {
  int: (value: V.Value): V.Value | undefined => {
    if (typeof value === "bigint") return value
    if (typeof value === "number") {
      return Number.isSafeInteger(Math.trunc(value)) ? BigInt(Math.trunc(value)) : undefined
    }
    if (typeof value !== "string" || !/^-?(?:0|[1-9][0-9]{0,18})$/.test(value)) return undefined
    const exact = Decimal.exact(value)
    return typeof exact === "bigint" ? exact : undefined
  },
  double: (value: V.Value): V.Value | undefined => {
    if (typeof value === "number") return value
    const exact = typeof value === "bigint"
      ? value
      : typeof value === "string" && /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(value)
      ? Decimal.exact(value)
      : undefined
    if (typeof exact !== "bigint") return exact
    return BigInt(Number(exact)) === exact ? Number(exact) : undefined
  },
  string: (value: V.Value): V.Value | undefined =>
    typeof value === "string" ? value : typeof value === "object" ? undefined : String(value)
}

const compileHas = (node: ASTNode, what: ASTNode, scope: Scope, draft: Draft): Run => {
  if (what.op !== ".") return bad(draft, node, "has() asks for a member, as in has(args.path)")
  noteArgument(draft, what, scope)
  const [of, name] = what.args
  const run = compileNode(of, scope, draft)
  return (env) => {
    const value = run(env)
    if (V.isFault(value)) return value
    const entries = V.entries(value, env.meter)
    if (entries === undefined) return V.fault(`${short(of)} is ${V.kindOf(V.settle(value, env.meter))}, not a map`)
    return "_tag" in entries ? entries : entries.has(name)
  }
}

const compileSize = (what: ASTNode, scope: Scope, draft: Draft): Run => {
  const run = settled(compileNode(what, scope, draft))
  return (env) => {
    const value = run(env)
    if (V.isFault(value)) return value
    if (typeof value === "string") {
      if (!take(env.meter, 1 + (value.length >> 4))) return V.spent
      let count = 0
      for (let i = 0; i < value.length; i++) {
        const code = value.charCodeAt(i)
        if (code < 0xdc00 || code > 0xdfff) count++
      }
      return BigInt(count)
    }
    const items = V.items(value, env.meter)
    if (items !== undefined) return "_tag" in items ? items : BigInt(items.length)
    const entries = V.entries(value, env.meter)
    if (entries !== undefined) return "_tag" in entries ? entries : BigInt(entries.size)
    return V.fault(`${short(what)} is ${V.kindOf(value)}, which has no size`)
  }
}

const compileMethod = (
  node: ASTNode,
  name: string,
  of: ASTNode,
  args: ReadonlyArray<ASTNode>,
  scope: Scope,
  draft: Draft
): Run => {
  const [first, second, third] = args
  switch (name) {
    case "size":
      if (first === undefined) return compileSize(of, scope, draft)
      break
    case "startsWith":
    case "endsWith":
    case "contains": {
      if (first === undefined || second !== undefined) break
      const text = compileText(of, scope, draft)
      const part = compileText(first, scope, draft)
      return (env) => {
        const value = text(env)
        if (typeof value !== "string") return value
        const other = part(env)
        if (typeof other !== "string") return other
        // Searching may compare each place with the whole of the part.
        const steps = name === "contains"
          ? (value.length >> 3) + Math.floor(value.length * other.length / 512)
          : other.length >> 6
        if (!take(env.meter, 1 + steps)) return V.spent
        return name === "contains"
          ? value.includes(other)
          : name === "startsWith"
          ? value.startsWith(other)
          : value.endsWith(other)
      }
    }
    case "lowerAscii":
    case "upperAscii": {
      if (first !== undefined) break
      const text = compileText(of, scope, draft)
      return (env) => {
        const value = text(env)
        if (typeof value !== "string") return value
        if (!take(env.meter, 1 + (value.length >> 1))) return V.spent
        return name === "lowerAscii"
          ? value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
          : value.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
      }
    }
    case "matches":
      if (first === undefined || second !== undefined) break
      return compileMatches(of, first, scope, draft)
    case "all":
    case "exists":
    case "exists_one":
    case "filter":
    case "map":
      if (first === undefined || second === undefined) break
      return compileEach(name, of, first, second, third, scope, draft)
  }
  return unknown(draft, node, name, methods)
}

const compileMatches = (of: ASTNode, by: ASTNode, scope: Scope, draft: Draft): Run => {
  const pattern = literal(by)
  if (pattern === undefined) {
    return bad(draft, by, "the regular expression must be written out, so that it can be checked now")
  }
  if (pattern.length > limits.pattern) {
    return bad(draft, by, `the regular expression is longer than ${limits.pattern} characters`)
  }
  const compiled = Result.try({
    try: () => RE2JS.compile(pattern),
    catch: (error) => error instanceof Error ? error.message : String(error)
  })
  if (Result.isFailure(compiled)) {
    const why = compiled.failure.replace(/^error parsing regexp: /, "").replace(/\s+/g, " ")
    return bad(draft, by, `the regular expression ${words.quote(pattern)} cannot be used (RE2's syntax): ${why}`)
  }
  const program = compiled.success
  const size = program.programSize()
  if (size > limits.program) {
    return bad(draft, by, `the regular expression is too big: ${size} parts, at most ${limits.program}`)
  }
  const text = compileText(of, scope, draft)
  // Matching looks at each character with at most each part of the program.
  const each = Math.max(2, size * 0.75)
  return (env) => {
    const value = text(env)
    if (typeof value !== "string") return value
    if (!take(env.meter, 1 + Math.ceil(value.length * each))) return V.spent
    return program.test(value)
  }
}

const compileEach = (
  kind: "all" | "exists" | "exists_one" | "filter" | "map",
  of: ASTNode,
  name: ASTNode,
  second: ASTNode,
  third: ASTNode | undefined,
  scope: Scope,
  draft: Draft
): Run => {
  if (name.op !== "id") return bad(draft, name, `${kind}() takes a name for the element first`)
  if (variables.includes(name.args) || scope.includes(name.args) || types.has(name.args)) {
    return bad(draft, name, `${words.quote(name.args)} is taken; name the element otherwise`)
  }
  const run = settled(compileNode(of, scope, draft))
  const slot = scope.length
  const inner = [...scope, name.args]
  const transform = kind === "map" ? third ?? second : undefined
  const test = kind === "map"
    ? third === undefined ? undefined : compileTruth(second, inner, draft)
    : compileTruth(second, inner, draft)
  const make = transform === undefined ? undefined : compileNode(transform, inner, draft)
  return (env) => {
    const value = run(env)
    if (V.isFault(value)) return value
    const list = elementsOf(value, env.meter)
    if (list === undefined) return V.fault(`${short(of)} is ${V.kindOf(value)}, neither a list nor a map`)
    if ("_tag" in list) return list
    const made: Array<V.Value> = []
    let faulty: V.Fault | undefined
    let count = 0
    for (const item of list) {
      if (!take(env.meter, 1)) return V.spent
      env.locals[slot] = item
      const truth = test === undefined ? true : test(env)
      if (V.isFault(truth)) {
        // One element that decides is enough for these two, whatever became of the others.
        if (kind !== "all" && kind !== "exists") return truth
        if (env.meter.left < 0) return V.spent
        faulty ??= truth
        continue
      }
      if (truth === true) {
        count++
        if (kind === "exists") return true
        if (make !== undefined) {
          const result = make(env)
          if (V.isFault(result)) return result
          made.push(result)
        } else if (kind === "filter") made.push(item)
      } else if (kind === "all") return false
    }
    switch (kind) {
      case "all":
        return faulty ?? true
      case "exists":
        return faulty ?? false
      case "exists_one":
        return count === 1
      default:
        return { _tag: "List", items: made }
    }
  }
}

const elementsOf = (value: V.Value, meter: Meter): ReadonlyArray<V.Value> | V.Fault | undefined => {
  const items = V.items(value, meter)
  if (items !== undefined) return items
  const entries = V.entries(value, meter)
  if (entries === undefined || "_tag" in entries) return entries
  return take(meter, entries.size) ? [...entries.keys()] : V.spent
}
