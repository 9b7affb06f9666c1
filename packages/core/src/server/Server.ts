/**
 * The server program: tools, resources and prompts, served in every revision.
 *
 * **Example**
 *
 * ```ts
 * const add = Tool.make("add", {
 *   description: "Adds two numbers",
 *   input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   output: Schema.Struct({ sum: Schema.Finite })
 * }, ({ a, b }) => Effect.succeed({ sum: a + b }))
 *
 * export default Server.layerDispatch({ name: "calculator", version: "1.0.0" }, add)
 * ```
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tracer from "effect/Tracer"
import * as NodeConsole from "../node/NodeConsole.ts"
import * as NodeSeal from "../node/NodeSeal.ts"
import * as Revision from "../protocol/Revision.ts"
import { Dispatch } from "../stage/Dispatch.ts"
import { exitOf } from "../stage/internal/constant.ts"
import * as T from "../wire/Text.ts"
import { Client } from "./Client.ts"
import type { Icon, JsonObject } from "./Definition.ts"
import * as Definition from "./Definition.ts"
import * as Desk from "./internal/Desk.ts"
import type { Audience, Program } from "./internal/Program.ts"
import * as Slots from "./internal/Slots.ts"
import * as Spans from "./internal/spans.ts"
import * as State from "./internal/State.ts"
import type { Kind } from "./internal/Table.ts"
import * as Table from "./internal/Table.ts"
import * as Tasks from "./internal/Tasks.ts"
import type { Loads, Part, Services, Single } from "./Part.ts"
import { keyOf, mapEffects } from "./Part.ts"
import { Registry, type Service } from "./Registry.ts"
import * as Resource from "./Resource.ts"
import type { Timeout } from "./Tool.ts"

/**
 * What a server says of itself, and its bounds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** What a client tells its model about the server as a whole. */
  readonly instructions?: string | undefined
  /** The revisions that are served: all of them. */
  readonly revisions?: ReadonlyArray<Revision.Revision> | undefined
  /** Extensions by their id, with their settings (2026-07-28). */
  readonly extensions?: Readonly<Record<string, JsonObject>> | undefined
  /** Kinds that are advertised although no part of them is there yet. */
  readonly expects?: ReadonlyArray<Kind> | undefined
  /** Whether handlers may send log messages to the client; they may. */
  readonly logging?: boolean | undefined
  /** How many items are listed on one page; all of them, since many clients never ask for a second page. */
  readonly pageSize?: number | undefined
  /** How long listings stay fresh, and who may keep them: for no time, and privately. */
  readonly cache?: Resource.Cache | undefined
  /** How long a handler may take, where its part says nothing: as long as it wants. */
  readonly timeout?: Timeout | undefined
  /** How many handlers run at a time, of all clients together: 64. */
  readonly concurrency?: number | undefined
  /** How many calls wait for their place, of all clients together; one more is refused: 4096. */
  readonly queue?: number | undefined
  /**
   * The bounds of tasks, of all clients together: how long one is kept from its beginning on, whatever it does (1 hour; a
   * client may want less), how often to ask about it (every second), and how many there are (1024); one more is refused.
   */
  readonly tasks?: {
    readonly ttl?: Duration.Input | undefined
    readonly pollInterval?: Duration.Input | undefined
    readonly max?: number | undefined
  } | undefined
}

/**
 * What the handlers of parts require, besides what every handler has.
 *
 * @category models
 * @since 0.1.0
 */
export type Requires<Parts extends ReadonlyArray<Part<unknown, unknown>>> =
  | Exclude<Services<Parts[number]>, Client | Registry>
  | Loads<Parts[number]>

/** A server whose parts have one name twice is a mistake of its author's. */
const twice = (part: Single<unknown>): Effect.Effect<never> =>
  Effect.die(`The server has ${part._tag} ${JSON.stringify(keyOf(part))} twice`)

/**
 * A server of these parts.
 *
 * **Details**
 *
 * One layer serves any number of clients, over any transport. It gives {@link Registry} too, so that other layers can
 * add parts and announce changes.
 *
 * What handlers print goes to stderr, unless another Console was provided: stdout is the protocol's.
 *
 * @category layers
 * @since 0.1.0
 */
