/**
 * JSON-RPC over one peer: ids, answers, cancels, progress and batches, in both directions.
 *
 * **Details**
 *
 * Two tables and no more: what the peer asked and has no answer to yet, and what it was asked and has not answered.
 * Both are bounded; nothing is evicted. Ids never leave this module: on the way in a request becomes a {@link Call}, on
 * the way out a call gets an id of this connection's own.
 *
 * A turn is one chunk: all of it is read, judged and queued before anything is written, and what was queued is written
 * at once (JSON-RPC 2.0; 2025-11-25 basic/index and basic/utilities/cancellation).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { metaOf } from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import { meta } from "../protocol/Revision.ts"
import type { Call, Port } from "../stage/Port.ts"
import type { Peer } from "../stage/Transport.ts"
import type { Feed } from "../wire/Feed.ts"
import type { Batch, Item, Refused, Reply, Request, Response, Single, Text } from "../wire/Message.ts"
import * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import type { Faults } from "./Faults.ts"
import * as Refusal from "./Refusal.ts"
import { means } from "./Wrapped.ts"

/**
 * How many requests may be unanswered in each direction, and how many ids of cancelled requests are kept from reuse.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxPending = 4096

/**
 * How much the unanswered requests of a peer may hold together, in characters: 96 Mi. The answers of one batch, which wait
 * for each other, may hold as much.
 *
 * **Details**
 *
 * What a peer sends is only read as fast as it goes on, so nothing else of it is kept. A request beyond the budget is
 * refused, not left unread: an answer that the other side waits for may stand behind it.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxHeld = 96 * 1024 * 1024

/**
 * The budget that is in use, where an operator has set another one than {@link maxHeld}.
 *
 * @category references
 * @since 0.1.0
 */
export const PeerBytes = Context.Reference<number>("@sallyport/core/line/Endpoint/PeerBytes", {
  defaultValue: () => maxHeld
})

/**
 * What an endpoint must know of the session around it.
 *
 * - `side`: what the peer is. A host's bad line is answered; a server's is dropped, and fails the call that it names.
 * - `batches`: whether the revision in use has arrays of messages.
 * - `idless`: whether the revision in use lets an error answer leave out its id; else it is null.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly side: "host" | "server"
  readonly batches: () => boolean
  readonly idless: () => boolean
  readonly faults: Faults
  /** Another budget than {@link PeerBytes}. */
  readonly bytes?: number | undefined
}

/**
 * One end of a connection, spoken to in calls instead of ids.
 *
 * @category models
 * @since 0.1.0
 */
export interface Endpoint {
  /** The port to the peer. Its `ended` and `end` are the peer's own. */
  readonly near: Port
  /** Reads the peer until its output ends; what it sends goes to the far port. */
  readonly run: (far: Port) => Effect.Effect<void>
  /** Done when nothing is unanswered that the peer asked; a request that stays open by its nature does not count. */
  readonly idle: Effect.Effect<void>
  /** Answers everything that the peer has not answered. */
  readonly fail: (reply: Reply) => void
}

/** A request of the peer's own. */
interface Asked extends Call {
  readonly wish: Text
  /** Whether it stays open by its nature. */
  readonly held: boolean
  /** Whether it is neither answered nor given up. */
  waits: boolean
}

const nullId = T.literal("null")

const sizeOf = (params: Text | undefined): number => params?.length ?? 0

const tooMuch = Refusal.failure("bad-answer", { more: "the answers of its batch are too long together" })

