/**
 * What belongs to a call beyond its answer: the questions that came in its place and the task that it became.
 *
 * **Details**
 *
 * A question inside a result is judged and recorded as one that a server sends of its own (security rule F16), and its
 * answer goes on only in the round that follows. A task belongs to the session whose call it is.
 *
 * @since 0.1.0
 */
import type * as Agreement from "../protocol/Agreement.ts"
import * as Method from "../protocol/Method.ts"
import type { Subject } from "../stage/Gate.ts"
import type { Call } from "../stage/Port.ts"
import * as Canonical from "../wire/Canonical.ts"
import * as Digest from "../wire/Digest.ts"
import type { Reply, Text } from "../wire/Message.ts"
import type * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import type { Input } from "./Asked.ts"
import * as Asked from "./Asked.ts"
import type { Decision } from "./Decision.ts"
import type { Flights } from "./Flights.ts"
import type { Recorder } from "./Recorder.ts"
import * as Refusal from "./Refusal.ts"

/** So many rounds that wait for a retry, and so many tasks, are remembered. */
const maxRounds = 256
const maxTasks = 10_000

/**
 * The chains of one line.
 *
 * @category models
 * @since 0.1.0
 */
export interface Chains {
  /**
   * A request comes: as it goes on, without answers that nobody asked for (2026-07-28 basic/patterns/mrtr: they are
   * ignored), or why it does not belong to what it says it belongs to.
   */
  readonly comes: (from: "host" | "server", call: Call) => Call | Reason.Reason
  /** What is known of the task that a request is about. */
  readonly taskOf: (call: Call) => Pick<Subject, "name" | "pin" | "definition"> | undefined
  /** An answer comes: `deliver` gets what the asking side gets, once all that is asked in it is decided. */
  readonly answers: (subject: Subject, call: Call, reply: Reply, deliver: (reply: Reply) => void) => void
  /** Lets go of what nobody answers any more. */
  readonly end: () => void
}

/**
 * What chains need of the line around them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly client: string
  readonly server: string
  /** The name that questions say who asks by; none where the operator gave the server none. */
  readonly speaker: string | undefined
  readonly agreement: Agreement.Agreement
  readonly flights: Flights
  readonly recorder: Recorder
  /** Puts a request to the gate: see {@link Decision}. */
  readonly decide: Decision["decide"]
  readonly refuse: Decision["refuse"]
}

/** Questions that a result asked, by their keys: what is told their answers. */
type Round = Map<string, { readonly text: string; readonly call: Call; readonly inner: Call }>

