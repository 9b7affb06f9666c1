/** A picture and a sound, as small as they can be. */

/** A PNG of one red pixel, in base64. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

/** A WAV file of silence: eight samples of 8 bits, 8,000 of them a second. */
const samples = 8

const wavHeader = (length: number): Uint8Array => {
  const bytes = new Uint8Array(44)
  const view = new DataView(bytes.buffer)
  const ascii = (at: number, text: string): void => bytes.set(new TextEncoder().encode(text), at)
  ascii(0, "RIFF")
  view.setUint32(4, 36 + length, true)
  ascii(8, "WAVEfmt ")
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, 8000, true)
  view.setUint32(28, 8000, true)
  view.setUint16(32, 1, true)
  view.setUint16(34, 8, true)
  ascii(36, "data")
  view.setUint32(40, length, true)
  return bytes
}

export const wav = new Uint8Array([...wavHeader(samples), ...new Uint8Array(samples).fill(128)])
