/**
 * Limiter: counts calls against limits, and keeps what was used.
 *
 * **Details**
 *
 * What others used is at most a second old when a call is counted. What is used of a rate is written within a second and
 * at the end, so a process that is killed forgets at most that second; what is used of a budget is written before the
 * call is let through. How many calls are under way is counted in each process by itself.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Limits from "../policy/Limits.ts"
import { Budgets, type BudgetsError } from "./Budgets.ts"
import { GateError } from "./Gate.ts"

/**
 * Counts calls.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limiter {
  /** Counts a call against all of these, or gives the limit that is used up. A constant where nothing has to be read. */
  readonly take: (uses: ReadonlyArray<Limits.Use>) => Effect.Effect<Limits.Over | undefined, GateError>
  /** The call is over. */
  readonly end: (uses: ReadonlyArray<Limits.Use>) => void
}

/** What is known of others is no older than this, in milliseconds, and so is what is not written yet. */
const age = 1_000

const free: Exit.Exit<undefined> = Exit.succeed(undefined)

/**
 * A limiter that keeps what was used in {@link Budgets}. What cannot be kept is told once, until it can.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  tell: (sentence: string) => void
): Effect.fn.Return<Limiter, never, Budgets | Scope.Scope> {
  const budgets = yield* Budgets
  const clock = yield* Clock.Clock
  const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const buckets = Limits.make()
  const oneByOne = Semaphore.makeUnsafe(1)
  /** When what others used was last looked at, by server. */
  const read = new Map<string, number>()
  /** The servers of which something was used that is not written yet. */
  const dirty = new Set<string>()
  const used = Latch.makeUnsafe(false)
  let complained = false

  const complain = (error: BudgetsError): void => {
    if (!complained) tell(`what is used of the limits of ${error.server} cannot be kept: ${error.message}`)
    complained = true
  }

  /** Reads what others used, and writes what was used here; for these budgets, only where they suffice for all. */
  const sync = (
    server: string,
    uses: ReadonlyArray<Limits.Use>
  ): Effect.Effect<Limits.Over | undefined, BudgetsError> =>
    Effect.suspend(() => {
      let done = (): void => {}
      return Effect.map(
        budgets.update(server, (kept) => {
          const at = now()
          const merged = buckets.merge(server, kept, { now: at, wall: clock.currentTimeMillisUnsafe() })
          const over = Limits.overspent(merged.kept, uses)
          done = over === undefined ? merged.done : () => {}
          return { kept: over === undefined && buckets.isFresh(server) ? merged.kept : undefined, value: over }
        }),
        (over) => {
          done()
          complained = false
          if (over === undefined) {
            read.set(server, now())
            if (!buckets.isFresh(server)) dirty.delete(server)
          } else read.delete(server)
          return over
        }
      )
    })

  const flush = Effect.suspend(() =>
    Effect.forEach(
      [...dirty],
      (server) => Effect.catch(sync(server, []), (error) => Effect.sync(() => complain(error))),
      {
        discard: true
      }
    )
  ).pipe(oneByOne.withPermits(1))

  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.gen(function*() {
    yield* used.await
    used.closeUnsafe()
    yield* Effect.sleep(age)
    yield* flush
  })))

  const count = (server: string, uses: ReadonlyArray<Limits.Use>): Limits.Over | undefined => {
    const over = buckets.take(uses, now())
    if (over === undefined && uses.some(({ limit }) => limit.calls !== undefined)) {
      dirty.add(server)
      used.openUnsafe()
    }
    return over
  }

  const takeKept = (
    server: string,
    uses: ReadonlyArray<Limits.Use>
  ): Effect.Effect<Limits.Over | undefined, GateError> =>
    Effect.suspend(() => {
      let taken = false
      const give = Effect.sync(() => {
        buckets.undo(uses)
        taken = false
      })
      return Effect.gen(function*() {
        if (isOld(server)) yield* sync(server, [])
        const over = count(server, uses)
        if (over !== undefined) return over
        taken = true
        if (!isBudgeted(uses)) return undefined
        const spent = yield* Effect.onError(sync(server, uses), () => give)
        if (spent !== undefined) yield* give
        return spent
      }).pipe(
        oneByOne.withPermits(1),
        // What was written is used, also where nobody waits any more; only the place among those under way is free again.
        Effect.uninterruptible,
        Effect.onExit((exit) => Exit.isFailure(exit) && taken ? Effect.sync(() => buckets.end(uses)) : Effect.void),
        Effect.tapError((error) => Effect.sync(() => complain(error))),
        Effect.mapError((error) =>
          new GateError({ message: `what is used of the limits of ${server} cannot be kept: ${error.message}` })
        )
      )
    })

  const isOld = (server: string): boolean => now() - (read.get(server) ?? Number.NEGATIVE_INFINITY) > age
  const isBudgeted = (uses: ReadonlyArray<Limits.Use>): boolean => uses.some(({ limit }) => limit.budget !== undefined)
  const isKept = ({ limit }: Limits.Use): boolean => limit.calls !== undefined || limit.budget !== undefined

  return {
    take: (uses) => {
      const server = uses[0]?.place.server
      if (server === undefined) return free
      if (uses.some(isKept) && (isOld(server) || isBudgeted(uses))) return takeKept(server, uses)
      const over = count(server, uses)
      return over === undefined ? free : Exit.succeed(over)
    },
    end: buckets.end
  }
})
