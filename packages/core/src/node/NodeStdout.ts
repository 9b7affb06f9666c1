/**
 * Our own stdout, kept for the protocol.
 *
 * @since 0.1.0
 */
import type { Writable } from "node:stream"

/**
 * Takes stdout for the protocol: it is given as a stream of its own, and whatever else this process prints there goes to
 * stderr from now on. Taken again, it is the same stream.
 *
 * **Gotchas**
 *
 * What is written to descriptor 1 without `process.stdout`, by an addon or a child that inherits it, is not seen.
 *
 * @category constructors
 * @since 0.1.0
 */
export const take = (): Writable => taken ??= replace()

let taken: Writable | undefined

const replace = (): Writable => {
  const { stdout } = process
  const write = stdout.write.bind(stdout)
  // Stderr is made when something is printed.
  Object.defineProperty(stdout, "write", { configurable: true, get: () => process.stderr.write.bind(process.stderr) })
  return new Proxy<Writable>(stdout, {
    get: (target, name) => {
      if (name === "write") return write
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    }
  })
}
