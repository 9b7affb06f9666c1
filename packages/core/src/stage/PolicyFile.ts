/**
 * PolicyFile: the operator's policy, read from its file and read again when that changes.
 *
 * **Details**
 *
 * A file that is wrong never replaces a policy: at the start everything is refused until it is mended, later the old
 * policy holds. A file that is missing or may not be trusted refuses everything. A change counts when two readings a second
 * apart found the same, so that a file that is being saved, or saved in part, does not (security rule F26).
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Condition from "../policy/Condition.ts"
import * as Decide from "../policy/Decide.ts"
import * as Limits from "../policy/Limits.ts"
import * as Policy from "../policy/Policy.ts"
import { Files, type FilesError } from "../store/Files.ts"
import { Ledger } from "./Ledger.ts"
import * as PolicyUse from "./PolicyUse.ts"

/**
 * What holds now: a policy, or that everything is refused; `why` is for the operator.
 *
 * @category models
 * @since 0.1.0
 */
export type State = Loaded | Refusing
/**
 * @category models
 * @since 0.1.0
 */
export interface Loaded {
  readonly _tag: "Loaded"
  readonly policy: Policy.Policy
  readonly compiled: Decide.Compiled
  readonly limits: Limits.Table
}
/**
 * @category models
 * @since 0.1.0
 */
export interface Refusing {
  readonly _tag: "Refusing"
  readonly why: string
}

/**
 * The policy in use.
 *
 * @category services
 * @since 0.1.0
 */
export class PolicyFile extends Context.Service<PolicyFile, {
  readonly current: () => State
  /** Moves whenever {@link State} does. */
  readonly epoch: () => number
}>()("@sallyport/core/stage/PolicyFile") {}

/**
 * Which file, and what is known of the servers that it is about.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends PolicyUse.Place {
  /** The definitions that were accepted: rules are checked against them. Default: none. */
  readonly definitions?: Effect.Effect<ReadonlyArray<Decide.Defined>> | undefined
  /** Follows links for rules that ask for it. */
  readonly real?: Condition.Real | undefined
  /** What a command line needs to mean the same state folder: ` --state DIR`. Default: nothing. */
  readonly option?: string | undefined
  readonly tell: (sentence: string) => void
}

/** How often the file is read, in milliseconds. */
const interval = 1_000

type Read =
  | { readonly _tag: "Text"; readonly key: string; readonly text: string }
  | { readonly _tag: "Gone"; readonly key: string; readonly why: string }

const problems = (found: ReadonlyArray<Policy.Problem>): string => {
  const [first] = found
  const more = found.length > 1 ? ` (and ${found.length - 1} more; sallyport policy check prints them)` : ""
  return first === undefined ? "it cannot be used" : `${Policy.format(first)}${more}`
}

