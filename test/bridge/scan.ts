/** Whether everything that was said on a leg is of the revision of that leg. */
import * as ErrorCode from "@sallyport/core/protocol/ErrorCode"
import * as Method from "@sallyport/core/protocol/Method"
import * as Payload from "@sallyport/core/protocol/Payload"
import * as Revision from "@sallyport/core/protocol/Revision"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** What was said on a connection, message by message: by the far side, and by the relay. */
export interface Leg {
  readonly far: "host" | "server"
  readonly heard: ReadonlyArray<string>
  readonly said: ReadonlyArray<string>
}

type Value = Readonly<Record<string, unknown>>

const isValue = (value: unknown): value is Value => typeof value === "object" && value !== null && !Array.isArray(value)
const within = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((each, name) => isValue(each) ? each[name] : undefined, value)

const parsed = (lines: ReadonlyArray<string>): ReadonlyArray<Value> =>
  lines.filter((line) => line !== "").map((line): unknown => JSON.parse(line)).filter(isValue)

const versionOf = (message: Value): unknown => within(message, "params", "_meta", Revision.meta.protocolVersion)

/** Members that only the modern era has at the top of a result: a legacy host would take such a result for another. */
const modernOnly = ["resultType", "ttlMs", "cacheScope", "inputRequests", "requestState"]

const openings = new Set(["initialize", "server/discover"])

/** What is wrong with what the relay said, a line for each message; nothing where all is of the leg's revision. */
export const faults = ({ far, heard, said }: Leg): ReadonlyArray<string> => {
  const [theirs, ours] = [parsed(heard), parsed(said)]
  const asked = new Map(theirs.filter(({ id, method }) => id !== undefined && method).map((each) => [each["id"], each]))
  const [asking, answering] = far === "host" ? [theirs, ours] : [ours, theirs]
  const initializes = new Set(asking.filter(({ method }) => method === "initialize").map(({ id }) => id))
  const agreed = answering.filter(({ id, result }) => initializes.has(id) && result)
    .map((answer) => Revision.all.find((each) => each === within(answer, "result", "protocolVersion")))
    .at(-1)
  const leg: Revision.Revision = agreed ?? "2026-07-28"

  const unfit = (codec: Payload.Any | undefined, value: unknown): ReadonlyArray<string> => {
    if (codec === undefined) return ["the revision has no such message"]
    const read = Schema.decodeUnknownResult(codec)(value ?? {})
    return Result.isFailure(read) ? [String(read.failure)] : []
  }

  const faultsOf = (message: Value): ReadonlyArray<string> => {
    const { error, id, method, params, result } = message
    if (typeof method === "string") {
      if (openings.has(method)) return []
      const from = far === "host" ? "server" : "host"
      const kind = id === undefined ? "notification" : "request"
      if (Method.find(method, kind, from, leg) === undefined) return [`${leg} has no such ${kind}`]
      // A notification has no metadata in either era, and need not have it where a modern client adds it.
      const enveloped = versionOf(message) !== undefined
      const era = far === "server" && (Revision.isLegacy(leg) ? enveloped : kind === "request" && !enveloped)
      return [...(era ? ["its metadata is of the other era"] : []), ...unfit(Payload.findParams(method, leg), params)]
    }
    const question = asked.get(id)
    const revision = question !== undefined && versionOf(question) === "2026-07-28" ? "2026-07-28" : leg
    if (isValue(error)) {
      return ErrorCode.mayEmit(Number(error["code"]), revision) ? [] : [`${revision} has no such code`]
    }
    const of = question?.["method"]
    if (typeof of !== "string" || !isValue(result)) return ["it answers nothing"]
    const foreign = Revision.isLegacy(revision) && of !== "initialize"
      ? modernOnly.filter((name) => Object.hasOwn(result, name))
      : []
    return [
      ...foreign.map((name) => `${revision} has no ${name}`),
      ...unfit(Payload.findResult(of, revision), result)
    ]
  }
  return ours.flatMap((message) =>
    faultsOf(message).map((fault) => `to the ${far}: ${fault}: ${JSON.stringify(message).slice(0, 600)}`)
  )
}
