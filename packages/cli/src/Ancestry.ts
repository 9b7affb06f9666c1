/**
 * Which processes this one was started by, as far as that can be seen.
 *
 * **Details**
 *
 * Verbs that only a person may use are refused below a relay, whose servers would accept themselves, and do not ask below
 * an agent, which would answer for the person (security rule F1). A process that was detached from its parents on purpose
 * is not recognized: who has this user's rights can also write the pins themselves.
 *
 * @since 0.1.0
 */
import * as Visible from "@sallyport/core/pin/Visible"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { posix } from "node:path"

/**
 * A process: what the system calls it, and the arguments it was started with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Process {
  readonly name: string
  readonly args: ReadonlyArray<string>
}

/**
 * Who started this process.
 *
 * @category services
 * @since 0.1.0
 */
export class Ancestry extends Context.Service<Ancestry, {
  /** The parent first, then its parent, and so on; empty where nothing can be seen. */
  readonly parents: Effect.Effect<ReadonlyArray<Process>>
}>()("sallyport/cli/Ancestry") {}

// ---- recognizing

const interpreters = /^(?:node|nodejs|bun|deno|python[\d.]*|uv|uvx|ruby|sh|bash|dash|zsh|env)$/
const programs = /^sallyport(?:\.[cm]?js|\.exe)?$/
/** The verbs under which servers run. */
const guards = new Set(["relay", "broker"])

const base = (path: string): string => posix.basename(path.replaceAll("\\", "/")).toLowerCase()

/** What an interpreter is to run stands in the argument behind these: no script, but a text. */
const inlined = /^(?:-[a-z]*[ce]|-p|--eval|--print)$/

/** The script that an interpreter was given. */
const scriptOf = (args: ReadonlyArray<string>): string | undefined => {
  if (!interpreters.test(base(args[0] ?? ""))) return undefined
  const at = args.findIndex((arg, index) => index > 0 && !arg.startsWith("-"))
  return inlined.test(args[at - 1] ?? "") ? undefined : args[at]
}

/**
 * Whether this is a relay of Sallyport's, or a broker: as `bin/sallyport.mjs` is started, or the program behind it.
 *
 * @category guards
 * @since 0.1.0
 */
export const isGuard = ({ args }: Process): boolean => {
  if (args.some((arg, at) => programs.test(base(arg)) && guards.has(args[at + 1] ?? ""))) return true
  const script = scriptOf(args)
  return script !== undefined && /^(?:relay|broker)\.[cm]js$/.test(base(script))
}

const agents =
  /^(?:aider|amp|antigravity|auggie|claude|cline|codex|copilot|crush|cursor|droid|gemini|goose|goosed|kiro|opencode|qwen|trae|windsurf|zed|zeditor)(?:[^a-z0-9].*)?$/
/** Scripts are often called cli.js: then it is the name of the package that tells. */
const packages = /\/node_modules\/(?:(@[^/]+)\/)?([^/]+)\//g

/**
 * The agent that this process is, by its name or by that of the script or package that it runs.
 *
 * @category guards
 * @since 0.1.0
 */
export const agentOf = ({ args, name }: Process): string | undefined => {
  const script = scriptOf(args) ?? ""
  const owned = [...script.replaceAll("\\", "/").matchAll(packages)].map((match) => match[2] ?? "")
  const names = [name.toLowerCase(), base(args[0] ?? ""), base(script), ...owned.map((each) => each.toLowerCase())]
  const found = names.find((each) => agents.test(each))
  return found === undefined ? undefined : /^[a-z]+/.exec(found)?.[0]
}

/**
 * Why a verb that only a person may use is refused here; `undefined` where it is not. `asks` tells whether it would ask.
 *
 * @category guards
 * @since 0.1.0
 */
export const refusal = (parents: ReadonlyArray<Process>, asks: boolean): string | undefined => {
  if (parents.length >= depth) {
    return "this runs below more processes than are looked at, so a relay may be among them: " +
      "a person must do it, in a terminal of their own"
  }
  if (parents.some(isGuard)) {
    return "this runs below a relay of Sallyport's, and no server may accept anything: " +
      "a person must do it, in a terminal of their own"
  }
  const agent = asks ? parents.map(agentOf).find((name) => name !== undefined) : undefined
  return agent === undefined
    ? undefined
    : `this runs below ${agent}, and a question to a person is not put to an agent: ` +
      "a person must do it, in a terminal of their own"
}

/**
 * A process as the ledger records it: program and script, or the verb of ours, but no other argument, since arguments may
 * hold secrets.
 *
 * @category conversions
 * @since 0.1.0
 */
export const describe = (process: Process): string => {
  const program = process.args[0] ?? process.name
  const script = scriptOf(process.args)
  const guard = isGuard(process) ? process.args.find((arg) => guards.has(arg)) : undefined
  const words = [program, script, guard]
  return Visible.short(words.filter((word) => word !== undefined).join(" "), 200)
}

// ---- looking

/** Far more than there are processes above a person's command: beyond it, something hides what started it. */
const depth = 4096

/**
 * A line of `/proc/PID/stat`: the name may hold blanks and parentheses, so the last one ends it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parseStat = (text: string): { readonly name: string; readonly parent: number } | undefined => {
  const open = text.indexOf("(")
  const close = text.lastIndexOf(")")
  const parent = Number(text.slice(close + 1).trim().split(" ")[1])
  return open < 0 || close < open || !Number.isInteger(parent)
    ? undefined
    : { name: text.slice(open + 1, close), parent }
}

/**
 * The lines of `ps -axo pid=,ppid=,args=`.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parsePs = (text: string): ReadonlyMap<number, { readonly process: Process; readonly parent: number }> => {
  const found = new Map<number, { readonly process: Process; readonly parent: number }>()
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(.+)$/.exec(line)
    if (match === null) continue
    const args = (match[3] ?? "").trim().split(/\s+/)
    found.set(Number(match[1]), { parent: Number(match[2]), process: { name: base(args[0] ?? ""), args } })
  }
  return found
}

const attempt = (read: () => string): string | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const inProc = (pid: number): { readonly process: Process; readonly parent: number } | undefined => {
  const stat = parseStat(attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "")
  if (stat === undefined) return undefined
  const args = (attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "").split("\0")
  if (args.at(-1) === "") args.pop()
  return { parent: stat.parent, process: { name: stat.name, args } }
}

const chain = (
  first: number,
  look: (pid: number) => { readonly process: Process; readonly parent: number } | undefined
): ReadonlyArray<Process> => {
  const found: Array<Process> = []
  for (let pid = first; pid > 0 && found.length < depth;) {
    const next = look(pid)
    if (next === undefined) break
    found.push(next.process)
    pid = next.parent
  }
  return found
}

/**
 * The parents that the system tells of: by `/proc`, else by `ps`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNode: Layer.Layer<Ancestry> = Layer.succeed(Ancestry, {
  parents: Effect.sync(() => {
    const found = chain(process.ppid, inProc)
    if (found.length > 0) return found
    // By its path: which ps is found must not depend on who started us.
    const all = parsePs(
      attempt(() =>
        execFileSync("/bin/ps", ["-axo", "pid=,ppid=,args="], {
          encoding: "utf8",
          env: { LC_ALL: "C" },
          stdio: ["ignore", "pipe", "ignore"],
          timeout: 5_000
        })
      ) ?? ""
    )
    return chain(process.ppid, (pid) => all.get(pid))
  })
})

/**
 * These parents.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerTest = (parents: ReadonlyArray<Process> = []): Layer.Layer<Ancestry> =>
  Layer.succeed(Ancestry, { parents: Effect.succeed(parents) })
