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
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Refusals from "../../line/Refusal.ts"
import { start } from "../../line/Start.ts"
import * as Agreement from "../../protocol/Agreement.ts"
import * as Capability from "../../protocol/Capability.ts"
import * as Feature from "../../protocol/Feature.ts"
import * as Method from "../../protocol/Method.ts"
import * as Negotiation from "../../protocol/Negotiation.ts"
import * as Revision from "../../protocol/Revision.ts"
import type { Call, Leg, Port } from "../../stage/Port.ts"
import type { Who } from "../../stage/Transport.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import type { Level } from "../Client.ts"
import * as Client from "../Client.ts"
import * as Completion from "../Completion.ts"
import { NotFound } from "../Refusal.ts"
import type { Tool } from "../Tool.ts"
import * as answer from "./answer.ts"
import type { Caller } from "./Exchange.ts"
import * as Exchange from "./Exchange.ts"
import * as Flights from "./Flights.ts"
import { argumentsOf, none, objectOf, stringOf } from "./params.ts"
import type { Program } from "./Program.ts"
import * as Subscriptions from "./Subscriptions.ts"
import * as Tasks from "./Tasks.ts"

const yes = T.literal("true")

const isLevel = (level: string | undefined): level is Level => Exchange.levels.some((known) => known === level)

/** What a page of a listing is made of, by method. */
const lists = {
  "tools/list": "tools",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "prompts/list": "prompts"
} as const

const taskCapability = T.object([
  ["list", none],
  ["cancel", none],
  ["requests", T.object([["tools", T.object([["call", none]])]])]
])

/** The lifetime that a client wants; NaN where that is none. */
const ttlOf = (task: Text): number | undefined => {
  const text = T.member(task, "ttl")
  if (text === undefined) return undefined
  const ttl = Number(/^\d+$/.test(text) ? text : Number.NaN)
  return Number.isSafeInteger(ttl) ? ttl : Number.NaN
}

const noAnswers: ReadonlyMap<string, Text> = new Map()

const noCapabilities: ReadonlySet<Capability.Path> = new Set()

const refers = <A>(
  key: string | undefined,
  parts: ReadonlyMap<string, { readonly part: A }>
): readonly [key: string | undefined, part: A | undefined] => [
  key,
  key === undefined ? undefined : parts.get(key)?.part
]

