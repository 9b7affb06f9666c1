/**
 * Paths and URLs in conditions: compared only in normal form, so that what is judged is what a server reads.
 *
 * **Details**
 *
 * Everything here is lexical: it looks at the text and at no file system. A text that a server could read in another way
 * (`..`, `~`, backslashes, percent signs, a name that is not NFC ...) has no normal form, and comparing it is a fault.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

/**
 * A path by its segments; `/` has none.
 *
 * @category models
 * @since 0.1.0
 */
export type Segments = ReadonlyArray<string>

const normal = (path: string): Result.Result<Segments, string> => {
  if (!path.startsWith("/")) return Result.fail("the path is not absolute")
  if (path === "/") return Result.succeed([])
  if (path.includes("\\")) return Result.fail("the path has a backslash")
  if (path.includes("%")) return Result.fail("the path has a percent sign, which a server may decode")
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f]/.test(path)) return Result.fail("the path has a control character")
  if (!path.isWellFormed() || path.normalize("NFC") !== path) {
    return Result.fail("the path is not in Unicode's normal form C")
  }
  const segments = path.slice(1).split("/")
  for (const segment of segments) {
    if (segment === "") return Result.fail("the path has an empty segment")
    if (segment === "." || segment === "..") return Result.fail(`the path has a segment "${segment}"`)
    if (segment.startsWith("~")) return Result.fail("the path has a segment that begins with \"~\"")
    if (segment.endsWith(".") || segment.endsWith(" ")) {
      return Result.fail("the path has a segment that ends with a dot or a space")
    }
  }
  return Result.succeed(segments)
}

const decoded = (text: string): string | undefined =>
  Result.getOrElse(Result.try(() => decodeURIComponent(text)), () => undefined)

/**
 * The segments of a path, or of a `file:` URI, whose host must be empty and which is decoded once; a reason where it is
 * not in normal form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const path = (text: string): Result.Result<Segments, string> => {
  if (!/^file:/i.test(text)) return normal(text)
  if (!text.startsWith("file:///")) return Result.fail("the file URI does not begin with file:///")
  const written = text.slice("file://".length)
  if (/[?#]/.test(written)) return Result.fail("the file URI has a query or a fragment")
  const plain = decoded(written)
  if (plain === undefined) return Result.fail("the file URI cannot be decoded")
  if (plain.split("/").length !== written.split("/").length) return Result.fail("the file URI hides a slash")
  return normal(plain)
}

/** Folded so that names that any file system takes for one are one: `K`, `k` and the Kelvin sign. */
const fold = (segment: string): string => segment.toUpperCase().toLowerCase().normalize("NFC")

/**
 * Whether the path is the root or lies below it, by segment.
 *
 * @category comparing
 * @since 0.1.0
 */
export const isUnder = (path: Segments, root: Segments, foldCase: boolean): boolean =>
  path.length >= root.length &&
  root.every((segment, index) => {
    const other = path[index] ?? ""
    return segment === other || (foldCase && fold(segment) === fold(other))
  })

/**
 * The parts of a URL. `port` is 0 where it is the scheme's own; `path` is decoded once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Url {
  readonly scheme: string
  readonly host: string
  readonly port: number
  readonly path: string
  readonly query: string
}

const shape = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/
const authority = /^((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?$/

/**
 * Takes a URL apart; a reason where it is not in the one form that all readers agree on: scheme and host in lower case,
 * no default port, no user, no fragment, no dots as segments, nothing that a second decoding would change.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (text: string): Result.Result<Url, string> => {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x20\x7f\\]/.test(text)) return Result.fail("the URL has a blank, a control character or a backslash")
  const parts = shape.exec(text)
  if (parts === null) return Result.fail("the URL is not of the form scheme://host/path, or has a fragment")
  const [, scheme = "", where = "", written = "", query = ""] = parts
  if (where.includes("@")) return Result.fail("the URL names a user")
  const found = authority.exec(where)
  if (where !== "" && found === null) return Result.fail("the URL's host is not in normal form")
  if (where === "" && /^(?:https?|wss?|ftp)$/.test(scheme)) return Result.fail("the URL has no host")
  // What the platform makes of it must be what is written: 0x7f.1 is 127.0.0.1, :443 goes with https, a/../b is b.
  const parsed = Result.try(() => new URL(text))
  if (Result.isFailure(parsed)) return Result.fail("the URL cannot be read")
  if (parsed.success.host !== where) return Result.fail("the URL's host or port is not in normal form")
  if (written !== "" && parsed.success.pathname !== written) return Result.fail("the URL's path is not in normal form")
  const plain = decoded(written)
  if (plain === undefined || plain.includes("%") || plain.includes("\\") || plain.includes("\0")) {
    return Result.fail("the URL's path means something else when it is decoded again")
  }
  const segments = plain.split("/")
  if (segments.length !== written.split("/").length) return Result.fail("the URL's path hides a slash")
  if (segments.some((segment) => segment === "." || segment === "..")) {
    return Result.fail("the URL's path has dots as a segment")
  }
  return Result.succeed({ scheme, host: found?.[1] ?? "", port: Number(found?.[2] ?? 0), path: plain, query })
}

/** An encoded sign that needs no encoding, an encoded slash or backslash, and what a second decoding would change. */
const needless = /%(?:2[def]|3[0-9]|4[1-9a-f]|5[0-9acf]|6[1-9a-f]|7[0-9aef]|[01][0-9a-f]|25[0-9a-f]{2})/i

/** Schemes of which everybody reads the host, and a path of segments, in the same way. */
const hierarchical = /^(?:https?|wss?|ftp|file)$/

/**
 * The ways to write the address of a resource that are one by the standard: with what is beyond ASCII, and with blanks,
 * encoded or not. A reason where a server may read the address in another way than it is written (security rule F24).
 *
 * @category constructors
 * @since 0.1.0
 */
export const spellings = (uri: string): Result.Result<ReadonlyArray<string>, string> => {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f\\]/.test(uri)) return Result.fail("the address has a control character or a backslash")
  if (!uri.isWellFormed() || uri.normalize("NFC") !== uri) {
    return Result.fail("the address is not in Unicode's normal form C")
  }
  if (needless.test(uri)) return Result.fail("the address encodes what needs no encoding, or hides a slash")
  const [, scheme = "", where, rest = ""] = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?(.*)$/is.exec(uri) ?? []
  if (scheme !== scheme.toLowerCase()) return Result.fail("the scheme of the address is not in lower case")
  const segments = rest.replace(/[?#].*$/s, "").split("/")
  if (segments.some((segment) => segment === "." || segment === "..")) {
    return Result.fail("the address has dots as a segment")
  }
  if (hierarchical.test(scheme)) {
    const parsed = Result.try(() => new URL(uri))
    if (Result.isFailure(parsed)) return Result.fail("the address cannot be read")
    const { host, password, username } = parsed.success
    if (
      where === undefined || host !== where || username !== "" || password !== "" || scheme === "file" && host !== ""
    ) {
      return Result.fail("the host of the address is not in normal form")
    }
    if (segments.slice(1, -1).includes("")) return Result.fail("the address has an empty segment")
  }
  const plain = decoded(uri)
  if (plain === undefined) return Result.fail("the address cannot be decoded")
  if (plain.normalize("NFC") !== plain) return Result.fail("the address is not in Unicode's normal form C")
  return Result.succeed([...new Set([uri, plain, encodeURI(plain)])])
}
