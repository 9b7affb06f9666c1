/**
 * The command line: everything but `sallyport relay` and `sallyport serve`, which are programs of their own.
 *
 * @since 0.1.0
 */
import type { Files } from "@sallyport/core/store/Files"
import * as Cause from "effect/Cause"
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Ancestry } from "./Ancestry.ts"
import * as Approvals from "./commands/approvals.ts"
import * as Explain from "./commands/explain.ts"
import * as Ledger from "./commands/ledger.ts"
import * as Pins from "./commands/pins.ts"
import * as Policy from "./commands/policy.ts"
import * as Quarantine from "./commands/quarantine.ts"
import * as Status from "./commands/status.ts"
import type { ExitCode } from "./ExitCode.ts"
import * as Help from "./Help.ts"
import type { Person } from "./Person.ts"
import { version } from "./version.ts"

/** Only so that they are listed: the boot file starts other programs for them. */
const relay = Command.make("relay").pipe(
  Command.withDescription("Stand between a host and a server: relay [OPTIONS] -- COMMAND"),
  Command.withShortDescription("Stand between a host and a server")
)
const serve = Command.make("serve").pipe(
  Command.withDescription("Serve tools written in Effect: serve [OPTIONS] MODULE"),
  Command.withShortDescription("Serve tools written in Effect")
)

const root = Command.make("sallyport", {}, () => Console.log(Help.overview)).pipe(
  Command.withDescription("The guarded way between an agent host and its MCP servers"),
  Command.withSubcommands([
    relay,
    serve,
    Pins.command,
    Policy.command,
    Status.command,
    Approvals.command,
    Ledger.command,
    Quarantine.command,
    Explain.command
  ])
)

const runCommand = Command.runWith(root, { version })

const layer = Layer.mergeAll(
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  CliOutput.layerPresenter(Help.presenter)
)

const say = (message: string): Effect.Effect<void> => Console.error(`sallyport: ${message}`)

const failed = (message: string): Effect.Effect<ExitCode> => Effect.as(say(message), 1)

/**
 * Runs a command line, given without the program's name, and gives its exit code. All that goes wrong is a sentence on
 * stderr.
 *
 * @category running
 * @since 0.1.0
 */
export const main = (
  args: ReadonlyArray<string>
): Effect.Effect<ExitCode, never, Ancestry | Files | Person | Command.Environment> => {
  if (args[0] === "relay") return Effect.as(Help.relay, 0)
  return runCommand(args).pipe(
    Effect.as<ExitCode>(0),
    Effect.catchTags({
      Ended: ({ code }) => Effect.succeed(code),
      Failure: ({ message }) => failed(message),
      PinStoreError: ({ message }) => failed(message),
      LedgerError: ({ message }) => failed(message),
      QuarantineError: ({ message }) => failed(message),
      ApprovalsError: ({ message }) => failed(message),
      FilesError: ({ message }) => failed(message),
      // Without errors it is a group of commands without a command.
      ShowHelp: () => Effect.succeed<ExitCode>(2)
    }),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : failed(`this is a fault of Sallyport's own: ${String(Cause.squash(cause))}; please report it`)
    ),
    Effect.provide(layer)
  )
}
