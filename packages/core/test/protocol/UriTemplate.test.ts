import { assert, describe, it } from "@effect/vitest"
import { covers, matcher, variables } from "../../src/protocol/UriTemplate.ts"

describe("UriTemplate", () => {
  for (
    const [template, uri, values] of [
      ["test://a", "test://a", {}],
      ["test://a", "test://b", undefined],
      ["test://{id}", "test://7", { id: "7" }],
      ["test://{id}", "test://", { id: "" }],
      ["test://{id}/data", "test://7/data", { id: "7" }],
      ["test://{id}/data", "test://7/8/data", undefined],
      ["test://{id}/data", "test://7/data/more", undefined],
      ["test://{id}", "test://a%2Fb%20c", { id: "a/b c" }],
      ["test://{id}", "test://%ff", undefined],
      ["test://{a}-{b}", "test://x-y", { a: "x", b: "y" }],
      ["test://{a,b}", "test://x,y", { a: "x", b: "y" }],
      ["file:///{+path}", "file:///a/b/c.txt", { path: "a/b/c.txt" }],
      ["file:///{path}", "file:///a/b/c.txt", undefined],
      ["test://x{#part}", "test://x#y", { part: "y" }],
      ["test://x{/a,b}", "test://x/1/2", { a: "1", b: "2" }],
      ["test://x{.ext}", "test://x.json", { ext: "json" }],
      ["test://x{;v}", "test://x;v=1", { v: "1" }],
      ["test://x{?q,page}", "test://x?q=a&page=2", { q: "a", page: "2" }],
      ["test://x{?q,page}", "test://x?q=a", { q: "a" }],
      ["test://x{?q,page}", "test://x", {}],
      ["test://x?fixed=1{&q}", "test://x?fixed=1&q=2", { q: "2" }],
      ["test://(.*)[a]{id}", "test://(.*)[a]7", { id: "7" }],
      ["test://{name}.{ext}", "test://a.b.c", { name: "a.b", ext: "c" }],
      ["test://{+a}-{b}", "test://x-y/z-w", { a: "x-y/z", b: "w" }],
      ["test://{a}", "other://7", undefined]
    ] as const
  ) {
    it(`${template} ${values === undefined ? "does not match" : "matches"} ${uri}`, () => {
      const found = matcher(template)(uri)
      assert.deepStrictEqual(found, values)
    })
  }

  it("takes any name for a variable", () => {
    assert.deepStrictEqual(Object.entries(matcher("test://{__proto__}")("test://7") ?? {}), [["__proto__", "7"]])
  })

  it("knows its variables", () => {
    assert.deepStrictEqual(variables("x://{a}/{+b}{?c,d*}{/e:3}"), ["a", "b", "c", "d", "e"])
  })

  it("takes no long time over a long address", () => {
    const match = matcher("x://{+a}-{+b}-{+c}/end")
    // Tried out by going back, the first alone took minutes.
    assert.isUndefined(match(`x://${"-".repeat(8000)}`))
    assert.isUndefined(match(`x://${"a".repeat(1_000_000)}`))
  })
})

describe("F23: what an accepted template covers", () => {
  for (
    const [template, uri, covered] of [
      ["note://by/{id}", "note://by/7", true],
      ["note://by/{id}", "note://by/a%20b", true],
      ["note://by/{id}", "note://by/", false],
      ["note://by/{id}", "note://by/7/8", false],
      ["note://by/{id}", "note://by/7%2F8", false],
      ["note://by/{id}", "note://by/7%252f8", false],
      ["note://by/{id}", "note://by/7%5C8", false],
      ["note://by/{id}", "note://by/..", false],
      ["note://by/{id}", "note://by/%2e%2E", false],
      ["note://by/{id}", "note://by/a%00b", false],
      ["note://by/{id}", "other://by/7", false],
      ["file:///srv/{+path}", "file:///srv/a/b.txt", true],
      ["file:///srv/{+path}", "file:///srv/../etc/passwd", false],
      ["file:///srv/{+path}", "file:///srv/a/%2e%2e/%2e%2e/etc", false],
      ["file:///srv/{+path}", "file:///srv/a/%252e%252e/etc", false],
      ["file:///srv/{+path}", "file:///srv/a%0ab", false],
      ["file:///srv/{+path}", "file:///srv/", false],
      ["note://by/{id}{?q}", "note://by/7", true],
      ["note://by/{id}{?q}", "note://by/7?q=x", true],
      ["note://by/{id}{?q}", "note://by/7?other=x", false]
    ] as const
  ) {
    it(`${template} ${covered ? "covers" : "does not cover"} ${uri}`, () => {
      assert.strictEqual(covers(template)(uri), covered)
    })
  }
})
