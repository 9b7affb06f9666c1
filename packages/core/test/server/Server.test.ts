import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Completion from "../../src/server/Completion.ts"
import * as Content from "../../src/server/Content.ts"
import * as Prompt from "../../src/server/Prompt.ts"
import * as Refusal from "../../src/server/Refusal.ts"
import * as Resource from "../../src/server/Resource.ts"
import * as ResourceTemplate from "../../src/server/ResourceTemplate.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { opened, serve } from "./harness.ts"

const add = Tool.make("add", {
  description: "Adds",
  title: "Add",
  input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  output: Schema.Struct({ sum: Schema.Finite }),
  annotations: { readOnlyHint: true },
  icons: [{ src: "data:image/png;base64,AA==" }],
  meta: { "example.com/x": 1 }
}, ({ a, b }) => Effect.succeed({ sum: a + b }))

const listing = Tool.make("listing", {
  description: "Gives an array",
  output: Schema.Array(Schema.Finite)
}, () => Effect.succeed([1, 2]))

const media = Tool.make("media", { description: "Gives blocks of every kind" }, () =>
  Effect.succeed([
    Content.text("t"),
    Content.image(new Uint8Array([1]), "image/png"),
    Content.audio(new Uint8Array([2]), "audio/wav"),
    Content.resource("test://r", "inside", "text/plain"),
    Content.link("test://l", "l")
  ]))

class Full extends Schema.TaggedError<Full>()("Full", { message: Schema.String }) {}

const fails = Tool.make("fails", { description: "Fails" }, () => Effect.fail(new Full({ message: "the disk is full" })))
const dies = Tool.make("dies", { description: "Dies" }, () => Effect.die(new Error("secret /etc/passwd")))
const throws = Tool.make("throws", { description: "Throws" }, () => {
  throw new Error("secret")
})
const lies = Tool.make("lies", {
  description: "Gives what does not fit",
  output: Schema.Struct({ n: Schema.Int })
}, () => Effect.succeed({ n: 1.5 }))
const refuses = Tool.make(
  "refuses",
  { description: "Refuses" },
  () => Effect.fail(new Refusal.Refusal({ code: -32050, message: "no", data: { a: 1 } }))
)

const greet = Prompt.make("greet", {
  description: "Greets",
  title: "Greet",
  arguments: {
    name: Schema.String.annotate({ description: "whom" }),
    times: Schema.optionalKey(Schema.FiniteFromString)
  },
  completions: { name: Completion.among(["Ada", "Alan", "Grace"]) }
}, ({ name, times }) => Effect.succeed(`Hello ${name}`.repeat(times ?? 1)))

const readme = Resource.make("test://readme", { mimeType: "text/plain", title: "Read me" }, Effect.succeed("read me"))
const bytes = Resource.make(
  "test://bytes",
  { mimeType: "image/png", cache: { ttl: "1 minute", scope: "public" } },
  Effect.succeed(new Uint8Array([1, 2]))
)
const user = ResourceTemplate.make("test://users/{id}", {
  mimeType: "text/plain",
  completions: { id: (value) => Effect.succeed(Array.from({ length: 150 }, (_, i) => `${value}${i}`)) }
}, ({ id }, uri) => id === "nobody" ? Effect.fail(new Refusal.NotFound({ uri })) : Effect.succeed(`user ${id}`))

const server = Server.layerDispatch(
  { name: "test", version: "1", title: "Test", instructions: "Be kind." },
  add,
  listing,
  media,
  fails,
  dies,
  throws,
  lies,
  refuses,
  greet,
  readme,
  bytes,
  user
)

const Listed = Schema.Struct({
  tools: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  nextCursor: Schema.optionalKey(Schema.String)
})
const decodeListed = Schema.decodeUnknownSync(Listed)

const resultOf = (answer: { readonly result?: unknown }): Record<string, unknown> =>
  Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Unknown))(answer.result)

