/**
 * The policy file: what is allowed, asked and denied, read strictly.
 *
 * **Details**
 *
 * {@link parse} reports everything that is wrong with a file at once, each with its line. A key that is not known is
 * wrong: a rule that was misspelt would otherwise be no rule.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Method from "../protocol/Method.ts"
import * as toml from "../toml/Document.ts"
import * as Reader from "../toml/Reader.ts"
import * as words from "../toml/Words.ts"
import * as Digest from "../wire/Digest.ts"
import * as Condition from "./Condition.ts"
import * as Glob from "./Glob.ts"

/**
 * What is done with a call. Deny beats ask, and ask beats allow.
 *
 * @category models
 * @since 0.1.0
 */
export type Action = "allow" | "ask" | "deny"

/**
 * Where a person may answer: `terminal` is nowhere but at `sallyport approvals`.
 *
 * @category models
 * @since 0.1.0
 */
export type Via = "any" | "terminal"

/**
 * What a rule or limit is about: patterns for each of the four (see {@link Glob}); one of a list is enough, and a member
 * that is absent matches all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Match {
  readonly client?: ReadonlyArray<string>
  readonly server?: ReadonlyArray<string>
  readonly method?: ReadonlyArray<string>
  readonly name?: ReadonlyArray<string>
}

/**
 * A rule; `action` is its `then`. `when` is a condition in CEL; `observe`: it is evaluated and reported, and decides nothing; `arguments`: whether
 * arguments that the tool's schema does not declare are refused first (`closed`), where there is a condition. `at` is
 * where it stands in the file.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule {
  readonly id: string
  readonly match: Match
  readonly when: string | undefined
  readonly action: Action
  readonly why: string | undefined
  readonly observe: boolean
  /** Where it does not say it, that of `[approvals]`. */
  readonly via: Via | undefined
  readonly arguments: "open" | "closed"
  readonly at: Place
}

/**
 * How often: `calls` in each `per`, `concurrent` at a time, `budget` in all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limit {
  readonly id: string
  readonly match: Match
  readonly calls: number | undefined
  readonly per: Duration.Duration | undefined
  readonly concurrent: number | undefined
  readonly budget: number | undefined
  readonly at: Place
}

/**
 * A program of the operator's that decides besides; `methods` is what it is asked about, all where absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hook {
  readonly command: readonly [string, ...Array<string>]
  readonly timeout: Duration.Duration
  readonly methods: ReadonlyArray<string> | undefined
}

/**
 * What is done with results that are too big, break the tool's own output schema, or speak to the model.
 *
 * @category models
 * @since 0.1.0
 */
export interface Results {
  readonly maxBytes: number | undefined
  readonly structured: "off" | "mark" | "quarantine"
  readonly scan: "off" | "mark" | "quarantine"
}

/**
 * How long a question waits for a person, and where it may be answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Approvals {
  readonly expires: Duration.Duration
  /** Where it is not said: anywhere, except for tools that declare to be destructive. */
  readonly via: Via | undefined
}

/**
 * The classes of drift that may be accepted without a person.
 *
 * @category constants
 * @since 0.1.0
 */
export const driftClasses = ["cosmetic", "narrowing", "widening", "text", "privilege"] as const

/**
 * A policy as it was read. `digest` is that of the file's text. `warnings` are about what surely is not meant, but can be
 * carried out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  readonly file: string
  readonly digest: string
  readonly default: Action
  readonly drift: { readonly [Class in typeof driftClasses[number]]?: "accept" | "hold" }
  readonly resources: "accepted" | "linked" | "any"
  readonly rules: ReadonlyArray<Rule>
  readonly limits: ReadonlyArray<Limit>
  readonly hook: Hook | undefined
  readonly results: Results | undefined
  readonly approvals: Approvals
  readonly warnings: ReadonlyArray<Problem>
}

/**
 * Line and column, counted from 1.
 *
 * @category models
 * @since 0.1.0
 */
export type Place = toml.Place

/**
 * Something wrong with a policy: where, and a sentence that says what.
 *
 * @category models
 * @since 0.1.0
 */
export type Problem = Reader.Problem

