/**
 * `sallyport relay`: an entry of its own, so that it starts without the command's parser.
 *
 * @since 0.1.0
 */
import * as Endpoint from "@sallyport/core/line/Endpoint"
import * as Lines from "@sallyport/core/line/Lines"
import * as Notices from "@sallyport/core/line/Notices"
import * as Shut from "@sallyport/core/line/Shut"
import { Environment } from "@sallyport/core/node/Environment"
import * as NodeFiles from "@sallyport/core/node/NodeFiles"
import * as NodeMain from "@sallyport/core/node/NodeMain"
import * as NodeSpawn from "@sallyport/core/node/NodeSpawn"
import { print, tell } from "@sallyport/core/node/NodeStderr"
import * as NodeTransport from "@sallyport/core/node/NodeTransport"
import * as Session from "@sallyport/core/session/Session"
import { Dispatch } from "@sallyport/core/stage/Dispatch"
import * as Gate from "@sallyport/core/stage/Gate"
import * as Ledger from "@sallyport/core/stage/Ledger"
import * as Parse from "@sallyport/core/stage/Parse"
import * as PinStore from "@sallyport/core/stage/PinStore"
import { defaultLadder, isAddress, type Ladder } from "@sallyport/core/stage/Spawn"
import * as Feed from "@sallyport/core/wire/Feed"
import * as Relay from "@sallyport/relay/Relay"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { constants } from "node:os"
import * as Options from "./RelayOptions.ts"

/** The guard of a relay: everything that decides and records. */
const guard = (options: Options.RelayOptions, pinned: ReturnType<typeof pins>) => {
  const records = ledger(options)
  return Lines.layer({
    firstSight: options.firstSight,
    named: options.named,
    bridge: options.bridge,
    loosened: options.loosened,
    // Pins of a file are not reviewed here.
    option: options.locked === undefined ? options.option : undefined,
    key: options.key
  })
    .pipe(
      Layer.provide(Layer.mergeAll(
        gate(options).pipe(Layer.provide(Layer.merge(records, pinned))),
        records,
        pinned,
        spawn(options)
      ))
    )
}

/** What policies need is loaded only where there is one. */
const gate = (options: Options.RelayOptions) => {
  const { option, policy, state } = options
  return policy === undefined
    ? Gate.layerOpen
    : Layer.unwrap(
      Effect.map(
        Effect.all([Effect.promise(() => import("./RelayPolicy.ts")), injected(options)]),
        ([module, secrets]) => module.layer({ place: policy, state, option, secrets })
      )
    )
}

const pins = ({ locked, state }: Options.RelayOptions) =>
  locked === undefined ? PinStore.layerFile({ directory: `${state}/pins` }) : PinStore.layerLocked({ file: locked })

/** What speaks HTTP is loaded only where it is asked for: most relays start a command and speak over stdio. */
const http = Effect.promise(() => import("./relayHttp.ts"))

const spawn = (options: Options.RelayOptions) => {
  const process = Relay.layerTails(`${options.state}/tails`).pipe(
    Layer.provide(NodeSpawn.layer({ ladder: ladder(options) }))
  )
  return isAddress(options.launch)
    ? Layer.unwrap(Effect.map(http, ({ layerConnect }) => Layer.provide(layerConnect, process)))
    : process
}

const transport = ({ client, http: listen, launch }: Options.RelayOptions) =>
  listen === undefined
    ? NodeTransport.layer({ who: { client } })
    : Layer.unwrap(Effect.map(http, ({ layerTransport }) => layerTransport(launch.name, client, listen)))

const halfClose = ({ settings }: Options.RelayOptions): Duration.Duration =>
  settings.half_close === undefined ? defaultLadder.term : Duration.fromInputUnsafe(settings.half_close)

const ladder = (options: Options.RelayOptions): Ladder => ({
  term: halfClose(options),
  kill: options.settings.term === undefined ? defaultLadder.kill : Duration.fromInputUnsafe(options.settings.term)
})

/** What Sallyport itself hands to the server, that must not come to rest elsewhere. */
const injected = ({ launch }: Options.RelayOptions) =>
  Effect.map(
    Environment,
    (own) => {
      const given: ReadonlyArray<{ readonly name: string; readonly value?: string }> = isAddress(launch)
        ? launch.headers.map(({ variable }) => ({ name: variable }))
        : launch.env
      return given.flatMap(({ name, value = own[name] }) => value === undefined ? [] : [{ name, value }])
    }
  )

const ledger = (options: Options.RelayOptions) => {
  if (options.ledger === "none") return Ledger.layerNone
  const { budget_bytes, digest, full, segment_bytes, sync } = options.settings.ledger ?? {}
  return Layer.unwrap(
    Effect.map(injected(options), (secrets) =>
      Ledger.layerFile({
        directory: `${options.state}/ledger`,
        sync: sync ?? false,
        digest,
        full: full === true ? { secrets } : undefined,
        segmentBytes: segment_bytes,
        budgetBytes: budget_bytes,
        tell
      }))
  ).pipe(
    Layer.catchTag("LedgerError", (error) => {
      tell(`${error.message}; calls are refused until it is mended`)
      return Ledger.layerFailed(error)
    })
  )
}

const dispatch = (options: Options.RelayOptions, pinned: ReturnType<typeof pins>) => {
  const { refused } = options
  const route = options.http === undefined
    ? Relay.layerDispatch(options.launch)
    : Layer.unwrap(Effect.map(http, ({ layerDispatch }) => layerDispatch(options.launch)))
  if (refused === undefined) return Layer.provide(route, guard(options, pinned))
  const { reason, why } = refused
  tell(`${options.launch.name} was not started: ${why}`)
  return Layer.succeed(Dispatch, { open: () => () => Shut.shut(reason, options.launch.name, why) })
}

const run = Effect.fnUntraced(function*(options: Options.RelayOptions) {
  // Said when the server is on its way: its start does not wait for our stderr to be opened.
  yield* Effect.forkChild(Effect.sync(() => {
    for (const what of options.loosened) tell(`${what} loosens the guard of ${options.launch.name}`)
    if (options.policy === undefined) {
      tell(`${options.launch.name} is under no policy: what was accepted of it may be called freely`)
    }
  }))
  const parse = Parse.layer({
    messageBytes: options.settings.message_bytes ?? Feed.defaultLimits.messageBytes,
    depth: options.settings.depth ?? Feed.defaultLimits.depth
  })
  // One and the same for all that reads pins: those of a file are kept in memory.
  const pinned = pins(options)
  const outcome = yield* Session.run.pipe(
    Effect.provide(
      Layer.mergeAll(dispatch(options, pinned), transport(options)).pipe(
        Layer.provide(pinned),
        Layer.provideMerge(Layer.mergeAll(Notices.layerTell(tell), parse))
      )
    ),
    Effect.provideService(Endpoint.PeerBytes, options.settings.peer_bytes ?? Endpoint.maxHeld),
    Effect.provideService(Session.HalfClose, halfClose(options))
  )
  return Relay.exitCode(outcome, constants.signals)
})

const failed = (code: number, message: string) =>
  Effect.sync(() => {
    print(message)
    return code
  })

NodeMain.run(
  Options.read(process.argv.slice(2)).pipe(
    Effect.flatMap(run),
    Effect.catchTags({
      RelayOptionsError: ({ code, message }) => failed(code, message),
      ListenError: ({ message }) => failed(1, `sallyport relay: ${message}`),
      FilesError: ({ message }) => failed(1, `sallyport relay: ${message}`)
    }),
    Effect.provide(NodeFiles.layer)
  )
)
