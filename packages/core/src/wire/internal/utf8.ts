/** UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */

/** The text of the bytes in the range, or undefined if they are not UTF-8. */
export const decode = (b: Buffer, from: number, end: number): string | undefined => {
  const text = b.toString("utf8", from, end)
  // what is no character is decoded as this one, which may also be there itself
  return text.includes("\ufffd") && broken(b, from, end) >= 0 ? undefined : text
}

/** The index of the first byte in the range that belongs to no character, or -1. */
export const broken = (b: Uint8Array, from: number, end: number): number => {
  const continues = (p: number): boolean => p < end && ((b[p] ?? 0) & 0xc0) === 0x80
  for (let p = from; p < end;) {
    const c = b[p] ?? 0
    if (c < 0x80) {
      p++
      continue
    }
    const size = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0
    if (size === 0) return p
    for (let k = 1; k < size; k++) if (!continues(p + k)) return p
    const d = b[p + 1] ?? 0
    if ((c === 0xe0 && d < 0xa0) || (c === 0xed && d > 0x9f) || (c === 0xf0 && d < 0x90) || (c === 0xf4 && d > 0x8f)) {
      return p
    }
    p += size
  }
  return -1
}
