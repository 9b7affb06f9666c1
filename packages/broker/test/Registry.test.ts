import { assert, describe, it } from "@effect/vitest"
import * as Registry from "@sallyport/broker/Registry"
import * as Files from "@sallyport/core/store/Files"
import * as Reader from "@sallyport/core/toml/Reader"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

const server = (...lines: ReadonlyArray<string>) => `[servers.files]\n${lines.join("\n")}\n`

/** What is wrong with a registry, as lines. */
const wrong = (text: string): ReadonlyArray<string> => {
  const parsed = Registry.parse(text, "s.toml")
  return Result.isFailure(parsed) ? parsed.failure.map(Reader.format) : ["nothing"]
}

const broken: ReadonlyArray<readonly [what: string, text: string, lines: ReadonlyArray<string>]> = [
  ["not TOML", `[servers.files\n`, [`s.toml:2:1: this is not TOML: unterminated table-key`]],
  ["an array of servers", `[[servers]]\nname = "files"\n`, [`s.toml:1:3: servers must be a table; this is a list`]],
  ["an unknown key at the top", `[server.files]\ncommand = "x"\n`, [
    `s.toml:1:2: unknown key "server"; did you mean "servers"?`
  ]],
  ["an unknown key of a server", `[servers.files]\ncommand = "mcp-files"\ncomand = "x"\n`, [
    `s.toml:3:1: server "files": unknown key "comand"; did you mean "command"?`
  ]],
  ["a key like no other", `[servers.files]\ncommand = "mcp-files"\nxyzzy = 1\n`, [
    `s.toml:3:1: server "files": unknown key "xyzzy"; the keys are command, args, env, cwd, run_as, launcher, sandbox, url, headers, private, first_sight, methods, timeout, shared`
  ]],
  ["a server twice", `[servers.files]\ncommand = "mcp-files"\n[servers.files]\ncommand = "mcp-files"\n`, [
    `s.toml:3:10: this is not TOML: this key is there twice`
  ]],
  ["a server that is no table", `servers.files = "x"\n`, [
    `s.toml:1:9: server "files": it must be a table; this is a string`
  ]],
  ["a name with a capital", `[servers.Files]\ncommand = "x"\n`, [
    `s.toml:1:10: "Files" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["F18: a name with an underscore", `[servers.a_b]\ncommand = "x"\n`, [
    `s.toml:1:10: "a_b" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["a name that is a path", `[servers."../x"]\ncommand = "x"\n`, [
    `s.toml:1:10: "../x" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["a name that does not show", `[servers."a\\u200b"]\ncommand = "x"\n`, [
    `s.toml:1:10: "a\\u200b" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`
  ]],
  ["neither command nor url", `[servers.files]\nargs = []\n`, [
    `s.toml:1:10: server "files": command or url is missing; write what is started, or where it runs`
  ]],
  ["both command and url", `[servers.files]\ncommand = "mcp-files"\nurl = "https://example.com"\n`, [
    `s.toml:2:1: server "files": command and url exclude each other`
  ]],
  ["an empty command", `[servers.files]\ncommand = ""\n`, [`s.toml:2:11: server "files": command is empty`]],
  ["a command that is a list", `[servers.files]\ncommand = ["x"]\n`, [
    `s.toml:2:11: server "files": command must be a string; this is a list`
  ]],
  ["a relative command", `[servers.files]\ncommand = "./x"\n`, [
    `s.toml:2:11: server "files": command must be an absolute path, or a name without a slash; this is "./x"`
  ]],
  ["a NUL in a command", `[servers.files]\ncommand = "x\\u0000"\n`, [
    `s.toml:2:11: server "files": command has a NUL character in it`
  ]],
  ["args that are a string", `[servers.files]\ncommand = "mcp-files"\nargs = "-v"\n`, [
    `s.toml:3:8: server "files": args must be a list of strings; this is a string`
  ]],
  ["an argument that is a number", `[servers.files]\ncommand = "mcp-files"\nargs = ["-v", 1]\n`, [
    `s.toml:3:15: server "files": args must be a list of strings; this item is a number`
  ]],
  ["a NUL in an argument", `[servers.files]\ncommand = "mcp-files"\nargs = ["\\u0000"]\n`, [
    `s.toml:3:9: server "files": args: this item has a NUL character in it`
  ]],
  ["env that is a list", `[servers.files]\ncommand = "mcp-files"\nenv = ["A=1"]\n`, [
    `s.toml:3:7: server "files": env must be a table; this is a list`
  ]],
  ["an env name with an equals sign", `[servers.files]\ncommand = "mcp-files"\nenv = { "A=B" = "1" }\n`, [
    `s.toml:3:9: server "files": env: "A=B" cannot be the name of a variable`
  ]],
  ["an env value that is a number", `[servers.files]\ncommand = "mcp-files"\nenv = { A = 1 }\n`, [
    `s.toml:3:13: server "files": env.A must be a string, { file = PATH }, { env = NAME } or { command = [...] }; this is a number`
  ]],
  ["a reference to nothing", `[servers.files]\ncommand = "mcp-files"\nenv = { A = {} }\n`, [
    `s.toml:3:13: server "files": env.A: it must have exactly one of file, env and command`
  ]],
  ["a reference to two things", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { file = "/x", env = "B" } }\n`, [
    `s.toml:3:13: server "files": env.A: it must have exactly one of file, env and command`
  ]],
  ["an unknown reference", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { fil = "/x" } }\n`, [
    `s.toml:3:15: server "files": env.A: unknown key "fil"; did you mean "file"?`
  ]],
  ["a reference to a relative file", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { file = "x" } }\n`, [
    `s.toml:3:22: server "files": env.A: file must be an absolute path; this is "x"`
  ]],
  ["a reference to no variable", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { env = "B C" } }\n`, [
    `s.toml:3:13: server "files": env.A: env must be the name of a variable; this is "B C"`
  ]],
  ["a reference to a command line", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { command = "cat x" } }\n`, [
    `s.toml:3:25: server "files": env.A: command must be a list of strings; this is a string`
  ]],
  ["a reference to an empty command", `[servers.files]\ncommand = "mcp-files"\nenv = { A = { command = [] } }\n`, [
    `s.toml:3:25: server "files": env.A: command names no program`
  ]],
  ["a relative folder", `[servers.files]\ncommand = "mcp-files"\ncwd = "x"\n`, [
    `s.toml:3:7: server "files": cwd must be an absolute path; this is "x"`
  ]],
  ["a user that is a number", `[servers.files]\ncommand = "mcp-files"\nrun_as = 1000\n`, [
    `s.toml:3:10: server "files": run_as must be a string; this is a number`
  ]],
  ["a user with blanks", `[servers.files]\ncommand = "mcp-files"\nrun_as = "a b"\n`, [
    `s.toml:3:10: server "files": run_as must be the name of a user; this is "a b"`
  ]],
  ["a launcher that is a string", `[servers.files]\ncommand = "mcp-files"\nlauncher = "bwrap"\n`, [
    `s.toml:3:12: server "files": launcher must be a list of strings; this is a string`
  ]],
  ["a user and a launcher", `[servers.files]\ncommand = "mcp-files"\nrun_as = "a"\nlauncher = ["bwrap"]\n`, [
    `s.toml:4:1: server "files": run_as and launcher exclude each other; let the launcher change the user`
  ]],
  ["an unknown sandbox", `[servers.files]\ncommand = "mcp-files"\nsandbox = "pids"\n`, [
    `s.toml:3:11: server "files": sandbox must be "none" or "pid"; this is "pids", did you mean "pid"?`
  ]],
  ["headers of a command", `[servers.files]\ncommand = "mcp-files"\nheaders = { A = "1" }\n`, [
    `s.toml:3:1: server "files": headers is for a server with a url`
  ]],
  ["a sandbox of a url", `[servers.files]\nurl = "https://example.com/mcp"\nsandbox = "pid"\n`, [
    `s.toml:3:1: server "files": sandbox is for a server with a command`
  ]],
  ["F28: http to another machine", `[servers.files]\nurl = "http://example.com"\n`, [
    `s.toml:2:7: server "files": the url cannot be used: what is sent over http can be read on the way; use https`
  ]],
  ["F28: another scheme", `[servers.files]\nurl = "file:///etc/passwd"\n`, [
    `s.toml:2:7: server "files": the url cannot be used: it begins with file:`
  ]],
  ["F28: a password in a url", `[servers.files]\nurl = "https://a:b@example.com"\n`, [
    `s.toml:2:7: server "files": the url cannot be used: it has a name or password in it; give a header instead`
  ]],
  ["a fragment in a url", `[servers.files]\nurl = "https://example.com/#x"\n`, [
    `s.toml:2:7: server "files": the url cannot be used: it has a fragment`
  ]],
  ["no url", `[servers.files]\nurl = "example"\n`, [
    `s.toml:2:7: server "files": the url cannot be used: it is no URL`
  ]],
  [
    "F28: a credential as it is",
    `[servers.files]\nurl = "https://example.com/mcp"\nheaders = { Authorization = "Bearer x" }\n`,
    [`s.toml:3:13: server "files": headers: "Authorization" is a credential; say where it comes from, as in { file = "/run/secrets/name" }`]
  ],
  [
    "a header of the protocol",
    `[servers.files]\nurl = "https://example.com/mcp"\nheaders = { Mcp-Session-Id = "x" }\n`,
    [`s.toml:3:13: server "files": headers: "Mcp-Session-Id" is set by the protocol`]
  ],
  ["a header twice", `[servers.files]\nurl = "https://example.com/mcp"\nheaders = { X-A = "x", x-a = "y" }\n`, [
    `s.toml:3:24: server "files": headers: "x-a" is there twice, the case of its letters aside`
  ]],
  ["a header with a line feed", `[servers.files]\nurl = "https://example.com/mcp"\nheaders = { X-A = "x\\ny" }\n`, [
    `s.toml:3:13: server "files": headers: the value of "X-A" has characters that no header can have`
  ]],
  ["a header name with blanks", `[servers.files]\nurl = "https://example.com/mcp"\nheaders = { "X A" = "x" }\n`, [
    `s.toml:3:13: server "files": headers: "X A" cannot be the name of a header`
  ]],
  ["private that is a string", `[servers.files]\nurl = "https://example.com/mcp"\nprivate = "yes"\n`, [
    `s.toml:3:11: server "files": private must be true or false; this is a string`
  ]],
  ["an unknown first sight", `[servers.files]\ncommand = "mcp-files"\nfirst_sight = "trusted"\n`, [
    `s.toml:3:15: server "files": first_sight must be "hold" or "trust"; this is "trusted", did you mean "trust"?`
  ]],
  ["a method that is none", `[servers.files]\ncommand = "mcp-files"\nmethods = ["tools/cal"]\n`, [
    `s.toml:3:11: server "files": methods: no revision has a method "tools/cal"; did you mean "tools/call"?`
  ]],
  ["no methods", `[servers.files]\ncommand = "mcp-files"\nmethods = []\n`, [
    `s.toml:3:11: server "files": methods is an empty list; leave it out to allow all methods`
  ]],
  ["a timeout without unit", `[servers.files]\ncommand = "mcp-files"\ntimeout = 30\n`, [
    `s.toml:3:11: server "files": timeout must be a number and a unit (millis, seconds, minutes, hours, days), as in "5 minutes"; this is a number`
  ]],
  ["a timeout of an unknown unit", `[servers.files]\ncommand = "mcp-files"\ntimeout = "30 s"\n`, [
    `s.toml:3:11: server "files": timeout must be a number and a unit (millis, seconds, minutes, hours, days), as in "5 minutes"; this is "30 s"`
  ]],
  ["a timeout of days", `[servers.files]\ncommand = "mcp-files"\ntimeout = "2 days"\n`, [
    `s.toml:3:11: server "files": timeout is longer than a day`
  ]],
  ["shared that is a number", `[servers.files]\ncommand = "mcp-files"\nshared = 1\n`, [
    `s.toml:3:10: server "files": shared must be true or false; this is a number`
  ]],
  [
    "everything at once",
    `[servers.Files]\nurl = "http://example.com"\ntimout = "1 day"\n[servers.notes]\nargs = [1]\n`,
    [
      `s.toml:1:10: "Files" cannot be the name of a server; use a small letter, then at most 31 small letters, digits and hyphens`,
      `s.toml:2:7: server "Files": the url cannot be used: what is sent over http can be read on the way; use https`,
      `s.toml:3:1: server "Files": unknown key "timout"; did you mean "timeout"?`,
      `s.toml:4:10: server "notes": command or url is missing; write what is started, or where it runs`,
      `s.toml:5:9: server "notes": args must be a list of strings; this item is a number`
    ]
  ]
]

const parsed = (text: string) => Result.getOrElse(Registry.parse(text, "s.toml"), (): Registry.Servers => new Map())

describe("Registry.parse", () => {
  for (const [what, text, lines] of broken) it(`refuses ${what}`, () => assert.deepStrictEqual(wrong(text), lines))

  it("reads a server that is started, with every key", () => {
    const found = parsed(server(
      `command = "/usr/local/bin/mcp-files"`,
      `args = ["--root", "/srv/notes"]`,
      `env = { TOKEN = { file = "/run/secrets/files" }, HOME = { env = "FILES_HOME" }, LANG = "C.UTF-8" }`,
      `cwd = "/srv"`,
      `run_as = "mcp-files"`,
      `sandbox = "pid"`,
      `first_sight = "trust"`,
      `methods = ["tools/list", "tools/call"]`,
      `timeout = "10 seconds"`,
      `shared = true`
    )).get("files")
    assert.deepStrictEqual(found?.target, {
      _tag: "Command",
      command: "/usr/local/bin/mcp-files",
      args: ["--root", "/srv/notes"],
      env: new Map<string, Registry.Value>([
        ["TOKEN", { _tag: "File", path: "/run/secrets/files" }],
        ["HOME", { _tag: "Variable", name: "FILES_HOME" }],
        ["LANG", { _tag: "Literal", value: "C.UTF-8" }]
      ]),
      cwd: "/srv",
      runAs: "mcp-files",
      launcher: undefined,
      sandbox: "pid"
    })
    assert.strictEqual(found?.firstSight, "trust")
    assert.deepStrictEqual(found?.methods, ["tools/list", "tools/call"])
    assert.isTrue(found !== undefined && Duration.Equivalence(found.timeout, Duration.seconds(10)))
    assert.strictEqual(found?.shared, true)
  })

  it("reads a server at an address, with every key", () => {
    assert.deepStrictEqual(
      parsed(server(
        `url = "https://mcp.example.com/v1"`,
        `headers = { Authorization = { command = ["/usr/bin/pass", "show", "mcp"] }, X-Team = "notes" }`,
        `private = true`
      )).get("files")?.target,
      {
        _tag: "Address",
        url: "https://mcp.example.com/v1",
        headers: new Map<string, Registry.Value>([
          ["Authorization", { _tag: "Command", command: ["/usr/bin/pass", "show", "mcp"] }],
          ["X-Team", { _tag: "Literal", value: "notes" }]
        ]),
        privately: true
      }
    )
  })

  it("holds what a server offers, for 30 seconds a call and for one client alone, where the file does not say", () => {
    const found = parsed(server(`command = "mcp-files"`)).get("files")
    assert.strictEqual(found?.firstSight, "hold")
    assert.strictEqual(found?.shared, false)
    assert.isUndefined(found?.methods)
    assert.isTrue(found !== undefined && Duration.Equivalence(found.timeout, Duration.seconds(30)))
  })

  it("F11: a string is a literal, also where it looks like a reference", () => {
    const target = parsed(server(`command = "x"`, `env = { A = "file:/etc/shadow" }`)).get("files")?.target
    assert.deepStrictEqual(
      target?._tag === "Command" ? target.env.get("A") : undefined,
      { _tag: "Literal", value: "file:/etc/shadow" }
    )
  })

  it("F28: http on this machine may be", () => {
    for (const host of ["localhost:8080", "127.0.0.1", "[::1]:8080"]) {
      assert.strictEqual(parsed(server(`url = "http://${host}/mcp"`)).size, 1, host)
    }
  })

  it("has no servers where the file has none", () => {
    assert.deepStrictEqual(Registry.parse("# none yet\n", "s.toml"), Result.succeed(new Map()))
  })
})

const file = "/etc/sallyport/servers.toml"
const layer = Registry.layerFile(file).pipe(Layer.provideMerge(Files.layerMemory))
const names = Effect.gen(function*() {
  const registry = yield* Registry.Registry
  return [...(yield* registry.servers).keys()]
})

describe("Registry.layerFile", () => {
  it.effect("reaches nothing where there is no registry, and an edit takes effect at once", () =>
    Effect.gen(function*() {
      const { contents } = yield* Files.MemoryFiles
      assert.deepStrictEqual(yield* names, [])
      contents.set(file, server(`command = "x"`))
      assert.deepStrictEqual(yield* names, ["files"])
      contents.set(file, `[servers.notes]\ncommand = "x"\n`)
      assert.deepStrictEqual(yield* names, ["notes"])
      contents.delete(file)
      assert.deepStrictEqual(yield* names, [])
    }).pipe(Effect.provide(layer)))

  it.effect("one fault refuses every server, and is said with file and line", () =>
    Effect.gen(function*() {
      const { contents } = yield* Files.MemoryFiles
      contents.set(file, server(`command = "x"`) + `[servers.notes]\ncomand = "x"\n`)
      const error = yield* Effect.flip(names)
      assert.strictEqual(
        error.message,
        `${file}:3:10: server "notes": command or url is missing; write what is started, or where it runs\n` +
          `${file}:4:1: server "notes": unknown key "comand"; did you mean "command"?`
      )
    }).pipe(Effect.provide(layer)))

  it.effect("F2: a file or a folder that is not to be trusted refuses every server, from then on and until it is mended", () =>
    Effect.gen(function*() {
      const { contents, untrusted } = yield* Files.MemoryFiles
      contents.set(file, server(`command = "x"`))
      assert.deepStrictEqual(yield* names, ["files"])
      for (const path of [file, "/etc/sallyport"]) {
        untrusted.set(path, "can be written by others")
        assert.strictEqual((yield* Effect.flip(names)).message, `${path} can be written by others`)
        untrusted.delete(path)
      }
      assert.deepStrictEqual(yield* names, ["files"])
    }).pipe(Effect.provide(layer)))

  it.effect("a file that cannot be read is not a file that is missing", () =>
    Effect.gen(function*() {
      const { contents, fault } = yield* Files.MemoryFiles
      contents.set(file, server(`command = "x"`))
      fault("read", 1, "fail")
      assert.match((yield* Effect.flip(names)).message, /a fault/)
    }).pipe(Effect.provide(layer)))
})
