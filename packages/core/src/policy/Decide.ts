/**
 * What a policy says of a call: deny over ask over allow, in bounded time, and why.
 *
 * **Details**
 *
 * Rules are found by the literal names in them and what was found is kept, so a call costs the rules that may match it,
 * not all that there are. The order of rules never changes what is decided.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Check from "../schema/Check.ts"
import type { Meter } from "../schema/Tree.ts"
import * as words from "../toml/Words.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Condition from "./Condition.ts"
import * as Glob from "./Glob.ts"
import * as Location from "./Location.ts"
import type { Action, Match, Policy, Problem, Rule, Via } from "./Policy.ts"

/**
 * How many steps the conditions of one verdict may take in all, how many of them the check of the arguments, how many
 * finding the rules for a name that is new, how long a name may be that is kept, how many are, and how many resources one
 * call may subscribe to where rules name some.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = { steps: 20_000, check: 10_000, find: 30_000, name: 512, kept: 4_096, subscribed: 100 }

/**
 * What was decided.
 *
 * - `rule`: the id of the rule; undefined where none matched and the default decided.
 * - `why`: a sentence for who asked; nothing in it tells how to loosen anything.
 * - `observed`: what rules that only observe would have decided.
 * - `fault`: why a condition, or the check of the arguments, had no answer or refused; for people and records.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decision {
  readonly action: Action
  readonly rule: string | undefined
  readonly why: string
  readonly via: Via | undefined
  readonly observed: ReadonlyArray<Observed>
  readonly fault: string | undefined
}

/**
 * What a rule that only observes would have done.
 *
 * @category models
 * @since 0.1.0
 */
export interface Observed {
  readonly rule: string
  readonly action: Action
}

interface Ready {
  readonly rule: Rule
  readonly globs: { readonly [Key in keyof Match]-?: ReadonlyArray<Glob.Glob> | undefined }
  readonly condition: Condition.Condition | undefined
}

/** A rule whose match fits a call, or that was too dear to tell. */
interface Candidate {
  readonly ready: Ready
  readonly fault: string | undefined
}

/** The rules whose match fits a call, by what they do. */
interface Candidates {
  readonly deny: ReadonlyArray<Candidate>
  readonly ask: ReadonlyArray<Candidate>
  readonly allow: ReadonlyArray<Candidate>
  readonly observe: ReadonlyArray<Candidate>
  /** The first rule that wants only declared arguments. */
  readonly closed: Ready | undefined
  /** The decision where nothing depends on more than the match. */
  readonly constant: Decision | undefined
}

/**
 * A policy made ready for deciding.
 *
 * @category models
 * @since 0.1.0
 */
export interface Compiled {
  readonly policy: Policy
  readonly rules: ReadonlyArray<Ready>
  readonly find: (call: Condition.Call) => Candidates
  readonly schema: (call: Condition.Call) => Check.Check | undefined
  readonly real: Condition.Real | undefined
  /** Whether any rule looks at the name of a call. */
  readonly named: boolean
}

const members = ["name", "server", "client", "method"] as const

const globsOf = (patterns: ReadonlyArray<string> | undefined): ReadonlyArray<Glob.Glob> | undefined =>
  patterns?.flatMap((pattern) => {
    const glob = Glob.compile(pattern)
    return Result.isSuccess(glob) ? [glob.success] : []
  })

const readyOf = (rule: Rule): Ready => {
  const condition = rule.when === undefined ? undefined : Condition.compile(rule.when)
  return {
    rule,
    globs: {
      client: globsOf(rule.match.client),
      server: globsOf(rule.match.server),
      method: globsOf(rule.match.method),
      name: globsOf(rule.match.name)
    },
    condition: condition === undefined
      ? undefined
      : Result.isSuccess(condition)
      ? condition.success
      // A policy that was parsed has none such; one made by hand fails closed.
      : broken(rule.when ?? "", condition.failure[0]?.message ?? "it cannot be used")
  }
}

const broken = (source: string, why: string): Condition.Condition => {
  const evaluate = (): Condition.Fault => ({ _tag: "Fault", why })
  return { source, evaluate, parts: [{ source, evaluate }], arguments: [] }
}

