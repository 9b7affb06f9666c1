/** Resources and prompts. */
import * as Completion from "@sallyport/core/server/Completion"
import * as Content from "@sallyport/core/server/Content"
import * as Prompt from "@sallyport/core/server/Prompt"
import { NotFound } from "@sallyport/core/server/Refusal"
import * as Resource from "@sallyport/core/server/Resource"
import * as ResourceTemplate from "@sallyport/core/server/ResourceTemplate"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Schema from "effect/Schema"
import { png } from "./media.ts"

const staticText = Resource.make("test://static-text", {
  name: "Static text",
  description: "A text that stays as it is",
  mimeType: "text/plain",
  cache: { ttl: "1 hour", scope: "public" }
}, Effect.succeed("This is the content of the static text resource."))

const staticBinary = Resource.make(
  "test://static-binary",
  { name: "Static picture", description: "A picture of one pixel", mimeType: "image/png" },
  Effect.fromResult(Base64.decode(png))
)

const data = ResourceTemplate.make("test://template/{id}/data", {
  name: "Data by id",
  description: "The data of an id",
  mimeType: "application/json",
  completions: { id: Completion.among(["100", "101", "102"]) }
}, ({ id }, uri) =>
  id === "none"
    ? Effect.fail(new NotFound({ uri }))
    : Effect.succeed(JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })))

const simple = Prompt.make(
  "test_simple_prompt",
  { description: "A prompt without arguments" },
  () => Effect.succeed("This is a simple prompt for testing.")
)

const words = ["paris", "park", "party", "lion", "london"]

const withArguments = Prompt.make("test_prompt_with_arguments", {
  description: "A prompt with two arguments",
  arguments: {
    arg1: Schema.String.annotate({ description: "First test argument" }),
    arg2: Schema.String.annotate({ description: "Second test argument" })
  },
  completions: { arg1: Completion.among(words), arg2: Completion.among(words) }
}, ({ arg1, arg2 }) => Effect.succeed(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))

const withResource = Prompt.make("test_prompt_with_embedded_resource", {
  description: "A prompt that brings a resource with it",
  arguments: { resourceUri: Schema.String.annotate({ description: "The address of the resource" }) }
}, ({ resourceUri }) =>
  Effect.succeed([
    Prompt.user(Content.resource(resourceUri, "Embedded resource content for testing.", "text/plain")),
    Prompt.user("Please process the embedded resource above.")
  ]))

const withImage = Prompt.make(
  "test_prompt_with_image",
  { description: "A prompt that brings a picture with it" },
  () =>
    Effect.succeed({
      description: "A picture to describe",
      messages: [Prompt.user(Content.image(png, "image/png")), Prompt.user("Please analyze the image above.")]
    })
)

export const parts = [
  staticText,
  staticBinary,
  data,
  simple,
  withArguments,
  withResource,
  withImage
] as const
