/**
 * `sallyport pins export` and `sallyport pins import`: pins in a file that a team shares.
 *
 * @since 0.1.0
 */
import type * as Pins from "@sallyport/core/pin/Pins"
import * as Portable from "@sallyport/core/pin/Portable"
import * as Show from "@sallyport/core/pin/Show"
import * as Visible from "@sallyport/core/pin/Visible"
import { PinStore } from "@sallyport/core/stage/PinStore"
import { Files } from "@sallyport/core/store/Files"
import * as Digest from "@sallyport/core/wire/Digest"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import { ending, Failure } from "../Failure.ts"
import * as Output from "../Output.ts"
import * as State from "../State.ts"
import * as Decide from "./pinsDecide.ts"

const isShared = (pins: Pins.Pins): boolean =>
  pins.pins.length > 0 || pins.launch !== undefined || pins.expects !== undefined

const sharing = Effect.fnUntraced(function*(state: State.State, named: ReadonlyArray<string>) {
  const store = yield* PinStore
  const known = yield* store.servers
  const missing = named.filter((name) => !known.includes(name))
  if (missing.length > 0) {
    return yield* new Failure({
      message: `nothing is known of ${missing.map(Visible.name).join(", ")}; ` +
        `sallyport pins list${state.option} names the servers`
    })
  }
  const all = yield* Effect.forEach(named.length === 0 ? known : [...new Set(named)], store.load)
  return Portable.share(all.filter(isShared))
})

/**
 * `sallyport pins export`.
 *
 * @category commands
 * @since 0.1.0
 */
export const share = Command.make(
  "export",
  {
    state: State.flag,
    json: State.json,
    servers: Argument.String("SERVER").pipe(
      Argument.withDescription("only these; without any, all of which something was accepted"),
      Argument.variadic()
    )
  },
  ({ servers, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      yield* Output.printJson(yield* Effect.provide(sharing(opened, servers), opened.pins))
    }))
).pipe(
  Command.withDescription(
    "Print what was accepted as JSON that a team can share: definitions, commands with their arguments, and names of " +
      "variables, but no value of one, no path and no digest of a program. What was not accepted is not in it."
  ),
  Command.withShortDescription("Print what was accepted, to be shared"),
  Command.withExamples([{ command: "sallyport pins export files > pins.json", description: "Into a repository" }])
)

/**
 * What an import changed of one server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Imported {
  readonly server: string
  readonly items: ReadonlyArray<{ readonly kind: string; readonly name: string; readonly digest: string }>
  readonly left: number
}

const itemsOf = (merged: Portable.Merged): Imported["items"] => [
  ...(merged.pins.expects === undefined
    ? []
    : [{ kind: "launch", name: merged.pins.server, digest: merged.pins.expects.digest }]),
  ...merged.fresh.map(({ digest, kind, name }) => ({ kind, name, digest }))
]

const changes = (before: Pins.Pins, { fresh, pins }: Portable.Merged): boolean =>
  fresh.length > 0 || pins.expects?.digest !== before.expects?.digest ||
  pins.launch?.digest !== before.launch?.digest ||
  pins.resources !== before.resources

const importing = Effect.fnUntraced(function*(file: string, digest: string | undefined) {
  const parents = yield* Decide.permitted("accepted", digest === undefined)
  const files = yield* Files
  const store = yield* PinStore
  const path = resolve(file)
  const text = yield* Effect.mapError(files.read(path), ({ message }) => Decide.nothing("accepted", message))
  const taken = Digest.sha256(text)
  if (digest !== undefined && digest !== taken) {
    return yield* Decide.nothing("accepted", `the SHA-256 of ${Visible.line(path)} is ${taken}`)
  }
  const servers = yield* Effect.mapError(
    Effect.fromResult(Portable.read(text)),
    (why) => Decide.nothing("accepted", `${Visible.line(path)}: ${Visible.line(why)}`)
  )
  const at = yield* Decide.now
  const planned: Array<
    { readonly server: Portable.Server; readonly before: Pins.Pins; readonly merged: Portable.Merged }
  > = []
  for (const server of servers) {
    const before = yield* store.load(server.name)
    const merged = Portable.merge(before, server, at)
    if (changes(before, merged)) planned.push({ server, before, merged })
  }
  if (planned.length === 0) return []
  if (digest === undefined) {
    const shown = planned.map(({ before, merged }) => Show.proposal(before, merged.pins)).join("\n")
    const what = planned.map(({ merged, server }) => `${Decide.phrase(itemsOf(merged))} of ${server.name}`).join(", ")
    yield* Decide.confirm(
      "accepted",
      shown,
      `${Output.wrapped(`This accepts ${what}, exactly as shown.`)}\nType accept to do so, anything else to leave it: `,
      "accept"
    )
  }
  const done: Array<Imported> = []
  for (const { before, server } of planned) {
    const kept = yield* Decide.keep(
      "accepted",
      server.name,
      (pins, at) => {
        // What was accepted or rejected meanwhile is not what the person was shown.
        if (
          pins.pins !== before.pins && Show.proposal(pins, Portable.merge(pins, server, at).pins) !==
            Show.proposal(before, Portable.merge(before, server, at).pins)
        ) {
          return Result.fail(Decide.meanwhile("accepted", server.name))
        }
        const merged = Portable.merge(pins, server, at)
        return Result.succeed({ pins: merged.pins, items: itemsOf(merged), left: merged.left })
      },
      "import",
      parents
    )
    done.push({ server: server.name, items: kept.items, left: kept.left })
  }
  return done
})

const says = ({ items, left, server }: Imported): string => {
  const what = Decide.phrase(items)
  return `Accepted ${what === "" ? "its settings" : what} of ${server}.` +
    (left === 0
      ? ""
      : ` ${Output.count(left, "item")} of the file ${left === 1 ? "was" : "were"} rejected here and left.`)
}

/**
 * `sallyport pins import`.
 *
 * @category commands
 * @since 0.1.0
 */
export const take = Command.make(
  "import",
  {
    digest: Flag.String("digest").pipe(
      Flag.withMetavar("D"),
      Flag.withDescription("only if this is the SHA-256 of FILE; does not ask"),
      Flag.optional
    ),
    state: State.flag,
    json: State.json,
    file: Argument.String("FILE").pipe(Argument.withDescription("what pins export printed"))
  },
  ({ digest, file, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const given = Option.map(digest, (text) => text.trim().toLowerCase())
      const done = yield* importing(file, Option.getOrUndefined(given)).pipe(
        Effect.provide(Layer.merge(opened.pins, opened.ledger)),
        Effect.catchTag("LedgerError", (error) => Effect.fail(Decide.nothing("accepted", error.message)))
      )
      if (json) yield* Output.printJson({ servers: done })
      else yield* Output.print(done.length === 0 ? "All of it is accepted already." : done.map(says).join("\n"))
    }))
).pipe(
  Command.withDescription(
    "Accept what others accepted, as it is shown. The command of a server is accepted when it is started for the first " +
      "time, if it is the one in FILE. Asks on the terminal, unless --digest is given. Refused below a relay."
  ),
  Command.withShortDescription("Accept what others accepted")
)
