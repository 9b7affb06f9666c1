import { assert, describe, it } from "@effect/vitest"
import * as Launch from "@sallyport/core/pin/Launch"
import * as Pins from "@sallyport/core/pin/Pins"
import * as Portable from "@sallyport/core/pin/Portable"
import { Result } from "effect"
import { accepted, add, at, later, launch, listing, rawListing, readNote, seen, text } from "./support.ts"

const launched = (over: Partial<Launch.Launched> = {}, inspected: Launch.Inspected = {}, key = "key") =>
  Launch.launch(
    {
      command: "node",
      args: ["server.js"],
      env: [{ name: "TOKEN", value: "s3cret" }, { name: "LANG" }],
      sandbox: "none",
      ...over
    },
    inspected,
    key
  )

const file = (...all: ReadonlyArray<Pins.Pins>): string => JSON.stringify(Portable.share(all), undefined, 2)
const read = (json: string) => Result.getOrThrow(Portable.read(json))
const why = (json: string) => Result.getOrThrow(Result.flip(Portable.read(json)))

describe("F32: who decides what runs", () => {
  const cases: ReadonlyArray<readonly [command: string, args: ReadonlyArray<string>, by: string | undefined]> = [
    ["npx", ["-y", "pkg@1.2.3"], "npm"],
    ["/usr/bin/npx", ["pkg"], "npm"],
    ["C:\\nodejs\\npx.CMD", ["pkg"], "npm"],
    ["npm", ["exec", "pkg"], "npm"],
    ["npm", ["start"], undefined],
    ["pnpm", ["dlx", "pkg"], "pnpm"],
    ["bunx", ["pkg"], "bun"],
    ["uvx", ["pkg"], "uv"],
    ["uv", ["run", "server.py"], "uv"],
    ["pipx", ["run", "pkg"], "pipx"],
    ["docker", ["run", "-i", "--rm", "mcp/server"], "docker"],
    ["docker", ["run", "-i", `mcp/server@sha256:${"a".repeat(64)}`], undefined],
    ["docker", ["ps"], undefined],
    ["node", ["server.js"], undefined],
    ["/srv/npx-like", [], undefined]
  ]
  for (const [command, args, by] of cases) {
    it(`${command} ${args.join(" ")}`, () => assert.strictEqual(Launch.decidedBy(launched({ command, args })), by))
  }
})

describe("the portable form of a launch", () => {
  it("is the same on another machine", () => {
    const here = launched({ cwd: "/home/ada" }, { executable: { path: "/usr/bin/node", digest: "a" } })
    const there = launched({ cwd: "/home/bob" }, { executable: { path: "/opt/node", digest: "b" } }, "another key")
    assert.notStrictEqual(here.digest, there.digest)
    assert.deepStrictEqual(Launch.portable(here), Launch.portable(there))
    assert.deepStrictEqual(Launch.portable(Launch.portable(here)), Launch.portable(here))
  })

  it("holds no value, no path and no digest", () => {
    const form = JSON.stringify(
      Launch.portable(launched({ cwd: "/home/ada" }, { script: { path: "/x/server.js", digest: "d1" } }))
    )
    for (const secret of ["s3cret", "/home/ada", "/x/", "d1"]) assert.notInclude(form, secret)
  })

  it("differs in command, arguments, variables and sandbox", () => {
    const form = Launch.portable(launched()).digest
    const others = [
      launched({ command: "deno" }),
      launched({ args: ["server.js", "--all"] }),
      launched({ env: [{ name: "TOKEN" }, { name: "LANG" }] }),
      launched({ env: [{ name: "TOKEN", value: "s" }, { name: "LANG" }, { name: "NODE_OPTIONS", value: "x" }] }),
      launched({ sandbox: "pid" })
    ]
    for (const other of others) assert.notStrictEqual(Launch.portable(other).digest, form)
    assert.deepStrictEqual(Launch.portable(others[3] ?? launch).loaders, ["NODE_OPTIONS"])
  })
})

