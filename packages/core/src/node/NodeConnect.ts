/**
 * Spawn for servers that run already: a peer over HTTP instead of a process.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { lookup, type LookupAddress, type LookupAllOptions } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"
import * as HttpPeer from "../http/HttpPeer.ts"
import { type Address, isAddress, Spawn, SpawnError } from "../stage/Spawn.ts"
import { Environment } from "./Environment.ts"

/** Addresses that are not of the public network (RFC 6890): what a name must not lead to unless the operator says so. */
const nearby = new BlockList()
for (
  const [net, bits] of [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["224.0.0.0", 3]
  ] as const
) nearby.addSubnet(net, bits, "ipv4")
for (
  const [net, bits] of [
    ["::", 128],
    ["::1", 128],
    // What stands for an IPv4 address behind a translator or a relay (RFC 6052, 8215, 3056).
    ["64:ff9b::", 96],
    ["64:ff9b:1::", 48],
    ["2002::", 16],
    ["fc00::", 7],
    ["fe80::", 10],
    ["fec0::", 10],
    ["ff00::", 8]
  ] as const
) nearby.addSubnet(net, bits, "ipv6")

/**
 * Whether an address is none of the public network.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPrivate = (address: string): boolean => {
  const family = isIP(address)
  return family === 0 || nearby.check(address, family === 4 ? "ipv4" : "ipv6")
}

/**
 * Why an address must not be spoken to; `undefined` where it may be: https, or http on this machine (security rule F28).
 *
 * @category guards
 * @since 0.1.0
 */
export const whyNot = (url: string): string | undefined => {
  if (!URL.canParse(url)) return "it is no URL"
  const { hash, hostname, password, protocol, username } = new URL(url)
  if (username !== "" || password !== "") return "it has a name or password in it: give a header instead"
  if (hash !== "") return "it has a fragment"
  if (protocol === "https:") return undefined
  if (protocol !== "http:") return `it begins with ${protocol}`
  return isLoopback(hostname) ? undefined : "what is sent over http can be read on the way: use https"
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** How a name is looked up. */
type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

/**
 * A look-up that gives public addresses alone, so that a name cannot be made to stand for this network. The connection is
 * made to the address that was checked: a name that stands for another one a moment later is not looked up again.
 *
 * @category constructors
 * @since 0.1.0
 */
export const publicOnly = (resolve: Resolve = lookup): LookupFunction => (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0)
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => isPrivate(address))) {
      const why = new Error(`${hostname} stands for an address of a private network`)
      return callback(Object.assign(why, { code: "EPRIVATE" }), "", 0)
    }
    if (options.all === true) return callback(null, addresses)
    return callback(null, first.address, first.family)
  })
}

/** Where the operator has named a network of their own, or this machine, the name may stand for it. */
const isFree = ({ privately, url }: Address): boolean => privately || isLoopback(new URL(url).hostname)

/** Both agents are our own: they know of no proxy that the environment names. */
const client = (launch: Address) =>
  Layer.build(
    NodeHttpClient.layerNodeHttpOptions({
      keepAlive: true,
      ...(isFree(launch) ? {} : { lookup: publicOnly() })
    })
  )

/** Headers that say how the message is sent, or what is in it: they are not for the operator to set. */
const ours = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** Why a header cannot be sent. */
const whyNoHeader = (name: string, variable: string, value: string | undefined): string | undefined =>
  ours.has(name) || name.startsWith("mcp-") || name.startsWith("proxy-")
    ? `the header ${name} is Sallyport's to set`
    : value === undefined
    ? `the variable ${variable}, from which the header ${name} is taken, is not set`
    : value === "" || /[^\t\x20-\x7e]/.test(value)
    ? `the variable ${variable} holds no value for a header: it is empty, or not of printable ASCII characters`
    : undefined

/**
 * What may be set: how long an answer may be silent, and how much of it is read ({@link HttpPeer.Options}).
 *
 * @category models
 * @since 0.1.0
 */
export type Options = Pick<HttpPeer.Options, "idle" | "bytes">

/**
 * Connects to servers that run already, and starts all others as the Spawn below does.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerOptions = (options: Options): Layer.Layer<Spawn, never, Spawn> =>
  Layer.effect(
    Spawn,
    Effect.gen(function*() {
      const spawn = yield* Spawn
      const own = yield* Environment
      return Spawn.of({
        inspect: spawn.inspect,
        connect: Effect.fnUntraced(function*(launch) {
          if (!isAddress(launch)) return yield* spawn.connect(launch)
          const failed = (why: string): SpawnError =>
            new SpawnError({
              kind: "failed",
              command: launch.url,
              message: `${launch.name} was not connected to: ${why}`
            })
          const why = whyNot(launch.url)
          if (why !== undefined) return yield* failed(`its address cannot be used: ${why}`)
          // An address that is no name is never looked up.
          const literal = new URL(launch.url).hostname.replace(/^\[|\]$/g, "")
          if (!isFree(launch) && isIP(literal) !== 0 && isPrivate(literal)) {
            return yield* failed("its address is of a private network")
          }
          const headers: Record<string, string> = {}
          for (const { name, variable } of launch.headers) {
            const value = own[variable]
            const wrong = whyNoHeader(name.toLowerCase(), variable, value)
            if (wrong !== undefined || value === undefined) return yield* failed(wrong ?? "a header has no value")
            headers[name.toLowerCase()] = value
          }
          const context = yield* client(launch)
          const http = yield* Effect.provideContext(HttpClient, context)
          return yield* HttpPeer.make(http, { ...options, who: { client: launch.name }, url: launch.url, headers })
        })
      })
    })
  )

/**
 * {@link layerOptions} with the defaults.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Spawn, never, Spawn> = layerOptions({})
