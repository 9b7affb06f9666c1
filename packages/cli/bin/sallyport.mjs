#!/usr/bin/env node
const stop = (why) => (console.error(`sallyport: ${why}`), process.exit(1))
const [major, minor] = process.versions.node.split(".").map(Number)
if (process.platform === "win32") stop("Windows is not supported; run it inside WSL.")
if (major < 22 || (major === 22 && minor < 19)) stop(`needs Node 22.19 or newer; this is ${process.versions.node}.`)

const args = process.argv.slice(2)
const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
const serve = own[0] === "serve"
const relay = own[0] === "relay" && !own.includes("--help") && !own.includes("-h")

// Imported, these modules would be loaded with all that hangs on them; a relay's start is waited for.
const fs = process.getBuiltinModule("node:fs")
const dist = `${import.meta.dirname.slice(0, -"bin".length)}dist`
const file = `${dist}/${relay ? "relay.cjs" : serve ? "serve.mjs" : "cli.mjs"}`
if (!fs.existsSync(file)) stop("the program is not built yet; run `npm run setup && npm run build` in the repository.")

/** The bytecode that was built of this text: of the same first line, which names the text, and not older than it. */
const bytecode = (part, text) => {
  try {
    const code = part.replace(/cjs$/, "code")
    if (fs.statSync(code).mtimeMs < fs.statSync(part).mtimeMs) return undefined
    const bytes = fs.readFileSync(code)
    const line = text.slice(0, text.indexOf("\n") + 1)
    return bytes.latin1Slice(0, line.length) === line ? bytes.subarray(line.length) : undefined
  } catch {
    return undefined
  }
}

if (relay) {
  const { createRequire } = process.getBuiltinModule("node:module")
  const { dirname, resolve } = process.getBuiltinModule("node:path")
  const { Script } = process.getBuiltinModule("node:vm")
  const require = createRequire(file)
  // A part that is loaded later asks for the program by its path: it must get this one, for another would run beside it.
  const parts = new Map()
  const load = (part) => {
    const known = parts.get(part)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    parts.set(part, module)
    const text = fs.readFileSync(part, "latin1")
    const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`
    const script = new Script(source, { filename: part, cachedData: bytecode(part, text) })
    const folder = dirname(part)
    const own = (name) => name.startsWith(".") ? load(resolve(folder, name)) : require(name)
    script.runInThisContext()(module.exports, own, module, part, folder)
    return module.exports
  }
  load(file)
} else await import(file)