/**
 * A problem as one line, as compilers write it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format: (problem: Problem) => string = Reader.format

/**
 * How much a policy may hold.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { text: Reader.limits.text, rules: 10_000, limits: 1_000, patterns: Reader.limits.patterns }

const actions = ["allow", "ask", "deny"] as const
const vias = ["any", "terminal"] as const
const checks = ["off", "mark", "quarantine"] as const

const keys = {
  file: ["default", "drift", "resources", "rules", "limits", "hook", "results", "approvals"],
  rule: ["id", "match", "when", "then", "why", "observe", "via", "arguments"],
  limit: ["id", "match", "calls", "per", "concurrent", "budget"],
  match: ["client", "server", "method", "name"],
  hook: ["command", "timeout", "methods"],
  results: ["max_bytes", "structured", "scan"],
  approvals: ["expires", "via"]
}

/** Reads one file: everything wrong is noted and reading goes on, so that a person mends it in one go. */
const reader = (file: string, text: string) => {
  const read = Reader.make(file)
  const { boolean, choice, count, duration, fields, list, note, string, table, warn, wrong } = read

  const globs = (of: string, get: Reader.Fields, key: string): ReadonlyArray<string> | undefined => {
    const found = read.patterns(of, get, key, Glob.compile)
    if (found === undefined || !key.endsWith("method")) return found?.map(({ value }) => value)
    for (const { at, value } of found) {
      const literal = Result.getOrUndefined(Glob.compile(value))?.literal
      if (literal === undefined || Method.isKnown(literal)) continue
      const near = words.nearest(literal, Method.names)
      warn(
        at,
        `${of}${key}: no revision has a method ${words.quote(literal)}` +
          (near === undefined ? "" : `; did you mean "${near}"?`)
      )
    }
    return found.map(({ value }) => value)
  }

  const match = (of: string, get: Reader.Fields, at: Place): Match => {
    const entry = get("match")
    if (entry === undefined) {
      note(at, `${of}match is missing; to match every call write match = { name = "*" }`)
      return {}
    }
    const found = table(of, get, "match")
    if (found === undefined) return {}
    if (found.entries.size === 0) {
      note(found.at, `${of}match is empty; to match every call write match = { name = "*" }`)
      return {}
    }
    const inner = fields(found, `${of}match: `, keys.match)
    const client = globs(of, inner, "client")
    const server = globs(of, inner, "server")
    const method = globs(of, inner, "method")
    const name = globs(of, inner, "name")
    return {
      ...(client === undefined ? {} : { client }),
      ...(server === undefined ? {} : { server }),
      ...(method === undefined ? {} : { method }),
      ...(name === undefined ? {} : { name })
    }
  }

  const condition = (of: string, get: Reader.Fields): string | undefined => {
    const when = string(of, get, "when")
    const node = get("when")?.node
    if (when === undefined || node?._tag !== "String") return undefined
    const compiled = Condition.compile(when)
    if (Result.isSuccess(compiled)) return when
    // Where the file has the condition as it is, without escapes, the place is exact.
    const from = text.slice(...node.range).indexOf(when)
    for (const wrong of compiled.failure) {
      if (from < 0) note(node.at, `${of}when, character ${wrong.offset + 1}: ${wrong.message}`)
      else note(toml.placeIn(text, node.range[0] + from + wrong.offset), `${of}when: ${wrong.message}`)
    }
    return undefined
  }

  const ids = new Map<string, Place>()
  const id = (get: Reader.Fields, table: toml.Table, kind: "rule" | "limit", nth: number): string => {
    const entry = get("id")
    const fallback = `${kind}-${nth}`
    if (entry === undefined) {
      if (kind === "rule") note(table.at, `rule ${nth} has no id; the id is what refusals and the ledger name`)
      return fallback
    }
    if (entry.node._tag !== "String") {
      wrong(entry, `${kind} ${nth}: `, "id", "a string")
      return fallback
    }
    const value = entry.node.value
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value)) {
      note(
        entry.node.at,
        `${kind} ${nth}: the id ${words.quote(value)} must be of letters, digits, ".", "_" and "-", at most 64`
      )
      return fallback
    }
    const before = ids.get(value)
    if (before === undefined) ids.set(value, entry.node.at)
    else note(entry.node.at, `the id "${value}" is there twice; the first is in line ${before.line}`)
    return value
  }

  const rule = (table: toml.Table, nth: number): Rule => {
    const named = table.entries.get("id")?.node
    const of = named?._tag === "String" ? `rule ${words.quote(named.value)}: ` : `rule ${nth}: `
    const get = fields(table, of, keys.rule)
    const name = id(get, table, "rule", nth)
    const matches = match(of, get, table.at)
    const when = condition(of, get)
    const then = choice(of, get, "then", actions)
    const why = string(of, get, "why")
    const observe = boolean(of, get, "observe")
    const via = choice(of, get, "via", vias)
    const open = choice(of, get, "arguments", ["open", "closed"])
    if (get("then") === undefined) {
      note(
        table.at,
        observe === true
          ? `${of}there is nothing to observe: then is missing; write what the rule would do`
          : `${of}then is missing; write then = "allow", "ask" or "deny"`
      )
    }
    const viaEntry = get("via")
    if (viaEntry !== undefined && then !== undefined && then !== "ask") {
      note(viaEntry.key, `${of}via says where a person is asked, but then is "${then}"; it goes with then = "ask"`)
    }
    const openEntry = get("arguments")
    if (openEntry !== undefined && get("when") === undefined) {
      note(openEntry.key, `${of}arguments has no effect without when: only a condition looks at them`)
    }
    return {
      id: name,
      match: matches,
      when,
      action: then ?? "deny",
      why,
      observe: observe ?? false,
      via,
      arguments: open ?? "closed",
      at: table.at
    }
  }

  const limit = (table: toml.Table, nth: number): Limit => {
    const named = table.entries.get("id")?.node
    const of = named?._tag === "String" ? `limit ${words.quote(named.value)}: ` : `limit ${nth}: `
    const get = fields(table, of, keys.limit)
    const name = id(get, table, "limit", nth)
    const matches = match(of, get, table.at)
    const calls = count(of, get, "calls")
    const per = duration(of, get, "per", 366)
    const concurrent = count(of, get, "concurrent")
    const budget = count(of, get, "budget")
    const callsEntry = get("calls")
    const perEntry = get("per")
    if (perEntry !== undefined && callsEntry === undefined) {
      note(perEntry.key, `${of}per is there without calls; write how many, as in calls = 60`)
    }
    if (callsEntry !== undefined && perEntry === undefined) {
      note(callsEntry.key, `${of}calls is there without per; write in which time, as in per = "1 minute"`)
    }
    const budgetEntry = get("budget")
    if (budgetEntry !== undefined && get("id") === undefined) {
      note(budgetEntry.key, `${of}a budget needs an id: what was used of it is kept under that`)
    }
    if (["calls", "per", "concurrent", "budget"].every((key) => get(key) === undefined)) {
      note(table.at, `${of}it limits nothing; write calls and per, concurrent, or budget`)
    }
    if (calls !== undefined && budget !== undefined && budget < calls) {
      note(
        get("budget")?.node.at ?? table.at,
        `${of}a budget of ${budget} calls contradicts ${calls} calls per time: it is used up in the first`
      )
    }
    return { id: name, match: matches, calls, per, concurrent, budget, at: table.at }
  }

  const hook = (get: Reader.Fields): Hook | undefined => {
    const found = table("", get, "hook")
    if (found === undefined) return undefined
    const inner = fields(found, "hook: ", keys.hook)
    const timeout = duration("hook: ", inner, "timeout", 1) ?? Duration.seconds(5)
    const methods = inner("methods") === undefined ? undefined : globs("hook: ", inner, "methods")
    const entry = inner("command")
    if (entry === undefined) {
      return note(found.at, "hook: command is missing; write the program and its arguments as a list of strings")
    }
    if (entry.node._tag !== "Array") {
      return wrong(entry, "hook: ", "command", "a list of strings, the program first (it is never given to a shell)")
    }
    const parts: Array<string> = []
    for (const item of entry.node.items) {
      if (item._tag === "String" && !item.value.includes("\0")) parts.push(item.value)
      else note(item.at, `hook: command must be a list of strings; this item is ${Reader.said(item)}`)
    }
    const [program, ...rest] = parts
    if (program === undefined || program === "") return note(entry.node.at, "hook: command names no program")
    return { command: [program, ...rest], timeout, methods }
  }

  const results = (get: Reader.Fields): Results | undefined => {
    const found = table("", get, "results")
    if (found === undefined) return undefined
    const inner = fields(found, "results: ", keys.results)
    return {
      maxBytes: count("results: ", inner, "max_bytes"),
      structured: choice("results: ", inner, "structured", checks) ?? "off",
      scan: choice("results: ", inner, "scan", checks) ?? "off"
    }
  }

  const approvals = (get: Reader.Fields): Approvals => {
    const found = table("", get, "approvals")
    if (found === undefined) return { expires: Duration.minutes(5), via: undefined }
    const inner = fields(found, "approvals: ", keys.approvals)
    return {
      expires: duration("approvals: ", inner, "expires", 1) ?? Duration.minutes(5),
      via: choice("approvals: ", inner, "via", vias)
    }
  }

  const drift = (get: Reader.Fields): Policy["drift"] => {
    const found = table("", get, "drift")
    if (found === undefined) return {}
    const inner = fields(found, "drift: ", driftClasses)
    const all: { [Class in typeof driftClasses[number]]?: "accept" | "hold" } = {}
    for (const name of driftClasses) {
      const chosen = choice("drift: ", inner, name, ["accept", "hold"])
      if (chosen !== undefined) all[name] = chosen
    }
    return all
  }

  const whole = (root: toml.Table, digest: string): Policy => {
    const get = fields(root, "", keys.file)
    const fallback = choice("", get, "default", actions)
    if (get("default") === undefined) {
      note(
        { line: 1, column: 1 },
        "default is missing: what is done with a call that no rule matches; write default = \"allow\", \"ask\" or \"deny\""
      )
    }
    const policy = {
      file,
      digest,
      default: fallback ?? "deny",
      drift: drift(get),
      resources: choice("", get, "resources", ["accepted", "linked", "any"]) ?? "accepted",
      rules: list(get, "rules", limits.rules).map((table, index) => rule(table, index + 1)),
      limits: list(get, "limits", limits.limits).map((table, index) => limit(table, index + 1)),
      hook: hook(get),
      results: results(get),
      approvals: approvals(get)
    }
    shadowed(policy.rules, warn)
    contradicting(policy.limits, note)
    return { ...policy, warnings: read.warnings() }
  }

  return { errors: read.errors, whole }
}

