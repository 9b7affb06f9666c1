import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Capability from "../../src/protocol/Capability.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Negotiation from "../../src/protocol/Negotiation.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as T from "../../src/wire/Text.ts"

const params = (meta?: unknown) => T.fromValue(meta === undefined ? {} : { _meta: meta })

const whole = {
  [Revision.meta.protocolVersion]: "2026-07-28",
  [Revision.meta.clientCapabilities]: { roots: {} }
}

describe("versions", () => {
  const date = fc.tuple(
    fc.integer({ min: 1, max: 9999 }),
    fc.integer({ min: 0, max: 14 }),
    fc.integer({ min: 0, max: 33 })
  ).map(([year, month, day]) =>
    `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
  )

  it("are dates exactly if a calendar has the day", () => {
    fc.assert(fc.property(date, (text) => {
      const days = new Date(`${text}T00:00:00Z`)
      const real = !Number.isNaN(days.getTime()) && days.toISOString().startsWith(text)
      assert.strictEqual(Revision.parse(text)._tag !== "NotADate", real, text)
    }))
  })

  it("after the newest are future, before it unknown, and themselves known", () => {
    fc.assert(fc.property(date, (text) => {
      const { _tag } = Revision.parse(text)
      if (_tag === "Future") assert.isTrue(text > "2026-07-28")
      if (_tag === "Unknown") assert.isTrue(text < "2026-07-28")
    }))
    for (const revision of Revision.all) assert.deepStrictEqual(Revision.parse(revision), { _tag: "Known", revision })
    for (const other of ["", "2025-11-25 ", "2025-11-25T00:00:00Z", "20251125", "２０２５-11-25", "__proto__"]) {
      assert.strictEqual(Revision.parse(other)._tag, "NotADate", other)
    }
  })

  it("are in each list once, by era", () => {
    assert.deepStrictEqual(Object.keys(Revision.table), [...Revision.all])
    const eras: ReadonlyArray<Revision.Revision> = [...Revision.modern, ...Revision.legacy]
    assert.deepStrictEqual(eras, Revision.all.toReversed())
    for (const revision of Revision.legacy) assert.isTrue(Revision.isLegacy(revision))
    for (const revision of Revision.modern) assert.isTrue(Revision.isModern(revision))
  })
})

describe("a handshake", () => {
  it("ends in the offer or in the newest that there is, whatever is offered", () => {
    fc.assert(fc.property(
      fc.option(fc.oneof(fc.string(), fc.constantFrom(...Revision.all)), { nil: undefined }),
      fc.uniqueArray(fc.constantFrom(...Revision.legacy), { minLength: 1 }),
      (offered, [first, ...others]) => {
        if (first === undefined) return
        const supported = [first, ...others] as const
        const answer = Negotiation.server(offered, supported)
        assert.include(supported, answer.revision)
        assert.strictEqual(answer._tag === "Echo", answer.revision === offered)
        if (answer._tag === "Counter") assert.strictEqual(answer.revision, supported.toSorted().at(-1))
        // Whoever offered it and supports what it is answered, accepts.
        assert.strictEqual(Negotiation.client(answer.revision, Revision.all)._tag, "Accept")
      }
    ))
  })

  it("walks back from a modern revision to the newest with a handshake, if there is one", () => {
    assert.deepStrictEqual(Negotiation.server("2026-07-28"), { _tag: "Counter", revision: "2025-11-25" })
    assert.deepStrictEqual(Negotiation.handshakes(Revision.all), Revision.legacy)
    assert.deepStrictEqual(Negotiation.handshakes(["2025-03-26", "2026-07-28"]), ["2025-03-26"])
    assert.isUndefined(Negotiation.handshakes(Revision.modern))
  })

  it("never agrees on a modern revision", () => {
    assert.deepStrictEqual(Negotiation.client("2026-07-28", Revision.all), {
      _tag: "Refuse",
      answered: "2026-07-28",
      modern: true
    })
  })
})

describe("an envelope", () => {
  it("is read", () => {
    const all = {
      ...whole,
      [Revision.meta.clientInfo]: { name: "a", version: "1.0" },
      [Revision.meta.logLevel]: "warning",
      other: 1
    }
    assert.deepStrictEqual(Negotiation.envelope(params(all)), {
      _tag: "Ok",
      revision: "2026-07-28",
      clientCapabilities: T.fromValue({ roots: {} }),
      clientInfo: T.fromValue({ name: "a", version: "1.0" }),
      logLevel: "warning"
    })
    assert.deepInclude(Negotiation.envelope(params(whole)), {
      _tag: "Ok",
      clientInfo: undefined,
      logLevel: undefined
    })
  })

  const version = Revision.meta.protocolVersion
  const capabilities = Revision.meta.clientCapabilities
  const bad: ReadonlyArray<readonly [string, unknown, string]> = [
    ["no _meta", undefined, "_meta"],
    ["_meta that is no object", [], "_meta"],
    ["an empty _meta", {}, version],
    ["no version", { [capabilities]: {} }, version],
    ["a version that is no string", { ...whole, [version]: 20260728 }, version],
    ["no capabilities", { [version]: "2026-07-28" }, capabilities],
    ["capabilities that are no object", { ...whole, [capabilities]: true }, capabilities],
    ["capabilities that are an array", { ...whole, [capabilities]: [] }, capabilities],
    ["client information that is no object", { ...whole, [Revision.meta.clientInfo]: "me" }, Revision.meta.clientInfo],
    ["a level that is none", { ...whole, [Revision.meta.logLevel]: "loud" }, Revision.meta.logLevel],
    ["a level that is no string", { ...whole, [Revision.meta.logLevel]: 3 }, Revision.meta.logLevel]
  ]
  for (const [name, meta, says] of bad) {
    it(`with ${name} is -32602`, () => {
      const refused = Negotiation.envelope(params(meta))
      if (refused._tag === "Ok") assert.fail("it was accepted")
      assert.strictEqual(refused.code, -32602)
      assert.include(refused.message, says)
      assert.isUndefined(refused.data)
    })
  }

  it("is -32602 without params", () => {
    assert.deepInclude(Negotiation.envelope(undefined), { _tag: "Refused", code: -32602 })
  })

  for (const requested of ["1900-01-01", "2099-01-01", "2025-11-25", "", "draft \u2028"]) {
    it(`of version ${JSON.stringify(requested)} is -32022, whatever else is missing`, () => {
      for (const meta of [{ ...whole, [version]: requested }, { [version]: requested }]) {
        const refused = Negotiation.envelope(params(meta))
        if (refused._tag === "Ok") assert.fail("it was accepted")
        assert.strictEqual(refused.code, -32022)
        assert.deepStrictEqual(T.toValue(refused.data ?? T.literal("null")), {
          supported: ["2026-07-28"],
          requested
        })
      }
    })
  }
})

describe("capabilities that a request lacks", () => {
  const of = (value: unknown) => Capability.read("client", T.fromValue(value), "2026-07-28")

  it("are named as a capabilities object", () => {
    const refused = Negotiation.lacking(of({}), ["client.sampling"], "2026-07-28")
    assert.strictEqual(refused?.code, -32021)
    assert.deepStrictEqual(T.toValue(refused?.data ?? T.literal("null")), { requiredCapabilities: { sampling: {} } })
  })

  it("are all that are needed, with their parents", () => {
    const refused = Negotiation.lacking(
      of({ sampling: {} }),
      ["client.sampling.tools", "client.elicitation.url"],
      "2026-07-28"
    )
    assert.deepStrictEqual(T.toValue(refused?.data ?? T.literal("null")), {
      requiredCapabilities: { sampling: { tools: {} }, elicitation: { url: {} } }
    })
  })

  it("are none where they are declared", () => {
    assert.isUndefined(Negotiation.lacking(of({ sampling: {} }), ["client.sampling"], "2026-07-28"))
    assert.isUndefined(Negotiation.lacking(of({ elicitation: {} }), ["client.elicitation.form"], "2026-07-28"))
    assert.isUndefined(Negotiation.lacking(of({}), [], "2026-07-28"))
  })

  it("may be those of an extension's method", () => {
    const get = Method.find("tasks/get", "request", "host", "2026-07-28")
    const call = Method.find("tools/call", "request", "host", "2026-07-28")
    if (get === undefined || call === undefined) assert.fail("no such method")
    const extensions = { "io.modelcontextprotocol/tasks": {} }
    assert.isUndefined(Negotiation.undeclared(get, of({ extensions }), "2026-07-28"))
    assert.isUndefined(Negotiation.undeclared(call, of({}), "2026-07-28"))
    const refused = Negotiation.undeclared(
      get,
      of({ extensions: { "io.modelcontextprotocol/tasks": true } }),
      "2026-07-28"
    )
    assert.deepStrictEqual(T.toValue(refused?.data ?? T.literal("null")), { requiredCapabilities: { extensions } })
  })
})

describe("an era is told", () => {
  it("by what the client supports, too", () => {
    const reply = {
      _tag: "Result",
      result: T.fromValue({ supportedVersions: ["2025-11-25", "2026-07-28"] })
    } as const
    const asked = { asked: "2026-07-28" } as const
    assert.deepStrictEqual(Negotiation.probe(reply, asked), { _tag: "Modern", revision: "2026-07-28" })
    assert.deepStrictEqual(Negotiation.probe(reply, { ...asked, supported: ["2025-11-25"] }), {
      _tag: "Other",
      versions: ["2025-11-25", "2026-07-28"],
      handshake: "2025-11-25"
    })
  })
})
