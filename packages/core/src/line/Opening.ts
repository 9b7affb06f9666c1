/**
 * What the host reads of a server at the opening.
 *
 * @since 0.1.0
 */
import * as Pins from "../pin/Pins.ts"
import { meta } from "../protocol/Revision.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/** A version that says nothing but a number. */
const number = /^\d{1,6}(?:\.\d{1,6}){0,3}$/

/** Whether what a server says of itself, in a text of this kind, is shown. */
type Shows = (kind: Pins.Kind, text: Text) => boolean

/** Of a held identity the configured name is shown, and a version that is only a number. */
const plain = (server: string, identity: Text): Text => {
  const text = T.isObject(identity) ? T.member(identity, "version") : undefined
  const version = text === undefined ? undefined : T.string(text)
  return T.object([
    ["name", T.quote(server)],
    ["version", T.quote(version !== undefined && number.test(version) ? version : "0")]
  ])
}

/**
 * The result of initialize or server/discover as the host gets it (security rule F22).
 *
 * **Details**
 *
 * Held instructions are not in it, of a held identity only the configured name, and of the capabilities only those that
 * are accepted or that open a listing. The relay can announce a change of its own (an acceptance), so what is listed may
 * change.
 *
 * @category combinators
 * @since 0.1.0
 */
export const dressed = (server: string, result: Text, shows: Shows): Text => {
  if (!T.isObject(result)) return result
  let text = undressed(server, result, (identity) => shows("identity", identity))
  const instructions = T.member(text, "instructions")
  if (instructions !== undefined && !shows("instructions", instructions)) text = T.removeMember(text, "instructions")
  const identity = T.member(text, "serverInfo")
  if (identity !== undefined && !shows("identity", identity)) {
    text = T.setMember(text, "serverInfo", plain(server, identity))
  }
  const declared = T.member(text, "capabilities")
  if (declared === undefined || !T.isObject(declared)) return text
  let capabilities = declared
  for (const [name, value] of T.members(declared)) {
    if (Pins.isPinnedCapability(name)) {
      if (!shows("capability", T.object([[name, value]]))) capabilities = T.removeMember(capabilities, name)
    } else if (lists.has(name) && T.isObject(value) && T.member(value, "listChanged") !== "true") {
      capabilities = T.setMember(capabilities, name, T.setMember(value, "listChanged", T.literal("true")))
    }
  }
  return capabilities === declared ? text : T.setMember(text, "capabilities", capabilities)
}

const lists: ReadonlySet<string> = new Set(["tools", "prompts", "resources"])

/**
 * A result without a held identity in its metadata, where modern servers put it (2026-07-28 basic, _meta).
 *
 * @category combinators
 * @since 0.1.0
 */
export const undressed = (server: string, result: Text, shows: (identity: Text) => boolean): Text => {
  const metadata = T.isObject(result) ? T.member(result, "_meta") : undefined
  const identity = metadata !== undefined && T.isObject(metadata) ? T.member(metadata, meta.serverInfo) : undefined
  if (metadata === undefined || identity === undefined || shows(identity)) return result
  return T.setMember(result, "_meta", T.setMember(metadata, meta.serverInfo, plain(server, identity)))
}

/**
 * The content blocks of a result of tools/call or prompts/get.
 *
 * @category getters
 * @since 0.1.0
 */
export const blocks = (result: Text): ReadonlyArray<Text> => {
  if (!T.isObject(result)) return []
  const content = T.member(result, "content")
  const messages = T.member(result, "messages")
  const found = content !== undefined && T.isArray(content) ? [...T.elements(content)] : []
  for (const message of messages !== undefined && T.isArray(messages) ? T.elements(messages) : []) {
    const block = T.isObject(message) ? T.member(message, "content") : undefined
    if (block !== undefined) found.push(block)
  }
  return found.filter(T.isObject)
}
