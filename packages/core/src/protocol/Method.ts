/**
 * Every method of every revision: who sends it, whether it is answered, what opens it, and what it reaches.
 *
 * @since 0.1.0
 */
import type * as Capability from "./Capability.ts"
import * as Revision from "./Revision.ts"

/**
 * A member of the filter of subscriptions/listen (2026-07-28 basic/patterns/subscriptions; `taskIds`: the tasks
 * extension).
 *
 * @category models
 * @since 0.1.0
 */
export type Filter =
  | "toolsListChanged"
  | "promptsListChanged"
  | "resourcesListChanged"
  | "resourceSubscriptions"
  | "taskIds"

/**
 * A row of the table.
 *
 * - `from`: who may send it: the `host` (client), the `server`, or `both`.
 * - `in`: the revisions that define it.
 * - `needs`: the capability that opens it; the path begins with the side that must have declared it. Absent: always open.
 * - `declares`: what a sender must itself have declared besides. A modern request without it is answered `-32021`; a
 *   notification without it is understood all the same.
 * - `reaches`: it reaches data or acts, so it is decided and recorded; `named` is the member of params that names what,
 *   which is also what `Mcp-Name` repeats.
 * - `deprecated`: the revision that deprecates it.
 * - `embedded`: the revisions in which it is no request of its own, but asked inside a result that says
 *   `input_required`.
 * - `asks`: the revisions in which its result may say `input_required`, and it is sent again with the answers.
 * - `caches`: the revisions in which its result says how long it may be kept.
 * - `lists`: it is listed in pages, and this member of the result has the items.
 * - `task`: the revision in which it may be run as a task, and the capability of the side that runs it.
 * - `held`: it is answered only when it ends, so no timeout is due.
 * - `filter`: in 2026-07-28 it is sent only to a subscription that asked for it by this member.
 * - `extension`: the revisions in which it is no method of the core, but of this extension.
 *
 * @category models
 * @since 0.1.0
 */
export interface Method {
  readonly kind: "request" | "notification"
  readonly from: "host" | "server" | "both"
  readonly in: ReadonlyArray<Revision.Revision>
  readonly needs?: Capability.Path
  readonly declares?: Capability.Path
  readonly reaches?: { readonly named?: string }
  readonly deprecated?: Revision.Revision
  readonly embedded?: ReadonlyArray<Revision.Revision>
  readonly asks?: ReadonlyArray<Revision.Revision>
  readonly caches?: ReadonlyArray<Revision.Revision>
  readonly lists?: "tools" | "prompts" | "resources" | "resourceTemplates" | "tasks"
  readonly task?: { readonly in: Revision.Revision; readonly needs: Capability.Path }
  readonly held?: true
  readonly filter?: Filter
  readonly extension?: "io.modelcontextprotocol/tasks"
}

const all: ReadonlyArray<Revision.Revision> = Revision.all
const legacy = Revision.between("2024-11-05", "2025-11-25")
const modern = Revision.between("2026-07-28")
const since0326 = Revision.between("2025-03-26")
const elicits = Revision.between("2025-06-18", "2025-11-25")
const tasks = Revision.between("2025-11-25", "2025-11-25")

const tasksExtension = {
  kind: "request",
  from: "host",
  in: modern,
  needs: "server.extensions.io.modelcontextprotocol/tasks",
  declares: "client.extensions.io.modelcontextprotocol/tasks",
  reaches: { named: "taskId" },
  extension: "io.modelcontextprotocol/tasks"
} as const satisfies Method

