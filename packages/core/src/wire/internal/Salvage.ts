/**
 * What can still be told of a line that was refused.
 *
 * Strings are skipped and brackets counted, nothing else is believed: so a line can be read that is no JSON (a Python
 * server's `NaN`), or too long to be kept. It may come in pieces.
 */
import * as Fold from "../Fold.ts"
import type { Refused, Text } from "../Message.ts"
import * as G from "./grammar.ts"
import { maxId, normalId, unquote } from "./plain.ts"
import * as Utf8 from "./utf8.ts"

/** Longer tokens are not kept. */
const maxToken = maxId

/** What has more members is no message that went wrong. */
const maxMembers = 64

const NAME = 0
const AFTER_NAME = 1
const VALUE = 2
const AFTER_VALUE = 3

export class Salvage {
  private begun = false
  private hopeless = false
  private depth = 0
  private inString = false
  private escaped = false
  private expects = AFTER_VALUE
  private readonly token = Buffer.alloc(maxToken + 1)
  private size = 0
  private keeps = false
  /** The token is a scalar that the next delimiter ends. */
  private open = false
  private name: string | undefined

  private members = 0
  private ids = 0
  private idText: Text | undefined
  private likeIds = 0
  private methods = 0
  private replies = 0

  push(b: Uint8Array, from: number, end: number): void {
    for (let p = from; p < end && !this.hopeless;) {
      if (this.inString && !this.keeps) p = this.skipString(b, p, end)
      else if (this.depth > 1) p = this.skipValue(b, p, end)
      else this.byte(b[p++] ?? G.LF)
    }
  }

  /** Inside a string that nobody asks for. */
  private skipString(b: Uint8Array, p: number, end: number): number {
    if (this.escaped) {
      this.escaped = false
      return p + 1
    }
    while (p < end) {
      const c = b[p++] ?? G.LF
      if (c === G.QUOTE) {
        this.inString = false
        return p
      }
      if (c === G.BACKSLASH) {
        this.escaped = true
        return p
      }
    }
    return p
  }

  /** Inside a value of a member, where only strings and brackets count. */
  private skipValue(b: Uint8Array, p: number, end: number): number {
    let { depth } = this
    while (p < end && depth > 1) {
      const c = b[p++] ?? G.LF
      if (c === G.QUOTE) {
        this.inString = true
        break
      }
      if (c === G.OPEN_OBJECT || c === G.OPEN_ARRAY) depth++
      else if (c === G.CLOSE_OBJECT || c === G.CLOSE_ARRAY) depth--
    }
    this.depth = depth
    return p
  }

  private byte(c: number): void {
    if (this.inString) {
      this.keep(c)
      if (this.escaped) this.escaped = false
      else if (c === G.BACKSLASH) this.escaped = true
      else if (c === G.QUOTE) {
        this.inString = false
        this.stringEnds()
      }
      return
    }
    if (c === G.SPACE || c === G.TAB || c === G.CR) {
      if (this.open) this.keeps = false
      return
    }
    if (!this.begun) {
      this.begun = true
      // of an array, or of what is no JSON from the start, nothing can be told
      this.hopeless = c !== G.OPEN_OBJECT
    }
    if (c === G.QUOTE) {
      this.inString = true
      if (this.depth === 1 && (this.expects === NAME || this.expects === VALUE)) {
        this.size = 0
        this.keeps = true
        this.keep(c)
      }
    } else if (c === G.OPEN_OBJECT || c === G.OPEN_ARRAY) {
      if (this.depth === 1 && this.expects === VALUE) this.valueEnds(undefined)
      this.depth++
      if (this.depth === 1) this.expects = NAME
    } else if (c === G.CLOSE_OBJECT || c === G.CLOSE_ARRAY) {
      if (this.depth === 1) this.scalarEnds()
      if (this.depth > 0) this.depth--
    } else if (this.depth === 1) this.between(c)
  }

  /** A byte between the brackets of the message that begins or ends no string. */
  private between(c: number): void {
    if (c === G.COMMA) {
      this.scalarEnds()
      this.expects = NAME
    } else if (c === G.COLON) {
      if (this.expects === AFTER_NAME) this.expects = VALUE
    } else if (this.expects === VALUE) {
      if (!this.open) {
        this.open = true
        this.keeps = true
        this.size = 0
      }
      // after a blank comes a second token where one value must be
      if (this.keeps) this.keep(c)
      else this.size = maxToken + 1
    } else if (this.expects === AFTER_VALUE && this.name === "id") this.idText = undefined
  }

  private keep(c: number): void {
    if (this.size <= maxToken) this.token[this.size++] = c
  }

  private taken(): string | undefined {
    return this.size > maxToken ? undefined : Utf8.decode(this.token, 0, this.size)
  }

  private stringEnds(): void {
    this.keeps = false
    const json = this.taken()
    if (this.expects === NAME) {
      this.name = json === undefined ? undefined : unquote(json)
      this.expects = AFTER_NAME
    } else this.valueEnds(json)
  }

  private scalarEnds(): void {
    if (!this.open) return
    this.valueEnds(this.taken())
  }

  /** The value of the member `name` is over; `json` is its text if it is a scalar that was kept. */
  private valueEnds(json: string | undefined): void {
    this.open = false
    this.keeps = false
    this.expects = AFTER_VALUE
    if (++this.members > maxMembers) this.hopeless = true
    const { name } = this
    if (name === "id") {
      this.ids++
      this.idText = json === undefined ? undefined : normalId(json)
    } else if (name === "method") this.methods += json?.startsWith("\"") === true ? 1 : 2
    else if (name === "result" || name === "error") this.replies++
    else if (name !== undefined && Fold.fold(name) === "id") this.likeIds++
  }

  /** The id, if there was exactly one that could be an id. */
  id(): Text | undefined {
    return !this.hopeless && this.ids === 1 ? this.idText : undefined
  }

  /** What the line would have been. `whole`: it is JSON, so that a member that was not seen is not there. */
  kind(whole: boolean): Refused["kind"] {
    if (this.hopeless) return "unknown"
    if (this.methods === 0) return this.replies > 0 ? "response" : "unknown"
    if (this.methods > 1 || this.replies > 0) return "unknown"
    if (this.ids > 0) return "request"
    return whole && this.likeIds === 0 ? "notification" : "unknown"
  }
}
