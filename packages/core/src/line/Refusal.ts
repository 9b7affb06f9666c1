/**
 * Refusals as answers: the texts that a host, and the model behind it, read.
 *
 * **Details**
 *
 * What a model reads never holds a command that would loosen anything (security rule F1). `error.data` carries the
 * reason, the server and the item, and nothing of the machine.
 *
 * @since 0.1.0
 */
import type { Failure, Refused, Reply, Text } from "../wire/Message.ts"
import * as Reason from "../wire/Reason.ts"
import * as T from "../wire/Text.ts"
import * as Write from "../wire/Write.ts"

/** What a refusal is about. */
interface About {
  readonly server?: string | undefined
  readonly item?: string | undefined
  readonly more?: string | undefined
  readonly data?: ReadonlyArray<readonly [string, Text]>
}

/** Names may be as long as a message: an answer holds the beginning. */
const short = (item: string): string => item.length > 1024 ? `${item.slice(0, 1024)} ...` : item

const data = (reason: Reason.Reason, about: About): Text =>
  T.object([
    ["reason", T.quote(reason)],
    ...(about.server === undefined ? [] : [["server", T.quote(about.server)] as const]),
    ...(about.item === undefined ? [] : [["item", T.quote(short(about.item))] as const]),
    ...(about.data ?? [])
  ])

const sentence = (reason: Reason.Reason, about: About): string => {
  const row = Reason.table[reason]
  const item = about.item === undefined ? "" : `${JSON.stringify(short(about.item))}: `
  return `Sallyport: ${item}${row.says}${about.more === undefined ? "" : ` (${about.more})`}; ${row.remedy}.`
}

/**
 * The JSON-RPC error of a reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failure = (reason: Reason.Reason, about: About = {}): Failure =>
  Write.failure(Reason.table[reason].code, sentence(reason, about), data(reason, about))

const ended = new WeakSet<Reply>()

/**
 * What a request is answered with that the server did not answer before it ended.
 *
 * @category constructors
 * @since 0.1.0
 */
export const serverEnded = (server: string, more: string): Failure => {
  const reply = failure("server-ended", { server, more })
  ended.add(reply)
  return reply
}

/**
 * Whether a request has no answer because the server ended: known by the reply itself, which no server can imitate.
 *
 * @category guards
 * @since 0.1.0
 */
export const isServerEnded = (reply: Reply): boolean => ended.has(reply)

/**
 * What a refused line is answered with: rule, JSON pointer and byte offset.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refused = (item: Refused): Failure => failure(item.reason, place(item))

/**
 * What a call is answered with whose answer cannot be accepted (-32603).
 *
 * @category constructors
 * @since 0.1.0
 */
export const badAnswer = (item: Refused): Failure => {
  const at = place(item)
  return failure("bad-answer", { ...at, more: `${Reason.table[item.reason].says}, ${at.more}` })
}

const place = (item: Refused): { readonly more: string; readonly data: ReadonlyArray<readonly [string, Text]> } => ({
  more: `at ${item.pointer === "" ? "the top" : item.pointer}, byte ${item.offset}`,
  data: [
    ["rule", T.quote(item.reason)],
    ["pointer", T.quote(item.pointer)],
    ["offset", T.integer(item.offset)]
  ]
})

/**
 * How a call that the gate refuses, or that nobody allowed, is answered: a `tools/call` by a result with `isError`, whose
 * text names rule, reason and remedy so that the model can act on it; any other method by a JSON-RPC error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const denied = (
  method: string,
  reason: Reason.Reason,
  verdict: { readonly rule: string; readonly why: string; readonly remedy?: string },
  about: { readonly server: string; readonly item: string | undefined }
): Reply => {
  if (method !== "tools/call") return failure(reason, { ...about, more: `${verdict.rule}: ${verdict.why}` })
  const { remedy = sentenceCase(Reason.table[reason].remedy), rule, why } = verdict
  const text = reason === "denied"
    ? `Sallyport refused this call. Rule: ${rule}. Why: ${why}. ${sentenceCase(remedy)}.`
    : `Sallyport refused this call: ${Reason.table[reason].says}. Rule: ${rule}. Why: ${why}. ${sentenceCase(remedy)}.`
  return {
    _tag: "Result",
    result: T.object([
      ["content", T.array([T.object([["type", T.quote("text")], ["text", T.quote(text)]])])],
      ["isError", T.literal("true")]
    ])
  }
}

const sentenceCase = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
