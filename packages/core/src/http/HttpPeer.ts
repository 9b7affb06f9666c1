/**
 * A server that is spoken to over Streamable HTTP, as a peer like any other: lines out, lines in.
 *
 * **Details**
 *
 * Every line that is written is one POST; what comes back, as JSON or as events, is read as lines. The headers that the
 * body's revision demands are made from the line itself, which is our own checked text: the session and its version after
 * initialize, the method, name and mirrored arguments of a modern request (2025-11-25 and 2026-07-28 basic/transports). A
 * request that gets no answer is answered here with why, so nobody waits for ever; whether it was carried out is not
 * known then, and it is not sent again (security rule F27).
 *
 * Redirects are not followed, and what the host sent to us in headers is never sent on (security rule F28): the only
 * credentials are those of `headers`. A stream answers the request that it belongs to and no other one.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Refusal from "../line/Refusal.ts"
import { metaOf } from "../protocol/Agreement.ts"
import * as Members from "../protocol/Members.ts"
import * as Method from "../protocol/Method.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Ending } from "../stage/Port.ts"
import type { Peer, Who } from "../stage/Transport.ts"
import * as Feed from "../wire/Feed.ts"
import type { Item, Request, Response, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import * as Mirror from "./Mirror.ts"

/**
 * How the server is reached, and what is bounded.
 *
 * - `headers`: sent with every request, such as `authorization`.
 * - `bytes`: how much of one answer is read, and how much of all answers may wait to be read (64 MiB).
 * - `idle`: how long an answer may be silent, before it begins or between its events (10 minutes). It bounds no
 *   subscription, which is silent by its nature. An answer that is no stream has to be whole in that time.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly who: Who
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly bytes?: number | undefined
  readonly idle?: Duration.Duration | undefined
}

const json = "application/json"
const events = "text/event-stream"
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A stream that broke is opened anew so often, while nothing comes on it. */
const maxTries = 10
/** The longest wait before that, in milliseconds, whatever the server says. */
const longest = 60_000
/** So long the server has to accept what gets no answer. */
const acceptLimit = Duration.minutes(1)
/** So many characters of what gets no answer wait on their way out before the writer does. */
const maxOut = 1024 * 1024
/** So many pages of a listing are looked through for the headers of a tool. */
const maxPages = 64

/** Why there is no answer. */
interface Trouble {
  readonly reason: "unreachable" | "http-refused" | "answer-lost"
  readonly more: string
}
const unreachable = (more: string): Trouble => ({ reason: "unreachable", more })
const refused = (more: string): Trouble => ({ reason: "http-refused", more })
const lost = (more: string): Trouble => ({ reason: "answer-lost", more })

/** Errors of a connection that never came to be, so that nothing was sent; all others may come after the server has read. */
const unsent: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens at the address",
  ENOTFOUND: "the name is not known",
  EAI_AGAIN: "the name cannot be looked up now",
  EHOSTUNREACH: "there is no way to the address",
  ENETUNREACH: "there is no way to the address",
  EPRIVATE: "the name stands for an address of a private network",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by somebody unknown",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by somebody unknown",
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name"
}

const troubleOf = (error: HttpClientError): Trouble => {
  const { reason } = error
  const cause = "cause" in reason ? reason.cause : undefined
  const code = Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""
  const why = unsent[code]
  if (why !== undefined) return unreachable(why)
  return code === "HPE_HEADER_OVERFLOW"
    ? lost("the headers of its answer are too long")
    : lost("the connection broke off")
}

const troubleWith = (status: number): Trouble =>
  status >= 500
    ? lost(`it answered with status ${status}`)
    : status >= 300 && status < 400
    ? refused(`status ${status}; redirects are not followed`)
    : refused(`status ${status}${status === 401 || status === 403 ? ": it does not take our credentials" : ""}`)

/** A request that is on its way. */
interface Flight {
  readonly item: Request
  readonly line: string
  fiber: Fiber.Fiber<void> | undefined
  answered: boolean
  cancelled: boolean
  /** Whether it was sent a second time. */
  again: boolean
  /** What takes lines instead of the reader, for a request of our own. */
  readonly take: ((item: Item) => void) | undefined
  /** When something of its answer came last, in milliseconds; nothing while the reader has no room for more. */
  heard: number | undefined
}

