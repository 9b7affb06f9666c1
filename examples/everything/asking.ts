/**
 * Tools that ask the client. One handler serves every revision: before 2026-07-28 an ask is a request of the server's
 * own, from then on it is the result of the call, which the client sends again with the answers.
 */
import * as Ask from "@sallyport/core/server/Ask"
import * as Client from "@sallyport/core/server/Client"
import * as Prompt from "@sallyport/core/server/Prompt"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Name = Schema.Struct({ name: Schema.String.annotate({ description: "What you are called" }) })

const name = Ask.form({ message: "What is your name?", schema: Name })

const told = <A>(answer: Ask.Filled<A>): string =>
  answer.action === "accept" ? `accept ${JSON.stringify(answer.content)}` : answer.action

/** Asks one form and tells how it was answered. */
const telling = (form: Ask.Ask<Ask.Filled<unknown>>) =>
  Effect.map(Client.ask({ form }), ({ form }) => `The person answered: ${told(form)}`)

// ---- asked in any revision

const sampling = Tool.make("test_sampling", {
  description: "Has the client's model answer",
  input: Schema.Struct({ prompt: Schema.String })
}, ({ prompt }) =>
  Effect.map(
    Client.ask({ answer: Ask.sampling({ messages: prompt, maxTokens: 100 }) }),
    ({ answer }) => `The model said: ${answer.text}`
  ))

const elicitation = Tool.make("test_elicitation", {
  description: "Asks the person for a name and an address",
  input: Schema.Struct({ message: Schema.String })
}, ({ message }) =>
  telling(Ask.form({
    message,
    schema: Schema.Struct({
      username: Schema.String.annotate({ description: "The name to use" }),
      email: Schema.String.annotate({ description: "Where to write to", format: "email" })
    })
  })))

const defaults = Tool.make(
  "test_elicitation_sep1034_defaults",
  { description: "Asks with a default for every kind of field" },
  () =>
    telling(Ask.form({
      message: "Please check these values",
      schema: Schema.Struct({
        name: Schema.String.annotate({ default: "John Doe" }),
        age: Schema.Int.annotate({ default: 30 }),
        score: Schema.Finite.annotate({ default: 95.5 }),
        status: Schema.Literals(["active", "inactive", "pending"]).annotate({ default: "active" }),
        verified: Schema.Boolean.annotate({ default: true })
      })
    }))
)

const titled = (...values: ReadonlyArray<readonly [value: string, title: string]>) =>
  values.map(([value, title]) => ({ const: value, title }))

// Titles of choices are nothing that a schema has, so the form is given as the person is to see it.
const enums = Tool.make(
  "test_elicitation_sep1330_enums",
  { description: "Asks with every kind of choice" },
  () =>
    telling(Ask.form({
      message: "Please choose",
      schema: Schema.Struct({
        untitledSingle: Schema.String,
        titledSingle: Schema.String,
        legacyEnum: Schema.String,
        untitledMulti: Schema.Array(Schema.String),
        titledMulti: Schema.Array(Schema.String)
      }),
      requestedSchema: {
        type: "object",
        properties: {
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: {
            type: "string",
            oneOf: titled(["value1", "First Option"], ["value2", "Second Option"], ["value3", "Third Option"])
          },
          legacyEnum: {
            type: "string",
            enum: ["opt1", "opt2", "opt3"],
            enumNames: ["Option One", "Option Two", "Option Three"]
          },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: {
            type: "array",
            items: {
              anyOf: titled(["value1", "First Choice"], ["value2", "Second Choice"], ["value3", "Third Choice"])
            }
          }
        }
      }
    }))
)

// ---- the same asks, under the names that tests of 2026-07-28 know

const greeting = Tool.make(
  "test_input_required_result_elicitation",
  { description: "Asks for a name and greets" },
  () =>
    Effect.map(
      Client.ask({ user_name: name }),
      ({ user_name }) => user_name.action === "accept" ? `Hello, ${user_name.content.name}!` : "Hello, whoever you are!"
    )
)

const capital = Tool.make(
  "test_input_required_result_sampling",
  { description: "Asks a model for a capital" },
  () =>
    Effect.map(
      Client.ask({ capital_question: Ask.sampling({ messages: "What is the capital of France?", maxTokens: 100 }) }),
      ({ capital_question }) => capital_question.text
    )
)