const matchKey = (match: Match): string =>
  JSON.stringify([match.client, match.server, match.method, match.name].map((globs) => globs?.toSorted()))

const strength: { readonly [A in Action]: number } = { allow: 0, ask: 1, deny: 2 }

/** Rules that can never decide, because another with the same match, and no narrower condition, is as strong. */
const shadowed = (rules: ReadonlyArray<Rule>, warn: (at: Place, message: string) => void): void => {
  const strongest = new Map<string, Rule>()
  const bids = rules.filter((rule) => !rule.observe)
  for (const rule of bids) {
    const key = `${matchKey(rule.match)}\n${rule.when ?? ""}`
    const before = strongest.get(key)
    if (before === undefined || strength[rule.action] > strength[before.action]) strongest.set(key, rule)
  }
  for (const rule of bids) {
    const match = matchKey(rule.match)
    for (const key of new Set([`${match}\n`, `${match}\n${rule.when ?? ""}`])) {
      const other = strongest.get(key)
      if (other === undefined || other === rule || strength[other.action] < strength[rule.action]) continue
      warn(
        rule.at,
        `rule "${rule.id}" can never decide: rule "${other.id}" (line ${other.at.line}) matches the same calls ` +
          `and says "${other.action}"`
      )
      break
    }
  }
}

