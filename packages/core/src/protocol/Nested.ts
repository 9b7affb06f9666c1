/**
 * The members of objects inside params to which the protocol gives a meaning.
 *
 * **Details**
 *
 * The reader refuses another spelling of a protocol member directly in params. What a request reaches is also named one
 * level further down (a reference, an argument, a task), and a decoder that ignores case reads those too (security rule
 * F3).
 *
 * @since 0.1.0
 */
import * as Fold from "../wire/Fold.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * The objects by the member of params that holds them, and the names of their members, over all revisions.
 *
 * @category tables
 * @since 0.1.0
 */
export const members: Readonly<Record<string, ReadonlyArray<string>>> = {
  ref: ["type", "name", "uri", "title"],
  argument: ["name", "value"],
  context: ["arguments"],
  task: ["ttl"],
  notifications: [
    "toolsListChanged",
    "promptsListChanged",
    "resourcesListChanged",
    "resourceSubscriptions",
    "taskIds"
  ],
  _meta: ["progressToken"]
}

/** Whether any of them is there at all: most requests have none, and one pass over the text says so. */
const any = new RegExp(`"(?:${Object.keys(members).join("|")})":`)

const tables = Object.entries(members).map(([member, names]) => ({ member, isVariant: Fold.resembling(names) }))

/**
 * The JSON pointer into params of a member that has such a name in another case; `undefined` where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const variantIn = (params: Text | undefined): string | undefined => {
  if (params === undefined || !any.test(params)) return undefined
  for (const { isVariant, member } of tables) {
    const object = T.member(params, member)
    const variant = object === undefined ? undefined : T.members(object).find(([name]) => isVariant(name))
    if (variant !== undefined) return `/${member}/${variant[0]}`
  }
  return undefined
}
