// One bundle per program, so that `sallyport relay` starts without loading the command line parser. Chunk names carry no
// hash, so that a build beside a running program replaces files and never removes them.
//
// The relay is CommonJS and comes with its bytecode (see scripts/code-cache.mjs): a host waits for it at every start.
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
 * Writes the program in ASCII, which V8 keeps in half the memory, and names the text in its first line: that is how the
 * bytecode is known to be of this very text.
 */
const named = {
  name: "named-by-content",
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      const text = chunk.code.replace(/[^\0-\x7f]/g, escape)
      chunk.code = chunk.isEntry ? `//${createHash("sha256").update(text).digest("hex")}\n${text}` : text
    }
  }
}

const bytecode = {
  name: "bytecode",
  async writeBundle({ dir }) {
    await writeCodeCache(`${dir}/relay.cjs`, `${dir}/relay.code`)
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
    plugins: [named, bytecode],
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