/** Whether one member of a call fits; undefined where there are no steps left to tell. */
const fitsMember = (
  globs: ReadonlyArray<Glob.Glob> | undefined,
  value: string | undefined,
  meter: Meter
): boolean | undefined => {
  if (globs === undefined) return true
  for (const glob of globs) {
    if (value === undefined) {
      if (glob.all) return true
      continue
    }
    meter.left -= glob.cost(value.length)
    if (meter.left < 0) return undefined
    if (glob.matches(value)) return true
  }
  return false
}

/** The names of one call, as patterns are put to them: an address has several spellings, or none that is certain. */
interface Names {
  readonly all: ReadonlyArray<string | undefined>
  readonly fault: string | undefined
}

const ofResource = (method: string): boolean => method.startsWith("resources/") || method === listen

const namesOf = ({ method, name }: Condition.Call): Names => {
  if (name === undefined || !ofResource(method)) return { all: [name], fault: undefined }
  const found = Location.spellings(name)
  return Result.isSuccess(found)
    ? { all: found.success, fault: undefined }
    : { all: [name], fault: found.failure }
}

const tooLong = "the name is too long for its patterns"

/** Whether the match of a rule fits a call; a text says why that cannot be told. */
const fits = ({ globs }: Ready, call: Condition.Call, names: Names, meter: Meter): boolean | string => {
  let sure: boolean | string = true
  for (const member of members) {
    let found: boolean | undefined = false
    if (member !== "name") found = fitsMember(globs[member], call[member], meter)
    else if (names.fault !== undefined && globs.name?.every(({ all }) => !all)) sure = names.fault
    else for (const name of names.all) found ||= fitsMember(globs.name, name, meter)
    if (member === "name" && typeof sure === "string") continue
    if (found === false) return false
    if (found === undefined) sure = tooLong
  }
  return sure
}

/** Rules by the literals of the most telling member in which they have nothing else; the others in a list. */
const indexOf = (rules: ReadonlyArray<Ready>) => {
  const by = { name: new Map<string, Array<Ready>>(), server: new Map<string, Array<Ready>>() }
  const others: Array<Ready> = []
  for (const ready of rules) {
    const member = (["name", "server"] as const).find((member) =>
      ready.globs[member]?.every((glob) => glob.literal !== undefined)
    )
    if (member === undefined) {
      others.push(ready)
      continue
    }
    for (const literal of new Set(ready.globs[member]?.map((glob) => glob.literal ?? ""))) {
      const list = by[member].get(literal)
      if (list === undefined) by[member].set(literal, [ready])
      else list.push(ready)
    }
  }
  return (call: Condition.Call, names: Names): ReadonlyArray<Iterable<Ready>> => [
    ...(names.fault === undefined
      ? [new Set(names.all.flatMap((name) => name === undefined ? [] : by.name.get(name) ?? []))]
      : [new Set([...by.name.values()].flat())]),
    by.server.get(call.server) ?? [],
    others
  ]
}

