/**
 * `sallyport ledger verify`, `ledger anchor` and `ledger archive`.
 *
 * @since 0.1.0
 */
import type * as Verify from "@sallyport/core/ledger/Verify"
import * as Visible from "@sallyport/core/pin/Visible"
import * as LedgerAnchor from "@sallyport/core/stage/LedgerAnchor"
import * as LedgerFolder from "@sallyport/core/stage/LedgerFolder"
import { Files } from "@sallyport/core/store/Files"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { resolve } from "node:path"
import * as Ancestry from "../Ancestry.ts"
import type { ExitCode } from "../ExitCode.ts"
import { ending, Failure } from "../Failure.ts"
import * as Folders from "../Folders.ts"
import * as Output from "../Output.ts"
import { Person } from "../Person.ts"
import { alive } from "../Processes.ts"
import * as State from "../State.ts"
import * as Entry from "./ledgerEntry.ts"

const config = Flag.String("config").pipe(
  Flag.withMetavar("DIR"),
  Flag.withDescription("where policy.toml is"),
  Flag.optional
)

const foldersOf = (state: State.State, config: Option.Option<string>) =>
  Folders.config(Option.getOrUndefined(config)).pipe(
    Effect.map((config): LedgerAnchor.Folders => ({ state: state.folder, config })),
    Effect.mapError(({ message }) =>
      new Failure({ message: `the configuration folder is not known: ${message}; name it with --config DIR` })
    )
  )

/** Fails where this is not done for a person. */
const permitted = Effect.fnUntraced(function*(asks: boolean) {
  const refused = Ancestry.refusal(yield* (yield* Ancestry.Ancestry).parents, asks)
  if (refused !== undefined) return yield* new Failure({ message: `nothing was recorded: ${refused}` })
})

const codes: { readonly [K in Verify.Report["status"]]: ExitCode } = { ok: 0, mended: 21, torn: 20, broken: 20 }

const tornLine = (folder: string) => ({ bytes, line, segment }: Verify.Torn): string =>
  `${folder}/${segment}:${line}: it ends in ${Output.count(bytes, "byte")} that were never finished`

const lines = (report: Verify.Report, state: State.State): ReadonlyArray<string> => {
  const folder = Visible.line(state.ledgerFolder)
  const size = `${Output.count(report.entries, "entry", "entries")} in ${Output.count(report.segments, "segment")}`
  const gone = report.archived === 0 ? [] : [`${Output.count(report.archived, "segment")} archived, and gone.`]
  switch (report.status) {
    case "ok":
      return [...gone, `The ledger verifies: ${size}.`]
    case "mended":
      return [
        ...gone,
        ...report.mended.map(tornLine(folder)),
        ...(report.rekeyed === 0
          ? []
          : [`${Output.count(report.rekeyed, "segment")} of a lost key: as recorded when the new key was made.`]),
        `The ledger verifies after a mending: ${size}.`
      ]
    case "torn":
      return [
        ...report.torn.map(tornLine(folder)),
        "The ledger verifies up to there: a process was ended while it wrote, or the end was cut off.",
        `To record these ends as they are now: sallyport ledger verify --mend${state.option}`
      ]
    case "broken":
      return [
        ...report.problems.map(({ line, segment, why }) =>
          segment === "anchor"
            ? `The anchor: ${Visible.short(why, 400)}`
            : `${folder}/${Visible.line(segment)}:${line}: ${Visible.short(why, 400)}`
        ),
        `The ledger does not verify: ${Output.count(report.problems.length, "problem")}, ${size}.`,
        "Keep the folder as it is, and compare it with a copy or an anchor."
      ]
  }
}

/**
 * `sallyport ledger verify`.
 *
 * @category commands
 * @since 0.1.0
 */
