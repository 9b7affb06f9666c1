/**
 * How many calls run at a time, and how many wait.
 *
 * @since 0.1.0
 */

/**
 * @category models
 * @since 0.1.0
 */
export interface Slots {
  /**
   * Begins at once where there is a place, else when one becomes free. Gives how to take it back while it waits, or
   * `undefined` where the queue is full. `begin` is handed what frees its place.
   */
  readonly take: (begin: (free: () => void) => void) => (() => void) | undefined
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (running: number, waiting: number): Slots => {
  let taken = 0
  const queue = new Set<(free: () => void) => void>()

  const run = (begin: (free: () => void) => void): void => {
    taken++
    let held = true
    begin(() => {
      if (!held) return
      held = false
      taken--
      for (const next of queue) {
        if (taken >= running) break
        queue.delete(next)
        run(next)
      }
    })
  }

  return {
    take: (begin) => {
      if (taken < running) {
        run(begin)
        return () => {}
      }
      if (queue.size >= waiting) return undefined
      queue.add(begin)
      return () => {
        queue.delete(begin)
      }
    }
  }
}
