/**
 * @since 0.1.0
 */

/**
 * Calls what somebody else wrote, and makes a value of what it throws: gates and ledgers are layers of others, and a
 * defect of theirs refuses one call instead of ending a session.
 *
 * @category running
 * @since 0.1.0
 */
export const attempt = <A, B>(get: () => A, otherwise: (defect: unknown) => B): A | B => {
  try {
    return get()
  } catch (defect) {
    return otherwise(defect)
  }
}
