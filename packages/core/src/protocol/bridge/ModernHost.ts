/**
 * A host without a handshake before a server that opens with initialize.
 *
 * **Details**
 *
 * The bridge is the host of the legacy server: it initializes it once, with what the first request of its own host declared,
 * and takes the metadata off every request. What the server asks during a call ends the host's request with questions
 * (`input_required`); the server's own request is parked meanwhile, under a name that nobody can guess, and is answered when
 * the host sends its request again with the answers.
 *
 * On a legacy line nothing says which call a question belongs to. So where the host can be asked at all, calls that may lead
 * to questions go one after the other, and one that is parked lets the next one go; where it cannot, they all go at once.
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
import { type Bridge, type Key, maxSubscribed, type Options, outbox, type Said } from "./Message.ts"

/** So long a parked call waits for its answers, in milliseconds. */
const parkLimit = 300_000
/** So many requests wait for their turn. */
const maxWaiting = 1024
/** So many calls are parked; the one that has been so for longest is given up for one more. */
const maxParked = 256

const modern = Revision.newest

/**
 * A request of the host's on its way.
 *
 * - `host`: the key of the round that is to be answered; `undefined` while the call is parked.
 * - `questions`: what the server asked and waits for, by the name that the host is given.
 * - `state`: the name of the parked call.
 * - `early`: what the server answered while the call was parked: it did not wait for the answers to its questions.
 * - `again`: the request is sent again when it is answered, instead of the server's questions (-32042).
 *
 * @category models
 * @since 0.1.0
 */
export interface Flight {
  host: Key | undefined
  readonly method: string
  readonly params: Text | undefined
  readonly declared: ReadonlySet<Capability.Path>
  readonly level: string | undefined
  readonly eligible: boolean
  token: Text | undefined
  progress: number
  upstream: Key | undefined
  readonly questions: Map<string, { readonly key: Key | undefined; readonly method: string }>
  state: string | undefined
  early: Reply | undefined
  again: boolean
  due: number | undefined
}

interface Listening {
  readonly wish: Text
  readonly filter: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
}

/** What an answer of the server's is the answer to. */
type Pending =
  | { readonly _tag: "Initialize" }
  | { readonly _tag: "Flight"; readonly flight: Flight }
  | { readonly _tag: "Own" }

/**
 * All that a bridge of this kind knows.
 *
 * - `opened`: how far the server is; `failed` is what everything is answered with where it could not be opened.
 * - `queue`: requests that wait for the opening, or for their turn.
 *
 * @category models
 * @since 0.1.0
 */
export interface State {
  opened: "no" | "opening" | "open"
  failed: Failure | undefined
  used: boolean
  revision: Revision.Legacy
  declared: ReadonlySet<Capability.Path>
  server: ReadonlySet<Capability.Path>
  discover: Text | undefined
  info: Text | undefined
  level: number
  minted: number
  readonly queue: Array<Said & { readonly _tag: "Request" }>
  readonly pending: Map<Key, Pending>
  readonly flights: Set<Flight>
  readonly parked: Map<string, Flight>
  readonly listening: Map<Key, Listening>
  readonly uris: Map<string, number>
}

const nothing: Text = T.object([])

const codeOf = (failure: Failure): number => Number(T.member(failure.error, "code"))

const asking = (method: string): boolean =>
  Method.find(method, "request", "host", modern)?.asks?.includes(modern) === true

/** What a server may ask for, by the capability that the host has to declare. */
const asks = ["client.sampling", "client.roots", "client.elicitation"] as const

const own = new Set<string>([
  Revision.meta.protocolVersion,
  Revision.meta.clientCapabilities,
  Revision.meta.clientInfo,
  Revision.meta.logLevel
])

/** The params without what a legacy server has no name for. */
const stripped = (params: Text | undefined): Text | undefined => {
  if (params === undefined) return undefined
  let rest = T.removeMember(T.removeMember(params, "inputResponses"), "requestState")
  const meta = metaOf(rest)
  if (meta !== undefined) {
    const kept = T.members(meta).filter(([name]) => !own.has(name))
    rest = kept.length === 0 ? T.removeMember(rest, "_meta") : T.setMember(rest, "_meta", T.object(kept))
  }
  return rest === nothing ? undefined : rest
}

