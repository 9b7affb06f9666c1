/**
 * Looks through a result for text that addresses the model: one pass, without going back.
 *
 * @since 0.1.0
 */
import type { Text } from "../wire/Message.ts"
import * as T from "../wire/Text.ts"
import * as Phrases from "./Phrases.ts"
import * as Search from "./Search.ts"

/** Where a word stands in the phrases, the last step of each first, so that it does not count for two steps at once. */
const steps = new Map<string, Array<{ readonly phrase: number; readonly step: number }>>()
Phrases.phrases.forEach(({ words }, phrase) =>
  words.forEach((row, step) => {
    for (const word of row) steps.set(word, [{ phrase, step }, ...(steps.get(word) ?? [])])
  })
)

/** The beginning of a mark that stands at the beginning of a line is the line's: a text begins with one too. */
const searchMarks = Search.make(Phrases.marks.map(([text]) => text))

const beyondAscii = /[^\0-\x7f]/

/** Letters that are drawn like Latin ones. A small part of what there is. */
const drawn = new Map<string, string>()
for (const pairs of ["аaеeоoрpсcуyхxіiѕsјjһhԁdкkмmнhтtвbгrпn", "αaεeοoρpτtυuιiκkνvχxγyηn", "ıiɑaɡgʟlᴀaᴇeɪiᴏoɴnʀrꜱs"]) {
  for (let i = 0; i + 1 < pairs.length; i += 2) drawn.set(pairs.charAt(i), pairs.charAt(i + 1))
}

// An expression with classes of Unicode takes a while to make, which nobody waits for at a start: hence the functions.
const undrawn = () => /[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** The text as it is compared: in lower case, and what is not drawn, or drawn like Latin letters, made plain. */
const fold = (text: string): string => {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  const plain = text.normalize("NFKD").replace(undrawn(), "").toLowerCase()
  if (!beyondAscii.test(plain)) return plain
  let out = ""
  for (const letter of plain) out += drawn.get(letter) ?? letter
  return out
}

/** What text within text escapes: JSON in a string has `\n` as two characters. */
const escapes = /\\[nrt"]/g

const isWord = (unit: number): boolean => (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)

/** Base64 is long, and holds no word. */
const opaque = /^[A-Za-z0-9+/=_-]{256,}$/

/** The tags of a flag: those of England, Scotland and Wales are a black flag and at most so many tags. */
const flagTags = 7

/** Looks for runs of characters that nobody sees. */
const hiddenIn = (text: string, found: Set<string>): void => {
  const runs = Phrases.hidden.map(() => 0)
  let tags = 0
  let clear = true
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x180e || (code > 0x2064 && code < 0xfe00)) {
      if (!clear) runs.fill(0)
      clear = true
      tags = 0
      continue
    }
    clear = false
    if (code === 0x1f3f4) tags = flagTags
    else if (code < 0xe0000 || code > 0xe007f) tags = 0
    else if (tags > 0) {
      tags--
      continue
    }
    for (const [index, { name, ranges, run }] of Phrases.hidden.entries()) {
      const count = ranges.some(([from, to]) => code >= from && code <= to) ? (runs[index] ?? 0) + 1 : 0
      runs[index] = count
      if (count >= run) found.add(name)
    }
  }
}

/** A scan of many texts, which follow one another. */
const scanner = (found: Set<string>) => {
  /** For each step of each phrase, the number of the word that took it last. */
  const taken = Phrases.phrases.map(({ words }) => words.map(() => Number.NEGATIVE_INFINITY))
  let word = 0

  const take = (text: string): void => {
    word++
    for (const { phrase, step } of steps.get(text) ?? []) {
      const of = Phrases.phrases[phrase]
      const at = taken[phrase]
      if (of === undefined || at === undefined) continue
      if (step > 0 && word - (at[step - 1] ?? 0) > of.gap + 1) continue
      at[step] = word
      if (step === of.words.length - 1) found.add(of.name)
    }
  }

  return (text: string): void => {
    if (opaque.test(text)) return
    if (beyondAscii.test(text)) hiddenIn(text, found)
    const folded = fold(text)
    searchMarks(`\n${folded}`, (end) => {
      found.add(Phrases.marks[end.word]?.[1] ?? "")
    })
    const plain = folded.replace(escapes, "  ")
    let start = -1
    for (let i = 0; i <= plain.length; i++) {
      if (i < plain.length && isWord(plain.charCodeAt(i))) {
        if (start < 0) start = i
      } else if (start >= 0) {
        // No word of the table is that long.
        if (i - start <= 24) take(plain.slice(start, i))
        else word++
        start = -1
      }
    }
  }
}

/**
 * The names of what is found in a result, from the table in `Phrases`, each once.
 *
 * @category scanning
 * @since 0.1.0
 */
export const scan = (text: Text): ReadonlyArray<string> => {
  const found = new Set<string>()
  T.eachString(text, scanner(found))
  return [...found]
}
