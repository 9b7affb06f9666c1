/**
 * The name of a server that was given none.
 *
 * @since 0.1.0
 */
import { isServerName } from "@sallyport/core/stage/PinStore"

/** Programs that run another one: what they run is what the server is. */
const runners = new Set([
  "npx",
  "bunx",
  "pnpx",
  "uvx",
  "pipx",
  "node",
  "nodejs",
  "bun",
  "deno",
  "tsx",
  "ts-node",
  "python",
  "python3",
  "uv",
  "ruby",
  "perl",
  "php",
  "java",
  "npm",
  "pnpm",
  "yarn",
  "docker",
  "podman",
  "env",
  "sh",
  "bash"
])
/** Words of a runner that are no name: `uv run`, `npm exec`, `pnpm dlx`. */
const words = new Set(["run", "exec", "dlx", "x", "-m"])
/** File names that say nothing: the folder above them does. */
const generic = new Set(["index", "main", "server", "cli", "app", "dist", "build", "src", "lib", "bin", "out", "start"])

const base = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

const clean = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\.(?:mjs|cjs|js|mts|cts|ts|py|rb|pl|jar|exe|sh)$/, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 32)
    .replace(/-+$/, "")

const fromPath = (path: string): string => {
  const steps = path.split("/").filter((step) => step !== "" && step !== "." && step !== "..")
  for (let i = steps.length - 1; i >= 0; i--) {
    const name = clean(steps[i] ?? "")
    if (name !== "" && !generic.has(name)) return name
  }
  return ""
}

/** `@scope/name@1.2.3` is `name`. */
const fromPackage = (word: string): string => clean(base(word).replace(/(?<=.)@[^/]*$/, ""))

/**
 * The package or script behind a runner, else the program; always one under which pins can be kept.
 *
 * @category constructors
 * @since 0.1.0
 */
export const nameOf = (command: string, args: ReadonlyArray<string>): string => {
  const program = base(command).replace(/\.exe$/, "")
  if (runners.has(program.replace(/[\d.]+$/, "")) || runners.has(program)) {
    for (const arg of args) {
      if (arg.startsWith("-") || words.has(arg) || runners.has(base(arg))) continue
      const name = /\.[a-z]{2,3}$|^\.{0,2}\//.test(arg) ? fromPath(arg) : fromPackage(arg)
      if (isServerName(name)) return name
    }
  }
  const name = fromPath(command)
  return isServerName(name) ? name : "server"
}

/**
 * The name of a server that is at an address: the most telling part of its host.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hostOf = (url: string): string => {
  const host = URL.canParse(url) ? new URL(url).hostname : ""
  const name = clean(host.split(".").find((part) => !["www", "mcp", "api"].includes(part)) ?? "")
  return isServerName(name) ? name : "server"
}
