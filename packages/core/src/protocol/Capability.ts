/**
 * Capabilities: their tree in every revision, the type of each leaf, and how they are read and written.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type * as Revision from "./Revision.ts"

/**
 * The side that declares a capability.
 *
 * @category models
 * @since 0.1.0
 */
export type Side = "client" | "server"

/**
 * A row of the table.
 *
 * - `leaf`: what is there to count: `object` is declared by an object, `boolean` by `true`. A boolean where an object is
 *   due is not support, and `false` never is.
 * - `first`, `last`: the revisions that define it; to the newest where there is no `last`.
 * - `deprecated`: the revision that deprecates it.
 * - `bare`: its parent declares it too, when the parent is an object without members.
 * - `named`: its members are names of others' making, and their content is kept as it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly leaf: "object" | "boolean"
  readonly first: Revision.Revision
  readonly last?: Revision.Revision
  readonly deprecated?: Revision.Revision
  readonly bare?: true
  readonly named?: true
}

/**
 * Every capability of both sides by its path (`ClientCapabilities` and `ServerCapabilities` of each revision's schema;
 * the tasks extension by its own).
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  "client.experimental": { leaf: "object", first: "2024-11-05", named: true },
  "client.roots": { leaf: "object", first: "2024-11-05", deprecated: "2026-07-28" },
  "client.roots.listChanged": { leaf: "boolean", first: "2024-11-05", last: "2025-11-25" },
  "client.sampling": { leaf: "object", first: "2024-11-05", deprecated: "2026-07-28" },
  "client.sampling.context": { leaf: "object", first: "2025-11-25", deprecated: "2026-07-28" },
  "client.sampling.tools": { leaf: "object", first: "2025-11-25", deprecated: "2026-07-28" },
  "client.elicitation": { leaf: "object", first: "2025-06-18" },
  "client.elicitation.form": { leaf: "object", first: "2025-11-25", bare: true },
  "client.elicitation.url": { leaf: "object", first: "2025-11-25" },
  "client.tasks": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.list": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.cancel": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.requests": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.requests.sampling": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.requests.sampling.createMessage": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.requests.elicitation": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.tasks.requests.elicitation.create": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "client.extensions": { leaf: "object", first: "2026-07-28", named: true },
  "client.extensions.io.modelcontextprotocol/tasks": { leaf: "object", first: "2026-07-28" },
  "server.experimental": { leaf: "object", first: "2024-11-05", named: true },
  "server.logging": { leaf: "object", first: "2024-11-05", deprecated: "2026-07-28" },
  "server.completions": { leaf: "object", first: "2025-03-26" },
  "server.prompts": { leaf: "object", first: "2024-11-05" },
  "server.prompts.listChanged": { leaf: "boolean", first: "2024-11-05" },
  "server.resources": { leaf: "object", first: "2024-11-05" },
  "server.resources.subscribe": { leaf: "boolean", first: "2024-11-05" },
  "server.resources.listChanged": { leaf: "boolean", first: "2024-11-05" },
  "server.tools": { leaf: "object", first: "2024-11-05" },
  "server.tools.listChanged": { leaf: "boolean", first: "2024-11-05" },
  "server.tasks": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.tasks.list": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.tasks.cancel": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.tasks.requests": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.tasks.requests.tools": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.tasks.requests.tools.call": { leaf: "object", first: "2025-11-25", last: "2025-11-25" },
  "server.extensions": { leaf: "object", first: "2026-07-28", named: true },
  "server.extensions.io.modelcontextprotocol/tasks": { leaf: "object", first: "2026-07-28" }
} as const satisfies Record<string, Row>

/**
 * The path of a capability: the side, then the members on the way to the leaf. The name of an extension is one step.
 *
 * @category models
 * @since 0.1.0
 */
export type Path = keyof typeof table

/** A capability and the ones below it. */
interface Node {
  readonly path: Path
  readonly row: Row
  readonly name: string
  readonly children: Array<Node>
}

const isPath = (path: string): path is Path => Object.hasOwn(table, path)

/**
 * All paths, in the table's order: a parent stands before its children.
 *
 * @category tables
 * @since 0.1.0
 */
export const paths: ReadonlyArray<Path> = Object.keys(table).filter(isPath)

/**
 * Each path with the type of its leaf, in the table's order.
 *
 * @category tables
 * @since 0.1.0
 */
export const leaves: ReadonlyArray<readonly [path: Path, leaf: Row["leaf"]]> = paths.map((path) => [
  path,
  table[path].leaf
])

/**
 * The path above a path; `undefined` for those at the top.
 *
 * @category getters
 * @since 0.1.0
 */
export const parent = (path: Path): Path | undefined => parents.get(path)

const trees: { readonly client: Array<Node>; readonly server: Array<Node> } = { client: [], server: [] }
const parents = new Map<Path, Path>()
const nodes = new Map<string, Node>()
for (const path of paths) {
  const side: Side = path.startsWith("client.") ? "client" : "server"
  const extension = path.indexOf(".extensions.")
  const cut = extension < 0 ? path.lastIndexOf(".") : extension + ".extensions".length
  const above = nodes.get(path.slice(0, cut))
  const node: Node = { path, row: table[path], name: path.slice(cut + 1), children: [] }
  nodes.set(path, node)
  if (above === undefined) trees[side].push(node)
  else {
    above.children.push(node)
    parents.set(path, above.path)
  }
}

