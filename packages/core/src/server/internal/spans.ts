/**
 * A span for each request that a handler serves, where somebody collects them.
 *
 * **Details**
 *
 * Named by OpenTelemetry's conventions for MCP: the method, with the tool's or the prompt's name. Its parent is what
 * `traceparent` in `_meta` names, if anything (2026-07-28 basic/index, _meta).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import { metaOf } from "../../protocol/Agreement.ts"
import * as Method from "../../protocol/Method.ts"
import type { Call } from "../../stage/Port.ts"
import * as T from "../../wire/Text.ts"
import type { Caller } from "./Exchange.ts"
import type { Services } from "./Program.ts"

/**
 * Puts what serves a request into its span.
 *
 * @category models
 * @since 0.1.0
 */
export type Spans = <A, E>(
  call: Call,
  caller: Caller,
  name: string,
  effect: Effect.Effect<A, E, Services>
) => Effect.Effect<A, E, Services>

const none: Spans = (_call, _caller, _name, effect) => effect

/** W3C Trace Context, version 00. */
const format = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

const parentOf = ({ params }: Call): Tracer.ExternalSpan | undefined => {
  const meta = metaOf(params)
  const text = meta === undefined ? undefined : T.member(meta, "traceparent")
  const [, traceId, spanId, flags] = format.exec(text === undefined ? "" : T.string(text) ?? "") ?? []
  return traceId === undefined || spanId === undefined || /^0+$/.test(traceId) || /^0+$/.test(spanId)
    ? undefined
    : Tracer.externalSpan({ traceId, spanId, sampled: (Number.parseInt(flags ?? "", 16) & 1) === 1 })
}

const traced: Spans = (call, caller, name, effect) => {
  const { method } = call
  const isNamed = Method.reaches(method, "host")?.named === "name"
  return Effect.withSpan(effect, isNamed ? `${method} ${name}` : method, {
    kind: "server",
    parent: parentOf(call),
    captureStackTrace: false,
    attributes: {
      "mcp.method.name": method,
      "mcp.protocol.version": caller.revision,
      ...(method === "tools/call" ? { "gen_ai.tool.name": name } : {}),
      ...(method === "prompts/get" ? { "gen_ai.prompt.name": name } : {}),
      ...(method === "resources/read" ? { "mcp.resource.uri": name } : {})
    }
  })
}

/**
 * Spans, where the server was built with a tracer; without one nothing is done, and nothing paid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (context: Context.Context<never>): Spans =>
  Context.getOrUndefined(context, Tracer.Tracer) === undefined ? none : traced
