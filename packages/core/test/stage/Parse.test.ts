import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Parse } from "../../src/stage/Parse.ts"
import * as ParseStage from "../../src/stage/Parse.ts"
import type { Item } from "../../src/wire/Message.ts"

const read = (parse: Parse["Service"], ...lines: ReadonlyArray<string>): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  const feed = parse.open()
  feed.push(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")), (item) => items.push(item))
  feed.end((item) => items.push(item))
  return items
}
const reasons = (items: ReadonlyArray<Item>) => items.map((item) => item._tag === "Refused" ? item.reason : item._tag)
const params = (text: string): string => `{"jsonrpc":"2.0","id":1,"method":"m","params":${text}}`
const result = (text: string): string => `{"jsonrpc":"2.0","id":1,"result":${text}}`

describe("Parse.layer", () => {
  it.effect("refuses what a reader that ignores case would take for a protocol member (F3)", () =>
    Effect.gen(function*() {
      const parse = yield* Parse
      const variants = [
        params(`{"name":"a","Name":"b"}`),
        params(`{"NAME":"b"}`),
        params(`{"argument\u017f":{}}`),
        params(`{"uri":"a:b","Uri":"c:d"}`),
        params(`{"RequestId":1}`),
        params(`{"_Meta":{}}`),
        params(`{"_meta":{"io.modelcontextprotocol/ProtocolVersion":"x"}}`),
        result(`{"tools":[],"Tools":[]}`),
        result(`{"nextcursor":"x"}`),
        result(`{"IsError":true}`),
        result(`{"to\u212A":1,"ToolS":[]}`)
      ]
      assert.deepStrictEqual(reasons(read(parse, ...variants)), variants.map(() => "case-variant"))
    }).pipe(Effect.provide(ParseStage.layer())))

  it.effect("but leaves alone what is the tool's own", () =>
    Effect.gen(function*() {
      const parse = yield* Parse
      const fine = [
        params(`{"name":"a","arguments":{"Name":1,"name":2,"URI":3}}`),
        params(`{"name":"a","_meta":{"example.com/Name":1,"traceparent":"x"}}`),
        result(`{"content":[{"type":"text","text":"Tools"}],"structuredContent":{"Tools":[],"tools":[]}}`)
      ]
      assert.deepStrictEqual(reasons(read(parse, ...fine)), ["Request", "Request", "Response"])
    }).pipe(Effect.provide(ParseStage.layer())))

  it.effect("has the limits that it is given", () =>
    Effect.gen(function*() {
      const parse = yield* Parse
      assert.deepStrictEqual(
        reasons(read(parse, params(`{"a":[[[]]]}`), params(`{"a":"${"x".repeat(100)}"}`), params("{}"))),
        ["too-deep", "too-long", "Request"]
      )
    }).pipe(Effect.provide(ParseStage.layer({ messageBytes: 100, depth: 4 }))))

  it.effect("opens a reader for each peer: what one has begun is not seen by another", () =>
    Effect.gen(function*() {
      const parse = yield* Parse
      const first = parse.open()
      const seen: Array<string> = []
      const bytes = new TextEncoder().encode(params("{}"))
      first.push(bytes.subarray(0, 20), (item) => seen.push(item._tag))
      assert.deepStrictEqual(reasons(read(parse, params("{}"))), ["Request"])
      first.push(bytes.subarray(20), (item) => seen.push(item._tag))
      first.end((item) => seen.push(item._tag))
      assert.deepStrictEqual(seen, ["Request"])
    }).pipe(Effect.provide(ParseStage.layer())))
})
