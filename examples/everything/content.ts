/** What tools answer with: text, pictures, sounds, resources, structured values, and failures. */
import * as Client from "@sallyport/core/server/Client"
import * as Content from "@sallyport/core/server/Content"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { png, wav } from "./media.ts"

const text = Tool.make("test_simple_text", {
  description: "Answers with a text",
  annotations: { readOnlyHint: true }
}, () => Effect.succeed("This is a simple text response for testing."))

const image = Tool.make(
  "test_image_content",
  { description: "Answers with a picture" },
  () => Effect.succeed(Content.image(png, "image/png"))
)

const audio = Tool.make(
  "test_audio_content",
  { description: "Answers with a sound" },
  () => Effect.succeed(Content.audio(wav, "audio/wav"))
)

const embedded = Content.resource("test://embedded-resource", "This is an embedded resource content.", "text/plain")

const resource = Tool.make(
  "test_embedded_resource",
  { description: "Answers with a resource and its contents" },
  () => Effect.succeed(embedded)
)

const mixed = Tool.make(
  "test_multiple_content_types",
  { description: "Answers with a text, a picture and a resource" },
  () => Effect.succeed([Content.text("Multiple content types test:"), Content.image(png, "image/png"), embedded])
)

const sum = Tool.make("test_structured_content", {
  description: "Adds two numbers and answers with a structured value",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  output: Schema.Struct({ sum: Schema.Finite }),
  annotations: { readOnlyHint: true, idempotentHint: true }
}, ({ a, b }) => Effect.succeed({ sum: a + b }))

// What a handler fails with is told to the model.
const failure = Tool.make(
  "test_error_handling",
  { description: "Always fails" },
  () => Effect.fail("This tool intentionally returns an error for testing")
)

const progress = Tool.make(
  "test_tool_with_progress",
  { description: "Tells how far it is" },
  () =>
    Effect.gen(function*() {
      for (const done of [0, 50, 100]) {
        yield* Client.progress(done, 100, `${done} of 100 done`)
        yield* Effect.sleep("50 millis")
      }
      return "All done"
    })
)

const log = Tool.make(
  "test_tool_with_logging",
  { description: "Sends log messages while it works" },
  () =>
    Effect.gen(function*() {
      for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        yield* Client.log("info", message)
        yield* Effect.sleep("50 millis")
      }
      return "Three messages were sent to those who want them"
    })
)

const quiet = Tool.make(
  "test_logging_tool",
  { description: "Sends one log message, to those who want it" },
  () => Effect.as(Client.log("info", { step: "only" }, "everything"), "logged")
)

export const parts = [text, image, audio, resource, mixed, sum, failure, progress, log, quiet] as const
