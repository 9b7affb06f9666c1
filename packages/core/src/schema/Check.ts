/**
 * Whether a value is what a JSON Schema says: bounded, exact, and honest about what it cannot tell.
 *
 * **Details**
 *
 * Draft 2020-12 and draft 07 as tools use them, over checked text, so numbers are compared by all of their digits. `$ref`
 * stays within the schema. Patterns are matched in linear time (RE2), as anywhere in the text. What is not known here (a
 * reference elsewhere, a pattern that RE2 has not, `$dynamicRef`, no steps left) makes the outcome `Undecided`, unless the
 * value is invalid anyway. `format` and the other annotations say nothing.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { RE2JS } from "re2js"
import * as Decimal from "../wire/Decimal.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import { type Meter, open, take, Tree } from "./Tree.ts"

/**
 * What came of a check: where (a JSON pointer into the value) and why it is not what the schema says, or cannot be told.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome =
  | { readonly _tag: "Valid" }
  | { readonly _tag: "Invalid"; readonly pointer: string; readonly why: string }
  | { readonly _tag: "Undecided"; readonly pointer: string; readonly why: string }

/**
 * A compiled schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface Check {
  readonly schema: Tree
  readonly node: Node
}

/**
 * How a value is checked.
 *
 * - `closed`: members that the schema does not name are refused, whatever it says of additional ones. Objects inside
 *   that name no members at all are left open.
 * - `meter`: the steps that may be taken; 50,000 where absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly closed?: boolean
  readonly meter?: Meter
}

/**
 * The longest schema, the deepest nesting of checks, how many patterns of a schema are used, the longest and its parts, the
 * steps of a check, and the digits of a number.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = {
  schema: 1_048_576,
  depth: 128,
  patterns: 64,
  pattern: 512,
  program: 1_000,
  steps: 50_000,
  digits: 400
}

/**
 * Valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const valid = ((): Outcome => ({ _tag: "Valid" }))()

type Path = { readonly up: Path; readonly name: string } | undefined

const pointerOf = (path: Path): string => {
  let pointer = ""
  for (let at = path; at !== undefined; at = at.up) {
    pointer = `/${at.name.replaceAll("~", "~0").replaceAll("/", "~1")}${pointer}`
  }
  return pointer
}

const invalid = (path: Path, why: string): Outcome => ({ _tag: "Invalid", pointer: pointerOf(path), why })

const undecided = (path: Path, why: string): Outcome => ({ _tag: "Undecided", pointer: pointerOf(path), why })

/** One check of one value: its budget, and how deep it is. */
interface Visit {
  readonly closed: boolean
  readonly meter: Meter
  depth: number
}

/** What the schemas that apply to one object or array have accounted for. Sets are made when something is put in. */
interface Seen {
  names: Set<string> | undefined
  /** Whether any of them names members. */
  named: boolean
  /** How many of the first elements, and which others. */
  items: number
  places: Set<number> | undefined
}

const unseen = (): Seen => ({ names: undefined, named: false, items: 0, places: undefined })

const seeName = (seen: Seen, name: string): void => {
  seen.names ??= new Set()
  seen.names.add(name)
}

const seePlace = (seen: Seen, place: number): void => {
  seen.places ??= new Set()
  seen.places.add(place)
}

const join = (into: Seen, from: Seen): void => {
  for (const name of from.names ?? []) seeName(into, name)
  for (const place of from.places ?? []) seePlace(into, place)
  into.named ||= from.named
  into.items = Math.max(into.items, from.items)
}

type Rule = (value: Tree, path: Path, visit: Visit, seen: Seen) => Outcome

/** A schema; compiled when it is first needed, so that a reference may be to what is around it. */
interface Node {
  readonly rules: () => ReadonlyArray<Rule>
  readonly unevaluated: () => { readonly properties: Node | undefined; readonly items: Node | undefined }
}

/** The worst of two outcomes: invalid is certain, undecided is not. */
const worse = (left: Outcome, right: Outcome): Outcome =>
  left._tag === "Invalid" ? left : right._tag === "Invalid" ? right : left._tag === "Undecided" ? left : right

const spent = (path: Path): Outcome => undecided(path, "the check takes more steps than it may")