/**
 * Makes a policy ready. `real` follows links for rules that ask for it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (policy: Policy, options?: { readonly real?: Condition.Real }): Compiled => {
  const rules = policy.rules.map(readyOf)
  const index = indexOf(rules)
  const kept = new Map<string, Candidates>()
  const checks = Check.cache()

  const find = (call: Condition.Call): Candidates => {
    const keep = (call.name?.length ?? 0) <= limits.name
    // With their lengths: a method or name may hold any character, and no two calls may have one key.
    const key = keep
      ? `${call.client.length} ${call.server.length} ${call.method.length} ${call.client}${call.server}${call.method}` +
        (call.name === undefined ? "" : `=${call.name}`)
      : ""
    const known = keep ? kept.get(key) : undefined
    if (known !== undefined) return known
    const names = namesOf(call)
    const found = candidatesOf(policy, index(call, names), call, names, { left: limits.find })
    if (keep) {
      // Names are anybody's: what is kept of them is bounded.
      if (kept.size >= limits.kept) kept.clear()
      kept.set(key, found)
    }
    return found
  }

  const schema = (call: Condition.Call): Check.Check | undefined => {
    const definition = call.definition
    if (definition === undefined) return undefined
    return checks(
      `${call.server}\n${call.method}\n${call.name}\n${call.pin ?? definition}`,
      () => schemaOf(call.method, definition)
    )
  }

  const named = rules.some(({ globs, condition }) => condition !== undefined || globs.name?.every(({ all }) => !all))
  return { policy, rules, find, schema, real: options?.real, named }
}

const candidatesOf = (
  policy: Policy,
  lists: ReadonlyArray<Iterable<Ready>>,
  call: Condition.Call,
  names: Names,
  meter: Meter
): Candidates => {
  const found: Record<Action | "observe", Array<Candidate>> = { deny: [], ask: [], allow: [], observe: [] }
  for (const list of lists) {
    for (const ready of list) {
      const fit = fits(ready, call, names, meter)
      if (fit === false) continue
      const kind = ready.rule.observe ? "observe" : ready.rule.action
      found[kind].push({ ready, fault: typeof fit === "string" ? fit : undefined })
    }
  }
  const all = [...found.deny, ...found.ask, ...found.allow]
  const conditional = all.some(({ ready }) => ready.condition !== undefined)
  const closed = all.find(({ ready }) => ready.condition !== undefined && ready.rule.arguments === "closed")?.ready
  const plain: Candidates = { ...found, closed, constant: undefined }
  if (conditional || found.observe.some(({ ready }) => ready.condition !== undefined)) return plain
  return { ...plain, constant: judge(policy, plain, () => true) }
}

// ---- the arguments

const promptSchema = (definition: Text): Text => {
  const written = T.member(definition, "arguments")
  const named = (written === undefined ? [] : T.elements(written)).flatMap((argument) => {
    const name = T.member(argument, "name")
    const text = name === undefined ? undefined : T.string(name)
    return text === undefined ? [] : [text]
  })
  return T.fromValue({
    type: "object",
    properties: Object.fromEntries([...new Set(named)].map((name) => [name, { type: "string" }]))
  })
}

const schemaOf = (method: string, definition: Text): Text =>
  method === "prompts/get" ? promptSchema(definition) : T.member(definition, "inputSchema") ?? T.object([])

const takesArguments = (method: string): boolean => method === "tools/call" || method === "prompts/get"

/** Why the arguments are refused before any rule that looks at them; undefined where they are what is declared. */
const checkArguments = (self: Compiled, facts: Condition.Facts, meter: Meter): string | undefined => {
  if (!takesArguments(facts.call.method)) return undefined
  if (facts.tooBig) return `the arguments are longer than ${Condition.limits.input} characters`
  const check = self.schema(facts.call)
  if (check === undefined) return "what it declares is not known, so its arguments cannot be checked"
  const own = { left: Math.min(limits.check, meter.left) }
  const before = own.left
  const outcome = Check.check(check, facts.args, { closed: true, meter: own })
  meter.left -= before - Math.max(own.left, 0)
  switch (outcome._tag) {
    case "Valid":
      return undefined
    case "Invalid":
      return `${outcome.pointer === "" ? "the arguments" : `the argument ${outcome.pointer}`} ${outcome.why}`
    case "Undecided":
      return `${outcome.pointer === "" ? "the arguments" : `the argument ${outcome.pointer}`} cannot be checked: ` +
        outcome.why
  }
}

// ---- deciding

/** Whether a candidate matches; a text is the fault that counts as a match for all but allowing. */
type Test = (candidate: Candidate) => boolean | string

const evaluate = (ready: Ready, facts: Condition.Facts, meter: Meter): boolean | string => {
  if (ready.condition === undefined) return true
  const own = { left: Math.min(Condition.limits.steps, meter.left) }
  const before = own.left
  const value = ready.condition.evaluate(facts, own)
  meter.left -= before - Math.max(own.left, 0)
  return typeof value === "boolean" ? value : value.why
}

const sentence: { readonly [A in Action]: string } = {
  deny: "the policy denies it",
  ask: "the policy wants a person to allow it",
  allow: "the policy allows it"
}

const decisionOf = (
  action: Action,
  rule: Rule | undefined,
  via: Via | undefined,
  fault: string | undefined
): Decision => ({
  action,
  rule: rule?.id,
  why: rule?.why ?? (rule === undefined ? `no rule is about it, and ${sentence[action]}` : sentence[action]),
  via,
  observed: [],
  fault
})

const narrowness = (via: Via | undefined): number => via === "terminal" ? 2 : via === undefined ? 1 : 0

