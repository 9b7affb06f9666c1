import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Ancestry from "../src/Ancestry.ts"

const process = (line: string, name = ""): Ancestry.Process => ({ name, args: line.split(" ") })

describe("isGuard", () => {
  const guards = [
    "node /opt/app/packages/cli/bin/sallyport.mjs relay --name files -- node server.js",
    "/usr/bin/node --enable-source-maps /home/ada/.npm/bin/sallyport relay --name files",
    "/bin/sh /home/ada/node_modules/.bin/sallyport relay --name x",
    "npm exec sallyport relay --name x",
    "sallyport relay",
    "node /opt/app/packages/cli/dist/relay.cjs relay",
    "sallyport broker"
  ]
  const others = [
    "node /opt/app/packages/cli/bin/sallyport.mjs pins accept relay",
    "sallyport pins list",
    "bash -c sallyport",
    "node server.js relay",
    "node -e relay.mjs",
    "vim relay.mjs",
    ""
  ]
  for (const line of guards) it(`yes: ${line}`, () => assert.isTrue(Ancestry.isGuard(process(line))))
  for (const line of others) it(`no: ${line}`, () => assert.isFalse(Ancestry.isGuard(process(line))))
})

describe("agentOf", () => {
  const agents: ReadonlyArray<readonly [string, string]> = [
    ["claude", "claude"],
    ["/home/ada/.local/bin/claude --resume", "claude"],
    ["node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "claude"],
    ["node /usr/lib/node_modules/@openai/codex/bin/codex.js", "codex"],
    ["codex-x86_64-unknown-linux-musl exec", "codex"],
    ["/usr/share/cursor/cursor --type=zygote", "cursor"],
    ["/Applications/Cursor.app/Contents/MacOS/Cursor", "cursor"],
    ["node /usr/lib/node_modules/@google/gemini-cli/dist/index.js", "gemini"],
    ["copilot", "copilot"],
    ["/opt/windsurf/windsurf", "windsurf"],
    ["/usr/libexec/zed-editor", "zed"],
    ["goosed agent", "goosed"],
    ["python3.12 /home/ada/.local/bin/aider", "aider"],
    ["opencode", "opencode"]
  ]
  for (const [line, agent] of agents) it(line, () => assert.strictEqual(Ancestry.agentOf(process(line)), agent))
  it("by what the system calls it", () =>
    assert.strictEqual(Ancestry.agentOf({ name: "claude", args: ["node"] }), "claude"))
  for (
    const line of ["bash", "-zsh", "tmux", "node server.js", "/home/ada/cursor/build.sh", "zedtool", "precursor", ""]
  ) {
    it(`none: ${line}`, () => assert.isUndefined(Ancestry.agentOf(process(line))))
  }
})

describe("refusal", () => {
  const shell = process("-bash")
  const relay = process("node /x/sallyport.mjs relay --name files")
  const agent = process("claude")
  it("below nothing of that kind, nothing is refused", () => {
    for (const asks of [true, false]) assert.isUndefined(Ancestry.refusal([shell, process("sshd")], asks))
    assert.isUndefined(Ancestry.refusal([], true))
  })
  it("below a relay everything is refused, however far above it is", () => {
    for (const asks of [true, false]) {
      assert.match(Ancestry.refusal([shell, process("node server.js"), relay], asks) ?? "", /below a relay/)
    }
  })
  it("below an agent only what asks is refused", () => {
    assert.match(Ancestry.refusal([shell, agent], true) ?? "", /below claude/)
    assert.isUndefined(Ancestry.refusal([shell, agent], false))
  })
  it("an agent's relay is a relay", () => {
    assert.match(Ancestry.refusal([shell, relay, agent], false) ?? "", /below a relay/)
  })
})

describe("many parents", () => {
  const shells = (count: number) => Array.from({ length: count }, () => process("sh"))
  it("do not hide a relay", () => {
    assert.match(Ancestry.refusal([...shells(100), process("sallyport relay")], false) ?? "", /below a relay/)
    assert.isUndefined(Ancestry.refusal(shells(100), false))
  })
  it("are refused where they cannot all be looked at", () => {
    assert.match(Ancestry.refusal(shells(4096), false) ?? "", /a relay may be among them/)
  })
})

describe("describe", () => {
  it("tells program, script and verb, and no other argument", () => {
    assert.strictEqual(Ancestry.describe(process("node /x/cli.js --token abc")), "node /x/cli.js")
    assert.strictEqual(Ancestry.describe(process("sh -c TOKEN=abc")), "sh")
    assert.strictEqual(Ancestry.describe(process("curl -H secret")), "curl")
    assert.strictEqual(
      Ancestry.describe(process("node /x/sallyport.mjs relay --env TOKEN=abc")),
      "node /x/sallyport.mjs relay"
    )
    assert.strictEqual(Ancestry.describe({ name: "kthreadd", args: [] }), "kthreadd")
    assert.strictEqual(Ancestry.describe(process("ev\u001b[31mil")), "ev\\u{1b}[31mil")
  })
})

describe("what the system says", () => {
  it("/proc/PID/stat with a name full of blanks and parentheses", () => {
    assert.deepStrictEqual(Ancestry.parseStat("42 (a) b (c)) S 7 42 42 0"), { name: "a) b (c)", parent: 7 })
    assert.isUndefined(Ancestry.parseStat(""))
  })
  it("ps", () => {
    const found = Ancestry.parsePs(
      "    1     0 /sbin/launchd\n  812     1 /Applications/Zed.app/Contents/MacOS/zed -x\n\n"
    )
    assert.deepStrictEqual([...found.keys()], [1, 812])
    assert.deepStrictEqual(found.get(812), {
      parent: 1,
      process: { name: "zed", args: ["/Applications/Zed.app/Contents/MacOS/zed", "-x"] }
    })
  })
  it.effect("there is at least the process that runs this test", () =>
    Effect.gen(function*() {
      const { parents } = yield* Ancestry.Ancestry
      assert.isAbove((yield* parents).length, 0)
    }).pipe(Effect.provide(Ancestry.layerNode)))
})
