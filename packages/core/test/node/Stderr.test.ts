import { assert, describe, it } from "@effect/vitest"
import { Writable } from "node:stream"
import * as Stderr from "../../src/node/Stderr.ts"

const split = (limit: number, ...chunks: ReadonlyArray<string | Uint8Array>) => {
  const found: Array<string> = []
  const lines = Stderr.lines(limit, ({ missing, text }) => found.push(missing > 0 ? `${text}+${missing}` : text))
  for (const chunk of chunks) lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  lines.end()
  return found
}

describe("Stderr.visible", () => {
  it("shows what acts on a terminal or cannot be seen, and leaves the rest", () => {
    assert.strictEqual(Stderr.visible("a\tb ß 漢 👩‍💻"), "a\tb ß 漢 👩‍💻")
    assert.strictEqual(Stderr.visible("\u001b[31m\r\u0000\u007f\u009b"), "\\u{1b}[31m\\u{d}\\u{0}\\u{7f}\\u{9b}")
    assert.strictEqual(
      Stderr.visible("\u202e\u2066\u200b\u2028\ufeff\u{e0041}"),
      "\\u{202e}\\u{2066}\\u{200b}\\u{2028}\\u{feff}\\u{e0041}"
    )
  })
})

describe("Stderr.sentence", () => {
  it("is one line, whatever it quotes", () => {
    assert.strictEqual(
      Stderr.sentence("it said: \u001b[2J\nsallyport: all is well\u009b31m"),
      "it said: \\u{1b}[2J\\u{a}sallyport: all is well\\u{9b}31m"
    )
  })
  it("is cut where a name in it is endless", () => {
    assert.strictEqual(Stderr.sentence("x".repeat(5000)), `${"x".repeat(4096)} ... (904 characters more)`)
  })
})

describe("Stderr.lines", () => {
  it("splits across chunks, drops one CR, and gives an unterminated last line", () => {
    assert.deepStrictEqual(split(100, "a\nb", "c\r\n", "\n", "d"), ["a", "bc", "", "d"])
  })

  it("cuts long lines and says how much is missing", () => {
    assert.deepStrictEqual(split(4, "abcdef", "gh\nxy\n"), ["abcd+4", "xy"])
    assert.deepStrictEqual(split(4, "abcd\nabcde"), ["abcd", "abcd+1"])
    assert.deepStrictEqual(split(4, "abc\r\nabcd\r\n"), ["abc", "abcd+1"])
  })

  it("survives bytes that are not UTF-8", () => {
    assert.deepStrictEqual(split(100, Uint8Array.of(0x61, 0xff, 0xfe, 0x0a)), ["a\ufffd\ufffd"])
  })
})

describe("Stderr.ring", () => {
  const kept = (limit: number, ...chunks: ReadonlyArray<string>) => {
    const ring = Stderr.ring(limit)
    for (const chunk of chunks) ring.push(Buffer.from(chunk))
    return ring.text()
  }

  it("keeps everything that fits", () => {
    assert.strictEqual(kept(8), "")
    assert.strictEqual(kept(8, "abc", "def"), "abcdef")
    assert.strictEqual(kept(8, "abcdefgh"), "abcdefgh")
  })

  it("keeps the end of what does not, from a whole line on if there is one", () => {
    assert.strictEqual(kept(8, "abcdef", "ghij"), "cdefghij")
    assert.strictEqual(kept(8, "0123456789abcdefghijklmn"), "ghijklmn")
    assert.strictEqual(kept(8, "x".repeat(11), "0123456789abcdef", "g"), "9abcdefg")
    assert.strictEqual(kept(8, "one\ntwo\nthree\n"), "three\n")
    assert.strictEqual(kept(0, "abc"), "")
  })

  it("agrees with a plain string, however the chunks fall", () => {
    const all = "abcdefghijklmnopqrstuvwxyz0123456789"
    for (let step = 1; step < 20; step++) {
      const chunks = Array.from(
        { length: Math.ceil(all.length / step) },
        (_, at) => all.slice(at * step, at * step + step)
      )
      assert.strictEqual(kept(7, ...chunks), all.slice(-7))
    }
  })
})

describe("Stderr.redactor", () => {
  const { cut, whole } = Stderr.redactor([
    { name: "TOKEN", value: "secret-1234" },
    { name: "SHORT", value: "short" },
    { name: "LONG", value: "secret-1234-and-more" }
  ])

  it("puts names in the place of values, the longest first", () => {
    assert.strictEqual(whole("a secret-1234 b secret-1234-and-more short"), "a [TOKEN] b [LONG] short")
  })

  it("finds a value of several lines by each of its lines", () => {
    const key = Stderr.redactor([{ name: "KEY", value: "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\n-----END KEY-----\n" }])
    assert.strictEqual(key.whole("-----BEGIN KEY-----"), "[KEY]")
    assert.strictEqual(key.whole("got MIIEvQIBADANBg and"), "got [KEY] and")
  })

  it("does not leave the start of a value at a cut", () => {
    assert.strictEqual(cut("see secret-123"), "see ")
    assert.strictEqual(cut("see secret-1234-and-mor"), "see ")
    assert.strictEqual(cut("see secre"), "see secre")
  })
})

describe("Stderr.sink", () => {
  it("drops what nobody reads, counts it, and tells when there is room again", async () => {
    const waiting: Array<() => void> = []
    const seen: Array<string> = []
    const stream = new Writable({
      highWaterMark: 16,
      write(chunk, _, done) {
        seen.push(String(chunk))
        waiting.push(done)
      }
    })
    const print = Stderr.sink(stream, 20)
    for (let line = 0; line < 10; line++) print(`line ${line}`)
    assert.deepStrictEqual(seen, ["line 0\n"])
    for (let turn = 0; turn < 20; turn++) {
      waiting.shift()?.()
      await new Promise(setImmediate)
    }
    print("later")
    assert.deepStrictEqual(seen, [
      "line 0\n",
      "line 1\n",
      "line 2\n",
      "[sallyport] 7 lines were dropped here, since nobody read\n",
      "later\n"
    ])
  })
})
