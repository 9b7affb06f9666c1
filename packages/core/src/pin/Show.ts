/**
 * What a person is shown of a server: plain text for a terminal, in which nothing of the server's is hidden or passes for a
 * line of ours.
 *
 * **Details**
 *
 * What a server wrote stands behind a margin (`|`, and `:` where a long line goes on) or in quotes. Two different
 * definitions never look the same; where something is cut, a line says how much, and what differs is not cut away.
 *
 * @since 0.1.0
 */
import * as TextDiff from "effect/TextDiff"
import type * as Drift from "./Drift.ts"
import type { Json } from "./internal/json.ts"
import * as json from "./internal/json.ts"
import * as Pins from "./Pins.ts"
import * as Visible from "./Visible.ts"

/**
 * How it is drawn.
 *
 * **Details**
 *
 * - `columns`: of the terminal, 80 if not given.
 * - `characters`: after which a single text of the server's is cut, 4,000 if not given.
 * - `rows`: after which a definition or a diff is cut, 2,000 if not given.
 * - `links`: what was accepted or rejected under other names; it is said of what is new.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly columns?: number
  readonly characters?: number
  readonly rows?: number
  readonly links?: ReadonlyMap<string, ReadonlyArray<Pins.Link>>
}

/**
 * Options with which nothing is cut.
 *
 * @category constants
 * @since 0.1.0
 */
export const whole: Options = { characters: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY }

interface Settled {
  readonly columns: number
  readonly characters: number
  readonly rows: number
}

const settle = ({ characters = 4_000, columns = 80, rows = 2_000 }: Options): Settled => ({ characters, columns, rows })

const indent = "    "

/** A line of a drawing: ours, or one of the server's, which is printed behind the margin. */
interface Row {
  readonly ours: boolean
  readonly text: string
}

const server = (text: string): Row => ({ ours: false, text })
const ours = (text: string): Row => ({ ours: true, text })

// ---- JSON

const scalar = (self: Json): string | undefined => {
  switch (self._tag) {
    case "Null":
      return "null"
    case "Boolean":
      return String(self.value)
    case "Number":
      return self.text
    case "String":
      return Visible.quoted(self.value)
    case "Array":
      return self.items.length === 0 ? "[]" : undefined
    case "Object":
      return self.members.size === 0 ? "{}" : undefined
  }
}

/** A short list of single values stands on one line. */
const inline = (self: Json): string | undefined => {
  const one = scalar(self)
  if (one !== undefined) return one
  if (self._tag !== "Array") return undefined
  const items = self.items.map(scalar)
  if (!items.every((item) => item !== undefined)) return undefined
  const text = `[${items.join(", ")}]`
  return text.length <= 56 ? text : undefined
}

/** JSON with exact numbers, one member a line; sorted where it is to be compared. */
const pretty = (self: Json, sorted: boolean): Array<string> => {
  const lines: Array<string> = []
  const put = (value: Json, before: string, after: string, depth: number) => {
    const space = "  ".repeat(depth)
    const short = inline(value)
    if (short !== undefined) lines.push(`${space}${before}${short}${after}`)
    else if (value._tag === "Array") {
      lines.push(`${space}${before}[`)
      for (const [index, item] of value.items.entries()) {
        put(item, "", index === value.items.length - 1 ? "" : ",", depth + 1)
      }
      lines.push(`${space}]${after}`)
    } else if (value._tag === "Object") {
      lines.push(`${space}${before}{`)
      const entries = sorted ? [...value.members].sort(json.byName) : [...value.members]
      for (const [index, [name, member]] of entries.entries()) {
        put(member, `${Visible.quoted(name)}: `, index === entries.length - 1 ? "" : ",", depth + 1)
      }
      lines.push(`${space}}${after}`)
    }
  }
  put(self, "", "", 0)
  return lines
}

// ---- a definition as rows

/** The members that the protocol knows, in the order in which they are drawn; what names the item is not among them. */
const fields: Readonly<Record<Pins.Kind, ReadonlyArray<string>>> = {
  identity: ["name", "title", "version", "description", "websiteUrl", "icons"],
  instructions: [],
  capability: [],
  tool: ["title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta"],
  prompt: ["title", "description", "arguments", "icons", "_meta"],
  resource: ["name", "title", "description", "mimeType", "size", "annotations", "icons", "_meta"],
  template: ["name", "title", "description", "mimeType", "annotations", "icons", "_meta"]
}

