import { assert, describe, it } from "@effect/vitest"
import type { Event } from "@sallyport/core/ledger/Entry"
import { layerFile as ledgerFile, Ledger } from "@sallyport/core/stage/Ledger"
import * as PolicyUse from "@sallyport/core/stage/PolicyUse"
import * as Text from "@sallyport/core/wire/Text"
import { Effect } from "effect"
import type { Asked } from "../src/Person.ts"
import { drifted, layerMemory, MemoryFiles, put, read, run, state, write } from "./support.ts"

const config = "/home/ada/config"
const file = `${config}/policy.toml`

const policy = `default = "allow"

[[rules]]
id = "notes-only"
match = { server = "files", name = "read" }
when = '!under(args.path, "/srv/notes")'
then = "deny"
why = "reading is for /srv/notes"

[[rules]]
id = "ask-first"
match = { name = "write" }
then = "ask"

[[limits]]
id = "slowly"
match = { name = "*" }
calls = 60
per = "1 minute"
`

const save = (path: string, text: string) => Effect.map(MemoryFiles, ({ contents }) => contents.set(path, text))

/** A server of which read and write were accepted, and this policy. */
const given = (text: string) => Effect.andThen(put(drifted("files", [read, write], [read, write])), save(file, text))

const policied = (line: ReadonlyArray<string>, around: Parameters<typeof run>[1] = {}) =>
  run(["policy", ...line, "--config", config, "--state", state], around)

const parsed = (text: string): Record<string, unknown> => JSON.parse(text)

const test = <E>(
  name: string,
  body: Effect.Effect<void, E, Effect.Services<ReturnType<typeof policied>> | MemoryFiles>
) => it.effect(name, () => Effect.provide(body, layerMemory))

describe("policy check", () => {
  test(
    "says that all is well",
    Effect.gen(function*() {
      yield* given(policy)
      assert.deepStrictEqual(yield* policied(["check"]), { code: 0, out: "ok: 2 rules, 1 limit", err: "" })
      const { out } = yield* policied(["check", file, "--json"])
      assert.deepInclude(parsed(out), { file, ok: true, rules: 2, limits: 1, problems: [] })
    })
  )

  test(
    "prints every problem with its place, as compilers do, and exits 1",
    Effect.gen(function*() {
      yield* given(`default = "alow"\n\n[[rules]]\nid = "x"\nmatch = { nme = "y" }\nthen = "deny"\n`)
      const { code, out } = yield* policied(["check"])
      assert.strictEqual(code, 1)
      const lines = out.split("\n")
      assert.strictEqual(lines.length, 2)
      assert.match(lines[0] ?? "", /^\/home\/ada\/config\/policy\.toml:1:11: default must be .*did you mean "allow"\?$/)
      assert.match(lines[1] ?? "", /policy\.toml:5:11: rule "x": match: unknown key "nme"; did you mean "name"\?$/)
      const json = parsed((yield* policied(["check", "--json"])).out)
      assert.deepInclude(json, { ok: false, digest: null })
      assert.strictEqual((json["problems"] as ReadonlyArray<unknown>).length, 2)
    })
  )

  test(
    "finds a rule on an argument that nothing accepted has",
    Effect.gen(function*() {
      yield* given(policy.replace("args.path", "args.pth"))
      const { code, out } = yield* policied(["check"])
      assert.strictEqual(code, 1)
      assert.match(out, /when looks at args\.pth, which files\/read does not declare; did you mean "path"\?/)
    })
  )

  test(
    "names a file that is not there",
    Effect.gen(function*() {
      const { code, err } = yield* policied(["check", "/nowhere.toml"])
      assert.strictEqual(code, 1)
      assert.include(err, "/nowhere.toml does not exist")
    })
  )
})

