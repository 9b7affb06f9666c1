import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import * as Approval from "../../src/line/Approval.ts"
import * as Notices from "../../src/line/Notices.ts"
import * as NodeSeal from "../../src/node/NodeSeal.ts"
import * as Ask from "../../src/server/Ask.ts"
import * as Client from "../../src/server/Client.ts"
import * as Guarded from "../../src/server/Guarded.ts"
import { Registry } from "../../src/server/Registry.ts"
import * as Server from "../../src/server/Server.ts"
import * as Tool from "../../src/server/Tool.ts"
import * as Approvals from "../../src/stage/Approvals.ts"
import * as Gate from "../../src/stage/Gate.ts"
import * as Ledger from "../../src/stage/Ledger.ts"
import * as PinStore from "../../src/stage/PinStore.ts"
import { adjust, cancel, opened, serve } from "./harness.ts"

const tool = (name: string) => Tool.make(name, { description: name }, () => Effect.succeed(`${name} ran`))
const slow = Tool.make("slow", { description: "slow" }, () => Effect.as(Effect.sleep("1 second"), "slow done"))
const asks = Tool.make(
  "asks",
  { description: "asks" },
  () => Effect.map(Client.ask({ roots: Ask.roots }), ({ roots }) => `${roots.length} roots`)
)

const own = Server.layerDispatch({ name: "notes", version: "1" }, tool("read"), tool("write"), slow, asks)

const guarded = Effect.fnUntraced(function*(
  table: ReadonlyMap<string, Gate.Verdict>,
  firstSight: Guarded.Options["firstSight"] = "trust",
  asking: Layer.Layer<never> = Layer.empty
) {
  const memory = Ledger.makeMemory()
  const told: Array<string> = []
  const guard = Layer.mergeAll(
    asking,
    Gate.layerTable(table),
    Layer.succeed(Ledger.Ledger, memory.ledger),
    PinStore.layerMemory,
    Notices.layerTell((sentence) => void told.push(sentence))
  )
  const server = Guarded.layer({ server: "notes", firstSight })(own).pipe(Layer.provide(guard))
  // The harness hands out a registry; nobody uses this one.
  const registry = Layer.effect(Registry, Registry).pipe(Layer.provide(own))
  return { memory, told, served: yield* serve(Layer.merge(server, registry)) }
})

const refuse: Gate.Verdict = { _tag: "Refuse", rule: "no-writing", why: "it writes", remedy: "read instead" }

