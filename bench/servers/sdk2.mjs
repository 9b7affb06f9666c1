// The server of the bench on version 2 of the official SDK.
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

const text = (text) => ({ content: [{ type: "text", text }] })

const make = () => {
  const server = new McpServer({ name: "bench-sdk2", version: "1.0.0" }, { capabilities: { tools: {} } })
  server.registerTool(
    "echo",
    { description: "Gives back a text", inputSchema: z.object({ message: z.string() }) },
    async ({ message }) => text(message)
  )
  server.registerTool(
    "pid",
    { description: "The number of this process", inputSchema: z.object({}) },
    async () => text(String(process.pid))
  )
  return server
}

serveStdio(make)
