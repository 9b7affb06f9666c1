import { assert, describe, it } from "@effect/vitest"
import * as Policy from "@sallyport/core/policy/Policy"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { policy } from "./support.ts"

/** What is wrong with a file, as lines. */
const wrong = (text: string): ReadonlyArray<string> => {
  const parsed = Policy.parse(text, "p.toml")
  return Result.isFailure(parsed) ? parsed.failure.map(Policy.format) : ["nothing"]
}

const rule = (...lines: ReadonlyArray<string>) => `default = "allow"\n[[rules]]\n${lines.join("\n")}\n`
const limit = (...lines: ReadonlyArray<string>) => `default = "allow"\n[[limits]]\n${lines.join("\n")}\n`

/** A rule that is right but for what is put in its place. */
const fine = { id: `id = "a"`, match: `match = { name = "x" }`, deny: `then = "deny"` }

const broken: ReadonlyArray<readonly [what: string, text: string, lines: ReadonlyArray<string>]> = [
  ["not TOML", "default = \n", ["p.toml:1:10: this is not TOML: the value is missing"]],
  ["cut in the middle", `default = "al`, ["p.toml:1:14: this is not TOML: unterminated string constant"]],
  ["no TOML at all", `{"default":"allow"}`, ["p.toml:1:1: this is not TOML: unexpected token"]],
  ["a key twice", `default = "allow"\ndefault = "deny"\n`, ["p.toml:2:1: this is not TOML: this key is there twice"]],
  ["a byte order mark", `\ufeffdefault = "allow"\n`, [
    "p.toml:1:1: the file begins with a byte order mark; save it as UTF-8 without one"
  ]],
  ["a NUL", `default = "allow"\n# \0\n`, [
    "p.toml:2:3: there is a NUL character, which no text has; the file may have been damaged when it was written"
  ]],
  ["an empty file", "", [
    `p.toml:1:1: default is missing: what is done with a call that no rule matches; write default = "allow", "ask" or "deny"`
  ]],
  ["an unknown key", `default = "allow"\nrule = []\n`, [`p.toml:2:1: unknown key "rule"; did you mean "rules"?`]],
  ["a key like no other", `default = "allow"\nxyzzy = 1\n`, [
    `p.toml:2:1: unknown key "xyzzy"; the keys are default, drift, resources, rules, limits, hook, results, approvals`
  ]],
  ["a wrong default", `default = "alow"\n`, [
    `p.toml:1:11: default must be "allow", "ask" or "deny"; this is "alow", did you mean "allow"?`
  ]],
  ["a default of another type", "default = true\n", [
    `p.toml:1:11: default must be "allow", "ask" or "deny"; this is true or false`
  ]],
  ["a table for rules", `default = "allow"\n[rules]\nid = "a"\n`, [
    "p.toml:2:2: rules must be written as [[rules]], one for each; this is a table"
  ]],
  ["a rule without id", rule(fine.match, fine.deny), [
    "p.toml:2:3: rule 1 has no id; the id is what refusals and the ledger name"
  ]],
  ["an id with blanks", rule(`id = "a b"`, fine.match, fine.deny), [
    `p.toml:3:6: rule 1: the id "a b" must be of letters, digits, ".", "_" and "-", at most 64`
  ]],
  [
    "an id twice",
    rule(fine.id, fine.match, fine.deny) + `[[limits]]\nid = "a"\nmatch = { name = "x" }\nconcurrent = 1\n`,
    [
      `p.toml:7:6: the id "a" is there twice; the first is in line 3`
    ]
  ],
  ["a rule without match", rule(fine.id, fine.deny), [
    `p.toml:2:3: rule "a": match is missing; to match every call write match = { name = "*" }`
  ]],
  ["an empty match", rule(fine.id, "match = {}", fine.deny), [
    `p.toml:4:9: rule "a": match is empty; to match every call write match = { name = "*" }`
  ]],
  ["a match of another type", rule(fine.id, `match = "x"`, fine.deny), [
    `p.toml:4:9: rule "a": match must be a table; this is a string`
  ]],
  ["an unknown member of match", rule(fine.id, `match = { tool = "x" }`, fine.deny), [
    `p.toml:4:11: rule "a": match: unknown key "tool"; the keys are client, server, method, name`
  ]],
  ["an empty list", rule(fine.id, "match = { name = [] }", fine.deny), [
    `p.toml:4:18: rule "a": name is an empty list and matches nothing`
  ]],
  ["a number for a pattern", rule(fine.id, `match = { name = ["x", 1] }`, fine.deny), [
    `p.toml:4:24: rule "a": name must be a pattern or a list of patterns; this item is a number`
  ]],
  ["a bad pattern", rule(fine.id, `match = { name = "read_[a" }`, fine.deny), [
    `p.toml:4:18: rule "a": name: the pattern "read_[a" cannot be used: the "[" at character 6 is never closed`
  ]],
  ["an empty pattern", rule(fine.id, `match = { server = "" }`, fine.deny), [
    `p.toml:4:20: rule "a": server: the pattern "" cannot be used: it is empty and matches nothing`
  ]],
  ["no then", rule(fine.id, fine.match), [
    `p.toml:2:3: rule "a": then is missing; write then = "allow", "ask" or "deny"`
  ]],
  ["a wrong then", rule(fine.id, fine.match, `then = "block"`), [
    `p.toml:5:8: rule "a": then must be "allow", "ask" or "deny"; this is "block"`
  ]],
  ["nothing to observe", rule(fine.id, fine.match, "observe = true"), [
    `p.toml:2:3: rule "a": there is nothing to observe: then is missing; write what the rule would do`
  ]],
  ["observe in quotes", rule(fine.id, fine.match, fine.deny, `observe = "yes"`), [
    `p.toml:6:11: rule "a": observe must be true or false; this is a string`
  ]],
  ["via without ask", rule(fine.id, fine.match, fine.deny, `via = "terminal"`), [
    `p.toml:6:1: rule "a": via says where a person is asked, but then is "deny"; it goes with then = "ask"`
  ]],
  ["arguments without when", rule(fine.id, fine.match, fine.deny, `arguments = "open"`), [
    `p.toml:6:1: rule "a": arguments has no effect without when: only a condition looks at them`
  ]],
  ["an empty why", rule(fine.id, fine.match, fine.deny, `why = ""`), [`p.toml:6:7: rule "a": why is empty`]],
  ["bad CEL", rule(fine.id, fine.match, fine.deny, `when = 'args.path =='`), [
    `p.toml:6:21: rule "a": when: unexpected token: EOF`
  ]],
  ["bad CEL over lines", rule(fine.id, fine.match, fine.deny, `when = '''`, "args.a == 1", "  && args.b = 2'''"), [
    `p.toml:8:13: rule "a": when: unexpected character: =`
  ]],
  ["bad CEL with escapes", rule(fine.id, fine.match, fine.deny, `when = "args.path == \\"a\\" &&"`), [
    `p.toml:6:8: rule "a": when, character 20: unexpected token: EOF`
  ]],
  ["an unknown variable", rule(fine.id, fine.match, fine.deny, `when = 'arg.path == "/"'`), [
    `p.toml:6:9: rule "a": when: there is no variable "arg"; did you mean "args"?`
  ]],
  ["an unknown member of call", rule(fine.id, fine.match, fine.deny, `when = 'call.tool == "x"'`), [
    `p.toml:6:14: rule "a": when: there is no member "tool" here`
  ]],
  ["an unknown function", rule(fine.id, fine.match, fine.deny, `when = 'args.path.startWith("/srv")'`), [
    `p.toml:6:9: rule "a": when: no function fits dyn.startWith(string); did you mean "startsWith"?`
  ]],
  [
    "a function that conditions have not",
    rule(fine.id, fine.match, fine.deny, `when = 'timestamp(args.at) > timestamp(args.to)'`),
    [
      `p.toml:6:9: rule "a": when: "timestamp" is not among what conditions can do; see docs/policy.md for what is`,
      `p.toml:6:30: rule "a": when: "timestamp" is not among what conditions can do; see docs/policy.md for what is`
    ]
  ],
  ["a condition that is no condition", rule(fine.id, fine.match, fine.deny, `when = '"yes"'`), [
    `p.toml:6:9: rule "a": when: it is string; a condition is true or false`
  ]],
  ["two types compared", rule(fine.id, fine.match, fine.deny, `when = 'call.name == 1'`), [
    `p.toml:6:9: rule "a": when: no such overload: string == int`
  ]],
  [
    "a regular expression that is not linear",
    rule(fine.id, fine.match, fine.deny, `when = 'args.a.matches("(a)\\\\1")'`),
    [
      `p.toml:6:24: rule "a": when: the regular expression "(a)\\\\1" cannot be used (RE2's syntax): invalid escape sequence: \`\\1\``
    ]
  ],
  ["a regular expression of the caller's", rule(fine.id, fine.match, fine.deny, `when = 'call.name.matches(args.b)'`), [
    `p.toml:6:27: rule "a": when: the regular expression must be written out, so that it can be checked now`
  ]],
  ["a root that is not absolute", rule(fine.id, fine.match, fine.deny, `when = '!under(args.path, "srv/notes")'`), [
    `p.toml:6:27: rule "a": when: the root "srv/notes" cannot be used: the path is not absolute`
  ]],
  ["a number too long to compare", rule(fine.id, fine.match, fine.deny, "when = 'args.a > 1000.00000000000000001'"), [
    `p.toml:6:18: rule "a": when: the number cannot be compared exactly; write fewer digits`
  ]],
  ["a number as condition", rule(fine.id, fine.match, fine.deny, "when = 1.5"), [
    `p.toml:6:8: rule "a": when must be a string; this is a number with a fraction`
  ]],
  ["a limit that limits nothing", limit(fine.match), [
    "p.toml:2:3: limit 1: it limits nothing; write calls and per, concurrent, or budget"
  ]],
  ["calls without per", limit(fine.match, "calls = 60"), [
    `p.toml:4:1: limit 1: calls is there without per; write in which time, as in per = "1 minute"`
  ]],
  ["per without calls", limit(fine.match, `per = "1 minute"`), [
    "p.toml:4:1: limit 1: per is there without calls; write how many, as in calls = 60"
  ]],
  ["a negative number", limit(fine.match, "concurrent = -1"), [
    "p.toml:4:14: limit 1: concurrent must be from 1 to 1000000000; this is -1"
  ]],
  ["a number that is none", limit(fine.match, `concurrent = "8"`), [
    "p.toml:4:14: limit 1: concurrent must be a whole number; this is a string"
  ]],
  ["a bad duration", limit(fine.match, "calls = 1", `per = "1 fortnight"`), [
    `p.toml:5:7: limit 1: per must be a number and a unit (millis, seconds, minutes, hours, days), as in "5 minutes"; ` +
    `this is "1 fortnight"`
  ]],
  ["a duration as number", limit(fine.match, "calls = 1", "per = 60"), [
    `p.toml:5:7: limit 1: per must be a number and a unit (millis, seconds, minutes, hours, days), as in "5 minutes"; ` +
    "this is a number"
  ]],
  ["a budget without an id", limit(fine.match, "budget = 10"), [
    "p.toml:4:1: limit 1: a budget needs an id: what was used of it is kept under that"
  ]],
  ["a budget below the rate", limit(fine.match, "calls = 60", `per = "1 hour"`, "budget = 10", `id = "b"`), [
    "p.toml:6:10: limit \"b\": a budget of 10 calls contradicts 60 calls per time: it is used up in the first"
  ]],
  [
    "two limits that contradict",
    limit(fine.match, "concurrent = 1") + "[[limits]]\nmatch = { name = \"x\" }\nconcurrent = 2\n",
    [
      `p.toml:5:3: limit "limit-2" sets concurrent to 2, limit "limit-1" (line 2) to 1 for the same calls`
    ]
  ],
  ["a hook without command", `default = "allow"\n[hook]\ntimeout = "1 second"\n`, [
    "p.toml:2:2: hook: command is missing; write the program and its arguments as a list of strings"
  ]],
  ["a hook for a shell", `default = "allow"\n[hook]\ncommand = "check | tee"\n`, [
    "p.toml:3:11: hook: command must be a list of strings, the program first (it is never given to a shell); this is a string"
  ]],
  ["a hook that is nothing", `default = "allow"\n[hook]\ncommand = []\n`, [
    "p.toml:3:11: hook: command names no program"
  ]],
  ["an unknown class of drift", `default = "allow"\n[drift]\ncosmetics = "accept"\n`, [
    `p.toml:3:1: drift: unknown key "cosmetics"; did you mean "cosmetic"?`
  ]],
  ["a class of drift that is allowed", `default = "allow"\n[drift]\ntext = "allow"\n`, [
    `p.toml:3:8: drift: text must be "accept" or "hold"; this is "allow"`
  ]],
  ["a check of results that is none", `default = "allow"\n[results]\nscan = "on"\n`, [
    `p.toml:3:8: results: scan must be "off", "mark" or "quarantine"; this is "on"`
  ]],
  ["approvals that never expire", `default = "allow"\n[approvals]\nexpires = "2 days"\n`, [
    "p.toml:3:11: approvals: expires is longer than a day"
  ]],
  ["characters that do not show", `default = "allow"\n"ru\u200bles" = []\n`, [
    `p.toml:2:1: unknown key "ru\\u200bles"; did you mean "rules"?`
  ]],
  [
    "everything at once, by line",
    `defualt = "allow"\n[[rules]]\nmatch = { nam = "x" }\nthen = "no"\n[[limits]]\nmatch = 1\n`,
    [
      `p.toml:1:1: default is missing: what is done with a call that no rule matches; write default = "allow", "ask" or "deny"`,
      `p.toml:1:1: unknown key "defualt"; did you mean "default"?`,
      "p.toml:2:3: rule 1 has no id; the id is what refusals and the ledger name",
      `p.toml:3:11: rule 1: match: unknown key "nam"; did you mean "name"?`,
      `p.toml:4:8: rule 1: then must be "allow", "ask" or "deny"; this is "no"`,
      "p.toml:5:3: limit 1: it limits nothing; write calls and per, concurrent, or budget",
      "p.toml:6:9: limit 1: match must be a table; this is a number"
    ]
  ]
]

