// The server of the bench on effect/ai's McpServer.
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"

const toolkit = Toolkit.make(
  Tool.make("echo", {
    description: "Gives back a text",
    parameters: Schema.Struct({ message: Schema.String }),
    success: Schema.String
  }),
  Tool.make("pid", {
    description: "The number of this process",
    parameters: Tool.EmptyParams,
    success: Schema.String
  })
)

const handlers = toolkit.toLayer({
  echo: ({ message }) => Effect.succeed(message),
  pid: () => Effect.succeed(String(process.pid))
})

McpServer.layerStdio({
  name: "bench-effect",
  version: "1.0.0",
  protocols: [McpProtocol.v2025_11_25],
  registrations: McpServer.toolkit(toolkit).pipe(Layer.provide(handlers))
}).pipe(
  Layer.provide(NodeStdio.layer),
  Layer.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])),
  Layer.launch,
  NodeRuntime.runMain
)