describe("a file of pins", () => {
  const odd =
    "{\"name\":\"odd\",\"inputSchema\":{\"type\":\"object\",\"maximum\":12345678901234567890},\"__proto__\":1.0}"

  it("comes back as it was, whatever the order of acceptance", () => {
    const one = accepted(Pins.together([listing(readNote, add), Pins.listing("prompt", [text({ name: "p" })])]))
    const other = accepted(Pins.together([Pins.listing("prompt", [text({ name: "p" })]), listing(add, readNote)]))
    assert.strictEqual(file(one), file(other))
    const [server] = read(file(one))
    assert.isDefined(server)
    if (server === undefined) return
    const pins = Portable.pinsOf(server, later)
    assert.deepStrictEqual(
      pins.pins.map(({ digest }) => digest).toSorted(),
      one.pins.map(({ digest }) => digest).toSorted()
    )
    assert.strictEqual(file(pins), file(one))
  })

  it("keeps numbers and odd names exactly", () => {
    const pins = accepted(rawListing(odd))
    const [server] = read(file(pins))
    assert.strictEqual(server?.items[0]?.text, odd)
    assert.strictEqual(server?.items[0]?.digest, pins.pins[0]?.digest)
  })

  it("has nothing that was not accepted", () => {
    const pins = Pins.see(accepted(listing(readNote)), seen(listing(readNote, add)))
    assert.deepStrictEqual(read(file(pins))[0]?.items.map(({ name }) => name), ["read_note"])
  })

  it("is refused whole where anything in it is wrong", () => {
    const good = file(accepted(listing(readNote)))
    const edited = (from: string | RegExp, to: string) => good.replace(from, to)
    assert.match(why("{"), /no file of pins/)
    assert.match(why("{}"), /no file of pins/)
    assert.match(why(edited("\"format\": 1", "\"format\": 2")), /no file of pins/)
    assert.match(why(edited("\"format\": 1", "\"format\": 1, \"more\": 1")), /no file of pins/)
    assert.match(why(edited("Reads one note.", "Reads all notes.")), /is not what its digest was taken of/)
    assert.match(why(edited("\"name\": \"read_note\"", "\"name\": \"write\"")), /is not what its digest was taken of/)
    assert.match(why(edited("\"name\": \"files\"", "\"name\": \"../files\"")), /cannot be the name of a server/)
    assert.match(why(edited("\\\"inputSchema\\\"", "\\\"InputSchema\\\"")), /is no valid definition/)
    const twice = Portable.share([accepted(listing(readNote)), accepted(listing(add))])
    assert.match(why(JSON.stringify(twice)), /a server is in it twice/)
  })
})

describe("an import", () => {
  const shared = (pins: Pins.Pins): Portable.Server => read(file(pins))[0] ?? { name: "none", items: [] }

  it("expects the launch where none is accepted, and keeps one that fits", () => {
    const server = shared(accepted(listing(readNote)))
    const { fresh, pins } = Portable.merge(Pins.empty("files"), server, later)
    assert.deepStrictEqual(fresh.map(({ how, name }) => [name, how]), [["read_note", "import"]])
    assert.isUndefined(pins.launch)
    assert.strictEqual(pins.expects?.digest, Launch.portable(launch).digest)
    assert.strictEqual(Pins.settleLaunch(pins, launch).launch, launch)
    const again = Portable.merge(accepted(listing(readNote)), server, later)
    assert.deepStrictEqual(again.fresh, [])
    assert.strictEqual(again.pins.launch, launch)
    const other = { ...accepted(listing(readNote)), launch: launched({ args: ["other.js"] }) }
    assert.isUndefined(Portable.merge(other, server, later).pins.launch)
  })

  it("replaces what has another content, leaves what is accepted besides, and takes nothing that was rejected", () => {
    const server = shared(accepted(listing(readNote, add)))
    const here = accepted(listing({ ...readNote, title: "t" }, { ...add, name: "own" }))
    const { digest } = Pins.define("tool", text(add))
    const { left, pins } = Portable.merge(
      { ...here, rejected: [{ kind: "tool", name: "add", digest, at }] },
      server,
      later
    )
    assert.strictEqual(left, 1)
    assert.deepStrictEqual(pins.pins.map(({ how, name }) => [name, how]), [
      ["own", "first-sight"],
      ["read_note", "import"]
    ])
  })

  it("is not trusted at first sight afterwards", () => {
    const pins = Portable.pinsOf(shared(accepted(listing(readNote))), later)
    assert.deepStrictEqual(
      Pins.heldOf(Pins.trustFirstSight(pins, seen(listing(readNote, add)))).verdicts.map(({ name }) => name),
      ["add"]
    )
  })
})
