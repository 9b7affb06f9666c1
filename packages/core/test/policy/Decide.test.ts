import { assert, describe, it } from "@effect/vitest"
import * as Decide from "@sallyport/core/policy/Decide"
import * as T from "@sallyport/core/wire/Text"
import * as fc from "fast-check"
import { call, compiled, policy, raw, tool } from "./support.ts"

const notes = `default = "allow"
[[rules]]
id = "notes-only"
match = { server = "files", method = "tools/call", name = ["write_*", "edit_*"] }
when = '!under(args.path, "/srv/notes")'
then = "deny"
why = "writing is for /srv/notes"
`

const actionOf = (text: string, subject = call("read")) => Decide.decide(compiled(text), subject).action

describe("Decide", () => {
  it("F7: denies for every spelling of an argument that is not plainly allowed", () => {
    const table: ReadonlyArray<readonly [args: string | undefined, action: string, fault: string | undefined]> = [
      [`{"path":"/srv/notes/a"}`, "allow", undefined],
      [`{"path":"/srv/notes"}`, "allow", undefined],
      [`{"path":"/etc/passwd"}`, "deny", undefined],
      [`{"path":"/srv/notesx"}`, "deny", undefined],
      [undefined, "deny", "args.path is missing"],
      ["{}", "deny", "args.path is missing"],
      ["null", "deny", "the arguments must be object"],
      [`["/srv/notes/a"]`, "deny", "the arguments must be object"],
      [`{"path":null}`, "deny", "the argument /path must be string"],
      [`{"path":["/srv/notes/a"]}`, "deny", "the argument /path must be string"],
      [`{"path":{"path":"/srv/notes/a"}}`, "deny", "the argument /path must be string"],
      [
        `{"path":"/srv/notes/a","file_path":"/etc/passwd"}`,
        "deny",
        "the argument /file_path is not declared by the schema"
      ],
      [`{"path":"/srv/notes/a","Path":"/etc/passwd"}`, "deny", "the argument /Path is not declared by the schema"],
      [`{"path":"/srv/notes/a","\u017fx":1}`, "deny", "the argument /\u017fx is not declared by the schema"],
      [`{"path":"/srv/notes/../../etc/passwd"}`, "deny", `args.path: the path has a segment ".."`],
      [`{"path":"\\u002fsrv/notes/a"}`, "allow", undefined]
    ]
    const self = compiled(notes)
    for (const [args, action, fault] of table) {
      const decision = Decide.decide(self, call("write_file", args))
      assert.deepStrictEqual([decision.action, decision.fault], [action, fault], args)
      assert.strictEqual(decision.rule, action === "deny" ? "notes-only" : undefined)
    }
    assert.strictEqual(Decide.decide(self, call("read_file", `{"path":"/etc"}`)).action, "allow")
    assert.strictEqual(
      Decide.decide(self, call("write_file", `{"path":"/etc"}`)).why,
      "writing is for /srv/notes"
    )
  })

  it("F7: a fault counts as a match for deny and ask, and as none for allow", () => {
    const rule = (action: string, fallback: string) =>
      Decide.decide(
        compiled(`default = "${fallback}"
[[rules]]
id = "r"
match = { name = "*" }
when = 'args.path == "/a"'
then = "${action}"
`),
        call("read", "{}")
      )
    assert.deepStrictEqual([rule("deny", "allow").action, rule("deny", "allow").fault], [
      "deny",
      "args.path is missing"
    ])
    assert.deepStrictEqual([rule("ask", "allow").action, rule("ask", "allow").fault], ["ask", "args.path is missing"])
    assert.deepStrictEqual([rule("allow", "deny").action, rule("allow", "deny").fault], [
      "deny",
      "args.path is missing"
    ])
  })

  it("F7: arguments = \"open\" passes what is not declared, and the condition still must have an answer", () => {
    const self = compiled(notes.replace("when =", "arguments = \"open\"\nwhen ="))
    assert.strictEqual(Decide.decide(self, call("write_file", `{"path":"/srv/notes/a","more":1}`)).action, "allow")
    assert.strictEqual(Decide.decide(self, call("write_file", `{"path":["/srv/notes/a"]}`)).action, "deny")
    assert.strictEqual(Decide.decide(self, call("write_file", "null")).action, "deny")
  })

  it("F7: without a definition, or with one that cannot be checked, arguments are refused where a rule looks at them", () => {
    const self = compiled(notes)
    const args = `{"path":"/srv/notes/a"}`
    assert.strictEqual(Decide.decide(self, call("write_file", args, { definition: undefined })).action, "deny")
    assert.strictEqual(
      Decide.decide(self, call("write_file", args, { definition: tool("write_file", { path: { $ref: "https://x" } }) }))
        .action,
      "deny"
    )
    assert.strictEqual(
      Decide.decide(self, call("write_file", args, { definition: raw(`{"name":"write_file"}`) })).action,
      "deny"
    )
  })

  it("checks the arguments of prompts against what the prompt declares", () => {
    const self = compiled(`default = "allow"
[[rules]]
id = "r"
match = { method = "prompts/get" }
when = 'args.topic == "secrets"'
then = "deny"
`)
    const prompt = (args: string) =>
      Decide.decide(
        self,
        call("ask", args, {
          method: "prompts/get",
          definition: T.fromValue({ name: "ask", arguments: [{ name: "topic" }] })
        })
      ).action
    assert.strictEqual(prompt(`{"topic":"news"}`), "allow")
    assert.strictEqual(prompt(`{"topic":"secrets"}`), "deny")
    assert.strictEqual(prompt(`{"topic":"news","Topic":"secrets"}`), "deny")
  })

  it("decides by deny over ask over allow, whatever the order of the rules", () => {
    const rule = fc.record({
      action: fc.constantFrom("allow", "ask", "deny"),
      name: fc.constantFrom("read", "r*", "*", "write", "{read,write}"),
      when: fc.constantFrom(undefined, "true", "false", "args.nope == 1", `args.path == "/a"`),
      via: fc.constantFrom("any", "terminal"),
      open: fc.constant(true),
      observe: fc.boolean()
    })
    type Rule = typeof rule extends fc.Arbitrary<infer A> ? A : never
    const text = (rules: ReadonlyArray<Rule>, fallback: string) =>
      `default = "${fallback}"\n` +
      rules.map(({ action, name, observe, via, when }, index) =>
        `[[rules]]\nid = "r${index}"\nmatch = { name = "${name}" }\nthen = "${action}"\nobserve = ${observe}\n` +
        (action === "ask" ? `via = "${via}"\n` : "") +
        (when === undefined ? "" : `when = '${when}'\narguments = "open"\n`)
      ).join("")
    const strength = { allow: 0, ask: 1, deny: 2 }
    const subject = call("read", `{"path":"/a"}`)
    const decide = (rules: ReadonlyArray<Rule>, fallback: string) =>
      Decide.decide(compiled(text(rules, fallback)), subject)
    const fallback = fc.constantFrom("allow", "ask", "deny")

    fc.assert(fc.property(fc.array(rule, { maxLength: 6 }), fallback, (rules, fallback) => {
      const one = decide(rules, fallback)
      const other = decide(rules.toReversed(), fallback)
      assert.deepStrictEqual([one.action, one.via], [other.action, other.via])
      assert.strictEqual(one.observed.length, other.observed.length)
      // Adding a deny never widens.
      const more = decide([...rules, {
        action: "deny",
        name: "r*",
        when: "args.nope == 1",
        via: "any",
        open: true,
        observe: false
      }], fallback)
      assert.strictEqual(more.action, "deny")
      // Adding a rule that observes changes nothing but what is observed.
      const watched = decide([...rules, {
        action: "deny",
        name: "*",
        when: undefined,
        via: "any",
        open: true,
        observe: true
      }], fallback)
      assert.deepStrictEqual({ ...watched, observed: [] }, { ...one, observed: [] })
      // A fault never allows: taking all allowing rules with faults away changes nothing.
      const without = decide(
        rules.filter((rule) => rule.action !== "allow" || rule.when !== "args.nope == 1"),
        fallback
      )
      assert.strictEqual(without.action, one.action)
      // The strongest of what matches decides.
      const matching = rules.filter((rule) =>
        !rule.observe && ["read", "r*", "*", "{read,write}"].includes(rule.name) && rule.when !== "false" &&
        !(rule.when === "args.nope == 1" && rule.action === "allow")
      )
      const strongest = Math.max(-1, ...matching.map((rule) => strength[rule.action]))
      assert.strictEqual(one.action, ["allow", "ask", "deny"][strongest] ?? fallback)
    }))
  })

  it("asks at the terminal where any rule that asks demands it, or the file does", () => {
    const asks = `default = "allow"
[[rules]]
id = "a"
match = { name = "*" }
then = "ask"
[[rules]]
id = "b"
match = { name = "read" }
then = "ask"
via = "terminal"
`
    const decision = Decide.decide(compiled(asks), call("read"))
    assert.deepStrictEqual([decision.action, decision.via, decision.rule], ["ask", "terminal", "b"])
    // Not said anywhere: a tool that declares to be destructive goes to the terminal then.
    assert.isUndefined(Decide.decide(compiled(asks), call("list")).via)
    assert.strictEqual(Decide.decide(compiled(`${asks}[approvals]\nvia = "any"\n`), call("list")).via, "any")
    assert.strictEqual(Decide.decide(compiled(`${asks}[approvals]\nvia = "terminal"\n`), call("list")).via, "terminal")
  })

  it("reports what observing rules would do, and lets them decide nothing", () => {
    const self = compiled(`default = "allow"
[[rules]]
id = "would-deny"
match = { name = "read" }
when = 'args.path == "/a"'
then = "deny"
observe = true
[[rules]]
id = "faulty"
match = { name = "read" }
when = 'args.nope == 1'
then = "ask"
observe = true
`)
    const decision = Decide.decide(self, call("read", `{"path":"/a"}`))
    assert.deepStrictEqual([decision.action, decision.observed], ["allow", [
      { rule: "would-deny", action: "deny" },
      { rule: "faulty", action: "ask" }
    ]])
  })

  it("can decide about every method, and about what servers ask", () => {
    const self = compiled(`default = "deny"
[[rules]]
id = "read"
match = { method = "resources/read", name = "file:///srv/*" }
then = "allow"
[[rules]]
id = "no-roots"
match = { method = "roots/list" }
then = "deny"
[[rules]]
id = "small"
match = { method = "sampling/createMessage" }
when = 'params.maxTokens <= 100'
then = "allow"
[[rules]]
id = "tail"
match = { method = "resources/*" }
when = 'uri.endsWith(".key")'
then = "deny"
`)
    const of = (
      method: string,
      name: string | undefined,
      params: string | undefined,
      from: "host" | "server" = "host"
    ) =>
      Decide.decide(self, {
        client: "c",
        server: "s",
        from,
        method,
        name,
        params: params === undefined ? undefined : raw(params),
        pin: undefined,
        definition: undefined
      })
    assert.strictEqual(of("resources/read", "file:///srv/a", "{}").action, "allow")
    assert.strictEqual(of("resources/read", "file:///srv/a.key", "{}").rule, "tail")
    assert.strictEqual(of("resources/read", "file:///etc/a", "{}").action, "deny")
    assert.strictEqual(of("roots/list", undefined, undefined, "server").rule, "no-roots")
    assert.strictEqual(of("sampling/createMessage", undefined, `{"maxTokens":100}`, "server").action, "allow")
    assert.strictEqual(of("sampling/createMessage", undefined, `{"maxTokens":101}`, "server").action, "deny")
    assert.strictEqual(of("sampling/createMessage", undefined, `{}`, "server").action, "deny")
    assert.strictEqual(of("elicitation/create", undefined, `{}`, "server").action, "deny")
  })

  it("lists no tool that is always refused", () => {
    const self = compiled(`default = "allow"
[[rules]]
id = "never"
match = { name = "delete_*" }
then = "deny"
[[rules]]
id = "sometimes"
match = { name = "write" }
when = "args.path == \\"/a\\""
then = "deny"
[[rules]]
id = "watched"
match = { name = "read" }
then = "deny"
observe = true
`)
    assert.isFalse(Decide.shows(self, call("delete_all")))
    assert.isTrue(Decide.shows(self, call("write")))
    assert.isTrue(Decide.shows(self, call("read")))
    const denying = compiled(`default = "deny"
[[rules]]
id = "some"
match = { name = "read" }
when = 'args.path == "/a"'
then = "allow"
`)
    assert.isTrue(Decide.shows(denying, call("read")))
    assert.isFalse(Decide.shows(denying, call("write")))
  })

  it("F26: client is what the operator configured", () => {
    const self = compiled(`default = "deny"
[[rules]]
id = "mine"
match = { client = "claude" }
when = 'call.client == "claude"'
then = "allow"
`)
    const spoofed = call("read", "{}", {
      client: "other",
      params: raw(`{"name":"read","_meta":{"clientInfo":{"name":"claude"}}}`)
    })
    assert.strictEqual(Decide.decide(self, spoofed).action, "deny")
    assert.strictEqual(Decide.decide(self, call("read")).action, "allow")
  })

  it("F9: many rules over one hostile call share one budget, and running out of it denies", () => {
    const rules = Array.from(
      { length: 200 },
      (_, i) =>
        `[[rules]]\nid = "r${i}"\nmatch = { name = "read" }\nwhen = 'args.paths.exists(x, args.paths.exists(y, x == y + "${i}"))'\nthen = "deny"\n`
    )
    const self = compiled(`default = "allow"\n${rules.join("")}`)
    const hostile = call("read", `{"paths":[${Array.from({ length: 3_000 }, (_, i) => `"x${i}y"`).join(",")}]}`)
    const decision = Decide.decide(self, hostile)
    assert.deepStrictEqual([decision.action, decision.fault], ["deny", "it takes more steps than a condition may"])
  })

  it("gives the same decision for the same call again, and keeps nothing of one call for another", () => {
    const self = compiled(notes)
    const good = call("write_file", `{"path":"/srv/notes/a"}`)
    const bad = call("write_file", `{"path":"/etc"}`)
    for (let i = 0; i < 3; i++) {
      assert.strictEqual(Decide.decide(self, good).action, "allow")
      assert.strictEqual(Decide.decide(self, bad).action, "deny")
    }
  })

  it("keeps nothing of one call for another, whatever characters the host puts into a method or name", () => {
    const part = fc.string({ unit: fc.constantFrom("a", "=", "\n", " ", "1"), maxLength: 4 })
    const subject = fc.record({ method: part, name: fc.option(part, { nil: undefined }), client: part, server: part })
    const self = compiled(`default = "allow"
[[rules]]
id = "r"
match = { method = "*a", name = "a*" }
then = "deny"
`)
    fc.assert(fc.property(fc.array(subject, { minLength: 2, maxLength: 20 }), (subjects) => {
      for (const one of subjects) {
        const denied = one.method.endsWith("a") && one.name?.startsWith("a") === true
        assert.strictEqual(Decide.decide(self, call("x", "{}", one)).action, denied ? "deny" : "allow")
      }
    }))
  })

  it("finds the same rules by their names as by looking at all", () => {
    const pattern = fc.constantFrom("read", "write", "r*", "*", "{read,list}", "files", "web", "[rw]*")
    const match = fc.record({ name: pattern, server: pattern, client: fc.constantFrom("claude", "*", "c*", "x") }, {
      requiredKeys: []
    })
      .filter((match) => Object.keys(match).length > 0)
    fc.assert(
      fc.property(fc.array(match, { maxLength: 8 }), fc.constantFrom("read", "write", "list"), (matches, name) => {
        const denies = (match: object) =>
          `default = "allow"\n[[rules]]\nid = "r"\nmatch = { ${
            Object.entries(match).map(([k, v]) => `${k} = "${v}"`).join(", ")
          } }\nthen = "deny"\n`
        const one = `default = "allow"\n` +
          matches.map((match, i) => denies(match).split("\n").slice(1).join("\n").replace(`"r"`, `"r${i}"`)).join("")
        const each = matches.map((match) => actionOf(denies(match), call(name)))
        assert.strictEqual(actionOf(one, call(name)), each.includes("deny") ? "deny" : "allow")
      })
    )
  })
})

