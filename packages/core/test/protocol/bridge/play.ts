/** A bridge in the hands of a test: every message that it says is checked against the schema of the leg that it is said on. */
import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Message from "../../../src/protocol/bridge/Message.ts"
import * as Method from "../../../src/protocol/Method.ts"
import * as Payload from "../../../src/protocol/Payload.ts"
import type * as Revision from "../../../src/protocol/Revision.ts"
import type { Reply } from "../../../src/wire/Message.ts"
import * as T from "../../../src/wire/Text.ts"
import * as Write from "../../../src/wire/Write.ts"

type Value = Readonly<Record<string, unknown>>

/** What a bridge said, as a value that a test can compare. */
export interface Heard {
  readonly to: "host" | "server"
  readonly kind: "request" | "notification" | "cancel" | "result" | "error"
  readonly key?: string
  readonly method?: string
  readonly wish?: string | undefined
  readonly value?: unknown
}

export const options = (strict = false): Message.Options => {
  let names = 0
  return { server: "configured", strict, fresh: () => `name-${names++}` }
}

const valid = (codec: Payload.Any | undefined, value: unknown, what: string): void => {
  if (codec === undefined) assert.fail(`${what}: the revision has no such method`)
  const read = Schema.decodeUnknownResult(codec)(value)
  if (Result.isFailure(read)) assert.fail(`${what}: ${String(read.failure)} in ${JSON.stringify(value)}`)
}

/**
 * Plays a session. `legs` says which revision each side speaks once it is agreed on; `lenient` methods are not in the
 * tables (extensions).
 */
export const play = (
  bridge: Message.Bridge,
  legs: { readonly host: Revision.Revision; readonly server: Revision.Revision }
) => {
  let now = 0
  let keys = 0
  /** The method of each request in flight, by its key, for its result. */
  const methods = new Map<string, string>()
  const all: Array<Heard> = []

  const check = ({ said, to }: Message.Out): Heard => {
    const revision = legs[to]
    const from = to === "host" ? "server" : "host"
    switch (said._tag) {
      case "Request": {
        const value = said.params === undefined ? undefined : T.toValue(said.params)
        if (Method.find(said.method, "request", from, revision) === undefined) {
          assert.fail(`${said.method} is sent to a ${to} of ${revision}`)
        }
        valid(Payload.findParams(said.method, revision), value ?? {}, said.method)
        methods.set(said.key, said.method)
        return { to, kind: "request", key: said.key, method: said.method, wish: said.wish, value }
      }
      case "Notification": {
        const value = said.params === undefined ? undefined : T.toValue(said.params)
        if (Method.find(said.method, "notification", from, revision) === undefined) {
          assert.fail(`${said.method} is sent to a ${to} of ${revision}`)
        }
        valid(Payload.findParams(said.method, revision), value ?? {}, said.method)
        return { to, kind: "notification", method: said.method, value }
      }
      case "Cancel":
        return { to, kind: "cancel", key: said.key }
      case "Reply": {
        const method = methods.get(said.key) ?? ""
        methods.delete(said.key)
        if (said.reply._tag === "Failure") {
          const error = T.toValue(said.reply.error)
          return { to, kind: "error", key: said.key, value: error }
        }
        const value = T.toValue(said.reply.result)
        const codec = Payload.findResult(method, revision)
        if (codec !== undefined) valid(codec, value, `result of ${method}`)
        return { to, kind: "result", key: said.key, value }
      }
    }
  }

  const heard = (outs: ReadonlyArray<Message.Out>): ReadonlyArray<Heard> => {
    const list = outs.map(check)
    all.push(...list)
    return list
  }

  const request = (from: "host" | "server", method: string, params?: Value, wish?: number) => {
    const key = `${from}-${keys++}`
    methods.set(key, method)
    const said: Message.Said = {
      _tag: "Request",
      key,
      wish: wish === undefined ? undefined : T.integer(wish),
      method,
      params: params === undefined ? undefined : T.fromValue(params)
    }
    return { key, heard: heard(from === "host" ? bridge.fromHost(said, now) : bridge.fromServer(said, now)) }
  }

  const say = (from: "host" | "server", said: Message.Said) =>
    heard(from === "host" ? bridge.fromHost(said, now) : bridge.fromServer(said, now))

  return {
    all,
    host: (method: string, params?: Value, wish?: number) => request("host", method, params, wish),
    server: (method: string, params?: Value) => request("server", method, params),
    tells: (from: "host" | "server", method: string, params?: Value) =>
      say(from, { _tag: "Notification", method, params: params === undefined ? undefined : T.fromValue(params) }),
    cancels: (from: "host" | "server", key: string) => say(from, { _tag: "Cancel", key, params: undefined }),
    answers: (from: "host" | "server", key: string | undefined, result: Value) =>
      say(from, { _tag: "Reply", key: key ?? "", reply: { _tag: "Result", result: T.fromValue(result) } }),
    refuses: (from: "host" | "server", key: string | undefined, code: number, data?: Value) =>
      say(from, {
        _tag: "Reply",
        key: key ?? "",
        reply: failure(code, data)
      }),
    after: (millis: number) => {
      now += millis
      return heard(bridge.tick(now))
    }
  }
}

const failure = (code: number, data?: Value): Reply =>
  Write.failure(code, "no", data === undefined ? undefined : T.fromValue(data))

/** The one message of a kind to a side. */
export const one = (list: ReadonlyArray<Heard>, to: Heard["to"], kind: Heard["kind"]): Heard => {
  const found = list.filter((each) => each.to === to && each.kind === kind)
  const [only, ...others] = found
  if (only === undefined || others.length > 0) {
    assert.fail(`${found.length} of ${kind} to the ${to}: ${JSON.stringify(list)}`)
  }
  return only
}
