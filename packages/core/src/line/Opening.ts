/**
 * What the host reads of a server at the opening.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"

/**
 * The result of initialize or server/discover as the host gets it: the relay can announce a change of its own (an
 * acceptance), so it says that tools may change.
 *
 * @category combinators
 * @since 0.1.0
 */
export const announcing = (result: Text): Text => {
  const capabilities = T.member(result, "capabilities")
  const tools = capabilities !== undefined && T.isObject(capabilities) ? T.member(capabilities, "tools") : undefined
  if (
    capabilities === undefined || tools === undefined || !T.isObject(tools) || T.member(tools, "listChanged") === "true"
  ) {
    return result
  }
  return T.setMember(
    result,
    "capabilities",
    T.setMember(capabilities, "tools", T.setMember(tools, "listChanged", T.literal("true")))
  )
}
