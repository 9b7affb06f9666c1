/**
 * Calls that outlive their requests (2025-11-25 basic/utilities/tasks; the extension io.modelcontextprotocol/tasks).
 *
 * **Details**
 *
 * A task belongs to the client that began it, as the operator named that client, and to the era in which it began. To
 * anyone else its id is one that never was (security rule F19). It lives for its `ttl` and no longer, whatever it does.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Refusals from "../../line/Refusal.ts"
import { nothing, start } from "../../line/Start.ts"
import { means } from "../../line/Wrapped.ts"
import * as Revision from "../../protocol/Revision.ts"
import type { Call, Port } from "../../stage/Port.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import { Client } from "../Client.ts"
import type { Timeout } from "../Tool.ts"
import * as answer from "./answer.ts"
import type { Body, Failure } from "./body.ts"
import * as body from "./body.ts"
import type { Caller } from "./Exchange.ts"
import type { Next } from "./Flights.ts"
import { objectOf } from "./params.ts"
import type { Program, Services } from "./Program.ts"
import type { Question } from "./TaskExchange.ts"
import * as TaskExchange from "./TaskExchange.ts"
import { timed } from "./timed.ts"

/**
 * The name of the extension, and of what a client declares to have it.
 *
 * @category constants
 * @since 0.1.0
 */
export const extension = "io.modelcontextprotocol/tasks"

/**
 * The connection of a client, as far as its tasks need it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Line {
  readonly back: Port
  readonly flush: () => void
  readonly isOpen: () => boolean
  readonly closed: Deferred.Deferred<void>
}

/**
 * The bounds of a server's tasks.
 *
 * @category models
 * @since 0.1.0
 */
export interface Bounds {
  readonly ttl?: Duration.Input | undefined
  readonly pollInterval?: Duration.Input | undefined
  readonly max?: number | undefined
}

/**
 * A call that becomes a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface Order {
  readonly call: Call
  readonly caller: Caller
  readonly line: Line
  /** How long the client wants it kept, in milliseconds. */
  readonly ttl: number | undefined
  readonly timeout: Timeout | undefined
  /** Answers from before the task began. */
  readonly given: ReadonlyMap<string, Text>
  /** The tool. */
  readonly name: string
  readonly run: () => Effect.Effect<Body, Failure, Services>
}

/**
 * The task that a client names: `who` it is, and in which era.
 *
 * @category models
 * @since 0.1.0
 */
