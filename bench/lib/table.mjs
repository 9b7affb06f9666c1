// Numbers as a person reads them.

export const median = (list) => {
  const sorted = [...list].sort((left, right) => left - right)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

const grid = (head, lines) => {
  const widths = head.map((title, at) => Math.max(title.length, ...lines.map((line) => line[at].length)))
  const row = (cells) =>
    `| ${cells.map((cell, at) => at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at])).join(" | ")} |`
  return [row(head), row(widths.map((width) => "-".repeat(width))), ...lines.map(row)].join("\n")
}

const number = (value) =>
  value === undefined || !Number.isFinite(value)
    ? "-"
    : value >= 100
    ? Math.round(value).toLocaleString("en")
    : value.toFixed(1)
const ratio = (value) => Number.isFinite(value) ? value.toFixed(2) : "?"

const wanted = ({ aim, target }) => {
  if (target === undefined) return "-"
  const limit = target.most === undefined ? `>= ${target.least}` : `<= ${target.most}`
  return aim === undefined ? limit : `${limit} (${aim})`
}

/** The report of a run, as Markdown. */
export const table = (about, rows, endings, relays, failures) => {
  const parts = [
    `${about.date}, Node ${about.node}, ${about.machine}; ${about.rounds} rounds, server ${about.server}`,
    grid(
      ["", about.who ?? "relay", "median", "best", "of", "ratio", "from - to", "target (aim)", "met"],
      rows.map((row) => [
        row.unit === "" ? row.what : `${row.what}, ${row.unit}`,
        row.relay,
        number(row.value),
        number(row.best),
        `${row.against} ${number(row.reference)}`,
        ratio(row.ratio),
        `${ratio(row.range[0])} - ${ratio(row.range[1])}`,
        wanted(row),
        row.met === undefined ? "-" : row.met ? "yes" : "NO"
      ])
    )
  ]
  if (endings.length > 0) {
    parts.push(
      "Milliseconds until the relay / all of its processes are gone:",
      grid(
        ["", ...relays],
        endings.map((line) => [
          line.how,
          ...relays.map((name) => {
            const { allMs, orphans, relayMs } = line.relays[name]
            return `${number(relayMs)} / ${orphans > 0 ? `${orphans} ORPHANS` : number(allMs)}`
          })
        ])
      )
    )
  }
  if (failures.length > 0) parts.push(["Failures:", ...failures.map((each) => `- ${each}`)].join("\n"))
  return `${parts.join("\n\n")}\n`
}
