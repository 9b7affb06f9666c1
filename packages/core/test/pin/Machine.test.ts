import { assert, describe, it } from "@effect/vitest"
import * as Pins from "@sallyport/core/pin/Pins"
import { Result } from "effect"
import * as fc from "fast-check"
import { command, text } from "./support.ts"

/**
 * The states of an item (unknown, held, accepted, drifted, rejected), driven through every event there is: what relays
 * see under two names, what persons decide, with one launch or another. The model knows only what was accepted, when.
 */

const servers = ["files", "other"] as const
type Server = typeof servers[number]

const launches = ["a.js", "b.js"].map((script) => Pins.launch({ ...command, args: [script] }, {}, "key"))
const launchOf = (index: number): Pins.LaunchPin => launches[index] ?? Pins.launch(command, {}, "key")

const kinds = ["tool", "prompt"] as const
const names = ["x", "y"] as const

/** An offered item; the text decides its digest, and `broken` is no valid definition. */
interface Item {
  readonly kind: typeof kinds[number]
  readonly name: typeof names[number]
  readonly says: "one" | "two" | "broken"
}

const define = ({ kind, name, says }: Item) =>
  text({
    name,
    description: says === "broken" ? 1 : says,
    ...(kind === "tool" ? { inputSchema: { type: "object" } } : {})
  })

const listingOf = (items: ReadonlyArray<Item>, listed: ReadonlyArray<Item["kind"]>): Pins.Listing =>
  Pins.together(listed.map((kind) => Pins.listing(kind, items.filter((item) => item.kind === kind).map(define))))

interface Model {
  /** What a person accepted, or the first sight pinned: server, kind, name and digest. */
  accepted: Set<string>
  rejected: Set<string>
  launch: Map<Server, string>
  /** Names about which something was decided, or of which something was seen while nothing was trusted. */
  sighted: Map<Server, { since: number; kinds: Set<string> }>
  decided: Set<Server>
  clock: number
  /** How many items were ever accepted. */
  opened: number
}

interface Real {
  pins: Map<Server, Pins.Pins>
}

const key = (server: Server, item: { readonly kind: string; readonly name: string }, digest: string) =>
  `${server} ${item.kind} ${item.name} ${digest}`

const load = (real: Real, server: Server): Pins.Pins => real.pins.get(server) ?? Pins.empty(server)

const time = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString()

/** Nothing that nobody accepted is open, whatever is offered. */
const check = (model: Model, real: Real): void => {
  const everything = kinds.flatMap((kind) =>
    names.flatMap((name) => (["one", "two", "broken"] as const).map((says): Item => ({ kind, name, says })))
  )
  for (const server of servers) {
    const pins = load(real, server)
    assert.strictEqual(pins.launch?.digest, model.launch.get(server))
    for (const item of everything) {
      const verdict = Pins.judge(pins, "v", listingOf([item], [item.kind])).find(item.kind, item.name)
      const accepted = model.accepted.has(key(server, item, verdict?.digest ?? ""))
      assert.strictEqual(verdict?._tag === "Accepted", accepted && item.says !== "broken")
      if (model.rejected.has(key(server, item, verdict?.digest ?? ""))) assert.strictEqual(verdict?._tag, "Rejected")
      // Whoever lists the name twice has neither open.
      const twice = Pins.judge(pins, "v", listingOf([item, item], [item.kind])).find(item.kind, item.name)
      assert.strictEqual(twice?._tag, "Conflict")
    }
    const { rejected, verdicts } = Pins.heldOf(pins)
    for (const verdict of [...verdicts, ...rejected]) {
      assert.isFalse(model.accepted.has(key(server, verdict, verdict.digest)) && verdict._tag !== "Conflict")
    }
  }
}

type Command = fc.Command<Model, Real>

class See implements Command {
  readonly server: Server
  readonly items: ReadonlyArray<Item>
  readonly listed: ReadonlyArray<Item["kind"]>
  readonly trust: boolean
  readonly launch: number
  readonly after: number
  readonly fault: boolean
  constructor(
    server: Server,
    items: ReadonlyArray<Item>,
    listed: ReadonlyArray<Item["kind"]>,
    trust: boolean,
    launch: number,
    after: number,
    fault: boolean
  ) {
    this.server = server
    this.items = items
    this.listed = listed
    this.trust = trust
    this.launch = launch
    this.after = after
    this.fault = fault
  }
  check = () => true
  toString = () => `See(${JSON.stringify(this)})`
  run(model: Model, real: Real): void {
    model.clock += this.after
    const { server } = this
    const launch = launchOf(this.launch)
    const before = load(real, server)
    // As the guard does: another launch than the accepted one, or one that was rejected, is not started at all.
    if (before.launch !== undefined && before.launch.digest !== launch.digest) {
      real.pins.set(server, Pins.seeLaunch(before, launch, time(model.clock)))
      return check(model, real)
    }
    if (Pins.isRejectedLaunch(before, launch)) return check(model, real)
    const listing = listingOf(this.items, this.listed)
    const sight: Pins.Sight = {
      at: time(model.clock),
      variant: "v",
      launch,
      listing: this.fault ? { ...listing, items: [], invalid: [] } : listing,
      ...(this.fault ? { fault: "f" } : {})
    }
    const others = servers.filter((name) => name !== server).map((name) => load(real, name))
    const trusted = this.trust && Pins.heldElsewhere(others, listing, launch) === undefined
    real.pins.set(server, trusted ? Pins.trustFirstSight(before, sight) : Pins.see(before, sight))
    // The model's own rule of first sight.
    const sighted = model.sighted.get(server)
    if (!this.fault && this.listed.length > 0) {
      const young = sighted === undefined || model.clock - sighted.since < 60
      const first = this.listed.filter((kind) =>
        !model.decided.has(server) && young && sighted?.kinds.has(kind) !== true
      )
      if (trusted && first.length > 0) {
        for (const item of listing.items) {
          const alone = [...listing.items, ...listing.invalid].filter(({ kind, name }) =>
            kind === item.kind && name === item.name
          ).length === 1
          // What was rejected under another name keeps the whole from being trusted.
          if (alone && first.some((kind) => kind === item.kind)) {
            for (const other of servers) {
              assert.isFalse(model.rejected.has(key(other, item, item.digest)) && other !== server)
            }
            model.accepted.add(key(server, item, item.digest))
            model.opened++
          }
        }
        model.launch.set(server, launch.digest)
      }
      model.sighted.set(server, {
        since: sighted?.since ?? model.clock,
        kinds: new Set([...sighted?.kinds ?? [], ...this.listed])
      })
    }
    check(model, real)
  }
}

