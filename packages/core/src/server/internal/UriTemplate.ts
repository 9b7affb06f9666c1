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
  /** What a value may be made of. */
  readonly value: string
  /** Values are written with their names. */
  readonly named: boolean
}

const kinds: Readonly<Record<string, Kind>> = {
  "": { first: "", separator: ",", value: "[^/?#,]*", named: false },
  "+": { first: "", separator: ",", value: "[^?#,]*", named: false },
  "#": { first: "#", separator: ",", value: "[^,]*", named: false },
  "/": { first: "/", separator: "/", value: "[^/?#]*", named: false },
  ".": { first: ".", separator: ".", value: "[^/?#.]*", named: false },
  ";": { first: ";", separator: ";", value: "[^/?#;]*", named: true },
  "?": { first: "?", separator: "&", value: "[^&#]*", named: true },
  "&": { first: "&", separator: "&", value: "[^&#]*", named: true }
}

/** A longer address is none that a template of ours made. */
const maxLength = 8192

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

const decode = (value: string): string | undefined => {
  try {
    return decodeURIComponent(value)
  } catch {
    return undefined
  }
}

/**
 * The variables of a template, in order.
 *
 * @category getters
 * @since 0.1.0
 */
export const variables = (template: string): ReadonlyArray<string> =>
  [...template.matchAll(/\{([+#/.;?&]?)([^{}]+)\}/g)].flatMap(([, , names = ""]) => names.split(",").map(bare))

const bare = (name: string): string => name.replace(/(?:\*|:\d+)$/, "")

/**
 * Matches a template against addresses: the values of its variables, decoded, or `undefined`.
 *
 * **Gotchas**
 *
 * A value without its slash keeps an address in one folder; `{+path}` takes slashes, and may hold `..`: a handler that
 * opens files has to look.
 *
 * @category constructors
 * @since 0.1.0
 */
export const matcher = (template: string): (uri: string) => Record<string, string> | undefined => {
  const names: Array<string> = []
  let pattern = ""
  let at = 0
  for (const match of template.matchAll(/\{([+#/.;?&]?)([^{}]+)\}/g)) {
    pattern += escape(template.slice(at, match.index))
    at = match.index + match[0].length
    const kind = kinds[match[1] ?? ""] ?? plainKind
    const list = (match[2] ?? "").split(",").map(bare)
    names.push(...list)
    const values = list.map((name, index) => {
      const before = escape(index === 0 ? kind.first : kind.separator)
      // A query may leave out what it does not need; RFC 6570 leaves out what is undefined.
      return kind.named ? `(?:${before}${escape(name)}=(${kind.value}))?` : `${before}(${kind.value})`
    })
    pattern += values.join("")
  }
  pattern += escape(template.slice(at))
  const expression = new RegExp(`^${pattern}$`)
  return (uri) => {
    if (uri.length > maxLength) return undefined
    const found = expression.exec(uri)
    if (found === null) return undefined
    const values: Record<string, string> = {}
    for (const [index, name] of names.entries()) {
      const raw = found[index + 1]
      if (raw === undefined) continue
      const value = decode(raw)
      if (value === undefined) return undefined
      values[name] = value
    }
    return values
  }
}

const plainKind: Kind = { first: "", separator: ",", value: "[^/?#,]*", named: false }
