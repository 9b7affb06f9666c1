import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Capability from "../../src/protocol/Capability.ts"
import * as Feature from "../../src/protocol/Feature.ts"
import * as Method from "../../src/protocol/Method.ts"
import * as Revision from "../../src/protocol/Revision.ts"
import * as T from "../../src/wire/Text.ts"

const row = (feature: Feature.Feature): Feature.Row => Feature.table[feature]

const some = fc.subarray([...Capability.paths]).map((paths): ReadonlySet<Capability.Path> => new Set(paths))
const any = fc.record({
  client: some,
  server: some,
  revision: fc.constantFrom(...Revision.all),
  transport: fc.constantFrom("stdio" as const, "http" as const)
}).map(({ client, revision, server, transport }) => Feature.resolve(client, server, revision, transport))

describe("features", () => {
  it("are one for each capability, of its side and in its revisions", () => {
    for (const path of Capability.paths) {
      const standing = Feature.features.filter((feature) => row(feature).capability === path)
      assert.strictEqual(standing.length, 1, path)
      for (const feature of standing) {
        const { first, last, side } = row(feature)
        assert.isTrue(path.startsWith(`${side}.`))
        for (const revision of Revision.all) {
          const has = revision >= first && (last === undefined || revision <= last)
          assert.strictEqual(has, Capability.isDefined(path, revision), `${path} in ${revision}`)
        }
      }
    }
  })

  it("of both sides need nothing declared", () => {
    for (const feature of Feature.features) {
      if (row(feature).side === "both") assert.isUndefined(row(feature).capability)
    }
  })

  it("are the same as the rules of the revisions, where both say something", () => {
    for (const revision of Revision.all) {
      const { open } = Feature.resolve(new Set(), new Set(), revision, "http")
      const { batch, era, http, resultType, serverAsks } = Revision.table[revision]
      assert.strictEqual(open.has("batching"), batch)
      assert.strictEqual(open.has("handshake"), era === "legacy")
      assert.strictEqual(open.has("request-metadata"), era === "modern")
      assert.strictEqual(open.has("result-type"), resultType)
      assert.strictEqual(open.has("server-requests"), serverAsks)
      assert.strictEqual(open.has("http-sse"), http.transport === "sse")
      assert.strictEqual(open.has("http-session"), http.session)
      assert.strictEqual(open.has("http-resume"), http.resume)
      assert.strictEqual(open.has("http-routing-headers"), http.routing)
      assert.strictEqual(open.has("http-version-header"), http.version !== "never")
    }
  })
})

describe("a profile", () => {
  it("advertises exactly what is open", () => {
    fc.assert(fc.property(any, (profile) => {
      for (const side of ["client", "server"] as const) {
        const advertised = Feature.advertised(profile, side)
        for (const path of Capability.paths) {
          if (!path.startsWith(`${side}.`)) continue
          const feature = Feature.of(path)
          assert.strictEqual(advertised.has(path), feature !== undefined && profile.open.has(feature), path)
        }
      }
    }))
  })

  it("lets pass exactly the methods of what is advertised", () => {
    fc.assert(fc.property(any, (profile) => {
      const advertised = new Set([
        ...Feature.advertised(profile, "client"),
        ...Feature.advertised(profile, "server")
      ])
      for (const [name, { kind }] of Method.table) {
        for (const from of ["host", "server"] as const) {
          const method = Method.find(name, kind, from, profile.revision)
          const open = method !== undefined && (method.needs === undefined || advertised.has(method.needs))
          assert.strictEqual(Feature.allows(profile, name, kind, from), open, name)
        }
        const embedded = Method.embedded(name, profile.revision)
        const open = embedded?.needs !== undefined && advertised.has(embedded.needs)
        assert.strictEqual(Feature.allowsEmbedded(profile, name), open, name)
      }
    }))
  })

  it("is read by the other side as what is open", () => {
    fc.assert(fc.property(any, (profile) => {
      for (const side of ["client", "server"] as const) {
        const read = Capability.read(side, Feature.capabilities(profile, side), profile.revision)
        const advertised = new Set(Feature.advertised(profile, side))
        // An elicitation of no kind is one by form.
        const bare = advertised.has("client.elicitation") && !advertised.has("client.elicitation.url")
        if (bare && Capability.isDefined("client.elicitation.form", profile.revision)) {
          advertised.add("client.elicitation.form")
        }
        assert.deepStrictEqual(new Set(read), advertised)
      }
    }))
  })

  it("opens nothing below what was not declared", () => {
    const profile = Feature.resolve(new Set(), new Set(["server.tools.listChanged"]), "2025-11-25", "stdio")
    assert.isFalse(profile.open.has("tools-list-changed"))
    assert.deepStrictEqual(Feature.capabilities(profile, "server"), T.object([]))
  })
})
