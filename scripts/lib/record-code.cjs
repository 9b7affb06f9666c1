// record-code.cjs RELAY CODE ARGS...: runs the relay, loaded as bin/sallyport.mjs loads it, and writes its bytecode at the
// end, behind the first line of its text.
const { readFileSync, renameSync, writeFileSync } = require("node:fs")
const { createRequire } = require("node:module")
const { dirname } = require("node:path")
const vm = require("node:vm")

const [relay, code] = process.argv.splice(2, 2)
const text = readFileSync(relay, "latin1")
const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
  filename: relay
})
process.on("exit", () => {
  const bytes = Buffer.concat([Buffer.from(text.slice(0, text.indexOf("\n") + 1)), script.createCachedData()])
  // Put there whole: a relay that starts meanwhile must not read half of it.
  writeFileSync(`${code}.${process.pid}`, bytes)
  renameSync(`${code}.${process.pid}`, code)
})
const module_ = { exports: {} }
script.runInThisContext()(module_.exports, createRequire(relay), module_, relay, dirname(relay))
