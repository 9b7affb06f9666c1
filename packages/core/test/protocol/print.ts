/** The tables of the protocol as text: aligned for golden files, as Markdown for docs/protocol.md. */
import * as Schema from "effect/Schema"
import * as Capability from "../../src/protocol/Capability.ts"
import * as ErrorCode from "../../src/protocol/ErrorCode.ts"
import * as Feature from "../../src/protocol/Feature.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Negotiation from "../../src/protocol/Negotiation.ts"
import * as Payload from "../../src/protocol/Payload.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import type { Reply } from "../../src/wire/Message.ts"
import * as T from "../../src/wire/Text.ts"
import * as Write from "../../src/wire/Write.ts"
import { type Json, node, outline } from "./official.ts"

export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

const widths = ({ head, rows }: Table, least: number): ReadonlyArray<number> =>
  head.map((_, column) => Math.max(least, ...[head, ...rows].map((row) => (row[column] ?? "").length)))

export const text = (table: Table): string => {
  const wide = widths(table, 0)
  const line = (row: ReadonlyArray<string>): string =>
    row.map((cell, column) => cell.padEnd(wide[column] ?? 0)).join("  ").trimEnd()
  return `${[table.head, ...table.rows].map(line).join("\n")}\n`
}

export const markdown = (table: Table): string => {
  const wide = widths(table, 3)
  const line = (row: ReadonlyArray<string>): string =>
    `| ${row.map((cell, column) => cell.padEnd(wide[column] ?? 0)).join(" | ")} |`
  return [line(table.head), line(wide.map((width) => "-".repeat(width))), ...table.rows.map(line)].join("\n")
}

const yes = (is: boolean): string => is ? "yes" : "-"

const by = (print: (revision: Revision.Revision) => string): ReadonlyArray<string> => Revision.all.map(print)

export const revisions: Table = {
  head: ["rule", ...Revision.all],
  rows: [
    ["era", ...by((revision) => Revision.table[revision].era)],
    ["arrays of messages", ...by((revision) => yes(Revision.table[revision].batch))],
    ["errors without an id", ...by((revision) => yes(Revision.table[revision].idlessError))],
    ["UTF-8 is said", ...by((revision) => yes(Revision.table[revision].utf8))],
    ["servers send requests", ...by((revision) => yes(Revision.table[revision].serverAsks))],
    ["an id is free again", ...by((revision) => Revision.table[revision].idReuse)],
    ["results say their type", ...by((revision) => yes(Revision.table[revision].resultType))],
    ["HTTP: transport", ...by((revision) => Revision.table[revision].http.transport)],
    ["HTTP: Mcp-Session-Id", ...by((revision) => yes(Revision.table[revision].http.session))],
    ["HTTP: MCP-Protocol-Version", ...by((revision) => Revision.table[revision].http.version)],
    ["HTTP: Mcp-Method, -Name, -Param-*", ...by((revision) => yes(Revision.table[revision].http.routing))],
    ["HTTP: Last-Event-ID", ...by((revision) => yes(Revision.table[revision].http.resume))],
    ["HTTP: GET opens a stream", ...by((revision) => yes(Revision.table[revision].http.getStream))],
    ["HTTP: clients POST responses", ...by((revision) => yes(Revision.table[revision].http.responses))],
    ["HTTP: closing a stream cancels", ...by((revision) => yes(Revision.table[revision].http.closeCancels))],
    ["HTTP: status for a wrong Origin", ...by((revision) => String(Revision.table[revision].http.originStatus ?? "-"))]
  ]
}

/** `yes`, or what else a method is in a revision. */
const state = (method: Method.Method, revision: Revision.Revision): string => {
  const embedded = method.embedded?.includes(revision) === true
  if (!embedded && !method.in.includes(revision)) return "-"
  const is = embedded ? "inside results" : method.extension === undefined ? "yes" : "extension"
  return method.deprecated !== undefined && revision >= method.deprecated ? `${is}, deprecated` : is
}

export const methods: Table = {
  head: ["method", "kind", "from", "needs", ...Revision.all],
  rows: Method.table.map(([name, method]) => [
    name,
    method.kind,
    method.from === "both" ? "both" : method.from === "host" ? "client" : "server",
    method.needs ?? "-",
    ...by((revision) => state(method, revision))
  ])
}

