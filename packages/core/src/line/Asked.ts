/**
 * What a server asks of a host and of the person there: as it is relayed, and what is never relayed.
 *
 * @since 0.1.0
 */
import { skeleton } from "../pin/Names.ts"
import * as Fold from "../wire/Fold.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/** Only such a method puts words of the server's before a person. */
const elicits = "elicitation/create"

/** An elicitation that is longer, in characters, is not looked through: nobody would read it either. */
const longest = 256 * 1024

/** What a JSON text says when it is read, in one piece: escapes are gone, so that none of them hides a letter. */
const unescaped = (text: Text): string =>
  text.replace(
    /\\(?:u([0-9a-fA-F]{4})|(.))/gs,
    (_, code: string | undefined, sign: string | undefined) =>
      code === undefined ? (sign ?? "") : String.fromCharCode(Number.parseInt(code, 16))
  )

/** Letters and digits as they are drawn, and nothing between them. */
const drawn = (text: string): string => skeleton(text).replace(/[^\p{L}\p{N}]+/gu, "")

let own: string | undefined

/**
 * Whether an elicitation looks as if Sallyport asked it: its name stands anywhere in the text, the title or the schema,
 * however it is drawn (security rule F15). One that is too long to be looked through counts as such.
 *
 * @category guards
 * @since 0.1.0
 */
export const imitates = (method: string, params: Text | undefined): boolean => {
  if (method !== elicits || params === undefined) return false
  own ??= drawn("sallyport")
  return params.length > longest || drawn(unescaped(params)).includes(own)
}

/**
 * The params as the host gets them: an elicitation says which server asks, by the name that the operator gave it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const named = (
  server: string | undefined,
  method: string,
  params: Text | undefined
): Text | undefined => {
  if (server === undefined || method !== elicits || params === undefined) return params
  const text = T.member(params, "message")
  const message = text === undefined ? undefined : T.string(text)
  return message === undefined ? params : T.setMember(params, "message", T.quote(`Server ${server} asks: ${message}`))
}

/**
 * One of the questions in a result (2026-07-28 basic/patterns/mrtr).
 *
 * @category models
 * @since 0.1.0
 */
export interface Input {
  readonly key: string
  readonly method: string
  readonly params: Text | undefined
}

const isVariant = Fold.resembling(["method", "params"])

/**
 * The questions in `inputRequests`; `undefined` where they cannot be read.
 *
 * @category getters
 * @since 0.1.0
 */
export const inputs = (requests: Text): ReadonlyArray<Input> | undefined => {
  if (!T.isObject(requests)) return undefined
  const found: Array<Input> = []
  for (const [key, value] of T.members(requests)) {
    if (!T.isObject(value) || T.names(value).some(isVariant)) return undefined
    const named = T.member(value, "method")
    const method = named === undefined ? undefined : T.string(named)
    const params = T.member(value, "params")
    if (method === undefined || params !== undefined && !T.isObject(params)) return undefined
    found.push({ key, method, params })
  }
  return found
}

/**
 * The result with its questions as the host gets them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const namedIn = (server: string | undefined, result: Text, asked: ReadonlyArray<Input>): Text => {
  let requests = T.member(result, "inputRequests")
  if (requests === undefined) return result
  for (const { key, method, params } of asked) {
    const entry = T.member(requests, key)
    const other = named(server, method, params)
    if (entry === undefined || other === undefined || other === params) continue
    requests = T.setMember(requests, key, T.setMember(entry, "params", other))
  }
  return T.setMember(result, "inputRequests", requests)
}
