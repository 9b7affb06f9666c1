import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Refusal from "../../src/line/Refusal.ts"
import type { Refused, Text } from "../../src/wire/Message.ts"
import * as Reason from "../../src/wire/Reason.ts"
import * as T from "../../src/wire/Text.ts"

const reasons = Reason.Reason.literals

/** What would loosen something if a model or a person copied it: a command of ours, a flag, a path of the state. */
const command =
  /\bsallyport\s|\bpins\s+(?:accept|show|diff|reject)|\baccept\b|--[a-z]|first-sight|\bsudo\b|`|\$\(|\/dev\/tty|\.json\b/

const codeOf = (error: Text): number => Number(T.member(error, "code"))
const messageOf = (error: Text): string => T.string(T.member(error, "message") ?? T.quote("")) ?? ""

describe("texts that a model reads (F1)", () => {
  for (const reason of reasons) {
    it(`of ${reason} hold no command that would loosen anything, and a code outside the reserved range`, () => {
      const { error } = Refusal.failure(reason, { server: "notes", item: "read", more: "more" })
      assert.notMatch(messageOf(error), command)
      const code = codeOf(error)
      assert.isTrue(code >= -32_768 && code <= -32_600, String(code))
      assert.isFalse(code >= -32_099 && code <= -32_000)
      assert.isTrue(messageOf(error).startsWith("Sallyport: "))
      assert.deepStrictEqual(T.members(T.member(error, "data") ?? T.object([])).map(([name]) => name), [
        "reason",
        "server",
        "item"
      ])
    })
  }

  it("of everything that is held say that a person must review it", () => {
    for (const reason of ["held-new", "held-changed", "held-conflict", "launch-changed"] as const) {
      assert.include(messageOf(Refusal.failure(reason).error), "a person must review it")
    }
  })
})

describe("refusals", () => {
  it("are well-formed whatever the names in them are", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...reasons),
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary" }),
        (reason, item, more) => {
          const { error } = Refusal.failure(reason, { server: "notes", item, more })
          assert.notMatch(error, /[\n\r\u0085\u2028\u2029]/)
          const value: unknown = JSON.parse(error)
          assert.isObject(value)
          assert.strictEqual(
            T.string(T.member(T.member(error, "data") ?? T.object([]), "reason") ?? T.object([])),
            reason
          )
        }
      )
    )
  })

  it("of lines say rule, pointer and offset", () => {
    fc.assert(fc.property(fc.constantFrom(...reasons), fc.string(), fc.nat(), (reason, pointer, offset) => {
      const item: Refused = { _tag: "Refused", reason, kind: "response", id: undefined, pointer, offset }
      for (const { error } of [Refusal.refused(item), Refusal.badAnswer(item)]) {
        const data = T.member(error, "data") ?? T.object([])
        assert.strictEqual(T.member(data, "rule"), T.quote(reason))
        assert.strictEqual(T.member(data, "pointer"), T.quote(pointer))
        assert.strictEqual(T.member(data, "offset"), String(offset))
        assert.include(messageOf(error), `byte ${offset}`)
      }
    }))
  })

  it("of a bad answer are the server's fault, of a bad line the sender's", () => {
    const item: Refused = {
      _tag: "Refused",
      reason: "duplicate-member",
      kind: "response",
      id: undefined,
      pointer: "/a",
      offset: 3
    }
    assert.strictEqual(codeOf(Refusal.badAnswer(item).error), -32_603)
    assert.strictEqual(codeOf(Refusal.refused(item).error), -32_600)
  })

  it("of a server that ended are known by what they are, not by what they say", () => {
    const ended = Refusal.serverEnded("notes", "exit code 1")
    assert.isTrue(Refusal.isServerEnded(ended))
    assert.isFalse(Refusal.isServerEnded({ ...ended }))
    assert.isFalse(Refusal.isServerEnded(Refusal.failure("server-ended", { server: "notes", more: "exit code 1" })))
  })
})

describe("what the gate refuses", () => {
  const verdict = { rule: "no-writing", why: "writing is for /srv/notes", remedy: "Ask the operator" }

  it("is a result with isError for a tool call, an error for every other method", () => {
    const result = Refusal.denied("tools/call", "denied", verdict, { server: "notes", item: "write" })
    assert.strictEqual(
      result._tag === "Result" ? result.result : "",
      `{"content":[{"type":"text","text":"Sallyport refused this call. Rule: no-writing. Why: writing is for /srv/notes. Ask the operator."}],"isError":true}`
    )
    for (const method of ["prompts/get", "resources/read", "sampling/createMessage", "x/y", "tools/Call"]) {
      assert.strictEqual(
        Refusal.denied(method, "denied", verdict, { server: "notes", item: undefined })._tag,
        "Failure"
      )
    }
  })

  it("is well-formed whatever the policy says", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary" }),
        (rule, why, remedy) => {
          const reply = Refusal.denied("tools/call", "denied", { rule, why, remedy }, { server: "notes", item: "x" })
          const value: unknown = JSON.parse(reply._tag === "Result" ? reply.result : "")
          assert.isObject(value)
        }
      )
    )
  })
})
