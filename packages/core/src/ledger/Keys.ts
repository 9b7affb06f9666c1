/**
 * The keys of a ledger, all derived from the one in its `key` file, and the digests that are made with them.
 *
 * @since 0.1.0
 */
import * as Digest from "../wire/Digest.ts"

/**
 * - `id`: names the key without giving it away.
 * - `chain`: seals the groups; whoever verifies needs it.
 * - `anchor`: seals anchors.
 * - `text`: digests arguments and results; whoever has it can guess short ones.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keys {
  readonly id: string
  readonly chain: string
  readonly anchor: string
  readonly text: string
}

/**
 * What the `key` file holds: 32 bytes in hexadecimal, and a line feed.
 *
 * @category models
 * @since 0.1.0
 */
export const pattern = /^[0-9a-f]{64}\n?$/

/**
 * Derives the keys from the text of the `key` file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const derive = (key: string): Keys => {
  const hex = key.trim()
  return {
    id: Digest.sha256("sallyport/ledger/id\n" + hex).slice(0, 16),
    chain: Digest.sha256("sallyport/ledger/chain\n" + hex),
    anchor: Digest.sha256("sallyport/ledger/anchor\n" + hex),
    text: Digest.sha256("sallyport/ledger/text\n" + hex)
  }
}

/**
 * A keyed digest: SHA-256 of key, text and key. The key before fills one whole block, the key after it keeps anyone
 * from going on where the text ends; it costs about half of an HMAC.
 *
 * @category digests
 * @since 0.1.0
 */
export const mac = (key: string, text: string): string => Digest.sha256(key + text + key)