const tokenOf = (params: Text | undefined): Text | undefined => {
  const meta = metaOf(params)
  return meta === undefined ? undefined : T.member(meta, "progressToken")
}

/** The same request, apart from the answers that it now has: its metadata may differ from round to round. */
const body = (params: Text | undefined): string => {
  const rest = stripped(params)
  return rest === undefined ? "{}" : T.removeMember(rest, "_meta")
}

/**
 * A bridge for a host of the modern era.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Bridge & { readonly state: State } => {
  const state: State = {
    opened: "no",
    failed: undefined,
    used: false,
    revision: Revision.legacy[0],
    declared: new Set(),
    server: new Set(),
    discover: undefined,
    info: undefined,
    level: Number.POSITIVE_INFINITY,
    minted: 0,
    queue: [],
    pending: new Map(),
    flights: new Set(),
    parked: new Map(),
    listening: new Map(),
    uris: new Map()
  }
  const counts = new Map<string, number>()
  const tell = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
  const { host, server, taken } = outbox()
  const reply = (key: Key, reply: Reply): void => host({ _tag: "Reply", key, reply })
  const send = (pending: Pending, method: string, params: Text | undefined, wish?: Text): Key => {
    const key = `bridge-${state.minted++}`
    state.pending.set(key, pending)
    server({ _tag: "Request", key, wish, method, params })
    return key
  }

  /** A result as the modern era has it. */
  const complete = (method: string, text: Text, type = "complete"): Reply => {
    let result = T.object([["resultType", T.quote(type)], ...T.members(text)])
    if (type === "complete" && Method.find(method, "request", "host", modern)?.caches?.includes(modern)) {
      result = T.setMember(T.setMember(result, "ttlMs", T.integer(0)), "cacheScope", T.quote("private"))
    }
    if (state.info === undefined) return { _tag: "Result", result }
    const meta = T.setMember(T.member(result, "_meta") ?? nothing, Revision.meta.serverInfo, state.info)
    return { _tag: "Result", result: T.setMember(result, "_meta", meta) }
  }

  // ---- the opening

  const open = (envelope: Negotiation.Envelope): void => {
    state.opened = "opening"
    const { experimental, paths } = Capability.parse("client", envelope.clientCapabilities, modern)
    state.declared = paths
    send(
      { _tag: "Initialize" },
      "initialize",
      T.object([
        ["protocolVersion", T.quote(state.revision)],
        ["capabilities", Capability.write("client", state.revision, { paths, experimental })],
        ["clientInfo", envelope.clientInfo ?? T.object([["name", T.quote("host")], ["version", T.quote("")]])]
      ])
    )
  }

  const initialized = (answer: Reply): void => {
    if (answer._tag === "Failure") {
      state.failed = Write.failure(-32603, "The server could not be opened")
    } else {
      const taken = Negotiation.client(T.stringIn(answer.result, "protocolVersion"))
      if (taken._tag === "Refuse") {
        state.failed = Write.failure(-32603, "The server speaks no revision that Sallyport does")
      } else {
        state.revision = taken.revision
        const declared = T.member(answer.result, "capabilities")
        const { experimental, paths, unknown } = Capability.parse("server", declared, taken.revision)
        state.server = paths
        state.info = T.member(answer.result, "serverInfo")
        const instructions = T.member(answer.result, "instructions")
        state.discover = T.object([
          ["supportedVersions", T.array(Revision.modern.map(T.quote))],
          ["capabilities", Capability.write("server", modern, { paths, experimental, unknown })],
          ...(instructions === undefined ? [] : [["instructions", instructions] as const])
        ])
      }
    }
    state.opened = "open"
    drain()
  }

  /** A host that only wants to know who is there leaves no trace: the session opens with the first thing it is used for. */
  const used = (): void => {
    if (state.used) return
    state.used = true
    server({ _tag: "Notification", method: "notifications/initialized", params: undefined })
  }

  /** What waits goes on in order, as far as it may. */
  const drain = (): void => {
    const waiting = state.queue.splice(0)
    for (const said of waiting) request(said)
  }

  // ---- requests of the host's

  const request = (said: Said & { readonly _tag: "Request" }): void => {
    const { key, method, params } = said
    const envelope = Negotiation.envelope(params)
    if (envelope._tag === "Refused") {
      return reply(key, Write.failure(envelope.code, envelope.message, envelope.data))
    }
    if (state.opened !== "open") {
      if (state.queue.length >= maxWaiting) return reply(key, Write.failure(-32603, "Too many requests wait"))
      state.queue.push(said)
      if (state.opened === "no") open(envelope)
      return
    }
    if (state.failed !== undefined) return reply(key, state.failed)
    if (method === "server/discover") return reply(key, complete(method, state.discover ?? nothing))
    used()
    if (method === "subscriptions/listen") return listen(said)
    const row = Method.find(method, "request", "host", modern)
    if (Method.isKnown(method) && (row === undefined || row.extension !== undefined)) {
      return reply(key, Write.failure(-32601, "Method not found"))
    }
    const name = T.stringIn(params, "requestState")
    if (name !== undefined && asking(method)) return resume(key, name, said)
    const eligible = asking(method) && asks.some((path) => state.declared.has(path))
    if (eligible && active() !== undefined) {
      if (state.queue.length >= maxWaiting) return reply(key, Write.failure(-32603, "Too many requests wait"))
      state.queue.push(said)
      return
    }
    const flight: Flight = {
      host: key,
      method,
      params,
      declared: Capability.read("client", envelope.clientCapabilities, modern),
      level: envelope.logLevel,
      eligible,
      token: tokenOf(params),
      progress: Number.NEGATIVE_INFINITY,
      upstream: undefined,
      questions: new Map(),
      state: undefined,
      early: undefined,
      again: false,
      due: undefined
    }
    state.flights.add(flight)
    begin(flight)
  }

  /** The one call that questions belong to now. */
  const active = (): Flight | undefined => {
    for (const flight of state.flights) if (flight.eligible && flight.host !== undefined) return flight
    return undefined
  }

  const begin = (flight: Flight): void => {
    lowerLevel(flight.level)
    const own = stripped(flight.params)
    const { revision } = state
    const params = flight.method === "completion/complete" && own !== undefined
      ? Lower.exactly(options.strict, tell, (tell) => Lower.completion(own, revision, tell))
      : own
    if (own !== undefined && params === undefined) return end(flight, Lower.untranslatable(options.server, "request"))
    flight.upstream = send({ _tag: "Flight", flight }, flight.method, params)
  }

  /** One level holds for the whole of a legacy session: the lowest that any request has asked for. */
  const lowerLevel = (level: string | undefined): void => {
    if (level === undefined || !state.server.has("server.logging")) return
    const rank = Negotiation.levels.indexOf(level)
    if (rank >= state.level) return
    state.level = rank
    send({ _tag: "Own" }, "logging/setLevel", T.object([["level", T.quote(level)]]))
  }

  /** The request again, with the answers: the server's questions are answered, and the call goes on. */
  const resume = (key: Key, name: string, said: Said & { readonly _tag: "Request" }): void => {
    const flight = state.parked.get(name)
    if (flight === undefined || flight.method !== said.method || body(flight.params) !== body(said.params)) {
      return reply(
        key,
        Write.failure(-32602, "requestState is not of this request, is too old, or was used; call again without it")
      )
    }
    const responses = T.member(said.params ?? nothing, "inputResponses") ?? nothing
    const missing = [...flight.questions.keys()].filter((question) => T.member(responses, question) === undefined)
    if (missing.length > 0) {
      flight.host = key
      return park(flight)
    }
    // Its questions would be taken for those of the call that is under way.
    if (flight.eligible && active() !== undefined) {
      state.queue.push(said)
      return
    }
    state.parked.delete(name)
    flight.state = undefined
    flight.due = undefined
    flight.host = key
    flight.token = tokenOf(said.params)
    flight.progress = Number.NEGATIVE_INFINITY
    if (flight.early !== undefined) return end(flight, flight.early)
    const questions = [...flight.questions]
    flight.questions.clear()
    if (flight.again) {
      flight.again = false
      return begin(flight)
    }
    for (const [question, { key: asked }] of questions) {
      const answer = T.member(responses, question)
      if (asked !== undefined && answer !== undefined) {
        server({ _tag: "Reply", key: asked, reply: { _tag: "Result", result: answer } })
      }
    }
  }

  // ---- what the server asks

  const refuse = (key: Key, method: string): void => {
    const answer: Reply = method === "elicitation/create"
      ? { _tag: "Result", result: T.object([["action", T.quote("cancel")]]) }
      : Write.failure(method === "sampling/createMessage" ? -1 : -32601, "The host cannot be asked this now")
    server({ _tag: "Reply", key, reply: answer })
  }

  const asked = (key: Key, method: string, params: Text | undefined, now: number): void => {
    if (method === "ping") return server({ _tag: "Reply", key, reply: { _tag: "Result", result: nothing } })
    const needs = Method.embedded(method, modern)?.needs
    const flight = active()
    if (needs === undefined || flight === undefined) return refuse(key, method)
    if (!flight.declared.has(needs)) {
      refuse(key, method)
      return
    }
    // One before it may have been taken back.
    let number = flight.questions.size + 1
    const named = (): string => `${method.slice(0, method.indexOf("/"))}-${number}`
    while (flight.questions.has(named())) number++
    const question = named()
    flight.questions.set(question, { key, method })
    requests.set(key, {
      flight,
      question,
      params: T.removeMember(T.removeMember(params ?? nothing, "elicitationId"), "task")
    })
    flight.due = now
  }

  /** What is asked, until the host is told of it. */
  const requests = new Map<Key, { readonly flight: Flight; readonly question: string; readonly params: Text }>()

  /** Ends the host's round with all that the server has asked in this one. */
  const park = (flight: Flight): void => {
    const key = flight.host
    if (key === undefined) return
    flight.host = undefined
    const name = flight.state ?? options.fresh()
    flight.state = name
    state.parked.set(name, flight)
    const [longest] = state.parked.values()
    if (state.parked.size > maxParked && longest !== undefined) abandon(longest)
    const entries = [...flight.questions].map(([question, { key: asked, method }]) => {
      const said = asked === undefined ? visits.get(question) : requests.get(asked)?.params
      return [
        question,
        T.object([
          ["method", T.quote(method)],
          ...(said === undefined || said === nothing ? [] : [["params", said] as const])
        ])
      ] as const
    })
    reply(
      key,
      complete(
        flight.method,
        T.object([["inputRequests", T.object(entries)], ["requestState", T.quote(name)]]),
        "input_required"
      )
    )
    drain()
  }

  /** The addresses that a call wants to be visited first (-32042 of 2025-11-25). */
  const visits = new Map<string, Text>()

  // ---- answers of the server's

  const end = (flight: Flight, answer: Reply): void => {
    state.flights.delete(flight)
    if (flight.state !== undefined) state.parked.delete(flight.state)
    for (const [question, { key }] of flight.questions) {
      visits.delete(question)
      if (key !== undefined) requests.delete(key)
    }
    if (flight.host !== undefined) reply(flight.host, answer)
    drain()
  }

  const answered = (flight: Flight, answer: Reply, now: number): void => {
    flight.upstream = undefined
    const settle = (reply: Reply): void => {
      if (flight.host === undefined) flight.early = reply
      else end(flight, reply)
    }
    if (answer._tag === "Result") {
      if (T.member(answer.result, "task") !== undefined && flight.method === "tools/call") {
        return settle(Write.failure(-32603, "The server answered with a task that nobody asked for"))
      }
      const { server, strict } = options
      const result = Lower.exactly(
        strict && flight.method !== "tools/list",
        tell,
        (tell) => Lower.result(flight.method, answer.result, modern, { strict, wraps: false, tell })
      )
      return settle(result === undefined ? Lower.untranslatable(server, "result") : complete(flight.method, result))
    }
    const code = codeOf(answer)
    if (code === -32042 && asking(flight.method) && visit(flight, answer)) {
      flight.due = now + parkLimit
      return park(flight)
    }
    settle(
      code === -32002 || code === -32042 || code === -1
        ? { _tag: "Failure", error: T.setMember(answer.error, "code", T.integer(code === -32002 ? -32602 : -32603)) }
        : answer
    )
  }

  const visit = (flight: Flight, failure: Failure): boolean => {
    const data = T.member(failure.error, "data")
    const list = data === undefined ? undefined : T.member(data, "elicitations")
    if (list === undefined || !T.isArray(list) || !flight.declared.has("client.elicitation.url")) return false
    for (const elicitation of T.elements(list)) {
      const question = `elicitation-${options.fresh()}`
      visits.set(question, T.removeMember(elicitation, "elicitationId"))
      flight.questions.set(question, { key: undefined, method: "elicitation/create" })
    }
    flight.again = true
    return flight.questions.size > 0
  }

  // ---- subscriptions

  const listen = ({ key, params, wish }: Said & { readonly _tag: "Request" }): void => {
    const wanted = (params === undefined ? undefined : T.member(params, "notifications")) ?? nothing
    const filter = new Set<string>()
    const honoured: Array<readonly [string, Text]> = []
    for (const [method, row] of Method.table) {
      if (row.filter === undefined || row.filter === "resourceSubscriptions" || row.filter === "taskIds") continue
      if (T.member(wanted, row.filter) !== "true" || row.declares === undefined || !state.server.has(row.declares)) {
        continue
      }
      filter.add(method)
      honoured.push([row.filter, T.literal("true")])
    }
    const list = T.member(wanted, "resourceSubscriptions")
    const uris = new Set<string>()
    if (list !== undefined && state.server.has("server.resources.subscribe")) {
      for (const element of T.elements(list)) {
        const uri = T.string(element)
        if (uri === undefined || uris.has(uri)) continue
        const count = state.uris.get(uri) ?? 0
        // What is not honoured is missing from the acknowledgement.
        if (count === 0 && state.uris.size >= maxSubscribed) continue
        uris.add(uri)
        state.uris.set(uri, count + 1)
        if (count === 0) send({ _tag: "Own" }, "resources/subscribe", T.object([["uri", element]]))
      }
      honoured.push(["resourceSubscriptions", T.array([...uris].map(T.quote))])
    }
    const id = wish ?? T.literal("null")
    state.listening.set(key, { wish: id, filter, uris })
    host({
      _tag: "Notification",
      method: "notifications/subscriptions/acknowledged",
      params: T.object([
        ["notifications", T.object(honoured)],
        ["_meta", T.object([[Revision.meta.subscriptionId, id]])]
      ])
    })
  }

  const unlisten = (key: Key): boolean => {
    const listening = state.listening.get(key)
    if (listening === undefined) return false
    state.listening.delete(key)
    for (const uri of listening.uris) {
      const count = (state.uris.get(uri) ?? 1) - 1
      if (count > 0) state.uris.set(uri, count)
      else {
        state.uris.delete(uri)
        send({ _tag: "Own" }, "resources/unsubscribe", T.object([["uri", T.quote(uri)]]))
      }
    }
    return true
  }

  // ---- notifications

  const serverSays = (method: string, params: Text | undefined): void => {
    const row = Method.find(method, "notification", "server", modern)
    if (row === undefined) return
    if (row.filter !== undefined) {
      const uri = row.filter === "resourceSubscriptions" ? T.stringIn(params, "uri") : undefined
      for (const { filter, uris, wish } of state.listening.values()) {
        if (uri === undefined ? !filter.has(method) : !covers(uris, uri)) continue
        const meta = T.setMember(metaOf(params) ?? nothing, Revision.meta.subscriptionId, wish)
        host({ _tag: "Notification", method, params: T.setMember(params ?? nothing, "_meta", meta) })
      }
      return
    }
    if (method === "notifications/message") {
      const rank = Negotiation.levels.indexOf(T.stringIn(params, "level") ?? "")
      const wanted = [...state.flights].some(({ host, level }) =>
        host !== undefined && level !== undefined && Negotiation.levels.indexOf(level) <= rank
      )
      if (!wanted) return
    }
    if (method === "notifications/progress") return progress(params)
    host({ _tag: "Notification", method, params })
  }

  /** A subscription to a resource holds for what is under it (server/resources, Subscriptions). */
  const covers = (uris: ReadonlySet<string>, uri: string): boolean =>
    uris.has(uri) || [...uris].some((each) => uri.startsWith(each.endsWith("/") ? each : `${each}/`))

  /** A round has the token that it was sent with; the call has the one of its first. */
  const progress = (params: Text | undefined): void => {
    const token = params === undefined ? undefined : T.member(params, "progressToken")
    if (params === undefined || token === undefined) return
    const flight = [...state.flights].find((each) => tokenOf(each.params) === token)
    if (flight === undefined || flight.host === undefined || flight.token === undefined) return
    const value = Number(T.member(params, "progress"))
    if (!(value > flight.progress)) return
    flight.progress = value
    host({
      _tag: "Notification",
      method: "notifications/progress",
      params: T.setMember(params, "progressToken", flight.token)
    })
  }

  // ---- the end of things

  /** Nobody will answer: the server is told so, and the call is given up. */
  const abandon = (flight: Flight): void => {
    for (const { key, method } of flight.questions.values()) if (key !== undefined) refuse(key, method)
    if (flight.upstream !== undefined) {
      state.pending.delete(flight.upstream)
      server({ _tag: "Cancel", key: flight.upstream, params: undefined })
    }
    end(flight, Write.failure(-32603, "The server's questions were not answered in time"))
  }

  const cancel = (key: Key, params: Text | undefined): void => {
    const waiting = state.queue.findIndex((said) => said.key === key)
    if (waiting >= 0) {
      state.queue.splice(waiting, 1)
      return
    }
    if (unlisten(key)) return
    const flight = [...state.flights].find(({ host }) => host === key)
    if (flight === undefined) return
    flight.host = undefined
    for (const question of flight.questions.values()) {
      if (question.key !== undefined) refuse(question.key, question.method)
    }
    if (flight.upstream !== undefined) {
      state.pending.delete(flight.upstream)
      server({ _tag: "Cancel", key: flight.upstream, params: stripped(params) })
    }
    end(flight, Write.failure(-32603, "cancelled"))
  }

  /** The server takes a question back, which the host may have been asked already. */
  const withdrawn = (key: Key): void => {
    const request = requests.get(key)
    if (request === undefined) return
    requests.delete(key)
    request.flight.questions.delete(request.question)
    if (request.flight.questions.size === 0 && request.flight.host !== undefined) request.flight.due = undefined
  }

  return {
    state,
    lowered: () => counts,
    fromHost: (said) =>
      taken(() => {
        switch (said._tag) {
          case "Request":
            return request(said)
          case "Cancel":
            return cancel(said.key, said.params)
          case "Notification":
            // A modern host has nothing to announce but what it cancels.
            return
          case "Reply":
            // A modern host is sent no requests.
            return
        }
      }),
    fromServer: (said, now) =>
      taken(() => {
        switch (said._tag) {
          case "Request":
            return asked(said.key, said.method, said.params, now)
          case "Notification":
            return serverSays(said.method, said.params)
          case "Cancel":
            return withdrawn(said.key)
          case "Reply": {
            const pending = state.pending.get(said.key)
            if (pending === undefined) return
            state.pending.delete(said.key)
            switch (pending._tag) {
              case "Initialize":
                return initialized(said.reply)
              case "Flight":
                return answered(pending.flight, said.reply, now)
              case "Own":
                return
            }
          }
        }
      }),
    tick: (now) =>
      taken(() => {
        for (const flight of new Set(state.flights)) {
          if (flight.due === undefined || flight.due > now) continue
          if (flight.host !== undefined && flight.questions.size > 0) {
            // Questions of one moment are one round.
            flight.due = now + parkLimit
            park(flight)
          } else abandon(flight)
        }
      }),
    due: () => {
      let next: number | undefined
      for (const { due } of state.flights) if (due !== undefined && (next === undefined || due < next)) next = due
      return next
    }
  }
}
