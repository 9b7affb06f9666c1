/** A server of one's own behind the guard: every call is decided and recorded, and what may not be called is not shown. */
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as Guarded from "@sallyport/core/server/Guarded"
import * as Serve from "@sallyport/core/server/Serve"
import * as Server from "@sallyport/core/server/Server"
import * as Tool from "@sallyport/core/server/Tool"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as PinStore from "@sallyport/core/stage/PinStore"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const notes = new Set<string>()

const list = Tool.make(
  "list_notes",
  { description: "Lists all notes", annotations: { readOnlyHint: true } },
  () => Effect.sync(() => [...notes].join("\n"))
)

const add = Tool.make("add_note", {
  description: "Keeps a note",
  input: Schema.Struct({ text: Schema.NonEmptyString })
}, ({ text }) => Effect.sync(() => void notes.add(text)))

const clear = Tool.make(
  "clear_notes",
  { description: "Throws all notes away", annotations: { destructiveHint: true } },
  () => Effect.sync(() => notes.clear())
)

const gate = Gate.layerTable(
  new Map<string, Gate.Verdict>([
    ["list_notes", Gate.allow],
    ["add_note", Gate.allow],
    ["clear_notes", { _tag: "Refuse", rule: "no-clearing", why: "it cannot be undone", remedy: "ask a person" }]
  ])
)

const state = Config.NonEmptyString("NOTES_STATE")

const ledger = Layer.unwrap(
  Effect.map(state, (folder) => Ledger.layerFile({ directory: `${folder}/ledger`, sync: false }))
)

export default Server.layerDispatch({ name: "notes", version: "1.0.0" }, list, add, clear).pipe(
  Guarded.layer({ server: "notes" }),
  Layer.provide([gate, ledger, PinStore.layerMemory, Serve.layerStderr]),
  Layer.provide(NodeFiles.layer)
)
