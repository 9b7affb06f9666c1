/**
 * One session of a legacy revision over HTTP: which of its streams each message goes to, and what a client that lost a
 * stream can have again (2025-03-26 to 2025-11-25 basic/transports, Streamable HTTP).
 *
 * **Details**
 *
 * A message goes to one stream and no other. What belongs to a request goes to the POST that brought it; what belongs to
 * none goes to the stream of a GET, or waits for one, within bounds. A POST whose connection closes is not cancelled: its
 * stream can be resumed.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import * as Refusal from "../line/Refusal.ts"
import * as Feature from "../protocol/Feature.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Peer, Who } from "../stage/Transport.ts"
import type { Item, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import * as Answer from "./Answer.ts"
import * as Inlet from "./Inlet.ts"
import * as Outlet from "./Outlet.ts"
import * as Said from "./Said.ts"

/**
 * The bounds of one session.
 *
 * - `streams`: how many POSTs may be unanswered. Of streams that are over, as many are remembered.
 * - `replayBytes`: characters of events that are kept for a client that comes again.
 * - `waitingBytes`: characters of messages that wait for a stream.
 * - `inputBytes`: bytes of bodies that the session has not read yet.
 * - `patience`: after this long without a word, the answer to a POST becomes a stream of events.
 * - `retry`: how long a client is to wait before it resumes. `life`: how long a connection of one that can is kept.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly streams: number
  readonly replayBytes: number
  readonly waitingBytes: number
  readonly inputBytes: number
  readonly patience: Duration.Duration
  readonly retry: Duration.Duration
  readonly life: Duration.Duration | undefined
  readonly outlet: Outlet.Options
  readonly read: Said.Read
  readonly dropped: (what: string) => void
}

/**
 * A session as the HTTP side sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conversation {
  readonly who: Who
  /** What its initialize agreed on. */
  readonly revision: () => Revision.Revision | undefined
  readonly peer: Peer
  /** Serves the initialize that opens it: its one answer, and whether that is a result. */
  readonly open: (item: Item, bytes: Uint8Array) => Effect.Effect<Opened, HttpServerResponse>
  /** Serves a POST. */
  readonly post: (
    item: Item,
    bytes: Uint8Array
  ) => Effect.Effect<HttpServerResponse, HttpServerResponse, Scope.Scope>
  /** Serves a GET: a new stream, or one that is resumed behind an event. */
  readonly listen: (
    lastEventId: string | undefined
  ) => Effect.Effect<HttpServerResponse, HttpServerResponse, Scope.Scope>
  /** Ends its input; its streams end with the session. */
  readonly end: () => void
  /** The session is over: whatever waits is answered, and all streams end. */
  readonly over: () => void
  /** Whether nobody is connected and nothing is unanswered. */
  readonly quiet: () => boolean
}

/**
 * How an initialize was answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened {
  readonly line: string
  readonly agreed: boolean
}

interface Stream {
  readonly kind: "initialize" | "post" | "get"
  readonly number: number
  /** The requests that it brought and that have no answer yet, with their progress tokens. */
  readonly waiting: Map<Text, Text | undefined>
  /** Messages that came before it was known to be a stream of events; undefined once it is one. */
  early: Array<Said.Said> | undefined
  readonly first: Deferred.Deferred<void>
  outlet: Outlet.Outlet | undefined
  /** The number of the next event, and of the first that is still kept. */
  next: number
  kept: number
  over: boolean
}

interface Event {
  readonly stream: Stream
  readonly number: number
  readonly text: string
}

/** How many GETs of one session may be open. */
const maxListening = 8

const answers = (stream: Stream): boolean => stream.kind !== "get" && !stream.over

const ended = Write.failure(-32603, "Sallyport: the session ended before it answered.")
const unheard = Write.failure(-32603, "Sallyport: the client has no stream open on which it could be asked.")

