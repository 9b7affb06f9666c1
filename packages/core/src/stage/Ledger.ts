/**
 * Ledger: what was decided and what came of it.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Secrets from "../check/Secrets.ts"
import * as Budget from "../ledger/Budget.ts"
import type { Event } from "../ledger/Entry.ts"
import * as Heads from "../ledger/Heads.ts"
import * as Keys from "../ledger/Keys.ts"
import * as Line from "../ledger/Line.ts"
import * as Pending from "../ledger/Pending.ts"
import { type Appender, Files, FilesError, ProcessId } from "../store/Files.ts"
import * as Digest from "../wire/Digest.ts"
import type { Text } from "../wire/Message.ts"

/**
 * The ledger could not be written or read.
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerError extends Schema.TaggedError<LedgerError>("sallyport/stage/LedgerError")("LedgerError", {
  message: Schema.String
}) {}

/**
 * Records decisions before they take effect, and their outcomes after.
 *
 * @category services
 * @since 0.1.0
 */
export class Ledger extends Context.Service<Ledger, {
  /** Queues an entry; synchronous, and it fixes the order. Gives its sequence number, to link an outcome to a decision. */
  readonly append: (event: Event) => number
  /**
   * A barrier: when it is done, all that was appended before it is written. Concurrent commits share one write. Where it
   * fails, what was not written waits for the next commit, in its order.
   */
  readonly commit: Effect.Effect<void, LedgerError>
  /** The digest under which a text is recorded: keyed, so that it cannot be guessed from outside. `undefined` where nothing is recorded. */
  readonly digest: (text: Text | undefined) => string | undefined
  /** The text as it is recorded in full, without Sallyport's own secrets; `undefined` where texts are not recorded. */
  readonly text: (text: Text | undefined) => string | undefined
  /** Whether a call of this client to this server may still be recorded: false where they have used up their budget. */
  readonly room: (client: string, server: string) => boolean
}>()("@sallyport/core/stage/Ledger") {}

/**
 * Records nothing.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<Ledger> = Layer.sync(Ledger, () => {
  let seq = 0
  return { append: () => ++seq, commit: Exit.void, digest: () => undefined, text: () => undefined, room: () => true }
})

/**
 * A ledger that never accepts anything: for a program whose real ledger could not be opened and that must say so in
 * answers instead of ending.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFailed = (error: LedgerError): Layer.Layer<Ledger> =>
  Layer.sync(Ledger, () => {
    let seq = 0
    return {
      append: () => ++seq,
      commit: Exit.fail(error),
      digest: () => undefined,
      text: () => undefined,
      room: () => true
    }
  })

/**
 * An entry of a {@link Memory}.
 *
 * @category models
 * @since 0.1.0
 */
export type Recorded = Event & { readonly seq: number }

/**
 * A ledger in memory, and the strings that a test pulls.
 *
 * @category models
 * @since 0.1.0
 */
export interface Memory {
  readonly ledger: Ledger["Service"]
  /** All that was appended, written or not. */
  readonly appended: () => ReadonlyArray<Recorded>
  /** What commits have written. */
  readonly written: () => ReadonlyArray<Recorded>
  /** How often something was written. */
  readonly writes: () => number
  /** Makes the next commit that has something to write fail. */
  readonly failNext: () => void
  /** Makes every commit fail until {@link Memory.mend}. */
  readonly failAll: () => void
  readonly mend: () => void
  /** Makes commits wait until {@link Memory.release}. */
  readonly hold: () => void
  readonly release: () => void
}

/**
 * A ledger in memory, with nothing in it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeMemory = (): Memory => {
  // Fixed, so that tests can compare digests.
  const testKeys = Keys.derive("0".repeat(64))
  const appended: Array<Recorded> = []
  const gate = Latch.makeUnsafe(true)
  let done = 0
  let writes = 0
  let failing: "no" | "once" | "always" = "no"
  const write: Effect.Effect<void, LedgerError> = Effect.suspend(() => {
    if (failing !== "no") {
      if (failing === "once") failing = "no"
      return Exit.fail(new LedgerError({ message: "the ledger was told to fail" }))
    }
    writes++
    done = appended.length
    return Exit.void
  })
  return {
    ledger: {
      append: (event) => {
        appended.push({ seq: appended.length + 1, ...event })
        return appended.length
      },
      commit: group(() => appended.length, () => done, gate.whenOpen(write)),
      digest: (text) => text === undefined ? undefined : Keys.mac(testKeys.text, text),
      text: () => undefined,
      room: () => true
    },
    appended: () => appended,
    written: () => appended.slice(0, done),
    writes: () => writes,
    failNext: () => {
      failing = "once"
    },
    failAll: () => {
      failing = "always"
    },
    mend: () => {
      failing = "no"
    },
    hold: () => {
      gate.closeUnsafe()
    },
    release: () => {
      gate.openUnsafe()
    }
  }
}

/**
 * Keeps the entries in memory.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (memory: Memory = makeMemory()): Layer.Layer<Ledger> => Layer.succeed(Ledger, memory.ledger)

/**
 * One commit for all who ask while another is under way: who comes during an attempt waits for the next one, and all of
 * those share its result, failure too.
 */