const named: Readonly<Partial<Record<Pins.Kind, string>>> = {
  tool: "name",
  prompt: "name",
  resource: "uri",
  template: "uriTemplate"
}

const stringRows = (value: string): Array<Row> => value.split("\n").map((line) => server(Visible.line(line)))

const definitionRows = (item: Pins.Definition | Pins.Invalid, sorted: boolean): Array<Row> => {
  const { kind, name, text } = item
  const definition = json.parse(text)
  // A file that was edited: what it is, as it is.
  if (definition === undefined) return stringRows(text)
  if (kind === "instructions" && definition._tag === "String") return stringRows(definition.value)
  if (definition._tag !== "Object" || kind === "capability") return pretty(definition, sorted).map(server)
  const rows: Array<Row> = []
  for (const field of fields[kind]) {
    const value = definition.members.get(field)
    if (value === undefined) continue
    rows.push(ours(`${field}:`))
    if (value._tag === "String") rows.push(...stringRows(value.value))
    else for (const line of pretty(value, sorted)) rows.push(server(line))
  }
  const isOther = (member: string) => !fields[kind].includes(member) && (member !== named[kind] || name === "")
  const others = new Map([...definition.members].filter(([member]) => isOther(member)))
  if (others.size > 0) {
    rows.push(ours("members that the protocol does not know:"))
    for (const line of pretty({ _tag: "Object", members: others }, sorted)) rows.push(server(line))
  }
  return rows
}

const cutRow = (row: Row, characters: number): ReadonlyArray<Row> => {
  const { more, text } = Visible.cut(row.text, characters)
  return more === 0 ? [row] : [{ ...row, text }, ours(Visible.more(more))]
}

const print = (row: Row, prefix: string, columns: number): ReadonlyArray<string> =>
  row.ours
    ? [`${prefix}${row.text}`]
    : Visible.margin(row.text, { columns, indent: `${prefix}  ` })

const printAll = (rows: ReadonlyArray<Row>, prefix: string, settings: Settled): Array<string> => {
  const shown = rows.slice(0, settings.rows).flatMap((row) => cutRow(row, settings.characters))
    .flatMap((row) => print(row, prefix, settings.columns))
  const left = rows.length - settings.rows
  return left > 0 ? [...shown, `${prefix}… ${left} lines more`] : shown
}

/**
 * A definition field by field, as the server ordered it.
 *
 * @category rendering
 * @since 0.1.0
 */
export const definition = (
  item: Pins.Definition | Pins.Invalid,
  options: Options = {}
): ReadonlyArray<string> => printAll(definitionRows(item, false), indent, settle(options))

// ---- differences

const changeLines = (drift: Drift.Drift): Array<string> => {
  const shown = drift.changes.slice(0, 12)
  const left = drift.changes.length - shown.length + drift.more
  const lines = shown.map((change) =>
    `${indent}${change.class.padEnd(9)}  ${
      Visible.short(change.pointer === "" ? "all of it" : change.pointer, 100)
    } ${change.says}`
  )
  return left > 0 ? [...lines, `${indent}… ${left} places more`] : lines
}

/** Where two long lines begin to differ: what they have in common before is left out of both, so that no cut hides it. */
const apart = (before: string, after: string, characters: number): number => {
  if (before.length <= characters && after.length <= characters) return 0
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  // A few characters to recognize the place by; never from the middle of an escape or a pair.
  const from = Math.max(0, at - 40)
  const escape = before.lastIndexOf("\\", from)
  const safe = escape >= 0 && from - escape < 12 ? escape : from
  return (before.codePointAt(safe - 1) ?? 0) > 0xffff ? safe - 1 : safe
}

interface Line {
  readonly sign: " " | "-" | "+"
  readonly row: Row
}

