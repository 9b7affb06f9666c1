/**
 * The text of a ledger line, written by hand: this runs once or twice for every call.
 *
 * **Details**
 *
 * Lines are pure ASCII, so that a line which was cut anywhere is still text, and every value has exactly one spelling,
 * so that a line can be checked by writing it again.
 *
 * @since 0.1.0
 */
import type { Closed, Event, Omitted, Opened } from "./Entry.ts"

/** Anything that cannot stand in a string as it is. */
const special = /[^ !#-[\]-~]/
const beyondAscii = /[\u007f-\uffff]/g

const escape = (character: string): string => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0")

/**
 * A string as JSON, in ASCII.
 *
 * @category encoding
 * @since 0.1.0
 */
export const quote = (text: string): string =>
  special.test(text) ? JSON.stringify(text).replace(beyondAscii, escape) : "\"" + text + "\""

const optional = (name: string, value: string | undefined): string =>
  value === undefined ? "" : ",\"" + name + "\":" + quote(value)

const strings = (values: ReadonlyArray<string>): string => "[" + values.map(quote).join(",") + "]"

const digits = (value: number, width: number): string => String(value).padStart(width, "0")

/**
 * A writer of times in ISO 8601 that works each one out once: many entries share a millisecond, nearly all a minute.
 *
 * @category encoding
 * @since 0.1.0
 */
export const makeTimes = (): (millis: number) => string => {
  let last = Number.NaN
  let text = ""
  let minute = Number.NaN
  let prefix = ""
  return (millis) => {
    if (millis === last) return text
    last = millis
    const current = Math.floor(millis / 60_000)
    if (current !== minute) {
      minute = current
      prefix = minuteText(current)
    }
    const rest = millis - current * 60_000
    text = prefix + digits(Math.floor(rest / 1000), 2) + "." + digits(Math.floor(rest) % 1000, 3) + "Z"
    return text
  }
}

/** The date and the minute, by the calendar of days since 0000-03-01, in which the leap day ends the year. */
const minuteText = (minutes: number): string => {
  const days = Math.floor(minutes / 1440) + 719_468
  const era = Math.floor(days / 146_097)
  const dayOfEra = days - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  const minuteOfDay = minutes - Math.floor(minutes / 1440) * 1440
  return digits(year, 4) + "-" + digits(month, 2) + "-" + digits(day, 2) + "T" +
    digits(Math.floor(minuteOfDay / 60), 2) + ":" + digits(minuteOfDay % 60, 2) + ":"
}

const members = (event: Event | Omitted): string => {
  switch (event.type) {
    case "call":
      return ",\"from\":\"" + event.from + "\",\"client\":" + quote(event.client) + ",\"server\":" +
        quote(event.server) + ",\"method\":" + quote(event.method) + optional("name", event.name) +
        optional("digest", event.digest) + optional("text", event.text) + optional("pin", event.pin) +
        optional("rule", event.rule) + (event.epoch === undefined ? "" : ",\"epoch\":" + event.epoch)
    case "refuse":
      return ",\"from\":\"" + event.from + "\",\"client\":" + quote(event.client) + ",\"server\":" +
        quote(event.server) + ",\"method\":" + quote(event.method) + optional("name", event.name) +
        optional("digest", event.digest) + optional("text", event.text) + ",\"reason\":" + quote(event.reason) +
        optional("rule", event.rule)
    case "outcome":
      return ",\"of\":" + event.of + ",\"was\":\"" + event.was + "\"" + optional("digest", event.digest) +
        optional("text", event.text) +
        (event.code === undefined ? "" : ",\"code\":" + event.code)
    case "session":
      return ",\"client\":" + quote(event.client) + ",\"server\":" + quote(event.server) + ",\"command\":" +
        strings(event.command) + ",\"loosened\":" + strings(event.loosened)
    case "repeated":
      return ",\"from\":\"" + event.from + "\",\"client\":" + quote(event.client) + ",\"server\":" +
        quote(event.server) + ",\"reason\":" + quote(event.reason) + ",\"count\":" + event.count
    case "checked":
      return ",\"of\":" + event.of + ",\"server\":" + quote(event.server) + ",\"did\":\"" + event.did + "\"" +
        optional("id", event.id) + ",\"found\":" + strings(event.found)
    case "released":
      return ",\"server\":" + quote(event.server) + ",\"id\":" + quote(event.id) + ",\"parents\":" +
        strings(event.parents)
    case "held":
    case "withheld":
    case "trusted":
    case "observed":
      return ",\"server\":" + quote(event.server) + ",\"items\":[" +
        event.items.map((item) =>
          "{\"kind\":" + quote(item.kind) + ",\"name\":" + quote(item.name) + ",\"digest\":" + quote(item.digest) +
          optional("why", item.why) + "}"
        ).join(",") + "]"
    case "accepted":
    case "rejected":
    case "forgotten":
      return ",\"server\":" + quote(event.server) + ("how" in event ? ",\"how\":" + quote(event.how) : "") +
        ",\"items\":[" +
        event.items.map((item) =>
          "{\"kind\":" + quote(item.kind) + ",\"name\":" + quote(item.name) + ",\"digest\":" + quote(item.digest) + "}"
        ).join(",") + "],\"parents\":" + strings(event.parents)
    case "approval-asked":
    case "approval-given":
    case "approval-denied":
    case "approval-expired":
    case "approval-withdrawn":
      return ",\"id\":" + quote(event.id) + ",\"client\":" + quote(event.client) + ",\"server\":" +
        quote(event.server) + ",\"method\":" + quote(event.method) + optional("name", event.name) +
        ",\"digest\":" + quote(event.digest) + ",\"rule\":" + quote(event.rule) +
        optional("channel", event.channel) +
        (event.parents === undefined ? "" : ",\"parents\":" + strings(event.parents))
    case "policy":
      return ",\"server\":" + quote(event.server) + ",\"file\":" + quote(event.file) +
        optional("digest", event.digest) + optional("was", event.was) + optional("why", event.why)
    case "judged":
      return ",\"client\":" + quote(event.client) + ",\"server\":" + quote(event.server) + ",\"method\":" +
        quote(event.method) + optional("name", event.name) + ",\"observed\":[" +
        event.observed.map(({ action, rule }) => "{\"rule\":" + quote(rule) + ",\"action\":\"" + action + "\"}").join(
          ","
        ) +
        "]" + optional("fault", event.fault)
    case "dropped":
      return ",\"server\":" + quote(event.server) + ",\"reason\":" + quote(event.reason) + ",\"count\":" + event.count
    case "repaired":
      return ",\"server\":" + quote(event.server) + ",\"repair\":" + quote(event.repair) + ",\"count\":" + event.count
    case "bridged":
      return ",\"server\":" + quote(event.server) + ",\"host\":" + quote(event.host) + ",\"strict\":" + event.strict
    case "lowered":
      return ",\"server\":" + quote(event.server) + ",\"what\":" + quote(event.what) + ",\"count\":" + event.count
    case "ended":
      return ",\"server\":" + quote(event.server) + ",\"how\":" + quote(event.how)
    case "clock":
      return ",\"back\":" + event.back
    case "fault":
      return ",\"why\":" + quote(event.why)
    case "mended":
      return ",\"segments\":" + strings(event.segments)
    case "rekeyed":
      return ",\"segments\":[" +
        event.segments.map((item) =>
          "{\"segment\":" + quote(item.segment) + ",\"bytes\":" + item.bytes + ",\"digest\":" + quote(item.digest) + "}"
        ).join(",") + "]"
    case "archived":
      return ",\"segments\":[" +
        event.segments.map((item) =>
          "{\"segment\":" + quote(item.segment) + ",\"bytes\":" + item.bytes + ",\"digest\":" + quote(item.digest) +
          ",\"run\":" + quote(item.run) + ",\"last\":" + item.last + "}"
        ).join(",") + "]"
    case "omitted":
      return ",\"count\":" + event.count
  }
}

/**
 * The line of an entry, without the brace that ends it: the last line of a group still gets its seal.
 *
 * @category encoding
 * @since 0.1.0
 */
export const entry = (seq: number, time: string, event: Event | Omitted): string =>
  "{\"seq\":" + seq + ",\"time\":\"" + time + "\",\"type\":\"" + event.type + "\"" + members(event)

/**
 * The first line of a segment, without the brace that ends it.
 *
 * @category encoding
 * @since 0.1.0
 */
export const opened = (self: Omit<Opened, "type" | "format">): string =>
  "{\"type\":\"opened\",\"format\":1,\"segment\":" + quote(self.segment) + ",\"time\":" + quote(self.time) +
  ",\"run\":" + quote(self.run) + ",\"part\":" + self.part + ",\"pid\":" + self.pid + ",\"key\":" + quote(self.key) +
  ",\"first\":" + self.first +
  ",\"names\":[" + self.names.map((name) =>
    "{\"segment\":" + quote(name.segment) + ",\"head\":" + quote(name.head) +
    (name.torn === undefined
      ? ""
      : ",\"torn\":{\"bytes\":" + name.torn.bytes + ",\"digest\":" + quote(name.torn.digest) + "}") +
    "}"
  ).join(",") + "]"

/**
 * The last line of a segment that was closed in order, without the brace that ends it.
 *
 * @category encoding
 * @since 0.1.0
 */
export const closed = (self: Omit<Closed, "type">): string =>
  "{\"type\":\"closed\",\"time\":" + quote(self.time) + ",\"more\":" + self.more

/**
 * What the last line of a group has before its seal.
 *
 * @category encoding
 * @since 0.1.0
 */
export const prev = (digest: string): string => ",\"prev\":\"" + digest + "\""

/**
 * The end of the last line of a group.
 *
 * @category encoding
 * @since 0.1.0
 */
export const seal = (digest: string): string => ",\"seal\":\"" + digest + "\"}\n"

/**
 * The end of every other line.
 *
 * @category encoding
 * @since 0.1.0
 */
export const end = "}\n"
