/**
 * The checks of results, as the guard asks for them.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Results from "../check/Results.ts"
import type { Secret } from "../check/Secrets.ts"
import type { Subject } from "../stage/Gate.ts"
import { Quarantine } from "../stage/Quarantine.ts"
import type { Reply, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import { Inspect, type Inspected, type Inspector } from "./Inspect.ts"
import { Notices } from "./Notices.ts"
import * as Refusal from "./Refusal.ts"

/**
 * - `results`: which checks are made now; none where it gives nothing.
 * - `secrets`: what Sallyport handed to the server.
 * - `option`: what a command line needs to mean the same state folder. Default: nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly results: () => Results.Options | undefined
  readonly secrets: ReadonlyArray<Secret>
  readonly option?: string | undefined
}

/** So many tasks are known by the tool that they are of. */
const known = 1024

const words =
  "Sallyport kept the result of this call back, because a check found something in it. A person can look at " +
  "it; do not try to get at it in another way. Reference: "

/** What stands in place of a result; a result of a tool is a result, so that the model learns of it. */
const instead = (subject: Subject, given: Reply, id: string): Reply => {
  if (subject.method !== "tools/call" || given._tag === "Failure") {
    return Refusal.failure("quarantined", { server: subject.server, item: subject.name, more: `reference ${id}` })
  }
  const content = T.array([T.object([["type", T.quote("text")], ["text", T.quote(words + id)]])])
  const answer = T.object([["content", content], ["isError", T.literal("true")]])
  // Modern results carry their type.
  return {
    _tag: "Result",
    result: T.member(given.result, "resultType") === undefined
      ? answer
      : T.setMember(answer, "resultType", T.quote("complete"))
  }
}

/** The task that a call of a tool has begun. */
const taskIn = (result: Text): string | undefined => {
  const task = T.member(result, "task")
  const id = T.member(task !== undefined && T.isObject(task) ? task : result, "taskId")
  return id === undefined ? undefined : T.string(id)
}

const make = Effect.fnUntraced(function*(options: Options) {
  const quarantine = yield* Quarantine
  const notices = yield* Notices
  const { clear, inspect } = Results.make(options.secrets)
  /** The definition of the tool that a task is of: its result comes later, and is checked as the tool's. */
  const tasks = new Map<string, Text>()
  let told = false

  const definitionOf = ({ client, definition, method, name, server }: Subject, result: Text): Text | undefined => {
    if (method.startsWith("tasks/")) return tasks.get(`${server} ${client} ${name}`)
    const task = definition === undefined ? undefined : taskIn(result)
    if (task !== undefined && definition !== undefined) {
      const [oldest] = tasks.keys()
      if (tasks.size >= known && oldest !== undefined) tasks.delete(oldest)
      tasks.set(`${server} ${client} ${task}`, definition)
    }
    return definition
  }

  const inspector: Inspector = (subject, given): Inspected => {
    const pass: Inspected = { reply: given }
    const isError = given._tag === "Failure"
    const result = isError ? given.error : given.result
    // What the host answers to a server is the server's to judge.
    const checks = subject.from === "host" ? options.results() : undefined
    const definition = isError ? undefined : definitionOf(subject, result)
    if (checks === undefined) return pass
    const { client, method, name, server } = subject
    const inspection = inspect(checks, { method, definition, result })
    if (inspection._tag === "Pass" || quarantine.isReleased({ server, method, name, result })) return pass
    const { found } = inspection
    if (inspection._tag === "Mark") {
      const reply: Reply = isError
        ? { _tag: "Failure", error: Results.markError(result, found) }
        : { _tag: "Result", result: inspection.result }
      return { reply, checked: { did: "marked", found } }
    }
    const id = quarantine.keep({ client, server, method, name, result, kept: clear(result), found })
    if (!told) {
      told = true
      notices.tell(
        `a result of ${server} was kept back; sallyport quarantine show${options.option ?? ""} ${id} shows it`
      )
    }
    return { reply: instead(subject, given, id), checked: { did: "quarantined", id, found } }
  }
  return inspector
})

/**
 * Inspects what hosts get from servers: results, errors and notifications.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<never, never, Notices | Quarantine> =>
  Layer.effect(Inspect, make(options))
