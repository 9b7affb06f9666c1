import * as Launch from "@sallyport/core/pin/Launch"
import * as Pins from "@sallyport/core/pin/Pins"
import { Text } from "@sallyport/core/wire/Message"
import * as T from "@sallyport/core/wire/Text"
import { Schema } from "effect"

/** Compact JSON as it is, where the spelling of numbers or the order of members matters. */
export const raw: (json: string) => Text = Schema.decodeSync(Text)

export const text = (value: unknown): Text => T.fromValue(value)

export const listing = (...tools: ReadonlyArray<unknown>): Pins.Listing => Pins.listing("tool", tools.map(text))

export const rawListing = (...tools: ReadonlyArray<string>): Pins.Listing => Pins.listing("tool", tools.map(raw))

export const define = (value: unknown): Pins.Definition => {
  const item = Pins.define("tool", text(value))
  if (Pins.isInvalid(item)) throw new Error(`invalid: ${item.why}`)
  return item
}

export const command: Launch.Launched = { command: "node", args: ["server.js"], env: [], sandbox: "none" }

export const launch: Pins.LaunchPin = Launch.launch(command, {}, "key")

export const at = "2026-01-02T03:04:05.678Z"
export const later = "2026-02-03T04:05:06.789Z"

export const seen = (listing: Pins.Listing, options: Partial<Pins.Sight> = {}): Pins.Sight => ({
  at: later,
  variant: "2025-11-25",
  launch,
  listing,
  ...options
})

/** The pins of a server of which this listing was accepted. */
export const accepted = (listing: Pins.Listing, variant = "2025-11-25"): Pins.Pins =>
  Pins.trustFirstSight(Pins.empty("files"), seen(listing, { variant, at }))

/** Names by what is thought of them. */
export const told = (judgement: Pins.Judgement): Record<string, ReadonlyArray<string>> => {
  const tags: Record<string, Array<string>> = {}
  for (const { _tag, name } of judgement.verdicts) (tags[_tag] ??= []).push(name)
  return tags
}

export const readNote = {
  name: "read_note",
  description: "Reads one note.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] }
}

export const add = {
  name: "add",
  description: "Adds two numbers.",
  inputSchema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"]
  },
  annotations: { readOnlyHint: true, destructiveHint: false }
}
