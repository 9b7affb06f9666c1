/**
 * A host with an initialize handshake before a server without one.
 *
 * **Details**
 *
 * The bridge is the client of the modern server: it discovers it once, sends every request with the metadata that the
 * host declared at initialize, and keeps the one subscription that list changes and updated resources arrive on. Where the
 * server answers with questions (`input_required`), the host is asked them as requests of its own, and the server's request
 * is sent again with the answers; the host's stays open meanwhile.
 *
 * The state is data: who waits for what is a tagged record, and nothing is kept in closures.
 *
 * @since 0.1.0
 */
import type { Failure, Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as Write from "../../wire/Write.ts"
import { metaOf } from "../Agreement.ts"
import * as Capability from "../Capability.ts"
import * as Method from "../Method.ts"
import * as Negotiation from "../Negotiation.ts"
import * as Revision from "../Revision.ts"
import * as Lower from "./Lower.ts"
import { type Bridge, type Key, maxSubscribed, type Options, outbox } from "./Message.ts"

/** So many rounds of questions one request may take, and so long the host has for one of them, in milliseconds. */
const maxRounds = 8
const askLimit = 600_000
/** A server that answers with a state alone is asked again after so long, and so often. */
const pollAfter = 250
const maxPolls = 10

const modern = Revision.newest

/**
 * A request of the host's on its way: how often it was sent, under which key the server has it now, what the host is asked
 * meanwhile, and when that has to be answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Flight {
  readonly host: Key
  readonly method: string
  readonly params: Text | undefined
  round: number
  upstream: Key | undefined
  readonly asked: Map<Key, { readonly name: string; readonly method: string }>
  answers: Array<readonly [name: string, answer: Text]>
  state: Text | undefined
  due: number | undefined
}

/** What an answer of the server's is the answer to. */
type Pending =
  | { readonly _tag: "Discover"; readonly host: Key; readonly offered: string | undefined }
  | { readonly _tag: "Round"; readonly flight: Flight }
  | { readonly _tag: "Listen" }

/**
 * All that a bridge of this kind knows.
 *
 * - `revision`: what the host was answered at initialize.
 * - `listen`: the subscription in use, and the one that takes its place once it is acknowledged.
 * - `waiting`: subscribe and unsubscribe requests of the host's that the next acknowledgement answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface State {
  revision: Revision.Legacy | undefined
  metadata: ReadonlyArray<readonly [string, Text]>
  server: ReadonlySet<Capability.Path>
  level: Text | undefined
  minted: number
  readonly pending: Map<Key, Pending>
  readonly flights: Map<Key, Flight>
  readonly asks: Map<Key, Flight>
  readonly wraps: Set<string>
  readonly uris: Set<string>
  listen: { readonly key: Key; readonly id: Text; acknowledged: boolean } | undefined
  before: Key | undefined
  waiting: Array<{ readonly host: Key; readonly uri: string; readonly adds: boolean }>
}

const nothing: Text = T.object([])

const complete = (text: Text): Reply => ({ _tag: "Result", result: text })

const codeOf = (failure: Failure): number => Number(T.member(failure.error, "code"))

/** A failure that the caller of a tool can act on is its result; for other methods it is an error. */
const failed = (method: string, message: string): Reply =>
  method === "tools/call"
    ? complete(T.object([
      ["content", T.array([T.object([["type", T.quote("text")], ["text", T.quote(message)]])])],
      ["isError", T.literal("true")]
    ]))
    : Write.failure(-32603, message)

/** What of a host's capabilities has a meaning for a modern server. */
const capabilities = (declared: Text | undefined, revision: Revision.Legacy): Text => {
  const { experimental, paths } = Capability.parse("client", declared, revision)
  return Capability.write("client", modern, { paths, experimental })
}

/** The members of a result that only modern hosts know. */
const stripped = (text: Text): Text => {
  let result = text
  for (const name of ["resultType", "ttlMs", "cacheScope"]) result = T.removeMember(result, name)
  const meta = T.member(result, "_meta")
  if (meta === undefined || T.member(meta, Revision.meta.serverInfo) === undefined) return result
  const rest = T.removeMember(meta, Revision.meta.serverInfo)
  return rest === nothing ? T.removeMember(result, "_meta") : T.setMember(result, "_meta", rest)
}

const levels = new Set(Negotiation.levels)

/**
 * A bridge for a host that opened with initialize.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Bridge & { readonly state: State } => {
  const state: State = {
    revision: undefined,
    metadata: [],
    server: new Set(),
    level: undefined,
    minted: 0,
    pending: new Map(),
    flights: new Map(),
    asks: new Map(),
    wraps: new Set(),
    uris: new Set(),
    listen: undefined,
    before: undefined,
    waiting: []
  }
  const counts = new Map<string, number>()
  const tell = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
  const { host, server, taken } = outbox()
  const reply = (key: Key, reply: Reply): void => host({ _tag: "Reply", key, reply })
  const mint = (): Key => `bridge-${state.minted++}`

  // ---- requests of the host's

  /** Every request says anew who asks, what it can be asked, and how much it wants to be told. */
  const enveloped = (params: Text | undefined): Text => {
    let meta = metaOf(params) ?? nothing
    for (const [name, value] of state.metadata) meta = T.setMember(meta, name, value)
    if (state.level !== undefined) meta = T.setMember(meta, Revision.meta.logLevel, state.level)
    return T.setMember(params ?? nothing, "_meta", meta)
  }

  const send = (pending: Pending, method: string, params: Text | undefined, wish?: Text): Key => {
    const key = mint()
    state.pending.set(key, pending)
    server({ _tag: "Request", key, wish, method, params })
    return key
  }

  const initialize = (key: Key, params: Text | undefined): void => {
    const offered = T.stringIn(params, "protocolVersion")
    const { revision } = Negotiation.server(offered)
    const info = params === undefined ? undefined : T.member(params, "clientInfo")
    const declared = params === undefined ? undefined : T.member(params, "capabilities")
    state.metadata = [
      [Revision.meta.protocolVersion, T.quote(modern)],
      [Revision.meta.clientCapabilities, capabilities(declared, revision)],
      ...(info === undefined ? [] : [[Revision.meta.clientInfo, info] as const])
    ]
    send({ _tag: "Discover", host: key, offered }, "server/discover", enveloped(undefined))
  }

  const discovered = (key: Key, offered: string | undefined, answer: Reply): void => {
    if (answer._tag === "Failure") return reply(key, Write.failure(-32603, "The server could not be discovered"))
    const versions = T.member(answer.result, "supportedVersions")
    const known = versions !== undefined && T.isArray(versions) &&
      T.elements(versions).some((version) => T.string(version) === modern)
    if (!known) {
      const message = `The server speaks none of the revisions ${Revision.all.join(", ")}`
      return reply(
        key,
        Write.failure(
          -32602,
          message,
          T.object([["supported", versions ?? T.array([])], [
            "requested",
            T.quote(offered ?? "")
          ]])
        )
      )
    }
    const { revision } = Negotiation.server(offered)
    const declared = T.member(answer.result, "capabilities")
    const { experimental, paths, unknown } = Capability.parse("server", declared, modern)
    state.revision = revision
    state.server = paths
    const info = T.member(T.member(answer.result, "_meta") ?? nothing, Revision.meta.serverInfo)
    const instructions = T.member(answer.result, "instructions")
    reply(
      key,
      complete(T.object([
        ["protocolVersion", T.quote(revision)],
        ["capabilities", Capability.write("server", revision, { paths, experimental, unknown })],
        ["serverInfo", info ?? T.object([["name", T.quote(options.server)], ["version", T.quote("")]])],
        ...(instructions === undefined ? [] : [["instructions", instructions] as const])
      ]))
    )
  }

  const round = (flight: Flight): void => {
    flight.round++
    flight.due = undefined
    let params = enveloped(flight.params)
    if (flight.answers.length > 0) params = T.setMember(params, "inputResponses", T.object(flight.answers))
    if (flight.state !== undefined) params = T.setMember(params, "requestState", flight.state)
    flight.answers = []
    flight.upstream = send({ _tag: "Round", flight }, flight.method, params)
  }

  const listenFilter = (): Text => {
    const wants = (name: string, path: Capability.Path): Array<readonly [string, Text]> =>
      state.server.has(path) ? [[name, T.literal("true")]] : []
    return T.object([
      ...wants("toolsListChanged", "server.tools.listChanged"),
      ...wants("promptsListChanged", "server.prompts.listChanged"),
      ...wants("resourcesListChanged", "server.resources.listChanged"),
      ...(state.uris.size === 0
        ? []
        : [["resourceSubscriptions", T.array([...state.uris].map(T.quote))] as const])
    ])
  }

  /** No method changes a subscription: the next one is opened first, and the one before ends when it is acknowledged. */
  const listen = (): void => {
    const filter = listenFilter()
    if (state.listen !== undefined && state.before === undefined) state.before = state.listen.key
    else if (state.listen !== undefined) drop(state.listen.key)
    state.listen = undefined
    if (filter === nothing) return acknowledged(undefined)
    const id = T.quote(`bridge-${options.fresh()}`)
    const params = T.setMember(enveloped(undefined), "notifications", filter)
    state.listen = { key: send({ _tag: "Listen" }, "subscriptions/listen", params, id), id, acknowledged: false }
  }

  const drop = (key: Key): void => {
    state.pending.delete(key)
    server({ _tag: "Cancel", key, params: undefined })
  }

  const acknowledged = (params: Text | undefined): void => {
    if (state.before !== undefined) {
      drop(state.before)
      state.before = undefined
    }
    if (state.listen !== undefined) state.listen.acknowledged = true
    const honoured = params === undefined ? undefined : T.member(params, "notifications")
    const list = honoured === undefined ? undefined : T.member(honoured, "resourceSubscriptions")
    const uris = new Set(list === undefined ? [] : T.elements(list).map(T.string))
    const waiting = state.waiting
    state.waiting = []
    for (const { adds, host, uri } of waiting) {
      if (!adds || uris.has(uri)) reply(host, complete(nothing))
      else {
        state.uris.delete(uri)
        reply(host, Write.failure(-32602, "The server does not tell of changes to this resource"))
      }
    }
  }

  const subscribe = (key: Key, params: Text | undefined, adds: boolean): void => {
    const uri = T.stringIn(params, "uri")
    if (uri === undefined) return reply(key, Write.failure(-32602, "uri must be a string"))
    if (adds === state.uris.has(uri)) return reply(key, complete(nothing))
    if (adds && state.uris.size >= maxSubscribed) {
      return reply(key, Write.failure(-32602, `No more than ${maxSubscribed} resources can be subscribed to`))
    }
    if (adds) state.uris.add(uri)
    else state.uris.delete(uri)
    state.waiting.push({ host: key, uri, adds })
    listen()
  }

  const setLevel = (key: Key, params: Text | undefined): void => {
    const level = T.stringIn(params, "level")
    if (level === undefined || !levels.has(level)) {
      return reply(key, Write.failure(-32602, `level must be one of ${[...levels].join(", ")}`))
    }
    state.level = T.quote(level)
    reply(key, complete(nothing))
  }

  const request = (key: Key, method: string, params: Text | undefined): void => {
    switch (method) {
      case "initialize":
        return initialize(key, params)
      case "ping":
        return reply(key, complete(nothing))
      case "logging/setLevel":
        return setLevel(key, params)
      case "resources/subscribe":
        return subscribe(key, params, true)
      case "resources/unsubscribe":
        return subscribe(key, params, false)
    }
    const row = Method.find(method, "request", "host", modern)
    if (Method.isKnown(method) && (row === undefined || row.extension !== undefined)) {
      return reply(key, Write.failure(-32601, "The server has no such method in its revision"))
    }
    // A receiver that declared no tasks runs the request as it is (2025-11-25 basic/utilities/tasks).
    const own = params === undefined ? undefined : T.removeMember(params, "task")
    const flight: Flight = {
      host: key,
      method,
      params: own,
      round: 0,
      upstream: undefined,
      asked: new Map(),
      answers: [],
      state: undefined,
      due: undefined
    }
    state.flights.set(key, flight)
    round(flight)
  }

  const end = (flight: Flight, answer: Reply): void => {
    for (const key of flight.asked.keys()) {
      state.asks.delete(key)
      host({ _tag: "Cancel", key, params: undefined })
    }
    flight.asked.clear()
    state.flights.delete(flight.host)
    reply(flight.host, answer)
  }

  /** The host gives up: whatever stands for its request now is given up too. */
  const cancel = (key: Key, params: Text | undefined): void => {
    const flight = state.flights.get(key)
    if (flight === undefined) {
      state.waiting = state.waiting.filter(({ host }) => host !== key)
      return
    }
    state.flights.delete(key)
    for (const asked of flight.asked.keys()) {
      state.asks.delete(asked)
      host({ _tag: "Cancel", key: asked, params: undefined })
    }
    if (flight.upstream !== undefined) {
      state.pending.delete(flight.upstream)
      server({ _tag: "Cancel", key: flight.upstream, params })
    }
  }

  // ---- answers of the server's

  const answered = (flight: Flight, answer: Reply, now: number): void => {
    flight.upstream = undefined
    if (answer._tag === "Failure") return end(flight, error(flight, answer))
    const type = T.stringIn(answer.result, "resultType") ?? "complete"
    if (type === "complete") return end(flight, result(flight, answer.result))
    if (type === "input_required" && Method.find(flight.method, "request", "host", modern)?.asks?.includes(modern)) {
      return ask(flight, answer.result, now)
    }
    end(flight, Write.failure(-32603, `The server answered ${flight.method} with a result that this host cannot take`))
  }

  const result = (flight: Flight, text: Text): Reply => {
    const revision = state.revision ?? Revision.legacy[0]
    if (flight.method === "tools/list") { for (const name of Lower.wrapped(text, revision)) state.wraps.add(name) }
    const { server, strict } = options
    const wraps = flight.method === "tools/call" && state.wraps.has(T.stringIn(flight.params, "name") ?? "")
    const lowered = Lower.exactly(
      // Of a listing, single tools are left out.
      strict && flight.method !== "tools/list",
      tell,
      (tell) => Lower.result(flight.method, stripped(text), revision, { strict, wraps, tell })
    )
    return lowered === undefined ? Lower.untranslatable(server, "result") : complete(lowered)
  }

  /** Codes that only the modern era has, and the one that means something else in it. */
  const error = (flight: Flight, failure: Failure): Reply => {
    const code = codeOf(failure)
    if (code === -32021) return failed(flight.method, "This host cannot be asked what the server has to ask for this")
    if (code === -32020 || code === -32022) return Write.failure(-32603, "The server did not take the request")
    if (code === -32602 && flight.method === "resources/read") {
      return { _tag: "Failure", error: T.setMember(failure.error, "code", T.integer(-32002)) }
    }
    return failure
  }

  const ask = (flight: Flight, text: Text, now: number): void => {
    flight.state = T.member(text, "requestState")
    const requests = T.members(T.member(text, "inputRequests") ?? nothing)
    if (flight.round >= (requests.length === 0 ? maxPolls : maxRounds)) {
      return end(flight, failed(flight.method, "The server asked too often"))
    }
    if (requests.length === 0) {
      flight.due = now + pollAfter
      return
    }
    const revision = state.revision ?? Revision.legacy[0]
    const lowered: Array<readonly [name: string, method: string, params: Text | undefined]> = []
    for (const [name, request] of requests) {
      const method = T.stringIn(request, "method") ?? ""
      if (Method.embedded(method, modern) === undefined) {
        return end(flight, Write.failure(-32603, "The server asked for something that no host can be asked"))
      }
      const asked = Lower.exactly(
        options.strict,
        tell,
        (tell) => Lower.ask(method, T.member(request, "params"), revision, tell)
      )
      if (asked === undefined && method !== "elicitation/create") {
        return end(flight, failed(flight.method, `This host cannot be asked ${method} as the server asks it`))
      }
      // A person who cannot be asked this has neither accepted nor declined (client/elicitation, Response Actions).
      if (asked === undefined) flight.answers.push([name, T.object([["action", T.quote("cancel")]])])
      else lowered.push([name, method, addressed(method, asked.params)])
    }
    flight.due = now + askLimit
    for (const [name, method, params] of lowered) {
      const key = mint()
      flight.asked.set(key, { name, method })
      state.asks.set(key, flight)
      host({ _tag: "Request", key, method, params })
    }
    if (lowered.length === 0) round(flight)
  }

  /** 2025-11-25 names each address to be visited. */
  const addressed = (method: string, params: Text | undefined): Text | undefined =>
    method === "elicitation/create" && params !== undefined && T.stringIn(params, "mode") === "url" &&
      T.member(params, "elicitationId") === undefined
      ? T.setMember(params, "elicitationId", T.quote(options.fresh()))
      : params

  const hostAnswered = (key: Key, answer: Reply): void => {
    const flight = state.asks.get(key)
    const asked = flight?.asked.get(key)
    if (flight === undefined || asked === undefined) return
    state.asks.delete(key)
    flight.asked.delete(key)
    if (answer._tag === "Failure") {
      return end(flight, failed(flight.method, `The host refused ${asked.method}, which the server needs for this`))
    }
    flight.answers.push([asked.name, T.removeMember(answer.result, "_meta")])
    if (flight.asked.size === 0) round(flight)
  }

  // ---- notifications

  const untagged = (params: Text | undefined): Text | undefined => {
    const meta = metaOf(params)
    if (params === undefined || meta === undefined || T.member(meta, Revision.meta.subscriptionId) === undefined) {
      return params
    }
    const rest = T.removeMember(meta, Revision.meta.subscriptionId)
    const without = rest === nothing ? T.removeMember(params, "_meta") : T.setMember(params, "_meta", rest)
    return without === nothing ? undefined : without
  }

  const serverSays = (method: string, params: Text | undefined): void => {
    if (method === "notifications/subscriptions/acknowledged") {
      // One that was replaced before it was acknowledged says nothing of what is subscribed to now.
      const of = T.member(metaOf(params) ?? nothing, Revision.meta.subscriptionId)
      return of === state.listen?.id ? acknowledged(params) : undefined
    }
    const revision = state.revision
    if (revision === undefined || Method.find(method, "notification", "server", revision) === undefined) return
    if (method === "notifications/progress" && params !== undefined) {
      const progress = Lower.exactly(options.strict, tell, (tell) => Lower.progress(params, revision, tell))
      if (progress !== undefined) host({ _tag: "Notification", method, params: progress })
      return
    }
    host({ _tag: "Notification", method, params: untagged(params) })
  }

  const hostSays = (method: string, params: Text | undefined): void => {
    switch (method) {
      case "notifications/initialized":
        return listen()
      case "notifications/progress":
      case "notifications/roots/list_changed":
        return
    }
    if (Method.isKnown(method) && Method.find(method, "notification", "host", modern) === undefined) return
    server({ _tag: "Notification", method, params })
  }

  // ---- the two sides

  return {
    state,
    lowered: () => counts,
    fromHost: (said) =>
      taken(() => {
        switch (said._tag) {
          case "Request":
            return request(said.key, said.method, said.params)
          case "Notification":
            return hostSays(said.method, said.params)
          case "Cancel":
            return cancel(said.key, said.params)
          case "Reply":
            return hostAnswered(said.key, said.reply)
        }
      }),
    fromServer: (said, now) =>
      taken(() => {
        switch (said._tag) {
          case "Request":
            // A modern server has no requests of its own.
            return server({ _tag: "Reply", key: said.key, reply: Write.failure(-32601, "Servers send no requests") })
          case "Notification":
            return serverSays(said.method, said.params)
          case "Cancel": {
            // It ends the subscription; the next change of what is subscribed to opens another.
            if (state.pending.get(said.key)?._tag === "Listen") {
              state.pending.delete(said.key)
              if (state.listen?.key === said.key) state.listen = undefined
            }
            return
          }
          case "Reply": {
            const pending = state.pending.get(said.key)
            if (pending === undefined) return
            state.pending.delete(said.key)
            switch (pending._tag) {
              case "Discover":
                return discovered(pending.host, pending.offered, said.reply)
              case "Round":
                return answered(pending.flight, said.reply, now)
              case "Listen":
                if (state.listen?.key === said.key) {
                  const refused = !state.listen.acknowledged
                  state.listen = undefined
                  if (refused) acknowledged(undefined)
                }
                return
            }
          }
        }
      }),
    tick: (now) =>
      taken(() => {
        for (const flight of state.flights.values()) {
          if (flight.due === undefined || flight.due > now) continue
          if (flight.asked.size === 0) round(flight)
          else end(flight, failed(flight.method, "The host did not answer what the server asked for this in time"))
        }
      }),
    due: () => {
      let next: number | undefined
      for (const { due } of state.flights.values()) {
        if (due !== undefined && (next === undefined || due < next)) next = due
      }
      return next
    }
  }
}
