/** What we write is read by others as what we judged: by Node, by Python and by Go. */
import { assert, describe, it } from "@effect/vitest"
import * as T from "@sallyport/core/wire/Text"
import * as fc from "fast-check"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { acceptable } from "./arbitrary.ts"
import { exact, one, refused, same, written } from "./read.ts"

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

const has = (command: string, argument: string): boolean => spawnSync(command, [argument]).status === 0

const run = (command: string, args: ReadonlyArray<string>, lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    input: lines.join(""),
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, GO111MODULE: "off", PYTHONUTF8: "1" }
  })
  assert.strictEqual(status, 0, stderr)
  return stdout.split("\n").slice(0, -1)
}

const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

const samples = [
  call("{\"n\\u0061me\":\"a\\u0062\",\"arguments\":{\"Name\":1,\"n\":[1.0,-0,1e400,12345678901234567890]}}"),
  call("{\"name\":\"a\u0085b\u2028c\u2029d\",\"\u2028\":{\"\u0085\":\"\\r\\n\"}}"),
  call("{\"name\":\"</script>\\u0000\\u001f\u007f\ufeff\",\"x\":\"\\ud83d\\ude00\u{1f600}\"}"),
  call("{ \"name\" : \"}{\\\\\" , \"__proto__\" : { \"a\" : [ ] } }"),
  ...fc.sample(acceptable, { numRuns: 400, seed: 20 })
]
const lines = samples.map((line) => written(one(line)))

/** Messages of which readers that ignore case see another one than readers that do not. */
const attacks = [
  call("{\"name\":\"read_note\",\"Name\":\"delete_all\"}"),
  call("{\"name\":\"read_note\",\"arguments\":{\"a\":1},\"argument\u017f\":{\"a\":2}}"),
  call("{\"name\":\"read_note\",\"arguments\":{\"a\":1},\"ARGUMENTS\":{\"a\":2}}"),
  call("{\"name\":\"read_note\",\"\\u004eame\":\"delete_all\"}"),
  call("{\"name\":\"read_note\"}").replace("}}", "},\"Method\":\"tools/other\"}"),
  call("{\"name\":\"read_note\"}").replace("}}", "},\"Params\":{\"name\":\"delete_all\"}}"),
  call("{\"name\":\"read_note\"}").replace("}}", "},\"param\u017f\":{\"name\":\"delete_all\"}}")
]

interface Tool {
  readonly method: string
  readonly name: string
  readonly arguments: string
}

/** What a line says as we judged it: texts, empty where there is nothing. */
const judged = (line: string): Tool => {
  const item = one(line)
  const params = item._tag === "Request" || item._tag === "Notification" ? item.params : undefined
  const text = (name: string): string => params === undefined ? "" : T.member(params, name) ?? ""
  return { method: "method" in item ? item.method : "", name: text("name"), arguments: text("arguments") }
}

/** The same of every text, with its value in the place of a text. */
const valued = ({ arguments: args, method, name }: Tool) => ({
  method,
  name: name === "" ? undefined : exact(name),
  arguments: args === "" ? undefined : exact(args)
})

describe(`${lines.length} lines that we wrote`, () => {
  it("are refused where the case of a name decides what they mean", () => {
    for (const attack of attacks) same(refused(attack).reason, "case-variant")
  })

  it("are what Node reads", () => {
    for (const [k, line] of lines.entries()) same(exact(line), exact(samples[k] ?? ""))
  })

  it.skipIf(!has("python3", "--version"))("are what Python reads", () => {
    const read = run("python3", [fixture("reader.py")], lines)
    same(read.length, lines.length)
    for (const [k, line] of read.entries()) same(JSON.parse(line), exact(samples[k] ?? ""))
  })

  it.skipIf(!has("go", "version"))("are what Go reads, into a value and into a struct", { timeout: 180_000 }, () => {
    const input = [...lines, ...attacks.map((line) => `${line}\n`)]
    const read = run("go", ["run", fixture("reader.go")], input)
      .map((line): Tool & { readonly value: unknown } => JSON.parse(line))
    same(read.length, input.length)
    for (const [k, tool] of read.slice(0, lines.length).entries()) {
      same(tool.value, exact(samples[k] ?? ""))
      same(valued(tool), valued(judged(samples[k] ?? "")))
    }
    // the attacks are real: this is what such a reader would have acted on
    same(
      read.slice(lines.length).map(({ arguments: args, method, name }) => [method, name, args]),
      [
        ["tools/call", "\"delete_all\"", ""],
        ["tools/call", "\"read_note\"", "{\"a\":2}"],
        ["tools/call", "\"read_note\"", "{\"a\":2}"],
        ["tools/call", "\"delete_all\"", ""],
        ["tools/other", "\"read_note\"", ""],
        ["tools/call", "\"delete_all\"", ""],
        ["tools/call", "\"delete_all\"", ""]
      ]
    )
  })
})