/** Deny over ask over allow over the default. */
const judge = (policy: Policy, found: Candidates, test: Test): Decision => {
  const own = policy.approvals.via
  for (const { ready, fault } of found.deny) {
    const matches = fault ?? test({ ready, fault })
    if (matches !== false) return decisionOf("deny", ready.rule, own, matches === true ? undefined : matches)
  }
  let asked: Decision | undefined
  for (const { ready, fault } of found.ask) {
    const matches = fault ?? test({ ready, fault })
    if (matches === false) continue
    const via = own === "terminal" ? own : ready.rule.via ?? own
    // The narrowest way counts: a rule that says where takes nothing back from one that does not.
    if (asked === undefined || narrowness(via) > narrowness(asked.via)) {
      asked = decisionOf("ask", ready.rule, via, matches === true ? undefined : matches)
    }
    if (via === "terminal") break
  }
  if (asked !== undefined) return asked
  let fault: string | undefined
  for (const candidate of found.allow) {
    const matches = candidate.fault ?? test(candidate)
    if (matches === true) return decisionOf("allow", candidate.ready.rule, own, undefined)
    if (matches !== false) fault ??= matches
  }
  return decisionOf(policy.default, undefined, own, fault)
}

/** What the observing rules say, with what is left of the budget. */
const observe = (found: Candidates, test: Test): ReadonlyArray<Observed> =>
  found.observe.flatMap((candidate) => {
    const { action, id } = candidate.ready.rule
    const matches = candidate.fault ?? test(candidate)
    return matches === true || (matches !== false && action !== "allow") ? [{ rule: id, action }] : []
  })

const listen = "subscriptions/listen"

/** The resources that one call subscribes to, where they are several: such a call has no name of its own. */
const subscribed = ({ method, name, params }: Condition.Call): ReadonlyArray<string> => {
  if (method !== listen || name !== undefined || params === undefined) return []
  const wanted = T.member(params, "notifications")
  const list = wanted === undefined ? undefined : T.member(wanted, "resourceSubscriptions")
  return list === undefined ? [] : [...new Set(T.elements(list).flatMap((uri) => T.string(uri) ?? []))]
}

const strength: { readonly [A in Action]: number } = { allow: 0, ask: 1, deny: 2 }

/** The stronger of two decisions; of two asks the one that may be answered in fewer places. */
const stronger = (a: Decision, b: Decision): Decision => {
  const by = strength[b.action] - strength[a.action] || narrowness(b.via) - narrowness(a.via)
  return by > 0
    ? { ...b, observed: [...a.observed, ...b.observed] }
    : { ...a, observed: [...a.observed, ...b.observed] }
}

/**
 * Decides about a call. Nothing is thrown, and no call takes more than so many steps.
 *
 * **Details**
 *
 * A subscription to several resources is decided for each of them, and the strictest decision counts.
 *
 * @category deciding
 * @since 0.1.0
 */
export const decide = (self: Compiled, call: Condition.Call): Decision => {
  const uris = self.named ? subscribed(call) : []
  if (uris.length === 0) return decideOne(self, call)
  if (uris.length > limits.subscribed) {
    return {
      ...decisionOf("deny", undefined, undefined, undefined),
      why: `it subscribes to more than ${limits.subscribed} resources at once`
    }
  }
  return uris.map((name) => decideOne(self, { ...call, name })).reduce(stronger)
}

const decideOne = (self: Compiled, call: Condition.Call): Decision => {
  const found = self.find(call)
  if (found.constant !== undefined) {
    if (found.observe.length === 0) return found.constant
    return { ...found.constant, observed: observe(found, () => true) }
  }
  const meter = { left: limits.steps }
  const facts = Condition.facts(call, self.real)
  const test: Test = ({ ready }) => evaluate(ready, facts, meter)
  const decision = decided(self, found, facts, meter, test)
  return found.observe.length === 0 ? decision : { ...decision, observed: observe(found, test) }
}

const decided = (
  self: Compiled,
  found: Candidates,
  facts: Condition.Facts,
  meter: Meter,
  test: Test
): Decision => {
  const flat = found.deny.find(({ ready, fault }) => ready.condition === undefined || fault !== undefined)
  if (flat !== undefined) return decisionOf("deny", flat.ready.rule, "any", flat.fault)
  if (found.closed !== undefined) {
    const refused = checkArguments(self, facts, meter)
    if (refused !== undefined) {
      return {
        ...decisionOf("deny", found.closed.rule, "any", refused),
        why: `its arguments are not as declared: ${refused}`
      }
    }
  }
  return judge(self.policy, found, test)
}

