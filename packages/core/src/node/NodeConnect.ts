/**
 * Spawn for servers that run already: a peer over HTTP instead of a process.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { lookup } from "node:dns"
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
for (const [net, bits] of [["::", 128], ["::1", 128], ["fc00::", 7], ["fe80::", 10], ["ff00::", 8]] as const) {
  nearby.addSubnet(net, bits, "ipv6")
}

/**
 * Whether an address is none of the public network.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPrivate = (address: string): boolean => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return nearby.check(mapped, "ipv4")
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

/**
 * A look-up that gives public addresses alone, so that a name cannot be made to stand for this network. The connection is
 * made to the address that was checked.
 */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0)
    const [first] = addresses
    if (first === undefined || addresses.some(({ address }) => isPrivate(address))) {
      return callback(new Error(`${hostname} stands for an address of a private network`), "", 0)
    }
    if (options.all === true) return callback(null, addresses)
    return callback(null, first.address, first.family)
  })
}

const client = (launch: Address) => {
  const free = launch.privately || isLoopback(new URL(launch.url).hostname)
  return Layer.build(
    NodeHttpClient.layerNodeHttpOptions({
      keepAlive: true,
      ...(free ? {} : { lookup: publicOnly })
    })
  )
}

/**
 * Connects to servers that run already, and starts all others as `spawn` does.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Spawn, never, Spawn> = Layer.effect(
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
            message: `${launch.name} was not connected to: ${launch.url}: ${why}`
          })
        const why = whyNot(launch.url)
        if (why !== undefined) return yield* failed(why)
        const headers: Record<string, string> = {}
        for (const { name, variable } of launch.headers) {
          const value = own[variable]
          if (value === undefined) return yield* failed(`${variable}, from which ${name} is taken, is not set`)
          headers[name.toLowerCase()] = value
        }
        const context = yield* client(launch)
        const http = yield* Effect.provideContext(HttpClient, context)
        return yield* HttpPeer.make(http, { who: { client: launch.name }, url: launch.url, headers })
      })
    })
  })
)
