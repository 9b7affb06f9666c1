/**
 * A relay in memory: a host that the test plays, a server that answers by itself or as it is told, and TestClock.
 *
 * Nothing here waits for real time. `settle` lets every fiber run as far as it can without the clock.
 */
import { Context, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import type { FirstSight } from "../../src/line/Accepted.ts"
import * as Ask from "../../src/line/Ask.ts"
import { Drifts } from "../../src/line/Drifts.ts"
import * as Faults from "../../src/line/Faults.ts"
import * as Inspect from "../../src/line/Inspect.ts"
import * as Lifecycle from "../../src/line/Lifecycle.ts"
import * as Lines from "../../src/line/Lines.ts"
import * as Notices from "../../src/line/Notices.ts"
import * as Upstream from "../../src/line/Upstream.ts"
import type * as Drift from "../../src/pin/Drift.ts"
import * as Pins from "../../src/pin/Pins.ts"
import * as Agreement from "../../src/protocol/Agreement.ts"
import { meta } from "../../src/protocol/Revision.ts"
import * as Session from "../../src/session/Session.ts"
import { Dispatch } from "../../src/stage/Dispatch.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import * as MemoryPeer from "../../src/stage/MemoryPeer.ts"
import * as Parse from "../../src/stage/Parse.ts"
import * as PinStore from "../../src/stage/PinStore.ts"
import type { Ending, Leg } from "../../src/stage/Port.ts"
import * as Spawn from "../../src/stage/Spawn.ts"
import * as Transport from "../../src/stage/Transport.ts"
import type { Limits } from "../../src/wire/Feed.ts"
import * as Message from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"

// ---- what was said, as the tests look at it

const Wire = Schema.Struct({
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Unknown),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Int,
      message: Schema.String,
      data: Schema.optionalKey(
        Schema.Struct({
          reason: Schema.optionalKey(Schema.String),
          server: Schema.optionalKey(Schema.String),
          item: Schema.optionalKey(Schema.String),
          rule: Schema.optionalKey(Schema.String),
          pointer: Schema.optionalKey(Schema.String),
          offset: Schema.optionalKey(Schema.Int)
        })
      )
    })
  )
})

/** One line that a side was sent. `id` is the text of the id, so that 2 and "2" differ. */
export interface Said extends Schema.Schema.Type<typeof Wire> {
  readonly text: string
  readonly id: string | undefined
}

const decodeLine = Schema.decodeUnknownSync(Schema.fromJsonString(Wire))

/** Reads one line that was sent. */
export const said = (text: string): Said => ({
  ...(text.startsWith("{") ? decodeLine(text) : {}),
  text,
  id: T.member(Message.Text.make(text), "id")
})

/** The JSON text of a value, for the lines that tests write. */
export const json = (value: unknown): string => JSON.stringify(value)

/** The line of a request; `id` is a text, so `7` and `"7"` are two ids. */
export const request = (id: string | number, method: string, params?: unknown): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${json(method)}${params === undefined ? "" : `,"params":${json(params)}`}}`

export const notification = (method: string, params?: unknown): string =>
  `{"jsonrpc":"2.0","method":${json(method)}${params === undefined ? "" : `,"params":${json(params)}`}}`

export const result = (id: string | undefined, value: unknown = {}): string =>
  `{"jsonrpc":"2.0","id":${id ?? "null"},"result":${json(value)}}`

export const initializeOf = (id: string | number, version = "2025-11-25", capabilities: unknown = {}): string =>
  request(id, "initialize", { protocolVersion: version, capabilities, clientInfo: { name: "test", version: "1" } })

export const call = (id: string | number, name: string, args: unknown = {}): string =>
  request(id, "tools/call", { name, arguments: args })

export const cancel = (id: string | number): string =>
  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":"no"}}`

// ---- definitions

export interface Tool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: unknown
  readonly [member: string]: unknown
}

export const tool = (name: string, description = `Does ${name}.`): Tool => ({
  name,
  description,
  inputSchema: { type: "object" }
})

