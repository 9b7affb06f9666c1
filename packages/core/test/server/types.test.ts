/**
 * What an author's code is inferred to be. It is the compiler that tests here: `tsc -b` fails where a type differs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { Tool as AiTool, Toolkit } from "effect/ai"
import * as Ask from "../../src/server/Ask.ts"
import * as Client from "../../src/server/Client.ts"
import * as Completion from "../../src/server/Completion.ts"
import * as Content from "../../src/server/Content.ts"
import * as Json from "../../src/server/Json.ts"
import * as Prompt from "../../src/server/Prompt.ts"
import { Registry } from "../../src/server/Registry.ts"
import * as Resource from "../../src/server/Resource.ts"
import * as ResourceTemplate from "../../src/server/ResourceTemplate.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import * as Tools from "../../src/server/Tools.ts"
import type { Dispatch } from "../../src/stage/Dispatch.ts"

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const same = <A, B>(is: Same<A, B>): boolean => is

class Db extends Context.Service<Db, { readonly get: (id: string) => Effect.Effect<string> }>()("test/Db") {}
class Clock2 extends Context.Service<Clock2, { readonly now: Effect.Effect<number> }>()("test/Clock2") {}

const add = Tool.make("add", {
  description: "Adds two numbers",
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number }),
  annotations: { readOnlyHint: true }
}, ({ a, b }) => {
  same<typeof a, number>(true)
  return Effect.succeed({ sum: a + b })
})

const lookup = Tool.make("lookup", {
  description: "Looks up",
  input: Schema.Struct({ id: Schema.String, at: Schema.optionalKey(Schema.DateFromString) })
}, ({ at, id }) => {
  same<typeof at, Date | undefined>(true)
  return Effect.flatMap(Db, (db) => db.get(id))
})

const generated = Tool.make(
  "generated",
  {
    description: "With Effect.fn",
    input: Schema.Struct({ id: Schema.String })
  },
  Effect.fnUntraced(function*({ id }) {
    same<typeof id, string>(true)
    const clock = yield* Clock2
    yield* Client.progress(1, 2)
    return `${id} ${yield* clock.now}`
  })
)

const nothing = Tool.make("nothing", { description: "Takes and gives nothing" }, () => Effect.void)
const blocks = Tool.make(
  "blocks",
  { description: "Gives blocks" },
  () => Effect.succeed([Content.text("a"), { type: "image", data: "", mimeType: "image/png" }])
)
const exact = Tool.make("exact", {
  description: "Keeps digits",
  input: Schema.Struct({ value: Json.Json }),
  output: Schema.Struct({ value: Json.Json })
}, ({ value }) => {
  same<typeof value, Json.Json>(true)
  return Effect.succeed({ value })
})
const rich = Tool.make("rich", {
  description: "Gives a value and blocks",
  output: Schema.Struct({ n: Schema.Int })
}, () => Effect.succeed(Tool.structured({ n: 1 }, { content: [Content.text("one")] })))

const asking = Tool.make("asking", { description: "Asks" }, () =>
  Effect.gen(function*() {
    const answers = yield* Client.ask({
      who: Ask.form({ message: "Who?", schema: Schema.Struct({ name: Schema.String, age: Schema.Int }) }),
      roots: Ask.roots,
      model: Ask.sampling({ messages: "Hi", maxTokens: 10 }),
      page: Ask.url({ message: "Go", url: "https://example.com" })
    })
    same<
      typeof answers.who,
      Ask.Filled<{ readonly name: string; readonly age: number }>
    >(true)
    same<typeof answers.roots, ReadonlyArray<Ask.Root>>(true)
    same<typeof answers.model, Ask.Sampled>(true)
    same<typeof answers.page.action, "accept" | "decline" | "cancel">(true)
    const once = yield* Client.once("k", Schema.Int, Effect.succeed(1))
    same<typeof once, number>(true)
    return answers.who.action === "accept" ? answers.who.content.name : "nobody"
  }))

const prompt = Prompt.make("prompt", {
  description: "Prompts",
  arguments: { name: Schema.String, times: Schema.optionalKey(Schema.FiniteFromString) },
  completions: { name: Completion.among(["a"]), times: () => Effect.map(Clock2, () => ["1"]) }
}, ({ name, times }) => {
  same<typeof name, string>(true)
  same<typeof times, number | undefined>(true)
  return Effect.succeed([Prompt.user(name), Prompt.assistant(Content.text(String(times)))])
})

const resource = Resource.make("db://all", {}, Effect.flatMap(Db, (db) => db.get("all")))

const template = ResourceTemplate.make("db://{table}/{+path}{?first,last}", {
  completions: { table: Completion.among(["users"]) }
}, ({ first, path, table }) => {
  same<typeof table, string>(true)
  same<typeof path, string>(true)
  same<typeof first, string | undefined>(true)
  return Effect.flatMap(Db, (db) => db.get(`${table}${path}${first}`))
})

const kit = Toolkit.make(
  AiTool.make("kit", {
    description: "",
    parameters: AiTool.EmptyParams,
    success: Schema.String,
    dependencies: [Db]
  })
)

const services = Server.layerDispatch(
  { name: "types", version: "1" },
  add,
  lookup,
  generated,
  nothing,
  blocks,
  exact,
  rich,
  asking,
  prompt,
  resource,
  template
)
same<typeof services, Layer.Layer<Dispatch | Registry, never, Db | Clock2>>(true)

const plain = Server.layerDispatch({ name: "types", version: "1" }, add, nothing, asking)
same<typeof plain, Layer.Layer<Dispatch | Registry>>(true)

const kits = Server.layerDispatch({ name: "types", version: "1" }, Tools.fromToolkit(kit))
same<typeof kits, Layer.Layer<Dispatch | Registry, never, Db | AiTool.Handler<"kit">>>(true)

const adding = Effect.flatMap(Registry, (registry) => registry.add(lookup))
same<typeof adding, Effect.Effect<void, never, Registry | Db>>(true)

// @ts-expect-error an output that does not fit
Tool.make("wrong", { description: "", output: Schema.Struct({ n: Schema.Int }) }, () => Effect.succeed({ n: "1" }))
// @ts-expect-error a plain tool gives no objects
Tool.make("wrong", { description: "" }, () => Effect.succeed({ n: 1 }))
// @ts-expect-error no such field
Tool.make("wrong", { description: "", input: Schema.Struct({ a: Schema.Int }) }, ({ b }) => Effect.succeed(String(b)))
// @ts-expect-error the root of what is listed is an object
Tool.make("wrong", { description: "", inputSchema: { type: "array" } }, () => Effect.void)
// @ts-expect-error arguments of prompts are strings
Prompt.make("wrong", { description: "", arguments: { n: Schema.Int } }, () => Effect.succeed(""))
// @ts-expect-error no such variable
ResourceTemplate.make("x://{a}", {}, ({ b }) => Effect.succeed(b))

describe("types", () => {
  it("are inferred end to end", () => assert.strictEqual(add.name, "add"))
  it("services are provided by layers", () => {
    const whole = services.pipe(
      Layer.provide(Layer.succeed(Db, { get: Effect.succeed })),
      Layer.provide(Layer.succeed(Clock2, { now: Effect.succeed(1) }))
    )
    same<typeof whole, Layer.Layer<Dispatch | Registry>>(true)
    assert.isTrue(Layer.isLayer(whole))
  })
})
