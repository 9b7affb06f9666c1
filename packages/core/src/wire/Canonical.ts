/**
 * One spelling for every JSON value, to compare and to digest.
 *
 * @since 0.1.0
 */
import { quote, unquote } from "./internal/plain.ts"
import type { Text } from "./Message.ts"
import * as T from "./Text.ts"

/**
 * The canonical form of a text.
 *
 * **Details**
 *
 * - Members are sorted by the UTF-16 code units of their names.
 * - Strings are escaped only where JSON requires it, and at U+0085, U+2028 and U+2029.
 * - A number is its text: `1`, `1.0` and `1e0` differ, since readers differ in what they make of them.
 *
 * Two texts have the same canonical form exactly if they differ in nothing but the order of members and the spelling
 * of strings.
 *
 * @category conversions
 * @since 0.1.0
 */
export const canonical = (text: Text): string => {
  if (T.isArray(text)) return `[${T.elements(text).map(canonical).join(",")}]`
  if (!T.isObject(text)) return text.includes("\\") ? quote(unquote(text) ?? "") : text
  const members = T.members(text).map(([name, value]) => [name, canonical(value)] as const)
  members.sort(([one], [other]) => one < other ? -1 : 1)
  return `{${members.map(([name, value]) => `${quote(name)}:${value}`).join(",")}}`
}
