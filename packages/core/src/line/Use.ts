/**
 * What a request of the host's uses of the server: it waits until that is known, and goes on only where it is accepted.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Nested from "../protocol/Nested.ts"
import type { Call } from "../stage/Port.ts"
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import type { Decision } from "./Decision.ts"
import type { Flights } from "./Flights.ts"
import type { Listed, Standing } from "./Offer.ts"
import type { Offers } from "./Offers.ts"
import * as Refusal from "./Refusal.ts"
import type { start } from "./Start.ts"

/** How long a call waits for a listing before it is refused. */
const limit = "5 seconds"

/**
 * What this needs of the line around it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly server: string
  readonly offers: Offers
  readonly flights: Flights
  readonly refuse: Decision["refuse"]
  readonly run: ReturnType<typeof start<never>>
  /** What was queued meanwhile is to be sent. */
  readonly turn: () => void
  /** What was looked up may be used: it is decided about. */
  readonly decide: (call: Call, name: string | undefined, pin: string | undefined, definition: Text | undefined) => void
}

const tools = ["tool"] as const
const prompts = ["prompt"] as const
const resources = ["resource", "template"] as const

/** What is looked up for a request: in which listings, under which name, and how it stands. */
interface Wanted {
  readonly kinds: ReadonlyArray<Listed>
  readonly name: string | undefined
  readonly find: (offers: Offers) => Standing
}

/**
 * Looks up what a request uses, and decides. False where the method uses nothing of what is listed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): (call: Call) => boolean => {
  const { decide, flights, offers, refuse, run, server, turn } = options

  const look = (call: Call, wanted: Wanted): void => {
    const { kinds, name } = wanted
    const fault = offers.fault(kinds)
    if (fault !== undefined) {
      refuse("host", call, name, "listing-failed", fault)
      for (const kind of kinds) offers.of(kind).refresh("asked")
      return
    }
    const standing = wanted.find(offers)
    if (standing._tag === "Shut") {
      const { reason } = standing
      return refuse("host", call, name, reason, Refusal.failure(reason, { server, item: name }))
    }
    const variant = kinds !== resources && standing.definition !== undefined
      ? Nested.variantInArguments(call.params, standing.definition)
      : undefined
    if (variant !== undefined) {
      const more = `at /params${variant}`
      return refuse("host", call, name, "case-variant", Refusal.failure("case-variant", { server, item: name, more }))
    }
    decide(call, name, standing.pin, standing.definition)
  }

  const wait = (call: Call, wanted: Wanted): void => {
    const { kinds, name } = wanted
    const over = (): void => {
      for (const give of giving) give()
      stop()
    }
    const giving = kinds.map((kind) =>
      offers.of(kind).whenSettled(() => {
        if (!kinds.every((kind) => offers.of(kind).settled())) return
        over()
        if (!flights.unpark(call)) return
        look(call, wanted)
        flights.left()
      })
    )
    const stop = run(Effect.sleep(limit), (exit) => {
      if (!Exit.isSuccess(exit) || !flights.unpark(call)) return
      for (const give of giving) give()
      refuse("host", call, name, "listing-late", Refusal.failure("listing-late", { server, item: name }))
      flights.left()
      turn()
    })
    flights.park(call, over)
  }

  return (call) => {
    const wanted = wantedBy(call)
    if (wanted === undefined) return false
    if (wanted === "unreadable") {
      refuse("host", call, undefined, "bad-params", Refusal.failure("bad-params", { server }))
    } else if (offers.settled(wanted.kinds)) look(call, wanted)
    else wait(call, wanted)
    return true
  }
}

const wantedBy = ({ method, params }: Call): Wanted | "unreadable" | undefined => {
  switch (method) {
    case "tools/call":
      return of(tools, stringIn(params, "name"), (name) => (offers) => offers.tool(name))
    case "prompts/get":
      return of(prompts, stringIn(params, "name"), (name) => (offers) => offers.prompt(name))
    case "resources/read":
    case "resources/subscribe":
      return of(resources, stringIn(params, "uri"), (uri) => (offers) => offers.resource(uri))
    case "completion/complete": {
      const ref = params === undefined ? undefined : T.member(params, "ref")
      if (params === undefined || ref === undefined || !T.isObject(ref)) return "unreadable"
      const argument = T.member(params, "argument")
      const ofPrompt = stringIn(ref, "type") === "ref/prompt"
      const kinds = ofPrompt ? prompts : resources
      // What is decided about is what the server takes: a reference to a resource may have a name besides.
      const name = stringIn(ref, ofPrompt ? "name" : "uri")
      return { kinds, name, find: (offers) => offers.completion(ref, argument) }
    }
    case "subscriptions/listen": {
      const filter = params === undefined ? undefined : T.member(params, "notifications")
      const list = filter === undefined || !T.isObject(filter) ? undefined : T.member(filter, "resourceSubscriptions")
      if (list === undefined) return undefined
      const uris = T.isArray(list) ? T.elements(list).map(T.string) : [undefined]
      if (uris.length === 0) return undefined
      const [first] = uris
      const find = (offers: Offers): Standing => {
        const all = uris.map((uri): Standing =>
          uri === undefined ? { _tag: "Shut", reason: "bad-params" } : offers.resource(uri)
        )
        return all.find(({ _tag }) => _tag === "Shut") ?? { _tag: "Open", pin: undefined, definition: undefined }
      }
      return { kinds: resources, name: uris.length === 1 ? first : undefined, find }
    }
  }
  return undefined
}

const of = (
  kinds: ReadonlyArray<Listed>,
  name: string | undefined,
  find: (name: string) => Wanted["find"]
): Wanted | "unreadable" => name === undefined ? "unreadable" : { kinds, name, find: find(name) }

/** The string in params, where it is there. */
const stringIn = (params: Text | undefined, member: string): string | undefined => {
  const text = params === undefined ? undefined : T.member(params, member)
  return text === undefined ? undefined : T.string(text)
}
