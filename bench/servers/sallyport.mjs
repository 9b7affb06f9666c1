// The server of the bench on Sallyport.
import * as Serve from "@sallyport/core/server/Serve"
import * as Server from "@sallyport/core/server/Server"
import * as Tool from "@sallyport/core/server/Tool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const echo = Tool.make("echo", {
  description: "Gives back a text",
  input: Schema.Struct({ message: Schema.String })
}, ({ message }) => Effect.succeed(message))

const pid = Tool.make("pid", { description: "The number of this process" }, () => Effect.succeed(String(process.pid)))

Serve.stdio(Server.layerDispatch({ name: "bench-sallyport", version: "1.0.0" }, echo, pid))
