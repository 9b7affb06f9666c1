/**
 * Reads ledger lines, strictly: a line is accepted only if it is, byte for byte, what the writer writes for what it says.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Closed, Digest, Event, Head, Omitted, Opened } from "./Entry.ts"
import * as Line from "./Line.ts"

/**
 * What a line of a segment says. `seal` is there on the last line of a group only.
 *
 * @category models
 * @since 0.1.0
 */
export type Decoded =
  & { readonly seal: { readonly prev: string; readonly digest: string } | undefined }
  & (
    | { readonly _tag: "Opened"; readonly opened: Opened }
    | { readonly _tag: "Closed"; readonly closed: Closed }
    | { readonly _tag: "Entry"; readonly seq: number; readonly time: string; readonly event: Event | Omitted }
  )

const strict = { onExcessProperty: "error" } as const
const object = Schema.decodeUnknownResult(Schema.Record(Schema.String, Schema.Unknown))
const seal = Schema.decodeUnknownResult(Schema.Struct({ prev: Head, seal: Digest }), strict)
const opened = Schema.decodeUnknownResult(Opened, strict)
const closed = Schema.decodeUnknownResult(Closed, strict)
const event = Schema.decodeUnknownResult(Schema.Union([Event, Omitted]), strict)
const envelope = Schema.decodeUnknownResult(
  Schema.Struct({
    seq: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
    time: Closed.fields.time
  }),
  strict
)

/**
 * How many bytes end a line that has a seal.
 *
 * @category constants
 * @since 0.1.0
 */
export const sealLength = Line.seal("0".repeat(64)).length

/**
 * Reads one line, given without its line feed; fails with why it is not a line of this format.
 *
 * @category decoding
 * @since 0.1.0
 */
export const line = (text: string): Result.Result<Decoded, string> => {
  const json = Result.try({ try: (): unknown => JSON.parse(text), catch: () => "it is not JSON" })
  if (Result.isFailure(json)) return Result.fail(json.failure)
  const members = object(json.success)
  if (Result.isFailure(members)) return Result.fail("it is not an object")

  const { prev, seal: digest, ...rest } = members.success
  const sealing = prev === undefined && digest === undefined ? undefined : seal({ prev, seal: digest })
  if (sealing !== undefined && Result.isFailure(sealing)) return Result.fail("its seal has not the form of one")
  const sealed = sealing === undefined ? undefined : { prev: sealing.success.prev, digest: sealing.success.seal }

  const decoded = body(rest, sealed)
  if (Result.isFailure(decoded)) return decoded
  return encode(decoded.success) === text + "\n"
    ? decoded
    : Result.fail("it is not spelled as the ledger spells it (a member twice, in another order or in another form)")
}

const body = (
  members: { readonly [name: string]: unknown },
  seal: Decoded["seal"]
): Result.Result<Decoded, string> => {
  if (members["type"] === "opened") {
    return Result.mapBoth(opened(members), {
      onFailure: String,
      onSuccess: (opened) => ({ _tag: "Opened", opened, seal })
    })
  }
  if (members["type"] === "closed") {
    return Result.mapBoth(closed(members), {
      onFailure: String,
      onSuccess: (closed) => ({ _tag: "Closed", closed, seal })
    })
  }
  const { seq, time, ...rest } = members
  const outer = envelope({ seq, time })
  if (Result.isFailure(outer)) return Result.fail(String(outer.failure))
  return Result.mapBoth(event(rest), {
    onFailure: String,
    onSuccess: (event) => ({ _tag: "Entry", ...outer.success, event, seal })
  })
}

/**
 * Writes a line again, with its end.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encode = (self: Decoded): string => {
  const text = self._tag === "Opened"
    ? Line.opened(self.opened)
    : self._tag === "Closed"
    ? Line.closed(self.closed)
    : Line.entry(self.seq, self.time, self.event)
  return self.seal === undefined ? text + Line.end : text + Line.prev(self.seal.prev) + Line.seal(self.seal.digest)
}

/**
 * How many numbers an entry takes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const width = (event: Event | Omitted): number => event.type === "omitted" ? event.count : 1