describe("policy explain", () => {
  test(
    "gives the rule that decides, what it looked at, and what would allow the call; exits 30 where it is denied",
    Effect.gen(function*() {
      yield* given(policy)
      const { code, out } = yield* policied(["explain", "files", "read", "--args", `{"path":"/etc/passwd"}`])
      assert.strictEqual(code, 30)
      assert.isAtMost(Math.max(...out.split("\n").map((line) => line.length)), 80)
      assert.include(
        out.replaceAll(/\n {2,}/g, " "),
        `tools/call read of files is denied by the rule "notes-only": reading is for /srv/notes`
      )
      assert.include(out, `args.path is "/etc/passwd"`)
      assert.include(out, `limit "slowly" (line 15): at most 60 calls are let through in 1 minute`)
      assert.include(out, "What would allow it:")
    })
  )

  test(
    "says how to give a call where there is none",
    Effect.gen(function*() {
      yield* given(policy)
      const { code, err } = yield* policied(["explain"])
      assert.strictEqual(code, 1)
      assert.include(err, "server is missing; name is missing; sallyport policy explain --help says how to give one")
    })
  )

  test(
    "exits 0 where the call is allowed or a person is asked",
    Effect.gen(function*() {
      yield* given(policy)
      const allowed = yield* policied(["explain", "files", "read", "--args", `{"path":"/srv/notes/a"}`])
      assert.strictEqual(allowed.code, 0)
      assert.include(allowed.out, "is allowed by the default")
      const asked = yield* policied(["explain", "files", "write"])
      assert.strictEqual(asked.code, 0)
      assert.include(asked.out, `is put to a person by the rule "ask-first"`)
    })
  )

  test(
    "takes the whole call from a file, numbers with all their digits, and prints JSON",
    Effect.gen(function*() {
      yield* given(`default = "deny"

[[rules]]
id = "exact"
match = { name = "read" }
when = "args.amount == 9007199254740993"
arguments = "open"
then = "allow"
`)
      const path = "/home/ada/call.json"
      const ask = (amount: string) =>
        Effect.andThen(
          save(path, `{\n  "server": "files",\n  "name": "read",\n  "arguments": { "amount": ${amount} }\n}\n`),
          policied(["explain", "--call", path, "--json"])
        )
      const exact = yield* ask("9007199254740993")
      assert.strictEqual(exact.code, 0)
      assert.deepInclude(parsed(exact.out), { server: "files", method: "tools/call", name: "read", accepted: true })
      assert.strictEqual((yield* ask("9007199254740992")).code, 30)
    })
  )

  test(
    "says that nobody has accepted it, where that is so",
    Effect.gen(function*() {
      yield* given(policy)
      const { out } = yield* policied(["explain", "files", "delete"])
      assert.include(out, "Nobody has accepted it, so it is held whatever the policy says.")
    })
  )

  for (
    const [what, line, says] of [
      ["no server", ["explain"], /server is missing/],
      ["no name", ["explain", "files"], /name is missing/],
      ["arguments that are no object", ["explain", "files", "read", "--args", "[]"], /--args cannot be read/],
      [
        "arguments that say more than arguments",
        ["explain", "files", "read", "--args", `{},"id":1`],
        /--args cannot be/
      ],
      ["arguments twice", ["explain", "files", "read", "--args", `{"a":1,"a":2}`], /one member name twice/],
      ["a call and its parts", ["explain", "files", "--call", "/x"], /leave out the rest/]
    ] as const
  ) {
    test(
      `refuses ${what}`,
      Effect.gen(function*() {
        yield* given(policy)
        const { code, err } = yield* policied(line)
        assert.strictEqual(code, 1)
        assert.match(err, says)
      })
    )
  }
})

