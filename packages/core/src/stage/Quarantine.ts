/**
 * Quarantine: results that were kept from a host, until a person has looked at them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makeTimes } from "../ledger/Line.ts"
import { Files, type FilesError } from "../store/Files.ts"
import * as Digest from "../wire/Digest.ts"

/**
 * The quarantine could not be read or written.
 *
 * @category errors
 * @since 0.1.0
 */
export class QuarantineError
  extends Schema.TaggedError<QuarantineError>("sallyport/stage/QuarantineError")("QuarantineError", {
    message: Schema.String
  })
{}

/**
 * A result, what it was given for, and what was found in it. `digest` is of all that a release is bound to; `result` is
 * left out where it is longer than {@link longest}.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Held = Schema.Struct({
  format: Schema.Literal(1),
  id: Schema.String,
  time: Schema.String,
  client: Schema.String,
  server: Schema.String,
  method: Schema.String,
  name: Schema.optionalKey(Schema.String),
  found: Schema.Array(Schema.String),
  digest: Schema.String,
  length: Schema.Int,
  result: Schema.optionalKey(Schema.String)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Held = typeof Held.Type

/**
 * What is to be kept: `kept` is the result as it may come to rest, without secrets. Default: as it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Given {
  readonly client: string
  readonly server: string
  readonly method: string
  readonly name: string | undefined
  readonly result: string
  readonly kept?: string | undefined
  readonly found: ReadonlyArray<string>
}

/**
 * So many results are kept, the newest ones, and so many characters of each.
 *
 * @category constants
 * @since 0.1.0
 */
export const most = 64
/**
 * @category constants
 * @since 0.1.0
 */
export const longest = 1024 * 1024

/**
 * What a release is bound to: exactly this result, of this method of this server.
 *
 * @category conversions
 * @since 0.1.0
 */
export const digestOf = (given: Omit<Given, "client" | "found" | "kept">): string =>
  Digest.framed([given.server, given.method, given.name ?? "", given.result])

/**
 * Keeps results back.
 *
 * @category services
 * @since 0.1.0
 */
export class Quarantine extends Context.Service<Quarantine, {
  /** Keeps a result and gives the name under which a person finds it. It is written on the side. */
  readonly keep: (given: Given) => string
  /** Whether a person has released exactly this result. */
  readonly isReleased: (given: Omit<Given, "client" | "found" | "kept">) => boolean
}>()("@sallyport/core/stage/Quarantine") {}

const fileName = /^\d{8}T\d{9}Z-([0-9a-f]{12})\.json$/
const releasedName = /^released-([0-9a-f]{64})$/

const failed = (directory: string) => (error: { readonly message: string }): QuarantineError =>
  new QuarantineError({ message: `the quarantine in ${directory} cannot be used: ${error.message}` })

const random = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(16).padStart(2, "0")).join("")

const Stored = Schema.fromJsonString(Held)
const decode = Schema.decodeUnknownEffect(Stored, { onExcessProperty: "error" })
const encode = Schema.encodeEffect(Stored)

const released = (files: Files["Service"], directory: string): Effect.Effect<ReadonlySet<string>, FilesError> =>
  Effect.map(
    files.list(directory),
    (names) => new Set(names.flatMap((name) => releasedName.exec(name)?.[1] ?? []))
  )

/**
 * Keeps results in files of a folder, the newest ones.
 *
 * **Details**
 *
 * What is released meanwhile is looked for once a second, from the first result on that was kept back.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFile = Effect.fnUntraced(function*(options: {
  readonly directory: string
  readonly tell: (sentence: string) => void
}) {
  const { directory, tell } = options
  const files = yield* Files
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const time = makeTimes()
  const writing = new Set<Fiber.Fiber<void>>()
  let free = yield* Effect.orElseSucceed(released(files, directory), () => new Set<string>())
  let looking = false

  const write = Effect.fnUntraced(function*(held: Held) {
    yield* files.folder(directory)
    const text = yield* Effect.orDie(encode(held))
    yield* files.create(`${directory}/${held.time.replace(/[-:.]/g, "")}-${held.id}.json`, `${text}\n`)
    const names = (yield* files.list(directory)).filter((name) => fileName.test(name))
    for (const name of names.slice(0, Math.max(0, names.length - most))) yield* files.remove(`${directory}/${name}`)
  })
  // A folder that cannot be read now may be read the next time; until then what is released stays as it was.
  const look = Effect.forever(Effect.andThen(
    Effect.sleep("1 second"),
    Effect.ignore(Effect.map(released(files, directory), (found) => {
      free = found
    }))
  ))
  yield* Effect.addFinalizer(() => Effect.forEach(writing, Fiber.await, { discard: true }))
  const scope = yield* Effect.scope

  return Quarantine.of({
    keep: (given) => {
      const id = random()
      const { client, found, method, name, result, server } = given
      const { kept = result } = given
      const held: Held = {
        format: 1,
        id,
        time: time(clock.currentTimeMillisUnsafe()),
        client,
        server,
        method,
        ...(name === undefined ? {} : { name }),
        found,
        digest: digestOf(given),
        length: result.length,
        ...(kept.length > longest ? {} : { result: kept })
      }
      const fiber = fork(
        Effect.catch(
          write(held),
          (error) =>
            Effect.sync(() => tell(`a result of ${server} was kept back, but cannot be kept: ${error.message}`))
        )
      )
      writing.add(fiber)
      fiber.addObserver(() => writing.delete(fiber))
      if (!looking) {
        looking = true
        fork(Effect.forkIn(look, scope))
      }
      return id
    },
    isReleased: (given) => free.size > 0 && free.has(digestOf(given))
  })
})

/**
 * Keeps results in the files of a folder.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: {
  readonly directory: string
  readonly tell: (sentence: string) => void
}): Layer.Layer<Quarantine, never, Files> => Layer.effect(Quarantine, makeFile(options))

/**
 * What is in quarantine, oldest first, and whether it is released. `unreadable` has a sentence for each file that cannot
 * be read.
 *
 * @category reading
 * @since 0.1.0
 */
export const list = Effect.fnUntraced(function*(directory: string) {
  const files = yield* Files
  const results: Array<{ readonly held: Held; readonly released: boolean }> = []
  const unreadable: Array<string> = []
  const free = yield* Effect.mapError(released(files, directory), failed(directory))
  for (const name of yield* Effect.mapError(files.list(directory), failed(directory))) {
    const id = fileName.exec(name)?.[1]
    if (id === undefined) continue
    const path = `${directory}/${name}`
    const text = yield* Effect.catch(files.read(path), (error) => {
      if (error.kind !== "missing") unreadable.push(error.message)
      return Effect.undefined
    })
    if (text === undefined) continue
    const held = yield* Effect.option(decode(text))
    if (Option.isSome(held)) results.push({ held: held.value, released: free.has(held.value.digest) })
    else unreadable.push(`${path} is not as this version of Sallyport writes it; remove it if nobody needs it`)
  }
  return { results, unreadable }
})

/**
 * Lets exactly this result pass from now on, whenever the same server gives it again for the same.
 *
 * @category writing
 * @since 0.1.0
 */
export const release = Effect.fnUntraced(function*(directory: string, held: Held) {
  const files = yield* Files
  yield* files.create(`${directory}/released-${held.digest}`, `${held.id}\n`).pipe(
    Effect.catch((error) => error.kind === "exists" ? Effect.void : Effect.fail(error)),
    Effect.mapError(failed(directory))
  )
})
