/**
 * What a server offers, of every kind, and what of it may be used.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pins from "../pin/Pins.ts"
import type * as Agreement from "../protocol/Agreement.ts"
import type * as Capability from "../protocol/Capability.ts"
import { meta } from "../protocol/Revision.ts"
import * as UriTemplate from "../protocol/UriTemplate.ts"
import type { Failure, Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Offer from "./Offer.ts"
import type { Standing } from "./Offer.ts"
import * as Opening from "./Opening.ts"

/** So many links that results of a session had are remembered. */
const maxLinks = 10_000

/**
 * The offers of one server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Offers {
  readonly of: (kind: Offer.Listed) => Offer.Offer
  /** Whether the newest listings of these kinds are read; reads those that never were. */
  readonly settled: (kinds: ReadonlyArray<Offer.Listed>) => boolean
  /** Why nothing can be compared. */
  readonly fault: (kinds: ReadonlyArray<Offer.Listed>) => Failure | undefined
  /** For settled offers: whether something may be used. */
  readonly tool: (name: string) => Standing
  readonly prompt: (name: string) => Standing
  readonly resource: (uri: string) => Standing
  /** The same of what is completed: a prompt or a template, and one of its arguments. */
  readonly completion: (ref: Text | undefined, argument: Text | undefined) => Standing
  /** Moves whenever something may be used, or not, that was not, or was, before. */
  readonly epoch: () => number
  /** What the server says of itself comes: `then` gets it as the host may see it. */
  readonly opens: (result: Text, then: (result: Text) => void) => void
  /** The session is open: what was said at the opening is kept, and the listings that cannot wait are read. */
  readonly opened: () => void
  /** A result as the host may see it: a held identity stands in none, and its links are remembered where they count. */
  readonly passes: (result: Text) => Text
  /** Whether anything of the server was accepted, so that what it says goes on (security rule F22). */
  readonly isKnown: () => boolean
  /** A change of a kind was announced. */
  readonly changed: (kind: "tools" | "prompts" | "resources") => void
  /** The metadata that the host sends with each request of the modern era. */
  meta: Text | undefined
}

/**
 * What offers need of the line around them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Omit<Offer.Options, "kind" | "meta" | "changed" | "isDeclared"> {
  readonly agreement: Agreement.Agreement
  /** What is shown to the host of a kind has changed without the server having said so. */
  readonly changed: (kind: Offer.Listed) => void
  /** Something of the server was accepted, after nothing had been. */
  readonly known: () => void
}

const listed = ["tool", "prompt", "resource", "template"] as const
/** How long the first listings that the host has not asked for come behind the one of the tools. */
const between = "2 seconds"
/** The kinds that the opening itself shows. */
const shown: ReadonlyArray<Pins.Kind> = ["identity", "instructions", "capability"]

const unknown: Standing = { _tag: "Shut", reason: "unknown-item" }
const free: Standing = { _tag: "Open", pin: undefined, definition: undefined }

