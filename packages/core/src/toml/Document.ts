/**
 * A TOML document as a tree that knows where each key and each value stands.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { type AST, ParseError, parseTOML } from "toml-eslint-parser"

/**
 * Line and column, both counted from 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly line: number
  readonly column: number
}

/**
 * A key of a table: where it stands, and its value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entry {
  readonly key: Place
  readonly node: Node
}

/**
 * A value.
 *
 * @category models
 * @since 0.1.0
 */
export type Node =
  | { readonly _tag: "String"; readonly at: Place; readonly value: string; readonly range: readonly [number, number] }
  | { readonly _tag: "Integer"; readonly at: Place; readonly value: bigint }
  | { readonly _tag: "Boolean"; readonly at: Place; readonly value: boolean }
  | { readonly _tag: "Other"; readonly at: Place; readonly what: string }
  | { readonly _tag: "Array"; readonly at: Place; readonly items: ReadonlyArray<Node> }
  | Table

/**
 * A table; its entries are a Map, so that `__proto__` is a key like any other.
 *
 * @category models
 * @since 0.1.0
 */
export interface Table {
  readonly _tag: "Table"
  readonly at: Place
  readonly entries: ReadonlyMap<string, Entry>
}

interface OpenTable {
  readonly _tag: "Table"
  readonly at: Place
  readonly entries: Map<string, { readonly key: Place; readonly node: OpenNode }>
}

type OpenNode =
  | Exclude<Node, Table | { readonly _tag: "Array" }>
  | OpenTable
  | { readonly _tag: "Array"; readonly at: Place; readonly items: Array<OpenNode> }

const placeOf = (node: AST.TOMLNode): Place => ({ line: node.loc.start.line, column: node.loc.start.column + 1 })

const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted): string => key.type === "TOMLBare" ? key.name : key.value

const tableAt = (at: Place): OpenTable => ({ _tag: "Table", at, entries: new Map() })

const valueOf = (node: AST.TOMLContentNode): OpenNode => {
  const at = placeOf(node)
  if (node.type === "TOMLArray") return { _tag: "Array", at, items: node.elements.map(valueOf) }
  if (node.type === "TOMLInlineTable") {
    const table = tableAt(at)
    for (const entry of node.body) put(table, entry)
    return table
  }
  switch (node.kind) {
    case "string":
      return { _tag: "String", at, value: node.value, range: node.range }
    case "boolean":
      return { _tag: "Boolean", at, value: node.value }
    case "integer":
      return { _tag: "Integer", at, value: node.bigint }
    case "float":
      return { _tag: "Other", at, what: "a number with a fraction" }
    default:
      return { _tag: "Other", at, what: "a date or time" }
  }
}

/** The table under a key of a table: made where there is none; of an array of tables its last. */
const within = (table: OpenTable, name: string, at: Place): OpenTable => {
  const there = table.entries.get(name)?.node
  if (there?._tag === "Table") return there
  if (there?._tag === "Array") {
    const last = there.items.at(-1)
    if (last?._tag === "Table") return last
  }
  const made = tableAt(at)
  table.entries.set(name, { key: at, node: made })
  return made
}

function put(table: OpenTable, entry: AST.TOMLKeyValue): void {
  let into = table
  for (const [index, key] of entry.key.keys.entries()) {
    if (index === entry.key.keys.length - 1) {
      into.entries.set(nameOf(key), { key: placeOf(key), node: valueOf(entry.value) })
    } else into = within(into, nameOf(key), placeOf(key))
  }
}

const header = (root: OpenTable, table: AST.TOMLTable): OpenTable => {
  let into = root
  const keys = table.key.keys
  for (const [index, key] of keys.entries()) {
    const name = nameOf(key)
    const at = placeOf(key)
    if (table.kind === "array" && index === keys.length - 1) {
      const there = into.entries.get(name)?.node
      const made = tableAt(at)
      if (there?._tag === "Array") there.items.push(made)
      else into.entries.set(name, { key: at, node: { _tag: "Array", at, items: [made] } })
      return made
    }
    into = within(into, name, at)
  }
  return into
}

/** The parser's words where they need more than a capital letter less. */
const words: ReadonlyMap<string, string> = new Map([
  ["Defining a key multiple times is invalid", "this key is there twice"],
  ["Unspecified values are invalid", "the value is missing"]
])

const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

/**
 * The place of an offset.
 *
 * @category conversions
 * @since 0.1.0
 */
export const placeIn = (text: string, offset: number): Place => {
  const lines = text.slice(0, offset).split("\n")
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

/** What is missing at the start of a line is missing at the end of the one before. */
const endBefore = (text: string, offset: number): number =>
  text.charAt(offset - 1) === "\n" ? text.slice(0, offset).trimEnd().length : offset

/**
 * Reads a document; the failure says what is wrong with it as TOML, and where.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Table, Place & { readonly message: string }> => {
  const parsed = Result.try({
    try: () => {
      const root = tableAt({ line: 1, column: 1 })
      for (const part of parseTOML(text, { tomlVersion: "1.0.0" }).body[0].body) {
        if (part.type === "TOMLKeyValue") put(root, part)
        else {
          const table = header(root, part)
          for (const entry of part.body) put(table, entry)
        }
      }
      return root
    },
    catch: (error) => error
  })
  return Result.mapError(parsed, (error) =>
    error instanceof ParseError
      ? {
        ...placeIn(text, error.message.startsWith("Unspecified") ? endBefore(text, error.index) : error.index),
        message: `this is not TOML: ${words.get(error.message) ?? lower(error.message)}`
      }
      : { line: 1, column: 1, message: "this is not TOML: it is nested too deeply to be read" })
}
