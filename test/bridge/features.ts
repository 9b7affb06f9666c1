/** What is tried of every host at every server: each feature by its name, at the servers of two families. */
import { assert } from "@effect/vitest"
import { type Can, type Cannot, cannot, type Client, said } from "../interop/clients.ts"

/** A session of one host with one server. */
export interface Trial {
  readonly client: Client
  /** Whether the server was sent a message with this text in it. */
  readonly sent: (text: string) => boolean
  /** Whether the relay has told the host of something with this text in it. */
  readonly told: (text: string) => boolean
  /** So long is waited for what has to come, in milliseconds. */
  readonly patience: number
}

export type Feature = (trial: Trial) => Promise<Cannot | undefined>

/** The features, in the order of the table's legend. */
export const names = [
  "lists",
  "calls",
  "structured output",
  "progress",
  "cancel",
  "list changes",
  "subscriptions",
  "elicitation",
  "sampling",
  "roots",
  "logging",
  "errors"
] as const
export type Name = (typeof names)[number]

export type Features = Readonly<Record<Name, Feature>>

const until = async (
  { patience }: Trial,
  what: string,
  holds: () => boolean | Promise<boolean>
): Promise<void> => {
  const late = performance.now() + patience
  while (!await holds()) {
    if (performance.now() > late) throw new Error(`not in time: ${what}`)
    await new Promise((resume) => setTimeout(resume, 10))
  }
}

const isCannot = (can: unknown): can is Cannot => typeof can === "object" && can !== null && "cannot" in can

/** The first thing that the client cannot do, or what comes of trying. */
const having = async <A>(can: Can<A>, tries: (can: A) => Promise<unknown>): Promise<Cannot | undefined> => {
  if (isCannot(can)) return can
  await tries(can)
  return undefined
}

const tried = (tries: (trial: Trial) => Promise<unknown>): Feature => async (trial) => {
  await tries(trial)
  return undefined
}

const count = ({ client: { heard } }: Trial, method: string): number =>
  isCannot(heard) ? 0 : heard.filter((each) => each === method).length

const hears = (trial: Trial, method: string): Promise<void> => until(trial, method, () => count(trial, method) > 0)

const failed = (promise: Promise<unknown>): Promise<boolean> => promise.then(() => false, () => true)

/** A client that has none of what is asked is not told of a tool that asks. */
const asked = (call: (client: Client) => Promise<string>, includes: string): Feature => ({ client }) =>
  having(client.answers, async () => assert.include(await call(client), includes))

const texts = (name: string, args: Readonly<Record<string, unknown>> = {}) => async (client: Client) =>
  (await client.call(name, args)).text

/** The servers that have the tools of examples/everything. */
export const common: Features = {
  lists: async ({ client: { prompt, prompts, read, resources, templates, tools } }) => {
    const found = await tools()
    assert.includeMembers([...found], ["test_simple_text", "test_elicitation"])
    assert.strictEqual(new Set(found).size, found.length)
    assert.includeMembers([...await resources()], ["test://static-text", "test://watched-resource"])
    assert.match(await read("test://static-text"), /static text resource/)
    assert.match(await read("test://template/7/data"), /Data for ID: 7/)
    assert.include(await prompts(), "test_prompt_with_arguments")
    assert.match(await prompt("test_prompt_with_arguments", { arg1: "1", arg2: "2" }), /arg1='1', arg2='2'/)
    if (!isCannot(templates)) assert.deepStrictEqual(await templates(), ["test://template/{id}/data"])
    return undefined
  },
  calls: tried(async ({ client }) => {
    assert.match(await texts("test_simple_text")(client), /simple text response/)
  }),
  "structured output": tried(async ({ client }) => {
    assert.deepStrictEqual((await client.call("test_structured_content", { a: 1, b: 2.5 })).structured, { sum: 3.5 })
  }),
  progress: ({ client, told }) =>
    having(client.progress, async (progress) => {
      // Clients may forget who wants to know before they have read all, once the answer is there.
      const steps = await progress("test_tool_with_progress")
      assert.deepStrictEqual(steps, [0, 50, 100].slice(0, steps.length))
      assert.isTrue(told("\"progress\":100"))
    }),
  cancel: tried(async (trial) => {
    const { client, sent } = trial
    await client.cancel("test_wait", { millis: 60_000 }, () => until(trial, "the call", () => sent("\"test_wait\"")))
    await until(trial, "no call waits", async () => (await texts("test_waiting")(client)).includes("{\"calls\":0}"))
  }),
  "list changes": (trial) =>
    having(trial.client.watch, async (watch) => {
      await watch()
      await trial.client.call("test_trigger_tool_change")
      await hears(trial, "notifications/tools/list_changed")
      await trial.client.call("test_trigger_prompt_change")
      await hears(trial, "notifications/prompts/list_changed")
    }),
  subscriptions: (trial) =>
    having(trial.client.watch, async (watch) => {
      await watch("test://watched-resource")
      await trial.client.call("test_touch_watched_resource")
      await hears(trial, "notifications/resources/updated")
    }),
  elicitation: asked(texts("test_elicitation", { message: "Who are you?" }), JSON.stringify(said.form)),
  sampling: asked(texts("test_sampling", { prompt: "The capital of France?" }), said.model),
  roots: asked(texts("test_input_required_result_list_roots"), said.root),
  logging: (trial) =>
    having(trial.client.logged, async (logged) => {
      await logged("test_tool_with_logging")
      await until(trial, "three messages", () => count(trial, "notifications/message") >= 3)
    }),
  errors: tried(async ({ client: { call, read } }) => {
    const { isError, text } = await call("test_error_handling")
    assert.isTrue(isError)
    assert.match(text, /intentionally/)
    assert.isTrue(await failed(read("test://nowhere")))
    assert.isTrue(await call("test_no_such_tool").then(({ isError }) => isError, () => true))
  })
}