/**
 * Serves one client.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (program: Program, who: Who): Leg =>
  Effect.fnUntraced(function*(given: Port) {
    const back: Port = {
      ...given,
      request: (call) => {
        subscriptions.asked(call)
        given.request(call)
      }
    }
    const scope = yield* Effect.scope
    const { audience, context, table, tasks } = program
    const { empty, fail, failed, invalid } = answer
    const runs = start(context, scope)
    const flights = Flights.make(program, who, back, scope)
    const flush = (): void => void runs(back.flush, () => {})
    const subscriptions = Subscriptions.make(table, back, flush)
    const line = Tasks.line(back, flush)
    audience.add(subscriptions)
    yield* Scope.addFinalizer(
      scope,
      Effect.sync(() => {
        audience.delete(subscriptions)
        tasks.leave(line)
      })
    )

    /** The opened legacy session. */
    let session: Caller | undefined
    /** Whether it was told, when it was opened, that tools run as tasks. */
    let sessionTasks = false
    let level: Level = "info"

    // ---- opening

    const capabilities = (revision: Revision.Revision): Text => {
      const changes = T.object([["listChanged", yes]])
      const entries: Array<readonly [string, Text]> = []
      if (program.logging) entries.push(["logging", none])
      if (table.completes() && Feature.isDefined("completions", revision)) entries.push(["completions", none])
      if (table.offers("prompts")) entries.push(["prompts", changes])
      if (table.offers("resources")) entries.push(["resources", T.object([["subscribe", yes], ["listChanged", yes]])])
      if (table.offers("tools")) entries.push(["tools", changes])
      if (table.runsTasks() && Feature.isDefined("server-tasks", revision)) entries.push(["tasks", taskCapability])
      if (Revision.isModern(revision)) {
        const extensions = table.runsTasks()
          ? T.setMember(program.extensions ?? none, Tasks.extension, none)
          : program.extensions
        if (extensions !== undefined) entries.push(["extensions", extensions])
      }
      return T.object(entries)
    }

    const handshakes = Negotiation.handshakes(program.revisions)
    const modern = Revision.modern.filter((revision) => program.revisions.includes(revision))

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
      if (handshakes === undefined) {
        const { code, data, message } = Negotiation.unsupported(offer, modern)
        return call.reply(fail(code, message, data))
      }
      const { revision } = Negotiation.server(offer, handshakes)
      session = {
        who: who.client,
        revision,
        capabilities: Capability.read("client", declared),
        declared,
        info,
        level: () => level
      }
      sessionTasks = Feature.isDefined("server-tasks", revision) && table.runsTasks()
      subscriptions.open()
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
      call.reply(answer.result(program, revision, {
        members: [
          ["supportedVersions", T.array(modern.map(T.quote))],
          ["capabilities", capabilities(revision)],
          ...instructions
        ]
      }, program.hints))

    /** Who asks: the opened session, or what a modern request says of itself. */
    const callerOf = (call: Call): Caller | Reply => {
      if (session !== undefined) return session
      // A server without the modern era does not know what that is.
      if (modern.length === 0) return Refusals.failure("not-initialized")
      const envelope = Negotiation.envelope(call.params, modern)
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
        return flights.serve(call, { ...caller, capabilities: noCapabilities }, {
          name: call.method,
          run: () => method.call(params)
        })
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
          return listen(call, caller, params)
        case "tasks/get":
        case "tasks/result":
        case "tasks/update":
        case "tasks/cancel":
        case "tasks/list":
          return aboutTask(call, caller, params)
        case "tools/list":
        case "resources/list":
        case "resources/templates/list":
        case "prompts/list":
          return list(call, revision, lists[call.method], params)
        default:
          return call.reply(Refusals.failure("unknown-method"))
      }
    }

    const list = (
      call: Call,
      revision: Revision.Revision,
      kind: (typeof lists)[keyof typeof lists],
      params: Text
    ): void => {
      const page = table.page(kind, revision, T.member(params, "cursor"), program.pageSize)
      call.reply(
        page === undefined
          ? invalid("The cursor is none that this server gave")
          : answer.result(program, revision, { members: page }, program.hints)
      )
    }

    const callTool = (call: Call, caller: Caller, params: Text): void => {
      const name = stringOf(params, "name")
      if (name === undefined) return call.reply(invalid("tools/call needs params.name, a string"))
      const tool = table.tools.get(name)?.part
      if (tool === undefined) return call.reply(invalid(`Unknown tool: ${name}`))
      const args = argumentsOf(params)
      if (args === undefined) return call.reply(invalid("params.arguments must be an object"))
      const job = { name, timeout: tool.timeout, run: () => tool.call(args, caller.revision) }
      if (tool.task === undefined && !sessionTasks) flights.serve(call, caller, job)
      else callTask(call, caller, params, tool, job)
    }

    /** Calls a tool where a task may come of it. */
    const callTask = (call: Call, caller: Caller, params: Text, { task }: Tool<unknown>, job: Flights.Job): void => {
      const { name, run, timeout } = job
      const plainly = (): void => flights.serve(call, caller, job)
      const open = (given: ReadonlyMap<string, Text>, ttl?: number): Flights.Next =>
        tasks.open({ call, caller, line, ttl, timeout, given, name, run })
      if (Revision.isModern(caller.revision)) {
        if (task === undefined) return plainly()
        const lacks = undeclared(caller)
        if (lacks !== undefined) return task.support === "required" ? call.reply(lacks) : plainly()
        const { first } = task
        if (first === undefined) return go(call, open(noAnswers))
        return flights.serve(call, caller, {
          name,
          timeout,
          run: () => Effect.as(Client.ask(first), { members: [] }),
          next: open
        })
      }
      if (!sessionTasks) return plainly()
      const wanted = T.member(params, "task")
      if (wanted === undefined) {
        return task?.support === "required"
          ? call.reply(fail(-32601, `The tool ${name} runs only as a task: the call needs params.task`))
          : plainly()
      }
      if (task === undefined) return call.reply(fail(-32601, `The tool ${name} does not run as a task`))
      const ttl = T.isObject(wanted) ? ttlOf(wanted) : Number.NaN
      return Number.isNaN(ttl)
        ? call.reply(invalid("params.task must be an object, and its ttl an integer of milliseconds"))
        : go(call, open(noAnswers, ttl))
    }

    const go = (call: Call, { begin, reply }: Flights.Next): void => {
      call.reply(reply)
      begin()
    }

    /** The refusal of a request that does not declare the extension for tasks. */
    const undeclared = ({ capabilities }: Caller): Reply | undefined => {
      const lacks = Negotiation.lacking(
        capabilities,
        ["client.extensions.io.modelcontextprotocol/tasks"],
        Revision.newest
      )
      return lacks === undefined ? undefined : fail(lacks.code, lacks.message, lacks.data)
    }

    const aboutTask = (call: Call, caller: Caller, params: Text): void => {
      const modern = Revision.isModern(caller.revision)
      if (modern ? !table.runsTasks() : !sessionTasks) return call.reply(Refusals.failure("unknown-method"))
      const lacks = modern ? undeclared(caller) : undefined
      if (lacks !== undefined) return call.reply(lacks)
      const named = { caller, params }
      switch (call.method) {
        case "tasks/get":
          return call.reply(tasks.get(named))
        case "tasks/cancel":
          return call.reply(tasks.cancel(named))
        case "tasks/update":
          return call.reply(tasks.update(named))
        case "tasks/result":
          return tasks.result(named, call, line)
        default:
          return call.reply(tasks.list(line, T.member(params, "cursor"), program.pageSize))
      }
    }

    const listen = (call: Call, caller: Caller, params: Text): void => {
      const ids = T.member(objectOf(params, "notifications") ?? none, "taskIds")
      const wanted = ids === undefined || !table.runsTasks()
        ? []
        : T.elements(ids).map(T.string).filter((id) => id !== undefined).slice(0, Subscriptions.maxSubscribed)
      const lacks = wanted.length > 0 ? undeclared(caller) : undefined
      return lacks === undefined
        ? subscriptions.listen(call, params, tasks.own(caller, wanted))
        : call.reply(lacks)
    }

    const readResource = (call: Call, caller: Caller, params: Text): void => {
      const uri = stringOf(params, "uri")
      if (uri === undefined) return call.reply(invalid("resources/read needs params.uri, a string"))
      const found = resource(uri)
      if (found === undefined) return call.reply(failed(new NotFound({ uri }), caller.revision))
      flights.serve(call, caller, { name: uri, hints: found.cache ?? program.hints, run: found.read })
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
      flights.serve(call, caller, {
        name,
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
      flights.serve(call, { ...caller, capabilities: noCapabilities }, {
        name: key,
        run: () =>
          completion === undefined
            ? Effect.succeed(Completion.toBody([]))
            : Effect.map(completion(value, others), Completion.toBody)
      })
    }

    const subscribe = (call: Call, revision: Revision.Revision, params: Text): void => {
      const uri = stringOf(params, "uri")
      if (uri === undefined) return call.reply(invalid(`${call.method} needs params.uri, a string`))
      if (call.method === "resources/unsubscribe") return subscriptions.unsubscribe(call, uri)
      if (resource(uri) === undefined) return call.reply(failed(new NotFound({ uri }), revision))
      subscriptions.subscribe(call, uri)
    }

    /** Whether the handlers of a change of roots run, and whether the roots have changed again. */
    let roots: "still" | "handled" | "again" = "still"
    const rootsChanged = (params: Text | undefined): void => {
      if (session === undefined || program.onRoots.size === 0) return
      if (roots !== "still") {
        roots = "again"
        return
      }
      roots = "handled"
      const call: Call = { wish: undefined, method: "notifications/roots/list_changed", params, reply: () => {} }
      const handled = Effect.forEach(program.onRoots, (handler) => handler, { discard: true })
      flights.run(call, session, handled, () => {
        const again = roots === "again"
        roots = "still"
        if (again) rootsChanged(params)
      })
    }

    return {
      request,
      cancel: (call) => {
        subscriptions.cancel(call)
        flights.cancel(call)
        tasks.forget(call)
      },
      notify: (method, params) => {
        if (method === "notifications/roots/list_changed") rootsChanged(params)
      },
      flush: Effect.void,
      end: Effect.suspend(() => {
        subscriptions.end()
        return back.flush
      }),
      ended: Effect.never
    }
  })
