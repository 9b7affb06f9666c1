// The tools of echo.c on Node, for a machine without a C compiler: dearer, so that a relay's share is harder to see.
const stubborn = process.argv[2] === "--stubborn"
if (stubborn) {
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {})
  setInterval(() => {}, 60_000)
}

const fields = { echo: "message", sink: "message", blob: "bytes", flood: "count", pid: undefined, die: undefined }
const tools = Object.entries(fields).map(([name, field]) => ({
  name,
  description: `The ${name} of the bench`,
  inputSchema: {
    type: "object",
    properties: field === undefined ? {} : { [field]: { type: field === "message" ? "string" : "integer" } },
    required: field === undefined ? [] : [field]
  }
}))
if (process.argv[2] === "--tools") {
  for (let at = 0; at < Number(process.argv[3]) - 6; at++) {
    const properties = { message: { type: "string" } }
    tools.push({
      name: `tool_${at}`,
      description: "One of many tools of the bench",
      inputSchema: { type: "object", properties }
    })
  }
}
const sentence = "The quick brown fox jumps over the lazy dog 0123456789 (abcdefghijklmnopq) xy.\n"

const line = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`

const texts = {
  echo: ({ message }) => message,
  sink: ({ message }) => String(message.length),
  blob: ({ bytes }) => sentence.repeat(Math.ceil(bytes / sentence.length)).slice(0, bytes),
  flood: () => "",
  pid: () => String(process.pid),
  die: () => process.exit(3)
}

const flood = ({ count }) =>
  Array.from({ length: count }, (_, seq) =>
    line({
      method: "notifications/message",
      params: { level: "info", logger: "bench", data: { seq, note: "a small log line of a chatty server" } }
    })).join("")

const answer = ({ id, method, params }) => {
  if (id === undefined) return ""
  switch (method) {
    case "initialize": {
      const capabilities = { tools: {}, logging: {} }
      const serverInfo = { name: "bench-echo", version: "1" }
      return line({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } })
    }
    case "tools/list":
      return line({ id, result: { tools } })
    case "ping":
      return line({ id, result: {} })
    case "tools/call": {
      const { arguments: given = {}, name } = params
      const before = name === "flood" ? flood(given) : ""
      return before + line({ id, result: { content: [{ type: "text", text: texts[name](given) }] } })
    }
    default:
      return line({ id, error: { code: -32601, message: "Method not found" } })
  }
}

let rest = ""
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n")
  rest = lines.pop()
  const out = lines.filter((each) => each !== "").map((each) => answer(JSON.parse(each))).join("")
  if (out !== "") process.stdout.write(out)
})
