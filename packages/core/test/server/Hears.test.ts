import { assert, describe, it } from "@effect/vitest"
import { Effect, Scope } from "effect"
import * as Ask from "../../src/server/Ask.ts"
import * as Client from "../../src/server/Client.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import { notification, opened, serve } from "./harness.ts"

const visit = Tool.make("visit", { description: "Sends to a page" }, () =>
  Effect.map(
    Client.ask({ page: Ask.url({ message: "Sign in", url: "https://example.com/in", id: "visit-1" }) }),
    ({ page }) => page.action
  ))

const served = serve(Server.layerDispatch({ name: "s", version: "1" }, visit))
const visits = { elicitation: { url: {} } }

describe("a visit that is done", () => {
  it.effect("is told once, to the client that was sent there and to no other", () =>
    Effect.gen(function*() {
      const server = yield* served
      const client = yield* opened(server, "2025-11-25", visits, "ann")
      const other = yield* opened(server, "2025-11-25", visits, "bob")
      yield* client.send("tools/call", { name: "visit" })
      assert.match(client.take()[0]?.text ?? "", /"elicitationId":"visit-1"/)
      yield* server.registry.visited("visit-2")
      assert.deepStrictEqual(client.take(), [])
      yield* server.registry.visited("visit-1")
      yield* server.registry.visited("visit-1")
      assert.deepStrictEqual(client.take().map(({ text }) => text), [
        `{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"visit-1"}}`
      ])
      assert.deepStrictEqual(other.take(), [])
    }))

  it.effect("is not told in 2026-07-28, which has no such message", () =>
    Effect.gen(function*() {
      const server = yield* served
      const client = yield* opened(server, "2026-07-28", visits)
      yield* client.send("tools/call", { name: "visit" })
      assert.notInclude(client.take()[0]?.text ?? "", "elicitationId")
      yield* server.registry.visited("visit-1")
      assert.deepStrictEqual(client.take(), [])
    }))
})

describe("a change of roots", () => {
  const changed = notification("notifications/roots/list_changed")
  const roots = { roots: { listChanged: true } }

  it.effect("runs the handlers with the client at hand, once more for all that comes meanwhile, until the scope ends", () =>
    Effect.gen(function*() {
      const server = yield* served
      const heard: Array<string> = []
      const scope = yield* Scope.make()
      yield* server.registry.onRootsChanged(
        Effect.gen(function*() {
          const { who } = yield* Client.Client
          const { roots } = yield* Effect.orDie(Client.ask({ roots: Ask.roots }))
          heard.push(`${who}: ${roots.map(({ uri }) => uri).join()}`)
        })
      ).pipe(Scope.provide(scope))
      const client = yield* opened(server, "2025-06-18", roots, "ann")
      const other = yield* opened(server, "2025-06-18", roots, "bob")
      yield* client.says(changed, changed, changed)
      const asked = () => client.take().filter(({ method }) => method === "roots/list")
      const answer = (id: string | undefined, uri: string) =>
        client.says(`{"jsonrpc":"2.0","id":${id},"result":{"roots":[{"uri":"${uri}"}]}}`)
      const first = asked()
      assert.strictEqual(first.length, 1)
      yield* answer(first[0]?.id, "file:///a")
      const second = asked()
      assert.strictEqual(second.length, 1)
      yield* answer(second[0]?.id, "file:///b")
      assert.deepStrictEqual(asked(), [])
      assert.deepStrictEqual(heard, ["ann: file:///a", "ann: file:///b"])
      assert.deepStrictEqual(other.take(), [])
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      yield* client.says(changed)
      assert.deepStrictEqual(asked(), [])
    }))

  it.effect("a handler that breaks does not keep the next change from being heard", () =>
    Effect.gen(function*() {
      const server = yield* served
      let runs = 0
      yield* server.registry.onRootsChanged(Effect.suspend(() => {
        runs++
        return Effect.die(new Error("no"))
      }))
      const client = yield* opened(server, "2025-06-18", roots)
      yield* client.says(changed)
      yield* client.says(changed)
      assert.strictEqual(runs, 2)
    }))
})