/**
 * Reads a policy's text and checks it against the definitions that were accepted.
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (
  text: string,
  file: string,
  definitions: ReadonlyArray<Decide.Defined>,
  real?: Condition.Real
): Result.Result<Loaded, ReadonlyArray<Policy.Problem>> => {
  const policy = Policy.parse(text, file)
  if (Result.isFailure(policy)) return Result.fail(policy.failure)
  const compiled = Decide.compile(policy.success, real === undefined ? undefined : { real })
  const wrong = Decide.typeCheck(compiled, definitions)
  return wrong.length > 0
    ? Result.fail(wrong)
    : Result.succeed({
      _tag: "Loaded",
      policy: policy.success,
      compiled,
      limits: Limits.compile(policy.success.limits)
    })
}

const make = Effect.fnUntraced(function*(options: Options) {
  const { directory, file, server, tell } = options
  const files = yield* Files
  const ledger = yield* Ledger
  const context = yield* Effect.context<Files>()

  const read: Effect.Effect<Read> = Effect.match(files.read(file), {
    onFailure: (error): Read => ({ _tag: "Gone", key: `gone ${error.message}`, why: error.message }),
    onSuccess: (text): Read => ({ _tag: "Text", key: `text ${text}`, text })
  })

  /** The state of what was read; a failure leaves the old one. */
  const stateOf = Effect.fnUntraced(function*(found: Read) {
    if (found._tag === "Gone") {
      const gone: State = {
        _tag: "Refusing",
        why: `the policy cannot be read, so every call is refused: ${found.why}`
      }
      return Result.succeed(gone)
    }
    const definitions = yield* options.definitions ?? Effect.succeed([])
    return Result.map(parse(found.text, file, definitions, options.real), (loaded): State => loaded)
  })

  /** Remembers that this policy is used, and records it where it is another one than before. */
  const remember = Effect.fnUntraced(function*(state: State, was: string | undefined) {
    const digest = state._tag === "Loaded" ? state.policy.digest : undefined
    if (digest !== undefined) yield* PolicyUse.save(directory, server, { file, digest })
    ledger.append({
      type: "policy",
      server,
      file,
      digest,
      was,
      why: state._tag === "Refusing" ? state.why : undefined
    })
    // A ledger that cannot be written refuses every call anyway, and says so.
    yield* Effect.ignore(ledger.commit)
  })

  const refusing = (why: string): Refusing => ({
    _tag: "Refusing",
    why: `the policy cannot be used, so every call is refused: ${why}`
  })
  const first = yield* read
  const before = yield* Effect.result(PolicyUse.load(directory, server))
  const parsed = yield* stateOf(first)
  let current: State = Result.isFailure(before)
    ? refusing(before.failure.message)
    : Result.isSuccess(parsed)
    ? parsed.success
    : refusing(problems(parsed.failure))
  const used = Result.getOrUndefined(before)
  let epoch = 0
  /** What the state is of, what was seen once only, and what is wrong and was told. */
  let key = Result.isFailure(before) ? "" : first.key
  let candidate: string | undefined
  let rejected = Result.isFailure(parsed) ? first.key : undefined
  let digest = used?.digest

  if (current._tag === "Loaded") {
    for (const warning of current.policy.warnings) tell(Policy.format(warning))
    if (used !== undefined && used.file !== file) {
      tell(`${server} was under the policy ${used.file === "" ? "of an unreadable record" : used.file} before`)
    }
    if (used?.digest !== current.policy.digest || used.file !== file) {
      digest = current.policy.digest
      const kept = yield* Effect.result(remember(current, used?.digest))
      if (Result.isFailure(kept)) {
        const unkept = refusing(kept.failure.message)
        tell(unkept.why)
        current = unkept
        key = ""
      }
    }
  } else {
    tell(
      first._tag === "Gone" && used !== undefined && !options.named
        ? `${current.why}; ${server} was under ${used.file === "" ? "a policy" : `the policy ${used.file}`} before. ` +
          `Put it back, or have it forgotten: sallyport policy forget${options.option ?? ""} ${server}`
        : current.why
    )
  }

  const apply = Effect.fnUntraced(function*(found: Read) {
    const next = yield* stateOf(found)
    if (Result.isFailure(next)) {
      rejected = found.key
      const why = problems(next.failure)
      if (current._tag === "Loaded") tell(`the policy was changed and cannot be used, so the old one holds: ${why}`)
      else {
        const still = refusing(why)
        tell(still.why)
        current = still
      }
      return
    }
    const state = next.success
    yield* remember(state, digest)
    current = state
    epoch++
    key = found.key
    rejected = undefined
    if (state._tag === "Loaded") {
      digest = state.policy.digest
      const { limits, rules, warnings } = state.policy
      tell(`the policy was loaded anew: ${rules.length} rules, ${limits.length} limits`)
      for (const warning of warnings) tell(Policy.format(warning))
    } else tell(state.why)
  })

  const look = Effect.gen(function*() {
    const found = yield* read
    if (found.key === rejected) candidate = undefined
    else if (found.key === key && rejected === undefined) candidate = undefined
    else if (found.key === key) {
      // What was wrong meanwhile is as it was.
      rejected = undefined
      candidate = undefined
    } else if (found.key !== candidate) candidate = found.key
    else {
      candidate = undefined
      yield* apply(found)
    }
  })

  let complaint = ""
  const complain = (error: FilesError) =>
    Effect.sync(() => {
      if (error.message !== complaint) tell(`the policy cannot be loaded anew, so the old one holds: ${error.message}`)
      complaint = error.message
    })

  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(Effect.sleep(interval), Effect.catch(look, complain))).pipe(
      Effect.provideContext(context)
    )
  )

  return PolicyFile.of({ current: () => current, epoch: () => epoch })
})

/**
 * The policy of a file, as it is now and as long as the scope is open. Where it cannot be kept which one is used,
 * everything is refused.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options) => Layer.effect(PolicyFile, make(options))

/**
 * A policy that does not change, for tests and for those who embed.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPolicy = (
  policy: Policy.Policy,
  options?: { readonly real?: Condition.Real }
): Layer.Layer<PolicyFile> =>
  Layer.sync(PolicyFile, () => {
    const state: State = {
      _tag: "Loaded",
      policy,
      compiled: Decide.compile(policy, options),
      limits: Limits.compile(policy.limits)
    }
    return PolicyFile.of({ current: () => state, epoch: () => 0 })
  })
