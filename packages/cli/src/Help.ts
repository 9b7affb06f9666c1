/**
 * Help in 80 columns, and where it goes: on stdout where it was asked for, else on stderr.
 *
 * @since 0.1.0
 */
import * as CliOutput from "effect/cli/CliOutput"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Output from "./Output.ts"
import { usage } from "./RelayOptions.ts"
import { version } from "./version.ts"

/**
 * What the command says without arguments.
 *
 * @category constants
 * @since 0.1.0
 */
export const overview = `sallyport ${version}: the guarded way between an agent host and its MCP servers

  sallyport relay --name NAME -- COMMAND   stand between a host and a server
  sallyport serve MODULE                   serve tools written in Effect
  sallyport pins list                      what servers offer, and what is held
  sallyport pins diff NAME                 what is held of a server, and why
  sallyport pins accept NAME               accept it, exactly as it is shown
  sallyport policy check                   whether the policy can be used
  sallyport policy explain SERVER TOOL     how a call is decided, and why
  sallyport approvals list                 calls that wait for a person
  sallyport status [NAME]                  how things stand
  sallyport ledger list                    what was decided, what came of it
  sallyport ledger verify                  whether the record still holds
  sallyport quarantine list                results that a check kept back
  sallyport explain --reasons              every reason to refuse something

Put the relay in front of a server's command in the host's configuration. What
the server offers is held until a person has accepted it.

sallyport COMMAND --help says more.`

const plain = CliOutput.defaultFormatter({ colors: false })

const rows = (rows: ReadonlyArray<readonly [string, string]>): string => {
  const width = Math.min(24, Math.max(...rows.map(([left]) => left.length)) + 2)
  return rows.flatMap(([left, right]) => {
    const lines = Output.wrapped(right, " ".repeat(width + 2)).split("\n")
    const first = lines[0]?.slice(width + 2) ?? ""
    // A long name has a line of its own.
    return left.length + 2 > width
      ? [`  ${left}`, ...lines]
      : [`  ${left.padEnd(width)}${first}`.trimEnd(), ...lines.slice(1)]
  }).join("\n")
}

/** In our words, and narrower. */
const everywhere: ReadonlyMap<string, readonly [type: string, says: string]> = new Map([
  ["help", ["", "this text"]],
  ["version", ["", "the version"]],
  ["completions", [" SHELL", "completions for bash, zsh, fish or powershell"]]
])

const flagRow = (flag: HelpDoc.FlagDoc): readonly [string, string] => {
  const [type, says] = everywhere.get(flag.name) ??
    [flag.type === "boolean" ? "" : ` ${flag.type}`, Option.getOrElse(flag.description, () => "")]
  return [`${[...flag.aliases, `--${flag.name}`].join(", ")}${type}`, says]
}

/**
 * Draws the help of a command.
 *
 * @category conversions
 * @since 0.1.0
 */
export const draw = (doc: HelpDoc.HelpDoc): string => {
  const subcommands = (doc.subcommands ?? []).flatMap(({ commands }) =>
    commands.map((each) => [each.name, each.shortDescription ?? each.description] as const)
  )
  const args = (doc.args ?? []).map((arg) =>
    [`${arg.name}${arg.variadic ? "..." : ""}`, Option.getOrElse(arg.description, () => "")] as const
  )
  const examples = (doc.examples ?? []).map(({ command, description }) => [command, description ?? ""] as const)
  const parts = [
    Output.wrapped(`Usage: ${doc.usage}`),
    Output.wrapped(doc.description),
    subcommands.length === 0 ? "" : `Commands:\n${rows(subcommands)}`,
    args.length === 0 ? "" : `Arguments:\n${rows(args)}`,
    doc.flags.length === 0 ? "" : `Options:\n${rows(doc.flags.map(flagRow))}`,
    (doc.globalFlags ?? []).length === 0 ? "" : `Everywhere:\n${rows((doc.globalFlags ?? []).map(flagRow))}`,
    examples.length === 0
      ? ""
      : `Examples:\n${examples.map(([command, says]) => `  ${command}\n      ${says}`).join("\n")}`
  ]
  return parts.filter((part) => part !== "").join("\n\n")
}

/**
 * Prints help and version.
 *
 * @category printing
 * @since 0.1.0
 */
export const presenter: CliOutput.Presenter = {
  present: (event) => {
    switch (event._tag) {
      case "Version":
        return Console.log(`${event.name} ${event.version}`)
      case "Help":
        return event.reason === "Requested" ? Console.log(draw(event.helpDoc)) : Console.error(draw(event.helpDoc))
      case "InvalidInvocation": {
        // What is wrong comes last, where the eye is.
        const errors = event.errors.map((error) => `sallyport: ${plain.formatCliError(error)}`)
        return Console.error(`${draw(event.helpDoc)}\n\n${errors.join("\n")}`)
      }
    }
  }
}

/**
 * The help of the relay. On stderr, as everything it says to a person: its stdout is a host's.
 *
 * @category printing
 * @since 0.1.0
 */
export const relay: Effect.Effect<void> = Console.error(usage.trimEnd())
