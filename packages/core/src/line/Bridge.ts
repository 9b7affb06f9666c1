/**
 * The bridge in a line: it finds out whether the two ends are of one era, and translates where they are not.
 *
 * **Details**
 *
 * The host's own opening is the probe. It goes on as it came; where the server answers as one of its era does, every message
 * after it passes untouched. Where it answers with an error, the other era's opening is tried, and if that succeeds the pure
 * bridge of `protocol/bridge` stands between the two for the rest of the session. If neither opening succeeds, the host
 * gets the answer to its own.
 *
 * It stands outside the guard, which judges what goes to the server in the server's own form (architecture: a leg outside
 * the guard, so one call of a host's may become several guarded ones).
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as LegacyHost from "../protocol/bridge/LegacyHost.ts"
import type * as Message from "../protocol/bridge/Message.ts"
import * as ModernHost from "../protocol/bridge/ModernHost.ts"
import type { Call, Leg } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as Refusal from "./Refusal.ts"
import { isShut } from "./Shut.ts"
import { nothing, start } from "./Start.ts"
import { means, wrap } from "./Wrapped.ts"

/**
 * How a bridge is set.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's configured name. */
  readonly server: string
  /** Whether what cannot be translated exactly is left out instead of lowered. */
  readonly strict: boolean
  /** Called once, when it is known that the two ends are of two eras: with the one of the host, and what counts. */
  readonly translating?:
    | ((host: "legacy" | "modern", lowered: Message.Bridge["lowered"]) => void)
    | undefined
}

/** An opening that failed for another reason than the era: no other opening would do better. */
const isOver = (reply: Reply): boolean => isShut(reply) || Refusal.isServerEnded(reply)

/**
 * Puts a bridge around a leg.
 *
 * @category combinators
 * @since 0.1.0
 */
export const between = (options: Options) => <E, R>(leg: Leg<E, R>): Leg<E, R> =>
  Effect.fnUntraced(function*(back) {
    const clock = yield* Clock.Clock
    const run = start(yield* Effect.context<never>(), yield* Effect.scope)
    const prefix = (yield* Random.nextIntBetween(0, 2 ** 52)).toString(36)
    let names = 0
    // An unguessable prefix is enough: what it names is kept here, for this one session.
    const fresh = (): string => `${prefix}-${names++}`

    let bridge: Message.Bridge | undefined
    /** Whether the two ends are of one era. */
    let same = false
    let minted = 0
    /** What the host asked and has no answer to, what the server asked, and what the bridge asked of either. */
    const ofHost = new Map<Message.Key, Call>()
    const ofServer = new Map<Message.Key, Call>()
    const asked = new Map<Message.Key, Call>()
    let stopTimer = nothing

    const keyOf = (table: Map<Message.Key, Call>, call: Call): Message.Key | undefined => {
      for (const [key, of] of table) if (means(of, call)) return key
      return undefined
    }

    // ---- what the bridge says

    const now = (): number => clock.currentTimeMillisUnsafe()

    const say = (outs: ReadonlyArray<Message.Out>): void => {
      let wrote = false
      for (const { said, to } of outs) {
        const port = to === "host" ? back : inner
        wrote ||= to === "server"
        switch (said._tag) {
          case "Request": {
            const { key } = said
            const call: Call = {
              wish: said.wish,
              method: said.method,
              params: said.params,
              reply: (reply) => {
                if (!asked.delete(key)) return
                const answer: Message.Said = { _tag: "Reply", key, reply }
                step(to === "host" ? bridge?.fromHost(answer, now()) : bridge?.fromServer(answer, now()))
              }
            }
            asked.set(key, call)
            port.request(call)
            break
          }
          case "Notification":
            port.notify(said.method, said.params)
            break
          case "Cancel": {
            const call = asked.get(said.key)
            if (call === undefined) break
            asked.delete(said.key)
            port.cancel(call, said.params)
            break
          }
          case "Reply": {
            const table = to === "host" ? ofHost : ofServer
            const call = table.get(said.key)
            table.delete(said.key)
            call?.reply(said.reply)
          }
        }
      }
      if (wrote) run(inner.flush, nothing)
    }

    const step = (outs: ReadonlyArray<Message.Out> | undefined): void => {
      if (outs === undefined) return
      say(outs)
      stopTimer()
      stopTimer = nothing
      const due = bridge?.due()
      if (due === undefined) return
      stopTimer = run(Effect.sleep(Math.max(0, due - now())), (exit) => {
        if (exit._tag === "Failure") return
        step(bridge?.tick(now()))
        run(Effect.andThen(inner.flush, back.flush), nothing)
      })
    }

    // ---- which era

    /** The bridge speaks to the server from here on, unless the other era's opening fails too: then the host is told of its own. */
    const translate = (kind: "legacy-host" | "modern-host", call: Call, failure: Reply): void => {
      const make = kind === "legacy-host" ? LegacyHost.make : ModernHost.make
      bridge = make({ server: options.server, strict: options.strict, fresh })
      forward(wrap(call, (reply) => {
        if (reply._tag === "Failure") {
          bridge = undefined
          call.reply(failure)
          return
        }
        if (bridge !== undefined) options.translating?.(kind === "legacy-host" ? "legacy" : "modern", bridge.lowered)
        call.reply(reply)
      }))
    }

    const forward = (call: Call): void => {
      const key = `host-${minted++}`
      ofHost.set(key, call)
      const { method, params, wish } = call
      step(bridge?.fromHost({ _tag: "Request", key, wish, method, params }, now()))
    }

    const opening = (call: Call, kind: "legacy-host" | "modern-host"): void =>
      inner.request(wrap(call, (reply) => {
        if (reply._tag === "Result") {
          same = true
          call.reply(reply)
        } else if (isOver(reply) || same || bridge !== undefined) call.reply(reply)
        else translate(kind, call, reply)
      }))

    const request = (call: Call): void => {
      if (same) return inner.request(call)
      if (bridge !== undefined) return forward(call)
      if (call.method === "initialize") return opening(call, "legacy-host")
      if (call.method === "server/discover") return opening(call, "modern-host")
      inner.request(call)
    }

    // ---- the two sides

    const inner = yield* leg({
      ...back,
      request: (call) => {
        if (bridge === undefined) return back.request(call)
        const key = `server-${minted++}`
        ofServer.set(key, call)
        step(bridge.fromServer({ _tag: "Request", key, method: call.method, params: call.params }, now()))
      },
      notify: (method, params) => {
        if (bridge === undefined) back.notify(method, params)
        else step(bridge.fromServer({ _tag: "Notification", method, params }, now()))
      },
      cancel: (call, params) => {
        if (bridge === undefined) return back.cancel(call, params)
        const key = keyOf(ofServer, call) ?? keyOf(asked, call)
        if (key === undefined) return
        ofServer.delete(key)
        asked.delete(key)
        step(bridge.fromServer({ _tag: "Cancel", key, params }, now()))
      }
    })

    const notify = (method: string, params: Text | undefined): void => {
      if (bridge === undefined) inner.notify(method, params)
      else step(bridge.fromHost({ _tag: "Notification", method, params }, now()))
    }

    return {
      ...inner,
      request,
      notify,
      cancel: (call, params) => {
        if (bridge === undefined) return inner.cancel(call, params)
        const key = keyOf(ofHost, call) ?? keyOf(asked, call)
        if (key === undefined) return
        ofHost.delete(key)
        asked.delete(key)
        step(bridge.fromHost({ _tag: "Cancel", key, params }, now()))
      }
    }
  })
