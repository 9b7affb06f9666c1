/**
 * Answers, in the form of each revision.
 *
 * @since 0.1.0
 */
import * as Revision from "../../protocol/Revision.ts"
import type { Reply, Text } from "../../wire/Message.ts"
import * as T from "../../wire/Text.ts"
import * as Write from "../../wire/Write.ts"
import type { Hints } from "../Resource.ts"
import type { Body, Failure } from "./body.ts"
import { none } from "./params.ts"
import type { Program } from "./Program.ts"

/**
 * The result without members, of older revisions.
 *
 * @category constants
 * @since 0.1.0
 */
export const empty: Reply = { _tag: "Result", result: none }

/**
 * An error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (code: number, message: string, data?: Text): Reply => Write.failure(code, message, data)

/**
 * The error of params that cannot be served.
 *
 * @category constructors
 * @since 0.1.0
 */
export const invalid = (message: string): Reply => fail(-32602, message)

/**
 * A result. From 2026-07-28 on it says its type, who answers, and how long it stays fresh.
 *
 * @category constructors
 * @since 0.1.0
 */
export const result = (
  program: Pick<Program, "serverInfo">,
  revision: Revision.Revision,
  { members, meta }: Body,
  hints?: Hints,
  type: "complete" | "input_required" | "task" = "complete"
): Reply => ({
  _tag: "Result",
  result: Revision.isModern(revision)
    ? T.object([
      ["resultType", T.quote(type)],
      ...members,
      ...(hints === undefined
        ? []
        : [["ttlMs", T.integer(hints.ttlMs)] as const, ["cacheScope", T.quote(hints.cacheScope)] as const]),
      ["_meta", T.setMember(T.fromValue(meta ?? {}), Revision.meta.serverInfo, program.serverInfo(revision))]
    ])
    : T.object(meta === undefined ? members : [...members, ["_meta", T.fromValue(meta)]])
})

/**
 * The error of a failure that is told as one.
 *
 * @category conversions
 * @since 0.1.0
 */
export const failed = (failure: Failure, revision: Revision.Revision): Reply => {
  switch (failure._tag) {
    case "NotFound":
      return fail(
        Revision.isModern(revision) ? -32602 : -32002,
        failure.message,
        T.object([["uri", T.quote(failure.uri)]])
      )
    case "AskError":
      return failure.reason === "not-supported" && Revision.isModern(revision)
        ? fail(-32021, failure.message, T.object([["requiredCapabilities", T.fromValue(failure.requires)]]))
        : fail(-32603, failure.message)
    case "Refusal":
      return fail(failure.code, failure.message, failure.data === undefined ? undefined : T.fromValue(failure.data))
  }
}
