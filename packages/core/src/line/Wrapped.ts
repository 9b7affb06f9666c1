/**
 * A call whose answer someone else must see first, and that a cancel still finds.
 *
 * @since 0.1.0
 */
import type { Call } from "../stage/Port.ts"
import type { Reply } from "../wire/Message.ts"

const inside = new WeakMap<Call, Call>()

/**
 * The call with another reply. It is a call of its own, but {@link means} knows which one it stands for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const wrap = (call: Call, reply: (reply: Reply) => void): Call => {
  const wrapped: Call = { ...call, reply }
  inside.set(wrapped, call)
  return wrapped
}

/**
 * Whether the one is the other, or was wrapped around it.
 *
 * @category guards
 * @since 0.1.0
 */
export const means = (wrapped: Call, call: Call): boolean => {
  for (let at: Call | undefined = wrapped; at !== undefined; at = inside.get(at)) if (at === call) return true
  return false
}