/**
 * Speaks JSON-RPC with a peer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(peer: Peer, feed: Feed, options: Options) {
  const { batches, faults, idless, side } = options
  const bytes = options.bytes ?? (yield* PeerBytes)
  // Ids of our own carry a random prefix, so that no peer can guess one and no id of a far side equals one.
  const prefix = `sallyport-${(yield* Random.nextIntBetween(0, 2 ** 52)).toString(36)}-`
  let minted = 0

  /** What the peer asked, by its id. */
  const asked = new Map<Text, Asked>()
  /** What is handed on right now: it is in the table only if it is not answered at once, as a server of tools mostly does. */
  let coming: Asked | undefined
  /** What the peer was asked, by the id that it knows. */
  const pending = new Map<Text, Call>()
  /** Ids of cancelled requests, kept from reuse until the late answer came (security rule F20). */
  const retained = new Set<Text>()
  /** Progress tokens of requests that the peer was given and has not answered. */
  const tokens = new Map<Text, Call>()
  /** Tokens of tasks, which outlive the answer: the newest ones. */
  const taskTokens = new Set<Text>()
  let open = 0
  let held = 0
  /** The lines to be written, joined once: a string that grows by every line is copied from its pieces at great cost. */
  let out: Array<string> = []
  const waiters: Array<Deferred.Deferred<void>> = []

  // ---- to the peer

  const freshId = (wish: Text | undefined): Text => {
    if (wish !== undefined && retained.size < maxPending && !pending.has(wish) && !retained.has(wish)) return wish
    return T.quote(prefix + String(minted++))
  }

  const request = (call: Call): void => {
    if (pending.size >= maxPending) {
      call.reply(Refusal.failure("too-many-requests"))
      return
    }
    const id = freshId(call.wish)
    pending.set(id, call)
    if (call.params !== undefined && call.params.includes("progressToken")) {
      const token = progressToken(call.params)
      if (token !== undefined) tokens.set(token, call)
    }
    out.push(Write.request(id, call.method, call.params))
  }

  const forget = (call: Call): void => {
    if (tokens.size === 0) return
    for (const [token, of] of tokens) {
      if (of !== call) continue
      // A task's token lives on after the answer that created the task (2025-11-25 basic/utilities/tasks).
      if (call.params !== undefined && T.member(call.params, "task") !== undefined) taskTokens.add(token)
      else taskTokens.delete(token)
      tokens.delete(token)
    }
    for (const token of taskTokens) {
      if (taskTokens.size <= maxPending) break
      taskTokens.delete(token)
    }
  }

  const idOf = (call: Call): Text | undefined => {
    for (const [id, of] of pending) if (means(of, call)) return id
    return undefined
  }

  const cancelled = (id: Text, params: Text | undefined): void => {
    out.push(Write.notification("notifications/cancelled", T.setMember(params ?? T.object([]), "requestId", id)))
  }

  const cancel = (call: Call, params: Text | undefined): void => {
    const id = idOf(call)
    if (id !== undefined) {
      // A client must not cancel initialize, and its answer is still wanted (lifecycle, cancellation).
      if (call.method === "initialize") return
      pending.delete(id)
      forget(call)
      if (id === call.wish) retained.add(id)
      cancelled(id, params)
      return
    }
    // The far side gives up a request of this peer's (2026-07-28: a server that ends a subscription).
    for (const of of coming === undefined ? asked.values() : [coming, ...asked.values()]) {
      if (!means(of, call)) continue
      answered(of.wish, of)
      return cancelled(of.wish, params)
    }
  }

  // ---- from the peer

  const answered = (id: Text, call: Asked): void => {
    asked.delete(id)
    call.waits = false
    held -= sizeOf(call.params)
    if (!call.held) open--
    if (open === 0 && waiters.length > 0) {
      for (const waiter of waiters.splice(0)) Deferred.doneUnsafe(waiter, Effect.void)
    }
  }

  const respond = (id: Text | undefined, reply: Reply): void => {
    out.push(Write.response(id ?? (idless() ? undefined : nullId), reply))
  }

  const full = (item: Request): boolean =>
    asked.size >= maxPending || asked.size > 0 && held + sizeOf(item.params) > bytes

  const onRequest = (item: Request, far: Port, answer: (id: Text, reply: Reply) => void): boolean => {
    if (asked.has(item.id)) {
      respond(item.id, Refusal.failure("duplicate-id"))
      return false
    }
    if (full(item)) {
      respond(item.id, Refusal.failure("too-many-requests"))
      return false
    }
    const call: Asked = {
      wish: item.id,
      method: item.method,
      params: item.params,
      reply: (reply) => {
        if (!call.waits) return
        // Queued first: who waits until nothing is unanswered goes on at once, and flushes.
        answer(item.id, reply)
        answered(item.id, call)
      },
      held: Method.isHeld(item.method),
      waits: true
    }
    held += sizeOf(item.params)
    if (!call.held) open++
    const before = coming
    coming = call
    far.request(call)
    coming = before
    if (call.waits) asked.set(item.id, call)
    return true
  }

  const onCancelled = (params: Text | undefined, far: Port, dropped: (id: Text) => void): void => {
    const requestId = params === undefined ? undefined : T.member(params, "requestId")
    const id = requestId === undefined ? undefined : T.id(requestId)
    if (id === undefined) return
    const call = asked.get(id)
    if (call !== undefined) {
      if (call.method === "initialize") return
      answered(id, call)
      dropped(id)
      far.cancel(call, params)
      return
    }
    const ours = pending.get(id)
    if (ours !== undefined && Method.isHeld(ours.method)) {
      pending.delete(id)
      far.cancel(ours, params)
    }
  }

  const onProgress = (method: string, params: Text | undefined, far: Port): void => {
    const token = params === undefined ? undefined : T.member(params, "progressToken")
    const known = token === undefined ? undefined : T.id(token)
    if (known === undefined || !tokens.has(known) && !taskTokens.has(known)) {
      faults({ from: side, reason: "unknown-progress", method })
    } else far.notify(method, params)
  }

  const onNotification = (method: string, params: Text | undefined, far: Port, dropped: (id: Text) => void): void => {
    if (method === "notifications/cancelled") onCancelled(params, far, dropped)
    else if (method === "notifications/progress") onProgress(method, params, far)
    else if (params !== undefined && params.includes(meta.subscriptionId)) onSubscription(method, params, far)
    else far.notify(method, params)
  }

  /** The id of a subscription is the id of the request that opened it, as the far side knows it. */
  const subscriptionOf = (text: Text, call: Call): Text => {
    const metadata = T.member(text, "_meta") ?? T.object([])
    return T.setMember(text, "_meta", T.setMember(metadata, meta.subscriptionId, call.wish ?? nullId))
  }
  const onSubscription = (method: string, params: Text, far: Port): void => {
    const metadata = metaOf(params)
    const of = metadata === undefined ? undefined : T.member(metadata, meta.subscriptionId)
    if (of === undefined) {
      far.notify(method, params)
      return
    }
    const id = T.id(of)
    const call = id === undefined ? undefined : pending.get(id)
    if (call === undefined) faults({ from: side, reason: "unknown-subscription", method })
    else far.notify(method, call.wish === id ? params : subscriptionOf(params, call))
  }

  const onResponse = (item: Response): void => {
    const call = pending.get(item.id)
    if (call !== undefined) {
      pending.delete(item.id)
      forget(call)
      call.reply(
        Method.isHeld(call.method) && call.wish !== item.id && item.reply._tag === "Result"
          ? { _tag: "Result", result: subscriptionOf(item.reply.result, call) }
          : item.reply
      )
    } else if (!retained.delete(item.id)) {
      faults({ from: side, reason: "unsolicited" })
    }
  }

  const onRefused = (item: Refused): void => {
    const where = { pointer: item.pointer, offset: item.offset }
    faults({ from: side, reason: item.reason, where })
    if (item.kind === "notification") return
    if (item.kind !== "request" && item.id !== undefined) {
      const call = pending.get(item.id)
      if (call !== undefined) {
        pending.delete(item.id)
        forget(call)
        call.reply(Refusal.badAnswer(item))
        return
      }
    }
    if (item.kind === "response" || (item.kind === "unknown" && side === "server")) return
    // The id of a line that is no JSON to its end is a guess: good enough to end a wait, not to answer a stranger.
    respond(
      Reason.table[item.reason].code === Reason.table["not-json"].code ? undefined : item.id,
      Refusal.refused(item)
    )
  }

  const onSingle = (item: Single, far: Port): void => {
    switch (item._tag) {
      case "Request":
        onRequest(item, far, respond)
        return
      case "Notification":
        onNotification(item.method, item.params, far, leaveBatch)
        return
      case "Response":
        onResponse(item)
        return
      case "Refused":
        onRefused(item)
    }
  }

  /** A batch is answered by one array, when its last request is answered (2025-03-26 basic/index, Batching). */
  const onBatch = (batch: Batch, far: Port): void => {
    if (!batches()) {
      faults({ from: side, reason: "no-batch" })
      if (side === "host") respond(undefined, Refusal.failure("no-batch"))
      return
    }
    const answers: Array<string> = []
    let missing = 1
    let size = 0
    const done = (): void => {
      if (--missing === 0 && answers.length > 0) out.push(Write.batch(answers))
    }
    const answer = (id: Text, reply: Reply): void => {
      const line = Write.response(id, reply)
      size += line.length
      answers.push(answers.length === 0 || size <= bytes ? line : Write.response(id, tooMuch))
      done()
    }
    for (const item of batch.items) {
      if (item._tag === "Request" && item.method !== "initialize") {
        missing++
        if (asked.has(item.id) || full(item)) {
          answer(item.id, Refusal.failure(asked.has(item.id) ? "duplicate-id" : "too-many-requests"))
        } else {
          batchOf.set(item.id, done)
          onRequest(item, far, (id, reply) => {
            batchOf.delete(id)
            answer(id, reply)
          })
        }
      } else if (item._tag === "Request") {
        missing++
        answer(item.id, Refusal.failure("not-a-message"))
      } else if (
        item._tag === "Refused" && side === "host" &&
        (item.kind === "request" || item.kind === "unknown" && !isAnswer(item))
      ) {
        missing++
        faults({ from: side, reason: item.reason, where: { pointer: item.pointer, offset: item.offset } })
        answer(item.id ?? nullId, Refusal.refused(item))
      } else onSingle(item, far)
    }
    done()
  }
  /** Whether a line that cannot be read is the answer to something that the peer was asked. */
  const isAnswer = (item: Refused): boolean => item.id !== undefined && pending.has(item.id)
  /** Requests of a batch that wait: a cancelled one is not waited for. */
  const batchOf = new Map<Text, () => void>()
  const leaveBatch = (id: Text): void => {
    const done = batchOf.get(id)
    if (done === undefined) return
    batchOf.delete(id)
    done()
  }

  const onItem = (item: Item, far: Port): void => {
    if (item._tag === "Batch") onBatch(item, far)
    else onSingle(item, far)
  }

  // ---- the port

  const flush = Effect.suspend(() => {
    if (out.length === 0) return Effect.void
    const text = out.join("")
    out = []
    return peer.write(text)
  })

  const near: Port = {
    request,
    cancel,
    notify: (method, params) => {
      out.push(Write.notification(method, params))
    },
    flush,
    end: Effect.andThen(flush, peer.end),
    ended: peer.ended
  }

  const run = (far: Port): Effect.Effect<void> => {
    const each = (item: Item): void => onItem(item, far)
    const turn = Effect.suspend(() => Effect.andThen(far.flush, flush))
    return Effect.andThen(
      peer.receive((chunk) => {
        feed.push(chunk, each)
        return turn
      }),
      Effect.suspend(() => {
        feed.end(each)
        return turn
      })
    )
  }

  const endpoint: Endpoint = {
    near,
    run,
    idle: Effect.suspend(() => {
      if (open === 0) return Effect.void
      const waiter = Deferred.makeUnsafe<void>()
      waiters.push(waiter)
      return Deferred.await(waiter)
    }),
    fail: (reply) => {
      const calls = [...pending.values()]
      pending.clear()
      tokens.clear()
      taskTokens.clear()
      for (const call of calls) call.reply(reply)
    }
  }
  return endpoint
})

/** The token's normal text, from `params._meta.progressToken`. */
const progressToken = (params: Text): Text | undefined => {
  const metadata = metaOf(params)
  const token = metadata === undefined ? undefined : T.member(metadata, "progressToken")
  return token === undefined ? undefined : T.id(token)
}
