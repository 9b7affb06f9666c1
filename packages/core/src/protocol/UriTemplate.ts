/**
 * URI templates (RFC 6570), read backwards: which values make a template the given URI.
 *
 * @since 0.1.0
 */

/** What one expression of a template becomes. */
interface Kind {
  /** What stands before the first value. */
  readonly first: string
  /** What stands between two values. */
  readonly separator: string
  /** What ends a value. */
  readonly ends: string
  /** Values are written with their names. */
  readonly named: boolean
}

const plain: Kind = { first: "", separator: ",", ends: "/?#,", named: false }

const kinds: Readonly<Record<string, Kind>> = {
  "": plain,
  "+": { first: "", separator: ",", ends: "?#,", named: false },
  "#": { first: "#", separator: ",", ends: ",", named: false },
  "/": { first: "/", separator: "/", ends: "/?#", named: false },
  ".": { first: ".", separator: ".", ends: "/?#.", named: false },
  ";": { first: ";", separator: ";", ends: "/?#;", named: true },
  "?": { first: "?", separator: "&", ends: "&#", named: true },
  "&": { first: "&", separator: "&", ends: "&#", named: true }
}

/** A piece of a template: a text, and behind it, maybe, a value. */
interface Piece {
  readonly text: string
  readonly value: Value | undefined
}

interface Value {
  readonly name: string
  readonly ends: string
  readonly optional: boolean
  /** What the template itself lets take slashes (`{+var}`, `{#var}`). */
  readonly reserved: boolean
}

/** A longer address is none that a template of ours made. */
const maxLength = 8192

const expressions = /\{([+#/.;?&]?)([^{}]+)\}/g

const bare = (name: string): string => name.replace(/(?:\*|:\d+)$/, "")

/**
 * The variables of a template, in order.
 *
 * @category getters
 * @since 0.1.0
 */
export const variables = (template: string): ReadonlyArray<string> =>
  [...template.matchAll(expressions)].flatMap(([, , names = ""]) => names.split(",").map(bare))

const piecesOf = (template: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let at = 0
  for (const match of template.matchAll(expressions)) {
    pieces.push({ text: template.slice(at, match.index), value: undefined })
    at = match.index + match[0].length
    const kind = kinds[match[1] ?? ""] ?? plain
    for (const [index, name] of (match[2] ?? "").split(",").map(bare).entries()) {
      const before = index === 0 ? kind.first : kind.separator
      pieces.push({
        text: kind.named ? `${before}${name}=` : before,
        // A query may leave out what it does not need; RFC 6570 leaves out what is undefined.
        value: { name, ends: kind.ends, optional: kind.named, reserved: match[1] === "+" || match[1] === "#" }
      })
    }
  }
  pieces.push({ text: template.slice(at), value: undefined })
  return pieces
}

const decode = (value: string): string | undefined => {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

/**
 * Matches a template against addresses: the values of its variables, decoded, or `undefined`.
 *
 * **Details**
 *
 * The time is that of one walk over the address for each piece of the template, whatever the address is. Where several
 * values are possible, earlier variables take as much as they can.
 *
 * **Gotchas**
 *
 * A value without its slash keeps an address in one folder; `{+path}` takes slashes, and may hold `..`: a handler that
 * opens files has to look.
 *
 * @category constructors
 * @since 0.1.0
 */
export const matcher = (template: string): (uri: string) => Readonly<Record<string, string>> | undefined => {
  const pieces = piecesOf(template)
  return (uri) => {
    const found = valuesOf(pieces, uri)
    return found === undefined ? undefined : Object.fromEntries(found.map(([{ name }, value]) => [name, value]))
  }
}

const valuesOf = (
  pieces: ReadonlyArray<Piece>,
  uri: string
): ReadonlyArray<readonly [Value, decoded: string]> | undefined => {
  if (uri.length > maxLength) return undefined
  const rests = restsOf(pieces, uri)
  if (rests[0]?.[0] !== 1) return undefined
  const values: Array<readonly [Value, string]> = []
  let at = 0
  for (const [index, { text, value }] of pieces.entries()) {
    const rest = rests[index + 1]
    const from = at + text.length
    if (value === undefined) {
      at = from
      continue
    }
    let end = uri.startsWith(text, at) ? runEnd(uri, from, value.ends) : -1
    while (end >= from && rest?.[end] !== 1) end--
    // Only what may be left out has no value here.
    if (end < from) continue
    const decoded = decode(uri.slice(from, end))
    if (decoded === undefined) return undefined
    values.push([value, decoded])
    at = end
  }
  return values
}

/** Slashes of either kind, what is still encoded after one decoding, and what is no sign at all. */
const unsafe = /[/\\%\p{Cc}]/u
const control = /[\\\p{Cc}]|%(?:[01][0-9a-f]|25|2e|2f|5c|7f)/iu

/**
 * Whether an address is one that a person meant who accepted the template (security rule F23).
 *
 * **Details**
 *
 * A variable takes no slash or backslash, encoded or not, no `..` and no control character, and is not empty. A reserved
 * expansion (`{+var}`, `{#var}`) takes slashes, but no step upwards and no control character. What is encoded twice is
 * refused: a server may decode once more. Time as {@link matcher}.
 *
 * @category guards
 * @since 0.1.0
 */
export const covers = (template: string): (uri: string) => boolean => {
  const pieces = piecesOf(template)
  return (uri) => {
    const found = valuesOf(pieces, uri)
    if (found === undefined) return false
    return found.every(([{ optional, reserved }, value]) => {
      if (value === "") return optional
      if (reserved) return !control.test(value) && !value.split("/").includes("..")
      return !unsafe.test(value) && !value.includes("..")
    })
  }
}

const runEnd = (uri: string, from: number, ends: string): number => {
  let end = from
  while (end < uri.length && !ends.includes(uri.charAt(end))) end++
  return end
}

/** For each piece, from which places of the address it and all behind it match to the end. */
const restsOf = (pieces: ReadonlyArray<Piece>, uri: string): ReadonlyArray<Uint8Array> => {
  const rests = Array.from({ length: pieces.length + 1 }, () => new Uint8Array(uri.length + 1))
  rests[pieces.length]?.fill(1, uri.length)
  for (let index = pieces.length - 1; index >= 0; index--) {
    const piece = pieces[index]
    const [here, next] = [rests[index], rests[index + 1]]
    if (piece === undefined || here === undefined || next === undefined) continue
    const { text, value } = piece
    // From where a value, if there is one, and then the rest match.
    const valued = new Uint8Array(uri.length + 1)
    for (let at = uri.length; at >= 0; at--) {
      const longer = value !== undefined && at < uri.length && !value.ends.includes(uri.charAt(at)) &&
        valued[at + 1] === 1
      valued[at] = next[at] === 1 || longer ? 1 : 0
    }
    for (let at = uri.length; at >= 0; at--) {
      const left = value?.optional === true && next[at] === 1
      const there = uri.startsWith(text, at) && valued[at + text.length] === 1
      here[at] = left || there ? 1 : 0
    }
  }
  return rests
}
