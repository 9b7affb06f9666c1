/**
 * What is looked at before a server is started: what was accepted of it, and whether its launch still is that.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { makeTimes } from "../ledger/Line.ts"
import type { LaunchPin, Pins } from "../pin/Pins.ts"
import { compareLaunch, isRejectedLaunch, portable, seeLaunch, settleLaunch } from "../pin/Pins.ts"
import type { PinStore } from "../stage/PinStore.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Notices } from "./Notices.ts"
import type { Recorder } from "./Recorder.ts"
import { answer, shut } from "./Shut.ts"
import type { start } from "./Start.ts"
import { nothing } from "./Start.ts"

/**
 * What was accepted of a server that may be started, or a port behind which there is none.
 *
 * @category models
 * @since 0.1.0
 */
export type Launched =
  | { readonly _tag: "Open"; readonly pins: Pins }
  | { readonly _tag: "Shut"; readonly port: Port }

/**
 * What this needs of the line around it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly server: string
  /** What a command line needs to mean the same state folder; without it no command is named. */
  readonly option: string | undefined
  readonly launch: Effect.Effect<LaunchPin>
  readonly store: PinStore["Service"]
  readonly notices: Notices["Service"]
  readonly recorder: Recorder
  readonly run: ReturnType<typeof start<never>>
  /** Refuses a request of the host's and records it. */
  readonly refuse: (call: Call, reason: Why) => void
}

const iso = makeTimes()

/**
 * Compares the launch with the accepted one. Nothing is started.
 *
 * @category constructors
 * @since 0.1.0
 */
export const check: (options: Options) => Effect.Effect<Launched> = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Launched> {
  const { notices, option, server, store } = options
  const pins = yield* Effect.result(store.load(server))
  if (pins._tag === "Failure") {
    notices.tell(`what was accepted of ${server} cannot be read: ${pins.failure.message}`)
    return { _tag: "Shut", port: yield* shut("pins-failed", server, "Sallyport's stderr says what is wrong") }
  }
  const unasked = pins.success.pins.filter(({ how }) => how === "digest" || how === "unseen")
  if (unasked.length > 0) {
    notices.tell(
      `${unasked.length} of what is accepted of ${server} was accepted without a question (last at ${
        unasked.reduce((last, { at }) => at > last ? at : last, "")
      })${option === undefined ? "" : `; sallyport status${option} ${server} tells how`}`
    )
  }
  const accepted = pins.success.launch
  const launched = yield* options.launch
  if (accepted === undefined) {
    const where = yield* rejectedUnder(options, pins.success, launched)
    if (where === undefined) return yield* expected(options, pins.success, launched)
    const why = where === server
      ? "a person has rejected its launch"
      : `its launch was rejected under the name ${where}`
    return { _tag: "Shut", port: yield* notStarted(options, pins.success, launched, why, "launch-rejected") }
  }
  const differs = compareLaunch(accepted, launched).map(({ says }) => says)
  if (differs.length === 0) return { _tag: "Open", pins: pins.success }
  return {
    _tag: "Shut",
    port: yield* notStarted(options, pins.success, launched, differs.join("; "), "launch-changed")
  }
})

/** Where a file of others' says what may be started, only that is, and it is what is accepted from then on. */
const expected = Effect.fnUntraced(function*(
  options: Options,
  first: Pins,
  launched: LaunchPin
): Effect.fn.Return<Launched> {
  const { notices, recorder, server, store } = options
  let pins = first
  for (;;) {
    if (pins.expects === undefined || pins.launch !== undefined) return { _tag: "Open", pins }
    const differs = compareLaunch(pins.expects, portable(launched)).map(({ says }) => says)
    if (differs.length > 0) {
      return {
        _tag: "Shut",
        port: yield* notStarted(options, pins, launched, differs.join("; "), "launch-changed")
      }
    }
    const next = settleLaunch(pins, launched)
    const saved = yield* Effect.result(store.save(server, pins.version, next))
    if (saved._tag === "Failure") {
      notices.tell(`the launch of ${server} cannot be kept: ${saved.failure.message}`)
      return { _tag: "Shut", port: yield* shut("pins-failed", server, "Sallyport's stderr says what is wrong") }
    }
    if (saved.success) {
      recorder.record({ type: "trusted", server, items: [{ kind: "launch", name: server, digest: launched.digest }] })
      return { _tag: "Open", pins: { ...next, version: pins.version + 1 } }
    }
    const again = yield* Effect.result(store.load(server))
    if (again._tag === "Failure") {
      notices.tell(`what was accepted of ${server} cannot be read: ${again.failure.message}`)
      return { _tag: "Shut", port: yield* shut("pins-failed", server, "Sallyport's stderr says what is wrong") }
    }
    // Another process was faster: its launch is compared like any other.
    if (again.success.launch !== undefined) return yield* check(options)
    pins = again.success
  }
})

/** The name under which a person has rejected this launch: another name must not make it run (security rule F4). */
const rejectedUnder = Effect.fnUntraced(function*({ server, store }: Options, pins: Pins, launched: LaunchPin) {
  if (isRejectedLaunch(pins, launched)) return server
  const names = yield* Effect.orElseSucceed(store.servers, () => [])
  for (const name of names) {
    if (name === server) continue
    // What cannot be read is told when that server is started; its listing is not trusted meanwhile.
    const other = yield* Effect.option(store.load(name))
    if (other._tag === "Some" && isRejectedLaunch(other.value, launched)) return name
  }
  return undefined
})

/** Why nothing was started. */
type Why = "launch-changed" | "launch-rejected"

const notStarted = Effect.fnUntraced(function*(
  options: Options,
  pins: Pins,
  launched: LaunchPin,
  differs: string,
  reason: Why
) {
  const { notices, option, server, store } = options
  const closed = yield* shut(reason, server, differs)
  notices.tell(
    `${server} was not started: ${differs}${
      option === undefined
        ? ""
        : `. To review: sallyport pins diff${option} ${server}; for another server give another --name`
    }`
  )
  const at = yield* Clock.currentTimeMillis
  // What was not started is kept as seen, so that a person can look at it and accept it.
  const keep = Effect.catch(
    Effect.suspend(() => store.save(server, pins.version, seeLaunch(pins, launched, iso(at)))),
    (error) => Effect.sync(() => notices.tell(`the launch of ${server} cannot be kept for review: ${error.message}`))
  )
  let stored = false
  const port: Port = {
    ...closed,
    request: (call) => {
      options.refuse(call, reason)
      if (stored) return
      stored = true
      options.run(keep, nothing)
    },
    flush: options.recorder.outcomes
  }
  return port
})

/**
 * What every request is answered with behind a launch that differs, or was rejected.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refusal = (reason: Why, server: string) => answer(reason, server)
