/**
 * One pass over a line: the message that it is, or the first thing that keeps it from being one.
 *
 * What a message carries becomes strings only when the whole line is known to be good. Whatever is rare (names with
 * escapes, objects with many members, a line that is refused) leaves the fast path and is looked at again.
 */
import * as Fold from "../Fold.ts"
import type { Single, Text } from "../Message.ts"
import type { Reason } from "../Reason.ts"
import * as T from "../Text.ts"
import { checked } from "./checked.ts"
import * as G from "./grammar.ts"
import { COLON, COMMA, inString, LF, PLAIN, QUOTE, STOP } from "./grammar.ts"
import * as Latest from "./latest.ts"
import { hashStep, type Names } from "./names.ts"
import { lineSafe, maxId, quote, unquote } from "./plain.ts"
import { plainNames, withoutBlanks } from "./rewrite.ts"
import * as Utf8 from "./utf8.ts"

/** What was seen in a stretch of a line. */
const ESCAPES = 1
const WIDE = 2
const BLANKS = 4
const ODD_NAMES = 8

/** The high bit of a byte, and of each of four. */
const HIGH_BIT = 0x80
const HIGH_BITS = 0x80808080

/** Strings longer than this are looked through four bytes at a time. */
const nearBytes = 16

/** From this many members on, names are looked up in a set. */
const manyNames = 64

/** How far the params of a request may begin behind its id, so that both are cut from one string: it lives with the params. */
const maxGap = 128

/** Ids up to this length are copied by V8 when they are cut out; a longer one would keep the params alive with it. */
const shortId = 12

/** The members of a message (JSON-RPC 2.0 sections 4 and 5). */
const members = ["jsonrpc", "id", "method", "params", "result", "error"] as const
const JSONRPC = 0
const ID = 1
const METHOD = 2
const PARAMS = 3
const RESULT = 4
const ERROR = 5
const plainRequest = (1 << JSONRPC) | (1 << ID) | (1 << METHOD) | (1 << PARAMS)
const spelled = members.map((name) => Buffer.from(`${name}"`))
const foldedMembers: ReadonlySet<string> = new Set(members)
const version = Buffer.from("\"2.0\"")
const metaName = Buffer.from("_meta")

/** A stretch of a line: the value of a member. */
class Span {
  from = 0
  end = 0
  flags = 0
}

const methodSlots = 256
const maxMethod = 64

/** The methods that were read lately, by whichever reader: the same bytes need not become a string again. */
class Methods {
  private readonly bytes: Array<Uint8Array> = Array.from({ length: methodSlots }, () => new Uint8Array(0))
  private readonly names: Array<string> = Array.from({ length: methodSlots }, () => "")
  // the last one, which is mostly the next one too
  private lastBytes: Uint8Array = new Uint8Array(0)
  private last = ""

  get(b: Buffer, from: number, end: number): string {
    const length = end - from
    if (length === this.last.length && G.standsAt(b, from, this.lastBytes)) return this.last
    if (length > maxMethod) return b.toString("latin1", from, end)
    let hash = 0
    for (let p = from; p < end; p++) hash = hashStep(hash, b[p] ?? LF)
    const slot = (hash ^ (hash >>> 8)) & (methodSlots - 1)
    const known = this.bytes[slot]
    const name = this.names[slot]
    if (known !== undefined && name !== undefined && known.length === length && G.standsAt(b, from, known)) {
      this.lastBytes = known
      this.last = name
      return name
    }
    const fresh = b.toString("latin1", from, end)
    this.lastBytes = this.bytes[slot] = Uint8Array.prototype.slice.call(b, from, end)
    this.last = this.names[slot] = fresh
    return fresh
  }
}

const methods = new Methods()

/** The names that members of the parts of a message are compared with. */
export interface Rules {
  readonly values: Names
  readonly errors: Names
  readonly meta: Names
}

export class Scanner {
  /** Why the last message was not accepted, and where. */
  reason: Reason = "not-json"
  at = 0

  private readonly depth: number
  private readonly rules: Rules
  private flags = 0
  /** What the last name with escapes, or beyond ASCII, stands for. */
  private odd = ""
  /** The level at which members are those of `_meta`. */
  private metaLevel = 0

