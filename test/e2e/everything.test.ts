/** The official server that has everything. */
import { compare } from "./support/compare.ts"
import * as scripts from "./support/scripts.ts"
import * as servers from "./support/servers.ts"

const elicited = { name: "Ada", check: true, email: "ada@example.com", untitledSingleSelectEnum: "Monica", integer: 42 }

compare([
  {
    name: "server-everything",
    answers: { elicited },
    prepare: () => ({ launch: servers.everything(), play: scripts.everything })
  },
  {
    name: "server-everything, with tasks,",
    kinds: ["sdk1"],
    answers: { elicited: { interpretation: "snake" } },
    prepare: () => ({ launch: servers.everything(), play: scripts.tasks })
  }
])
