/**
 * The order of a session, kept on either side: what may be said, when, and by whom.
 *
 * **Details**
 *
 * Both functions are from leg to leg and speak from the tables of `protocol/`. {@link host} stands where a host comes in
 * and judges what the host says; {@link server} stands before a server and judges what the server says. Each keeps an
 * agreement of its own leg, so that a bridge may stand between them.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Agreement from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import * as Negotiation from "../protocol/Negotiation.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Call, Leg } from "../stage/Port.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import type { Faults } from "./Faults.ts"
import * as Refusal from "./Refusal.ts"
import { isShut } from "./Shut.ts"
import { wrap } from "./Wrapped.ts"

/** How many messages may wait for the opening of a session to be answered, and how long the notifications may be together. */
const maxWaiting = 1024
const maxWaitingBytes = 1024 * 1024

const unsupportedVersion = (requested: string): Reply => {
  const { code, data, message } = Negotiation.unsupported(requested)
  return Write.failure(code, message, data)
}

/**
 * Judges what a host says.
 *
 * **Details**
 *
 * Before initialize is answered only ping goes on; what a host sends behind its initialize without waiting is kept in
 * order until the answer is there (lifecycle, Initialization). A process settles on the era of its first initialize or
 * discover result; the other era is refused after that. A host that opens with another modern request has its era asked
 * for first, with its own metadata.
 *
 * @category combinators
 * @since 0.1.0
 */
export const host = (agreement: Agreement.Agreement, faults: Faults) => <E, R>(leg: Leg<E, R>): Leg<E, R> =>
  Effect.fnUntraced(function*(back) {
    const port = yield* leg(back)
    // What came behind an unanswered opening, in order. A cancel finds a waiting call here.
    let waiting: Array<{ readonly call: Call | undefined; readonly go: () => void }> = []
    let opening = false
    let discovering: Call | undefined
    // Why modern requests cannot be served: the server answered the probe as one of the other era does.
    let mismatch: Reply | undefined
    // There is no server: it answers for itself why, whatever is asked and in whatever order.
    let shut = false
    let notified = 0

    const wait = (call: Call | undefined, go: () => void): void => {
      if (waiting.length < maxWaiting) waiting.push({ call, go })
      else call?.reply(Refusal.failure("too-many-requests"))
    }
    const opened: Array<Deferred.Deferred<void>> = []
    const open = (): void => {
      opening = false
      const rest = waiting
      waiting = []
      notified = 0
      for (const { go } of rest) go()
      for (const waiter of opened.splice(0)) Deferred.doneUnsafe(waiter, Effect.void)
    }

    const initialize = (call: Call): void => {
      if (agreement.phase !== "opening") {
        call.reply(Refusal.failure(agreement.era === "modern" ? "other-era" : "already-initialized"))
        return
      }
      opening = true
      Agreement.initializeSent(agreement, call.params)
      port.request(wrap(call, (reply) => {
        const fault = Agreement.initializeAnswered(agreement, reply)
        shut = isShut(reply)
        call.reply(fault === undefined ? reply : Refusal.failure(fault))
        if (agreement.era === "legacy") discovering?.reply(Refusal.failure("discover-superseded"))
        open()
      }))
    }

    const discover = (call: Call): void => {
      if (agreement.era === "legacy") {
        call.reply(Refusal.failure("other-era"))
        return
      }
      Agreement.modernRequest(agreement, call.params)
      discovering = call
      port.request(wrap(call, (reply) => {
        Agreement.discoverAnswered(agreement, reply)
        shut = isShut(reply)
        discovering = undefined
        call.reply(reply)
      }))
    }

    const probe = (params: Text | undefined): void => {
      opening = true
      port.request({
        wish: undefined,
        method: "server/discover",
        params: T.object([["_meta", T.removeMember(Agreement.metaOf(params) ?? T.object([]), "progressToken")]]),
        reply: (reply) => {
          Agreement.discoverAnswered(agreement, reply)
          shut = isShut(reply)
          if (agreement.era === undefined) mismatch = otherEra(reply)
          open()
        }
      })
    }

    const modern = (call: Call, version: string): void => {
      if (!Revision.isRevision(version) || !Revision.isModern(version)) {
        call.reply(unsupportedVersion(version))
        return
      }
      if (agreement.era === undefined) {
        if (mismatch !== undefined) {
          call.reply(mismatch)
          return
        }
        // It may be answered at once, so what waits for it has to be there before.
        wait(call, () => request(call))
        probe(call.params)
        return
      }
      Agreement.modernRequest(agreement, call.params)
      const refused = Agreement.judgeRequest(agreement, "host", call.method)
      if (refused !== undefined) return call.reply(Refusal.failure(refused))
      const method = Method.find(call.method, "request", "host", version)
      const lacks = method === undefined ? undefined : Negotiation.undeclared(method, agreement.client, version)
      if (lacks === undefined) port.request(call)
      else call.reply(Write.failure(lacks.code, lacks.message, lacks.data))
    }

    const request = (call: Call): void => {
      if (shut) return port.request(call)
      if (opening && call.method !== "ping") {
        if (call.method === "initialize" && agreement.phase === "initializing") initialize(call)
        else wait(call, () => request(call))
        return
      }
      if (call.method === "initialize") return initialize(call)
      if (call.method === "server/discover") return discover(call)
      const claim = Agreement.claimOf(call.params)
      if (claim !== undefined) {
        if (agreement.era !== "legacy") return modern(call, claim)
        call.reply(Refusal.failure("other-era"))
        return
      }
      if (agreement.era === "modern") {
        call.reply(Refusal.failure("missing-metadata"))
        return
      }
      const refused = Agreement.judgeRequest(agreement, "host", call.method)
      if (refused !== undefined) call.reply(Refusal.failure(refused))
      else port.request(call)
    }

    const notify = (method: string, params: Text | undefined): void => {
      if (opening) {
        notified += params?.length ?? 0
        if (notified <= maxWaitingBytes) wait(undefined, () => notify(method, params))
        else faults({ from: "host", reason: "not-initialized", method })
        return
      }
      if (method === "notifications/initialized") {
        if (agreement.phase !== "agreed") {
          faults({ from: "host", reason: "unknown-notification", method })
          return
        }
        Agreement.initialized(agreement)
      }
      const refused = Agreement.judgeNotification(agreement, "host", method)
      if (refused !== undefined) faults({ from: "host", reason: refused, method })
      else port.notify(method, params)
    }

    return {
      ...port,
      request,
      notify,
      cancel: (call, params) => {
        const before = waiting.length
        waiting = waiting.filter((entry) => entry.call !== call)
        if (waiting.length === before) port.cancel(call, params)
      },
      // What waits for the opening still goes on before the input is ended.
      end: Effect.suspend(() => {
        if (waiting.length === 0) return port.end
        const waiter = Deferred.makeUnsafe<void>()
        opened.push(waiter)
        return Deferred.await(waiter).pipe(Effect.andThen(port.flush), Effect.andThen(port.end))
      })
    }
  })

