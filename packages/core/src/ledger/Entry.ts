/**
 * What a ledger entry says. `Line` writes the envelope (sequence and time) around an {@link Event}, `Pending` the chain.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A SHA-256 in hexadecimal.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

/**
 * The seal of a group, or empty where there is no group yet.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Head = Schema.String.check(Schema.isPattern(/^(?:[0-9a-f]{64})?$/))

const Time = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/))
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/**
 * - `session`: the first entry of a session: who, which server, what loosens the defaults (security rule F5).
 * - `call`: a request that was decided and let through (`from` tells which side asked). Written before its bytes leave.
 *   `epoch`: how often what decisions depend on (pins, policy) had changed in this session before;
 *   absent where it never had.
 * - `refuse`: a request that was not let through, and why.
 * - `outcome`: what came of the `call` with sequence `of`: `result`, `tool-error` (isError), `error`, `cancelled`,
 *   `lost` (the far side ended: whether it ran is not known), `unsent` (none of its bytes left: the decision could not be
 *   written in time, or what it was taken under had changed, and the call was decided anew).
 * - `repeated`: so many refusals more, of the same side and for the same reason as one before, that have no entry each.
 * - `checked`: what was found in the result of the call `of`, and what was done: it was `marked`, or kept from the host
 *   under `id` (`quarantined`).
 * - `released`: a person had a quarantined result handed out.
 * - `held`: what was withheld from a listing because nobody has accepted it.
 * - `withheld`: what was accepted, and withheld from a listing because it may never be called; once a change.
 * - `dropped`: lines or messages of the server that were not passed on, summed.
 * - `repaired`: lines of the server that were read only since they were repaired (`--repair`), summed.
 * - `bridged`: host and server are of two eras, the host of the one named; `strict`: nothing is lowered between them.
 * - `lowered`: what was passed on in another form, or in strict mode withheld, for it has no exact one; summed.
 * - `trusted`: what a first sight pinned without a person (`--first-sight trust`).
 * - `accepted`: what a person accepted, how (`terminal`, `digest`, `unseen`, `import`), and from which parent commands.
 * - `rejected`, `forgotten`: what a person did not want, or had forgotten, and from which parent commands.
 * - `observed`: what `--first-sight observe` would have held.
 * - `approval-asked`: a question was put to a person, and where. `approval-given`, `approval-denied`: its answer, and
 *   where it came from (`host` is the host's word, not proof of a person); one that was given in the terminal is written
 *   by that command, with its parent commands. `approval-expired`: nobody answered in time. `approval-withdrawn`: the
 *   call was given up.
 * - `policy`: another policy than before holds (its digest and that of the one before), or, with `why` and no digest,
 *   none can be read and everything is refused.
 * - `judged`: of the request that the next entry is about: what rules that only observe would have done, and why a
 *   condition had no answer.
 * - `ended`: how the server ended.
 * - `clock`: the clock of this machine was set back by so many milliseconds, or stands that much before an older entry.
 * - `fault`: the ledger could not be written when this was said; it could again, out of what was kept in reserve.
 * - `mended`: a person had the torn ends of these segments recorded (`ledger verify --mend`).
 * - `rekeyed`: the key of the ledger was lost and a person had another one made (`ledger verify --new-key`); the segments
 *   that were sealed with the old one, as they were then.
 * - `archived`: a person may take these segments elsewhere (`ledger archive`): verification does not miss them.
 *
 * `digest` is of the params or of the result, `text` the same in full where the operator wants it. A member that is there
 * but undefined counts as absent: who appends need not build an object in parts.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Event = Schema.Union([
  Schema.Struct({
    type: Schema.Literal("session"),
    client: Schema.String,
    server: Schema.String,
    command: Schema.Array(Schema.String),
    loosened: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("call"),
    from: Schema.Literals(["host", "server"]),
    client: Schema.String,
    server: Schema.String,
    method: Schema.String,
    name: Schema.optional(Schema.String),
    digest: Schema.optional(Schema.String),
    text: Schema.optional(Schema.String),
    pin: Schema.optional(Schema.String),
    rule: Schema.optional(Schema.String),
    epoch: Schema.optional(Schema.Int)
  }),
  Schema.Struct({
    type: Schema.Literal("refuse"),
    from: Schema.Literals(["host", "server"]),
    client: Schema.String,
    server: Schema.String,
    method: Schema.String,
    name: Schema.optional(Schema.String),
    digest: Schema.optional(Schema.String),
    text: Schema.optional(Schema.String),
    reason: Schema.String,
    rule: Schema.optional(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("outcome"),
    of: Schema.Int,
    was: Schema.Literals(["result", "tool-error", "error", "cancelled", "lost", "unsent"]),
    digest: Schema.optional(Schema.String),
    text: Schema.optional(Schema.String),
    code: Schema.optional(Schema.Int)
  }),
  Schema.Struct({
    type: Schema.Literal("repeated"),
    from: Schema.Literals(["host", "server"]),
    client: Schema.String,
    server: Schema.String,
    reason: Schema.String,
    count: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("checked"),
    of: Schema.Int,
    server: Schema.String,
    did: Schema.Literals(["marked", "quarantined"]),
    id: Schema.optional(Schema.String),
    found: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("released"),
    server: Schema.String,
    id: Schema.String,
    parents: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literals(["held", "withheld", "trusted", "observed"]),
    server: Schema.String,
    items: Schema.Array(
      Schema.Struct({
        kind: Schema.String,
        name: Schema.String,
        digest: Schema.String,
        why: Schema.optional(Schema.String)
      })
    )
  }),
  Schema.Struct({
    type: Schema.Literal("accepted"),
    server: Schema.String,
    how: Schema.Literals(["terminal", "digest", "unseen", "import"]),
    items: Schema.Array(Schema.Struct({ kind: Schema.String, name: Schema.String, digest: Schema.String })),
    parents: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literals(["rejected", "forgotten"]),
    server: Schema.String,
    items: Schema.Array(Schema.Struct({ kind: Schema.String, name: Schema.String, digest: Schema.String })),
    parents: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literals([
      "approval-asked",
      "approval-given",
      "approval-denied",
      "approval-expired",
      "approval-withdrawn"
    ]),
    id: Schema.String,
    client: Schema.String,
    server: Schema.String,
    method: Schema.String,
    name: Schema.optional(Schema.String),
    digest: Schema.String,
    rule: Schema.String,
    channel: Schema.optional(Schema.Literals(["host", "terminal"])),
    parents: Schema.optional(Schema.Array(Schema.String))
  }),
  Schema.Struct({
    type: Schema.Literal("policy"),
    server: Schema.String,
    file: Schema.String,
    digest: Schema.optional(Schema.String),
    was: Schema.optional(Schema.String),
    why: Schema.optional(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("judged"),
    client: Schema.String,
    server: Schema.String,
    method: Schema.String,
    name: Schema.optional(Schema.String),
    observed: Schema.Array(
      Schema.Struct({ rule: Schema.String, action: Schema.Literals(["allow", "ask", "deny"]) })
    ),
    fault: Schema.optional(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("dropped"),
    server: Schema.String,
    reason: Schema.String,
    count: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("repaired"),
    server: Schema.String,
    repair: Schema.String,
    count: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("bridged"),
    server: Schema.String,
    host: Schema.Literals(["legacy", "modern"]),
    strict: Schema.Boolean
  }),
  Schema.Struct({
    type: Schema.Literal("lowered"),
    server: Schema.String,
    what: Schema.String,
    count: Schema.Int
  }),
  Schema.Struct({
    type: Schema.Literal("ended"),
    server: Schema.String,
    how: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("clock"),
    back: Count
  }),
  Schema.Struct({
    type: Schema.Literal("fault"),
    why: Schema.String
  }),
  Schema.Struct({
    type: Schema.Literal("mended"),
    segments: Schema.Array(Schema.String)
  }),
  Schema.Struct({
    type: Schema.Literal("rekeyed"),
    segments: Schema.Array(Schema.Struct({ segment: Schema.String, bytes: Count, digest: Digest }))
  }),
  Schema.Struct({
    type: Schema.Literal("archived"),
    segments: Schema.Array(
      Schema.Struct({ segment: Schema.String, bytes: Count, digest: Digest, run: Schema.String, last: Count })
    )
  })
])
/**
 * @category models
 * @since 0.1.0
 */
