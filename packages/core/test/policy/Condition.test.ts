import { assert, describe, it } from "@effect/vitest"
import * as Condition from "@sallyport/core/policy/Condition"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { call, raw, tool } from "./support.ts"

const compile = (source: string): Condition.Condition => {
  const compiled = Condition.compile(source)
  if (Result.isFailure(compiled)) throw new Error(`${source}: ${compiled.failure.map((w) => w.message).join("; ")}`)
  return compiled.success
}

/** The value of a condition for arguments as they are written; a text is the fault. */
const value = (
  source: string,
  args = "{}",
  more: Partial<Condition.Call> = {},
  real?: Condition.Real
): boolean | string => {
  const facts = Condition.facts(call("read", args, more), real)
  const value = compile(source).evaluate(facts, { left: Condition.limits.steps })
  return typeof value === "boolean" ? value : value.why
}

/** How many steps a condition takes. */
const steps = (source: string, args: string): number => {
  const meter = { left: Condition.limits.steps }
  compile(source).evaluate(Condition.facts(call("read", args)), meter)
  return Condition.limits.steps - meter.left
}

const wrong = (source: string): ReadonlyArray<string> => {
  const compiled = Condition.compile(source)
  return Result.isFailure(compiled) ? compiled.failure.map(({ message, offset }) => `${offset}: ${message}`) : []
}