/**
 * No chain yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Chains => {
  const { agreement, client, decide, flights, recorder, refuse, server, speaker } = options
  const rounds = new Map<string, Round>()
  const tasks = {
    host: new Map<string, Pick<Subject, "name" | "pin" | "definition">>(),
    server: new Map<string, Pick<Subject, "name" | "pin" | "definition">>()
  }

  // ---- rounds

  /** A retry has the method and the params of the request before, and the state that the server gave it. */
  const roundOf = (method: string, params: Text | undefined, state: Text | undefined): string => {
    const plain = ["_meta", "inputResponses", "requestState"].reduce(T.removeMember, params ?? T.object([]))
    return Digest.framed([method, Canonical.canonical(plain), state ?? ""])
  }
  const roundOfTask = (call: Call): string => Digest.framed(["task", taskIdIn(call.params) ?? ""])

  const drop = (call: Call): void => {
    const at = flights.get(call)
    if (at === undefined) return
    flights.forget(call)
    if (at._tag === "Waits") flights.giveUp(call, at)
    else if (at.seq !== undefined) recorder.record({ type: "outcome", of: at.seq, was: "cancelled" })
  }

  const keep = (key: string, round: Round): void => {
    rounds.delete(key)
    rounds.set(key, round)
    const [oldest] = rounds
    if (rounds.size <= maxRounds || oldest === undefined) return
    rounds.delete(oldest[0])
    for (const { call } of oldest[1].values()) drop(call)
  }

  /** The answers of a retry: to questions of the round before, and to nothing else. */
  const retried = (call: Call, params: Text, key: string, responses: Text, all: boolean): Call | Reason.Reason => {
    if (!T.isObject(responses)) return "bad-params"
    const round = rounds.get(key)
    const given = T.members(responses)
    const asked = given.filter(([name]) => round?.has(name) === true)
    if (asked.length < given.length) {
      recorder.record({ type: "dropped", server, reason: "unasked", count: given.length - asked.length })
    }
    const goes = asked.length === given.length
      ? call
      : { ...call, params: T.setMember(params, "inputResponses", T.object(asked)) }
    if (round === undefined) return goes
    for (const [name, result] of asked) {
      round.get(name)?.inner.reply({ _tag: "Result", result })
      round.delete(name)
    }
    if (!all) return goes
    rounds.delete(key)
    for (const { call } of round.values()) drop(call)
    return goes
  }

  /** Judges what a result asks, all of it at once: one refusal fails the call. */
  const judge = (
    subject: Subject,
    outer: Call,
    key: string,
    asked: ReadonlyArray<Input>,
    done: (failure: Reply | undefined) => void
  ): void => {
    const before = rounds.get(key)
    const round: Round = new Map()
    const waiting = new Set<Call>()
    let open = true
    let begun = false
    const finish = (failure: Reply | undefined): void => {
      if (!open) return
      open = false
      for (const call of waiting) drop(call)
      if (failure !== undefined) { for (const { call } of round.values()) drop(call) }
      else if (round.size > 0) keep(key, round)
      if (flights.unpark(outer)) done(failure)
      flights.left()
    }
    const settle = (): void => {
      if (begun && waiting.size === 0) finish(undefined)
    }
    flights.park(outer, () => finish(Refusal.failure("bad-answer", { server })))
    for (const { key: name, method, params } of asked) {
      if (!open) break
      const text = `${method} ${params ?? ""}`
      const known = before?.get(name)
      // A task says the same questions until they are answered.
      if (known !== undefined && known.text === text) {
        round.set(name, known)
        continue
      }
      const call: Call = { wish: undefined, method, params, reply: finish }
      waiting.add(call)
      const refused = whyNot(method, params)
      if (refused !== undefined) {
        waiting.delete(call)
        refuse("server", call, undefined, refused, Refusal.failure(refused, { server, item: method }))
        continue
      }
      decide(
        {
          request: (inner) => {
            waiting.delete(call)
            round.set(name, { text, call, inner })
            settle()
          }
        },
        {
          client,
          server,
          from: "server",
          method,
          name: undefined,
          params,
          pin: undefined,
          definition: undefined,
          revision: agreement.revision,
          within: { method: subject.method, name: subject.name }
        },
        call
      )
    }
    begun = true
    settle()
  }

  const whyNot = (method: string, params: Text | undefined): Reason.Reason | undefined => {
    const row = agreement.revision === undefined ? undefined : Method.embedded(method, agreement.revision)
    if (row === undefined) return "unknown-method"
    if (row.needs !== undefined && !agreement.client.has(row.needs)) return "not-offered"
    return Asked.imitates(method, params) ? "imitation" : undefined
  }

  const mayAsk = (method: string): boolean =>
    method === "tasks/get" ||
    agreement.revision !== undefined &&
      Method.find(method, "request", "host", agreement.revision)?.asks?.includes(agreement.revision) === true

  // ---- tasks

  const isTask = (method: string): boolean => method.startsWith("tasks/") && method !== "tasks/list"

  const keepTask = (subject: Subject, result: Text): void => {
    const task = T.member(result, "task")
    const id = taskIdIn(task !== undefined && T.isObject(task) ? task : result)
    if (id === undefined) return
    const { definition, name, pin } = subject
    const known = tasks[subject.from]
    if (known.has(id)) return
    known.set(id, { name, pin, definition })
    const [oldest] = known.keys()
    if (known.size > maxTasks && oldest !== undefined) known.delete(oldest)
  }

  return {
    comes: (from, call) => {
      const { method, params } = call
      if (isTask(method)) {
        const id = taskIdIn(params)
        if (id === undefined) return "bad-params"
        if (!tasks[from].has(id)) return "unknown-task"
      }
      if (from === "server" || agreement.era !== "modern") return call
      if (params === undefined || !params.includes(`"inputResponses":`)) return call
      const responses = T.member(params, "inputResponses")
      if (responses === undefined) return call
      return method === "tasks/update"
        ? retried(call, params, roundOfTask(call), responses, false)
        : retried(call, params, roundOf(method, params, T.member(params, "requestState")), responses, true)
    },
    taskOf: ({ method, params }) => {
      const id = isTask(method) ? taskIdIn(params) : undefined
      return id === undefined ? undefined : tasks.host.get(id)
    },
    answers: (subject, call, reply, deliver) => {
      if (reply._tag === "Failure") return deliver(reply)
      const { result } = reply
      if (hasTasks(agreement) && result.includes(`"taskId":`) && T.isObject(result)) {
        if (call.method === "tasks/list") {
          const known = tasks[subject.from]
          const listed = T.filterElements(result, "tasks", (task) => {
            const id = T.isObject(task) ? taskIdIn(task) : undefined
            return id !== undefined && known.has(id)
          })
          return deliver({ _tag: "Result", result: listed })
        }
        if (!isTask(call.method)) keepTask(subject, result)
      }
      if (subject.from === "server" || agreement.era !== "modern" || !result.includes(`"inputRequests":`)) {
        return deliver(reply)
      }
      const requests = T.isObject(result) ? T.member(result, "inputRequests") : undefined
      if (requests === undefined) return deliver(reply)
      const asked = mayAsk(call.method) ? Asked.inputs(requests) : undefined
      if (asked === undefined) {
        return deliver(Refusal.failure("bad-answer", { server, more: "what it asks cannot be read, or not here" }))
      }
      const key = call.method === "tasks/get"
        ? roundOfTask(call)
        : roundOf(call.method, call.params, T.member(result, "requestState"))
      judge(
        subject,
        call,
        key,
        asked,
        (failure) => deliver(failure ?? { _tag: "Result", result: Asked.namedIn(speaker, result, asked) })
      )
    },
    end: () => {
      for (const round of rounds.values()) for (const { call } of round.values()) drop(call)
      rounds.clear()
    }
  }
}

/** Whether either side keeps tasks at all. */
const hasTasks = ({ client, server }: Agreement.Agreement): boolean =>
  server.has("server.tasks") || server.has("server.extensions.io.modelcontextprotocol/tasks") ||
  client.has("client.tasks")

const taskIdIn = (object: Text | undefined): string | undefined => {
  const id = object === undefined ? undefined : T.member(object, "taskId")
  return id === undefined ? undefined : T.string(id)
}