describe("Guarded", () => {
  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`${revision}: one's own tools behind a gate and a ledger`, () =>
      Effect.gen(function*() {
        const { memory, served } = yield* guarded(
          new Map<string, Gate.Verdict>([["read", Gate.allow], ["slow", Gate.allow], ["asks", Gate.allow], [
            "roots/list",
            Gate.allow
          ], [
            "write",
            refuse
          ]])
        )
        const client = yield* opened(served, revision, { roots: {} }, "ann")
        const listed = yield* client.asks("tools/list")
        assert.deepStrictEqual(
          Schema.decodeUnknownSync(Schema.Struct({ tools: Schema.Array(Schema.Struct({ name: Schema.String })) }))(
            listed.result
          ).tools.map(({ name }) => name),
          ["read", "slow", "asks"]
        )
        assert.include((yield* client.asks("tools/call", { name: "read" })).text, "read ran")
        const refused = yield* client.asks("tools/call", { name: "write" })
        assert.include(refused.text, "no-writing")
        assert.notInclude(refused.text, "write ran")

        const id = yield* client.send("tools/call", { name: "slow" })
        yield* adjust("1 second")
        assert.include(client.answerTo(id)?.text ?? "", "slow done")
        const given = yield* client.send("tools/call", { name: "slow" })
        yield* client.says(cancel(given))
        yield* adjust("1 second")
        assert.isUndefined(client.answerTo(given))

        const entries = memory.written()
        assert.isTrue(entries.some((entry) => entry.type === "call" && entry.name === "read" && entry.client === "ann"))
        assert.isTrue(entries.some((entry) => entry.type === "refuse" && entry.name === "write"))
      }))
  }

  it.effect("F16: a question is answered on whichever connection its client comes back, and by nobody else", () =>
    Effect.gen(function*() {
      const { served } = yield* guarded(new Map([["asks", Gate.allow], ["roots/list", Gate.allow]]))
      const capabilities = { roots: {} }
      const Round = Schema.Struct({ resultType: Schema.Literal("input_required"), requestState: Schema.String })
      const ask = Effect.fnUntraced(function*() {
        const answer = yield* call("ann", {})
        return Schema.decodeUnknownSync(Round)(answer?.result).requestState
      })
      /** Each call comes on a connection of its own. */
      const call = Effect.fnUntraced(function*(client: string, params: Record<string, unknown>) {
        const own = yield* opened(served, "2026-07-28", capabilities, client)
        const id = yield* own.send("tools/call", { name: "asks", ...params })
        yield* adjust("1 second")
        return own.answerTo(id)
      })
      const retry = (requestState: string, client: string) =>
        call(client, { requestState, inputResponses: { roots: { roots: [{ uri: "file:///a" }] } } })
      assert.include((yield* retry(yield* ask(), "ann"))?.text ?? "", "1 roots")
      const other = yield* retry(yield* ask(), "bob")
      assert.isDefined(other)
      assert.notInclude(other?.text ?? "", "1 roots")
    }))

  it.effect("what the tool asks of the client is gated too", () =>
    Effect.gen(function*() {
      const { served } = yield* guarded(new Map([["asks", Gate.allow]]))
      const client = yield* opened(served, "2025-11-25", { roots: {} })
      yield* client.asks("tools/list")
      const answer = yield* client.asks("tools/call", { name: "asks" })
      assert.include(answer.text, "The client refused roots/list")
      assert.isFalse(client.saw().some(({ method }) => method === "roots/list"))
    }))

  it.effect("asks a person of the embedder's own, where the layers for it are there", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const asking = yield* Layer.build(
        Approval.layer().pipe(Layer.provideMerge(Layer.mergeAll(
          Approvals.layerMemory(),
          NodeSeal.layer,
          Notices.layerTell((sentence) => void told.push(sentence))
        )))
      )
      const approvals = Context.get(asking, Approvals.Approvals)
      const ask: Gate.Verdict = { _tag: "Ask", rule: "ask", why: "it writes", via: "any" }
      const { served } = yield* guarded(new Map([["write", ask]]), "trust", Layer.succeedContext(asking))
      const client = yield* opened(served, "2025-11-25", {})
      for (const [choice, expected] of [["allow", "write ran"], ["deny", "did not allow this"]] as const) {
        const id = yield* client.send("tools/call", { name: "write" })
        assert.isUndefined(client.answerTo(id))
        const [waiting] = yield* approvals.pending
        if (waiting === undefined) return assert.fail("no question waits")
        yield* approvals.answer(waiting.approval.id, waiting.approval.digest, choice)
        yield* adjust(0)
        assert.include(client.answerTo(id)?.text ?? "", expected)
      }
      assert.match(told[0] ?? "", /^a call of notes waits for a person where questions are answered: [a-z2-9]{8}$/)
    }))

  it.effect("notices name no command, since an embedder may have none", () =>
    Effect.gen(function*() {
      const { served, told } = yield* guarded(new Map([["write", refuse]]), "hold")
      const client = yield* opened(served, "2025-11-25", {})
      yield* client.asks("tools/list")
      yield* client.asks("tools/call", { name: "write" })
      assert.isTrue(told.some((sentence) => /^4 of the tools of notes are held$/.test(sentence)), told.join("\n"))
      assert.isTrue(told.some((sentence) => sentence.startsWith("a call to notes was refused (")), told.join("\n"))
      for (const sentence of told) assert.notMatch(sentence, /\bsallyport [a-z]|--[a-z]/)
    }))
})
