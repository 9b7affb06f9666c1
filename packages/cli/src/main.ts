/**
 * `sallyport`: everything but the relay.
 *
 * @since 0.1.0
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as NodeMain from "@sallyport/core/node/NodeMain"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ancestry from "./Ancestry.ts"
import * as Cli from "./Cli.ts"
import * as Person from "./Person.ts"

/** A pipe takes what it has room for: the process ends when all of it is read, or when nobody reads any more. */
const drained = Effect.callback<void>((resume) => {
  if (process.stdout.writableLength === 0) return resume(Effect.void)
  for (const event of ["drain", "error", "close"]) process.stdout.once(event, () => resume(Effect.void))
})

process.stdout.on("error", () => {})

NodeMain.run(
  Cli.main(process.argv.slice(2)).pipe(
    Effect.tap(() => drained),
    Effect.provide(
      Layer.mergeAll(NodeFiles.layer, NodeServices.layer, Ancestry.layerNode, Person.layerTerminal)
    )
  )
)
