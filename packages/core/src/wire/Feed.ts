/**
 * Bytes become checked messages.
 *
 * **Details**
 *
 * A message is one line: the bytes up to a line feed, with one carriage return before it dropped. A line that has
 * nothing but blanks is no message. Lines are UTF-8 without a byte order mark, and I-JSON (RFC 7493); a message has
 * exactly the members that JSON-RPC 2.0 names.
 *
 * @since 0.1.0
 */
import * as G from "./internal/grammar.ts"
import { mend, repairOf } from "./internal/mend.ts"
import { Names } from "./internal/names.ts"
import { pointerTo } from "./internal/pointer.ts"
import { Salvage } from "./internal/Salvage.ts"
import { type Rules, Scanner } from "./internal/Scanner.ts"
import * as Utf8 from "./internal/utf8.ts"
import type { Item, Refused, Single } from "./Message.ts"
import type { Reason } from "./Reason.ts"
import type { Repair, Repairs } from "./Repair.ts"

/**
 * The limits of reading: bytes of one message, and how deep it may nest.
 *
 * **Details**
 *
 * More than 256 MiB, and more than 1,024 levels, are never taken, whatever is asked for: a message has to fit in a
 * string of JavaScript, and readers of it have to come back from its depth.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly messageBytes: number
  readonly depth: number
}

/**
 * 64 MiB a message, 128 deep.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultLimits: Limits = { messageBytes: 64 * 1024 * 1024, depth: 128 }

/** What {@link Limits} says of the limits' own limits. */
const mostBytes = 256 * 1024 * 1024
const mostDepth = 1024

/**
 * How many messages a batch may have.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBatch = 4096

/** A buffer for the beginning of a line is kept for the next one up to this size. */
const keepBytes = 256 * 1024

/**
 * A reader of one peer's bytes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Feed {
  /** Reads a chunk; `each` is called once for every message that ended in it, in order. Never throws of itself. */
  readonly push: (chunk: Uint8Array, each: (item: Item) => void) => void
  /** The input is over: an unterminated last line counts. */
  readonly end: (each: (item: Item) => void) => void
}

/**
 * What a feed must know.
 *
 * **Details**
 *
 * `members` are the names that members of params, results and errors have by the protocol. A member that has such a name
 * in another case makes its message refused. A name with a slash in it is the name of a member of `_meta`. `repairs` are
 * made in lines that would be refused without them; any other line is read as if there were none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Limits {
  readonly members: ReadonlyArray<string>
  readonly repairs?: Repairs | undefined
}

/** The members of an error (JSON-RPC 2.0 section 5.1). */
const errorMembers = ["code", "message", "data"]

/** How many bytes the line from `from` to the line feed at `end` has, without a carriage return before that. */
const lengthOf = (b: Buffer, from: number, end: number): number =>
  end > from && b[end - 1] === G.CR ? end - 1 - from : end - from

const lineFeed = Buffer.from("\n")

const compiled = new WeakMap<ReadonlyArray<string>, Rules>()

/** The rules of a list of names are made once: a server opens a reader for every request of the modern era. */
const rulesOf = (members: ReadonlyArray<string>): Rules => {
  const known = compiled.get(members)
  if (known !== undefined) return known
  const values = members.filter((name) => !name.includes("/"))
  const rules: Rules = {
    values: new Names(values),
    errors: new Names([...values, ...errorMembers]),
    meta: new Names(members.filter((name) => name.includes("/")))
  }
  compiled.set(members, rules)
  return rules
}

