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

/** The arguments' names that are not one of these, but that some reader may take for one, or for another argument. */
const confusable = (names: ReadonlyArray<string>, properties: ReadonlySet<string>): string | undefined => {
  const known = new Map([...properties].map((name) => [Fold.fold(name), name]))
  for (const name of names) {
    if (properties.has(name)) continue
    const folded = Fold.fold(name)
    if (known.has(folded)) return name
    known.set(folded, name)
  }
  return undefined
}

/**
 * The JSON pointer into params of an argument of a tool or prompt that some reader may take for another one; `undefined`
 * where there is none.
 *
 * **Details**
 *
 * Two arguments must not be equal but for case, and none may be spelled but for case as one that is declared: a property
 * of the tool's schema, or an argument of the prompt. Where two such are declared, both may be given: a person has
 * accepted it.
 *
 * @category getters
 * @since 0.1.0
 */
export const variantInArguments = (params: Text | undefined, definition: Text): string | undefined => {
  const names = params === undefined ? [] : T.namesIn(params, "arguments")
  if (names.length === 0) return undefined
  const properties = propertiesOf(definition)
  // Mostly each is a property as it stands, and then no other can be meant.
  if (names.every((name) => properties.has(name))) return undefined
  const variant = confusable(names, properties)
  return variant === undefined ? undefined : `/arguments/${variant.slice(0, 128)}`
}

/** The arguments that are declared by what is called, so that a definition is looked through once. */
const remembered = new Map<Text, ReadonlySet<string>>()
const maxRemembered = 256

const propertiesOf = (definition: Text): ReadonlySet<string> => {
  const known = remembered.get(definition)
  if (known !== undefined) return known
  const schema = T.member(definition, "inputSchema")
  const found = schema === undefined ? undefined : T.member(schema, "properties")
  const listed = schema === undefined ? T.member(definition, "arguments") : undefined
  const properties = new Set([
    ...(found === undefined ? [] : T.names(found)),
    ...(listed === undefined ? [] : T.elements(listed).flatMap((argument) => {
      const name = T.member(argument, "name")
      return (name === undefined ? undefined : T.string(name)) ?? []
    }))
  ])
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(definition, properties)
  return properties
}
