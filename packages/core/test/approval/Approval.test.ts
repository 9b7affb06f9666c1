import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Approval from "../../src/approval/Approval.ts"
import { Text } from "../../src/wire/Message.ts"

const text = (json: string) => Text.make(json)

const question: Approval.Question = {
  client: "desk",
  server: "files",
  from: "host",
  method: "tools/call",
  name: "delete",
  arguments: text(`{"name":"delete","arguments":{"count":1}}`),
  pin: "aa",
  policy: "p1",
  rule: "ask-deletes",
  why: "deleting is final",
  via: "any",
  chain: "c1"
}

const other = (changes: Partial<Approval.Question>): Approval.Question => ({ ...question, ...changes })

describe("Approval", () => {
  it("binds a question to everything that it is about", () => {
    const { name: _, ...nameless } = question
    const { pin: __, ...pinless } = question
    const all = [
      question,
      nameless,
      pinless,
      other({ client: "x" }),
      other({ server: "x" }),
      other({ from: "server" }),
      other({ method: "x" }),
      other({ name: "x" }),
      other({ name: "" }),
      other({ arguments: text(`{"name":"delete","arguments":{"count":1.0}}`) }),
      other({ arguments: text(`{"name":"delete","arguments":{"count":1e0}}`) }),
      other({ arguments: text(`{"arguments":{"count":1},"name":"delete"}`) }),
      other({ pin: "ab" }),
      other({ policy: "p2" }),
      other({ rule: "x" }),
      other({ why: "x" }),
      other({ via: "terminal" }),
      other({ chain: "c2" })
    ].map(Approval.digestOf)
    assert.strictEqual(new Set(all).size, all.length)
    assert.strictEqual(Approval.digestOf({ ...question }), Approval.digestOf(question))
  })

  it("takes from the params what belongs to the request, not to its round", () => {
    assert.strictEqual(
      Approval.argumentsOf(
        text(`{"_meta":{"progressToken":1},"name":"a","arguments":{"n":1.0},"inputResponses":{},"requestState":"s"}`)
      ),
      `{"name":"a","arguments":{"n":1.0}}`
    )
    assert.strictEqual(Approval.argumentsOf(undefined), "{}")
  })

  // ---- properties

  const lifetime = 300_000
  const mine = Approval.digestOf(question)
  const digest = fc.constantFrom(
    mine,
    mine,
    Approval.digestOf(other({ arguments: text(`{"name":"delete","arguments":{"count":1.0}}`) }))
  )
  const now = fc.integer({ min: 0, max: 2 * lifetime })
  const event: fc.Arbitrary<Approval.Event> = fc.oneof(
    fc.record({
      _tag: fc.constant("Answer" as const),
      choice: fc.constantFrom("allow", "allow", "deny"),
      channel: fc.constantFrom("host", "terminal"),
      digest,
      now
    }),
    fc.record({ _tag: fc.constant("Expire" as const), now }),
    fc.record({ _tag: fc.constant("Withdraw" as const) }),
    fc.record({ _tag: fc.constant("Use" as const), digest, now })
  )
  const asked = fc.record({
    via: fc.constantFrom<Approval.Via>("any", "terminal"),
    events: fc.array(event, { maxLength: 12 })
  })

  /** Plays the events, and gives those of them by which a call was let through, with what came before each. */
  const play = (via: Approval.Via, events: ReadonlyArray<Approval.Event>) => {
    const at = via === "any" ? question : other({ via })
    let self = Approval.ask("id", at, 0, lifetime)
    const used: Array<{ readonly event: Approval.Event; readonly before: ReadonlyArray<Approval.Event> }> = []
    events.forEach((event, index) => {
      // The digests of the events are those of `any`: the question in hand has its own.
      const meant = "digest" in event && event.digest === mine ? { ...event, digest: Approval.digestOf(at) } : event
      const next = Approval.step(self, meant)
      if (Approval.lets(self, next)) used.push({ event, before: events.slice(0, index) })
      self = next
    })
    return used
  }

  it("lets nothing through that nobody allowed, in time, for exactly this call", () => {
    fc.assert(
      fc.property(asked, ({ events, via }) => {
        for (const { before, event } of play(via, events)) {
          assert.strictEqual(event._tag, "Use")
          if (event._tag === "Use") {
            assert.strictEqual(event.digest, mine)
            assert.isBelow(event.now, lifetime)
          }
          const first = before.find((each) =>
            each._tag === "Answer" && each.digest === mine && each.now < lifetime &&
            (each.choice === "deny" || via === "any" || each.channel === "terminal")
          )
          assert.isTrue(
            first?._tag === "Answer" && first.choice === "allow",
            "the first answer that counts was no allow"
          )
          assert.isFalse(before.some((each) => each._tag === "Withdraw"), "it was withdrawn before")
        }
      }),
      { numRuns: 2000 }
    )
  })

  it("uses one approval at most once", () => {
    fc.assert(
      fc.property(asked, ({ events, via }) => {
        assert.isAtMost(play(via, events).length, 1)
      }),
      { numRuns: 2000 }
    )
  })

  it("is not for ever stuck: allowed, it lets its call through", () => {
    const allow: Approval.Event = { _tag: "Answer", choice: "allow", channel: "host", digest: mine, now: 1 }
    assert.strictEqual(play("any", [allow, { _tag: "Use", digest: mine, now: 2 }]).length, 1)
  })

  it("F15: takes no yes of the host's where only the terminal may answer, but takes its no", () => {
    const self = Approval.ask("id", other({ via: "terminal" }), 0, lifetime)
    const answer = { _tag: "Answer", channel: "host", digest: self.digest, now: 1 } as const
    assert.strictEqual(Approval.step(self, { ...answer, choice: "allow" }), self)
    assert.strictEqual(Approval.step(self, { ...answer, choice: "deny" }).state._tag, "Denied")
  })

  it("F30: an approval that has expired stays so when the clock is set back", () => {
    const self = Approval.ask("id", question, 0, lifetime)
    const late = Approval.step(self, { _tag: "Expire", now: lifetime })
    assert.strictEqual(late.state._tag, "Expired")
    assert.strictEqual(
      Approval.step(late, { _tag: "Answer", choice: "allow", channel: "terminal", digest: mine, now: 1 }),
      late
    )
  })
})
