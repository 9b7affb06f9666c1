/**
 * What a server asks a person, so that it cannot pass for a question of Sallyport's own (security rule F15).
 *
 * @since 0.1.0
 */
import { skeleton } from "../pin/Names.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

const ours = skeleton("Sallyport")

const alike = (text: string): boolean => skeleton(text).replaceAll("_", "").includes(ours)

const anywhere = (text: Text): boolean => {
  if (T.isObject(text)) return T.members(text).some(([name, value]) => alike(name) || anywhere(value))
  if (T.isArray(text)) return T.elements(text).some(anywhere)
  const string = T.string(text)
  return string !== undefined && alike(string)
}

/**
 * Whether an elicitation of a server's names Sallyport: in its message, or anywhere in its schema, in letters that look like
 * it. One that does is refused.
 *
 * @category guards
 * @since 0.1.0
 */
export const imitates = (params: Text): boolean =>
  ["message", "requestedSchema"].some((member) => {
    const found = T.member(params, member)
    return found !== undefined && anywhere(found)
  })

/**
 * The params of a server's elicitation with the server's name, as the operator configured it, before the message.
 *
 * @category combinators
 * @since 0.1.0
 */
export const named = (server: string, params: Text): Text => {
  const message = T.member(params, "message")
  const text = message === undefined ? undefined : T.string(message)
  return text === undefined ? params : T.setMember(params, "message", T.quote(`Server ${server} asks: ${text}`))
}
