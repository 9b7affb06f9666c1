/**
 * Pins in a file that a team shares: what was accepted, without what is of one machine only.
 *
 * **Details**
 *
 * Definitions stand as their servers sent them, with their digests. Of a launch there is what is the same everywhere:
 * command and arguments as given, and which variables are set. Paths and digests of programs, the working folder and
 * values of variables are not in it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Text } from "../wire/Message.ts"
import { define, isInvalid, keyOf, Kind, kinds } from "./Definition.ts"
import { portable } from "./Launch.ts"
import { isServerName } from "./Names.ts"
import type { Pin, Pins } from "./Pins.ts"
import { empty, Resources } from "./Pins.ts"

const Item = Schema.Struct({
  kind: Kind,
  name: Schema.String,
  variant: Schema.String,
  digest: Schema.String,
  text: Text
})

/**
 * What is shared of one server.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Server = Schema.Struct({
  name: Schema.String,
  launch: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
  resources: Schema.optionalKey(Resources),
  items: Schema.Array(Item)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Server = typeof Server.Type

const File = Schema.Struct({ format: Schema.Literal(1), servers: Schema.Array(Server) })

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(File), { onExcessProperty: "error" })

const byOrder = (left: Pin, right: Pin): number =>
  kinds.indexOf(left.kind) - kinds.indexOf(right.kind) ||
  (left.name < right.name ? -1 : left.name > right.name ? 1 : 0) ||
  (left.variant < right.variant ? -1 : left.variant > right.variant ? 1 : 0)

const serverOf = (pins: Pins): Server => {
  const launch = pins.launch === undefined ? pins.expects : portable(pins.launch)
  return {
    name: pins.server,
    ...(launch === undefined ? {} : { launch: launch.fields }),
    ...(pins.resources === undefined ? {} : { resources: pins.resources }),
    items: [...pins.pins].sort(byOrder).map(({ digest, kind, name, text, variant }) => ({
      kind,
      name,
      variant,
      digest,
      text
    }))
  }
}

/**
 * What was accepted of these servers, to be shared: in one order, whatever the order in which it was accepted.
 *
 * @category conversions
 * @since 0.1.0
 */
export const share = (all: ReadonlyArray<Pins>): typeof File.Type => ({
  format: 1,
  servers: [...all].sort((left, right) => left.server < right.server ? -1 : 1).map(serverOf)
})

/** Why what a file says of a server cannot be right; `undefined` where it can. */
const whyServer = ({ items, name }: Server): string | undefined => {
  if (!isServerName(name)) return `${JSON.stringify(name)} cannot be the name of a server`
  const places = new Set<string>()
  for (const item of items) {
    const found = define(item.kind, item.text)
    const where = `${item.kind} ${JSON.stringify(item.name)} of ${name}`
    if (isInvalid(found)) return `${where} is no valid definition: ${found.why}`
    if (found.name !== item.name || found.digest !== item.digest) return `${where} is not what its digest was taken of`
    const place = `${keyOf(item)}\u0000${item.variant}`
    if (places.has(place)) return `${where} is there twice`
    places.add(place)
  }
  return undefined
}

/**
 * Reads such a file. Every digest is taken anew; what is wrong anywhere makes all of it unusable, with why.
 *
 * @category decoding
 * @since 0.1.0
 */
export const read = (text: string): Result.Result<ReadonlyArray<Server>, string> => {
  const file = decode(text)
  if (Result.isFailure(file)) return Result.fail(`it is no file of pins: ${file.failure.message}`)
  const { servers } = file.success
  const names = new Set(servers.map(({ name }) => name))
  if (names.size < servers.length) return Result.fail("a server is in it twice")
  for (const server of servers) {
    const why = whyServer(server)
    if (why !== undefined) return Result.fail(why)
  }
  return Result.succeed(servers)
}

const definitionsOf = ({ items }: Server, at: string): ReadonlyArray<Pin> =>
  items.flatMap(({ kind, text, variant }) => {
    const found = define(kind, text)
    return isInvalid(found) ? [] : [{ ...found, variant, how: "import" as const, at }]
  })

/**
 * The pins of a server that nothing is known of but this file.
 *
 * @category conversions
 * @since 0.1.0
 */
export const pinsOf = (server: Server, at: string): Pins => merge(empty(server.name), server, at).pins

/**
 * What an import comes to: the pins to keep, what is new in them, and how many items were left out, since they were
 * rejected here.
 *
 * @category models
 * @since 0.1.0
 */
export interface Merged {
  readonly pins: Pins
  readonly fresh: ReadonlyArray<Pin>
  readonly left: number
}

/**
 * Accepts what a file says of a server, besides what is accepted already. The launch of another command is no longer
 * accepted: the first one that fits what the file says is, when it is started.
 *
 * @category changing
 * @since 0.1.0
 */
export const merge = (pins: Pins, server: Server, at: string): Merged => {
  const rejected = new Set(pins.rejected.map(({ digest, kind }) => `${kind} ${digest}`))
  const place = (pin: Pin): string => `${keyOf(pin)}\u0000${pin.variant}`
  const known = new Map(pins.pins.map((pin) => [place(pin), pin]))
  const given = definitionsOf(server, at)
  const wanted = given.filter(({ digest, kind }) => !rejected.has(`${kind} ${digest}`))
  const fresh = wanted.filter((pin) => known.get(place(pin))?.digest !== pin.digest)
  const replaced = new Set(fresh.map(place))
  const expects = server.launch === undefined ? undefined : portable({ digest: "", fields: server.launch, loaders: [] })
  const { expects: _, launch, ...rest } = pins
  const stays = launch !== undefined && (expects === undefined || portable(launch).digest === expects.digest)
  return {
    pins: {
      ...rest,
      ...(stays ? { launch } : {}),
      ...(stays || expects === undefined ? {} : { expects }),
      ...(server.resources === undefined ? {} : { resources: server.resources }),
      sighted: kinds,
      pins: [...pins.pins.filter((pin) => !replaced.has(place(pin))), ...fresh]
    },
    fresh,
    left: given.length - wanted.length
  }
}
