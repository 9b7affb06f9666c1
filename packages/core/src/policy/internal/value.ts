/** The values of conditions, and the arithmetic on them. Nothing here throws; what cannot be done is a {@link Fault}. */
import { type Meter, open, take, type Tree } from "../../schema/Tree.ts"
import * as Decimal from "../../wire/Decimal.ts"

/** Arrays and objects of the call stay {@link Tree}s until somebody looks inside. */
export type Value = null | boolean | bigint | number | string | Tree | List | Dict | Type | Fault

export interface List {
  readonly _tag: "List"
  readonly items: ReadonlyArray<Value>
}

export interface Dict {
  readonly _tag: "Dict"
  readonly entries: ReadonlyMap<string, Value>
}

export interface Type {
  readonly _tag: "Type"
  readonly name: string
}

/** Why there is no value. */
export interface Fault {
  readonly _tag: "Fault"
  readonly why: string
}

export const fault = (why: string): Fault => ({ _tag: "Fault", why })

export const isFault = (value: Value | undefined): value is Fault =>
  typeof value === "object" && value !== null && value._tag === "Fault"

/** The budget is used up. */
export const spent: Fault = fault("it takes more steps than a condition may")

const wide = fault("a number has more digits than can be compared exactly")

/** A scalar of the call as a value. */
export const read = (tree: Tree, meter: Meter): Value => {
  switch (tree.kind) {
    case "null":
      return null
    case "boolean":
      return tree.text === "true"
    case "number":
      return take(meter, 1 + (tree.text.length >> 4)) ? Decimal.exact(tree.text) ?? wide : spent
    case "string":
      return open(meter, tree) ? tree.string : spent
    default:
      return tree
  }
}

const treeKinds = {
  null: "null_type",
  boolean: "bool",
  number: "number",
  string: "string",
  array: "list",
  object: "map"
}

export const kindOf = (value: Value): string => {
  switch (typeof value) {
    case "boolean":
      return "bool"
    case "bigint":
      return "int"
    case "number":
      return "double"
    case "string":
      return "string"
    default:
      if (value === null) return "null_type"
      switch (value._tag) {
        case "Tree":
          return treeKinds[value.kind]
        case "List":
          return "list"
        case "Dict":
          return "map"
        case "Type":
          return "type"
        case "Fault":
          return "fault"
      }
  }
}

/** The elements of a list; undefined if it is none. */
export const items = (value: Value, meter: Meter): ReadonlyArray<Value> | Fault | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (value._tag === "List") return value.items
  if (value._tag !== "Tree" || value.kind !== "array") return undefined
  return open(meter, value) ? value.items : spent
}

/** The members of a map; undefined if it is none. */
export const entries = (value: Value, meter: Meter): ReadonlyMap<string, Value> | Fault | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (value._tag === "Dict") return value.entries
  if (value._tag !== "Tree" || value.kind !== "object") return undefined
  return open(meter, value) ? value.members : spent
}

/** A value as an operation takes it: scalars of the call read. */
export const settle = (value: Value, meter: Meter): Value =>
  typeof value === "object" && value !== null && value._tag === "Tree" ? read(value, meter) : value

const isNumber = (value: Value): value is number | bigint => typeof value === "bigint" || typeof value === "number"

/**
 * Whether two values are equal. Values of two kinds are not unequal but a fault: that an argument is a list instead of a
 * string must not make a rule about it pass. Int and double compare by value.
 */
