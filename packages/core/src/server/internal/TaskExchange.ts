/**
 * A task as its handler sees the client: what it is told, and what it is asked, long after the call was answered.
 *
 * **Details**
 *
 * In 2025-11-25 asks are requests of the server's own, which name their task. In the extension of 2026-07-28 they are part
 * of what the task says of itself, and their answers come by `tasks/update`. Either way the handler waits, and runs once.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Revision from "../../protocol/Revision.ts"
import type { Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import type { Ask } from "../Ask.ts"
import type { Answers, Asks, Service } from "../Client.ts"
import { AskError } from "../Client.ts"
import type { Caller, Exchange } from "./Exchange.ts"
import * as Exchanges from "./Exchange.ts"
import { none, objectOf } from "./params.ts"
import type { Line } from "./Tasks.ts"

/**
 * A question of a task that waits for its answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Question {
  readonly request: Text
  /** Whether this is an answer; if so, the handler goes on. */
  readonly answer: (text: Text) => boolean
}

/**
 * What a handler's end of a task needs of the rest of it.
 *
 * - `line`: where the client is now.
 * - `given`: answers from before the task began.
 * - `asking`: how many requests of the server's own wait for an answer.
 * - `moved`: what is asked, or what was told, has changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Held {
  readonly id: string
  readonly caller: Caller
  readonly params: Text | undefined
  readonly given: ReadonlyMap<string, Text>
  readonly line: () => Line
  readonly isOver: () => boolean
  readonly questions: Map<string, Question>
  readonly asking: (change: 1 | -1) => void
  readonly say: (message: string) => void
  readonly moved: () => void
  readonly fresh: () => string
}

/**
 * The member of `_meta` that names the task which a message belongs to (2025-11-25 basic/utilities/tasks, Related Task
 * Metadata).
 *
 * @category constants
 * @since 0.1.0
 */
export const relatedTask = "io.modelcontextprotocol/related-task"

/**
 * Params or a result, with the task that they belong to.
 *
 * @category combinators
 * @since 0.1.0
 */
export const related = (text: Text | undefined, id: string): Text => {
  const of = text ?? none
  const task = T.object([["taskId", T.quote(id)]])
  return T.setMember(of, "_meta", T.setMember(objectOf(of, "_meta") ?? none, relatedTask, task))
}

const gone = (key: string, ask: Ask<unknown>): AskError =>
  new AskError({
    reason: "refused",
    key,
    message: `The client cannot be asked ${ask.method}: it is gone`,
    requires: ask.requires
  })

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (task: Held): Pick<Exchange, "service" | "onLife"> => {
  const { caller } = task
  const modern = Revision.isModern(caller.revision)
  const meta = objectOf(task.params, "_meta")
  const token = meta === undefined || modern ? undefined : T.member(meta, "progressToken")
  let last = Number.NEGATIVE_INFINITY
  let listener: (life: "progress" | "asking" | "answered") => void = () => {}
  /** The keys that were ever asked: none is asked twice, so that no answer is taken for another's. */
  const used = new Set<string>()

  const tell = (method: string, params: Text): Effect.Effect<void> => {
    const line = task.line()
    if (!line.isOpen()) return Effect.void
    line.back.notify(method, related(params, task.id))
    return line.back.flush
  }

  const progress: Service["progress"] = (progress, total, message) =>
    Effect.suspend(() => {
      if (task.isOver()) return Effect.void
      listener("progress")
      if (!(progress > last)) return Effect.void
      last = progress
      if (message !== undefined) task.say(message)
      if (token === undefined) return Effect.void
      return tell(
        "notifications/progress",
        T.object([
          ["progressToken", token],
          ["progress", T.fromValue(progress)],
          ...(total === undefined ? [] : [["total", T.fromValue(total)] as const]),
          ...(message === undefined ? [] : [["message", T.quote(message)] as const])
        ])
      )
    })

  const log: Service["log"] = (level, data, logger) =>
    Effect.suspend(() => {
      const least = caller.level()
      if (modern || task.isOver() || least === undefined) return Effect.void
      if (Exchanges.levels.indexOf(level) < Exchanges.levels.indexOf(least)) return Effect.void
      return tell(
        "notifications/message",
        T.object([
          ["level", T.quote(level)],
          ...(logger === undefined ? [] : [["logger", T.quote(logger)] as const]),
          ["data", T.fromValue(data)]
        ])
      )
    })

  const freeKey = (key: string): string => {
    let free = key
    for (let count = 2; used.has(free); count++) free = `${key}-${count}`
    used.add(free)
    return free
  }

  /** A question that the client is shown when it asks about the task. */
  const shown = <A>(key: string, ask: Ask<A>): Effect.Effect<A> => {
    const before = task.given.get(key)
    const known = before === undefined ? undefined : ask.read(before)
    if (known !== undefined) return Effect.succeed(known)
    const answered = Deferred.makeUnsafe<A>()
    const name = freeKey(key)
    const params = ask.params(caller.revision, "")
    task.questions.set(name, {
      request: T.object([
        ["method", T.quote(ask.method)],
        ...(params === undefined ? [] : [["params", params] as const])
      ]),
      answer: (text) => {
        const answer = T.isObject(text) ? ask.read(text) : undefined
        if (answer === undefined) return false
        task.questions.delete(name)
        Deferred.doneUnsafe(answered, Effect.succeed(answer))
        return true
      }
    })
    return Effect.ensuring(Deferred.await(answered), Effect.sync(() => task.questions.delete(name)))
  }

  /** A request of the server's own. */
  const sent = <A>(key: string, ask: Ask<A>): Effect.Effect<A, AskError> =>
    Effect.suspend(() => {
      const line = task.line()
      if (!line.isOpen()) return Effect.fail(gone(key, ask))
      const params = related(ask.params(caller.revision, task.fresh()), task.id)
      return Effect.raceFirst(
        Exchanges.request(line.back, key, ask, params),
        Effect.andThen(Deferred.await(line.closed), Effect.fail(gone(key, ask)))
      )
    })

  function ask<const A extends Asks>(asks: A): Effect.Effect<Answers<A>, AskError>
  function ask(asks: Asks): Effect.Effect<Readonly<Record<string, unknown>>, AskError> {
    const entries = Object.entries(asks)
    const unable = Exchanges.unsupported(caller, entries)
    if (unable !== undefined) return Effect.fail(unable)
    const all = { concurrency: "unbounded" } as const
    return Effect.suspend(() => {
      listener("asking")
      if (!modern) task.asking(1)
      const answers = Effect.all(
        Object.fromEntries(entries.map(([key, ask]) => [key, modern ? shown(key, ask) : sent(key, ask)])),
        all
      )
      task.moved()
      return Effect.ensuring(
        answers,
        Effect.sync(() => {
          listener("answered")
          if (!modern) task.asking(-1)
          task.moved()
        })
      )
    })
  }

  return {
    service: {
      ...Exchanges.told(caller, meta),
      progress,
      log,
      ask,
      // The handler of a task runs once.
      once: (_key, _schema, effect) => effect
    },
    onLife: (next) => {
      listener = next
    }
  }
}