describe("Decide.explain", () => {
  it("names the rule, the part of the condition that holds, and what would allow the call", () => {
    const self = compiled(notes.replace("'!under", "'args.amount > 5 && !under"))
    const explained = Decide.explain(self, call("write_file", `{"amount":9,"path":"/etc"}`))
    assert.strictEqual(explained.decision.rule, "notes-only")
    assert.deepStrictEqual(explained.rules.map(({ outcome, parts, values }) => ({ outcome, parts, values })), [{
      outcome: "matches",
      parts: [{ source: "args.amount > 5", value: true }, { source: `!under(args.path, "/srv/notes")`, value: true }],
      values: [{ path: "args.amount", value: "9" }, { path: "args.path", value: `"/etc"` }]
    }])
    assert.deepStrictEqual(explained.nearest, [
      `rule "notes-only" (policy.toml:2) would deny it no longer if one of these were false: args.amount > 5; ` +
      `!under(args.path, "/srv/notes")`
    ])
  })

  it("says which argument was refused, which condition has no answer, and which rule is missing", () => {
    const self = compiled(notes)
    assert.deepStrictEqual(Decide.explain(self, call("write_file", `{"path":"/srv/notes/a","x":1}`)).nearest, [
      `other arguments: the argument /x is not declared by the schema; or arguments = "open" in rule "notes-only" ` +
      `(policy.toml:2), which then also passes what the tool does not declare`
    ])
    assert.deepStrictEqual(Decide.explain(self, call("write_file", `{}`)).nearest, [
      `rule "notes-only" (policy.toml:2) has no answer, which counts as a match: args.path is missing`
    ])
    const closed = compiled(`default = "deny"
[[rules]]
id = "small"
match = { name = "pay" }
when = 'args.amount < 10'
then = "allow"
`)
    assert.deepStrictEqual(Decide.explain(closed, call("pay", `{"amount":10}`)).nearest, [
      `rule "small" (policy.toml:2) would allow it if this were true: args.amount < 10`,
      `a rule that allows it:\n[[rules]]\nid = "allow-files-pay"\n` +
      `match = { server = "files", method = "tools/call", name = "pay" }\nthen = "allow"`
    ])
    assert.deepStrictEqual(Decide.explain(closed, call("pay", `{"amount":1}`)).nearest, [])
  })

  it("suggests a rule that allows the call, whatever it is called", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 20, unit: "binary" }).filter((name) => name.isWellFormed()),
        (name) => {
          const text = `default = "deny"\n`
          const subject = call(name, "{}")
          const [suggested = ""] = Decide.explain(compiled(text), subject).nearest
          const next = text + suggested.slice(suggested.indexOf("\n") + 1)
          assert.strictEqual(Decide.decide(compiled(next), subject).action, "allow")
        }
      )
    )
  })

  it("says the same as decide", () => {
    const self = compiled(notes)
    for (const args of ["{}", `{"path":"/etc"}`, `{"path":"/srv/notes/x"}`, `{"y":1}`]) {
      assert.deepStrictEqual(
        Decide.explain(self, call("write_file", args)).decision,
        Decide.decide(self, call("write_file", args))
      )
    }
  })
})

