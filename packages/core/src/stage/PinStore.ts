/**
 * PinStore: what was accepted of each server.
 *
 * **Details**
 *
 * Pins are kept by the server's name and have versions. A change is a compare-and-set of the next version, so that any
 * number of relays and commands share one store without a lock.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { isServerName } from "../pin/Names.ts"
import * as Pins from "../pin/Pins.ts"
import * as Portable from "../pin/Portable.ts"
import { Files, type FilesError } from "../store/Files.ts"

export { isServerName } from "../pin/Names.ts"

/**
 * The pins of a server could not be read or written, or are not to be trusted.
 *
 * @category errors
 * @since 0.1.0
 */
export class PinStoreError extends Schema.TaggedError<PinStoreError>("sallyport/stage/PinStoreError")("PinStoreError", {
  server: Schema.String,
  message: Schema.String
}) {}

/**
 * Keeps the pins of servers by their names.
 *
 * @category services
 * @since 0.1.0
 */
export class PinStore extends Context.Service<PinStore, {
  /** The newest pins of a server; version 0 and empty where there are none yet. */
  readonly load: (server: string) => Effect.Effect<Pins.Pins, PinStoreError>
  /**
   * Compare-and-set: stores `next` as version `expected + 1`, whatever version it says itself; false if another was
   * faster. The caller then loads again and decides again.
   */
  readonly save: (server: string, expected: number, next: Pins.Pins) => Effect.Effect<boolean, PinStoreError>
  /** Waits until a version newer than `than` exists (a person accepted something in another process). Never fails. */
  readonly newer: (server: string, than: number) => Effect.Effect<void>
  /** The names of all servers that have pins, sorted. */
  readonly servers: Effect.Effect<ReadonlyArray<string>, PinStoreError>
}>()("@sallyport/core/stage/PinStore") {}

const named = (server: string): Effect.Effect<string, PinStoreError> =>
  isServerName(server) ? Effect.succeed(server) : Effect.fail(
    new PinStoreError({
      server,
      message: `${JSON.stringify(server)} cannot be the name of a server: ` +
        "use a small letter, then at most 31 small letters, digits and hyphens"
    })
  )

// ---- memory

const makeMemory = (
  first: (server: string) => Effect.Effect<Pins.Pins, PinStoreError> = (server) => Effect.succeed(Pins.empty(server))
): PinStore["Service"] => {
  const kept = new Map<string, Pins.Pins>()
  const waiting = new Set<() => void>()
  return PinStore.of({
    load: (server) =>
      Effect.flatMap(named(server), () => {
        const pins = kept.get(server)
        return pins === undefined ? first(server) : Effect.succeed(pins)
      }),
    save: (server, expected, next) =>
      Effect.map(named(server), () => {
        if ((kept.get(server)?.version ?? 0) !== expected) return false
        kept.set(server, { ...next, server, version: expected + 1 })
        for (const look of waiting) look()
        return true
      }),
    newer: (server, than) =>
      Effect.callback((resume) => {
        const look = () => {
          if ((kept.get(server)?.version ?? 0) <= than) return
          waiting.delete(look)
          resume(Effect.void)
        }
        waiting.add(look)
        look()
        return Effect.sync(() => waiting.delete(look))
      }),
    servers: Effect.sync(() => [...kept.keys()].sort())
  })
}

/**
 * Pins in memory, for tests and for programs that keep nothing. A waiting `newer` goes on at once.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<PinStore> = Layer.sync(PinStore, () => makeMemory())

/**
 * The pins of a file that others made ({@link Portable}), and no others: what is not in it is held, a server that is not in
 * it fails. What is seen is kept in memory. The file is read when the first pins are.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerLocked = (options: { readonly file: string }): Layer.Layer<PinStore, never, Files> =>
  Layer.effect(
    PinStore,
    Effect.gen(function*() {
      const files = yield* Files
      const { file } = options
      const failed = (server: string, message: string) => new PinStoreError({ server, message })
      const servers = yield* Effect.cached(Effect.result(files.read(file)))
      return makeMemory(Effect.fnUntraced(function*(server) {
        const text = yield* Effect.mapError(Effect.flatMap(servers, Effect.fromResult), ({ message }) =>
          failed(server, message))
        const read = yield* Effect.mapError(Effect.fromResult(Portable.read(text)), (why) =>
          failed(server, `${file}: ${why}`))
        const found = read.find(({ name }) =>
          name === server
        )
        if (found === undefined) {
          return yield* failed(server, `${file} has no server of this name`)
        }
        return Portable.pinsOf(found, "")
      }))
    })
  )

// ---- files

/** How many versions stay: a reader that has just listed the newest must still find it. */
const keep = 3

const version = /^([1-9][0-9]{0,14})\.json$/

const newest = (versions: ReadonlyArray<number>): number => versions.at(-1) ?? 0

/** Of another format nothing is guessed. */
const format = 2

const Stored = Schema.fromJsonString(Schema.Struct({ format: Schema.Literal(format), ...Pins.Pins.fields }))
const decode = Schema.decodeUnknownEffect(Stored, { onExcessProperty: "error" })
const encode = Schema.encodeEffect(Stored)