/**
 * Whether a definition is listed: what is refused whatever its arguments are is not.
 *
 * @category deciding
 * @since 0.1.0
 */
export const shows = (self: Compiled, call: Condition.Call): boolean => {
  const found = self.find(call)
  if (found.deny.some(({ ready, fault }) => ready.condition === undefined || fault !== undefined)) return false
  return self.policy.default !== "deny" || found.ask.length > 0 || found.allow.length > 0
}

// ---- explaining

/**
 * How one rule came out for a call. `parts` are what its condition joins with `&&`, each with its value or fault; `values`
 * are the arguments that it looks at, as text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Explained {
  readonly rule: Rule
  readonly outcome: "matches" | "faults" | "does not match"
  readonly why: string | undefined
  readonly parts: ReadonlyArray<{ readonly source: string; readonly value: boolean | { readonly fault: string } }>
  readonly values: ReadonlyArray<{ readonly path: string; readonly value: string | undefined }>
}

/**
 * A decision, how every rule about the call came out, in the order of the file, why the arguments were refused, and what
 * would have to change for the call to be allowed; nothing where it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Explanation {
  readonly decision: Decision
  readonly rules: ReadonlyArray<Explained>
  readonly arguments: string | undefined
  readonly nearest: ReadonlyArray<string>
}

const valueAt = (facts: Condition.Facts, path: ReadonlyArray<string>): string | undefined => {
  let at = facts.args
  for (const name of path) {
    const next = at.members.get(name)
    if (next === undefined) return undefined
    at = next
  }
  return at.text.length > 200 ? `${at.text.slice(0, 200)}...` : at.text
}

/**
 * Decides about a call and says why. For people: it evaluates every rule with a budget of its own, and takes its time.
 *
 * @category explaining
 * @since 0.1.0
 */
export const explain = (self: Compiled, call: Condition.Call): Explanation => {
  const decision = decide(self, call)
  const facts = Condition.facts(call, self.real)
  const found = self.find(call)
  const candidates = [...found.deny, ...found.ask, ...found.allow, ...found.observe]
  const rules = self.rules.flatMap((ready): ReadonlyArray<Explained> => {
    const candidate = candidates.find((candidate) => candidate.ready === ready)
    if (candidate === undefined) return []
    const meter = () => ({ left: Condition.limits.steps })
    const matches = candidate.fault ?? evaluate(ready, facts, meter())
    return [{
      rule: ready.rule,
      outcome: matches === true ? "matches" : matches === false ? "does not match" : "faults",
      why: typeof matches === "string" ? matches : undefined,
      parts: (ready.condition?.parts ?? []).map(({ source, evaluate }) => {
        const value = evaluate(facts, meter())
        return { source, value: typeof value === "boolean" ? value : { fault: value.why } }
      }),
      values: (ready.condition?.arguments ?? []).map((path) => ({
        path: ["args", ...path].join("."),
        value: valueAt(facts, path)
      }))
    }]
  })
  const refused = found.closed === undefined ? undefined : checkArguments(self, facts, { left: limits.check })
  return { decision, rules, arguments: refused, nearest: nearest(self.policy, call, decision, rules, refused, found) }
}

const placeOf = (policy: Policy, rule: Rule): string => `rule "${rule.id}" (${policy.file}:${rule.at.line})`

