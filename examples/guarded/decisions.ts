/** A gate of an application's own: what it keeps of its users decides, and what they may not do is asked or refused. */
import * as Gate from "@sallyport/core/stage/Gate"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** The directory could not be asked. */
export class DirectoryError extends Schema.TaggedError<DirectoryError>("example/DirectoryError")("DirectoryError", {
  message: Schema.String
}) {}

/** Who may do what: a database, a service, anything that an effect can ask. */
export class Directory extends Context.Service<Directory, {
  readonly roleOf: (client: string) => Effect.Effect<"reader" | "writer" | "nobody", DirectoryError>
}>()("example/Directory") {}

const decide = Effect.fnUntraced(function*({ client, method, name }: Gate.Subject) {
  const directory = yield* Directory
  const role = yield* directory.roleOf(client)
  if (role === "writer" || method !== "tools/call" || name === "list_notes") return Gate.allow
  return role === "reader"
    ? { _tag: "Ask", rule: "readers-ask", why: `${client} may only read`, via: "terminal" } as const
    : { _tag: "Refuse", rule: "nobody", why: `${client} is not known`, remedy: "Ask the operator" } as const
})

/** A gate that fails refuses. */
export const gate: Layer.Layer<Gate.Gate, never, Directory> = Gate.layerEffect((subject) =>
  decide(subject).pipe(
    Effect.catchTag("DirectoryError", ({ message }) => Effect.fail(new Gate.GateError({ message })))
  )
)
