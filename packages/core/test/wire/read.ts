/** What the tests of this folder share: reading bytes in one piece or in many, and JSON as JavaScript reads it. */
import { assert } from "@effect/vitest"
import * as Feed from "@sallyport/core/wire/Feed"
import type { Item, Refused } from "@sallyport/core/wire/Message"
import * as Write from "@sallyport/core/wire/Write"

export const members = [
  "_meta",
  "name",
  "arguments",
  "argument",
  "uri",
  "cursor",
  "tools",
  "isError",
  "content",
  "task",
  "progressToken",
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/clientCapabilities"
]

/** Whether two values are the same, whatever the compiler knows of them. */
export const same = (actual: unknown, expected: unknown): void => assert.deepStrictEqual(actual, expected)

export interface Limits {
  readonly messageBytes?: number
  readonly depth?: number
}

/** A feed and what it has given. */
export const open = (limits: Limits = {}) => {
  const feed = Feed.make({ ...Feed.defaultLimits, ...limits, members })
  const items: Array<Item> = []
  const each = (item: Item): void => {
    items.push(item)
  }
  return {
    feed,
    items,
    push: (chunk: Uint8Array): void => feed.push(chunk, each),
    end: (): void => feed.end(each)
  }
}

/** What these bytes give, cut into pieces of these sizes, over and over. */
export const read = (
  input: string | Uint8Array,
  sizes: ReadonlyArray<number> = [],
  limits: Limits = {}
): Array<Item> => {
  const bytes = typeof input === "string" ? Buffer.from(input) : input
  const { end, items, push } = open(limits)
  let p = 0
  for (let k = 0; p < bytes.length; k++) {
    const size = sizes.length === 0 ? bytes.length : Math.max(1, sizes[k % sizes.length] ?? 1)
    // a copy, as a pipe gives it: nothing of the next piece stands behind it
    push(Uint8Array.from(bytes.subarray(p, p + size)))
    p += size
  }
  end()
  return items
}

/** The one item of one line. */
export const one = (line: string | Uint8Array, limits: Limits = {}): Item => {
  const items = read(line, [], limits)
  const [item] = items
  if (item === undefined || items.length !== 1) throw new Error(`${items.length} items for ${line.toString()}`)
  return item
}

export const refused = (line: string | Uint8Array, limits: Limits = {}): Refused => {
  const item = one(line, limits)
  if (item._tag !== "Refused") throw new Error(`accepted: ${line.toString()}`)
  return item
}

/** The line that an accepted item leaves as. */
export const written = (item: Item): string => {
  switch (item._tag) {
    case "Request":
      return Write.request(item.id, item.method, item.params)
    case "Notification":
      return Write.notification(item.method, item.params)
    case "Response":
      return Write.response(item.id, item.reply)
    case "Batch":
      return Write.batch(item.items.map(written))
    case "Refused":
      throw new Error(`refused: ${item.reason}`)
  }
}

/** The value of a text in which every number is an object with its own text. */
export const exact = (text: string): unknown =>
  JSON.parse(
    text.replace(
      /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
      (token) => token.startsWith("\"") ? token : `{"number":"${token}"}`
    )
  )

/** Whether JSON.parse reads it. */
export const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