describe("Decide.typeCheck", () => {
  const defined = (name: string, properties: unknown): Decide.Defined => ({
    server: "files",
    method: "tools/call",
    name,
    definition: tool(name, properties)
  })

  it("finds rules on arguments that no tool that they match declares", () => {
    const self = compiled(notes)
    assert.deepStrictEqual(Decide.typeCheck(self, []), [])
    assert.deepStrictEqual(Decide.typeCheck(self, [defined("write_file", { path: {} })]), [])
    assert.deepStrictEqual(
      Decide.typeCheck(self, [defined("write_file", { file: {} }), defined("edit_file", { path: {} })]),
      []
    )
    assert.deepStrictEqual(Decide.typeCheck(self, [defined("read_file", { file: {} })]), [])
    assert.deepStrictEqual(Decide.typeCheck(self, [defined("write_file", { paths: {} })]), [{
      file: "policy.toml",
      line: 2,
      column: 3,
      message:
        `rule "notes-only": when looks at args.path, which files/write_file does not declare; did you mean "paths"?`
    }])
    assert.deepStrictEqual(
      Decide.typeCheck(self, ["write_a", "write_b", "write_c", "edit_d"].map((name) => defined(name, { to: {} }))).map((
        p
      ) => p.message),
      [`rule "notes-only": when looks at args.path, which none of files/write_a, files/write_b, files/write_c and 1 more declares`]
    )
    assert.deepStrictEqual(
      Decide.typeCheck(Decide.compile(policy(notes.replace("when =", "arguments = \"open\"\nwhen ="))), [
        defined("write_file", { paths: {} })
      ]),
      []
    )
  })

  describe("F24: addresses of resources", () => {
    const etc = `default = "allow"
[[rules]]
id = "etc"
match = { name = "file:///etc/*" }
then = "deny"
[[rules]]
id = "key"
match = { name = "file:///srv/my key" }
then = "deny"
`
    const read = (uri: string, method = "resources/read") =>
      call("x", undefined, { method, name: uri, params: T.fromValue({ uri }), definition: undefined })

    it("a rule about an address holds for every spelling of it, and where its spelling is not the one form", () => {
      const denied = [
        "file:///etc/passwd",
        "file:///%65tc/passwd",
        "file:///srv/..%2fetc/passwd",
        "file:///srv/../etc/passwd",
        "file:////etc/passwd",
        "file://localhost/etc/passwd",
        "FILE:///etc/passwd",
        "file:/etc/passwd",
        "file:///srv\\..\\etc",
        "file:///srv/%2565tc",
        "file:///srv/my%20key",
        "file:///srv/my key",
        "file:///srv/a\u0308",
        "https://user@host/",
        "https://HOST/x",
        "https://host:443/x",
        "%zz:"
      ]
      for (const uri of denied) {
        for (const method of ["resources/read", "resources/subscribe"]) {
          assert.strictEqual(actionOf(etc, read(uri, method)), "deny", uri)
        }
      }
      const allowed = [
        "file:///srv/a",
        "file:///srv/100%25",
        "file:///srv/K%C3%A4se b",
        "file:///srv/",
        "https://host:8443/a?b=//c/../d",
        "notes:My Note",
        "screen://Main/1",
        "urn:isbn:1"
      ]
      for (const uri of allowed) assert.strictEqual(actionOf(etc, read(uri)), "allow", uri)
    })

    it("a rule that allows holds for none that a server may read otherwise, and a rule without a name for all", () => {
      const rule = (match: string) => `default = "deny"\n[[rules]]\nid = "r"\nmatch = { ${match} }\nthen = "allow"\n`
      assert.strictEqual(actionOf(rule(`name = "file:///srv/*"`), read("file:///srv/a")), "allow")
      assert.strictEqual(actionOf(rule(`name = "file:///srv/*"`), read("file:///srv/%2e%2e/etc")), "deny")
      assert.strictEqual(actionOf(rule(`name = "*"`), read("file:///srv/%2e%2e/etc")), "allow")
      assert.strictEqual(actionOf(rule(`method = "resources/read"`), read("file:///srv/%2e%2e/etc")), "allow")
    })

    it("names of tools are no addresses", () => {
      assert.strictEqual(actionOf(etc, call("FILE:../x")), "allow")
    })

    it("a subscription to several is decided for each, and the strictest decision counts", () => {
      const listens = (...uris: ReadonlyArray<string>) =>
        call("x", undefined, {
          method: "subscriptions/listen",
          name: undefined,
          params: T.fromValue({ notifications: { resourceSubscriptions: uris } }),
          definition: undefined
        })
      assert.strictEqual(actionOf(etc, listens("file:///srv/a", "file:///srv/b")), "allow")
      assert.strictEqual(actionOf(etc, listens("file:///srv/a", "file:///etc/passwd")), "deny")
      assert.strictEqual(actionOf(etc, listens("file:///srv/a", "file:///%65tc/passwd")), "deny")
      assert.strictEqual(actionOf(etc.replaceAll("deny", "ask"), listens("file:///srv/a", "file:///etc/x")), "ask")
      const many = Array.from({ length: Decide.limits.subscribed + 1 }, (_, k) => `file:///srv/${k}`)
      assert.strictEqual(actionOf(etc, listens(...many)), "deny")
      assert.strictEqual(actionOf(`default = "allow"\n`, listens(...many)), "allow")
    })
  })
})
