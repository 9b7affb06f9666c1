/**
 * Our own stderr, which a person reads, or nobody.
 *
 * @since 0.1.0
 */
import { sentence, sink } from "./Stderr.ts"

/**
 * Prints a line on our stderr. It never blocks and never fails: where nobody reads, lines are dropped and counted.
 *
 * @category running
 * @since 0.1.0
 */
export const print: (line: string) => void = (line) => {
  own ??= sink(process.stderr)
  own(line)
}

/**
 * Prints a sentence of Sallyport's own: one line, whatever was quoted in it.
 *
 * @category running
 * @since 0.1.0
 */
export const tell = (text: string): void => print(`sallyport: ${sentence(text)}`)

let own: ((line: string) => void) | undefined
