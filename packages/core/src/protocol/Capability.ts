/**
 * Capabilities: their paths and the type of each leaf, and a typed way to read them.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * Each path that gates something, and what its leaf must be to count: `object` is declared by an object being there,
 * `boolean` by `true`. A boolean where an object is due is not support, and `false` never is.
 *
 * @category tables
 * @since 0.1.0
 */
export const leaves = [
  ["client.roots", "object"],
  ["client.roots.listChanged", "boolean"],
  ["client.sampling", "object"],
  ["client.sampling.context", "object"],
  ["client.sampling.tools", "object"],
  ["client.elicitation", "object"],
  ["client.elicitation.form", "object"],
  ["client.elicitation.url", "object"],
  ["client.tasks", "object"],
  ["client.tasks.list", "object"],
  ["client.tasks.cancel", "object"],
  ["server.logging", "object"],
  ["server.completions", "object"],
  ["server.prompts", "object"],
  ["server.prompts.listChanged", "boolean"],
  ["server.resources", "object"],
  ["server.resources.subscribe", "boolean"],
  ["server.resources.listChanged", "boolean"],
  ["server.tools", "object"],
  ["server.tools.listChanged", "boolean"],
  ["server.tasks", "object"],
  ["server.tasks.list", "object"],
  ["server.tasks.cancel", "object"],
  ["server.extensions", "object"],
  ["server.experimental", "object"]
] as const satisfies ReadonlyArray<readonly [path: string, leaf: "object" | "boolean"]>

/**
 * @category models
 * @since 0.1.0
 */
export type Path = (typeof leaves)[number][0]

/**
 * Which of the paths of one side its capabilities object declares.
 *
 * @category getters
 * @since 0.1.0
 */
export const read = (side: "client" | "server", capabilities: Text | undefined): ReadonlySet<Path> => {
  const declared = new Set<Path>()
  if (capabilities === undefined || !T.isObject(capabilities)) return declared
  for (const [path, leaf] of leaves) {
    const [of, ...steps] = path.split(".")
    if (of !== side) continue
    let at: Text | undefined = capabilities
    for (const step of steps) at = at !== undefined && T.isObject(at) ? T.member(at, step) : undefined
    if (at === undefined) continue
    if (leaf === "object" ? T.isObject(at) : at === "true") declared.add(path)
  }
  return declared
}