describe("Condition", () => {
  it("computes as CEL does", () => {
    const args =
      `{"a":1,"b":2.5,"s":"abc","l":[1,2,3],"m":{"k":"v","n":{"x":true}},"t":true,"n":null,"e":[],"u":"\u{1f600}"}`
    const holds = [
      "args.a == 1 && args.b == 2.5",
      "args.a == 1.0",
      "args.a < args.b",
      `args.s == "abc" && args.s != "abd" && args.s < "abd"`,
      "args.l == [1, 2, 3] && args.l != [1, 2]",
      `args.m == {"k": "v", "n": {"x": true}}`,
      "args.m.n.x",
      `args["m"]["k"] == "v"`,
      "args.l[0] == 1 && args.l[2] == 3",
      "2 in args.l && !(4 in args.l)",
      `"k" in args.m && !("x" in args.m)`,
      "has(args.a) && !has(args.z) && has(args.m.k) && !has(args.m.z) && has(args.n)",
      "args.n == null && args.a != null && null == args.n",
      "args.l.all(x, x > 0) && args.l.exists(x, x == 2) && args.l.exists_one(x, x > 2)",
      "args.l.filter(x, x > 1) == [2, 3] && args.l.map(x, x * 2) == [2, 4, 6]",
      "args.l.map(x, x > 1, x + 1) == [3, 4]",
      "args.m.all(k, k.size() == 1)",
      "args.l.all(x, args.l.exists(y, y == x))",
      "args.e.all(x, false) && !args.e.exists(x, true)",
      `size(args.s) == 3 && args.s.size() == 3 && size(args.u) == 1 && size(args.l) == 3 && size(args.m) == 2`,
      `args.s.startsWith("a") && args.s.endsWith("c") && args.s.contains("b")`,
      `args.s.matches("^[a-c]+$") && args.s.matches("b") && !args.s.matches("^b")`,
      `"ABC".lowerAscii() == args.s && args.s.upperAscii() == "ABC"`,
      `args.s + "d" == "abcd" && args.l + [4] == [1, 2, 3, 4]`,
      "args.a + 1 == 2 && args.a - 2 == -1 && 7 / 2 == 3 && -7 % 3 == -1 && args.b * 2.0 == 5.0",
      "-args.a == -1 && -9223372036854775808 < 0",
      `args.t ? args.a == 1 : args.z == 1`,
      `int("5") == 5 && int(args.b) == 2 && double(args.a) == 1.0 && string(args.a) == "1" && string(true) == "true"`,
      "type(args.a) == int && type(args.b) == double && type(args.s) == string && type(args.l) == list",
      "type(args.m) == map && type(args.n) == null_type && type(args.t) == bool",
      "dyn(args.a) == 1",
      // One side that decides is enough.
      "args.a == 1 || args.z == 1",
      "args.z == 1 || args.a == 1",
      "!(args.z == 1 && args.a == 2)",
      "args.l.exists(x, x == 3 || args.z == 1)",
      "!args.l.all(x, x == 1 && args.z == 1 || x == 1)"
    ]
    for (const source of holds) assert.strictEqual(value(source, args), true, source)
  })

  it("knows who calls what, and what was accepted of it", () => {
    const about: Partial<Condition.Call> = {
      pin: "abc",
      definition: tool("read", {}, { title: "Read", annotations: { readOnlyHint: true } })
    }
    for (
      const source of [
        `call.client == "claude" && call.server == "files" && call.method == "tools/call" && call.name == "read"`,
        `call.from == "host"`,
        `pin.digest == "abc" && pin.title == "Read" && pin.annotations.readOnlyHint`,
        `params.name == "read" && has(params.arguments)`
      ]
    ) assert.strictEqual(value(source, "{}", about), true, source)
    assert.strictEqual(value("pin.annotations.readOnlyHint"), "pin.annotations.readOnlyHint is missing")
    assert.strictEqual(value(`pin.digest == ""`), "pin.digest is missing")
    const resource: Partial<Condition.Call> = {
      method: "resources/read",
      name: "file:///a",
      params: raw(`{"uri":"file:///a"}`)
    }
    assert.strictEqual(value(`uri == "file:///a"`, "{}", resource), true)
    assert.strictEqual(value(`uri == "read"`), "uri is there only for methods about a resource")
    assert.strictEqual(value(`call.name == "x"`, "{}", { name: undefined }), "call.name is missing")
  })

  it("F7: absent, null, a list, and a value of another kind are each a fault, never an answer", () => {
    const table: ReadonlyArray<readonly [source: string, args: string | undefined, fault: string]> = [
      [`args.path == "/a"`, undefined, "args.path is missing"],
      [`args.path == "/a"`, "{}", "args.path is missing"],
      [`args.path != "/a"`, "{}", "args.path is missing"],
      [`args.path != "/a"`, "null", "the arguments are null_type, not a map"],
      [`args.path != "/a"`, "[]", "the arguments are list, not a map"],
      [`args.path != "/a"`, `{"path":null}`, "it compares null_type with string"],
      [`args.path != "/a"`, `{"path":["/a"]}`, "it compares list with string"],
      [`args.path in ["/a"]`, `{"path":["/a"]}`, "it compares list with string"],
      [`!(args.path in ["/a"])`, `{"path":{"a":1}}`, "it compares map with string"],
      [`args.path.startsWith("/")`, `{"path":1}`, "args.path is int, not a string"],
      [`args.path.contains("/")`, `{"path":["/"]}`, "args.path is list, not a string"],
      [`!args.path.matches("x")`, `{"path":[]}`, "args.path is list, not a string"],
      ["args.n < 1", `{"n":"0"}`, "it orders string and int"],
      ["args.flag", `{"flag":"true"}`, "args.flag is string, not true or false"],
      ["!args.flag", `{"flag":0}`, "args.flag is int, not true or false"],
      ["args.a.b == 1", `{"a":1}`, "args.a is int, not a map"],
      ["args.l[1] == 1", `{"l":[1]}`, "args.l has no element 1"],
      ["args.l[0] == 1", `{"l":{"0":1}}`, "args.l is map, not a list"],
      ["args.l.exists(x, x == 1)", `{"l":1}`, "args.l is int, neither a list nor a map"],
      ["args.l.exists(x, x == 1)", `{"l":["a"]}`, "it compares string with int"],
      ["args.l.all(x, x.ok)", `{"l":[{"ok":true},{}]}`, "x.ok is missing"],
      ["args.l.exists_one(x, x == 1)", `{"l":[1,"a"]}`, "it compares string with int"],
      ["has(args.a.b)", "{}", "args.a is missing"],
      ["has(args.a.b)", `{"a":1}`, "args.a is int, not a map"],
      ["size(args.a) > 0", `{"a":1}`, "args.a is int, which has no size"],
      ["args.a / args.b == 1", `{"a":1,"b":0}`, "it divides by zero"],
      ["args.a / args.b == 1.0", `{"a":1.5,"b":0.0}`, "a result is no finite number"],
      ["args.a + 1 > 0", `{"a":9223372036854775807}`, "a result is beyond 64 bits"],
      ["args.a + args.b > 0", `{"a":1,"b":1.5}`, `it has no "+" for int and double`],
      ["int(args.a) > 0", `{"a":"1e3"}`, "args.a cannot be made int"],
      ["double(args.a) > 0.0", `{"a":9007199254740993}`, "args.a cannot be made double"]
    ]
    for (const [source, args, fault] of table) assert.strictEqual(value(source, args), fault, `${source} of ${args}`)
  })

  it("F8: a number is compared by what is sent, or not at all", () => {
    const inexact = "a number has more digits than can be compared exactly"
    const table: ReadonlyArray<readonly [source: string, number: string, value: boolean | string]> = [
      ["args.n <= 1000", "1000", true],
      ["args.n <= 1000", "1000.0", true],
      ["args.n <= 1000", "1e3", true],
      ["args.n <= 1000", "1000.00000000000000001", inexact],
      ["args.n <= 1000.0", "1000.0000000000000001", inexact],
      ["args.n == 9007199254740992", "9007199254740993", false],
      ["args.n == 9007199254740993", "9007199254740993", true],
      ["args.n == 9007199254740992.0", "9007199254740993", false],
      ["args.n < 1", "1e400", inexact],
      ["args.n < 1", "-1e400", inexact],
      ["args.n > 0", "1e-400", inexact],
      ["args.n > 0", "9223372036854775808", inexact],
      ["args.n == 0.1", "0.1", true],
      ["args.n == 0.1", "0.10000000000000001", inexact],
      ["args.n == 0", "-0.0", true],
      ["args.n == 1", "1e1000000000", inexact]
    ]
    for (const [source, number, expected] of table) {
      assert.strictEqual(value(source, `{"n":${number}}`), expected, `${source} of ${number}`)
    }
  })

  it("says what is wrong with a condition, and at which character", () => {
    const table: ReadonlyArray<readonly [source: string, ...wrong: ReadonlyArray<string>]> = [
      ["1 +", "3: unexpected token: EOF"],
      ["nme == 1", `0: there is no variable "nme"; the variables are args, params, uri, call, pin`],
      ["call.nme == 1", `5: there is no member "nme" here`],
      ["args.x"],
      [`"a"`, "0: it is string; a condition is true or false"],
      ["url(args.u).hots == 'x'", `0: a url has no "hots"; its parts are scheme, host, port, path, query`],
      ["args.a == 9223372036854775808", "10: the number is beyond 64 bits"],
      ["args.a == b'x'", "10: bytes and unsigned numbers are not among what conditions can do; JSON has neither"],
      ["args.a == 1u", "10: bytes and unsigned numbers are not among what conditions can do; JSON has neither"],
      ["under_any(args.a, args.b)", `18: the roots must be written out, as in ["/srv/a", "/srv/b"]`],
      ["under(args.a, args.b)", "14: the root must be written out, so that it can be checked now"],
      [`under(args.a, "/a/../b")`, `14: the root "/a/../b" cannot be used: the path has a segment ".."`],
      [`under(args.a, "/a", {"fold": true})`, `21: the options are "fold_case" and "real"`],
      [`under(args.a, "/a", {"real": 1})`, "29: real must be true or false"],
      [
        `args.a.matches("a{1001}")`,
        `15: the regular expression "a{1001}" cannot be used (RE2's syntax): invalid repeat count: \`{1001}\``
      ],
      [`args.a.matches("a{900}b{200}")`, "15: the regular expression is too big: 1102 parts, at most 1000"],
      ["args.l.all(args, true)", `11: "args" is taken; name the element otherwise`],
      ["args.l.all(x, args.m.all(x, true))", `25: "x" is taken; name the element otherwise`],
      [`{args.a: 1} == {"a": 1}`, "1: the keys of a map must be written-out strings"],
      ["x".repeat(8193), "0: it is longer than 8192 characters"]
    ]
    for (const [source, ...expected] of table) {
      assert.deepStrictEqual(wrong(source), expected, source)
    }
  })

  it("F9: has no clock, no randomness, and no function that is not in the list", () => {
    for (
      const source of [
        `timestamp("2020-01-01T00:00:00Z") == args.t`,
        `duration("1s") == args.t`,
        "now() == args.t",
        `args.s.split(",").size() == 1`,
        `args.s.substring(1) == ""`,
        `bytes("a") == args.s`,
        `uint(args.a) == args.b`,
        `["a"].join() == args.a`,
        "optional.of(1) == args.a",
        "cel.bind(x, args.a, x == 1)"
      ]
    ) assert.isNotEmpty(wrong(source), source)
  })

  describe("F9: is bounded", () => {
    const spent = "it takes more steps than a condition may"

    it("in comprehensions inside each other, by the element", () => {
      const list = `{"l":[${Array.from({ length: 300 }, () => "1").join(",")}]}`
      assert.strictEqual(value("args.l.exists(x, args.l.exists(y, args.l.exists(z, x + y + z < 0)))", list), spent)
      assert.strictEqual(value("args.l.map(x, args.l.map(y, args.l)).size() > 0", list), spent)
    })

    it("in regular expressions, by the length of the text and the size of the expression", () => {
      assert.strictEqual(value(`args.s.matches("^(a+)+$")`, `{"s":"${"a".repeat(29)}!"}`), false)
      assert.strictEqual(value(`args.s.matches("^(a+)+$")`, `{"s":"${"a".repeat(60_000)}!"}`), spent)
      assert.strictEqual(value(`args.s.matches("^.*a.{200}$")`, `{"s":"${"ab".repeat(2_000)}"}`), spent)
    })

    it("in looking for a text in a text, by both their lengths", () => {
      const half = "a".repeat(8_000)
      assert.strictEqual(value("args.s.contains(args.t)", `{"s":"${"a".repeat(32_000)}","t":"${half}b${half}"}`), spent)
      assert.strictEqual(value(`args.s.contains("password")`, `{"s":"${"pass".repeat(8_000)}"}`), false)
    })

    it("in texts and lists that grow", () => {
      const list = `{"l":[${Array.from({ length: 60 }, () => `"${"x".repeat(500)}"`).join(",")}]}`
      assert.strictEqual(value("args.l.map(x, args.l.map(y, x + y + x + y)).size() > 0", list), spent)
      assert.strictEqual(value("args.l.map(x, (args.l + args.l + args.l + args.l).size()).size() > 0", list), spent)
    })

    it("in comparing, by the size of what is compared", () => {
      const big = `[${"[1,1,1],".repeat(2_000)}1]`
      assert.strictEqual(value("args.a == args.b", `{"a":${big},"b":${big}}`), spent)
      assert.strictEqual(value(`args.l.exists(x, (x + 5) in args.l)`, `{"l":[${"1,".repeat(150)}2]}`), spent)
    })

    it("in what is looked at at all", () => {
      const long = `{"s":"${"x".repeat(Condition.limits.input)}"}`
      assert.strictEqual(value(`args.s == "x"`, long), "params are longer than 1048576 characters")
    })

    it("whatever the condition and the arguments are: nothing throws, and steps end", () => {
      const leaf = fc.constantFrom(
        "args.a",
        "args.l",
        "args.s",
        "args.m",
        "1",
        `"x"`,
        "2.5",
        "null",
        "[1, 2]",
        "true",
        "call.name"
      )
      const { expression } = fc.letrec<{ expression: string }>((tie) => ({
        expression: fc.oneof(
          { maxDepth: 4, depthSize: "small" },
          leaf,
          fc.tuple(
            tie("expression"),
            fc.constantFrom("+", "==", "<", "&&", "||", "in", "*", "-", "/", "%"),
            tie("expression")
          )
            .map(([l, op, r]) => `(${l} ${op} ${r})`),
          tie("expression").map((e) => `!(${e})`),
          tie("expression").map((e) => `size(${e})`),
          tie("expression").map((e) => `dyn(${e})`),
          fc.tuple(tie("expression"), fc.constantFrom("a", "b")).map(([e, m]) => `dyn(${e}).${m}`),
          fc.tuple(tie("expression"), tie("expression")).map(([l, r]) => `dyn(${l})[${r}]`),
          fc.tuple(tie("expression"), fc.constantFrom("all", "exists", "map", "filter"), tie("expression"))
            .map(([l, f, r]) => `dyn(${l}).${f}(x${r.length}, dyn(${r}))`),
          fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([a, b, c]) =>
            `(dyn(${a}) ? dyn(${b}) : dyn(${c}))`
          )
        )
      }))
      const args = fc.record({ a: fc.jsonValue(), l: fc.array(fc.jsonValue()), s: fc.string(), m: fc.object() }, {
        requiredKeys: []
      })
      let evaluated = 0
      fc.assert(
        fc.property(expression, args, (source, args) => {
          const compiled = Condition.compile(`dyn(${source})`)
          if (Result.isFailure(compiled)) return
          evaluated++
          const meter = { left: 1_000 }
          const text = raw(JSON.stringify(args).isWellFormed() ? JSON.stringify(args) : "{}")
          const value = compiled.success.evaluate(Condition.facts(call("read", text)), meter)
          assert.isTrue(typeof value === "boolean" || value.why !== "")
          if (meter.left < 0) assert.notStrictEqual(value, false)
        }),
        { numRuns: 500 }
      )
      assert.isAbove(evaluated, 100)
    })

    it("takes few steps where there is little to do", () => {
      assert.isBelow(steps(`!under(args.path, "/srv/notes")`, `{"path":"/srv/notes/a"}`), 40)
      assert.isBelow(steps(`args.a == 1`, `{"a":1,"content":"${"x".repeat(60_000)}"}`), 2_000)
    })
  })

  describe("F24: under", () => {
    const under = (path: string, options = "") =>
      value(`under(args.path, "/srv/notes"${options})`, JSON.stringify({ path }))

    it("compares by segment", () => {
      for (
        const path of ["/srv/notes", "/srv/notes/a", "/srv/notes/a/b.txt", "file:///srv/notes/a", "/srv/notes/a b"]
      ) {
        assert.strictEqual(under(path), true, path)
      }
      for (const path of ["/", "/srv", "/srv/notesx", "/srv/Notes/a", "/etc/srv/notes", "file:///etc"]) {
        assert.strictEqual(under(path), false, path)
      }
    })

    it("has no answer for what is not in normal form", () => {
      const table: ReadonlyArray<readonly [path: string, why: string]> = [
        ["srv/notes/a", "the path is not absolute"],
        ["", "the path is not absolute"],
        ["~/a", "the path is not absolute"],
        ["/~root/a", `the path has a segment that begins with "~"`],
        ["/srv/notes/./a", `the path has a segment "."`],
        ["/srv/notes/../../etc", `the path has a segment ".."`],
        ["/srv/notes/..", `the path has a segment ".."`],
        ["/srv//notes/a", "the path has an empty segment"],
        ["//srv/notes/a", "the path has an empty segment"],
        ["/srv/notes/", "the path has an empty segment"],
        ["/srv/notes\\..\\a", "the path has a backslash"],
        ["/srv/notes/a\0", "the path has a control character"],
        ["/srv/notes/a\nb", "the path has a control character"],
        ["/srv/notes/..%2f..%2fetc/passwd", "the path has a percent sign, which a server may decode"],
        ["/srv/notes/e\u0301", "the path is not in Unicode's normal form C"],
        ["/srv/notes/a.", "the path has a segment that ends with a dot or a space"],
        ["/srv/notes /a", "the path has a segment that ends with a dot or a space"],
        ["file:///srv/notes/..%2f..%2fetc/passwd", "the file URI hides a slash"],
        ["file:///srv/notes/%2e%2e/a", `the path has a segment ".."`],
        ["file:///srv/notes/%252e%252e/a", "the path has a percent sign, which a server may decode"],
        ["file:///srv/notes/a%00", "the path has a control character"],
        ["file:///srv/notes/%ff", "the file URI cannot be decoded"],
        ["file://host/srv/notes/a", "the file URI does not begin with file:///"],
        ["file:/srv/notes/a", "the file URI does not begin with file:///"],
        ["FILE:///srv/notes/a", "the file URI does not begin with file:///"],
        ["file:///srv/notes/a?x", "the file URI has a query or a fragment"],
        ["C:\\notes", "the path is not absolute"]
      ]
      for (const [path, why] of table) assert.strictEqual(under(path), `args.path: ${why}`, path)
    })

    it("folds case where the root's file system does", () => {
      const fold = `, {"fold_case": true}`
      for (const path of ["/SRV/Notes/a", "/srv/note\u017f/a"]) assert.strictEqual(under(path, fold), true, path)
      assert.strictEqual(under("/srv/notes2", fold), false)
      // The Kelvin sign is no normal form of K, so it needs no folding.
      assert.strictEqual(under("/srv/\u212a", fold), "args.path: the path is not in Unicode's normal form C")
    })

    it("takes several roots", () => {
      const any = (path: string) => value(`under_any(args.path, ["/srv/a", "/srv/b/"])`, JSON.stringify({ path }))
      assert.deepStrictEqual([any("/srv/a/x"), any("/srv/b/x"), any("/srv/c/x")], [true, true, false])
      assert.strictEqual(any("/srv/a/.."), `args.path: the path has a segment ".."`)
    })

    it("follows links where the rule says so, and has no answer where it cannot", () => {
      const source = `under(args.path, "/srv/notes", {"real": true})`
      const links = new Map([["/srv/notes/link", "/etc/passwd"], ["/srv/notes", "/data/notes"], [
        "/srv/notes/a",
        "/data/notes/a"
      ]])
      const real = (path: string) => links.get(path)
      const at = (path: string, real?: Condition.Real) => value(source, JSON.stringify({ path }), {}, real)
      assert.strictEqual(at("/srv/notes/a", real), true)
      assert.strictEqual(at("/srv/notes/link", real), false)
      assert.strictEqual(at("/srv/notes/gone", real), "args.path: where it leads cannot be told")
      assert.strictEqual(at("/srv/notes/a"), "links cannot be resolved here, as real asks for")
      assert.strictEqual(at("/etc/passwd", real), false)
    })

    it("never says yes to what, joined and normalized, leads out of the root", () => {
      const segment = fc.constantFrom(
        "a",
        "..",
        ".",
        "",
        "srv",
        "notes",
        "%2e%2e",
        "..%2f",
        "~",
        "a.",
        "\\..\\",
        "a ",
        "e\u0301"
      )
      fc.assert(
        fc.property(
          fc.array(segment, { maxLength: 6 }),
          fc.constantFrom("/", "/srv/notes/", "file:///srv/notes/", ""),
          (segments, head) => {
            const path = head + segments.join("/")
            if (under(path) !== true) return
            const plain = decodeURIComponent(decodeURIComponent(path.replace("file://", "")))
            assert.isTrue(/^\/srv\/notes(?:\/|$)/.test(new URL(`file://${plain.replaceAll("\\", "/")}`).pathname), path)
          }
        )
      )
    })
  })

  describe("F24: url", () => {
    const host = (url: string) => value(`url(args.url).host == "example.com"`, JSON.stringify({ url }))

    it("takes URLs in normal form apart", () => {
      const url = `{"url":"https://example.com:8443/a/b?x=1"}`
      assert.strictEqual(
        value(
          `url(args.url).scheme == "https" && url(args.url).host == "example.com" && url(args.url).port == 8443 ` +
            `&& url(args.url).path == "/a/b" && url(args.url).query == "x=1"`,
          url
        ),
        true
      )
      for (const url of ["https://example.com", "https://example.com/", "http://example.com/a%20b"]) {
        assert.strictEqual(host(url), true, url)
      }
      for (
        const url of ["https://evil.com/", "https://example.com.evil.com/", "https://[::1]/", "https://127.0.0.1/"]
      ) {
        assert.strictEqual(host(url), false, url)
      }
    })

    it("has no answer for any other spelling", () => {
      for (
        const url of [
          "",
          "example.com",
          "//example.com/",
          "HTTPS://example.com/",
          "https://EXAMPLE.com/",
          "https://example.com:443/",
          "http://example.com:80/",
          "https://example.com:08443/",
          "https://user@example.com/",
          "https://example.com@evil.com/",
          "https://example.com\\@evil.com/",
          "https://example.com /",
          " https://example.com/",
          "https://example.com\t/",
          "https://ex%61mple.com/",
          "https://exámple.com/",
          "https:/example.com/",
          "https:example.com/",
          "https:///example.com/",
          "https://2130706433/",
          "https://0x7f.1/",
          "https://127.1/",
          "https://example.com/a/../b",
          "https://example.com/a/%2e%2e/b",
          "https://example.com/a/..%2f",
          "https://example.com/%252e",
          "https://example.com/%5c..",
          "https://example.com/%00",
          "https://example.com/#evil",
          "javascript:alert(1)"
        ]
      ) assert.isString(host(url), url)
    })
  })

  it("names the ends of paths", () => {
    const path = `{"path":"/srv/a.tar.gz"}`
    assert.strictEqual(value(`basename(args.path) == "a.tar.gz" && ext(args.path) == "gz"`, path), true)
    assert.strictEqual(value(`ext(args.path) == "" && basename(args.path) == ".env"`, `{"path":"/srv/.env"}`), true)
    assert.strictEqual(value(`ext(args.path) == "txt"`, `{"path":"../a.txt"}`), "args.path: the path is not absolute")
  })

  it("says which arguments a condition looks at, and what it joins", () => {
    const { arguments: looked, parts } = compile(`args.a == 1 && has(args.b.c) && args["d e"].all(x, x.f == args.g[0])`)
    assert.deepStrictEqual(looked, [["a"], ["b", "c"], ["b"], ["d e"], ["g"]])
    assert.deepStrictEqual(parts.map((part) => part.source), [
      "args.a == 1",
      "has(args.b.c)",
      `args["d e"].all(x, x.f == args.g[0])`
    ])
  })
})
