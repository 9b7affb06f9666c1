/**
 * Words for people: quotes, lists, and the nearest of what there is.
 *
 * @since 0.1.0
 */

/**
 * A text of a file's in quotes, cut where it is long, characters that do not show written out.
 *
 * @category formatting
 * @since 0.1.0
 */
export const quote = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text).replace(
    /[\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/**
 * `a, b or c`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const either = (all: ReadonlyArray<string>): string =>
  all.length < 2 ? all.join("") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`

/** How many characters must be put in, taken out, changed or swapped with the next. */
const distance = (left: string, right: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1]
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        least = Math.min(least, (before[j - 2] ?? 0) + 1)
      }
      next.push(least)
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}

/**
 * The nearest of the known words, where one is near enough to have been meant.
 *
 * @category formatting
 * @since 0.1.0
 */
export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > 40) return undefined
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    const far = distance(word.toLowerCase(), candidate.toLowerCase())
    if (far < least) {
      least = far
      best = candidate
    }
  }
  return best
}