export function layerDispatch<const Parts extends ReadonlyArray<Part<unknown, unknown>>>(
  options: Options,
  ...parts: Parts
): Layer.Layer<Dispatch | Registry, never, Requires<Parts>>
export function layerDispatch<R>(
  options: Options,
  ...parts: ReadonlyArray<Part<R | Client | Registry, R>>
): Layer.Layer<Dispatch | Registry, never, R> {
  return Layer.effectContext(Effect.gen(function*() {
    const around = quiet(yield* Effect.context<never>())
    // Tasks outlive the connections that they come from, but not the server.
    const scope = yield* Effect.scope
    const seal = NodeSeal.make()
    const table = Table.make(options.expects ?? [])
    const audience = new Set<Audience>()
    const onRoots: Program["onRoots"] = new Set()

    const provided = Effect.fnUntraced(function*<R2>(parts: ReadonlyArray<Part<R2 | Client | Registry, R2>>) {
      // Merged here: with every call it would cost more than the rest of the call.
      const context = Context.merge(quiet(yield* Effect.context<R2>()), Context.add(around, Registry, registry))
      const withCall = (given: Context.Context<Client | Registry>): Context.Context<R2 | Client | Registry> => {
        const known = Context.add(context, Client, Context.get(given, Client))
        const span = Context.getOrUndefined(given, Tracer.ParentSpan)
        return span === undefined ? known : Context.add(known, Tracer.ParentSpan, span)
      }
      const own: Array<Table.Own> = []
      for (const part of parts) {
        const singles = part._tag === "Group" ? yield* part.parts : [part]
        for (const single of singles) {
          own.push(
            mapEffects<R2 | Client | Registry, Client | Registry>(
              single,
              (effect) => exitOf(effect) ?? Effect.updateContext(effect, withCall)
            )
          )
        }
      }
      return own
    })

    const announce = (kinds: ReadonlySet<Kind | undefined>): void => {
      for (const kind of kinds) {
        if (kind !== undefined) { for (const client of audience) client.changed(kind) }
      }
    }

    const registry: Service = {
      add: (...parts) =>
        Effect.map(provided(parts), (own) => {
          for (const part of own) table.put(part)
          announce(new Set(own.map(Table.kindOf)))
        }),
      remove: (...parts) =>
        Effect.sync(() => announce(new Set(parts.filter((part) => table.drop(part)).map(Table.kindOf)))),
      updated: (uri) =>
        Effect.sync(() => {
          for (const client of audience) client.updated(uri)
        }),
      visited: (id) =>
        Effect.sync(() => {
          for (const client of audience) client.visited(id)
        }),
      onRootsChanged: (handler) =>
        Effect.suspend(() => {
          // The same handler may be given twice: each is an entry of its own.
          const own = Effect.suspend(() => handler)
          return Effect.acquireRelease(
            Effect.sync(() => void onRoots.add(own)),
            () => Effect.sync(() => onRoots.delete(own))
          )
        }),
      inputSchema: (name) => {
        const tool = table.tools.get(name)?.part
        return tool === undefined ? undefined : T.member(tool.definition(Revision.newest), "inputSchema")
      }
    }

    for (const part of yield* provided(parts)) {
      if (table.has(part)) return yield* twice(part)
      table.put(part)
    }

    const info = Definition.make([
      ["name", options.name],
      ["title", options.title, "titles"],
      ["version", options.version],
      ["description", options.description, "implementation-details"],
      ["icons", options.icons, "icons"],
      ["websiteUrl", options.websiteUrl, "implementation-details"]
    ])
    const fresh = seal.name
    const inside = Context.add(around, Registry, registry)
    const spans = Spans.make(inside)
    const program: Program = {
      name: options.name,
      revisions: options.revisions ?? Revision.all,
      serverInfo: info,
      instructions: options.instructions,
      extensions: options.extensions === undefined ? undefined : T.fromValue(options.extensions),
      logging: options.logging ?? true,
      pageSize: options.pageSize ?? Number.POSITIVE_INFINITY,
      hints: Resource.hints(options.cache) ?? { ttlMs: 0, cacheScope: "private" },
      timeout: options.timeout,
      table,
      slots: Slots.make(options.concurrency ?? 64, options.queue ?? 4096),
      states: State.make(seal),
      spans,
      tasks: Tasks.make({ serverInfo: info, context: inside, audience, fresh, spans }, options.tasks ?? {}, scope),
      fresh,
      context: inside,
      audience,
      onRoots
    }
    return Context.make(Dispatch, { open: (who) => Desk.open(program, who) }).pipe(Context.add(Registry, registry))
  }))
}

/** The context with a console that leaves stdout alone, unless it has one of its own. */
const quiet = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.getOrUndefined(context, Console.Console) === undefined
    ? Context.add(context, Console.Console, NodeConsole.stderr())
    : context