/** Applies a schema in place: what it accounts for is accounted for in `seen`. */
const apply = (node: Node, value: Tree, path: Path, visit: Visit, seen: Seen): Outcome => {
  if (!take(visit.meter, 1)) return spent(path)
  if (visit.depth >= limits.depth) return undecided(path, "the schema nests or refers to itself too deeply")
  visit.depth++
  const rest = node.unevaluated()
  // What stands beside this schema has accounted for nothing in it.
  const own = rest.properties === undefined && rest.items === undefined ? seen : unseen()
  let outcome = valid
  for (const rule of node.rules()) {
    outcome = worse(outcome, rule(value, path, visit, own))
    if (outcome._tag === "Invalid") break
  }
  if (own !== seen && outcome._tag !== "Invalid") {
    outcome = worse(outcome, applyToRest(rest, value, path, visit, own))
    join(seen, own)
  }
  visit.depth--
  return outcome
}

const applyToRest = (
  rest: ReturnType<Node["unevaluated"]>,
  value: Tree,
  path: Path,
  visit: Visit,
  seen: Seen
): Outcome => {
  let outcome = valid
  if (rest.properties !== undefined && value.kind === "object") {
    for (const [name, member] of value.members) {
      if (seen.names?.has(name) === true) continue
      seeName(seen, name)
      outcome = worse(outcome, inside(rest.properties, member, { up: path, name }, visit))
    }
  }
  if (rest.items !== undefined && value.kind === "array") {
    for (const [index, item] of value.items.entries()) {
      if (index < seen.items || seen.places?.has(index) === true) continue
      outcome = worse(outcome, inside(rest.items, item, { up: path, name: String(index) }, visit))
    }
    seen.items = value.items.length
  }
  return outcome
}

/** Applies a schema to a value of its own. */
const inside = (node: Node, value: Tree, path: Path, visit: Visit): Outcome => {
  // What may be anything is not looked into.
  if (node === always && path !== undefined) return take(visit.meter, 1) ? valid : spent(path)
  if (!open(visit.meter, value)) return spent(path)
  const seen = unseen()
  const outcome = apply(node, value, path, visit, seen)
  if (outcome._tag === "Invalid" || !visit.closed || value.kind !== "object") return outcome
  // Below the top an object of which no member is named is free by design.
  if (path !== undefined && !seen.named) return outcome
  for (const name of value.members.keys()) {
    if (seen.names?.has(name) !== true) return invalid({ up: path, name }, "is not declared by the schema")
  }
  return outcome
}

// ---- the parts of a schema

const always: Node = { rules: () => [], unevaluated: () => ({ properties: undefined, items: undefined }) }

const never: Node = {
  rules: () => [(_, path) => invalid(path, "is not allowed by the schema")],
  unevaluated: () => ({ properties: undefined, items: undefined })
}

const unknown = (why: string): Rule => (_, path) => undecided(path, why)

const only = (kind: Tree["kind"], rule: Rule): Rule => (value, path, visit, seen) =>
  value.kind === kind ? rule(value, path, visit, seen) : valid

const numberOf = (tree: Tree | undefined): Decimal.Decimal | undefined =>
  tree?.kind === "number" && tree.text.length <= limits.digits ? Decimal.parse(tree.text) : undefined

const countOf = (tree: Tree | undefined): number | undefined => {
  const number = numberOf(tree)
  if (number === undefined || number.negative || !Decimal.isInteger(number) || tree === undefined) return undefined
  const count = Number(tree.text)
  return Number.isSafeInteger(count) ? count : undefined
}

const stringsOf = (tree: Tree | undefined): ReadonlyArray<string> | undefined => {
  if (tree?.kind !== "array") return undefined
  return tree.items.every((item) => item.kind === "string") ? tree.items.map((item) => item.string) : undefined
}

/** A text that is equal for two values exactly if they are the same value. Undefined where there are no steps left. */
const keyOf = (tree: Tree, meter: Meter): string | undefined => {
  if (!open(meter, tree)) return undefined
  switch (tree.kind) {
    case "number": {
      const number = numberOf(tree)
      return number === undefined ? tree.text : `${number.negative ? "-" : ""}.${number.digits}e${number.exponent}`
    }
    case "string":
      return JSON.stringify(tree.string)
    case "array": {
      const keys: Array<string> = []
      for (const item of tree.items) {
        const key = keyOf(item, meter)
        if (key === undefined) return undefined
        keys.push(key)
      }
      return `[${keys.join(",")}]`
    }
    case "object": {
      const keys: Array<string> = []
      for (const name of [...tree.members.keys()].sort()) {
        const member = tree.members.get(name)
        const key = member === undefined ? undefined : keyOf(member, meter)
        if (key === undefined) return undefined
        keys.push(`${JSON.stringify(name)}:${key}`)
      }
      return `{${keys.join(",")}}`
    }
    default:
      return tree.text
  }
}

