/**
 * Budgets: what was used of limits, kept across restarts and shared by all processes of a state folder.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Limits from "../policy/Limits.ts"
import { Files } from "../store/Files.ts"
import * as Versions from "../store/Versions.ts"
import { isServerName } from "./PinStore.ts"

/**
 * What was used could not be read or kept.
 *
 * @category errors
 * @since 0.1.0
 */
export class BudgetsError extends Schema.TaggedError<BudgetsError>("sallyport/stage/BudgetsError")("BudgetsError", {
  server: Schema.String,
  message: Schema.String
}) {}

/**
 * A change of what is kept: what to keep then, nothing new where that is absent, and what came of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Change<A> {
  readonly kept: Limits.Kept | undefined
  readonly value: A
}

/**
 * Keeps what was used of the limits of servers.
 *
 * @category services
 * @since 0.1.0
 */
export class Budgets extends Context.Service<Budgets, {
  /** Changes what is kept of a server. `change` is asked again, with what is kept then, where another was faster. */
  readonly update: <A>(server: string, change: (kept: Limits.Kept) => Change<A>) => Effect.Effect<A, BudgetsError>
}>()("@sallyport/core/stage/Budgets") {}

/**
 * Keeps them in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Budgets> = Layer.sync(Budgets, () => {
  const all = new Map<string, Limits.Kept>()
  return Budgets.of({
    update: (server, change) =>
      Effect.sync(() => {
        const { kept, value } = change(all.get(server) ?? Limits.nothing)
        if (kept !== undefined) all.set(server, kept)
        return value
      })
  })
})

const Stored = Schema.fromJsonString(Limits.Kept)
const decode = Schema.decodeUnknownEffect(Stored, { onExcessProperty: "error" })
const encode = Schema.encodeEffect(Stored)

/** So often others may be faster before this is given up. */
const attempts = 100

const makeFile = Effect.fnUntraced(function*(directory: string): Effect.fn.Return<Budgets["Service"], never, Files> {
  const files = yield* Files
  const failed = (server: string) => (error: { readonly message: string }) =>
    new BudgetsError({ server, message: error.message })

  const update = Effect.fnUntraced(function*<A>(
    server: string,
    change: (kept: Limits.Kept) => Change<A>
  ): Effect.fn.Return<A, BudgetsError> {
    if (!isServerName(server)) {
      return yield* new BudgetsError({ server, message: `${JSON.stringify(server)} cannot be the name of a server` })
    }
    const folder = `${directory}/${server}`
    const versions = Versions.make(files, folder)
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { number, text } = yield* Effect.mapError(versions.load, failed(server))
      const before = text === undefined ? Limits.nothing : yield* Effect.mapError(
        decode(text),
        (error) =>
          new BudgetsError({
            server,
            message: `${folder}/${number}.json does not hold what this version of Sallyport writes: ${error.message}`
          })
      )
      const { kept, value } = change(before)
      if (kept === undefined) return value
      const next = yield* Effect.orDie(encode(kept))
      if (yield* Effect.mapError(versions.save(number, `${next}\n`), failed(server))) return value
    }
    return yield* new BudgetsError({ server, message: `what is kept in ${folder} is changed by others all the time` })
  })

  return Budgets.of({ update })
})

/**
 * Keeps them in files: `directory/SERVER/VERSION.json`, the last three versions of each server.
 *
 * **Details**
 *
 * A change is by compare-and-set. What does not decode exactly is an error that names the file: nobody gets a budget back
 * because it could not be read.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: { readonly directory: string }): Layer.Layer<Budgets, never, Files> =>
  Layer.effect(Budgets, makeFile(options.directory))
