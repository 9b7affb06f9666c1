/**
 * The body of a POST: read within bounds, and judged as a line of the wire would be.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import * as Members from "../protocol/Members.ts"
import * as Feed from "../wire/Feed.ts"
import type { Item } from "../wire/Message.ts"
import * as Answer from "./Answer.ts"

/**
 * The bounds of reading: bytes of one body, bytes of all bodies that are being read, and how long one may take.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bounds {
  readonly bytes: number
  readonly allBytes: number
  readonly time: Duration.Duration
}

/**
 * A reader of bodies, which all count against one budget.
 *
 * @category models
 * @since 0.1.0
 */
export type Read = (request: HttpServerRequest) => Effect.Effect<Uint8Array, HttpServerResponse>

const close = { connection: "close" }

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ allBytes, bytes, time }: Bounds): Read => {
  let held = 0
  const tooLarge = Effect.fail(Answer.refuse(413, `the body is longer than ${bytes} bytes`, close))
  const full = Effect.fail(Answer.busy("too much is being read at once"))

  return (request) =>
    Effect.suspend(() => {
      const length = request.headers["content-length"]
      if (length !== undefined && Number(length) > bytes) return tooLarge
      const chunks: Array<Uint8Array> = []
      let size = 0
      return Stream.runForEach(request.stream, (chunk) =>
        Effect.suspend((): Effect.Effect<void, HttpServerResponse> => {
          size += chunk.length
          held += chunk.length
          if (size > bytes) return tooLarge
          if (held > allBytes) return full
          chunks.push(chunk)
          return Effect.void
        })).pipe(
          Effect.catchTag(
            "HttpServerError",
            () => Effect.fail(Answer.refuse(400, "the body could not be read", close))
          ),
          Effect.timeoutOrElse({
            duration: time,
            orElse: () => Effect.fail(Answer.refuse(408, "the body did not come in time", close))
          }),
          Effect.map(() => join(chunks, size)),
          Effect.ensuring(Effect.sync(() => {
            held -= size
          }))
        )
    })
}

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c

const join = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const bytes = new Uint8Array(size + 1)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  bytes[size] = LF
  return bytes
}

/**
 * Makes one line of a body that ends with a line feed: the breaks between its tokens become blanks. One inside a string is
 * no JSON, and stays.
 */
const unfold = (bytes: Uint8Array): void => {
  const last = bytes.length - 1
  if (bytes.indexOf(LF) === last && bytes.indexOf(CR) < 0) return
  let inString = false
  for (let k = 0; k < last; k++) {
    const byte = bytes[k]
    if (byte === QUOTE) inString = !inString
    else if (byte === BACKSLASH && inString) k++
    else if (!inString && (byte === LF || byte === CR)) bytes[k] = SPACE
  }
}

/**
 * Reads bodies as messages, each the whole of its body.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parser = (depth: number): (bytes: Uint8Array) => Item | undefined => {
  const feed = Feed.make({ messageBytes: Number.MAX_SAFE_INTEGER, depth, members: Members.all })
  return (bytes) => {
    unfold(bytes)
    const items: Array<Item> = []
    feed.push(bytes, (item) => items.push(item))
    return items.length === 1 ? items[0] : items.find((item) => item._tag === "Refused")
  }
}