const rows: ReadonlyArray<readonly [name: string, ...ReadonlyArray<Method>]> = [
  // ---- lifecycle
  ["initialize", { kind: "request", from: "host", in: legacy }],
  ["notifications/initialized", { kind: "notification", from: "host", in: legacy }],
  ["server/discover", { kind: "request", from: "host", in: modern, caches: modern }],
  ["ping", { kind: "request", from: "both", in: legacy }],
  // ---- tools
  ["tools/list", { kind: "request", from: "host", in: all, needs: "server.tools", caches: modern, lists: "tools" }],
  ["tools/call", {
    kind: "request",
    from: "host",
    in: all,
    needs: "server.tools",
    reaches: { named: "name" },
    asks: modern,
    task: { in: "2025-11-25", needs: "server.tasks.requests.tools.call" }
  }],
  // ---- resources
  ["resources/list", {
    kind: "request",
    from: "host",
    in: all,
    needs: "server.resources",
    caches: modern,
    lists: "resources"
  }],
  ["resources/templates/list", {
    kind: "request",
    from: "host",
    in: all,
    needs: "server.resources",
    caches: modern,
    lists: "resourceTemplates"
  }],
  ["resources/read", {
    kind: "request",
    from: "host",
    in: all,
    needs: "server.resources",
    reaches: { named: "uri" },
    asks: modern,
    caches: modern
  }],
  ["resources/subscribe", {
    kind: "request",
    from: "host",
    in: legacy,
    needs: "server.resources.subscribe",
    reaches: { named: "uri" }
  }],
  ["resources/unsubscribe", { kind: "request", from: "host", in: legacy, needs: "server.resources.subscribe" }],
  // ---- prompts
  [
    "prompts/list",
    { kind: "request", from: "host", in: all, needs: "server.prompts", caches: modern, lists: "prompts" }
  ],
  ["prompts/get", {
    kind: "request",
    from: "host",
    in: all,
    needs: "server.prompts",
    reaches: { named: "name" },
    asks: modern
  }],
  // ---- utilities
  [
    "completion/complete",
    { kind: "request", from: "host", in: ["2024-11-05"], reaches: {} },
    { kind: "request", from: "host", in: since0326, needs: "server.completions", reaches: {} }
  ],
  ["logging/setLevel", { kind: "request", from: "host", in: legacy, needs: "server.logging" }],
  ["subscriptions/listen", { kind: "request", from: "host", in: modern, reaches: {}, held: true }],
  // ---- tasks of 2025-11-25, where each side asks about what the other side keeps, and of the extension
  ["tasks/get", {
    kind: "request",
    from: "host",
    in: tasks,
    needs: "server.tasks",
    reaches: { named: "taskId" }
  }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks",
    reaches: { named: "taskId" }
  }, tasksExtension],
  ["tasks/result", { kind: "request", from: "host", in: tasks, needs: "server.tasks", reaches: { named: "taskId" } }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks",
    reaches: { named: "taskId" }
  }],
  ["tasks/update", tasksExtension],
  ["tasks/cancel", {
    kind: "request",
    from: "host",
    in: tasks,
    needs: "server.tasks.cancel",
    reaches: { named: "taskId" }
  }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks.cancel",
    reaches: { named: "taskId" }
  }, tasksExtension],
  ["tasks/list", {
    kind: "request",
    from: "host",
    in: tasks,
    needs: "server.tasks.list",
    reaches: {},
    lists: "tasks"
  }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks.list",
    reaches: {},
    lists: "tasks"
  }],
  // ---- what servers ask of hosts
  ["sampling/createMessage", {
    kind: "request",
    from: "server",
    in: legacy,
    needs: "client.sampling",
    reaches: {},
    deprecated: "2026-07-28",
    embedded: modern,
    task: { in: "2025-11-25", needs: "client.tasks.requests.sampling.createMessage" }
  }],
  ["roots/list", {
    kind: "request",
    from: "server",
    in: legacy,
    needs: "client.roots",
    reaches: {},
    deprecated: "2026-07-28",
    embedded: modern
  }],
  ["elicitation/create", {
    kind: "request",
    from: "server",
    in: elicits,
    needs: "client.elicitation",
    reaches: {},
    embedded: modern,
    task: { in: "2025-11-25", needs: "client.tasks.requests.elicitation.create" }
  }],
  // ---- notifications
  ["notifications/cancelled", { kind: "notification", from: "both", in: all }],
  ["notifications/progress", { kind: "notification", from: "both", in: legacy }, {
    kind: "notification",
    from: "server",
    in: modern
  }],
  ["notifications/message", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.logging",
    deprecated: "2026-07-28"
  }],
  ["notifications/tools/list_changed", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.tools",
    declares: "server.tools.listChanged",
    filter: "toolsListChanged"
  }],
  ["notifications/prompts/list_changed", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.prompts",
    declares: "server.prompts.listChanged",
    filter: "promptsListChanged"
  }],
  ["notifications/resources/list_changed", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.resources",
    declares: "server.resources.listChanged",
    filter: "resourcesListChanged"
  }],
  ["notifications/resources/updated", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.resources",
    declares: "server.resources.subscribe",
    filter: "resourceSubscriptions"
  }],
  ["notifications/roots/list_changed", {
    kind: "notification",
    from: "host",
    in: legacy,
    needs: "client.roots",
    declares: "client.roots.listChanged"
  }],
  ["notifications/elicitation/complete", {
    kind: "notification",
    from: "server",
    in: ["2025-11-25"],
    needs: "client.elicitation.url"
  }],
  ["notifications/tasks/status", { kind: "notification", from: "host", in: tasks, needs: "client.tasks" }, {
    kind: "notification",
    from: "server",
    in: tasks,
    needs: "server.tasks"
  }],
  ["notifications/tasks", {
    kind: "notification",
    from: "server",
    in: modern,
    needs: "server.extensions.io.modelcontextprotocol/tasks",
    filter: "taskIds",
    extension: "io.modelcontextprotocol/tasks"
  }],
  ["notifications/subscriptions/acknowledged", { kind: "notification", from: "server", in: modern }]
]