const unmetered = (): Meter => ({ left: Number.MAX_SAFE_INTEGER })

const typeNames = new Set(["null", "boolean", "number", "string", "array", "object", "integer"])

const typeRule = (tree: Tree): Rule => {
  const names = tree.kind === "string" ? [tree.string] : stringsOf(tree)
  if (names === undefined || names.some((name) => !typeNames.has(name))) {
    return unknown("the schema names a type that is not known")
  }
  const kinds = new Set(names)
  const why = `must be ${names.join(" or ")}`
  return (value, path) => {
    if (kinds.has(value.kind)) return valid
    if (value.kind === "number" && kinds.has("integer")) {
      const number = numberOf(value)
      if (number === undefined) return undecided(path, "is a number of too many digits")
      if (Decimal.isInteger(number)) return valid
    }
    return invalid(path, why)
  }
}

const valuesRule = (values: ReadonlyArray<Tree>): Rule => {
  const keys = new Set(values.map((value) => keyOf(value, unmetered())))
  return (value, path, visit) => {
    const key = keyOf(value, visit.meter)
    return key === undefined
      ? spent(path)
      : keys.has(key)
      ? valid
      : invalid(path, "is none of the values that the schema allows")
  }
}

const boundRule = (tree: Tree, holds: (order: number) => boolean, what: string): Rule => {
  const bound = numberOf(tree)
  if (bound === undefined) return unknown("the schema has a bound that is no number")
  const why = `must be ${what} ${tree.text}`
  return only("number", (value, path) => {
    const number = numberOf(value)
    if (number === undefined) return undecided(path, "is a number of too many digits")
    return holds(Decimal.compare(number, bound)) ? valid : invalid(path, why)
  })
}

const multipleRule = (tree: Tree): Rule => {
  const step = numberOf(tree)
  if (step === undefined || step.negative || step.digits === "") return unknown("the schema's multipleOf is no number")
  return only("number", (value, path) => {
    const number = numberOf(value)
    if (number === undefined) return undecided(path, "is a number of too many digits")
    const scale = Math.max(Decimal.places(step), Decimal.places(number))
    const whole = Decimal.scaled(number, scale, limits.digits)
    const by = Decimal.scaled(step, scale, limits.digits)
    if (whole === undefined || by === undefined || by === 0n) return undecided(path, "is a number of too many digits")
    return whole % by === 0n ? valid : invalid(path, `must be a multiple of ${tree.text}`)
  })
}

const codePoints = (text: string): number => {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0xdc00 || code > 0xdfff) count++
  }
  return count
}

const lengthRule = (tree: Tree, most: boolean): Rule => {
  const count = countOf(tree)
  if (count === undefined) return unknown("the schema has a length that is no number")
  return only("string", (value, path, visit) => {
    if (!take(visit.meter, 1 + (value.text.length >> 4))) return spent(path)
    const length = codePoints(value.string)
    return (most ? length <= count : length >= count)
      ? valid
      : invalid(path, `must be ${most ? "at most" : "at least"} ${count} characters long`)
  })
}

const sizeRule = (tree: Tree, kind: "array" | "object", most: boolean): Rule => {
  const count = countOf(tree)
  if (count === undefined) return unknown("the schema has a size that is no number")
  return only(kind, (value, path) => {
    const size = kind === "array" ? value.items.length : value.members.size
    return (most ? size <= count : size >= count)
      ? valid
      : invalid(path, `must have ${most ? "at most" : "at least"} ${count} ${kind === "array" ? "items" : "members"}`)
  })
}

type Matches = (text: string, meter: Meter) => boolean | undefined

