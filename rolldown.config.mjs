// One entry per program, so that `sallyport relay` starts without loading the command line parser. Chunk names carry no
// hash, so that a build beside a running program replaces files and never removes them.
import { defineConfig } from "rolldown"

export default defineConfig({
  input: {
    cli: "packages/cli/src/main.ts",
    relay: "packages/cli/src/relay.ts"
  },
  platform: "node",
  treeshake: true,
  output: {
    dir: "packages/cli/dist",
    format: "esm",
    minify: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name].mjs"
  }
})
