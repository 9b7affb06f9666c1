/**
 * Names that a person or a model takes for one another.
 *
 * @since 0.1.0
 */

/**
 * Pairs of a letter that is drawn like a Latin one and that one, after decomposition and folding of case. A small part of
 * Unicode's confusables: a name beyond it is held all the same, it is only not flagged.
 */
const pairs = [
  // Cyrillic
  "аaвbгrеeзzкkмmнhоoпnрpсcтtуyхxьbѕsіiјjһhԁdԛqԝwӏlѵvґrүy",
  // Greek
  "αaβbγyεeζzηnιiκkνvμmοoρpτtυuχxωwϲcϳj",
  // Armenian
  "աwոnսuցgօoհhլlքpզqյj",
  // Latin letters beyond ASCII that do not decompose
  "ıiɩiȷjɑaɡgɢgʏyʀrɴnʟlɪiɦhʜhᴀaᴄcᴅdᴇeᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡwᴢzꜱsøođdħhłlŧtƒfɛeɔoƙkƅb",
  // digits and signs
  "0o1l|l!l$s5s"
]

const drawnAs = new Map<string, string>()
for (const text of pairs) {
  let before: string | undefined
  for (const letter of text) {
    if (before === undefined) before = letter
    else {
      drawnAs.set(before, letter)
      before = undefined
    }
  }
}
// Now also what is folded onto i: a lower-case l and a capital I are one stroke each.
drawnAs.set("i", "l")

// An expression with classes of Unicode takes a while to make, which nobody waits for at a start: hence the functions.

/** Marks on a letter, and everything that is not drawn at all. */
const dropped = () => /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Separators are told apart by machines, hardly by readers. */
const separators = () => /[\p{Pd}\p{Pc}\p{Z}./:\u00b7\u30fb]+/gu

/**
 * What is left of a name when everything is taken away that a reader overlooks: two names with one skeleton look alike.
 *
 * @category comparing
 * @since 0.1.0
 */
export const skeleton = (name: string): string => {
  // Upper case first: it takes ß and ſ and the final ς apart as folding does.
  const folded = name.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD")
    .replace(dropped(), "").replace(separators(), "_")
  let drawn = ""
  for (const letter of folded) {
    const latin = drawnAs.get(letter) ?? letter
    drawn += drawnAs.get(latin) ?? latin
  }
  return drawn.replaceAll("rn", "m").replaceAll("vv", "w")
}

const grammar = /^[a-z][a-z0-9-]{0,31}$/

/**
 * Whether pins can be kept under this name: a small letter, then at most 31 small letters, digits and hyphens. No such
 * name leads out of a folder, and no two differ in case only.
 *
 * @category guards
 * @since 0.1.0
 */
export const isServerName = (name: string): boolean => grammar.test(name)