  // the containers around the place that is read, by their level
  private readonly isObject: Uint8Array
  private readonly firstName: Int32Array
  private readonly names: Array<Set<string> | undefined>
  // the names of the open objects: hash, place and length
  private top = 0
  /** How many names the value of the message has. */
  private outer = 0
  private hashes = new Int32Array(64)
  private starts = new Int32Array(64)
  private lengths = new Int32Array(64)

  // the message that is read
  private seen = 0
  private readonly id = new Span()
  private readonly method = new Span()
  private readonly value = new Span()

  // the buffer that is read, four bytes at a time
  private words: Int32Array = new Int32Array(0)
  private wordsOf: Buffer | undefined

  constructor(depth: number, rules: Rules) {
    this.depth = depth
    this.rules = rules
    this.isObject = new Uint8Array(depth + 2)
    this.firstName = new Int32Array(depth + 2)
    this.names = Array.from({ length: depth + 2 }, () => undefined)
  }

  /** Lets go of the buffer, and of what was read. */
  release(): void {
    Latest.forget()
    if (this.wordsOf === undefined) return
    this.words = new Int32Array(0)
    this.wordsOf = undefined
  }

  private fail(reason: Reason, at: number): -1 {
    this.reason = reason
    this.at = at
    return -1
  }

  // ---- the message

  /** Reads the message that begins at `p`. The index after it, or -1. */
  message(b: Buffer, p: number): number {
    this.seen = 0
    this.top = 0
    this.odd = ""
    const start = p
    if (b[p] !== G.OPEN_OBJECT) return this.fail("not-a-message", p)
    p = G.skipBlanks(b, p + 1)
    if (b[p] === G.CLOSE_OBJECT) return this.fail("not-a-message", start)
    for (;;) {
      const at = p
      let which = memberAt(b, p)
      if (which >= 0) p += (spelled[which]?.length ?? 0) + 1
      else {
        this.flags = 0
        p = b[p] === QUOTE ? this.string(b, p) : this.fail("not-json", p)
        if (p < 0) return -1
        const name = this.stringText(b, at, p, this.flags)
        which = members.findIndex((member) => member === name)
        if (which < 0) {
          const variant = name !== undefined && foldedMembers.has(Fold.fold(name))
          return this.fail(variant ? "case-variant" : "unknown-member", at)
        }
      }
      if ((this.seen & (1 << which)) !== 0) return this.fail("duplicate-member", at)
      this.seen |= 1 << which
      if (b[p] !== COLON) {
        p = G.skipBlanks(b, p)
        if (b[p] !== COLON) return this.fail("not-json", p)
      }
      if ((b[++p] ?? LF) <= G.SPACE) p = G.skipBlanks(b, p)
      p = this.member(b, p, which)
      if (p < 0) return -1
      if ((b[p] ?? LF) <= G.SPACE) p = G.skipBlanks(b, p)
      const c = b[p] ?? LF
      if (c === G.CLOSE_OBJECT) break
      if (c !== COMMA) return this.fail("not-json", p)
      if ((b[++p] ?? LF) <= G.SPACE) p = G.skipBlanks(b, p)
    }
    return shapes[this.seen] === 1 ? p + 1 : this.fail("not-a-message", start)
  }

  /** Reads the value at `p` of a member of the message. The index after it, or -1. */
  private member(b: Buffer, p: number, which: number): number {
    this.flags = 0
    const c = b[p] ?? LF
    let end: number
    switch (which) {
      case JSONRPC: {
        if (G.standsAt(b, p, version)) return p + version.length
        if (c !== QUOTE) return this.fail("not-a-message", p)
        end = this.string(b, p)
        if (end < 0) return -1
        return this.stringText(b, p, end, this.flags) === "2.0" ? end : this.fail("not-a-message", p)
      }
      case ID: {
        if (c === QUOTE) end = this.string(b, p)
        else {
          end = integerEnd(b, p)
          if (end < 0) return this.fail("bad-id", p)
        }
        if (end < 0) return -1
        if (end - p > maxId) return this.fail("bad-id", p)
        this.keep(this.id, p, end)
        return end
      }
      case METHOD: {
        if (c !== QUOTE) return this.fail("not-a-message", p)
        end = this.string(b, p)
        if (end >= 0) this.keep(this.method, p, end)
        return end
      }
      default: {
        if (c !== G.OPEN_OBJECT) return this.fail("not-a-message", p)
        end = this.container(b, p, which === ERROR ? this.rules.errors : this.rules.values)
        if (end >= 0) this.keep(this.value, p, end)
        return end
      }
    }
  }

