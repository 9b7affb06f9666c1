/**
 * One client at a server: what it asks is read, routed to the parts and answered.
 *
 * **Details**
 *
 * A leg of the server's own. Everything that several clients share, such as parts, places and sealed state, is the
 * program's; what is here is of one connection alone. In 2026-07-28 even that is only open calls and subscriptions.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Refusals from "../../line/Refusal.ts"
import { nothing, start } from "../../line/Start.ts"
import { means } from "../../line/Wrapped.ts"
import * as Agreement from "../../protocol/Agreement.ts"
import * as Capability from "../../protocol/Capability.ts"
import * as Method from "../../protocol/Method.ts"
import * as Negotiation from "../../protocol/Negotiation.ts"
import * as Revision from "../../protocol/Revision.ts"
import { exitOf } from "../../stage/internal/constant.ts"
import type { Call, Leg, Port } from "../../stage/Port.ts"
import type { Who } from "../../stage/Transport.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as Write from "../../wire/Write.ts"
import type { Level } from "../Client.ts"
import { Client } from "../Client.ts"
import * as Completion from "../Completion.ts"
import { NotFound, Refusal } from "../Refusal.ts"
import type { Registry } from "../Registry.ts"
import type { Hints } from "../Resource.ts"
import type { Timeout } from "../Tool.ts"
import type { Body, Failure } from "./body.ts"
import * as body from "./body.ts"
import type { Caller } from "./Exchange.ts"
import * as Exchange from "./Exchange.ts"
import type { Slots } from "./Slots.ts"
import type { Bound, Rounds, States } from "./State.ts"
import type { Kind, Table } from "./Table.ts"

/**
 * What the clients of a server share.
 *
 * @category models
 * @since 0.1.0
 */
export interface Program {
  readonly name: string
  readonly serverInfo: (revision: Revision.Revision) => Text
  readonly instructions: string | undefined
  readonly extensions: Text | undefined
  readonly logging: boolean
  readonly pageSize: number
  readonly hints: Hints
  readonly timeout: Timeout | undefined
  readonly table: Table
  readonly slots: Slots
  readonly states: States
  readonly fresh: () => string
  readonly context: Context.Context<Registry>
  readonly desks: Set<Desk>
}

/**
 * What a client is told of without having asked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Desk {
  readonly changed: (kind: Kind) => void
  readonly updated: (uri: string) => void
}

/** What a handler may have. */
type Services = Client | Registry

/** A request that runs, or waits for its place. */
interface Flight {
  state: "waits" | "runs" | "ended" | "cancelled"
  stop: () => void
}

/** What there is to run for a request. */
interface Job {
  readonly name: string
  readonly timeout: Timeout | undefined
  readonly hints: Hints | undefined
  readonly run: () => Effect.Effect<Body, Failure, Services>
}

/** What a client wants to be told (2026-07-28 basic/patterns/subscriptions). */
interface Listen {
  readonly kinds: ReadonlySet<Kind>
  readonly uris: ReadonlySet<string>
}

const none = T.object([])
const yes = T.literal("true")

const listed = { tools: "toolsListChanged", resources: "resourcesListChanged", prompts: "promptsListChanged" } as const
const kinds: ReadonlyArray<Kind> = ["tools", "resources", "prompts"]

const fail = (code: number, message: string, data?: Text): Reply => Write.failure(code, message, data)

const invalid = (message: string): Reply => fail(-32602, message)

const stringOf = (params: Text | undefined, name: string): string | undefined => {
  const text = params === undefined ? undefined : T.member(params, name)
  return text === undefined ? undefined : T.string(text)
}

const objectOf = (params: Text | undefined, name: string): Text | undefined => {
  const text = params === undefined ? undefined : T.member(params, name)
  return text !== undefined && T.isObject(text) ? text : undefined
}

/** The arguments of a call: none count as `{}`, and what is no object is refused. */
const argumentsOf = (params: Text): Text | undefined => {
  const text = T.member(params, "arguments")
  return text === undefined ? none : T.isObject(text) ? text : undefined
}

const isLevel = (level: string | undefined): level is Level => Exchange.levels.some((known) => known === level)