const nearest = (
  policy: Policy,
  call: Condition.Call,
  decision: Decision,
  rules: ReadonlyArray<Explained>,
  refused: string | undefined,
  found: Candidates
): ReadonlyArray<string> => {
  if (decision.action === "allow") return []
  const all: Array<string> = []
  if (refused !== undefined && found.closed !== undefined) {
    all.push(
      `other arguments: ${refused}; or arguments = "open" in ${placeOf(policy, found.closed.rule)}, ` +
        "which then also passes what the tool does not declare"
    )
  }
  const against = rules.filter(({ outcome, rule }) =>
    !rule.observe && outcome !== "does not match" && rule.action !== "allow"
  )
  for (const { outcome, parts, rule, why } of against) {
    const place = placeOf(policy, rule)
    const verb = rule.action === "deny" ? "deny" : "ask for"
    if (rule.when === undefined) {
      all.push(`${place} would ${verb} it no longer if its match left this call out`)
    } else if (outcome === "faults") {
      all.push(`${place} has no answer, which counts as a match: ${why ?? ""}`)
    } else {
      const holds = parts.filter((part) => part.value !== false).map((part) => part.source)
      all.push(
        `${place} would ${verb} it no longer if ${holds.length > 1 ? "one of these" : "this"} were false: ` +
          holds.join("; ")
      )
    }
  }
  if (against.length === 0 || policy.default !== "allow") {
    for (const { outcome, parts, rule, why } of rules) {
      if (rule.observe || rule.action !== "allow" || outcome === "matches") continue
      const fails = parts.filter((part) => part.value !== true).map((part) => part.source)
      all.push(
        `${placeOf(policy, rule)} would allow it if ${fails.length > 1 ? "all of these" : "this"} were true: ` +
          fails.join("; ") + (why === undefined ? "" : ` (${why})`)
      )
    }
    const allowed = rules.some(({ outcome, rule }) => !rule.observe && rule.action === "allow" && outcome === "matches")
    if (policy.default !== "allow" && !allowed) all.push(`a rule that allows it:\n${ruleFor(policy, call)}`)
  }
  return all
}

const literalGlob = (name: string): string => name.replace(/[*?[\]{}\\]/g, "\\$&")

/** A rule for exactly this kind of call, as text for the file. */
const ruleFor = (policy: Policy, call: Condition.Call): string => {
  const base = `allow-${call.server}-${call.name ?? call.method}`.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 56)
  const taken = new Set(policy.rules.map((rule) => rule.id))
  let id = base
  for (let n = 2; taken.has(id); n++) id = `${base}-${n}`
  const fields = [["server", call.server], ["method", call.method], ["name", call.name]].flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${JSON.stringify(literalGlob(value))}`]
  )
  return `[[rules]]\nid = "${id}"\nmatch = { ${fields.join(", ")} }\nthen = "allow"`
}

// ---- against the definitions

/**
 * A definition that was accepted, and what calls it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Defined {
  readonly server: string
  readonly method: "tools/call" | "prompts/get"
  readonly name: string
  readonly definition: Text
}

/**
 * The rules that look at an argument which nothing that they match declares: they would never see it, since undeclared
 * arguments are refused first. To be asked again whenever a definition is accepted.
 *
 * @category checking
 * @since 0.1.0
 */
export const typeCheck = (self: Compiled, definitions: ReadonlyArray<Defined>): ReadonlyArray<Problem> => {
  const checks = new Map<Defined, Check.Check>()
  const checkOf = (defined: Defined): Check.Check => {
    const known = checks.get(defined)
    if (known !== undefined) return known
    const made = Check.compile(schemaOf(defined.method, defined.definition))
    checks.set(defined, made)
    return made
  }
  return self.rules.flatMap(({ condition, globs, rule }) => {
    if (condition === undefined || condition.arguments.length === 0 || rule.arguments === "open") return []
    const meter = { left: Number.MAX_SAFE_INTEGER }
    const about = definitions.filter((defined) =>
      fitsMember(globs.server, defined.server, meter) === true &&
      fitsMember(globs.method, defined.method, meter) === true &&
      fitsMember(globs.name, defined.name, meter) === true
    )
    if (about.length === 0) return []
    return condition.arguments.flatMap((path) => {
      const found = about.map((defined) => Check.declares(checkOf(defined), path))
      if (found.some((one) => one.declared)) return []
      const names = new Set(found.flatMap((one) => one.declared ? [] : one.names))
      const near = words.nearest(path.at(-1) ?? "", [...names])
      const tools = about.slice(0, 3).map(({ name, server }) => `${server}/${name}`)
      const more = about.length > 3 ? ` and ${about.length - 3} more` : ""
      return [{
        file: self.policy.file,
        ...rule.at,
        message: `rule "${rule.id}": when looks at args.${path.join(".")}, which ` +
          (about.length === 1 ? `${tools.join("")} does not declare` : `none of ${tools.join(", ")}${more} declares`) +
          (near === undefined ? "" : `; did you mean "${near}"?`)
      }]
    })
  })
}