export interface Named {
  readonly caller: Caller
  readonly params: Text
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Tasks {
  /** Makes a task. It runs from `begin` on. */
  readonly open: (order: Order) => Next
  readonly get: (named: Named) => Reply
  readonly cancel: (named: Named) => Reply
  readonly update: (named: Named) => Reply
  /** Answers with what the call would have been answered with, once that is known. */
  readonly result: (named: Named, call: Call, line: Line) => void
  /** A page of the tasks that this connection began. */
  readonly list: (line: Line, cursor: Text | undefined, size: number) => Reply
  /** The tasks among these ids that are the client's, and where they stand. */
  readonly own: (caller: Caller, ids: ReadonlyArray<string>) => ReadonlyArray<readonly [id: string, detailed: Text]>
  /** Nobody waits for the answer to this call any more. */
  readonly forget: (call: Call) => void
  /** The connection is over. */
  readonly leave: (line: Line) => void
}

type Status = "working" | "input_required" | "completed" | "failed" | "cancelled"

interface Task {
  readonly id: string
  readonly caller: Caller
  readonly modern: boolean
  readonly created: number
  readonly ttl: number
  /** Where it began. */
  readonly origin: Line
  /** Where it asks. */
  line: Line
  status: Status
  updated: number
  message: string | undefined
  outcome: Reply | undefined
  asking: number
  /** What was asked when the client was told last. */
  asked: string
  /** Characters that it keeps. */
  held: number
  stop: () => void
  readonly questions: Map<string, Question>
  readonly waiters: Map<Call, Line>
}

/** The longest life, in milliseconds: 24 days. A timer takes no more. */
const longest = 24 * 24 * 60 * 60 * 1000

/** How many characters arguments and results of all tasks may have before no new one is taken. */
const maxHeld = 64 * 1024 * 1024

const isOver = (task: Task): boolean =>
  task.status === "completed" || task.status === "failed" || task.status === "cancelled"

const time = (millis: number): Text => T.quote(DateTime.formatIso(DateTime.makeUnsafe(millis)))

const unknown = answer.invalid("There is no such task; it may have been too old")

const isError = (reply: Reply): boolean => reply._tag === "Result" && T.member(reply.result, "isError") === "true"

/**
 * Where a task's client is, and the effect to run when it is gone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const line = (back: Port, flush: () => void): Line => {
  const closed = Deferred.makeUnsafe<void>()
  return { back, flush, closed, isOpen: () => !Deferred.isDoneUnsafe(closed) }
}

/**
 * The tasks of a server, whose fibers live in this scope.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  program: Pick<Program, "serverInfo" | "context" | "audience" | "fresh" | "spans">,
  bounds: Bounds,
  scope: Scope.Scope
): Tasks => {
  const { audience, context, fresh, spans } = program
  const clock = Context.get(context, Clock.Clock)
  const now = () => clock.currentTimeMillisUnsafe()
  const runs = start(context, scope)
  const millis = (input: Duration.Input): number =>
    Math.max(1, Math.min(longest, Math.floor(Duration.toMillis(Duration.fromInputUnsafe(input)))))
  const pollInterval = millis(bounds.pollInterval ?? "1 second")
  const maxTtl = millis(bounds.ttl ?? "1 hour")
  const max = bounds.max ?? 1024
  const tasks = new Map<string, Task>()
  let held = 0

  // ---- what a task says of itself

  const plain = (task: Task): ReadonlyArray<readonly [name: string, value: Text]> => [
    ["taskId", T.quote(task.id)],
    ["status", T.quote(task.status)],
    ...(task.message === undefined ? [] : [["statusMessage", T.quote(task.message)] as const]),
    ["createdAt", time(task.created)],
    ["lastUpdatedAt", time(task.updated)],
    [task.modern ? "ttlMs" : "ttl", T.integer(task.ttl)],
    [task.modern ? "pollIntervalMs" : "pollInterval", T.integer(pollInterval)]
  ]

  const detail = ({ outcome, questions, status }: Task): ReadonlyArray<readonly [name: string, value: Text]> => {
    if (status === "input_required") {
      return [["inputRequests", T.object([...questions].map(([key, { request }]) => [key, request] as const))]]
    }
    if (outcome === undefined) return []
    return [outcome._tag === "Result" ? ["result", outcome.result] : ["error", outcome.error]]
  }

  const detailed = (task: Task): ReadonlyArray<readonly [name: string, value: Text]> => [
    ...plain(task),
    ...(task.modern ? detail(task) : [])
  ]

  const said = (task: Task, type?: "task"): Reply =>
    answer.result(
      program,
      task.caller.revision,
      {
        members: type === "task" && !task.modern ? [["task", T.object(plain(task))]] : type === "task"
          ? plain(task)
          : detailed(task)
      },
      undefined,
      type
    )

  const acknowledged = ({ caller }: Task): Reply => answer.result(program, caller.revision, { members: [] })

  const tell = (task: Task): void => {
    if (task.modern) {
      const text = T.object(detailed(task))
      for (const client of audience) client.task(task.id, text)
    } else if (task.origin.isOpen()) {
      task.origin.back.notify("notifications/tasks/status", T.object(plain(task)))
      task.origin.flush()
    }
  }

  // ---- its life

  const change = (task: Task, status: Status, message: string | undefined): void => {
    task.status = status
    task.message = message
    task.updated = now()
  }

  /** What is asked has changed. */
  const moved = (task: Task): void => {
    if (isOver(task)) return
    const asked = [task.asking, ...task.questions.keys()].join("\n")
    const status = task.asking + task.questions.size > 0 ? "input_required" : "working"
    // A handler may go on, and ask again, while the answers are still being handed to it.
    if (asked === task.asked) return
    task.asked = asked
    change(task, status, undefined)
    tell(task)
  }

