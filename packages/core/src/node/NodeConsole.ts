/**
 * A console that prints on stderr, whatever it is told: stdout is the protocol's.
 *
 * @since 0.1.0
 */
import type * as EffectConsole from "effect/Console"
import { Console } from "node:console"

/**
 * The console of a program that speaks the protocol on its stdout.
 *
 * @category constructors
 * @since 0.1.0
 */
export const stderr = (): EffectConsole.Console => {
  // Made when something is printed: most programs never do, and a stream takes its time.
  let own: Console | undefined
  return new Proxy<EffectConsole.Console>(console, {
    get: (_, name) => Reflect.get(own ??= new Console(process.stderr, process.stderr), name)
  })
}