class Accept implements Command {
  readonly server: Server
  readonly item: Pins.Key | undefined
  constructor(server: Server, item: Pins.Key | undefined) {
    this.server = server
    this.item = item
  }
  check = () => true
  toString = () => `Accept(${JSON.stringify(this)})`
  run(model: Model, real: Real): void {
    const pins = load(real, this.server)
    const shown = Pins.digestOfHeld(pins, this.item === undefined ? undefined : [this.item])
    const choice = this.item === undefined ? {} : { items: [this.item] }
    const done = Pins.accept(pins, { ...choice, digest: shown ?? "" }, "terminal", time(model.clock))
    if (Result.isSuccess(done)) {
      for (const item of done.success.definitions) {
        for (const accepted of model.accepted) {
          if (accepted.startsWith(`${this.server} ${item.kind} ${item.name} `)) model.accepted.delete(accepted)
        }
        model.accepted.add(key(this.server, item, item.digest))
        model.opened++
        model.rejected.delete(key(this.server, item, item.digest))
      }
      model.launch.set(this.server, pins.seen?.launch.digest ?? "")
      model.decided.add(this.server)
      real.pins.set(this.server, done.success.pins)
    }
    check(model, real)
  }
}

class Reject implements Command {
  readonly server: Server
  readonly item: Pins.Key | undefined
  readonly launch: boolean
  constructor(server: Server, item: Pins.Key | undefined, launch: boolean) {
    this.server = server
    this.item = item
    this.launch = launch
  }
  check = () => true
  toString = () => `Reject(${JSON.stringify(this)})`
  run(model: Model, real: Real): void {
    const pins = load(real, this.server)
    const choice = { ...(this.item === undefined ? {} : { items: [this.item] }), launch: this.launch }
    const done = Pins.reject(pins, choice, time(model.clock))
    if (Result.isSuccess(done)) {
      for (const { digest, kind, name } of done.success.rejected) {
        if (kind === "launch") {
          if (model.launch.get(this.server) === digest) model.launch.delete(this.server)
        } else {
          model.accepted.delete(key(this.server, { kind, name }, digest))
          model.rejected.add(key(this.server, { kind, name }, digest))
        }
      }
      model.decided.add(this.server)
      real.pins.set(this.server, done.success.pins)
    }
    check(model, real)
  }
}

class Forget implements Command {
  readonly server: Server
  constructor(server: Server) {
    this.server = server
  }
  check = () => true
  toString = () => `Forget(${this.server})`
  run(model: Model, real: Real): void {
    real.pins.set(this.server, Pins.forget(load(real, this.server)))
    for (const set of [model.accepted, model.rejected]) {
      for (const each of set) if (each.startsWith(`${this.server} `)) set.delete(each)
    }
    model.launch.delete(this.server)
    model.decided.add(this.server)
    check(model, real)
  }
}

const server = fc.constantFrom(...servers)
const item = fc.record({
  kind: fc.constantFrom(...kinds),
  name: fc.constantFrom(...names),
  says: fc.constantFrom("one" as const, "two" as const, "broken" as const)
})
const named = fc.option(fc.record({ kind: fc.constantFrom(...kinds), name: fc.constantFrom(...names) }), {
  freq: 1,
  nil: undefined
})

const sees = fc.tuple(
  server,
  fc.oneof(
    fc.uniqueArray(item, { maxLength: 4, size: "max", selector: ({ kind, name }) => kind + name }),
    fc.array(item, { maxLength: 4, size: "max" })
  ),
  fc.constantFrom([...kinds], [...kinds], [kinds[0]], [kinds[1]], []),
  fc.boolean(),
  fc.constantFrom(0, 0, 0, 1),
  fc.constantFrom(0, 1, 59, 60),
  fc.constantFrom(false, false, false, true)
).map((parts) => new See(...parts))
const accepts = fc.tuple(server, named).map((parts) => new Accept(...parts))

const commands = fc.commands([
  sees,
  sees,
  sees,
  accepts,
  accepts,
  fc.tuple(server, named, fc.boolean()).map((parts) => new Reject(...parts)),
  server.map((name) => new Forget(name))
], { maxCommands: 20, size: "max" })

describe("the states of pins", () => {
  it("F4: no sequence of events opens what nobody accepted", () => {
    let opened = 0
    fc.assert(
      fc.property(commands, (steps) => {
        const model: Model = {
          accepted: new Set(),
          rejected: new Set(),
          launch: new Map(),
          sighted: new Map(),
          decided: new Set(),
          clock: 0,
          opened: 0
        }
        fc.modelRun(() => ({ model, real: { pins: new Map() } }), steps)
        opened += model.opened
      }),
      { numRuns: 80 }
    )
    // Else nothing was ever accepted, and the property says nothing.
    assert.isAbove(opened, 20)
  })
})
