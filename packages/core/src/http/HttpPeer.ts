/**
 * A server that is spoken to over Streamable HTTP, as a peer like any other: lines out, lines in.
 *
 * **Details**
 *
 * Every line that is written is one POST; what comes back, as JSON or as events, is read as lines. The headers that the
 * body's revision demands are made from the line itself, which is our own checked text: the session and its version after
 * initialize, the method, name and mirrored arguments of a modern request (2025-11-25 and 2026-07-28 basic/transports). A
 * request that gets no answer is answered here with why, so nobody waits for ever.
 *
 * Redirects are not followed, and what the host sent to us in headers is never sent on (security rule F28): the only
 * credentials are those of `headers`.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as Fiber from "effect/Fiber"
import type { HttpClient } from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { metaOf } from "../protocol/Agreement.ts"
import * as Members from "../protocol/Members.ts"
import * as Method from "../protocol/Method.ts"
import * as Revision from "../protocol/Revision.ts"
import type { Ending } from "../stage/Port.ts"
import type { Peer, Who } from "../stage/Transport.ts"
import * as Feed from "../wire/Feed.ts"
import type { Item, Request, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"
import * as Mirror from "./Mirror.ts"

/**
 * How the server is reached, and what is bounded.
 *
 * - `headers`: sent with every request, such as `authorization`.
 * - `bytes`: how much of one answer is read, and how much of all answers may wait to be read (64 MiB).
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly who: Who
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly bytes?: number | undefined
}

const json = "application/json"
const events = "text/event-stream"
const encoder = new TextEncoder()

/** How the stream of what the server says by itself is opened anew when it breaks. */
const again = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 12 }))

/** The value as a header can carry it (2026-07-28 basic/transports/streamable-http, Custom Headers). */
const headerOf = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?")
    ? value
    : `=?base64?${btoa(String.fromCharCode(...encoder.encode(value)))}?=`

const member = (text: Text | undefined, name: string): Text | undefined =>
  text === undefined ? undefined : T.member(text, name)

const stringIn = (text: Text | undefined, name: string): string | undefined => {
  const value = member(text, name)
  return value === undefined ? undefined : T.string(value)
}