/**
 * A session of this client. `tag` is not to be guessed: the ids of its events begin with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (who: Who, tag: string, options: Options): Conversation => {
  const encoder = new TextEncoder()
  let revision: Revision.Revision | undefined
  let counter = 0
  let closed = false

  const streams = new Map<number, Stream>()
  /** The POST that waits for the answer to a request, and the one that a progress token came with. */
  const owners = new Map<Text, Stream>()
  const tokens = new Map<Text, Stream>()
  /** Where the client was asked what it has not answered yet. */
  const asked = new Map<Text, Stream>()
  /** The POST whose body the session is reading. */
  let current: Stream | undefined

  // ---- what is kept for clients that come again

  let events: Array<Event> = []
  let gone = 0
  let size = 0
  const keep = (event: Event): void => {
    events.push(event)
    size += event.text.length
    while (size > options.replayBytes) {
      const oldest = events[gone++]
      if (oldest === undefined) break
      size -= oldest.text.length
      oldest.stream.kept = oldest.number + 1
    }
    if (gone > 64 && gone * 2 > events.length) {
      events = events.slice(gone)
      gone = 0
    }
  }
  const discard = (stream: Stream): void => {
    streams.delete(stream.number)
    events = events.slice(gone).filter((event) => event.stream !== stream)
    gone = 0
    size = events.reduce((sum, event) => sum + event.text.length, 0)
  }

  // ---- what waits for a stream

  let waiting: Array<Said.Said> = []
  let waitingSize = 0
  const wait = (said: Said.Said): void => {
    if (!closed && waitingSize + said.line.length <= options.waitingBytes) {
      waiting.push(said)
      waitingSize += said.line.length
    } else if (said._tag === "Request") {
      // Nobody would ever answer it.
      inlet.offer(encoder.encode(Write.response(said.id, unheard)))
    } else options.dropped("a notification for which no stream is open")
  }
  const deliverWaiting = (stream: Stream): void => {
    const all = waiting
    waiting = []
    waitingSize = 0
    for (const said of all) put(stream, said)
  }

  // ---- streams

  const open = (kind: Stream["kind"]): Stream => {
    const stream: Stream = {
      kind,
      number: counter++,
      waiting: new Map(),
      early: [],
      first: Deferred.makeUnsafe(),
      outlet: undefined,
      next: 0,
      kept: 0,
      over: false
    }
    streams.set(stream.number, stream)
    return stream
  }

  const put = (stream: Stream, said: Said.Said): void => {
    if (said._tag === "Request") asked.set(said.id, stream)
    if (stream.early !== undefined) {
      stream.early.push(said)
      if (said._tag !== "Answer") Deferred.doneUnsafe(stream.first, Effect.void)
      return
    }
    const number = stream.next++
    send(stream, number, Outlet.event(`${tag}-${stream.number}-${number}`, said.line))
  }
  const send = (stream: Stream, number: number, text: string): void => {
    keep({ stream, number, text })
    stream.outlet?.push(text)
  }

  const settle = (stream: Stream): void => {
    if (stream.waiting.size > 0 || stream.over) return
    stream.over = true
    stream.outlet?.end()
    Deferred.doneUnsafe(stream.first, Effect.void)
    prune()
  }
  /** Streams that are over, or of a GET that went away, are only remembered as long as they are few. */
  const prune = (): void => {
    const idle = [...streams.values()].filter((stream) =>
      stream.early === undefined && stream.outlet === undefined && !answers(stream)
    )
    for (const stream of idle.slice(0, Math.max(0, idle.length - options.streams))) discard(stream)
  }

  const forget = (id: Text): Stream | undefined => {
    const stream = owners.get(id)
    if (stream === undefined) return undefined
    owners.delete(id)
    const token = stream.waiting.get(id)
    if (token !== undefined && tokens.get(token) === stream) tokens.delete(token)
    stream.waiting.delete(id)
    return stream
  }

  const reached = (stream: Stream): boolean => stream.early !== undefined || stream.outlet !== undefined
  const posts = (): ReadonlyArray<Stream> =>
    [...streams.values()].filter((stream) => stream.kind === "post" && !stream.over && reached(stream))
  const newestGet = (): Stream | undefined =>
    [...streams.values()].findLast((stream) => stream.kind === "get" && stream.outlet !== undefined)

  /** The stream of what belongs to no request that is known. */
  const streamFor = (said: Said.Said & { readonly _tag: "Request" | "Notification" }): Stream | undefined => {
    const open = posts()
    // What the server asks, and what it logs, most likely belongs to the one thing that it is doing.
    const related = said._tag === "Request" || said.method === "notifications/message"
    return (related && open.length === 1 ? open[0] : undefined) ?? newestGet() ?? open.at(-1)
  }

  const route = (said: Said.Said): Stream | undefined => {
    if (said._tag === "Answer") {
      const owner = said.ids.map((id) => owners.get(id)).find((stream) => stream !== undefined) ??
        (said.ids.length === 0 ? current : undefined)
      if (owner === undefined || owner.over) {
        options.dropped("an answer that nobody waits for")
        return undefined
      }
      put(owner, said)
      const answered = said.ids.length === 0 ? [...owner.waiting.keys()] : said.ids
      for (const id of answered) forget(id)
      settle(owner)
      return owner
    }
    const stream = said._tag === "Notification" ? streamOf(said) : undefined
    const to = stream ?? streamFor(said)
    if (to === undefined) wait(said)
    else put(to, said)
    return to
  }
  const streamOf = (said: Said.Said & { readonly _tag: "Notification" }): Stream | undefined => {
    if (said.method === "notifications/progress") {
      const token = Said.idIn(said.params, "progressToken")
      return token === undefined ? undefined : tokens.get(token)
    }
    if (said.method === "notifications/cancelled") {
      const id = Said.idIn(said.params, "requestId")
      const stream = id === undefined ? undefined : asked.get(id)
      if (id !== undefined) asked.delete(id)
      return stream === undefined || stream.over || !reached(stream) ? undefined : stream
    }
    return undefined
  }

  const inlet = Inlet.make(who, options.inputBytes, (text) =>
    Effect.suspend(() => {
      const slow = new Set<Outlet.Outlet>()
      for (const said of options.read(text)) {
        const outlet = route(said)?.outlet
        if (outlet?.full() === true) slow.add(outlet)
      }
      return slow.size === 0
        ? Effect.void
        : Effect.forEach(slow, (outlet) => outlet.room, { concurrency: "unbounded", discard: true })
    }))

  // ---- requests

  const primes = (): boolean => revision !== undefined && Feature.isDefined("http-priming-events", revision)

  /** From here on the stream is one of events, read by this response. */
  const attach = Effect.fnUntraced(
    function*(stream: Stream): Effect.fn.Return<HttpServerResponse, never, Scope.Scope> {
      const outlet = Outlet.make(options.outlet)
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          outlet.cut()
          if (stream.outlet !== outlet) return
          stream.outlet = undefined
          prune()
        })
      )
      stream.outlet?.cut()
      stream.outlet = outlet
      // The stream goes on, and the client comes back for the rest (2025-11-25 basic/transports, Sending Messages).
      if (options.life !== undefined && primes()) {
        yield* Effect.forkScoped(Effect.andThen(Effect.sleep(options.life), Effect.sync(outlet.end)))
      }
      return Answer.events(outlet)
    }
  )

  const begin = (stream: Stream): Effect.Effect<HttpServerResponse, never, Scope.Scope> =>
    Effect.map(attach(stream), (response) => {
      const early = stream.early ?? []
      stream.early = undefined
      const millis = Duration.toMillis(options.retry)
      // Nothing is there to resume where a request was cancelled before anything was said.
      if (primes() && !(stream.over && early.length === 0)) {
        const number = stream.next++
        send(stream, number, Outlet.prime(`${tag}-${stream.number}-${number}`, millis))
      } else stream.outlet?.push(Outlet.retry(millis))
      for (const said of early) put(stream, said)
      if (stream.over) stream.outlet?.end()
      return response
    })

  const offer = (bytes: Uint8Array, before?: () => void, after?: () => void): Effect.Effect<void, HttpServerResponse> =>
    Effect.suspend(() =>
      inlet.offer(bytes, before, after)
        ? Effect.void
        : Effect.fail(
          closed
            ? Answer.refuse(404, "there is no such session")
            : Answer.busy("the session has not read yet what was sent before", 429)
        )
    )

  const singles = (item: Item) => item._tag === "Batch" ? item.items : [item]

  const refuseItem = (item: Item): HttpServerResponse | undefined => {
    if (item._tag === "Batch" && (revision === undefined || !Revision.table[revision].batch)) {
      return Answer.failure(400, Refusal.failure("no-batch"), nameless(revision))
    }
    for (const single of singles(item)) {
      // Part of a batch is not served without the rest: there would be no one status to answer it with.
      if (single._tag === "Refused") return refused(single, revision)
      if (single._tag === "Request" && owners.has(single.id)) {
        return Answer.failure(400, Refusal.failure("duplicate-id"), single.id)
      }
    }
    return undefined
  }

  /** What follows from a body once the session has read it. */
  const taken = (item: Item): void => {
    current = undefined
    for (const single of singles(item)) {
      if (single._tag === "Response") asked.delete(single.id)
      if (single._tag !== "Notification" || single.method !== "notifications/cancelled") continue
      // No answer comes any more; before the session had read this, one may have been on its way.
      const id = Said.idIn(single.params, "requestId")
      const stream = id === undefined ? undefined : owners.get(id)
      if (id === undefined || stream === undefined || stream.kind === "initialize") continue
      forget(id)
      settle(stream)
    }
  }

  const bring = (
    kind: "initialize" | "post",
    item: Item,
    bytes: Uint8Array
  ): Effect.Effect<Stream, HttpServerResponse> =>
    Effect.suspend(() => {
      const stream = open(kind)
      for (const single of singles(item)) {
        if (single._tag !== "Request") continue
        const token = Said.tokenOf(single.params)
        stream.waiting.set(single.id, token)
        owners.set(single.id, stream)
        if (token !== undefined) tokens.set(token, stream)
      }
      const leave = Effect.sync(() => {
        for (const id of stream.waiting.keys()) forget(id)
        streams.delete(stream.number)
      })
      const before = (): void => {
        current = stream
      }
      return Effect.map(Effect.tapError(offer(bytes, before, () => taken(item)), () => leave), () => {
        if (kind === "post") deliverWaiting(stream)
        return stream
      })
    })

  const over = (): void => {
    if (closed) return
    closed = true
    inlet.end()
    for (const [id, stream] of owners) {
      put(stream, {
        _tag: "Answer",
        line: Write.response(id, ended).trimEnd(),
        ids: [id],
        result: undefined,
        error: ended.error
      })
    }
    owners.clear()
    tokens.clear()
    for (const stream of streams.values()) {
      stream.waiting.clear()
      stream.over = true
      stream.outlet?.end()
      Deferred.doneUnsafe(stream.first, Effect.void)
    }
  }

  return {
    who,
    revision: () => revision,
    peer: inlet.peer,
    end: inlet.end,
    over,
    quiet: () => owners.size === 0 && [...streams.values()].every((stream) => stream.outlet === undefined),
    open: (item, bytes) =>
      Effect.gen(function*() {
        const stream = yield* bring("initialize", item, bytes)
        yield* Deferred.await(stream.first)
        streams.delete(stream.number)
        const answer = stream.early?.find((said) => said._tag === "Answer")
        if (answer === undefined) return yield* Effect.fail(Answer.refuse(500, "the session ended before it answered"))
        const version = answer.result === undefined ? undefined : T.member(answer.result, "protocolVersion")
        const agreed = version === undefined ? undefined : T.string(version)
        if (Revision.isRevision(agreed)) revision = agreed
        return { line: answer.line, agreed: answer.result !== undefined }
      }),
    post: (item, bytes) =>
      Effect.gen(function*() {
        const refusal = refuseItem(item)
        if (refusal !== undefined) return yield* Effect.fail(refusal)
        if (!singles(item).some((single) => single._tag === "Request")) {
          return yield* Effect.as(offer(bytes, undefined, () => taken(item)), Answer.empty(202))
        }
        if ([...streams.values()].filter(answers).length >= options.streams) {
          return yield* Effect.fail(Answer.busy("too many requests of this session are unanswered", 429))
        }
        let brought: Stream | undefined
        yield* Effect.addFinalizer(() =>
          Effect.sync(() => {
            if (brought === undefined) return
            // Gone before it was a stream of events: the client has no id to resume it by.
            brought.early = undefined
            prune()
          })
        )
        const stream = yield* Effect.uninterruptible(
          Effect.map(bring("post", item, bytes), (stream) => brought = stream)
        )
        yield* Effect.raceFirst(Deferred.await(stream.first), Effect.sleep(options.patience))
        const [only, ...more] = stream.early ?? []
        if (stream.over && only?._tag === "Answer" && more.length === 0) {
          streams.delete(stream.number)
          return Answer.json(200, only.line)
        }
        return yield* begin(stream)
      }),
    listen: (lastEventId) =>
      Effect.gen(function*() {
        if (closed) return yield* Effect.fail(Answer.refuse(404, "there is no such session"))
        if (lastEventId === undefined) {
          const listening = [...streams.values()].filter((stream) =>
            stream.kind === "get" && stream.outlet !== undefined
          )
          if (listening.length >= maxListening) {
            return yield* Effect.fail(Answer.refuse(409, "this session has too many streams open"))
          }
          const stream = open("get")
          const response = yield* begin(stream)
          deliverWaiting(stream)
          return response
        }
        const [, number, after] = lastEventId.startsWith(`${tag}-`)
          ? /^(\d{1,15})-(\d{1,15})$/.exec(lastEventId.slice(tag.length + 1)) ?? []
          : []
        const stream = streams.get(Number(number ?? -1))
        const last = Number(after)
        if (stream === undefined || stream.early !== undefined || last >= stream.next || last + 1 < stream.kept) {
          return yield* Effect.fail(Answer.refuse(400, "what followed this event is not kept"))
        }
        const missed = events.slice(gone).filter((event) => event.stream === stream && event.number > last)
        // By this status a reader of events knows that it need not come again.
        if (stream.over && missed.length === 0) return Answer.empty(204)
        const response = yield* attach(stream)
        for (const event of missed) stream.outlet?.push(event.text)
        if (stream.over) stream.outlet?.end()
        else deliverWaiting(stream)
        return response
      })
  }
}

/**
 * The id that an error answer to an unreadable line has in this revision (`null` before 2025-11-25).
 *
 * @category getters
 * @since 0.1.0
 */
export const nameless = (revision: Revision.Revision | undefined): Text | undefined =>
  revision !== undefined && Revision.table[revision].idlessError ? undefined : T.literal("null")

/**
 * Refuses a body that is no message.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refused = (
  item: Item & { readonly _tag: "Refused" },
  revision: Revision.Revision | undefined
): HttpServerResponse =>
  Answer.failure(
    400,
    Refusal.refused(item),
    // The id of what is no JSON to its end is a guess.
    item.reason === "not-json" || item.reason === "not-utf8" || item.id === undefined ? nameless(revision) : item.id
  )
