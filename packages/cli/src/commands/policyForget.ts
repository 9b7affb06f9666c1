/**
 * `sallyport policy forget`.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import { Ledger } from "@sallyport/core/stage/Ledger"
import * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import * as Effect from "effect/Effect"
import * as Ancestry from "../Ancestry.ts"
import { Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"
import type * as State from "../State.ts"

const nothing = (why: string): Failure => new Failure({ message: `nothing was forgotten: ${why}` })

/**
 * Forgets, for a person at the terminal, which policy a server was under, so that it may be started without one.
 *
 * **Details**
 *
 * It is in the ledger before it is done, so an entry without its effect is possible where the process is ended in
 * between, the other way round it is not.
 *
 * @category running
 * @since 0.1.0
 */
export const run = Effect.fnUntraced(function*(state: State.State, server: string, json: boolean) {
  const parents = yield* (yield* Ancestry.Ancestry).parents
  const refused = Ancestry.refusal(parents, true)
  if (refused !== undefined) return yield* nothing(refused)
  const directory = `${state.folder}/policies`
  const used = (yield* PolicyUse.servers(directory)).includes(server)
    ? yield* PolicyUse.load(directory, server)
    : undefined
  if (used === undefined) return yield* nothing(`${Visible.name(server)} was under no policy`)
  const answer = yield* (yield* Person).ask(
    `${server} was under the policy ${used.file === "" ? "of an unreadable record" : Visible.line(used.file)}.\n` +
      "Where that file is not there, every call of it is allowed from its next start on.\n\n",
    "Type forget to forget it; anything else changes nothing: "
  ).pipe(Effect.catchTag("NoTerminal", () =>
    Effect.fail(
      nothing(
        "this asks a person on a terminal, and there is none here; a person must do it, in a terminal of their own"
      )
    )))
  if (answer?.trim() !== "forget") return yield* nothing("the answer was not forget")
  const ledger = yield* Ledger
  ledger.append({
    type: "policy",
    server,
    file: used.file,
    was: used.digest,
    why: "a person had it forgotten"
  })
  yield* Effect.mapError(ledger.commit, (error) => nothing(error.message))
  yield* PolicyUse.forget(directory, server)
  yield* json
    ? Output.printJson({ server, file: used.file, digest: used.digest })
    : Output.print(`Forgotten: ${server} may be started without a policy.`)
})