const Listed = Schema.Struct({ tools: Schema.Array(Schema.Struct({ name: Schema.String })) })

/** The names in the answer of a listing. */
export const names = (answer: Said | undefined): ReadonlyArray<string> =>
  Schema.decodeUnknownSync(Listed)(answer?.result).tools.map(({ name }) => name)

const ToolAnswer = Schema.Struct({
  content: Schema.Array(Schema.Struct({ text: Schema.String })),
  isError: Schema.optionalKey(Schema.Boolean)
})

/** The text of the answer of a call. */
export const answerOf = (answer: Said | undefined): Schema.Schema.Type<typeof ToolAnswer> =>
  Schema.decodeUnknownSync(ToolAnswer)(answer?.result)

// ---- the modern era

export const modernMeta = (capabilities: unknown = {}, version = "2026-07-28") => ({
  [meta.protocolVersion]: version,
  [meta.clientCapabilities]: capabilities,
  [meta.clientInfo]: { name: "test", version: "1" }
})

export const modern = (id: string | number, method: string, params: Record<string, unknown> = {}): string =>
  request(id, method, { ...params, _meta: modernMeta() })

// ---- the server

/** What a scripted server answers by itself: the text of a `result` or `error` member, or nothing. */
export type Answer = (request: Said) => string | undefined

export interface Server {
  /** Every line that it got so far. */
  readonly saw: () => ReadonlyArray<Said>
  /** What it got since this was asked last. */
  readonly take: () => ReadonlyArray<Said>
  readonly says: (...lines: ReadonlyArray<string>) => Effect.Effect<void>
  readonly far: MemoryPeer.Far
  readonly signals: () => ReadonlyArray<string>
}

export interface Options {
  readonly firstSight?: FirstSight
  readonly bridge?: "auto" | "strict" | "off"
  readonly named?: boolean
  /** Without any guard: what the host says goes to the server in the order of the session, and back. */
  readonly unguarded?: boolean
  readonly accepts?: (drift: Drift.Class) => boolean
  readonly launch?: Spawn.Launch
  readonly tools?: ReadonlyArray<Tool>
  readonly capabilities?: unknown
  /** Answers by method; a method with `silent` is never answered. What has no entry is answered as a plain server does. */
  readonly answers?: Readonly<Record<string, Answer | "silent">>
  readonly gate?: Gate.Gate["Service"]
  readonly asker?: (line: Ask.Line) => Effect.Effect<Ask.Asker, never, Scope.Scope>
  readonly inspector?: Inspect.Inspector
  readonly memory?: Ledger.Memory
  readonly ledger?: Ledger.Ledger["Service"]
  readonly store?: PinStore.PinStore["Service"]
  readonly refuse?: (launch: Spawn.Launch) => Spawn.SpawnError | undefined
  readonly inspect?: (launch: Spawn.Launch) => Spawn.Inspection
  readonly limits?: Limits
  /** Plays the whole of the server by hand: nothing is answered by itself. */
  readonly byHand?: boolean
}

export const launch: Spawn.Launch = { name: "notes", command: "notes", args: [], env: [], sandbox: "none" }

/** A store of pins of its own, to share between relays of one test. */
export const makeStore: Effect.Effect<PinStore.PinStore["Service"], never, Scope.Scope> = Effect.map(
  Layer.build(PinStore.layerMemory),
  (context) => Context.get(context, PinStore.PinStore)
)

/** Everything that can go on without the clock goes on. */
export const settle: Effect.Effect<void> = Effect.gen(function*() {
  for (let i = 0; i < 100; i++) yield* Effect.yieldNow
})

export const adjust = (duration: Parameters<typeof TestClock.adjust>[0]): Effect.Effect<void> =>
  Effect.andThen(Effect.andThen(settle, TestClock.adjust(duration)), settle)

const legacyAnswers = (options: Options): Readonly<Record<string, Answer>> => ({
  initialize: ({ params }) =>
    `"result":${
      json({
        protocolVersion: Schema.decodeUnknownSync(Schema.Struct({ protocolVersion: Schema.String }))(params)
          .protocolVersion,
        capabilities: options.capabilities ?? { tools: {} },
        serverInfo: { name: "scripted", version: "1" }
      })
    }`,
  ping: () => `"result":{}`
})