export const traits: Table = {
  head: [
    "method",
    "from",
    "sender declares",
    "reaches",
    "may ask back",
    "may be kept",
    "lists",
    "as a task",
    "held open",
    "filter"
  ],
  rows: Method.table.flatMap(([name, method]) => {
    const cells = [
      method.declares ?? "-",
      method.reaches === undefined ? "-" : method.reaches.named ?? "data",
      method.asks?.join(", ") ?? "-",
      method.caches?.join(", ") ?? "-",
      method.lists ?? "-",
      method.task?.needs ?? "-",
      yes(method.held === true),
      method.filter ?? "-"
    ]
    return cells.every((cell) => cell === "-")
      ? []
      : [[name, method.from === "both" ? "both" : method.from === "host" ? "client" : "server", ...cells]]
  })
}

const capabilityRow = (path: Capability.Path): Capability.Row => Capability.table[path]

export const capabilities: Table = {
  head: ["capability", "leaf", ...Revision.all],
  rows: Capability.paths.map((path) => {
    const row = capabilityRow(path)
    return [
      path,
      row.leaf === "boolean" ? "true" : "{}",
      ...by((revision) =>
        !Capability.isDefined(path, revision)
          ? "-"
          : row.deprecated !== undefined && revision >= row.deprecated
          ? "deprecated"
          : "yes"
      )
    ]
  })
}

export const errorCodes: Table = {
  head: ["code", "name", "by", "data", "HTTP", ...Revision.all, "means"],
  rows: ErrorCode.table.map((row) =>
    [
      String(row.code),
      row.name,
      row.by,
      row.data.length === 0 ? "-" : row.data.join(", "),
      row.http === undefined ? "-" : String(row.http)
    ].concat(
      by((revision) => row.emit.includes(revision) ? "yes" : row.accept.includes(revision) ? "understood" : "-"),
      row.means
    )
  )
}

const featureRow = (feature: Feature.Feature): Feature.Row => Feature.table[feature]

/** Everything declared: what is then open over each transport. */
const everything = new Set(Capability.paths)

export const features: Table = {
  head: ["feature", "side", "capability", ...Revision.all],
  rows: Feature.features.map((feature) => {
    const row = featureRow(feature)
    return [feature, row.side, row.capability ?? "-"].concat(
      by((revision) => {
        const over = (["stdio", "http"] as const).filter((transport) =>
          Feature.resolve(everything, everything, revision, transport).open.has(feature)
        )
        return over.length === 2 ? "yes" : over[0] === undefined ? "-" : `${over[0]} only`
      })
    )
  })
}

const offers = [
  undefined,
  "",
  "1.0",
  "DRAFT-2026-v1",
  "2024-10-07",
  ...Revision.all,
  "2025-11-26",
  "2026-02-30",
  "2099-01-01"
]

const sets = [
  ["all", Revision.legacy],
  ["2025-06-18, 2025-03-26", ["2025-06-18", "2025-03-26"]],
  ["2024-11-05", ["2024-11-05"]]
] as const satisfies ReadonlyArray<readonly [string, readonly [Revision.Legacy, ...ReadonlyArray<Revision.Legacy>]]>

export const versions: Table = {
  head: [
    "version",
    "is",
    ...sets.map(([name]) => `a server of ${name}`),
    ...sets.map(([name]) => `a client of ${name}`)
  ],
  rows: offers.map((offer) =>
    [
      offer === undefined ? "(none)" : JSON.stringify(offer),
      offer === undefined ? "-" : Revision.parse(offer)._tag
    ].concat(
      sets.map(([, supported]) => {
        const answer = Negotiation.server(offer, supported)
        return `${answer._tag} ${answer.revision}`
      }),
      sets.map(([, supported]) => Negotiation.client(offer, supported)._tag)
    )
  )
}

const failure = (code: number, data?: unknown): Reply =>
  Write.failure(code, "no", data === undefined ? undefined : T.fromValue(data))

const result = (value: unknown): Reply => ({ _tag: "Result", result: T.fromValue(value) })

const replies: ReadonlyArray<readonly [string, Reply | undefined]> = [
  ["nothing in time", undefined],
  ["supportedVersions 2026-07-28", result({ supportedVersions: ["2026-07-28"] })],
  ["supportedVersions 2025-11-25, 2026-07-28", result({ supportedVersions: ["2025-11-25", "2026-07-28"] })],
  ["supportedVersions 2099-01-01", result({ supportedVersions: ["2099-01-01"] })],
  ["supportedVersions 2099-01-01, 2025-06-18", result({ supportedVersions: ["2099-01-01", "2025-06-18"] })],
  ["supportedVersions 2025-11-25", result({ supportedVersions: ["2025-11-25"] })],
  ["supportedVersions of numbers", result({ supportedVersions: [20260728] })],
  ["a result without versions", result({})],
  ["-32022 supporting 2026-07-28", failure(-32022, { supported: ["2026-07-28"] })],
  ["-32022 supporting 2099-01-01", failure(-32022, { supported: ["2099-01-01"], requested: "2026-07-28" })],
  ["-32022 supporting 2025-11-25", failure(-32022, { supported: ["2025-11-25"], requested: "2026-07-28" })],
  ["-32022 without data", failure(-32022)],
  ["-32021 with requiredCapabilities", failure(-32021, { requiredCapabilities: { sampling: {} } })],
  ["-32021 without data", failure(-32021)],
  ["-32020", failure(-32020)],
  ["-32601", failure(-32601)],
  ["-32600", failure(-32600)],
  ["-32001", failure(-32001)]
]