const group = (
  newest: () => number,
  written: () => number,
  attempt: Effect.Effect<void, LedgerError>
): Effect.Effect<void, LedgerError> => {
  const lock = Semaphore.makeUnsafe(1)
  let begun = 0
  let failure: Exit.Exit<void, LedgerError> = Exit.void
  // Not to be cut off half-way: a caller that is interrupted must not leave a line that is half written.
  const run = Effect.uninterruptible(Effect.suspend(() => {
    begun++
    return Effect.onExit(attempt, (exit) => {
      failure = exit
      return Exit.void
    })
  }))
  return Effect.suspend(() => {
    const upTo = newest()
    if (written() >= upTo) return Exit.void
    const before = begun
    return lock.withPermits(1)(Effect.suspend(() => {
      if (written() >= upTo) return Exit.void
      return begun > before && Exit.isFailure(failure) ? failure : run
    }))
  })
}

/**
 * - `directory`: the folder of the ledger, which any number of processes share.
 * - `sync`: whether a commit waits for the disk. Without it an entry survives the end of the process, with it also a
 *   power failure.
 * - `digest`: `keyed` (the default), or `plain` SHA-256, which lets everybody guess short texts.
 * - `full`: params and results are recorded in full too, but for these secrets and what is beyond {@link longest}.
 * - `segmentBytes`: a segment that has grown beyond it is closed and another one begun. Default: 64 MiB.
 * - `budgetBytes`: so much may one client with one server add in an hour; then its calls are refused. Default: no limit.
 * - `tell`: is told what an operator must know, in a sentence.
 *
 * @category models
 * @since 0.1.0
 */
export interface FileOptions {
  readonly directory: string
  readonly sync: boolean
  readonly digest?: "keyed" | "plain" | undefined
  readonly full?: { readonly secrets: ReadonlyArray<Secrets.Secret> } | undefined
  readonly segmentBytes?: number | undefined
  readonly budgetBytes?: number | undefined
  readonly tell?: ((sentence: string) => void) | undefined
}

/**
 * So many characters of a text are recorded where texts are recorded in full; behind them stands how many are missing.
 *
 * @category constants
 * @since 0.1.0
 */
export const longest = 64 * 1024

const hex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("")

/**
 * Reads the keys of a ledger; the first process that asks makes them.
 *
 * **Details**
 *
 * Where segments are there already, the key was lost or taken away: none is made, and all that needs it fails, until a
 * person has another one made (`ledger verify --new-key`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const loadKeys: (directory: string) => Effect.Effect<Keys.Keys, LedgerError, Files> = Effect.fnUntraced(
  function*(directory: string) {
    const files = yield* Files
    const path = directory + "/key"
    const fresh = Effect.gen(function*() {
      yield* files.folder(directory)
      // Who made a segment had the key: only then is it looked for once more and missed.
      const used = (yield* files.list(directory)).some((name) => Heads.pattern.test(name))
      if (!used) yield* makeKey(path)
      return yield* files.read(path)
    })
    const text = yield* files.read(path).pipe(
      Effect.catch((error) => error.kind === "missing" ? fresh : Effect.fail(error)),
      Effect.mapError((error) =>
        new LedgerError({
          message: error.kind === "missing"
            ? `the key of the ledger in ${directory} is gone, and no other one is made by itself: put ${path} back, ` +
              "or read in docs/ledger.md how a person makes a new one"
            : `the key of the ledger in ${directory} cannot be used: ${error.message}`
        })
      )
    )
    if (!Keys.pattern.test(text)) {
      return yield* new LedgerError({ message: `${path} does not hold a ledger key (64 hexadecimal digits)` })
    }
    return Keys.derive(text)
  }
)

/**
 * Makes a key where none is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeKey = (path: string): Effect.Effect<void, FilesError, Files> =>
  Effect.flatMap(Files, (files) =>
    Effect.catch(
      files.create(path, hex(32) + "\n"),
      (error) => error.kind === "exists" ? Effect.void : Effect.fail(error)
    ))

interface Segment {
  readonly appender: Appender
  readonly head: string
  readonly bytes: number
}

/** What is given up when the disk is full, so that the fault and the refusals can still be written. */
const reserved = "0".repeat(1024 * 1024)