describe("Policy", () => {
  for (const [what, text, lines] of broken) {
    it(`says what is wrong: ${what}`, () => {
      assert.deepStrictEqual(wrong(text), lines)
    })
  }

  it("reads everything that a file may say", () => {
    const read = policy(`default = "ask"
resources = "linked"
[drift]
cosmetic = "accept"
text = "hold"
[[rules]]
id = "notes-only"
match = { client = "claude", server = "files", method = "tools/call", name = ["write_*", "edit_*"] }
when = '!under(args.path, "/srv/notes")'
then = "ask"
why = "writing is for /srv/notes"
observe = true
via = "terminal"
arguments = "open"
[[limits]]
id = "in-all"
match = { name = "*" }
calls = 60
per = "1 minute"
concurrent = 8
budget = 1000
[hook]
command = ["/usr/local/bin/decide", "--strict"]
timeout = "500 millis"
methods = ["tools/*"]
[results]
max_bytes = 1000000
structured = "quarantine"
scan = "mark"
[approvals]
expires = "1 hour"
via = "terminal"
`)
    assert.deepStrictEqual(
      { ...read, digest: read.digest.length },
      {
        file: "policy.toml",
        digest: 64,
        default: "ask",
        drift: { cosmetic: "accept", text: "hold" },
        resources: "linked",
        rules: [{
          id: "notes-only",
          match: { client: ["claude"], server: ["files"], method: ["tools/call"], name: ["write_*", "edit_*"] },
          when: `!under(args.path, "/srv/notes")`,
          action: "ask",
          why: "writing is for /srv/notes",
          observe: true,
          via: "terminal",
          arguments: "open",
          at: { line: 6, column: 3 }
        }],
        limits: [{
          id: "in-all",
          match: { name: ["*"] },
          calls: 60,
          per: Duration.minutes(1),
          concurrent: 8,
          budget: 1000,
          at: { line: 15, column: 3 }
        }],
        hook: { command: ["/usr/local/bin/decide", "--strict"], timeout: Duration.millis(500), methods: ["tools/*"] },
        results: { maxBytes: 1_000_000, structured: "quarantine", scan: "mark" },
        approvals: { expires: Duration.hours(1), via: "terminal" },
        warnings: []
      }
    )
  })

  it("warns of rules that can never decide, and of methods that no revision has", () => {
    const warned = policy(`default = "allow"
[[rules]]
id = "a"
match = { name = ["x", "y"] }
then = "deny"
[[rules]]
id = "b"
match = { name = ["y", "x"] }
when = "args.a == 1"
then = "ask"
[[rules]]
id = "c"
match = { method = "tool/call" }
then = "deny"
[[rules]]
id = "d"
match = { name = ["x", "y"] }
then = "deny"
observe = true
`).warnings
    assert.deepStrictEqual(warned.map(Policy.format), [
      `policy.toml:6:3: rule "b" can never decide: rule "a" (line 2) matches the same calls and says "deny"`,
      `policy.toml:13:20: rule "c": method: no revision has a method "tool/call"; did you mean "tools/call"?`
    ])
  })

  it("warns of no rule whose absence would change a decision", () => {
    const warned = policy(`default = "allow"
[[rules]]
id = "weak"
match = { name = "x" }
then = "ask"
[[rules]]
id = "strong"
match = { name = "x" }
then = "deny"
when = "args.a == 1"
[[rules]]
id = "other"
match = { name = "x" }
then = "ask"
when = "args.a == 2"
`).warnings
    assert.deepStrictEqual(warned.map((problem) => problem.message), [
      `rule "other" can never decide: rule "weak" (line 2) matches the same calls and says "ask"`
    ])
  })

  it("never throws, whatever the file holds, and every problem has a place in it", () => {
    const piece = fc.constantFrom(
      "default",
      " = ",
      `"allow"`,
      "\n",
      "[[rules]]",
      "[",
      "]",
      "{",
      "}",
      "'",
      `"""`,
      "id",
      "match",
      "when",
      "then",
      "1",
      "-",
      "true",
      "2020-01-01",
      "args.",
      "__proto__",
      ".",
      ",",
      "#",
      "\\u0000",
      "\u{1f600}",
      "limits",
      "hook"
    )
    fc.assert(fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const text = pieces.join("")
      const parsed = Policy.parse(text, "p.toml")
      if (Result.isSuccess(parsed)) return
      assert.isNotEmpty(parsed.failure)
      for (const { column, line, message } of parsed.failure) {
        assert.isAtLeast(line, 1)
        assert.isAtMost(line, text.split("\n").length)
        assert.isAtLeast(column, 1)
        assert.isNotEmpty(message)
      }
    }))
  })

  it("refuses a file that is nested absurdly deep, or too big", () => {
    assert.strictEqual(wrong(`a = ${"[".repeat(20_000)}${"]".repeat(20_000)}`).length, 1)
    assert.deepStrictEqual(wrong("#".repeat(Policy.limits.text + 1)), [
      `p.toml:1:1: the file is bigger than ${Policy.limits.text} characters`
    ])
  })
})
