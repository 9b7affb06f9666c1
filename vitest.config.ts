import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/fixtures/**"],
    pool: "forks",
    maxWorkers: 2,
    // Only for what hangs: a busy machine takes ten times as long for the properties.
    testTimeout: 120_000,
    hookTimeout: 120_000
  }
})
