/**
 * Approvals: questions to a person, and their answers.
 *
 * **Details**
 *
 * Who asks waits; who waits can be interrupted, and then the question is withdrawn. A question is answered once: by a
 * person at the terminal, by what the asker itself brings along (the host's interface), or by time. Whoever comes first
 * counts, also between processes.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Approval from "../approval/Approval.ts"
import { Digest } from "../ledger/Entry.ts"
import { Files, type FilesError, ProcessId } from "../store/Files.ts"

/**
 * A question could not be put, or an answer not be given. Nothing was allowed.
 *
 * - `unavailable`: nobody can be asked here. `full`: too many questions wait already. `too-long`: the arguments are longer
 *   than can be shown to a person. `missing`: no such question waits. `answered`: another answer was faster. `failed`: the
 *   rest.
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalsError extends Schema.TaggedError<ApprovalsError>("sallyport/stage/ApprovalsError")(
  "ApprovalsError",
  {
    kind: Schema.Literals(["unavailable", "full", "too-long", "missing", "answered", "failed"]),
    message: Schema.String
  }
) {}

/**
 * What somebody chose.
 *
 * @category models
 * @since 0.1.0
 */
export type Choice = "allow" | "deny"

/**
 * A question that waits for an answer; `pid` is the process that asks, 0 where there are no processes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waiting {
  readonly approval: Approval.Approval
  readonly pid: number
}

/**
 * Puts questions to people.
 *
 * @category services
 * @since 0.1.0
 */
export class Approvals extends Context.Service<Approvals, {
  /**
   * Puts a question, waits, and gives it back allowed, denied or expired. `host` is told of the question once it is put,
   * and may bring an answer from the host's own interface; `undefined` leaves it to the terminal. An interrupt withdraws
   * the question.
   */
  readonly ask: (
    question: Approval.Question,
    host?: (approval: Approval.Approval) => Effect.Effect<Choice | undefined>
  ) => Effect.Effect<Approval.Approval, ApprovalsError>
  /** The questions that wait, the oldest first. */
  readonly pending: Effect.Effect<ReadonlyArray<Waiting>, ApprovalsError>
  /** What lies where questions are kept and cannot be read, a sentence for each; it stands in nobody's way. */
  readonly unreadable: Effect.Effect<ReadonlyArray<string>, ApprovalsError>
  /** Answers as a person at the terminal does; `digest` is that of the question that they were shown. */
  readonly answer: (id: string, digest: string, choice: Choice) => Effect.Effect<Approval.Approval, ApprovalsError>
}>()("@sallyport/core/stage/Approvals") {}

/**
 * Bounds of the questions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long a question waits, asked when it is put. Default: 5 minutes. */
  readonly expires?: (() => Duration.Duration) | undefined
  /** How many questions of one server may wait. Default: 16. */
  readonly pending?: number | undefined
}

/**
 * How long a question waits where nothing else is said: 5 minutes.
 *
 * @category constants
 * @since 0.1.0
 */
export const lifetime: Duration.Duration = Duration.minutes(5)

const maxPending = 16

/**
 * How long the arguments of a question may be, in characters: what a person cannot look through is not put to one.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxLength = 256 * 1024

// ---- what the layers share

/** The end of a question: what a process wrote behind it. Once there, it is never another. */
interface Ended {
  readonly verdict: Choice | "expired" | "withdrawn"
  /** Where it was chosen: for `allow` and `deny`. */
  readonly channel?: Approval.Channel | undefined
  readonly digest: string
  readonly at: number
}

/** Where questions are kept. */
interface Desk {
  /** Keeps a new question; false where the id is taken. */
  readonly put: (approval: Approval.Approval) => Effect.Effect<boolean, ApprovalsError>
  /** Ends a question, unless it is ended already: false then. */
  readonly end: (approval: Approval.Approval, ended: Ended) => Effect.Effect<boolean, ApprovalsError>
  /** How a question was ended; waits for it. */
  readonly ended: (approval: Approval.Approval) => Effect.Effect<Ended, ApprovalsError>
  /** The question itself is not needed any more. */
  readonly drop: (approval: Approval.Approval) => Effect.Effect<void>
  readonly waiting: (now: number) => Effect.Effect<ReadonlyArray<Waiting>, ApprovalsError>
  readonly unreadable: Effect.Effect<ReadonlyArray<string>, ApprovalsError>
}

const alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
const idLength = 8