  private keep(span: Span, from: number, end: number): void {
    span.from = from
    span.end = end
    span.flags = this.flags
  }

  /** The message that was read last, as it is carried on; undefined if it is not acceptable after all. */
  build(b: Buffer): Single | undefined {
    const has = (which: number): boolean => (this.seen & (1 << which)) !== 0
    if (this.seen === plainRequest) {
      const item = this.request(b)
      if (item !== undefined) return item
    }
    const params = has(PARAMS) || has(RESULT) || has(ERROR) ? this.text(b, this.value) : undefined
    if (params === undefined && (has(PARAMS) || has(RESULT) || has(ERROR))) return this.notUtf8()
    const id = has(ID) ? this.idText(b) : undefined
    if (id === undefined && has(ID)) return this.notUtf8()
    if (has(METHOD)) {
      const { end, flags, from } = this.method
      const method = (flags & (ESCAPES | WIDE)) === 0 ?
        methods.get(b, from + 1, end - 1) :
        this.stringText(b, from, end, flags)
      if (method === undefined) return this.notUtf8()
      return id === undefined ? { _tag: "Notification", method, params } : { _tag: "Request", id, method, params }
    }
    if (id === undefined || params === undefined) return undefined
    if (has(RESULT)) return { _tag: "Response", id, reply: { _tag: "Result", result: params } }
    const code = T.member(params, "code")
    const message = T.member(params, "message")
    if (code === undefined || !isInteger.test(code) || message === undefined || !message.startsWith("\"")) {
      this.fail("not-a-message", this.value.from)
      return undefined
    }
    return { _tag: "Response", id, reply: { _tag: "Failure", error: params } }
  }

  /**
   * The request that was read last, if it is as most are: in ASCII and compact, its id close before its params. Both are
   * then taken out of one string, since each string that is made of bytes costs a way out of JavaScript and back.
   */
  private request(b: Buffer): Single | undefined {
    const { id, method, value } = this
    const gap = value.from - id.end
    if (gap < 0 || gap > maxGap || id.end - id.from > shortId) return undefined
    if (((id.flags | method.flags) & (ESCAPES | WIDE)) !== 0) return undefined
    if ((value.flags & (WIDE | BLANKS | ODD_NAMES)) !== 0) return undefined
    const both = b.toString("latin1", id.from, value.end)
    const params = checked(both.slice(value.from - id.from))
    Latest.note(params, value.from, this.outer, this.starts, this.lengths)
    return {
      _tag: "Request",
      id: checked(both.slice(0, id.end - id.from)),
      method: methods.get(b, method.from + 1, method.end - 1),
      params
    }
  }

  /** A text could not be decoded; where exactly is for the slow path to find. */
  private notUtf8(): undefined {
    this.fail("not-utf8", 0)
    return undefined
  }

  /** The text of a value, as it is carried on. */
  private text(b: Buffer, { end, flags, from }: Span): Text | undefined {
    if ((flags & (WIDE | BLANKS | ODD_NAMES)) === 0) {
      const text = checked(b.toString("latin1", from, end))
      Latest.note(text, from, this.outer, this.starts, this.lengths)
      return text
    }
    const decode = (flags & WIDE) === 0 ? ascii : Utf8.decode
    let text = (flags & BLANKS) === 0 ? decode(b, from, end) : withoutBlanks(b, from, end, decode)
    if (text === undefined) return undefined
    if ((flags & ODD_NAMES) !== 0) text = plainNames(text)
    return checked((flags & WIDE) === 0 ? text : lineSafe(text))
  }

  /** The normal form of the id. */
  private idText(b: Buffer): Text | undefined {
    const { end, flags, from } = this.id
    if ((flags & (ESCAPES | WIDE)) !== 0) {
      const id = this.stringText(b, from, end, flags)
      return id === undefined ? undefined : quote(id)
    }
    // Not by way of a number: V8 keeps the strings that numbers became, and moves them about with every collection.
    return checked(b.toString("latin1", from, end))
  }

