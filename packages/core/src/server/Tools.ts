/**
 * Tools that were written for something else: toolkits of `effect/ai`.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import * as AiTool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Stream from "effect/Stream"
import * as Feature from "../protocol/Feature.ts"
import type { Revision } from "../protocol/Revision.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Client from "./Client.ts"
import * as Content from "./Content.ts"
import * as Definition from "./Definition.ts"
import type { Body } from "./internal/body.ts"
import * as body from "./internal/body.ts"
import { decoder, encoder } from "./internal/codec.ts"
import * as publish from "./internal/publish.ts"
import type { Group } from "./Part.ts"
import { wordsOf } from "./Refusal.ts"
import type { Tool } from "./Tool.ts"

/** What a toolkit hands out while it serves a call. */
interface Given {
  readonly result: unknown
  readonly encodedResult: unknown
  readonly isFailure: boolean
  readonly failureOrigin?: AiTool.FailureOrigin
  readonly preliminary: boolean
}

/** A toolkit with its handlers, as far as it is used here. */
interface Kit<E, R> {
  readonly handle: (
    name: string,
    params: unknown,
    id: undefined,
    options: typeof publish.options
  ) => Effect.Effect<Stream.Stream<Given, E, R>, E, R>
}

/**
 * The tools of an `effect/ai` Toolkit, as they are.
 *
 * **Details**
 *
 * Its handlers come from the toolkit's own layer, which the server's layer then requires. Annotations become hints, a
 * preliminary result becomes progress, and a declared failure a result with `isError`.
 *
 * **Gotchas**
 *
 * `Toolkit.handle` costs several times as much as a tool of `Tool.make`. An argument that the parameters do not name is
 * refused here, whatever `Tool.Strict` says.
 *
 * **Example**
 *
 * ```ts
 * const server = Server.layerDispatch({ name: "weather", version: "1.0.0" }, Tools.fromToolkit(WeatherToolkit)).pipe(
 *   Layer.provide(WeatherToolkit.toLayer({ GetWeather: ({ city }) => Effect.succeed(`sunny in ${city}`) }))
 * )
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function fromToolkit<Tools extends Record<string, AiTool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>
): Group<AiTool.HandlerServices<Tools[keyof Tools]> | Client.Client, AiTool.HandlersFor<Tools>>
export function fromToolkit<E, R, Load>(
  toolkit: Effect.Effect<Kit<E, R>, never, Load> & { readonly tools: Readonly<Record<string, AiTool.Any>> }
): Group<R | Client.Client, Load> {
  return {
    _tag: "Group",
    parts: Effect.map(toolkit, (kit) => Object.values(toolkit.tools).map((tool) => adapt(tool, kit)))
  }
}

const adapt = <E, R>(tool: AiTool.Any, { handle }: Kit<E, R>): Tool<R | Client.Client> => {
  const parameters: unknown = tool.parametersSchema
  // What a toolkit decodes is the encoded form of its parameters; from JSON to that form is one step more.
  const input = Schema.isSchema(parameters) ? Schema.toEncoded(parameters) : undefined
  const read = input === undefined ? undecoded : decoder(input)
  const success = Schema.toEncoded(tool.successSchema)
  const isVoid = SchemaAST.isVoid(success.ast) || SchemaAST.isUndefined(success.ast)
  const schema = isVoid ? undefined : publish.output(success)
  const feature = schema?.["type"] === "object" ? "structured-content" : "any-structured-content"
  const write = encoder(success)
  const { annotations } = tool

  const answer = (given: Given, revision: Revision): Effect.Effect<Body> =>
    isVoid
      ? Effect.succeed(body.ofContent([], revision))
      : Effect.matchEffect(write(given.encodedResult), {
        onFailure: (words) => Effect.die(`The result of ${tool.name} does not fit its schema: ${words}`),
        onSuccess: (text) =>
          Effect.succeed(
            body.ofContent(
              [Content.text(T.string(text) ?? text)],
              revision,
              Feature.isDefined(feature, revision) ? [["structuredContent", text]] : []
            )
          )
      })

  return {
    _tag: "Tool",
    name: tool.name,
    timeout: undefined,
    task: undefined,
    definition: Definition.make([
      ["name", tool.name],
      ["title", Option.getOrUndefined(Context.getOption(annotations, AiTool.Title)), "titles"],
      ["description", AiTool.getDescription(tool)],
      ["inputSchema", input === undefined ? AiTool.getJsonSchema(tool) : publish.arguments_(input)],
      ["outputSchema", schema, feature],
      ["annotations", {
        readOnlyHint: Context.get(annotations, AiTool.Readonly),
        destructiveHint: Context.get(annotations, AiTool.Destructive),
        idempotentHint: Context.get(annotations, AiTool.Idempotent),
        openWorldHint: Context.get(annotations, AiTool.OpenWorld)
      }, "tool-annotations"],
      ["_meta", Context.getOrUndefined(annotations, AiTool.Meta), "item-metadata"]
    ]),
    call: (args, revision) =>
      Effect.matchEffect(read(args), {
        onFailure: (words) => Effect.succeed(body.error(`These arguments do not fit:\n${words}`)),
        onSuccess: (params) =>
          Stream.unwrap(handle(tool.name, params, undefined, publish.options)).pipe(
            Stream.zipWithIndex,
            Stream.tap(([given, index]) => given.preliminary ? Client.progress(index + 1) : Effect.void),
            Stream.runLast,
            Effect.flatMap((last) =>
              Option.isNone(last)
                ? Effect.die(`${tool.name} gave no result`)
                : last.value[0].isFailure
                ? failed(last.value[0].result, last.value[0].failureOrigin ?? "result")
                : answer(last.value[0], revision)
            ),
            Effect.catchCause((cause) => {
              const failure = Cause.findFail(cause)
              return Result.isFailure(failure)
                ? Effect.failCause(failure.failure)
                : failed(
                  failure.success.error,
                  Context.get(Cause.reasonAnnotations(failure.success), Toolkit.FailureOrigin)
                )
            })
          )
      })
  }
}

const undecoded = (text: Text): Effect.Effect<unknown> => Effect.succeed(T.toValue(text))

/** What a handler failed with on purpose is told; what the toolkit found wrong with a result is the author's to know. */
const failed = (failure: unknown, origin: AiTool.FailureOrigin): Effect.Effect<Body> => {
  if (origin === "result") return Effect.die(failure)
  return Effect.succeed(body.error(
    AiError.isAiError(failure) && failure.reason._tag === "ToolParameterValidationError"
      ? `These arguments do not fit:\n${failure.reason.description}`
      : wordsOf(failure)
  ))
}