/** The body of an error answer that names nobody, as the answer to the one request that was sent; itself if it is none. */
const addressed = (body: string, item: Item | undefined, id: Text): string => {
  if (item?._tag !== "Refused" || item.kind !== "response" || item.id !== undefined) return body
  if (item.reason === "not-a-message" && item.offset === 0) return body.replace("{", `{"id":${id},`)
  const raw = encoder.encode(body)
  const [before, value, after] = [[0, item.offset], [item.offset, item.offset + 4], [item.offset + 4]].map((
    [from, to]
  ) => decoder.decode(raw.subarray(from, to)))
  return item.reason === "bad-id" && value === "null" ? `${before}${id}${after}` : body
}

/** The value as a header can carry it (2026-07-28 basic/transports/streamable-http, Custom Headers). */
const headerOf = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?")
    ? value
    : `=?base64?${btoa(String.fromCharCode(...encoder.encode(value)))}?=`

const member = (text: Text | undefined, name: string): Text | undefined =>
  text === undefined ? undefined : T.member(text, name)

/**
 * Connects. Nothing is sent before the first line is written; closing the scope ends the session (DELETE) and every
 * request that is on its way.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  given: HttpClient.HttpClient,
  options: Options
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  // Nothing is sent that was not meant to be: no trace of ours either.
  const context = Context.add(yield* Effect.context<never>(), HttpClient.TracerDisabledWhen, () => true)
  const fork = Effect.runForkWith(context)
  const client = HttpClient.withScope(given)
  const bytes = options.bytes ?? Feed.defaultLimits.messageBytes
  const idle = Duration.toMillis(options.idle ?? Duration.minutes(10))
  const input = yield* Queue.unbounded<Uint8Array | undefined>()
  const ended = Deferred.makeUnsafe<Ending>()
  const limits = { ...Feed.defaultLimits, members: Members.all }
  const output = Feed.make(limits)
  const answers = Feed.make({ ...limits, messageBytes: bytes })
  let held = 0
  let room: Deferred.Deferred<void> | undefined
  let session: string | undefined
  let version: string | undefined
  let listening = false
  let closing = false
  const flights = new Map<Text, Flight>()
  /** The arguments that headers repeat, by tool, as the newest listing said. */
  const mirrored = new Map<string, ReadonlyArray<Mirror.ParamHeader>>()

  const now = (): number => clock.currentTimeMillisUnsafe()
  const isOpen = (): boolean => !closing

  const finish = (ending: Ending): void => {
    if (closing) return
    closing = true
    Queue.offerUnsafe(input, undefined)
    Deferred.doneUnsafe(ended, Effect.succeed(ending))
  }
  const endSession = (): void => finish({ _tag: "failed", message: "it has ended the session" })

  // ---- what comes in

  /** A line for the reader; done when there is room for more. */
  const offer = (line: string, flight?: Flight): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (closing) return Effect.void
      const chunk = encoder.encode(`${line}\n`)
      held += chunk.length
      Queue.offerUnsafe(input, chunk)
      if (held <= bytes) return Effect.void
      room ??= Deferred.makeUnsafe<void>()
      if (flight !== undefined) flight.heard = undefined
      return Effect.andThen(
        Deferred.await(room),
        Effect.sync(() => {
          if (flight !== undefined) flight.heard = now()
        })
      )
    })

  const fail = (flight: Flight, { more, reason }: Trouble): Effect.Effect<void> => {
    if (flight.answered) return Effect.void
    flight.answered = true
    const reply = Refusal.failure(reason, { server: options.who.client, more })
    return flight.take === undefined ? offer(Write.response(flight.item.id, reply).trimEnd()) : Effect.void
  }

  const itemsOf = (line: string): ReadonlyArray<Item> => {
    const items: Array<Item> = []
    answers.push(encoder.encode(`${line}\n`), (item) => items.push(item))
    return items
  }

  /** What of a line goes to the reader: an answer only to the request that the line came for, and only the first. */
  const mine = (item: Item, line: string, flight: Flight | undefined): ReadonlyArray<string> => {
    switch (item._tag) {
      case "Request":
        return [line]
      case "Notification":
        return [line]
      case "Response":
        if (flight === undefined || flight.answered || item.id !== flight.item.id) return []
        flight.answered = true
        if (item.reply._tag === "Result") learn(flight.item, item.reply.result)
        return [line]
      case "Refused": {
        if (item.kind === "request" || item.kind === "notification" || item.id === undefined) return [line]
        if (flight === undefined || flight.answered || item.id !== flight.item.id) return []
        flight.answered = true
        return [line]
      }
      case "Batch":
        // Each goes alone: an array could answer several requests.
        return item.items.flatMap((single) => mine(single, textOf(single), flight))
    }
  }

  const textOf = (item: Item): string => {
    switch (item._tag) {
      case "Request":
        return Write.request(item.id, item.method, item.params).trimEnd()
      case "Notification":
        return Write.notification(item.method, item.params).trimEnd()
      case "Response":
        return Write.response(item.id, item.reply).trimEnd()
      default:
        return "{}"
    }
  }

  const deliver = (line: string, flight: Flight | undefined): Effect.Effect<void> => {
    const items = itemsOf(line)
    const lines = items.flatMap((item) => mine(item, line, flight))
    if (flight?.take !== undefined) {
      items.forEach(flight.take)
      return Effect.void
    }
    return Effect.forEach(lines, (each) => offer(each, flight), { discard: true })
  }

  /** What was asked, for the few answers that are looked into. */
  const learn = ({ method, params }: Request, result: Text): void => {
    if (method === "initialize") version = T.stringIn(result, "protocolVersion") ?? version
    if (method !== "tools/list") return
    if (member(params, "cursor") === undefined) mirrored.clear()
    const tools = member(result, "tools")
    for (const tool of tools === undefined || !T.isArray(tools) ? [] : T.elements(tools)) {
      const name = T.stringIn(tool, "name")
      const schema = member(tool, "inputSchema")
      if (name !== undefined && schema !== undefined) mirrored.set(name, Mirror.paramHeadersOf(schema))
    }
  }

  const read = (
    response: HttpClientResponse,
    each: (text: string) => Effect.Effect<void, Trouble>
  ): Effect.Effect<void, Trouble> => {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    return Stream.runForEach(
      Stream.mapError(response.stream, () => lost("the connection broke off")),
      (chunk) =>
        Effect.flatMap(
          Effect.try({
            try: () => decoder.decode(chunk, { stream: true }),
            catch: () => lost("its answer is no UTF-8")
          }),
          each
        )
    )
  }

  /** Where a stream was left, for the next one to go on. */
  interface Place {
    last: string | undefined
    retry: number
    /** Events so far. */
    events: number
  }
  const start = (): Place => ({ last: undefined, retry: 1000, events: 0 })

  const readEvents = (response: HttpClientResponse, place: Place, flight: Flight | undefined) => {
    const lines: Array<string> = []
    let long = false
    const parser = Sse.makeParser((event) => {
      if (event._tag === "Retry") {
        place.retry = Math.min(Duration.toMillis(event.duration), longest)
        return
      }
      place.events++
      if (event.id !== undefined) place.last = event.id
      // One message is one line, however the event was cut.
      if (event.data.length > bytes) long = true
      else if (event.data !== "" && event.event === "message") lines.push(event.data.replace(/[\r\n]+/g, " "))
    }, { maxEventSize: bytes })
    return read(response, (text) => {
      // What trickles without ever ending a line is silence.
      if (flight !== undefined && /[\r\n]/.test(text)) flight.heard = now()
      const error = parser.feed(text)
      const offered = Effect.forEach(lines.splice(0), (line) => deliver(line, flight), { discard: true })
      return error === undefined && !long
        ? offered
        : Effect.andThen(offered, Effect.fail(lost("its answer is too long")))
    })
  }

  const readBody = Effect.fnUntraced(function*(response: HttpClientResponse) {
    const parts: Array<string> = []
    let size = 0
    yield* read(response, (text) => {
      parts.push(text)
      size += text.length
      return size > bytes ? Effect.fail(lost("its answer is too long")) : Effect.void
    })
    return parts.join("").replace(/[\r\n]+/g, " ").trim()
  })

  // ---- what goes out

  const revisionOf = (item: Item): string | undefined => {
    const params = item._tag === "Request" || item._tag === "Notification" ? item.params : undefined
    return T.stringIn(metaOf(params), Revision.meta.protocolVersion) ?? version
  }

  const headersOf = (item: Item): Record<string, string> => {
    const headers: Record<string, string> = { ...options.headers, accept: `${json}, ${events}`, "content-type": json }
    const spoken = revisionOf(item)
    const row = Revision.isRevision(spoken) ? Revision.table[spoken] : undefined
    if (session !== undefined && row?.http.routing !== true) headers[Revision.headers.session] = session
    if (spoken !== undefined && row?.http.version !== "never") headers[Revision.headers.version] = spoken
    if (row?.http.routing !== true || item._tag !== "Request") return headers
    headers[Revision.headers.method] = item.method
    const named = Method.nameMember(item.method, Revision.newest)
    const name = named === undefined ? undefined : T.stringIn(item.params, named)
    if (name !== undefined) headers[Revision.headers.name] = headerOf(name)
    if (item.method !== "tools/call" || name === undefined) return headers
    for (const { header, path } of mirrored.get(name) ?? []) {
      let value = member(item.params, "arguments")
      for (const step of path) value = member(value, step)
      if (value === undefined || value === "null" || T.isObject(value) || T.isArray(value)) continue
      headers[`${Revision.headers.paramPrefix}${header}`] = headerOf(T.string(value) ?? value)
    }
    return headers
  }

  const post = (item: Item, line: string) =>
    client.execute(
      HttpClientRequest.post(options.url, { headers: headersOf(item) }).pipe(HttpClientRequest.bodyText(line, json))
    ).pipe(Effect.mapError(troubleOf))

  const get = (last: string | undefined) =>
    client.execute(HttpClientRequest.get(options.url, {
      headers: {
        ...options.headers,
        accept: events,
        ...(session === undefined ? {} : { [Revision.headers.session]: session }),
        ...(version === undefined ? {} : { [Revision.headers.version]: version }),
        ...(last === undefined ? {} : { [Revision.headers.lastEventId]: last })
      }
    })).pipe(Effect.mapError(troubleOf))

  const typeOf = (response: HttpClientResponse): string =>
    (response.headers["content-type"] ?? "").split(";", 1).join("").trim().toLowerCase()

  const isPacked = (response: HttpClientResponse): boolean =>
    !["", "identity"].includes((response.headers["content-encoding"] ?? "").trim().toLowerCase())

  /** A stream that ended before its answer is resumed where it was left (2025-11-25 basic/transports, Resumability). */
  const resume = Effect.fnUntraced(function*(place: Place, flight: Flight) {
    let tries = 0
    if (session === undefined) return
    while (!flight.answered && !flight.cancelled && place.last !== undefined) {
      if (tries++ >= maxTries) return
      yield* Effect.sleep(place.retry)
      const before = place.events
      const whole = yield* Effect.scoped(Effect.gen(function*() {
        const more = yield* get(place.last)
        if (more.status !== 200 || typeOf(more) !== events || isPacked(more)) return false
        yield* readEvents(more, place, flight)
        return true
      })).pipe(Effect.catch((trouble) => Effect.succeed(trouble.more !== "its answer is too long")))
      if (!whole) return
      if (place.events > before) tries = 0
    }
  })

  const exchange = Effect.fnUntraced(function*(flight: Flight): Effect.fn.Return<void, Trouble, Scope.Scope> {
    const { item, line } = flight
    const response = yield* post(item, line)
    const { status } = response
    const type = typeOf(response)
    if (status === 404 && session !== undefined && item.method !== "initialize") return endSession()
    if (status >= 300 && status < 400) return yield* Effect.fail(troubleWith(status))
    if (isPacked(response)) return yield* Effect.fail(lost("its answer is compressed, which it was not asked for"))
    if (item.method === "initialize" && status < 300) session = sessionOf(response)
    if (type === events && status < 300) {
      flight.heard = Method.isHeld(item.method) ? undefined : now()
      const place = start()
      const whole = yield* Effect.exit(readEvents(response, place, flight))
      if (!flight.answered) yield* resume(place, flight)
      if (flight.answered) return
      return yield* Exit.isFailure(whole) ? whole : Effect.fail(lost("it ended its answer before that was whole"))
    }
    if (type !== json) return yield* Effect.fail(status < 300 ? lost(`it answered with no JSON`) : troubleWith(status))
    const text = yield* readBody(response)
    const [bare] = itemsOf(text)
    const body = addressed(text, bare, item.id)
    const [said] = body === text ? [bare] : itemsOf(body)
    const failure = said?._tag === "Response" && said.reply._tag === "Failure" ? said : undefined
    if (failure !== undefined && (yield* outdated(flight, failure))) {
      flight.again = true
      return yield* Effect.scoped(exchange(flight))
    }
    // What is no answer, and names none, is told of here and not by the reader.
    if (said?._tag !== "Refused" || said.id !== undefined) yield* deliver(body, flight)
    if (flight.answered) return
    return yield* Effect.fail(status < 300 ? lost("its body is no answer to the request") : troubleWith(status))
  })

  const sessionOf = (response: HttpClientResponse): string | undefined => {
    const id = response.headers[Revision.headers.session.toLowerCase()]
    // 2025-11-25 basic/transports, Session Management.
    return id !== undefined && /^[\x21-\x7e]+$/.test(id) ? id : undefined
  }

  /**
   * Whether a call was refused for its headers, and may be sent once more with others. The refusal proves that it was not
   * carried out (security rule F27). Only what was not known before is learned: where the definition has changed, nobody
   * has looked at the new one yet, so nothing is repeated in headers by it (security rule F28).
   */
  const outdated = Effect.fnUntraced(function*({ again, item }: Flight, { reply }: Response) {
    if (again || item.method !== "tools/call" || reply._tag !== "Failure") return false
    if (Number(T.member(reply.error, "code")) !== -32020) return false
    const name = T.stringIn(item.params, "name")
    if (name === undefined) return false
    if (mirrored.has(name)) {
      yield* offer(Write.notification("notifications/tools/list_changed", undefined).trimEnd())
      return false
    }
    yield* Effect.ignore(list(member(item.params, "_meta") ?? T.object([])))
    return mirrored.has(name)
  })

  /** Looks through the server's tools for what headers repeat. */
  const list = Effect.fnUntraced(function*(metadata: Text) {
    const meta = T.removeMember(metadata, "progressToken")
    let cursor: Text | undefined
    for (let page = 0; page < maxPages; page++) {
      const params = T.object([["_meta", meta], ...(cursor === undefined ? [] : [["cursor", cursor] as const])])
      const item: Request = { _tag: "Request", id: T.quote(`sallyport-list-${page}`), method: "tools/list", params }
      let result: Text | undefined
      const flight = flightOf(item, Write.request(item.id, item.method, params).trimEnd(), (said) => {
        if (said._tag === "Response" && said.id === item.id && said.reply._tag === "Result") result = said.reply.result
      })
      yield* Effect.scoped(bounded(flight, exchange(flight)))
      cursor = member(result, "nextCursor")
      if (cursor === undefined) return
    }
  })

  const flightOf = (item: Request, line: string, take?: (item: Item) => void): Flight => ({
    item,
    line,
    fiber: undefined,
    answered: false,
    cancelled: false,
    again: false,
    take,
    heard: now()
  })

  /** An answer that is silent for too long is given up. */
  const bounded = <E, R>(flight: Flight, effect: Effect.Effect<void, E, R>): Effect.Effect<void, E | Trouble, R> => {
    const silent = Effect.gen(function*() {
      for (;;) {
        const wait = flight.heard === undefined ? idle : flight.heard + idle - now()
        if (wait <= 0) return yield* Effect.fail(lost("it was silent for too long"))
        yield* Effect.sleep(wait)
      }
    })
    return Effect.raceFirst(effect, silent)
  }

  const request = (flight: Flight): Effect.Effect<void> =>
    Effect.scoped(bounded(flight, exchange(flight))).pipe(
      Effect.catch((trouble) => fail(flight, trouble)),
      Effect.ensuring(Effect.sync(() => {
        if (flights.get(flight.item.id) === flight) flights.delete(flight.item.id)
      }))
    )

  /** The stream of what a legacy server says by itself. A server without one answers 405. */
  const listen = Effect.gen(function*() {
    const place = start()
    for (let tries = 0; isOpen() && tries < maxTries; tries++) {
      const before = place.events
      const status = yield* Effect.scoped(Effect.gen(function*() {
        const response = yield* get(place.last)
        if (response.status === 200 && typeOf(response) === events && !isPacked(response)) {
          yield* readEvents(response, place, undefined)
        }
        return response.status
      })).pipe(Effect.catch(() => Effect.succeed(0)))
      if (status === 404 && session !== undefined) return endSession()
      if (status >= 300 && status < 500 && status !== 429) return
      if (place.events > before) tries = 0
      yield* Effect.sleep(Math.min(place.retry * 2 ** tries, longest))
    }
  })

  const accepted = Effect.fnUntraced(function*(item: Item, line: string) {
    const response = yield* post(item, line)
    if (response.status === 404 && session !== undefined) return endSession()
    if (response.status === 202 || response.status === 204) yield* Stream.runDrain(response.stream)
    if (item._tag !== "Notification" || item.method !== "notifications/initialized" || listening) return
    listening = true
    const row = Revision.isRevision(version) ? Revision.table[version] : undefined
    if (row?.http.getStream === true) inScope(fork(listen))
  }, (self) => Effect.ignore(Effect.timeout(Effect.scoped(self), acceptLimit)))

  const inScope = (fiber: Fiber.Fiber<unknown>): void => {
    if (fiber.pollUnsafe() === undefined) Fiber.runIn(fiber, scope)
  }

  const cancelled = (item: Item): Flight | undefined => {
    if (item._tag !== "Notification" || item.method !== "notifications/cancelled") return undefined
    const requestId = member(item.params, "requestId")
    const id = requestId === undefined ? undefined : T.id(requestId)
    return id === undefined ? undefined : flights.get(id)
  }

  /** Whether closing its stream is what cancels a request (2026-07-28 basic/transports/streamable-http, Cancellation). */
  const closes = ({ item }: Flight): boolean => {
    const spoken = revisionOf(item)
    return Revision.isRevision(spoken) && Revision.table[spoken].http.closeCancels
  }

  /** What gets no answer goes out in its order. */
  let before: Fiber.Fiber<unknown> | undefined
  let waiting = 0
  /** The session is open for other requests once the server has been told so. */
  let opened: Fiber.Fiber<unknown> | undefined

  const send = (item: Item, line: string): void => {
    if (item._tag === "Request") {
      const flight = flightOf(item, line)
      flights.set(item.id, flight)
      const first = opened
      const fiber = fork(
        first === undefined || first.pollUnsafe() !== undefined
          ? request(flight)
          : Effect.andThen(
            Fiber.await(first),
            Effect.suspend(() => {
              flight.heard = now()
              return request(flight)
            })
          )
      )
      flight.fiber = fiber
      inScope(fiber)
      return
    }
    const flight = cancelled(item)
    if (flight !== undefined) {
      flight.cancelled = true
      if (closes(flight)) {
        flight.fiber?.interruptUnsafe()
        flights.delete(flight.item.id)
        return
      }
    }
    const last = before
    waiting += line.length
    const fiber = fork(
      Effect.ensuring(
        last === undefined ? accepted(item, line) : Effect.andThen(Fiber.await(last), accepted(item, line)),
        Effect.sync(() => {
          waiting -= line.length
        })
      )
    )
    before = fiber
    if (item._tag === "Notification" && item.method === "notifications/initialized") opened = fiber
    inScope(fiber)
  }

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      finish({ _tag: "closed" })
      if (session === undefined) return Effect.void
      const headers = {
        ...options.headers,
        [Revision.headers.session]: session,
        ...(version === undefined ? {} : { [Revision.headers.version]: version })
      }
      return Effect.scoped(client.execute(HttpClientRequest.delete(options.url, { headers }))).pipe(
        Effect.timeout("1 second"),
        Effect.ignore,
        Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
      )
    })
  )

  return {
    who: options.who,
    receive: Effect.fnUntraced(function*<E, R>(onChunk: (chunk: Uint8Array) => Effect.Effect<void, E, R>) {
      while (true) {
        const chunk = yield* Queue.take(input)
        if (chunk === undefined) break
        yield* Effect.suspend(() => onChunk(chunk))
        held -= chunk.length
        const waiter = room
        if (waiter !== undefined && held <= bytes) {
          room = undefined
          Deferred.doneUnsafe(waiter, Effect.void)
        }
      }
      Queue.offerUnsafe(input, undefined)
    }),
    write: (text) =>
      Effect.suspend(() => {
        if (closing) return Effect.void
        for (const line of text.split("\n")) {
          if (line !== "") output.push(encoder.encode(`${line}\n`), (item) => send(item, line))
        }
        return before !== undefined && waiting > maxOut ? Effect.asVoid(Fiber.await(before)) : Effect.void
      }),
    // What is on its way is still answered; then there is nothing left to say. A subscription has no answer.
    end: Effect.sync(() => {
      const left: Array<Fiber.Fiber<unknown>> = before === undefined ? [] : [before]
      for (const { fiber, item } of flights.values()) {
        if (fiber === undefined) continue
        if (Method.isHeld(item.method)) fiber.interruptUnsafe()
        left.push(fiber)
      }
      inScope(fork(Effect.andThen(Effect.exit(Fiber.awaitAll(left)), Effect.sync(() => finish({ _tag: "closed" })))))
    }),
    ended: Deferred.await(ended),
    tail: () => ""
  }
})
