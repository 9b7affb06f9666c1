import { assert, describe, it } from "@effect/vitest"
import * as Limits from "@sallyport/core/policy/Limits"
import type { Limit } from "@sallyport/core/policy/Policy"
import * as Duration from "effect/Duration"
import * as fc from "fast-check"

const limit = (given: Partial<Limit> & { readonly id: string }): Limit => ({
  match: { name: ["*"] },
  calls: undefined,
  per: undefined,
  concurrent: undefined,
  budget: undefined,
  at: { line: 1, column: 1 },
  ...given
})

const perMinute = (calls: number, id = "minute"): Limit => limit({ id, calls, per: Duration.minutes(1) })

const subject = (given: Partial<Limits.Subject> = {}): Limits.Subject => ({
  client: "editor",
  server: "files",
  method: "tools/call",
  name: "read",
  ...given
})

const minute = 60_000

describe("Limits", () => {
  it("counts each client, server and tool by itself", () => {
    const uses = Limits.compile([perMinute(1)])
    const buckets = Limits.make()
    const different = [
      {},
      { client: "other" },
      { server: "notes" },
      { name: "write" },
      { method: "prompts/get" }
    ]
    for (const one of different) assert.isUndefined(buckets.take(uses(subject(one)), 0))
    for (const one of different) assert.strictEqual(buckets.take(uses(subject(one)), 0)?.what, "calls")
  })

  it("counts all URIs of a method together: who asks chooses them", () => {
    const uses = Limits.compile([perMinute(2)])
    const buckets = Limits.make()
    const read = (name: string) => buckets.take(uses(subject({ method: "resources/read", name })), 0)
    assert.isUndefined(read("file:///a"))
    assert.isUndefined(read("file:///b"))
    assert.strictEqual(read("file:///c")?.what, "calls")
  })

  it("is under the limits that match, by client, server, method and name", () => {
    const uses = Limits.compile([
      { ...perMinute(1, "writes"), match: { name: ["write_*", "edit_*"], method: ["tools/call"] } },
      { ...perMinute(1, "guest"), match: { client: ["guest"], server: ["files"] } }
    ])
    const of = (given: Partial<Limits.Subject>) => uses(subject(given)).map(({ limit }) => limit.id)
    assert.deepStrictEqual(of({ name: "edit_line" }), ["writes"])
    assert.deepStrictEqual(of({ name: "edit_line", client: "guest" }), ["writes", "guest"])
    assert.deepStrictEqual(of({ name: "edit_line", method: "prompts/get" }), [])
    assert.deepStrictEqual(of({ client: "guest", server: "notes" }), [])
    assert.deepStrictEqual(of({ client: "guest", name: undefined, method: "ping" }), ["guest"])
  })

  it("lets a bucket be emptied at once, and fills it bit by bit", () => {
    const uses = Limits.compile([perMinute(3)])(subject())
    const buckets = Limits.make()
    for (let i = 0; i < 3; i++) assert.isUndefined(buckets.take(uses, 1000))
    const over = buckets.take(uses, 1000)
    assert.strictEqual(over?.free, 20_000)
    assert.strictEqual(over === undefined ? "" : Limits.remedy(over), "It is free again in 20 seconds")
    assert.strictEqual(over === undefined ? "" : Limits.why(over), "at most 3 calls are let through in 1 minute")
    assert.strictEqual(buckets.take(uses, 20_999)?.free, 1)
    assert.isUndefined(buckets.take(uses, 21_000))
    assert.isDefined(buckets.take(uses, 21_000))
    // It never holds more than its capacity.
    for (let i = 0; i < 3; i++) assert.isUndefined(buckets.take(uses, 3_600_000))
    assert.isDefined(buckets.take(uses, 3_600_000))
  })

  it("counts what is under way until it ends, and once only", () => {
    const uses = Limits.compile([limit({ id: "two", concurrent: 2 })])(subject())
    const buckets = Limits.make()
    assert.isUndefined(buckets.take(uses, 0))
    assert.isUndefined(buckets.take(uses, 0))
    assert.strictEqual(buckets.take(uses, minute)?.what, "concurrent")
    buckets.end(uses)
    assert.isUndefined(buckets.take(uses, minute))
    assert.isDefined(buckets.take(uses, minute))
  })

  it("never gives a budget back, however much time passes", () => {
    const uses = Limits.compile([limit({ id: "all", budget: 2 })])(subject())
    const buckets = Limits.make()
    for (let i = 0; i < 2; i++) {
      assert.isUndefined(buckets.take(uses, i))
      buckets.end(uses)
    }
    const over = buckets.take(uses, Number.MAX_SAFE_INTEGER)
    assert.strictEqual(over?.what, "budget")
    assert.isUndefined(over?.free)
  })

  it("takes from all of the limits or from none", () => {
    const uses = Limits.compile([perMinute(10, "many"), limit({ id: "one", budget: 1 })])(subject())
    const buckets = Limits.make()
    assert.isUndefined(buckets.take(uses, 0))
    for (let i = 0; i < 20; i++) assert.strictEqual(buckets.take(uses, 0)?.limit.id, "one")
    const { kept } = buckets.merge("files", Limits.nothing, { now: 0, wall: 0 })
    assert.strictEqual(kept.buckets.find((bucket) => bucket.limit === "many")?.owed, 6_000)
  })

  it("undoes what was taken", () => {
    const uses = Limits.compile([limit({ id: "all", calls: 1, per: Duration.minutes(1), concurrent: 1, budget: 1 })])(
      subject()
    )
    const buckets = Limits.make()
    assert.isUndefined(buckets.take(uses, 0))
    buckets.undo(uses)
    assert.isFalse(buckets.isFresh("files"))
    assert.isUndefined(buckets.take(uses, 0))
  })

  it("has room for so many buckets, forgets those that are full again, and refuses beyond", () => {
    const uses = Limits.compile([perMinute(1)])
    const buckets = Limits.make(2)
    const take = (name: string, now: number) => {
      const taken = buckets.take(uses(subject({ name })), now)
      buckets.end(uses(subject({ name })))
      const { done } = buckets.merge("files", Limits.nothing, { now, wall: now })
      done()
      return taken
    }
    assert.isUndefined(take("a", 0))
    assert.isUndefined(take("b", 0))
    assert.strictEqual(take("c", 0)?.what, "buckets")
    assert.isUndefined(take("c", minute))
  })

  describe("what is kept", () => {
    const uses = Limits.compile([
      limit({ id: "all", calls: 2, per: Duration.minutes(1) }),
      limit({ id: "sum", budget: 5 })
    ])(subject())

    /** A process that used it `times` times at `wall`, and what is kept then. */
    const used = (times: number, wall: number, kept = Limits.nothing): Limits.Kept => {
      const buckets = Limits.make()
      buckets.merge("files", kept, { now: 7, wall }).done()
      for (let i = 0; i < times; i++) assert.isUndefined(buckets.take(uses, 7))
      const merged = buckets.merge("files", kept, { now: 7, wall })
      merged.done()
      assert.isFalse(buckets.isFresh("files"))
      return merged.kept
    }
    const left = (kept: Limits.Kept, wall: number): number => {
      const buckets = Limits.make()
      buckets.merge("files", kept, { now: 99, wall }).done()
      let count = 0
      while (buckets.take(uses, 99) === undefined) count++
      return count
    }

    it("F30: a bucket gains the time between two processes, at most its capacity", () => {
      const kept = used(2, 1_000_000)
      assert.strictEqual(left(kept, 1_000_000), 0)
      assert.strictEqual(left(kept, 1_030_000), 1)
      assert.strictEqual(left(kept, 1_060_000), 2)
      assert.strictEqual(left(kept, 9_000_000_000), 2)
    })

    it("F30: a clock that was set back gives nothing", () => {
      const kept = used(2, 1_000_000)
      assert.strictEqual(left(kept, 0), 0)
      assert.strictEqual(left(kept, -5_000_000), 0)
    })

    it("F30: a clock that is set forward under a running process gives nothing", () => {
      const buckets = Limits.make()
      buckets.take(uses, 0)
      buckets.take(uses, 0)
      const first = buckets.merge("files", Limits.nothing, { now: 0, wall: 1_000_000 })
      first.done()
      const second = buckets.merge("files", first.kept, { now: 1, wall: 9_000_000_000 })
      second.done()
      assert.strictEqual(buckets.take(uses, 1)?.what, "calls")
      assert.strictEqual(second.kept.buckets.find((bucket) => bucket.limit === "all")?.owed, 59_999)
    })

    it("keeps what is spent across processes, and adds up what several of them spend", () => {
      const one = used(2, 0)
      const two = used(2, minute, one)
      assert.strictEqual(two.buckets.find((bucket) => bucket.limit === "sum")?.spent, 4)
      assert.strictEqual(left(two, 10 * minute), 1)
    })

    it("lets processes see what the others used", () => {
      const here = Limits.make()
      const there = Limits.make()
      assert.isUndefined(here.take(uses, 0))
      const first = here.merge("files", Limits.nothing, { now: 0, wall: 0 })
      first.done()
      assert.isUndefined(there.take(uses, 500))
      const second = there.merge("files", first.kept, { now: 500, wall: 0 })
      second.done()
      assert.strictEqual(there.take(uses, 500)?.what, "calls")
      here.merge("files", second.kept, { now: 0, wall: 0 }).done()
      assert.strictEqual(here.take(uses, 0)?.what, "calls")
    })

    it("does not forget what was used while it was being written", () => {
      const buckets = Limits.make()
      buckets.take(uses, 0)
      const merged = buckets.merge("files", Limits.nothing, { now: 0, wall: 0 })
      buckets.take(uses, 0)
      merged.done()
      assert.isTrue(buckets.isFresh("files"))
      assert.strictEqual(buckets.take(uses, 0)?.what, "calls")
      const after = buckets.merge("files", merged.kept, { now: 0, wall: 0 })
      assert.strictEqual(after.kept.buckets.find((bucket) => bucket.limit === "sum")?.spent, 2)
    })

    it("keeps what was spent of a limit that the policy has no more", () => {
      const buckets = Limits.make()
      const other = Limits.compile([perMinute(1, "new")])(subject())
      const kept = used(2, 0)
      buckets.merge("files", kept, { now: 0, wall: 0 }).done()
      buckets.take(other, 0)
      const merged = buckets.merge("files", kept, { now: 0, wall: 0 })
      assert.strictEqual(merged.kept.buckets.find((bucket) => bucket.limit === "sum")?.spent, 2)
    })
  })

  it("never lets more through than capacity and time allow, in any order of calls, restarts and clocks", () => {
    const capacity = 3
    const uses = Limits.compile([perMinute(capacity)])(subject())
    const step = fc.oneof(
      fc.record({ _tag: fc.constant("call" as const) }),
      fc.record({ _tag: fc.constant("wait" as const), millis: fc.nat(45_000) }),
      fc.record({ _tag: fc.constant("back" as const), millis: fc.nat(10_000_000) }),
      fc.record({ _tag: fc.constant("keep" as const) }),
      fc.record({ _tag: fc.constant("restart" as const) })
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let buckets = Limits.make()
      let kept = Limits.nothing
      let now = 0
      let wall = 1_000_000
      const passed: Array<number> = []
      const keep = () => {
        const merged = buckets.merge("files", kept, { now, wall })
        kept = merged.kept
        merged.done()
      }
      for (const one of steps) {
        if (one._tag === "wait") {
          now += one.millis
          wall += one.millis
        } else if (one._tag === "back") wall -= one.millis
        else if (one._tag === "keep") keep()
        else if (one._tag === "restart") {
          keep()
          buckets = Limits.make()
          keep()
        } else {
          if (buckets.take(uses, now) === undefined) passed.push(now)
          buckets.end(uses)
        }
      }
      // In any span of time no more than the capacity and what the span filled again.
      for (let from = 0; from < passed.length; from++) {
        for (let to = from; to < passed.length; to++) {
          const span = (passed[to] ?? 0) - (passed[from] ?? 0)
          assert.isAtMost(to - from + 1, capacity + span * capacity / minute + 1e-3)
        }
      }
    }))
  })
})
