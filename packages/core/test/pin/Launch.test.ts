import { assert, describe, it } from "@effect/vitest"
import * as Launch from "@sallyport/core/pin/Launch"

const command: Launch.Launched = {
  command: "npx",
  args: ["-y", "server"],
  env: [{ name: "TOKEN", value: "hunter2" }, { name: "NODE_OPTIONS", value: "--require ./a.js" }, { name: "LANGUAGE" }],
  cwd: "/srv",
  sandbox: "none"
}
const found: Launch.Inspected = {
  executable: { path: "/usr/bin/npx", digest: "e1" },
  script: { path: "/srv/server.js", digest: "s1" }
}
const pin = (changes: Partial<Launch.Launched> = {}, inspected: Launch.Inspected = found, key = "key") =>
  Launch.launch({ ...command, ...changes }, inspected, key)

const says = (changes: Partial<Launch.Launched>, inspected: Launch.Inspected = found) =>
  Launch.compareLaunch(pin(), pin(changes, inspected)).map((difference) => difference.says)

describe("launch", () => {
  it("is the same for the same", () => {
    assert.deepStrictEqual(pin(), pin())
    assert.deepStrictEqual(Launch.compareLaunch(pin(), pin()), [])
  })

  it("does not depend on the order of variables; of one given twice the last counts", () => {
    assert.strictEqual(pin({ env: command.env.toReversed() }).digest, pin().digest)
    assert.strictEqual(pin({ env: [{ name: "TOKEN", value: "old" }, ...command.env] }).digest, pin().digest)
  })

  it("has repairs in whatever order, and is the same without any as before there were any", () => {
    const repaired = pin({ repair: ["surrogates", "null-error"] })
    assert.strictEqual(repaired.digest, pin({ repair: ["null-error", "surrogates", "null-error"] }).digest)
    assert.deepStrictEqual(repaired.fields.filter(({ name }) => name === "repair"), [
      { name: "repair", value: "null-error surrogates" }
    ])
    assert.notStrictEqual(repaired.digest, pin({ repair: ["surrogates"] }).digest)
    assert.deepStrictEqual(pin({ repair: [] }), pin())
    const address = { url: "https://example.com/mcp", headers: [], privately: false }
    const [plain, other] = [
      Launch.launch(address, {}, ""),
      Launch.launch({ ...address, repair: ["surrogates"] }, {}, "")
    ]
    assert.deepStrictEqual(Launch.compareLaunch(plain, other).map(({ field }) => field), ["repair"])
  })

  it("holds no value of the environment, and none that can be guessed without the key", () => {
    assert.notInclude(JSON.stringify(pin()), "hunter2")
    assert.notInclude(JSON.stringify(pin()), "--require")
    const valueOf = (self: Launch.LaunchPin) => self.fields.find(({ name }) => name === "env TOKEN")?.value
    assert.notStrictEqual(valueOf(pin()), valueOf(pin({}, found, "another key")))
    const twins = pin({ env: [{ name: "A", value: "v" }, { name: "B", value: "v" }] })
    assert.lengthOf(new Set(twins.fields.filter(({ name }) => name.startsWith("env ")).map(({ value }) => value)), 2)
  })

  it("flags the variables that decide which code is loaded", () => {
    assert.deepStrictEqual(pin().loaders, ["NODE_OPTIONS"])
    const loaders = [
      "PATH",
      "HOME",
      "LD_PRELOAD",
      "DYLD_INSERT_LIBRARIES",
      "NODE_PATH",
      "npm_config_registry",
      "PYTHONPATH",
      "PERL5LIB",
      "RUBYOPT",
      "JAVA_TOOL_OPTIONS",
      "BASH_ENV",
      "ENV",
      "GIT_SSH_COMMAND"
    ]
    for (const name of loaders) assert.isTrue(Launch.isLoader(name), name)
    for (const name of ["TOKEN", "MY_PATH", "ENVIRONMENT", "LDAP", "JAVA_HOME2"]) {
      assert.isFalse(Launch.isLoader(name), name)
    }
  })

  it("frames its parts", () => {
    assert.notStrictEqual(pin({ args: ["a b"] }).digest, pin({ args: ["a", "b"] }).digest)
    assert.notStrictEqual(pin({ env: [{ name: "A" }], cwd: "x" }).digest, pin({ env: [], cwd: "x" }).digest)
  })
})

describe("compareLaunch", () => {
  it("says what differs, without any value", () => {
    assert.deepStrictEqual(says({ command: "node" }), ["the command is another"])
    assert.deepStrictEqual(says({ args: ["-y", "evil"] }), ["the arguments differ"])
    assert.deepStrictEqual(says({ cwd: "/tmp" }), ["the working folder differs"])
    assert.deepStrictEqual(says({ sandbox: "pid" }), ["the sandbox differs"])
    assert.deepStrictEqual(says({ repair: ["surrogates"] }), ["what is repaired in its lines differs"])
    assert.deepStrictEqual(says({}, { ...found, script: { path: "/srv/server.js", digest: "s2" } }), [
      "the script has other content"
    ])
    assert.deepStrictEqual(says({}, { ...found, executable: { path: "/tmp/npx", digest: "e1" } }), [
      "the command resolves to another file"
    ])
    assert.deepStrictEqual(says({}, { executable: { path: "/usr/bin/npx" } }), [
      "the program file has other content",
      "the script is another file",
      "the script has other content"
    ])
    const other = command.env.map((entry) => entry.name === "TOKEN" ? { name: "TOKEN", value: "other" } : entry)
    assert.deepStrictEqual(says({ env: other }), ["the environment variable TOKEN has another value"])
    assert.deepStrictEqual(says({ env: [] }), [
      "the environment variable LANGUAGE is no longer set",
      "the environment variable NODE_OPTIONS is no longer set",
      "the environment variable TOKEN is no longer set"
    ])
    assert.deepStrictEqual(says({ env: [...command.env, { name: "LD_PRELOAD", value: "./x.so" }] }), [
      "the environment variable LD_PRELOAD was added (a literal value); it decides which code the program loads"
    ])
    assert.deepStrictEqual(says({ env: [...command.env, { name: "TOKEN" }] }), [
      "the environment variable TOKEN was a literal value and is now taken from Sallyport's own environment"
    ])
  })

  it("gives the texts that a person may see beside it", () => {
    const [difference] = Launch.compareLaunch(pin(), pin({ args: ["x"] }))
    assert.deepStrictEqual([difference?.before, difference?.now], ["[\"-y\",\"server\"]", "[\"x\"]"])
    const [hidden] = Launch.compareLaunch(pin(), pin({ env: [...command.env, { name: "TOKEN", value: "x" }] }))
    assert.deepStrictEqual([hidden?.before, hidden?.now], [undefined, undefined])
  })

  it("never takes launches of different digests for the same", () => {
    assert.lengthOf(Launch.compareLaunch(pin(), { ...pin(), digest: "other" }), 1)
  })
})