  const keep = (task: Task, characters: number): void => {
    task.held += characters
    held += characters
  }

  const finish = (task: Task, status: Status, outcome: Reply | undefined, message?: string): void => {
    change(task, status, message)
    task.outcome = outcome
    task.questions.clear()
    if (outcome !== undefined) keep(task, outcome._tag === "Result" ? outcome.result.length : outcome.error.length)
    tell(task)
    answerWaiters(task, outcomeOf(task))
  }

  const answerWaiters = (task: Task, reply: Reply): void => {
    for (const [call, line] of task.waiters) {
      call.reply(reply)
      line.flush()
    }
    task.waiters.clear()
  }

  /** What the call would have been answered with. */
  const outcomeOf = ({ id, outcome }: Task): Reply => {
    if (outcome === undefined) return answer.invalid("The task was cancelled and has no result")
    return outcome._tag === "Failure" ? outcome : { ...outcome, result: TaskExchange.related(outcome.result, id) }
  }

  const drop = (task: Task): void => {
    tasks.delete(task.id)
    held -= task.held
    // From here on nobody can ask about it, and nobody is told.
    if (!isOver(task)) task.status = "cancelled"
    task.questions.clear()
    answerWaiters(task, unknown)
    task.stop()
  }

  const broken = (cause: Cause.Cause<Failure>): void => runsLog(Effect.logError("A task failed", cause))
  const runsLog = (effect: Effect.Effect<void>): void => {
    runs(effect, nothing)
  }

  const settle = (task: Task, exit: Exit.Exit<Body, Failure>): void => {
    const { caller: { revision } } = task
    const stopped = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
    const failure = Exit.isFailure(exit) ? Cause.findErrorOption(exit.cause) : Option.none()
    if (Exit.isFailure(exit) && Option.isNone(failure) && !stopped) broken(exit.cause)
    if (isOver(task)) return
    if (stopped) return finish(task, "cancelled", undefined)
    // Metadata and the data of errors are the author's own values: they may be none that JSON can have.
    const reply = Result.getOrElse(
      Result.try(() =>
        Exit.isSuccess(exit)
          ? answer.result(program, revision, exit.value)
          : Option.isSome(failure)
          ? answer.failed(failure.value, revision)
          : undefined
      ),
      (defect) => broken(Cause.die(defect))
    ) ?? answer.result(program, revision, body.error(body.defect))
    if (reply._tag === "Result") {
      // What a tool itself tells as an error counts as failed only in 2025-11-25.
      return finish(task, isError(reply) && !task.modern ? "failed" : "completed", reply)
    }
    const message = T.member(reply.error, "message")
    finish(task, "failed", reply, message === undefined ? undefined : T.string(message))
  }

  const full: Next = { reply: Refusals.failure("too-many-requests"), begin: nothing }

