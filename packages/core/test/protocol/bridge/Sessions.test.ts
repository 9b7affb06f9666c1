/** Sessions across eras, message by message: what either side says is played to the bridge, and all that it says is compared. */
import { assert, describe, expect, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { faults } from "../../../../../test/bridge/scan.ts"
import * as LegacyHost from "../../../src/protocol/bridge/LegacyHost.ts"
import type * as Message from "../../../src/protocol/bridge/Message.ts"
import * as ModernHost from "../../../src/protocol/bridge/ModernHost.ts"
import type { Text } from "../../../src/wire/Message.ts"
import * as T from "../../../src/wire/Text.ts"
import { options } from "./play.ts"

/**
 * A line of a session: a message on the leg of the host or of the server, from the client of that leg (`c2s`) or to it.
 * The bridge is the server of its host and the client of its server. `after`: the milliseconds that nothing was said.
 */
interface Line {
  readonly leg: "host" | "server"
  readonly dir: "c2s" | "s2c"
  readonly after?: number
  readonly msg: unknown
}

interface Head {
  readonly about: string
  readonly host: "legacy" | "modern"
}

const folder = join(import.meta.dirname, "sessions")

const read = (name: string): { readonly head: Head; readonly lines: ReadonlyArray<Line> } => {
  const [first = "", ...others] = readFileSync(join(folder, name), "utf8").trim().split("\n")
  return { head: JSON.parse(first), lines: others.map((line) => JSON.parse(line)) }
}

const none = T.object([])

const said = (text: Text): Message.Said => {
  const member = (name: string) => T.member(text, name)
  const [id, params, result, error, named] = ["id", "params", "result", "error", "method"].map(member)
  const method = named === undefined ? "" : T.string(named) ?? ""
  if (method === "notifications/cancelled") {
    return { _tag: "Cancel", key: T.member(params ?? none, "requestId") ?? "", params: undefined }
  }
  if (id === undefined) return { _tag: "Notification", method, params }
  if (method !== "") return { _tag: "Request", key: id, wish: id, method, params }
  const reply = error === undefined
    ? { _tag: "Result", result: result ?? none } as const
    : { _tag: "Failure", error } as const
  return { _tag: "Reply", key: T.string(id) ?? id, reply }
}

const message = (said: Message.Said): Text => {
  // What the bridge names it names with a word; what others named is their id as it came.
  const quoted = (key: string): Text => key.startsWith("bridge-") ? T.quote(key) : T.fromValue(JSON.parse(key))
  const of = (...members: ReadonlyArray<readonly [string, Text | undefined]>): Text =>
    T.object([
      ["jsonrpc", T.quote("2.0")],
      ...members.flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const])
    ])
  switch (said._tag) {
    case "Request":
      return of(["id", quoted(said.key)], ["method", T.quote(said.method)], ["params", said.params])
    case "Notification":
      return of(["method", T.quote(said.method)], ["params", said.params])
    case "Cancel":
      return of(
        ["method", T.quote("notifications/cancelled")],
        ["params", T.object([["requestId", quoted(said.key)]])]
      )
    case "Reply":
      return said.reply._tag === "Result"
        ? of(["id", quoted(said.key)], ["result", said.reply.result])
        : of(["id", quoted(said.key)], ["error", said.reply.error])
  }
}

/** The session again, with what the bridge says to what the two sides say. */
const replay = ({ head, lines }: ReturnType<typeof read>): ReadonlyArray<Line> => {
  const bridge = head.host === "legacy" ? LegacyHost.make(options()) : ModernHost.make(options())
  let now = 0
  const all: Array<Line> = []
  const outs = (list: ReadonlyArray<Message.Out>): void => {
    for (const { said, to } of list) {
      all.push({ leg: to, dir: to === "host" ? "s2c" : "c2s", msg: T.toValue(message(said)) })
    }
  }
  // What is due at once is due before anybody says more.
  const settle = (): void => {
    for (let due = bridge.due(); due !== undefined && due <= now; due = bridge.due()) outs(bridge.tick(now))
  }
  for (const line of lines) {
    if ((line.leg === "host") !== (line.dir === "c2s")) continue
    now += line.after ?? 0
    if (line.after !== undefined) outs(bridge.tick(now))
    all.push(line)
    const told = said(T.fromValue(line.msg))
    outs(line.leg === "host" ? bridge.fromHost(told, now) : bridge.fromServer(told, now))
    settle()
  }
  return all
}

describe("sessions across eras", () => {
  for (const name of readdirSync(folder)) {
    const session = read(name)
    it(`${name}: ${session.head.about}`, async () => {
      const all = replay(session)
      const text = [session.head, ...all].map((line) => `${JSON.stringify(line)}\n`).join("")
      await expect(text).toMatchFileSnapshot(join(folder, name))
      for (const far of ["host", "server"] as const) {
        const of = (ours: boolean) =>
          all.filter(({ dir, leg }) => leg === far && ((far === "host") === (dir === "s2c")) === ours).map(({ msg }) =>
            JSON.stringify(msg)
          )
        assert.deepStrictEqual(faults({ far, heard: of(false), said: of(true) }), [])
      }
    })
  }
})
