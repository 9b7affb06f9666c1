/**
 * What a server prints on its stderr: bounded, made harmless to read, and never in anybody's way.
 *
 * @since 0.1.0
 */
import type { Writable } from "node:stream"

/**
 * Makes visible what a terminal would act on or a reader would not see: control characters, line separators, marks of
 * text direction and characters without width, as `\u{1b}`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const visible = (text: string): string =>
  plain.test(text)
    ? text
    : text.replace(hidden(), (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** Most texts hide nothing, and are known by that without the tables of Unicode. */
const plain = /^[\x20-\x7e\t]*$/

// Tab stays. Zero-width joiners stay too: emoji and several scripts are written with them.
const hidden = () => /(?![\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** How long a sentence may be: one may quote a path, or a name that a server made up. */
const sentenceLength = 4096

/**
 * A sentence that may quote others, as one line: what a terminal would act on is made visible, and a very long one is cut.
 *
 * @category combinators
 * @since 0.1.0
 */
export const sentence = (text: string): string => {
  const missing = text.length - sentenceLength
  return missing > 0 ? `${visible(text.slice(0, sentenceLength))} ... (${missing} characters more)` : visible(text)
}

/**
 * Replaces values that Sallyport itself handed out by the names that they have.
 *
 * **Gotchas**
 *
 * Only the value as it is, or a line of it, and only from 8 characters on: a shorter one would take ordinary words out of
 * the text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const redactor = (secrets: ReadonlyArray<{ readonly name: string; readonly value: string }>) => {
  // Text is looked through by the line too, and a ring may have dropped the beginning of a value of several lines.
  const known = secrets
    .flatMap(({ name, value }) =>
      [value, ...(/[\r\n]/.test(value) ? value.split(/[\r\n]+/) : [])].map((part) => ({ name, value: part }))
    )
    .filter(({ value }) => value.length >= 8)
    .sort((a, b) => b.value.length - a.value.length)
  return {
    /** All of the text. */
    whole: (text: string): string => known.reduce((text, { name, value }) => text.replaceAll(value, `[${name}]`), text),
    /** The start of a longer text: the start of a value at its end goes as well. */
    cut: (text: string): string => {
      for (const { value } of known) {
        for (let length = Math.min(value.length - 1, text.length); length >= 8; length--) {
          if (text.endsWith(value.slice(0, length))) return text.slice(0, -length)
        }
      }
      return text
    }
  }
}

/**
 * Splits bytes into lines of at most `limit` bytes; what is longer is cut, with a mark that says how much is missing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lines = (
  limit: number,
  each: (line: { readonly text: string; readonly missing: number }) => void
): { readonly push: (chunk: Uint8Array) => void; readonly end: () => void } => {
  const kept = Buffer.alloc(limit)
  let length = 0
  let missing = 0
  const add = (part: Uint8Array) => {
    const room = Math.min(part.length, limit - length)
    kept.set(room === part.length ? part : part.subarray(0, room), length)
    length += room
    missing += part.length - room
  }
  const flush = () => {
    const end = missing === 0 && length > 0 && kept[length - 1] === 0x0d ? length - 1 : length
    each({ text: kept.toString("utf8", 0, end), missing })
    length = missing = 0
  }
  return {
    push: (chunk) => {
      let from = 0
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, from)) {
        add(chunk.subarray(from, at))
        flush()
        from = at + 1
      }
      if (from < chunk.length) add(chunk.subarray(from))
    },
    end: () => {
      if (length > 0) flush()
    }
  }
}

/**
 * Keeps the last `limit` bytes. The text starts with a whole line where bytes before it were dropped.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ring = (limit: number): { readonly push: (chunk: Uint8Array) => void; readonly text: () => string } => {
  let bytes = Buffer.alloc(0)
  let total = 0
  return {
    push: (chunk) => {
      if (bytes.length < limit) bytes = Buffer.alloc(limit)
      const part = chunk.length > limit ? chunk.subarray(chunk.length - limit) : chunk
      total += chunk.length - part.length
      const at = limit === 0 ? 0 : total % limit
      const first = part.subarray(0, limit - at)
      bytes.set(first, at)
      bytes.set(part.subarray(first.length), 0)
      total += part.length
    },
    text: () => {
      if (total <= limit) return bytes.toString("utf8", 0, total)
      const at = total % limit
      const all = Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)])
      return all.toString("utf8", all.indexOf(0x0a) + 1)
    }
  }
}

/**
 * Writes lines for a person to a stream that perhaps nobody reads: what does not fit into `limit` bytes of buffer is
 * dropped, and its number told as soon as there is room again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sink = (stream: Writable, limit = 256 * 1024): (line: string) => void => {
  let dropped = 0
  stream.on("error", () => {})
  stream.on("drain", () => {
    if (dropped === 0) return
    const count = dropped
    dropped = 0
    stream.write(`[sallyport] ${count} lines were dropped here, since nobody read\n`)
  })
  return (line) => {
    if (stream.destroyed || stream.writableEnded) return
    if (dropped > 0 || stream.writableLength > limit) dropped += 1
    else stream.write(`${line}\n`)
  }
}