/**
 * A reader that has read nothing yet.
 *
 * **Details**
 *
 * A line that is too long is refused when it ends: it is not kept, but looked through for its id, so that the call that
 * it answers does not wait for ever.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Feed => {
  const messageBytes = Math.min(options.messageBytes, mostBytes)
  const scanner = new Scanner(Math.min(options.depth, mostDepth), rulesOf(options.members))

  // the beginning of a line whose end has not come yet
  let kept = Buffer.allocUnsafe(0)
  let size = 0
  /** Set while a line that is too long goes by. */
  let skipped: Salvage | undefined

  const keep = (chunk: Buffer, from: number, end: number): void => {
    const need = size + end - from + 1
    if (kept.length < need) {
      // One byte for the carriage return, one for the line feed. In big steps: what is not written to costs no memory yet,
      // and each buffer that was too small does, until it is collected.
      const more = Buffer.allocUnsafeSlow(Math.max(need, Math.min(kept.length * 4, messageBytes + 2), 4096))
      kept.copy(more, 0, 0, size)
      kept = more
    }
    chunk.copy(kept, size, from, end)
    size += end - from
  }

  const forget = (): void => {
    size = 0
    if (kept.length > keepBytes) kept = Buffer.allocUnsafe(0)
  }

  /** The refusal of the message between `first` and `end`, whose own pointer is `path`, in the line from `from`. */
  const refused = (
    b: Buffer,
    reason: Reason,
    from: number,
    at: number,
    first: number,
    end: number,
    path: string
  ): Refused => {
    const salvage = new Salvage()
    salvage.push(b, first, end)
    const whole = reason !== "not-json" && reason !== "not-utf8" && reason !== "too-long"
    return {
      _tag: "Refused",
      reason,
      kind: salvage.kind(whole),
      id: salvage.id(),
      pointer: reason === "too-long" ? "" : path + pointerTo(b, first, at, end),
      offset: at - from
    }
  }

  /**
   * What the message between `first` and `end`, which the scanner has just refused, is with the repairs that are wanted. It
   * is `undefined` where they do not help; then the scanner has the reason that is left.
   */
  const repaired = (b: Buffer, first: number, end: number): Single | undefined => {
    const { repairs } = options
    if (repairs === undefined) return undefined
    const made: Array<Repair> = []
    let own: Buffer | undefined
    for (;;) {
      const repair = repairOf(scanner.reason)
      if (repair === undefined || made.includes(repair) || !repairs.wanted.includes(repair)) return undefined
      own ??= Buffer.concat([b.subarray(first, end), lineFeed])
      if (!mend(own, repair)) return undefined
      made.push(repair)
      const item = scanner.message(own, 0) >= 0 ? scanner.build(own) : undefined
      if (item !== undefined) {
        for (const each of made) repairs.made(each)
        return item
      }
      scanner.at += first
    }
  }

  /** What the line from `from` to the line feed at `end` gives, if it is not good, or an array. */
  const judge = (b: Buffer, from: number, end: number): Item => {
    const refuse = (reason: Reason, at: number): Refused => refused(b, reason, from, at, from, end, "")
    const broken = Utf8.broken(b, from, end)
    if (broken >= 0) return refuse("not-utf8", broken)
    const verdict = G.wellFormed(b, from, maxBatch)
    if (verdict.broken >= 0) return refuse("not-json", verdict.broken)
    const start = G.skipBlanks(b, from)
    if (b[start] !== G.OPEN_ARRAY) return repaired(b, start, end) ?? refuse(scanner.reason, scanner.at)
    const [first, ...rest] = verdict.elements
    if (first === undefined) return refuse("empty-batch", start)
    if (rest.length >= maxBatch) return refuse("batch-too-long", start)
    const element = (p: number, k: number): Single => {
      const good = scanner.message(b, p) >= 0 ? scanner.build(b) : undefined
      const after = rest[k] ?? end
      return good ?? repaired(b, p, after) ?? refused(b, scanner.reason, from, scanner.at, p, after, `/${k}`)
    }
    return { _tag: "Batch", items: [element(first, 0), ...rest.map((p, k) => element(p, k + 1))] }
  }

  /** Reads the line at `from`, which has a line feed; the index after it. */
  const line = (b: Buffer, from: number, each: (item: Item) => void): number => {
    const p = G.skipBlanks(b, from)
    const c = b[p] ?? G.LF
    if (c === G.LF) return p + 1
    if (c === G.OPEN_OBJECT) {
      let q = scanner.message(b, p)
      if (q >= 0) {
        q = G.skipBlanks(b, q)
        if (b[q] === G.LF && lengthOf(b, from, q) <= messageBytes) {
          const item = scanner.build(b)
          if (item !== undefined) {
            each(item)
            return q + 1
          }
        }
      }
    } else {
      scanner.reason = "not-a-message"
      scanner.at = p
    }
    const end = b.indexOf(G.LF, from)
    each(
      lengthOf(b, from, end) > messageBytes
        ? refused(b, "too-long", from, from + messageBytes, from, end, "")
        : judge(b, from, end)
    )
    return end + 1
  }

  /** Whether the line that is kept is too long, whatever follows. */
  const overlong = (): boolean => size > messageBytes && (size > messageBytes + 1 || kept[messageBytes] !== G.CR)

  const skip = (): void => {
    skipped = new Salvage()
    skipped.push(kept, 0, size)
    forget()
  }

  const endSkipped = (salvage: Salvage, each: (item: Item) => void): void => {
    skipped = undefined
    each({
      _tag: "Refused",
      reason: "too-long",
      kind: salvage.kind(false),
      id: salvage.id(),
      pointer: "",
      offset: messageBytes
    })
  }

  const push = (chunk: Uint8Array, each: (item: Item) => void): void => {
    const b = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const last = b.lastIndexOf(G.LF)
    let p = 0
    if (last >= 0) {
      if (skipped !== undefined) {
        const end = b.indexOf(G.LF)
        skipped.push(b, 0, end)
        endSkipped(skipped, each)
        p = end + 1
      } else if (size > 0) {
        const end = b.indexOf(G.LF)
        keep(b, 0, end)
        p = end + 1
        endKept(each)
      }
      while (p <= last) p = line(b, p, each)
    }
    if (p < b.length) {
      if (skipped !== undefined) skipped.push(b, p, b.length)
      else {
        keep(b, p, b.length)
        if (overlong()) skip()
      }
    }
    scanner.release()
  }

  const endKept = (each: (item: Item) => void): void => {
    kept[size] = G.LF
    size = 0
    line(kept, 0, each)
    forget()
  }

  const end = (each: (item: Item) => void): void => {
    if (skipped !== undefined) endSkipped(skipped, each)
    else if (size > 0) endKept(each)
    scanner.release()
  }

  return { push, end }
}
