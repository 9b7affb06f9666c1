// The directions in which modules may import each other, as data, and a pure function that finds what breaks them.
// It reads import statements as the formatter leaves them (at the start of a line) and every `import("...")`.
import { builtinModules } from "node:module"
import { posix } from "node:path"

/** Which workspace package may import which others. */
export const packageEdges = {
  core: [],
  relay: ["core"],
  broker: ["core"],
  cli: ["core", "relay", "broker"]
}

const logic = ["wire", "protocol"]
const stages = ["wire", "protocol", "toml", "schema", "pin", "policy", "approval", "ledger", "check"]

/** Which folder of core may import which others; files directly in src (the barrel) may import any. */
export const coreEdges = {
  wire: [],
  protocol: ["wire"],
  schema: ["wire"],
  toml: [],
  pin: logic,
  policy: [...logic, "schema", "toml"],
  approval: [...logic, "pin"],
  ledger: logic,
  check: [...logic, "schema"],
  store: ["wire"],
  stage: [...stages, "store"],
  line: [...stages, "stage"],
  http: [...stages, "stage", "line"],
  session: ["line", "stage", "protocol", "wire"],
  node: [...stages, "store", "stage", "line", "http"],
  server: [...stages, "store", "stage", "line", "session", "http", "node"]
}

/** Files that may import Node's own modules, and which (all of them where the list is absent). */
export const nodeImports = [
  { path: /^packages\/core\/src\/node\// },
  { path: /^packages\/cli\/src\// },
  { path: /^packages\/core\/src\/wire\/Digest\.ts$/, only: ["node:crypto"] }
]

const libraries = new Set(["core", "relay", "broker"])
const builtins = new Set(builtinModules)
const statement = /^(?:import|export)\b(?:[^"';]*?\bfrom)?\s*["']([^"'\n]+)["']/gm
const call = /\bimport\(\s*["']([^"'\n]+)["']|\bgetBuiltinModule\(\s*["']([^"'\n]+)["']/g
const comment = /^\s*(?:\*|\/\/|\/\*)/

/**
 * The module names that a source text imports, with their lines.
 *
 * @param {string} text
 * @returns {Array<{ specifier: string, line: number }>}
 */
export const importsOf = (text) => {
  const found = []
  for (const pattern of [statement, call]) {
    for (const match of text.matchAll(pattern)) {
      const specifier = match[1] ?? match[2]
      const at = match.index + match[0].lastIndexOf(specifier)
      const start = text.lastIndexOf("\n", at) + 1
      if (pattern === call && comment.test(text.slice(start, at))) continue
      found.push({ specifier, line: text.slice(0, at).split("\n").length })
    }
  }
  return found.sort((a, b) => a.line - b.line)
}

/** @param {string} path */
const placeOf = (path) => {
  const match = /^packages\/([^/]+)\/(src|test)\/(.+)$/.exec(path)
  if (match === null) return undefined
  const [, name, area, rest] = match
  return { name, area, folder: rest.includes("/") ? rest.slice(0, rest.indexOf("/")) : "" }
}

/**
 * The workspace module that a specifier means, if it means one.
 *
 * @param {string} path
 * @param {string} specifier
 */
const targetOf = (path, specifier) => {
  if (specifier.startsWith(".")) return placeOf(posix.join(posix.dirname(path), specifier))
  if (specifier === "sallyport" || specifier.startsWith("sallyport/")) return { name: "cli", area: "src", folder: "" }
  const match = /^@sallyport\/([^/]+)(?:\/(.+))?$/.exec(specifier)
  return match === null ? undefined : placeOf(`packages/${match[1]}/src/${match[2] ?? "index"}`)
}

/**
 * Why this import is not allowed in this file; undefined if it is.
 *
 * @param {string} path
 * @param {string} specifier
 * @returns {string | undefined}
 */
const judge = (path, specifier) => {
  if (specifier === "@effect/platform-node" || specifier === "@effect/platform-node/index") {
    return "the barrel of @effect/platform-node loads everything; import the module, as in @effect/platform-node/NodeStdio"
  }
  const from = placeOf(path)
  if (from === undefined || from.area !== "src") return undefined

  if (libraries.has(from.name) && (specifier === "effect" || specifier === "effect/index")) {
    return "libraries import effect's modules one by one, as in effect/Effect"
  }
  const bare = specifier.replace(/^node:/, "").split("/")[0]
  const builtin = specifier.startsWith("node:") || builtins.has(bare)
  if (builtin || specifier.startsWith("@effect/platform-node/")) {
    const name = builtin && !specifier.startsWith("node:") ? `node:${specifier}` : specifier
    const allowed = nodeImports.some((entry) =>
      entry.path.test(path) && (entry.only === undefined || entry.only.includes(name))
    )
    return allowed ? undefined : "what is bound to Node lives in packages/core/src/node or packages/cli/src"
  }

  const to = targetOf(path, specifier)
  if (to === undefined) return undefined
  if (to.area !== "src") return "sources do not import tests"
  if (to.name !== from.name) {
    if (specifier.startsWith(".")) return `another package is imported by its name, not by a path`
    return (packageEdges[from.name] ?? []).includes(to.name) ? undefined : `${from.name} may not import ${to.name}`
  }
  if (from.name !== "core" || from.folder === to.folder || from.folder === "") return undefined
  if (to.folder === "") return `${from.folder} may not import core's own barrel`
  if (!Object.hasOwn(coreEdges, from.folder)) return `the folder ${from.folder} has no rule yet; add it to coreEdges`
  return coreEdges[from.folder].includes(to.folder) ? undefined : `${from.folder} may not import ${to.folder}`
}

/**
 * Everything in these files that breaks a rule. Paths are relative to the root, with forward slashes.
 *
 * @param {ReadonlyArray<{ path: string, text: string }>} files
 * @returns {Array<{ path: string, line: number, specifier: string, why: string }>}
 */
export const violations = (files) =>
  files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ line, specifier }) => {
      const why = judge(path, specifier)
      return why === undefined ? [] : [{ path, line, specifier, why }]
    })
  )