  /** What the string in this range stands for; undefined if it is not UTF-8. */
  private stringText(b: Buffer, from: number, end: number, flags: number): string | undefined {
    if ((flags & (ESCAPES | WIDE)) === 0) return b.toString("latin1", from + 1, end - 1)
    const text = Utf8.decode(b, from, end)
    if (text === undefined) return undefined
    return (flags & ESCAPES) === 0 ? text.slice(1, -1) : unquote(text)
  }

  // ---- values

  /** Reads the object at `p`, a member of the message, whose members are compared with `rule`. */
  private container(b: Buffer, p: number, rule: Names): number {
    const { isObject } = this
    // the message is the first level
    let level = 1
    this.metaLevel = 0
    for (;;) {
      // a value begins at p
      const c = b[p] ?? LF
      if (c === QUOTE) p = this.string(b, p)
      else if (c === G.OPEN_OBJECT || c === G.OPEN_ARRAY) {
        if (level === this.depth) return this.fail("too-deep", p)
        level++
        if ((b[++p] ?? LF) <= G.SPACE) p = this.blanks(b, p)
        const object = c === G.OPEN_OBJECT
        isObject[level] = object ? 1 : 0
        this.firstName[level] = this.top
        if (b[p] !== (object ? G.CLOSE_OBJECT : G.CLOSE_ARRAY)) {
          if (!object) continue
          this.names[level] = undefined
          p = this.nameAndColon(b, p, level, rule)
          if (p < 0) return -1
          continue
        }
      } else {
        const after = c === G.MINUS || (c >= G.ZERO && c <= G.NINE) ? G.numberEnd(b, p) : G.literalEnd(b, p)
        p = after < 0 ? this.fail("not-json", p) : after
      }
      if (p < 0) return -1
      // after a value, or before the end of an empty container
      for (;;) {
        let c = b[p] ?? LF
        if (c <= G.SPACE) {
          p = this.blanks(b, p)
          c = b[p] ?? LF
        }
        const object = isObject[level] === 1
        if (c === COMMA) {
          if ((b[++p] ?? LF) <= G.SPACE) p = this.blanks(b, p)
          if (object && (p = this.nameAndColon(b, p, level, rule)) < 0) return -1
          break
        }
        if (c !== (object ? G.CLOSE_OBJECT : G.CLOSE_ARRAY)) return this.fail("not-json", p)
        p++
        if (level === 2) this.outer = this.names[level] === undefined ? this.top : Number.POSITIVE_INFINITY
        this.top = this.firstName[level] ?? 0
        if (--level === 1) return p
      }
    }
  }

  /** Whether the name that was read last, from `at` to `end`, is `_meta`. */
  private isMeta(b: Buffer, at: number, end: number): boolean {
    if (this.odd !== "") {
      const is = this.odd === "_meta"
      this.odd = ""
      return is
    }
    return end - at === metaName.length + 2 && G.standsAt(b, at + 1, metaName)
  }

  private blanks(b: Buffer, p: number): number {
    const after = G.skipBlanks(b, p)
    if (after > p) this.flags |= BLANKS
    return after
  }

  /** From a name to its value. */
  private nameAndColon(b: Buffer, p: number, level: number, rule: Names): number {
    const at = p
    p = this.name(b, p, level, level === 2 ? rule : level === this.metaLevel ? this.rules.meta : undefined)
    if (p < 0) return -1
    if (level === 2) this.metaLevel = this.isMeta(b, at, p) ? 3 : 0
    if (b[p] !== COLON) {
      p = this.blanks(b, p)
      if (b[p] !== COLON) return this.fail("not-json", p)
    }
    return (b[++p] ?? LF) <= G.SPACE ? this.blanks(b, p) : p
  }

  // ---- names

  /** Reads the name at `p` and compares it with those of its object. The index after it, or -1. */
  private name(b: Buffer, p: number, level: number, rule: Names | undefined): number {
    if (b[p] !== QUOTE) return this.fail("not-json", p)
    let hash = 0
    let q = p + 1
    let c = b[q] ?? LF
    while (inString[c] === PLAIN) {
      hash = hashStep(hash, c)
      c = b[++q] ?? LF
    }
    if (c !== QUOTE) return this.oddName(b, p, level, rule)
    if (rule !== undefined && rule.suspects(b, p + 1, q - p - 1, hash)) {
      if (rule.resembles(b.toString("latin1", p + 1, q))) return this.fail("case-variant", p)
    }
    return this.isNew(b, p + 1, q, level, hash) ? q + 1 : this.fail("duplicate-member", p)
  }

