/**
 * The state folder, as the commands use it.
 *
 * @since 0.1.0
 */
import * as Pins from "@sallyport/core/pin/Pins"
import * as Visible from "@sallyport/core/pin/Visible"
import * as Approvals from "@sallyport/core/stage/Approvals"
import * as Ledger from "@sallyport/core/stage/Ledger"
import type { LedgerError } from "@sallyport/core/stage/Ledger"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import * as PinStore from "@sallyport/core/stage/PinStore"
import { Files } from "@sallyport/core/store/Files"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Failure } from "./Failure.ts"
import * as Folders from "./Folders.ts"

/**
 * The flag that names the state folder.
 *
 * @category flags
 * @since 0.1.0
 */
export const flag = Flag.String("state").pipe(
  Flag.withMetavar("DIR"),
  Flag.withDescription("where pins and ledger are kept"),
  Flag.optional
)

/**
 * The flag for output that programs read.
 *
 * @category flags
 * @since 0.1.0
 */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("print JSON"),
  Flag.withoutNegation,
  Flag.withDefault(false)
)

/**
 * A state folder: where it is, and how the user names it.
 *
 * @category models
 * @since 0.1.0
 */
export interface State {
  readonly folder: string
  readonly pins: Layer.Layer<PinStore.PinStore, never, Files>
  readonly approvals: Layer.Layer<Approvals.Approvals, never, Files>
  readonly ledgerFolder: string
  readonly ledger: Layer.Layer<Ledger.Ledger, LedgerError, Files>
  /** What a command line needs to mean this folder: ` --state DIR`, or nothing. */
  readonly option: string
}

/**
 * The state folder that was asked for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (given: Option.Option<string>): Effect.Effect<State, Failure> =>
  Folders.state(Option.getOrUndefined(given)).pipe(
    Effect.mapError(({ message }) =>
      new Failure({ message: `the state folder is not known: ${message}; name it with --state DIR` })
    ),
    Effect.map((folder) => ({
      folder,
      pins: PinStore.layerFile({ directory: `${folder}/pins` }),
      approvals: Approvals.layerFile({ directory: `${folder}/approvals` }),
      ledgerFolder: `${folder}/ledger`,
      // What a person accepted is not to be lost with the power.
      ledger: Ledger.layerFile({ directory: `${folder}/ledger`, sync: true }),
      option: Option.isNone(given) ? "" : ` --state ${Folders.quoted(folder)}`
    }))
  )

/**
 * What is kept of a server; fails where it was never seen.
 *
 * @category reading
 * @since 0.1.0
 */
export const seen = Effect.fnUntraced(function*(state: State, server: string) {
  const store = yield* PinStore.PinStore
  const pins = yield* store.load(server)
  if (pins.seen !== undefined) return pins
  const others = (yield* store.servers).filter((name) => name !== server)
  return yield* new Failure({
    message: [
      `${server} was never seen, so there is nothing to look at or accept (in ${Visible.line(state.folder)}).`,
      `Start it once through the relay: sallyport relay --name ${server}${state.option} -- COMMAND`,
      ...(others.length === 0 ? [] : [`Known are: ${others.join(", ")}`])
    ].join("\n")
  })
})

/**
 * The pins of all other servers; those that cannot be read are left out.
 *
 * @category reading
 * @since 0.1.0
 */
export const others = Effect.fnUntraced(function*(server: string) {
  const store = yield* PinStore.PinStore
  const found: Array<Pins.Pins> = []
  for (const name of yield* store.servers) {
    if (name === server) continue
    const pins = yield* Effect.option(store.load(name))
    if (Option.isSome(pins)) found.push(pins.value)
  }
  return found
})

/**
 * The items that were named on the command line: as they are, or as they are shown, with hidden characters as `\u{..}`; a
 * name that is of several kinds with its kind before it, as in `prompt:review`. Without any, `undefined`. Fails where the
 * server has none of that name, and where it cannot be told which one is meant.
 *
 * @category reading
 * @since 0.1.0
 */
export const items = Effect.fnUntraced(function*(
  state: State,
  pins: Pins.Pins,
  named: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyArray<Pins.Key> | undefined, Failure> {
  if (named.length === 0) return undefined
  const judgement = Pins.judgeSeen(pins)
  const known = new Map(
    [...judgement.verdicts, ...judgement.gone].map(({ kind, name }) =>
      [Pins.keyOf({ kind, name }), { kind, name }] as const
    )
  )
  const found = new Map<string, Pins.Key>()
  for (const text of new Set(named)) {
    const meant = meaning([...known.values()], text)
    if (meant.length === 0) {
      return yield* new Failure({
        message: `${pins.server} has no item ${Visible.name(text)}; ` +
          `sallyport pins show${state.option} ${pins.server} lists what it has`
      })
    }
    if (new Set(meant.map(({ kind }) => kind)).size > 1) {
      return yield* new Failure({
        message: `${Visible.name(text)} may be ${
          meant.map(({ kind, name }) => `${kind}:${Visible.name(name)}`).join(" or ")
        }; say which`
      })
    }
    for (const item of meant) found.set(Pins.keyOf(item), item)
  }
  return [...found.values()]
})

/** What a text can mean: a name exactly, else with its kind, else as it is shown. */
const meaning = (known: ReadonlyArray<Pins.Key>, text: string): ReadonlyArray<Pins.Key> => {
  const exact = known.filter(({ name }) => name === text)
  if (exact.length > 0) return exact
  const withKind = known.filter(({ kind, name }) => `${kind}:${name}` === text)
  if (withKind.length > 0) return withKind
  return known.filter(({ kind, name }) => [Visible.line(name), `${kind}:${Visible.line(name)}`].includes(text))
}

/**
 * Everything in the ledger; nothing where there is none yet.
 *
 * @category reading
 * @since 0.1.0
 */
export const entries = (state: State) => LedgerFolder.read(state.ledgerFolder)

/**
 * What a server printed last on its stderr; `undefined` where nothing was kept.
 *
 * @category reading
 * @since 0.1.0
 */
export const tail = Effect.fnUntraced(function*(state: State, server: string) {
  const files = yield* Files
  return yield* files.read(`${state.folder}/tails/${server}`).pipe(
    Effect.catchIf((error) => error.kind === "missing", () => Effect.undefined)
  )
})

/**
 * The names of the servers of which a tail is kept.
 *
 * @category reading
 * @since 0.1.0
 */
export const tails = Effect.fnUntraced(function*(state: State) {
  const files = yield* Files
  return (yield* files.list(`${state.folder}/tails`)).filter(PinStore.isServerName)
})
