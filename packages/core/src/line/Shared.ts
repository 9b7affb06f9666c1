/**
 * One line that many peers speak over, each as if it were its own.
 *
 * **Details**
 *
 * A peer of the modern era keeps nothing on its line: every request says all of itself. So requests of many peers may go
 * over one, as when each request over HTTP is a peer of its own (2026-07-28 basic/transports/streamable-http). What names
 * something across messages is made unique on the way in and given back on the way out: the ids that subscriptions are
 * known by, and progress tokens. A peer that opens a session (initialize) has a line of its own.
 *
 * What a server may do and ask depends on what a request declares, and behind a bridge on what was declared when its
 * session was opened. So requests share a line with those that declare the same.
 *
 * No peer waits for another one: a peer that does not read loses what is told to it, never what it is answered.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import { metaOf } from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import * as Negotiation from "../protocol/Negotiation.ts"
import { meta } from "../protocol/Revision.ts"
import type { Call, Ending, Leg, Port } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Refusal from "./Refusal.ts"
import { nothing, start } from "./Start.ts"
import { means } from "./Wrapped.ts"

/** So many characters of notifications wait for a peer that does not read; what is beyond them is dropped. */
const maxTold = 1024 * 1024

/** So many lines are open at a time; beyond them the one that was used longest ago ends, if nothing is under way on it. */
const maxLines = 16

/** A line to the server, for all requests that declare the same. */
interface Line<E> {
  readonly opening: Deferred.Deferred<Port, E>
  readonly scope: Scope.Closeable
  port: Port | undefined
  /** What server/discover was answered with. */
  discovered: Reply | undefined
}

/** A peer, as the shared lines know it. */
interface Attached {
  readonly back: Port
  /** Whether what was said to it is still on its way out. */
  flushing: boolean
  told: number
  touched: boolean
  /** Lines that it has queued something on. */
  readonly lines: Set<Port>
  /** What it asked of a line that is not open yet. */
  readonly early: Set<Call>
}

/** A request of a peer's, under the name that the line knows it by. */
interface Flight {
  readonly of: Attached
  readonly on: Port
  readonly outer: Call
  readonly inner: Call
  readonly token: { readonly own: Text; readonly given: Text } | undefined
}

const subscriptionOf = (params: Text | undefined): Text | undefined => {
  const metadata = metaOf(params)
  return metadata === undefined ? undefined : T.member(metadata, meta.subscriptionId)
}

const renamed = (params: Text, name: string, value: Text): Text =>
  T.setMember(params, "_meta", T.setMember(metaOf(params) ?? T.object([]), name, value))

const stringIn = (text: Text | undefined, name: string): string | undefined => {
  const value = text === undefined ? undefined : T.member(text, name)
  return value === undefined ? undefined : T.string(value)
}

/** Whether a request asked for logs as grave as this one. */
const logs = (call: Call, params: Text | undefined): boolean => {
  const wanted = Negotiation.levels.indexOf(stringIn(metaOf(call.params), meta.logLevel) ?? "")
  return wanted >= 0 && Negotiation.levels.indexOf(stringIn(params, "level") ?? "") >= wanted
}

