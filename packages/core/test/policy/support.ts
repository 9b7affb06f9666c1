import type * as Condition from "@sallyport/core/policy/Condition"
import * as Decide from "@sallyport/core/policy/Decide"
import * as Policy from "@sallyport/core/policy/Policy"
import { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** Compact JSON as it is, numbers included. */
export const raw: (json: string) => Text = Schema.decodeSync(Text)

/** A policy that must be right. */
export const policy = (text: string): Policy.Policy => {
  const parsed = Policy.parse(text, "policy.toml")
  if (Result.isFailure(parsed)) throw new Error(parsed.failure.map(Policy.format).join("\n"))
  return parsed.success
}

export const compiled = (text: string, options?: { readonly real?: Condition.Real }): Decide.Compiled =>
  Decide.compile(policy(text), options)

/** The definition of a tool that takes anything under these names. */
export const tool = (name: string, properties: unknown = {}, more: object = {}): Text =>
  T.fromValue({ name, inputSchema: { type: "object", properties }, ...more })

/** A call of a tool with these arguments, as they are written. */
export const call = (name: string, args?: string, more: Partial<Condition.Call> = {}): Condition.Call => ({
  client: "claude",
  server: "files",
  from: "host",
  method: "tools/call",
  name,
  params: raw(
    args === undefined ? `{"name":${JSON.stringify(name)}}` : `{"name":${JSON.stringify(name)},"arguments":${args}}`
  ),
  pin: undefined,
  definition: tool(name, { path: { type: "string" }, amount: { type: "number" }, paths: { type: "array" } }),
  ...more
})