/**
 * Connects. Nothing is sent before the first line is written; closing the scope ends the session (DELETE) and every
 * request that is on its way.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  client: HttpClient,
  options: Options
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const bytes = options.bytes ?? Feed.defaultLimits.messageBytes
  const input = yield* Queue.unbounded<Uint8Array | undefined>()
  const ended = Deferred.makeUnsafe<Ending>()
  const feed = Feed.make({ ...Feed.defaultLimits, members: Members.all })
  let held = 0
  let room: Deferred.Deferred<void> | undefined
  let session: string | undefined
  let version: string | undefined
  let listening = false
  let closing = false
  /** Requests that are on their way, by id. */
  const flights = new Map<Text, Fiber.Fiber<void>>()
  /** The arguments that headers repeat, by tool, as the newest listing said. */
  const mirrored = new Map<string, ReadonlyArray<Mirror.ParamHeader>>()

  // ---- what comes in

  /** A line for the reader; done when there is room for more. */
  const offer = (line: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const chunk = encoder.encode(`${line}\n`)
      held += chunk.length
      Queue.offerUnsafe(input, chunk)
      if (held <= bytes) return Effect.void
      room ??= Deferred.makeUnsafe<void>()
      return Deferred.await(room)
    })

  const fail = (id: Text, message: string): Effect.Effect<void> =>
    offer(Write.response(id, Write.failure(-32603, message)).trimEnd())

  const isOpen = (): boolean => !closing

  const finish = (ending: Ending): void => {
    if (closing) return
    closing = true
    Queue.offerUnsafe(input, undefined)
    Deferred.doneUnsafe(ended, Effect.succeed(ending))
  }

  // ---- what goes out

  const version_ = (item: Item): string | undefined => {
    const params = item._tag === "Request" || item._tag === "Notification" ? item.params : undefined
    return stringIn(metaOf(params), Revision.meta.protocolVersion) ?? version
  }

  const headersOf = (item: Item): Record<string, string> => {
    const headers: Record<string, string> = { ...options.headers, accept: `${json}, ${events}`, "content-type": json }
    const spoken = version_(item)
    const row = Revision.isRevision(spoken) ? Revision.table[spoken] : undefined
    if (session !== undefined) headers[Revision.headers.session] = session
    if (spoken !== undefined && row?.http.version !== "never") headers[Revision.headers.version] = spoken
    if (row?.http.routing !== true || item._tag !== "Request") return headers
    headers[Revision.headers.method] = item.method
    const named = Method.find(item.method, "request", "host", "2026-07-28")?.reaches?.named
    const name = named === undefined ? undefined : stringIn(item.params, named)
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
      HttpClientRequest.post(options.url, { headers: headersOf(item) }).pipe(
        HttpClientRequest.bodyText(line, json)
      )
    )

  /** Reads a stream of events; gives the id of the last one. */
  const readEvents = Effect.fnUntraced(function*(response: HttpClientResponse, each: (line: string) => void) {
    let last: string | undefined
    let retry: number | undefined
    const lines: Array<string> = []
    const parser = Sse.makeParser((event) => {
      if (event._tag === "Retry") {
        retry = Duration.toMillis(event.duration)
        if (event.lastEventId !== undefined) last = event.lastEventId
        return
      }
      if (event.id !== undefined) last = event.id
      if (event.data === "" || event.event !== "message") return
      // One message is one line, however the event was cut.
      const line = event.data.replace(/[\r\n]+/g, " ")
      each(line)
      lines.push(line)
    }, { maxEventSize: bytes })
    const decoder = new TextDecoder()
    yield* Stream.runForEach(response.stream, (chunk) => {
      parser.feed(decoder.decode(chunk, { stream: true }))
      return Effect.forEach(lines.splice(0), offer, { discard: true })
    })
    return { last, retry }
  })

  /** A body that is one message, bounded. */
  const readBody = (response: HttpClientResponse) =>
    Stream.runFoldEffect(
      response.stream,
      () => ({ text: "", decoder: new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }) }),
      (into, chunk) => {
        const text = into.text + into.decoder.decode(chunk, { stream: true })
        return text.length > bytes
          ? Effect.fail("the answer is too long" as const)
          : Effect.succeed({ ...into, text })
      }
    ).pipe(Effect.map(({ decoder, text }) => (text + decoder.decode()).replace(/[\r\n]+/g, " ").trim()))

  /** Whether a line answers the request: only then is its wait over. */
  const answers = (line: string, id: Text): boolean => {
    let found = false
    const own = Feed.make({ ...Feed.defaultLimits, members: Members.all })
    const each = (item: Item): void => {
      if (item._tag === "Response" && item.id === id || item._tag === "Refused" && item.id === id) found = true
      if (item._tag === "Response" && item.reply._tag === "Result") learn(id, item.reply.result)
    }
    own.push(encoder.encode(`${line}\n`), each)
    return found
  }

  /** What was asked, for the few answers that are looked into. */
  const methods = new Map<Text, string>()
  const learn = (id: Text, result: Text): void => {
    const method = methods.get(id)
    if (method === "initialize") version = stringIn(result, "protocolVersion") ?? version
    if (method !== "tools/list") return
    const tools = member(result, "tools")
    for (const tool of tools === undefined ? [] : T.elements(tools)) {
      const name = stringIn(tool, "name")
      const schema = member(tool, "inputSchema")
      if (name !== undefined && schema !== undefined) mirrored.set(name, Mirror.paramHeadersOf(schema))
    }
  }

  const request = Effect.fnUntraced(function*(item: Request, line: string) {
    methods.set(item.id, item.method)
    let answered = false
    const each = (text: string): void => {
      if (!answered && answers(text, item.id)) answered = true
    }
    const resumable = (): boolean => !answered && session !== undefined
    const run = Effect.gen(function*() {
      const response = yield* post(item, line)
      const type = response.headers["content-type"] ?? ""
      if (item.method === "initialize") session = response.headers[Revision.headers.session.toLowerCase()]
      if (response.status === 404 && session !== undefined) {
        yield* fail(item.id, "the server has ended the session")
        finish({ _tag: "failed", message: "the server has ended the session" })
        return
      }
      if (response.status >= 300 && response.status < 400) {
        yield* fail(item.id, `the server answered with status ${response.status}; redirects are not followed`)
        return
      }
      if (type.startsWith(events)) {
        let { last, retry } = yield* readEvents(response, each)
        // A stream that ended before its answer is resumed where it was left (2025-11-25 basic/transports, Resumability).
        for (let tries = 0; resumable() && last !== undefined && tries < 10; tries++) {
          yield* Effect.sleep(retry ?? 1000)
          const more = yield* open(last)
          if (more.status !== 200) break
          const next: { last: string | undefined; retry: number | undefined } = yield* readEvents(more, each)
          last = next.last ?? last
          retry = next.retry ?? retry
        }
      } else if (type.startsWith(json)) {
        const body = yield* readBody(response)
        each(body)
        if (answered) yield* offer(body)
      }
      if (!answered) {
        yield* fail(
          item.id,
          response.status >= 400 || !type.startsWith(events)
            ? `the server answered with status ${response.status}`
            : "the server ended its answer before it was whole"
        )
      }
    })
    yield* Effect.catch(run, (error) =>
      answered
        ? Effect.void
        : fail(item.id, typeof error === "string" ? error : "the server cannot be reached, or broke off its answer"))
    methods.delete(item.id)
    flights.delete(item.id)
  })

  const open = (last: string | undefined) =>
    client.execute(HttpClientRequest.get(options.url, {
      headers: {
        ...options.headers,
        accept: events,
        ...(session === undefined ? {} : { [Revision.headers.session]: session }),
        ...(version === undefined ? {} : { [Revision.headers.version]: version }),
        ...(last === undefined ? {} : { [Revision.headers.lastEventId]: last })
      }
    }))

  /** The stream of what a legacy server says by itself. A server without one answers 405. */
  const listen = Effect.gen(function*() {
    let last: string | undefined
    while (isOpen()) {
      const response = yield* open(last)
      if (response.status !== 200) return
      const read = yield* readEvents(response, () => {})
      last = read.last ?? last
      yield* Effect.sleep(read.retry ?? 1000)
    }
  }).pipe(Effect.retry(again), Effect.ignore)

  const notification = Effect.fnUntraced(function*(item: Item, line: string) {
    const response = yield* post(item, line)
    yield* Stream.runDrain(response.stream)
    if (item._tag !== "Notification" || item.method !== "notifications/initialized" || listening) return
    listening = true
    const row = Revision.isRevision(version) ? Revision.table[version] : undefined
    if (row?.http.getStream === true) Fiber.runIn(fork(listen), scope)
  }, (self) => Effect.ignore(self))

  const cancels = (item: Item): Text | undefined => {
    if (item._tag !== "Notification" || item.method !== "notifications/cancelled") return undefined
    const requestId = member(item.params, "requestId")
    const id = requestId === undefined ? undefined : T.id(requestId)
    const spoken = version_(item)
    const closes = version === undefined || Revision.isRevision(spoken) && Revision.table[spoken].http.closeCancels
    return closes ? id : undefined
  }

  /** Notifications and answers of ours go out in their order. */
  let before: Fiber.Fiber<unknown> | undefined

  const send = (item: Item, line: string): void => {
    if (item._tag === "Request") {
      const fiber = fork(request(item, line))
      if (fiber.pollUnsafe() === undefined) {
        flights.set(item.id, fiber)
        Fiber.runIn(fiber, scope)
      }
      return
    }
    const cancelled = cancels(item)
    if (cancelled !== undefined) {
      flights.get(cancelled)?.interruptUnsafe()
      flights.delete(cancelled)
      return
    }
    const last = before
    const fiber = fork(
      last === undefined ? notification(item, line) : Effect.andThen(Fiber.await(last), notification(item, line))
    )
    before = fiber
    if (fiber.pollUnsafe() === undefined) Fiber.runIn(fiber, scope)
  }

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      finish({ _tag: "closed" })
      if (session === undefined) return Effect.void
      const headers = { ...options.headers, [Revision.headers.session]: session }
      return client.execute(HttpClientRequest.delete(options.url, { headers })).pipe(
        Effect.timeout("1 second"),
        Effect.ignore
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
      Effect.sync(() => {
        for (const line of text.split("\n")) {
          if (line !== "") feed.push(encoder.encode(`${line}\n`), (item) => send(item, line))
        }
      }),
    // What is on its way is still answered; then there is nothing left to say.
    end: Effect.sync(() => {
      const fiber = fork(Effect.gen(function*() {
        yield* Effect.exit(Fiber.awaitAll([...flights.values()]))
        finish({ _tag: "closed" })
      }))
      if (fiber.pollUnsafe() === undefined) Fiber.runIn(fiber, scope)
    }),
    ended: Deferred.await(ended),
    tail: () => ""
  }
})
