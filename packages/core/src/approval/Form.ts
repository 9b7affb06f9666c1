/**
 * A question as a form of the host's: the elicitation, and what its answer means.
 *
 * **Details**
 *
 * Fixed text comes first; what a client, a server or a model chose comes after it, each in its place, hidden characters
 * escaped, indented so that it is never drawn as more than text. A value must be chosen: a form that is merely sent off
 * says no (security rule F15).
 *
 * @since 0.1.0
 */
import * as Visible from "../pin/Visible.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Question } from "./Approval.ts"

/**
 * How long the message of a form may be, in characters. What does not fit whole is for the terminal only.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxLength = 2000

const indented = (text: string): string => Visible.margin(text, { columns: 76, indent: "    " }).join("\n")

/**
 * The message of the form; `undefined` where it would be longer than {@link maxLength}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const message = (question: Question): string | undefined => {
  const { arguments: args, client, from, method, name, rule, server, why } = question
  if (args.length > maxLength) return undefined
  const text = [
    "Sallyport asks whether this call may go on, once.",
    "Choose allow or deny; anything else denies it.",
    "",
    `    client  ${Visible.name(client)}`,
    `    server  ${Visible.name(server)}`,
    ...(from === "server" ? ["    asks    the server, of the client"] : []),
    `    method  ${Visible.name(method)}`,
    ...(name === undefined ? [] : [`    name    ${Visible.name(name)}`]),
    `    rule    ${Visible.name(rule)}`,
    "",
    "Why it is asked:",
    "",
    indented(Visible.line(why)),
    "",
    "What would be sent, all of it, in the model's words and not in Sallyport's:",
    "",
    // In JSON a backslash always begins an escape, and none of those looks like ours.
    indented(Visible.again(args))
  ].join("\n")
  return text.length > maxLength ? undefined : text
}

const schema = T.fromValue({
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "Decision",
      description: "allow lets exactly this call through, once",
      enum: ["allow", "deny"]
    }
  },
  required: ["decision"]
})

/**
 * The params of `elicitation/create` in form mode, as every revision that has it reads them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const params = (message: string): Text => T.object([["message", T.quote(message)], ["requestedSchema", schema]])

/**
 * What the answer of a form means: only an accepted form in which allow was chosen is a yes.
 *
 * @category getters
 * @since 0.1.0
 */
export const choice = (result: Text): "allow" | "deny" => {
  const content = T.member(result, "content")
  const decision = content === undefined ? undefined : T.member(content, "decision")
  return T.member(result, "action") === `"accept"` && decision === `"allow"` ? "allow" : "deny"
}
