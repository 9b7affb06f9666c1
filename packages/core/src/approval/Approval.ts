/**
 * A question to a person, and what became of it: a pure state machine.
 *
 * **Details**
 *
 * A question is bound to all that it is about: client, server, method, name, the exact text of the arguments, the pin,
 * the policy and the chain of round trips (design section 6). An answer counts once, in time, and only for the question
 * whose digest it names; an approval is used at most once, by the very call that was asked about.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { framed } from "../wire/Digest.ts"
import * as Message from "../wire/Message.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * Who may answer: `any` is the host's own interface or the terminal, `terminal` only `sallyport approvals`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Via = Schema.Literals(["any", "terminal"])
/**
 * @category models
 * @since 0.1.0
 */
export type Via = typeof Via.Type

/**
 * Where an answer came from. An answer through the host is the host's word, and no proof of a person (security rule F15).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Channel = Schema.Literals(["host", "terminal"])
/**
 * @category models
 * @since 0.1.0
 */
export type Channel = typeof Channel.Type

/**
 * What is asked.
 *
 * **Details**
 *
 * - `from`: which side's request it is.
 * - `name`: the tool's or prompt's name, or the resource's URI, where the method has one.
 * - `arguments`: see {@link argumentsOf}.
 * - `pin`: the digest of the accepted definition, or of the one that was seen where none needs to be accepted.
 * - `policy`: what names the policy that asked: its digest, or the epoch of the gate.
 * - `rule` and `why`: the rule that asked, and what it says to the person.
 * - `chain`: the chain of round trips that the request belongs to.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Question = Schema.Struct({
  client: Schema.String,
  server: Schema.String,
  from: Schema.Literals(["host", "server"]),
  method: Schema.String,
  name: Schema.optionalKey(Schema.String),
  arguments: Message.Text,
  pin: Schema.optionalKey(Schema.String),
  policy: Schema.String,
  rule: Schema.String,
  why: Schema.String,
  via: Via,
  chain: Schema.String
})
/**
 * @category models
 * @since 0.1.0
 */
export type Question = typeof Question.Type

/** What belongs to a round of a request, and not to the request. */
const volatile = ["_meta", "inputResponses", "requestState"]

/**
 * The params that a question is about: their exact text, without what differs from round to round of one request
 * (`_meta`, `inputResponses`, `requestState`). `1` and `1.0` are two texts.
 *
 * @category getters
 * @since 0.1.0
 */
export const argumentsOf = (params: Text | undefined): Text =>
  params === undefined ? T.object([]) : volatile.reduce(T.removeMember, params)

/**
 * The digest of all that a question is bound to. No two questions share one.
 *
 * @category getters
 * @since 0.1.0
 */
export const digestOf = (question: Question): string =>
  framed([
    "sallyport approval",
    question.client,
    question.server,
    question.from,
    question.method,
    ...(question.name === undefined ? ["0"] : ["1", question.name]),
    question.arguments,
    ...(question.pin === undefined ? ["0"] : ["1", question.pin]),
    question.policy,
    question.rule,
    question.why,
    question.via,
    question.chain
  ])

/**
 * What became of a question.
 *
 * @category schemas
 * @since 0.1.0
 */
export const State = Schema.Union([
  Schema.TaggedStruct("Pending", {}),
  Schema.TaggedStruct("Allowed", { channel: Channel }),
  Schema.TaggedStruct("Denied", { channel: Channel }),
  Schema.TaggedStruct("Expired", {}),
  Schema.TaggedStruct("Withdrawn", {}),
  Schema.TaggedStruct("Used", { channel: Channel })
])
/**
 * @category models
 * @since 0.1.0
 */
export type State = typeof State.Type

/**
 * A question that was put. Times are milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Approval {
  readonly id: string
  readonly question: Question
  readonly digest: string
  readonly asked: number
  readonly expires: number
  readonly state: State
}

/**
 * What happens to a question.
 *
 * - `Answer`: somebody chose; `digest` is that of the question that they were shown.
 * - `Expire`: time went by. `Withdraw`: the call that waited was given up.
 * - `Use`: the call with this digest is about to be sent.
 *
 * `now` is the later of the clock's time and the newest time that is known: a clock that is set back revives nothing
 * (security rule F30).
 *
 * @category models
 * @since 0.1.0
 */
export type Event =
  | {
    readonly _tag: "Answer"
    readonly choice: "allow" | "deny"
    readonly channel: Channel
    readonly digest: string
    readonly now: number
  }
  | { readonly _tag: "Expire"; readonly now: number }
  | { readonly _tag: "Withdraw" }
  | { readonly _tag: "Use"; readonly digest: string; readonly now: number }

/**
 * Puts a question.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ask = (id: string, question: Question, asked: number, lifetime: number): Approval => ({
  id,
  question,
  digest: digestOf(question),
  asked,
  expires: asked + lifetime,
  state: { _tag: "Pending" }
})

const open = (state: State): boolean => state._tag === "Pending" || state._tag === "Allowed"

/**
 * Takes a step. An event that does not count gives the same object back.
 *
 * @category combinators
 * @since 0.1.0
 */
export const step = (self: Approval, event: Event): Approval => {
  const to = (state: State): Approval => ({ ...self, state })
  if (!open(self.state)) return self
  if (event._tag === "Withdraw") return to({ _tag: "Withdrawn" })
  if (event.now >= self.expires) return to({ _tag: "Expired" })
  switch (event._tag) {
    case "Expire":
      return self
    case "Answer":
      if (self.state._tag !== "Pending" || event.digest !== self.digest) return self
      // A no is a no, wherever it comes from; a yes only where the question was to be put.
      if (event.choice === "deny") return to({ _tag: "Denied", channel: event.channel })
      return self.question.via === "any" || event.channel === "terminal"
        ? to({ _tag: "Allowed", channel: event.channel })
        : self
    case "Use":
      return self.state._tag === "Allowed" && event.digest === self.digest
        ? to({ _tag: "Used", channel: self.state.channel })
        : self
  }
}

/**
 * Whether this is a step by which the call may be sent: it is only from allowed to used, and so at most once.
 *
 * @category guards
 * @since 0.1.0
 */
export const lets = (before: Approval, after: Approval): boolean =>
  before.state._tag === "Allowed" && after.state._tag === "Used"
