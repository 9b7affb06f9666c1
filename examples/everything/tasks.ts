/**
 * Tools that run as tasks: the client gets the name of its call at once, and asks later what came of it. The handlers are
 * those of any tool; where a client or a revision has no tasks, they are called as any tool.
 */
import * as Ask from "@sallyport/core/server/Ask"
import * as Client from "@sallyport/core/server/Client"
import * as Refusal from "@sallyport/core/server/Refusal"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const greet = Tool.make("greet", {
  description: "Greets, at once and never as a task",
  input: Schema.Struct({ name: Schema.String })
}, ({ name }) => Effect.succeed(`Hello, ${name}!`))

const slow = Tool.make(
  "slow_compute",
  {
    description: "Takes its time",
    input: Schema.Struct({
      seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3600 })),
      label: Schema.optionalKey(Schema.String)
    }),
    task: "optional"
  },
  ({ label = "compute", seconds }) =>
    Effect.as(Effect.sleep(`${seconds} seconds`), `${label} was done after ${seconds} s`)
)

const failing = Tool.make(
  "failing_job",
  { description: "Fails after a second", task: "required" },
  () => Effect.andThen(Effect.sleep("1 second"), Effect.fail("This job always fails"))
)

// A model does not see this one: it is an error of the protocol, not of the tool.
const refusing = Tool.make(
  "protocol_error_job",
  { description: "Ends with an error of the protocol", task: "optional" },
  () =>
    Effect.andThen(
      Effect.sleep("100 millis"),
      Effect.fail(new Refusal.Refusal({ code: -32603, message: "This job always breaks" }))
    )
)

// A task waits for its answers; it does not run again as a call does.
const confirm = Tool.make("confirm_delete", {
  description: "Asks before it would delete a file",
  input: Schema.Struct({ filename: Schema.String }),
  task: "optional"
}, ({ filename }) =>
  Effect.gen(function*() {
    const { confirm } = yield* Client.ask({
      confirm: Ask.form({ message: `Delete ${filename}?`, schema: Schema.Struct({ confirm: Schema.Boolean }) })
    })
    return confirm.action === "accept" && confirm.content.confirm ? `Deleted ${filename}` : `Kept ${filename}`
  }))

const several = Tool.make(
  "multi_input",
  { description: "Asks two things at once", task: "optional" },
  () =>
    Effect.gen(function*() {
      const { confirm, name } = yield* Client.ask({
        name: Ask.form({ message: "What is your name?", schema: Schema.Struct({ name: Schema.String }) }),
        confirm: Ask.form({ message: "Are you sure?", schema: Schema.Struct({ confirm: Schema.Boolean }) })
      })
      return `${name.action === "accept" ? name.content.name : "nobody"}: ${confirm.action}`
    })
)

const named = { user_name: Ask.form({ message: "What is your name?", schema: Schema.Struct({ name: Schema.String }) }) }

// What is asked first is asked before there is a task, where the revision has that; the handler asks it all the same.
const composed = Tool.make("test_tool_with_task", {
  description: "Asks for a name, then goes on as a task",
  task: { support: "required", first: named }
}, () =>
  Effect.gen(function*() {
    const { user_name } = yield* Client.ask(named)
    yield* Effect.sleep("200 millis")
    return user_name.action === "accept" ? `Hello, ${user_name.content.name}!` : "Hello, whoever you are!"
  }))

export const parts = [greet, slow, failing, refusing, confirm, several, composed] as const
