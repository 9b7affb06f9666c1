import * as Server from "@sallyport/core/server/Server"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const add = Tool.make("add", {
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  output: Schema.Struct({ sum: Schema.Finite }),
  annotations: { readOnlyHint: true }
}, ({ a, b }) => Effect.succeed({ sum: a + b }))

export default Server.layerDispatch({ name: "quickstart", version: "1.0.0" }, add)
