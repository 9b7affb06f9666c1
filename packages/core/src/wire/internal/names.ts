/** The names that a member must not merely resemble, and how to see quickly that one does not. */
import { resembling } from "../Fold.ts"
import { standsAt } from "./grammar.ts"

/** One step of the hash of a name. It does not tell cases of ASCII letters apart. */
export const hashStep = (hash: number, byte: number): number => (Math.imul(hash, 31) + (byte | 0x20)) | 0

const mask = 1023

export class Names {
  /** Whether a name is none of the names but may be taken for one. */
  readonly resembles: (name: string) => boolean
  private readonly buckets: Array<Array<Uint8Array> | undefined> = Array.from({ length: mask + 1 }, () => undefined)

  constructor(names: ReadonlyArray<string>) {
    this.resembles = resembling(names)
    for (const name of new Set(names)) {
      const bytes = Buffer.from(name)
      const hash = bytes.reduce(hashStep, 0) & mask
      this.buckets[hash] = [...this.buckets[hash] ?? [], bytes]
    }
  }

  /** Whether the ASCII name that stands at `p` must be looked at: it has the hash of a name and is none of them. */
  suspects(b: Uint8Array, p: number, length: number, hash: number): boolean {
    const bucket = this.buckets[hash & mask]
    if (bucket === undefined) return false
    for (const word of bucket) if (word.length === length && standsAt(b, p, word)) return false
    return true
  }
}