/** A pattern: linear, charged by the length of the text and the size of the pattern. Undefined where it cannot be had. */
const patternOf = (source: string): Matches | undefined => {
  if (source.length > limits.pattern) return undefined
  const compiled = Result.try(() => RE2JS.compile(source))
  if (Result.isFailure(compiled)) return undefined
  const program = compiled.success
  const size = program.programSize()
  if (size > limits.program) return undefined
  const each = Math.max(2, size * 0.75)
  return (text, meter) => take(meter, 1 + Math.ceil(text.length * each)) ? program.test(text) : undefined
}

const patternRule = (matches: Matches | undefined): Rule => {
  if (matches === undefined) return unknown("the schema has a pattern that cannot be matched in linear time")
  return only("string", (value, path, visit) => {
    const found = matches(value.string, visit.meter)
    return found === undefined ? spent(path) : found ? valid : invalid(path, "does not match the schema's pattern")
  })
}

const uniqueRule: Rule = only("array", (value, path, visit) => {
  const keys = new Set<string>()
  for (const [index, item] of value.items.entries()) {
    const key = keyOf(item, visit.meter)
    if (key === undefined) return spent(path)
    if (keys.has(key)) return invalid({ up: path, name: String(index) }, "is there twice")
    keys.add(key)
  }
  return valid
})

const requiredRule = (tree: Tree): Rule => {
  const names = stringsOf(tree)
  if (names === undefined) return unknown("the schema's required is no list of names")
  return only("object", (value, path, visit) => {
    if (!take(visit.meter, names.length)) return spent(path)
    const absent = names.find((name) => !value.members.has(name))
    return absent === undefined ? valid : invalid({ up: path, name: absent }, "is missing")
  })
}

/** What a reference within the document means. */
const within = (root: Tree, reference: string): Tree | undefined => {
  if (reference === "#") return root
  if (!reference.startsWith("#/")) return undefined
  const decoded = Result.getOrElse(Result.try(() => decodeURIComponent(reference.slice(2))), () => undefined)
  if (decoded === undefined) return undefined
  let at: Tree | undefined = root
  for (const step of decoded.split("/")) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    at = at.kind === "array" ? at.items[Number(name)] : at.members.get(name)
    if (at === undefined) return undefined
  }
  return at
}

