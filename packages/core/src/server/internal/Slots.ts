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
  /** Whether there is a place, and nobody waits for one. */
  readonly vacant: () => boolean
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
  let turning = false
  const queue = new Set<(free: () => void) => void>()

  // In a loop, not one within the other: thousands may end in the moment in which they begin.
  const turn = (): void => {
    if (turning) return
    turning = true
    for (const next of queue) {
      if (taken >= running) break
      queue.delete(next)
      run(next)
    }
    turning = false
  }

  const run = (begin: (free: () => void) => void): void => {
    taken++
    let held = true
    begin(() => {
      if (!held) return
      held = false
      taken--
      turn()
    })
  }

  const vacant = (): boolean => taken < running && queue.size === 0

  return {
    vacant,
    take: (begin) => {
      if (vacant()) {
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
