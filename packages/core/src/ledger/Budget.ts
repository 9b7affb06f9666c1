/**
 * How much one client with one server may add to a ledger, so that none of them fills the disk for all (security rule
 * F13).
 *
 * @since 0.1.0
 */
import type { Event } from "./Entry.ts"

/**
 * Who has spent how much.
 *
 * @category models
 * @since 0.1.0
 */
export interface Budget {
  /** An entry was appended that takes so many characters. */
  readonly spend: (seq: number, event: Event, size: number) => void
  readonly room: (client: string, server: string) => boolean
}

const hour = 3_600_000

interface Bucket {
  left: number
  at: number
}

/**
 * A budget of `bytes` an hour for each client and server, full at first, and filled again bit by bit. An outcome counts
 * for who made the call. `uptime` is in milliseconds and never goes back.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (bytes: number, uptime: () => number): Budget => {
  const buckets = new Map<string, Bucket>()
  const open = new Map<number, string>()
  const keyOf = (client: string, server: string): string => `${server} ${client}`
  const bucket = (key: string): Bucket => {
    const now = uptime()
    const found = buckets.get(key)
    if (found === undefined) {
      const fresh = { left: bytes, at: now }
      buckets.set(key, fresh)
      return fresh
    }
    found.left = Math.min(bytes, found.left + (now - found.at) * bytes / hour)
    found.at = now
    return found
  }
  const owner = (seq: number, event: Event): string | undefined => {
    if (event.type === "outcome") {
      const key = open.get(event.of)
      open.delete(event.of)
      return key
    }
    if (!("client" in event)) return undefined
    const key = keyOf(event.client, event.server)
    if (event.type === "call") open.set(seq, key)
    return key
  }
  return {
    spend: (seq, event, size) => {
      const key = owner(seq, event)
      if (key !== undefined) bucket(key).left -= size
    },
    room: (client, server) => bucket(keyOf(client, server)).left > 0
  }
}