describe("policy test", () => {
  const calls = "/home/ada/calls.toml"
  const table = `[[calls]]
server = "files"
name = "read"
arguments = { path = "/srv/notes/a" }
expect = "allow"

[[calls]]
server = "files"
name = "read"
arguments = { path = "/etc/passwd" }
expect = "deny"
rule = "notes-only"
`

  test(
    "says that every call is decided as expected",
    Effect.gen(function*() {
      yield* given(policy)
      yield* save(calls, table)
      assert.deepStrictEqual(yield* policied(["test", calls]), { code: 0, out: "ok: 2 calls", err: "" })
    })
  )

  test(
    "prints those that are not, and exits 1",
    Effect.gen(function*() {
      yield* given(policy.replace("/srv/notes\")", "/etc\")"))
      yield* save(calls, table)
      const { code, out } = yield* policied(["test", calls])
      assert.strictEqual(code, 1)
      assert.match(
        out,
        /^NO +EXPECTED +DECIDED +CALL\n1 +allow +deny by notes-only +tools\/call read of files\n2 +deny by notes-only +allow by the default/
      )
      assert.include(out, "2 calls of 2 are decided otherwise")
      const json = parsed((yield* policied(["test", calls, "--json"])).out)
      assert.deepInclude((json["calls"] as ReadonlyArray<object>)[0], { expect: "allow", action: "deny", holds: false })
    })
  )

  test(
    "expects the rule too, where one is named",
    Effect.gen(function*() {
      yield* given(policy)
      yield* save(calls, table.replace("notes-only", "other"))
      assert.strictEqual((yield* policied(["test", calls])).code, 1)
    })
  )

  test(
    "reads JSON as well",
    Effect.gen(function*() {
      yield* given(policy)
      yield* save("/home/ada/calls.json", `{"calls":[{"server":"files","name":"write","expect":"ask"}]}`)
      assert.strictEqual((yield* policied(["test", "/home/ada/calls.json"])).code, 0)
    })
  )

  for (
    const [what, text, says] of [
      ["no calls", "x = 1\n", /must hold calls, a list, and nothing else; "?x"? is unknown/],
      ["another expectation", table.replace(`"allow"`, `"maybe"`), /call 1 cannot be read: expect must be/],
      ["a member that is unknown", table.replace("rule =", "by ="), /call 2 cannot be read: "?by"? is unknown/],
      ["no TOML", "[[calls", /calls\.toml:/]
    ] as const
  ) {
    test(
      `refuses a table with ${what}`,
      Effect.gen(function*() {
        yield* given(policy)
        yield* save(calls, text)
        const { code, err } = yield* policied(["test", calls])
        assert.strictEqual(code, 1)
        assert.match(err, says)
      })
    )
  }
})

describe("an acceptance", () => {
  const renamed = { ...read, inputSchema: { type: "object", properties: { file: { type: "string" } } } }
  const accept = ["pins", "accept", "--all", "--unseen", "files", "--state", state]
  const changed = Effect.gen(function*() {
    yield* put(drifted("files", [read, write], [renamed, write]))
    yield* save(file, policy)
  })
  const used = PolicyUse.save(`${state}/policies`, "files", { file, digest: "aa" })

  test(
    "that takes the argument of a rule away is refused until the rule is changed",
    Effect.gen(function*() {
      yield* changed
      yield* used
      const refused = yield* run(accept)
      assert.strictEqual(refused.code, 1)
      assert.match(
        refused.err,
        /nothing was accepted: a rule of the policy would lose its argument; change the rule first:\n.*policy\.toml:\d+:\d+: rule "notes-only": when looks at args\.path/
      )
      yield* save(file, policy.replace("args.path", "args.file"))
      assert.strictEqual((yield* run(accept)).code, 0)
    })
  )

  test(
    "is not hindered by a policy that the server is not under",
    Effect.gen(function*() {
      yield* changed
      assert.strictEqual((yield* run(accept)).code, 0)
    })
  )

  test(
    "is not hindered by what was wrong before",
    Effect.gen(function*() {
      yield* changed
      yield* used
      yield* save(file, policy.replace("args.path", "args.other"))
      assert.strictEqual((yield* run(accept)).code, 0)
    })
  )
})

