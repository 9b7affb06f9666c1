/**
 * `sallyport serve`: runs a server that someone wrote, by the modules that it was written with.
 *
 * **Details**
 *
 * The server's layer and what runs it must be of one Effect and one @sallyport/core, so both are loaded from the
 * server's side. Nothing of either is in this file's bundle.
 *
 * @since 0.1.0
 */
import type * as Serve from "@sallyport/core/server/Serve"
import type * as ServeHttp from "@sallyport/core/server/ServeHttp"
import { existsSync, readFileSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { addressOf } from "../Address.ts"

/**
 * How it is used.
 *
 * @category constants
 * @since 0.1.0
 */
export const usage = `Usage: sallyport serve [OPTIONS] MODULE

Serves the MCP server that MODULE exports by default: a layer of Dispatch, as
Server.layerDispatch makes it. MODULE is a file, a folder or a package. Without
options it speaks over stdin and stdout.

Options:
  --http HOST:PORT   listen there for Streamable HTTP instead
  --token-file FILE  over HTTP: the token that every request must bring
  --help             this text

Example:
  sallyport serve examples/quickstart
`

/**
 * Why nothing is served, and the code to exit with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stop {
  readonly _tag: "Stop"
  readonly code: 0 | 1 | 2
  readonly message: string
}

/**
 * What to serve, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly _tag: "Options"
  readonly module: string
  readonly http: { readonly host: string; readonly port: number } | undefined
  readonly tokenFile: string | undefined
}

const stop = (code: Stop["code"], message: string): Stop => ({ _tag: "Stop", code, message })

const wrong = (message: string): Stop => stop(2, `sallyport serve: ${message}\n\n${usage}`)

const failed = (message: string): Stop => stop(1, `sallyport serve: ${message}`)

const said = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const attempt = <A>(make: () => A, or: (message: string) => Stop): A | Stop => {
  try {
    return make()
  } catch (cause) {
    return or(said(cause))
  }
}

const isStop = (value: object): value is Stop => "_tag" in value && value._tag === "Stop"

/**
 * Reads the command line behind `serve`.
 *
 * @category conversions
 * @since 0.1.0
 */
export const read = (argv: ReadonlyArray<string>): Options | Stop => {
  const parsed = attempt(
    () =>
      parseArgs({
        args: [...argv],
        options: {
          http: { type: "string" },
          "token-file": { type: "string" },
          help: { type: "boolean", short: "h" }
        },
        allowPositionals: true
      }),
    (message) => wrong(message.replace(/\. To specify.*/s, "."))
  )
  if (isStop(parsed)) return parsed
  const { positionals: [module, ...more], values } = parsed
  if (values.help === true) return stop(0, usage.trimEnd())
  if (module === undefined) return wrong("MODULE is missing: a file, a folder or a package that exports a server")
  if (more.length > 0) return wrong(`one MODULE at a time; not ${JSON.stringify(more[0])} too`)
  const http = values.http === undefined ? undefined : addressOf(values.http)
  if (values.http !== undefined && http === undefined) {
    return wrong(`--http is HOST:PORT, as in 127.0.0.1:8080; not ${JSON.stringify(values.http)}`)
  }
  if (values["token-file"] !== undefined && http === undefined) return wrong("--token-file is for --http")
  return { _tag: "Options", module, http, tokenFile: values["token-file"] }
}

/**
 * The file that a module's name means: a file itself, a folder as Node resolves a package, else a package that can be
 * seen from the current folder.
 *
 * @category conversions
 * @since 0.1.0
 */
export const locate = (name: string): string | Stop => {
  const path = resolve(name)
  const here = createRequire(join(process.cwd(), "_"))
  if (!existsSync(path)) {
    return attempt(
      () => here.resolve(name),
      () => failed(`there is no file, folder or package ${JSON.stringify(name)}`)
    )
  }
  if (statSync(path).isFile()) return path
  const manifest = join(path, "package.json")
  const own: unknown = existsSync(manifest) ? attempt(() => JSON.parse(readFileSync(manifest, "utf8")), failed) : {}
  // A package that says what it exports is known to itself by its name.
  const exported = typeof own === "object" && own !== null && "exports" in own && "name" in own
    ? String(own.name)
    : undefined
  return attempt(
    () => exported === undefined ? here.resolve(path) : createRequire(manifest).resolve(exported),
    () => failed(`${path} is no package: it needs a package.json that names its main module, or an index.js`)
  )
}

/**
 * Why nothing is served where the modules of the server's side cannot be loaded.
 *
 * @category conversions
 * @since 0.1.0
 */
export const unforeseen = (cause: unknown): Stop => failed(said(cause))

/**
 * Serves; gives why it does not, and nothing where it does.
 *
 * @category running
 * @since 0.1.0
 */
export const run = async ({ http, module, tokenFile }: Options): Promise<Stop | undefined> => {
  const file = locate(module)
  if (typeof file !== "string") return file
  const core = (name: string): string | Stop =>
    attempt(
      () => pathToFileURL(createRequire(file).resolve(`@sallyport/core/server/${name}`)).href,
      () => failed(`${file} does not depend on @sallyport/core: install it in the module's folder or one above`)
    )
  const program = core(http === undefined ? "Serve" : "ServeHttp")
  if (typeof program !== "string") return program
  // The program's own modules come first: stdout is the protocol's before the first line of the server's runs.
  const load = (): Promise<{ readonly default?: unknown }> => import(pathToFileURL(file).href)
  if (http === undefined) {
    const serve: typeof Serve = await import(program)
    serve.main(load)
  } else {
    const serve: typeof ServeHttp = await import(program)
    serve.main(load, { ...http, tokenFile })
  }
  return undefined
}
