/**
 * The schemas of what messages carry: params and results of every method in every revision.
 *
 * **Details**
 *
 * Each revision is said as a difference from the one before, in a file of its own in `payload/`. All objects are open:
 * members that a revision does not name are kept. The names that are exported here are those of the newest revision, and
 * of the tasks of 2025-11-25.
 *
 * **Gotchas**
 *
 * What only passes messages on has no need of this module, and must not load it.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as TasksExtension from "./payload/TasksExtension.ts"
import * as V20241105 from "./payload/V20241105.ts"
import * as V20250326 from "./payload/V20250326.ts"
import * as V20250618 from "./payload/V20250618.ts"
import * as V20251125 from "./payload/V20251125.ts"
import * as V20260728 from "./payload/V20260728.ts"
import type { Revision } from "./Revision.ts"

/**
 * The params and results of every revision by method; 2026-07-28 with the tasks extension.
 *
 * @category tables
 * @since 0.1.0
 */
export const table = {
  "2024-11-05": { params: V20241105.params, results: V20241105.results },
  "2025-03-26": { params: V20250326.params, results: V20250326.results },
  "2025-06-18": { params: V20250618.params, results: V20250618.results },
  "2025-11-25": { params: V20251125.params, results: V20251125.results },
  "2026-07-28": {
    params: { ...V20260728.params, ...TasksExtension.params },
    results: { ...V20260728.results, ...TasksExtension.results }
  }
} as const satisfies Record<Revision, Half>

/**
 * A schema that needs nothing to read with.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Schema.ConstraintCodec<unknown, unknown>

type Half = { readonly params: Readonly<Record<string, Any>>; readonly results: Readonly<Record<string, Any>> }

/**
 * The table with the schema of each entry.
 *
 * @category models
 * @since 0.1.0
 */
export type Table = typeof table

const own = (half: Readonly<Record<string, Any>>, method: string): Any | undefined =>
  Object.hasOwn(half, method) ? half[method] : undefined

/**
 * The schema of a method's params, of requests and of notifications. Absent params are read as `{}`: where that is not
 * accepted, the method has params that it cannot do without.
 *
 * @category getters
 * @since 0.1.0
 */
export const params = <R extends Revision, M extends keyof Table[R]["params"]>(
  method: M,
  revision: R
): Table[R]["params"][M] => {
  const half: Table[R]["params"] = table[revision].params
  return half[method]
}

/**
 * The same for a method of any name: `undefined` where the revision has no such method.
 *
 * @category getters
 * @since 0.1.0
 */
export const findParams = (method: string, revision: Revision): Any | undefined => own(table[revision].params, method)

/**
 * The schema of a method's result. In 2026-07-28 that of a method that may ask back is a union told apart by
 * `resultType`; a call that became a task is answered with `CreateTaskResult` of the extension instead.
 *
 * @category getters
 * @since 0.1.0
 */
export const result = <R extends Revision, M extends keyof Table[R]["results"]>(
  method: M,
  revision: R
): Table[R]["results"][M] => {
  const half: Table[R]["results"] = table[revision].results
  return half[method]
}

/**
 * The same for a method of any name: `undefined` where the revision has no such method.
 *
 * @category getters
 * @since 0.1.0
 */
export const findResult = (method: string, revision: Revision): Any | undefined => own(table[revision].results, method)

export {
  /** A task of 2025-11-25 (basic/utilities/tasks, Task). */
  Task,
  /** A tool as it is listed in 2025-11-25, where it says whether it may be run as a task. */
  Tool as TaskTool
} from "./payload/V20251125.ts"

export {
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  CreateMessageParams,
  CreateMessageResult,
  ElicitParams,
  ElicitResult,
  Implementation,
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponses,
  ListRootsResult,
  Prompt,
  PromptMessage,
  Resource,
  ResourceTemplate,
  SamplingMessage,
  ServerCapabilities,
  SubscriptionFilter,
  Tool
} from "./payload/V20260728.ts"

export {
  Annotations,
  AudioContent,
  EmbeddedResource,
  ImageContent,
  PromptArgument,
  ResourceContents,
  Root,
  TextContent
} from "./payload/V20250618.ts"

export { Icon, ResourceLink } from "./payload/V20251125.ts"

export { LoggingLevel, ProgressToken, RequestId, Role } from "./payload/V20241105.ts"