/** So much of the end of another's segment is read at first: its last group is nearly always in it. */
const tailBytes = 64 * 1024

/** After a failure, so many milliseconds nothing is tried again: a host that asks on must not cost a new file each time. */
const patience = 100

/**
 * Writes the ledger to segments of its own in a folder, and closes the last one when the scope ends.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeFile: (
  options: FileOptions
) => Effect.Effect<Ledger["Service"], LedgerError, Files | Scope.Scope> = Effect.fnUntraced(function*(options) {
  const { directory, sync } = options
  const limit = options.segmentBytes ?? 64 * 1024 * 1024
  const tell = options.tell ?? (() => {})
  const files = yield* Files
  const pid = yield* ProcessId
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const keys = yield* loadKeys(directory)
  const now = () => clock.currentTimeMillisUnsafe()
  const uptime = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const time = Line.makeTimes()
  const stepped = (back: number): void =>
    tell(
      `the clock of this machine was set back by ${Math.round(back / 1000)} seconds; ` +
        "times in the ledger are not in order from here on"
    )
  const pending = Pending.make(now, stepped)
  const path = (name: string) => directory + "/" + name

  /** Names this run; made when it is first needed, since a start waits for what happens before. */
  let run: string | undefined
  let written = 0
  let part = 0
  let segment: Segment | undefined
  /** The reserve was given up, and there is no room for it yet. */
  let low = false
  let failure: { readonly error: FilesError; readonly at: number } | undefined

  /** Read from the end of the segment; all of it only where nothing sealed stands there. */
  const head = Effect.fnUntraced(function*(name: string) {
    const tail = yield* files.tail(path(name), tailBytes)
    const found = Heads.head(name, tail.text)
    if (tail.whole || found.name.head !== "") return found
    return Heads.head(name, yield* files.read(path(name)))
  })

  /** What the new segment names. A segment that cannot be read is left to the verification: it must not stop this one. */
  const heads = Effect.gen(function*() {
    const known = yield* Effect.option(files.read(path("index")))
    const index = Heads.parse(Option.getOrElse(known, () => ""))
    const names = yield* files.list(directory)
    const read: Array<ReturnType<typeof Heads.head>> = []
    for (const name of Heads.unsettled(index, names)) {
      const found = yield* Effect.option(head(name))
      if (Option.isSome(found)) read.push(found.value)
    }
    return { ...Heads.next(index, names, read), reserve: names.includes("reserve"), newest: Heads.newest(names) }
  })

  /** A folder that was removed, or put in place of ours, has no key or another one: what we sealed would not verify. */
  const sameKey = Effect.filterOrFail(
    files.read(path("key")),
    (text) => Keys.pattern.test(text) && Keys.derive(text).id === keys.id,
    () => new FilesError({ kind: "failed", path: path("key"), message: `${path("key")} is not the key of this run` })
  )

  const begin = Effect.fnUntraced(function*(lines: string) {
    yield* sameKey
    const at = time(now())
    const name = Heads.fileName(at, hex(8))
    const { index, names, newest, reserve } = yield* heads
    if (part === 0 && newest !== undefined && newest - now() > Pending.clockStep) {
      pending.append({ type: "clock", back: newest - now() })
      stepped(newest - now())
    }
    const opened = Line.opened({
      segment: name,
      time: at,
      run: run ??= hex(16),
      part: ++part,
      pid,
      key: keys.id,
      first: written + 1,
      names
    })
    const sealed = Pending.seal(keys.chain, "", opened + Line.end + lines)
    // A new file is on the disk only when its folder is, which `create` sees to; it costs some milliseconds.
    if (sync) yield* files.create(path(name), sealed.text)
    const appender = yield* files.appender(path(name), sync ? "existing" : "create")
    // A file that holds no group whole is none: on a full disk each attempt would leave another one.
    if (!sync) {
      yield* Effect.onError(
        appender.append(sealed.text),
        () => Effect.andThen(appender.close, Effect.ignore(files.remove(appender.path)))
      )
    }
    segment = { appender, head: sealed.seal, bytes: sealed.text.length }
    // Both only help later, so nobody waits for them and a failure is none.
    yield* Effect.forkIn(
      Effect.ignore(files.replace(path("index"), Heads.print(index))).pipe(
        Effect.andThen(reserve || low ? Effect.void : Effect.ignore(files.create(path("reserve"), reserved)))
      ),
      scope,
      { startImmediately: true }
    )
  })

  const write = (lines: string): Effect.Effect<void, FilesError> =>
    Effect.suspend(() => {
      if (segment === undefined) return begin(lines)
      const { appender, bytes, head } = segment
      const sealed = Pending.seal(keys.chain, head, lines)
      // Until it is known to be written whole, the segment may be torn: the next attempt begins another.
      segment = undefined
      const appended = appender.append(sealed.text)
      return Effect.andThen(
        Effect.onError(sync ? Effect.andThen(appended, appender.sync) : appended, () => appender.close),
        Effect.sync(() => {
          segment = { appender, head: sealed.seal, bytes: bytes + sealed.text.length }
        })
      )
    })

  const close = (more: boolean): Effect.Effect<void, FilesError> =>
    Effect.andThen(
      Effect.suspend(() => write(Line.closed({ time: time(now()), more }))),
      Effect.suspend(() => {
        const done = segment?.appender.close ?? Effect.void
        segment = undefined
        return done
      })
    )

  const put = ({ lines }: Pending.Taken): Effect.Effect<void, FilesError> =>
    segment !== undefined && segment.bytes >= limit ? Effect.andThen(close(true), begin(lines)) : write(lines)

  /** Makes room by giving up the reserve, if it is there, and tries once more. */
  const putFromReserve = (taken: Pending.Taken, error: FilesError): Effect.Effect<void, FilesError> =>
    error.kind !== "failed" || low ? Effect.fail(error) : files.trusted(path("reserve")).pipe(
      Effect.andThen(files.remove(path("reserve"))),
      Effect.mapError(() => error),
      Effect.andThen(Effect.suspend(() => {
        low = true
        return put(taken)
      })),
      Effect.andThen(Effect.sync(() => pending.append({ type: "fault", why: error.message })))
    )

  /** What was given up is written, but nothing passes until there is a reserve again. */
  const refill = files.create(path("reserve"), reserved).pipe(
    Effect.catch((error) => error.kind === "exists" ? Effect.void : Effect.fail(error)),
    Effect.andThen(Effect.sync(() => {
      low = false
    }))
  )

  const failed = (error: FilesError): Effect.Effect<never, FilesError> => {
    failure = { error, at: uptime() }
    return Effect.fail(error)
  }

  const attempt = Effect.suspend(() => {
    if (failure !== undefined && uptime() - failure.at < patience) return Effect.fail(failure.error)
    const taken = pending.take()
    if (taken === undefined) return low ? Effect.catch(refill, failed) : Effect.void
    return Effect.matchEffect(Effect.catch(put(taken), (error) => putFromReserve(taken, error)), {
      onFailure: (error) => {
        pending.restore(taken)
        return failed(error)
      },
      onSuccess: () => {
        written = taken.last
        failure = undefined
        pending.settle()
        return low ? Effect.catch(refill, failed) : Effect.void
      }
    })
  })

  const commit = group(
    pending.newest,
    () => low ? -1 : written,
    Effect.mapError(
      attempt,
      (error) => new LedgerError({ message: `the ledger in ${directory} cannot be written: ${error.message}` })
    )
  )

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      failure = undefined
      return commit
    }).pipe(
      Effect.ignore,
      Effect.andThen(Effect.suspend(() => segment === undefined ? Effect.void : close(false))),
      Effect.ignore
    )
  )

  const digest = options.digest === "plain"
    ? Digest.sha256
    : (text: string) => Keys.mac(keys.text, text)

  const { full } = options
  const secrets = full === undefined ? undefined : Secrets.finder(full.secrets)
  const whole = (text: string): string => {
    const clear = secrets === undefined ? text : secrets.without(text)
    const more = clear.length - longest
    return more <= 0 ? clear : `${clear.slice(0, longest)} (${more} characters more)`
  }
  const budget = options.budgetBytes === undefined ? undefined : Budget.make(options.budgetBytes, uptime)

  return {
    append: budget === undefined ? pending.append : (event) => {
      const before = pending.size()
      const seq = pending.append(event)
      budget.spend(seq, event, pending.size() - before)
      return seq
    },
    commit,
    digest: (text) => text === undefined ? undefined : digest(text),
    text: (text) => text === undefined || full === undefined ? undefined : whole(text),
    room: budget === undefined ? () => true : budget.room
  }
})

/**
 * Keeps the ledger in a folder.
 *
 * **Gotchas**
 *
 * It fails where the folder or its key cannot be used; {@link layerFailed} then lets a program go on and refuse.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (options: FileOptions): Layer.Layer<Ledger, LedgerError, Files> =>
  Layer.effect(Ledger, makeFile(options))
