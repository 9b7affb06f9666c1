import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as H from "./harness.ts"

describe("HttpTransport, legacy sessions", () => {
  it.effect("mints a session with the result of initialize, and with nothing else", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const { now } = yield* http.post(H.initialize())
      assert.strictEqual(now.status, 200)
      assert.match(now.headers.get("mcp-session-id") ?? "", /^[0-9a-f]{32}$/)
      assert.strictEqual(now.headers.get("cache-control"), "no-store")
      assert.strictEqual(now.json().result?.protocolVersion, "2025-11-25")
      const id = now.headers.get("mcp-session-id") ?? ""
      const accepted = yield* http.post(H.notification("notifications/initialized"), { "mcp-session-id": id })
      assert.strictEqual(accepted.now.status, 202)
      assert.strictEqual(accepted.now.body(), "")
      const listed = yield* http.post(H.request(1, "tools/list"), { "mcp-session-id": id })
      assert.strictEqual(listed.now.json().result?.tools?.length, 7)
      assert.strictEqual(listed.now.headers.get("mcp-session-id"), null)
    }))

  it.effect("sends progress to the POST that has its token, then the answer, and ends that stream", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const { now } = yield* http.post(H.call(1, "progress", {}, { _meta: { progressToken: "t" } }), {
        "mcp-session-id": id
      })
      assert.strictEqual(now.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(now.headers.get("x-accel-buffering"), "no")
      const [primed, ...rest] = now.events()
      assert.strictEqual(primed?.data, "")
      assert.strictEqual(primed?.retry, "1000")
      assert.isDefined(primed?.id)
      assert.deepStrictEqual(
        now.messages().map((message) => message.method ?? message.id),
        ["notifications/progress", "notifications/progress", "notifications/progress", 1]
      )
      assert.strictEqual(new Set(rest.map((event) => event.id)).size, 4)
      assert.isTrue(now.done())
    }))

  it.effect("does not prime streams of revisions before 2025-11-25", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open("2025-06-18")
      const { now } = yield* http.post(H.call(1, "progress", {}, { _meta: { progressToken: 7 } }), {
        "mcp-session-id": id
      })
      assert.deepStrictEqual(now.events()[0], { id: undefined, retry: "1000", event: undefined, data: undefined })
      assert.strictEqual(now.messages().length, 4)
    }))

  it.effect("asks the client on the one open POST, and takes its answer", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const asking = yield* http.post(H.call(1, "ask"), { "mcp-session-id": id })
      const [asked] = asking.now.messages()
      assert.strictEqual(asked?.method, "sampling/createMessage")
      assert.isFalse(asking.now.done())
      const answered = yield* http.post(
        {
          jsonrpc: "2.0",
          id: asked?.id,
          result: { role: "assistant", content: { type: "text", text: "x" }, model: "m" }
        },
        { "mcp-session-id": id }
      )
      assert.strictEqual(answered.now.status, 202)
      assert.strictEqual(H.said(asking.now.messages().at(-1)), "asked")
      assert.isTrue(asking.now.done())
    }))

  it.effect("keeps what belongs to no request for a GET, and sends it there from then on", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const back = http.seen.backs[0]
      back?.notify("notifications/tools/list_changed", undefined)
      yield* back?.flush ?? Effect.void
      const get = yield* http.send("GET", { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id })
      assert.strictEqual(get.now.status, 200)
      assert.deepStrictEqual(get.now.messages().map((m) => m.method), ["notifications/tools/list_changed"])
      const post = yield* http.post(H.call(1, "changed"), { "mcp-session-id": id })
      assert.strictEqual(post.now.headers.get("content-type"), "application/json")
      assert.strictEqual(get.now.messages().length, 2)
      assert.isFalse(get.now.done())
    }))

  it.effect("sends a message to one stream only", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const headers = { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id }
      const first = yield* http.send("GET", headers)
      const second = yield* http.send("GET", headers)
      yield* http.post(H.call(1, "changed"), { "mcp-session-id": id })
      assert.deepStrictEqual([first.now.messages().length, second.now.messages().length], [0, 1])
    }))

  it.effect("becomes a stream of events when the answer is long in coming, and stays alive by comments", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      assert.isUndefined(held.response())
      yield* TestClock.adjust("500 millis")
      yield* H.settle
      assert.strictEqual(held.now.headers.get("content-type"), "text/event-stream")
      yield* TestClock.adjust("15 seconds")
      yield* H.settle
      assert.isTrue(held.now.body().endsWith("\n\n:\n\n"))
      http.seen.held[0]?.reply(H.text("late"))
      yield* http.seen.backs[0]?.flush ?? Effect.void
      yield* H.settle
      assert.strictEqual(H.said(held.now.messages()[0]), "late")
      assert.isTrue(held.now.done())
    }))

  it.effect("does not cancel a call whose connection closes, and gives its answer to who resumes the stream", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      yield* TestClock.adjust("500 millis")
      yield* H.settle
      const last = held.now.events()[0]?.id
      yield* held.leave
      assert.deepStrictEqual(http.seen.cancelled, [])
      http.seen.held[0]?.reply(H.text("kept"))
      yield* http.seen.backs[0]?.flush ?? Effect.void
      const headers = { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id, "last-event-id": last }
      const resumed = yield* http.send("GET", headers)
      assert.strictEqual(H.said(resumed.now.messages()[0]), "kept")
      assert.isTrue(resumed.now.done())
      // All of it was had: a reader need not come again.
      const again = yield* http.send("GET", { ...headers, "last-event-id": resumed.now.events()[0]?.id })
      assert.strictEqual(again.now.status, 204)
    }))

  it.effect("resumes a stream that goes on, behind the last event that was seen", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const headers = { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id }
      const get = yield* http.send("GET", headers)
      const changed = http.post(H.call(1, "changed"), { "mcp-session-id": id })
      yield* changed
      yield* changed
      yield* changed
      const seen = get.now.events().at(-3)?.id
      yield* get.leave
      const resumed = yield* http.send("GET", { ...headers, "last-event-id": seen })
      assert.strictEqual(resumed.now.messages().length, 2)
      yield* changed
      assert.strictEqual(resumed.now.messages().length, 3)
      assert.strictEqual(new Set(resumed.now.events().map((event) => event.id)).size, 3)
    }))

  it.effect("lets a client come again for the rest, where connections have an end", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ times: { life: Duration.seconds(10) } })
      const id = yield* http.open()
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      yield* TestClock.adjust("500 millis")
      yield* TestClock.adjust("10 seconds")
      yield* H.settle
      assert.isTrue(held.now.done())
      assert.deepStrictEqual(http.seen.cancelled, [])
      const headers = { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id }
      const resumed = yield* http.send("GET", { ...headers, "last-event-id": held.now.events()[0]?.id })
      http.seen.held[0]?.reply(H.text("polled"))
      yield* http.seen.backs[0]?.flush ?? Effect.void
      yield* H.settle
      assert.strictEqual(H.said(resumed.now.messages()[0]), "polled")
      assert.isTrue(resumed.now.done())
    }))

  it.effect("refuses to resume behind an event that it does not keep, another session's or none at all", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ limits: { replayBytes: 1000 } })
      const [id, other] = [yield* http.open(), yield* http.open()]
      const listen = (session: string, last?: string) =>
        http.send("GET", {
          ...H.postHeaders,
          accept: "text/event-stream",
          "mcp-session-id": session,
          "last-event-id": last
        })
      const get = yield* listen(id)
      const foreign = yield* listen(other)
      const first = get.now.events()[0]?.id ?? ""
      for (let k = 0; k < 20; k++) yield* http.post(H.call(k, "changed"), { "mcp-session-id": id })
      for (const last of [first, foreign.now.events()[0]?.id ?? "", `${first}9`, "", "0-0", "x".repeat(5000)]) {
        const refused = yield* listen(id, last)
        assert.strictEqual(refused.now.status, 400, last)
      }
    }))

  it.effect("ends the stream of a cancelled request without an answer", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      yield* http.post(H.notification("notifications/cancelled", { requestId: 1 }), { "mcp-session-id": id })
      assert.deepStrictEqual(http.seen.cancelled, ["held"])
      assert.strictEqual(held.now.status, 200)
      assert.deepStrictEqual(held.now.messages(), [])
      assert.isTrue(held.now.done())
      const again = yield* http.post(H.call(1, "echo", { said: "x" }), { "mcp-session-id": id })
      assert.strictEqual(H.said(again.now.json()), "x")
    }))

  it.effect("refuses an id that is still unanswered", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      const twice = yield* http.post(H.call(1, "echo"), { "mcp-session-id": id })
      assert.strictEqual(twice.now.status, 400)
      assert.strictEqual(twice.now.json().error?.data?.reason, "duplicate-id")
      http.seen.held[0]?.reply(H.text("first"))
      yield* http.seen.backs[0]?.flush ?? Effect.void
      yield* H.settle
      assert.strictEqual(H.said(held.now.json()), "first")
    }))

  it.effect("has batches where 2025-03-26 was agreed on, and nowhere else", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const batch = [H.call(1, "echo", { said: "a" }), H.call(2, "echo", { said: "b" })]
      const old = yield* http.open("2025-03-26")
      const both = yield* http.post(batch, { "mcp-session-id": old })
      assert.deepStrictEqual(H.batch(both.now.body()).map(({ id }) => id), [1, 2])
      const recent = yield* http.open("2025-11-25")
      const refused = yield* http.post(batch, { "mcp-session-id": recent })
      assert.strictEqual(refused.now.status, 400)
      assert.strictEqual(refused.now.json().error?.data?.reason, "no-batch")
    }))

  it.effect("knows a missing session from one that is over, another client's or made up", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const list = H.request(1, "tools/list")
      assert.strictEqual((yield* http.post(list)).now.status, 400)
      assert.strictEqual((yield* http.post(list, { "mcp-session-id": "0".repeat(32) })).now.status, 404)
      assert.strictEqual((yield* http.send("DELETE", { ...H.postHeaders, "mcp-session-id": id })).now.status, 204)
      const over = yield* http.post(list, { "mcp-session-id": id })
      assert.strictEqual(over.now.status, 404)
      assert.strictEqual((yield* http.send("DELETE", { ...H.postHeaders, "mcp-session-id": id })).now.status, 404)
      assert.deepStrictEqual(http.stats().sessions, 0)
      assert.strictEqual(http.seen.ended, 1)
    }))

  it.effect("checks the version header of later requests", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const status = (version: string | undefined) =>
        Effect.map(
          http.post(H.request(1, "tools/list"), { "mcp-session-id": id, "mcp-protocol-version": version }),
          ({ now }) => now.status
        )
      assert.strictEqual(yield* status(undefined), 200)
      assert.strictEqual(yield* status("2025-11-25"), 200)
      assert.strictEqual(yield* status("2025-03-26"), 200)
      assert.strictEqual(yield* status("1999-01-01"), 400)
      assert.strictEqual(yield* status("banana"), 400)
    }))

  it.effect("ends a session that nobody uses, but none that is in use", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ times: { idle: Duration.minutes(10) } })
      const [idle, listening] = [yield* http.open(), yield* http.open()]
      yield* http.send("GET", { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": listening })
      yield* TestClock.adjust("9 minutes")
      yield* H.settle
      assert.strictEqual(http.stats().sessions, 2)
      yield* TestClock.adjust("2 minutes")
      yield* H.settle
      assert.strictEqual(http.stats().sessions, 1)
      const list = H.request(1, "tools/list")
      assert.strictEqual((yield* http.post(list, { "mcp-session-id": idle })).now.status, 404)
      assert.strictEqual((yield* http.post(list, { "mcp-session-id": listening })).now.status, 200)
    }))

  it.effect("has a bound on sessions, and room again when one ends", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ limits: { sessions: 3 } })
      const [first] = [yield* http.open(), yield* http.open(), yield* http.open()]
      const refused = yield* http.post(H.initialize())
      assert.strictEqual(refused.now.status, 503)
      assert.isNotNull(refused.now.headers.get("retry-after"))
      yield* http.send("DELETE", { ...H.postHeaders, "mcp-session-id": first })
      yield* http.open()
    }))

  it.effect("frees everything of clients that go away", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      for (let k = 0; k < 3; k++) {
        const id = yield* http.open()
        const get = yield* http.send("GET", { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id })
        const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
        yield* held.leave
        yield* get.leave
        yield* http.send("DELETE", { ...H.postHeaders, "mcp-session-id": id })
      }
      yield* TestClock.adjust("1 second")
      yield* H.settle
      assert.deepStrictEqual(http.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
    }))

  it.effect("answers what is open and ends its streams when the server closes", () =>
    Effect.gen(function*() {
      const http = yield* H.make()
      const id = yield* http.open()
      const get = yield* http.send("GET", { ...H.postHeaders, accept: "text/event-stream", "mcp-session-id": id })
      const held = yield* http.post(H.call(1, "held"), { "mcp-session-id": id })
      yield* http.stop
      assert.strictEqual((yield* http.post(H.initialize())).now.status, 503)
      yield* TestClock.adjust("1 second")
      yield* H.settle
      assert.isTrue(get.now.done())
      assert.strictEqual(held.now.messages()[0]?.error?.code, -32603)
      assert.deepStrictEqual(http.stats(), { requests: 0, sessions: 0, peers: 0, dropped: 0 })
    }))

  it.effect("slows only the session whose reader is slow, and cuts that reader off in the end", () =>
    Effect.gen(function*() {
      const http = yield* H.make({ limits: { outputBytes: 1000 } })
      const [slow, other] = [yield* http.open(), yield* http.open()]
      const headers = { ...H.postHeaders, accept: "text/event-stream" }
      yield* http.send("GET", { ...headers, "mcp-session-id": slow }, undefined, { read: false })
      let sent = 0
      const flood = Effect.gen(function*() {
        for (let k = 0; k < 1000; k++) {
          http.seen.backs[0]?.notify("notifications/tools/list_changed", undefined)
          yield* http.seen.backs[0]?.flush ?? Effect.void
          sent++
        }
      })
      yield* Effect.forkChild(flood)
      yield* H.settle
      assert.isBelow(sent, 100)
      const listed = yield* http.post(H.request(1, "tools/list"), { "mcp-session-id": other })
      assert.strictEqual(listed.now.status, 200)
      yield* TestClock.adjust("60 seconds")
      yield* H.settle
      assert.strictEqual(sent, 1000)
    }))
})
