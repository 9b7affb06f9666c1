/**
 * Messages become lines.
 *
 * @since 0.1.0
 */
import { checked } from "./internal/checked.ts"
import { quote } from "./internal/plain.ts"
import type { Failure, Reply, Text } from "./Message.ts"

const methods = new Map<string, string>()

/** The member `method`. Methods that are sent come again. */
const methodMember = (method: string): string => {
  const known = methods.get(method)
  if (known !== undefined) return known
  const written = `"method":${quote(method)}`
  if (methods.size < 256 && method.length < 64) methods.set(method, written)
  return written
}

const paramsMember = (params: Text | undefined): string => params === undefined ? "}\n" : `,"params":${params}}\n`

/**
 * The line of a request.
 *
 * @category constructors
 * @since 0.1.0
 */
export const request = (id: Text, method: string, params: Text | undefined): string =>
  `{"jsonrpc":"2.0","id":${id},${methodMember(method)}${paramsMember(params)}`

/**
 * The line of a notification.
 *
 * @category constructors
 * @since 0.1.0
 */
export const notification = (method: string, params: Text | undefined): string =>
  `{"jsonrpc":"2.0",${methodMember(method)}${paramsMember(params)}`

/**
 * The line of an answer. Without an id it is the answer to a request that could not be read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const response = (id: Text | undefined, reply: Reply): string => {
  const to = id === undefined ? "{\"jsonrpc\":\"2.0\"" : `{"jsonrpc":"2.0","id":${id}`
  return reply._tag === "Result" ? `${to},"result":${reply.result}}\n` : `${to},"error":${reply.error}}\n`
}

/**
 * The line of a batch of messages, each given as its own line.
 *
 * @category constructors
 * @since 0.1.0
 */
export const batch = (lines: ReadonlyArray<string>): string => `[${lines.map((line) => line.slice(0, -1)).join(",")}]\n`

/**
 * An error answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failure = (code: number, message: string, data?: Text): Failure => ({
  _tag: "Failure",
  error: checked(
    `{"code":${Math.trunc(code)},"message":${quote(message)}${data === undefined ? "" : `,"data":${data}`}}`
  )
})
