/**
 * Sealing what a stranger keeps for us: AES-256-GCM under a key that never leaves this process.
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"

// Loaded when something is sealed: most servers never do, and start faster without it.
const crypto = () => process.getBuiltinModule("node:crypto")
import { Seal } from "../stage/Seal.ts"

/**
 * A seal with a key of its own, which is random and never stored: what it sealed is worthless after this process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (): Seal["Service"] => {
  let made: Buffer | undefined
  const key = (): Buffer => made ??= crypto().randomBytes(32)
  return {
    close: (text, bound) => {
      const iv = crypto().randomBytes(12)
      const cipher = crypto().createCipheriv("aes-256-gcm", key(), iv)
      cipher.setAAD(Buffer.from(bound, "utf8"))
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url")
    },
    open: (sealed, bound) => {
      const bytes = Buffer.from(sealed, "base64url")
      // Node skips what is no base64url: only the one spelling of these bytes counts.
      if (bytes.length < 28 || bytes.toString("base64url") !== sealed) return undefined
      const decipher = crypto().createDecipheriv("aes-256-gcm", key(), bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(bound, "utf8"))
      decipher.setAuthTag(bytes.subarray(-16))
      try {
        return decipher.update(bytes.subarray(12, -16), undefined, "utf8") + decipher.final("utf8")
      } catch {
        return undefined
      }
    },
    name: () => crypto().randomBytes(16).toString("base64url")
  }
}

/**
 * The seal of this process, with a key of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Seal> = Layer.sync(Seal, make)
