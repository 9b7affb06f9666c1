// One bundle per program, so that `sallyport relay` starts without loading the command line parser. Chunk names carry no
// hash, so that a build beside a running program replaces files and never removes them.
//
// The relay is CommonJS and comes with its bytecode (scripts/code-cache.mjs): a host waits for it at every start.
import { createHash } from "node:crypto"
import { defineConfig } from "rolldown"
import { writeCodeCache } from "./scripts/code-cache.mjs"

const shared = {
  platform: "node",
  output: {
    dir: "packages/cli/dist",
    minify: true
  }
}

const escape = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * Writes the program in ASCII, which V8 keeps in half the memory, and names the text of each part in its first line: that is
 * how bytecode is known to be of this very text.
 */
const named = {
  name: "named-by-content",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      const text = chunk.code.replace(/[^\0-\x7f]/g, escape)
      chunk.code = `//${createHash("sha256").update(text).digest("hex")}\n${text}`
    }
  }
}

/**
 * Gets Node's modules at once: as namespaces they would be copied at every start, by code that lies in a file of its own.
 */
const builtins = {
  name: "builtins",
  transform: {
    filter: { id: /\/packages\/[^/]+\/src\// },
    handler: (code) =>
      code.replace(/^import \* as (\w+) from "(node:\w+)"$/gm, "const $1 = process.getBuiltinModule(\"$2\")")
  },
  generateBundle(_, bundle) {
    for (const { fileName, imports, isEntry } of Object.values(bundle)) {
      const more = imports.filter((name) => !name.startsWith("node:"))
      if (isEntry && more.length > 0) this.error(`every start of ${fileName} would load ${more.join(" and ")} too`)
    }
  }
}

const bytecode = {
  name: "bytecode",
  async writeBundle({ dir }) {
    await writeCodeCache(`${dir}/relay.cjs`)
  }
}

export default defineConfig([
  {
    ...shared,
    input: { cli: "packages/cli/src/main.ts", serve: "packages/cli/src/serve.ts" },
    treeshake: true,
    output: {
      ...shared.output,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "chunks/[name].mjs"
    }
  },
  {
    ...shared,
    input: { relay: "packages/cli/src/relay.ts" },
    // A schema that nothing reads is not built at every start.
    treeshake: { manualPureFunctions: ["Schema", "Context", "Layer"] },
    plugins: [builtins, named, bytecode],
    output: {
      ...shared.output,
      format: "cjs",
      // As the modules were.
      strict: true,
      entryFileNames: "[name].cjs",
      chunkFileNames: "chunks/[name].cjs"
    }
  }
])
