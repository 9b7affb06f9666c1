#!/usr/bin/env node
const stop = (why) => (console.error(`sallyport: ${why}`), process.exit(1))
const [major, minor] = process.versions.node.split(".").map(Number)
if (process.platform === "win32") stop("Windows is not supported; run it inside WSL.")
if (major < 22 || (major === 22 && minor < 19)) stop(`needs Node 22.19 or newer; this is ${process.versions.node}.`)

const args = process.argv.slice(2)
const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args
const relay = own[0] === "relay" && !own.includes("--help") && !own.includes("-h")
const file = new URL(relay ? "../dist/relay.mjs" : "../dist/cli.mjs", import.meta.url)

const { existsSync } = await import("node:fs")
if (!existsSync(file)) stop("the program is not built yet; run `npm run setup && npm run build` in the repository.")
await import(file)
