import { assert, describe, it } from "@effect/vitest"
import * as ErrorCode from "../../src/protocol/ErrorCode.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as Reason from "../../src/wire/Reason.ts"

describe("error codes", () => {
  it("are understood wherever they may be answered with, and are in the table once", () => {
    for (const { accept, code, emit } of ErrorCode.table) {
      for (const revision of emit) assert.include(accept, revision, String(code))
      assert.strictEqual(ErrorCode.table.filter((row) => row.code === code).length, 1)
    }
  })

  it("lie in ranges", () => {
    for (
      const [code, range] of [
        [-32769, "free"],
        [-32768, "jsonrpc"],
        [-32100, "jsonrpc"],
        [-32099, "protocol"],
        [-32020, "protocol"],
        [-32019, "legacy"],
        [-32000, "legacy"],
        [-31999, "free"],
        [-1, "free"],
        [1, "free"]
      ] as const
    ) assert.strictEqual(ErrorCode.range(code), range, String(code))
  })

  it("of this protocol's own ranges are answered with only where they are defined", () => {
    for (let code = -32768; code <= -32000; code++) {
      const row = ErrorCode.table.find((one) => one.code === code)
      assert.strictEqual(ErrorCode.mayEmit(code, "2026-07-28"), row?.emit.includes("2026-07-28") === true, String(code))
    }
  })

  it("that Sallyport refuses with may be answered with in every revision, and mean what JSON-RPC says", () => {
    for (const { code } of Object.values(Reason.table)) {
      for (const revision of Revision.all) {
        assert.isTrue(ErrorCode.mayEmit(code, revision))
        assert.isDefined(ErrorCode.meaning(code, revision))
      }
      assert.strictEqual(ErrorCode.range(code), "jsonrpc")
    }
  })

  it("for a missing resource is understood in all revisions and answered with in the older ones", () => {
    assert.isTrue(ErrorCode.mayEmit(-32002, "2025-11-25"))
    assert.isFalse(ErrorCode.mayEmit(-32002, "2026-07-28"))
    assert.strictEqual(ErrorCode.meaning(-32002, "2026-07-28")?.name, "ResourceNotFound")
  })

  it("have no meaning elsewhere", () => {
    assert.isUndefined(ErrorCode.meaning(-32022, "2025-11-25"))
    assert.isUndefined(ErrorCode.meaning(-32042, "2026-07-28"))
    assert.isUndefined(ErrorCode.meaning(-32001, "2025-11-25"))
    assert.isFalse(ErrorCode.mayEmit(-32042, "2026-07-28"))
    assert.isFalse(ErrorCode.mayEmit(-32001, "2026-07-28"))
    assert.isTrue(ErrorCode.mayEmit(-32001, "2025-11-25"))
    assert.isTrue(ErrorCode.mayEmit(4711, "2026-07-28"))
  })
})
