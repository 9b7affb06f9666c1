/**
 * SHA-256 of texts.
 *
 * @since 0.1.0
 */

// Loaded when something is hashed: a server of tools mostly hashes nothing, and starts faster without it.
const crypto = () => process.getBuiltinModule("node:crypto")

/**
 * The SHA-256 of a string's UTF-8, or of bytes, in hexadecimal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const sha256 = (data: string | Uint8Array): string => crypto().hash("sha256", data, "hex")

/** A part with its length before it. What no UTF-8 can carry is written as JSON, and says so. */
const frame = (part: string): string => {
  if (part.isWellFormed()) return `${part.length}:${part}`
  const json = JSON.stringify(part)
  return `${json.length}!${json}`
}

/**
 * The digest of a list of strings.
 *
 * **Details**
 *
 * Every part is preceded by its length in UTF-16 code units and a colon, the whole by the number of parts, so that no
 * two lists have the same preimage: `["ab"]` and `["a", "b"]` differ. A part that is not well-formed Unicode stands as
 * its JSON, with an exclamation mark for the colon.
 *
 * @category constructors
 * @since 0.1.0
 */
export const framed = (parts: ReadonlyArray<string>): string => sha256(`${parts.length}:${parts.map(frame).join("")}`)