/** A modern server's own answers. */
export const modernAnswers = (capabilities: unknown = { tools: {} }): Readonly<Record<string, Answer | "silent">> => ({
  "server/discover": () =>
    `"result":${json({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities })}`,
  "subscriptions/listen": "silent"
})

const unknown = `"error":{"code":-32601,"message":"Method not found"}`

/** Opens a relay. Its scope is the test's. */
export const open = Effect.fnUntraced(function*(options: Options = {}) {
  const scope = yield* Effect.scope
  const { far, peer } = yield* MemoryPeer.make({ client: "host" })
  const memory = options.memory ?? Ledger.makeMemory()
  const store = options.store ?? (yield* makeStore)
  const told: Array<string> = []
  let tools = options.tools ?? [tool("read"), tool("write")]
  const answers = new Map<string, Answer | "silent">(Object.entries(legacyAnswers(options)))
  answers.set("tools/list", () => `"result":${json({ tools })}`)
  answers.set("prompts/list", () => `"result":${json({ prompts: [{ name: "p", arguments: [{ name: "x" }] }] })}`)
  answers.set("resources/list", () => `"result":${json({ resources: [{ uri: "file:///a", name: "a" }] })}`)
  for (const [method, answer] of Object.entries(options.answers ?? {})) answers.set(method, answer)

  const servers: Array<Server> = []
  const play = (started: Spawn.Started): Effect.Effect<void> => {
    const saw: Array<Said> = []
    let taken = 0
    servers.push({
      saw: () => saw.slice(),
      take: () => {
        const fresh = saw.slice(taken)
        taken = saw.length
        return fresh
      },
      says: (...lines) => Effect.andThen(started.server.push(lines.map((line) => `${line}\n`).join("")), settle),
      far: started.server,
      signals: started.signals
    })
    return Effect.forever(Effect.gen(function*() {
      const line = said(yield* started.server.line)
      saw.push(line)
      if (options.byHand === true || line.method === undefined || line.id === undefined) return
      const answer = answers.get(line.method)
      if (answer === "silent") return
      const text = answer === undefined ? (line.method === "tools/call" ? undefined : unknown) : answer(line)
      if (text !== undefined) yield* started.server.push(`{"jsonrpc":"2.0","id":${line.id},${text}}\n`)
    }))
  }

  const layer = Layer.mergeAll(
    Layer.effect(
      Dispatch,
      Effect.gen(function*() {
        const lines = yield* Lines.Lines
        const parts = yield* Effect.context<Spawn.Spawn | Parse.Parse | Notices.Notices>()
        const bare: Leg = (back) =>
          Effect.gen(function*() {
            const agreement = Agreement.make()
            const dropped = Faults.dropped("notes", () => {})
            const line = Lifecycle.server(agreement, dropped.faults)(
              Upstream.leg(options.launch ?? launch, agreement, dropped)
            )
            return yield* Effect.provideContext(line(back), Context.add(parts, Scope.Scope, yield* Effect.scope))
          })
        return Dispatch.of({
          open: (who) => options.unguarded === true ? bare : lines.open(options.launch ?? launch, who)
        })
      })
    ),
    Transport.layerMemory(peer)
  ).pipe(
    Layer.provide(Lines.layer({
      firstSight: options.firstSight ?? "trust",
      loosened: [],
      key: "key",
      bridge: options.bridge,
      named: options.named
    })),
    Layer.provideMerge(Layer.mergeAll(
      Layer.succeed(Gate.Gate, options.gate ?? Gate.make({ call: () => Exit.succeed(Gate.allow) })),
      Layer.succeed(Ledger.Ledger, options.ledger ?? memory.ledger),
      Layer.succeed(PinStore.PinStore, store),
      options.accepts === undefined ? Layer.empty : Layer.succeed(Drifts, options.accepts),
      options.asker === undefined ? Layer.empty : Layer.succeed(Ask.Ask, { open: options.asker }),
      Layer.succeed(Inspect.Inspect, options.inspector),
      Notices.layerTell((sentence) => void told.push(sentence)),
      Parse.layer(options.limits),
      Spawn.layerMemory({ script: play, refuse: options.refuse, inspect: options.inspect })
    ))
  )
  const context = yield* Layer.build(layer)
  const session = yield* Effect.forkIn(Effect.provideContext(Session.run, context), scope)
  yield* settle

  let taken = 0
  const all = (): ReadonlyArray<Said> => far.written().split("\n").filter((line) => line !== "").map(said)
  const server = (): Server => {
    const last = servers.at(-1)
    if (last === undefined) throw new Error("no server was started")
    return last
  }

  const relay = {
    far,
    session,
    memory,
    store,
    told,
    servers,
    /** The newest server. */
    server,
    /** The host sends lines, all in one chunk. */
    says: (...lines: ReadonlyArray<string>): Effect.Effect<void> =>
      Effect.andThen(far.push(lines.map((line) => `${line}\n`).join("")), settle),
    /** The host sends a chunk as it is. */
    chunk: (bytes: string | Uint8Array): Effect.Effect<void> => Effect.andThen(far.push(bytes), settle),
    /** Every line that the host got. */
    saw: all,
    /** What the host got since this was asked last. */
    take: (): ReadonlyArray<Said> => {
      const seen = all()
      const fresh = seen.slice(taken)
      taken = seen.length
      return fresh
    },
    /** What the host got as answers to this id. */
    answers: (id: string | number): ReadonlyArray<Said> =>
      all().filter((line) => line.id === String(id) && line.method === undefined),
    setTools: (next: ReadonlyArray<Tool>): void => {
      tools = next
    },
    answer: (method: string, answer: Answer | "silent"): void => {
      answers.set(method, answer)
    },
    /** The host ends its input. */
    eof: Effect.andThen(far.endOutput, settle),
    outcome: Fiber.join(session),
    done: (): boolean => session.pollUnsafe() !== undefined,
    /** The calls that the server was given, by id. */
    calls: (): ReadonlyArray<Said> =>
      servers.flatMap((one) => one.saw()).filter(({ method }) => method === "tools/call"),
    /** What the ledger holds of one type, as it was written. */
    entries: <T extends Ledger.Recorded["type"]>(type: T) =>
      memory.written().filter((entry): entry is Ledger.Recorded & { readonly type: T } => entry.type === type),
    listings: (): number => servers.flatMap((one) => one.saw()).filter(({ method }) => method === "tools/list").length
  }
  return relay
})

