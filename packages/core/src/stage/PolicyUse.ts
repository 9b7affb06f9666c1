/**
 * PolicyUse: which policy a server was under, kept in the state folder, so that one that vanishes opens nothing (security
 * rule F26). Small, because every relay looks here at its start.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Files, type FilesError } from "../store/Files.ts"

/**
 * The policy that was used last: its file, and the digest of its text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Used = Schema.Struct({ file: Schema.String, digest: Schema.String })
/**
 * @category models
 * @since 0.1.0
 */
export type Used = typeof Used.Type

/**
 * Where a policy is, and where it is kept which one was used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly file: string
  /** Whether the operator named it: then it must be there. */
  readonly named: boolean
  /** The folder `policies` of the state folder. */
  readonly directory: string
  readonly server: string
}

const Stored = Schema.fromJsonString(Used)
const decode = Schema.decodeUnknownEffect(Stored, { onExcessProperty: "error" })
const encode = Schema.encodeEffect(Stored)

const isMissing = (error: FilesError): boolean => error.kind === "missing"
const pathOf = (directory: string, server: string): string => `${directory}/${server}.json`

/**
 * Which policy the server was under; `undefined` where it was under none. What cannot be read was one all the same.
 *
 * @category reading
 * @since 0.1.0
 */
export const load = Effect.fnUntraced(function*(directory: string, server: string) {
  const files = yield* Files
  const text = yield* Effect.catchIf(files.read(pathOf(directory, server)), isMissing, () => Effect.undefined)
  return text === undefined
    ? undefined
    : yield* Effect.orElseSucceed(decode(text), (): Used => ({ file: "", digest: "" }))
})

/**
 * Keeps which policy the server is under.
 *
 * @category writing
 * @since 0.1.0
 */
export const save = Effect.fnUntraced(function*(directory: string, server: string, used: Used) {
  const files = yield* Files
  yield* files.folder(directory)
  yield* files.replace(pathOf(directory, server), `${yield* Effect.orDie(encode(used))}\n`)
})

/**
 * Forgets which policy the server was under.
 *
 * @category writing
 * @since 0.1.0
 */
export const forget = Effect.fnUntraced(function*(directory: string, server: string) {
  const files = yield* Files
  yield* files.remove(pathOf(directory, server))
})

/**
 * The servers that were under a policy, by name.
 *
 * @category reading
 * @since 0.1.0
 */
export const servers = Effect.fnUntraced(function*(directory: string) {
  const files = yield* Files
  return (yield* files.list(directory)).flatMap((name) => name.endsWith(".json") ? [name.slice(0, -5)] : [])
})

/**
 * Whether a server is to be under a policy: one was named, there is one, this server was under one, or any other was under
 * the one that is not there.
 *
 * @category reading
 * @since 0.1.0
 */
export const isNeeded = Effect.fnUntraced(function*({ directory, file, named, server }: Place) {
  if (named) return true
  const files = yield* Files
  const there = yield* Effect.catchIf(Effect.as(files.trusted(file), true), isMissing, () => Effect.succeed(false))
  if (there) return true
  for (const other of yield* servers(directory)) {
    if (other === server || (yield* load(directory, other))?.file === file) return true
  }
  return false
}, Effect.orElseSucceed(() => true))