  /** A name that is not plain ASCII. */
  private oddName(b: Buffer, p: number, level: number, rule: Names | undefined): number {
    const before = this.flags
    this.flags = before & ~ESCAPES
    const end = this.string(b, p)
    if (end < 0) return -1
    const escapes = (this.flags & ESCAPES) !== 0
    this.flags |= before
    const name = this.stringText(b, p, end, escapes ? ESCAPES | WIDE : WIDE)
    if (name === undefined) return this.fail("not-utf8", p)
    if (level === 2) this.odd = name
    if (rule?.resembles(name) === true) return this.fail("case-variant", p)
    if (!escapes) {
      let hash = 0
      for (let q = p + 1; q < end - 1; q++) hash = hashStep(hash, b[q] ?? LF)
      return this.isNew(b, p + 1, end - 1, level, hash) ? end : this.fail("duplicate-member", p)
    }
    this.flags |= ODD_NAMES
    const names = this.names[level] ?? this.gather(b, level)
    if (names.has(name)) return this.fail("duplicate-member", p)
    names.add(name)
    return end
  }

  /** Whether no name of the object at this level has the bytes from `from` to `end`, which have no escapes. */
  private isNew(b: Buffer, from: number, end: number, level: number, hash: number): boolean {
    const length = end - from
    const first = this.firstName[level] ?? 0
    let names = this.names[level]
    if (names === undefined) {
      const { hashes, lengths, starts, top } = this
      for (let k = first; k < top; k++) {
        if (hashes[k] === hash && lengths[k] === length && sameBytes(b, starts[k] ?? 0, from, length)) return false
      }
      if (top - first < manyNames) {
        if (top === hashes.length) this.grow()
        this.hashes[top] = hash
        this.starts[top] = from
        this.lengths[top] = length
        this.top = top + 1
        return true
      }
      names = this.gather(b, level)
    }
    const name = b.toString("utf8", from, end)
    if (names.has(name)) return false
    names.add(name)
    return true
  }

  /** Puts the names of the object at this level into a set, which then takes the place of the list. */
  private gather(b: Buffer, level: number): Set<string> {
    const names = new Set<string>()
    for (let k = this.firstName[level] ?? 0; k < this.top; k++) {
      const from = this.starts[k] ?? 0
      names.add(b.toString("utf8", from, from + (this.lengths[k] ?? 0)))
    }
    this.names[level] = names
    return names
  }

  private grow(): void {
    const more = (from: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const to = new Int32Array(from.length * 2)
      to.set(from)
      return to
    }
    this.hashes = more(this.hashes)
    this.starts = more(this.starts)
    this.lengths = more(this.lengths)
  }

  // ---- strings

  /** Reads the string at `p`. The index after it, or -1. */
  private string(b: Buffer, p: number): number {
    let q = p + 1
    let c = b[q] ?? LF
    for (;;) {
      const near = q + nearBytes
      let high = 0
      while (inString[c] !== STOP && q < near) {
        high |= c
        c = b[++q] ?? LF
      }
      if ((high & HIGH_BIT) !== 0) this.flags |= WIDE
      if (q === near) {
        q = this.stop(b, q)
        c = b[q] ?? LF
      }
      if (c === QUOTE) return q + 1
      if (c !== G.BACKSLASH) return this.fail("not-json", q)
      q = this.escape(b, q)
      if (q < 0) return -1
      c = b[q] ?? LF
    }
  }

