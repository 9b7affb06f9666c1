/** Clients that others wrote at examples/everything: everything that each of them can do, over stdio and over HTTP. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { png } from "../../examples/everything/media.ts"
import everything from "../../examples/everything/server.ts"
import { type Can, type Cannot, type Client, clients, said, type Server } from "./clients.ts"
import { listen } from "./listen.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const sallyport = join(dirname(createRequire(import.meta.url).resolve("sallyport/package.json")), "bin/sallyport.mjs")

/** The watched resource of the server. */
const watched = "test://watched-resource"

const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  const late = performance.now() + 20_000
  while (!await holds()) {
    if (performance.now() > late) throw new Error(`not in time: ${what}`)
    await new Promise((resume) => setTimeout(resume, 10))
  }
}

/** Tries what a client can do. */
const having = async <A>(can: Can<A>, tries: (can: A) => Promise<void>): Promise<Cannot | undefined> => {
  if (isCannot(can)) return can
  await tries(can)
  return undefined
}

const isCannot = <A>(can: Can<A>): can is Cannot => typeof can === "object" && can !== null && "cannot" in can

const heardOf = (client: Client): ReadonlyArray<string> => isCannot(client.heard) ? [] : client.heard
const count = (client: Client, method: string): number => heardOf(client).filter((each) => each === method).length

/** The rows of the table: what is tried; why the client cannot, where it cannot. */
const rows: Readonly<Record<string, (client: Client) => Promise<Cannot | undefined> | Promise<void>>> = {
  "lists tools": async ({ tools }) => {
    const names = await tools()
    assert.includeMembers([...names], ["test_simple_text", "json_schema_2020_12_tool", "test_x_mcp_header"])
    assert.strictEqual(new Set(names).size, names.length)
  },
  "calls with structured output": async ({ call }) => {
    assert.deepStrictEqual(await call("test_structured_content", { a: 1, b: 2.5 }), {
      text: "{\"sum\":3.5}",
      structured: { sum: 3.5 },
      isError: false
    })
  },
  "calls with arguments that headers repeat": async ({ call }) => {
    assert.strictEqual(
      (await call("test_x_mcp_header", { region: "\u00e5land ", level: 3 })).text,
      "\u00e5land , level 3"
    )
  },
  "is told a failure": async ({ call }) => {
    const { isError, text } = await call("test_error_handling")
    assert.isTrue(isError)
    assert.match(text, /intentionally/)
  },
  "is told of arguments that do not fit": async ({ call }) => {
    const { isError, text } = await call("test_structured_content", { a: 1, b: "2" })
    assert.isTrue(isError)
    assert.match(text, /b/)
  },
  "is told of progress": ({ progress }) =>
    having(progress, async (progress) => {
      assert.deepStrictEqual(await progress("test_tool_with_progress"), [0, 50, 100])
    }),
  "cancels": async (client) => {
    const waiting = (calls: number) =>
      until(`${calls} calls wait`, async () => (await client.call("test_waiting")).text === JSON.stringify({ calls }))
    await client.cancel("test_wait", { millis: 60_000 }, () => waiting(1))
    await waiting(0)
  },
  "reads resources": async ({ read, resources }) => {
    assert.includeMembers([...await resources()], ["test://static-text", "test://static-binary", watched])
    assert.match(await read("test://static-text"), /static text resource/)
    assert.strictEqual(await read("test://static-binary"), png)
    assert.match(await read("test://template/7/data"), /Data for ID: 7/)
    assert.strictEqual(await read("test://nowhere").then(() => "it was read", () => "it failed"), "it failed")
  },
  "lists templates": ({ templates }) =>
    having(templates, async (templates) => {
      assert.deepStrictEqual(await templates(), ["test://template/{id}/data"])
    }),
  "gets prompts": async ({ prompt, prompts }) => {
    assert.includeMembers([...await prompts()], ["test_simple_prompt", "test_prompt_with_arguments"])
    assert.match(await prompt("test_prompt_with_arguments", { arg1: "one", arg2: "two" }), /arg1='one', arg2='two'/)
  },
  "completes an argument": ({ complete }) =>
    having(complete, async (complete) => {
      assert.deepStrictEqual(await complete("test_prompt_with_arguments", "arg1", "par"), ["paris", "park", "party"])
    }),
  "hears of changes": (client) =>
    having(client.watch, async (watch) => {
      await watch(watched)
      const heard = (method: string) => until(method, () => count(client, method) > 0)
      await client.call("test_trigger_tool_change")
      await heard("notifications/tools/list_changed")
      assert.include(await client.tools(), "test_passing_tool")
      await client.call("test_trigger_prompt_change")
      await heard("notifications/prompts/list_changed")
      assert.include(await client.prompts(), "test_passing_prompt")
      await client.call("test_touch_watched_resource")
      await heard("notifications/resources/updated")
      assert.strictEqual(await client.read(watched), "Touched 1 times")
    }),
  "gets log messages": (client) =>
    having(client.logged, async (logged) => {
      assert.strictEqual(count(client, "notifications/message"), 0)
      await logged("test_tool_with_logging")
      await until("three messages", () => count(client, "notifications/message") === 3)
    }),
  "answers a form": ({ answers, call }) =>
    having(answers, async () => {
      const { text } = await call("test_elicitation", { message: "Who are you?" })
      assert.include(text, JSON.stringify(said.form))
    }),
  "answers for its model": ({ answers, call }) =>
    having(answers, async () => {
      assert.include((await call("test_sampling", { prompt: "The capital of France?" })).text, said.model)
    }),
  "answers with its roots": ({ answers, call }) =>
    having(answers, async () => {
      assert.include((await call("test_input_required_result_list_roots")).text, said.root)
    })
}

const stdio: Server = {
  _tag: "Stdio",
  command: process.execPath,
  args: [sallyport, "serve", join(root, "examples/everything")]
}

for (const transport of ["stdio", "HTTP"] as const) {
  for (const [name, { open, revision }] of Object.entries(clients)) {
    describe(`${name} over ${transport}`, () => {
      const scope = Effect.runSync(Scope.make())
      let client: Client | undefined
      beforeAll(async () => {
        const server: Server = transport === "stdio"
          ? stdio
          : { _tag: "Http", url: await Effect.runPromise(Scope.provide(listen(everything), scope)) }
        client = await open(server)
      })
      afterAll(async () => {
        await client?.close()
        await Effect.runPromise(Scope.close(scope, Exit.void))
      })
      const opened = (): Client => client ?? assert.fail("it could not connect")

      it("agrees on a revision", () => {
        assert.strictEqual(opened().revision(), revision)
      })
      for (const [what, tries] of Object.entries(rows)) {
        it(what, async (context) => {
          const unable = await tries(opened())
          if (unable) context.skip(unable.cannot)
        })
      }
    })
  }
}
