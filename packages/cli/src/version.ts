/**
 * The version, in a module of its own so that a start loads nothing else for it.
 *
 * @since 0.1.0
 */

/**
 * The version that every program of this package reports.
 *
 * @category constants
 * @since 0.1.0
 */
export const version = "0.1.0"
