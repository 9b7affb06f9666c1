/**
 * Runs a program as the process.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import { print } from "./NodeStderr.ts"

const signalNumber = (signal: NodeJS.Signals): number => process.getBuiltinModule("node:os").constants.signals[signal]

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Runs the program, which gives its exit code, and ends the process with it.
 *
 * **Details**
 *
 * SIGINT, SIGTERM and SIGHUP interrupt it: its finalizers run, so that servers are ended by their ladder, and the code is
 * 128 and the signal's number. A defect is printed on stderr and gives 1. The process ends when the program does,
 * whatever is still open.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (program: Effect.Effect<number>): void => main(program, { disableErrorReporting: true })

const main = Runtime.makeRunMain(({ fiber }) => {
  let received: (typeof signals)[number] | undefined
  for (const signal of signals) {
    process.on(signal, () => {
      received ??= signal
      fiber.interruptUnsafe(fiber.id)
    })
  }
  fiber.addObserver((exit) => {
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) print(Cause.pretty(exit.cause))
    const given: unknown = Exit.isSuccess(exit) ? exit.value : 1
    process.exit(received === undefined ? (typeof given === "number" ? given : 1) : 128 + signalNumber(received))
  })
})