const newId = Effect.gen(function*() {
  let id = ""
  for (let at = 0; at < idLength; at++) {
    id += alphabet.charAt(yield* Random.nextIntBetween(0, alphabet.length, { halfOpen: true }))
  }
  return id
})

const byAge = (one: Waiting, other: Waiting): number => one.approval.asked - other.approval.asked

const make = (desk: Desk, options: Options): Approvals["Service"] => {
  const max = options.pending ?? maxPending

  // A clock that is set back revives nothing (security rule F30).
  let newest = 0
  const later = (at: number): Effect.Effect<number> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      newest = Math.max(newest, now, at)
      return newest
    })

  const put = Effect.fnUntraced(function*(question: Approval.Question) {
    if (question.arguments.length > maxLength) {
      return yield* new ApprovalsError({
        kind: "too-long",
        message: `the arguments are longer than ${maxLength} characters, which is the most that a person is asked about`
      })
    }
    const now = yield* later(0)
    const waiting = yield* desk.waiting(now)
    if (waiting.filter(({ approval }) => approval.question.server === question.server).length >= max) {
      return yield* new ApprovalsError({
        kind: "full",
        message: `${max} questions about ${question.server} wait already, which is the most`
      })
    }
    for (;;) {
      const length = Duration.toMillis(options.expires?.() ?? lifetime)
      const approval = Approval.ask(yield* newId, question, now, length)
      if (yield* desk.put(approval)) return approval
    }
  })

  /** What an end means to the one who asked. */
  const read = Effect.fnUntraced(function*(approval: Approval.Approval, ended: Ended) {
    const now = yield* later(ended.at)
    const { channel, digest, verdict } = ended
    const next = verdict === "expired"
      ? Approval.step(approval, { _tag: "Expire", now: Math.max(now, approval.expires) })
      : verdict === "withdrawn"
      ? Approval.step(approval, { _tag: "Withdraw" })
      : channel === undefined
      ? approval
      : Approval.step(approval, { _tag: "Answer", channel, choice: verdict, digest, now })
    if (next !== approval) return next
    return yield* new ApprovalsError({ kind: "failed", message: `the answer to ${approval.id} is to another question` })
  })

  const ask: Approvals["Service"]["ask"] = (question, host) =>
    Effect.acquireUseRelease(
      put(question),
      (approval) => {
        const { digest } = approval
        const byTerminal = Effect.flatMap(desk.ended(approval), (ended) => read(approval, ended))
        /** The end that was written first counts: where ours was later, the other is read. */
        const settle = Effect.fnUntraced(function*(
          next: Approval.Approval,
          verdict: Ended["verdict"],
          channel?: Approval.Channel
        ) {
          const at = yield* later(0)
          return (yield* desk.end(approval, { verdict, channel, digest, at })) ? next : yield* byTerminal
        })
        const byHost = host === undefined ? Effect.never : Effect.gen(function*() {
          const choice = yield* host(approval)
          if (choice === undefined) return yield* Effect.never
          const now = yield* later(0)
          const next = Approval.step(approval, { _tag: "Answer", channel: "host", choice, digest, now })
          if (next === approval) return yield* Effect.never
          return yield* next.state._tag === "Expired" ? settle(next, "expired") : settle(next, choice, "host")
        })
        const byTime = Effect.gen(function*() {
          yield* Effect.sleep(approval.expires - approval.asked)
          const now = Math.max(yield* later(0), approval.expires)
          return yield* settle(Approval.step(approval, { _tag: "Expire", now }), "expired")
        })
        return Effect.raceAllFirst([byTerminal, byHost, byTime])
      },
      (approval, exit) =>
        Effect.gen(function*() {
          if (exit._tag === "Failure") {
            const at = yield* later(0)
            yield* Effect.ignore(desk.end(approval, { verdict: "withdrawn", digest: approval.digest, at }))
          }
          yield* desk.drop(approval)
        })
    )

  return {
    ask,
    pending: Effect.flatMap(later(0), desk.waiting),
    unreadable: desk.unreadable,
    answer: Effect.fnUntraced(function*(id, digest, choice) {
      const now = yield* later(0)
      const found = (yield* desk.waiting(now)).find(({ approval }) => approval.id === id)
      if (found === undefined) {
        return yield* new ApprovalsError({
          kind: "missing",
          message: `no question ${id} waits for an answer; it may have been answered, withdrawn or have expired`
        })
      }
      const { approval } = found
      const next = Approval.step(approval, { _tag: "Answer", channel: "terminal", choice, digest, now })
      if (next === approval) {
        return yield* new ApprovalsError({ kind: "failed", message: `${id} is not the question that was shown` })
      }
      if (yield* desk.end(approval, { verdict: choice, channel: "terminal", digest, at: now })) return next
      return yield* new ApprovalsError({
        kind: "answered",
        message: `${id} was answered or withdrawn meanwhile, so this answer came too late`
      })
    })
  }
}

