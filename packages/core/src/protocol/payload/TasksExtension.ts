/**
 * The params and results of the extension io.modelcontextprotocol/tasks, on top of 2026-07-28 (the extension's schema).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { extend, open } from "./Shape.ts"
import * as Before from "./V20251125.ts"
import * as Core from "./V20260728.ts"

const maybe = Schema.optionalKey
const complete = { resultType: Schema.Literal("complete"), _meta: maybe(Core.ResultMeta) } as const

/**
 * A task (Task).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Task = open({
  taskId: Schema.String,
  status: Before.TaskStatus,
  statusMessage: maybe(Schema.String),
  createdAt: Schema.String,
  lastUpdatedAt: Schema.String,
  ttlMs: Schema.NullOr(Schema.Finite),
  pollIntervalMs: maybe(Schema.Finite)
})
/**
 * A task (Task).
 *
 * @category models
 * @since 0.1.0
 */
export type Task = typeof Task.Type

const failure = open({ code: Schema.Int, message: Schema.String, data: maybe(Schema.Unknown) })
const tasks = [
  extend(Task, { status: Schema.Literal("working") }),
  extend(Task, { status: Schema.Literal("input_required"), inputRequests: Core.InputRequests }),
  extend(Task, { status: Schema.Literal("completed"), result: open({}) }),
  extend(Task, { status: Schema.Literal("failed"), error: failure }),
  extend(Task, { status: Schema.Literal("cancelled") })
] as const

/**
 * A task with what its status brings (Task Status).
 *
 * @category schemas
 * @since 0.1.0
 */
export const DetailedTask = Schema.Union(tasks)
/**
 * A task with what its status brings (Task Status).
 *
 * @category models
 * @since 0.1.0
 */
export type DetailedTask = typeof DetailedTask.Type

/**
 * That a call goes on as a task (Task Creation).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CreateTaskResult = extend(Task, {
  resultType: Schema.Literal("task"),
  _meta: maybe(Core.ResultMeta)
})
/**
 * That a call goes on as a task (Task Creation).
 *
 * @category models
 * @since 0.1.0
 */
export type CreateTaskResult = typeof CreateTaskResult.Type

/**
 * Which task is meant (Task Operations).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskParams = open({ _meta: Core.RequestMeta, taskId: Schema.String })
/**
 * Which task is meant (Task Operations).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskParams = typeof TaskParams.Type

/**
 * Where a task stands (Task Operations, tasks/get).
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetTaskResult = Schema.Union([
  extend(tasks[0], complete),
  extend(tasks[1], complete),
  extend(tasks[2], complete),
  extend(tasks[3], complete),
  extend(tasks[4], complete)
])
/**
 * Where a task stands (Task Operations, tasks/get).
 *
 * @category models
 * @since 0.1.0
 */
export type GetTaskResult = typeof GetTaskResult.Type

/**
 * The answers that a task waits for (Task Operations, tasks/update).
 *
 * @category schemas
 * @since 0.1.0
 */
export const UpdateTaskParams = extend(TaskParams, { inputResponses: Core.InputResponses })
/**
 * The answers that a task waits for (Task Operations, tasks/update).
 *
 * @category models
 * @since 0.1.0
 */
export type UpdateTaskParams = typeof UpdateTaskParams.Type

/**
 * That it was taken note of (Task Operations).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AcknowledgedResult = open(complete)
/**
 * That it was taken note of (Task Operations).
 *
 * @category models
 * @since 0.1.0
 */
export type AcknowledgedResult = typeof AcknowledgedResult.Type

/**
 * What is listened to: also tasks (Task Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubscriptionFilter = extend(Core.SubscriptionFilter, { taskIds: maybe(Schema.Array(Schema.String)) })
/**
 * What is listened to: also tasks (Task Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type SubscriptionFilter = typeof SubscriptionFilter.Type

const told = { _meta: maybe(Core.NotificationMeta) } as const

/**
 * That a task moved (Task Notifications).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskNotificationParams = Schema.Union([
  extend(tasks[0], told),
  extend(tasks[1], told),
  extend(tasks[2], told),
  extend(tasks[3], told),
  extend(tasks[4], told)
])
/**
 * That a task moved (Task Notifications).
 *
 * @category models
 * @since 0.1.0
 */
export type TaskNotificationParams = typeof TaskNotificationParams.Type

/**
 * The params of every method of the extension.
 *
 * @category tables
 * @since 0.1.0
 */
export const params = {
  "tasks/get": TaskParams,
  "tasks/update": UpdateTaskParams,
  "tasks/cancel": TaskParams,
  "notifications/tasks": TaskNotificationParams
}

/**
 * The result of every request of the extension.
 *
 * @category tables
 * @since 0.1.0
 */
export const results = {
  "tasks/get": GetTaskResult,
  "tasks/update": AcknowledgedResult,
  "tasks/cancel": AcknowledgedResult
}
