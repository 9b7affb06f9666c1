/**
 * What the headers of a request say about its form.
 *
 * @since 0.1.0
 */

/** The essence and the parameters of each entry of a list of media types. */
const mediaTypes = (header: string): ReadonlyArray<{ readonly type: string; readonly params: ReadonlyArray<string> }> =>
  header.split(",").map((entry) => {
    const [type = "", ...params] = entry.split(";").map((part) => part.trim().toLowerCase())
    return { type, params }
  })

/**
 * Whether an `Accept` header takes this media type (RFC 9110 section 12.5.1).
 *
 * @category guards
 * @since 0.1.0
 */
export const accepts = (header: string | undefined, type: string): boolean => {
  if (header === undefined) return false
  const group = `${type.slice(0, type.indexOf("/"))}/*`
  return mediaTypes(header).some((entry) =>
    (entry.type === type || entry.type === group || entry.type === "*/*") &&
    !entry.params.some((param) => /^q=0(?:\.0*)?$/.test(param))
  )
}

/**
 * Whether a body is JSON as it stands: `application/json`, in UTF-8, not compressed.
 *
 * @category guards
 * @since 0.1.0
 */
export const isJson = (contentType: string | undefined, contentEncoding: string | undefined): boolean => {
  if (contentType === undefined || contentEncoding !== undefined && contentEncoding.toLowerCase() !== "identity") {
    return false
  }
  const [entry, ...more] = mediaTypes(contentType)
  return entry !== undefined && more.length === 0 && entry.type === "application/json" &&
    entry.params.every((param) => !param.startsWith("charset=") || /^charset="?utf-8"?$/.test(param))
}

/** Headers that two readers could take differently if they came twice. */
const single = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "content-type",
  "content-encoding",
  "authorization",
  "origin",
  "last-event-id"
])

/**
 * The first header that came more than once though only one of it counts, so that no proxy before this server has read
 * another one. Names and values take turns in the list, as they came.
 *
 * @category getters
 * @since 0.1.0
 */
export const repeated = (raw: ReadonlyArray<string>): string | undefined => {
  const seen = new Set<string>()
  for (let k = 0; k < raw.length; k += 2) {
    const name = (raw[k] ?? "").toLowerCase()
    if (!single.has(name) && !name.startsWith("mcp-")) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}
