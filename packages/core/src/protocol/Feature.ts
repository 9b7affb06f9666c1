/**
 * What a session can do: the table of features, and the one function that says which of them are open.
 *
 * **Details**
 *
 * What a side advertises and what a gate lets pass are both read from a {@link Profile}, so neither can say more than
 * the other.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as Capability from "./Capability.ts"
import * as Method from "./Method.ts"
import type * as Revision from "./Revision.ts"

/**
 * What messages travel on, as far as features depend on it (basic/transports).
 *
 * @category models
 * @since 0.1.0
 */
export type Transport = "stdio" | "http"

/**
 * A row of the table.
 *
 * - `side`: who must support it; `both` needs nothing declared.
 * - `capability`: what that side declares; absent for what the revision alone brings.
 * - `transport`: the only transport that has it.
 * - `first`, `last`: the revisions that have it; to the newest where there is no `last`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Row {
  readonly side: Capability.Side | "both"
  readonly capability?: Capability.Path
  readonly transport?: Transport
  readonly first: Revision.Revision
  readonly last?: Revision.Revision
}

/**
 * Every feature. Those with a capability stand for exactly that one, in the revisions that define it (each revision's
 * changelog, and the capabilities in its schema).
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  // ---- by what a client declares
  "client-experimental": { side: "client", capability: "client.experimental", first: "2024-11-05" },
  "roots": { side: "client", capability: "client.roots", first: "2024-11-05" },
  "roots-list-changed": {
    side: "client",
    capability: "client.roots.listChanged",
    first: "2024-11-05",
    last: "2025-11-25"
  },
  "sampling": { side: "client", capability: "client.sampling", first: "2024-11-05" },
  "sampling-context": { side: "client", capability: "client.sampling.context", first: "2025-11-25" },
  "sampling-tools": { side: "client", capability: "client.sampling.tools", first: "2025-11-25" },
  "elicitation": { side: "client", capability: "client.elicitation", first: "2025-06-18" },
  "elicitation-form": { side: "client", capability: "client.elicitation.form", first: "2025-11-25" },
  "elicitation-url": { side: "client", capability: "client.elicitation.url", first: "2025-11-25" },
  "client-tasks": { side: "client", capability: "client.tasks", first: "2025-11-25", last: "2025-11-25" },
  "client-tasks-list": { side: "client", capability: "client.tasks.list", first: "2025-11-25", last: "2025-11-25" },
  "client-tasks-cancel": {
    side: "client",
    capability: "client.tasks.cancel",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "client-tasks-requests": {
    side: "client",
    capability: "client.tasks.requests",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "client-tasks-requests-sampling": {
    side: "client",
    capability: "client.tasks.requests.sampling",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "sampling-as-task": {
    side: "client",
    capability: "client.tasks.requests.sampling.createMessage",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "client-tasks-requests-elicitation": {
    side: "client",
    capability: "client.tasks.requests.elicitation",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "elicitation-as-task": {
    side: "client",
    capability: "client.tasks.requests.elicitation.create",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "client-extensions": { side: "client", capability: "client.extensions", first: "2026-07-28" },
  "client-tasks-extension": {
    side: "client",
    capability: "client.extensions.io.modelcontextprotocol/tasks",
    first: "2026-07-28"
  },
  // ---- by what a server declares
  "server-experimental": { side: "server", capability: "server.experimental", first: "2024-11-05" },
  "logging": { side: "server", capability: "server.logging", first: "2024-11-05" },
  "completions": { side: "server", capability: "server.completions", first: "2025-03-26" },
  "prompts": { side: "server", capability: "server.prompts", first: "2024-11-05" },
  "prompts-list-changed": { side: "server", capability: "server.prompts.listChanged", first: "2024-11-05" },
  "resources": { side: "server", capability: "server.resources", first: "2024-11-05" },
  "resources-subscribe": { side: "server", capability: "server.resources.subscribe", first: "2024-11-05" },
  "resources-list-changed": { side: "server", capability: "server.resources.listChanged", first: "2024-11-05" },
  "tools": { side: "server", capability: "server.tools", first: "2024-11-05" },
  "tools-list-changed": { side: "server", capability: "server.tools.listChanged", first: "2024-11-05" },
  "server-tasks": { side: "server", capability: "server.tasks", first: "2025-11-25", last: "2025-11-25" },
  "server-tasks-list": { side: "server", capability: "server.tasks.list", first: "2025-11-25", last: "2025-11-25" },
  "server-tasks-cancel": {
    side: "server",
    capability: "server.tasks.cancel",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "server-tasks-requests": {
    side: "server",
    capability: "server.tasks.requests",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "server-tasks-requests-tools": {
    side: "server",
    capability: "server.tasks.requests.tools",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "tools-as-task": {
    side: "server",
    capability: "server.tasks.requests.tools.call",
    first: "2025-11-25",
    last: "2025-11-25"
  },
  "server-extensions": { side: "server", capability: "server.extensions", first: "2026-07-28" },
  "server-tasks-extension": {
    side: "server",
    capability: "server.extensions.io.modelcontextprotocol/tasks",
    first: "2026-07-28"
  },
  // ---- by the revision alone
  "handshake": { side: "both", first: "2024-11-05", last: "2025-11-25" },
  "ping": { side: "both", first: "2024-11-05", last: "2025-11-25" },
  "server-requests": { side: "both", first: "2024-11-05", last: "2025-11-25" },
  "completion-undeclared": { side: "server", first: "2024-11-05", last: "2024-11-05" },
  "batching": { side: "both", first: "2025-03-26", last: "2025-03-26" },
  "tool-annotations": { side: "both", first: "2025-03-26" },
  "audio-content": { side: "both", first: "2025-03-26" },
  "progress-message": { side: "both", first: "2025-03-26" },
  "structured-content": { side: "both", first: "2025-06-18" },
  "resource-links": { side: "both", first: "2025-06-18" },
  "titles": { side: "both", first: "2025-06-18" },
  "item-metadata": { side: "both", first: "2025-06-18" },
  "completion-context": { side: "server", first: "2025-06-18" },
  "icons": { side: "both", first: "2025-11-25" },
  "choice-titles": { side: "server", first: "2025-11-25" },
  "elicitation-ids": { side: "server", first: "2025-11-25", last: "2025-11-25" },
  "implementation-details": { side: "server", first: "2025-11-25" },
  "tool-execution": { side: "server", first: "2025-11-25", last: "2025-11-25" },
  "any-structured-content": { side: "both", first: "2026-07-28" },
  "request-metadata": { side: "both", first: "2026-07-28" },
  "discover": { side: "server", first: "2026-07-28" },
  "listen": { side: "server", first: "2026-07-28" },
  "result-type": { side: "both", first: "2026-07-28" },
  "input-required": { side: "both", first: "2026-07-28" },
  "caching-hints": { side: "server", first: "2026-07-28" },
  // ---- by the transport
  "http-sse": { side: "both", transport: "http", first: "2024-11-05", last: "2024-11-05" },
  "streamable-http": { side: "both", transport: "http", first: "2025-03-26" },
  "http-session": { side: "server", transport: "http", first: "2025-03-26", last: "2025-11-25" },
  "http-resume": { side: "server", transport: "http", first: "2025-03-26", last: "2025-11-25" },
  "http-priming-events": { side: "server", transport: "http", first: "2025-11-25", last: "2025-11-25" },
  "http-version-header": { side: "client", transport: "http", first: "2025-06-18" },
  "http-routing-headers": { side: "client", transport: "http", first: "2026-07-28" }
} as const satisfies Record<string, Row>

/**
 * The name of a feature.
 *
 * @category models
 * @since 0.1.0
 */
