/**
 * What a session wrote, line by line, with as much of each as says where it goes.
 *
 * @since 0.1.0
 */
import * as Feed from "../wire/Feed.ts"
import type { Item, Single, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * A line without its line feed.
 *
 * - `ids`: what it answers: one request, or those of a batch.
 * - `id`: the request that it is itself; `method` and `params`: of that, or of the notification.
 * - `failed`: the error, where it is the one answer to one request.
 *
 * @category models
 * @since 0.1.0
 */
export type Said =
  | {
    readonly _tag: "Answer"
    readonly line: string
    readonly ids: ReadonlyArray<Text>
    readonly result: Text | undefined
    readonly error: Text | undefined
  }
  | { readonly _tag: "Request"; readonly line: string; readonly id: Text; readonly method: string }
  | {
    readonly _tag: "Notification"
    readonly line: string
    readonly method: string
    readonly params: Text | undefined
  }

const idsOf = (items: ReadonlyArray<Single>): ReadonlyArray<Text> =>
  items.flatMap((item) =>
    (item._tag === "Response" || item._tag === "Refused") && item.id !== undefined ? [item.id] : []
  )

const said = (line: string, item: Item): Said => {
  switch (item._tag) {
    case "Request":
      return { _tag: "Request", line, id: item.id, method: item.method }
    case "Notification":
      return { _tag: "Notification", line, method: item.method, params: item.params }
    case "Response":
      return {
        _tag: "Answer",
        line,
        ids: [item.id],
        result: item.reply._tag === "Result" ? item.reply.result : undefined,
        error: item.reply._tag === "Failure" ? item.reply.error : undefined
      }
    case "Refused":
      // The answer to a line without a readable id has none itself.
      return { _tag: "Answer", line, ids: idsOf([item]), result: undefined, error: undefined }
    case "Batch":
      return { _tag: "Answer", line, ids: idsOf(item.items), result: undefined, error: undefined }
  }
}

const encoder = new TextEncoder()

/**
 * Takes what a session writes apart.
 *
 * @category models
 * @since 0.1.0
 */
export type Read = (text: string) => ReadonlyArray<Said>

/**
 * A reader for any number of sessions, which write whole lines of checked text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reader = (): Read => {
  const feed = Feed.make({ messageBytes: Number.MAX_SAFE_INTEGER, depth: Number.MAX_SAFE_INTEGER, members: [] })
  return (text) => {
    const lines = text.split("\n")
    const all: Array<Said> = []
    // One without its end would be read together with another session's.
    feed.push(encoder.encode(text.endsWith("\n") ? text : `${text}\n`), (item) => {
      const line = lines[all.length]
      if (line !== undefined) all.push(said(line, item))
    })
    return all
  }
}

/**
 * The token of a request's params, in its normal form (basic/utilities/progress).
 *
 * @category getters
 * @since 0.1.0
 */
export const tokenOf = (params: Text | undefined): Text | undefined => {
  if (params === undefined || !params.includes("progressToken")) return undefined
  const meta = T.member(params, "_meta")
  return meta === undefined ? undefined : idIn(meta, "progressToken")
}

/**
 * The id or token that is this member of an object.
 *
 * @category getters
 * @since 0.1.0
 */
export const idIn = (params: Text | undefined, name: string): Text | undefined => {
  const value = params === undefined ? undefined : T.member(params, name)
  return value === undefined ? undefined : T.id(value)
}