/** Compiles the schemas of one document. */
const compiler = (root: Tree) => {
  const nodes = new Map<Tree, Node>()
  let patterns = 0

  /** Compiling a pattern takes time too, and schemas are the server's. */
  const pattern = (source: string): Matches | undefined => {
    patterns++
    return patterns > limits.patterns ? undefined : patternOf(source)
  }

  const node = (tree: Tree): Node => {
    const known = nodes.get(tree)
    if (known !== undefined) return known
    const made = tree.text === "true" || tree.text === "{}" ? always : tree.text === "false" ? never : lazy(tree)
    nodes.set(tree, made)
    return made
  }

  const lazy = (tree: Tree): Node => {
    let rules: ReadonlyArray<Rule> | undefined
    const sub = (name: string): Node | undefined => {
      const schema = tree.members.get(name)
      return schema === undefined ? undefined : node(schema)
    }
    const unevaluated = { properties: sub("unevaluatedProperties"), items: sub("unevaluatedItems") }
    return {
      rules: () => rules ??= tree.kind === "object" ? rulesOf(tree) : [unknown("the schema is not an object")],
      unevaluated: () => unevaluated
    }
  }

  const referred = (reference: string): Node | undefined => {
    const to = within(root, reference)
    return to === undefined ? undefined : node(to)
  }

  const listOf = (tree: Tree): ReadonlyArray<Node> | undefined =>
    tree.kind === "array" && tree.items.length > 0 ? tree.items.map(node) : undefined

  const rulesOf = (schema: Tree): ReadonlyArray<Rule> => {
    const rules: Array<Rule> = []
    for (const [name, tree] of schema.members) {
      const rule = keyword(name, tree, schema)
      if (rule !== undefined) rules.push(rule)
    }
    for (const rule of [membersRule(schema), itemsRule(schema)]) if (rule !== undefined) rules.push(rule)
    return rules
  }

  const keyword = (name: string, tree: Tree, schema: Tree): Rule | undefined => {
    switch (name) {
      case "type":
        return typeRule(tree)
      case "enum":
        return tree.kind === "array" ? valuesRule(tree.items) : unknown("the schema's enum is no list")
      case "const":
        return valuesRule([tree])
      case "minimum":
        return boundRule(tree, (order) => order >= 0, "at least")
      case "maximum":
        return boundRule(tree, (order) => order <= 0, "at most")
      case "exclusiveMinimum":
        return boundRule(tree, (order) => order > 0, "more than")
      case "exclusiveMaximum":
        return boundRule(tree, (order) => order < 0, "less than")
      case "multipleOf":
        return multipleRule(tree)
      case "minLength":
        return lengthRule(tree, false)
      case "maxLength":
        return lengthRule(tree, true)
      case "pattern":
        return patternRule(tree.kind === "string" ? pattern(tree.string) : undefined)
      case "minItems":
        return sizeRule(tree, "array", false)
      case "maxItems":
        return sizeRule(tree, "array", true)
      case "uniqueItems":
        return tree.text === "true" ? uniqueRule : undefined
      case "minProperties":
        return sizeRule(tree, "object", false)
      case "maxProperties":
        return sizeRule(tree, "object", true)
      case "required":
        return requiredRule(tree)
      case "propertyNames": {
        const inner = node(tree)
        return only("object", (value, path, visit) => {
          let outcome = valid
          for (const name of value.members.keys()) {
            outcome = worse(outcome, inside(inner, new Tree(T.quote(name)), { up: path, name }, visit))
            if (outcome._tag === "Invalid") return outcome
          }
          return outcome
        })
      }
      case "dependentRequired":
      case "dependentSchemas":
      case "dependencies":
        return dependentRule(tree)
      case "contains":
        return containsRule(node(tree), schema)
      case "allOf": {
        const all = listOf(tree)
        if (all === undefined) return unknown("the schema's allOf is no list of schemas")
        return (value, path, visit, seen) => {
          let outcome = valid
          for (const inner of all) {
            outcome = worse(outcome, apply(inner, value, path, visit, seen))
            if (outcome._tag === "Invalid") return outcome
          }
          return outcome
        }
      }
      case "anyOf":
      case "oneOf": {
        const all = listOf(tree)
        if (all === undefined) return unknown(`the schema's ${name} is no list of schemas`)
        return choiceRule(all, name === "oneOf")
      }
      case "not": {
        const inner = node(tree)
        return (value, path, visit) => {
          const outcome = apply(inner, value, path, { ...visit, closed: false }, unseen())
          return outcome._tag === "Valid"
            ? invalid(path, "is what the schema excludes")
            : outcome._tag === "Invalid"
            ? valid
            : outcome
        }
      }
      case "if":
        return conditionalRule(node(tree), schema)
      case "$ref": {
        const to = tree.kind === "string" ? referred(tree.string) : undefined
        if (to === undefined) return unknown("the schema refers to what is not in it")
        return (value, path, visit, seen) => apply(to, value, path, visit, seen)
      }
      case "$dynamicRef":
      case "$recursiveRef":
        return unknown(`the schema uses ${name}`)
      case "$id":
      case "id":
        return schema === root || name === "id" ? undefined : unknown("the schema has another inside that is named")
      default:
        return undefined
    }
  }

  /** Members: by name, by pattern, and the others; they bear on each other, so they are one rule. */
  const membersRule = (schema: Tree): Rule | undefined => {
    const named = schema.members.get("properties")
    const patterned = schema.members.get("patternProperties")
    const additional = schema.members.get("additionalProperties")
    if (named === undefined && patterned === undefined && additional === undefined) return undefined
    if ((named !== undefined && named.kind !== "object") || (patterned !== undefined && patterned.kind !== "object")) {
      return unknown("the schema's properties are no object")
    }
    const byName = new Map([...named?.members ?? []].map(([name, tree]) => [name, node(tree)]))
    const byPattern = [...patterned?.members ?? []].map(([source, tree]) => [pattern(source), node(tree)] as const)
    const others = additional === undefined ? undefined : node(additional)
    const free = others === undefined || others === always
    return only("object", (value, path, visit, seen) => {
      if (byName.size > 0 || byPattern.length > 0) seen.named = true
      let outcome = valid
      for (const [name, member] of value.members) {
        if (!take(visit.meter, 1)) return spent(path)
        const at = { up: path, name }
        const inner = byName.get(name)
        let found = inner !== undefined
        if (inner !== undefined) outcome = worse(outcome, inside(inner, member, at, visit))
        for (const [matches, inner] of byPattern) {
          const fits = matches?.(name, visit.meter)
          if (fits === undefined) {
            return worse(outcome, undecided(at, "the schema has a pattern that cannot be matched in linear time"))
          }
          if (!fits) continue
          found = true
          outcome = worse(outcome, inside(inner, member, at, visit))
        }
        if (found) seeName(seen, name)
        else if (others !== undefined) {
          outcome = worse(outcome, inside(others, member, at, visit))
          // Who checks closed wants names: at the top a member that no one named is refused, however it is typed.
          if (!visit.closed || (path !== undefined && !free)) seeName(seen, name)
        }
        if (outcome._tag === "Invalid") return outcome
      }
      return outcome
    })
  }

  const itemsRule = (schema: Tree): Rule | undefined => {
    const items = schema.members.get("items")
    const tuple = schema.members.get("prefixItems") ?? (items?.kind === "array" ? items : undefined)
    const rest = items?.kind === "array" ? schema.members.get("additionalItems") : items
    if (tuple === undefined && rest === undefined) return undefined
    const first = tuple?.items.map(node) ?? []
    const others = rest === undefined ? undefined : node(rest)
    return only("array", (value, path, visit, seen) => {
      let outcome = valid
      for (const [index, item] of value.items.entries()) {
        const inner = first[index] ?? others
        if (inner === undefined) break
        outcome = worse(outcome, inside(inner, item, { up: path, name: String(index) }, visit))
        if (outcome._tag === "Invalid") return outcome
      }
      seen.items = Math.max(seen.items, others === undefined ? first.length : value.items.length)
      return outcome
    })
  }

  const containsRule = (inner: Node, schema: Tree): Rule => {
    const least = schema.members.has("minContains") ? countOf(schema.members.get("minContains")) : 1
    const most = schema.members.has("maxContains") ? countOf(schema.members.get("maxContains")) : Infinity
    if (least === undefined || most === undefined) return unknown("the schema has a count that is no number")
    return only("array", (value, path, visit, seen) => {
      let sure = 0
      let perhaps = 0
      for (const [index, item] of value.items.entries()) {
        const outcome = inside(inner, item, { up: path, name: String(index) }, { ...visit, closed: false })
        if (outcome._tag === "Valid") {
          sure++
          seePlace(seen, index)
        } else if (outcome._tag === "Undecided") perhaps++
      }
      if (sure > most) return invalid(path, `must have at most ${most} items of a kind`)
      if (sure + perhaps < least) return invalid(path, `must have at least ${least} items of a kind`)
      return perhaps === 0 || (sure >= least && sure + perhaps <= most) ? valid : spent(path)
    })
  }

  const choiceRule = (all: ReadonlyArray<Node>, one: boolean): Rule => (value, path, visit, seen) => {
    let sure = 0
    let perhaps: Outcome | undefined
    let refused: Outcome | undefined
    for (const inner of all) {
      const its = unseen()
      const outcome = apply(inner, value, path, visit, its)
      if (outcome._tag === "Valid") {
        sure++
        join(seen, its)
      } else if (outcome._tag === "Undecided") perhaps ??= outcome
      else if (refused?._tag !== "Invalid" || outcome.pointer.length > refused.pointer.length) refused = outcome
    }
    if (one && sure > 1) return invalid(path, "fits more than one of the schema's alternatives")
    if (sure > 0 && (!one || perhaps === undefined)) return valid
    if (perhaps !== undefined) return perhaps
    return all.length === 1 && refused !== undefined
      ? refused
      : invalid(path, "fits none of the schema's alternatives")
  }

  const conditionalRule = (test: Node, schema: Tree): Rule => {
    const then = schema.members.get("then")
    const otherwise = schema.members.get("else")
    const yes = then === undefined ? always : node(then)
    const no = otherwise === undefined ? always : node(otherwise)
    return (value, path, visit, seen) => {
      const its = unseen()
      const outcome = apply(test, value, path, { ...visit, closed: false }, its)
      if (outcome._tag === "Undecided") return outcome
      if (outcome._tag === "Valid") join(seen, its)
      return apply(outcome._tag === "Valid" ? yes : no, value, path, visit, seen)
    }
  }

  const dependentRule = (tree: Tree): Rule => {
    if (tree.kind !== "object") return unknown("the schema's dependencies are no object")
    const rules = [...tree.members].map(([name, what]) =>
      [name, what.kind === "array" ? requiredRule(what) : undefined, node(what)] as const
    )
    return only("object", (value, path, visit, seen) => {
      let outcome = valid
      for (const [name, required, inner] of rules) {
        if (!take(visit.meter, 1)) return spent(path)
        if (!value.members.has(name)) continue
        outcome = worse(
          outcome,
          required === undefined ? apply(inner, value, path, visit, seen) : required(value, path, visit, seen)
        )
        if (outcome._tag === "Invalid") return outcome
      }
      return outcome
    })
  }

  return { node }
}

