/**
 * Member names as readers see them that do not regard case.
 *
 * @since 0.1.0
 */

/**
 * The form in which two names are equal if some reader may take one for the other.
 *
 * **Details**
 *
 * For a name that consists of ASCII characters, as all names of the protocol do, this is Unicode simple case folding
 * (U+017F is `s`, U+212A is `k`), and the dotless and the dotted Turkish i are `i` besides, which they are for readers
 * that compare upper cases (Java's `equalsIgnoreCase`).
 *
 * @category combinators
 * @since 0.1.0
 */
export const fold = (name: string): string =>
  name.toLowerCase().replaceAll("\u017f", "s").replaceAll("\u0131", "i").replaceAll("i\u0307", "i")

/**
 * A test for names that are none of these, but that some reader may take for one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resembling = (names: Iterable<string>): (name: string) => boolean => {
  const exact = new Set(names)
  const folded = new Set(Array.from(exact, fold))
  return (name) => !exact.has(name) && folded.has(fold(name))
}
