/**
 * What a relay needs where there is a policy; loaded only then.
 *
 * @since 0.1.0
 */
import type { Secret } from "@sallyport/core/check/Secrets"
import * as Approval from "@sallyport/core/line/Approval"
import * as Checks from "@sallyport/core/line/Checks"
import { Drifts } from "@sallyport/core/line/Drifts"
import * as NodeHook from "@sallyport/core/node/NodeHook"
import { real } from "@sallyport/core/node/NodeReal"
import * as NodeSeal from "@sallyport/core/node/NodeSeal"
import { tell } from "@sallyport/core/node/NodeStderr"
import * as Approvals from "@sallyport/core/stage/Approvals"
import * as Budgets from "@sallyport/core/stage/Budgets"
import * as Gate from "@sallyport/core/stage/Gate"
import { PinStore } from "@sallyport/core/stage/PinStore"
import * as PolicyFile from "@sallyport/core/stage/PolicyFile"
import * as PolicyGate from "@sallyport/core/stage/PolicyGate"
import type * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import * as Quarantine from "@sallyport/core/stage/Quarantine"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Defined from "./Defined.ts"

/**
 * How the policy is used.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly place: PolicyUse.Place
  /** The state folder, and what a command line needs to mean it. */
  readonly state: string
  readonly option: string
  /** What Sallyport itself hands to the server: it is looked for in results. */
  readonly secrets: ReadonlyArray<Secret>
}

/** The policy in use; `undefined` while everything is refused. */
const policyOf = (file: PolicyFile.PolicyFile["Service"]) => {
  const state = file.current()
  return state._tag === "Loaded" ? state.policy : undefined
}

/** The policy decides first, so that its hook is not asked about what is denied anyway. */
const gate = Layer.effect(
  Gate.Gate,
  Effect.gen(function*() {
    const file = yield* PolicyFile.PolicyFile
    return Gate.all([
      yield* PolicyGate.make(tell),
      yield* NodeHook.gate(() => policyOf(file)?.hook, { tell })
    ])
  })
)

const approvals = ({ state }: Options) =>
  Layer.unwrap(Effect.map(PolicyFile.PolicyFile, (file) =>
    Approvals.layerFile({
      directory: `${state}/approvals`,
      expires: () => policyOf(file)?.approvals.expires ?? Approvals.lifetime
    })))

const checks = ({ option, secrets, state }: Options) =>
  Layer.unwrap(
    Effect.map(
      PolicyFile.PolicyFile,
      (file) => Checks.layer({ results: () => policyOf(file)?.results, secrets, option })
    )
  ).pipe(Layer.provide(Quarantine.layerFile({ directory: `${state}/quarantine`, tell })))

const drifts = Layer.effect(
  Drifts,
  Effect.map(PolicyFile.PolicyFile, (file) => (drift) => policyOf(file)?.drift[drift] === "accept")
)

/**
 * The gate of the policy, what drift it accepts, how it asks a person, and what it wants of results.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options) =>
  Layer.mergeAll(
    gate,
    drifts,
    checks(options),
    Approval.layer({ option: options.option }).pipe(Layer.provide(Layer.merge(approvals(options), NodeSeal.layer)))
  ).pipe(
    Layer.provide(Budgets.layerFile({ directory: `${options.state}/budgets` })),
    Layer.provideMerge(Layer.unwrap(Effect.map(PinStore, (store) =>
      PolicyFile.layer({
        ...options.place,
        definitions: Effect.orElseSucceed(Defined.of(store, options.place.server), () => []),
        real,
        option: options.option,
        tell
      }))))
  )