  /**
   * The index of the next byte from `q` on that needs a look, taking four bytes at a time: a quote, a control character,
   * or a backslash with more than one letter after it.
   */
  private stop(b: Buffer, q: number): number {
    if (this.wordsOf !== b) {
      this.wordsOf = b
      this.words = new Int32Array(b.buffer, 0, b.buffer.byteLength >> 2)
    }
    const { words } = this
    const base = b.byteOffset
    let high = 0
    for (;;) {
      // up to the next word
      let c = b[q] ?? LF
      while (inString[c] !== STOP && ((base + q) & 3) !== 0) {
        high |= c
        c = b[++q] ?? LF
      }
      if (inString[c] !== STOP) {
        let k = (base + q) >> 2
        for (; k < words.length; k++) {
          const w = words[k] ?? 0
          // the high bit of some byte is set exactly if one is below a space, a quote or a backslash
          const hit = (w - 0x20202020) | ((w ^ 0x22222222) - 0x01010101) | ((w ^ 0x5c5c5c5c) - 0x01010101)
          if ((hit & ~w & HIGH_BITS) !== 0) break
          high |= w
        }
        q = (k << 2) - base
        c = b[q] ?? LF
        while (inString[c] !== STOP) {
          high |= c
          c = b[++q] ?? LF
        }
      }
      if (c !== G.BACKSLASH || !G.isShortEscape(b[q + 1] ?? LF)) break
      this.flags |= ESCAPES
      q += 2
    }
    if ((high & HIGH_BITS) !== 0) this.flags |= WIDE
    return q
  }

  /** The index after the escape at `q`, or -1. */
  private escape(b: Buffer, q: number): number {
    const after = G.escapeEnd(b, q)
    if (after < 0) return this.fail("not-json", q)
    this.flags |= ESCAPES
    if (after === q + 2) return after
    const half = unitAt(b, q) & 0xfc00
    if (half !== 0xd800 && half !== 0xdc00) return after
    const pair = half === 0xd800 && b[after] === G.BACKSLASH && G.escapeEnd(b, after) === after + 6 &&
      (unitAt(b, after) & 0xfc00) === 0xdc00
    return pair ? after + 6 : this.fail("lone-surrogate", q)
  }
}

const ascii = (b: Buffer, from: number, end: number): string => b.toString("latin1", from, end)

const isInteger = /^-?\d+$/

/** The sets of members that make a message. */
const shapes = new Uint8Array(1 << members.length)
{
  const set = (...which: ReadonlyArray<number>): number => which.reduce((bits, one) => bits | (1 << one), 0)
  for (
    const shape of [
      set(JSONRPC, METHOD),
      set(JSONRPC, METHOD, PARAMS),
      set(JSONRPC, ID, METHOD),
      set(JSONRPC, ID, METHOD, PARAMS),
      set(JSONRPC, ID, RESULT),
      set(JSONRPC, ID, ERROR)
    ]
  ) shapes[shape] = 1
}

/** Which member of a message is named at `p`, if it is written without escapes; else -1. */
const memberAt = (b: Buffer, p: number): number => {
  if (b[p] !== QUOTE) return -1
  let which: number
  switch (b[p + 1]) {
    case 0x6a: // j
      which = JSONRPC
      break
    case 0x69: // i
      which = ID
      break
    case 0x6d: // m
      which = METHOD
      break
    case 0x70: // p
      which = PARAMS
      break
    case 0x72: // r
      which = RESULT
      break
    case 0x65: // e
      which = ERROR
      break
    default:
      return -1
  }
  const word = spelled[which]
  return word !== undefined && G.standsAt(b, p + 1, word) ? which : -1
}

/** The index after the integer at `p` as an id may be: no fraction, no exponent, not -0; or -1. */
const integerEnd = (b: Buffer, p: number): number => {
  const first = b[p] === G.MINUS ? p + 1 : p
  let q = first
  let c = b[q] ?? LF
  while (c >= G.ZERO && c <= G.NINE) c = b[++q] ?? LF
  if (q === first || c === 0x2e || c === 0x65 || c === 0x45) return -1
  return b[first] === G.ZERO && (q > first + 1 || first > p) ? -1 : q
}

/** The UTF-16 unit of the escape `\uXXXX` at `q`. */
const unitAt = (b: Buffer, q: number): number => {
  let unit = 0
  for (let k = q + 2; k < q + 6; k++) {
    const c = b[k] ?? LF
    unit = unit * 16 + (c <= G.NINE ? c - G.ZERO : (c | 0x20) - 0x57)
  }
  return unit
}

const sameBytes = (b: Buffer, one: number, other: number, length: number): boolean => {
  for (let k = 0; k < length; k++) if (b[one + k] !== b[other + k]) return false
  return true
}
