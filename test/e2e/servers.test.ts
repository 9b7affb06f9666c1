/** The other official servers, and servers made with each SDK. */
import { join } from "node:path"
import { compare } from "./support/compare.ts"
import * as Host from "./support/Host.ts"
import * as scripts from "./support/scripts.ts"
import * as servers from "./support/servers.ts"

compare([
  {
    name: "server-filesystem",
    prepare: (folder) => ({ launch: servers.filesystem(folder), play: scripts.filesystem(folder) })
  },
  {
    name: "server-memory",
    prepare: (folder) => ({ launch: servers.memory(join(folder, "graph.jsonl")), play: scripts.memory })
  },
  { name: "server-sequential-thinking", prepare: () => ({ launch: servers.thinking(), play: scripts.thinking }) },
  {
    name: "a server of SDK 1",
    answers: { roots: "hang" },
    prepare: () => ({ launch: servers.sdk1(), play: scripts.sdk1 })
  },
  {
    name: "a legacy server of SDK 2",
    answers: { elicited: { sure: true } },
    prepare: () => ({ launch: servers.sdk2("legacy"), play: scripts.sdk2 })
  },
  {
    name: "a dual server of SDK 2",
    kinds: Host.kinds,
    answers: { elicited: { sure: true } },
    prepare: () => ({ launch: servers.sdk2("dual"), play: scripts.sdk2 })
  },
  {
    name: "a modern server of SDK 2",
    kinds: ["sdk2-auto", "sdk2-pin"],
    answers: { elicited: { sure: true } },
    prepare: () => ({ launch: servers.sdk2("modern"), play: scripts.sdk2 })
  }
])
