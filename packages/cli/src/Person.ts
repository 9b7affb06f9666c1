/**
 * The person at the terminal.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { closeSync, openSync, writeSync } from "node:fs"
import { createInterface, type Interface } from "node:readline"
import { ReadStream } from "node:tty"

/**
 * There is nobody to ask: this process has no controlling terminal.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoTerminal extends Data.TaggedError("NoTerminal") {}

/**
 * Asks the person at the terminal.
 *
 * @category services
 * @since 0.1.0
 */
export class Person extends Context.Service<Person, {
  /** Shows a text, puts a question, and gives what was typed in one line; `undefined` where the person left instead. */
  readonly ask: (shown: string, question: string) => Effect.Effect<string | undefined, NoTerminal>
}>()("sallyport/cli/Person") {}

const openTerminal = (flags: "r" | "w") =>
  Effect.acquireRelease(
    Effect.try({ try: () => openSync("/dev/tty", flags), catch: () => new NoTerminal() }),
    (fd) =>
      Effect.sync(() => {
        try {
          closeSync(fd)
        } catch {
          // The stream that reads it has closed it.
        }
      })
  )

const write = (fd: number, text: string): Effect.Effect<void, NoTerminal> =>
  Effect.try({
    try: () => {
      const bytes = Buffer.from(text, "utf8")
      for (let from = 0; from < bytes.length;) from += writeSync(fd, bytes, from)
    },
    catch: () => new NoTerminal()
  })

/** The next line, from now on; what came before is thrown away. */
const lineOf = (lines: Interface): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    lines.once("line", (line) => resume(Effect.succeed(line)))
    lines.once("close", () => resume(Effect.undefined))
  })

const askTerminal = Effect.fnUntraced(function*(shown: string, question: string) {
  // Two descriptors: a stream that reads makes its own non-blocking.
  const output = yield* openTerminal("w")
  const input = yield* openTerminal("r")
  yield* write(output, shown)
  const lines = yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const stream = new ReadStream(input)
        return { stream, reading: createInterface({ input: stream, terminal: false }) }
      },
      catch: () => new NoTerminal()
    }),
    ({ reading, stream }) =>
      Effect.sync(() => {
        reading.close()
        stream.destroy()
      })
  )
  // What was typed before the question cannot be the answer.
  yield* Effect.sleep("100 millis")
  yield* write(output, question)
  const answer = yield* lineOf(lines.reading)
  // Where the person left, the cursor still stands behind the question.
  if (answer === undefined) yield* write(output, "\n")
  return answer
}, Effect.scoped)

/**
 * The controlling terminal, opened by ourselves: stdin may be anybody's.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTerminal: Layer.Layer<Person> = Layer.succeed(Person, { ask: askTerminal })

/**
 * What was put to a person in a test.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asked {
  readonly shown: string
  readonly question: string
}

/**
 * A person who answers like this, after `before`; `undefined` leaves. Without a script there is no terminal.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (script?: {
  readonly answer: string | undefined
  readonly before?: Effect.Effect<void>
  readonly asked?: Array<Asked>
}): Layer.Layer<Person> =>
  Layer.succeed(Person, {
    ask: (shown, question) => {
      if (script === undefined) return Effect.fail(new NoTerminal())
      script.asked?.push({ shown, question })
      return Effect.as(script.before ?? Effect.void, script.answer)
    }
  })
