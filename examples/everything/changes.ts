/** What comes and goes while the server runs: clients are told, each in the way of its revision. */
import * as Prompt from "@sallyport/core/server/Prompt"
import { Registry } from "@sallyport/core/server/Registry"
import * as Resource from "@sallyport/core/server/Resource"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

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
const toggled = (name: string, description: string, part: typeof passing | typeof passingPrompt) => {
  const there = Ref.makeUnsafe(false)
  return Tool.make(name, { description }, () =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const wasThere = yield* Ref.getAndUpdate(there, (there) => !there)
      yield* wasThere ? registry.remove(part) : registry.add(part)
      return `${part.name} is ${wasThere ? "gone" : "there"}`
    }))
}

const count = Ref.makeUnsafe(0)

const watchedUri = "test://watched-resource"

const watched = Resource.make(
  watchedUri,
  { name: "Watched resource", description: "Changes when it is touched", mimeType: "text/plain" },
  Effect.map(Ref.get(count), (count) => `Touched ${count} times`)
)

const touch = Tool.make(
  "test_touch_watched_resource",
  { description: "Changes the watched resource" },
  () =>
    Effect.gen(function*() {
      const times = yield* Ref.updateAndGet(count, (count) => count + 1)
      yield* Registry.use((registry) => registry.updated(watchedUri))
      return `Touched ${times} times`
    })
)

export const parts = [
  toggled("test_trigger_tool_change", "Changes the list of tools", passing),
  toggled("test_trigger_prompt_change", "Changes the list of prompts", passingPrompt),
  watched,
  touch
] as const