const diffRows = (before: ReadonlyArray<Row>, after: ReadonlyArray<Row>, characters: number): ReadonlyArray<Line> => {
  const edits = TextDiff.diffWith<Row>((left, right) => left.ours === right.ours && left.text === right.text)(
    before,
    after,
    { maxEdits: 2_000 }
  )
  const lines: Array<Line> = []
  for (const [index, edit] of edits.entries()) {
    const sign = edit._tag === "Equal" ? " " : edit._tag === "Delete" ? "-" : "+"
    const neighbour = edit._tag === "Delete" ? edits[index + 1] : edits[index - 1]
    const other = neighbour !== undefined && neighbour._tag !== "Equal" && edit._tag !== "Equal" ? neighbour.items : []
    for (const [place, row] of edit.items.entries()) {
      const twin = other[place]
      const from = twin === undefined || row.ours ? 0 : apart(row.text, twin.text, characters)
      if (from > 0) lines.push({ sign, row: ours(`… ${from} characters as in the other`) })
      for (const part of cutRow(from > 0 ? server(row.text.slice(from)) : row, characters)) {
        lines.push({ sign, row: part })
      }
    }
  }
  return lines
}

const context = 3

/** The differing lines with three lines around them; what is left out in between is counted. */
const hunks = (lines: ReadonlyArray<Line>, settings: Settled): Array<string> => {
  const near = new Set<number>()
  for (const [index, line] of lines.entries()) {
    if (line.sign === " ") continue
    for (let at = index - context; at <= index + context; at++) near.add(at)
  }
  const out: Array<string> = []
  let heading: string | undefined
  let skipped = 0
  let shown = 0
  let left = 0
  for (const [index, { row, sign }] of lines.entries()) {
    if (sign === " " && row.ours) heading = row.text
    if (!near.has(index)) {
      skipped++
      continue
    }
    if (shown >= settings.rows) {
      left++
      continue
    }
    if (skipped > 0) {
      out.push(
        `${indent}@@ ${skipped} ${skipped === 1 ? "line" : "lines"} as before${
          heading === undefined || row.ours ? "" : `, in ${heading.replace(/:$/, "")}`
        }`
      )
    }
    skipped = 0
    shown++
    out.push(...print(row, `${indent}${sign} `, settings.columns))
  }
  return left > 0 ? [...out, `${indent}… ${left} lines more`] : out
}

/**
 * What differs between two definitions: a diff of their drawn forms, members sorted, so that an order that means nothing
 * does not show.
 *
 * @category rendering
 * @since 0.1.0
 */
export const difference = (
  before: Pins.Definition,
  after: Pins.Definition,
  options: Options = {}
): ReadonlyArray<string> => {
  const settings = settle(options)
  return hunks(
    diffRows(definitionRows(before, true), definitionRows(after, true), settings.characters),
    settings
  )
}

// ---- the launch

const launchValue = (field: { readonly name: string; readonly value: string }): string => {
  if (!field.name.startsWith("env ")) return Visible.short(field.value, 500)
  return field.value === "inherited" ? "taken from Sallyport's environment" : "a literal value (not shown)"
}

/** Of what a name alone decides, no digest says what it is (security rule F32). */
const decided = (launch: Pins.LaunchPin): Array<string> => {
  const by = Pins.decidedBy(launch)
  return by === undefined ? [] : [`${indent}unverifiable: what runs is decided at each start by ${by}`]
}

const launchLines = (launch: Pins.LaunchPin): Array<string> => [
  ...decided(launch),
  ...launch.fields.flatMap((field) => {
    const lines = Visible.wrap(launchValue(field), 54)
    const label = Visible.short(field.name, 40).padEnd(18)
    return lines.map((line, index) => `${indent}${index === 0 ? label : " ".repeat(label.length)}  ${line}`)
  }),
  ...(launch.loaders.length === 0 ? [] : [
    `${indent}${Visible.short(launch.loaders.join(", "), 200)}: decides which code the program loads`
  ])
]

const valueLines = (sign: string, value: string): Array<string> =>
  Visible.wrap(Visible.short(value, 500), 68).map((line, index) => `  ${index === 0 ? sign : " "} ${line}`)

const launchSection = (
  pins: Pins.Pins,
  held: Pins.HeldLaunch | undefined,
  full: boolean,
  links: Options["links"]
): Array<string> => {
  if (held === undefined) {
    return pins.launch === undefined ? [] : ["launch: accepted", ...(full ? launchLines(pins.launch) : [])]
  }
  const state = [...(held.rejected ? ["rejected before"] : []), ...linked(held.seen.digest, links)]
    .map((note) => `; ${note}`).join("")
  if (held.accepted === undefined) return [`launch: new${state}`, ...launchLines(held.seen)]
  return [
    `launch: changed (privilege)${state}`,
    ...decided(held.seen),
    ...held.differences.flatMap((difference) =>
      [
        ...Visible.wrap(Visible.line(difference.says), 74),
        ...(difference.before === undefined ? [] : valueLines("-", difference.before)),
        ...(difference.now === undefined ? [] : valueLines("+", difference.now))
      ].map((line) => `${indent}${line}`)
    )
  ]
}