describe("policy replay", () => {
  const call = (name: string, more: Partial<Extract<Event, { type: "call" }>> = {}): Event => ({
    type: "call",
    from: "host",
    client: "host",
    server: "files",
    method: "tools/call",
    name,
    ...more
  })
  const record = (events: ReadonlyArray<Event>) =>
    Effect.gen(function*() {
      const ledger = yield* Ledger
      for (const event of events) ledger.append(event)
      yield* ledger.commit
    }).pipe(Effect.provide(ledgerFile({ directory: `${state}/ledger`, sync: false })), Effect.orDie)

  test(
    "prints what would be decided otherwise, and says what cannot be told for want of arguments",
    Effect.gen(function*() {
      yield* given(policy)
      yield* record([
        call("list"),
        call("write"),
        call("read"),
        { ...call("write"), type: "refuse", reason: "denied", rule: "old" } as Event,
        { ...call("new"), type: "refuse", reason: "held-new" } as Event
      ])
      const { code, out } = yield* policied(["replay"])
      assert.strictEqual(code, 0)
      assert.match(out, /allow +ask by ask-first: tools\/call write of\s+files/)
      assert.match(out, /deny by old +ask by ask-first: tools\/call write of\s+files/)
      assert.match(out, /allow +tools\/call read of files: arguments are not in the\s+ledger/)
      assert.include(out, "4 decisions: 2 would differ, 1 undecidable.")
      const json = parsed((yield* policied(["replay", "--json"])).out)
      assert.deepInclude(json, { decisions: 4, unreadable: 0 })
    })
  )

  test(
    "judges the arguments where the ledger has them in full",
    Effect.gen(function*() {
      yield* given(policy)
      const pins = parsed((yield* MemoryFiles).contents.get(`${state}/pins/files/1.json`) ?? "{}")
      const pin = (pins["pins"] as ReadonlyArray<{ readonly name: string; readonly digest: string }>)
        .find(({ name }) => name === "read")?.digest
      const params = (path: string) => Text.fromValue({ name: "read", arguments: { path } })
      yield* record([
        call("read", { text: params("/srv/notes/a"), pin }),
        call("read", { text: params("/etc/passwd"), pin }),
        call("read", { text: params("/etc/passwd"), pin: "gone" })
      ])
      const { out } = yield* policied(["replay"])
      assert.include(out, "3 decisions: 1 would differ, 1 undecidable.")
      assert.match(out, /the\s+definition\s+that\s+it\s+was\s+judged\s+by\s+is\s+not\s+kept/)
    })
  )

  test(
    "knows that a person was asked",
    Effect.gen(function*() {
      yield* given(policy)
      yield* record([
        {
          type: "approval-asked",
          id: "abc",
          client: "host",
          server: "files",
          method: "tools/call",
          name: "write",
          digest: "0".repeat(64),
          rule: "ask-first"
        },
        call("write", { rule: "ask-first" })
      ])
      assert.include((yield* policied(["replay"])).out, "1 decision: 0 would differ, 0 undecidable.")
    })
  )
})

describe("policy forget", () => {
  const directory = `${state}/policies`
  const line = ["policy", "forget", "files", "--state", state]
  const used = PolicyUse.save(directory, "files", { file, digest: "aa" })

  test(
    "asks a person, records it, and forgets",
    Effect.gen(function*() {
      yield* used
      const asked: Array<Asked> = []
      const { code, out } = yield* run(line, { person: { answer: "forget", asked } })
      assert.strictEqual(code, 0)
      assert.include(out, "Forgotten: files may be started without a policy.")
      assert.include(asked[0]?.shown, file)
      assert.isUndefined(yield* PolicyUse.load(directory, "files"))
      const { out: listed } = yield* run(["ledger", "list", "--json", "--type", "policy", "--state", state])
      assert.include(listed, "a person had it forgotten")
    })
  )

  for (
    const [what, around, says] of [
      ["another answer", { person: { answer: "yes" } }, /the answer was not forget/],
      ["nobody at a terminal", {}, /there is none here/],
      [
        "F1: a caller below a relay",
        {
          person: { answer: "forget" },
          parents: [{ name: "node", args: ["node", "/usr/bin/sallyport", "relay", "--", "x"] }]
        },
        /below a relay/
      ]
    ] as const
  ) {
    test(
      `forgets nothing for ${what}`,
      Effect.gen(function*() {
        yield* used
        const { code, err } = yield* run(line, around)
        assert.strictEqual(code, 1)
        assert.match(err, says)
        assert.deepStrictEqual(yield* PolicyUse.load(directory, "files"), { file, digest: "aa" })
      })
    )
  }

  test(
    "says that there is nothing to forget",
    Effect.gen(function*() {
      const { code, err } = yield* run(line, { person: { answer: "forget" } })
      assert.strictEqual(code, 1)
      assert.match(err, /files was under no policy/)
    })
  )
})
