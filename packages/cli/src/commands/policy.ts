/**
 * `sallyport policy`. What the commands do is loaded when one is run.
 *
 * @since 0.1.0
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { resolve } from "node:path"
import { ending, Failure } from "../Failure.ts"
import * as State from "../State.ts"

const policy = Flag.String("policy").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("the policy (default: policy.toml)"),
  Flag.optional
)
const config = Flag.String("config").pipe(
  Flag.withMetavar("DIR"),
  Flag.withDescription("where policy.toml is"),
  Flag.optional
)
const common = { config, state: State.flag, json: State.json }

const policies = Effect.promise(() => import("../Policies.ts"))

const check = Command.make(
  "check",
  {
    ...common,
    file: Argument.String("FILE").pipe(Argument.withDescription("default: policy.toml"), Argument.optional)
  },
  ({ config, file, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { fileOf } = yield* policies
      const { run } = yield* Effect.promise(() => import("./policyCheck.ts"))
      return yield* Effect.provide(run(yield* fileOf(file, config), json), opened.pins)
    }))
).pipe(
  Command.withDescription("Check a policy: every problem with its line, exit 1; also against what was accepted"),
  Command.withShortDescription("Check a policy")
)

const explain = Command.make(
  "explain",
  {
    ...common,
    policy,
    client: Flag.String("client").pipe(
      Flag.withMetavar("C"),
      Flag.withDescription("who calls (default: host)"),
      Flag.optional
    ),
    method: Flag.String("method").pipe(
      Flag.withMetavar("M"),
      Flag.withDescription("default: tools/call"),
      Flag.optional
    ),
    args: Flag.String("args").pipe(
      Flag.withMetavar("JSON"),
      Flag.withDescription("the arguments, an object"),
      Flag.optional
    ),
    call: Flag.String("call").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("the whole call as JSON; - reads stdin"),
      Flag.optional
    ),
    server: Argument.String("SERVER").pipe(Argument.optional),
    name: Argument.String("NAME").pipe(
      Argument.withDescription("of the tool or prompt, or a URI"),
      Argument.optional
    )
  },
  ({ args, call, client, config, json, method, name, policy, server, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { callOf, fileOf, given } = yield* policies
      const { run } = yield* Effect.promise(() => import("./policyExplain.ts"))
      const found = yield* given({
        client: Option.getOrUndefined(client),
        method: Option.getOrUndefined(method),
        server: Option.getOrUndefined(server),
        name: Option.getOrUndefined(name),
        args: Option.getOrUndefined(args),
        call: Option.getOrUndefined(call)
      })
      return yield* Effect.provide(run(yield* fileOf(policy, config), callOf(found), json), opened.pins)
    }))
).pipe(
  Command.withDescription("Say how a call is decided, why, and what would allow it; exit 30 where it is denied"),
  Command.withShortDescription("Say how a call is decided, and why"),
  Command.withExamples([{
    command: "sallyport policy explain files write_file --args '{\"path\":\"/srv/notes/a\"}'",
    description: "A call of a tool"
  }])
)

const test = Command.make(
  "test",
  {
    ...common,
    policy,
    file: Argument.String("FILE").pipe(Argument.withDescription("a table of calls, .toml or .json"))
  },
  ({ config, file, json, policy, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { fileOf } = yield* policies
      const { run } = yield* Effect.promise(() => import("./policyTest.ts"))
      return yield* Effect.provide(run(yield* fileOf(policy, config), resolve(file), json), opened.pins)
    }))
).pipe(
  Command.withDescription("Put a table of calls to a policy; exit 1 where one is decided otherwise than expected"),
  Command.withShortDescription("Test a policy with a table of calls")
)

const replay = Command.make(
  "replay",
  { ...common, policy },
  ({ config, json, policy, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { fileOf } = yield* policies
      const { run } = yield* Effect.promise(() => import("./policyReplay.ts"))
      return yield* Effect.provide(run(opened, yield* fileOf(policy, config), json), opened.pins)
    }))
).pipe(
  Command.withDescription("Put what the ledger holds to a policy, and print what it would decide otherwise"),
  Command.withShortDescription("Put the ledger to another policy")
)

const forget = Command.make(
  "forget",
  { state: State.flag, json: State.json, server: Argument.String("SERVER") },
  ({ json, server, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const { run } = yield* Effect.promise(() => import("./policyForget.ts"))
      return yield* run(opened, server, json).pipe(
        Effect.provide(Layer.merge(opened.pins, opened.ledger)),
        Effect.catchTag("LedgerError", (error) =>
          Effect.fail(new Failure({ message: `nothing was forgotten: ${error.message}` })))
      )
    }))
).pipe(
  Command.withDescription(
    "Forget that a server was under a policy. Asks on the terminal; refused below a relay."
  ),
  Command.withShortDescription("Forget that a server was under a policy")
)

/**
 * `sallyport policy`.
 *
 * @category commands
 * @since 0.1.0
 */
export const command = Command.make("policy").pipe(
  Command.withDescription("Check, explain and test what is allowed, asked and denied"),
  Command.withSubcommands([check, explain, test, replay, forget])
)