// ---- a server

/** How the same stands under other names, as a part of a sentence. */
const linked = (digest: string, links: Options["links"]): ReadonlyArray<string> =>
  (links?.get(digest) ?? []).map(({ server, was }) => `${was} under the name ${Visible.name(server)}`)

const title = (verdict: Pins.Verdict, links: Options["links"]): string => {
  switch (verdict._tag) {
    case "Accepted":
      return `accepted (${verdict.pin.how}, ${verdict.pin.at})`
    case "Free":
      return "free: resources of this server are not held"
    case "Rejected":
      return `held: rejected${verdict.of._tag === "Changed" ? `; changed (${verdict.of.drift.class})` : ""}`
    case "New": {
      const notes = [
        ...(verdict.alike === undefined ? [] : [`looks like the accepted ${Visible.name(verdict.alike)}`]),
        ...(verdict.same === undefined ? [] : [`has the content of the accepted ${Visible.name(verdict.same)}`]),
        ...linked(verdict.digest, links)
      ]
      return `held: new${notes.length === 0 ? "" : `; ${notes.join("; ")}`}`
    }
    case "Changed":
      return `held: changed (${verdict.drift.class})`
    case "Conflict":
      return "held: the server lists this name more than once; it cannot be accepted"
    case "Invalid":
      return `held: no valid definition (${Visible.short(verdict.item.why, 200)}); it cannot be accepted`
  }
}

/** An item as it is called; of the kinds of which there is but one the kind says it. */
const called = ({ kind, name }: Pins.Key): string =>
  kind === name ? kind : `${kind} ${name === "" ? "without a name" : Visible.name(name)}`

const changeOf = (verdict: Pins.Verdict): Pins.Changed | undefined => {
  const self = verdict._tag === "Rejected" ? verdict.of : verdict
  return self._tag === "Changed" ? self : undefined
}

const section = (verdict: Pins.Verdict, body: ReadonlyArray<string>, links: Options["links"]): Array<string> => {
  const change = changeOf(verdict)
  return [
    called(verdict),
    `  ${title(verdict, links)}`,
    ...(change === undefined ? [] : changeLines(change.drift)),
    ...body
  ]
}

const isShown = (items: ReadonlyArray<Pins.Key> | undefined): (item: Pins.Key) => boolean => {
  if (items === undefined) return () => true
  const keys = new Set(items.map(Pins.keyOf))
  return (item) => keys.has(Pins.keyOf(item))
}

const count = (amount: number, one: string): string => `${amount} ${one}${amount === 1 ? "" : "s"}`

/**
 * One line about a server: how much of it is accepted, how much is held, and the strongest class of what drifted.
 *
 * @category rendering
 * @since 0.1.0
 */
export const summary = (pins: Pins.Pins): string => {
  const held = Pins.heldOf(pins)
  const judgement = Pins.judgeSeen(pins)
  const parts = [
    `${judgement.verdicts.length - judgement.held.length} accepted`,
    `${held.verdicts.length} held${held.class === undefined ? "" : ` (${held.class})`}`,
    ...(held.rejected.length === 0 ? [] : [`${held.rejected.length} rejected`]),
    ...(held.launch === undefined ? [] : [`launch ${Pins.launchState(held)}`]),
    ...(pins.seen === undefined || Pins.decidedBy(pins.seen.launch) === undefined ? [] : ["launch unverifiable"]),
    ...(judgement.gone.length === 0 ? [] : [`${judgement.gone.length} gone`]),
    ...(pins.seen === undefined ? ["never listed"] : []),
    ...(Pins.faultsOf(pins).length === 0 ? [] : ["could not be listed"])
  ]
  return `${pins.server}  ${parts.join(", ")}`
}

const faultLines = (pins: Pins.Pins, columns: number): Array<string> => {
  const lines: Array<string> = []
  for (const { fault, kind } of Pins.faultsOf(pins)) {
    lines.push(`${kind}: it could not be listed the last time; below is what was seen before:`)
    lines.push(...Visible.block(fault, { columns, characters: 2_000 }))
  }
  return lines
}