export type Relay = Effect.Success<ReturnType<typeof open>>

/** Opens a legacy session, without a listing of the host's. What both sides got is taken. */
export const handshake = Effect.fnUntraced(
  function*(relay: Relay, revision = "2025-11-25", capabilities: unknown = {}) {
    yield* relay.says(
      request(`"init"`, "initialize", {
        protocolVersion: revision,
        capabilities,
        clientInfo: { name: "test", version: "1" }
      })
    )
    yield* relay.says(notification("notifications/initialized"))
    relay.take()
    relay.server().take()
  }
)

/** A relay whose session is open. */
export const opened = Effect.fnUntraced(function*(
  options: Options & { readonly revision?: string; readonly client?: unknown } = {}
) {
  const relay = yield* open(options)
  yield* handshake(relay, options.revision, options.client)
  return relay
})

/** Accepts all that is held, as a person does in another process. */
export const acceptAll = Effect.fnUntraced(function*(store: PinStore.PinStore["Service"], server = "notes") {
  const pins = yield* store.load(server)
  const accepted = yield* Effect.fromResult(Pins.accept(pins, {}, "unseen", "2026-01-01T00:00:00.000Z"))
  yield* store.save(server, pins.version, accepted.pins)
  yield* settle
})

export const exited = (code: number): Ending => ({ _tag: "exited", code })
