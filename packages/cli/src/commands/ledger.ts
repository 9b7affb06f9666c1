/**
 * `sallyport ledger`.
 *
 * @since 0.1.0
 */
import * as Command from "effect/cli/Command"
import * as Export from "./ledgerExport.ts"
import * as List from "./ledgerList.ts"
import * as Verify from "./ledgerVerify.ts"

/**
 * `sallyport ledger`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("ledger").pipe(
  Command.withDescription("Read and verify what was recorded"),
  Command.withSubcommands([
    List.list,
    List.show,
    List.tail,
    Verify.verify,
    Export.command,
    Verify.anchor,
    Verify.archive
  ])
)
