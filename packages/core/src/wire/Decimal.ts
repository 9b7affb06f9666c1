/**
 * Numbers by their text: compared without rounding, and never expanded, so that `1e1000000000` costs nothing.
 *
 * @since 0.1.0
 */

/**
 * A number in a form that is equal exactly for equal values: the digits without outer zeros, and the decimal exponent of
 * the first. Zero has no digits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decimal {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

const shape = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/**
 * Reads the text of a JSON number; undefined where its exponent is beyond all use.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Decimal | undefined => {
  const parts = shape.exec(text)
  if (parts === null) return undefined
  const [, sign, whole = "", fraction = "", power = "0"] = parts
  const all = whole + fraction
  let lead = 0
  while (all.charCodeAt(lead) === 0x30) lead++
  let end = all.length
  while (end > lead && all.charCodeAt(end - 1) === 0x30) end--
  const digits = all.slice(lead, end)
  if (digits === "") return { negative: false, digits: "", exponent: 0 }
  const exponent = Number(power) + whole.length - lead
  return Number.isSafeInteger(exponent) ? { negative: sign === "-", digits, exponent } : undefined
}

const sign = (self: Decimal): number => self.digits === "" ? 0 : self.negative ? -1 : 1

/**
 * Negative, zero or positive, by exact value.
 *
 * @category comparing
 * @since 0.1.0
 */
export const compare = (left: Decimal, right: Decimal): number => {
  if (sign(left) !== sign(right)) return sign(left) - sign(right)
  const bigger = left.exponent !== right.exponent
    ? left.exponent - right.exponent
    : left.digits === right.digits
    ? 0
    : left.digits < right.digits
    ? -1
    : 1
  return left.negative ? -bigger : bigger
}

/**
 * Compares two number texts by exact value; undefined where an exponent is beyond all use.
 *
 * @category comparing
 * @since 0.1.0
 */
export const compareTexts = (left: string, right: string): number | undefined => {
  if (left === right) return 0
  const [a, b] = [parse(left), parse(right)]
  return a === undefined || b === undefined ? undefined : compare(a, b)
}

/**
 * Whether it has no fraction.
 *
 * @category guards
 * @since 0.1.0
 */
export const isInteger = (self: Decimal): boolean => self.digits.length <= Math.max(self.exponent, 0)

/**
 * The number as an integer times a power of ten; undefined where that has more than `most` digits.
 *
 * @category conversions
 * @since 0.1.0
 */
export const scaled = (self: Decimal, scale: number, most: number): bigint | undefined => {
  const zeros = self.exponent - self.digits.length + scale
  if (zeros < 0 || self.digits.length + zeros > most) return self.digits === "" ? 0n : undefined
  const value = BigInt(self.digits === "" ? "0" : self.digits + "0".repeat(zeros))
  return self.negative ? -value : value
}

/**
 * How many digits stand after the decimal point.
 *
 * @category getters
 * @since 0.1.0
 */
export const places = (self: Decimal): number => Math.max(0, self.digits.length - self.exponent)

const least = -(2n ** 63n)
const most = 2n ** 63n - 1n

/**
 * The number for arithmetic: a bigint where it is written as an integer of 64 bits, else a double whose shortest decimal
 * text has the very same value; undefined where there is none, so that what was compared is what is sent (security F8).
 *
 * @category conversions
 * @since 0.1.0
 */
export const exact = (text: string): bigint | number | undefined => {
  if (text.length > 400) return undefined
  if (!/[.eE]/.test(text) && text.length <= 20) {
    const value = BigInt(text)
    if (value >= least && value <= most) return value
  }
  const double = Number(text)
  if (!Number.isFinite(double)) return undefined
  const written = parse(text)
  const shortest = parse(String(double))
  return written !== undefined && shortest !== undefined && compare(written, shortest) === 0 ? double : undefined
}
