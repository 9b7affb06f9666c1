/**
 * `sallyport explain --reasons`: every reason to refuse something.
 *
 * @since 0.1.0
 */
import { table } from "@sallyport/core/wire/Reason"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"
import * as State from "../State.ts"

const reasons = Object.entries(table).map(([name, { code, remedy, says }]) => ({ name, code, says, remedy }))

const draw = ({ code, name, remedy, says }: (typeof reasons)[number]): string =>
  [`${name} (${code})`, Output.wrapped(says, "  "), Output.wrapped(`-> ${remedy}`, "  ")].join("\n")

/**
 * `sallyport explain`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make(
  "explain",
  {
    reasons: Flag.Boolean("reasons").pipe(
      Flag.withDescription("every reason: its name, its JSON-RPC code, what happened, what to do"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    json: State.json
  },
  ({ json }) => json ? Output.printJson({ reasons }) : Output.print(reasons.map(draw).join("\n\n"))
).pipe(
  Command.validate(({ reasons }) =>
    reasons ? Effect.void : Effect.fail(new CliError.ValidationError({ message: "say what to explain: --reasons" }))
  ),
  Command.withDescription("Explain why things are refused")
)