/**
 * Lets the peers of a leg share it: a line is opened with the first request that declares so much, in the scope that this is
 * made in, and opened anew when it has ended.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*<E>(leg: Leg<E>): Effect.fn.Return<Leg<E>, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const run = start(yield* Effect.context<never>(), scope)
  const prefix = (yield* Random.nextIntBetween(0, 2 ** 52)).toString(36)
  let minted = 0

  const peers = new Set<Attached>()
  const flights = new Map<Call, Flight>()
  const byWish = new Map<Text, Flight>()
  const byToken = new Map<Text, Flight>()
  const lines = new Map<string, Line<E>>()

  // ---- what comes back

  const touch = (peer: Attached): void => {
    peer.touched = true
  }

  /** Every peer that was spoken to gets it; none waits for another. */
  const flushPeers = Effect.sync(() => {
    for (const peer of peers) {
      if (!peer.touched || peer.flushing) continue
      peer.touched = false
      peer.flushing = true
      run(peer.back.flush, () => {
        peer.flushing = false
        peer.told = 0
        if (peer.touched) run(flushPeers, nothing)
      })
    }
  })

  const tellPeer = (peer: Attached, method: string, params: Text | undefined): void => {
    if (peer.flushing) {
      peer.told += params?.length ?? 0
      if (peer.told > maxTold) return
    }
    peer.back.notify(method, params)
    touch(peer)
  }

  const notify = (line: Line<E>, method: string, params: Text | undefined): void => {
    if (params !== undefined && method === "notifications/progress") {
      const token = T.member(params, "progressToken")
      const flight = token === undefined ? undefined : byToken.get(token)
      if (flight?.token !== undefined) {
        tellPeer(flight.of, method, T.setMember(params, "progressToken", flight.token.given))
      }
      return
    }
    const subscription = subscriptionOf(params)
    if (params !== undefined && subscription !== undefined) {
      const flight = byWish.get(subscription)
      if (flight !== undefined) {
        tellPeer(flight.of, method, renamed(params, meta.subscriptionId, flight.outer.wish ?? T.literal("null")))
      }
      return
    }
    // What names no request is for whoever has one under way, a log for those that asked for logs of its level
    // (2026-07-28 server/utilities/logging).
    const told = new Set<Attached>()
    for (const { of, on, outer } of flights.values()) {
      if (on === line.port && (method !== "notifications/message" || logs(outer, params))) told.add(of)
    }
    for (const peer of told) tellPeer(peer, method, params)
  }

  const ended = (flight: Flight): void => {
    flights.delete(flight.outer)
    if (flight.inner.wish !== undefined) byWish.delete(flight.inner.wish)
    if (flight.token !== undefined) byToken.delete(flight.token.own)
  }

  const flightOf = (call: Call): Flight | undefined => {
    for (const flight of flights.values()) if (means(flight.inner, call) || means(flight.outer, call)) return flight
    return undefined
  }

  const backOf = (line: Line<E>): Port => ({
    // A peer of the modern era is asked inside results alone.
    request: (call) => call.reply(Refusal.failure("unknown-method")),
    cancel: (call, params) => {
      const flight = flightOf(call)
      if (flight === undefined) return
      ended(flight)
      flight.of.back.cancel(flight.outer, params)
      touch(flight.of)
    },
    notify: (method, params) => notify(line, method, params),
    flush: flushPeers,
    end: Effect.void,
    ended: Effect.never
  })

  // ---- the lines

  const busy = (line: Line<E>): boolean => {
    for (const { on } of flights.values()) if (on === line.port) return true
    return line.port === undefined
  }

  /** Ends a line that nobody needs, so that another one may be opened; false where all are needed. */
  const makeRoom = (): boolean => {
    if (lines.size < maxLines) return true
    for (const [declared, line] of lines) {
      if (busy(line)) continue
      lines.delete(declared)
      run(Scope.close(line.scope, Exit.void), nothing)
      return true
    }
    return false
  }

  const open = (declared: string): Line<E> => {
    const line: Line<E> = {
      opening: Deferred.makeUnsafe<Port, E>(),
      scope: Scope.forkUnsafe(scope),
      port: undefined,
      discovered: undefined
    }
    lines.set(declared, line)
    const forget = Effect.sync(() => {
      if (lines.get(declared) === line) lines.delete(declared)
    })
    const connect = Effect.gen(function*() {
      const port = yield* Effect.provideService(leg(backOf(line)), Scope.Scope, line.scope)
      line.port = port
      Deferred.doneUnsafe(line.opening, Effect.succeed(port))
      yield* port.ended
      yield* forget
      yield* flushPeers
      yield* Scope.close(line.scope, Exit.void)
    }).pipe(
      Effect.onError((cause) =>
        Effect.andThen(forget, Effect.sync(() => Deferred.doneUnsafe(line.opening, Effect.failCause(cause))))
      )
    )
    run(Effect.exit(connect), nothing)
    return line
  }

  /** The line for what a request declares; the newest use comes last. */
  const lineFor = (call: Call): Line<E> | undefined => {
    const metadata = metaOf(call.params)
    const declared = (metadata === undefined ? undefined : T.member(metadata, meta.clientCapabilities)) ?? "{}"
    const known = lines.get(declared)
    if (known !== undefined) {
      lines.delete(declared)
      lines.set(declared, known)
      return known
    }
    return makeRoom() ? open(declared) : undefined
  }

  /** Sends a request on under names of its own. */
  const send = (of: Attached, shared: Line<E>, port: Port, call: Call): void => {
    of.lines.add(port)
    // Who only wants to know which era it is gets what was answered before.
    if (call.method === "server/discover" && call.wish === undefined && shared.discovered !== undefined) {
      call.reply(shared.discovered)
      return
    }
    const own = T.quote(`${prefix}-${minted++}`)
    const metadata = metaOf(call.params)
    const given = metadata === undefined ? undefined : T.member(metadata, "progressToken")
    const inner: Call = {
      wish: Method.isHeld(call.method) ? own : undefined,
      method: call.method,
      params: call.params === undefined || given === undefined
        ? call.params
        : renamed(call.params, "progressToken", own),
      reply: (reply) => {
        ended(flight)
        touch(of)
        if (call.method === "server/discover" && reply._tag === "Result") shared.discovered = reply
        call.reply(
          Method.isHeld(call.method) && reply._tag === "Result" && call.wish !== undefined
            ? { _tag: "Result", result: renamed(reply.result, meta.subscriptionId, call.wish) }
            : reply
        )
      }
    }
    const flight: Flight = { of, on: port, outer: call, inner, token: given === undefined ? undefined : { own, given } }
    flights.set(call, flight)
    if (inner.wish !== undefined) byWish.set(inner.wish, flight)
    if (flight.token !== undefined) byToken.set(own, flight)
    port.request(inner)
  }

  const attach: Leg<E> = Effect.fnUntraced(function*(peerBack) {
    const peer: Attached = {
      back: peerBack,
      flushing: false,
      told: 0,
      touched: false,
      lines: new Set(),
      early: new Set()
    }
    const peerScope = yield* Effect.scope
    const peerRun = start(yield* Effect.context<never>(), peerScope)
    const over = yield* Deferred.make<Ending>()
    const flushLines = Effect.suspend(() => {
      const ports = [...peer.lines]
      peer.lines.clear()
      return Effect.forEach(ports, (port) => port.flush, { discard: true })
    })
    /** The line of its own, where it has opened a session. */
    let session: Port | undefined
    let waiting: Array<Call> | undefined

    peers.add(peer)
    yield* Scope.addFinalizer(
      peerScope,
      Effect.suspend(() => {
        peers.delete(peer)
        peer.early.clear()
        for (const flight of new Set(flights.values())) {
          if (flight.of !== peer) continue
          ended(flight)
          flight.on.cancel(flight.inner, undefined)
        }
        return flushLines
      })
    )

    /** A session of its own: what comes meanwhile waits for it to open. */
    const separate = (call: Call): void => {
      waiting = [call]
      const opened = Effect.provideService(leg(peerBack), Scope.Scope, peerScope)
      peerRun(opened, (exit) => {
        const calls = waiting ?? []
        waiting = undefined
        if (Exit.isFailure(exit)) {
          for (const each of calls) each.reply(Refusal.failure("server-not-started"))
          peerRun(peerBack.flush, nothing)
          return
        }
        const port = exit.value
        session = port
        for (const each of calls) port.request(each)
        peerRun(Effect.flatMap(port.ended, (ending) => Deferred.succeed(over, ending)), nothing)
        peerRun(Effect.andThen(port.flush, peerBack.flush), nothing)
      })
    }

    const request = (call: Call): void => {
      if (session !== undefined) return session.request(call)
      if (waiting !== undefined) {
        waiting.push(call)
        return
      }
      if (call.method === "initialize") return separate(call)
      const shared = lineFor(call)
      if (shared === undefined) return call.reply(Refusal.failure("too-many-requests"))
      if (shared.port !== undefined) return send(peer, shared, shared.port, call)
      peer.early.add(call)
      run(Deferred.await(shared.opening), (exit) => {
        // It was given up, or its peer has left, before anything was sent.
        if (!peer.early.delete(call)) return
        if (Exit.isFailure(exit)) {
          call.reply(Refusal.failure("server-not-started"))
          touch(peer)
        } else send(peer, shared, exit.value, call)
        run(Effect.andThen(flushLines, flushPeers), nothing)
      })
    }

    return {
      request,
      cancel: (call, params) => {
        if (session !== undefined) return session.cancel(call, params)
        for (const early of peer.early) if (means(early, call)) peer.early.delete(early)
        waiting = waiting?.filter((each) => each.method === "initialize" || !means(each, call))
        const flight = flightOf(call)
        if (flight === undefined) return
        ended(flight)
        peer.lines.add(flight.on)
        flight.on.cancel(flight.inner, params)
      },
      notify: (method, params) => {
        // A peer of the modern era has nothing to announce.
        if (session !== undefined) session.notify(method, params)
      },
      flush: Effect.suspend(() => session?.flush ?? flushLines),
      // The line goes on for the others.
      end: Effect.suspend(() => session?.end ?? Effect.void),
      ended: Deferred.await(over)
    }
  })
  return attach
})
