/**
 * A server with something of everything that the protocol has, under the names that the official conformance suite
 * calls. Each file shows one side of it.
 */
import type { Revision } from "@sallyport/core/protocol/Revision"
import * as Server from "@sallyport/core/server/Server"
import * as Layer from "effect/Layer"
import * as Asking from "./asking.ts"
import * as Changes from "./changes.ts"
import * as Contents from "./content.ts"
import * as Reading from "./reading.ts"
import * as Schemas from "./schemas.ts"
import * as Tasks from "./tasks.ts"

/** The server, in all revisions or in some of them. */
export const make = (revisions?: ReadonlyArray<Revision>) =>
  Server.layerDispatch(
    {
      name: "everything",
      revisions,
      version: "1.0.0",
      title: "Everything",
      instructions: "A server for tests: its tools do what their names say.",
      cache: { ttl: "1 minute", scope: "public" }
    },
    ...Contents.parts,
    ...Asking.parts,
    ...Schemas.parts,
    ...Changes.parts,
    ...Reading.parts,
    ...Tasks.parts,
    Asking.prompt
  ).pipe(Layer.provide(Changes.Memory.layer))

export default make()
