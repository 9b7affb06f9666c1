/**
 * Where the members stand of the object that was read last. Whoever is handed a message looks into it first of all, and
 * need not walk through it anew.
 */

/** Objects with more members, and longer ones, are walked through: they are few, and not to be kept in memory here. */
const mostMembers = 16
const mostLength = 64 * 1024

let latest = ""
let count = 0
const names = new Int32Array(mostMembers)
const lengths = new Int32Array(mostMembers)
const ends = new Int32Array(mostMembers)

/**
 * Takes down a compact object: it begins at `from` of what was read, and there its members' names, which have no escapes,
 * begin behind their quotes.
 */
export const note = (text: string, from: number, size: number, starts: Int32Array, sizes: Int32Array): void => {
  if (size > mostMembers || text.length > mostLength) return forget()
  latest = text
  count = size
  for (let k = 0; k < size; k++) {
    names[k] = (starts[k] ?? 0) - from
    lengths[k] = sizes[k] ?? 0
    // before the comma and the quote of the next one
    ends[k] = k + 1 < size ? (starts[k + 1] ?? 0) - from - 2 : text.length - 1
  }
}

export const forget = (): void => {
  latest = ""
  count = 0
}

/** Whether it is this text whose members are known. */
export const isLatest = (text: string): boolean => count > 0 && text === latest

/** Which member of the latest text has this name; -1 if none. */
export const indexOf = (name: string): number => {
  for (let k = 0; k < count; k++) {
    if (lengths[k] === name.length && latest.startsWith(name, names[k])) return k
  }
  return -1
}

/** Where the name of a member begins, quote and all. */
export const nameOf = (k: number): number => (names[k] ?? 0) - 1

/** Where the value of a member begins: behind the name's second quote and the colon. */
export const valueOf = (k: number): number => (names[k] ?? 0) + (lengths[k] ?? 0) + 2

/** Where it ends. */
export const endOf = (k: number): number => ends[k] ?? 0
