/**
 * Tools: what a model may call.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as ErrorCode from "../protocol/ErrorCode.ts"
import * as Feature from "../protocol/Feature.ts"
import type { Revision } from "../protocol/Revision.ts"
import { exitOf } from "../stage/internal/constant.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Asks } from "./Client.ts"
import { AskError } from "./Client.ts"
import * as Content from "./Content.ts"
import type { Icon, JsonObject } from "./Definition.ts"
import * as Definition from "./Definition.ts"
import type { Body, Failure } from "./internal/body.ts"
import * as body from "./internal/body.ts"
import { decoder, encoder } from "./internal/codec.ts"
import * as eager from "./internal/eager.ts"
import * as publish from "./internal/publish.ts"
import { Refusal, wordsOf } from "./Refusal.ts"

/**
 * What a tool says of its own behaviour: hints, which a client does not trust.
 *
 * @category models
 * @since 0.1.0
 */
export interface Annotations {
  readonly title?: string | undefined
  readonly readOnlyHint?: boolean | undefined
  readonly destructiveHint?: boolean | undefined
  readonly idempotentHint?: boolean | undefined
  readonly openWorldHint?: boolean | undefined
}

/**
 * How long a call may take. Time in which the client is asked, and time in the queue, does not count.
 *
 * @category models
 * @since 0.1.0
 */
export type Timeout = Duration.Input | {
  readonly after: Duration.Input
  /** The time starts again whenever the handler tells of progress. */
  readonly resetOnProgress: boolean
}

/**
 * Whether a tool may run as a task, or has to.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskSupport = "optional" | "required"

/**
 * How a tool runs as a task.
 *
 * @category models
 * @since 0.1.0
 */
export interface Task {
  readonly support: TaskSupport
  /**
   * Asked before the task begins, where the revision has that (2026-07-28). The handler asks it all the same, under the
   * same key, and has the answer at once.
   */
  readonly first?: Asks | undefined
}

/**
 * What a tool is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<Input, Output> {
  readonly description: string
  readonly title?: string | undefined
  /** The arguments; without it the tool takes none. An argument that it does not name is refused. */
  readonly input?: Input | undefined
  /** What is listed in place of the JSON Schema derived from `input`. Its root must be an object. */
  readonly inputSchema?: (JsonObject & { readonly type: "object" }) | undefined
  /** The structured result. Every result is checked against it before it is sent. */
  readonly output?: Output | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
  readonly timeout?: Timeout | undefined
  /**
   * Whether the client may have it run as a task, which it asks about later (2025-11-25, and the extension
   * io.modelcontextprotocol/tasks of 2026-07-28); it may not. Where a revision has no tasks, even a tool that requires
   * one is called as any other.
   */
  readonly task?: TaskSupport | Task | undefined
}

/**
 * A result with more to it than its value: blocks beside structured output, metadata, an error in blocks.
 *
 * @category models
 * @since 0.1.0
 */
export class Result<out A> {
  readonly structured: A | undefined
  readonly content: ReadonlyArray<Content.Content> | undefined
  readonly isError: boolean
  readonly meta: JsonObject | undefined
  constructor(options: {
    readonly structured: A | undefined
    readonly content: ReadonlyArray<Content.Content> | undefined
    readonly isError: boolean
    readonly meta: JsonObject | undefined
  }) {
    this.structured = options.structured
    this.content = options.content
    this.isError = options.isError
    this.meta = options.meta
  }
}

/**
 * A structured result with blocks of its own; without blocks its JSON is the text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const structured = <A>(value: A, options: {
  readonly content?: ReadonlyArray<Content.Content> | undefined
  readonly meta?: JsonObject | undefined
} = {}): Result<A> => new Result({ structured: value, content: options.content, isError: false, meta: options.meta })

/**
 * A result of blocks, with metadata.
 *
 * @category constructors
 * @since 0.1.0
 */
export const content = (
  blocks: ReadonlyArray<Content.Content>,
  options: { readonly meta?: JsonObject | undefined } = {}
): Result<never> => new Result<never>({ structured: undefined, content: blocks, isError: false, meta: options.meta })

/**
 * A failure that is told in blocks; a plain failure of the handler is told in words.
 *
 * @category constructors
 * @since 0.1.0
 */
export const error = (blocks: ReadonlyArray<Content.Content>): Result<never> =>
  new Result<never>({ structured: undefined, content: blocks, isError: true, meta: undefined })

/**
 * What a handler of a tool without structured output may give.
 *
 * @category models
 * @since 0.1.0
 */
export type Plain = void | string | Content.Content | ReadonlyArray<Content.Content> | Result<never>

/**
 * What a handler gives: a value of the output schema, or a {@link Result} of one.
 *
 * @category models
 * @since 0.1.0
 */
export type Returns<Output extends Schema.Constraint> = [Output] extends [never] ? Plain
  : Output["Type"] | Result<Output["Type"]>

/**
 * A tool, whose handler requires `R`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool<out R> {
  readonly _tag: "Tool"
  readonly name: string
  readonly definition: Definition.Definition
  readonly timeout: Timeout | undefined
  readonly task: Task | undefined
  readonly call: (args: Text, revision: Revision) => Effect.Effect<Body, Failure, R>
}

const noArguments = Schema.Struct({})

/** A schema whose services are those of a handler. */
type Codec<R> = Schema.ConstraintCodec<unknown, unknown, R, R>

