/**
 * From text to the values that a schema is decoded from, and back, without rounding a number unseen.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as Json from "../Json.ts"

/**
 * Where in a value text is kept. `undefined`: nowhere.
 *
 * @category models
 * @since 0.1.0
 */
export type Plan = (() => Shape) | undefined

type Shape =
  | { readonly _tag: "Keep" }
  | { readonly _tag: "Object"; readonly members: ReadonlyMap<string, Plan>; readonly others: Plan }
  | { readonly _tag: "Array"; readonly elements: ReadonlyArray<Plan>; readonly rest: Plan }

const keep: Shape = { _tag: "Keep" }
const keeps = SchemaAST.resolveAt<boolean>("@sallyport/core/Json")

/**
 * The plan of what a JSON codec is decoded from.
 *
 * @category constructors
 * @since 0.1.0
 */
export const planOf = (schema: Schema.Constraint): Plan => {
  const known = new Map<SchemaAST.AST, Exclude<Plan, undefined> | "looking" | "nothing">()
  const anything = (...plans: ReadonlyArray<Plan>): boolean => plans.some((plan) => plan !== undefined)

  const visit = (ast: SchemaAST.AST): Plan => {
    const seen = known.get(ast)
    if (seen === "nothing") return undefined
    // A schema that contains itself may keep text there: what is not known yet is asked for when it is needed.
    if (seen === "looking") return () => planned(ast)?.() ?? nowhere
    if (seen !== undefined) return seen
    known.set(ast, "looking")
    const plan = look(ast)
    known.set(ast, plan ?? "nothing")
    return plan
  }
  const planned = (ast: SchemaAST.AST): Plan => {
    const plan = known.get(ast)
    return typeof plan === "function" ? plan : undefined
  }
  const look = (ast: SchemaAST.AST): Plan => {
    if (keeps(ast) === true) return () => keep
    switch (ast._tag) {
      case "Suspend":
        return visit(SchemaAST.toEncoded(ast.thunk()))
      case "Objects": {
        const members = new Map(ast.propertySignatures.map(({ name, type }) => [String(name), visit(type)] as const))
        const others = ast.indexSignatures.map(({ type }) => visit(type)).find((plan) => plan !== undefined)
        const shape: Shape = { _tag: "Object", members, others }
        return anything(others, ...members.values()) ? () => shape : undefined
      }
      case "Arrays": {
        const elements = ast.elements.map(visit)
        const rest = ast.rest.map(visit).find((plan) => plan !== undefined)
        const shape: Shape = { _tag: "Array", elements, rest }
        return anything(rest, ...elements) ? () => shape : undefined
      }
      case "Union": {
        const plans = ast.types.map(visit).filter((plan) => plan !== undefined)
        return plans.length > 0 ? () => plans.map((plan) => plan()).reduce(join, nowhere) : undefined
      }
      default:
        return undefined
    }
  }
  return visit(SchemaAST.toEncoded(schema.ast))
}

const nowhere: Shape = { _tag: "Array", elements: [], rest: undefined }

/** What either alternative of a union keeps. */
const join = (one: Shape, other: Shape): Shape => {
  if (one === nowhere || other._tag === "Keep") return other
  if (one._tag === "Keep" || one._tag !== other._tag) return one
  if (one._tag === "Object" && other._tag === "Object") {
    const members = new Map(other.members)
    for (const [name, plan] of one.members) if (plan !== undefined) members.set(name, plan)
    return { _tag: "Object", members, others: one.others ?? other.others }
  }
  return one
}

/**
 * A number that JavaScript cannot represent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inexact {
  readonly path: ReadonlyArray<string | number>
  readonly token: string
}

const decimal = (token: string): string => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)
  if (parts === null) return token
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  if (significant === "") return "0"
  const power = Number(exponent) - fraction.length + (digits.length - significant.length)
  return `${sign}${significant}e${power}`
}

/** Whether a number means the same after JavaScript has read it; both of its usual spellings count. */
const isExact = (token: string): boolean => {
  const value = Number(token)
  if (!Number.isFinite(value)) return false
  const meant = decimal(token)
  return meant === decimal(String(value)) ||
    (!Number.isInteger(value) && meant === decimal(value.toPrecision(17)))
}

/**
 * The value of a text: kept where the plan says so, and refused where a number would be rounded.
 *
 * @category conversions
 * @since 0.1.0
 */
export const read = (text: Text, plan: Plan): Result.Result<unknown, Inexact> => {
  if (plan === undefined && !T.hasLongNumber(text)) return Result.succeed(T.toValue(text))
  let inexact: Inexact | undefined
  const value = (at: Text, shape: Shape | undefined, path: ReadonlyArray<string | number>): unknown => {
    if (shape?._tag === "Keep") return Json.fromText(at)
    if (shape === undefined && !T.hasLongNumber(at)) return T.toValue(at)
    if (T.isObject(at)) {
      const of = shape?._tag === "Object" ? shape : undefined
      return Object.fromEntries(
        T.members(at).map(([name, member]) => {
          const inner = of === undefined ? undefined : of.members.has(name) ? of.members.get(name) : of.others
          return [name, value(member, inner?.(), [...path, name])]
        })
      )
    }
    if (T.isArray(at)) {
      const of = shape?._tag === "Array" ? shape : undefined
      return T.elements(at).map((element, index) =>
        value(element, (of?.elements[index] ?? of?.rest)?.(), [...path, index])
      )
    }
    if (/^[-\d]/.test(at) && !isExact(at)) inexact ??= { path, token: at }
    return T.toValue(at)
  }
  const whole = value(text, plan?.(), [])
  return inexact === undefined ? Result.succeed(whole) : Result.fail(inexact)
}

/**
 * The text of an encoded value; kept text goes out as it is.
 *
 * @category conversions
 * @since 0.1.0
 */
export const write = (value: unknown, plan: Plan): Text => {
  if (plan === undefined) return T.fromValue(value)
  const text = (at: unknown): Text => {
    if (Json.isJson(at)) return at.text
    if (Array.isArray(at)) return T.array(at.map(text))
    if (typeof at !== "object" || at === null) return T.fromValue(at)
    return T.object(Object.entries(at).flatMap(([name, member]) => member === undefined ? [] : [[name, text(member)]]))
  }
  return text(value)
}
