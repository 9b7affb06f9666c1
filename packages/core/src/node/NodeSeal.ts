/**
 * Sealing what a stranger keeps for us: AES-256-GCM under a key that never leaves this process.
 *
 * @since 0.1.0
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

/**
 * Seals texts, and opens what it sealed itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Seal {
  /** The sealed text, in base64url; `bound` is not in it, but has to be known again to open it. */
  readonly close: (text: string, bound: string) => string
  /** The text, or `undefined` where it was sealed by another key, under something else, or is not what was sealed. */
  readonly open: (sealed: string, bound: string) => string | undefined
  /** A name that nobody can guess. */
  readonly name: () => string
}

/**
 * A seal with a key of its own, which is random and never stored: what it sealed is worthless after this process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Seal => {
  const key = randomBytes(32)
  return {
    close: (text, bound) => {
      const iv = randomBytes(12)
      const cipher = createCipheriv("aes-256-gcm", key, iv)
      cipher.setAAD(Buffer.from(bound, "utf8"))
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url")
    },
    open: (sealed, bound) => {
      const bytes = Buffer.from(sealed, "base64url")
      // Node skips what is no base64url: only the one spelling of these bytes counts.
      if (bytes.length < 28 || bytes.toString("base64url") !== sealed) return undefined
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(bound, "utf8"))
      decipher.setAuthTag(bytes.subarray(-16))
      try {
        return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8")
      } catch {
        return undefined
      }
    },
    name: () => randomBytes(16).toString("base64url")
  }
}