export const verify = Command.make(
  "verify",
  {
    mend: Flag.Boolean("mend").pipe(
      Flag.withDescription("record the unfinished ends of segments first, as they are now"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    "new-key": Flag.Boolean("new-key").pipe(
      Flag.withDescription("make a new key where the old one is lost, and record what it had sealed"),
      Flag.withoutNegation,
      Flag.withDefault(false)
    ),
    anchor: Flag.String("anchor").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("compare with what `ledger anchor` printed"),
      Flag.optional
    ),
    config,
    state: State.flag,
    json: State.json
  },
  ({ anchor, config, json, mend, "new-key": renewed, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      const folder = opened.ledgerFolder
      if (mend || renewed) yield* permitted(renewed)
      if (renewed) {
        const answer = yield* (yield* Person).ask(
          `${
            Output.wrapped(
              "What the ledger says up to now cannot be proved any more once there is a new key: that it was changed " +
                "before can then not be told. End all relays first. If the old key can be found, put it back instead."
            )
          }\n`,
          "Type new key to make one, anything else to leave it: "
        ).pipe(
          Effect.catchTag("NoTerminal", () =>
            Effect.fail(
              new Failure({
                message: "nothing was recorded: this asks a person on a terminal, and there is none here; " +
                  "a person must do it, in a terminal of their own"
              })
            ))
        )
        if (answer?.trim() !== "new key") {
          return yield* new Failure({ message: "nothing was recorded: the answer was not new key" })
        }
        yield* LedgerFolder.newKey(folder)
      }
      if (mend) yield* LedgerFolder.mend(folder)
      const { changed, report } = Option.isNone(anchor)
        ? { changed: [], report: yield* LedgerFolder.verify(folder) }
        : yield* LedgerAnchor.compare(yield* foldersOf(opened, config), yield* readAnchor(anchor.value))
      if (json) yield* Output.printJson({ folder, ...report, changed })
      else {
        yield* Output.print(
          [...lines(report, opened), ...changed.map((what) => `Since the anchor: ${Visible.line(what)}.`)].join("\n")
        )
      }
      return codes[report.status]
    }))
).pipe(
  Command.withDescription("Verify the ledger: exit 0, 20 where it does not hold, 21 after a mending"),
  Command.withShortDescription("Verify the ledger")
)

const readAnchor = Effect.fnUntraced(function*(given: string) {
  const files = yield* Files
  const anchor = LedgerAnchor.parse(yield* files.read(resolve(given)))
  return Result.isSuccess(anchor)
    ? anchor.success
    : yield* new Failure({ message: `${Visible.line(given)} cannot be compared with: ${anchor.failure}` })
})

/**
 * `sallyport ledger anchor`.
 *
 * @category commands
 * @since 0.1.0
 */
export const anchor = Command.make(
  "anchor",
  { config, state: State.flag, json: State.json },
  ({ config, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      yield* Output.print(LedgerAnchor.print(yield* LedgerAnchor.make(yield* foldersOf(opened, config))))
    }))
).pipe(
  Command.withDescription("Print what the ledger, the pins and the budgets are now, in one line to be kept elsewhere"),
  Command.withShortDescription("Print one line to be kept elsewhere"),
  Command.withExamples([{
    command: "sallyport ledger anchor | ssh elsewhere 'cat >> anchors'",
    description: "Keep it where this machine cannot change it"
  }])
)

/**
 * `sallyport ledger archive`.
 *
 * @category commands
 * @since 0.1.0
 */
export const archive = Command.make(
  "archive",
  {
    before: Entry.time("before", "segments begun before then: 2026-03-01, or 90d for ninety days ago"),
    state: State.flag,
    json: State.json
  },
  ({ before, json, state }) =>
    ending(Effect.gen(function*() {
      const opened = yield* State.open(state)
      yield* permitted(true)
      const { archived, open } = yield* LedgerFolder.archive(
        opened.ledgerFolder,
        yield* Entry.beginning(before),
        alive
      )
      if (json) {
        yield* Output.printJson({ folder: opened.ledgerFolder, archived, open })
        return
      }
      const folder = Visible.line(opened.ledgerFolder)
      yield* Output.print(archived.map(({ segment }) => `${folder}/${segment}`).join("\n"))
      yield* Output.warn(
        archived.length === 0
          ? "nothing is that old"
          : `${Output.count(archived.length, "segment")} may now be taken elsewhere; verify will not miss them`
      )
      if (open.length > 0) {
        yield* Output.warn(
          `${Output.count(open.length, "segment")} of that time may still be written to, and must stay`
        )
      }
    }))
).pipe(
  Command.withDescription("Record that old segments may be taken elsewhere, and print their paths"),
  Command.withShortDescription("Let old segments go"),
  Command.withExamples([{
    command: "sallyport ledger archive --before 90d | xargs -r -I{} mv {} /archive/",
    description: "Move what is older than ninety days"
  }])
)