export const probes: Table = {
  head: ["server/discover is answered", "over stdio", "over HTTP"],
  rows: replies.map(([name, reply]) =>
    [name].concat(
      (["stdio", "http"] as const).map((transport) => {
        const verdict = Negotiation.probe(reply, { asked: "2026-07-28", transport })
        switch (verdict._tag) {
          case "Modern":
            return `modern, ${verdict.revision}`
          case "Other":
            return `modern, but ${verdict.versions.join(", ")}${
              verdict.handshake === undefined ? "" : `; initialize with ${verdict.handshake}`
            }`
          case "Legacy":
            return "legacy: initialize"
        }
      })
    )
  )
}

/** All of them, by the name of their golden file. */
export const tables: ReadonlyArray<readonly [name: string, table: Table]> = [
  ["revisions", revisions],
  ["methods", methods],
  ["traits", traits],
  ["capabilities", capabilities],
  ["errors", errorCodes],
  ["features", features],
  ["versions", versions],
  ["probes", probes]
]

/** What the params and results of a revision demand, a line a method. */
export const payloads = (revision: Revision.Revision): string => {
  const lines = (schemas: Readonly<Record<string, Payload.Any>>): ReadonlyArray<string> =>
    Object.entries(schemas).map(([method, codec]) => {
      const json: Json = JSON.parse(JSON.stringify(Schema.toJsonSchemaDocument(codec)))
      return `${method} ${outline(node(json)["schema"] ?? {}, node(node(json)["definitions"]), new Set())}`
    })
  const { params, results } = Payload.table[revision]
  return `params\n${lines(params).join("\n")}\n\nresults\n${lines(results).join("\n")}\n`
}

export const page = `# The protocol as Sallyport has it

Sallyport knows five revisions of the Model Context Protocol. What it knows of them is data: the tables below are
printed from \`packages/core/src/protocol/\`, and a test fails when this page says something else. Another test compares
the tables with the official JSON schemas. To write this page anew: \`npx vitest run packages/core/test/protocol -u\`.

A version string that names none of them is no error. A later date is read as such; a server answers it, like any other
unknown version, with the newest revision that it speaks and never with the string that it was sent.

## Revisions

In the legacy era an \`initialize\` opens a session. In the modern era every request carries its own metadata, and
\`server/discover\` says what a server speaks.

${markdown(revisions)}

## Opening

How an offered version is answered by a server, and how an answered one is taken by a client:

${markdown(versions)}

Which era a server is of, by its answer to \`server/discover\`:

${markdown(probes)}

## Methods

A method needs a capability of the side that the path begins with. In 2026-07-28 servers send no requests: what they ask
stands inside a result that says \`input_required\`, and the client sends its request again with the answers.

${markdown(methods)}

What else follows from a method: what its sender must have declared, what it reaches (such requests are decided and
recorded; where a member of params names what, \`Mcp-Name\` repeats it), in which revisions its result may ask back or says
how long it may be kept, which member of the result has the pages' items, whose capability lets it run as a task
(2025-11-25), whether it is answered only at its end, and which member of the filter of \`subscriptions/listen\` asks for it
(2026-07-28).

${markdown(traits)}

## Capabilities

\`{}\` is declared by an object, \`true\` by true; anything else is not declared, and neither is what the revision does not
define. \`client.elicitation\` as \`{}\` declares \`client.elicitation.form\`.

${markdown(capabilities)}

## Errors

\`yes\`: may be answered with. \`understood\`: not any more, but still has its meaning.

${markdown(errorCodes)}

Of other codes, -32768 to -32100 are nobody's; -32099 to -32000 are left to implementations before 2026-07-28, which
keeps -32099 to -32020 for itself and wants no new ones in the rest. Sallyport's own refusals use only the codes of
JSON-RPC.

## Features

What a session can do follows from the revision, the transport and what the two sides declared, by one function. What is
advertised and what is let pass are both read from its result.

${markdown(features)}
`