describe("Server", () => {
  for (const revision of Revision.all) {
    const modern = revision === "2026-07-28"
    const since = (first: Revision.Revision) => revision >= first

    describe(revision, () => {
      it.effect("opens with what it has, and nothing else", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const answer = modern ? yield* client.asks("server/discover") : client.opening
          const result = resultOf(answer ?? {})
          const capabilities = {
            logging: {},
            ...(since("2025-03-26") ? { completions: {} } : {}),
            prompts: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            tools: { listChanged: true }
          }
          const info = {
            name: "test",
            ...(since("2025-06-18") ? { title: "Test" } : {}),
            version: "1"
          }
          assert.deepStrictEqual(
            result,
            modern
              ? {
                resultType: "complete",
                supportedVersions: ["2026-07-28"],
                capabilities,
                instructions: "Be kind.",
                ttlMs: 0,
                cacheScope: "private",
                _meta: { [Revision.meta.serverInfo]: info }
              }
              : { protocolVersion: revision, capabilities, serverInfo: info, instructions: "Be kind." }
          )
        }))

      it.effect("lists tools with the members that the revision has", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const answer = yield* client.asks("tools/list")
          const { tools } = decodeListed(answer.result)
          assert.deepStrictEqual(tools.map(({ name }) => name), [
            "add",
            "listing",
            "media",
            "fails",
            "dies",
            "throws",
            "lies",
            "refuses"
          ])
          assert.deepStrictEqual(tools[0], {
            name: "add",
            ...(since("2025-06-18") ? { title: "Add" } : {}),
            description: "Adds",
            inputSchema: {
              type: "object",
              properties: { a: { type: "number" }, b: { type: "number" } },
              required: ["a", "b"],
              additionalProperties: false
            },
            ...(since("2025-06-18")
              ? {
                outputSchema: {
                  type: "object",
                  properties: { sum: { type: "number" } },
                  required: ["sum"],
                  additionalProperties: false
                }
              }
              : {}),
            ...(since("2025-03-26") ? { annotations: { readOnlyHint: true } } : {}),
            ...(since("2025-11-25") ? { icons: [{ src: "data:image/png;base64,AA==" }] } : {}),
            ...(since("2025-06-18") ? { _meta: { "example.com/x": 1 } } : {})
          })
          // An output schema that is no object came with 2026-07-28; older clients refuse the whole listing for it.
          assert.strictEqual("outputSchema" in (tools[1] ?? {}), modern)
          assert.strictEqual("resultType" in resultOf(answer), modern)
          assert.strictEqual("ttlMs" in resultOf(answer), modern)
        }))

      it.effect("answers calls", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const wrapped = (result: Record<string, unknown>) =>
            modern
              ? {
                resultType: "complete",
                ...result,
                _meta: { [Revision.meta.serverInfo]: { name: "test", title: "Test", version: "1" } }
              }
              : result
          const called = (name: string, args?: unknown) =>
            Effect.map(
              client.asks("tools/call", { name, ...(args === undefined ? {} : { arguments: args }) }),
              resultOf
            )
          assert.deepStrictEqual(
            yield* called("add", { a: 1, b: 2 }),
            wrapped({
              content: [{ type: "text", text: `{"sum":3}` }],
              ...(since("2025-06-18") ? { structuredContent: { sum: 3 } } : {})
            })
          )
          assert.deepStrictEqual(
            yield* called("listing"),
            wrapped({
              content: [{ type: "text", text: "[1,2]" }],
              ...(modern ? { structuredContent: [1, 2] } : {})
            })
          )
          assert.deepStrictEqual(
            yield* called("media"),
            wrapped({
              content: [
                { type: "text", text: "t" },
                { type: "image", data: "AQ==", mimeType: "image/png" },
                since("2025-03-26")
                  ? { type: "audio", data: "Ag==", mimeType: "audio/wav" }
                  : { type: "text", text: "[audio, audio/wav]" },
                { type: "resource", resource: { uri: "test://r", mimeType: "text/plain", text: "inside" } },
                since("2025-06-18")
                  ? { type: "resource_link", uri: "test://l", name: "l" }
                  : { type: "text", text: "l: test://l" }
              ]
            })
          )
          assert.deepStrictEqual(
            yield* called("fails"),
            wrapped({ content: [{ type: "text", text: "the disk is full" }], isError: true })
          )
        }))

      it.effect("tells no one what is not theirs to know", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          for (const name of ["dies", "throws", "lies"]) {
            const answer = yield* client.asks("tools/call", { name, arguments: {} })
            assert.include(answer.text, `"isError":true`, name)
            assert.include(answer.text, "the server's log says more", name)
            assert.notMatch(answer.text, /secret|passwd|1\.5|structuredContent/, name)
          }
        }))

      it.effect("refuses what cannot be a call", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          for (
            const [params, code] of [
              [{}, -32602],
              [{ name: 1 }, -32602],
              [{ name: "nope" }, -32602],
              [{ name: "__proto__" }, -32602],
              [{ name: "add", arguments: null }, -32602],
              [{ name: "add", arguments: [1] }, -32602],
              [{ name: "add", arguments: "x" }, -32602],
              [{ name: "refuses" }, -32050]
            ] as const
          ) {
            const answer = yield* client.asks("tools/call", params)
            assert.strictEqual(answer.error?.code, code, JSON.stringify(params))
          }
        }))

      it.effect("tells bad arguments in words, all of them", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const answer = yield* client.asks("tools/call", { name: "add", arguments: { a: "one", c: 1 } })
          assert.include(answer.text, `"isError":true`)
          for (const word of [`[\\"a\\"]`, `[\\"b\\"]`, `[\\"c\\"]`]) assert.include(answer.text, word)
        }))

      it.effect("refuses a number that would be rounded, by its name", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const line = (token: string) =>
            `{"jsonrpc":"2.0","id":"n","method":"tools/call","params":{"name":"add","arguments":{"a":${token},"b":0},"_meta":${
              JSON.stringify(
                modern
                  ? { [Revision.meta.protocolVersion]: revision, [Revision.meta.clientCapabilities]: {} }
                  : {}
              )
            }}}`
          for (
            const token of ["9007199254740993", "1e400", "123456789012345678901234567890", "0.12345678901234567890123"]
          ) {
            yield* client.says(line(token))
            const [answer] = client.take()
            assert.include(answer?.text ?? "", `"isError":true`, token)
            assert.include(answer?.text ?? "", `${token} at a`, token)
          }
          for (const token of ["1e3", "1.0", "-0", "0.1", "9007199254740992", "0.30000000000000004", "1e-7"]) {
            yield* client.says(line(token))
            const [answer] = client.take()
            assert.notInclude(answer?.text ?? "", "isError", token)
          }
        }))

      it.effect("reads resources", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const read = (uri: string) => client.asks("resources/read", { uri })
          const contentsOf = (answer: { readonly result?: unknown }) => resultOf(answer)["contents"]
          assert.deepStrictEqual(contentsOf(yield* read("test://readme")), [
            { uri: "test://readme", mimeType: "text/plain", text: "read me" }
          ])
          const cached = yield* read("test://bytes")
          assert.deepStrictEqual(contentsOf(cached), [{ uri: "test://bytes", mimeType: "image/png", blob: "AQI=" }])
          assert.strictEqual(resultOf(cached)["ttlMs"], modern ? 60_000 : undefined)
          assert.strictEqual(resultOf(cached)["cacheScope"], modern ? "public" : undefined)
          assert.deepStrictEqual(contentsOf(yield* read("test://users/a%20b")), [
            { uri: "test://users/a%20b", mimeType: "text/plain", text: "user a b" }
          ])
          for (const uri of ["test://none", "test://users/a/b", "test://users/nobody", "test://users/%ff"]) {
            const { error } = yield* read(uri)
            assert.strictEqual(error?.code, modern ? -32602 : -32002, uri)
            assert.include(JSON.stringify(error), uri)
          }
          assert.strictEqual((yield* client.asks("resources/read", {})).error?.code, -32602)
          const listed = yield* client.asks("resources/list")
          assert.deepStrictEqual(resultOf(listed)["resources"], [
            {
              uri: "test://readme",
              name: "test://readme",
              ...(since("2025-06-18") ? { title: "Read me" } : {}),
              mimeType: "text/plain"
            },
            { uri: "test://bytes", name: "test://bytes", mimeType: "image/png" }
          ])
          const templates = yield* client.asks("resources/templates/list")
          assert.deepStrictEqual(resultOf(templates)["resourceTemplates"], [
            { uriTemplate: "test://users/{id}", name: "test://users/{id}", mimeType: "text/plain" }
          ])
        }))

      it.effect("gives prompts", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const listed = yield* client.asks("prompts/list")
          assert.deepStrictEqual(resultOf(listed)["prompts"], [{
            name: "greet",
            ...(since("2025-06-18") ? { title: "Greet" } : {}),
            description: "Greets",
            arguments: [{ name: "name", description: "whom", required: true }, { name: "times", required: false }]
          }])
          const got = yield* client.asks("prompts/get", { name: "greet", arguments: { name: "Ada", times: "2" } })
          assert.deepStrictEqual(resultOf(got)["messages"], [
            { role: "user", content: { type: "text", text: "Hello AdaHello Ada" } }
          ])
          for (
            const params of [
              { name: "greet" },
              { name: "greet", arguments: { name: 1 } },
              { name: "greet", arguments: { name: "a", other: "b" } },
              { name: "greet", arguments: [] },
              { name: "nope" },
              {}
            ]
          ) {
            const answer = yield* client.asks("prompts/get", params)
            assert.strictEqual(answer.error?.code, -32602, JSON.stringify(params))
          }
        }))

      it.effect("completes", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          const completed = (ref: unknown, name: string, value: string) =>
            Effect.map(
              client.asks("completion/complete", { ref, argument: { name, value } }),
              (answer) => resultOf(answer)["completion"]
            )
          assert.deepStrictEqual(yield* completed({ type: "ref/prompt", name: "greet" }, "name", "a"), {
            values: ["Ada", "Alan"],
            total: 2,
            hasMore: false
          })
          assert.deepStrictEqual(yield* completed({ type: "ref/prompt", name: "greet" }, "times", "a"), {
            values: [],
            total: 0,
            hasMore: false
          })
          const many = yield* completed({ type: "ref/resource", uri: "test://users/{id}" }, "id", "u")
          assert.include(JSON.stringify(many), `"total":150,"hasMore":true`)
          for (
            const params of [
              {},
              { ref: { type: "ref/prompt", name: "nope" }, argument: { name: "x", value: "" } },
              { ref: { type: "ref/other" }, argument: { name: "x", value: "" } },
              { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name" } }
            ]
          ) {
            const answer = yield* client.asks("completion/complete", params)
            assert.strictEqual(answer.error?.code, -32602, JSON.stringify(params))
          }
        }))

      it.effect("has the methods of its revision, and no others", () =>
        Effect.gen(function*() {
          const client = yield* opened(yield* serve(server), revision)
          for (const method of ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]) {
            const answer = yield* client.asks(method, { level: "info", uri: "test://readme" })
            assert.strictEqual(answer.error?.code, modern ? -32601 : undefined, method)
            if (!modern) assert.strictEqual(answer.text, `{"jsonrpc":"2.0","id":${answer.id},"result":{}}`)
          }
          for (const method of ["nope/x", "tasks/list", "roots/list"]) {
            const answer = yield* client.asks(method)
            assert.strictEqual(answer.error?.code, -32601, method)
          }
        }))
    })
  }

  it.effect("wants what initialize must have", () =>
    Effect.gen(function*() {
      const client = yield* (yield* serve(server)).connect()
      const whole = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "c", version: "1" } }
      let id = 1
      for (
        const params of [
          undefined,
          {},
          { ...whole, protocolVersion: undefined },
          { ...whole, protocolVersion: 7 },
          { ...whole, capabilities: undefined },
          { ...whole, capabilities: [] },
          { ...whole, clientInfo: undefined },
          { ...whole, clientInfo: "c" }
        ]
      ) {
        const answer = yield* client.ask(id++, "initialize", params)
        assert.strictEqual(answer?.error?.code, -32602, JSON.stringify(params))
      }
      const answer = yield* client.ask(id++, "initialize", whole)
      assert.strictEqual(resultOf(answer ?? {})["protocolVersion"], "2025-06-18")
    }))

  for (const offer of ["2099-01-01", "1999-01-01", "2026-07-28", "draft", ""]) {
    it.effect(`counters ${JSON.stringify(offer)} with its newest legacy revision`, () =>
      Effect.gen(function*() {
        const client = yield* (yield* serve(server)).connect()
        const answer = yield* client.ask(1, "initialize", {
          protocolVersion: offer,
          capabilities: {},
          clientInfo: { name: "c", version: "1" }
        })
        assert.strictEqual(resultOf(answer ?? {})["protocolVersion"], "2025-11-25")
      }))
  }

  it.effect("checks the envelope of every modern request", () =>
    Effect.gen(function*() {
      const client = yield* opened(yield* serve(server), "2026-07-28")
      yield* client.asks("server/discover")
      const { protocolVersion, clientCapabilities, logLevel } = Revision.meta
      for (
        const [meta, code] of [
          [{ [protocolVersion]: "2026-07-28" }, -32602],
          [{ [clientCapabilities]: {} }, -32602],
          [{ [protocolVersion]: "2026-07-28", [clientCapabilities]: true }, -32602],
          [{ [protocolVersion]: "2026-07-28", [clientCapabilities]: {}, [logLevel]: "loud" }, -32602],
          [{ [protocolVersion]: "1900-01-01", [clientCapabilities]: {} }, -32022]
        ] as const
      ) {
        for (const method of ["tools/list", "server/discover", "tools/call"]) {
          const answer = yield* client.ask(100 + client.saw().length, method, { name: "add", _meta: meta })
          assert.strictEqual(answer?.error?.code, code, `${method} ${JSON.stringify(meta)}`)
        }
      }
    }))

  it.effect("lists in pages, in order, and takes only its own cursors", () =>
    Effect.gen(function*() {
      const tool = (name: string) => Tool.make(name, { description: name }, () => Effect.succeed("x"))
      const served = yield* serve(
        Server.layerDispatch(
          { name: "pages", version: "1", pageSize: 2 },
          tool("a"),
          tool("b"),
          tool("c"),
          tool("d"),
          tool("e"),
          readme
        )
      )
      for (const revision of Revision.all) {
        const client = yield* opened(served, revision)
        const names: Array<unknown> = []
        let cursor: string | undefined
        let pages = 0
        do {
          const page = decodeListed((yield* client.asks("tools/list", cursor === undefined ? {} : { cursor })).result)
          names.push(...page.tools.map(({ name }) => name))
          cursor = page.nextCursor
          pages++
        } while (cursor !== undefined)
        assert.deepStrictEqual(names, ["a", "b", "c", "d", "e"])
        assert.strictEqual(pages, 3)
        const first = decodeListed((yield* client.asks("tools/list")).result).nextCursor ?? ""
        for (
          const [method, cursor] of [
            ["tools/list", ""],
            ["tools/list", "nope"],
            ["tools/list", `${first}=`],
            ["tools/list", `${first}AAAA`],
            ["tools/list", 1],
            ["tools/list", null],
            ["resources/list", first]
          ] as const
        ) {
          const answer = yield* client.asks(method, { cursor })
          assert.strictEqual(answer.error?.code, -32602, JSON.stringify(cursor))
        }
      }
    }))

  it.effect("two parts of one name are their author's mistake", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(serve(Server.layerDispatch({ name: "x", version: "1" }, add, add)))
      assert.include(String(exit), `Tool \\"add\\" twice`)
    }))
})
