/** The table of docs/bridge.md: a row for each server, a column for each host, and why where something does not work. */
import * as Lower from "@sallyport/core/protocol/bridge/Lower"
import { type Name, names } from "./features.ts"

export interface Outcome {
  readonly host: string
  readonly server: string
  readonly over: string
  /** What came of each feature: `works`, or why it does not. */
  readonly features: Readonly<Partial<Record<Name, string>>>
}

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`
const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((_, at) => Math.max(3, ...[head, ...rows].map((cells) => cells[at]?.length ?? 0)))
  const padded = (cells: ReadonlyArray<string>): string => row(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)))
  return [padded(head), row(widths.map((width) => "-".repeat(width))), ...rows.map(padded)].join("\n")
}

const unique = (list: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(list)]

/** What came of every session, once per way to connect. */
export const sessions = (outcomes: ReadonlyArray<Outcome>): string => {
  const reasons = new Map<string, string>()
  const letter = (text: string): string => {
    const known = reasons.get(text) ?? String.fromCharCode("a".charCodeAt(0) + reasons.size)
    reasons.set(text, known)
    return known
  }
  const cell = (outcome: Outcome | undefined): string => {
    if (outcome === undefined) return ""
    const by = new Map<string, Array<Name>>()
    for (const name of names) {
      const why = outcome.features[name] ?? "was not tried"
      if (why !== "works") by.set(why, [...(by.get(why) ?? []), name])
    }
    const letters = [...by].map(([why, of]) =>
      letter(`${of.length === names.length ? "everything" : of.join(", ")}: ${why}`)
    )
    const works = names.filter((name) => outcome.features[name] === "works").length
    return [String(works), letters.join("")].filter((each) => each !== "").join(" ")
  }
  const hosts = unique(outcomes.map(({ host }) => host))
  const tables = unique(outcomes.map(({ over }) => over)).map((over) => {
    const of = outcomes.filter((each) => each.over === over)
    const found = (server: string) => (host: string): string =>
      cell(of.find((each) => each.host === host && each.server === server))
    const rows = unique(of.map(({ server }) => server)).map((server) => [server].concat(hosts.map(found(server))))
    return { over, text: table(["server \\ host", ...hosts], rows) }
  })
  const texts = unique(tables.map(({ text }) => text)).map((text) => {
    const overs = tables.filter((each) => each.text === text).map(({ over }) => over)
    return `Over ${overs.join(", and over ")}:\n\n${text}`
  })
  return [...texts, [...reasons].map(([text, letter]) => `- ${letter}: ${text}`).join("\n")].join("\n\n")
}

/** What an older revision has no form for. */
export const lowered = (): string =>
  table(
    ["what", "since", "toward an older peer"],
    Object.values(Lower.rows).map((
      { does, first, what }
    ) => [what, first, does])
  )

/** A page with these texts in its places. */
export const filled = (page: string, texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts).reduce(
    (page, [name, text]) =>
      page.replace(
        new RegExp(`(<!-- table: ${name} -->\n\n)[\\s\\S]*?(<!-- end -->)`),
        (_, before: string, after: string) => `${before}${text}\n\n${after}`
      ),
    page
  )