  const open = (order: Order): Next => {
    const { call, caller, given, line, name, run, timeout } = order
    if (tasks.size >= max || held > maxHeld) return full
    const created = now()
    const task: Task = {
      id: fresh(),
      caller,
      modern: Revision.isModern(caller.revision),
      created,
      // One that is gone before anyone can ask about it is of no use.
      ttl: Math.max(Math.min(order.ttl ?? maxTtl, maxTtl), pollInterval),
      origin: line,
      line,
      status: "working",
      updated: created,
      message: undefined,
      outcome: undefined,
      asking: 0,
      asked: "0",
      held: 0,
      stop: nothing,
      questions: new Map(),
      waiters: new Map()
    }
    tasks.set(task.id, task)
    keep(task, call.params?.length ?? 0)
    runs(Effect.andThen(Effect.sleep(task.ttl), Effect.sync(() => drop(task))), nothing)
    const begin = (): void => {
      if (isOver(task)) return
      const exchange = TaskExchange.make({
        id: task.id,
        caller,
        params: call.params,
        given,
        line: () => task.line,
        isOver: () => isOver(task),
        questions: task.questions,
        asking: (change) => {
          task.asking += change
        },
        say: (message) => {
          change(task, task.status, message)
          tell(task)
        },
        moved: () => moved(task),
        fresh
      })
      const effect = spans(call, caller, name, body.attempt(run))
      const stop = start(Context.add(context, Client, exchange.service), scope)(
        timeout === undefined ? effect : timed(effect, timeout, exchange, now, call.method),
        (exit) => settle(task, exit)
      )
      if (!isOver(task)) task.stop = stop
    }
    return { reply: said(task, "task"), begin }
  }

  // ---- asked about

  const find = ({ caller, params }: Named): Task | undefined => {
    const text = T.member(params, "taskId")
    const id = text === undefined ? undefined : T.string(text)
    return id === undefined ? undefined : known(caller, id)
  }
  const known = (caller: Caller, id: string): Task | undefined => {
    const task = tasks.get(id)
    return task !== undefined && task.caller.who === caller.who && task.modern === Revision.isModern(caller.revision)
      ? task
      : undefined
  }

  return {
    open,
    get: (named) => {
      const task = find(named)
      return task === undefined ? unknown : said(task)
    },
    cancel: (named) => {
      const task = find(named)
      if (task === undefined) return unknown
      if (!isOver(task)) {
        finish(task, "cancelled", undefined)
        task.stop()
      } else if (!task.modern) return answer.invalid(`The task cannot be cancelled: it is ${task.status}`)
      return task.modern ? acknowledged(task) : said(task)
    },
    update: (named) => {
      const task = find(named)
      if (task === undefined) return unknown
      const answers = objectOf(named.params, "inputResponses")
      if (answers === undefined) return answer.invalid("tasks/update needs params.inputResponses, an object")
      // What was not asked, and what is no answer, counts for nothing: it is still asked.
      const taken = T.members(answers).filter(([key, text]) => task.questions.get(key)?.answer(text) === true)
      if (taken.length > 0) moved(task)
      return acknowledged(task)
    },
    result: (named, call, line) => {
      const task = find(named)
      if (task === undefined) return call.reply(unknown)
      if (isOver(task)) return call.reply(outcomeOf(task))
      // Who waits for it is there to be asked, even where the connection that began it is not.
      task.line = line
      task.waiters.set(call, line)
    },
    list: (line, cursor, size) => {
      const own = [...tasks.values()].filter((task) => task.origin === line && !task.modern)
      const after = cursor === undefined ? undefined : T.string(cursor)
      const from = cursor === undefined ? 0 : own.findIndex(({ id }) => id === after) + 1
      if (cursor !== undefined && from === 0) return answer.invalid("The cursor is none that this server gave")
      const page = own.slice(from, from + size)
      const next = from + size < own.length ? page.at(-1) : undefined
      return {
        _tag: "Result",
        result: T.object([
          ["tasks", T.array(page.map((task) => T.object(plain(task))))],
          ...(next === undefined ? [] : [["nextCursor", T.quote(next.id)] as const])
        ])
      }
    },
    own: (caller, ids) =>
      ids.flatMap((id) => {
        const task = known(caller, id)
        return task === undefined ? [] : [[id, T.object(detailed(task))] as const]
      }),
    forget: (call) => {
      for (const { waiters } of tasks.values()) {
        for (const waiting of waiters.keys()) if (means(waiting, call)) waiters.delete(waiting)
      }
    },
    leave: (line) => {
      for (const { waiters } of tasks.values()) {
        for (const [call, of] of waiters) if (of === line) waiters.delete(call)
      }
      Deferred.doneUnsafe(line.closed, Effect.void)
    }
  }
}
