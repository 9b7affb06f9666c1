/**
 * What one client is told of without having asked each time: changes of lists and of resources.
 *
 * **Details**
 *
 * In the legacy revisions a session is told of every list that was offered when it was opened, and of the resources that
 * it subscribed to. In 2026-07-28 each open `subscriptions/listen` names what it wants, and gets that by its own id.
 *
 * @since 0.1.0
 */
import * as Refusals from "../../line/Refusal.ts"
import { means } from "../../line/Wrapped.ts"
import * as Revision from "../../protocol/Revision.ts"
import type { Call, Port } from "../../stage/Port.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as answer from "./answer.ts"
import { none, objectOf, stringOf } from "./params.ts"
import type { Audience } from "./Program.ts"
import type { Kind, Table } from "./Table.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Subscriptions extends Audience {
  /** A legacy session is opened: these lists are offered to it. */
  readonly open: () => void
  /** The client is asked to visit an address, if it is that. */
  readonly asked: (call: Call) => void
  readonly subscribe: (call: Call, uri: string) => void
  readonly unsubscribe: (call: Call, uri: string) => void
  /** Opens a subscription; with these tasks, which say this of themselves now. */
  readonly listen: (
    call: Call,
    params: Text,
    tasks: ReadonlyArray<readonly [id: string, detailed: Text]>
  ) => void
  readonly cancel: (call: Call) => void
  /** Ends what is open, in order (2026-07-28 basic/patterns/subscriptions, Graceful Closure). */
  readonly end: () => void
}

/** What a subscription wants to be told. */
interface Listen {
  readonly kinds: ReadonlySet<Kind>
  readonly uris: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
}

/**
 * How many resources or tasks a client may subscribe to at a time.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxSubscribed = 1024
/** How many subscriptions a client may have open. */
const maxListens = 64

/** How many visits are remembered, so that their end can be told. */
const maxVisits = 1024

const yes = T.literal("true")

const listed = { tools: "toolsListChanged", resources: "resourcesListChanged", prompts: "promptsListChanged" } as const
const kinds: ReadonlyArray<Kind> = ["tools", "resources", "prompts"]

/** What carries the id of the subscription that it belongs to. */
const tagged = (call: Call): Text =>
  T.object([["_meta", T.object([[Revision.meta.subscriptionId, call.wish ?? T.literal("null")]])]])

const about = (call: Call, detailed: Text): Text => T.object([...T.members(detailed), ...T.members(tagged(call))])

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (table: Table, back: Port, flush: () => void): Subscriptions => {
  const offered = new Set<Kind>()
  const subscribed = new Set<string>()
  const listens = new Map<Call, Listen>()
  const visits = new Set<string>()

  return {
    open: () => {
      for (const kind of kinds) if (table.offers(kind)) offered.add(kind)
    },
    subscribe: (call, uri) => {
      if (subscribed.size >= maxSubscribed && !subscribed.has(uri)) {
        return call.reply(Refusals.failure("too-many-requests"))
      }
      subscribed.add(uri)
      call.reply(answer.empty)
    },
    unsubscribe: (call, uri) => {
      subscribed.delete(uri)
      call.reply(answer.empty)
    },
    listen: (call, params, tasks) => {
      const wanted = objectOf(params, "notifications")
      if (wanted === undefined) {
        return call.reply(answer.invalid("subscriptions/listen needs params.notifications, an object"))
      }
      if (listens.size >= maxListens) return call.reply(Refusals.failure("too-many-requests"))
      const granted = kinds.filter((kind) => table.offers(kind) && T.member(wanted, listed[kind]) === "true")
      const uris = table.offers("resources")
        ? T.elements(T.member(wanted, "resourceSubscriptions") ?? none).map(T.string)
          .filter((uri) => uri !== undefined).slice(0, maxSubscribed)
        : []
      listens.set(call, { kinds: new Set(granted), uris: new Set(uris), tasks: new Set(tasks.map(([id]) => id)) })
      const honoured = T.object([
        ...granted.map((kind) => [listed[kind], yes] as const),
        ...(uris.length === 0 ? [] : [["resourceSubscriptions", T.array(uris.map(T.quote))] as const]),
        ...(tasks.length === 0 ? [] : [["taskIds", T.array(tasks.map(([id]) => T.quote(id)))] as const])
      ])
      back.notify("notifications/subscriptions/acknowledged", T.setMember(tagged(call), "notifications", honoured))
      // What has moved since the client asked last is not told a second time by anything else.
      for (const [, detailed] of tasks) back.notify("notifications/tasks", about(call, detailed))
    },
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
    },
    asked: ({ method, params }) => {
      const id = method === "elicitation/create" ? stringOf(params, "elicitationId") : undefined
      if (id === undefined) return
      visits.delete(id)
      visits.add(id)
      const [oldest] = visits
      if (visits.size > maxVisits && oldest !== undefined) visits.delete(oldest)
    },
    visited: (id) => {
      if (!visits.delete(id)) return
      back.notify("notifications/elicitation/complete", T.object([["elicitationId", T.quote(id)]]))
      flush()
    },
    task: (id, detailed) => {
      let told = false
      for (const [call, wants] of listens) {
        if (!wants.tasks.has(id)) continue
        back.notify("notifications/tasks", about(call, detailed))
        told = true
      }
      if (told) flush()
    },
    cancel: (call) => {
      for (const listening of listens.keys()) if (means(listening, call)) listens.delete(listening)
    },
    end: () => {
      for (const call of listens.keys()) {
        call.reply({ _tag: "Result", result: T.setMember(tagged(call), "resultType", T.quote("complete")) })
      }
      listens.clear()
    }
  }
}
