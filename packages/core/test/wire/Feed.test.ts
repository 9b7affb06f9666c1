import { assert, describe, it } from "@effect/vitest"
import * as Feed from "@sallyport/core/wire/Feed"
import type { Refused } from "@sallyport/core/wire/Message"
import { one, open, read, refused, same, written } from "./read.ts"

const ping = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`
const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`
const result = (value: string): string => `{"jsonrpc":"2.0","id":1,"result":${value}}`
const ids = (items: ReadonlyArray<{ readonly _tag: string; readonly id?: string | undefined }>) =>
  items.map((item) => `${item._tag} ${item.id}`)

/** Checks what of a refusal is given. */
const isRefused = (line: string | Uint8Array, expected: { readonly [name in keyof Refused]?: unknown }): void => {
  const item = refused(line)
  same(item, { ...item, ...expected })
}

describe("messages", () => {
  it("reads the four kinds", () => {
    same(one(call("{\"name\":\"a\"}")), {
      _tag: "Request",
      id: "1",
      method: "tools/call",
      params: "{\"name\":\"a\"}"
    })
    same(one("{\"method\":\"a\",\"jsonrpc\":\"2.0\"}"), {
      _tag: "Notification",
      method: "a",
      params: undefined
    })
    same(one(result("{\"a\":[]}")), {
      _tag: "Response",
      id: "1",
      reply: { _tag: "Result", result: "{\"a\":[]}" }
    })
    same(
      one("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-1,\"message\":\"m\",\"data\":null}}"),
      {
        _tag: "Response",
        id: "\"x\"",
        reply: { _tag: "Failure", error: "{\"code\":-1,\"message\":\"m\",\"data\":null}" }
      }
    )
  })

  it("reads names and the version with escapes", () => {
    assert.strictEqual(
      written(one("{\"\\u006asonrpc\":\"2\\u002e0\",\"\\u0069d\":1,\"\\u006dethod\":\"p\\u0069ng\"}")),
      `${ping("1")}\n`
    )
  })

  it("tells methods apart that share a place in the cache", () => {
    const methods = Array.from({ length: 2000 }, (_, k) => `method/${k}`)
    const items = read([...methods, ...methods].map((method) => `{"jsonrpc":"2.0","method":"${method}"}\n`).join(""))
    same(items.map((item) => item._tag === "Notification" ? item.method : ""), [
      ...methods,
      ...methods
    ])
  })

  const reasons: ReadonlyArray<readonly [line: string, expected: { readonly [name in keyof Refused]?: unknown }]> = [
    ["{}", { reason: "not-a-message", kind: "unknown", id: undefined }],
    ["42", { reason: "not-a-message", kind: "unknown" }],
    ["\"ping\"", { reason: "not-a-message" }],
    ["null", { reason: "not-a-message" }],
    ["{\"id\":901,\"method\":\"ping\"}", { reason: "not-a-message", kind: "request" }],
    ["{\"jsonrpc\":\"1.0\",\"id\":902,\"method\":\"ping\"}", { reason: "not-a-message", kind: "request" }],
    ["{\"jsonrpc\":2.0,\"id\":903,\"method\":\"ping\"}", {
      reason: "not-a-message",
      kind: "request",
      pointer: "/jsonrpc"
    }],
    ["{\"jsonrpc\":\"2.0\",\"id\":904,\"method\":null}", {
      reason: "not-a-message",
      kind: "unknown",
      pointer: "/method"
    }],
    ["{\"jsonrpc\":\"2.0\",\"method\":1,\"params\":\"bar\"}", { reason: "not-a-message", kind: "unknown" }],
    [call("[]"), { reason: "not-a-message", kind: "request", pointer: "/params" }],
    [call("null"), { reason: "not-a-message" }],
    [call("7"), { reason: "not-a-message" }],
    ["{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":[]}", { reason: "not-a-message", kind: "notification" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"result\":{}}", { reason: "not-a-message", kind: "unknown" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1}", { reason: "not-a-message", kind: "unknown" }],
    ["{\"jsonrpc\":\"2.0\",\"result\":{}}", { reason: "not-a-message", kind: "response" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"params\":{}}", { reason: "not-a-message", kind: "response" }],
    [result("7"), { reason: "not-a-message", kind: "response" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":null}", { reason: "not-a-message", kind: "response" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1.5,\"message\":\"x\"}}", {
      reason: "not-a-message",
      pointer: "/error"
    }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", { reason: "not-a-message" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":2}}", { reason: "not-a-message" }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"extra\":1}", { reason: "unknown-member", pointer: "/extra" }],
    ["{\"jsonrpc\":\"2.0\",\"Method\":\"a\",\"id\":1}", {
      reason: "case-variant",
      pointer: "/Method",
      kind: "unknown"
    }],
    ["{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"Id\":1}", { reason: "case-variant", kind: "unknown" }],
    ["{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"param\u017f\":{}}", { reason: "case-variant", pointer: "/param\u017f" }],
    ["{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"method\":\"b\",\"id\":1}", {
      reason: "duplicate-member",
      kind: "unknown"
    }],
    ["{\"jsonrpc\":\"2.0\",\"id\":1,\"\\u0069d\":2,\"method\":\"a\"}", { reason: "duplicate-member", id: undefined }],
    ["[]", { reason: "empty-batch" }],
    [" [ ] ", { reason: "empty-batch" }]
  ]
  it.each(reasons)("refuses %s", (line, expected) => isRefused(line, expected))
})

describe("ids", () => {
  it.each([
    ["0", "0"],
    ["-5", "-5"],
    ["007", undefined],
    ["12345678901234567890123", "12345678901234567890123"],
    ["1234567890", "1234567890"],
    ["999999999", "999999999"],
    ["\"\"", "\"\""],
    ["\"a\\u0062\\/\"", "\"ab/\""],
    ["\"\\u0022\\u000a\"", "\"\\\"\\n\""],
    ["\"\u2028\"", "\"\\u2028\""],
    ["\"\u00e9\"", "\"\u00e9\""],
    ["\"\\u00e9\"", "\"\u00e9\""],
    ["\"\\ud83d\\ude00\"", "\"\u{1f600}\""],
    ["1".repeat(512), "1".repeat(512)]
  ])("%s has the normal form %s", (id, normal) => {
    const item = one(ping(id))
    assert.strictEqual("id" in item ? item.id : undefined, normal)
  })

  it.each(["null", "true", "1.5", "1.0", "5e0", "-0", "{}", "[1]", "1".repeat(513), "-", `"${"x".repeat(511)}"`])(
    "refuses %s",
    (id) => {
      const { id: readable, reason } = refused(ping(id))
      assert.strictEqual(reason, id === "-" ? "not-json" : "bad-id")
      assert.strictEqual(readable, undefined)
    }
  )
})

describe("the id of a line that is refused", () => {
  it.each([
    ["{\"jsonrpc\":\"2.0\",\"result\":{\"x\":NaN},\"id\":5}", "not-json", "response", "5"],
    ["{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"result\":{\"x\":NaN}}", "not-json", "response", "\"ab\""],
    ["{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"x\":[1,2}}", "not-json", "response", "5"],
    ["{\"id\":5,\"result\":{\"id\":6,\"x\":\"}\\\"{\",\"y\":,}}", "not-json", "response", "5"],
    ["{\"id\":5,\"result\":{},\"id\":6}", "duplicate-member", "response", undefined],
    ["{\"id\":5,\"result\":{}} {\"id\":6}", "not-json", "response", undefined],
    ["{\"id\":5,\"result\":{}} x", "not-json", "response", "5"],
    ["{\"id\":5", "not-json", "unknown", undefined],
    ["{\"id\":5,\"method\":\"ping\",\"params\":{\"a", "not-json", "request", "5"],
    ["{\"method\":\"ping\",\"params\":{\"a", "not-json", "unknown", undefined],
    ["{\"id\":5 6,\"method\":\"ping\"}", "not-json", "request", undefined],
    ["{\"id\":\"5\"6,\"method\":\"ping\"}", "not-json", "request", undefined],
    ["{\"id\":1.5,\"result\":{}}", "bad-id", "response", undefined],
    ["[{\"id\":5,\"result\":{}},]", "not-json", "unknown", undefined],
    ["{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":1,\"a\":2}}", "duplicate-member", "response", "5"],
    ["{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":\"\\ud800\"}}", "lone-surrogate", "response", "5"],
    ["{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"result\":{}}", "lone-surrogate", "response", undefined]
  ])("%s", (line, reason, kind, id) => {
    const item = refused(line)
    same([item.reason, item.kind, item.id], [reason, kind, id])
  })

  it("is read from a line that is not UTF-8", () => {
    const line = Buffer.concat([
      Buffer.from("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":\""),
      Buffer.of(0xff),
      Buffer.from("\"}}")
    ])
    isRefused(line, {
      reason: "not-utf8",
      kind: "response",
      id: refused(result("NaN").replace("1", "5")).id,
      offset: 39
    })
  })
})

describe("places", () => {
  it.each([
    [call("{\"a\":{\"b/c\":[1,{\"~\":NaN}]}}"), "/params/a/b~1c/1/~0", 75],
    [call("{\"a\":[0,{\"k\":1,\"\\u006b\":2}]}"), "/params/a/1/k", 70],
    [call("{\"a\":1,}"), "/params", 62],
    [call("{\"a\":tru}"), "/params/a", 60],
    [` ${call("{}")} x`, "", 60]
  ])("%s", (line, pointer, offset) => {
    const item = refused(line)
    same([item.pointer, item.offset], [pointer, offset])
  })

  it("are cut where they get long", () => {
    const { pointer } = refused(call("[".repeat(1000)))
    assert.isBelow(pointer.length, 100)
    assert.isBelow(refused(call(`{"${"n".repeat(10_000)}":x}`)).pointer.length, 100)
  })
})

describe("text that travels", () => {
  it.each([
    ["{ \"a\" : [ 1 , 2.50 , { } , [ ] ] ,\t\"b c\":\"d e\"\r}", "{\"a\":[1,2.50,{},[]],\"b c\":\"d e\"}"],
    [
      "{\"n\":12345678901234567890,\"f\":1.0,\"e\":1e400,\"z\":-0}",
      "{\"n\":12345678901234567890,\"f\":1.0,\"e\":1e400,\"z\":-0}"
    ],
    ["{\"a\":\"\u0085\u2028\u2029\u2027\"}", "{\"a\":\"\\u0085\\u2028\\u2029\u2027\"}"],
    ["{\"\u2028\":1}", "{\"\\u2028\":1}"],
    ["{\"\\u006eame\":\"\\u006e\\/\"}", "{\"name\":\"\\u006e\\/\"}"],
    ["{\"\\u005fmeta\":{\"\\u0022\\n\\u2028\":1}}", "{\"_meta\":{\"\\\"\\n\\u2028\":1}}"],
    ["{\"b\":1,\"a\":2,\"__proto__\":{\"x\":3}}", "{\"b\":1,\"a\":2,\"__proto__\":{\"x\":3}}"],
    ["{\"a\":\"\ufffd\u00e9\"}", "{\"a\":\"\ufffd\u00e9\"}"],
    [
      `{"a" : "${"x".repeat(500)} \\" ${"y".repeat(500)} \\\\" , "b":1}`,
      `{"a":"${"x".repeat(500)} \\" ${"y".repeat(500)} \\\\","b":1}`
    ]
  ])("%s", (params, expected) => {
    const item = one(call(params))
    assert.strictEqual(item._tag === "Request" ? item.params : item._tag, expected)
  })
})

describe("names", () => {
  it.each([
    [call("{\"name\":\"a\",\"Name\":\"b\"}"), "case-variant", "/params/Name"],
    [call("{\"argument\u017f\":{}}"), "case-variant", "/params/argument\u017f"],
    [call("{\"argument\\u017F\":{}}"), "case-variant", "/params/argument\u017f"],
    [call("{\"tas\u212a\":{}}"), "case-variant", "/params/tas\u212a"],
    [call("{\"\\u004eame\":\"b\"}"), "case-variant", "/params/Name"],
    [call("{\"_Meta\":{}}"), "case-variant", "/params/_Meta"],
    [call("{\"ur\u0131\":1}"), "case-variant", "/params/ur\u0131"],
    [result("{\"tools\":[],\"Tools\":[]}"), "case-variant", "/result/Tools"],
    [result("{\"ISERROR\":true}"), "case-variant", "/result/ISERROR"],
    [
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"a\",\"Message\":\"b\"}}",
      "case-variant",
      "/error/Message"
    ],
    [
      call("{\"_meta\":{\"io.modelcontextprotocol/ProtocolVersion\":1}}"),
      "case-variant",
      "/params/_meta/io.modelcontextprotocol~1ProtocolVersion"
    ],
    [
      call("{\"\\u005fmeta\":{\"IO.modelcontextprotocol/protocolVersion\":1}}"),
      "case-variant",
      "/params/_meta/IO.modelcontextprotocol~1protocolVersion"
    ],
    [call("{\"a\":1,\"\\u0061\":2}"), "duplicate-member", "/params/a"],
    [call("{\"\\u0061\":1,\"a\":2}"), "duplicate-member", "/params/a"],
    [call("{\"\\u00e9\":1,\"\u00e9\":2}"), "duplicate-member", "/params/\u00e9"],
    [call("{\"x\":[{\"k\":{},\"j\":[],\"k\":1}]}"), "duplicate-member", "/params/x/0/k"],
    [call("{\"\":1,\"\":2}"), "duplicate-member", "/params/"],
    [call("{\"__proto__\":1,\"__proto__\":2}"), "duplicate-member", "/params/__proto__"],
    [call("{\"\\udc00\":1}"), "lone-surrogate", "/params/\ufffd"]
  ])("%s is refused", (line, reason, pointer) => {
    const item = refused(line)
    same([item.reason, item.pointer], [reason, pointer])
  })

  it.each([
    call("{\"arguments\":{\"Name\":1,\"NAME\":2,\"name\":3}}"),
    call("{\"_meta\":{\"Name\":1,\"name\":2,\"com.example/Name\":1}}"),
    call("{\"a\":{\"_meta\":{\"IO.modelcontextprotocol/protocolVersion\":1}}}"),
    call("{\"x\":{\"a\":1},\"y\":{\"a\":1},\"a\":[{\"a\":1},{\"a\":1}]}"),
    call("{\"named\":1,\"Names\":2,\"\u00e9\":3,\"e\":4}"),
    result("{\"code\":1,\"Code\":2,\"Message\":3}"),
    call("{\"ab\":1,\"Ab\":2,\"aB\":3,\"AB\":4}")
  ])("%s is accepted", (line) => assert.strictEqual(written(one(line)), `${line}\n`))

  // Compared pair by pair, this would take longer than a test may.
  it("are compared without a blow-up in big objects", () => {
    const many = Array.from({ length: 100_000 }, (_, k) => `"member ${k}":${k}`)
    const line = call(`{${many.join(",")}}`)
    assert.strictEqual(written(one(line)), `${line}\n`)
    isRefused(call(`{${many.join(",")},"member 50":1}`), { reason: "duplicate-member", pointer: "/params/member 50" })
    isRefused(call(`{${many.join(",")},"member \\u0035\\u0030":1}`), { reason: "duplicate-member" })
    isRefused(call(`{"member \\u0035\\u0030":1,${many.join(",")}}`), { reason: "duplicate-member" })
  })

  it("are compared in every object of a deep message", () => {
    const nest = (depth: number, inner: string): string =>
      depth === 0 ? inner : `{"a":1,"b":${nest(depth - 1, inner)},"c":{"a":1,"b":2}}`
    const line = call(nest(100, "{\"x\":1}"))
    assert.strictEqual(written(one(line)), `${line}\n`)
    isRefused(call(nest(100, "{\"x\":1,\"x\":2}")), { reason: "duplicate-member" })
    isRefused(call(nest(50, `${nest(20, "1")},"a":2`)), { reason: "duplicate-member" })
  })
})

describe("depth", () => {
  const deep = (levels: number): string => call(`{"k":${"[".repeat(levels)}${"]".repeat(levels)}}`)

  it("counts the message itself", () => {
    assert.strictEqual(one(deep(126))._tag, "Request")
    isRefused(deep(127), { reason: "too-deep", kind: "request" })
    assert.strictEqual(
      one("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{}}", { depth: 2 })._tag,
      "Request"
    )
    assert.strictEqual(refused(call("{\"a\":[]}"), { depth: 2 }).reason, "too-deep")
  })

  it("does not keep from telling that a line is no JSON", () => {
    isRefused(deep(5000), { reason: "too-deep" })
    isRefused(`${deep(5000)}]`, { reason: "not-json" })
    isRefused(call(`{"k":${"[".repeat(5000)}${"]".repeat(4999)}}`), { reason: "not-json" })
    isRefused(call(`{"k":${"[{\"a\":".repeat(5000)}1${"}]".repeat(4999)}]}}`), { reason: "not-json" })
    isRefused("[".repeat(100_000), { reason: "not-json", kind: "unknown" })
    isRefused(call("{\"a\":1,\"a\":2,}"), { reason: "not-json" })
    isRefused(call("{\"a\":\"\\ud800\",\"b\":\"\\ud80\"}"), { reason: "not-json" })
    isRefused("{\"jsonrpc\":\"2.0\",\"extra\":1,\"id\":1}}", { reason: "not-json" })
  })
})

describe("batches", () => {
  it("judge each element as if it came alone", () => {
    const item = one(
      ` [${ping("1")}, 2 , ${call("{\"a\":1,\"a\":2}")},{"jsonrpc":"2.0","method":"n"},[], ${result("{}")} ] `
    )
    if (item._tag !== "Batch") throw new Error(item._tag)
    same(
      item.items.map((item) => item._tag === "Refused" ? [item.reason, item.pointer, item.id] : [item._tag]),
      [
        ["Request"],
        ["not-a-message", "/1", undefined],
        ["duplicate-member", "/2/params/a", "1"],
        ["Notification"],
        ["not-a-message", "/4", undefined],
        ["Response"]
      ]
    )
  })

  it("are one refusal if they are no JSON", () => {
    isRefused(`[${ping("1")},]`, { reason: "not-json", id: undefined })
    isRefused(`[${ping("1")}`, { reason: "not-json", id: undefined })
    isRefused(`[${ping("1")}] x`, { reason: "not-json", id: undefined })
    isRefused("[1 2]", { reason: "not-json" })
  })

  it("have a bound", () => {
    const batch = (size: number): string => `[${Array.from({ length: size }, () => "1").join(",")}]`
    const item = one(batch(Feed.maxBatch))
    assert.strictEqual(item._tag === "Batch" ? item.items.length : 0, Feed.maxBatch)
    isRefused(batch(Feed.maxBatch + 1), { reason: "batch-too-long" })
  })
})

describe("lines", () => {
  it("end with LF or CR LF, blank ones are nothing, the last needs no end", () => {
    same(
      ids(read(`\n\r\n \t\r\n${ping("1")}\r\n${ping("2")}\n\n  ${ping("3")}  \r\n\t${ping("4")}`)),
      ["Request 1", "Request 2", "Request 3", "Request 4"]
    )
    same(read(" \r"), [])
    same(read(""), [])
    same(ids(read(`${ping("1")}\r`)), ["Request 1"])
  })

  it("are refused alone", () => {
    same(ids(read(`${ping("1")}\nnope\n${ping("2")}\n{"a\n":1}\n${ping("3")}`)), [
      "Request 1",
      "Refused undefined",
      "Request 2",
      "Refused undefined",
      "Refused undefined",
      "Request 3"
    ])
  })

  it.each([
    ["a byte order mark", "efbbbf7b7d", "not-json"],
    ["UTF-16", "7b002200", "not-json"],
    ["NUL", "7b7d00", "not-json"],
    ["an overlong slash", "22c0af22", "not-utf8"],
    ["a surrogate", "22eda08022", "not-utf8"],
    ["more than U+10FFFF", "22f490808022", "not-utf8"],
    ["an overlong form of three", "22e0808022", "not-utf8"],
    ["an overlong form of four", "22f08f808022", "not-utf8"],
    ["half a character", "22e282", "not-utf8"],
    ["half a character before a quote", "22e28222", "not-utf8"],
    ["a lone continuation", "228022", "not-utf8"],
    ["a form of five", "22f88080808022", "not-utf8"],
    ["a form feed", "0c7b7d", "not-json"],
    ["a no-break space", "c2a07b7d", "not-json"]
  ])(
    "with %s are refused",
    (_, hex, reason) => isRefused(Buffer.from(hex, "hex"), { reason })
  )

  it("that are not UTF-8 are refused wherever it shows", () => {
    for (
      const place of [
        "\"id\":\"X\"",
        "\"id\":1,\"params\":{\"X\":1}",
        "\"id\":1,\"params\":{\"a\":\"X\\n\"}",
        "\"id\":1,\"params\":{\"a\": \"X\"}"
      ]
    ) {
      const [before = "", after = ""] = `{"jsonrpc":"2.0","method":"a",${place}}`.split("X")
      for (const bad of ["ff", "c3", "eda080", "e28080e2"]) {
        const line = Buffer.concat([Buffer.from(before), Buffer.from(bad, "hex"), Buffer.from(after)])
        isRefused(line, { reason: "not-utf8" })
      }
    }
    const method = Buffer.concat([
      Buffer.from("{\"jsonrpc\":\"2.0\",\"method\":\""),
      Buffer.of(0xc3),
      Buffer.from("\"}")
    ])
    isRefused(method, { reason: "not-utf8", kind: "unknown" })
  })

  it("that are longer than the limit are refused once, and skipped to their end", () => {
    const limits = { messageBytes: 100 }
    const long = call(`{"a":"${"x".repeat(1000)}"}`)
    for (const sizes of [[], [1], [7], [64], [1000]]) {
      const items = read(`${ping("1")}\n${long}\n${ping("2")}\n${long}`, sizes, limits)
      same(
        items.map((item) => item._tag === "Refused" ? [item.reason, item.kind, item.id, item.offset] : item._tag),
        ["Request", ["too-long", "request", "1", 100], "Request", ["too-long", "request", "1", 100]]
      )
    }
  })

  it("may be exactly as long as the limit", () => {
    const line = ping("1")
    for (const sizes of [[], [1], [3]]) {
      const limits = { messageBytes: line.length }
      same(ids(read(`${line}\r\n${line}\n${line}`, sizes, limits)), [
        "Request 1",
        "Request 1",
        "Request 1"
      ])
      same(
        read(`${line} \n${line}\r\r\n${line}\rx\n${line}\r`, sizes, limits).map((item) =>
          item._tag === "Refused" ? item.reason : item._tag
        ),
        ["too-long", "too-long", "too-long", "Request"]
      )
    }
  })

  it("that are too long give up their memory", () => {
    const { items, push } = open({ messageBytes: 1000 })
    const chunk = Buffer.alloc(1 << 20, "x")
    const before = process.memoryUsage().arrayBuffers
    for (let k = 0; k < 200; k++) push(chunk)
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 50 << 20)
    push(Buffer.from(`\n${ping("1")}\n`))
    same(ids(items), ["Refused undefined", "Request 1"])
  })

  it("that are huge cost what their bytes cost, however they are cut", () => {
    const line = Buffer.from(`${call(`{"a":"${"x".repeat(16 << 20)}"}`)}\n`)
    // Looked through again for each piece, or copied with each, this would take longer than a test may.
    const read = (size: number): void => {
      const { items, push } = open()
      for (let p = 0; p < line.length; p += size) push(line.subarray(p, p + size))
      same(ids(items), ["Request 1"])
    }
    read(64 << 10)
    read(512)
  })

  it("are read wherever they stand in their buffer", () => {
    const line = call(
      `{"a":"${"x".repeat(100)}\\n${"y".repeat(61)}\u00e9${"z".repeat(50)}\\"","b":"${"\u00e9".repeat(40)}"}`
    )
    for (let offset = 0; offset < 8; offset++) {
      for (let after = 0; after < 8; after++) {
        const { items, push } = open()
        const bytes = Buffer.alloc(offset + Buffer.byteLength(line) + 1 + after, "\"")
        bytes.write(`${line}\n`, offset)
        push(bytes.subarray(offset, bytes.length - after))
        same(items.map(written), [`${line}\n`])
      }
    }
  })

  it("survive a buffer that is used again by who gave it", () => {
    const { items, push } = open()
    const chunk = Buffer.alloc(8)
    const line = Buffer.from(`${call("{\"name\":\"somebody\"}")}\n`)
    for (let p = 0; p < line.length; p += 8) push(chunk.subarray(0, line.copy(chunk, 0, p, p + 8)))
    same(items.map(written), [line.toString()])
  })
})