export type Feature = keyof typeof table

const isFeature = (name: string): name is Feature => Object.hasOwn(table, name)

/**
 * All features, in the table's order.
 *
 * @category tables
 * @since 0.1.0
 */
export const features: ReadonlyArray<Feature> = Object.keys(table).filter(isFeature)

/**
 * Whether a revision has a feature, whatever the two sides declared.
 *
 * @category guards
 * @since 0.1.0
 */
export const isDefined = (feature: Feature, revision: Revision.Revision): boolean => {
  const row: Row = table[feature]
  return revision >= row.first && (row.last === undefined || revision <= row.last)
}

/**
 * What a session can do.
 *
 * @category models
 * @since 0.1.0
 */
export interface Profile {
  readonly revision: Revision.Revision
  readonly transport: Transport
  readonly open: ReadonlySet<Feature>
}

/**
 * Which features are open: those of the revision and the transport whose side declared their capability, and whose
 * parents are open (basic/lifecycle, Operation: only what was negotiated is used).
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolve = (
  client: ReadonlySet<Capability.Path>,
  server: ReadonlySet<Capability.Path>,
  revision: Revision.Revision,
  transport: Transport
): Profile => {
  const declares = (path: Capability.Path): boolean => {
    for (let at: Capability.Path | undefined = path; at !== undefined; at = Capability.parent(at)) {
      if (!client.has(at) && !server.has(at)) return false
    }
    return true
  }
  const open = features.filter((feature) => {
    const row: Row = table[feature]
    return isDefined(feature, revision) &&
      (row.transport === undefined || row.transport === transport) &&
      (row.capability === undefined || declares(row.capability))
  })
  return { revision, transport, open: new Set(open) }
}

/**
 * What one side advertises: the capabilities of the features that are open.
 *
 * @category getters
 * @since 0.1.0
 */
export const advertised = (profile: Profile, side: Capability.Side): ReadonlySet<Capability.Path> => {
  const paths = new Set<Capability.Path>()
  for (const feature of profile.open) {
    const row: Row = table[feature]
    if (row.side === side && row.capability !== undefined) paths.add(row.capability)
  }
  return paths
}

/**
 * The capabilities object that advertises this, with what is kept of `experimental`, `extensions` and unknown members.
 *
 * @category getters
 * @since 0.1.0
 */
export const capabilities = (
  profile: Profile,
  side: Capability.Side,
  kept?: Partial<Omit<Capability.Declared, "paths">>
): Text => Capability.write(side, profile.revision, { ...kept, paths: advertised(profile, side) })

const ofPath = new Map<Capability.Path, Feature>()
for (const feature of features) {
  const row: Row = table[feature]
  if (row.capability !== undefined) ofPath.set(row.capability, feature)
}

/**
 * The feature that a capability stands for.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (path: Capability.Path): Feature | undefined => ofPath.get(path)

/**
 * Whether a message may be sent: the revision has the method in that direction, and the feature that opens it is open.
 *
 * @category guards
 * @since 0.1.0
 */
export const allows = (
  profile: Profile,
  name: string,
  kind: Method.Method["kind"],
  from: "host" | "server"
): boolean => {
  const method = Method.find(name, kind, from, profile.revision)
  if (method === undefined) return false
  if (method.needs === undefined) return true
  const feature = of(method.needs)
  return feature !== undefined && profile.open.has(feature)
}

/**
 * Whether a server may ask this inside a result that says `input_required` (2026-07-28 basic/patterns/mrtr).
 *
 * @category guards
 * @since 0.1.0
 */
export const allowsEmbedded = (profile: Profile, name: string): boolean => {
  const needs = Method.embedded(name, profile.revision)?.needs
  const feature = needs === undefined ? undefined : of(needs)
  return feature !== undefined && profile.open.has(feature)
}