/** What a page of a listing is made of, by method. */
const lists = {
  "tools/list": "tools",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "prompts/list": "prompts"
} as const

const isList = (method: string): method is keyof typeof lists => Object.hasOwn(lists, method)

/** Hands on what a handler does at most for so long; time in which the client is asked does not count. */
const timed = (
  effect: Effect.Effect<Body, Failure, Services>,
  timeout: Timeout,
  exchange: Exchange.Exchange,
  now: () => number,
  late: (after: Duration.Duration) => Effect.Effect<Body, Failure>
): Effect.Effect<Body, Failure, Services> =>
  Effect.suspend(() => {
    const [given, resets] = typeof timeout === "object" && "resetOnProgress" in timeout
      ? [timeout.after, timeout.resetOnProgress]
      : [timeout, false]
    const after = Duration.fromInputUnsafe(given)
    const millis = Duration.toMillis(after)
    let deadline = now() + millis
    let asking = 0
    let since = 0
    exchange.onLife((life) => {
      if (life === "progress") {
        if (resets) deadline = now() + millis
      } else if (life === "asking") {
        if (asking++ === 0) since = now()
      } else if (--asking === 0) deadline += now() - since
    })
    const watch: Effect.Effect<void> = Effect.suspend(() => {
      const left = asking > 0 ? millis : deadline - now()
      return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(left), watch)
    })
    return Effect.raceFirst(effect, Effect.andThen(watch, Effect.suspend(() => late(after))))
  })

