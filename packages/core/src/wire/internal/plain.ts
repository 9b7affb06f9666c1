/** The one spelling of a string that this folder writes. */
import type { Text } from "../Message.ts"
import { checked } from "./checked.ts"

const separators = /[\u0085\u2028\u2029]/g

const escaped = (separator: string): string => `\\u${separator.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Escapes what some readers take for the end of a line. Only inside strings can JSON text have such a character. */
export const lineSafe = (json: string): string =>
  // three searches for one character are faster than one for a class
  json.includes("\u2028") || json.includes("\u2029") || json.includes("\u0085")
    ? json.replace(separators, escaped)
    : json

/** A string as JSON: escaped only where it must be, or where some reader would see the end of a line. */
export const quote = (value: string): Text => checked(lineSafe(JSON.stringify(value.toWellFormed())))

/** What a JSON string, quotes and all, stands for; undefined if it is none. */
export const unquote = (json: string): string | undefined => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "string" ? value : undefined
  } catch {
    return undefined
  }
}

/** Longer ids are refused: whoever relays a message keeps its id. */
export const maxId = 512

const integer = /^(?:0|-?[1-9]\d*)$/

/** The normal form of an id's text, or undefined if it is none. */
export const normalId = (json: string): Text | undefined => {
  if (json.length > maxId) return undefined
  if (integer.test(json)) return checked(json)
  const value = unquote(json)
  return value === undefined || !value.isWellFormed() ? undefined : quote(value)
}
