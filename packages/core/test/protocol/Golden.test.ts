import { describe, expect, it } from "@effect/vitest"
import { join } from "node:path"
import * as Print from "./print.ts"

const golden = (name: string): string => join(import.meta.dirname, "golden", `${name}.txt`)

describe("the tables are as they were read", () => {
  for (const [name, table] of Print.tables) {
    it(name, async () => {
      await expect(Print.text(table)).toMatchFileSnapshot(golden(name))
    })
  }

  it("payloads of 2024-11-05", async () => {
    await expect(Print.payloads("2024-11-05")).toMatchFileSnapshot(golden("payloads-2024-11-05"))
  })
})

it("docs/protocol.md says what the tables say", async () => {
  await expect(Print.page).toMatchFileSnapshot(join(import.meta.dirname, "../../../../docs/protocol.md"))
})
