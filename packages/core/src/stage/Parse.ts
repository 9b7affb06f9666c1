/**
 * Parse: chunks of bytes become checked messages or typed refusals.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Members from "../protocol/Members.ts"
import * as Feed from "../wire/Feed.ts"
import type { Repairs } from "../wire/Repair.ts"

/**
 * Makes readers of peers' bytes.
 *
 * @category services
 * @since 0.1.0
 */
export class Parse extends Context.Service<Parse, {
  /** A reader for one peer, with the repairs that are wanted for it. */
  readonly open: (repairs?: Repairs) => Feed.Feed
}>()("@sallyport/core/stage/Parse") {}

/**
 * The strict reader, with the limits given: what two readers could understand differently is refused.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (limits: Feed.Limits = Feed.defaultLimits): Layer.Layer<Parse> =>
  Layer.succeed(Parse, { open: (repairs) => Feed.make({ ...limits, members: Members.all, repairs }) })