export const equal = (left: Value, right: Value, meter: Meter): boolean | Fault => {
  left = settle(left, meter)
  right = settle(right, meter)
  if (isFault(left)) return left
  if (isFault(right)) return right
  if (isNumber(left) && isNumber(right)) return !(left < right) && !(left > right)
  const kind = kindOf(left)
  if (kind !== kindOf(right)) return fault(`it compares ${kind} with ${kindOf(right)}`)
  if (typeof left === "string" && typeof right === "string") {
    return take(meter, 1 + (Math.min(left.length, right.length) >> 6)) ? left === right : spent
  }
  if (kind === "list") {
    const some = items(left, meter)
    const others = items(right, meter)
    if (some === undefined || others === undefined) return false
    if ("_tag" in some) return some
    if ("_tag" in others) return others
    if (some.length !== others.length) return false
    for (const [index, item] of some.entries()) {
      if (!take(meter, 1)) return spent
      const same = equal(item, others[index] ?? null, meter)
      if (same !== true) return same
    }
    return true
  }
  if (kind === "map") {
    const some = entries(left, meter)
    const others = entries(right, meter)
    if (some === undefined || others === undefined) return false
    if ("_tag" in some) return some
    if ("_tag" in others) return others
    if (some.size !== others.size) return false
    for (const [key, value] of some) {
      if (!take(meter, 1)) return spent
      const other = others.get(key)
      if (other === undefined) return false
      const same = equal(value, other, meter)
      if (same !== true) return same
    }
    return true
  }
  if (kind === "type") {
    return typeof left === "object" && typeof right === "object" && left !== null && right !== null &&
      left._tag === "Type" && right._tag === "Type" && left.name === right.name
  }
  return left === right
}

/** Negative, zero or positive. */
export const order = (left: Value, right: Value, meter: Meter): number | Fault => {
  left = settle(left, meter)
  right = settle(right, meter)
  if (isFault(left)) return left
  if (isFault(right)) return right
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0
  if (typeof left === "string" && typeof right === "string") {
    if (!take(meter, 1 + (Math.min(left.length, right.length) >> 6))) return spent
    return left < right ? -1 : left > right ? 1 : 0
  }
  return fault(`it orders ${kindOf(left)} and ${kindOf(right)}`)
}

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

const within = (value: bigint): Value => value < least || value > most ? fault("a result is beyond 64 bits") : value

const finite = (value: number): Value => Number.isFinite(value) ? value : fault("a result is no finite number")

/** How long a text that a condition makes may get. */
const longest = 1_048_576

export const calculate = (op: "+" | "-" | "*" | "/" | "%", left: Value, right: Value, meter: Meter): Value => {
  left = settle(left, meter)
  right = settle(right, meter)
  if (isFault(left)) return left
  if (isFault(right)) return right
  if (typeof left === "bigint" && typeof right === "bigint") {
    if ((op === "/" || op === "%") && right === 0n) return fault("it divides by zero")
    switch (op) {
      case "+":
        return within(left + right)
      case "-":
        return within(left - right)
      case "*":
        return within(left * right)
      case "/":
        return within(left / right)
      case "%":
        return within(left % right)
    }
  }
  if (typeof left === "number" && typeof right === "number" && op !== "%") {
    switch (op) {
      case "+":
        return finite(left + right)
      case "-":
        return finite(left - right)
      case "*":
        return finite(left * right)
      case "/":
        return finite(left / right)
    }
  }
  if (op === "+" && typeof left === "string" && typeof right === "string") {
    const length = left.length + right.length
    if (length > longest) return fault("it makes a text that is too long")
    return take(meter, 1 + (length >> 5)) ? left + right : spent
  }
  if (op === "+") {
    const some = items(left, meter)
    const others = items(right, meter)
    if (some !== undefined && others !== undefined) {
      if ("_tag" in some) return some
      if ("_tag" in others) return others
      return take(meter, some.length + others.length) ? { _tag: "List", items: [...some, ...others] } : spent
    }
  }
  return fault(`it has no "${op}" for ${kindOf(left)} and ${kindOf(right)}`)
}

export const negate = (value: Value): Value =>
  typeof value === "bigint"
    ? within(-value)
    : typeof value === "number"
    ? -value
    : isFault(value)
    ? value
    : fault(`it negates ${kindOf(value)}`)
