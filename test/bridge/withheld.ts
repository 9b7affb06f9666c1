/** What does not work of a host at a server, and why. */
import { type Name, names } from "./features.ts"

/** How host and relay, and relay and server, are connected: where both are not the same, in that order. */
export const ways = ["stdio", "HTTP", "stdio to HTTP"] as const
export type Way = (typeof ways)[number]

export interface Cell {
  readonly host: string
  readonly server: string
  readonly over: Way
  readonly feature: Name
}

/** Rows that say nothing of a side hold for all of it. */
export interface Withheld {
  readonly hosts?: ReadonlyArray<string>
  readonly servers?: ReadonlyArray<string>
  readonly over?: Cell["over"]
  readonly features: ReadonlyArray<Name>
  readonly why: string
}

export const withheld: ReadonlyArray<Withheld> = [
  {
    hosts: ["Effect, 2025-11-25"],
    servers: ["2024-11-05", "2025-03-26", "2025-06-18"],
    features: names,
    why: "this client takes no other revision than the one that it is set to, and the server has an older one"
  },
  {
    servers: ["2024-11-05", "2025-03-26"],
    features: ["structured output", "elicitation"],
    why: "the server's revision has none"
  },
  {
    hosts: ["SDK 1", "SDK 2, legacy"],
    servers: ["Effect"],
    features: ["roots"],
    why: "the server asks with params of null, which is no request of JSON-RPC"
  }
]

/** Why a feature is withheld, where it is. */
export const reason = (cell: Cell): string | undefined =>
  withheld.find(({ features, hosts, over, servers }) =>
    features.includes(cell.feature) && (hosts?.includes(cell.host) ?? true) &&
    (servers?.includes(cell.server) ?? true) &&
    (over === undefined || over === cell.over)
  )?.why