/** A host of the modern era met a server that did not answer as one: both sides are named. */
const otherEra = (reply: Reply): Reply =>
  Refusal.failure("no-common-revision", {
    more: `the host speaks ${Revision.modern.join(", ")}; the server ${
      reply._tag === "Failure"
        ? `answered server/discover with the error ${reply.error}`
        : `supports ${T.member(reply.result, "supportedVersions") ?? "no version that it names"}`
    }`
  })

/**
 * Judges what a server says.
 *
 * **Details**
 *
 * A request that does not go to hosts in this revision, or whose capability the host did not declare, is answered to the
 * server; a notification outside the tables is dropped and told (security rule F35). Notifications before the opening was
 * answered wait for the answer, so that the host sees them as its revision has them.
 *
 * @category combinators
 * @since 0.1.0
 */
export const server = (agreement: Agreement.Agreement, faults: Faults) => <E, R>(leg: Leg<E, R>): Leg<E, R> =>
  Effect.fnUntraced(function*(back) {
    let early: Array<readonly [method: string, params: Text | undefined]> = []
    let earlyBytes = 0

    const notify = (method: string, params: Text | undefined): void => {
      if (agreement.revision === undefined) {
        earlyBytes += params?.length ?? 0
        if (early.length < maxWaiting && earlyBytes <= maxWaitingBytes) early.push([method, params])
        else faults({ from: "server", reason: "not-initialized", method })
        return
      }
      const refused = Agreement.judgeNotification(agreement, "server", method)
      if (refused !== undefined) faults({ from: "server", reason: refused, method })
      else back.notify(method, params)
    }
    const settled = (): void => {
      if (agreement.revision === undefined) return
      const waiting = early
      early = []
      for (const [method, params] of waiting) notify(method, params)
    }

    const port = yield* leg({
      ...back,
      request: (call) => {
        const refused = Agreement.judgeRequest(agreement, "server", call.method)
        if (refused === undefined) {
          back.request(call)
          return
        }
        faults({ from: "server", reason: refused, method: call.method })
        call.reply(Refusal.failure(refused === "not-initialized" ? "not-offered" : refused))
      },
      notify
    })

    const initialize = (call: Call): void => {
      Agreement.initializeSent(agreement, call.params)
      port.request(wrap(call, (reply) => {
        Agreement.initializeAnswered(agreement, reply)
        call.reply(reply)
        settled()
      }))
    }
    const discover = (call: Call): void => {
      Agreement.modernRequest(agreement, call.params)
      port.request(wrap(call, (reply) => {
        Agreement.discoverAnswered(agreement, reply)
        call.reply(reply)
        settled()
      }))
    }

    return {
      ...port,
      request: (call) => {
        if (call.method === "initialize") return initialize(call)
        if (call.method === "server/discover") return discover(call)
        if (agreement.era === "modern") Agreement.modernRequest(agreement, call.params)
        port.request(call)
      },
      notify: (method, params) => {
        if (method === "notifications/initialized") Agreement.initialized(agreement)
        port.notify(method, params)
      }
    }
  })
