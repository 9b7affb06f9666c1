/** One host with one server behind the relay, over stdio or over HTTP, with all that was said on both legs. */
import type * as Revision from "@sallyport/core/protocol/Revision"
import { Dispatch } from "@sallyport/core/stage/Dispatch"
import type { Command, Launch } from "@sallyport/core/stage/Spawn"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { make } from "../../examples/everything/server.ts"
import { before, type Tap } from "../conformance/relayed.ts"
import { sallyport } from "../e2e/support/servers.ts"
import type { Client, Server as Place } from "../interop/clients.ts"
import { listen } from "../interop/listen.ts"
import { common, everything, type Features } from "./features.ts"
import type { Leg } from "./scan.ts"

/** A server of the table: how it is started, what it is tried by, and where it can be spoken to over HTTP too. */
export interface Server {
  readonly script: ReadonlyArray<string>
  readonly features: Features
  readonly http?: ReadonlyArray<Revision.Revision>
}

const fixture = (name: string, ...args: ReadonlyArray<string>): Server => ({
  script: [join(import.meta.dirname, "fixtures", name), ...args],
  features: common
})
const official = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json")

const own = (revision: Revision.Revision): Server => ({ ...fixture("own.ts", revision), http: [revision] })

export const servers = {
  "SDK 1": fixture("sdk1.mjs"),
  "SDK 2, legacy": fixture("sdk2.mjs", "legacy"),
  "SDK 2, dual": fixture("sdk2.mjs", "dual"),
  "SDK 2, modern": fixture("sdk2.mjs", "modern"),
  "Effect": fixture("effect.mjs"),
  "server-everything": { script: [join(dirname(official), "dist/index.js")], features: everything },
  "2024-11-05": own("2024-11-05"),
  "2025-03-26": own("2025-03-26"),
  "2025-06-18": own("2025-06-18"),
  "2025-11-25": own("2025-11-25"),
  "2026-07-28": own("2026-07-28")
} as const satisfies Readonly<Record<string, Server>>

export interface Session {
  /** Fails where host and server do not come together. */
  readonly client: Promise<Client>
  /** What each connection of either leg has carried so far. */
  readonly legs: () => ReadonlyArray<Leg>
  /** Whether the server was sent a message with this text in it. */
  readonly sent: (text: string) => boolean
  readonly close: () => Promise<void>
}

type Open = (place: Place) => Promise<Client>

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

const sentIn = (legs: () => ReadonlyArray<Leg>) => (text: string): boolean =>
  legs().some(({ far, said }) => far === "server" && said.some((line) => line.includes(text)))

/** A server that keeps what it is asked. */
const keeping = (server: Layer.Layer<Dispatch>, asked: Array<string>): Layer.Layer<Dispatch> =>
  Layer.effect(
    Dispatch,
    Effect.map(Dispatch, (dispatch) =>
      Dispatch.of({
        open: (who) => (back) =>
          Effect.map(dispatch.open(who)(back), (port) => ({
            ...port,
            request: (call) => {
              asked.push(call.params ?? "")
              port.request(call)
            }
          }))
      }))
  ).pipe(Layer.provide(server))

const gone = (client: Promise<Client>): Promise<void> => client.then((opened) => opened.close(), () => {})

/** The real command, with what goes in and out of both programs kept in files of each process. */
const stdio = (remote: boolean) => async (open: Open, server: Server): Promise<Session> => {
  const scope = Effect.runSync(Scope.make())
  const asked: Array<string> = []
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bridge-"))
  mkdirSync(join(folder, "kept"))
  const quoted = (words: ReadonlyArray<string>): string => words.map((word) => `'${word}'`).join(" ")
  const teed = (far: Leg["far"], words: ReadonlyArray<string>): ReadonlyArray<string> => {
    const at = join(folder, "kept", far)
    return ["-c", `tee '${at}'-in-$$ | ${quoted(words)} | tee '${at}'-out-$$`]
  }
  const options = ["--name", "server", "--state", join(folder, "state"), "--first-sight", "observe"]
  const behind = remote
    ? ["--url", await Effect.runPromise(Scope.provide(listen(keeping(make(server.http), asked)), scope))]
    : ["--", "sh", ...teed("server", [process.execPath, ...server.script])]
  // The inner quotes end and begin the outer ones.
  const relay = [process.execPath, sallyport, "relay", ...options, ...behind].map((word) =>
    word.replaceAll("'", "'\\''")
  )
  const client = open({ _tag: "Stdio", command: "sh", args: [...teed("host", relay)] })
  let kept: ReadonlyArray<Leg> | undefined
  const legs = (): ReadonlyArray<Leg> => {
    if (kept !== undefined) return kept
    const read = (name: string) => lines(readFileSync(join(folder, "kept", name), "utf8"))
    return readdirSync(join(folder, "kept")).filter((name) => name.includes("-in-")).map((name) => {
      const other = name.replace("-in-", "-out-")
      return name.startsWith("host")
        ? { far: "host", heard: read(name), said: read(other) }
        : { far: "server", heard: read(other), said: read(name) }
    })
  }
  return {
    client,
    legs,
    sent: remote ? (text) => asked.some((params) => params.includes(text)) : sentIn(legs),
    close: async () => {
      await gone(client)
      await Effect.runPromise(Scope.close(scope, Exit.void))
      kept = legs()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** A relay in this process that listens over HTTP, before a server that does too where it can. */
const http = async (open: Open, server: Server): Promise<Session> => {
  const scope = Effect.runSync(Scope.make())
  const kept: Array<{ readonly far: Leg["far"]; readonly heard: Array<string>; readonly said: Array<string> }> = []
  const tap = (far: Leg["far"]): Tap => (peer) => {
    const leg = { far, heard: [""], said: [""] }
    kept.push(leg)
    const decoder = new TextDecoder()
    const keep = (list: Array<string>, text: string): void => {
      const [first = "", ...others] = text.split("\n")
      list.push((list.pop() ?? "") + first, ...others)
    }
    return {
      ...peer,
      receive: (onChunk) =>
        peer.receive((chunk) => {
          keep(leg.heard, decoder.decode(chunk, { stream: true }))
          return onChunk(chunk)
        }),
      write: (text) => {
        keep(leg.said, text)
        return peer.write(text)
      }
    }
  }
  const [command = "", ...args] = [process.execPath, ...server.script]
  const started: Command = { name: "server", command, args, env: [], sandbox: "none" }
  const program = Effect.gen(function*() {
    const launch: Launch = server.http === undefined
      ? started
      : { name: "server", url: yield* listen(make(server.http)), headers: [], privately: false }
    return yield* before(launch, { host: tap("host"), server: tap("server") })
  })
  const url = await Effect.runPromise(Scope.provide(program, scope))
  const client = open({ _tag: "Http", url })
  return {
    client,
    legs: () => kept,
    sent: sentIn(() => kept),
    close: async () => {
      await gone(client)
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** Opens a session, by the way that it is connected. */
export const open = { stdio: stdio(false), HTTP: http, "stdio to HTTP": stdio(true) }