/**
 * Offers that nothing was read of yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options) {
  const { accepted, accepts, agreement, firstSight, run, server } = options

  const offer = (kind: Offer.Listed) =>
    Offer.make({
      ...options,
      kind,
      meta: () => offers.meta,
      changed: () => options.changed(kind),
      // Where nothing is agreed the server is not there, and whoever asks is told why.
      isDeclared: () =>
        agreement.era === undefined || agreement.server.has(Offer.table[kind].needs satisfies Capability.Path)
    })
  const all = {
    tool: yield* offer("tool"),
    prompt: yield* offer("prompt"),
    resource: yield* offer("resource"),
    template: yield* offer("template")
  }

  // ---- the opening: what the server says of itself

  let opening: Pins.Listing | undefined
  let judged = Pins.judge(accepted.pins(), "", Pins.unlisted)
  /** It is the first sight of it, and may be trusted. */
  let trusted = false
  let hasOpened = false
  let known = false

  const isOpen = (verdict: Pins.Verdict): boolean =>
    !Pins.isHeld(verdict) || trusted && verdict._tag === "New" || firstSight === "observe" ||
    verdict._tag === "Changed" && accepts(verdict.drift.class)

  const dressed = (result: Text): Text => {
    if (opening === undefined) return result
    judged = Pins.judge(accepted.pins(), options.variant(), opening)
    return Opening.dressed(server, result, (kind, text) => isOpen(judged.status(kind, text)))
  }

  /** What of the opening is held is recorded with the rest, once a person can look at it. */
  const tellOpening = (listing: Pins.Listing): void => {
    judged = Pins.judge(accepted.pins(), options.variant(), listing)
    const items = judged.held.map(({ digest, kind, name, reason }) => ({ kind, name, digest, why: reason }))
    if (items.length === 0) return
    const observing = firstSight === "observe"
    options.record({ type: observing ? "observed" : "held", server, items })
    const what = [...new Set(items.map(({ kind }) => kind === "capability" ? "capabilities" : kind))].join(", ")
    options.tell(
      `what ${server} says of itself (${what}) is ${
        observing ? "not accepted, but shown, since a first sight only observes" : "held"
      }${accepted.toReview()}`
    )
  }

  const isKnown = (): boolean => known || accepted.pins().launch !== undefined
  const tellKnown = (): void => {
    if (known || !isKnown() && !(firstSight === "observe" && hasOpened)) return
    known = true
    options.known()
  }
  accepted.watch(tellKnown)

  // ---- resources, which are more than what is listed

  const links = new Set<string>()
  const covering = new Map<string, (uri: string) => boolean>()
  const covers = (template: string): (uri: string) => boolean => {
    const made = covering.get(template) ?? UriTemplate.covers(template)
    covering.set(template, made)
    return made
  }

  const remember = (result: Text): void => {
    if (accepted.pins().resources !== "linked" || !result.includes(`"resource_link"`)) return
    for (const block of Opening.blocks(result)) {
      const uri = T.member(block, "uri")
      const link = uri === undefined || T.member(block, "type") !== `"resource_link"` ? undefined : T.string(uri)
      if (link !== undefined && links.size < maxLinks) links.add(link)
    }
  }

  const resource = (uri: string): Standing => {
    const own = all.resource.standing(uri)
    if (own !== undefined && (own._tag === "Open" || own.reason !== "held-new")) return own
    const template = all.template.open().find(({ name }) => covers(name)(uri))
    if (template !== undefined) return { _tag: "Open", pin: template.digest, definition: template.text }
    if (own !== undefined) return own
    const { resources } = accepted.pins()
    if (resources === "any" || firstSight === "observe" || resources === "linked" && links.has(uri)) return free
    return { _tag: "Shut", reason: "unlisted-resource" }
  }

  const completion = (ref: Text | undefined, argument: Text | undefined): Standing => {
    const member = (object: Text | undefined, name: string): string | undefined => {
      const text = object === undefined || !T.isObject(object) ? undefined : T.member(object, name)
      return text === undefined ? undefined : T.string(text)
    }
    const type = member(ref, "type")
    const name = member(ref, type === "ref/prompt" ? "name" : "uri")
    const wanted = member(argument, "name")
    if (name === undefined || wanted === undefined) return { _tag: "Shut", reason: "bad-params" }
    const standing = type === "ref/prompt"
      ? all.prompt.standing(name)
      : all.template.standing(name) ?? all.resource.standing(name)
    if (standing === undefined || standing._tag === "Shut") return standing ?? unknown
    const names = type === "ref/prompt" ? argumentsOf(standing.definition) : UriTemplate.variables(name)
    return names.includes(wanted) ? standing : unknown
  }

  const offers: Offers = {
    of: (kind) => all[kind],
    settled: (kinds) => {
      let settled = true
      for (const kind of kinds) {
        if (all[kind].settled()) continue
        all[kind].refresh("opened")
        if (!all[kind].settled()) settled = false
      }
      return settled
    },
    fault: (kinds) => {
      for (const kind of kinds) {
        const fault = all[kind].fault()
        if (fault !== undefined) return fault
      }
      return undefined
    },
    tool: (name) => all.tool.standing(name) ?? unknown,
    prompt: (name) => all.prompt.standing(name) ?? unknown,
    resource,
    completion,
    epoch: () => all.tool.epoch() + all.prompt.epoch() + all.resource.epoch() + all.template.epoch(),
    opens: (result, then) => {
      opening = Pins.opening(result)
      const first = opening
      if (hasOpened || !accepted.isFirst(shown)) return then(dressed(result))
      run(accepted.trusts(first), (exit) => {
        trusted = Exit.isSuccess(exit) && exit.value
        then(dressed(result))
        options.turn()
      })
    },
    opened: () => {
      if (hasOpened) return
      hasOpened = true
      const said = opening
      if (said !== undefined) accepted.later(said)
      const after = (): void => {
        if (said !== undefined) tellOpening(said)
        tellKnown()
        options.turn()
      }
      // A first sight is of everything: what is listed for the first time tomorrow would be held.
      const first = accepted.isFirst(shown)
      const wanted = listed.filter((kind) =>
        agreement.server.has(Offer.table[kind].needs) && (kind === "tool" || first)
      )
      // One after the other, and behind what the host itself has to ask first.
      const read = (at: number): void => {
        const kind = wanted[at]
        if (kind === undefined) return
        const then = (): void => {
          if (at === 0) after()
          run(at === 0 ? Effect.sleep(between) : Effect.void, (exit) => {
            if (!Exit.isSuccess(exit)) return
            read(at + 1)
            options.turn()
          })
        }
        if (all[kind].settled()) return then()
        all[kind].whenSettled(then)
        all[kind].refresh("opened")
      }
      if (wanted.length > 0) return read(0)
      run(accepted.keep(Pins.unlisted), (exit) => {
        if (Exit.isFailure(exit)) options.tell(`what ${server} says of itself cannot be kept for review`)
        after()
      })
    },
    passes: (result) => {
      remember(result)
      if (agreement.era !== "modern" || !result.includes(meta.serverInfo)) return result
      return Opening.undressed(server, result, (text) => isOpen(judged.status("identity", text)))
    },
    isKnown,
    changed: (kind) => {
      for (const each of listed) {
        const { member } = Offer.table[each]
        if (member === kind || each === "template" && kind === "resources") all[each].refresh("changed")
      }
    },
    meta: undefined
  }
  return offers
})

/** The names of a prompt's arguments. */
const argumentsOf = (definition: Text | undefined): ReadonlyArray<string | undefined> => {
  const list = definition === undefined ? undefined : T.member(definition, "arguments")
  if (list === undefined || !T.isArray(list)) return []
  return T.elements(list).map((argument) => {
    const name = T.isObject(argument) ? T.member(argument, "name") : undefined
    return name === undefined ? undefined : T.string(name)
  })
}
