/**
 * Text of a server's on a person's screen: nothing in it is hidden, moves the cursor, or passes for a line of ours.
 *
 * @since 0.1.0
 */

/**
 * What a reader does not see, or that changes how its surroundings are drawn: controls, format and bidi characters, what is
 * ignorable by default (zero widths, fillers, variation selectors, tags), private and unassigned characters, spaces other
 * than the usual one, enclosing marks, the braille blank, and marks that pile up or stand on nothing (or on an escape). And
 * the backslash, which our own escapes begin with.
 *
 * A function, since making it takes a while, which nobody waits for at a start.
 */
const hidden = () =>
  /[\p{C}\p{Zl}\p{Zp}\p{Me}\p{Default_Ignorable_Code_Point}\u2800\\]|(?! )\p{Zs}|(?<=^|[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\\]|\p{M}{2})\p{M}/gu

/** Most texts hide nothing, and are known by that without the tables of Unicode. */
const plain = /^[\x20-\x5b\x5d-\x7e]*$/

const ofCode = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

const letters: ReadonlyMap<string, string> = new Map([["\n", "\\n"], ["\t", "\\t"], ["\\", "\\\\"]])

const escaped = (character: string): string => letters.get(character) ?? ofCode(character)

/**
 * The text on one line, hidden characters as `\u{202e}`, line feed and tab as `\n` and `\t`.
 *
 * **Details**
 *
 * A backslash is doubled, so that two different texts never look the same.
 *
 * @category conversions
 * @since 0.1.0
 */
export const line = (text: string): string => plain.test(text) ? text : text.replace(hidden(), escaped)

/**
 * The text on one line as {@link line} writes it, but with every backslash as it is: for text that may have been through
 * {@link line} before, whose escapes are not escaped again.
 *
 * @category conversions
 * @since 0.1.0
 */
export const again = (text: string): string =>
  text.replace(hidden(), (character) => character === "\\" ? character : escaped(character))

/**
 * The text on one line in quotes, written as {@link line} does, quotes in it escaped.
 *
 * @category conversions
 * @since 0.1.0
 */
export const quoted = (text: string): string => `"${line(text).replaceAll("\"", "\\\"")}"`

/**
 * A text cut to so many characters. `more` is how many were cut, 0 where it is whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cut {
  readonly text: string
  readonly more: number
}

/**
 * Cuts a text, never within a character.
 *
 * @category conversions
 * @since 0.1.0
 */
export const cut = (text: string, characters: number): Cut => {
  if (text.length <= characters) return { text, more: 0 }
  let end = 0
  for (let count = 0; count < characters && end < text.length; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  }
  let more = 0
  for (let at = end; at < text.length; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) more++
  return { text: text.slice(0, end), more }
}

/**
 * The words that stand where a text was cut: `… 298,000 characters more`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const more = (count: number): string =>
  `… ${String(count).replace(/\B(?=(?:\d{3})+$)/g, ",")} ${count === 1 ? "character" : "characters"} more`

/**
 * A text on one line, as {@link line} or `draw` writes it, cut with a visible count.
 *
 * @category conversions
 * @since 0.1.0
 */
export const short = (text: string, characters: number, draw: (text: string) => string = line): string => {
  const found = cut(text, characters)
  return found.more === 0 ? draw(found.text) : `${draw(found.text)} ${more(found.more)}`
}

/**
 * A name on one line, in quotes where it is not plain ASCII, with the code points of everything that is not: letters of
 * other scripts can look like ours. A long one is cut.
 *
 * @category conversions
 * @since 0.1.0
 */
export const name = (text: string): string => {
  if (text.length <= 128 && /^[\x21-\x7e]+$/.test(text) && !/["\\]/.test(text)) return text
  const { more: left, text: start } = cut(text, 128)
  const others = [...new Set([...start].filter((character) => character > "\x7e").map(ofCode))]
  const shown = `${quoted(start)}${left === 0 ? "" : ` ${more(left)}`}`
  const list = `${others.slice(0, 8).join(" ")}${others.length > 8 ? " …" : ""}`
  return others.length === 0 ? shown : `${shown} (with ${list})`
}

/** East Asian letters and pictures take two columns; taking more letters for wide than are only breaks lines earlier. */
const columnsOf = (text: string): number => {
  let columns = 0
  for (const character of text) columns += (character.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1
  return columns
}

// Longer pieces than a line are broken between escapes, never in one.
const pieces = () => /\\u\{[0-9a-f]+\}|\\.|[^]\p{M}*/gu

/**
 * Breaks a line of {@link line} into lines of so many columns, between words where that can be.
 *
 * @category conversions
 * @since 0.1.0
 */
export const wrap = (text: string, columns: number): ReadonlyArray<string> => {
  if (text.length <= columns && columnsOf(text) <= columns) return [text]
  const lines: Array<string> = []
  let current = ""
  let size = 0
  const flush = () => {
    lines.push(current)
    current = ""
    size = 0
  }
  const add = (piece: string, width: number) => {
    if (size > 0 && size + width > columns) flush()
    current += piece
    size += width
  }
  for (const word of text.match(/\S+|\s+/gu) ?? []) {
    const width = columnsOf(word)
    if (width <= columns) add(word, width)
    else for (const piece of word.match(pieces()) ?? []) add(piece, columnsOf(piece))
  }
  flush()
  return lines
}

/**
 * How a block of text is drawn.
 *
 * @category models
 * @since 0.1.0
 */
export interface BlockOptions {
  /** Columns of a line, its margin included; 80 if not given. */
  readonly columns?: number
  /** Characters after which the text is cut; not cut if not given. */
  readonly characters?: number
  /** What stands before the margin; four spaces if not given. */
  readonly indent?: string
}

/**
 * A text of many lines behind a margin: `|` where a line of the text begins, `:` where one of ours goes on with it. A
 * line without margin is therefore never the server's.
 *
 * @category conversions
 * @since 0.1.0
 */
export const block = (text: string, options: BlockOptions = {}): ReadonlyArray<string> => {
  const { characters = Number.POSITIVE_INFINITY, columns = 80, indent = "    " } = options
  const found = cut(text, characters)
  const drawn = found.text.split("\n").flatMap((part) => margin(line(part), { columns, indent }))
  return found.more === 0 ? drawn : [...drawn, `${indent}${more(found.more)}`]
}

/**
 * A line of {@link line} behind the margin, broken into several where it is too long.
 *
 * @category conversions
 * @since 0.1.0
 */
export const margin = (
  body: string,
  options: { readonly columns: number; readonly indent: string }
): ReadonlyArray<string> =>
  wrap(body, Math.max(16, options.columns - options.indent.length - 2))
    .map((piece, index) => `${options.indent}${index === 0 ? "|" : ":"} ${piece}`)