const makeFile = Effect.fnUntraced(function*(directory: string): Effect.fn.Return<PinStore["Service"], never, Files> {
  const files = yield* Files
  const folderOf = (server: string) => `${directory}/${server}`

  const failed = (server: string) => (error: FilesError) => new PinStoreError({ server, message: error.message })

  /** The versions there are, oldest first. Other files in the folder are not ours. */
  const versions = (server: string): Effect.Effect<ReadonlyArray<number>, FilesError> =>
    Effect.map(files.list(folderOf(server)), (names) =>
      names.flatMap((name) => {
        const digits = version.exec(name)?.[1]
        return digits === undefined ? [] : [Number(digits)]
      }).sort((left, right) => left - right))

  const read = Effect.fnUntraced(function*(
    server: string,
    number: number
  ): Effect.fn.Return<Pins.Pins | undefined, PinStoreError> {
    const path = `${folderOf(server)}/${number}.json`
    const text = yield* Effect.catchIf(
      files.read(path),
      (error: FilesError) => error.kind === "missing",
      () => Effect.undefined
    ).pipe(Effect.mapError(failed(server)))
    if (text === undefined) return undefined
    const { format: _, ...pins } = yield* Effect.mapError(
      decode(text),
      (error) =>
        new PinStoreError({
          server,
          message: `${path} does not hold pins as this version of Sallyport writes them: ${error.message}`
        })
    )
    if (pins.server !== server || pins.version !== number) {
      return yield* new PinStoreError({
        server,
        message: `${path} holds version ${pins.version} of the pins of ${JSON.stringify(pins.server)}`
      })
    }
    return pins
  })

  const load = Effect.fnUntraced(function*(server: string): Effect.fn.Return<Pins.Pins, PinStoreError> {
    yield* named(server)
    const there = yield* Effect.catchIf(
      Effect.as(files.trusted(folderOf(server)), true),
      (error: FilesError) => error.kind === "missing",
      () => Effect.succeed(false)
    ).pipe(Effect.mapError(failed(server)))
    if (!there) return Pins.empty(server)
    // The newest version can be pruned between the two looks, but then there is a newer one.
    for (let attempt = 0; attempt < 100; attempt++) {
      const number = newest(yield* Effect.mapError(versions(server), failed(server)))
      if (number === 0) return Pins.empty(server)
      const pins = yield* read(server, number)
      if (pins !== undefined) return pins
    }
    return yield* new PinStoreError({ server, message: `the pins in ${folderOf(server)} do not hold still` })
  })

  const save = Effect.fnUntraced(function*(
    server: string,
    expected: number,
    next: Pins.Pins
  ): Effect.fn.Return<boolean, PinStoreError> {
    yield* named(server)
    const number = expected + 1
    const text = yield* Effect.orDie(encode({ format, ...next, server, version: number }))
    const store = Effect.gen(function*() {
      yield* files.folder(folderOf(server))
      if (newest(yield* versions(server)) !== expected) return false
      const created = yield* Effect.catchIf(
        Effect.as(files.create(`${folderOf(server)}/${number}.json`, `${text}\n`), true),
        (error: FilesError) => error.kind === "exists",
        () => Effect.succeed(false)
      )
      if (!created) return false
      const now = yield* versions(server)
      // Whoever sleeps between looking and creating may find that the place of the next version was taken and pruned
      // meanwhile. Then others are at least this far ahead, and whether ours came in time cannot be told: decide again.
      if (newest(now) >= number + keep) return false
      yield* Effect.forEach(
        now.filter((old) => old <= number - keep),
        (old) => Effect.ignore(files.remove(`${folderOf(server)}/${old}.json`)),
        { discard: true }
      )
      return true
    })
    return yield* Effect.mapError(store, failed(server))
  })

  const newer = Effect.fnUntraced(function*(server: string, than: number): Effect.fn.Return<void> {
    if (!isServerName(server)) return yield* Effect.never
    for (;;) {
      // A folder that cannot be read now is looked at again: this only waits, `load` reports.
      const found = yield* Effect.orElseSucceed(versions(server), () => [])
      if (newest(found) > than) return
      yield* Effect.sleep("500 millis")
    }
  })

  const servers = Effect.gen(function*() {
    const names = (yield* files.list(directory)).filter(isServerName)
    const found = yield* Effect.filter(names, (name) => Effect.map(versions(name), (all) => all.length > 0))
    return found.sort()
  }).pipe(Effect.mapError((error) => new PinStoreError({ server: "", message: error.message })))

  return PinStore.of({ load, save, newer, servers })
})

/**
 * Pins in files: `directory/NAME/VERSION.json`, the last three versions of each server.
 *
 * **Details**
 *
 * A version is created exclusively, never overwritten. What does not decode exactly, a member that is not known included,
 * is an error that names the file: pins are never guessed. Other files in the folders are left alone.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: { readonly directory: string }): Layer.Layer<PinStore, never, Files> =>
  Layer.effect(PinStore, makeFile(options.directory))