/**
 * Serves one client.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (program: Program, who: Who): Leg =>
  Effect.fnUntraced(function*(back: Port) {
    const scope = yield* Effect.scope
    const { context, desks, slots, states, table } = program
    const clock = Context.get(context, Clock.Clock)
    const now = () => clock.currentTimeMillisUnsafe()
    const runs = start(context, scope)
    const around: Exchange.Around = { back, states, fresh: program.fresh }

    /** The opened legacy session. */
    let session: Caller | undefined
    let level: Level = "info"
    const offered = new Set<Kind>()
    const subscribed = new Set<string>()
    const listens = new Map<Call, Listen>()
    const flights = new Map<Call, Flight>()

    const flush = (): void => {
      runs(back.flush, () => {})
    }

    // ---- answers

    const resultOf = (
      revision: Revision.Revision,
      { members, meta }: Body,
      hints?: Hints,
      type = "complete"
    ): Reply => ({
      _tag: "Result",
      result: Revision.isModern(revision)
        ? T.object([
          ["resultType", T.quote(type)],
          ...members,
          ...(hints === undefined
            ? []
            : [["ttlMs", T.integer(hints.ttlMs)] as const, ["cacheScope", T.quote(hints.cacheScope)] as const]),
          ["_meta", T.setMember(T.fromValue(meta ?? {}), Revision.meta.serverInfo, program.serverInfo(revision))]
        ])
        : T.object(meta === undefined ? members : [...members, ["_meta", T.fromValue(meta)]])
    })

    const failed = (failure: Failure, revision: Revision.Revision): Reply => {
      switch (failure._tag) {
        case "NotFound":
          return fail(
            Revision.isModern(revision) ? -32602 : -32002,
            failure.message,
            T.object([["uri", T.quote(failure.uri)]])
          )
        case "AskError":
          return failure.reason === "not-supported" && Revision.isModern(revision)
            ? fail(-32021, failure.message, T.object([["requiredCapabilities", T.fromValue(failure.requires)]]))
            : fail(-32603, failure.message)
        case "Refusal":
          return fail(failure.code, failure.message, failure.data === undefined ? undefined : T.fromValue(failure.data))
      }
    }

    /** What is left to say of a handler that ended neither with a result nor with a failure of its own. */
    const broken = (call: Call, revision: Revision.Revision, cause: Cause.Cause<Failure>): Reply => {
      runs(Effect.logError(`${call.method} failed`, cause), () => {})
      return call.method === "tools/call" ? resultOf(revision, body.error(body.defect)) : fail(-32603, body.defect)
    }

    // ---- running handlers

    const serve = (call: Call, caller: Caller, job: Job): void => {
      const flight: Flight = { state: "waits", stop: nothing }
      const takeBack = slots.take((free) => begin(call, caller, job, flight, free))
      if (takeBack === undefined) call.reply(Refusals.failure("too-many-requests"))
      else if (flight.state === "waits") {
        flight.stop = takeBack
        flights.set(call, flight)
      }
    }

    const begin = (call: Call, caller: Caller, job: Job, flight: Flight, free: () => void): void => {
      const { revision } = caller
      const queued = flight.stop !== nothing
      const bound = {
        program: program.name,
        principal: who.client,
        method: call.method,
        name: job.name,
        params: call.params
      }
      const before = roundsOf(call, revision, bound)
      let turn = !queued
      const end = (reply: Reply): void => {
        if (flight.state !== "cancelled") call.reply(reply)
        flight.state = "ended"
        flights.delete(call)
        // A long answer keeps its place until there is room for more: what a client does not read is bounded.
        if (turn && reply._tag === "Result" && reply.result.length <= maxLoose) free()
        else runs(back.flush, free)
      }
      if (before === undefined) {
        return end(
          invalid(
            "requestState cannot be accepted: it is not this request's, is too old, or was used; call again without it"
          )
        )
      }
      const effect = body.attempt(job.run)
      const constant = exitOf(effect)
      if (constant !== undefined && Exit.isSuccess(constant) && constant.value.meta === undefined) {
        return end(resultOf(revision, constant.value, job.hints))
      }

      flight.state = "runs"
      const exchange = Exchange.make(call, caller, around, { before, bound }, () => flight.stop())
      const replyOf = (exit: Exit.Exit<Body, Failure>): Reply => {
        if (Exit.isSuccess(exit)) return resultOf(revision, exit.value, job.hints)
        const questions = exchange.questions()
        if (questions !== undefined) return resultOf(revision, questions, undefined, "input_required")
        const failure = Cause.findErrorOption(exit.cause)
        return Option.isSome(failure) ? failed(failure.value, revision) : broken(call, revision, exit.cause)
      }
      const settle = (exit: Exit.Exit<Body, Failure>): void => {
        exchange.close()
        // Metadata and the data of errors are the author's own values: they may be none that JSON can have.
        end(Result.getOrElse(Result.try(() => replyOf(exit)), (defect) => broken(call, revision, Cause.die(defect))))
      }
      let asked = false
      flight.stop = () => {
        asked = true
      }
      const timeout = job.timeout ?? program.timeout
      const stop = start(Context.add(context, Client, exchange.service), scope)(
        timeout === undefined ? effect : timed(effect, timeout, exchange, now, (after) => late(call, after)),
        settle
      )
      turn = false
      if (hasEnded(flight)) return
      flight.stop = stop
      flights.set(call, flight)
      // It ended with questions before it could be told to stop.
      if (asked) stop()
    }

    const late = (call: Call, after: Duration.Duration): Effect.Effect<Body, Failure> => {
      const words = `It took longer than ${Duration.format(after)} and was stopped`
      return call.method === "tools/call"
        ? Effect.succeed(body.error(words))
        : Effect.fail(new Refusal({ code: -32603, message: words }))
    }

    /** What earlier rounds came to, with the answers of this one; `undefined` where its state cannot be accepted. */
    const roundsOf = (call: Call, revision: Revision.Revision, bound: Bound): Rounds | undefined => {
      if (!Revision.isModern(revision) || call.params === undefined) return noRounds
      const state = T.member(call.params, "requestState")
      const answers = objectOf(call.params, "inputResponses")
      const before = state === undefined ? states.begin() : states.open(state, bound, now())
      if (before === undefined || answers === undefined) return before
      // Without a state these are answers to questions that can be told beforehand; with one, to what was asked.
      const given = T.members(answers).filter(([key]) => !before.told || before.asked.has(key))
      return { ...before, answers: new Map([...before.answers, ...given]) }
    }

    // ---- opening

    const capabilities = (revision: Revision.Revision): Text => {
      const changes = T.object([["listChanged", yes]])
      const entries: Array<readonly [string, Text]> = []
      if (program.logging) entries.push(["logging", none])
      if (table.completes() && revision >= "2025-03-26") entries.push(["completions", none])
      if (table.offers("prompts")) entries.push(["prompts", changes])
      if (table.offers("resources")) entries.push(["resources", T.object([["subscribe", yes], ["listChanged", yes]])])
      if (table.offers("tools")) entries.push(["tools", changes])
      if (program.extensions !== undefined && Revision.isModern(revision)) {
        entries.push(["extensions", program.extensions])
      }
      return T.object(entries)
    }

    const instructions = program.instructions === undefined
      ? []
      : [["instructions", T.quote(program.instructions)] as const]

    const initialize = (call: Call): void => {
      const offer = stringOf(call.params, "protocolVersion")
      const declared = objectOf(call.params, "capabilities")
      const info = objectOf(call.params, "clientInfo")
      if (offer === undefined) {
        return call.reply(invalid("initialize needs params.protocolVersion, a string"))
      }
      if (declared === undefined) return call.reply(invalid("initialize needs params.capabilities, an object"))
      if (info === undefined) return call.reply(invalid("initialize needs params.clientInfo, an object"))
      const { revision } = Negotiation.server(offer)
      session = {
        who: who.client,
        revision,
        capabilities: Capability.read("client", declared),
        declared,
        info,
        level: () => level
      }
      for (const kind of kinds) if (table.offers(kind)) offered.add(kind)
      call.reply({
        _tag: "Result",
        result: T.object([
          ["protocolVersion", T.quote(revision)],
          ["capabilities", capabilities(revision)],
          ["serverInfo", program.serverInfo(revision)],
          ...instructions
        ])
      })
    }

    const discover = (call: Call, revision: Revision.Revision): void =>
      call.reply(resultOf(revision, {
        members: [
          ["supportedVersions", T.array(Revision.modern.map(T.quote))],
          ["capabilities", capabilities(revision)],
          ...instructions
        ]
      }, program.hints))

    /** Who asks: the opened session, or what a modern request says of itself. */
    const callerOf = (call: Call): Caller | Reply => {
      if (session !== undefined) return session
      const envelope = Negotiation.envelope(call.params)
      if (envelope._tag === "Refused") return fail(envelope.code, envelope.message, envelope.data)
      const { logLevel } = envelope
      return {
        who: who.client,
        revision: envelope.revision,
        capabilities: Capability.read("client", envelope.clientCapabilities),
        declared: envelope.clientCapabilities,
        info: envelope.clientInfo,
        level: () => isLevel(logLevel) ? logLevel : undefined
      }
    }

    // ---- methods

    const request = (call: Call): void => {
      if (call.method === "initialize") return initialize(call)
      if (call.method === "ping" && session === undefined && Agreement.claimOf(call.params) === undefined) {
        return call.reply(empty)
      }
      const caller = callerOf(call)
      if ("_tag" in caller) return call.reply(caller)
      const { revision } = caller
      const params = call.params ?? none
      if (Method.find(call.method, "request", "host", revision) === undefined) {
        const method = Method.isKnown(call.method) || !Revision.isModern(revision)
          ? undefined
          : table.methods.get(call.method)?.part
        if (method === undefined) return call.reply(Refusals.failure("unknown-method"))
        // Nothing can be asked in the answer of a method that the protocol does not know.
        return serve(call, { ...caller, capabilities: noCapabilities }, {
          name: call.method,
          timeout: undefined,
          hints: undefined,
          run: () => method.call(params)
        })
      }
      if (isList(call.method)) {
        const page = table.page(lists[call.method], revision, T.member(params, "cursor"), program.pageSize)
        return call.reply(
          page === undefined
            ? invalid("The cursor is none that this server gave")
            : resultOf(revision, { members: page }, program.hints)
        )
      }
      switch (call.method) {
        case "server/discover":
          return discover(call, revision)
        case "ping":
          return call.reply(empty)
        case "tools/call":
          return callTool(call, caller, params)
        case "resources/read":
          return readResource(call, caller, params)
        case "prompts/get":
          return getPrompt(call, caller, params)
        case "completion/complete":
          return complete(call, caller, params)
        case "logging/setLevel": {
          const wanted = stringOf(params, "level")
          if (!isLevel(wanted)) return call.reply(invalid(`params.level must be one of ${Exchange.levels.join(", ")}`))
          level = wanted
          return call.reply(empty)
        }
        case "resources/subscribe":
        case "resources/unsubscribe":
          return subscribe(call, revision, params)
        case "subscriptions/listen":
          return listen(call, params)
        default:
          return call.reply(Refusals.failure("unknown-method"))
      }
    }

    const callTool = (call: Call, caller: Caller, params: Text): void => {
      const name = stringOf(params, "name")
      if (name === undefined) return call.reply(invalid("tools/call needs params.name, a string"))
      const tool = table.tools.get(name)?.part
      if (tool === undefined) return call.reply(invalid(`Unknown tool: ${name}`))
      const args = argumentsOf(params)
      if (args === undefined) return call.reply(invalid("params.arguments must be an object"))
      serve(call, caller, {
        name,
        timeout: tool.timeout,
        hints: undefined,
        run: () => tool.call(args, caller.revision)
      })
    }

    const readResource = (call: Call, caller: Caller, params: Text): void => {
      const uri = stringOf(params, "uri")
      if (uri === undefined) return call.reply(invalid("resources/read needs params.uri, a string"))
      const found = resource(uri)
      if (found === undefined) return call.reply(failed(new NotFound({ uri }), caller.revision))
      serve(call, caller, { name: uri, timeout: undefined, hints: found.cache ?? program.hints, run: found.read })
    }

    const resource = (uri: string) => {
      const exact = table.resources.get(uri)?.part
      if (exact !== undefined) return exact
      for (const { part } of table.templates.values()) {
        const read = part.match(uri)
        if (read !== undefined) return { cache: part.cache, read }
      }
      return undefined
    }

    const getPrompt = (call: Call, caller: Caller, params: Text): void => {
      const name = stringOf(params, "name")
      if (name === undefined) return call.reply(invalid("prompts/get needs params.name, a string"))
      const prompt = table.prompts.get(name)?.part
      if (prompt === undefined) return call.reply(invalid(`Unknown prompt: ${name}`))
      const args = argumentsOf(params)
      if (args === undefined) return call.reply(invalid("params.arguments must be an object"))
      serve(call, caller, {
        name,
        timeout: undefined,
        hints: undefined,
        run: () => prompt.get(args, caller.revision)
      })
    }

    const complete = (call: Call, caller: Caller, params: Text): void => {
      const ref = objectOf(params, "ref")
      const argument = objectOf(params, "argument")
      const [name, value] = [stringOf(argument, "name"), stringOf(argument, "value")]
      if (ref === undefined || name === undefined || value === undefined) {
        return call.reply(invalid("completion/complete needs params.ref, and params.argument with name and value"))
      }
      const type = stringOf(ref, "type")
      const [key, part] = type === "ref/prompt"
        ? refers(stringOf(ref, "name"), table.prompts)
        : type === "ref/resource"
        ? refers(stringOf(ref, "uri"), table.templates)
        : [undefined, undefined]
      if (key === undefined || part === undefined) {
        return call.reply(invalid("params.ref names no prompt and no resource template of this server"))
      }
      const completion = part.completions.get(name)
      const others: Record<string, string> = {}
      for (const [other, text] of T.members(objectOf(objectOf(params, "context"), "arguments") ?? none)) {
        const known = T.string(text)
        if (known !== undefined && other !== "__proto__") others[other] = known
      }
      // Nothing can be asked here: the protocol has no questions in the answer of this method.
      serve(call, { ...caller, capabilities: noCapabilities }, {
        name: key,
        timeout: undefined,
        hints: undefined,
        run: () =>
          completion === undefined
            ? Effect.succeed(Completion.toBody([]))
            : Effect.map(completion(value, others), Completion.toBody)
      })
    }

    // ---- subscriptions

    const subscribe = (call: Call, revision: Revision.Revision, params: Text): void => {
      const uri = stringOf(params, "uri")
      if (uri === undefined) return call.reply(invalid(`${call.method} needs params.uri, a string`))
      if (call.method === "resources/unsubscribe") subscribed.delete(uri)
      else if (resource(uri) === undefined) return call.reply(failed(new NotFound({ uri }), revision))
      else if (subscribed.size >= maxSubscribed && !subscribed.has(uri)) {
        return call.reply(Refusals.failure("too-many-requests"))
      } else subscribed.add(uri)
      call.reply(empty)
    }

    const tagged = (call: Call): Text =>
      T.object([["_meta", T.object([[Revision.meta.subscriptionId, call.wish ?? T.literal("null")]])]])

    const listen = (call: Call, params: Text): void => {
      const wanted = objectOf(params, "notifications")
      if (wanted === undefined) return call.reply(invalid("subscriptions/listen needs params.notifications, an object"))
      if (listens.size >= maxListens) return call.reply(Refusals.failure("too-many-requests"))
      const granted = kinds.filter((kind) => table.offers(kind) && T.member(wanted, listed[kind]) === "true")
      const uris = table.offers("resources")
        ? T.elements(T.member(wanted, "resourceSubscriptions") ?? none).map(T.string).filter((uri) => uri !== undefined)
          .slice(0, maxSubscribed)
        : []
      listens.set(call, { kinds: new Set(granted), uris: new Set(uris) })
      const honoured = T.object([
        ...granted.map((kind) => [listed[kind], yes] as const),
        ...(uris.length === 0 ? [] : [["resourceSubscriptions", T.array(uris.map(T.quote))] as const])
      ])
      back.notify("notifications/subscriptions/acknowledged", T.setMember(tagged(call), "notifications", honoured))
    }

    const desk: Desk = {
      changed: (kind) => {
        const method = `notifications/${kind}/list_changed`
        if (offered.has(kind)) back.notify(method, undefined)
        for (const [call, wants] of listens) if (wants.kinds.has(kind)) back.notify(method, tagged(call))
        flush()
      },
      updated: (uri) => {
        const method = "notifications/resources/updated"
        if (subscribed.has(uri)) back.notify(method, T.object([["uri", T.quote(uri)]]))
        for (const [call, wants] of listens) {
          if (wants.uris.has(uri)) back.notify(method, T.setMember(tagged(call), "uri", T.quote(uri)))
        }
        flush()
      }
    }
    desks.add(desk)
    yield* Scope.addFinalizer(scope, Effect.sync(() => desks.delete(desk)))

    const cancel = (call: Call): void => {
      for (const listening of listens.keys()) if (means(listening, call)) listens.delete(listening)
      for (const [flying, flight] of flights) {
        if (!means(flying, call)) continue
        flight.state = "cancelled"
        flights.delete(flying)
        flight.stop()
      }
    }

    return {
      request,
      cancel,
      notify: () => {},
      flush: Effect.void,
      // Subscriptions end in order (2026-07-28 basic/patterns/subscriptions, Graceful Closure).
      end: Effect.suspend(() => {
        for (const call of listens.keys()) {
          call.reply({ _tag: "Result", result: T.setMember(tagged(call), "resultType", T.quote("complete")) })
        }
        listens.clear()
        return back.flush
      }),
      ended: Effect.never
    }
  })

const empty: Reply = { _tag: "Result", result: none }

const noCapabilities: ReadonlySet<Capability.Path> = new Set()

const hasEnded = (flight: Flight): boolean => flight.state === "ended"

/** Answers up to this many characters may wait for the end of the turn. */
const maxLoose = 64 * 1024

/** How many resources a client may subscribe to, and how many subscriptions it may have open. */
const maxSubscribed = 1024
const maxListens = 64

const noRounds: Rounds = { chain: "", round: 0, told: false, answers: new Map(), asked: new Set(), kept: new Map() }

const refers = <A>(
  key: string | undefined,
  parts: ReadonlyMap<string, { readonly part: A }>
): readonly [key: string | undefined, part: A | undefined] => [
  key,
  key === undefined ? undefined : parts.get(key)?.part
]
