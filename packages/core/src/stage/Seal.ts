/**
 * Seal: what a stranger keeps for us, so that they can neither read nor change it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * Seals texts, and opens what it sealed itself.
 *
 * @category services
 * @since 0.1.0
 */
export class Seal extends Context.Service<Seal, {
  /** The sealed text, in base64url; `bound` is not in it, but has to be known again to open it. */
  readonly close: (text: string, bound: string) => string
  /** The text, or `undefined` where it was sealed by another key, under something else, or is not what was sealed. */
  readonly open: (sealed: string, bound: string) => string | undefined
  /** A name that nobody can guess. */
  readonly name: () => string
}>()("@sallyport/core/stage/Seal") {}
