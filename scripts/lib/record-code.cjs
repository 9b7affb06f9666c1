// node -r record-code.cjs bin/sallyport.mjs relay ...: runs the relay and writes, at the end, the bytecode of each part of
// it that was loaded, beside that part and behind the first line of its text. SALLYPORT_RECORD is the folder of the parts.
const { renameSync, writeFileSync } = require("node:fs")
const vm = require("node:vm")

const folder = `${process.env.SALLYPORT_RECORD}/`
const scripts = []

vm.Script = class extends vm.Script {
  constructor(source, { filename } = {}) {
    // Without bytecode of a run before: what this run does not use would be kept with it.
    super(source, { filename })
    if (filename?.startsWith(folder)) scripts.push([filename, source, this])
  }
}

process.on("exit", () => {
  for (const [filename, source, script] of scripts) {
    const line = source.slice(source.indexOf("{") + 1, source.indexOf("\n") + 1)
    const code = filename.replace(/cjs$/, "code")
    // Put there whole: a relay that starts meanwhile must not read half of it.
    writeFileSync(`${code}.${process.pid}`, Buffer.concat([Buffer.from(line), script.createCachedData()]))
    renameSync(`${code}.${process.pid}`, code)
  }
})