// ---- nobody

/**
 * Nobody can be asked: every question is refused.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<Approvals> = Layer.sync(Approvals, () => {
  const nobody = Effect.fail(new ApprovalsError({ kind: "unavailable", message: "nobody can be asked here" }))
  const none = Effect.succeed([])
  return Approvals.of({ ask: () => nobody, pending: none, unreadable: none, answer: () => nobody })
})

// ---- memory

/**
 * Questions in memory, for tests and for programs that ask by themselves.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options: Options = {}): Layer.Layer<Approvals> =>
  Layer.sync(Approvals, () => {
    const kept = new Map<string, { readonly approval: Approval.Approval; readonly ended: Deferred.Deferred<Ended> }>()
    return make({
      put: (approval) =>
        Effect.sync(() => {
          if (kept.has(approval.id)) return false
          kept.set(approval.id, { approval, ended: Deferred.makeUnsafe() })
          return true
        }),
      end: ({ id }, ended) =>
        Effect.suspend(() => {
          const entry = kept.get(id)
          return entry === undefined ? Effect.succeed(false) : Deferred.succeed(entry.ended, ended)
        }),
      ended: ({ id }) =>
        Effect.suspend(() => {
          const entry = kept.get(id)
          return entry === undefined ? Effect.never : Deferred.await(entry.ended)
        }),
      drop: ({ id }) => Effect.sync(() => void kept.delete(id)),
      waiting: (now) =>
        Effect.sync(() =>
          [...kept.values()].flatMap(({ approval, ended }) =>
            Deferred.isDoneUnsafe(ended) || now >= approval.expires ? [] : [{ approval, pid: 0 }]
          ).sort(byAge)
        ),
      unreadable: Effect.succeed([])
    }, options)
  })

// ---- files

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** `ID.json`: a question. */
const Kept = Schema.Struct({
  id: Schema.String,
  pid: Count,
  asked: Count,
  expires: Count,
  question: Approval.Question
})

/** `ID.answer.json`: how it ended. Created exclusively, so that there is one. */
const Answered = Schema.Struct({
  id: Schema.String,
  verdict: Schema.Literals(["allow", "deny", "expired", "withdrawn"]),
  channel: Schema.optionalKey(Approval.Channel),
  digest: Digest,
  at: Count,
  expires: Count
})

const strict = { onExcessProperty: "error" } as const
const decodeKept = Schema.decodeUnknownEffect(Schema.fromJsonString(Kept), strict)
const decodeAnswered = Schema.decodeUnknownEffect(Schema.fromJsonString(Answered), strict)
const encodeKept = Schema.encodeEffect(Schema.fromJsonString(Kept))
const encodeAnswered = Schema.encodeEffect(Schema.fromJsonString(Answered))

const file = new RegExp(`^([${alphabet}]{${idLength}})(\\.answer)?\\.json$`)

/** How often the answer is looked for. */
const poll = Duration.millis(500)

/** An answer stays for so long after its question expired: whoever was about to answer finds that another was faster. */
const linger = 10 * 60 * 1000

/** So many questions may wait in one folder: a flood of them fills no disk. */
const maxInFolder = 256