/**
 * Compiles a schema. Nothing is wrong with any text: what cannot be used makes outcomes undecided.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (schema: Text): Check => {
  const tree = new Tree(schema)
  if (schema.length > limits.schema) {
    const rules = [unknown(`the schema is longer than ${limits.schema} characters`)]
    return { schema: tree, node: { rules: () => rules, unevaluated: always.unevaluated } }
  }
  return { schema: tree, node: compiler(tree).node(tree) }
}

/**
 * Checks a value.
 *
 * @category checking
 * @since 0.1.0
 */
export const check = (self: Check, value: Text | Tree, options?: Options): Outcome => {
  const meter = options?.meter ?? { left: limits.steps }
  const tree = typeof value === "string" ? new Tree(value) : value
  return inside(self.node, tree, undefined, { closed: options?.closed ?? false, meter, depth: 0 })
}

/**
 * What a schema says of a member: that it is declared, or which names there are instead.
 *
 * @category models
 * @since 0.1.0
 */
export type Declared = { readonly declared: true } | { readonly declared: false; readonly names: ReadonlyArray<string> }

/** The schemas that may apply to the same value as this one. */
const beside = (schema: Tree, root: Tree): ReadonlyArray<Tree> => {
  const all = new Set<Tree>()
  const todo: Array<Tree> = [schema]
  for (let next = todo.pop(); next !== undefined && all.size < 1_000; next = todo.pop()) {
    if (all.has(next)) continue
    all.add(next)
    for (const [name, tree] of next.members) {
      if (name === "allOf" || name === "anyOf" || name === "oneOf") todo.push(...tree.items)
      else if (name === "if" || name === "then" || name === "else") todo.push(tree)
      else if (name === "dependentSchemas" || name === "dependencies") todo.push(...tree.members.values())
      else if (name === "$ref" && tree.kind === "string") {
        const to = within(root, tree.string)
        if (to !== undefined) todo.push(to)
      }
    }
  }
  return [...all]
}

