/**
 * What comes and goes while the server runs: clients are told, each in the way of its revision. What handlers share is a
 * service as anywhere in Effect: the server's layer requires it, and server.ts provides it.
 */
import * as Client from "@sallyport/core/server/Client"
import * as Prompt from "@sallyport/core/server/Prompt"
import { Registry } from "@sallyport/core/server/Registry"
import * as Resource from "@sallyport/core/server/Resource"
import * as Tool from "@sallyport/core/server/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"

/** What the server remembers. */
export class Memory extends Context.Service<Memory, {
  /** The names of the passing parts that are there. */
  readonly there: Ref.Ref<ReadonlySet<string>>
  /** How often the watched resource was touched. */
  readonly touched: Ref.Ref<number>
  /** How many calls wait. */
  readonly waiting: Ref.Ref<number>
}>()("@sallyport/example-everything/Memory") {
  static readonly layer: Layer.Layer<Memory> = Layer.effect(
    Memory,
    Effect.all({ there: Ref.make<ReadonlySet<string>>(new Set()), touched: Ref.make(0), waiting: Ref.make(0) })
  )
}

// ---- listings that change

const passing = Tool.make(
  "test_passing_tool",
  { description: "Is there every other time" },
  () => Effect.succeed("here")
)

const passingPrompt = Prompt.make(
  "test_passing_prompt",
  { description: "Is there every other time" },
  () => Effect.succeed("Say hello")
)

/** Adds a part, or takes it away again. */
const toggles = (name: string, description: string, part: typeof passing | typeof passingPrompt) =>
  Tool.make(name, { description }, () =>
    Effect.gen(function*() {
      const { add, remove } = yield* Registry
      const { there } = yield* Memory
      const wasThere = yield* Ref.modify(there, (names) => {
        const others = [...names].filter((other) => other !== part.name)
        return [names.has(part.name), new Set(names.has(part.name) ? others : [...others, part.name])]
      })
      yield* wasThere ? remove(part) : add(part)
      return `${part.name} is ${wasThere ? "gone" : "there"}`
    }))

// ---- a resource that changes

const watchedUri = "test://watched-resource"

const watched = Resource.make(
  watchedUri,
  { name: "Watched resource", description: "Changes when it is touched", mimeType: "text/plain" },
  Effect.map(Memory.use(({ touched }) => Ref.get(touched)), (times) => `Touched ${times} times`)
)

const touch = Tool.make(
  "test_touch_watched_resource",
  { description: "Changes the watched resource" },
  () =>
    Effect.gen(function*() {
      const times = yield* Memory.use(({ touched }) => Ref.updateAndGet(touched, (times) => times + 1))
      yield* Registry.use(({ updated }) => updated(watchedUri))
      return `Touched ${times} times`
    })
)

// ---- calls that take their time

// A call that is cancelled is interrupted: what was acquired is released, and nothing has to look out for it.
const wait = Tool.make("test_wait", {
  description: "Answers after a while",
  input: Schema.Struct({ millis: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60_000 })) }),
  timeout: { after: "2 minutes", resetOnProgress: true }
}, ({ millis }) =>
  Effect.gen(function*() {
    const { waiting } = yield* Memory
    yield* Effect.acquireUseRelease(
      Ref.update(waiting, (calls) => calls + 1),
      () => Effect.andThen(Client.progress(0, millis), Effect.sleep(millis)),
      () => Ref.update(waiting, (calls) => calls - 1)
    )
    return `Waited for ${millis} ms`
  }))

const waiting = Tool.make(
  "test_waiting",
  { description: "Tells how many calls wait", output: Schema.Struct({ calls: Schema.Int }) },
  () => Effect.map(Memory.use(({ waiting }) => Ref.get(waiting)), (calls) => ({ calls }))
)

export const parts = [
  toggles("test_trigger_tool_change", "Changes the list of tools", passing),
  toggles("test_trigger_prompt_change", "Changes the list of prompts", passingPrompt),
  watched,
  touch,
  wait,
  waiting
] as const
