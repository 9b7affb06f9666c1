/**
 * The public names of tools and prompts: a function of server and name, and of nothing else (security rule F18).
 *
 * **Details**
 *
 * A host wants names of at most 64 letters, digits, `_` and `-`, and several servers under one roof. Who routes, grants,
 * pins or judges uses the server and the name, never the public name.
 *
 * @since 0.1.0
 */
import { isServerName } from "@sallyport/core/pin/Names"
import * as Digest from "@sallyport/core/wire/Digest"

/** How long a public name may be. */
const most = 64

const plain = /^[A-Za-z0-9_-]+$/
/** What every name ends with that was cut. */
const hashed = /_[0-9a-f]{12}$/

/**
 * The name under which clients see an item of a server.
 *
 * **Details**
 *
 * `server__name` where that is a public name; else the same with other characters as `_`, cut, and ended with `_` and 12
 * hexadecimal digits of the SHA-256 of server, NUL and name. A name that ends like that by itself is cut too, so that no
 * name can be chosen to be another's. `server` follows the grammar of server names, which has no `_`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const publicName = (server: string, name: string): string => {
  const whole = `${server}__${name}`
  if (whole.length <= most && plain.test(whole) && !hashed.test(whole)) return whole
  const end = `_${Digest.sha256(`${server}\0${name}`).slice(0, 12)}`
  return `${whole.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, most - end.length)}${end}`
}

/**
 * The server that a public name is of, which is all that can be read from it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const serverOf = (publicName: string): string | undefined => {
  const at = publicName.indexOf("__")
  const server = publicName.slice(0, Math.max(at, 0))
  return isServerName(server) ? server : undefined
}

/**
 * An item of a server under its public name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Named {
  readonly server: string
  readonly name: string
}

/**
 * The items by public name. Where two meet, neither has one: `met` holds them all (security rule F18).
 *
 * **Details**
 *
 * `prefixed: false`: under their own names, for a client with one server.
 *
 * @category constructors
 * @since 0.1.0
 */
export const table = (
  items: ReadonlyArray<Named>,
  options: { readonly prefixed: boolean } = { prefixed: true }
): { readonly names: ReadonlyMap<string, Named>; readonly met: ReadonlyArray<Named> } => {
  const all = new Map<string, Array<Named>>()
  for (const item of items) {
    const name = options.prefixed ? publicName(item.server, item.name) : item.name
    const there = all.get(name)
    if (there === undefined) all.set(name, [item])
    else if (!there.some((other) => other.server === item.server && other.name === item.name)) there.push(item)
  }
  const names = new Map<string, Named>()
  const met: Array<Named> = []
  for (const [name, [first, ...others]] of all) {
    if (first === undefined) continue
    if (others.length === 0) names.set(name, first)
    else met.push(first, ...others)
  }
  return { names, met }
}
