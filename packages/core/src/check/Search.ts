/**
 * Finds many words in one pass over a text (Aho and Corasick's automaton).
 *
 * @since 0.1.0
 */

/**
 * Where a word ends in a text: `word` is its place in the list of words.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly word: number
  /** The place behind its last unit. */
  readonly end: number
}

/**
 * Calls `each` for every word that occurs, in the order of their ends, until it gives `true`. One step for each unit of
 * the text, however many words there are.
 *
 * @category models
 * @since 0.1.0
 */
export type Search = (text: string, each: (found: Found) => boolean | void) => void

/**
 * Makes the automaton for these words; empty words are never found.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (words: ReadonlyArray<string>): Search => {
  // Each unit that occurs in a word is a column; all the others are column 0, which leads back to the start.
  const columns = new Uint16Array(0x10000)
  let width = 1
  for (const word of words) {
    for (let i = 0; i < word.length; i++) {
      const unit = word.charCodeAt(i)
      if (columns[unit] === 0) columns[unit] = width++
    }
  }
  const states = 1 + words.reduce((sum, word) => sum + word.length, 0)
  const next = new Int32Array(states * width)
  const ends: Array<Array<number> | undefined> = []
  let last = 0
  words.forEach((word, index) => {
    if (word === "") return
    let state = 0
    for (let i = 0; i < word.length; i++) {
      const at = state * width + (columns[word.charCodeAt(i)] ?? 0)
      const to = next[at] ?? 0
      state = to === 0 ? next[at] = ++last : to
    }
    ends[state] = [...(ends[state] ?? []), index]
  })
  // Breadth first: where a word cannot go on, the longest end of what was read that begins one does.
  const shorter = new Int32Array(last + 1)
  const queue: Array<number> = []
  for (let column = 1; column < width; column++) {
    const to = next[column] ?? 0
    if (to !== 0) queue.push(to)
  }
  for (let at = 0; at < queue.length; at++) {
    const state = queue[at] ?? 0
    const back = shorter[state] ?? 0
    const inherited = ends[back]
    if (inherited !== undefined) ends[state] = [...(ends[state] ?? []), ...inherited]
    for (let column = 1; column < width; column++) {
      const cell = state * width + column
      const to = next[cell] ?? 0
      const otherwise = next[back * width + column] ?? 0
      if (to === 0) next[cell] = otherwise
      else {
        shorter[to] = otherwise
        queue.push(to)
      }
    }
  }

  return (text, each) => {
    let state = 0
    for (let i = 0; i < text.length; i++) {
      const column = columns[text.charCodeAt(i)] ?? 0
      state = column === 0 ? 0 : next[state * width + column] ?? 0
      if (state === 0) continue
      const found = ends[state]
      if (found === undefined) continue
      for (const word of found) if (each({ word, end: i + 1 }) === true) return
    }
  }
}
