/** How the servers are started, directly and through the relay. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const root = dirname(dirname(dirname(import.meta.dirname)))
const require = createRequire(import.meta.url)

/** The command, as an installed package would be started. */
export const sallyport = join(root, "packages/cli/bin/sallyport.mjs")

/** How a server is started: its name for the relay, and what it needs of the environment. */
export interface Launch {
  readonly name: string
  readonly command: string
  readonly args: Array<string>
  readonly env: Record<string, string>
}

const node = (name: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): Launch => ({
  name,
  command: process.execPath,
  args: [...args],
  env
})

const official = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`)), "dist/index.js")

export const everything = (): Launch => node("everything", [official("everything")])
export const filesystem = (folder: string): Launch => node("files", [official("filesystem"), folder])
export const memory = (file: string): Launch => node("memory", [official("memory")], { MEMORY_FILE_PATH: file })
export const thinking = (): Launch =>
  node("thinking", [official("sequential-thinking")], { DISABLE_THOUGHT_LOGGING: "true" })
export const sdk1 = (): Launch => node("sdk1", [join(root, "test/fixtures/sdk1.mjs")])
/** `log` is a file to which each process appends its id when it starts. */
export const sdk2 = (era: "dual" | "modern" | "legacy", log?: string): Launch =>
  node("sdk2", [join(root, "test/fixtures/sdk2.mjs"), era, ...(log === undefined ? [] : [log])])

/** The same server behind the relay: what its environment needs is passed on by name. */
export const relayed = (launch: Launch, state: string, ...options: ReadonlyArray<string>): Launch => ({
  ...launch,
  command: process.execPath,
  args: [
    sallyport,
    "relay",
    "--name",
    launch.name,
    "--state",
    state,
    ...Object.keys(launch.env).flatMap((name) => ["--env", name]),
    ...options,
    "--",
    launch.command,
    ...launch.args
  ]
})

/** As {@link relayed}, and the first listing is accepted. */
export const trusted = (launch: Launch, state: string): Launch => relayed(launch, state, "--first-sight", "trust")

/** As {@link trusted}, and an opening of the other era fails as it does directly. */
export const mirrored = (launch: Launch, state: string): Launch =>
  relayed(launch, state, "--first-sight", "trust", "--bridge", "off")