/**
 * Whether a revision defines a capability.
 *
 * @category guards
 * @since 0.1.0
 */
export const isDefined = (path: Path, revision: Revision.Revision): boolean => {
  const row: Row = table[path]
  return revision >= row.first && (row.last === undefined || revision <= row.last)
}

/**
 * Those of the paths that the revision defines.
 *
 * @category getters
 * @since 0.1.0
 */
export const within = (declared: ReadonlySet<Path>, revision: Revision.Revision): ReadonlySet<Path> =>
  new Set([...declared].filter((path) => isDefined(path, revision)))

/**
 * Which of the paths of one side its capabilities object declares; with a revision, only those that it defines.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = (
  side: Side,
  capabilities: Text | undefined,
  revision?: Revision.Revision
): ReadonlySet<Path> => {
  const declared = new Set<Path>()
  const into = (at: Text, children: ReadonlyArray<Node>): void => {
    for (const child of children) {
      if (revision !== undefined && !isDefined(child.path, revision)) continue
      const value = T.member(at, child.name)
      if (value === undefined) {
        if (child.row.bare === true && at === "{}") declared.add(child.path)
      } else if (child.row.leaf === "boolean" ? value === "true" : T.isObject(value)) {
        declared.add(child.path)
        into(value, child.children)
      }
    }
  }
  if (capabilities !== undefined && T.isObject(capabilities)) into(capabilities, trees[side])
  return declared
}

/**
 * Members by name, in their order, each as the text that it came as.
 *
 * @category models
 * @since 0.1.0
 */
export type Members = ReadonlyArray<readonly [name: string, value: Text]>

/**
 * All that a capabilities object says.
 *
 * - `paths`: what it declares of the table.
 * - `experimental`, `extensions`: the members of these, with their content.
 * - `unknown`: members at the top that the revision does not define. They mean nothing, and are kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Declared {
  readonly paths: ReadonlySet<Path>
  readonly experimental: Members
  readonly extensions: Members
  readonly unknown: Members
}

/**
 * Reads a capabilities object with all that a relay or a bridge has to keep of it.
 *
 * **Details**
 *
 * A member of `experimental` or `extensions` counts as declared only where its value is an object (2026-07-28
 * basic/versioning, Extension Negotiation); another value is left out.
 *
 * @category getters
 * @since 0.1.0
 */
export const parse = (side: Side, capabilities: Text | undefined, revision: Revision.Revision): Declared => {
  const known = trees[side].filter((node) => isDefined(node.path, revision))
  const inside = (name: string): Members => {
    const value = capabilities === undefined || !known.some((node) => node.name === name)
      ? undefined
      : T.member(capabilities, name)
    return value === undefined ? [] : T.members(value).filter(([, content]) => T.isObject(content))
  }
  return {
    paths: read(side, capabilities, revision),
    experimental: inside("experimental"),
    extensions: inside("extensions"),
    unknown: capabilities === undefined
      ? []
      : T.members(capabilities).filter(([name]) => !known.some((node) => node.name === name))
  }
}

/**
 * The content that an extension or an experimental capability was declared with.
 *
 * @category getters
 * @since 0.1.0
 */
export const content = (members: Members, name: string): Text | undefined =>
  members.find(([member]) => member === name)?.[1]

const empty: Text = T.object([])

/**
 * Writes the capabilities object of one side: what {@link parse} gives `declared` back for.
 *
 * **Details**
 *
 * A path brings its parents with it, whatever the order. Paths of the other side, and such as the revision does not
 * define, are left out: what a revision has no name for cannot be declared in it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const write = (
  side: Side,
  revision: Revision.Revision,
  declared: { readonly paths: Iterable<Path> } & Partial<Omit<Declared, "paths">>
): Text => {
  const all = new Set<Path>()
  for (const path of declared.paths) {
    for (let at: Path | undefined = path; at !== undefined; at = parent(at)) all.add(at)
  }
  const named = (node: Node): Members =>
    node.row.named !== true ? [] : (node.name === "extensions" ? declared.extensions : declared.experimental) ?? []
  const entries = (children: ReadonlyArray<Node>): Array<readonly [string, Text]> =>
    children.flatMap((node): Array<readonly [string, Text]> => {
      if (!isDefined(node.path, revision)) return []
      const kept = named(node)
      if (!all.has(node.path) && kept.length === 0) return []
      if (node.row.leaf === "boolean") return [[node.name, T.literal("true")]]
      const below = entries(node.children).filter(([name]) => content(kept, name) === undefined)
      return [[node.name, T.object([...kept, ...below])]]
    })
  const top = entries(trees[side])
  const others = (declared.unknown ?? []).filter(([name]) => !top.some(([known]) => known === name))
  return top.length + others.length === 0 ? empty : T.object([...top, ...others])
}
