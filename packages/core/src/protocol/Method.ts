/**
 * Every method of every revision: who sends it, whether it is answered, what opens it, and what it reaches.
 *
 * @since 0.1.0
 */
import type * as Capability from "./Capability.ts"
import type { Revision } from "./Revision.ts"

/**
 * A row of the table.
 *
 * - `from`: who may send it: the `host` (client), the `server`, or `both`.
 * - `in`: the revisions that define it.
 * - `needs`: the capability that opens it, by whose declaration: `server` for what hosts ask, `client` for what servers
 *   ask. Absent: always open.
 * - `reaches`: it reaches data or acts, so it is decided and recorded; `named` is the member of params that names what.
 *
 * @category models
 * @since 0.1.0
 */
export interface Method {
  readonly kind: "request" | "notification"
  readonly from: "host" | "server" | "both"
  readonly in: ReadonlyArray<Revision>
  readonly needs?: Capability.Path
  readonly reaches?: { readonly named?: string }
}

const all: ReadonlyArray<Revision> = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
const legacy = all.slice(0, 4)
const modern = all.slice(4)
const since0326 = all.slice(1)
const elicits: ReadonlyArray<Revision> = ["2025-06-18", "2025-11-25"]
const tasks: ReadonlyArray<Revision> = ["2025-11-25"]

const rows: ReadonlyArray<readonly [name: string, ...ReadonlyArray<Method>]> = [
  // ---- lifecycle
  ["initialize", { kind: "request", from: "host", in: legacy }],
  ["notifications/initialized", { kind: "notification", from: "host", in: legacy }],
  ["server/discover", { kind: "request", from: "host", in: modern }],
  ["ping", { kind: "request", from: "both", in: legacy }],
  // ---- tools
  ["tools/list", { kind: "request", from: "host", in: all, needs: "server.tools" }],
  ["tools/call", { kind: "request", from: "host", in: all, needs: "server.tools", reaches: { named: "name" } }],
  // ---- resources
  ["resources/list", { kind: "request", from: "host", in: all, needs: "server.resources" }],
  ["resources/templates/list", { kind: "request", from: "host", in: all, needs: "server.resources" }],
  ["resources/read", { kind: "request", from: "host", in: all, needs: "server.resources", reaches: { named: "uri" } }],
  ["resources/subscribe", {
    kind: "request",
    from: "host",
    in: legacy,
    needs: "server.resources.subscribe",
    reaches: { named: "uri" }
  }],
  ["resources/unsubscribe", { kind: "request", from: "host", in: legacy, needs: "server.resources.subscribe" }],
  // ---- prompts
  ["prompts/list", { kind: "request", from: "host", in: all, needs: "server.prompts" }],
  ["prompts/get", { kind: "request", from: "host", in: all, needs: "server.prompts", reaches: { named: "name" } }],
  // ---- utilities
  [
    "completion/complete",
    { kind: "request", from: "host", in: ["2024-11-05"], reaches: {} },
    { kind: "request", from: "host", in: since0326, needs: "server.completions", reaches: {} }
  ],
  ["logging/setLevel", { kind: "request", from: "host", in: legacy, needs: "server.logging" }],
  ["subscriptions/listen", { kind: "request", from: "host", in: modern, reaches: {} }],
  // ---- tasks of 2025-11-25: each side asks about what the other side keeps
  ["tasks/get", { kind: "request", from: "host", in: tasks, needs: "server.tasks", reaches: { named: "taskId" } }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks",
    reaches: { named: "taskId" }
  }],
  ["tasks/result", { kind: "request", from: "host", in: tasks, needs: "server.tasks", reaches: { named: "taskId" } }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks",
    reaches: { named: "taskId" }
  }],
  ["tasks/cancel", {
    kind: "request",
    from: "host",
    in: tasks,
    needs: "server.tasks.cancel",
    reaches: { named: "taskId" }
  }, { kind: "request", from: "server", in: tasks, needs: "client.tasks.cancel", reaches: { named: "taskId" } }],
  ["tasks/list", { kind: "request", from: "host", in: tasks, needs: "server.tasks.list", reaches: {} }, {
    kind: "request",
    from: "server",
    in: tasks,
    needs: "client.tasks.list",
    reaches: {}
  }],
  // ---- what servers ask of hosts (2026-07-28 has these only inside results)
  ["sampling/createMessage", { kind: "request", from: "server", in: legacy, needs: "client.sampling", reaches: {} }],
  ["roots/list", { kind: "request", from: "server", in: legacy, needs: "client.roots", reaches: {} }],
  ["elicitation/create", { kind: "request", from: "server", in: elicits, needs: "client.elicitation", reaches: {} }],
  // ---- notifications
  ["notifications/cancelled", { kind: "notification", from: "both", in: all }],
  ["notifications/progress", { kind: "notification", from: "both", in: legacy }, {
    kind: "notification",
    from: "server",
    in: modern
  }],
  ["notifications/message", { kind: "notification", from: "server", in: all, needs: "server.logging" }],
  ["notifications/tools/list_changed", { kind: "notification", from: "server", in: all, needs: "server.tools" }],
  ["notifications/prompts/list_changed", { kind: "notification", from: "server", in: all, needs: "server.prompts" }],
  ["notifications/resources/list_changed", {
    kind: "notification",
    from: "server",
    in: all,
    needs: "server.resources"
  }],
  ["notifications/resources/updated", { kind: "notification", from: "server", in: all, needs: "server.resources" }],
  ["notifications/roots/list_changed", { kind: "notification", from: "host", in: legacy, needs: "client.roots" }],
  ["notifications/elicitation/complete", {
    kind: "notification",
    from: "server",
    in: ["2025-11-25"],
    needs: "client.elicitation.url"
  }],
  ["notifications/tasks/status", { kind: "notification", from: "both", in: tasks }],
  ["notifications/subscriptions/acknowledged", { kind: "notification", from: "server", in: modern }]
]

const byName = new Map<string, ReadonlyArray<Method>>(rows.map(([name, ...methods]) => [name, methods]))

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
  revision: Revision
): Method | undefined => {
  const methods = byName.get(name)
  if (methods === undefined) return undefined
  for (const method of methods) {
    if (method.kind === kind && (method.from === from || method.from === "both") && method.in.includes(revision)) {
      return method
    }
  }
  return undefined
}

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
 * Whether any revision has a method of this name.
 *
 * @category guards
 * @since 0.1.0
 */
export const isKnown = (name: string): boolean => byName.has(name)
