/** What a client saw of a server, in a form that two runs can be compared in. */
import type { Host } from "./Host.ts"
import type { Message } from "./Tap.ts"

export interface Transcript {
  /** What the client's methods gave, in the order of the script. */
  readonly steps: ReadonlyArray<readonly [step: string, outcome: unknown]>
  /** What each request of the client was answered, in the order they were sent. */
  readonly answers: ReadonlyArray<readonly [request: string, answer: unknown]>
  /** What the server asked the client: in no order, since it asks when it likes. */
  readonly asks: ReadonlyArray<unknown>
  /** What the server told, by kind: the order of kinds that are independent of each other does not count. */
  readonly notices: Readonly<Record<string, ReadonlyArray<unknown>>>
}

/** A script in progress: each step is kept with what came of it, also where that is an error. */
export class Script {
  readonly steps: Array<readonly [step: string, outcome: unknown]> = []
  /** Requests that a test decides about by itself, because the relay answers them on purpose otherwise. */
  readonly decided = new Set<string | number>()
  /** Requests that were cancelled: what still comes for them depends on who was faster. */
  readonly cancelled = new Set<string | number>()
  readonly host: Host

  constructor(host: Host) {
    this.host = host
  }

  async step<A>(name: string, work: () => Promise<A>): Promise<A | undefined> {
    try {
      const outcome = await work()
      this.steps.push([name, outcome])
      return outcome
    } catch (error) {
      this.steps.push([name, failure(error)])
      return undefined
    }
  }

  /** A step that the relay may answer in its own words: of its failure only what `kept` takes is compared. */
  async decision(
    name: string,
    work: () => Promise<unknown>,
    kept: (failed: Readonly<Record<string, unknown>>) => unknown
  ): Promise<unknown> {
    const before = this.host.tap.sent.length
    const outcome = await work().catch(failure)
    for (const { id } of this.host.tap.sent.slice(before)) if (id !== undefined) this.decided.add(id)
    const { failed } = outcome as { failed?: Readonly<Record<string, unknown>> }
    this.steps.push([name, failed === undefined ? outcome : { failed: kept(failed) }])
    return outcome
  }

  transcript(): Transcript {
    const { received, sent } = this.host.tap
    const requests = sent.filter((message) => message.method !== undefined && message.id !== undefined)
    const tokens = new Map<unknown, string | number>()
    for (const { id, params } of requests) {
      const token = (params?.["_meta"] as Record<string, unknown> | undefined)?.["progressToken"]
      if (token !== undefined && id !== undefined) tokens.set(token, id)
    }
    const answers = requests.filter(({ id }) => id !== undefined && !this.decided.has(id)).map((request) => {
      const found = received.filter((message) => message.id === request.id && message.method === undefined)
      return [
        `${request.method} ${typeof request.params?.["name"] === "string" ? request.params["name"] : ""}`.trim(),
        request.id !== undefined && this.cancelled.has(request.id) ? "cancelled" : found.map(body)
      ] as const
    })
    const asks = received.filter((message) => message.method !== undefined && message.id !== undefined)
      .map(({ method, params }) => ({ method, params }))
    const notices: Record<string, Array<unknown>> = {}
    for (const { id, method, params } of received) {
      if (method === undefined || id !== undefined) continue
      const request = tokens.get(params?.["progressToken"])
      if (request !== undefined && this.cancelled.has(request)) continue
      // Announcements of change say nothing but that there was one: how many came together does not count.
      if (method.endsWith("/list_changed")) notices[method] = [params]
      // What server-everything draws by lot.
      else if (/level[- ]message/.test(String(params?.["data"]))) notices["drawn by lot"] = []
      else (notices[method] ??= []).push(params)
    }
    return normalized({ steps: this.steps, answers, asks: sorted(asks), notices }) as Transcript
  }
}

const body = ({ error, result }: Message): unknown => error === undefined ? { result } : { error }

const sorted = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.map((value) => [JSON.stringify(normalized(value)), value] as const)
    .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0)
    .map(([, value]) => value)

/** An error of a client, by all that a program could look at. */
export const failure = (error: unknown): { readonly failed: Readonly<Record<string, unknown>> } => {
  const { code, data, message, name } = error as { code?: unknown; data?: unknown; message?: unknown; name?: unknown }
  return { failed: { name, code, message, data } }
}

/** The error that a request must be answered with. */
export const refusal = async (work: Promise<unknown>): Promise<Readonly<Record<string, unknown>>> => {
  const outcome = await work.then(() => undefined, failure)
  if (outcome === undefined) throw new Error("nothing was refused")
  return outcome.failed
}

const patterns: ReadonlyArray<readonly [pattern: RegExp, shown: string]> = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, "TIMESTAMP"],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4} \([^)]*\)/g, "TIMESTAMP"],
  [/\b\d{1,2}:\d\d:\d\d(?: [AP]M)?/g, "TIME"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UUID"],
  [/\b[0-9a-f]{32}\b/g, "RANDOM"]
]

/** Without what differs between any two runs: times, random ids. */
export const normalized = (value: unknown): unknown => {
  if (typeof value === "string") {
    // A blob of server-everything's: it holds a time.
    const plain = value.startsWith("UmVzb3VyY2Ug") ? Buffer.from(value, "base64").toString("utf8") : value
    return patterns.reduce((text, [pattern, shown]) => text.replace(pattern, shown), plain)
  }
  if (Array.isArray(value)) return value.map(normalized)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, normalized(member)]))
}

/** Why the relay refuses what a server would have said is not there. */
const refusals: ReadonlySet<unknown> = new Set(["unlisted-resource", "unknown-item", "unknown-task"])

/**
 * Without the few things that the relay changes: it can announce an acceptance, so it says that what is listed may
 * change; it says which server asks a person (F15); and what is not there it refuses itself (F23).
 */
export const mediated = (transcript: Transcript): Transcript => {
  const copy = structuredClone(transcript)
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const { capabilities, data, message } = value as {
      readonly capabilities?: Record<string, { listChanged?: boolean }>
      readonly data?: { readonly reason?: unknown }
      readonly message?: unknown
    }
    for (const name of ["tools", "prompts", "resources"]) {
      const listed = capabilities?.[name]
      if (typeof listed === "object") listed.listChanged = true
    }
    if (typeof message === "string") {
      const refused = refusals.has(data?.reason) || /not found/i.test(message)
      Object.assign(
        value,
        refused
          ? { code: "REFUSED", message: "REFUSED", data: "REFUSED" }
          : { message: message.replace(/^Server \S+ asks: /, "") }
      )
    }
    Object.values(value).forEach(visit)
  }
  visit(copy)
  return copy
}