/**
 * Whether a schema declares a member by its path from the top, as a closed check sees it.
 *
 * @category checking
 * @since 0.1.0
 */
export const declares = (self: Check, path: ReadonlyArray<string>): Declared => {
  let here: ReadonlyArray<Tree> = beside(self.schema, self.schema)
  for (const [depth, name] of path.entries()) {
    const names = here.flatMap((schema) => [...schema.members.get("properties")?.members.keys() ?? []])
    const next: Array<Tree> = []
    let free = false
    for (const schema of here) {
      const named = schema.members.get("properties")?.members.get(name)
      if (named !== undefined) next.push(named)
      for (const [source, tree] of schema.members.get("patternProperties")?.members ?? []) {
        if (patternOf(source)?.(name, unmetered()) !== false) next.push(tree)
      }
      const others = schema.members.get("additionalProperties")
      if (depth > 0 && others?.kind === "object") next.push(others)
      // A list, and what is in no way described, may hold anything.
      if (depth > 0 && (schema.members.has("items") || schema.members.has("prefixItems"))) free = true
    }
    if (free || (depth > 0 && names.length === 0 && next.length === 0)) return { declared: true }
    if (next.length === 0) return { declared: false, names: [...new Set(names)] }
    here = next.flatMap((schema) => beside(schema, self.schema))
  }
  return { declared: true }
}

/**
 * Keeps compiled schemas by a key (the digest of what they are in), at most `most` of them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const cache = (most = 1_000) => {
  const kept = new Map<string, Check>()
  return (key: string, schema: () => Text): Check => {
    const known = kept.get(key)
    if (known !== undefined) return known
    if (kept.size >= most) kept.clear()
    const made = compile(schema())
    kept.set(key, made)
    return made
  }
}