const byName = new Map<string, ReadonlyArray<Method>>(rows.map(([name, ...methods]) => [name, methods]))

/**
 * All rows, in the table's order (`ClientRequest`, `ServerRequest`, `ClientNotification` and `ServerNotification` of each
 * revision's schema; the tasks extension by its own).
 *
 * @category tables
 * @since 0.1.0
 */
export const table: ReadonlyArray<readonly [name: string, method: Method]> = rows.flatMap(([name, ...methods]) =>
  methods.map((method) => [name, method] as const)
)

/**
 * The names of all methods, in the table's order.
 *
 * @category tables
 * @since 0.1.0
 */
export const names: ReadonlyArray<string> = rows.map(([name]) => name)

/**
 * The row of a method for a sender and a revision, or `undefined` where that revision has no such method in that
 * direction. Exact match only.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (
  name: string,
  kind: Method["kind"],
  from: "host" | "server",
  revision: Revision.Revision
): Method | undefined => {
  const known = selected[kind][from]
  let methods = known.get(revision)
  if (methods === undefined) known.set(revision, methods = select(kind, from, revision))
  return methods.get(name)
}

type Selected = Map<Revision.Revision, ReadonlyMap<string, Method>>

/** The rows by revision, as far as they were asked for: every message is looked up. */
const selected: Readonly<Record<Method["kind"], Readonly<Record<"host" | "server", Selected>>>> = {
  request: { host: new Map(), server: new Map() },
  notification: { host: new Map(), server: new Map() }
}

const select = (
  kind: Method["kind"],
  from: "host" | "server",
  revision: Revision.Revision
): ReadonlyMap<string, Method> => {
  const methods = new Map<string, Method>()
  for (const [name, method] of table) {
    const is = method.kind === kind && (method.from === from || method.from === "both") && method.in.includes(revision)
    if (is && !methods.has(name)) methods.set(name, method)
  }
  return methods
}

/**
 * The row of what a server asks inside a result, in a revision where it has no requests of its own (2026-07-28
 * basic/patterns/mrtr); `undefined` for what may not be asked so.
 *
 * @category getters
 * @since 0.1.0
 */
export const embedded = (name: string, revision: Revision.Revision): Method | undefined =>
  byName.get(name)?.find((method) => method.embedded?.includes(revision) === true)

/**
 * What a request of the host reaches, whatever the revision: `undefined` for methods that only list or negotiate. A
 * method outside the tables reaches anything.
 *
 * @category getters
 * @since 0.1.0
 */
export const reaches = (name: string, from: "host" | "server"): { readonly named?: string } | undefined => {
  const methods = byName.get(name)
  if (methods === undefined) return {}
  return methods.find((method) => method.from === from || method.from === "both")?.reaches
}

/**
 * The member of a request's params that `Mcp-Name` repeats; `undefined` for methods without that header (2026-07-28
 * basic/transports/streamable-http).
 *
 * @category getters
 * @since 0.1.0
 */
export const nameMember = (name: string, revision: Revision.Revision): string | undefined =>
  Revision.table[revision].http.routing ? find(name, "request", "host", revision)?.reaches?.named : undefined

const held: ReadonlySet<string> = new Set(
  rows.flatMap(([name, ...methods]) => methods.some((method) => method.held) ? [name] : [])
)

/**
 * Whether a request of this method is answered only when it ends: see `held` of {@link Method}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isHeld = (name: string): boolean => held.has(name)

/**
 * Whether any revision has a method of this name.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKnown = (name: string): boolean => byName.has(name)
