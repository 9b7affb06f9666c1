/**
 * JSON that is taken apart only where somebody looks, each part once.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * The kinds of JSON values.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object"

const none: ReadonlyMap<string, Tree> = new Map()

/**
 * A value. What was read of it is kept, so that many rules can ask the same.
 *
 * @category models
 * @since 0.1.0
 */
export class Tree {
  readonly _tag = "Tree"
  readonly text: Text
  readonly kind: Kind
  private _members: ReadonlyMap<string, Tree> | undefined
  private _items: ReadonlyArray<Tree> | undefined
  private _string: string | undefined

  constructor(text: Text) {
    this.text = text
    this.kind = kindOf(text)
  }

  /** The members of an object, names decoded; a Map, so that `__proto__` is a name like any other. */
  get members(): ReadonlyMap<string, Tree> {
    if (this.kind !== "object") return none
    this._members ??= new Map(T.members(this.text).map(([name, value]) => [name, new Tree(value)]))
    return this._members
  }

  /** The elements of an array. */
  get items(): ReadonlyArray<Tree> {
    if (this.kind !== "array") return []
    this._items ??= T.elements(this.text).map((value) => new Tree(value))
    return this._items
  }

  /** What a string stands for. */
  get string(): string {
    this._string ??= T.string(this.text) ?? ""
    return this._string
  }

  /** Whether it was taken apart before, so that looking costs nothing now. */
  get opened(): boolean {
    return this._members !== undefined || this._items !== undefined || this._string !== undefined
  }
}

const kindOf = (text: Text): Kind => {
  switch (text.charCodeAt(0)) {
    case 0x7b:
      return "object"
    case 0x5b:
      return "array"
    case 0x22:
      return "string"
    case 0x74:
    case 0x66:
      return "boolean"
    case 0x6e:
      return "null"
    default:
      return "number"
  }
}

/**
 * How many steps something may still take. Who does work takes steps first, and stops where there are none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Meter {
  left: number
}

/**
 * Takes steps; false where there are not enough left.
 *
 * @category combinators
 * @since 0.1.0
 */
export const take = (meter: Meter, steps: number): boolean => {
  meter.left -= steps
  return meter.left >= 0
}

/**
 * Opens a value and takes the steps of that: by its length, and one for each part, the first time. What was opened in vain
 * is not opened again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const open = (meter: Meter, tree: Tree): boolean => {
  if (tree.opened || (tree.kind !== "array" && tree.kind !== "object" && tree.kind !== "string")) return take(meter, 1)
  if (!take(meter, 1 + (tree.text.length >> (tree.kind === "string" ? 7 : 6)))) return false
  if (tree.kind === "string") return true
  return take(meter, tree.kind === "array" ? tree.items.length : tree.members.size)
}