export type Event = typeof Event.Type

/**
 * What stands in place of entries that were given up, because the ledger could not be written for so long that keeping
 * them would have filled the memory: `count` numbers beginning with the line's own. None of them let anything through.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Omitted = Schema.Struct({ type: Schema.Literal("omitted"), count: Count })
/**
 * @category models
 * @since 0.1.0
 */
export type Omitted = typeof Omitted.Type

/**
 * A segment that another one names: its last seal at that time (empty where it had none), and what stood after that
 * seal if the segment was torn there. Recording the torn part is the mending: it can be neither longer nor other later.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Name = Schema.Struct({
  segment: Schema.String,
  head: Head,
  torn: Schema.optional(Schema.Struct({ bytes: Count, digest: Digest }))
})
/**
 * @category models
 * @since 0.1.0
 */
export type Name = typeof Name.Type

/**
 * The first line of a segment: which file it is, which part of which run of which process, under which key, the
 * sequence number of its first entry, and the segments that no segment had named yet.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Opened = Schema.Struct({
  type: Schema.Literal("opened"),
  format: Schema.Literal(1),
  segment: Schema.String,
  time: Time,
  run: Schema.String,
  part: Count,
  pid: Count,
  key: Schema.String,
  first: Count,
  names: Schema.Array(Name)
})
/**
 * @category models
 * @since 0.1.0
 */
export type Opened = typeof Opened.Type

/**
 * The last line of a segment that was closed in order; `more` says that its process went on to another segment.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Closed = Schema.Struct({ type: Schema.Literal("closed"), time: Time, more: Schema.Boolean })
/**
 * @category models
 * @since 0.1.0
 */
export type Closed = typeof Closed.Type
