/** A file of the operator's that commands change: read strictly each time, changed whole and by one at a time. */
import type { Files, FilesError } from "@sallyport/core/store/Files"
import * as Reader from "@sallyport/core/toml/Reader"
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"

/** Why a file was not read or not changed. `refused`: the change is not possible, as the message says. */
export type Kind = "file" | "wrong" | "busy" | "refused"

/** What is wrong with a file, a line each. */
export const problems = (all: ReadonlyArray<Reader.Problem>): string => all.map(Reader.format).join("\n")

export interface Store<A, E> {
  readonly all: Effect.Effect<A, E>
  readonly change: <E2 = never, R = never>(
    change: (text: string, file: string) => Result.Result<string, string>,
    before?: Effect.Effect<void, E2, R>
  ) => Effect.Effect<A, E | E2, R>
}

export const make = <A, E>(
  files: Files["Service"],
  file: string,
  parse: (text: string, file: string) => Result.Result<A, ReadonlyArray<Reader.Problem>>,
  error: (kind: Kind, message: string) => E
): Store<A, E> => {
  const failed = ({ message }: FilesError): E => error("file", message)
  const text = files.read(file).pipe(
    Effect.catchIf((error) => error.kind === "missing", () => Effect.succeed("")),
    Effect.mapError(failed)
  )
  const parsed = (text: string): Effect.Effect<A, E> =>
    Effect.mapError(Effect.fromResult(parse(text, file)), (found) => error("wrong", problems(found)))
  const lock = `${file}.lock`
  const locked = Effect.acquireRelease(
    Effect.mapError(files.create(lock, ""), (found) =>
      found.kind === "exists"
        ? error(
          "busy",
          `${file} is being changed by another process; where there is none, one was ended in the middle of a change: ` +
            `look at the file, then remove ${lock}`
        )
        : failed(found)),
    () => Effect.ignore(files.remove(lock))
  )
  return {
    all: Effect.flatMap(text, parsed),
    change: Effect.fnUntraced(function*<E2, R>(
      change: (text: string, file: string) => Result.Result<string, string>,
      before?: Effect.Effect<void, E2, R>
    ) {
      yield* locked
      const changed = yield* Effect.mapError(
        Effect.fromResult(change(yield* text, file)),
        (message) => error("refused", message)
      )
      const all = yield* parsed(changed)
      if (before !== undefined) yield* before
      yield* Effect.mapError(files.replace(file, changed), failed)
      return all
    }, Effect.scoped)
  }
}