/** server-everything, whose tools have names of their own. */
export const everything: Features = {
  lists: async ({ client: { prompt, prompts, read, resources, templates, tools } }) => {
    assert.includeMembers([...await tools()], ["echo", "get-sum", "get-structured-content"])
    const [first = ""] = await resources()
    assert.isNotEmpty(await read(first))
    assert.include(await prompts(), "args-prompt")
    assert.match(await prompt("args-prompt", { city: "Oslo" }), /Oslo/)
    if (!isCannot(templates)) assert.lengthOf(await templates(), 2)
    return undefined
  },
  calls: tried(async ({ client }) => {
    assert.match(await texts("echo", { message: "hello" })(client), /hello/)
  }),
  "structured output": tried(async ({ client }) => {
    const { structured } = await client.call("get-structured-content", { location: "Chicago" })
    assert.deepStrictEqual(structured, { temperature: 36, conditions: "Light rain / drizzle", humidity: 82 })
  }),
  progress: ({ client, told }) =>
    having(client.progress, async (progress) => {
      // The answer comes right behind the last step, which clients may not tell any more; the one of SDK 2 tells of each
      // round of questions too, and the server asks for roots soon after it was opened: a parked call has no progress.
      const steps = await progress("trigger-long-running-operation", { duration: 0.2, steps: 4 })
      assert.includeMembers([1, 2, 3, 4], [...steps])
      assert.isTrue(told("\"method\":\"notifications/progress\""))
    }),
  cancel: tried(async (trial) => {
    const { client, sent } = trial
    const args = { duration: 30, steps: 3 }
    await client.cancel(
      "trigger-long-running-operation",
      args,
      () => until(trial, "the call", () => sent("\"duration\":30"))
    )
    await until(trial, "it is told", () => sent("notifications/cancelled"))
  }),
  "list changes": async () => cannot("the server's lists do not change"),
  subscriptions: (trial) =>
    having(trial.client.watch, async (watch) => {
      await watch("demo://resource/dynamic/text/1")
      await trial.client.call("toggle-subscriber-updates")
      await hears(trial, "notifications/resources/updated")
      await trial.client.call("toggle-subscriber-updates")
    }),
  elicitation: asked(texts("trigger-elicitation-request"), said.form.email),
  sampling: asked(texts("trigger-sampling-request", { prompt: "The capital of France?", maxTokens: 10 }), said.model),
  roots: asked(texts("get-roots-list"), said.root),
  logging: (trial) =>
    having(trial.client.logged, async (logged) => {
      await logged("toggle-simulated-logging")
      await hears(trial, "notifications/message")
    }),
  errors: tried(async ({ client: { call, read } }) => {
    assert.isTrue((await call("get-structured-content", { location: "Atlantis" })).isError)
    assert.isTrue(await failed(read("test://nowhere")))
    assert.isTrue(await call("test_no_such_tool").then(({ isError }) => isError, () => true))
  })
}