const folders = Tool.make(
  "test_input_required_result_list_roots",
  { description: "Asks for the client's roots" },
  () =>
    Effect.map(
      Client.ask({ client_roots: Ask.roots }),
      ({ client_roots }) => `The client's roots: ${client_roots.map(({ uri }) => uri).join(", ")}`
    )
)

const confirm = Ask.form({ message: "Please confirm", schema: Schema.Struct({ ok: Schema.Boolean }) })

/**
 * What the server knows between two rounds travels with the client, sealed: a client that changes it gets an error, so
 * a handler that runs again knows that its own values came back.
 */
const stateful = (name: string, description: string) =>
  Tool.make(name, { description }, () =>
    Effect.gen(function*() {
      const began = yield* Client.once("began", Schema.String, Effect.succeed("state-ok"))
      const { confirm: answer } = yield* Client.ask({ confirm })
      return answer.action === "accept" && answer.content.ok ? began : `${began}, but not confirmed`
    }))

const several = Tool.make(
  "test_input_required_result_multiple_inputs",
  { description: "Asks three things at once" },
  () =>
    Effect.gen(function*() {
      const { client_roots, greeting, user_name } = yield* Client.ask({
        user_name: name,
        greeting: Ask.sampling({ messages: "Generate a greeting", maxTokens: 50 }),
        client_roots: Ask.roots
      })
      return `${told(user_name)}; ${greeting.text}; ${client_roots.length} roots`
    })
)

const rounds = Tool.make(
  "test_input_required_result_multi_round",
  { description: "Asks twice, one after another" },
  () =>
    Effect.gen(function*() {
      const { step1 } = yield* Client.ask({ step1: Ask.form({ message: "Step 1: What is your name?", schema: Name }) })
      const { step2 } = yield* Client.ask({
        step2: Ask.form({
          message: "Step 2: What is your favorite color?",
          schema: Schema.Struct({ color: Schema.String })
        })
      })
      return `${told(step1)}; ${told(step2)}`
    })
)

// Asks what this client can be asked, and nothing else.
const able = Tool.make(
  "test_input_required_result_capabilities",
  { description: "Asks what the client can answer" },
  () =>
    Effect.gen(function*() {
      const greeting = Ask.sampling({ messages: "Generate a greeting", maxTokens: 50 })
      if (yield* Client.supports(greeting)) return (yield* Client.ask({ greeting })).greeting.text
      if (yield* Client.supports(name)) return told((yield* Client.ask({ user_name: name })).user_name)
      return "This client can be asked nothing"
    })
)

// Where the client did not declare what an ask takes, the handler ends with an error that says so.
const needed = Tool.make(
  "test_missing_capability",
  { description: "Cannot do without the client's model" },
  () =>
    Effect.map(
      Client.ask({ answer: Ask.sampling({ messages: "Say yes", maxTokens: 10 }) }),
      ({ answer }) => answer.text
    )
)

const streaming = Tool.make(
  "test_streaming_elicitation",
  { description: "Tells of its progress, then asks" },
  () =>
    Effect.gen(function*() {
      yield* Client.progress(1, 2, "about to ask")
      const { user_name } = yield* Client.ask({ user_name: name })
      yield* Client.progress(2, 2, "answered")
      return told(user_name)
    })
)

/** A prompt can ask as well. */
export const prompt = Prompt.make(
  "test_input_required_result_prompt",
  { description: "Asks for its context" },
  () =>
    Effect.map(
      Client.ask({
        user_context: Ask.form({
          message: "What context should the prompt use?",
          schema: Schema.Struct({ context: Schema.String })
        })
      }),
      ({ user_context }) =>
        user_context.action === "accept" ? `Use this context: ${user_context.content.context}` : "Use no context"
    )
)

export const parts = [
  sampling,
  elicitation,
  defaults,
  enums,
  greeting,
  capital,
  folders,
  stateful("test_input_required_result_request_state", "Keeps a value with the client while it asks"),
  stateful("test_input_required_result_tampered_state", "Refuses a kept value that was changed"),
  several,
  rounds,
  able,
  needed,
  streaming
] as const
