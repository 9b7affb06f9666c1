/**
 * `sallyport pins`: review of what servers offer.
 *
 * @since 0.1.0
 */
import * as Command from "effect/cli/Command"
import * as Accept from "./pinsAccept.ts"
import * as List from "./pinsList.ts"
import * as Lock from "./pinsLock.ts"
import * as Reject from "./pinsReject.ts"
import * as Share from "./pinsShare.ts"
import * as Show from "./pinsShow.ts"

/**
 * `sallyport pins`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("pins").pipe(
  Command.withDescription("Look at what servers offer, and accept it"),
  Command.withSubcommands([
    List.command,
    Show.show,
    Show.diff,
    Accept.command,
    Reject.reject,
    Reject.forget,
    Share.share,
    Share.take,
    Lock.command
  ])
)
