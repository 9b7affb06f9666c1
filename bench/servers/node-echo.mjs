// The least that a server on Node does: JSON.parse, a switch, JSON.stringify, one write for what came in one chunk. It
// checks nothing.
const tools = [
  {
    name: "echo",
    description: "Gives back a text",
    inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] }
  },
  { name: "pid", description: "The number of this process", inputSchema: { type: "object" } }
]

const resultOf = (method, params) => {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "bench-node-echo", version: "1.0.0" }
      }
    case "tools/list":
      return { tools }
    case "tools/call": {
      const text = params.name === "echo" ? params.arguments.message : String(process.pid)
      return { content: [{ type: "text", text }] }
    }
    default:
      return {}
  }
}

const answer = (line) => {
  const { id, method, params } = JSON.parse(line)
  return id === undefined ? "" : `${JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method, params) })}\n`
}

let begun = []
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = chunk.split("\n")
  if (lines.length === 1) return void begun.push(chunk)
  lines[0] = begun.join("") + lines[0]
  const rest = lines.pop()
  begun = rest === "" ? [] : [rest]
  process.stdout.write(lines.map(answer).join(""))
})