const goneLines = (judgement: Pins.Judgement, items: ReadonlyArray<Pins.Key> | undefined): Array<string> =>
  judgement.gone.filter(isShown(items)).map((pin) => `${called(pin)}: accepted, not offered any more`)

const about = (pins: Pins.Pins): string => {
  if (pins.seen === undefined) return "nothing of it was seen yet; start it once through sallyport relay"
  const variants = [...new Set(pins.seen.kinds.map(({ variant }) => variant))].filter((variant) => variant !== "")
  return `seen ${pins.seen.at}${
    variants.length === 0 ? "" : `, as ${variants.map((variant) => Visible.short(variant, 60)).join(" and ")}`
  }`
}

const sections = (parts: ReadonlyArray<ReadonlyArray<string>>): string =>
  `${parts.filter((part) => part.length > 0).map((part) => part.join("\n")).join("\n\n")}\n`

/**
 * All that is known of a server, or of these items of it: the launch, and each definition in full.
 *
 * @category rendering
 * @since 0.1.0
 */
export const show = (pins: Pins.Pins, items?: ReadonlyArray<Pins.Key>, options: Options = {}): string => {
  const settings = settle(options)
  const judgement = Pins.judgeSeen(pins)
  const held = Pins.heldOf(pins)
  return sections([
    [summary(pins), about(pins), ...faultLines(pins, settings.columns)],
    items === undefined ? launchSection(pins, held.launch, true, options.links) : [],
    ...judgement.verdicts.filter(isShown(items)).map((verdict) =>
      section(verdict, definition(verdict.item, options), options.links)
    ),
    goneLines(judgement, items)
  ])
}

/**
 * What is held of a server, or of these items of it: differences where something was accepted before, else the definition
 * in full. This is what a person is shown before accepting it. What was rejected is shown where it is named.
 *
 * @category rendering
 * @since 0.1.0
 */
export const diff = (pins: Pins.Pins, items?: ReadonlyArray<Pins.Key>, options: Options = {}): string => {
  const settings = settle(options)
  const judgement = Pins.judgeSeen(pins)
  const held = Pins.heldOf(pins)
  const verdicts = [...held.verdicts, ...(items === undefined ? [] : held.rejected)].filter(isShown(items))
  const nothing = verdicts.length === 0 && held.launch === undefined && pins.seen !== undefined
  return sections([
    [summary(pins), about(pins), ...faultLines(pins, settings.columns)],
    launchSection(pins, held.launch, false, options.links),
    ...verdicts.map((verdict) => {
      const change = changeOf(verdict)
      return section(
        verdict,
        change === undefined ? definition(verdict.item, options) : difference(change.pin, change.item, options),
        options.links
      )
    }),
    goneLines(judgement, items),
    nothing ? [`nothing is held of ${count(judgement.verdicts.length, "item")}`] : []
  ])
}

/**
 * What is accepted in the one and not in the other: differences where the name was accepted before, else the definition in
 * full, and the launch that is expected.
 *
 * @category rendering
 * @since 0.1.0
 */
export const proposal = (before: Pins.Pins, after: Pins.Pins, options: Options = {}): string => {
  const known = new Set(before.pins)
  const launch = after.expects === undefined || after.expects.digest === before.expects?.digest
    ? []
    : ["launch, wherever it is installed:", ...launchLines(after.expects)]
  return sections([
    [after.server],
    launch,
    ...(after.resources === undefined || after.resources === before.resources
      ? []
      : [[`resources that may be read: ${after.resources}`]]),
    ...after.pins.filter((pin) => !known.has(pin)).map((pin) => proposed(pin, before, options))
  ])
}

const proposed = (pin: Pins.Pin, before: Pins.Pins, options: Options): Array<string> => {
  const variant = pin.variant === "" ? "" : `, as ${Visible.short(pin.variant, 60)}`
  const old = before.pins.find((other) => Pins.keyOf(other) === Pins.keyOf(pin))
  return old === undefined || old.digest === pin.digest
    ? [called(pin), `  new here${variant}`, ...definition(pin, options)]
    : [called(pin), `  other than accepted here${variant}`, ...difference(old, pin, options)]
}
