/**
 * Looking into the params of a request.
 *
 * @since 0.1.0
 */
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"

/**
 * No members.
 *
 * @category constants
 * @since 0.1.0
 */
export const none: Text = T.object([])

/**
 * The string in a member; `undefined` where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const stringOf = (params: Text | undefined, name: string): string | undefined => {
  const text = params === undefined ? undefined : T.member(params, name)
  return text === undefined ? undefined : T.string(text)
}

/**
 * The object in a member; `undefined` where there is none.
 *
 * @category getters
 * @since 0.1.0
 */
export const objectOf = (params: Text | undefined, name: string): Text | undefined => {
  const text = params === undefined ? undefined : T.member(params, name)
  return text !== undefined && T.isObject(text) ? text : undefined
}

/**
 * The arguments of a call: none count as `{}`, and what is no object is `undefined`.
 *
 * @category getters
 * @since 0.1.0
 */
export const argumentsOf = (params: Text): Text | undefined => {
  const text = T.member(params, "arguments")
  return text === undefined ? none : T.isObject(text) ? text : undefined
}