const makeFile = Effect.fnUntraced(function*(
  directory: string,
  options: Options
): Effect.fn.Return<Approvals["Service"], never, Files> {
  const files = yield* Files
  const pid = yield* ProcessId
  const pathOf = (id: string) => `${directory}/${id}.json`
  const answerOf = (id: string) => `${directory}/${id}.answer.json`

  const failed = (error: FilesError) => new ApprovalsError({ kind: "failed", message: error.message })
  const orNone = <A>(self: Effect.Effect<A, FilesError>): Effect.Effect<Option.Option<A>, ApprovalsError> =>
    Effect.asSome(self).pipe(
      Effect.catchIf((error) => error.kind === "missing", () => Effect.succeedNone),
      Effect.mapError(failed)
    )
  const created = (path: string, text: string): Effect.Effect<boolean, ApprovalsError> =>
    Effect.as(files.create(path, text), true).pipe(
      Effect.catchIf((error) => error.kind === "exists", () => Effect.succeed(false)),
      Effect.mapError(failed)
    )
  const unreadable = (path: string) =>
    new ApprovalsError({
      kind: "failed",
      message: `${path} is not as this version of Sallyport writes it; remove it if nobody needs it`
    })
  const readWith = <A>(path: string, decode: (text: string) => Effect.Effect<A, Schema.SchemaError>) =>
    Effect.flatMap(orNone(files.read(path)), (found) =>
      Option.isNone(found)
        ? Effect.undefined
        : Effect.mapError(decode(found.value), () => unreadable(path)))
  const kept = (id: string) => readWith(pathOf(id), decodeKept)
  const answered = (id: string) => readWith(answerOf(id), decodeAnswered)

  const look = Effect.fnUntraced(function*(now: number) {
    const names = yield* Effect.mapError(files.list(directory), failed)
    const found: Array<Waiting> = []
    const unreadable: Array<string> = []
    /** What cannot be read is none of the questions, and takes no other one along. */
    const orPass = <A>(self: Effect.Effect<A, ApprovalsError>): Effect.Effect<A | undefined> =>
      Effect.catch(self, ({ message }) => {
        unreadable.push(message)
        return Effect.undefined
      })
    for (const name of names) {
      const [, id, answer] = file.exec(name) ?? []
      if (id === undefined) continue
      if (answer !== undefined) {
        const ended = yield* orPass(answered(id))
        if (ended !== undefined && now > ended.expires + linger) yield* Effect.ignore(files.remove(answerOf(id)))
        continue
      }
      const entry = yield* orPass(kept(id))
      if (entry === undefined || entry.id !== id) continue
      if (now >= entry.expires) {
        if (now > entry.expires + linger) yield* Effect.ignore(files.remove(pathOf(id)))
        continue
      }
      if (names.includes(`${id}.answer.json`)) continue
      found.push({
        approval: Approval.ask(id, entry.question, entry.asked, entry.expires - entry.asked),
        pid: entry.pid
      })
    }
    return { found: found.sort(byAge), unreadable }
  })

  return make({
    put: Effect.fnUntraced(function*(approval) {
      const { asked, expires, id, question } = approval
      yield* Effect.mapError(files.folder(directory), failed)
      const names = yield* Effect.mapError(files.list(directory), failed)
      if (names.filter((name) => file.test(name)).length >= 2 * maxInFolder) {
        return yield* new ApprovalsError({
          kind: "full",
          message: `too many questions and answers are in ${directory}`
        })
      }
      if (names.includes(`${id}.answer.json`)) return false
      return yield* created(pathOf(id), `${yield* Effect.orDie(encodeKept({ id, pid, asked, expires, question }))}\n`)
    }),
    end: Effect.fnUntraced(function*({ expires, id }, ended) {
      const { at, channel, digest, verdict } = ended
      const text = yield* Effect.orDie(
        encodeAnswered({ id, verdict, ...(channel === undefined ? {} : { channel }), digest, at, expires })
      )
      return yield* created(answerOf(id), `${text}\n`)
    }),
    ended: Effect.fnUntraced(function*({ id }) {
      for (;;) {
        const found = yield* answered(id)
        if (found !== undefined) return found
        yield* Effect.sleep(poll)
      }
    }),
    drop: ({ id }) => Effect.ignore(files.remove(pathOf(id))),
    waiting: (now) => Effect.map(look(now), ({ found }) => found),
    unreadable: Effect.map(Effect.flatMap(Clock.currentTimeMillis, look), ({ unreadable }) => unreadable)
  }, options)
})

/**
 * Questions in files, so that `sallyport approvals` can answer what any number of relays ask: `ID.json` in the folder, and
 * `ID.answer.json` behind it.
 *
 * **Details**
 *
 * Files are created exclusively, mode 0600: of two answers the first one counts, and a question that was withdrawn or has
 * expired is ended by the same means. Only the process that asked acts on an answer, and only on one to the very question
 * it has put, so files that lie around allow nothing. The arguments are gone from the disk when the question is over.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFile = (
  options: Options & { readonly directory: string }
): Layer.Layer<Approvals, never, Files> => Layer.effect(Approvals, makeFile(options.directory, options))