/**
 * A tool.
 *
 * **Details**
 *
 * The handler gets the decoded arguments. What it fails with on purpose is told to the model as a result with `isError`
 * (see `Refusal.wordsOf`), and so are arguments that do not fit. A defect is told in one fixed sentence, and its cause
 * goes to the log. A `Refusal` becomes a JSON-RPC error.
 *
 * **Example**
 *
 * ```ts
 * const add = Tool.make("add", {
 *   description: "Adds two numbers",
 *   input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   output: Schema.Struct({ sum: Schema.Finite }),
 *   annotations: { readOnlyHint: true }
 * }, ({ a, b }) => Effect.succeed({ sum: a + b }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  R = never,
  E = never,
  Input extends Schema.Constraint = typeof noArguments,
  Output extends Schema.Constraint = never
>(
  name: string,
  options: Options<Input, Output>,
  handler: (input: Input["Type"]) => Effect.Effect<Returns<Output>, E, R>
): Tool<R | Input["DecodingServices"] | Output["EncodingServices"]>
export function make<R, E>(
  name: string,
  options: Options<Codec<R>, Codec<R>>,
  handler: (input: unknown) => Effect.Effect<unknown, E, R>
): Tool<R> {
  const input: Codec<R> = options.input ?? noArguments
  const read = decoder(input)
  const answer = options.output === undefined ? plain : structuredBy(options.output)
  const task = typeof options.task === "string" ? { support: options.task } : options.task
  const answered = (given: unknown, revision: Revision): Effect.Effect<Body, Failure, R> => {
    const value = body.invoke(handler, given)
    const known = exitOf(value)
    return known !== undefined && Exit.isSuccess(known)
      ? answer.of(known.value, revision)
      : Effect.matchEffect(value, {
        onSuccess: (value) => answer.of(value, revision),
        onFailure: (failure) => failed(failure, revision)
      })
  }
  return {
    _tag: "Tool",
    name,
    timeout: options.timeout,
    task,
    definition: Definition.make([
      ["name", name],
      ["title", options.title, "titles"],
      ["description", options.description],
      ["inputSchema", options.inputSchema ?? publish.arguments_(input)],
      ["outputSchema", answer.schema, answer.feature],
      ["annotations", options.annotations, "tool-annotations"],
      ["icons", options.icons, "icons"],
      ["execution", task === undefined ? undefined : { taskSupport: task.support }, "tool-execution"],
      ["_meta", options.meta, "item-metadata"]
    ]),
    call: (args, revision) => {
      // A text at once, for arguments at hand, is what most tools come to: that makes no functions for what may happen.
      const given = read(args)
      const known = exitOf(given)
      if (known !== undefined && Exit.isSuccess(known)) return answered(known.value, revision)
      return Effect.matchEffect(given, {
        onSuccess: (given) => answered(given, revision),
        onFailure: (words) => Effect.succeed(body.error(`These arguments do not fit:\n${words}`))
      })
    }
  }
}

const failed = (failure: unknown, revision: Revision): Effect.Effect<Body, Failure> => {
  if (failure instanceof Refusal) return Effect.fail(failure)
  // What the client would have to declare is told to the client, where the protocol has a word for it.
  if (failure instanceof AskError && failure.reason === "not-supported" && ErrorCode.mayEmit(-32021, revision)) {
    return Effect.fail(failure)
  }
  return Effect.succeed(body.error(wordsOf(failure)))
}

/** How what a handler gives becomes a result, and what is listed of it. */
interface Answers<out R> {
  readonly schema: JsonObject | undefined
  readonly feature: Feature.Feature
  readonly of: (value: unknown, revision: Revision) => Effect.Effect<Body, never, R>
}

const asError = ["isError", T.literal("true")] as const

const isContent = (value: unknown): value is Content.Content =>
  typeof value === "object" && value !== null && "type" in value

const blocksOf = (value: unknown): ReadonlyArray<Content.Content> =>
  value === undefined
    ? []
    : Array.isArray(value)
    ? value.filter(isContent)
    : isContent(value)
    ? [value]
    : [Content.text(String(value))]

const plain: Answers<never> = {
  schema: undefined,
  feature: "structured-content",
  of: (value, revision) =>
    Effect.succeed(
      typeof value === "string"
        ? body.ofText(value)
        : value instanceof Result
        ? body.ofContent(value.content ?? [], revision, value.isError ? [asError] : [], value.meta)
        : body.ofContent(blocksOf(value), revision)
    )
}

const structuredBy = <R>(output: Codec<R>): Answers<R> => {
  const schema = publish.output(output)
  const write = encoder(output)
  // Before 2026-07-28 structured output is an object, and clients refuse a whole listing for one that is not.
  const feature = schema["type"] === "object" ? "structured-content" : "any-structured-content"
  return {
    schema,
    feature,
    of: (value, revision) => {
      const given = value instanceof Result ? value : undefined
      if (given?.isError === true) {
        return Effect.succeed(body.ofContent(given.content ?? [], revision, [asError], given.meta))
      }
      return eager.follow(
        write(given === undefined ? value : given.structured),
        (text) =>
          Effect.succeed(body.ofContent(
            given?.content ?? [Content.text(text)],
            revision,
            Feature.isDefined(feature, revision) ? [["structuredContent", text]] : [],
            given?.meta
          )),
        (words) => Effect.die(`The result does not fit the tool's output schema: ${words}`)
      )
    }
  }
}
