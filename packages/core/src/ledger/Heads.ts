/**
 * Which segments of a folder no segment has named yet, as far as it can be told without reading all of them.
 *
 * **Details**
 *
 * The index file only saves time: it says which segments need not be looked at again. Verification does not read it.
 *
 * @since 0.1.0
 */
import * as Digest from "../wire/Digest.ts"
import type { Name } from "./Entry.ts"

/**
 * A segment's file name begins with the time of its first commit, so names sort by time.
 *
 * @category models
 * @since 0.1.0
 */
export const pattern = /^\d{8}T\d{9}Z-[0-9a-f]{16}\.jsonl$/

/**
 * The file name of a segment.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fileName = (time: string, random: string): string => time.replace(/[-:.]/g, "") + "-" + random + ".jsonl"

/**
 * The time in the name of the newest segment, in milliseconds; `undefined` where there is none.
 *
 * @category decoding
 * @since 0.1.0
 */
export const newest = (files: ReadonlyArray<string>): number | undefined => {
  const name = files.findLast((file) => pattern.test(file))
  return name === undefined ? undefined : Date.parse(
    name.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, "$1-$2-$3T$4:$5:$6.$7Z")
  )
}

/**
 * What the index remembers of a segment: settled for good, or what it was last named with.
 *
 * @category models
 * @since 0.1.0
 */
export type Index = ReadonlyMap<string, string>

const settled = "settled"

/** So many unsettled segments are looked at; older ones keep the name they have. */
const looked = 64

/**
 * Reads an index; lines that are none are left out.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (text: string): Index => {
  const index = new Map<string, string>()
  for (const line of text.split("\n")) {
    const at = line.indexOf(" ")
    if (at > 0 && pattern.test(line.slice(0, at))) index.set(line.slice(0, at), line.slice(at + 1))
  }
  return index
}

/**
 * Writes an index.
 *
 * @category encoding
 * @since 0.1.0
 */
export const print = (index: Index): string => {
  let text = ""
  for (const [segment, state] of index) text += segment + " " + state + "\n"
  return text
}

/**
 * The segments that must be read to know their heads, newest last.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unsettled = (index: Index, files: ReadonlyArray<string>): ReadonlyArray<string> =>
  files.filter((file) => pattern.test(file) && index.get(file) !== settled).slice(-looked)

const sealed = /,"seal":"([0-9a-f]{64})"\}$/

/**
 * The last seal of a segment and what stands after it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const head = (segment: string, text: string): { readonly name: Name; readonly closed: boolean } => {
  let end = text.lastIndexOf("\n")
  while (end >= 0) {
    const start = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1
    const line = text.slice(start, end)
    const match = sealed.exec(line)
    if (match?.[1] !== undefined) {
      const tail = text.slice(end + 1)
      const closed = line.startsWith("{\"type\":\"closed\"") && tail === ""
      return { name: { segment, head: match[1], ...torn(tail) }, closed }
    }
    end = start - 1
  }
  return { name: { segment, head: "", ...torn(text) }, closed: false }
}

const torn = (tail: string): { readonly torn?: { readonly bytes: number; readonly digest: string } } =>
  tail === "" ? {} : { torn: { bytes: new TextEncoder().encode(tail).length, digest: Digest.sha256(tail) } }

/**
 * What a new segment must name, and the index after it did.
 *
 * @category combinators
 * @since 0.1.0
 */
export const next = (
  index: Index,
  files: ReadonlyArray<string>,
  read: ReadonlyArray<{ readonly name: Name; readonly closed: boolean }>
): { readonly names: ReadonlyArray<Name>; readonly index: Index } => {
  const states = new Map(read.map(({ closed, name }) => [name.segment, { name, closed, state: stateOf(name) }]))
  const names: Array<Name> = []
  const after = new Map<string, string>()
  // What is no longer among the newest that are looked at keeps the name it has.
  const oldest = unsettled(index, files)[0]
  for (const file of files) {
    if (!pattern.test(file)) continue
    const found = states.get(file)
    const before = index.get(file)
    if (found === undefined) {
      if (before === settled || oldest === undefined || file < oldest) after.set(file, settled)
      else if (before !== undefined) after.set(file, before)
      continue
    }
    // A file without a single seal and without a torn part has nothing to name.
    const empty = found.name.head === "" && found.name.torn === undefined
    if (found.state !== before && !empty) names.push(found.name)
    after.set(file, found.closed ? settled : found.state)
  }
  return { names, index: after }
}

const stateOf = (name: Name): string => name.head + (name.torn === undefined ? "" : "+" + name.torn.digest)