const contradicting = (limits: ReadonlyArray<Limit>, note: (at: Place, message: string) => void): void => {
  const seen = new Map<string, Limit>()
  for (const limit of limits) {
    const key = matchKey(limit.match)
    const before = seen.get(key)
    if (before === undefined) {
      seen.set(key, limit)
      continue
    }
    for (const what of ["concurrent", "budget"] as const) {
      if (limit[what] === undefined || before[what] === undefined || limit[what] === before[what]) continue
      note(
        limit.at,
        `limit "${limit.id}" sets ${what} to ${limit[what]}, limit "${before.id}" (line ${before.at.line}) ` +
          `to ${before[what]} for the same calls`
      )
    }
    const per = (one: Limit) => one.per === undefined ? undefined : Duration.toMillis(one.per)
    if (limit.calls !== undefined && before.calls !== undefined && per(limit) === per(before)) {
      if (limit.calls === before.calls) continue
      note(
        limit.at,
        `limit "${limit.id}" sets calls to ${limit.calls}, limit "${before.id}" (line ${before.at.line}) ` +
          `to ${before.calls} for the same calls and the same time`
      )
    }
  }
}

/**
 * Reads a policy. The failure holds everything that is wrong with it, by line.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string, file: string): Result.Result<Policy, ReadonlyArray<Problem>> => {
  const root = Reader.document(text, file)
  if (Result.isFailure(root)) return Result.fail([root.failure])
  const reading = reader(file, text)
  const policy = reading.whole(root.success, Digest.sha256(text))
  const errors = reading.errors()
  return errors.length === 0 ? Result.succeed(policy) : Result.fail(errors)
}
